"""The Pauli channels that stand for relaxation and readout noise where only Pauli errors are known."""

from __future__ import annotations

import stim

from ...dialect import kraus_of, readout_noise_of, relaxation_of
from .replacement import with_replaced

__all__ = ["twirl_of_channel", "with_twirled_channels"]


def twirl_of_channel(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
    """The Pauli twirl of relaxation, of Kraus operators, or of readout noise; None for other instructions.

    Examples:
        >>> tag = "AMPLITUDE_DAMPING(gamma=0.36)"
        >>> print(twirl_of_channel(stim.CircuitInstruction("I_ERROR", [3], tag=tag)))
        PAULI_CHANNEL_1(0.09, 0.09, 0.01) 3
    """
    result = stim.Circuit()
    noise = readout_noise_of(instruction)
    if noise is not None:
        result.append(instruction.name, instruction.targets_copy(), noise.mean)
        return result
    kraus = kraus_of(instruction)
    if kraus is not None:
        name = f"PAULI_CHANNEL_{kraus.num_qubits}"
        result.append(name, instruction.targets_copy(), kraus.twirl)
        return result
    channel = relaxation_of(instruction)
    if channel is None:
        return None
    if channel.decay:
        result.append("PAULI_CHANNEL_1", instruction.targets_copy(), channel.twirl)
    elif channel.dephasing:
        result.append("Z_ERROR", instruction.targets_copy(), channel.dephasing)
    return result


def with_twirled_channels(circuit: stim.Circuit) -> stim.Circuit:
    """A tagged circuit with these in place of relaxation, Kraus operators and readout noise."""
    return with_replaced(circuit, twirl_of_channel)
