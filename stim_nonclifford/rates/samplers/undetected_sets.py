"""Undetected sets of mechanisms: those that flip none of some detectors together, all of them or draws.

Each mechanism has a key, a hash value of the detectors that it flips; a set is undetected if the keys of
its members sum up to a target. All pairs are listed. A set of three is a mechanism and a pair, one of four
is two pairs: where there are too many, they are drawn in proportion to the odds, by drawing first what the
keys of both parts are. Each set of three is drawn in 3 ways then, and each of four in 6.

A larger set begins with a pair, drawn in proportion to the odds of all pairs. What is left to do is known
then: of the other members, one must flip the first detector that is not as it should be. So mechanisms are
drawn among the few that flip it, until three are left, of which one flips the first detector again, and two
are a pair with a known key. A draw stands for the odds of all that could have been chosen, divided by the
number of ways in which its set could have been drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from ..decoded_rates.faults.mechanisms import Floats, Words

__all__ = ["MOST_MEMBERS", "Part", "UndetectedSets"]

Indices = npt.NDArray[np.intp]

MOST_MEMBERS = 6
"""The largest number of members. Doubled, no set would be drawn often enough."""

_MOST_LISTED = 1 << 20
"""Sets of one size that are listed, at most; more are drawn. Doubled, lists take twice the memory."""

_DRAWS = 1 << 15
"""Draws of sets of five and more members; sets of four have 8 times, sets of three 32 times as many, as they
are likelier and take less time. Doubled, masses have errors smaller by 1.4."""

_NONE = -1
_FILTER_BITS = 27


@dataclass(frozen=True)
class Part:
    """Undetected sets, listed or drawn.

    Attributes:
        members: intp, shape (sets, members).
        weights: float64, shape (sets,): the product of the odds; of drawn sets, the importance weight.
        is_drawn: Whether they were drawn.
    """

    members: Indices
    weights: Floats
    is_drawn: bool


class UndetectedSets:
    """The sets of mechanisms whose keys sum up to a target.

    Args:
        flips: bool, shape (mechanisms, detectors): what each flips.
        target: bool, shape (detectors,): what they flip together.
        odds: float64, shape (mechanisms,).
        rng: What sets are drawn with.
        check: Is called now and then; may raise to end the work.

    Raises:
        ResourceLimitError: There are too many mechanisms.

    Examples:
        >>> flips = np.array([[1, 0], [0, 1], [1, 1], [1, 0]], dtype=np.bool_)
        >>> target, odds = np.zeros(2, dtype=np.bool_), np.array([0.1, 0.2, 0.3, 0.4])
        >>> sets = UndetectedSets(flips, target, odds, np.random.default_rng(1), lambda: None)
        >>> [(part.members.tolist(), part.weights.round(3).tolist()) for part in sets.of_size(3)]
        [([[0, 1, 2], [1, 2, 3]], [0.006, 0.024])]
    """

    def __init__(
        self,
        flips: npt.NDArray[np.bool_],
        target: npt.NDArray[np.bool_],
        odds: Floats,
        rng: np.random.Generator,
        check: Callable[[], None],
    ) -> None:
        if len(flips) > 8192:
            raise ResourceLimitError(
                f"{len(flips):,} error mechanisms flip postselected detectors or signs of rotations. Sets of"
                f" them can be listed if they are at most {8192:,}."
            )
        self._flips, self._odds, self._rng, self._check = flips, odds, rng, check
        self._target = target
        # Linear hash values.
        of_detector = rng.integers(1, 1 << 64, size=len(target), dtype=np.uint64)
        self._keys: Words = np.asarray(np.bitwise_xor.reduce(np.where(flips, of_detector, 0), axis=1))
        self._target_key = np.bitwise_xor.reduce(of_detector[target], initial=np.uint64(0))

    def of_size(self, size: int) -> Iterator[Part]:
        """The sets of so many members, at most ``MOST_MEMBERS``."""
        if size == 0:
            if not self._target.any():
                yield Part(np.zeros((1, 0), dtype=np.intp), np.ones(1), False)
        elif size == 1:
            members = np.flatnonzero(self._keys == self._target_key)[:, np.newaxis]
            yield Part(members, self._odds[members[:, 0]], False)
        elif size == 2:
            low, high = self._pairs.places(np.array([self._target_key]))
            members = self._pairs.members(_ranges(low, high))
            yield Part(members, self._odds[members].prod(axis=1), False)
        elif size == 3:
            yield from self._triples()
        elif size == 4:
            yield from self._fours()
        else:
            yield from self._larger(size)

    def are_silent(self, members: Indices) -> npt.NDArray[np.bool_]:
        """Which of some sets leave the detectors silent: bool, shape (sets,).

        Args:
            members: intp, shape (sets, members).
        """
        return np.asarray(np.bitwise_xor.reduce(self._keys[members], axis=1) == self._target_key)

    @cached_property
    def _pairs(self) -> _Pairs:
        return _Pairs(self._keys, self._odds)

    def _triples(self) -> Iterator[Part]:
        low, high = self._pairs.places(self._keys ^ self._target_key)
        if (high - low).sum() <= 3 * _MOST_LISTED:
            owners = np.repeat(np.arange(len(low)), high - low)
            pairs = self._pairs.members(_ranges(low, high))
            members = np.hstack([owners[:, np.newaxis], pairs])[owners < pairs[:, 0]]
            yield Part(members, self._odds[members].prod(axis=1), False)
            return
        shares = self._odds * self._pairs.sums(low, high)
        first = _chosen(shares, 32 * _DRAWS, self._rng)
        pairs = self._pairs.drawn(low[first], high[first], self._rng)
        yield self._drawn(np.hstack([first[:, np.newaxis], pairs]), float(shares.sum()) / (96 * _DRAWS))

    def _fours(self) -> Iterator[Part]:
        pairs = self._pairs
        starts, ends = pairs.starts[:-1], pairs.starts[1:]
        low, high = pairs.places(pairs.keys ^ self._target_key)
        first_of, last_of = (np.repeat(each, ends - starts) for each in (low, high))
        numbers = np.maximum(last_of - np.maximum(first_of, np.arange(1, len(first_of) + 1)), 0)
        if numbers.sum() <= 3 * _MOST_LISTED:
            first = np.flatnonzero(numbers)
            one = pairs.members(np.repeat(first, numbers[first]))
            other = pairs.members(_ranges((last_of - numbers)[first], last_of[first]))
            # Of the three ways to divide a set, the one in which a pair has both of the smallest members.
            is_chosen = (one[:, 1] < other[:, 0]) | (other[:, 1] < one[:, 0])
            members = np.sort(np.hstack([one, other])[is_chosen], axis=1)
            yield Part(members, self._odds[members].prod(axis=1), False)
            return
        shares = pairs.sums(starts, ends) * pairs.sums(low, high)
        if not shares.sum():
            return
        self._check()
        group = _chosen(shares, 8 * _DRAWS, self._rng)
        one = pairs.drawn(starts[group], ends[group], self._rng)
        other = pairs.drawn(low[group], high[group], self._rng)
        yield self._drawn(np.hstack([one, other]), float(shares.sum()) / (48 * _DRAWS))

    def _larger(self, size: int) -> Iterator[Part]:
        pairs, count = self._pairs, _DRAWS
        if not pairs.total:
            return
        members = pairs.drawn(np.zeros(count, dtype=np.intp), np.full(count, pairs.starts[-1]), self._rng)
        weights = np.full(count, pairs.total / count)
        while True:
            left = np.logical_xor.reduce(self._flips[members], axis=1) ^ self._target  # for the others to do
            first = np.where(left.any(axis=1), left.argmax(axis=1), _NONE)
            draw = self._next if members.shape[1] < size - 3 else self._last_three
            found = []
            for detector in np.unique(first).tolist():
                near = self._flipping(detector)
                which = np.flatnonzero(first == detector)
                for some in np.array_split(which, -(-len(which) * len(near) // (1 << 20)) or 1):
                    self._check()
                    others, odds, drawn = draw(near, members[some])
                    some = some[drawn]
                    found.append((np.hstack([members[some], others]), weights[some] * odds))
            members, weights = (np.concatenate(each) for each in zip(*found, strict=True))
            if members.shape[1] == size:
                break
        part = self._distinct(members, weights)
        ways = _ways(self._flips[part.members], self._target)
        yield replace(part, weights=part.weights / ways)

    def _flipping(self, detector: int) -> Indices:
        """The mechanisms that flip a detector; all of them if there is none that must be flipped."""
        return np.arange(len(self._keys)) if detector == _NONE else np.flatnonzero(self._flips[:, detector])

    def _next(self, near: Indices, members: Indices) -> tuple[Indices, Floats, Indices]:
        """One more member of sets, from ``near``; returns as ``_last_three``."""
        count = len(members) if len(near) else 0
        odds = self._odds[near]
        chosen = _chosen(odds, count, self._rng) if count else np.zeros(0, dtype=np.intp)
        return near[chosen][:, np.newaxis], np.full(count, odds.sum()), np.arange(count)

    def _last_three(self, near: Indices, members: Indices) -> tuple[Indices, Floats, Indices]:
        """A mechanism of ``near`` and a pair that complete sets.

        Returns:
            The three; the odds of all that could be; and of which sets.
        """
        goals = np.bitwise_xor.reduce(self._keys[members], axis=1) ^ self._target_key
        low, high = self._pairs.places(goals[:, np.newaxis] ^ self._keys[near])
        sums = (self._odds[near] * self._pairs.sums(low, high)).cumsum(axis=1)
        some = np.flatnonzero(sums[:, -1] > 0) if len(near) else np.zeros(0, dtype=np.intp)
        totals = sums[some, -1] if len(near) else np.zeros(0)
        at = self._rng.random(len(some)) * totals
        chosen = np.minimum((sums[some] <= at[:, np.newaxis]).sum(axis=1), len(near) - 1)
        pairs = self._pairs.drawn(low[some, chosen], high[some, chosen], self._rng)
        return np.hstack([near[chosen][:, np.newaxis], pairs]), totals, some

    def _drawn(self, members: Indices, weight: float) -> Part:
        return self._distinct(members, np.full(len(members), weight))

    @staticmethod
    def _distinct(members: Indices, weights: Floats) -> Part:
        members = np.sort(members, axis=1)
        is_set = (members[:, 1:] != members[:, :-1]).all(axis=1)
        return Part(members[is_set], weights[is_set], True)


class _Pairs:
    """All pairs, ordered by their keys.

    Attributes:
        keys: uint64, shape (keys,): those that some pair has, ascending.
        starts: intp, shape (keys + 1,): from where to where the pairs with each key stand.
        weights: float64, shape (pairs,): the product of the odds.
        total: The sum of all weights.
    """

    def __init__(self, keys: Words, odds: Floats) -> None:
        first, second = (each.astype(np.int32) for each in np.triu_indices(len(keys), 1))
        found = keys[first] ^ keys[second]
        order = np.argsort(found, kind="stable")
        found = found[order]
        self._first, self._second = first[order], second[order]
        is_first = np.append(True, found[1:] != found[:-1])[: len(found)]
        self.keys = found[is_first]
        self.starts = np.append(np.flatnonzero(is_first), len(found))
        self._filter = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        self._filter[self.keys >> np.uint64(64 - _FILTER_BITS)] = True
        self.weights = odds[self._first] * odds[self._second]
        self._sums = np.concatenate([[0.0], np.cumsum(self.weights)])
        self.total = float(self._sums[-1])

    def places(self, keys: Words) -> tuple[Indices, Indices]:
        """From where to where the pairs with given keys stand; twice 0 if there are none."""
        low, high = np.zeros((2, *keys.shape), dtype=np.intp)
        some = np.nonzero(self._filter[keys >> np.uint64(64 - _FILTER_BITS)])
        at = np.minimum(np.searchsorted(self.keys, keys[some]), len(self.keys) - 1)
        is_key = self.keys[at] == keys[some]
        low[some] = np.where(is_key, self.starts[at], 0)
        high[some] = np.where(is_key, self.starts[at + 1], 0)
        return low, high

    def sums(self, low: Indices, high: Indices) -> Floats:
        """The sums of the weights of ranges."""
        return np.where(high > low, self._sums[high] - self._sums[low], 0.0)

    def members(self, places: Indices) -> Indices:
        """The members of pairs: intp, shape (pairs, 2), ascending."""
        return np.stack([self._first[places], self._second[places]], axis=1).astype(np.intp)

    def drawn(self, low: Indices, high: Indices, rng: np.random.Generator) -> Indices:
        """The members of one pair of each range, in proportion to the weights."""
        at = self._sums[low] + rng.random(len(low)) * (self._sums[high] - self._sums[low])
        return self.members(np.clip(np.searchsorted(self._sums, at, side="right") - 1, low, high - 1))


def _chosen(shares: Floats, count: int, rng: np.random.Generator) -> Indices:
    sums = np.cumsum(shares)
    return np.minimum(np.searchsorted(sums, rng.random(count) * sums[-1], side="right"), len(shares) - 1)


def _ranges(low: Indices, high: Indices) -> Indices:
    """low[0], ..., high[0] - 1, low[1], ..."""
    numbers = high - low
    ends = np.cumsum(numbers)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(low - (ends - numbers), numbers)


def _ways(flips: npt.NDArray[np.bool_], target: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """In how many ways each set can be drawn: bool, shape (sets, members, detectors), is what it flips."""
    size = flips.shape[1]
    found = np.zeros(len(flips), dtype=np.int64)
    for pair in itertools.combinations(range(size), 2):
        left = flips[:, pair[0]] ^ flips[:, pair[1]] ^ target
        found += _orders(flips, left, [k for k in range(size) if k not in pair])
    return found


def _orders(
    flips: npt.NDArray[np.bool_], left: npt.NDArray[np.bool_], others: Sequence[int]
) -> npt.NDArray[np.int64]:
    """In how many orders the others can be drawn, up to the last two, which are a pair."""
    found = np.zeros(len(flips), dtype=np.int64)
    if len(others) == 2:
        return found + 1
    sets, first, is_done = np.arange(len(flips)), left.argmax(axis=1), ~left.any(axis=1)
    for member in others:
        can_follow = np.flatnonzero(is_done | flips[sets, member, first])
        rest = [k for k in others if k != member]
        found[can_follow] += _orders(flips[can_follow], left[can_follow] ^ flips[can_follow, member], rest)
    return found
