"""T states in several codes.

A circuit resets all qubits, measures the X checks and twice the logical X, rotates about the logical Z to a T
state, and measures all checks. If S on all qubits is a logical operator, it then measures T X T^-1 on all of
them, as cultivation does, and all checks again. A noiseless end undoes the T and reads the logical X. Every
check has an ancilla, and no flags, so that single faults may spread; or it has a cat state with a qubit for
each of its data qubits, of which a parity is measured first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, product

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.color_code import ColorCode

Support = frozenset[int]


@dataclass(frozen=True)
class Code:
    """A CSS code.

    Attributes:
        size: Number of data qubits.
        x_checks: Supports of the X checks.
        z_checks: Supports of the Z checks.
        is_transversal: Whether X on all qubits, and with it S on all qubits, is a logical operator.
    """

    size: int
    x_checks: tuple[Support, ...]
    z_checks: tuple[Support, ...]
    is_transversal: bool

    def logical_z(self) -> Support:
        """The first of the lightest logical Z operators."""
        checks = span(self.z_checks)
        return next(
            support
            for support in supports(self.size)
            if all(len(support & check) % 2 == 0 for check in self.x_checks) and support not in checks
        )

    def logical_x(self) -> Support:
        """An X operator that flips it."""
        if self.is_transversal:
            return frozenset(range(self.size))
        z = self.logical_z()
        return next(
            support
            for support in supports(self.size)
            if all(len(support & check) % 2 == 0 for check in self.z_checks) and len(support & z) % 2
        )


def supports(size: int) -> Iterable[Support]:
    """All sets of qubits, light ones first."""
    return map(frozenset, chain.from_iterable(combinations(range(size), k) for k in range(1, size + 1)))


def span(checks: Sequence[Support]) -> set[Support]:
    """All products of checks."""
    found: set[Support] = {frozenset()}
    for check in checks:
        found |= {check ^ other for other in found}
    return found


def color_code(distance: int) -> Code:
    """The triangular color code; [[7,1,3]] is the Steane code."""
    code = ColorCode.triangular(distance)
    tiles = tuple(frozenset(code.data.index(site) for site in tile.data) for tile in code.tiles)
    return Code(len(code.data), tiles, tiles, True)


def tetrahedron() -> Code:
    """[[15,1,3]]: the smallest three-dimensional color code, on which T is transversal."""
    points = range(1, 16)
    cells = [frozenset(point - 1 for point in points if point >> k & 1) for k in range(4)]
    faces = [a & b for a, b in combinations(cells, 2)]
    return Code(15, tuple(cells), tuple([*cells, *faces]), True)


def projective_plane() -> Code:
    """[[15,1,3]] on the real projective plane: qubits on the edges of its triangulation with six vertices."""
    triangles = ["123", "134", "145", "156", "126", "235", "346", "245", "356", "246"]
    edges = ["".join(pair) for pair in combinations("123456", 2)]
    around = [frozenset(k for k, edge in enumerate(edges) if vertex in edge) for vertex in "123456"]
    inside = [frozenset(k for k, edge in enumerate(edges) if set(edge) <= set(face)) for face in triangles]
    return Code(15, tuple(around[:-1]), tuple(inside[:-1]), False)


def toric(length: int) -> Code:
    """[[2 L^2, 2, L]]; its second logical qubit stays in the state 0."""
    sites = list(product(range(length), repeat=2))

    def edge(x: int, y: int, direction: int) -> int:
        return 2 * (length * (x % length) + y % length) + direction

    stars = [
        frozenset([edge(x, y, 0), edge(x, y, 1), edge(x - 1, y, 0), edge(x, y - 1, 1)]) for x, y in sites
    ]
    faces = [
        frozenset([edge(x, y, 0), edge(x, y, 1), edge(x, y + 1, 0), edge(x + 1, y, 1)]) for x, y in sites
    ]
    return Code(2 * length**2, tuple(stars[:-1]), tuple(faces[:-1]), False)


def biased_noise(qubits: int, p: float) -> str:
    """A channel of strength p on one qubit or two that is biased towards Z.

    On one qubit Z is ten times as likely as X, and as Y. Of the errors on two qubits, 80% are ZI, IZ and ZZ.
    """
    if qubits == 1:
        return f"PAULI_CHANNEL_1({p / 12},{p / 12},{10 * p / 12})"
    strengths = [0.8 * p / 3 if k in (3, 12, 15) else 0.2 * p / 12 for k in range(1, 16)]
    return f"PAULI_CHANNEL_2({','.join(map(str, strengths))})"


def _depolarizing(qubits: int, p: float) -> str:
    return f"DEPOLARIZE{qubits}({p})"


NOISES: dict[str, tuple[Callable[[int, float], str], float, float, float]] = {
    "uniform": (_depolarizing, 1.0, 1.0, 1.0),
    "biased": (biased_noise, 1.0, 1.0, 1.0),
    "si1000": (_depolarizing, 0.1, 5.0, 2.0),
}
"""The channel after gates; in units of p its strength on one qubit and the errors of readouts and resets."""


class _Writer:
    """The lines of a noisy circuit, and the number of measurements so far."""

    def __init__(self, noise: str, p: float) -> None:
        channel, one, readout, reset = NOISES[noise]
        self._one, self._two = channel(1, one * p), channel(2, p)
        self._readout, self._reset = min(0.5, readout * p), min(0.5, reset * p)
        self.lines: list[str] = []
        self.measured = 0

    def gate(self, name: str, targets: Iterable[object]) -> None:
        text = " ".join(map(str, targets))
        self.lines.append(f"{name} {text}")

    def after_one(self, qubits: Iterable[int]) -> None:
        self.gate(self._one, qubits)

    def reset(self, qubits: Sequence[int], basis: str = "") -> None:
        self.gate(f"R{basis}", qubits)
        self.gate(f"{'Z' if basis else 'X'}_ERROR({self._reset})", qubits)

    def check(self, support: Support, basis: str, ancillas: Iterator[int]) -> list[int]:
        """Measures a product of Paulis by an ancilla; the number of the measurement."""
        ancilla = next(ancillas)
        self.reset([ancilla], basis.replace("Z", ""))
        for qubit in sorted(support):
            self.two("CX", (ancilla, qubit) if basis == "X" else (qubit, ancilla))
        return self.measure([ancilla], basis.replace("Z", ""))

    def cat_check(self, support: Support, basis: str, ancillas: Iterator[int]) -> list[int]:
        """The same by a cat state, whose ends are compared first; the numbers of all measurements."""
        cat = [next(ancillas) for _ in support]
        self.reset(cat[:1], "X")
        self.reset([*cat[1:], verifier := next(ancillas)])
        for pair in [*itertools.pairwise(cat), (cat[0], verifier), (cat[-1], verifier)]:
            self.two("CX", pair)
        self.annotate("DETECTOR", *self.measure([verifier]))
        for pair in zip(cat, sorted(support), strict=True):
            self.two(f"C{basis}", pair)
        return self.measure(cat, "X")

    def two(self, name: str, pair: tuple[int, int]) -> None:
        self.gate(name, pair)
        self.gate(self._two, pair)

    def measure(self, qubits: Sequence[int], basis: str = "") -> list[int]:
        self.gate(f"M{basis}({self._readout})", qubits)
        self.measured += len(qubits)
        return list(range(self.measured - len(qubits), self.measured))

    def product(self, support: Support, basis: str) -> int:
        """The same without noise, and without an ancilla."""
        self.gate("MPP", ["*".join(f"{basis}{qubit}" for qubit in sorted(support))])
        self.measured += 1
        return self.measured - 1

    def annotate(self, name: str, *measurements: int) -> None:
        self.gate(name, [f"rec[{k - self.measured}]" for k in measurements])


def t_state_circuit(
    code: Code, noise: str = "uniform", p: float = 1e-3, *, cats: bool = False
) -> snc.Circuit:
    """A circuit of a T state in a code; see above.

    Args:
        code: The code.
        noise: One of ``NOISES``.
        p: Its strength.
        cats: Whether checks have cat states.

    Returns:
        The circuit: all detectors are meant to be postselected, and observable 0 is the logical error.

    Examples:
        >>> t_state_circuit(color_code(3), p=1e-3).num_detectors
        20
    """
    data, to, z, x = list(range(code.size)), _Writer(noise, p), code.logical_z(), code.logical_x()
    ancillas = itertools.count(code.size)
    measure = partial(to.cat_check if cats else to.check, ancillas=ancillas)
    to.reset(data)
    first = [measure(check, "X") for check in code.x_checks]
    reference = measure(x, "X")
    to.annotate("DETECTOR", *reference, *measure(x, "X"))
    to.gate("TPP_DAG", ["*".join(f"Z{qubit}" for qubit in sorted(z))])
    to.after_one(sorted(z))
    rounds = 2 if code.is_transversal else 1
    for number in range(rounds):
        for check in code.z_checks:
            to.annotate("DETECTOR", *measure(check, "Z"))
        for check, before in zip(code.x_checks, first, strict=True):
            to.annotate("DETECTOR", *before, *measure(check, "X"))
        if code.is_transversal and number == 0:
            to.gate("T_DAG", data)
            to.after_one(data)
            to.annotate("DETECTOR", *reference, *measure(x, "X"))
            to.gate("T", data)
            to.after_one(data)
    for check in code.z_checks:
        to.annotate("DETECTOR", to.product(check, "Z"))
    for check, before in zip(code.x_checks, first, strict=True):
        to.annotate("DETECTOR", *before, to.product(check, "X"))
    to.gate("TPP", ["*".join(f"Z{qubit}" for qubit in sorted(z))])
    to.annotate("OBSERVABLE_INCLUDE(0)", *reference, to.product(x, "X"))
    return snc.Circuit("\n".join(to.lines))


CIRCUITS = {
    "[[7,1,3]]": (color_code(3), "uniform"),
    "[[7,1,3]], si1000": (color_code(3), "si1000"),
    "[[15,1,3]], 3D color code": (tetrahedron(), "uniform"),
    "[[15,1,3]], 3D color code, biased": (tetrahedron(), "biased"),
    "[[15,1,3]], RP^2": (projective_plane(), "si1000"),
    "[[18,2,3]], toric": (toric(3), "biased"),
    "[[19,1,5]], color code": (color_code(5), "uniform"),
}
"""Codes and noise."""
