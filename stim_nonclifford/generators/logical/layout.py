"""Patches in a row, and the lanes that join them for a measurement.

Square patches of the rotated surface code of distance d stand in a row, the magic patch at its right end. A
*lane* of 2d - 1 rows runs above them. To measure a product of X, the lane is joined to the upper edges of the
patches, along which X_L runs. To measure a product of Z, a *corridor* of 2d - 1 columns leads from the right
edge of each patch, along which Z_L runs, up to the lane. The qubits of lane and corridors are the *region* of
a measurement.

While patches are merged, all checks of the measured Pauli that reach into the region are measured, on those
of their qubits that there are. Of the other Pauli, those on four qubits are. So a string of the measured
Pauli may end at the edge of the region. Across a lane it is as likely as a logical error: a fault of an
ancilla makes a pair along it, which is why lanes are 2d - 1 wide.

Each qubit of the region is in two checks of the measured Pauli, and each qubit at the edge of a patch in one.
So the product of the new checks is the product of the logical operators along the edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..cultivation.color_code import Coord
from ..teleportation.surface_code import Check, SurfaceCode
from ..teleportation.surgery import Basis, other_basis

_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))


@dataclass(frozen=True)
class MergedCode:
    """The code in which patches are merged by a region.

    Attributes:
        basis: The Pauli of the product that is measured.
        region: The data qubits between the patches.
        checks: The checks of the patches and of the region.
        new: Those whose product is the outcome, by their ancillas.
        paths: For each patch but the last one, the qubits of the region along which its logical operator of
            the other Pauli is continued to that of the last patch.
    """

    basis: Basis
    region: tuple[Coord, ...]
    checks: tuple[Check, ...]
    new: frozenset[Coord]
    paths: tuple[tuple[Coord, ...], ...]


@dataclass(frozen=True)
class Layout:
    """Patches in a row, with a lane above them.

    Attributes:
        distance: The distance of the patches, an odd number.
        num_patches: Their number, with the magic patch.

    Examples:
        >>> layout = Layout(3, 2)
        >>> merged = layout.merged("X", (0, 1))
        >>> len(merged.region), len(merged.new), len(merged.paths)
        (66, 43, 1)
    """

    distance: int
    num_patches: int

    @property
    def _width(self) -> int:
        """Rows of the lane, and columns of a corridor."""
        return 2 * self.distance - 1

    @cached_property
    def patches(self) -> tuple[SurfaceCode, ...]:
        """The patches; one column between a corridor and the next patch is left empty."""
        pitch = self.distance + self._width + 1
        return tuple(SurfaceCode(k * pitch, self.distance, self.distance) for k in range(self.num_patches))

    def logical(self, patch: int, basis: Basis) -> tuple[Coord, ...]:
        """The qubits of X_L, the uppermost row, or of Z_L, the rightmost column."""
        code = self.patches[patch]
        return code.x_logical if basis == "X" else code.column(code.end_column - 1)

    def merged(self, basis: Basis, patches: Sequence[int]) -> MergedCode:
        """The code that measures a product over patches."""
        codes = [self.patches[k] for k in patches]
        region = self._region(basis, codes)
        own = {check.ancilla: check for code in codes for check in code.checks}
        there = region.union(*(code.data for code in codes))
        reached = {(x + dx, y + dy) for x, y in region for dx, dy in _CORNERS}
        new = set()
        for ancilla in reached:
            x, y = ancilla
            is_z = (x // 2 + y // 2) % 2 == 0
            data = tuple(site for dx, dy in _CORNERS if (site := (x + dx, y + dy)) in there)
            if is_z == (basis == "Z"):
                new.add(ancilla)
                own[ancilla] = Check(ancilla, basis, data)
            elif len(data) == 4:
                own[ancilla] = Check(ancilla, other_basis(basis), data)
        checks = tuple(own[ancilla] for ancilla in sorted(own))
        ends = [self.logical(k, other_basis(basis))[-1] for k in patches]
        paths = tuple(_path(checks, new, region, end, ends[-1]) for end in ends[:-1])
        return MergedCode(basis, tuple(sorted(region)), checks, frozenset(new), paths)

    def _region(self, basis: Basis, codes: Iterable[SurfaceCode]) -> set[Coord]:
        """The data qubits of corridors and lane."""
        d, width = self.distance, self._width
        sites: list[tuple[int, int]] = []
        columns: list[int] = []
        for code in codes:
            begin, below = (code.end_column, 0) if basis == "Z" else (code.first_column, d)
            mine = range(begin, begin + (width if basis == "Z" else d))
            columns += mine
            sites += [(column, row) for column in mine for row in range(below, d + 1)]
        lane = range(min(columns), max(columns) + 1)
        sites += [(column, row) for column in lane for row in range(d + 1, d + 1 + width)]
        return {(2 * column + 1, 2 * row + 1) for column, row in sites}


def _path(
    checks: Iterable[Check], new: Iterable[Coord], region: Iterable[Coord], begin: Coord, end: Coord
) -> tuple[Coord, ...]:
    """The shortest string of flipped qubits of the region that no new check sees, with the ends at patches.

    A flipped qubit of the region is seen by the two new checks that it is in, one at the edge of a patch by
    one.
    """
    seen_by: dict[Coord, list[Coord]] = {}
    members = {check.ancilla: check.data for check in checks}
    for ancilla in sorted(new):
        for site in members[ancilla]:
            seen_by.setdefault(site, []).append(ancilla)
    free = set(region)
    [first], [last] = seen_by[begin], seen_by[end]
    came_from: dict[Coord, tuple[Coord, Coord] | None] = {first: None}
    queue = deque([first])
    while last not in came_from:
        ancilla = queue.popleft()
        for site in members[ancilla]:
            if site in free:
                for other in seen_by[site]:
                    if other not in came_from:
                        came_from[other] = ancilla, site
                        queue.append(other)
    path = []
    step = came_from[last]
    while step is not None:
        path.append(step[1])
        step = came_from[step[0]]
    return tuple(sorted(path))
