"""Pauli channels on three qubits, which Stim has on one and two: the noise of CCZ and CCX.

``DEPOLARIZE3(p)`` shares p equally among the 63 Paulis, and ``PAULI_CHANNEL_3`` takes the probability of each
one, in the order IIX, IIY, IIZ, IXI, ..., ZZZ, as PAULI_CHANNEL_2 does on two qubits. The first letter is the
Pauli on the first qubit. The errors exclude each other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import stim

from .channel_tags import ChannelDefinition, TaggedChannel, probability_problem, read_channel

_PAULIS = tuple("".join(letters) for letters in itertools.product("IXYZ", repeat=3))[1:]
_ROUNDING = 1e-7
"""By how much the sum of probabilities may exceed 1, as in Stim."""


@dataclass(frozen=True)
class ThreeQubitErrors(TaggedChannel):
    """A Pauli channel on three qubits, as read from a tag."""

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The probabilities of the 63 Paulis, in the order of PAULI_CHANNEL_3."""
        if self.name == "DEPOLARIZE3":
            return (self.values[0] / len(_PAULIS),) * len(_PAULIS)
        return self.values


def _problem(*values: float) -> str:
    if len(values) != len(_PAULIS):
        return (
            f"it takes {len(_PAULIS)} arguments, the probabilities of {', '.join(_PAULIS[:5])}, ...,"
            f" {_PAULIS[-1]} in this order; got {len(values)}"
        )
    for pauli, value in zip(_PAULIS, values, strict=True):
        if probability_problem(value):
            return probability_problem(value).replace("probability", f"probability of {pauli}")
    total = math.fsum(values)
    return f"the disjoint probabilities sum to more than 1: {total:.6g}" if total > 1 + _ROUNDING else ""


_DEFINITIONS = (
    ChannelDefinition(
        "DEPOLARIZE3",
        "one of the 63 Paulis on three qubits, each with probability p/63",
        ("p",),
        probability_problem,
        (0.01,),
        num_targets=3,
    ),
    ChannelDefinition(
        "PAULI_CHANNEL_3",
        "one of the 63 Paulis on three qubits, each with its own probability: IIX, IIY, IIZ, IXI, ..., ZZZ",
        ("IIX", "IIY", "...", "ZZZ"),
        _problem,
        (0.01, *(0.0,) * (len(_PAULIS) - 1)),
        num_targets=3,
        is_list=True,
    ),
)

THREE_QUBIT_ERRORS: Mapping[str, ChannelDefinition] = MappingProxyType(
    {each.name: each for each in _DEFINITIONS}
)
"""The channels by their names."""


def three_qubit_errors_of(instruction: stim.CircuitInstruction) -> ThreeQubitErrors | None:
    """The channel for which the tag of an instruction stands, or None; errors are those of ``read_channel``.

    Examples:
        >>> tag = "DEPOLARIZE3(p=0.63)"
        >>> channel = three_qubit_errors_of(stim.CircuitInstruction("I_ERROR", [0, 1, 2], tag=tag))
        >>> len(channel.probabilities), round(sum(channel.probabilities), 12)
        (63, 0.63)
    """
    found = read_channel(instruction, THREE_QUBIT_ERRORS)
    return None if found is None else ThreeQubitErrors(found.name, found.values)
