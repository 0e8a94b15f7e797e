"""Strata of accepted sets: by the decoder's prediction and gap for each set if no free fault acts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.arrays import Bools, Floats, Integers
from ...base.errors import ResourceLimitError
from ..decoding.classifying import Classifier
from ..estimation.interval import Unlisted
from ..estimation.limits import Deadline
from ..samplers.accepted_sets import AcceptedSets, AcceptedSetSearch, merged
from ..samplers.strata import Stratum
from ..samplers.undetected_sets import MOST_MEMBERS, REPLICAS
from .faults.mechanisms import FaultModel, Symptom, fault_model, log_probability_of_none
from .questions import DecodingProblem

_STEP = 10
"""Decibels of the gap of accepted sets by themselves that share a stratum. Doubled, strata are less uniform,
and rare gaps take more shots."""

_NEGLIGIBLE = 0.01
"""The part of the wrong sets, at each gap, that larger sets than those listed may have. Doubled, errors have
room for twice as much."""

_MOST_TIMES, MOST_TIME = 256, 0.5
"""Sets of a size are drawn so many times at most, and listed and drawn up to so large a part of the time.
Doubled, wrong sets are known better, and nothing is left for shots."""

_MOST_UNLISTED = 0.1
"""The part of the accepted shots that longer sets may have. Doubled, stronger noise is not refused, and
errors are larger."""


@dataclass(frozen=True)
class Partition:
    """The strata of a circuit: all shots, or accepted fault sets that were listed, each with free noise."""

    strata: tuple[Stratum, ...]
    unlisted: float = 0.0  # about the probability of accepted sets with more members
    # shape (members, gaps): P(accepted sets of each size that are decoded wrongly by themselves, with at
    # least a gap); None: all shots are one stratum
    wrong_sizes: Floats | None = None
    unseen: float = 0.0  # the zero-count bound of lists that were drawn: what one find more would add

    def unlisted_part(self, gap: int) -> float:
        """About the part of larger sets among those that are accepted and wrong with at least a gap.

        Other noise makes gaps smaller, of these sets as of those that were listed.
        """
        assert self.wrong_sizes is not None
        sizes = self.wrong_sizes[:, min(max(gap, 0), self.wrong_sizes.shape[1] - 1)]
        return _geometric_rest(sizes) / sizes.sum() if sizes.any() else 0.0

    def unlisted_at(self, gaps: Integers) -> Unlisted:
        """What no stratum has, at some least gaps."""
        return Unlisted(np.array([self.unlisted_part(int(gap)) for gap in gaps]), self.unlisted, self.unseen)


def partition(
    asked: DecodingProblem, relative_error: float, rng: np.random.Generator, deadline: Deadline
) -> Partition:
    """Lists the accepted sets, and divides them; raises TimeIsOver at the limit.

    Where they are drawn, that is done until their own error is half of ``relative_error``. It is refused if
    there are too many sets, or if those that were listed are too small a part.
    """
    symptoms, probabilities = asked.symptoms, _divided(asked)
    known = tuple(np.flatnonzero(asked.postselected).tolist())
    members = fault_model(replace(symptoms, probabilities=probabilities[True]), known)
    none = float(np.exp(log_probability_of_none(members.log_odds)))
    search = AcceptedSetSearch(members, asked.weight, rng, deadline.check)
    classifier = Classifier(members, asked.predict, deadline)

    def of_size(size: int) -> _Decoded:
        sets = search.of_size(size)
        classes = classifier.classify_all(sets.rows)
        return _Decoded(sets, np.asarray(classes.wrong.any(axis=1)), classes.gaps)

    found = _listed(of_size, none)
    _draw_more(found, of_size, relative_error / 2, deadline.part(MOST_TIME))
    sets = _joined([(1.0, each) for each in found])
    sizes, wrong_sizes = _by_size(found, none), none * _wrong_by_size(found).mean(axis=2)
    unlisted = _geometric_rest(sizes)
    if unlisted > _MOST_UNLISTED * sizes.sum():
        raise ResourceLimitError(
            f"About {unlisted / (sizes.sum() + unlisted):.0%} of the accepted shots have more than"
            f" {len(sizes) - 1} mechanisms that flip postselected detectors, and these sets cannot be listed."
            " Estimate the rate at weaker noise, or count errors with the sampler soft_desaturated_gap."
        )
    model = fault_model(
        replace(symptoms, expected=((), ()), probabilities=probabilities[False], outcomes=None)
    )
    unseen = none * max(each.sets.unseen for each in found)
    return Partition(_strata(model, sets, none), unlisted, wrong_sizes, unseen)


@dataclass(frozen=True)
class _Decoded:
    """Accepted sets, and the decoder's prediction and gap for each if no free fault acts."""

    sets: AcceptedSets
    wrong: Bools
    gaps: Integers

    def taken(self, which: Bools) -> _Decoded:
        """Some of the sets."""
        sets = replace(self.sets, rows=self.sets.rows[which], replicas=self.sets.replicas[which])
        return _Decoded(sets, self.wrong[which], self.gaps[which])


def _listed(of_size: Callable[[int], _Decoded], none: float) -> list[_Decoded]:
    """The accepted sets of each size, until larger ones do not matter, or cannot be listed."""
    found: list[_Decoded] = []
    for size in range(MOST_MEMBERS + 1):
        found.append(of_size(size))
        every = [_by_size(found, none), *_wrong_by_size(found).mean(axis=2).T]  # and the wrong ones by gap
        if size >= 4 and all(_geometric_rest(each) <= _NEGLIGIBLE * each.sum() for each in every):
            break  # larger sets hardly matter
    if not _by_size(found, none).sum():
        raise ResourceLimitError(
            f"No shot is kept in which up to {MOST_MEMBERS} mechanisms flip postselected detectors."
            " Postselect fewer detectors, or count errors with the sampler soft_desaturated_gap."
        )
    return found


def _draw_more(
    found: list[_Decoded], of_size: Callable[[int], _Decoded], relative_error: float, limit: Deadline
) -> None:
    """Draws sets again until the mass of the wrong ones has a small error, with its zero-count bound.

    That is at each gap up to the one of a shot without errors. Wrong sets are rare. So these are means over
    all draws, and the others are those of the first one.
    """
    top = int(found[0].gaps.max(initial=0))
    right = [each.taken(~each.wrong) for each in found]
    wrong = [each.taken(each.wrong) for each in found]
    times = [1] * len(found)
    while not limit.is_over:
        by_size = _wrong_by_size(wrong)[:, : top + 1]
        unseen = np.array([[each.sets.unseen] for each in wrong])
        masses, squares = by_size.mean(axis=2), _variances(by_size) + unseen**2
        parts = np.sqrt(squares.sum(axis=0)) / np.maximum(masses.sum(axis=0), 1e-300)
        size = int(squares[:, parts.argmax()].argmax())
        if parts.max() <= relative_error or times[size] >= _MOST_TIMES:
            break
        part = 1 / (times[size] + 1)
        times[size] += 1
        more = of_size(size)
        wrong[size] = _joined([(1 - part, wrong[size]), (part, more.taken(more.wrong))])
    for size, (each, other) in enumerate(zip(right, wrong, strict=True)):
        # What was not found matters where it is wrong: accepted sets are many.
        found[size] = _joined([(1.0, replace(each, sets=replace(each.sets, unseen=0.0))), (1.0, other)])


def _variances(replicas: Floats) -> Floats:
    """The variances of means over the last axis."""
    return np.asarray(replicas.var(axis=-1, ddof=1) / REPLICAS)


def _by_size(found: Sequence[_Decoded], none: float) -> Floats:
    """P(accepted sets of each size)."""
    return none * np.array([each.sets.masses.sum() for each in found])


def _wrong_by_size(found: Sequence[_Decoded]) -> Floats:
    """The masses of wrong sets with at least a gap: shape (sizes, gaps, REPLICAS)."""
    top = max(int(each.gaps.max(initial=0)) for each in found)
    sums = np.zeros((len(found), top + 2, REPLICAS))
    for each, own in zip(found, sums, strict=True):
        np.add.at(own, np.maximum(each.gaps, 0)[each.wrong], each.sets.replicas[each.wrong])
    return sums[:, ::-1].cumsum(axis=1)[:, ::-1]


def _joined(parts: Sequence[tuple[float, _Decoded]]) -> _Decoded:
    """Accepted sets of several lists, each times a factor; sets that flip the same are merged."""
    rows, wrong, gaps = (
        np.concatenate(each)
        for each in zip(*((found.sets.rows, found.wrong, found.gaps) for _, found in parts), strict=True)
    )
    every = np.concatenate([factor * found.sets.replicas for factor, found in parts])
    first, replicas = merged(rows, every)
    unseen = max(factor * found.sets.unseen for factor, found in parts)
    return _Decoded(AcceptedSets(rows[first], replicas, unseen), wrong[first], gaps[first])


def probability_of_no_member(asked: DecodingProblem) -> float:
    """The probability that no mechanism acts that flips a postselected detector or the sign of a rotation."""
    members = np.array(list(_divided(asked)[True].values()))
    return float(np.exp(np.log1p(-members).sum()))


def _divided(asked: DecodingProblem) -> dict[bool, dict[Symptom, float]]:
    """The mechanisms that flip a postselected detector or the sign of a rotation, and (False) the others."""
    found: dict[bool, dict[Symptom, float]] = {False: {}, True: {}}
    for name, q in asked.symptoms.probabilities.items():
        found[bool(asked.postselected[list(name[0])].any() or any(name[2:]))][name] = q
    return found


def _strata(model: FaultModel, decoded: _Decoded, none: float) -> tuple[Stratum, ...]:
    sets = decoded.sets
    is_silent = ~sets.rows.any(axis=1)
    # Sets that are decoded correctly are one stratum: the most likely ones contribute most.
    kinds = np.where(is_silent, 0, np.where(decoded.wrong, 2 + np.maximum(decoded.gaps, 0) // _STEP, 1))
    numbers = Stratum(model).numbers
    rows = model.base ^ sets.rows
    found = []
    for kind in np.unique(kinds):
        which = kinds == kind
        least = int(kind - 2) * _STEP
        names = {0: "nothing flipped", 1: "right by itself"}
        name = names.get(int(kind), f"wrong by itself, gap {least} to {least + _STEP - 1}")
        mass = none * float(sets.masses[which].sum())
        error = none * math.sqrt(_variances(sets.replicas[which].sum(axis=0)))
        found.append(Stratum(model, name, mass, error, rows[which], sets.masses[which], numbers))
    return tuple(found)


def _geometric_rest(sizes: Floats) -> float:
    """Geometric extrapolation of the tail of a series of masses; two at a time, as odd ones may be 0."""
    before, last = float(sizes[-4:-2].sum()), float(sizes[-2:].sum())
    if last <= 0:
        return 0.0
    ratio = last / before if before > 0 else 1.0
    return last * ratio / (1 - ratio) if ratio < 0.9 else 10 * last
