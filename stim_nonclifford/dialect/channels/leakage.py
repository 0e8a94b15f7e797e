"""Leakage and loss: qubits that leave their two levels, and may return.

Each qubit is *computational*, *leaked* or *lost*. Which of the three it is changes with given probabilities,
whatever the state: leakage is a classical process, unless it is from |1>. ``docs/methods/noise.md`` says what
gates, measurements and resets do to qubits that are leaked or lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import stim

from .channel_tags import ChannelDefinition, TaggedChannel, probability_problem, read_channel


def _spread_problem(*values: float) -> str:
    return next(filter(None, map(probability_problem, values)), "")


def _partner_problem(*values: float) -> str:
    too_many = f"the probabilities add up to {sum(values):.6g}, which is more than 1"
    return _spread_problem(*values) or (too_many if sum(values) > 1 + 1e-9 else "")


def _with_probability(name: str, description: str, example: float) -> ChannelDefinition:
    return ChannelDefinition(name, description, ("p",), probability_problem, (example,))


def _herald(name: str, state: str) -> ChannelDefinition:
    return ChannelDefinition(
        name,
        f"a record: 1 for a {state} qubit, but 0 with probability p; 0 for every other qubit",
        ("p",),
        probability_problem,
        (0.01,),
        carrier="HERALDED_ERASE",
        carrier_arguments=(0.0,),
        remains="MPAD",
    )


_DEFINITIONS = (
    _with_probability("LEAKAGE", "a computational qubit leaks with probability p", 0.01),
    _with_probability("LOSS", "a computational or leaked qubit is lost with probability p", 0.01),
    _with_probability(
        "RELAX",
        "a leaked qubit returns with probability p, in the completely mixed state (the decay by T1 is"
        " THERMAL_RELAXATION)",
        0.5,
    ),
    _with_probability(
        "LEAKAGE_FROM_ONE",
        "with probability p, the qubit is measured, and leaks if it is in |1>; nobody knows the outcome",
        0.01,
    ),
    ChannelDefinition(
        "LEAKAGE_FROM_11",
        "with probability p, both qubits are measured, and if both are in |1>, the first one leaks and the"
        " second one is left in |0>; nobody knows the outcomes",
        ("p",),
        probability_problem,
        (0.01,),
        carrier="II_ERROR",
        num_targets=2,
    ),
    _with_probability("RELAX_TO_ONE", "a leaked qubit returns with probability p, in |1>", 0.5),
    ChannelDefinition("RL", "the same as RELAX(1): every leaked qubit returns", (), lambda: "", ()),
    ChannelDefinition(
        "LEAKAGE_SPREAD",
        "if the first qubit is leaked and the second computational, leakage spreads with probability s01, or"
        " else moves with m01; then the same the other way round, with s10 and m10",
        ("s01", "s10", "m01", "m10"),
        _spread_problem,
        (0.1, 0.1, 0.0, 0.0),
        carrier="II_ERROR",
        num_targets=2,
    ),
    ChannelDefinition(
        "LEAKAGE_PARTNER",
        "a gate with a qubit that is leaked or lost acts as with a completely mixed one in its place, and"
        " each of the others has an X, Y or Z error with these probabilities after it",
        ("x", "y", "z"),
        _partner_problem,
        (0.25, 0.25, 0.25),
    ),
    ChannelDefinition(
        "LEAKAGE_SKIPS_GATES",
        "a gate on several qubits does nothing to any of them if this one is leaked or lost",
        (),
        lambda: "",
        (),
    ),
    _with_probability(
        "LEAKAGE_READOUT", "a qubit that is leaked or lost is measured as 1 with probability p", 0.5
    ),
    _with_probability("LOSS_REPLACEMENT", "a reset replaces a lost qubit with probability p", 1.0),
    _herald("HERALD_LEAKAGE_EVENT", "leaked"),
    _herald("HERALD_LOSS_EVENT", "lost"),
)

LEAKAGE: Mapping[str, ChannelDefinition] = MappingProxyType({each.name: each for each in _DEFINITIONS})
"""The channels by their names."""


def leakage_of(instruction: stim.CircuitInstruction) -> TaggedChannel | None:
    """The channel of leakage or loss for which the tag of an instruction stands, or None."""
    return read_channel(instruction, LEAKAGE)
