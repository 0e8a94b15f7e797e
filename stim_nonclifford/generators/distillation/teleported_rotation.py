"""A T gate about a sum of qubits, by teleportation or as one gate."""

from __future__ import annotations

from collections.abc import Sequence

import stim


def add_t_state(circuit: stim.Circuit, qubit: int, *, sign: int, gate: str, t_error: float) -> None:
    """Prepares a T state, of T_DAG if the sign is -1, or S|+> for the S-proxy, with a Z error."""
    circuit.append("RX", [qubit])
    circuit.append("S" if sign > 0 else "S_DAG", [qubit], tag="T" if gate == "T" else "")
    if t_error:
        circuit.append("Z_ERROR", [qubit], t_error)


def add_direct_rotation(
    circuit: stim.Circuit, qubits: Sequence[int], *, sign: int, gate: str, t_error: float
) -> None:
    """Applies T, or T_DAG if the sign is -1, about the sum of some qubits as one gate.

    It has the Z error of its T state.
    """
    product = [target for qubit in qubits for target in (stim.target_z(qubit), stim.target_combiner())]
    name, tag = "SPP" if sign > 0 else "SPP_DAG", "T" if gate == "T" else ""
    circuit.append(name, product[:-1], tag=tag)
    if t_error:
        circuit.append("E", [stim.target_z(qubit) for qubit in qubits], t_error)


def add_teleported_rotation(
    circuit: stim.Circuit, qubits: Sequence[int], ancilla: int, *, sign: int, gate: str, p: float
) -> None:
    """Applies T (or T_DAG) about the sum s of some qubits, by consuming a T state.

    The ancilla is in the state |0> + exp(iπ/4)|1>. The CX gates add s to it, and its measurement gives m.
    So the ancilla was s + m modulo 2, and the state has the factor exp(iπ (s + m mod 2)/4). This is T about s
    if m is 0, and T_DAG if m is 1, which S about s corrects: the rotation about the product of Z by a quarter
    turn.
    """
    for qubit in qubits:
        circuit.append("CX", [qubit, ancilla])
        if p:
            circuit.append("DEPOLARIZE2", [qubit, ancilla], p)
    circuit.append("M", [ancilla], p or None)
    word = f"C_R_{'Z' * len(qubits)}(theta={'' if sign > 0 else '-'}0.5*pi)"
    pairs = [target for qubit in qubits for target in (stim.target_rec(-1), qubit)]
    circuit.append("CZ", pairs, tag=word if gate == "T" else "")
