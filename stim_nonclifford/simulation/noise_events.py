"""The events of a circuit's noise, and the mechanisms of a plan that they are.

A *place* is a noise channel on one group of targets, or the readout error of one measurement. A *draw*
chooses between errors that exclude each other: those of one place, or the links of a chain of correlated
errors. Each draw has a *usual* result: no error or, where one error is more likely than none, that error. An
*event* is another result. Its *effect* is what it flips compared with the usual result. Results are written
as *patterns*, and an event's pattern is what it adds (mod 2) to the usual one: X, if an X that usually
happens is absent.

The draw of a place may be equivalent to independent events, several of which can happen: their patterns then
add up (``compiler.program.channels``). Otherwise the place is a *site*, and at most one of its events
happens.

Events of all draws that flip the same bits of a plan's row are one mechanism of the plan; those of a site are
mechanisms of their own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter

import numpy as np

from .compiler import CompiledCircuit
from .compiler.algebra.gf2 import independent, mask_of, parities
from .compiler.program.channels import Channel, channel_of_patterns
from .compiler.program.steps import CorrelatedError, Measure, Noise
from .compiler.sweeps.effects import Fault
from .plan import SamplingPlan

_SMALL = 1e-12
"""A derivative that is smaller than this part of the channel's rate is rounding."""


@dataclass(frozen=True, slots=True)
class Draw:
    """What chooses between errors that exclude each other."""

    usual: int  # the pattern of its usual result; 0 for no error
    # for each of its errors, the pattern and the index of the fault in ``CompiledCircuit.faults``
    faults: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class NoiseEvent:
    """A result of a draw that is not the usual one."""

    draw: int  # the index of the draw
    place: int  # the index of the place; in a chain, that of the link
    pattern: int  # the pattern, added to the usual one
    effect: int  # what it flips, compared with the usual result
    # its rate or, at a site, its probability. It may be 0: the event would begin with more noise
    amount: float
    # d amount / d ln(strength), where the strength of a place multiplies the probabilities in the
    # circuit
    derivative: float


@dataclass(frozen=True)
class NoiseEvents:
    """The events of a circuit."""

    places: list[Fault]  # a fault at each place, in the order of the circuit
    draws: list[Draw]  # the draws
    free: list[NoiseEvent]  # independent events
    # for each site its events, in the order in which the backward sweep numbers sites
    sites: list[list[NoiseEvent]]


@dataclass(frozen=True, slots=True)
class LocatedEvent:
    """An event as a part of a mechanism of a plan."""

    event: NoiseEvent  # the event
    mechanism: int  # the index of the mechanism; -1 if there is none, as the event does not happen
    amount: float  # what it adds to the mechanism's rate or, at a site, to its probability
    derivative: float  # the derivative of ``amount``; NaN if there is no mechanism


def noise_events(compiled: CompiledCircuit) -> NoiseEvents:
    r"""The events of a circuit's noise.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("X_ERROR(0.9) 0\nM 0\nDETECTOR rec[-1]")
        >>> events = noise_events(circuit.compile())
        >>> events.draws  # usually there is an X
        [Draw(usual=1, faults={1: 0})]
        >>> [(event.pattern, event.effect) for event in events.free]  # the event is its absence
        [(1, 1)]
    """
    program = compiled.program
    found = NoiseEvents([], [], [], [])
    chains: dict[int, list[tuple[int, int, int, float]]] = defaultdict(list)
    groups = [
        list(items)
        for _, items in groupby(enumerate(compiled.faults), lambda item: (item[1].step, item[1].group))
    ]
    found.places.extend(group[0][1] for group in groups)
    # In the order in which the backward sweep numbers sites.
    for place, faults in sorted(
        enumerate(groups), key=lambda item: (-item[1][0][1].step, item[1][0][1].group)
    ):
        number, first = faults[0]
        match program.steps[first.step]:
            case CorrelatedError(chain, probability):
                chains[chain].append((place, number, first.effect, probability))
            case Noise(channel, channel_groups):
                targets = channel_groups[first.group]
                _add_channel(
                    channel, place, {_pattern_of(f, targets): (k, f.effect) for k, f in faults}, found
                )
            case Measure(flip_probability=probability):
                readout = channel_of_patterns(((1, probability),))
                _add_channel(readout, place, {1: (number, first.effect)}, found)
    for links in chains.values():
        _add_chain(links, found)
    return found


def usual_effects(compiled: CompiledCircuit) -> list[int]:
    """The effects of the errors that are more likely than none, each for itself.

    These are the usual results of the draws of ``noise_events``, which takes longer.
    """
    found: list[int] = []
    chains: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for number, faults in groupby(compiled.faults, attrgetter("step")):
        match compiled.program.steps[number]:
            case CorrelatedError(chain, probability):
                chains[chain] += [(fault.effect, probability) for fault in faults]
            case Noise(channel, groups) if channel.constant:
                for fault in faults:
                    if _pattern_of(fault, groups[fault.group]) == channel.constant:
                        found.append(fault.effect)
            case Measure(flip_probability=probability):
                if channel_of_patterns(((1, probability),)).constant:
                    found += [fault.effect for fault in faults]
    for links in chains.values():
        links.reverse()
        usual = _usual_link([probability for _, probability in links])
        if usual:
            found.append(links[usual - 1][0])
    return found


def _usual_link(probabilities: Sequence[float]) -> int:
    """The number of the link of a chain that is more likely than none, counted from 1; or 0.

    The last link comes first.
    """
    usual, most = max(enumerate(probabilities, start=1), key=itemgetter(1))
    return usual if most > 1 - math.fsum(probabilities) else 0


def _pattern_of(fault: Fault, targets: tuple[int, ...]) -> int:
    pattern = sum(code << 2 * targets.index(qubit) for qubit, code in fault.factors)
    return pattern | bool(fault.records) << 2 * len(targets)


def _add_channel(
    channel: Channel, place: int, faults: Mapping[int, tuple[int, int]], found: NoiseEvents
) -> None:
    """Adds the events of a channel; ``faults`` has the index and the effect of each of its patterns."""
    amounts = dict(channel.site or channel.rates)
    derivatives = _site_derivatives(channel) if channel.site else _rate_derivatives(channel)
    usual = faults[channel.constant][1] if channel.constant else 0
    relative = {channel.constant: usual}  # what an event flips
    relative |= {pattern ^ channel.constant: effect ^ usual for pattern, (_, effect) in faults.items()}
    if not relative.keys() >= derivatives.keys():
        relative = _sums_of(relative)
    draw = len(found.draws)
    found.draws.append(Draw(channel.constant, {pattern: number for pattern, (number, _) in faults.items()}))
    events = [
        NoiseEvent(draw, place, pattern, relative[pattern], amounts.get(pattern, 0.0), derivative)
        for pattern, derivative in derivatives.items()
    ]
    if channel.site:
        found.sites.append(events)
    else:
        found.free.extend(events)


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


def _add_chain(links: list[tuple[int, int, int, float]], found: NoiseEvents) -> None:
    """Adds the events of a chain of correlated errors.

    Its links are (place, index of the fault, effect, probability), the last one first. The pattern of a
    link is its number, counted from 1.
    """
    nothing = 1 - math.fsum(probability for *_, probability in links)
    usual = _usual_link([probability for *_, probability in links])
    likeliest, _, constant, _ = links[usual - 1] if usual else (links[0][0], 0, 0, 0)
    draw = len(found.draws)
    found.draws.append(
        Draw(usual, {pattern: fault for pattern, (_, fault, _, _) in enumerate(links, start=1)})
    )
    choices = [(0, likeliest, 0, nothing)]
    choices += [(k, place, effect, p) for k, (place, _, effect, p) in enumerate(links, start=1)]

    def event(
        choice: tuple[int, int, int, float], place: int, amount: float, derivative: float
    ) -> NoiseEvent:
        pattern, _, effect, _ = choice
        return NoiseEvent(draw, place, pattern ^ usual, effect ^ constant, amount, derivative)

    events = [event(choice, choice[1], choice[3], 0.0) for choice in choices]
    for number, (place, _, _, probability) in enumerate(links, start=1):
        # A link takes from what comes after it: later links, and nothing.
        events.append(event(choices[number], place, 0.0, probability))
        later = choices[:number]
        left = math.fsum(p for *_, p in later)
        for choice in later:
            part = choice[3] / left if left > 0 else 1.0 if number == 1 else math.nan
            events.append(event(choice, place, 0.0, -probability * part))
    found.sites.append(events)


def located(plan: SamplingPlan, events: NoiseEvents) -> Iterator[LocatedEvent]:
    """Finds the mechanisms of events by their rows, as ``RowLayout.mechanisms`` makes them.

    An event that does not happen, and flips what no sum of the others flips, has no mechanism.
    """
    sources = plan.row_sources
    sums = [sources.row(k).tolist() for k in range(len(sources))]
    every = [event for part in (events.free, *events.sites) for event in part]
    rows = iter(parities([event.effect for event in every], sums))
    masks = [mask_of(plan.effects.row(k).tolist()) for k in range(plan.num_mechanisms)]
    mechanism_of = {(int(plan.sites[k]), masks[k]): k for k in range(plan.num_mechanisms)}
    directions = any(event.derivative and not event.amount for event in every)  # only where noise is certain
    happening = independent(event.effect for event in every if event.amount > 0) if directions else []

    def at(site: int, row: int, event: NoiseEvent, amount: float, derivative: float) -> LocatedEvent:
        mechanism = mechanism_of.get((site, row), -1)
        if mechanism < 0:
            derivative = math.nan if derivative else 0.0
        return LocatedEvent(event, mechanism, amount, derivative)

    def is_new(event: NoiseEvent) -> bool:
        """Whether it does not happen now, and flips what no sum of events flips: the plan's rows lack it."""
        if event.amount or not event.derivative:
            return False
        return len(independent([*happening, event.effect])) > len(happening)

    for event in events.free:
        row = next(rows)
        if is_new(event):
            yield at(-1, 0, event, 0.0, event.derivative)
        elif row:
            yield at(-1, row, event, event.amount, event.derivative)
    number = 0
    for site in events.sites:
        flipping = []
        for event in site:
            row = next(rows)
            if is_new(event):
                yield at(-1, 0, event, 0.0, event.derivative)
            elif row:
                flipping.append((row, event))
        choices: dict[int, float] = {}
        for row, event in flipping:
            if event.amount > 0:
                choices[row] = choices.get(row, 0.0) + event.amount
        if len(choices) == 1 and next(iter(choices.values())) < 0.5:
            ((_, probability),) = choices.items()
            rate, slope = -0.5 * math.log1p(-2 * probability), 1 / (1 - 2 * probability)
            for row, event in flipping:
                yield at(-1, row, event, event.amount / probability * rate, event.derivative * slope)
        elif choices:
            for row, event in flipping:
                yield at(number, row, event, event.amount, event.derivative)
            number += 1
