"""Matrices of Pauli products, Clifford gates and tagged non-Clifford gates.

A matrix on the qubits ``(a, b, ...)`` is little-endian, as in Stim: the first qubit is the least
significant bit of the row and column numbers.
"""

import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import stim

Matrix = npt.NDArray[np.complex128]

PAULIS: Mapping[str, Matrix] = {
    "I": np.array([[1, 0], [0, 1]], dtype=np.complex128),
    "X": np.array([[0, 1], [1, 0]], dtype=np.complex128),
    "Y": np.array([[0, -1j], [1j, 0]], dtype=np.complex128),
    "Z": np.array([[1, 0], [0, -1]], dtype=np.complex128),
}

_TAG = re.compile(r"(?P<name>\w+)(?:\((?P<arguments>[^()]*)\))?(?::.*)?", re.DOTALL)
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ARGUMENT = re.compile(rf"\s*(?P<key>\w+)\s*=\s*(?P<value>{_NUMBER})\s*\*\s*pi\s*")


@dataclass(frozen=True)
class Tag:
    """A tag such as ``U3(theta=0.5*pi, phi=0*pi, lambda=1*pi)``; angles are in radians."""

    name: str
    angles: Mapping[str, float] = field(default_factory=dict)


NO_TAG = Tag("")
_ANGLE_KEYS: Mapping[str, frozenset[str]] = {
    "T": frozenset(),
    "HONEST_T": frozenset(),
    "U3": frozenset({"theta", "phi", "lambda"}),
    **dict.fromkeys(("CS", "CS_DAG", "CT", "CT_DAG", "CH", "CCZ", "CCX"), frozenset()),
    **{f"R_{axis}": frozenset({"theta"}) for axis in ("X", "Y", "Z", "XX", "YY", "ZZ", "PAULI")},
}
CONTROLLED_GATES = frozenset({"CS", "CS_DAG", "CT", "CT_DAG", "CH", "CCZ", "CCX"})
_TAGS_OF_GATE: Mapping[str, frozenset[str]] = {
    "I": frozenset({"R_X", "R_Y", "R_Z", "U3", "CCZ", "CCX"}),
    "II": frozenset({"R_XX", "R_YY", "R_ZZ", "CS", "CS_DAG", "CT", "CT_DAG", "CH"}),
    "S": frozenset({"T", "HONEST_T"}),
    "S_DAG": frozenset({"T", "HONEST_T"}),
    "SPP": frozenset({"T", "R_PAULI"}),
    "SPP_DAG": frozenset({"T", "R_PAULI"}),
}


def parse_tag(gate: str, tag: str) -> Tag:
    """Reads the tag of a gate. A tag that names no non-Clifford gate is a plain remark."""
    name = re.match(r"\w*", tag)
    if name is None or name.group() not in _TAGS_OF_GATE.get(gate, ()):
        return NO_TAG
    match = _TAG.fullmatch(tag)
    if match is None:
        raise ValueError(f"malformed tag {gate}[{tag}]")
    angles: dict[str, float] = {}
    for text in filter(None, (match["arguments"] or "").split(",")):
        argument = _ARGUMENT.fullmatch(text)
        if argument is None or argument["key"] in angles:
            raise ValueError(f"malformed angle {text!r} in {gate}[{tag}]")
        angles[argument["key"]] = float(argument["value"]) * math.pi
    if angles.keys() != _ANGLE_KEYS[match["name"]]:
        raise ValueError(f"wrong angles in {gate}[{tag}]")
    return Tag(match["name"], angles)


def kron(factors: Iterable[Matrix]) -> Matrix:
    """The tensor product of operators on qubits 0, 1, ...; the empty product is the number 1."""
    result: Matrix = np.ones((1, 1), dtype=np.complex128)
    for factor in factors:
        size = len(factor) * len(result)
        result = (factor[:, None, :, None] * result[:, None, :]).reshape(size, size)  # faster than np.kron
    return result


def pauli_string(letters: str) -> Matrix:
    """The Pauli string whose k-th letter acts on qubit k."""
    return kron(PAULIS[letter] for letter in letters)


def pauli_product(terms: Sequence[tuple[str, int]], negated: bool = False) -> tuple[tuple[int, ...], Matrix]:
    """Multiplies single-qubit Paulis ``(letter, qubit)``, with repeated qubits allowed."""
    qubits = tuple(sorted({qubit for _, qubit in terms}))
    factors: dict[int, Matrix] = {qubit: PAULIS["I"] for qubit in qubits}
    for letter, qubit in terms:
        factors[qubit] = factors[qubit] @ PAULIS[letter]
    matrix = kron(factors.values()) * (-1 if negated else 1)
    if not np.array_equal(matrix, matrix.conj().T):
        raise ValueError(f"anti-Hermitian Pauli product {terms}")
    return qubits, matrix


def rotation(pauli: Matrix, theta: float) -> Matrix:
    """exp(-i theta/2 P), for an operator P that squares to the identity."""
    identity = np.eye(len(pauli), dtype=np.complex128)
    return math.cos(theta / 2) * identity - 1j * math.sin(theta / 2) * pauli


def u3(theta: float, phi: float, lam: float) -> Matrix:
    """Rz(phi) Ry(theta) Rz(lambda)."""
    return rotation(PAULIS["Z"], phi) @ rotation(PAULIS["Y"], theta) @ rotation(PAULIS["Z"], lam)


@functools.cache
def clifford(name: str) -> Matrix:
    """The unitary of a one- or two-qubit Clifford gate, to double precision.

    Stim tabulates single-precision numbers. The real and imaginary parts of their entries are all
    0, ±1/2, ±1/√2 or ±1, so they are rounded to the nearest of these.
    """
    table = stim.gate_data(name).unitary_matrix
    if table is None:
        raise ValueError(f"{name} has no unitary matrix of its own")
    half_powers = [0.0, 0.5, math.sqrt(0.5), 1.0]
    exact = np.array([-value for value in half_powers] + half_powers)

    def nearest(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        index = np.abs(values[..., np.newaxis] - exact).argmin(axis=-1)
        result: npt.NDArray[np.float64] = exact[index]
        return result

    matrix: Matrix = nearest(table.real) + 1j * nearest(table.imag)
    if not np.allclose(matrix, table, atol=1e-6):
        raise AssertionError(f"unexpected entries in the unitary matrix of {name}")
    return matrix


def target_terms(
    targets: Iterable[stim.GateTarget], basis: str | None = None
) -> tuple[list[tuple[str, int]], bool]:
    """The Paulis ``(letter, qubit)`` that targets stand for, and whether they are negated.

    Plain qubit targets stand for the Pauli ``basis``; inverted targets negate the product.
    """
    terms = []
    negated = False
    for target in targets:
        if target.qubit_value is None:
            raise ValueError(f"{target} is not a qubit")
        terms.append((basis or target.pauli_type, target.qubit_value))
        negated ^= target.is_inverted_result_target
    return terms, negated


def controlled(name: str) -> Matrix:
    """The unitary of CS, CS_DAG, CT, CT_DAG, CH, CCZ or CCX; the last target is controlled by the others."""
    target: Matrix = {
        "CS": np.diag([1, 1j]),
        "CS_DAG": np.diag([1, -1j]),
        "CT": np.diag([1, np.exp(1j * math.pi / 4)]),
        "CT_DAG": np.diag([1, np.exp(-1j * math.pi / 4)]),
        "CH": np.array([[1, 1], [1, -1]]) / math.sqrt(2),
        "CCZ": PAULIS["Z"],
        "CCX": PAULIS["X"],
    }[name].astype(np.complex128)
    num_controls = 2 if name.startswith("CC") else 1
    ones: Matrix = np.diag([0, 1]).astype(np.complex128)
    # The projector on all controls being 1, in the lower digits, times (target - 1), plus 1.
    change = kron([*[ones] * num_controls, target - np.eye(2)])
    return change + np.eye(len(change))


def gate_unitary(name: str, tag: str, targets: Sequence[stim.GateTarget]) -> tuple[tuple[int, ...], Matrix]:
    """The qubits and the matrix, up to global phase, of a gate on one group of targets."""
    call = parse_tag(name, tag)
    terms, negated = target_terms(targets)
    if name in {"SPP", "SPP_DAG"}:
        theta = {"": math.pi / 2, "T": math.pi / 4}.get(call.name, call.angles.get("theta", 0.0))
        qubits, pauli = pauli_product(terms, negated)
        return qubits, rotation(pauli, theta if name == "SPP" else -theta)
    qubits = tuple(qubit for _, qubit in terms)
    if call.name in ("T", "HONEST_T"):
        return qubits, rotation(PAULIS["Z"], math.pi / 4 if name == "S" else -math.pi / 4)
    if call.name in CONTROLLED_GATES:
        return qubits, controlled(call.name)
    if call.name == "U3":
        return qubits, u3(call.angles["theta"], call.angles["phi"], call.angles["lambda"])
    if call.name:
        axis = call.name.removeprefix("R_")
        return qubits, rotation(pauli_string(axis), call.angles["theta"])
    return qubits, clifford(name)
