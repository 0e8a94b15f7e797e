"""Logical error rates of decoded circuits: the one driver, whatever the stratification.

The rate per accepted shot with at least a gap g is Y(g) / K(g), sums over strata S and over the number k of
free faults beside them,

    Y(g) = sum over S, k of P(S) pi_k P(wrong, gap >= g | S, k),

and K(g) without "wrong". Without a gap and without postselection, K is 1.

* **Strata.** All shots are one stratum, of which all mechanisms are free. If detectors are postselected, and
  that takes many shots, accepted fault sets are listed and make strata (``partition``).
* **Parts.** Each number k of free faults with few fault sets is a part, and all larger ones are another.
* **Samplers.** A part is enumerated once that takes about as many shots as are wanted of it; before, its
  shots are drawn directly. Where very many are needed, a sampler of rare failures takes over: backward
  deletion if all shots are accepted and have no gap; if they have one, splitting, for wrong shots from some
  gap on.
* **Allocation.** One loop draws from the part whose variance falls most for its cost (``estimation``), until
  the rate is known at all gaps that can be reached. How many shots a gap still needs is known beforehand:

      N(g) = sum over parts i of min(sets of i, f_i n_i + P_i / (eps Y)),

  where f_i n_i are the shots that a variance of (eps Y)² takes, and eps is the relative error that is asked
  for. A gap that needs too many ends the curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ...base.errors import ResourceLimitError
from ..estimation.allocation import Contributions, allocate
from ..estimation.interval import Sums
from ..estimation.limits import Deadline, Settings, TimeIsOver
from ..results import LogicalErrorRate
from ..samplers.strata import Stratum
from ..samplers.undetected_sets import MOST_MEMBERS
from .faults.mechanisms import fault_model, seed_words
from .partition import MOST_TIME, Partition, partition, probability_of_no_member
from .parts import MOST_AT_ONCE, Part, Parts
from .questions import DecodingProblem
from .refinements import FIRST_SHOTS, MANY_SHOTS, refinement
from .result import result_of

_MOST_SHOTS = 1 << 22
"""A search without a limit on the time ends after about so many shots, unless all are accepted. Doubled, one
that cannot succeed takes twice as long."""

_LISTED_FROM = 1 << 20
"""If more shots are needed, accepted sets are listed; and so many without a failure end the search for one.
Doubled, some questions take twice as long."""

_MOST_TIMES = math.exp(MOST_MEMBERS / 2)
"""Accepted sets are listed if accepted shots are at most so many times as likely as those in which nothing
flips a postselected detector: if their numbers of members have a Poisson distribution, its mean is at most
half of the members that listed sets have at most, and these have 95% of it."""


def decoded_rate(
    asked: DecodingProblem, settings: Settings, deadline: Deadline, listed_from: int = _LISTED_FROM
) -> LogicalErrorRate:
    """The logical error rate of a circuit with a decoder, per accepted shot.

    If more than ``listed_from`` shots are needed, accepted fault sets are listed; at once if it is 0. Refused
    is what cannot be said in the time that there is, and a rate of which nothing was found.
    """
    mask = tuple(np.flatnonzero(asked.postselected).tolist())
    models = [fault_model(each, mask) for each in (asked.symptoms, *asked.further)]
    every = [
        Stratum(model, "all shots" if len(models) == 1 else f"branch {k}")
        for k, model in enumerate(models, start=1)
    ]
    model = models[0]
    seeds = np.random.SeedSequence(seed_words(model, settings.seed)).spawn(3)

    def search_of(shots: Partition, own: np.random.SeedSequence) -> Search:
        return Search(Parts(asked, shots, settings.relative_error, deadline, own), settings.report)

    search: Search | None = None
    shots_needed = 0.0
    if asked.weight is None and listed_from:
        search = search_of(Partition(tuple(every)), seeds[0])
        may_list = bool(model.postselected.any()) and model.num_mechanisms > 0
        may_list &= model.outcomes is None or model.outcomes.can_be_divided
        if search.run(listed_from if may_list else _MOST_SHOTS) or not may_list:
            return result_of(search.parts)
        accepted, shots_needed = search.outlook()
        if accepted > _MOST_TIMES * probability_of_no_member(asked):
            search.run(_MOST_SHOTS)
            return result_of(search.parts)
    limit = deadline if search is None else deadline.part(MOST_TIME)
    try:
        found = partition(asked, settings.relative_error, np.random.default_rng(seeds[1]), limit)
        leaves_too_much = found.unlisted_part(0) > settings.relative_error
        if search is None or not leaves_too_much or shots_needed > _MOST_SHOTS:
            of_sets = search_of(found, seeds[2])
            of_sets.run(_MOST_SHOTS)
            return result_of(of_sets.parts)
    except (ResourceLimitError, TimeIsOver) as error:
        if search is None:
            if isinstance(error, ResourceLimitError):
                raise
            raise ResourceLimitError(
                f"max_seconds={deadline.max_seconds:g} ended the search while accepted fault sets were being"
                " listed. Allow several times as much, or count errors with the sampler"
                " soft_desaturated_gap."
            ) from None
    search.run(_MOST_SHOTS)
    return result_of(search.parts)


class Search:
    """Draws and enumerates parts until the rate is known at all gaps that can be reached."""

    def __init__(self, parts: Parts, report: Callable[[str], None]) -> None:
        self.parts, self._report = parts, report
        report(f"{len(parts.strata)} strata, {len(parts.every)} parts")

    def run(self, most_shots: int) -> bool:
        """Works until errors are as asked for, or time is over; whether there is nothing more to do.

        Gaps that need more than ``most_shots`` are left aside.
        """
        parts = self.parts
        try:
            if sum(each.sampler.size for each in parts.every) <= MANY_SHOTS:
                for each in parts.every:
                    parts.enumerate(each)
            for each in sorted(parts.every, key=lambda each: -each.sampler.probability):
                if not each.sampler.tally.samples:
                    self._draw(each, FIRST_SHOTS)
            allocate(partial(self._contributions, most_shots), self._take)
        except TimeIsOver:
            sampled = sum(bool(each.sampler.tally.samples) for each in parts.every)
            if sampled < len(parts.every) and not parts.accepts_all:
                raise ResourceLimitError(
                    f"max_seconds={parts.deadline.max_seconds:g} ended the search when {sampled} of"
                    f" {len(parts.every)} parts of all fault sets had been sampled. Allow several times as"
                    " much, or count errors with SoftDecodingSampler."
                ) from None
            return True
        return bool((parts.sums(parts.gaps()).relative_errors <= parts.wanted).all())

    def _contributions(self, most_shots: int) -> Contributions | None:
        """What parts contribute to the error at the gap that is next; None: there is no such gap.

        A stratum that needs very many shots gets another sampler before.
        """
        parts = self.parts
        while True:
            sums = parts.sums(gaps := parts.gaps())
            if (place := self._next_gap(sums, most_shots)) is None:
                return None
            self._show(sums, place, int(gaps[place]))
            refine = refinement(parts, sums, place) if most_shots == _MOST_SHOTS else None
            if refine is None:
                break
            refine()
        allowed = parts.wanted * max(float(sums.wrong[place]), 1e-100)
        squares = (sums.variances[:, place] + sums.unseen[:, place] ** 2) / allowed**2
        square = (sums.variances[:, place].sum() + sums.bounds[place] ** 2) / allowed**2
        return Contributions(squares, parts.costs, float(square) - 1)

    def _take(self, number: int, growth: float) -> None:
        """Draws so many times the shots that a part has."""
        chosen = self.parts.counted[number]
        shots = math.ceil(growth * chosen.sampler.tally.samples)
        self._draw(chosen, min(max(shots, FIRST_SHOTS), MOST_AT_ONCE))

    def _draw(self, part: Part, shots: int) -> None:
        """Draws so many shots, or enumerates the part. What was drawn when time is over is counted."""
        if part.sampler.size > shots:
            part.sampler.take(shots, part.rng)
        else:
            self.parts.enumerate(part)

    def outlook(self) -> tuple[float, float]:
        """The probability that a shot is accepted, as far as is known, and how many the rate needs, about."""
        sums = self.parts.sums(self.parts.gaps())
        return float(sums.accepted[0]), float(self.parts.needed(sums)[:, 0].sum())

    def _next_gap(self, sums: Sums, most_shots: int) -> int | None:
        """The gap that is not known yet and needs the fewest shots; None: none can be reached."""
        parts, is_limited = self.parts, self.parts.deadline.is_limited
        missing = np.flatnonzero(sums.relative_errors > parts.wanted)
        if not len(missing):
            return None
        if parts.accepts_all:
            return 0 if sums.wrong[0] or parts.taken <= _LISTED_FROM else None
        if parts.taken > most_shots and not (is_limited and most_shots == _MOST_SHOTS):
            return None
        needed = parts.needed(sums).sum(axis=0)[missing]
        place = int(missing[needed.argmin()])
        if needed.min() <= most_shots:
            return place
        if most_shots < _MOST_SHOTS:
            return None  # there is another way
        # At least one rate is to be known as well as may be.
        is_worth_it = place == 0 or is_limited
        return place if is_worth_it or refinement(parts, sums, place) is not None else None

    def _show(self, sums: Sums, place: int, gap: int) -> None:
        parts, at = self.parts, f" at gap {gap}" if self.parts.asked.confidence else ""
        rate = sums.wrong[place] / max(sums.accepted[place], 1e-300)
        self._report(
            f"{parts.taken:,} shots, {parts.decoded:,} decodes, {parts.deadline.seconds:.0f} s:"
            f" {rate:.3g} ± {sums.relative_errors[place]:.2g}{at}"
        )
