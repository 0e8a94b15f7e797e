"""Undetected sets: sets of mechanisms that flip none of some detectors together, all of them or draws.

The native search of fault sets lists those of a size where they are few. Otherwise it joins random halves. Of
n left halves of a mechanisms and n right ones of b, each drawn in proportion to its odds, all pairs that are
an undetected set are found, and each find has the weight

    e_a e_b / (n² C(a + b, a)),

with e_k the sum of the odds of all sets of k mechanisms: a two-sample U-statistic without a bias. Finds that
share a half depend on each other, so that joins are repeated, and the variance of any sum over sets is the
one between these independent replicas. A set with odds w is found w n² C(a + b, a) / (e_a e_b) times on
average. What no join found could have been found once: the weight of one find is the zero-count bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import stim

from ..._native import FaultSetStudy
from ...simulation.compiler.compiled_circuit import compile_circuit
from ...simulation.plan import plain_attributes
from ..decoded_rates.faults.mechanisms import Floats
from ..fault_sets.search.mechanisms import packed_words

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

MOST_MEMBERS = 6
"""The largest number of members. Doubled, no set would be found often enough."""

REPLICAS = 16
"""Independent joins. Doubled, an error of masses is known to 13% in place of 18%, in twice the time."""

_MOST_LISTED = 1 << 21
"""Sets of one size that are listed, at most; more are drawn. Doubled, lists take twice the memory."""

_STEPS_PER_SET = 4
"""Steps of the search for each set that may be listed. Doubled, it takes twice as long to give up a list."""

_FINDS = 1 << 15
"""Sets that a join finds, about. Doubled, masses have errors smaller by 1.4."""

_MOST_HALVES = 1 << 18
"""Halves of a join, at most. Doubled, rare sets are found four times as often, in twice the time."""

_MEMORY = 1 << 30
"""Bytes for tables of the search. Doubled, twice as many pairs that flip the same fit into it."""


@dataclass(frozen=True)
class Part:
    """Undetected sets, listed or drawn.

    Attributes:
        members: intp, shape (sets, members).
        weights: float64, shape (sets,): the product of the odds; of drawn sets, the importance weight.
        replicas: intp, shape (sets,): the join that found each; None: these are all sets.
        unseen: What one more find would add to the mean over the joins; 0: these are all sets.
    """

    members: Indices
    weights: Floats
    replicas: Indices | None = None
    unseen: float = 0.0


class UndetectedSets:
    """The sets of mechanisms that flip some detectors together, and none of the others.

    Args:
        flips: bool, shape (mechanisms, detectors): what each flips.
        target: bool, shape (detectors,): what they flip together.
        odds: float64, shape (mechanisms,).
        rng: The seed of joins.
        check: Is called now and then; may raise to end the work.

    Raises:
        ResourceLimitError: The pairs of mechanisms that flip the same detectors do not fit into the memory.

    Examples:
        >>> flips = np.array([[1, 0], [0, 1], [1, 1], [1, 0]], dtype=np.bool_)
        >>> target, odds = np.zeros(2, dtype=np.bool_), np.array([0.1, 0.2, 0.3, 0.4])
        >>> part = UndetectedSets(flips, target, odds, np.random.default_rng(1), lambda: None).of_size(3)
        >>> np.sort(part.members).tolist(), part.weights.round(3).tolist()
        ([[0, 1, 2], [1, 2, 3]], [0.006, 0.024])
    """

    def __init__(
        self, flips: Bools, target: Bools, odds: Floats, rng: np.random.Generator, check: Callable[[], None]
    ) -> None:
        self._odds, self._check = odds, check
        checks, (wanted,) = packed_words(flips), packed_words(target[np.newaxis])
        self._seed, self._round = int(rng.integers(1 << 63)), 0
        # All sets have one key, and it needs no outcome law.
        plan = compile_circuit(stim.Circuit(), lambda _: np.zeros(0, dtype=np.bool_)).record_plan()
        none = np.zeros(0, dtype=np.uint64)
        self._study = FaultSetStudy(
            plain_attributes(plan), checks.ravel(), none, wanted, none, odds,
            np.full(len(odds), -1, dtype=np.int32), none, max(1, min(MOST_MEMBERS, len(odds))), 1,
            _MEMORY // 8, _MEMORY,
        )  # fmt: skip

    def of_size(self, size: int) -> Part:
        """The sets of so many members, at most ``MOST_MEMBERS``."""
        if size > len(self._odds):
            return Part(np.zeros((0, size), dtype=np.intp), np.zeros(0))
        steps = _STEPS_PER_SET * _MOST_LISTED if size > 2 else 1 << 32
        found = self._study.enumerate(size, steps, 2)
        if size <= 2 or (found["is_complete"] and found["sets"] <= _MOST_LISTED):
            members = (
                self._study.sets_with(size, np.ones(1)).reshape(int(found["sets"]), size).astype(np.intp)
            )
            return Part(members, self._odds[members].prod(axis=1))
        return self._drawn(size)

    def _drawn(self, size: int) -> Part:
        first = 1 << 12
        ratio = math.sqrt(_FINDS / max(1, len(self._join(size, first))))
        halves = min(max(int(first * ratio), 1 << 8), _MOST_HALVES)
        members = [self._join(size, halves) for _ in range(REPLICAS)]
        numbers = [len(each) for each in members]
        left = size // 2
        pairs = self._study.total(left) * self._study.total(size - left)
        weight = pairs / (float(halves) ** 2 * math.comb(size, left))
        replicas = np.repeat(np.arange(REPLICAS), numbers)
        return Part(np.concatenate(members), np.full(sum(numbers), weight), replicas, weight / REPLICAS)

    def _join(self, size: int, halves: int) -> Indices:
        """The sets that a join of so many halves finds: intp, shape (finds, size)."""
        self._check()
        self._round += 1
        left, right = (
            np.where(np.arange(half + 1) == half, halves, 0).astype(np.uint32)
            for half in (size // 2, size - size // 2)
        )
        counts = (np.arange(size + 1) == size).astype(np.float64)
        found = self._study.join(left, right, counts, self._seed, self._round, 1 << 26)
        return found["members"].reshape(-1, size).astype(np.intp)
