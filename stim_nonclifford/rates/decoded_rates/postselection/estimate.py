"""The logical error rate of kept and decoded shots, as a curve over the gap: a sum over strata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ....base.errors import ResourceLimitError
from ..answers.decoding import check_answers
from ..deadline import Deadline, TimeIsOver
from ..faults.mechanisms import Floats
from ..questions import Goal
from ..results import COVERAGE, DecodedErrorRate, DecodedGapPoint, DecodedStratum, interval_of
from .partition import Partition, partition
from .questions import KeptQuestion
from .strata import COLUMNS, Stratum

__all__ = ["kept_rate"]

_FIRST_SHOTS = 1 << 12
_FEWEST_SEEN = 100
"""The curve has a gap if at least so many kept shots have one as large."""

_STEP = 5
"""The step from one gap of the curve to the next, in decibels."""

_GROWTH = 0.4

_FEWEST_WRONG = 30
_MOST_SHOTS = 1 << 32
"""The largest number of plain shots of a stratum."""

_Work = Callable[[np.random.Generator, Callable[[], None]], None]

_AGREEMENT = 3
"""Standard errors by which both halves of the chains, and chains and plain shots, may differ."""


@dataclass(frozen=True)
class _Sums:
    """The sums over strata, for the gaps that the curve has.

    Attributes:
        gaps: The gaps.
        kept: P(kept, and the gap is at least so large), shape (gaps,).
        kept_variance: Of ``kept``.
        wrong: The same, and wrong.
        shares: What strata add to ``wrong``, shape (strata, gaps).
        parts: Variances of what strata add to ``wrong``, shape (strata, gaps).
        missed: The part of ``parts`` that is due to what may not have been seen.
        by_chains: The part of ``parts`` that is due to chains beside paths.
        other: Variances of ``wrong`` that no shots or chains reduce.
        factor: By how much errors were enlarged, at most, where chains disagree.
        disagreement: The largest such difference in standard errors; None without chains.
    """

    gaps: list[int]
    kept: Floats
    kept_variance: Floats
    wrong: Floats
    shares: Floats
    parts: Floats
    missed: Floats
    by_chains: Floats
    other: Floats
    factor: float
    disagreement: float | None

    @property
    def relative(self) -> Floats:
        """The relative errors of what shots and chains say: those of ``wrong``."""
        wrong = np.where(self.wrong > 0, self.wrong, 1e-300)
        return np.asarray(np.sqrt(self.parts.sum(axis=0)) / wrong)


def kept_rate(asked: KeptQuestion, goal: Goal, seed: int, report: Callable[[str], None]) -> DecodedErrorRate:
    """The logical error rate of the kept shots of a circuit.

    Args:
        asked: The circuit.
        goal: When to stop.
        seed: 0 <= seed < 2^64.
        report: Is told what is under way.

    Raises:
        ResourceLimitError: Nothing can be said in the time that there is; there are too many kept sets; or no
            shot is wrong.
        ValueError: The decoder is not deterministic; or the check of the state takes for granted what is not
            so.
    """
    return _Estimate(asked, goal, seed, report).result()


class _Estimate:
    def __init__(self, asked: KeptQuestion, goal: Goal, seed: int, report: Callable[[str], None]) -> None:
        self._deadline = Deadline(goal.max_seconds)
        self._asked, self._goal, self._report = asked, goal, report
        self._rng = np.random.default_rng(seed)
        self._partition: Partition | None = None

    def result(self) -> DecodedErrorRate:
        """Works until the errors are as asked for, or time is over."""
        try:
            self._partition = partition(self._asked, self._goal.relative_error, self._rng, self._deadline)
            self._say_strata(self._partition)
            for stratum in self._strata:
                stratum.take(_FIRST_SHOTS, self._rng, self._deadline.check)
            while not self._is_enough(sums := self._sums()):
                self._work(sums)
        except TimeIsOver:
            looked_at = [] if self._partition is None else [bool(stratum.shots) for stratum in self._strata]
            if not looked_at or not all(looked_at):
                reached = (
                    f"when {sum(looked_at)} of {len(looked_at)} kinds of kept shots had been looked at"
                    if looked_at
                    else "while kept fault sets were being listed"
                )
                raise ResourceLimitError(
                    f"max_seconds={self._goal.max_seconds:g} ended the search {reached}. Allow several times"
                    " as much, or count errors with the sampler soft_desaturated_gap."
                ) from None
        check_answers([stratum.test for stratum in self._strata], self._asked.decoder)
        return self._made(self._sums())

    @property
    def _strata(self) -> tuple[Stratum, ...]:
        assert self._partition is not None
        return self._partition.strata

    def _say_strata(self, found: Partition) -> None:
        sizes = ", ".join(f"{mass:.3g}" for mass in found.sizes)
        self._report(
            f"P(kept) for 0, 1, ... mechanisms that flip postselected detectors: {sizes}; for more about"
            f" {found.unlisted:.2g}; {len(found.strata)} strata"
        )

    def _gaps(self, seen: Floats) -> list[int]:
        """The gaps of the curve: from 0 in steps, and the largest one that is not too rare."""
        if not self._asked.confidence:
            return [0]
        often = np.flatnonzero(seen >= _FEWEST_SEEN)
        top = int(often[-1]) if len(often) else 0
        return [*range(0, top, _STEP), top]

    def _sums(self) -> _Sums:
        assert self._partition is not None
        curves = [stratum.curve() for stratum in self._strata]
        masses = np.array([stratum.mass for stratum in self._strata])[:, np.newaxis]
        errors = np.array([stratum.mass_error for stratum in self._strata])[:, np.newaxis]
        kept_all = masses * np.array([curve.kept for curve in curves])
        most = int(np.argmax(masses))
        gaps = self._gaps(curves[most].kept * self._strata[most].shots)
        kept, kept_variance, wrong, variance, unseen, one_more, by_chains = (
            np.array([getattr(curve, name)[gaps] for curve in curves])
            for name in (
                "kept",
                "kept_variance",
                "wrong",
                "wrong_variance",
                "unseen",
                "one_more",
                "by_chains",
            )
        )
        shares = masses * wrong
        unlisted = np.array([self._partition.unlisted_part(gap) for gap in gaps]) * shares.sum(axis=0)
        disagreements = self._disagreements(gaps)
        factors = np.where(disagreements > _AGREEMENT, disagreements / 2, 1.0)
        # What was seen of one stratum tells nothing of another one. What paths do not cover lacks in all
        # of them. The shot that was missed by chance is the heaviest one of all (``fault_sets/interval.py``).
        missed = masses * unseen * (masses * unseen).sum(axis=0)
        heaviest = (masses * one_more).argmax(axis=0), np.arange(len(gaps))
        missed[heaviest] += (masses * one_more)[heaviest] ** 2
        parts = masses**2 * variance + missed
        enlarged = factors**2 * parts
        return _Sums(
            gaps,
            kept_all.sum(axis=0)[gaps],
            (masses**2 * kept_variance + errors**2 * kept**2).sum(axis=0) + self._partition.unlisted**2,
            shares.sum(axis=0),
            shares,
            enlarged,
            factors**2 * missed,
            masses**2 * by_chains + (factors**2 - 1) * parts,
            (errors**2 * wrong**2).sum(axis=0) + unlisted**2,
            float(np.sqrt(enlarged.sum(axis=0) / np.maximum(parts.sum(axis=0), 1e-300)).max()),
            float(disagreements.max()) if any(each.sweeps for each in self._strata) else None,
        )

    def _disagreements(self, gaps: list[int]) -> Floats:
        """How far chains are from agreement, in standard errors: shape (strata, gaps).

        Their halves are compared, and chains with plain shots.
        """
        found = np.zeros((len(self._strata), len(gaps)))
        for k, stratum in enumerate(self._strata):
            for difference, variance in stratum.comparisons():
                error = np.sqrt(variance[gaps])
                here = np.abs(difference[gaps]) / np.where(error > 0, error, np.inf)
                found[k] = np.maximum(found[k], here)
        return found

    def _is_enough(self, sums: _Sums) -> bool:
        return bool((sums.relative <= self._goal.relative_error).all())

    def _work(self, sums: _Sums) -> None:
        """Takes shots of a stratum, or runs its chains: where the error is made small soonest."""
        # Of each gap that is not known yet, the stratum that most of the error comes from.
        gaps = np.flatnonzero(sums.relative > self._goal.relative_error)
        numbers = sums.parts[:, gaps].argmax(axis=0)
        ways = [self._way(sums, *place) for place in zip(numbers.tolist(), gaps.tolist(), strict=True)]
        first = min(range(len(ways)), key=lambda k: ways[k][0])
        gap, stratum = int(gaps[first]), self._strata[numbers[first]]
        ways[first][1](self._rng, self._deadline.check)
        self._report(
            f"{sum(each.test.decoded for each in self._strata):,} decodes,"
            f" {self._deadline.seconds:.0f} s: relative error {sums.relative[0]:.2g} for all kept"
            f" shots, {sums.relative[gap]:.2g} at gap {sums.gaps[gap]} (now: {stratum.name})"
        )

    def _way(self, sums: _Sums, number: int, gap: int) -> tuple[float, _Work]:
        """How what a stratum adds at a gap is soonest known: in about how many decodes, and by what."""
        stratum, variance = self._strata[number], sums.parts[number, gap]
        too_large = float(np.sqrt(variance)) / (self._goal.relative_error * max(sums.wrong[gap], 1e-300))
        by_shots = self._way_by_shots(sums, number, gap, too_large)
        way = self._way_up(sums, number, gap, too_large, by_shots)
        if not stratum.can_explore:
            return way
        by_exploring: tuple[float, _Work] = stratum.cost_of_exploring(too_large), stratum.explore
        if sums.by_chains[number, gap] > variance / 2:
            return min(by_shots, by_exploring, key=lambda each: each[0])
        # Chains tell what shots may have missed, without waiting for it.
        if not stratum.sweeps and sums.missed[number, gap] > variance / 2:
            return min(way, by_exploring, key=lambda each: each[0])
        return way

    def _way_by_shots(self, sums: _Sums, number: int, gap: int, too_large: float) -> tuple[float, _Work]:
        """The same by plain shots."""
        stratum = self._strata[number]
        # How many are wrong: 1 / relative variance.
        seen = float(stratum.shots * sums.shares[number, gap] / stratum.mass)
        # The error of what nobody saw falls as the number of shots.
        cost = stratum.shot_cost * (too_large if seen < 1 else too_large**2)
        is_known = bool(sums.relative[0] <= self._goal.relative_error)
        return cost, partial(self._take, stratum, is_known)

    def _way_up(
        self, sums: _Sums, number: int, gap: int, too_large: float, by_shots: tuple[float, _Work]
    ) -> tuple[float, _Work]:
        """The same by plain shots or by climbing."""
        stratum, share, variance = self._strata[number], sums.shares[number, gap], sums.parts[number, gap]
        if not stratum.can_climb:
            return by_shots
        by_climbing: tuple[float, _Work] = stratum.cost_of_climbing(too_large), stratum.climb
        if not stratum.climb_cost:
            return min(by_shots, by_climbing, key=lambda each: each[0])
        tells_more = stratum.plain_shots_tell_more(sums.gaps[gap], float(share**2 / variance))
        return by_shots if tells_more else by_climbing

    def _take(
        self, stratum: Stratum, is_known: bool, rng: np.random.Generator, check: Callable[[], None]
    ) -> None:
        """Takes plain shots; with too many, ends the search if the rate of all kept shots is known."""
        if stratum.shots > _MOST_SHOTS:
            if is_known:
                raise TimeIsOver
            raise ResourceLimitError(
                f"The decoder {self._asked.decoder} was wrong in {stratum.wrong} of"
                f" {stratum.shots:,} kept shots ({stratum.name}), and the rate has not the error yet"
                " that is asked for. Ask for a larger relative_error, or limit max_seconds: then what is"
                " known is returned."
            )
        stratum.take(int(stratum.shots * (2 if stratum.wrong < _FEWEST_WRONG else _GROWTH)), rng, check)

    def _made(self, sums: _Sums) -> DecodedErrorRate:
        kept_errors = np.sqrt(sums.kept_variance)
        errors = np.sqrt(sums.parts.sum(axis=0) + sums.other)
        points = [
            DecodedGapPoint(
                gap, *(float(values[k]) for values in (sums.kept, kept_errors, sums.wrong, errors))
            )
            for k, gap in enumerate(sums.gaps)
        ]
        first = points[0]
        rate, relative = first.logical_error_rate, first.relative_error
        error = rate * relative if rate else 0.0
        chains = [stratum for stratum in self._strata if stratum.sweeps]
        return DecodedErrorRate(
            decoder=self._asked.decoder,
            logical_error_rate=rate,
            standard_error=error,
            interval=interval_of(rate, relative),
            coverage=COVERAGE,
            observable_rates=(rate,),
            observable_errors=(error,),
            kept=first.kept,
            kept_error=first.kept_error,
            kept_and_wrong=first.kept_and_wrong,
            gap_curve=tuple(points) if self._asked.confidence else (),
            levels=(),
            decodes=sum(stratum.test.decoded for stratum in self._strata),
            seconds=self._deadline.seconds,
            columns=COLUMNS if chains else 0,
            sweeps=(max((each.sweeps for each in chains), default=0), 0),
            column_chi_squared=None,
            halves=sums.disagreement,
            lightest=None,
            error_factor=sums.factor,
            asked_relative_error=self._goal.relative_error,
            strata=tuple(self._described(sums)),
        )

    def _described(self, sums: _Sums) -> list[DecodedStratum]:
        return [
            DecodedStratum(
                name=stratum.name,
                probability=stratum.mass,
                shots=stratum.shots,
                wrong=stratum.wrong,
                sweeps=stratum.sweeps,
                path_shots=stratum.path_shots,
                least_gaps=tuple(stratum.least_gaps()),
                shares=(
                    float(sums.shares[k, 0] / sums.wrong[0]) if sums.wrong[0] else 0.0,
                    float(sums.shares[k, -1] / sums.wrong[-1]) if sums.wrong[-1] else 0.0,
                ),
            )
            for k, stratum in enumerate(self._strata)
        ]
