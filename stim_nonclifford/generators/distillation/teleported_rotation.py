"""A T gate about a sum of qubits, by teleportation."""

from __future__ import annotations

from collections.abc import Sequence

import stim

__all__ = ["add_t_state", "add_teleported_rotation"]


def add_t_state(circuit: stim.Circuit, qubit: int, *, sign: int, gate: str, t_error: float) -> None:
    """Prepares a T state.

    Args:
        circuit: The circuit to which the gates are added.
        qubit: The qubit that will hold it.
        sign: 1 for T|+>, -1 for T_DAG|+>.
        gate: ``"T"``, or ``"S"`` for the S-proxy, S|+>.
        t_error: Probability of a Z error.
    """
    circuit.append("RX", [qubit])
    circuit.append("S" if sign > 0 else "S_DAG", [qubit], tag="T" if gate == "T" else "")
    if t_error:
        circuit.append("Z_ERROR", [qubit], t_error)


def add_teleported_rotation(
    circuit: stim.Circuit, qubits: Sequence[int], ancilla: int, *, sign: int, gate: str, p: float
) -> None:
    """Applies T (or T_DAG) about the sum s of some qubits, by consuming a T state.

    The ancilla is in the state |0> + exp(iπ/4)|1>. The CX gates add s to it, and its measurement gives m.
    So the ancilla was s + m modulo 2, and the state has the factor exp(iπ (s + m mod 2)/4). This is T about s
    if m is 0, and T_DAG if m is 1, which S about s corrects: the rotation about the product of Z by a quarter
    turn.

    Args:
        circuit: The circuit to which the gates are added.
        qubits: The qubits of the sum.
        ancilla: The qubit that holds the T state.
        sign: 1 for T, -1 for T_DAG.
        gate: ``"T"``, or ``"S"`` for the S-proxy: S is teleported, and its correction is Z.
        p: Strength of the noise of CX gates and of the measurement.
    """
    for qubit in qubits:
        circuit.append("CX", [qubit, ancilla])
        if p:
            circuit.append("DEPOLARIZE2", [qubit, ancilla], p)
    circuit.append("M", [ancilla], p or None)
    word = f"C_R_{'Z' * len(qubits)}(theta={'' if sign > 0 else '-'}0.5*pi)"
    pairs = [target for qubit in qubits for target in (stim.target_rec(-1), qubit)]
    circuit.append("CZ", pairs, tag=word if gate == "T" else "")
