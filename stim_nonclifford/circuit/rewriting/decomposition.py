"""Clifford gates and measurements in terms of H, S, CX, M and R, with their noise."""

from __future__ import annotations

import stim

from ...base.written_circuits import circuit_of, with_replaced
from ...dialect import gate_from_tag, is_expectation, readout_noise_of


def decomposed(circuit: stim.Circuit) -> stim.Circuit:
    """A tagged circuit with its Clifford operations decomposed; see ``Circuit.decomposed``.

    Unlike this function, ``stim.Circuit.decomposed`` drops the readout errors of measurements, refuses
    inverted targets such as ``MX !0``, makes ``CX 0 rec[-1]`` of ``CZ 0 rec[-1]``, and copies tags to S,
    where they select another gate.
    """
    return with_replaced(circuit, _stand_in)


def _stand_in(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
    if is_expectation(instruction) or gate_from_tag(instruction) is not None:
        return None
    data = stim.gate_data(instruction.name)
    if data.is_noisy_gate and not data.produces_measurements:
        return None
    if not data.produces_measurements:
        if instruction.name == "CZ":
            instruction = _with_controls_first(instruction)
        return _without_tags_on_s(circuit_of(instruction).decomposed())
    # Of a measurement, each record comes from one target of an M or MPAD, in the same order.
    arguments = instruction.gate_args_copy()
    plain, inverted = _without_inversions(instruction)
    tag = instruction.tag
    if readout_noise_of(instruction) is not None:  # Stim would copy the tag to gates
        plain = stim.CircuitInstruction(plain.name, plain.targets_copy(), plain.gate_args_copy())
    result = stim.Circuit()
    for part in _without_tags_on_s(circuit_of(plain).decomposed()):
        assert isinstance(part, stim.CircuitInstruction)
        if part.name == "M":
            targets = part.targets_copy()
            if inverted:
                own, inverted = inverted[: len(targets)], inverted[len(targets) :]
                targets = [
                    stim.target_inv(target.value) if invert else target
                    for target, invert in zip(targets, own, strict=True)
                ]
            part = stim.CircuitInstruction("M", targets, arguments, tag=tag)
        result.append(part)
    return result


def _with_controls_first(instruction: stim.CircuitInstruction) -> stim.CircuitInstruction:
    """A CZ with each record or sweep bit before its qubit; a phase of two of them does nothing."""
    targets: list[stim.GateTarget] = []
    for first, second in instruction.target_groups():
        if first.is_qubit_target or second.is_qubit_target:
            targets += [first, second] if second.is_qubit_target else [second, first]
    return stim.CircuitInstruction("CZ", targets, tag=instruction.tag)


def _without_inversions(
    instruction: stim.CircuitInstruction,
) -> tuple[stim.CircuitInstruction, list[bool]]:
    """A measurement of one or two qubits without its ``!``, and which records they invert.

    The list is empty for other instructions, which stay as they are: Stim decomposes an MPP with inversions.
    """
    if instruction.name in ("MPP", "MPAD") or instruction.name.startswith("HERALDED"):
        return instruction, []
    inverted = [
        sum(target.is_inverted_result_target for target in group) % 2 == 1
        for group in instruction.target_groups()
    ]
    targets = [target.value for target in instruction.targets_copy()]
    plain = stim.CircuitInstruction(
        instruction.name, targets, instruction.gate_args_copy(), tag=instruction.tag
    )
    return plain, inverted


def _without_tags_on_s(circuit: stim.Circuit) -> stim.Circuit:
    """The parts of a decomposition, to all of which Stim has copied the tag of the whole."""
    result = stim.Circuit()
    for part in circuit:
        is_carrier = part.name == "S" and part.tag
        result.append(stim.CircuitInstruction("S", part.targets_copy()) if is_carrier else part)
    return result
