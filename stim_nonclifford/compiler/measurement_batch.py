"""Batches: measurements that commute, and the order in which they are done.

With nothing between them that depends on their order, the next one is always one of those that activate the
fewest coordinates. What a measurement activates depends on its patch alone, so that only one patch has to be
looked at again after a measurement.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from .patches import Patch
from .paulis import Factors, anticommute, bits_of
from .steps import Measure

__all__ = ["MeasurementBatch"]

_Cost = tuple[int, bool, int]
"""Coordinates that are activated, whether the outcome is a fair coin, and the number of rotations needed."""

_COIN: _Cost = (0, True, 0)
"""The cost of a fair coin that needs no rotations."""


class MeasurementBatch:
    """Measurements that commute, as a part of the program.

    Attributes:
        measurements: The measurements and their steps, in the order of the circuit.
    """

    def __init__(self) -> None:
        self.measurements: list[tuple[int, Measure]] = []
        self._on: dict[int, list[int]] = {}  # by qubit, the places of the measurements on it
        self._different: dict[int, set[Factors]] = {}  # by qubit, the Paulis that are measured
        self._done: set[int] = set()

    def __len__(self) -> int:
        return len(self.measurements)

    def commutes_with(self, factors: Factors) -> bool:
        """Whether a Pauli commutes with all measurements."""
        nothing: set[Factors] = set()
        return not any(
            anticommute(factors, other)
            for qubit, _ in factors
            for other in self._different.get(qubit, nothing)
            if other != factors
        )

    def add(self, step: int, measurement: Measure) -> None:
        """Adds a measurement, which commutes with the others."""
        for qubit, _ in measurement.factors:
            self._on.setdefault(qubit, []).append(len(self.measurements))
            self._different.setdefault(qubit, set()).add(measurement.factors)
        self.measurements.append((step, measurement))

    def set_done(self, step: int) -> None:
        """Notes that a measurement has been done."""
        self._done.add(step)

    def reordered(self, step: int, factors: Factors) -> frozenset[int]:
        """Records of the measurements whose order with a Pauli that is inserted before a step has changed."""
        if not self.measurements:
            return frozenset()
        return frozenset(
            measurement.record
            for index, measurement in self._neighbours(factors)
            if (index < step) != (index in self._done) and index != step
            if anticommute(factors, measurement.factors)
        )

    def _neighbours(self, factors: Factors) -> Iterator[tuple[int, Measure]]:
        """The measurements on any of the qubits of a Pauli."""
        places = {place for qubit, _ in factors for place in self._on.get(qubit, ())}
        return (self.measurements[place] for place in places)

    def in_order(
        self, patch_of: Callable[[Factors], Patch], may_reorder: Callable[[], bool]
    ) -> Iterator[tuple[int, int, Measure]]:
        """The measurements in the order in which they are to be done; each must be done before the next.

        Args:
            patch_of: The patch that a Pauli acts on.
            may_reorder: Whether the order may differ from that of the circuit, from now on.

        Returns:
            Places in the batch, steps, and measurements.
        """
        patches = [patch_of(measurement.factors) for _, measurement in self.measurements]
        factors = [measurement.factors for _, measurement in self.measurements]
        for place in _Order(patches, factors, may_reorder):
            yield place, *self.measurements[place]


@dataclass(frozen=True)
class _Candidates:
    """What a patch offers as the next measurement.

    Attributes:
        cost: The least cost of a measurement, among those up to the first one that needs no rotations.
        place: The first measurement of this cost.
        unhindered: The first measurement that needs no rotations, or -1.
        is_coin: Whether the outcome of that one is a fair coin.
    """

    cost: _Cost
    place: int
    unhindered: int
    is_coin: bool


class _Order:
    """The places of measurements, the cheapest one first.

    Of those up to the first one that needs no rotations, the next one is the one of the least cost, and of
    several of the same cost the first one.

    Args:
        patches: The patches of the measurements.
        factors: The measured Paulis.
        may_reorder: Whether the order may differ from the given one, from now on.
    """

    def __init__(
        self, patches: Sequence[Patch], factors: Sequence[Factors], may_reorder: Callable[[], bool]
    ) -> None:
        self._patches = patches
        self._factors = factors
        self._may_reorder = may_reorder
        # Deques: mostly one of the first is removed.
        self._left: dict[Patch, deque[int]] = {}
        self._candidates: dict[Patch, _Candidates] = {}
        # Candidates that were the best ones of their patch at some time.
        self._by_cost: list[tuple[_Cost, int]] = []
        self._unhindered: list[int] = []

    def __iter__(self) -> Iterator[int]:
        done: set[int] = set()
        while len(self._patches) - len(done) > 1 and self._may_reorder():
            if not done:
                for place, patch in enumerate(self._patches):
                    self._left.setdefault(patch, deque()).append(place)
                for patch in self._left:
                    self._look_at(patch)
            place = self._next()
            yield place
            done.add(place)
            patch = self._patches[place]
            self._left[patch].remove(place)
            self._look_at(patch)
        yield from (place for place in range(len(self._patches)) if place not in done)

    def _next(self) -> int:
        while not self._is_current(*self._by_cost[0]):
            heapq.heappop(self._by_cost)
        while self._unhindered and not self._is_unhindered(self._unhindered[0]):
            heapq.heappop(self._unhindered)
        cost, place = self._by_cost[0]
        if not self._unhindered:
            return place
        end = self._unhindered[0]
        if not self._candidates[self._patches[end]].is_coin or cost >= _COIN:
            return end
        if place < end:
            return place
        # The cheapest one is too late in the circuit, others may be cheaper than a coin as well.
        found = [
            self._candidates_among(patch, [place for place in self._left[patch] if place < end])
            for patch, candidates in self._candidates.items()
            if candidates.cost < _COIN
        ]
        best = min(((other.cost, other.place) for other in found if other is not None), default=(_COIN, end))
        return min(best, (_COIN, end))[1]

    def _is_current(self, cost: _Cost, place: int) -> bool:
        candidates = self._candidates.get(self._patches[place])
        return candidates is not None and (candidates.cost, candidates.place) == (cost, place)

    def _is_unhindered(self, place: int) -> bool:
        candidates = self._candidates.get(self._patches[place])
        return candidates is not None and candidates.unhindered == place

    def _look_at(self, patch: Patch) -> None:
        """Finds the candidates of a patch, now that something about it has changed."""
        candidates = self._candidates_among(patch, self._left[patch])
        if candidates is None:
            self._candidates.pop(patch, None)
            return
        self._candidates[patch] = candidates
        heapq.heappush(self._by_cost, (candidates.cost, candidates.place))
        if candidates.unhindered >= 0:
            heapq.heappush(self._unhindered, candidates.unhindered)

    def _candidates_among(self, patch: Patch, places: Collection[int]) -> _Candidates | None:
        """The candidates among some measurements on a patch."""
        best, least = -1, (len(patch.qubits) + 1, False, 0)
        dormant, deferred = patch.dormant_mask, patch.deferred
        seen: set[Factors] = set()
        for place in places:
            factors = self._factors[place]
            if factors in seen:
                continue  # as expensive as the first one
            seen.add(factors)
            if factors in patch.determined:
                return _Candidates(*min((least, best), ((0, False, 0), place)), place, False)
            pauli = patch.coordinate_form(factors)
            needed = deferred.needed_by(pauli)
            if not needed:
                is_coin = bool(bits_of(pauli)[0] & dormant)
                return _Candidates(*min((least, best), ((0, is_coin, 0), place)), place, is_coin)
            activated = deferred.num_activated_by(needed, dormant, least[0] + 1)
            if activated > least[0]:
                continue
            # A fair coin makes no coordinate dormant: it concerns one that is never activated.
            is_coin = deferred.num_activated_by(needed, dormant, activated + 1, pauli) > activated
            cost = activated, is_coin, needed.bit_count()
            if cost < least:
                best, least = place, cost
        return _Candidates(least, best, -1, False) if places else None
