"""Operations on coordinates that have nothing to do with each other, one group after the other.

Patches of a circuit that run side by side, such as several factories of magic states, wake their coordinates
at the same time, and a vector over all of them would have the product of their sizes. As long as no operation
acts on coordinates of both, an engine can as well finish one of them, or bring it to its narrowest, before it
begins with the next: the vector is then as wide as the widest, plus what is left of those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from .coordinates import OperationKind
from .gf2 import ones

__all__ = ["narrow_order", "outcomes_in", "reordered"]

_MAX_OPERATIONS = 20_000
"""Longer programs are left alone: what comes before what takes memory of its square."""

_CANDIDATES = 64
"""Among how many of the measurements that are left the next one is chosen, at least."""

_MIN_WIDTH = 5
"""Narrower vectors cost less than the order of their operations matters."""

_GAIN = 2
"""By which factor the work must shrink for the order to change."""


@dataclass(frozen=True)
class _Coordinates:
    """The operations with a lasting number for each coordinate, that of the operation that wakes it.

    Attributes:
        flipped: For each operation the mask of the coordinates that it flips.
        read: The same for those that give its sign.
        pivots: For each operation the coordinate that it wakes or puts to sleep, or -1.
        widths: For each operation the number of active coordinates before it.
    """

    flipped: list[int]
    read: list[int]
    pivots: list[int]
    widths: list[int]

    def touched(self, k: int) -> int:
        """The mask of the coordinates on which operation k acts."""
        return self.flipped[k] | self.read[k]


def narrow_order(
    operations: npt.NDArray[np.void],
    edges: Iterable[tuple[int, int]],
) -> list[int] | None:
    r"""An order of operations in which the vector is much smaller.

    Operations on common coordinates keep their order.

    Args:
        operations: The operations, of a dtype with the fields of ``OPERATION_DTYPE``.
        edges: Pairs (a, b): a must come before b, as it does now.

    Returns:
        The numbers of the operations in their new order, or None: the order is good as it is.

    Examples:
        >>> import stim_nonclifford as snc
        >>> rounds = ["R_X(0.1) {0}\nMZZ {0}\n", "R_X(0.2) {0}\nMXX {0}\n", "R_Y(0.3) {0}\nM {0}\n"]
        >>> qubits = "0 1 2 3", "4 5 6 7", "8 9 10 11"
        >>> circuit = snc.Circuit("".join(text.format(patch) for text in rounds for patch in qubits))
        >>> circuit.compile().quantum.peak_width, circuit.plan("sample_measurements").peak_width
        (7, 1)
    """
    if not len(operations) or operations["width"].max() < _MIN_WIDTH:
        return None
    coordinates = _coordinates_of(operations)
    kinds = operations["kind"].tolist()
    work = _work(coordinates, kinds)
    before: dict[int, list[int]] = {}
    order: list[int] = []
    for part in _parts(coordinates):
        if len(part) > _MAX_OPERATIONS or not _is_split_where_widest(coordinates, part):
            order += part
            continue
        if not before:
            before = _before(coordinates, kinds, edges)
        needs = _needs(coordinates, before, part)
        found = [
            _greedy(coordinates, kinds, needs, part, key)
            for key in (lambda new, fresh: (new, fresh), lambda new, fresh: (new > 0 and fresh, new))
        ]
        best = min(found, key=work)
        order += best if work(best) * _GAIN <= work(part) else part
    return order if order != list(range(len(operations))) else None


def reordered(operations: npt.NDArray[np.void], order: Sequence[int]) -> npt.NDArray[np.void]:
    """The operations in another order.

    Args:
        operations: The operations.
        order: Their numbers.

    Returns:
        The operations, with the places that coordinates have in the index there, and outcomes in their order.
    """
    coordinates = _coordinates_of(operations)
    result = operations[order]
    active: list[int] = []
    outcome = 0
    for row, k in enumerate(order):
        kind, pivot = result["kind"][row], coordinates.pivots[k]
        result["width"][row] = len(active)
        if kind == OperationKind.ACTIVATE:
            active.append(pivot)
        for name, mask in (("x", coordinates.flipped[k]), ("z", coordinates.read[k])):
            result[name][row] = sum((mask >> c & 1) << bit for bit, c in enumerate(active))
        if kind != OperationKind.ROTATE:
            result["pivot"][row] = active.index(pivot)
        if kind == OperationKind.MEASURE:
            result["outcome"][row] = outcome
            outcome += 1
            active.remove(pivot)
    return result


def outcomes_in(operations: npt.NDArray[np.void], order: Sequence[int]) -> list[int]:
    """The numbers of the operations' outcomes in another order."""
    numbers = operations["outcome"].tolist()
    return [numbers[k] for k in order if numbers[k] >= 0]


def _coordinates_of(operations: npt.NDArray[np.void]) -> _Coordinates:
    found = _Coordinates([], [], [], [])
    active: list[int] = []
    names = ("kind", "x", "z", "pivot")
    for k, (kind, x, z, pivot) in enumerate(zip(*(operations[name].tolist() for name in names), strict=True)):
        found.widths.append(len(active))
        if kind == OperationKind.ACTIVATE:
            active.append(k)
        found.flipped.append(sum(1 << active[bit] for bit in ones(x)))
        found.read.append(sum(1 << active[bit] for bit in ones(z)))
        found.pivots.append(active[pivot] if kind != OperationKind.ROTATE else -1)
        if kind == OperationKind.MEASURE:
            del active[pivot]
    return found


def _parts(coordinates: _Coordinates) -> list[list[int]]:
    """The operations, cut where no coordinate is active."""
    parts: list[list[int]] = [[]]
    for k, width in enumerate(coordinates.widths):
        if not width and parts[-1]:
            parts.append([])
        parts[-1].append(k)
    return parts


def _is_split_where_widest(coordinates: _Coordinates, part: Sequence[int]) -> bool:
    """Whether there is ever more than one group of coordinates when the vector is about the widest."""
    widest = max(coordinates.widths[k] for k in part)
    if widest < _MIN_WIDTH:
        return False
    groups: list[int] = []
    active = 0
    for k in part:
        groups = [group for group in groups if group & active]
        if coordinates.widths[k] >= widest - 1 and len(groups) > 1:
            return True
        joined = coordinates.touched(k)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
        if coordinates.pivots[k] >= 0:
            active ^= 1 << coordinates.pivots[k]
    return False


def _before(
    coordinates: _Coordinates, kinds: Sequence[int], edges: Iterable[tuple[int, int]]
) -> dict[int, list[int]]:
    """For each operation those that must come before it, besides those on the same coordinates."""
    before: dict[int, list[int]] = {}
    for first, then in edges:
        before.setdefault(then, []).append(first)
    for k, kind in enumerate(kinds):
        if kind == OperationKind.MEASURE:
            # The pivot is the highest bit of what is flipped, or of what is read, and must stay so.
            others = (coordinates.flipped[k] or coordinates.read[k]) & ~(1 << coordinates.pivots[k])
            before.setdefault(coordinates.pivots[k], []).extend(ones(others))
    return before


def _needs(coordinates: _Coordinates, before: dict[int, list[int]], part: Sequence[int]) -> dict[int, int]:
    """For each operation of a part, the mask of the places in it that must come before, and its own."""
    needs: dict[int, int] = {}
    last: dict[int, int] = {}  # for each coordinate what acted on it last
    for place, k in enumerate(part):
        found = 1 << place
        for first in before.get(k, ()):
            found |= needs.get(first, 0)  # others are in earlier parts
        for c in ones(coordinates.touched(k)):
            if c in last:
                found |= needs[last[c]]
            last[c] = k
        needs[k] = found
    return needs


def _greedy(
    coordinates: _Coordinates,
    kinds: Sequence[int],
    needs: dict[int, int],
    part: Sequence[int],
    key: Callable[[int, bool], tuple[int, int]],
) -> list[int]:
    """One measurement after another, each with what it needs.

    ``key`` orders them by how many coordinates they wake, and whether they act on none that is active.
    """
    activations = sum(1 << place for place, k in enumerate(part) if kinds[k] == OperationKind.ACTIVATE)
    goals = [k for k in part if kinds[k] == OperationKind.MEASURE]
    order: list[int] = []
    done = active = 0

    def urgency(k: int) -> tuple[int, int]:
        new = (needs[k] & ~done & activations).bit_count()
        return key(new, not coordinates.touched(k) & active)

    # Besides the first ones that are left, the next one on each active coordinate: of a patch under way.
    left = dict.fromkeys(goals)
    left_on: dict[int, list[int]] = {}
    for k in reversed(goals):
        for c in ones(coordinates.touched(k)):
            left_on.setdefault(c, []).append(k)
    while left:
        candidates = set(islice(left, _CANDIDATES))
        for c in ones(active):
            on = left_on.get(c, [])
            while on and on[-1] not in left:
                on.pop()
            candidates.update(on[-1:])
        goal = min(sorted(candidates), key=urgency)
        del left[goal]
        todo = needs[goal] & ~done
        done |= todo
        for place in ones(todo):
            k = part[place]
            order.append(k)
            if coordinates.pivots[k] >= 0:
                active ^= 1 << coordinates.pivots[k]
    return order + [k for place, k in enumerate(part) if not done >> place & 1]


def _work(coordinates: _Coordinates, kinds: Sequence[int]) -> Callable[[Sequence[int]], int]:
    """About the coefficients through which the operations go in an order."""

    def work(order: Sequence[int]) -> int:
        width = total = 0
        for k in order:
            if kinds[k] == OperationKind.ACTIVATE:
                width += 1
            elif coordinates.flipped[k] or kinds[k] == OperationKind.MEASURE:
                total += 1 << width
            width -= kinds[k] == OperationKind.MEASURE
        return total

    return work
