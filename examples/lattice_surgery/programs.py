"""Logical programs as data: Clifford+T circuits, and the outcomes that are their answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import stim

from stim_nonclifford import Circuit
from stim_nonclifford.generators.logical import ideal_distribution, program_of


@dataclass(frozen=True)
class LogicalProgram:
    """A logical circuit and its answer.

    Attributes:
        circuit: A Clifford+T circuit that ends with measurements, if it has an answer.
        answers: The outcomes that count as success, each with a digit for each measurement.
    """

    circuit: str
    answers: tuple[str, ...] = ()

    @property
    def num_qubits(self) -> int:
        """The number of logical qubits."""
        return Circuit(self.circuit).num_qubits

    @property
    def rotations(self) -> list[tuple[float, str]]:
        """The rotations of the program, joined where that leaves fewer T gates."""
        return joined_rotations(program_of(self.circuit)[0])

    @property
    def measurements(self) -> list[str]:
        """The products that are measured, after Clifford gates are commuted into them."""
        return program_of(self.circuit)[1]

    @property
    def answer_indices(self) -> list[int]:
        """The answers as indices of ``ideal_distribution``: the first measurement is the lowest bit."""
        return [int(answer[::-1], 2) for answer in self.answers]

    def ideal_success(self, gate: str = "T") -> float:
        """The probability of an answer without noise, with T gates or with S in place of each."""
        rotations = self.rotations if gate == "T" else [(_of_proxy(theta), p) for theta, p in self.rotations]
        return float(ideal_distribution(rotations, self.measurements)[self.answer_indices].sum())


def joined_rotations(rotations: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """The same rotations with fewer T gates: those about one product are joined where nothing is between.

    Two rotations about a product add up if all rotations between them commute with it. Two T gates are a
    Clifford gate, or nothing.

    Examples:
        >>> joined_rotations([(1/8, "ZI"), (1/8, "ZZ"), (-1/8, "ZI"), (1/8, "XI"), (1/8, "ZZ")])
        [(0.125, 'ZZ'), (0.125, 'XI'), (0.125, 'ZZ')]
    """
    found: list[tuple[float, str]] = []
    for theta, product in rotations:
        for k in reversed(range(len(found))):
            if found[k][1] == product:
                found[k] = (found[k][0] + theta, product)
                break
            if not stim.PauliString(found[k][1]).commutes(stim.PauliString(product)):
                found.append((theta, product))
                break
        else:
            found.append((theta, product))
        found = [each for each in found if each[0] % 1]
    return found


def num_t_gates(rotations: Iterable[tuple[float, str]]) -> int:
    """The number of rotations that are T gates."""
    return sum(theta * 4 % 1 != 0 for theta, _ in rotations)


def _of_proxy(theta: float) -> float:
    """The angle of a rotation with S in place of T, as ``logical_circuit`` has it."""
    return {1: theta + 1 / 8, 3: theta - 1 / 8}.get(round(8 * theta) % 4, theta)


PROGRAMS = {
    "H T H": LogicalProgram("H 0\nT 0\nH 0\nM 0", ("0",)),
    "Bell pair and T": LogicalProgram(
        "H 0\nCX 0 1\nS_DAG 1\nH 1\nT 1\nH 1\nS 1\nM 0 1", ("00", "11")
    ),
    "phase estimation": LogicalProgram(
        "H 0 1 2\nZ 0\nS 1\nT 2\nH 0\nCS_DAG 0 1\nH 1\nCS_DAG 1 2\nH 2\nM 0 1 2", ("100",)
    ),
    "square root of T": LogicalProgram(
        "H 0\n" + "\n".join(f"{gate} 0" for gate in "HTHTHTSHTHTSHTHTH") + "\nH 0\nM 0", ("0",)
    ),
    "Toffoli": LogicalProgram("X 0 1\nH 2\nCCZ 0 1 2\nH 2\nM 0 1 2", ("111",)),
    "adder": LogicalProgram(
        "X 0 2\nCCX 0 1 3\nCX 0 1\nCCX 1 2 3\nCX 1 2\nCX 0 1\nM 0 1 2 3", ("1001",)
    ),
    "Grover": LogicalProgram(
        "H 0 1 2\nCCZ 0 1 2\nH 0 1 2\nX 0 1 2\nCCZ 0 1 2\nX 0 1 2\nH 0 1 2\nM 0 1 2", ("111",)
    ),
}  # fmt: skip
"""Logical programs by name.

* Bell pair and T: T about Y on one of two qubits. The answer is that outcomes are equal: the first of the
  four settings of ``chsh_settings``.
* Phase estimation: three bits of the eigenvalue exp(i π/4) of T, whose powers act on the eigenstate |1>. The
  controlled gates are then Z, S and T on the control qubits, of which the first one finds the last bit. The
  Fourier transform leaves out its rotation that is smaller than CS, which costs 15% of the answers.
* Square root of T: the sequence of seven T gates, H and S that is closest to diag(1, exp(i π/8)), found by a
  search over all of them; |tr(U† V)| / 2 = 0.9984.
* Adder: the full adder of three bits. Its two Toffoli gates have three rotations in common.
* Grover: one iteration over three bits.
"""

FIT = {
    f"T about {products}": LogicalProgram(
        f"I {len(products.split()[0]) - 1}\n"
        + "\n".join(
            "SPP[T] " + "*".join(f"{letter}{k}" for k, letter in enumerate(product) if letter != "I")
            for product in products.split()
        )
    )
    for products in ("Z", "X Z", "Z X Z X", "Y", "XI ZI", "IX IZ", "XX ZZ", "IIX IIZ", "XXX ZZZ")
}
"""Short programs, whose errors are fitted with those of operations."""


def chsh_settings() -> Iterator[tuple[str, LogicalProgram]]:
    """The four settings of a CHSH test: their names and programs.

    The correlations of the measured Paulis are P(answer) - P(no answer), where that of X and Z has the sign
    -1. Their sum is ideally sqrt(8), and at most 2 without entanglement. With S in place of T it is 2.
    """
    gates = PROGRAMS["Bell pair and T"].circuit.removesuffix("M 0 1")
    for first, second in itertools.product("ZX", repeat=2):
        is_negative = (first, second) == ("X", "Z")
        answers = ("01", "10") if is_negative else ("00", "11")
        name = f"{'-' * is_negative}{first}{second}"
        yield name, LogicalProgram(f"{gates}M{first} 0\nM{second} 1", answers)


def fifteen_to_one() -> list[tuple[float, str]]:
    """The rotations of 15-to-1 distillation on five logical qubits in |0>; the last one is the output.

    T gates about the 15 products of X on the last qubit and on some of the others, but not on it alone, are
    T_DAG about the X of the last qubit, exactly: the others are in |0> again. An error X of a product after
    one T gate flips those others that it has (D. Litinski, Quantum 3, 205, 2019).
    """
    chosen = itertools.islice(itertools.product("IX", repeat=4), 1, None)
    return [(1 / 8, "".join(letters) + "X") for letters in chosen]
