"""Gates in which leakage spreads, which are read as two instructions.

``CX(s01, s10, m01, m10) 0 1`` is Deltakit's way to write ``CX 0 1`` with
``LEAKAGE_SPREAD(s01, s10, m01, m10) 0 1`` behind it, and
``CX[LEAKAGE_SPREAD(s01=..., s10=..., m01=..., m10=...)] 0 1`` is the same with a tag. Circuits have the two
instructions: what reads a gate need not know of leakage, and ``without_noise`` leaves the gate.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import stim

from ...base.written_circuits import circuit_of, with_replaced, without_tag
from .channel_tags import check_free_tag, read_channel, tagged_channel
from .leakage import LEAKAGE

_SPREAD = LEAKAGE["LEAKAGE_SPREAD"]

SPREADING_GATES = frozenset(
    alias
    for gate in stim.gate_data().values()
    if gate.is_unitary and gate.is_two_qubit_gate and gate.name != "II"
    for alias in gate.aliases
)
"""The names of gates with which leakage may spread: Stim's gates on two qubits."""


def spreading_head(name: str, tag: str | None, arguments: Sequence[float]) -> str | None:
    """The text before the targets of a gate that has four probabilities; None for all others.

    Examples:
        >>> spreading_head("CX", None, [0.1, 0, 0, 0])
        'CX[LEAKAGE_SPREAD(s01=0.1, s10=0.0, m01=0.0, m10=0.0)]'
    """
    if len(arguments) != len(_SPREAD.parameters) or name not in SPREADING_GATES:
        return None
    check_free_tag(name, tag, "four")
    return f"{name}[{tagged_channel(_SPREAD, [0, 1], arguments).tag}]"


def spreads(instruction: stim.CircuitInstruction) -> bool:
    """Whether an instruction is a gate in which leakage spreads.

    Examples:
        >>> spreads(stim.CircuitInstruction("CX", [0, 1], tag="LEAKAGE_SPREAD(s01=1, s10=0, m01=0, m10=0)"))
        True
    """
    tag, name = instruction.tag, instruction.name
    if not tag.lstrip().startswith(_SPREAD.name) or name not in SPREADING_GATES:
        return False
    targets = instruction.targets_copy()
    if not all(target.is_qubit_target for target in targets):
        raise ValueError(
            f"Leakage spreads between qubits, and {name}[{tag}] has a record or sweep bit among its targets."
            f" Write those pairs as {name} without a tag and without probabilities."
        )
    read_channel(_spread_behind(instruction), LEAKAGE)
    return True


def with_spread_behind_gates(circuit: stim.Circuit) -> stim.Circuit:
    """A copy of a circuit with LEAKAGE_SPREAD behind the gates in which leakage spreads.

    Examples:
        >>> tag = "LEAKAGE_SPREAD(s01=1, s10=0, m01=0, m10=0)"
        >>> print(with_spread_behind_gates(stim.Circuit(f"CZ[{tag}] 0 1 1 2")))
        CZ 0 1
        II_ERROR[LEAKAGE_SPREAD(s01=1, s10=0, m01=0, m10=0)] 0 1
        CZ 1 2
        II_ERROR[LEAKAGE_SPREAD(s01=1, s10=0, m01=0, m10=0)] 1 2
    """
    if _SPREAD.name not in str(circuit):
        return circuit.copy()

    def stand_in(part: stim.CircuitInstruction) -> stim.Circuit | None:
        if not spreads(part):
            return None
        layers = ((without_tag(layer), _spread_behind(layer)) for layer in _layers(part))
        return circuit_of(*itertools.chain.from_iterable(layers))

    return with_replaced(circuit, stand_in)


def _spread_behind(instruction: stim.CircuitInstruction) -> stim.CircuitInstruction:
    return stim.CircuitInstruction(_SPREAD.carrier, instruction.targets_copy(), tag=instruction.tag)


def _layers(instruction: stim.CircuitInstruction) -> list[stim.CircuitInstruction]:
    """The instruction in parts in each of which a qubit occurs once."""
    layers: list[list[int]] = [[]]
    for group in instruction.target_groups():
        pair = [target.value for target in group]
        if set(pair) & set(layers[-1]):
            layers.append([])
        layers[-1] += pair
    return [stim.CircuitInstruction(instruction.name, layer, tag=instruction.tag) for layer in layers]
