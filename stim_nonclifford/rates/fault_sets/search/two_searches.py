"""Circuits in which the faults decide everything: P(kept) and P(kept and wrong), each from its own search.

Without quantum outcomes, a shot is kept and wrong if its faults flip no check and the observable. This is one
more check. So P(kept and wrong) is, as P(kept) is, the probability that the faults pass some checks, and a
search for the sets that pass them meets no others. That pays because malignant sets are rare: of
distance-7 cultivation with S gates at p = 10^-3, one in 3 * 10^12 of the kept shots is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...._native import random_words
from ....simulation.engines.random_streams import Stream
from ....simulation.plan import SamplingPlan
from .estimator import Estimator
from .exploration import Exploration
from .laws import Floats
from .limits import Limits
from .mechanisms import Mechanisms
from .sampling.joins import JoinedSets
from .strata import CircuitTotals, Stratum

__all__ = ["TwoSearches", "decided_by_faults"]

_ERROR_OF_EACH = 0.7
"""P(kept) and P(kept and wrong) may each have this part of the relative error of the rate: squares add up."""

_PART_FOR_KEPT = 0.25
"""The part of the time and of the memory that the search for P(kept) may take."""


def decided_by_faults(plan: SamplingPlan, mechanisms: Mechanisms) -> bool:
    """Whether the faults of a shot decide if it is kept, and if its only observable is flipped."""
    has_law = plan.num_signature_bits or plan.num_outcomes or plan.peak_width
    return not has_law and plan.num_outputs == 1 and not len(mechanisms.coins)


def _with_flipped_observable(mechanisms: Mechanisms) -> Mechanisms:
    """The mechanisms, with the observable as one more check, which a fault set must flip."""
    flips = (mechanisms.keys[:, -1] & np.uint64(1)).astype(np.bool_)
    is_flipped = bool(mechanisms.base[-1] & np.uint64(1))
    return replace(
        mechanisms,
        checks=np.hstack([mechanisms.checks, flips[:, None]]),
        target=np.append(mechanisms.target, not is_flipped),
    )


@dataclass(frozen=True)
class TwoSearches:
    """The fault sets that pass the checks, and those of them that flip the observable.

    Attributes:
        kept: The former.
        wrong: The latter.
    """

    kept: Exploration
    wrong: Exploration

    @classmethod
    def of(
        cls,
        plan: SamplingPlan,
        mechanisms: Sequence[Mechanisms],
        limits: Limits,
        seed: int,
        threads: int,
        report: Callable[[str], None],
        elapsed: float = 0.0,
    ) -> TwoSearches:
        """Searches; the arguments are those of ``Exploration``."""
        seconds = limits.max_seconds
        kept = Exploration(
            plan,
            mechanisms,
            replace(
                limits,
                relative_error=_ERROR_OF_EACH * limits.relative_error,
                max_bytes=int(_PART_FOR_KEPT * limits.max_bytes),
                max_seconds=None if seconds is None else _PART_FOR_KEPT * seconds,
            ),
            seed,
            threads,
            lambda line: report(f"kept, {line}"),
            passing_only=True,
            elapsed=elapsed,
        )
        Estimator(kept).run()
        kept.study.release()
        wrong = Exploration(
            plan,
            [_with_flipped_observable(each) for each in mechanisms],
            replace(
                limits,
                few_sets=True,
                relative_error=_ERROR_OF_EACH * limits.relative_error,
                max_bytes=int((1 - _PART_FOR_KEPT) * limits.max_bytes),
                max_seconds=None if seconds is None else max(seconds - kept.seconds, 1e-3),
            ),
            int(random_words(seed, Stream.ROUNDS, 0, 1)[0]),  # rounds count from 1
            threads,
            lambda line: report(f"kept and wrong, {line}"),
            passing_only=True,
        )
        Estimator(wrong).run()
        wrong.study.release()
        return cls(kept, wrong)

    def _most_of_unknown(self, circuit: int) -> dict[int, float]:
        """What there may be at most of each weight in which hardly a wrong set was found."""
        kept = {
            weight: sums.kept + sums.largest for weight, _, _, sums in self.kept.totals(circuit).by_weight
        }
        return {
            weight: min(sums.largest, kept.get(weight, math.inf))
            for weight, stratum, _, sums in self.wrong.totals(circuit).by_weight
            if isinstance(stratum, JoinedSets) and stratum.is_unknown
        }

    @property
    def odds(self) -> Floats:
        """See ``Exploration``."""
        return self.kept.odds

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return self.kept.seconds

    def probability_of_nothing(self, circuit: int) -> float:
        """Probability that no mechanism acts."""
        return self.kept.probability_of_nothing(circuit)

    def totals(self, circuit: int) -> CircuitTotals:
        """What is known of a circuit; of each weight, how it was looked at for wrong sets."""
        kept, wrong = self.kept.totals(circuit), self.wrong.totals(circuit)
        rate = wrong.wrong / kept.kept if kept.kept else 0.0
        by_weight = list(wrong.by_weight)
        for weight, stratum, mass, sums in kept.by_weight:
            if weight < len(wrong.by_weight):
                _, stratum, mass, found = wrong.by_weight[weight]
                # The wrong sets are some of the others, even where a sample has none of these.
                passing, all_kept = max(sums.passing, found.passing), max(sums.kept, found.kept)
                by_weight[weight] = weight, stratum, mass, replace(found, passing=passing, kept=all_kept)
            else:
                by_weight.append((weight, stratum, mass, replace(sums, wrong=0.0, variance=0.0, largest=0.0)))
        return CircuitTotals(
            kept=kept.kept,
            wrong=wrong.wrong,
            exact_wrong=wrong.exact_wrong,
            variance=wrong.variance + rate**2 * kept.variance,
            largest=math.hypot(wrong.largest, rate * kept.largest),
            rest=wrong.rest,
            rest_passing=wrong.rest_passing,
            by_weight=tuple(by_weight),
        )

    def interval(self, circuit: int, coverage: float) -> tuple[float, float]:
        """Limits for the logical error rate."""
        unknown = self._most_of_unknown(circuit)
        by_weight = self.wrong.totals(circuit).by_weight
        largest = max(unknown.get(weight, sums.largest) for weight, _, _, sums in by_weight)
        fewest, most = self.kept.interval_of_wrong(circuit, coverage)
        low, high = self.wrong.interval_of_wrong(circuit, coverage, largest)
        return low / most if most else 0.0, high / fewest if fewest else 1.0

    def error_patterns(self, circuit: int) -> dict[int, float]:
        """P(kept and the observable flipped)."""
        wrong = self.wrong.totals(circuit).wrong
        return {1: wrong} if wrong else {}

    def signatures(self, stratum: Stratum) -> int:
        """See ``Exploration``."""
        return (self.wrong if stratum in self.wrong.strata else self.kept).signatures(stratum)

    def malignant(self, stratum: Stratum) -> int:
        """See ``Exploration``."""
        return stratum.malignant(self.wrong.values) if stratum in self.wrong.strata else 0
