"""Gates controlled by records, read from a tagged CZ."""

import math
import re
from collections.abc import Sequence

import stim

from .operators import PAULIS, Matrix, clifford, controlled, pauli_string, rotation, u3

_TAG = re.compile(r"(?P<word>C\w+)(?:\((?P<arguments>.*)\))?")
_VALUE = re.compile(r"=([^*]*)\*pi")

Controlled = tuple[list[stim.GateTarget], list[int], Matrix]
"""Records that must all be 1, the qubits of the gate, and its matrix."""


def conditional_gates(instruction: stim.CircuitInstruction) -> list[Controlled] | None:
    """The gates of a tagged CZ, one for each group of targets; None if it is a CZ of Stim."""
    found = _TAG.fullmatch(instruction.tag)
    if instruction.name != "CZ" or found is None:
        return None
    word = found["word"]
    angles = [float(value) * math.pi for value in _VALUE.findall(found["arguments"] or "")]
    targets = instruction.targets_copy()
    pairs = [sorted(targets[k : k + 2], key=lambda t: t.is_qubit_target) for k in range(0, len(targets), 2)]
    if word in ("CCZ", "CCX"):
        return [_with_two_controls(word, pairs[k : k + 2]) for k in range(0, len(pairs), 2)]
    matrix = _matrix(word, angles)
    size = len(matrix).bit_length() - 1
    return [
        ([pairs[k][0]], [pair[1].value for pair in pairs[k : k + size]], matrix)
        for k in range(0, len(pairs), size)
    ]


def _with_two_controls(word: str, pairs: Sequence[Sequence[stim.GateTarget]]) -> Controlled:
    (first, qubit), (second, other) = pairs
    if qubit.value == other.value:
        return [first, second], [qubit.value], PAULIS[word[-1]]
    return [first], [qubit.value, other.value], clifford("CZ" if word == "CCZ" else "CX")


def _matrix(word: str, angles: Sequence[float]) -> Matrix:
    """Of the gate that is controlled."""
    name = {"CS": "S", "CS_DAG": "S_DAG", "CT": "T", "CT_DAG": "T_DAG", "CH": "H"}.get(word, word[2:])
    if name in ("T", "T_DAG"):
        return rotation(PAULIS["Z"], math.pi / 4 if name == "T" else -math.pi / 4)
    if name == "U3":
        return u3(*angles)
    if name.startswith("R_"):
        return rotation(pauli_string(name[2:]), *angles)
    if name in ("CS", "CS_DAG", "CT", "CT_DAG", "CH", "CCZ", "CCX"):
        return controlled(name)
    return clifford(name)
