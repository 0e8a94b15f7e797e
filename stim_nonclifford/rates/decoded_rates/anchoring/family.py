"""Rates of postselected shots and curves over the gap, by replica exchange down a ladder of noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ....base.errors import ResourceLimitError
from ..answers.decoding import FailureTest, check_answers, not_deterministic
from ..chains.chains import ChainStates
from ..chains.descent import DECODERS_DIFFER, HARDLY_EVER_KEPT, Stop, ladder_down_from
from ..chains.ladder import Ladder
from ..deadline import Deadline, TimeIsOver
from ..faults.mechanisms import FaultModel, families_of, fault_model
from ..questions import DecodedCircuit, Goal
from ..results import DecodedErrorRate
from .anchors import Chains, LowAnchor, Profile, chains_of, profile_of
from .findings import Findings
from .kept_counts import KeptShots, kept_shots
from .lightest import largest_enumerable, log_probability_of_lightest
from .plain_counts import PlainLevel

__all__ = ["family_rates"]

_COLUMNS = 64
_RATE_OF_ANCHOR = 0.01
"""Plain shots anchor a ladder at the weakest noise at which about so many of them fail."""

_PILOT_FAILURES = 100
_PILOT_SHOTS = 1 << 13
_MOST_PILOT_SHOTS = 1 << 20
_STRONGER = 0.3
_LARGEST_LOG_ODDS = math.log(0.5)
_FIRST_SWEEPS = 144
_SLOWER, _SLOWER_WITH_PENALTIES = 4, 12
"""Times as many sweeps before columns are believed, where chains look at sure shots, and at kept ones.

With penalties, rates after 576 to 1200 sweeps were low by about one standard error.
"""

_REPEATED, _FEWEST_REPEATED = 1024, 64
"""Detection events that all decoders are asked about once more, and each of them; half as many at least."""

_LEAST_GROWTH, _MOST_GROWTH = 0.05, 0.2
"""Limits of the part by which sweeps or plain shots grow before it is seen whether they suffice."""

_FEWEST_FAILURES = 100
_FEWEST_SWEEPS = 32
"""Before so many, the columns have not been looked at."""


def family_rates(
    circuits: Sequence[DecodedCircuit],
    goal: Goal,
    seed: int,
    report: Callable[[str], None],
    threads: int = 1,
) -> list[DecodedErrorRate]:
    """The logical error rates of circuits with postselected detectors, or with curves over the gap.

    Args:
        circuits: The circuits; those that differ in the strength of the noise share the work.
        goal: When to stop.
        seed: 0 <= seed < 2^64.
        report: Is told what is under way.
        threads: Number of threads.

    Returns:
        One result for each circuit.

    Raises:
        ResourceLimitError: Nothing can be said in the time that there is, or no failing shot is found.
        ValueError: A decoder returned something else than predictions, or is not deterministic.
    """
    results: dict[int, DecodedErrorRate] = {}
    families = families_of([circuit.symptoms for circuit in circuits])
    for positions in (part for family in families for part in _alike(circuits, family)):
        family = _Family([circuits[k] for k in positions], goal, seed, report, threads)
        results.update(zip(positions, family.rates(), strict=True))
    return [results[k] for k in range(len(circuits))]


def _alike(circuits: Sequence[DecodedCircuit], family: Sequence[int]) -> list[list[int]]:
    """The circuits of a family that can be levels of one ladder: a curve over the gap needs its own."""
    parts: dict[object, list[int]] = {}
    for k in family:
        parts.setdefault((circuits[k].postselected, k if circuits[k].confidence else -1), []).append(k)
    return list(parts.values())


class _Family:
    """Circuits whose errors differ in their probabilities only."""

    def __init__(
        self,
        circuits: Sequence[DecodedCircuit],
        goal: Goal,
        seed: int,
        report: Callable[[str], None],
        threads: int,
    ) -> None:
        self._deadline = Deadline(goal.max_seconds)
        self._circuits, self._goal, self._report = circuits, goal, report
        self._rng = np.random.default_rng(seed)
        self._model: FaultModel = fault_model(
            [circuit.symptoms for circuit in circuits], circuits[0].postselected
        )
        self._gaps = circuits[0].confidence
        most = max(_FEWEST_REPEATED, _REPEATED // len(circuits))
        self._tests = [
            FailureTest(self._model, circuit.predict, most, circuit.matching, threads) for circuit in circuits
        ]
        strengths = [float(np.exp(odds).sum()) for odds in self._model.log_odds]
        self._order = sorted(range(len(circuits)), key=lambda k: (-strengths[k], k))
        self._plain: list[PlainLevel] = []  # above all circuits, then of circuits, the strongest first
        self._above = 0  # how many are above all circuits
        self._base = 0  # where the ladder begins
        self._ladder: Ladder | None = None
        self._low: LowAnchor | None = None
        self._profile: Profile | None = None
        self._base_is_known = False
        self._stop_of: dict[int, int] = {}  # stops of the ladder by the places of circuits
        self._kept: dict[int, KeptShots] = {}  # by circuits

    def rates(self) -> list[DecodedErrorRate]:
        """The results, in the order of the circuits."""
        if not self._model.num_mechanisms:
            findings = self._findings()
            return [findings.without_noise(k) for k in range(len(self._circuits))]
        try:
            self._pilot()
            self._count_above()
            if self._needs_ladder:
                self._climb_down()
            self._count_kept()
        except TimeIsOver:
            if self._ladder is not None and self._ladder.sweeps >= _FEWEST_SWEEPS:
                self._profile = self._profiled(self._ladder, self._looked_at(self._ladder))
            is_counted = self._base_is_known and all(level.shots for level in self._counted)
            is_known = self._profile is not None and bool(np.isfinite(self._profile.variances).all())
            is_enough = is_counted and (is_known or not self._needs_ladder)
            if not is_enough:
                raise ResourceLimitError(
                    f"max_seconds={self._goal.max_seconds:g} ended the search {self._reached(is_counted)}."
                    " Allow several times as much, or count errors with SoftDecodingSampler."
                ) from None
        check_answers(self._tests, self._name)
        return self._findings().results()

    def _reached(self, is_counted: bool) -> str:
        """How far a search came that ended before rates were known."""
        if not is_counted:
            return "while plain shots were being counted"
        if self._ladder is None:
            return "while levels of weaker noise were being set up"
        sweeps, levels = self._ladder.sweeps, len(self._ladder.levels)
        if sweeps < _FEWEST_SWEEPS:
            return f"after {sweeps} of at least {_FEWEST_SWEEPS} sweeps through {levels} levels of noise"
        return f"after {sweeps} sweeps, when most chains of a level still had a common ancestor"

    @property
    def _name(self) -> str:
        return self._circuits[0].decoder

    @property
    def _needs_ladder(self) -> bool:
        is_above_some = self._base < self._above + len(self._circuits) - 1
        return is_above_some or self._gaps or self._model.postselects

    def _stop(self, place: int) -> Stop:
        """The level of a circuit, by its place in the order of strength."""
        circuit = self._order[place]
        return Stop(self._model.log_odds[circuit], circuit)

    def _pilot(self) -> None:
        """Finds the level at which plain shots anchor the ladder."""
        first = self._piloted(self._stop(0), _RATE_OF_ANCHOR)
        above: list[PlainLevel] = []
        while (above[0] if above else first).rate < _RATE_OF_ANCHOR:
            weaker = (above[0] if above else first).stop
            varies = weaker.log_odds != 0  # the others are coins, or as strong as noise can be
            room = _LARGEST_LOG_ODDS - float(weaker.log_odds.max(initial=-math.inf, where=varies))
            if not 1e-9 < room < math.inf:
                break
            stop = Stop(weaker.log_odds + varies * min(room, _STRONGER), weaker.decoder)
            above.insert(0, self._piloted(stop, _RATE_OF_ANCHOR))
        self._plain, self._above = [*above, first], len(above)
        while self._plain[-1].rate >= _RATE_OF_ANCHOR and len(self._plain) < self._above + len(
            self._circuits
        ):
            place = len(self._plain) - self._above
            self._plain.append(self._piloted(self._stop(place), _RATE_OF_ANCHOR))
        enough = [k for k, level in enumerate(self._plain) if level.rate >= _RATE_OF_ANCHOR]
        self._base = enough[-1] if enough else 0
        if self._model.postselects:  # shots that are counted are not kept: all circuits are in the ladder
            self._base = min(self._base, self._above)
        # The shots that made this choice are not counted: a level is chosen rather if they failed too often.
        self._plain = [PlainLevel(self._model, self._tests, level.stop) for level in self._plain]
        anchor = self._plain[self._base]
        while anchor.failures < _PILOT_FAILURES:
            if anchor.shots > _MOST_PILOT_SHOTS and not anchor.failures:
                raise ResourceLimitError(
                    f"The decoder {self._name} failed in none of {anchor.shots:,} shots, with"
                    f" {anchor.mean_events:.3g} errors per shot. If it can fail, that is too rare here."
                )
            anchor.take(max(_PILOT_SHOTS, anchor.shots // 2), self._rng, self._deadline.check)
        self._base_is_known = True

    def _piloted(self, stop: Stop, least: float) -> PlainLevel:
        """A level with as many shots as tell whether its rate is at least so large."""
        level = PlainLevel(self._model, self._tests, stop)
        while level.failures < 30 and level.shots * least < 60:
            level.take(max(256, _PILOT_SHOTS // 8), self._rng, self._deadline.check)
        self._report(f"{level.mean_events:.3g} errors per shot: {level.failures} of {level.shots} failed")
        return level

    def _count_above(self) -> None:
        """Counts plain shots of the circuits with noise above that of the ladder, until they suffice."""
        for level in self._counted:
            while self._is_far(level):
                level.take(max(_PILOT_SHOTS, level.shots // 4), self._rng, self._deadline.check)

    @property
    def _counted(self) -> list[PlainLevel]:
        """The levels of circuits that are simply counted."""
        if self._model.postselects:
            return []
        return self._plain[self._above : self._base + (0 if self._needs_ladder else 1)]

    def _is_far(self, level: PlainLevel) -> bool:
        wanted = max(_FEWEST_FAILURES, (1 - level.rate) / self._goal.relative_error**2)
        return level.failures < wanted

    def _climb_down(self) -> None:
        """Runs the ladder until all rates have the errors that are asked for."""
        anchor = self._plain[self._base]
        stops = [anchor.stop]
        penalty = 0.0
        if self._model.postselects:
            penalty = math.inf
            stops.append(replace(anchor.stop, penalty=penalty))
        first = self._base - self._above
        if first >= 0:
            self._stop_of[first] = len(stops) - 1
        for place in range(max(first + 1, 0), len(self._circuits)):
            self._stop_of[place] = len(stops)
            stops.append(replace(self._stop(place), penalty=penalty))
        starts = ChainStates.of(self._model, anchor.sets[:_COLUMNS], anchor.numbers[:_COLUMNS])
        ladder = ladder_down_from(
            self._model, self._tests, stops, starts, self._rng, self._deadline.check, self._gaps
        )
        self._ladder = ladder
        self._report(f"{len(ladder.levels)} levels of noise")
        costs = {"plain": anchor.shots * (1 + anchor.mean_events), "chains": 0.0}
        slower = _SLOWER_WITH_PENALTIES if self._model.postselects else _SLOWER if self._gaps else 1
        sweeps = _FIRST_SWEEPS * slower
        while True:
            self._run(ladder, sweeps)
            size = largest_enumerable(self._model.num_mechanisms)
            if self._is_summable and min(float(each.min()) for each in ladder.sizes) <= size:
                self._enumerate(ladder, size)
            chains = self._looked_at(ladder)
            while True:
                profile = self._profile = self._profiled(ladder, chains)
                self._report_profile(profile)
                targets = [ladder.stops_at[stop] for stop in self._stop_of.values()]
                targets += [k for k, level in enumerate(ladder.levels) if level.least_gap is not None]
                worst = float(profile.variances[targets].max())
                wanted = (self._goal.relative_error / profile.error_factor) ** 2
                if worst <= wanted:
                    return
                costs["plain"] = anchor.shots * (1 + anchor.mean_events)
                costs["chains"] = float(
                    (ladder.decided * (1 + np.array(ladder.sizes).mean(axis=(0, 2)))).sum()
                )
                of_counts = profile.count_variance
                of_chains = max(worst - of_counts, 0.0)
                if of_counts / costs["plain"] <= of_chains / costs["chains"]:
                    break
                more = _growth(of_counts, wanted - of_chains)
                anchor.take(math.ceil(anchor.shots * more), self._rng, self._deadline.check)
            sweeps = math.ceil(ladder.sweeps * _growth(of_chains, wanted - of_counts))

    def _run(self, ladder: Ladder, sweeps: int) -> None:
        is_first = not ladder.sweeps
        ladder.run(sweeps, self._rng, self._deadline.check)
        changed = int((~ladder.still_failing()).sum())
        if changed:
            asked = len(ladder.levels) * _COLUMNS
            raise not_deterministic(
                self._name,
                f"it had failed on {asked} fault sets, and when it was asked again, on {changed} no more",
            )
        if is_first:
            check_answers(self._tests, self._name)

    @property
    def _is_summable(self) -> bool:
        """Whether the lightest failing sets are still to be looked at. (With coins, none is light.)"""
        outcomes, has_coins = self._model.outcomes, (self._model.log_odds == 0).any()
        return self._low is None and (outcomes is None or (outcomes.can_be_summed and not has_coins))

    def _enumerate(self, ladder: Ladder, size: int) -> None:
        level = len(ladder.levels) - 1
        odds = ladder.levels[level].log_odds
        found = log_probability_of_lightest(self._model, ladder.last_allows, odds, size, self._deadline.check)
        if math.isfinite(found):
            mean = float((1 / (1 + np.exp(-odds))).sum())
            rest = mean ** (size + 1) / math.factorial(size + 1)
            self._low = LowAnchor(level, size, found, min(1.0, rest * math.exp(-found)))

    def _looked_at(self, ladder: Ladder) -> Chains:
        try:
            return chains_of(ladder, from_first=not (self._gaps or self._model.postselects))
        except ZeroDivisionError:
            is_one = len(self._circuits) == 1 and self._model.postselects
            raise ResourceLimitError(HARDLY_EVER_KEPT if is_one else DECODERS_DIFFER) from None

    def _profiled(self, ladder: Ladder, chains: Chains) -> Profile:
        counted = [(0, self._plain[self._base])]
        counted += [(k, level) for k, level in self._plain_of_levels(ladder).items() if k and level.shots]
        return profile_of(ladder, chains, counted, self._low)

    def _plain_of_levels(self, ladder: Ladder) -> dict[int, PlainLevel]:
        """The plain shots of levels of the ladder, by their numbers."""
        found = {0: self._plain[self._base]}
        if not self._model.postselects:
            for place, stop in self._stop_of.items():
                if self._above + place < len(self._plain):
                    found[ladder.stops_at[stop]] = self._plain[self._above + place]
        return found

    def _count_kept(self) -> None:
        """Counts the shots that are kept, whether they are right or not."""
        if not self._gaps and not self._model.postselects:
            return
        for circuit in range(len(self._circuits)):
            self._kept[circuit] = kept_shots(
                self._model,
                self._model.log_odds[circuit],
                self._tests[circuit],
                [gap for _, gap in self._ladder.gap_levels] if self._ladder is not None else [],
                self._goal.relative_error,
                self._rng,
                self._deadline.check,
            )

    def _report_profile(self, profile: Profile) -> None:
        assert self._ladder is not None
        last = float(np.exp(profile.log_rates[-1]))
        error = math.sqrt(float(profile.variances[-1])) * profile.error_factor
        decodes = sum(test.decoded for test in self._tests)
        self._report(
            f"{self._ladder.sweeps} sweeps, {decodes:,} decodes,"
            f" {self._deadline.seconds:.0f} s: weakest noise {last:.3g} ± {error:.1%}"
        )

    def _findings(self) -> Findings:
        return Findings(
            circuits=self._circuits,
            goal=self._goal,
            model=self._model,
            tests=self._tests,
            order=self._order,
            plain=self._plain,
            above=self._above,
            base=self._base,
            ladder=self._ladder,
            profile=self._profile,
            stop_of=self._stop_of,
            plain_of={} if self._ladder is None else self._plain_of_levels(self._ladder),
            kept=self._kept,
            seconds=self._deadline.seconds,
        )


def _growth(variance: float, wanted: float) -> float:
    """By what part to go on with something, for its variance to come down to what is wanted."""
    return min(max(variance / wanted - 1, _LEAST_GROWTH), _MOST_GROWTH) if wanted > 0 else _MOST_GROWTH
