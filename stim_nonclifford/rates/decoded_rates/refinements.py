"""Samplers of rare failures, for strata of which very many shots are needed otherwise (``estimate``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ..estimation.interval import Sums
from ..samplers.backward_deletion import BackwardDeletion, Orphans
from ..samplers.sampler import DirectSamples, Sampler
from ..samplers.splitting import Splitting
from ..samplers.strata import Stratum
from .parts import Parts

FIRST_SHOTS = 128
"""Shots of each part before any is preferred. Doubled, easy questions take a little longer."""

MANY_SHOTS = 1 << 18
"""If all fault sets are so many, all are enumerated, and the rate is exact. If the rate needs more shots, a
sampler of rare failures takes over, for which sets of few faults are enumerated up to that number. Doubled,
either takes longer: half a second more with PyMatching."""

_SHOTS_OF_LEVELS = 200.0
"""The shots of splitting for a relative variance of 1, over the square of the number of levels, each of which
a quarter of the states reaches. Measured: 60 to 300, and up to 860 where a stratum has 1e-7 of its shots.
Doubled, some curves take 1.5 times as long."""

_RATE_AT_START = 0.005
"""Deletion starts where about this part of the fault sets fails. Doubled, lineages are longer."""

_FEWEST_FAILURES = 64
"""Effective failing samples before the variance of deletion is believed. Doubled, errors are surer, and
coarse ones take twice as long."""

_MOST_FOR_ORPHANS = 8
"""What may be spent on orphans, as a multiple of the rest, if the interval then has hardly any room for one;
otherwise, as much as the rest. Doubled, more intervals are narrow, and such a search takes longer."""

_ROOM_FOR_ORPHANS = 0.5
"""The part of the relative error that is asked for, which one orphan may have. Doubled, intervals reach 6%
instead of 3% further up."""


def refinement(parts: Parts, sums: Sums, place: int) -> Callable[[], None] | None:
    """What gets the stratum that needs most shots at a gap a better sampler, once, if they are many."""
    needed = np.bincount([each.stratum for each in parts.counted], parts.needed(sums)[:, place])
    number = int(needed.argmax())
    if number in parts.refined or needed.sum() < MANY_SHOTS:
        return None
    if parts.accepts_all:
        return partial(_delete, parts, number)
    split_from = _splits_from(parts, sums, number)
    return None if split_from is None else partial(_split, parts, number, split_from)


def _splits_from(parts: Parts, sums: Sums, number: int) -> int | None:
    """The place of the gap from which on splitting a stratum costs least; None: it does not pay twice.

    Direct samples need N(g) shots. With p the part of the stratum's shots that is wrong and has at least
    the gap g, splitting needs about N(g) p c (1 + log(1/p) / log 4)², where c is ``_SHOTS_OF_LEVELS``.
    """
    mine = [k for k, each in enumerate(parts.counted) if each.stratum == number]
    mine = [k for k in mine if not parts.tallies[k].is_exact]
    if not mine or not parts.asked.confidence:
        return None
    direct = parts.needed(sums)[mine].sum(axis=0)
    probability = sum(parts.counted[k].sampler.probability for k in mine)
    wrong = np.maximum(sums.shares[mine].sum(axis=0), sums.unseen[mine].max(axis=0))
    part = np.minimum(wrong / probability, 1.0)
    split = direct * part * _SHOTS_OF_LEVELS * (1 - np.log(part) / math.log(4)) ** 2
    below, rest = np.maximum.accumulate(direct), np.maximum.accumulate(split[::-1])[::-1]
    costs = np.append(0.0, below[:-1]) + rest
    place = int(costs.argmin())
    return place if 2 * costs[place] < below[-1] else None


def _split(parts: Parts, number: int, place: int) -> None:
    """Samples wrong shots of a stratum by multilevel splitting from a gap on, and all others directly.

    What was enumerated stays. The samples that showed where splitting pays do not count, as that choice
    depends on them.
    """
    parts.refined.add(number)
    least, (stratum, classifier) = parts.first_not_enumerated(number), parts.judged(number)
    gaps = parts.gaps()
    gap, top = int(gaps[place]), int(gaps[-1])
    floor = parts.wanted * float(parts.sums(gaps).wrong.min())
    samplers = [
        DirectSamples(stratum, classifier, least, stratum.numbers.most, wrong_below=gap),
        Splitting(stratum, classifier, least, gap, top, floor),
    ]
    for sampler in samplers:
        sampler.take(FIRST_SHOTS, parts.rng())
    parts.replace(number, least, samplers)


def _delete(parts: Parts, number: int) -> None:
    """Samples a stratum by backward deletion, from the first number of faults that has too many sets on.

    A first run of deletion says how many samples are needed, and which weights are too large. It does not
    count in the end: a search that ends when its own error is small ends early if few weights were large, and
    is too low on average.
    """
    parts.refined.add(number)
    (stratum, classifier), rng = parts.judged(number), parts.rng()
    _enumerate_few_faults(parts, number)
    least = parts.first_not_enumerated(number)
    start = _start(parts, number, least, rng)
    if start is None:
        return
    pilot = BackwardDeletion(stratum, classifier, least, start)
    while pilot.tally.effective_failures < _FEWEST_FAILURES:
        pilot.take(max(FIRST_SHOTS, pilot.tally.samples), rng)
    larger: list[Sampler] = []
    if start < stratum.numbers.most:
        larger = [DirectSamples(stratum, classifier, start + 1, stratum.numbers.most)]
        larger[0].take(FIRST_SHOTS, rng)
    has_orphans = least < start and not parts.asked.finds_least_weight
    orphans = [Orphans(stratum, classifier, least, start - 1, [])] if has_orphans else []
    parts.replace(number, least, [pilot, *larger, *orphans])
    sums = parts.sums(parts.gaps())
    place = next(k for k, each in enumerate(parts.counted) if each.sampler is pilot)
    needed = math.ceil(max(float(parts.needed(sums)[place, 0]), pilot.tally.samples))
    limits, samples_of_orphans = None, 0
    if orphans:
        rest = float(parts.costs.sum()) + pilot.cost * (needed / pilot.tally.samples - 1)
        samples_of_orphans = _samples_of_orphans(parts, stratum, orphans[0], float(sums.wrong[0]), rest)
        limits = pilot.draws_for(orphans[0].probability / samples_of_orphans * needed)
        orphans = [Orphans(stratum, classifier, least, start - 1, limits)]
    deletion = BackwardDeletion(stratum, classifier, least, start, limits)
    deletion.take(pilot.tally.samples, rng)
    parts.replace(number, least, [deletion, *larger, *orphans])
    while (left := needed - deletion.tally.samples) > 0:
        deletion.take(min(pilot.tally.samples, left), rng)
    while orphans and (left := samples_of_orphans - orphans[0].tally.samples) > 0:
        orphans[0].take(min(max(FIRST_SHOTS, orphans[0].tally.samples), left), rng)


def _enumerate_few_faults(parts: Parts, number: int) -> None:
    """Enumerates one number of faults of a stratum after the other, as long as there are few enough sets."""
    listed = 0.0
    mine = (each for each in parts.every if each.stratum == number)
    for each in sorted(mine, key=lambda each: each.sampler.least):
        is_exact = each.sampler.tally.is_exact
        listed += each.sampler.tally.samples if is_exact else each.sampler.size
        if listed > MANY_SHOTS:
            return
        if not is_exact:
            parts.enumerate(each)


def _start(parts: Parts, stratum_number: int, least: int, rng: np.random.Generator) -> int | None:
    """The number of faults that deletion starts from; None: even large sets fail too rarely."""
    stratum, classifier = parts.judged(stratum_number)

    def fails(number: int) -> bool:
        trial = DirectSamples(stratum, classifier, number, number)
        trial.take(16 * FIRST_SHOTS, rng)
        return trial.tally.failures >= _RATE_AT_START * trial.tally.samples

    below, above = least - 1, max(1, math.floor(stratum.numbers.mean), least)
    while not fails(above):
        below, above = above, min(2 * above, stratum.numbers.most)
        if below == above:
            return None
    while below >= least and above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if fails(middle) else (middle, above)
    return above


def _samples_of_orphans(parts: Parts, stratum: Stratum, orphans: Orphans, rate: float, rest: float) -> int:
    """How many direct samples look for orphans: one hardly matters then, or they cost as the rest."""
    law = stratum.numbers.probabilities[orphans.least : orphans.most + 1]
    cost = float(law @ np.arange(1 + orphans.least, 2 + orphans.most)) / float(law.sum())
    wanted = orphans.probability / (_ROOM_FOR_ORPHANS * parts.wanted * rate)
    if wanted * cost > _MOST_FOR_ORPHANS * rest:
        wanted = rest / cost
    return max(FIRST_SHOTS, math.ceil(wanted))
