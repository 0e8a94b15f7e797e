"""Samplers of rare failures in place of direct samples, where a rate needs very many shots.

Multilevel splitting goes to large gaps. If all shots are accepted and have no gap, backward deletion goes
from many faults to few, from the least number of which some 0.5% of the sets fail.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..estimation.deadline import Deadline
from ..samplers.backward_deletion import BackwardDeletion, Orphans
from ..samplers.sampler import DirectSamples, Sampler
from ..samplers.splitting import Splitting

if TYPE_CHECKING:
    from .estimate import Parts

FIRST_SHOTS = 128
"""Shots of each part before any is preferred. Doubled, easy questions take a little longer."""

MANY_SHOTS = 1 << 18
"""If all fault sets are so many, all are enumerated, and the rate is exact. If the rate needs more shots, a
sampler of rare failures takes over, for which sets of few faults are enumerated up to that number. Doubled,
either takes longer: half a second more with PyMatching."""

_RATE_AT_START = 0.005
"""Deletion starts where about this part of the fault sets fails. Doubled, lineages are longer."""

_FEWEST_FAILURES = 64
"""Effective failing samples before the variance of deletion is believed. Doubled, errors are surer, and
coarse ones take twice as long."""

_ROOM_FOR_ORPHANS = 0.5
"""The part of the relative error that is asked for, which one orphan may have. Doubled, intervals reach 6%
instead of 3% further up."""


def split(parts: Parts, number: int, top: int, floor: float, deadline: Deadline) -> None:
    """Samples a stratum by multilevel splitting, from the first number that is not enumerated on."""
    least = parts.first_not_enumerated(number)
    sampler = Splitting(parts.strata[number], parts.classifier, least, top, floor)
    sampler.take(FIRST_SHOTS, parts.rng(), deadline)
    parts.replace(number, least, [sampler])


def delete(parts: Parts, deadline: Deadline) -> None:
    """Samples all shots by backward deletion, from the first number of faults that has too many sets on.

    A first run of deletion says how many samples are needed, and which weights are too large. It does not
    count in the end: a search that ends when its own error is small ends early if few weights were large, and
    is too low on average.
    """
    (stratum,), rng = parts.strata, parts.rng()
    _enumerate_few_faults(parts)
    least = parts.first_not_enumerated(0)
    start = _start(parts, least, rng, deadline)
    if start is None:
        return
    pilot = BackwardDeletion(stratum, parts.classifier, start, least, True)
    while pilot.tally.effective_failures < _FEWEST_FAILURES:
        pilot.take(max(FIRST_SHOTS, pilot.tally.samples), rng, deadline)
    larger: list[Sampler] = []
    if start < stratum.numbers.most:
        larger = [parts.direct(stratum, start + 1, stratum.numbers.most)]
        larger[0].take(FIRST_SHOTS, rng, deadline)
    has_orphans = least < start and not parts.asked.decoder.finds_least_weight
    orphans = [Orphans(stratum, parts.classifier, least, start - 1, True, [])] if has_orphans else []
    parts.replace(0, least, [pilot, *larger, *orphans])
    sums = parts.sums(parts.gaps())
    place = next(k for k, each in enumerate(parts.counted) if each.sampler is pilot)
    needed = math.ceil(max(float(parts.needed(sums)[place, 0]), pilot.tally.samples))
    limits, samples_of_orphans = None, 0
    if orphans:
        rest = float(parts.costs.sum()) + pilot.cost * (needed / pilot.tally.samples - 1)
        samples_of_orphans = _samples_of_orphans(parts, orphans[0], float(sums.wrong[0]), rest)
        limits = pilot.draws_for(orphans[0].probability / samples_of_orphans * needed)
        orphans = [Orphans(stratum, parts.classifier, least, start - 1, True, limits)]
    deletion = BackwardDeletion(stratum, parts.classifier, start, least, True, limits)
    deletion.take(pilot.tally.samples, rng, deadline)
    parts.replace(0, least, [deletion, *larger, *orphans])
    while (left := needed - deletion.tally.samples) > 0:
        deletion.take(min(pilot.tally.samples, left), rng, deadline)
    while orphans and (left := samples_of_orphans - orphans[0].tally.samples) > 0:
        orphans[0].take(min(max(FIRST_SHOTS, orphans[0].tally.samples), left), rng, deadline)


def _enumerate_few_faults(parts: Parts) -> None:
    """Enumerates one number of faults after the other, as long as there are few enough sets."""
    listed = 0.0
    for each in sorted(parts.every, key=lambda each: each.sampler.least):
        is_exact = each.sampler.tally.is_exact
        listed += each.sampler.tally.samples if is_exact else each.size
        if listed > MANY_SHOTS:
            return
        if not is_exact:
            parts.enumerate(each)


def _start(parts: Parts, least: int, rng: np.random.Generator, deadline: Deadline) -> int | None:
    """The number of faults that deletion starts from; None: even large sets fail too rarely."""
    (stratum,) = parts.strata

    def fails(number: int) -> bool:
        trial = DirectSamples(stratum, parts.classifier, number, number)
        trial.take(16 * FIRST_SHOTS, rng, deadline)
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


def _samples_of_orphans(parts: Parts, orphans: Orphans, rate: float, rest: float) -> int:
    """How many direct samples look for orphans: one hardly matters then, or they cost as the rest."""
    law = parts.strata[0].numbers.probabilities[orphans.least : orphans.most + 1]
    cost = float(law @ np.arange(1 + orphans.least, 2 + orphans.most)) / float(law.sum())
    wanted = orphans.probability / (_ROOM_FOR_ORPHANS * parts.wanted * rate)
    return max(FIRST_SHOTS, math.ceil(min(wanted, rest / cost)))
