"""All channels of this package that Stim does not have, whatever their kind."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import stim

from .channel_tags import ChannelDefinition, TaggedChannel, read_channel, remains_of_channel
from .kraus import KRAUS
from .leakage import LEAKAGE
from .quasistatic import QUASISTATIC
from .readout import readout_noise_of
from .relaxation import RELAXATION
from .three_qubit_errors import THREE_QUBIT_ERRORS

CHANNELS: Mapping[str, ChannelDefinition] = MappingProxyType(
    {**RELAXATION, **KRAUS, **QUASISTATIC, **THREE_QUBIT_ERRORS, **LEAKAGE}
)
"""The channels by their names."""


def channel_of(instruction: stim.CircuitInstruction) -> TaggedChannel | None:
    """The channel for which the tag of an instruction stands, or None; see ``read_channel``."""
    return read_channel(instruction, CHANNELS)


def num_qubits_of_channel(channel: TaggedChannel) -> int:
    """On how many qubits a channel acts together."""
    return CHANNELS[channel.name].num_targets


def has_tag_of_channel(instruction: stim.CircuitInstruction) -> bool:
    """Whether an instruction is a channel, or what Stim leaves of one, or a measurement with readout noise.

    Examples:
        >>> left = stim.Circuit("HERALDED_ERASE[HERALD_LOSS_EVENT(p=0)](0) 0").without_noise()
        >>> channel_of(left[0]), has_tag_of_channel(left[0])
        (None, True)
    """
    return (
        channel_of(instruction) is not None
        or readout_noise_of(instruction) is not None
        or remains_of_channel(instruction, CHANNELS)
    )
