"""The inverse of a non-Clifford gate, where Stim's inverse of its carrier is not it."""

from __future__ import annotations

import stim

from .tags import gate_from_tag, tag_of_rotation

__all__ = ["inverse_of_tagged"]


def inverse_of_tagged(instruction: stim.CircuitInstruction) -> stim.CircuitInstruction:
    """Inverts the tags that ``stim.Circuit.inverse`` copies.

    ``S[T]`` has become ``S_DAG[T]`` already, and ``SPP[...]`` has become ``SPP_DAG[...]``; a gate whose
    carrier is I or II has stayed what it was.

    Examples:
        >>> import stim
        >>> inverse_of_tagged(stim.CircuitInstruction("II", [0, 1], tag="CS"))
        stim.CircuitInstruction('II', [stim.GateTarget(0), stim.GateTarget(1)], [], tag='CS_DAG')
    """
    gate = gate_from_tag(instruction)
    if gate is None or instruction.name not in ("I", "II"):
        return instruction
    if gate.name == "U3":
        theta, phi, lambda_ = gate.half_turns
        tag = tag_of_rotation("U3", (-theta, -lambda_, -phi))
    elif gate.half_turns:
        tag = tag_of_rotation(gate.name, (-gate.half_turns[0],))
    else:
        tag = {"CS": "CS_DAG", "CS_DAG": "CS"}.get(gate.name, gate.name)
    targets = instruction.targets_copy()
    if gate.name in ("CCZ", "CCX"):
        # For Stim these are gates on one qubit each, and it has reversed the whole list.
        targets = [targets[k + j] for k in range(0, len(targets), 3) for j in (2, 1, 0)]
    return stim.CircuitInstruction(instruction.name, targets, tag=tag)
