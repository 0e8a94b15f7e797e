"""Inverses of the non-Clifford gates that ``stim.Circuit.inverse`` does not invert correctly."""

from __future__ import annotations

import stim

from .expectation_values import expectation_of_products, expectation_products, is_expectation
from .gates import CONDITIONAL_CARRIER
from .tags import NonCliffordGate, gate_from_tag, qubits_of_carrier, tag_of


def inverse_of_tagged(instruction: stim.CircuitInstruction) -> stim.CircuitInstruction:
    """Corrects an instruction of a circuit that ``stim.Circuit.inverse`` returned.

    Stim inverts the carrier and copies the tag. This is correct for ``S[T]``, which becomes ``S_DAG[T]``, and
    for ``SPP[...]``, which becomes ``SPP_DAG[...]``. If the carrier is its own inverse, such as I and II, the
    tag has to be inverted here.

    Examples:
        >>> import stim
        >>> inverse_of_tagged(stim.CircuitInstruction("II", [0, 1], tag="CS"))
        stim.CircuitInstruction('II', [stim.GateTarget(0), stim.GateTarget(1)], [], tag='CS_DAG')
    """
    if is_expectation(instruction):
        return _with_products_in_order(instruction)
    gate = gate_from_tag(instruction)
    carrier = instruction.name
    if gate is None or stim.gate_data(carrier).inverse.name != carrier:
        return instruction
    definition = gate.definition
    inverse = NonCliffordGate(definition.inverse, definition.inverse_angles(gate.half_turns), gate.user_tag)
    form = next(form for form in inverse.definition.forms if form.carrier == carrier)
    targets = instruction.targets_copy()
    size, unit = definition.num_targets or 1, qubits_of_carrier(carrier)
    if carrier == CONDITIONAL_CARRIER:
        size = unit * (size - 1)  # all pairs of a control and a qubit
    if size != unit:
        # For Stim these are gates of their own, whose order it has reversed.
        units = [targets[k : k + unit] for k in range(0, len(targets), unit)]
        per_group = size // unit
        targets = [
            target
            for k in range(0, len(units), per_group)
            for one in reversed(units[k : k + per_group])
            for target in one
        ]
    return stim.CircuitInstruction(carrier, targets, tag=tag_of(inverse, form))


def _with_products_in_order(instruction: stim.CircuitInstruction) -> stim.CircuitInstruction:
    """EXP_VAL with the last product first, after Stim has reversed the list of targets."""
    reversed_targets = instruction.targets_copy()[::-1]
    original = stim.CircuitInstruction(instruction.name, reversed_targets, tag=instruction.tag)
    return expectation_of_products(expectation_products(original)[::-1])
