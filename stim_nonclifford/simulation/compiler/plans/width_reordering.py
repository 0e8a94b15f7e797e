"""Width reordering: puts independent groups of coordinates one after the other.

Patches of a circuit that run side by side, such as several magic state factories, have active coordinates at
the same time. The size of a joint vector is the product of the sizes for each patch. As long as no operation
acts on two patches, an engine can finish one patch, or reduce it to its smallest width, before it begins
with the next one. The vector is then as wide as the widest patch, plus the coordinates of earlier patches
that are still active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ...plan import SparseRows
from ..algebra.gf2 import ones
from ..sweeps.operations import Operation, OperationKind

_MAX_OPERATIONS = 20_000
"""Longer lists keep their order: the memory for the order relations grows as the square of the length."""

_CANDIDATES = 64
"""The next measurement is chosen among at least this many of the first remaining ones."""

_MIN_WIDTH = 5
"""Narrower vectors cost so little that their order does not matter."""

_GAIN = 2
"""The order changes only if it reduces the work by at least this factor."""


@dataclass(frozen=True)
class _Coordinates:
    """The coordinates of the operations. A coordinate is numbered by the operation that activates it."""

    flipped: list[int]  # for each operation, the mask of the coordinates that its Pauli flips
    read: list[int]  # for each operation, the mask of the coordinates whose parity is the sign in its Pauli
    pivots: list[int]  # for each operation, the coordinate that it activates or measures; -1 for rotations
    widths: list[int]  # for each operation, the number of active coordinates before it

    def touched(self, k: int) -> int:
        """The mask of the coordinates on which operation k acts."""
        return self.flipped[k] | self.read[k]


def reorder_for_width(
    operations: Sequence[Operation],
    outcomes: SparseRows,
    num_outputs: int,
    *,
    keep_measurements_in_order: bool = False,
) -> list[Operation]:
    """Puts operations into an order in which the vector is much smaller, if one is found.

    Operations on common coordinates keep their order. An outcome still precedes the rotations whose signs it
    flips, which are the bits of its effect from ``num_outputs`` on.
    With ``keep_measurements_in_order``, so do measurements that other operations connect, directly or not.
    """
    if max((operation.width for operation in operations), default=0) < _MIN_WIDTH:
        return list(operations)
    coordinates = _coordinates_of(operations)
    edges = list(_outcomes_and_signs(operations, outcomes, num_outputs))
    if keep_measurements_in_order:
        edges += _connected_measurements(operations, coordinates)
    order = _narrow_order(operations, coordinates, edges)
    if order == list(range(len(operations))):
        return list(operations)
    return _in_order(operations, coordinates, order)


def _outcomes_and_signs(
    operations: Sequence[Operation], outcomes: SparseRows, num_outputs: int
) -> Iterator[tuple[int, int]]:
    """Pairs of operations that must keep their order: a measurement and a rotation whose sign it flips."""
    place_of_sign = {
        term.sign: k
        for k, operation in enumerate(operations)
        if operation.kind == OperationKind.ROTATE
        for term in operation.terms
    }
    for k, operation in enumerate(operations):
        if operation.measures:
            for bit in outcomes.row(operation.outcome).tolist():
                place = place_of_sign.get(bit - num_outputs)
                if place is not None:
                    yield min(k, place), max(k, place)


def _connected_measurements(
    operations: Sequence[Operation], coordinates: _Coordinates
) -> Iterator[tuple[int, int]]:
    """For each measurement but the first ones, the one before it that operations connect with it."""
    groups: dict[int, int] = {}  # for each coordinate another one of its group, or itself

    def group_of(c: int) -> int:
        while groups.setdefault(c, c) != c:
            groups[c] = groups[groups[c]]
            c = groups[c]
        return c

    touched = [
        coordinates.touched(k) | (1 << pivot if pivot >= 0 else 0)
        for k, pivot in enumerate(coordinates.pivots)
    ]
    for mask in touched:
        for c in ones(mask):
            groups[group_of(c)] = group_of(mask.bit_length() - 1)
    last: dict[int, int] = {}
    for k, operation in enumerate(operations):
        if operation.measures:
            group = group_of(touched[k].bit_length() - 1)
            if group in last:
                yield last[group], k
            last[group] = k


def _narrow_order(
    operations: Sequence[Operation], coordinates: _Coordinates, edges: Iterable[tuple[int, int]]
) -> list[int]:
    """The numbers of the operations, in an order in which the vector is smaller if one is found."""
    work = _work(coordinates, operations)
    before: dict[int, list[int]] = {}
    order: list[int] = []
    for part in _parts(coordinates):
        if len(part) > _MAX_OPERATIONS or not _is_split_where_widest(coordinates, part):
            order += part
            continue
        if not before:
            before = _before(coordinates, operations, edges)
        needs = _needs(coordinates, before, part)
        found = [
            _greedy_order(coordinates, operations, needs, part, key)
            for key in (lambda new, fresh: (new, fresh), lambda new, fresh: (new > 0 and fresh, new))
        ]
        best = min(found, key=work)
        order += best if work(best) * _GAIN <= work(part) else part
    return order


def _in_order(
    operations: Sequence[Operation], coordinates: _Coordinates, order: Sequence[int]
) -> list[Operation]:
    """The operations in another order, with their Paulis rewritten for the new index."""
    result: list[Operation] = []
    active: list[int] = []
    for k in order:
        operation, pivot = operations[k], coordinates.pivots[k]
        width = len(active)
        if operation.kind == OperationKind.ACTIVATE:
            active.append(pivot)
        x, z = (
            sum((mask >> c & 1) << bit for bit, c in enumerate(active))
            for mask in (coordinates.flipped[k], coordinates.read[k])
        )
        bit = 0 if operation.kind == OperationKind.ROTATE else active.index(pivot)
        result.append(replace(operation, width=width, x=x, z=z, pivot=bit))
        if operation.measures:
            active.remove(pivot)
    return result


def _coordinates_of(operations: Sequence[Operation]) -> _Coordinates:
    found = _Coordinates([], [], [], [])
    active: list[int] = []
    for k, operation in enumerate(operations):
        found.widths.append(len(active))
        if operation.kind == OperationKind.ACTIVATE:
            active.append(k)
        found.flipped.append(sum(1 << active[bit] for bit in ones(operation.x)))
        found.read.append(sum(1 << active[bit] for bit in ones(operation.z)))
        found.pivots.append(-1 if operation.kind == OperationKind.ROTATE else active[operation.pivot])
        if operation.measures:
            del active[operation.pivot]
    return found


def _parts(coordinates: _Coordinates) -> list[list[int]]:
    """The numbers of the operations, split wherever no coordinate is active."""
    parts: list[list[int]] = [[]]
    for k, width in enumerate(coordinates.widths):
        if not width and parts[-1]:
            parts.append([])
        parts[-1].append(k)
    return parts


def _is_split_where_widest(coordinates: _Coordinates, part: Sequence[int]) -> bool:
    """Whether the coordinates ever form several groups while the width is within 1 of its peak."""
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
    coordinates: _Coordinates, operations: Sequence[Operation], edges: Iterable[tuple[int, int]]
) -> dict[int, list[int]]:
    """For each operation, those that must precede it although they act on other coordinates."""
    before: dict[int, list[int]] = {}
    for first, then in edges:
        before.setdefault(then, []).append(first)
    for k, operation in enumerate(operations):
        if operation.measures:
            # The pivot must remain the highest of the flipped bits (or of the read bits, if none is flipped).
            # So it is activated after the other ones.
            others = (coordinates.flipped[k] or coordinates.read[k]) & ~(1 << coordinates.pivots[k])
            before.setdefault(coordinates.pivots[k], []).extend(ones(others))
    return before


def _needs(coordinates: _Coordinates, before: dict[int, list[int]], part: Sequence[int]) -> dict[int, int]:
    """For each operation of a part, a mask of positions in the part: its own and all that must precede it."""
    needs: dict[int, int] = {}
    last: dict[int, int] = {}  # for each coordinate, the last operation that acted on it
    for place, k in enumerate(part):
        found = 1 << place
        for first in before.get(k, ()):
            found |= needs.get(first, 0)  # absent if it is in an earlier part
        for c in ones(coordinates.touched(k)):
            if c in last:
                found |= needs[last[c]]
            last[c] = k
        needs[k] = found
    return needs


def _greedy_order(
    coordinates: _Coordinates,
    operations: Sequence[Operation],
    needs: dict[int, int],
    part: Sequence[int],
    key: Callable[[int, bool], tuple[int, int]],
) -> list[int]:
    """An order with one measurement after the other, each preceded by the operations that it needs.

    The next measurement is the one with the smallest ``key``. Its arguments are the number of coordinates
    that are activated for the measurement, and whether the measurement acts on no active coordinate.
    """
    activations = sum(
        1 << place for place, k in enumerate(part) if operations[k].kind == OperationKind.ACTIVATE
    )
    goals = [k for k in part if operations[k].measures]
    order: list[int] = []
    done = active = 0

    def urgency(k: int) -> tuple[int, int]:
        new = (needs[k] & ~done & activations).bit_count()
        return key(new, not coordinates.touched(k) & active)

    # Candidates are the first remaining measurements, and the next measurement on each active coordinate: it
    # may finish a patch that has begun.
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


def _work(coordinates: _Coordinates, operations: Sequence[Operation]) -> Callable[[Sequence[int]], int]:
    """A function that estimates how many coefficients the operations touch in a given order."""

    def work(order: Sequence[int]) -> int:
        width = total = 0
        for k in order:
            if operations[k].kind == OperationKind.ACTIVATE:
                width += 1
            elif coordinates.flipped[k] or operations[k].measures:
                total += 1 << width
            width -= operations[k].measures
        return total

    return work
