"""The Pauli channels that stand for relaxation in everything that knows Pauli errors alone."""

from __future__ import annotations

import stim

from ...dialect import relaxation_of
from .replacement import with_replaced

__all__ = ["twirl_of_relaxation", "with_twirled_relaxation"]


def twirl_of_relaxation(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
    """The Pauli channel that is the twirl of a channel of relaxation, or None for other instructions.

    Examples:
        >>> tag = "AMPLITUDE_DAMPING(gamma=0.36)"
        >>> print(twirl_of_relaxation(stim.CircuitInstruction("I_ERROR", [3], tag=tag)))
        PAULI_CHANNEL_1(0.09, 0.09, 0.01) 3
    """
    channel = relaxation_of(instruction)
    if channel is None:
        return None
    result = stim.Circuit()
    if channel.decay:
        result.append("PAULI_CHANNEL_1", instruction.targets_copy(), channel.twirl)
    elif channel.dephasing:
        result.append("Z_ERROR", instruction.targets_copy(), channel.dephasing)
    return result


def with_twirled_relaxation(circuit: stim.Circuit) -> stim.Circuit:
    """A tagged circuit with these channels in place of those of relaxation."""
    return with_replaced(circuit, twirl_of_relaxation)
