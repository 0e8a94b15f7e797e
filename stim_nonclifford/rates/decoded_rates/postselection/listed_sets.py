"""Sets of mechanisms that leave detectors silent together: all of them, or draws.

Each mechanism has a key, a hash value of the detectors that it flips; a set leaves them silent if the keys of
its members sum up to a target. Pairs are all looked at. A set of three is a mechanism and a pair, one of four
is two pairs: where there are too many, they are drawn in proportion to the odds, by drawing first what the
keys of both parts are. Each set of three is drawn in 3 ways then, and each of four in 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ....base.errors import ResourceLimitError
from ..mechanisms import Floats, Words

__all__ = ["MOST_MEMBERS", "Part", "SilentSets"]

Indices = npt.NDArray[np.intp]

MOST_MEMBERS = 4
_MOST_MECHANISMS = 8192
"""Their pairs take 32 bytes each."""

_MOST_LISTED = 1 << 20
"""Sets of one size; if there are more, they are drawn."""

_DRAWS = 1 << 15


@dataclass(frozen=True)
class Part:
    """Some sets.

    Attributes:
        members: intp, shape (sets, members).
        weights: float64, shape (sets,): the product of the odds; of drawn sets, what each of them stands for.
        is_drawn: Whether they were drawn.
    """

    members: Indices
    weights: Floats
    is_drawn: bool


class SilentSets:
    """The sets of mechanisms whose keys sum up to a target.

    Args:
        keys: uint64, shape (mechanisms,).
        target: The sum.
        odds: float64, shape (mechanisms,).
        rng: What sets are drawn with.
        check: Is called now and then; may raise to end the work.

    Raises:
        ResourceLimitError: There are too many mechanisms.

    Examples:
        >>> keys, odds = np.array([1, 2, 3, 1], dtype=np.uint64), np.array([0.1, 0.2, 0.3, 0.4])
        >>> sets = SilentSets(keys, np.uint64(0), odds, np.random.default_rng(1), lambda: None)
        >>> [(part.members.tolist(), part.weights.round(3).tolist()) for part in sets.of_size(3)]
        [([[0, 1, 2], [1, 2, 3]], [0.006, 0.024])]
    """

    def __init__(
        self,
        keys: Words,
        target: np.uint64,
        odds: Floats,
        rng: np.random.Generator,
        check: Callable[[], None],
    ) -> None:
        if len(keys) > _MOST_MECHANISMS:
            raise ResourceLimitError(
                f"{len(keys):,} error mechanisms flip postselected detectors or signs of rotations. Sets of"
                f" them can be listed if they are at most {_MOST_MECHANISMS:,}."
            )
        self._keys, self._target, self._odds, self._rng, self._check = keys, target, odds, rng, check

    def of_size(self, size: int) -> Iterator[Part]:
        """The sets of so many members, at most ``MOST_MEMBERS``."""
        if size == 0:
            if self._target == 0:
                yield Part(np.zeros((1, 0), dtype=np.intp), np.ones(1), False)
        elif size == 1:
            members = np.flatnonzero(self._keys == self._target)[:, np.newaxis]
            yield Part(members, self._odds[members[:, 0]], False)
        elif size == 2:
            low, high = self._pairs.places(np.array([self._target]))
            members = self._pairs.members(_ranges(low, high))
            yield Part(members, self._odds[members].prod(axis=1), False)
        elif size == 3:
            yield from self._triples()
        else:
            yield from self._fours()

    @cached_property
    def _pairs(self) -> _Pairs:
        return _Pairs(self._keys, self._odds)

    def _triples(self) -> Iterator[Part]:
        low, high = self._pairs.places(self._keys ^ self._target)
        if (high - low).sum() <= 3 * _MOST_LISTED:
            owners = np.repeat(np.arange(len(low)), high - low)
            pairs = self._pairs.members(_ranges(low, high))
            members = np.hstack([owners[:, np.newaxis], pairs])[owners < pairs[:, 0]]
            yield Part(members, self._odds[members].prod(axis=1), False)
            return
        shares = self._odds * self._pairs.sums(low, high)
        first = _chosen(shares, _DRAWS, self._rng)
        pairs = self._pairs.drawn(low[first], high[first], self._rng)
        yield self._drawn(np.hstack([first[:, np.newaxis], pairs]), float(shares.sum()) / (3 * _DRAWS))

    def _fours(self) -> Iterator[Part]:
        pairs = self._pairs
        keys, starts = np.unique(pairs.keys, return_index=True)
        ends = np.append(starts[1:], len(pairs.keys))
        low, high = pairs.places(keys ^ self._target)
        shares = pairs.sums(starts, ends) * pairs.sums(low, high)
        if not shares.sum():
            return
        self._check()
        group = _chosen(shares, _DRAWS, self._rng)
        one = pairs.drawn(starts[group], ends[group], self._rng)
        other = pairs.drawn(low[group], high[group], self._rng)
        yield self._drawn(np.hstack([one, other]), float(shares.sum()) / (6 * _DRAWS))

    def _drawn(self, members: Indices, weight: float) -> Part:
        members = np.sort(members, axis=1)
        members = members[(members[:, 1:] != members[:, :-1]).all(axis=1)]
        return Part(members, np.full(len(members), weight), True)


class _Pairs:
    """All pairs, ordered by their keys."""

    def __init__(self, keys: Words, odds: Floats) -> None:
        first, second = (each.astype(np.int32) for each in np.triu_indices(len(keys), 1))
        found = keys[first] ^ keys[second]
        order = np.argsort(found, kind="stable")
        self.keys = found[order]
        self._first, self._second = first[order], second[order]
        self.weights = odds[self._first] * odds[self._second]
        self._sums = np.concatenate([[0.0], np.cumsum(self.weights)])

    def places(self, keys: Words) -> tuple[Indices, Indices]:
        """From where to where the pairs with given keys stand."""
        return np.searchsorted(self.keys, keys, side="left"), np.searchsorted(self.keys, keys, side="right")

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
