"""Where the mechanisms of a plan come from: the noise channels of the circuit, and their part in each rate.

A *place* is a noise channel on one group of targets, or a readout error of one measurement. Its *strength* s
multiplies the probabilities that it has in the circuit, the arguments of its instruction; s is 1. Faults with
the same effect are one mechanism, the rate of which is the sum of those of its places.

With s, a channel with the probabilities s p_P of its patterns has the characters f_Q = 1 - 2 s Σ p_P over
the P that anticommute with Q, so that its rates λ_P = 2^-m Σ_Q ± ln f_Q (``compiler.channels``) change by
dλ_P / d ln s = 2^-m Σ_Q ± (1 / f_Q) df_Q / d ln s. Of a site, the probabilities themselves are proportional
to s. Of a chain of correlated errors, the argument of each link is: it leaves less for the later ones.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
import numpy.typing as npt

from ..compiler import CompiledCircuit
from ..compiler.channels import Channel, channel_of_patterns
from ..compiler.effects import Fault
from ..compiler.gf2 import independent, mask_of, parities
from ..compiler.program import Program
from ..compiler.steps import CorrelatedError, Measure, Noise
from ..plan import SamplingPlan
from .laws import Floats

__all__ = ["NoisePlace", "NoiseSources", "noise_sources"]

_SMALL = 1e-12
"""Of a derivative, against the channel's rate: rounding."""


@dataclass(frozen=True)
class NoisePlace:
    """A noise channel on one group of its targets, or the readout error of one measurement.

    Attributes:
        line: Line of the instruction in the printed circuit, counted from 1.
        tick: Number of TICKs before the instruction; every iteration of a REPEAT counts.
        instruction: Name of the instruction.
        arguments: The numbers in its parentheses.
        targets: The qubits of the channel or measurement: one group of its targets.
    """

    line: int
    tick: int
    instruction: str
    arguments: tuple[float, ...]
    targets: tuple[int, ...]


@dataclass(frozen=True)
class NoiseSources:
    """What each place does to the mechanisms.

    Attributes:
        places: The places, in the order of the circuit.
        mechanisms: int64, shape (entries,): of entry k, the mechanism.
        of_places: int64, shape (entries,): and the place.
        fractions: float64, shape (entries,): the part of the mechanism's events that come from the place.
        derivatives: float64, shape (entries,): derivative by ln of the place's strength of the mechanism's
            rate or, of a mechanism at a site, of its probability. NaN: the place also has a direction in
            which the plan has no mechanism.
    """

    places: tuple[NoisePlace, ...]
    mechanisms: npt.NDArray[np.int64]
    of_places: npt.NDArray[np.int64]
    fractions: npt.NDArray[np.float64]
    derivatives: npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Event:
    """A part of a mechanism: an effect with its rate, or probability, and how they change with a place."""

    place: int
    effect: int
    amount: float
    derivative: float


def noise_sources(compiled: CompiledCircuit, plan: SamplingPlan) -> NoiseSources:
    """The sources of a plan's mechanisms.

    Args:
        compiled: The circuit.
        plan: A plan of it for detectors.
    """
    program = compiled.program
    free: list[_Event] = []
    sites: list[list[_Event]] = []
    chains: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    groups = [list(faults) for _, faults in groupby(compiled.faults, lambda fault: (fault.step, fault.group))]
    # In the order in which the backward sweep numbers sites.
    for place, faults in sorted(enumerate(groups), key=lambda item: (-item[1][0].step, item[1][0].group)):
        match program.steps[faults[0].step]:
            case CorrelatedError(chain, probability):
                chains[chain].append((place, faults[0].effect, probability))
            case Noise(channel, channel_groups):
                targets = channel_groups[faults[0].group]
                effects = {_pattern_of(fault, targets): fault.effect for fault in faults}
                _add_channel(channel, place, effects, free, sites)
            case Measure(flip_probability=probability):
                readout = channel_of_patterns(((1, probability),))
                _add_channel(readout, place, {1: faults[0].effect}, free, sites)
    sites += [_events_of_chain(links) for links in chains.values()]
    return _matched(plan, [_place_of(program, faults[0]) for faults in groups], free, sites)


def _place_of(program: Program, fault: Fault) -> NoisePlace:
    place = program.places[fault.step]
    match program.steps[fault.step]:
        case Noise(_, groups, _):
            qubits: Iterator[int] = iter(groups[fault.group])
        case Measure(factors) | CorrelatedError(_, _, factors):
            qubits = (qubit for qubit, _ in factors)
        case _:
            raise AssertionError("a fault stands at noise or at a measurement")
    return NoisePlace(
        line=place.line,
        tick=place.tick,
        instruction=place.source.name,
        arguments=tuple(place.source.gate_args_copy()),
        targets=tuple(program.labels[qubit] for qubit in qubits),
    )


def _pattern_of(fault: Fault, targets: tuple[int, ...]) -> int:
    pattern = sum(code << 2 * targets.index(qubit) for qubit, code in fault.factors)
    return pattern | bool(fault.records) << 2 * len(targets)


def _add_channel(
    channel: Channel, place: int, effects: dict[int, int], free: list[_Event], sites: list[list[_Event]]
) -> None:
    """Adds the events of a channel; ``effects`` has those of its patterns."""
    amounts = dict(channel.site or channel.rates)
    derivatives = _site_derivatives(channel) if channel.site else _rate_derivatives(channel)
    constant = effects.get(channel.constant, 0)
    relative = {channel.constant: constant}  # what a pattern flips besides the constant
    relative |= {pattern ^ channel.constant: effect ^ constant for pattern, effect in effects.items()}
    if not relative.keys() >= derivatives.keys():
        relative = _sums_of(relative)
    events = [
        _Event(place, relative[pattern], amounts.get(pattern, 0.0), derivative)
        for pattern, derivative in derivatives.items()
    ]
    if channel.site:
        sites.append(events)
    else:
        free += events


def _sums_of(effects: dict[int, int]) -> dict[int, int]:
    """The effects of all sums of some patterns."""
    sums = {0: 0}
    for pattern, effect in effects.items():
        if pattern not in sums:
            sums |= {pattern ^ other: effect ^ sums[other] for other in list(sums)}
    return sums


@lru_cache(maxsize=1024)
def _rate_derivatives(channel: Channel) -> dict[int, float]:
    """Pattern -> dλ / d ln(strength), of a channel with rates."""
    rates = dict(channel.rates)
    size = 1 << max([channel.constant, *rates]).bit_length()
    odd = np.array([[(p & q).bit_count() & 1 for p in range(size)] for q in range(size)])
    exponents = -2.0 * odd @ np.array([rates.get(pattern, 0.0) for pattern in range(size)])
    signs = 1 - 2 * odd
    changes = signs @ np.expm1(exponents) / size  # the probabilities, but for pattern 0
    if channel.constant:
        # Pattern 0 stands for the most likely error, and the constant's pattern for nothing.
        changes[0] += 1
    changes[channel.constant] = 0
    changes[channel.constant] = -changes.sum()
    derivatives = signs @ (np.exp(-exponents) * (signs @ changes)) / size
    rounding = _SMALL * float(np.abs(derivatives).max())
    return {
        pattern: float(derivatives[pattern])
        for pattern in range(1, size)
        if pattern in rates or abs(derivatives[pattern]) > rounding
    }


def _site_derivatives(channel: Channel) -> dict[int, float]:
    """Pattern -> dp / d ln(strength), of a channel at a site."""
    derivatives = dict(channel.site)
    if channel.constant:
        nothing = derivatives.pop(channel.constant, 0.0)
        derivatives[channel.constant] = nothing - 1  # all that is not nothing takes from it
    return derivatives


def _events_of_chain(links: list[tuple[int, int, float]]) -> list[_Event]:
    """The choices of a chain of correlated errors, (place, effect, probability) with the last link first."""
    nothing = 1 - math.fsum(probability for _, _, probability in links)
    likeliest, constant, most = max(links, key=lambda link: link[2])
    if most <= nothing:
        likeliest, constant = links[0][0], 0
    choices = [(likeliest, 0, nothing), *links]
    events = [_Event(place, effect ^ constant, p, 0.0) for place, effect, p in choices]
    for number, (place, effect, probability) in enumerate(links, start=1):
        # A link takes from what comes after it: later links, and nothing.
        events.append(_Event(place, effect ^ constant, 0.0, probability))
        later = choices[:number]
        left = math.fsum(p for _, _, p in later)
        for _, other, p in later:
            part = p / left if left > 0 else 1.0 if number == 1 else math.nan
            events.append(_Event(place, other ^ constant, 0.0, -probability * part))
    return events


def _matched(
    plan: SamplingPlan, places: list[NoisePlace], free: list[_Event], sites: list[list[_Event]]
) -> NoiseSources:
    """Finds the mechanisms of events by their rows, as ``RowLayout.mechanisms`` makes them."""
    sources = plan.row_sources
    sums = [sources.row(k).tolist() for k in range(len(sources))]
    rows = iter(parities([event.effect for events in (free, *sites) for event in events], sums))
    masks = [mask_of(plan.effects.row(k).tolist()) for k in range(plan.num_mechanisms)]
    mechanism_of = {(int(plan.sites[k]), masks[k]): k for k in range(plan.num_mechanisms)}
    entries: dict[tuple[int, int], list[float]] = {}

    def add(site: int, row: int, event: _Event, amount: float, derivative: float) -> None:
        mechanism = mechanism_of.get((site, row), -1)
        if mechanism < 0:
            derivative = math.nan if derivative else 0.0
        entry = entries.setdefault((mechanism, event.place), [0.0, 0.0])
        entry[0] += amount
        entry[1] += derivative

    every = [event for part in (free, *sites) for event in part]
    directions = any(event.derivative and not event.amount for event in every)  # only where noise is certain
    happening = independent(event.effect for event in every if event.amount > 0) if directions else []

    def is_new(event: _Event) -> bool:
        """Whether it does not happen now, and flips what no sum of events flips: the plan's rows lack it."""
        if event.amount or not event.derivative:
            return False
        return len(independent([*happening, event.effect])) > len(happening)

    for event in free:
        row = next(rows)
        if is_new(event):
            add(-1, 0, event, 0.0, event.derivative)
        elif row:
            add(-1, row, event, event.amount, event.derivative)
    number = 0
    for events in sites:
        located = []
        for event in events:
            row = next(rows)
            if is_new(event):
                add(-1, 0, event, 0.0, event.derivative)
            elif row:
                located.append((row, event))
        choices: dict[int, float] = {}
        for row, event in located:
            if event.amount > 0:
                choices[row] = choices.get(row, 0.0) + event.amount
        if len(choices) == 1 and next(iter(choices.values())) < 0.5:
            ((_, probability),) = choices.items()
            rate, slope = -0.5 * math.log1p(-2 * probability), 1 / (1 - 2 * probability)
            for row, event in located:
                add(-1, row, event, event.amount / probability * rate, event.derivative * slope)
        elif choices:
            for row, event in located:
                add(number, row, event, event.amount, event.derivative)
            number += 1
    mechanisms = np.array([mechanism for mechanism, _ in entries], dtype=np.int64)
    amounts = np.array([amount for amount, _ in entries.values()], dtype=np.float64)
    known = mechanisms >= 0
    totals = np.zeros(plan.num_mechanisms)
    np.add.at(totals, mechanisms[known], amounts[known])
    _check_totals(plan, totals)
    fractions = np.zeros(len(amounts))
    fractions[known] = amounts[known] / totals[mechanisms[known]]
    return NoiseSources(
        places=tuple(places),
        mechanisms=mechanisms,
        of_places=np.array([place for _, place in entries], dtype=np.int64),
        fractions=fractions,
        derivatives=np.array([derivative for _, derivative in entries.values()], dtype=np.float64),
    )


def _check_totals(plan: SamplingPlan, totals: Floats) -> None:
    """The parts of each mechanism make up its rate, or at a site its probability."""
    expected = plan.rates.copy()
    for site in np.unique(plan.sites[plan.sites >= 0]):
        total = float(plan.rates[plan.sites == site].sum())
        expected[plan.sites == site] *= -math.expm1(-total) / total
    if not np.allclose(totals, expected, rtol=1e-9, atol=0):
        raise AssertionError("the parts of a mechanism do not add up to it")
