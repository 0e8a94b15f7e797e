"""From what a search found about circuits to their results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..answers.decoding import FailureTest
from ..chains.descent import Stop
from ..chains.ladder import Ladder
from ..failing.sets import FailingSets, failing_sets
from ..failing.study import FailureStudy
from ..faults.mechanisms import FaultModel, Floats
from ..questions import DecodedCircuit, Goal
from ..results import COVERAGE, DecodedErrorRate, DecodedGapPoint, DecodedLevel, interval_of, per_kept
from .anchors import Profile
from .kept_counts import KeptShots
from .plain_counts import PlainLevel

__all__ = ["Findings"]


@dataclass(frozen=True)
class Findings:
    """What a search found about circuits whose errors differ in their probabilities only.

    Attributes:
        circuits: The circuits.
        goal: What was asked for.
        model: Their errors.
        tests: The decoder of each circuit.
        order: The circuits by the strength of their noise, the strongest first. A circuit's place is that in
            this order.
        plain: Levels of noise of which plain shots are counted, the strongest first.
        above: How many of them are above all circuits. The others are those of circuits, by place.
        base: Which of them the ladder begins at.
        ladder: The ladder; None: plain shots suffice.
        profile: The rates of its levels; None: there is no ladder.
        stop_of: By the places of circuits, their numbers among the levels that the ladder was asked for.
        plain_of: The plain shots of levels of the ladder, by the numbers of the levels.
        kept: Counts of kept shots, by circuits.
        seconds: How long it took.
    """

    circuits: Sequence[DecodedCircuit]
    goal: Goal
    model: FaultModel
    tests: Sequence[FailureTest]
    order: Sequence[int]
    plain: Sequence[PlainLevel]
    above: int
    base: int
    ladder: Ladder | None
    profile: Profile | None
    stop_of: Mapping[int, int]
    plain_of: Mapping[int, PlainLevel]
    kept: Mapping[int, KeptShots]
    seconds: float

    def results(self) -> list[DecodedErrorRate]:
        """The results, in the order of the circuits."""
        results: dict[int, DecodedErrorRate] = {}
        for place, circuit in enumerate(self.order):
            number = self.above + place
            if self.profile is not None and self.ladder is not None and place in self.stop_of:
                level = self.ladder.stops_at[self.stop_of[place]]
                rate, error = self._of_ladder(level)
                factor = self.profile.error_factor
                sets = self.ladder.failing_sets(level, self.profile.burn_in)
            else:
                rate, error, factor = *_counted_rate(self.plain[number]), 1.0
                sets = self.plain[number].failing_sets()
            levels = self._levels(self.model.log_odds[circuit])
            results[circuit] = self._result(circuit, rate, error, levels, factor, sets)
        return [results[k] for k in range(len(self.circuits))]

    def without_noise(self, circuit: int) -> DecodedErrorRate:
        """The result of a circuit without errors, where only outcomes are random."""
        _, shares, rows = self.model.with_all_outcomes(self.model.base[np.newaxis])
        wrong = self.tests[circuit].wrong(rows)
        is_wrong = wrong.any(axis=1)
        count = int(is_wrong.sum())
        no_numbers = np.zeros(count, dtype=np.uint64)
        sets = failing_sets([np.zeros(0, dtype=np.intp)] * count, no_numbers, wrong[is_wrong])
        return self._result(circuit, float(shares[is_wrong].sum()), 0.0, (), 1.0, sets)

    def _result(
        self,
        circuit: int,
        rate: float,
        error: float,
        levels: tuple[DecodedLevel, ...],
        factor: float,
        sets: FailingSets,
    ) -> DecodedErrorRate:
        of_observables = sets.rates_of_observables(self.model.num_observables, rate, error, factor)
        kept, kept_error = self.kept[circuit].kept() if circuit in self.kept else (1.0, 0.0)
        wrong = rate
        of_each = [per_kept(*each, kept, kept_error) for each in of_observables]
        rate, error = per_kept(rate, error, kept, kept_error)
        study = FailureStudy(
            sets,
            self.model,
            self.model.log_odds[circuit],
            self.tests[circuit],
            self.circuits[circuit].fault_table,
            factor,
        )
        profile, ladder = self.profile, self.ladder
        return DecodedErrorRate(
            decoder=self.circuits[circuit].decoder,
            logical_error_rate=rate,
            standard_error=error,
            interval=interval_of(rate, error / rate if rate else 0.0),
            coverage=COVERAGE,
            observable_rates=tuple(each for each, _ in of_each),
            observable_errors=tuple(each for _, each in of_each),
            kept=kept,
            kept_error=kept_error,
            kept_and_wrong=wrong,
            gap_curve=self._gap_curve(circuit, wrong, error * kept),
            levels=levels,
            decodes=sum(test.decoded for test in self.tests),
            seconds=self.seconds,
            columns=0 if profile is None or ladder is None else ladder.columns,
            sweeps=(0, 0) if profile is None or ladder is None else (ladder.sweeps, profile.burn_in),
            column_chi_squared=None if profile is None else profile.column_chi_squared,
            halves=None if profile is None else profile.halves,
            lightest=None if profile is None else profile.lightest,
            error_factor=factor,
            asked_relative_error=self.goal.relative_error,
            _study=study if rate and not self.model.postselects else None,
        )

    def _gap_curve(self, circuit: int, wrong: float, error: float) -> tuple[DecodedGapPoint, ...]:
        """Rates over the gap, the first one of all shots that are kept whatever the gap is."""
        if not self.circuits[0].confidence or self.ladder is None or circuit not in self.kept:
            return ()
        counts = self.kept[circuit]
        found = [DecodedGapPoint(0, *counts.kept(), wrong, error)]
        for number, (level, gap) in enumerate(self.ladder.gap_levels):
            found.append(DecodedGapPoint(gap, *counts.kept(number), *self._of_ladder(level)))
        return tuple(found)

    def _of_ladder(self, level: int) -> tuple[float, float]:
        """The rate of a level of the ladder, and its standard error."""
        assert self.profile is not None
        rate = float(np.exp(self.profile.log_rates[level]))
        return rate, rate * math.sqrt(float(self.profile.variances[level])) * self.profile.error_factor

    def _levels(self, mine: Floats) -> tuple[DecodedLevel, ...]:
        """All levels, as seen from a circuit with given odds."""
        ladder, shown = self.ladder, []
        last = self.base if self.profile is not None else len(self.plain)
        for number, plain in enumerate(self.plain[:last]):
            if plain.shots:
                rate, error = _counted_rate(plain)
                shown.append(self._level(mine, plain.stop, rate, error, plain, None, number >= self.above))
        if self.profile is None or ladder is None:
            return tuple(shown)
        given = {ladder.stops_at[stop] for stop in self.stop_of.values()}
        for k, level in enumerate(ladder.levels):
            stop = Stop(level.log_odds, level.decoder, level.penalty)
            shown.append(self._level(mine, stop, *self._of_ladder(k), self.plain_of.get(k), k, k in given))
        return tuple(shown)

    def _level(
        self,
        mine: Floats,
        stop: Stop,
        rate: float,
        error: float,
        plain: PlainLevel | None,
        number: int | None,
        is_given: bool,
    ) -> DecodedLevel:
        size = accepted = exchanged = least_gap = None
        if number is not None and self.ladder is not None:
            least_gap = self.ladder.levels[number].least_gap
            size = float(np.mean([each[number] for each in self.ladder.sizes]))
            accepted = float(self.ladder.accepted[number] / max(1.0, self.ladder.decided[number]))
            if number < len(self.ladder.exchanged):
                tries, successes = self.ladder.exchanged[number]
                exchanged = float(successes / tries)
        varies = mine != 0 if (mine != 0).any() else np.ones(len(mine), dtype=np.bool_)
        return DecodedLevel(
            strength=float(np.exp((stop.log_odds - mine)[varies].mean())),
            faults=float((1 / (1 + np.exp(-stop.log_odds))).sum()),
            rate=rate,
            standard_error=error,
            shots=plain.shots if plain else 0,
            failures=plain.failures if plain else 0,
            mean_size=size,
            accepted=accepted,
            exchanged=exchanged,
            is_given=is_given,
            penalty=stop.penalty,
            least_gap=least_gap,
        )


def _counted_rate(level: PlainLevel) -> tuple[float, float]:
    # One more that fails, and one more that does not, may have been missed by chance.
    share = (level.failures + 1) / (level.shots + 2)
    return level.rate, math.sqrt(share * (1 - share) / level.shots)
