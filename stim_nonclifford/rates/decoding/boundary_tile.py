"""The logical operator of a color code as one more tile, outside of a boundary.

Color codes have detectors of three colors. An error in the bulk flips one of each, or two of a color that
follow each other in time: it is neutral. An error at the red boundary, where there are no red tiles, flips a
green and a blue one. A logical operator along that boundary is flipped by the errors there, so that it acts
like the red tile that is missing: with it as a detector, these errors are neutral, too.

An observable may be another representative of the logical operator, such as X on all data qubits. Detectors
are added to it so that no neutral error flips the sum. This is a system of linear equations over GF(2). Its
solutions differ by all detectors of two colors, and with them the boundary at which the tile is. A triangular
code has one tile of each color.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .matching.detector_kinds import NUM_COLORS
from .matching.matching_graph import ModelError

_CHARGES = (0b01, 0b10, 0b11)  # red, green, blue: the sum of all three is 0


@dataclass(frozen=True)
class BoundaryTile:
    """A logical operator that acts like a tile."""

    color: int  # 0, 1 or 2: the color of the tile
    observables: int  # the observables whose sum it is, as a mask
    added: frozenset[int]  # the detectors that are added to them

    def is_flipped_by(self, error: ModelError) -> bool:
        """Whether an error flips the tile."""
        flips = (self.observables & error.observables).bit_count() + len(self.added & error.detectors)
        return flips % 2 == 1


def possible_tiles(errors: Sequence[ModelError], colors: Mapping[int, int]) -> list[list[BoundaryTile]]:
    """The logical operator of a basis as a tile outside of a boundary: for each color, the likeliest first.

    All tiles have the same observables. There are none if closed loops of errors flip every sum of
    observables, so that none of them belongs to this basis, or if no error at a boundary flips one. A
    ``ValueError`` says that there is more than one logical operator.

    Examples:
        A triangle of three tiles, the Steane code. Every error flips the observable.

        >>> flipped = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]
        >>> errors = [ModelError(0.01, frozenset(k), 0b1) for k in flipped]
        >>> red, green, blue = (tiles[0] for tiles in possible_tiles(errors, {0: 0, 1: 1, 2: 2}))
        >>> red
        BoundaryTile(color=0, observables=1, added=frozenset({0}))
        >>> [k for k in flipped if red.is_flipped_by(ModelError(0.01, frozenset(k), 0b1))]
        [(1,), (2,), (1, 2)]
    """
    place = {detector: k for k, detector in enumerate(colors)}
    num_observables = max((error.observables.bit_length() for error in errors), default=0)
    pivots: dict[int, int] = {}
    for error in errors:
        if _charge(error, colors) == 0:
            # Observables have the low bits, so that they lead a row only if no detector is left.
            row = error.observables
            row |= sum(1 << (num_observables + place[detector]) for detector in error.detectors)
            while row and row.bit_length() - 1 in pivots:
                row ^= pivots[row.bit_length() - 1]
            if row:
                pivots[row.bit_length() - 1] = row
    loops = [row for leading, row in pivots.items() if leading < num_observables]
    sums = [k for k in range(1, 1 << num_observables) if not any(_is_odd(k & loop) for loop in loops)]
    sums = [k for k in sums if any(_is_odd(k & error.observables) for error in errors)]
    if len(sums) > 1:
        raise ValueError("more than one logical operator is flipped by errors of the same basis")
    if not sums:
        return []
    mask = 0
    for leading in sorted(pivots):
        if leading >= num_observables and _is_odd(pivots[leading] & (mask | sums[0])):
            mask |= 1 << leading
    added = frozenset(detector for detector, k in place.items() if mask >> (num_observables + k) & 1)
    two_colors = ({k for k, own in colors.items() if own != left_out} for left_out in range(NUM_COLORS))
    solutions = [added, *(added ^ chosen for chosen in two_colors)]
    found = []
    for color in range(NUM_COLORS):
        candidates = [BoundaryTile(color, sums[0], solution) for solution in solutions]
        unlike = {tile: p for tile in candidates if (p := _unlike_a_tile(tile, errors, colors)) is not None}
        if unlike:
            found.append(sorted(unlike, key=lambda tile: unlike[tile]))
    return found


def _unlike_a_tile(
    tile: BoundaryTile, errors: Sequence[ModelError], colors: Mapping[int, int]
) -> float | None:
    """The expected number of detectors that errors flip which flip the tile but not its color.

    None: no error flips both. Some errors at the corners of a triangular code flip one detector alone.
    """
    total, is_like_a_tile = 0.0, False
    for error in errors:
        if tile.is_flipped_by(error):
            if _charge(error, colors) == _CHARGES[tile.color]:
                is_like_a_tile = True
            else:
                total += error.probability * len(error.detectors)
    return total if is_like_a_tile else None


def _charge(error: ModelError, colors: Mapping[int, int]) -> int:
    return functools.reduce(operator.xor, (_CHARGES[colors[detector]] for detector in error.detectors), 0)


def _is_odd(mask: int) -> bool:
    return mask.bit_count() % 2 == 1
