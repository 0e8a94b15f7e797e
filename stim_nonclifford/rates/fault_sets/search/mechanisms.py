"""The mechanisms of a plan as the search for fault sets takes them.

A fault set holds a mechanism or not; what matters are its *odds*, the probability that it acts against that
of nothing. A mechanism with rate λ acts an odd number of times with probability q = (1 - exp(-2λ)) / 2, so
its odds are q / (1 - q) = tanh λ. Of a site with total rate Λ only the first event counts: choice c has the
probability (λ_c / Λ)(1 - exp(-Λ)), nothing has exp(-Λ), so that its odds are (λ_c / Λ)(exp(Λ) - 1), and a set
holds at most one choice.

Coins flip bits of a shot with probability 1/2. Where they flip checks, only some of their tosses can pass
them: a Gaussian elimination removes such coins together with as many checks, for a factor of 1/2 each.
The other coins remain; the outcome laws are averaged over their tosses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...._native import FaultSetStudy, certain_checks
from ....base.arrays import Bools, Floats, Words, bits_of_words, words_of_bits
from ....simulation.plan import SamplingPlan, choices_of_sites, plain_attributes
from ...estimation.limits import PART_FOR_PAIRS

MAX_WEIGHT = 64
"""Larger sets are neither enumerated nor sampled; the native code has the same limit."""


@dataclass(frozen=True)
class Mechanisms:
    """What the search needs of a plan of M mechanisms. Effects are words of signature, then outputs."""

    checks: Bools  # shape (M, checks): what each mechanism flips, without checks that coins randomize
    target: Bools  # shape (checks,): what a fault set must flip for a shot to be kept
    effects: Words  # shape (M, words): signature and outputs that each mechanism flips
    coins: Words  # shape (num_coins, words): what the remaining coins flip
    odds: Floats  # shape (M,)
    sites: npt.NDArray[np.int32]  # shape (M,): at most one mechanism of a site >= 0 is in a set
    nothing: float  # probability that no mechanism acts
    coin_factor: float  # probability that the tosses of the removed coins pass their checks
    base: Words  # shape (words,): the effect of the empty set

    @property
    def odds_of_members(self) -> list[float]:
        """The odds of whatever a set may hold at most once: a free mechanism, or any choice of a site."""
        sites = np.unique(self.sites[self.sites >= 0])
        of_sites = (float(self.odds[self.sites == site].sum()) for site in sites)
        return [*self.odds[self.sites < 0].tolist(), *of_sites]

    def masses(self, max_weight: int) -> Floats:
        """The sum of the odds of all sets of each weight up to one: elementary symmetric polynomials."""
        masses = np.zeros(max_weight + 1)
        masses[0] = 1
        for odds in self.odds_of_members:
            masses[1:] += odds * masses[:-1]
        return masses

    def with_flipped_observable(self) -> Mechanisms:
        """The mechanisms with the only observable as one more check, which a fault set must flip."""
        flips = (self.effects[:, -1] & np.uint64(1)).astype(np.bool_)
        is_flipped = bool(self.base[-1] & np.uint64(1))
        checks, target = np.hstack([self.checks, flips[:, None]]), np.append(self.target, not is_flipped)
        return replace(self, checks=checks, target=target)


def decided_by_faults(plan: SamplingPlan, mechanisms: Mechanisms) -> bool:
    """Whether the faults of a shot decide if it is kept, and if its only observable is flipped."""
    has_outcomes = plan.num_signature_bits or plan.num_outcomes or plan.peak_width
    return not has_outcomes and plan.num_outputs == 1 and not len(mechanisms.coins)


def mechanisms_of(plan: SamplingPlan) -> Mechanisms:
    """The mechanisms of a plan, with coins removed from its checks; some shot must be kept."""
    if plan.never_kept:
        raise ValueError("No shot is ever kept: the postselected detectors contradict each other.")
    constant = np.zeros(plan.num_row_bits, dtype=np.bool_)
    constant[plan.constant] = True
    certain, targets, of_outputs = _certain_checks(plan)
    flipped = [plan.effects.dense(plan.num_row_bits), plan.coins.dense(plan.num_row_bits), constant[None]]
    checks = [_overlaps(flips[:, plan.num_checks :], certain) for flips in flipped]
    if of_outputs is not None:  # what a signature flips is known, and the law of signature 0 stands for all
        for flips in flipped:
            signatures = flips[:, plan.num_checks : plan.num_row_bits - plan.num_outputs]
            flips[:, plan.num_row_bits - plan.num_outputs :] ^= _overlaps(signatures, of_outputs)
            signatures[:] = False
    rows, coins = (np.hstack(parts) for parts in zip(checks[:2], flipped[:2], strict=True))
    constant = np.concatenate([targets ^ checks[2][0], constant])
    num_checks = len(certain) + plan.num_checks
    removed = 0
    while True:
        flipping = np.flatnonzero(coins[:, :num_checks].any(axis=1))
        if not len(flipping):
            break
        coin = coins[flipping[0]].copy()
        check = int(np.flatnonzero(coin)[0])
        # The toss of this coin is what passes the check: what flips the check flips the coin, too.
        rows[rows[:, check]] ^= coin
        coins[coins[:, check]] ^= coin
        if constant[check]:
            constant ^= coin
        removed += 1
    coins = _without_redundant(coins[:, num_checks:])
    effects = rows[:, num_checks:].copy()
    for coin in coins:  # sets that differ by coins only have one effect
        effects[effects[:, np.argmax(coin)]] ^= coin
    odds, nothing = _odds(plan)
    return Mechanisms(
        checks=rows[:, :num_checks],
        target=constant[:num_checks],
        effects=_packed(effects, plan.num_signature_bits),
        coins=_packed(coins, plan.num_signature_bits),
        odds=odds,
        sites=plan.sites,
        nothing=nothing,
        coin_factor=0.5**removed,
        base=_packed(constant[None, num_checks:], plan.num_signature_bits)[0],
    )


def _certain_checks(plan: SamplingPlan) -> tuple[Bools, Bools, Bools | None]:
    """Parities of signature bits that decide on sums of outcome checks, and those of a kept shot.

    The third are those that flip the outputs of kept shots, if a signature decides on all outcomes.
    """
    found = certain_checks(plain_attributes(plan))

    def bits(name: str, count: int) -> Bools:
        words = found[name].reshape(count, -(-plan.num_signature_bits // 64))
        return bits_of_words(words, plan.num_signature_bits)

    targets, outputs = found["targets"].astype(np.bool_), found["output_values"]
    all_found = len(targets) == plan.num_outcome_checks and len(outputs) == plan.num_outputs > 0
    is_plain = all_found and not targets.any() and not outputs.any()
    of_outputs = bits("output_parities", len(outputs)) if is_plain and plan.num_outcome_checks else None
    return bits("parities", len(targets)), targets, of_outputs


def _overlaps(rows: Bools, sets: Bools) -> Bools:
    """Whether rows have an odd number of their first bits in common with sets, shape (rows, sets)."""
    return (rows[:, : sets.shape[1]].astype(np.float32) @ sets.astype(np.float32).T) % 2 == 1


def _odds(plan: SamplingPlan) -> tuple[Floats, float]:
    free = plan.sites < 0
    odds = np.tanh(plan.rates)
    nothing = -float(np.log1p(odds[free]).sum())  # ln of the product of 1 - q = 1 / (1 + odds)
    for choices, total in choices_of_sites(plan):
        odds[choices] = plan.rates[choices] / total * math.expm1(total)
        nothing -= total
    return odds, math.exp(nothing)


def _without_redundant(coins: Bools) -> Bools:
    """A basis of the coins, each with a leading bit that no other one has."""
    basis: list[Bools] = []
    for row in coins.copy():
        for other in basis:
            if row[np.argmax(other)]:
                row ^= other
        if row.any():
            for other in basis:
                if other[np.argmax(row)]:
                    other ^= row
            basis.append(row)
    return np.array(basis, dtype=np.bool_).reshape(len(basis), coins.shape[1])


def _packed(bits: Bools, num_signature_bits: int) -> Words:
    return np.hstack(
        [words_of_bits(bits[:, :num_signature_bits]), words_of_bits(bits[:, num_signature_bits:])]
    )


def native_search(plan: SamplingPlan, mechanisms: Mechanisms, threads: int, max_bytes: int) -> FaultSetStudy:
    """The native search for the fault sets of a plan; its table of pairs must fit into the memory."""
    return FaultSetStudy(
        plain_attributes(plan),
        words_of_bits(mechanisms.checks).ravel(),
        mechanisms.effects.ravel(),
        words_of_bits(mechanisms.target[None, :])[0],
        mechanisms.base,
        mechanisms.odds,
        np.ascontiguousarray(mechanisms.sites),
        mechanisms.coins.ravel(),
        min(MAX_WEIGHT, max(1, len(mechanisms.odds))),
        threads,
        max_bytes // PART_FOR_PAIRS,
        max_bytes,
    )
