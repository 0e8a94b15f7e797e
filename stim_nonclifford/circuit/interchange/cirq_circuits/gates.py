"""Gates of Cirq, and what they are called here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import Any

import stim

from ..packages import needed

_PACKAGE = "stimcirq>=1.16"
cirq: Any = needed("cirq", "the interchange with Cirq", _PACKAGE, "cirq")
stimcirq: Any = needed("stimcirq", "the interchange with Cirq", _PACKAGE, "cirq")


def _turn(pauli: str, half_turns: float) -> Any:
    kind = {"X": cirq.XPowGate, "Y": cirq.YPowGate, "Z": cirq.ZPowGate}[pauli]
    return kind(exponent=half_turns, global_shift=-0.5)


def cirq_gate(name: str, angles: Sequence[float] = ()) -> Any:
    """The gate of Cirq for a unitary gate of this package, by its name, on the same qubits."""
    pairs = {"R_XX": cirq.XXPowGate, "R_YY": cirq.YYPowGate, "R_ZZ": cirq.ZZPowGate}
    if name in pairs:
        return pairs[name](exponent=angles[0], global_shift=-0.5)
    if name == "U3":
        theta, phi, lambda_ = angles
        turns = (_turn("Z", lambda_), _turn("Y", theta), _turn("Z", phi))
        matrix = reduce(lambda found, each: cirq.unitary(each) @ found, turns, cirq.unitary(cirq.I))
        return cirq.PhasedXZGate.from_matrix(matrix)
    if name.startswith("R_"):
        return _turn(name.removeprefix("R_"), angles[0])
    return _fixed_gate(name)


@cache
def _fixed_gate(name: str) -> Any:
    own = {
        "T": cirq.T,
        "T_DAG": cirq.T**-1,
        "CS": cirq.CZ**0.5,
        "CS_DAG": cirq.CZ**-0.5,
        "CT": cirq.CZ**0.25,
        "CT_DAG": cirq.CZ**-0.25,
        "CH": cirq.ControlledGate(cirq.H),
        "CCX": cirq.CCX,
        "CCZ": cirq.CCZ,
        "II": cirq.IdentityGate(2),  # stimcirq's has no matrix
    }
    if name in own:
        return own[name]
    targets = range(2 if stim.gate_data(name).is_two_qubit_gate else 1)
    written = stimcirq.stim_circuit_to_cirq_circuit(stim.Circuit(str(stim.CircuitInstruction(name, targets))))
    [operation] = written.all_operations()
    return operation.gate


@cache
def _names() -> dict[Any, str]:
    gates = [gate for gate in stim.gate_data().values() if gate.is_unitary and not gate.takes_pauli_targets]
    own = ["T", "T_DAG", "CS", "CS_DAG", "CT", "CT_DAG", "CH", "CCX", "CCZ"]
    found = {_fixed_gate(name): name for name in (*own, *(gate.name for gate in gates))}
    return {**found, cirq.IdentityGate(1): "I", cirq.CXSWAP: "CXSWAP", cirq.CZSWAP: "CZSWAP", cirq.CY: "CY"}


def name_of(gate: Any) -> str:
    """The name of a gate that has no angles here; empty if it is no such gate."""
    try:
        return _names().get(gate, "")
    except TypeError:  # a gate that is not hashable
        return ""
