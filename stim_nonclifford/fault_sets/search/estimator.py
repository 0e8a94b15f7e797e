"""Decides which weights are sampled, and how much, until the error is small enough.

All decisions follow from counts and sums that depend on the seed alone; only ``max_seconds`` looks at a
clock.
"""

from __future__ import annotations

import math

from ..uncertainty import NARROW
from .enumeration import check_events, enumerate_cheap
from .exploration import Exploration
from .strata import DrawnWeight, ExactWeight, JoinedWeight, Stratum
from .study import MAX_WEIGHT
from .wrong_tool import refuse

__all__ = ["Estimator"]

_MAX_JOINS = 40
"""Of a weight: past that, the interval says what is not known."""

_MAX_JOINS_FOR_LIMIT = 5
"""The same where only the end of the interval gets better by it."""


_MOST_GROWTH = 25.0
"""How many times as many combinations a join may have as those before."""

_OUT_OF_REACH = 1e4
"""How many times more parts than those of the largest join a limit must need, for no join to be tried."""

_WANTED_SETS = 100
"""Expected with the largest join, if it is worth while."""


class Estimator:
    """Looks at fault sets until the logical error rates of their circuits are known well enough.

    Args:
        known: The circuits, and what is known so far.
    """

    def __init__(self, known: Exploration) -> None:
        self._known = known

    def run(self) -> None:
        """Looks at all weights, and then again at those that matter most."""
        check_events(self._known)
        enumerate_cheap(self._known)
        self._sample_first()
        while not self._is_done() and self._refine():
            pass

    def _sample_first(self) -> None:
        """A first sample of every weight that may matter."""
        if len(self._known.strata) > self._known.max_weight:
            return
        if len(self._known.strata) < min(3, self._known.max_weight + 1):
            refuse(f"there are too many sets of {len(self._known.strata)} mechanisms that pass them")
        begin = len(self._known.strata)
        weight = begin
        draw_steps = 3.0 * self._known.exact(begin - 1).steps
        while weight <= self._known.max_weight and any(
            self._known.rest(c, weight) * self._known.coin_factor(c) > self._negligible(c)
            for c in range(len(self._known.odds))
        ):
            if self._known.is_out_of_time:
                return
            if weight - begin < 2 and draw_steps <= self._known.limits.draw_steps:
                drawn = DrawnWeight(weight, self._known.odds)
                self._known.draw(drawn, 100_000)
                self._known.strata.append(drawn)
            else:
                left = weight // 2
                scale = self._mass(left) * self._mass(weight - left) / math.comb(weight, left)
                joined = JoinedWeight(weight, self._known.odds, self._known.masses[:, weight], scale)
                # Some ten thousand sets tell enough for now.
                most = math.sqrt(3e4 * scale / self._known.next_passing_odds(weight))
                self._known.join(joined, max(1000, min(self._first_draws(weight), int(most))))
                self._known.strata.append(joined)
            draw_steps *= max(2.0, self._known.study.branching)
            weight += 1
        if weight > self._known.max_weight and self._known.is_cut:
            mean = float(self._known.masses[0, 1])
            refuse(
                f"a shot has {mean:.3g} noise events on average, so that weights above {MAX_WEIGHT} matter",
                checks_are_weak=False,
            )

    def _negligible(self, circuit: int) -> float:
        """Probability of unexplored weights that does no harm to the interval."""
        scale = self._known.totals(circuit).wrong
        if scale == 0:
            # Nothing to compare with yet: far less than what the first sampled weight can contribute.
            scale = 1e-3 * self._first_passing(circuit)
        return 0.1 * self._known.limits.relative_error * scale

    def _first_passing(self, circuit: int) -> float:
        """What passes the checks at the first weight that is not exact, extrapolated, as a probability."""
        exact = [stratum for stratum in self._known.strata if isinstance(stratum, ExactWeight)]
        passing = [stratum.passing(circuit) for stratum in exact if stratum.passing(circuit)]
        weight = min(len(exact), self._known.max_weight)
        if len(passing) < 2:
            return self._known.factor(circuit) * float(self._known.masses[circuit, weight]) * 1e-6
        return self._known.factor(circuit) * passing[-1] * min(1.0, passing[-1] / passing[-2])

    def _first_draws(self, weight: int) -> int:
        """Draws of a first join: few where they surely suffice for an upper limit."""
        needed = 1.0
        for c in range(len(self._known.odds)):
            mass = float(self._known.masses[c, weight]) * self._known.factor(c)
            needed = max(needed, 4 * mass / max(self._negligible(c), 1e-300))
        return int(min(max(needed, 1000), 100_000))

    def _is_done(self) -> bool:
        return self._known.is_out_of_time or not self._wanting()

    def _wanting(self) -> dict[int, float]:
        """Weights whose error is too large, and by how much the variance must shrink."""
        found: dict[int, float] = {}
        for c in range(len(self._known.odds)):
            totals = self._known.totals(c)
            allowed = (self._known.limits.relative_error * totals.wrong) ** 2
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
            # What may be there without having been seen must be little, too, for the interval to be narrow.
            unseen = _unseen(totals.variance / allowed)
            improvable: dict[int, float] = {}
            out_of_reach = 0.0
            for weight, sums in sampled.items():
                limit = (0.5 if sums.wrong == 0 else unseen) * math.sqrt(allowed)
                stratum = self._known.strata[weight]
                if sums.largest <= limit:
                    continue
                factor = (sums.largest / max(limit, 1e-300)) ** 2
                may_go_on = stratum.rounds < _MAX_JOINS_FOR_LIMIT
                if may_go_on and self._may_find_sets(stratum):
                    found[weight] = max(found.get(weight, 0.0), factor)
                elif may_go_on and self._is_in_reach(stratum, math.sqrt(factor)):
                    improvable[weight] = factor
                else:
                    out_of_reach = max(out_of_reach, sums.largest)
            for weight, factor in improvable.items():
                # The largest of these amounts decides where the interval ends; a smaller one may stay.
                if sampled[weight].largest > out_of_reach:
                    found[weight] = max(found.get(weight, 0.0), factor)
        return found

    def _may_find_sets(self, stratum: Stratum) -> bool:
        """Whether more draws of a weight will find sets, as far as the weights before tell."""
        if not isinstance(stratum, JoinedWeight) or not stratum.is_unknown:
            return True
        before = self._known.strata[stratum.weight - 2 : stratum.weight]
        if any(isinstance(each, JoinedWeight) and each.is_unknown for each in before):
            return False
        if self._known.limits.few_sets:
            return True  # where sets are few, those of a weight say little about the next one
        most = self._known.limits.join_draws
        return most**2 * self._known.next_passing_odds(stratum.weight) > _WANTED_SETS * stratum.scale

    def _is_in_reach(self, stratum: Stratum, factor: float) -> bool:
        """Whether so many times more parts can be drawn that a limit gets better, without any set found."""
        return stratum.draws / 2 * factor <= _OUT_OF_REACH * self._known.limits.join_draws

    def _refine(self) -> bool:
        """One more round for the weights that need it; False if there is nothing that would help."""
        wanting = self._wanting()
        progress = False
        for weight, factor in sorted(wanting.items()):
            stratum = self._known.strata[weight]
            if isinstance(stratum, JoinedWeight) and not self._known.is_out_of_time:
                progress |= self._join_more(stratum, factor)
        if progress:
            return True
        for weight, factor in sorted(wanting.items()):
            stratum = self._known.strata[weight]
            if isinstance(stratum, DrawnWeight) and not self._known.is_out_of_time:
                draws = max(1000.0, max(stratum.draws, 1000) * (1.15 * min(factor, 30.0) - 1))
                limits = self._known.limits
                draws = min(draws, limits.draws, limits.total_draws - stratum.draws)
                if draws >= 1000 and len(stratum.keys) < limits.draws:
                    self._known.draw(stratum, draws)
                    progress = True
        return progress

    def look_closer(self, weight: int) -> None:
        """Joins more parts of a weight, if it is a joined one and the limits allow more."""
        stratum = self._known.strata[weight]
        if isinstance(stratum, JoinedWeight):
            self._join_more(stratum, _MOST_GROWTH)

    def _join_more(self, stratum: JoinedWeight, factor: float) -> bool:
        before = stratum.draws / 2
        combinations = before**2 / stratum.rounds
        draws = math.sqrt(combinations * min(1.1 * factor, _MOST_GROWTH))
        # Not more sets than can be evaluated, and not more draws than fit into memory.
        if stratum.sets:
            draws = min(draws, math.sqrt(combinations * self._known.limits.sets_of_join / stratum.sets))
        draws = min(draws, self._known.limits.join_draws)
        stored = sum(len(each.keys) for each in self._known.strata if isinstance(each, JoinedWeight))
        if (
            stratum.rounds >= _MAX_JOINS
            or len(stratum.keys) > self._known.limits.draws
            or stored > self._known.limits.joined_sets
        ):
            return False
        self._known.join(stratum, max(1000, int(draws)))
        return True

    def _mass(self, weight: int) -> float:
        return float(self._known.masses[0, weight])


def _unseen(variance: float) -> float:
    """How much one more event may change a sum, for its interval to be narrow: in standard errors.

    Args:
        variance: Of the sum, in units of the one that is asked for.

    Returns:
        L with L + 2 sqrt(variance + L^2) = 3: about the upper end of the interval with one more event.
    """
    return math.sqrt(1 + (NARROW**2 - 4 * min(variance, 1.0)) / 3) - 1
