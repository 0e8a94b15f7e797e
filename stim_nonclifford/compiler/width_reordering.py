"""Reordering for width: independent groups of coordinates, one after the other.

Patches of a circuit that run side by side, such as several magic state factories, wake their coordinates at
the same time, and a vector over all of them has the product of their sizes. As long as no operation acts on
coordinates of two patches, an engine can finish one patch, or bring it to its narrowest, before it begins
with the next. The vector is then as wide as the widest patch, plus the coordinates that earlier patches
still hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from .gf2 import ones
from .operations import Operation, OperationKind

__all__ = ["reorder_for_width"]

_MAX_OPERATIONS = 20_000
"""Longer lists keep their order: the table of what must precede what grows as the square of the length."""

_CANDIDATES = 64
"""The next measurement is chosen among at least this many of the remaining ones."""

_MIN_WIDTH = 5
"""Narrower vectors cost so little that their order does not matter."""

_GAIN = 2
"""The order changes only if the work shrinks by this factor."""


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


def reorder_for_width(
    operations: Sequence[Operation], outcomes: Sequence[int], num_outputs: int
) -> list[Operation]:
    r"""Puts operations into an order in which the vector is much smaller, if there is one.

    Operations on common coordinates keep their order, and an outcome still comes before the rotations whose
    signs it flips.

    Args:
        operations: The operations.
        outcomes: The effects of the outcomes, as in ``EffectTable``.
        num_outputs: The signs of rotations are the bits of an effect from here on.

    Returns:
        The operations in an equivalent order, with the places that their coordinates have in the index there.

    Examples:
        >>> import stim_nonclifford as snc
        >>> rounds = ["R_X(0.1) {0}\nMZZ {0}\n", "R_X(0.2) {0}\nMXX {0}\n", "R_Y(0.3) {0}\nM {0}\n"]
        >>> qubits = "0 1 2 3", "4 5 6 7", "8 9 10 11"
        >>> circuit = snc.Circuit("".join(text.format(patch) for text in rounds for patch in qubits))
        >>> circuit.compile().quantum.peak_width, circuit.plan("sample_measurements").peak_width
        (7, 1)
    """
    if max((operation.width for operation in operations), default=0) < _MIN_WIDTH:
        return list(operations)
    coordinates = _coordinates_of(operations)
    order = _narrow_order(operations, coordinates, _outcomes_and_signs(operations, outcomes, num_outputs))
    if order == list(range(len(operations))):
        return list(operations)
    return _in_order(operations, coordinates, order)


def _outcomes_and_signs(
    operations: Sequence[Operation], outcomes: Sequence[int], num_outputs: int
) -> Iterator[tuple[int, int]]:
    """Pairs that keep their order: a measurement, and a rotation whose sign its outcome flips."""
    place_of_sign = {
        term.sign: k
        for k, operation in enumerate(operations)
        if operation.kind == OperationKind.ROTATE
        for term in operation.terms
    }
    for k, operation in enumerate(operations):
        if operation.measures:
            for sign in ones(outcomes[operation.outcome] >> num_outputs):
                if sign in place_of_sign:
                    yield min(k, place_of_sign[sign]), max(k, place_of_sign[sign])


def _narrow_order(
    operations: Sequence[Operation], coordinates: _Coordinates, edges: Iterable[tuple[int, int]]
) -> list[int]:
    """The numbers of the operations in an order in which the vector is smaller, if there is one."""
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
    """The operations in another order, with the places that coordinates have in the index there."""
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
    coordinates: _Coordinates, operations: Sequence[Operation], edges: Iterable[tuple[int, int]]
) -> dict[int, list[int]]:
    """For each operation those that must come before it, besides those on the same coordinates."""
    before: dict[int, list[int]] = {}
    for first, then in edges:
        before.setdefault(then, []).append(first)
    for k, operation in enumerate(operations):
        if operation.measures:
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


def _greedy_order(
    coordinates: _Coordinates,
    operations: Sequence[Operation],
    needs: dict[int, int],
    part: Sequence[int],
    key: Callable[[int, bool], tuple[int, int]],
) -> list[int]:
    """One measurement after another, each with what it needs.

    ``key`` orders them by how many coordinates they wake, and whether they act on none that is active.
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


def _work(coordinates: _Coordinates, operations: Sequence[Operation]) -> Callable[[Sequence[int]], int]:
    """About the number of coefficients that the operations touch in an order."""

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
