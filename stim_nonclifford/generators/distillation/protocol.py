"""The whole circuit of a distillation protocol."""

from __future__ import annotations

from typing import Literal, get_args

import stim

from ...base.arguments import choice, probability
from .parities import ProtocolChoice, parities_of
from .teleported_rotation import add_teleported_rotation

__all__ = ["GateChoice", "distillation_circuit"]

GateChoice = Literal["T", "S"]


def distillation_circuit(
    protocol: ProtocolChoice = "15-to-1", *, t_error: float, p: float = 0.0, gate: GateChoice = "T"
) -> stim.Circuit:
    """A distillation circuit with teleported T gates and conditional corrections.

    Outputs and checks stand for patches of a code; here they are bare qubits. They begin in |+>. One T gate
    after the other is teleported into them. Then the checks are measured in the X basis: these measurements
    are the detectors, and all of them postselect. At the end, the gate that prepares the ideal output from
    |+> is undone without noise, and the outputs are measured in the X basis. These measurements are the
    observables: the output is wrong if any of them is flipped.

    Args:
        protocol: One of ``PROTOCOL_CHOICES``.
        t_error: Probability that a T state has a Z error. Every error of a T state is one, after twirling.
        p: Strength of the other noise. Resets of outputs and checks, and measurements, fail with this
            probability. CX gates have two-qubit depolarizing noise. After each teleported gate, outputs and
            checks have depolarizing noise, for its correction and for idling.
        gate: ``"T"``, or ``"S"`` for the S-proxy of ``15-to-1``.

    Returns:
        The circuit. Qubits: outputs, checks, and one ancilla that holds each T state in turn.

    Raises:
        ValueError: The protocol is unknown, a probability is not between 0 and 1, or a proxy of 8T-to-CCZ is
            asked for: S in place of T gives the identity instead of CCZ.

    Examples:
        >>> print(distillation_circuit("8T-to-CCZ", t_error=0.01)[:9])
        RX 0 1 2 3 4
        S[T] 4
        Z_ERROR(0.01) 4
        CX 3 4
        M 4
        CZ[C_R_Z(theta=0.5*pi)] rec[-1] 3
        TICK
        RX 4
        S_DAG[T] 4
    """
    t_error, p = probability(t_error, "t_error"), probability(p, "p")
    gate = choice(gate, "gate", get_args(GateChoice))
    parities = parities_of(protocol)
    if gate == "S" and protocol == "8T-to-CCZ":
        raise ValueError("8T-to-CCZ has no S-proxy: with S in place of T, it applies the identity.")
    num_qubits = parities.num_outputs + parities.num_checks
    patches = list(range(num_qubits))
    circuit = stim.Circuit()
    circuit.append("RX", patches)
    if p:
        circuit.append("Z_ERROR", patches, p)
    for qubits, sign in zip(parities.sums, parities.signs, strict=True):
        add_teleported_rotation(circuit, qubits, num_qubits, sign=sign, gate=gate, t_error=t_error, p=p)
        if p:
            circuit.append("DEPOLARIZE1", patches, p)
        circuit.append("TICK")
    circuit.append("MX", patches[parities.num_outputs :], p or None)
    for k in range(parities.num_checks):
        circuit.append("DETECTOR", [stim.target_rec(k - parities.num_checks)], [k])
    _add_output_check(circuit, protocol, gate)
    return circuit


def _add_output_check(circuit: stim.Circuit, protocol: ProtocolChoice, gate: GateChoice) -> None:
    """Measures, without noise, whether the outputs are in the ideal state."""
    if protocol == "15-to-1":
        circuit.append("S", [0], tag="T" if gate == "T" else "")
        outputs = [0]
    else:
        circuit.append("I", [0, 1, 2], tag="CCZ")
        outputs = [0, 1, 2]
    circuit.append("MX", outputs)
    for k in outputs:
        circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(k - len(outputs))], k)
