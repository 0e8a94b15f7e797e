"""Logical error rates, as users get them, from the sums over all parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Integers
from ...base.errors import ResourceLimitError
from ...simulation.faults import FaultTable
from ..estimation.interval import COVERAGE, Sums
from ..estimation.tally import ACCEPTED, WRONG, FailingSets
from ..results import GapPoint, LogicalErrorRate, RateStratum
from ..results.logical_error_rate import FaultSets
from ..results.strata import name_of_faults
from ..samplers.backward_deletion import Lineages
from ..samplers.sampler import Sampler
from .parts import Parts

if TYPE_CHECKING:
    from ..budget.failing_sets import FailureStudy
    from ..results.error_budget import ErrorBudget, Grouping


def result_of(parts: Parts) -> LogicalErrorRate:
    """The result; refused if no shot was accepted, if none is wrong, or if the decoder is random."""
    for classifier in parts.classifiers:
        classifier.check_repeats(parts.asked.decoder)
    gaps = parts.gaps()
    curve = _Curve(parts, gaps, parts.sums(gaps))
    curve.check_found()
    points = [curve.point(place) for place in range(len(gaps))]
    limit = max(1.0, parts.relative_error)
    ends = (place for place in range(1, len(points)) if points[place].relative_error > limit)
    first, last = points[0], next(ends, len(points))
    numbers = range(WRONG + 1, WRONG + 1 + parts.model.num_observables)
    observables = [parts.sums(gaps[:1], k).ratio(0, first.kept) for k in numbers]
    notes = [
        f"among {each.tally.samples:,} random sets of {name_of_faults(each.least, each.most)}, none failed"
        " that backward deletion cannot reach or reaches too rarely: the interval has room for one"
        for each in curve.not_counted
    ]
    notes += [
        f"the curve ends before gap {each.gap}, where the logical error rate per kept shot is below"
        f" {each.interval[1]:.2g}: larger gaps need more shots than were taken (with max_seconds, they are"
        " taken for so long)"
        for each in points[last : last + 1]
    ]
    found = LogicalErrorRate(
        decoder=parts.asked.decoder,
        logical_error_rate=first.logical_error_rate,
        standard_error=first.standard_error,
        interval=first.interval,
        coverage=COVERAGE,
        observable_rates=tuple(each.rate for each in observables),
        observable_errors=tuple(each.standard_error for each in observables),
        kept=first.kept,
        kept_error=first.kept_error,
        kept_and_wrong=first.kept_and_wrong,
        strata=tuple(curve.rows(last - 1)),
        gap_curve=tuple(points[:last]) if parts.asked.confidence else (),
        decodes=parts.decoded,
        seconds=parts.deadline.seconds,
        asked_relative_error=parts.relative_error,
        notes=tuple(notes),
    )
    if not parts.accepts_all or parts.asked.fault_table is None or not found.logical_error_rate:
        return found
    study = cache(partial(_study, parts, parts.asked.fault_table))

    def budget(by: Grouping) -> ErrorBudget:
        return study().budget(by, found.logical_error_rate, found.standard_error, found.interval)

    return found._with(_fault_sets=FaultSets(budget, lambda count: study().failures(count)))


def _study(parts: Parts, fault_table: Callable[[], FaultTable]) -> FailureStudy:
    from ..budget.failing_sets import FailureStudy  # SciPy takes as long to import as this package

    table = fault_table()  # refuses what has none
    sampled = [
        (each.failing_sets(), 1 if each.tally.is_exact else each.tally.samples)
        for each in (part.sampler for part in parts.counted)
    ]
    (classifier,) = parts.classifiers
    return FailureStudy(FailingSets.joined(sampled), parts.model, classifier, table)


@dataclass(frozen=True)
class _Curve:
    """Parts with their sums at the least gaps of a curve, of which there is one without a confidence."""

    parts: Parts
    gaps: Integers
    sums: Sums

    @property
    def not_counted(self) -> list[Sampler]:
        """The samplers of orphans, if none was found."""
        return [each.sampler for each in self.parts.every if not each.sampler.counts]

    def check_found(self) -> None:
        """Refuses where no shot was accepted, or none of all shots is wrong."""
        parts, sums = self.parts, self.sums
        if not sums.accepted[0]:
            raise ResourceLimitError(
                f"None of {parts.taken:,} shots is kept, and the sets of faults that keep one could not be"
                " listed. Postselect fewer detectors, or estimate the rate at weaker noise."
            )
        is_exact = all(tally.is_exact for tally in parts.tallies)
        if parts.accepts_all and not sums.wrong[0] and not is_exact:
            ended = ". If it can fail, that is too rare to be found"
            if parts.deadline.is_over:
                ended = f", when max_seconds={parts.deadline.max_seconds:g} ended the search"
            raise ResourceLimitError(
                f"The decoder {parts.asked.decoder} failed in none of"
                f" {sum(each.asked for each in parts.classifiers):,} shots,"
                f" with {parts.strata[0].numbers.mean:.3g} errors per shot: the rate is at most"
                f" {sums.ratio(0, 1.0).interval[1]:.2g} ({COVERAGE:.0%}){ended}."
            )

    def point(self, place: int) -> GapPoint:
        """The point of the curve at one of the gaps."""
        parts, sums, bound = self.parts, self.sums, self.sums.bound(place)
        # Without postselection, all shots have the least gap. Shots of listed sets are all accepted.
        is_all = place == 0 and not parts.asked.postselected.any() and not parts.is_listed
        unseen = 0.0
        if place > 0 or not parts.is_listed:
            unseen = max(tally.bound for tally in parts.tallies)
        accepted = 1.0 if is_all else float(sums.accepted[place])
        ratio = sums.ratio(place, accepted, max([bound, *(each.tally.bound for each in self.not_counted)]))
        return GapPoint(
            int(self.gaps[place]),
            accepted,
            0.0 if is_all else math.sqrt(float(sums.accepted_variance[place]) + unseen**2),
            float(sums.wrong[place]),
            math.hypot(math.sqrt(float(sums.wrong_variance[place])), bound),
            ratio.standard_error,
            ratio.interval,
        )

    def rows(self, last: int) -> list[RateStratum]:
        """The strata with their part at the last gap; if sets were not listed, the numbers of faults."""
        parts, counted = self.parts, self.parts.counted
        if parts.is_listed:
            return [
                self._row(stratum.name, [k for k, each in enumerate(counted) if each.stratum == number], last)
                for number, stratum in enumerate(parts.strata)
            ]
        found = []
        kinds = [(each.stratum, each.sampler.least, each.sampler.most) for each in counted]
        for kind in dict.fromkeys(kinds):
            number, least, largest = kind
            mine = [k for k, each in enumerate(kinds) if each == kind]
            sampler, stratum = counted[mine[0]].sampler, parts.strata[number]
            most = largest if largest < stratum.numbers.most else None
            own = self._row(self._name(number, least, most), mine, last, least, most)
            found += self._rows_by_number(sampler, own, number) if isinstance(sampler, Lineages) else [own]
        return sorted(found, key=lambda row: row.least_faults)

    def _name(self, number: int, least: int, most: int | None) -> str:
        """The name of some numbers of faults in one of the strata."""
        name = name_of_faults(least, most)
        return name if self.parts.all_are_chosen else f"{self.parts.strata[number].name}, {name}"

    def _rows_by_number(self, sampler: Lineages, row: RateStratum, number: int) -> list[RateStratum]:
        """The numbers of faults of lineages; those of smaller numbers are subsets of the sets drawn."""
        found = []
        means, squares = sampler.by_number / sampler.tally.samples
        errors = np.sqrt(np.maximum(squares - means**2, 0) / sampler.tally.samples)
        for size in np.flatnonzero(means).tolist():
            probability = float(self.parts.strata[number].numbers.probabilities[size])
            each = replace(
                row,
                name=self._name(number, size, size),
                probability=probability,
                kept=probability,
                kept_and_wrong=float(means[size]),
                standard_error=float(errors[size]),
                least_faults=size,
                most_faults=size,
            )
            found.append(each if size == sampler.most else replace(each, sets=0, wrong=None, draws=0))
        return found

    def _row(
        self, name: str, mine: list[int], last: int, least: int = 0, most: int | None = None
    ) -> RateStratum:
        """What some of the counted parts have in the rate."""
        parts, sums = self.parts, self.sums
        samplers = [parts.counted[k].sampler for k in mine]
        tallies = [each.tally for each in samplers]
        stratum = parts.strata[parts.counted[mine[0]].stratum]
        wrong = sums.shares[mine].sum(axis=0)
        probability = stratum.probability if parts.is_listed else samplers[0].probability
        kept = sum(float(tally.means(self.gaps[:1])[ACCEPTED][0]) for tally in tallies)
        at_largest = float(wrong[last] / sums.wrong[last]) if sums.wrong[last] else 0.0
        return RateStratum(
            name=name,
            method=", ".join(dict.fromkeys(each.method for each in samplers)),
            probability=probability,
            sets=sum(tally.samples for tally in tallies),
            wrong=sum(tally.failures for tally in tallies),
            kept=probability if parts.accepts_all else kept,
            kept_and_wrong=float(wrong[0]),
            standard_error=math.hypot(
                math.sqrt(float(sums.variances[mine, 0].sum())),
                stratum.relative_error * float(wrong[0]),
                float(sums.unseen[mine, 0].max(initial=0.0)),
            ),
            least_faults=least,
            most_faults=most,
            draws=sum(0 if tally.is_exact else tally.samples for tally in tallies),
            share_at_largest_gap=at_largest if parts.asked.confidence else None,
        )
