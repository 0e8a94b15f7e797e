"""The rotated surface code, laid out on the square grid of the color code.

Data qubits are the sites with an even sum of coordinates, inside of a square that stands on its tip. `u`
counts them along the lower right side, and `v` along the lower left one. With the tip (0, 0) at (x, y)::

    (u, v) is at (x + u - v, y + u + v)

A *face* is a check. Its ancilla is at the site between its data qubits, each of which is one step away: X
checks have odd x, Z checks even x. Chains of X errors end at the sides v = 0 and v = d-1, chains of Z errors
at u = 0 and u = d-1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from ..color_code import Coord, shifted

Basis = Literal["X", "Z"]

SOUTH, WEST, EAST, NORTH = (0, -1), (-1, 0), (1, 0), (0, 1)

_ORDER: dict[Basis, tuple[Coord, ...]] = {"X": (SOUTH, EAST, WEST, NORTH), "Z": (SOUTH, WEST, EAST, NORTH)}
"""In which order an ancilla meets its data qubits.

The last two are where an error of the ancilla spreads to. They lie across the chains that flip a logical
operator: at the same v for X checks, at the same u for Z checks.
"""


@dataclass(frozen=True, order=True)
class Face:
    """A check of the surface code."""

    ancilla: Coord  # the site of the ancilla
    data: tuple[Coord, ...]  # the sites of the data qubits, sorted

    @property
    def basis(self) -> Basis:
        """Whether the check is a product of X or of Z.

        Examples:
            >>> Face((1, 0), ((0, 0), (2, 0))).basis, Face((0, 1), ((0, 0), (0, 2))).basis
            ('X', 'Z')
        """
        return "X" if self.ancilla[0] % 2 else "Z"

    @property
    def outline(self) -> tuple[Coord, ...]:
        """Corners of the face in drawings."""
        return self.data if len(self.data) == 4 else (*self.data, self.ancilla)

    @property
    def color(self) -> int:
        """Color of the face in drawings."""
        return 0 if self.basis == "X" else 1

    @property
    def steps(self) -> tuple[Coord | None, ...]:
        """The data qubits in the order in which the ancilla meets them; None where there is none.

        Examples:
            >>> Face((1, 0), ((0, 0), (2, 0))).steps
            (None, (2, 0), (0, 0), None)
        """
        sites = [shifted(self.ancilla, step) for step in _ORDER[self.basis]]
        return tuple(site if site in self.data else None for site in sites)


@dataclass(frozen=True)
class SurfacePatch:
    """A rotated surface code with one logical qubit."""

    distance: int  # code distance, odd
    tip: Coord  # site of the lowest data qubit
    data: tuple[Coord, ...]  # sites of the data qubits, sorted
    faces: tuple[Face, ...]  # the checks, sorted by the site of the ancilla

    @classmethod
    def rotated(cls, distance: int, tip: Coord) -> SurfacePatch:
        """Lays out the code of the given distance, odd, above the site of its tip, whose x is even.

        Examples:
            >>> patch = SurfacePatch.rotated(5, (2, -2))
            >>> len(patch.data), len(patch.faces)
            (25, 24)
            >>> patch.faces[0]
            Face(ancilla=(-2, 1), data=((-2, 2), (-1, 1)))
        """
        uv = {patch_site(tip, u, v): (u, v) for u in range(distance) for v in range(distance)}
        faces = []
        for ancilla in sorted({shifted(site, step) for site in uv for step in (SOUTH, WEST, EAST, NORTH)}):
            face = Face(ancilla, tuple(sorted(set(_around(ancilla)).intersection(uv))))
            # Checks of two qubits lie on the sides at which chains of errors in their own basis end.
            axis = 1 if face.basis == "X" else 0
            places = {uv[site][axis] for site in face.data}
            at_side = len(places) == 1 and places <= {0, distance - 1}
            if len(face.data) == 4 or (len(face.data) == 2 and at_side):
                faces.append(face)
        return cls(distance, tip, tuple(sorted(uv)), tuple(faces))

    @property
    def logical_x(self) -> tuple[Coord, ...]:
        """The data qubits of a logical X: the side u = 0."""
        return tuple(patch_site(self.tip, 0, v) for v in range(self.distance))

    @property
    def logical_z(self) -> tuple[Coord, ...]:
        """The data qubits of a logical Z: the side v = 0."""
        return tuple(patch_site(self.tip, u, 0) for u in range(self.distance))


def patch_site(tip: Coord, u: int, v: int) -> Coord:
    """The site of a data qubit.

    Examples:
        >>> patch_site((2, -2), 2, 0), patch_site((2, -2), 0, 2)
        ((4, 0), (0, 0))
    """
    return shifted(tip, (u - v, u + v))


def meeting(face: Face, site: Coord) -> tuple[Coord, Coord]:
    """The CX gate by which a face collects the value of a data qubit, as (control, target)."""
    return (face.ancilla, site) if face.basis == "X" else (site, face.ancilla)


def face_moments(faces: Iterable[Face]) -> list[list[tuple[Coord, Coord]]]:
    """The CX gates of all faces at the same time: four moments.

    Examples:
        >>> face_moments([Face((1, 0), ((0, 0), (2, 0)))])
        [[], [((1, 0), (2, 0))], [((1, 0), (0, 0))], []]
    """
    moments: list[list[tuple[Coord, Coord]]] = [[] for _ in range(4)]
    for face in faces:
        for moment, site in zip(moments, face.steps, strict=True):
            if site is not None:
                moment.append(meeting(face, site))
    return moments


def fitted_moments(
    faces: Iterable[Face], busy: Sequence[Collection[Coord]]
) -> list[list[tuple[Coord, Coord]]]:
    """The CX gates of faces of one basis in four moments, around the sites that are busy in each of them.

    A face that meets no busy site keeps its order.

    Examples:
        >>> fitted_moments([Face((1, 0), ((0, 0), (2, 0)))], [[], [(2, 0)], [], []])
        [[], [((1, 0), (0, 0))], [((1, 0), (2, 0))], []]
    """
    taken = [set(sites) for sites in busy]
    moments: list[list[tuple[Coord, Coord]]] = [[] for _ in busy]
    # Faces that keep their order come first, as the others can give way to them.
    for face in sorted(faces, key=lambda face: not _is_free(face.steps, taken)):
        order = next((order for order in _orders(face) if _is_free(order, taken)), None)
        if order is None:
            raise ValueError(f"the face {face} does not fit in")
        for k, site in enumerate(order):
            if site is not None:
                moments[k].append(meeting(face, site))
                taken[k].add(site)
    return moments


def _is_free(order: Sequence[Coord | None], taken: Sequence[Collection[Coord]]) -> bool:
    return not any(site in sites for site, sites in zip(order, taken, strict=True))


def _orders(face: Face) -> list[tuple[Coord | None, ...]]:
    """All orders in which a face can meet its data qubits, first those that keep which pairs are the halves.

    An error of the ancilla in the middle spreads to the second half, or to the first one, times the check.
    """
    halves = [set(face.steps[:2]) - {None}, set(face.steps[2:]) - {None}]
    return sorted(
        permutations(face.steps), key=lambda order: min(len(h.difference(order[2:])) for h in halves)
    )


def _around(ancilla: Coord) -> list[Coord]:
    return [shifted(ancilla, step) for step in (SOUTH, WEST, EAST, NORTH)]
