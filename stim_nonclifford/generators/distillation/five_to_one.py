"""5-to-1: states with the Bloch vector (1, 1, 1)/sqrt(3), projected on the five-qubit code.

Bravyi, Kitaev, quant-ph/0403025. Here the code is that of a ring: without its last step, the encoder is a CZ
between neighbours. Its stabilizers Z Y Y Z 1 and their shifts are those of Bravyi and Kitaev, X Z Z X 1,
turned by a third of a turn about the axis (1, 1, 1), which leaves the states as they are.
"""

from __future__ import annotations

import math

import stim

MOST_STATE_ERROR = 2 / 3
"""The largest error of a state that depolarizing noise can cause."""

_POLAR_ANGLE = math.acos(3**-0.5) / math.pi
"""In half-turns: the angle between (1, 1, 1) and the Z axis."""


def five_to_one_circuit(t_error: float, p: float) -> stim.Circuit:
    """The circuit of 5-to-1; see ``distillation_circuit``."""
    qubits = list(range(5))
    circuit = stim.Circuit()
    circuit.append("R", qubits)
    circuit.append("I", qubits, tag=f"R_Y(theta={_POLAR_ANGLE!r}*pi)")
    circuit.append("I", qubits, tag="R_Z(theta=0.25*pi)")
    if t_error:
        circuit.append("DEPOLARIZE1", qubits, 1.5 * t_error)
    circuit.append("TICK")
    # From the code to the state of qubit 0, and the syndrome in the X basis of the others.
    for gate, pairs in (
        ("CZ", [(0, 1), (2, 3)]),
        ("CZ", [(1, 2), (3, 4)]),
        ("CZ", [(4, 0)]),
        *(("CX", [(qubit, 0)]) for qubit in qubits[1:]),
    ):
        targets = [qubit for pair in pairs for qubit in pair]
        circuit.append(gate, targets)
        if p:
            circuit.append("DEPOLARIZE2", targets, p)
            idle = [qubit for qubit in qubits if qubit not in targets]
            circuit.append("DEPOLARIZE1", idle, p)
        circuit.append("TICK")
    circuit.append("MX", qubits[1:], p or None)
    for k in range(4):
        circuit.append("DETECTOR", [stim.target_rec(k - 4)], [k])
    # Without noise, the output has the Bloch vector (1, 1, -1)/sqrt(3).
    circuit.append("I", [0], tag="R_Z(theta=-0.25*pi)")
    circuit.append("I", [0], tag=f"R_Y(theta={_POLAR_ANGLE - 1!r}*pi)")
    circuit.append("M", [0])
    circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1)], 0)
    return circuit
