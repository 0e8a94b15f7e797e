"""The Pauli twirl of coherent noise: each small rotation becomes the channel that a decoder can be told of.

The twirl of a unitary U is the average of P U P over all Paulis P. It applies each Pauli P with probability
|tr(P U) / 2^n|^2, which for a rotation exp(-iπ/2 a P) is sin^2(πa/2) for P, and cos^2(πa/2) for the identity
(Emerson et al. 2007; Geller and Zhou 2013).
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt
import stim

from ...base.written_circuits import instructions_in, with_replaced, with_source
from ...dialect import (
    CONDITIONAL_CARRIER,
    NonCliffordGate,
    RotationPart,
    bare_name,
    check_unconditional,
    gate_from_tag,
)
from .channels import twirl_of_channel
from .leakage import with_averaged_leakage
from .stand_ins import append_quarter_turns, rotation_products
from .state_aware_twirl import with_state_aware_twirl

_ROUNDING = 1e-12
_PAULIS = {
    "X": np.array([[0, 1], [1, 0]], dtype=np.complex128),
    "Y": np.array([[0, -1j], [1j, 0]], dtype=np.complex128),
    "Z": np.array([[1, 0], [0, -1]], dtype=np.complex128),
}


def pauli_twirled(circuit: stim.Circuit, below: float, state_aware: bool) -> stim.Circuit:
    """A tagged circuit with Pauli channels in place of noise that is none; see ``Circuit.pauli_twirl``."""
    check_unconditional(circuit)
    averaged = with_averaged_leakage(circuit)
    result = _twirled(with_state_aware_twirl(averaged) if state_aware else averaged, below)
    if _count(circuit, "ELSE_CORRELATED_ERROR") and _count(result, "E") > _count(circuit, "E"):
        raise ValueError(
            "The circuit has ELSE_CORRELATED_ERROR instructions. The twirl of a rotation about a product of"
            " Paulis is an E instruction, which could end the chain that they belong to. Write the chain as a"
            " PAULI_CHANNEL_1 or PAULI_CHANNEL_2, or the rotation as the E that stands for it."
        )
    return result


def _count(circuit: stim.Circuit, name: str) -> int:
    """How often an instruction is written in a circuit."""
    return sum(part.name == name for part in instructions_in(circuit))


def _twirled(circuit: stim.Circuit, below: float) -> stim.Circuit:
    def stand_in(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
        channel = twirl_of_channel(instruction)
        if channel is not None:
            return channel
        gate = None if instruction.name == CONDITIONAL_CARRIER else gate_from_tag(instruction)
        twirl = None if gate is None or not gate.half_turns else _twirl(instruction, gate, below)
        return twirl and with_source(twirl, bare_name(instruction))

    return with_replaced(circuit, stand_in)


def _twirl(instruction: stim.CircuitInstruction, gate: NonCliffordGate, below: float) -> stim.Circuit | None:
    """What stands for an instruction, or None if it is a gate and no noise."""
    if len(gate.half_turns) > 1:
        return _twirl_of_qubit_gate(instruction, gate, below)
    (angle,) = gate.half_turns
    turns = round(2 * angle)
    rest = angle - turns / 2
    if abs(rest) > below - _ROUNDING:
        return None
    result = stim.Circuit()
    probability = math.sin(math.pi / 2 * rest) ** 2
    for product in rotation_products(instruction, gate):
        append_quarter_turns(result, product, turns % 4)
    for product in rotation_products(instruction, gate):
        if probability > _ROUNDING**2:
            _append_error(result, product, probability)
    return result


def _append_error(circuit: stim.Circuit, product: list[stim.GateTarget], probability: float) -> None:
    if len(product) == 1:
        circuit.append(f"{product[0].pauli_type}_ERROR", product[0].value, probability)
    else:
        paulis = [stim.target_pauli(target.value, target.pauli_type) for target in product]
        circuit.append("E", paulis, probability)


def _twirl_of_qubit_gate(
    instruction: stim.CircuitInstruction, gate: NonCliffordGate, below: float
) -> stim.Circuit | None:
    """A one-qubit gate as the nearest Clifford gate and the twirl of what is left."""
    unitary = np.eye(2, dtype=np.complex128)
    for part in gate.definition.decomposition(*gate.half_turns):
        assert isinstance(part, RotationPart)
        half_angle = math.pi / 2 * part.half_turns
        rotation = math.cos(half_angle) * np.eye(2) - 1j * math.sin(half_angle) * _PAULIS[part.pauli]
        unitary = rotation @ unitary
    nearest = max(_clifford_gates(), key=lambda name: _weight(unitary @ _clifford_gates()[name].conj().T))
    rest = unitary @ _clifford_gates()[nearest].conj().T
    if 1 - _weight(rest) > math.sin(math.pi / 2 * below) ** 2 - _ROUNDING:
        return None
    probabilities = [_weight(pauli @ rest) for pauli in _PAULIS.values()]
    probabilities = [p if p > _ROUNDING**2 else 0.0 for p in probabilities]
    result = stim.Circuit()
    if nearest != "I":
        result.append(nearest, instruction.targets_copy())
    likely = [letter for letter, p in zip(_PAULIS, probabilities, strict=True) if p]
    if len(likely) == 1:  # an error that every error model can have
        result.append(f"{likely[0]}_ERROR", instruction.targets_copy(), max(probabilities))
    elif likely:
        result.append("PAULI_CHANNEL_1", instruction.targets_copy(), probabilities)
    return result


def _weight(unitary: npt.NDArray[np.complex128]) -> float:
    """The weight of the identity in the twirl of a one-qubit unitary."""
    return float(abs(np.trace(unitary) / 2) ** 2)


@functools.cache
def _clifford_gates() -> dict[str, npt.NDArray[np.complex128]]:
    """Stim's 24 one-qubit Clifford gates."""
    found = {}
    for name, gate in stim.gate_data().items():
        if gate.is_unitary and gate.is_single_qubit_gate:
            found[name] = np.asarray(gate.unitary_matrix, dtype=np.complex128)
    return found
