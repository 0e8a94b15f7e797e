"""Strata: an accepted fault set, chosen among some, with any number of free faults beside it.

A state (S, F, ω) is a start set S, a set F of free faults, and the uniform random number ω that fixes coins
(uniformly random measurement outcomes) and quantum outcomes. If no fault sets are listed, S is empty, and all
faults are free.

**Numbers of faults**: conditional Poisson sampling.

Let w_j = q_j / (1 - q_j) be the odds of M independent faults. Exactly k of them act with the probability

    pi_k = e_k(w) / prod_j (1 + w_j),     e_k(w) = sum over sets F of k faults of prod_{j in F} w_j,

and then they are the set F with probability prod_{j in F} w_j / e_k(w) (S. X. Chen, A. P. Dempster, J. S.
Liu, Biometrika 81, 457, 1994). Sets are drawn exactly so, one member after the other: with E(i, r) = e_r(w_i,
w_i+1, ...), the first of r members that are still to come, all from index i on, is at least j with the
probability E(j, r) / E(i, r), which a binary search inverts.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ...base.arrays import Bools, Floats, Indices, Words
from ...base.errors import ResourceLimitError
from ...base.random_bits import GOLDEN, mixed
from ..decoded_rates.faults.mechanisms import FaultModel
from ..estimation.limits import DEFAULT_MAX_BYTES
from ..estimation.tally import padded


class FaultNumbers:
    """The fault sets of independent faults by the number of their members; odds are best in ascending order.

    Examples:
        >>> numbers = FaultNumbers(np.array([0.25, 1.0, 1.0]))
        >>> numbers.probabilities.round(6).tolist()
        [0.2, 0.45, 0.3, 0.05]
        >>> [(members.tolist(), weights.round(6).tolist()) for members, weights in numbers.listed(2)]
        [([[0, 1], [0, 2], [1, 2]], [0.05, 0.05, 0.2])]
    """

    def __init__(self, odds: Floats) -> None:
        self.odds = odds
        rates = odds / (1 + odds)
        self.mean = float(rates.sum())
        # Up to 12 standard deviations and 64 faults above the mean, beyond which there is less than 1e-30.
        most = min(len(odds), math.ceil(self.mean + 12 * math.sqrt(self.mean)) + 64)
        self.probabilities = _poisson_binomial(rates, most)
        self._none = math.exp(-float(np.log1p(odds).sum()))
        self._ends = np.append(0.0, np.cumsum(odds))
        self._tails = [np.ones(len(odds) + 1)]  # E(i, r) / E(0, r) for r = 0, 1, ...

    @property
    def most(self) -> int:
        """The largest number of faults in ``probabilities``."""
        return len(self.probabilities) - 1

    def drawn(self, number: int, count: int, rng: np.random.Generator) -> Indices:
        """Independent sets of exactly ``number`` faults: shape (count, number), ascending in each row."""
        members = np.zeros((count, number), dtype=np.intp)
        begin = np.zeros(count, dtype=np.intp)
        for place in range(number):
            tails = self._tails_of(number - place)
            least = tails[begin] * (1 - rng.random(count))
            members[:, place] = len(tails) - 1 - np.searchsorted(tails[::-1], least, side="left")
            begin = members[:, place] + 1
        return members

    def listed(self, number: int) -> Iterator[tuple[Indices, Floats]]:
        """All sets of ``number`` faults, shape (sets, number), in blocks, with their probabilities."""
        every = itertools.combinations(range(len(self.odds)), number)
        while block := list(itertools.islice(every, 1 << 14)):
            members = np.array(block, dtype=np.intp).reshape(len(block), number)
            yield members, self._none * self.odds[members].prod(axis=1)

    def odds_outside(self, sets: Indices) -> Floats:
        """The sums of the odds of the faults outside each set: shape (sets,)."""
        outside = self._ends[-1] - self.odds[sets].sum(axis=1)
        for place in np.flatnonzero(outside < 1e-6 * self._ends[-1]).tolist():  # the difference lost digits
            outside[place] = np.delete(self.odds, sets[place]).sum()
        return np.asarray(outside)

    def outside(self, sets: Indices, rng: np.random.Generator) -> Indices:
        """A fault outside each set, whose members are ascending, drawn by its odds: shape (sets,)."""
        found = np.zeros(len(sets), dtype=np.intp)
        waiting = np.arange(len(sets))
        while len(waiting):  # hardly ever a second time: where rounding leads to a member
            mine = sets[waiting]
            point = rng.random(len(mine)) * self.odds_outside(mine)
            for member in mine.T:
                point += np.where(point >= self._ends[member], self.odds[member], 0.0)
            drawn = np.searchsorted(self._ends[1:], point, side="right")
            found[waiting] = np.minimum(drawn, len(self.odds) - 1)
            waiting = waiting[(mine == found[waiting][:, np.newaxis]).any(axis=1)]
        return found

    def _tails_of(self, number: int) -> Floats:
        if (number + 1) * self._tails[0].nbytes > DEFAULT_MAX_BYTES // 2:
            raise ResourceLimitError(
                f"{len(self.odds):,} error mechanisms, of which {self.mean:.3g} act in a shot, are too many"
                " for a sum over numbers of faults. Count errors with SoftDecodingSampler."
            )
        while len(self._tails) <= number:
            terms = self.odds * self._tails[-1][1:]
            tails = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
            self._tails.append(tails / tails[0])
        return self._tails[number]


def _poisson_binomial(probabilities: Floats, most: int) -> Floats:
    """The distribution of the number of faults: the polynomials 1 - q + q x are multiplied in pairs."""
    factors = np.stack([1 - probabilities, probabilities], axis=1)
    if not len(factors):
        return np.ones(1)
    while len(factors) > 1:
        if len(factors) % 2:
            one = np.zeros((1, factors.shape[1]))
            one[0, 0] = 1
            factors = np.vstack([factors, one])
        first, second = factors[::2], factors[1::2]
        length = first.shape[1]
        product = np.zeros((len(first), 2 * length - 1))
        for k in range(length):
            product[:, k : k + length] += first[:, k, np.newaxis] * second
        factors = product[:, : most + 1]
    found = np.zeros(most + 1)
    found[: factors.shape[1]] = factors[0, : most + 1]
    return found


class Batch:
    """A dataclass for several items, whose fields are arrays with an entry for each item, or batches."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def taken(self: AnyBatch, places: Indices | Bools) -> AnyBatch:
        """Some of the items."""
        fields = (
            each.taken(places) if isinstance(each, Batch) else each[places] for each in vars(self).values()
        )
        return type(self)(*fields)

    @classmethod
    def joined(cls: type[AnyBatch], parts: Sequence[AnyBatch]) -> AnyBatch:
        """The items of several batches."""
        columns = zip(*(vars(each).values() for each in parts), strict=True)
        return cls(
            *(
                np.concatenate(each) if isinstance(each[0], np.ndarray) else type(each[0]).joined(each)
                for each in columns
            )
        )


AnyBatch = TypeVar("AnyBatch", bound=Batch)


@dataclass
class FaultStates(Batch):
    """Fault sets, each with the number that fixes its coins and quantum outcomes."""

    sets: Indices  # shape (states, room): indices into ``Stratum.faults``, ascending, then -1
    rows: Words  # shape (states, words): what the start set, the faults and the coins flip
    numbers: Words  # shape (states,): the numbers ω

    @property
    def size(self) -> int:
        """The room for faults: the number of faults of each state, if all have equally many."""
        return self.sets.shape[1]

    @classmethod
    def joined(cls, parts: Sequence[FaultStates]) -> FaultStates:
        """The states of several batches."""
        room = max(each.size for each in parts)
        return super().joined([replace(each, sets=padded(each.sets, room)) for each in parts])


@dataclass
class Weighted:
    """A block of enumerated fault sets, with all coins and quantum outcomes."""

    rows: Words  # shape (shots, words): what each flips, with the outcomes
    weights: Floats  # shape (shots,): the probabilities
    owners: Indices  # shape (shots,): which of the sets with their coins each comes from
    bare: Words  # shape (sets, words): what these flip without the outcomes
    members: Indices  # shape (sets, room): their mechanisms, -1 for none


class Stratum:
    """Fault sets, of which one is chosen in each shot, with free faults, coins and quantum outcomes.

    The model has the free mechanisms; those with probability 1/2 are coins. The probability of the stratum
    may have a standard error. A start set is chosen in proportion to its mass, and its row, with the base of
    the model, says what it flips; by default there is one, the empty set. Strata of one model may share its
    numbers of faults.
    """

    def __init__(
        self,
        model: FaultModel,
        name: str = "all shots",
        probability: float = 1.0,
        error: float = 0.0,
        starts: Words | None = None,
        masses: Floats | None = None,
        numbers: FaultNumbers | None = None,
    ) -> None:
        self.model, self.name, self.probability = model, name, probability
        self.relative_error = error / probability if probability else 0.0
        order = np.argsort(model.log_odds, kind="stable")
        self.faults = order[model.log_odds[order] != 0]  # the free faults, the least probable first
        self.coins = np.flatnonzero(model.log_odds == 0)
        self.numbers = FaultNumbers(np.exp(model.log_odds[self.faults])) if numbers is None else numbers
        self._probabilities = self.numbers.odds / (1 + self.numbers.odds)
        # The last row is that of no fault, at index -1.
        self.flips = np.vstack([model.flips[self.faults], np.zeros_like(model.base)])
        self._starts = model.base[np.newaxis] if starts is None else starts
        masses = np.ones(1) if masses is None else masses
        self._shares = masses / masses.sum()
        self._ends = np.cumsum(self._shares)

    def size(self, number: int) -> float:
        """About how many shots cost as much as all states with so many free faults; infinite: too many."""
        outcomes = self.model.outcomes
        if number == 0 and self._is_certain:
            return 1.0
        if outcomes is not None and not outcomes.can_be_summed:
            return math.inf
        sets = math.comb(len(self.faults), number) * len(self._starts) << len(self.coins)
        if sets.bit_length() > sys.float_info.max_exp - 8:
            return math.inf
        if outcomes is None:
            return float(sets)
        shots = float(sets) * outcomes.most_choices**number
        return shots + outcomes.cost_of_law * float(min(sets, 1 << outcomes.num_signature_bits))

    @property
    def _is_certain(self) -> bool:
        """Whether neither outcomes nor coins change anything in a shot without faults."""
        outcomes = self.model.outcomes
        return outcomes is not None and outcomes.is_certain_without_faults and len(self._starts) == 1

    def drawn(self, least: int, most: int, count: int, rng: np.random.Generator) -> FaultStates:
        """Independent states with at least and at most so many free faults, in a random order."""
        if (least, most) == (0, self.numbers.most):
            sets = self._independent(count, rng)
        elif least == most:
            sets = self.numbers.drawn(least, count, rng)
        else:
            shares = self.numbers.probabilities[least : most + 1]
            number_of = least + rng.choice(len(shares), count, p=shares / shares.sum())
            sets = np.full((count, int(number_of.max(initial=0))), -1, dtype=np.intp)
            for number in np.unique(number_of).tolist():
                which = np.flatnonzero(number_of == number)
                sets[which, :number] = self.numbers.drawn(number, len(which), rng)
        return self.states(sets, rng)

    def states(self, sets: Indices, rng: np.random.Generator) -> FaultStates:
        """States of sets of free faults, with random start sets, coins and quantum outcomes."""
        return self._with_numbers(sets, self._random_numbers(len(sets), rng))

    def _random_numbers(self, count: int, rng: np.random.Generator) -> Words:
        if len(self.coins) or len(self._starts) > 1 or self.model.outcomes is not None:
            return rng.integers(1 << 64, size=count, dtype=np.uint64)
        return np.zeros(count, dtype=np.uint64)

    def _with_numbers(self, sets: Indices, numbers: Words) -> FaultStates:
        """States of sets of free faults, and of numbers that fix start sets, coins and quantum outcomes."""
        chosen = np.zeros(len(sets), dtype=np.intp)
        if len(self._starts) > 1:
            points = mixed(numbers ^ np.uint64(GOLDEN)) * 2.0**-64
            chosen = np.searchsorted(self._ends, points * self._ends[-1], side="right")
            chosen = np.minimum(chosen, len(self._starts) - 1)
        rows = self._starts[chosen]
        for column in sets.T:
            rows ^= self.flips[column]
        for coin, shows in zip(self.coins.tolist(), self.coin_bits(numbers).T, strict=True):
            rows[shows] ^= self.model.flips[coin]
        return FaultStates(sets, rows, numbers)

    def _independent(self, count: int, rng: np.random.Generator, part: float = 1.0) -> Indices:
        """Independent sets of free faults, each of which acts with a part of its probability.

        A fault acts a Poisson number of times, and counts if that is odd: with the mean -ln(1 - 2q) / 2 that
        has the probability q. So all faults of a shot are as many draws from one table as their sum has.
        """
        rates = part * self._probabilities
        ends = np.cumsum(-0.5 * np.log1p(-2 * rates))
        numbers = rng.poisson(ends[-1] if len(ends) else 0.0, count)
        events = np.searchsorted(ends, rng.random(int(numbers.sum())) * ends[-1], side="right")
        sets = np.full((count, int(numbers.max(initial=0))), -1, dtype=np.intp)
        sets[np.arange(sets.shape[1]) < numbers[:, np.newaxis]] = np.minimum(events, len(ends) - 1)
        sets = _ascending(sets)
        while (is_pair := (sets[:, 1:] == sets[:, :-1]) & (sets[:, 1:] >= 0)).any():
            # Of three equal ones, the first two are a pair.
            is_pair[:, 1:] &= ~is_pair[:, :-1]
            row, place = np.nonzero(is_pair)
            sets[row, place] = sets[row, place + 1] = -1
            sets = _ascending(sets)
        return sets

    def moved(self, states: FaultStates, part: float, rng: np.random.Generator) -> FaultStates:
        """States of which each fault, and the number, is drawn anew with a probability.

        The distribution of all states is that of the noise before and after, and the move is reversible.
        """
        # A fault j stays with (1 - part) + part q_j: it is not removed, or it is drawn again.
        stays = (1 - part) / (1 - part * np.append(self._probabilities, 0.0)[states.sets])
        left = np.where(rng.random(states.sets.shape) < stays, states.sets, -1)
        sets = _ascending(np.hstack([left, self._independent(len(states), rng, part)]))
        sets[:, 1:][sets[:, 1:] == sets[:, :-1]] = -1
        sets = _ascending(sets)
        sets = sets[:, : int((sets >= 0).sum(axis=1).max(initial=0))]
        is_new = rng.random(len(states)) < part
        return self._with_numbers(
            sets, np.where(is_new, self._random_numbers(len(states), rng), states.numbers)
        )

    def coin_bits(self, numbers: Words) -> Bools:
        """The coins that numbers ω fix, bits of SplitMix64: shape (numbers, coins)."""
        steps = np.arange(1, len(self.coins) + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        return np.asarray(mixed(numbers[:, np.newaxis] + steps) & np.uint64(1), dtype=np.bool_)

    def listed(self, number: int) -> Iterator[Weighted]:
        """All states with a number of free faults, of finite size, in blocks with their probabilities."""
        if number == 0 and self._is_certain:
            any_state = self._with_numbers(np.zeros((1, 0), dtype=np.intp), np.zeros(1, dtype=np.uint64))
            rows = self.model.with_outcomes(any_state.rows, any_state.numbers)
            share = np.array([self.probability * self.numbers.probabilities[0]])
            yield Weighted(rows, share, np.zeros(1, dtype=np.intp), any_state.rows, any_state.sets)
            return
        coins = np.arange(1 << len(self.coins))[:, np.newaxis] >> np.arange(len(self.coins)) & 1 == 1
        starts = np.repeat(self._starts, len(coins), axis=0)
        for coin, shows in zip(self.coins.tolist(), coins.T, strict=True):
            starts[np.tile(shows, len(self._starts))] ^= self.model.flips[coin]
        shares = self.probability * np.repeat(self._shares, len(coins)) / len(coins)
        thrown = np.tile(np.where(coins, self.coins, -1), (len(self._starts), 1))
        for sets, probabilities in self.numbers.listed(number):
            at_once = max(1, len(sets) // len(starts))
            for begin in range(0, len(sets), at_once):
                some = sets[begin : begin + at_once]
                flips = flips_of_sets(self.flips, some)
                bare = (flips[:, np.newaxis] ^ starts).reshape(-1, starts.shape[1])
                masses = np.outer(probabilities[begin : begin + at_once], shares).ravel()
                faults = np.repeat(self.faults[some], len(starts), axis=0)
                owners, outcomes, rows = self.model.with_all_outcomes(bare)
                members = np.hstack([faults, np.tile(thrown, (len(some), 1))])
                yield Weighted(rows, masses[owners] * outcomes, owners, bare, members)

    def members(self, states: FaultStates) -> Indices:
        """The mechanisms of states, coins included: shape (states, room), -1 for none."""
        coins = np.where(self.coin_bits(states.numbers), self.coins, -1)
        return np.hstack([np.append(self.faults, -1)[states.sets], coins])


def flips_of_sets(flips: Words, members: Indices) -> Words:
    """What sets flip: ``flips`` has a row for each mechanism, and one for the empty set at its end."""
    rows = np.repeat(flips[-1:], len(members), axis=0)
    for column in members.T:
        rows ^= flips[column]
    return rows


def _ascending(sets: Indices) -> Indices:
    """The members of each row in ascending order, then -1."""
    return np.sort(sets.view(np.uintp), axis=1).view(np.intp)
