"""Decides which weights are enumerated and which are sampled, and how much, until the error is small enough.

All decisions follow from counts and sums that depend on the seed alone; only ``max_seconds`` looks at a
clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from .. import _native
from ..errors import ResourceLimitError
from ..plan import SamplingPlan
from .laws import Floats, KeyValues
from .mechanisms import Mechanisms
from .strata import DrawnWeight, ExactWeight, JoinedWeight, Stratum, Sums
from .study import MAX_WEIGHT, study_of

__all__ = ["DEFAULT_MAX_BYTES", "CircuitTotals", "Estimator", "Limits"]

DEFAULT_MAX_BYTES = 2 << 30

_MAX_EVENTS = 12.0
"""Mean number of noise events of a shot; plain sampling keeps few shots then, but most sets are large."""

_MAX_PASSING = 0.05
"""Part of the sets that may pass the noise-only checks."""

_MAX_JOINS = 12
"""Of a weight: past that, the interval says what is not known."""

_MAX_JOINS_FOR_LIMIT = 5
"""The same where only the end of the interval gets better by it."""

_RATE_THAT_MATTERS = 1e-3
"""Below, the error of P(kept) adds nothing to that of P(wrong | kept)."""


@dataclass(frozen=True)
class Limits:
    """What an estimate may cost.

    Attributes:
        relative_error: Standard error over estimate at which it stops.
        max_seconds: No new round begins after that; None: no limit.
        max_bytes: Memory for pairs, keys and draws, about.
    """

    relative_error: float = 0.01
    max_seconds: float | None = None
    max_bytes: int = DEFAULT_MAX_BYTES

    @property
    def exact_steps(self) -> float:
        """Steps that the enumeration of a weight may take: about a second's, more for a smaller error."""
        return 2.5e8 * max(1.0, min(50.0, 0.01 / self.relative_error))

    @property
    def exact_sets(self) -> float:
        """Sets that are listed for it."""
        return 2e7 * max(1.0, min(50.0, 0.01 / self.relative_error))

    @property
    def draw_steps(self) -> float:
        """The same for a pass in which sets are drawn; a step is longer."""
        return 4e8 * max(1.0, min(50.0, 0.01 / self.relative_error))

    @property
    def exact_keys(self) -> float:
        """Distinct keys of a weight that are kept, some 200 bytes each."""
        return min(1.5e6 * max(1.0, min(8.0, 0.01 / self.relative_error)), self.max_bytes / 400)

    @property
    def draws(self) -> float:
        """Sets that are drawn, some 100 bytes each."""
        return min(3e7, self.max_bytes / 200)


@dataclass(frozen=True)
class CircuitTotals:
    """Sums over all weights for a circuit, as probabilities.

    Attributes:
        kept: P(kept).
        wrong: P(kept and wrong).
        exact_wrong: The part of it that is not sampled.
        variance: Of ``wrong - rate * kept``, estimated.
        largest: The largest amount by which one more event would have changed ``wrong``.
        rest: Probability of all sets that were not looked at.
        by_weight: (weight, stratum, probability of all sets of the weight, sums as probabilities).
    """

    kept: float
    wrong: float
    exact_wrong: float
    variance: float
    largest: float
    rest: float
    by_weight: tuple[tuple[int, Stratum, float, Sums], ...]

    @property
    def rate(self) -> float:
        """P(wrong | kept)."""
        return self.wrong / self.kept if self.kept else 0.0

    @property
    def standard_error(self) -> float:
        """Of the rate."""
        return math.sqrt(self.variance) / self.kept if self.kept else 0.0


class Estimator:
    """Estimates P(kept) and P(kept and wrong) of circuits that differ in the odds of their mechanisms.

    Args:
        plan: The plan of the first circuit.
        mechanisms: The mechanisms of each circuit; all but odds and probabilities are equal.
        limits: What it may cost.
        seed: 0 <= seed < 2^64.
        threads: Number of threads.
        report: Called with a line about what is under way.
    """

    def __init__(
        self,
        plan: SamplingPlan,
        mechanisms: Sequence[Mechanisms],
        limits: Limits,
        seed: int,
        threads: int,
        report: Callable[[str], None],
    ) -> None:
        self.limits = limits
        self.seed = seed
        self._report = report
        self._begin = time.perf_counter()
        first = mechanisms[0]
        self.odds = np.array([each.odds for each in mechanisms])
        self._factors = np.array([each.nothing * each.coin_factor for each in mechanisms])
        self._nothing = np.array([each.nothing for each in mechanisms])
        self.study = study_of(plan, first, threads, limits.max_bytes // 4)
        self.values = KeyValues(self.study, plan.num_outputs)
        self.max_weight = min(MAX_WEIGHT, _most_members(first))
        self._totals = np.array([_totals(odds, first.sites, self.max_weight) for odds in self.odds])
        self.strata: list[Stratum] = []
        self._round = 0
        self._known_sums: dict[tuple[int, int], tuple[tuple[int, float], Sums]] = {}

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self._begin

    def factor(self, circuit: int) -> float:
        """Probability that no mechanism acts and the removed coins pass."""
        return float(self._factors[circuit])

    def run(self) -> None:
        """Looks at all weights, and then again at those that matter most."""
        self._check_events()
        self.enumerate()
        self._sample_first()
        while not self._is_done() and self._refine():
            pass

    def enumerate(self, max_weight: int | None = None) -> None:
        """Enumerates weights from 0 on, as long as that costs little.

        Args:
            max_weight: The last one; None: as the limits allow.
        """
        last = self.max_weight if max_weight is None else min(max_weight, self.max_weight)
        for weight in range(len(self.strata), last + 1):
            if max_weight is None and weight > 1 and not self._is_cheap(weight):
                return
            most_steps = self.limits.exact_steps * (1 if max_weight is None else 50)
            self._report(f"weight {weight}: all sets")
            found = self.study.enumerate(
                weight, self.odds.ravel(), int(most_steps), int(self.limits.exact_keys * 2)
            )
            if not found["is_complete"]:
                return
            self.strata.append(ExactWeight(weight, found, len(self.odds)))
            self.values.evaluate()
            if max_weight is None and weight == 2:
                self._check_pruning()

    def totals(self, circuit: int = 0) -> CircuitTotals:
        """What is known of a circuit so far."""
        factor = float(self._factors[circuit])
        sums = [self._sums(stratum, circuit, 0.0) for stratum in self.strata]
        kept = math.fsum(each.kept for each in sums)
        wrong = math.fsum(each.wrong for each in sums)
        if kept and wrong / kept > _RATE_THAT_MATTERS:
            sums = [self._sums(stratum, circuit, wrong / kept) for stratum in self.strata]
        exact = [
            each.wrong for each, stratum in zip(sums, self.strata, strict=True) if stratum.method == "exact"
        ]
        masses = [float(self._totals[circuit, stratum.weight]) for stratum in self.strata]
        nothing = float(self._nothing[circuit])
        return CircuitTotals(
            kept=factor * kept,
            wrong=factor * wrong,
            exact_wrong=factor * math.fsum(exact),
            variance=factor**2 * math.fsum(each.variance for each in sums),
            largest=factor * max((each.largest for each in sums), default=0.0),
            rest=self._rest(circuit, len(self.strata)) * factor / nothing,
            by_weight=tuple(
                (stratum.weight, stratum, nothing * mass, _scaled(each, factor))
                for stratum, mass, each in zip(self.strata, masses, sums, strict=True)
            ),
        )

    def _sums(self, stratum: Stratum, circuit: int, rate: float) -> Sums:
        place = (stratum.weight, circuit)
        state = (stratum.rounds, rate)
        if self._known_sums.get(place, (None, None))[0] != state:
            self._known_sums[place] = state, stratum.sums(circuit, self.values, rate)
        return self._known_sums[place][1]

    def _rest(self, circuit: int, first_weight: int) -> float:
        """Probability of all sets from a weight on, and that no mechanism of any other set acts."""
        if first_weight > self.max_weight:
            return 0.0
        nothing = float(self._nothing[circuit])
        totals = self._totals[circuit]
        above = nothing * math.fsum(totals[first_weight:])
        if not self._is_cut:
            return above
        # Each total is at most that before times the sum of the odds over its weight. (The difference of all
        # that is known to 1 has rounding errors, which are larger than what matters at small rates.)
        ratio = float(totals[1]) / (self.max_weight + 1)
        if ratio < 1:
            return above + nothing * float(totals[-1]) * ratio / (1 - ratio)
        return max(above, 1 - nothing * math.fsum(totals[:first_weight]))

    @property
    def _is_cut(self) -> bool:
        return self.max_weight == MAX_WEIGHT

    def _is_cheap(self, weight: int) -> bool:
        before, last = self._exact(weight - 2), self._exact(weight - 1)
        branching = self.study.branching
        steps = max(last.steps, self.odds.shape[1]) * branching
        sets = last.sets * (last.sets / before.sets if before.sets else branching)
        keys = last.signatures * (last.signatures / before.signatures if before.signatures else 1.0)
        if weight == 2:
            # Single mechanisms are no guide: pairs of equal ones pass the checks, too.
            steps, sets, keys = (self.study.num_twins,) * 3
        return (
            steps <= self.limits.exact_steps
            and sets <= self.limits.exact_sets
            and keys <= self.limits.exact_keys
        )

    def _check_events(self) -> None:
        mean = max(-math.log(nothing) if nothing else math.inf for nothing in self._nothing)
        if mean > _MAX_EVENTS and self.max_weight > _MAX_EVENTS:
            self.refuse(
                f"a shot has {mean:.3g} noise events on average, so that sets of very many mechanisms matter"
                f" (the limit is {_MAX_EVENTS:.0f} events)"
            )

    def _check_pruning(self) -> None:
        """Refuses where nearly all pairs pass the checks, and larger sets are too many to list."""
        for c in range(len(self.odds)):
            fraction = self._exact(2).passing(c) / float(self._totals[c, 2])
            if fraction < _MAX_PASSING:
                continue
            enough = 1e-3 * self.totals(c).wrong or 1e-9
            weight = next((k for k in range(3, self.max_weight + 1) if self._rest(c, k + 1) < enough), 2)
            num_sets = math.comb(self.odds.shape[1], weight)
            if num_sets > self.limits.exact_sets:
                self.refuse(
                    f"{fraction:.0%} of the pairs of mechanisms pass them, and there are"
                    f" {float(num_sets):.2g} sets of {weight}"
                )

    def _sample_first(self) -> None:
        """A first sample of every weight that may matter."""
        if len(self.strata) > self.max_weight:
            return
        if len(self.strata) < min(3, self.max_weight + 1):
            self.refuse(f"there are too many sets of {len(self.strata)} mechanisms that pass them")
        begin = len(self.strata)
        weight = begin
        draw_steps = 3.0 * self._exact(begin - 1).steps
        while weight <= self.max_weight and any(
            self._rest(c, weight) * self._factors[c] / self._nothing[c] > self._negligible(c)
            for c in range(len(self.odds))
        ):
            if self._is_out_of_time():
                return
            if weight - begin < 2 and draw_steps <= self.limits.draw_steps:
                drawn = DrawnWeight(weight, self.odds)
                self._draw(drawn, 100_000)
                self.strata.append(drawn)
            else:
                left = weight // 2
                scale = self._total(left) * self._total(weight - left) / math.comb(weight, left)
                joined = JoinedWeight(weight, self.odds, self._totals[:, weight], scale)
                # Some ten thousand sets tell enough for now.
                most = math.sqrt(3e4 * scale / self._next_passing_odds(weight))
                self._join(joined, max(1000, min(self._first_draws(weight), int(most))))
                self.strata.append(joined)
            draw_steps *= max(2.0, self.study.branching)
            weight += 1
        if weight > self.max_weight and self._is_cut:
            mean = float(self._totals[0, 1])
            self.refuse(
                f"a shot has {mean:.3g} noise events on average, so that weights above {MAX_WEIGHT} matter"
            )

    def _exact(self, weight: int) -> ExactWeight:
        stratum = self.strata[weight]
        assert isinstance(stratum, ExactWeight)
        return stratum

    def _negligible(self, circuit: int) -> float:
        """Probability of unexplored weights that does no harm to the interval."""
        scale = self.totals(circuit).wrong
        if scale == 0:
            # Nothing to compare with yet: far less than what the first sampled weight can contribute.
            scale = 1e-3 * self._first_passing(circuit)
        return 0.1 * self.limits.relative_error * scale

    def _first_passing(self, circuit: int) -> float:
        """What passes the checks at the first weight that is not exact, extrapolated, as a probability."""
        exact = [stratum for stratum in self.strata if isinstance(stratum, ExactWeight)]
        passing = [stratum.passing(circuit) for stratum in exact if stratum.passing(circuit)]
        weight = min(len(exact), self.max_weight)
        if len(passing) < 2:
            return self.factor(circuit) * float(self._totals[circuit, weight]) * 1e-6
        return self.factor(circuit) * passing[-1] * min(1.0, passing[-1] / passing[-2])

    def _first_draws(self, weight: int) -> int:
        """Draws of a first join: few where they surely suffice for an upper limit."""
        needed = 1.0
        for c in range(len(self.odds)):
            mass = float(self._totals[c, weight]) * self.factor(c)
            needed = max(needed, 4 * mass / max(self._negligible(c), 1e-300))
        return int(min(max(needed, 1000), 100_000))

    def _draw(self, stratum: DrawnWeight, draws: float) -> None:
        """Adds about so many draws."""
        self._report(f"weight {stratum.weight}: {draws:.3g} draws")
        if stratum.draws:
            passing = stratum.sums(0, self.values, 0.0).passing
        else:
            passing = self._next_passing_odds(stratum.weight)
        spacing = passing / draws
        while True:
            self._round += 1
            found = self.study.draw(stratum.weight, spacing, self._seed_of_round(), int(2 * draws))
            if found["is_complete"]:
                break
            # Far more sets pass than at the weights before.
            spacing *= 30
        keys = self.study.number_keys(found["members"], stratum.weight)
        stratum.add(found["members"], keys, spacing)
        self.values.evaluate()

    def _next_passing_odds(self, weight: int) -> float:
        a, b = (self.strata[k].sums(0, self.values, 0.0).passing for k in (weight - 2, weight - 1))
        return b * min(1.0, b / a) if a and b else float(self._totals[0, weight]) * 1e-6

    def _join(self, stratum: JoinedWeight, draws: int) -> None:
        """Adds a join of so many draws of each part."""
        self._report(f"weight {stratum.weight}: {draws:.3g} x {draws:.3g} joins")
        left = stratum.weight // 2
        most_sets = int(self.limits.draws / 10)
        while True:
            self._round += 1
            found = self.study.join(
                left, stratum.weight - left, draws, 1.0, self.seed, self._round, most_sets
            )
            if found["sets"] > _MAX_PASSING * draws**2:
                self.refuse(
                    f"{found['sets'] / draws**2:.0%} of the sets of {stratum.weight} mechanisms pass them"
                )
            if found["is_complete"]:
                break
            # Far more sets pass than at the weights before.
            draws = max(1000, draws // 8)
        keys = self.study.number_keys(found["members"], stratum.weight)
        stratum.add(draws, found, keys)
        self.values.evaluate()

    def _seed_of_round(self) -> int:
        """Independent for each pass over the sets."""
        return int(_native.random_words(self.seed, 8, self._round, 1)[0])

    def _is_out_of_time(self) -> bool:
        return self.limits.max_seconds is not None and self.seconds > self.limits.max_seconds

    def _is_done(self) -> bool:
        return self._is_out_of_time() or not self._wanting()

    def _wanting(self) -> dict[int, float]:
        """Weights whose error is too large, and by how much the variance must shrink."""
        found: dict[int, float] = {}
        for c in range(len(self.odds)):
            totals = self.totals(c)
            allowed = (self.limits.relative_error * totals.wrong) ** 2
            if allowed == 0:
                # An upper limit that is far below what the first sampled weight can contribute.
                allowed = (1e-3 * self._first_passing(c)) ** 2
            sampled = {
                weight: sums for weight, stratum, _, sums in totals.by_weight if stratum.method != "exact"
            }
            if totals.variance > allowed:
                # The error is spread so that the work, which grows as 1 / variance, is least.
                roots = sum(math.sqrt(sums.variance) for sums in sampled.values())
                for weight, sums in sampled.items():
                    target = 0.9 * allowed * math.sqrt(sums.variance) / roots
                    if sums.variance > target:
                        factor = sums.variance / target if target > 0 else math.inf
                        found[weight] = max(found.get(weight, 0.0), factor)
            for weight, sums in sampled.items():
                # What may be there without having been seen must be little, too.
                limit = (0.5 if sums.wrong == 0 else 1.5) * math.sqrt(allowed)
                if sums.largest > limit and self.strata[weight].rounds < _MAX_JOINS_FOR_LIMIT:
                    factor = (sums.largest / max(limit, 1e-300)) ** 2
                    found[weight] = max(found.get(weight, 0.0), factor)
        return found

    def _refine(self) -> bool:
        """One more round for the weights that need it; False if there is nothing that would help."""
        wanting = self._wanting()
        progress = False
        for weight, factor in sorted(wanting.items()):
            stratum = self.strata[weight]
            if isinstance(stratum, JoinedWeight) and not self._is_out_of_time():
                progress |= self._join_more(stratum, factor)
        if progress:
            return True
        for weight, factor in sorted(wanting.items()):
            stratum = self.strata[weight]
            if isinstance(stratum, DrawnWeight) and not self._is_out_of_time():
                draws = max(stratum.draws, 1000) * (1.15 * min(factor, 30.0) - 1)
                draws = min(draws, self.limits.draws - stratum.draws)
                if draws >= 1000:
                    self._draw(stratum, draws)
                    progress = True
        return progress

    def _join_more(self, stratum: JoinedWeight, factor: float) -> bool:
        before = stratum.draws / 2
        combinations = before**2 / stratum.rounds
        draws = math.sqrt(combinations * min(1.1 * factor, 25.0))
        # Not more sets than can be evaluated, and not more draws than fit into memory.
        if stratum.sets:
            draws = min(draws, math.sqrt(combinations * self.limits.draws / 50 / stratum.sets))
        draws = min(draws, 4e6, self.limits.max_bytes / 400)
        if stratum.rounds >= _MAX_JOINS or stratum.sets > self.limits.draws:
            return False
        self._join(stratum, max(1000, int(draws)))
        return True

    def _total(self, weight: int) -> float:
        return float(self._totals[0, weight])

    @property
    def nothing(self) -> float:
        """Probability that no mechanism acts, in the first circuit."""
        return float(self._nothing[0])

    @property
    def coin_factor(self) -> float:
        """Probability that the removed coins pass."""
        return float(self._factors[0] / self._nothing[0])

    def refuse(self, reason: str) -> NoReturn:
        """Says that this is the wrong tool."""
        raise ResourceLimitError(
            "Fault sets are the wrong tool for this circuit: its noise-only checks leave too much, as"
            f" {reason}. Count errors instead: compile_detector_sampler(...).sample_counts(shots)."
        )


def _most_members(mechanisms: Mechanisms) -> int:
    sites = mechanisms.sites[mechanisms.sites >= 0]
    return int(np.count_nonzero(mechanisms.sites < 0)) + len(np.unique(sites))


def _totals(odds: Floats, sites: np.ndarray, max_weight: int) -> Floats:
    """Elementary symmetric polynomials of the odds, with at most one mechanism of a site."""
    groups = list(odds[sites < 0])
    for site in np.unique(sites[sites >= 0]):
        groups.append(float(odds[sites == site].sum()))
    totals = np.zeros(max_weight + 1)
    totals[0] = 1
    for weight in groups:
        totals[1:] += weight * totals[:-1]
    return totals


def _scaled(sums: Sums, factor: float) -> Sums:
    return Sums(
        passing=factor * sums.passing,
        kept=factor * sums.kept,
        wrong=factor * sums.wrong,
        variance=factor**2 * sums.variance,
        largest=factor * sums.largest,
    )
