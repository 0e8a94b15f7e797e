"""Undetected sets: sets of mechanisms that flip none of some detectors together, all of them or draws.

The native search of fault sets lists those of a size where they are few. Otherwise it joins random halves
(``fault_sets.search.halves``): a find has the inverse density as its weight, and sums are two-sample
U-statistics without a bias. Finds that share a half depend on each other, so that joins are repeated, and the
variance of any sum over sets is the one between these independent replicas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import stim

from ...base.arrays import Bools, Floats, Indices
from ...simulation.compiler.compiled_circuit import compile_circuit
from ..estimation.limits import DEFAULT_MAX_BYTES
from ..fault_sets.search.halves import Halves
from ..fault_sets.search.mechanisms import Mechanisms, native_search

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


@dataclass(frozen=True)
class Part:
    """Undetected sets, listed or drawn."""

    members: Indices  # shape (sets, members)
    weights: Floats  # shape (sets,): the product of the odds; of drawn sets, the importance weight
    replicas: Indices | None = None  # shape (sets,): the join that found each; None: these are all sets
    unseen: float = 0.0  # what one more find would add to the mean over the joins; 0: these are all sets


class UndetectedSets:
    """The sets of mechanisms that flip the detectors of a target together, and none of the others.

    Joins have random numbers of ``rng``. ``check`` is called now and then, and may raise to end the work.
    """

    def __init__(
        self, flips: Bools, target: Bools, odds: Floats, rng: np.random.Generator, check: Callable[[], None]
    ) -> None:
        self._odds, self._check = odds, check
        self._seed, self._round = int(rng.integers(1 << 63)), 0
        # All sets have one key, and it needs no outcome law.
        plan = compile_circuit(stim.Circuit(), lambda _: np.zeros(0, dtype=np.bool_)).record_plan()
        none = np.zeros(0, dtype=np.uint64)
        sites = np.full(len(odds), -1, dtype=np.int32)
        mechanisms = Mechanisms(flips, target, none, none, odds, sites, 1.0, 1.0, none)
        self._masses = mechanisms.masses(MOST_MEMBERS)
        self._study = native_search(plan, mechanisms, 1, DEFAULT_MAX_BYTES)

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
        halves, first = Halves(range(size, size + 1), self._masses), 1 << 12
        ratio = math.sqrt(_FINDS / max(1, len(self._join(halves, first))))
        number = min(max(int(first * ratio), 1 << 8), _MOST_HALVES)
        members = [self._join(halves, number) for _ in range(REPLICAS)]
        weight = float(halves.importance_weights(number)[size])
        replicas = np.repeat(np.arange(REPLICAS), [len(each) for each in members])
        return Part(np.concatenate(members), np.full(len(replicas), weight), replicas, weight / REPLICAS)

    def _join(self, halves: Halves, number: int) -> Indices:
        """The sets that a join of so many halves finds: intp, shape (finds, size)."""
        self._check()
        self._round += 1
        found = halves.found(self._study, number, self._seed, self._round, 1 << 26)
        return found["members"].reshape(-1, halves.weights[0]).astype(np.intp)
