"""Leakage and loss as steps, and the models of leakage that a circuit sets.

The models hold for the whole circuit, wherever their instructions stand: LEAKAGE_PARTNER, LEAKAGE_READOUT and
LOSS_REPLACEMENT say how each qubit differs from the usual model, and so does LEAKAGE_SKIPS_GATES.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

import stim

from ....dialect import ReadoutNoise, TaggedChannel, gate_named, leakage_of
from ..algebra.clifford_gates import named_gate
from ..algebra.paulis import Factors, Z
from .expansion import Gates, copies, misreading
from .steps import (
    Clifford,
    LeakageHerald,
    LeakageReturn,
    LeakageSpread,
    LeakedFlip,
    Leaking,
    LeakingFromOnes,
    Measure,
    Reset,
    Step,
)

_USUAL: dict[str, tuple[float, ...] | None] = {
    "LEAKAGE_PARTNER": (0.25, 0.25, 0.25),
    "LEAKAGE_READOUT": (0.5,),
    "LOSS_REPLACEMENT": (1.0,),
    "LEAKAGE_SKIPS_GATES": None,  # there is no instruction for what is usual
}

_FROM_ONES = ("LEAKAGE_FROM_ONE", "LEAKAGE_FROM_11")

_STATE_DEPENDENT = {
    **dict.fromkeys(_FROM_ONES, "whether a qubit leaks depends on its state"),
    "RELAX_TO_ONE": "a leaked qubit returns in a state that is not mixed",
    "LEAKAGE_SKIPS_GATES": "which gates there are depends on leakage",
}
"""What is in no plan, and why."""

READOUT_ANCILLAS = 4
"""Number of ancillas that ``leaked_readout_steps`` needs."""


@dataclass(frozen=True)
class LeakageModels:
    """What is unusual about qubits that are leaked or lost."""

    # by qubit, the probabilities of X, Y and Z errors of the others after a gate with it
    partners: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    # by qubit, the probability that it is measured as 1
    readouts: Mapping[int, float] = field(default_factory=dict)
    # by qubit, the probability that a reset replaces it if it is lost
    replacements: Mapping[int, float] = field(default_factory=dict)
    # the qubits whose gates with others do nothing
    skipping: Set[int] = frozenset()

    def numbered(self, numbers: Mapping[int, int]) -> LeakageModels:
        """The models with the numbers of qubits in place of their labels."""
        return LeakageModels(
            {numbers[label]: paulis for label, paulis in self.partners.items()},
            {numbers[label]: p for label, p in self.readouts.items()},
            {numbers[label]: p for label, p in self.replacements.items()},
            frozenset(numbers[label] for label in self.skipping),
        )


def is_leakage_model(channel: TaggedChannel) -> bool:
    """Whether a channel sets a model, and does nothing where it stands."""
    return channel.name in _USUAL


def may_leak(channel: TaggedChannel) -> bool:
    """Whether a qubit may leave its two levels by a channel."""
    return channel.name in ("LEAKAGE", "LOSS", *_FROM_ONES)


def why_no_plan(channel: TaggedChannel) -> str:
    """Why a circuit with a channel has no plan; empty if it may have one."""
    return _STATE_DEPENDENT.get(channel.name, "")


def leakage_models(instructions: Iterable[stim.CircuitInstruction]) -> LeakageModels:
    """The models that instructions of a circuit set, by the labels of qubits.

    Examples:
        >>> leakage_models(stim.Circuit("I_ERROR[LEAKAGE_READOUT(p=0.9)] 3 5")).readouts
        {3: 0.9, 5: 0.9}
    """
    found: dict[str, dict[int, tuple[float, ...]]] = {name: {} for name in _USUAL}
    for instruction in instructions:
        channel = leakage_of(instruction)
        if channel is None or channel.name not in found:
            continue
        for target in instruction.targets_copy():
            known = found[channel.name].setdefault(target.value, channel.values)
            if known != channel.values:
                raise ValueError(
                    f"{channel.name} of qubit {target.value} is given twice, with {known} and"
                    f" {channel.values}. It holds for the whole circuit: keep one of them."
                )
    unusual = {
        name: {
            qubit: values
            for qubit, values in given.items()
            if values != _USUAL[name] or name == "LEAKAGE_READOUT"
        }
        for name, given in found.items()
    }
    return LeakageModels(
        unusual["LEAKAGE_PARTNER"],
        {qubit: p for qubit, (p,) in unusual["LEAKAGE_READOUT"].items()},
        {qubit: p for qubit, (p,) in unusual["LOSS_REPLACEMENT"].items()},
        frozenset(unusual["LEAKAGE_SKIPS_GATES"]),
    )


def leakage_steps(
    channel: TaggedChannel, groups: Iterable[tuple[int, ...]], first_record: int
) -> Iterator[Step]:
    """The steps of an instruction of leakage or loss; none for models."""
    name = channel.name
    if is_leakage_model(channel):
        return
    if name == "LEAKAGE_SPREAD":
        s01, s10, m01, m10 = channel.values
        for a, b in groups:
            for source, partner, spread, move in ((a, b, s01, m01), (b, a, s10, m10)):
                yield LeakageSpread(source, partner, spread, moves=False)
                yield LeakageSpread(source, partner, move, moves=True)
        return
    (p,) = channel.values or (1.0,)
    if name in _FROM_ONES:
        for qubits in groups:
            yield LeakingFromOnes(qubits, p)
        return
    for k, (qubit,) in enumerate(groups):
        if name.startswith("HERALD"):
            yield LeakageHerald(qubit, first_record + k, 1 - p, "LOSS" in name)
        elif name in ("RELAX", "RL", "RELAX_TO_ONE"):
            yield LeakageReturn(qubit, p, name == "RELAX_TO_ONE")
        else:
            yield Leaking(qubit, p, name == "LOSS")


def leaked_readout_steps(
    factors: Factors, noise: ReadoutNoise, record: int, inverted: bool, num_qubits: int, one: float
) -> Iterator[Step | Gates]:
    """Measures a qubit whose outcome is 1 with the probability ``one``, and not 1/2, if it is leaked or lost.

    A random outcome is no bit that noise could know. So it is copied to an ancilla by a gate that another
    ancilla controls, the flag, which leakage flips: outcomes of leaked qubits become 0. These are flipped.
    The noise is that of a computational qubit: its outcome is misread before it is copied. The last
    ``READOUT_ANCILLAS`` of ``num_qubits`` qubits are ancillas.
    """
    ((qubit, _),) = factors
    result, flag, kept, other = range(num_qubits - READOUT_ANCILLAS, num_qubits)
    yield Reset(other, Z)
    yield from copies(factors, other)
    yield Reset(other, Z)  # measures the qubit
    yield Reset(kept, Z)
    yield from copies(factors, kept)
    if noise.decay or noise.flip:
        yield from misreading(noise, kept, other)
        if noise.decays_to:
            yield Clifford(named_gate("X"), ((kept,),))
        yield Reset(other, Z)  # measures whether it decays
    yield Reset(flag, Z)
    yield Clifford(named_gate("X"), ((flag,),))
    yield LeakedFlip(qubit, flag, 1.0)
    yield Reset(result, Z)
    gate = gate_named("CCX")
    assert gate is not None
    yield Gates(gate.decomposition(), (flag, kept, result))
    yield LeakedFlip(qubit, result, one)
    yield Measure(((result, Z),), record, inverted, 0.0, False)
