"""The code between the color code and the surface code, which has checks of both: code as data.

The color code of distance 3 takes the place of nine data qubits at the tip of the surface code. It is grafted
onto the surface code along two sides: there, two of its checks are extended by data qubits of the surface
code. Its third side is a side of the patch. Five of the seven qubits are data qubits of the surface code,
too, at another site; so are the other two, once the tip is completed by two more qubits.

These are the checks, with the sites that they act on while the color code is measured:

* X and Z checks of the red tile, the X check of the green tile and the Z check of the blue tile;
* the Z check of the green tile times `GREEN_EXTENSION`, and the X check of the blue tile times
  `BLUE_EXTENSION`;
* all faces of the surface code but those of `TIP_FACES`.

The code has one logical qubit, and the distance of the surface code.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..color_code import ColorCode, Coord, Tile
from .surface_patch import Basis, Face, SurfacePatch

CULTIVATED_DISTANCE = 3
"""The distance of the color code that can be grafted."""


@dataclass(frozen=True)
class Move:
    """A data qubit that moves by one step.

    Attributes:
        origin: Where it is before.
        target: Where it is afterwards.
        leaves: The basis of the state, |+> or |0>, in which the target starts, and which is left at the
            origin.
    """

    origin: Coord
    target: Coord
    leaves: Basis

    @property
    def reversed(self) -> Move:
        """The way back."""
        return Move(self.target, self.origin, self.leaves)


SEAM_MOVES = (Move((3, 2), (3, 1), "X"), Move((2, 3), (2, 2), "Z"))
"""Moves of the data qubits between the extended checks, from the color code to the surface code.

Both ends are sites of ancillas, which start in the state that is left there: ancillas of the two faces
between the extended checks and, on the way back, of the green and the blue tile.
"""

TIP_MOVES = (Move((2, 1), (2, 0), "Z"), Move((3, 0), (3, -1), "X"))
"""Moves of the two data qubits inside of the tip. They leave ancillas of faces, too."""

SEAM_FACES = ((2, 3), (3, 2))
"""Ancillas of the faces between the extended checks."""

TIP_FACES = ((0, -1), (1, 0), (1, 2), (2, -1), (2, 1), (3, -2), (3, 0), (4, 1))
"""Ancillas of the faces that are no checks of the grafted code."""

TIP_PAIR = ((1, -1), (2, -1), (2, -2))
"""The path of the Bell pair that completes the tip: its ends are data qubits, its middle an ancilla."""

GREEN_EXTENSION = ((4, 2), (5, 1))
BLUE_EXTENSION = ((0, 2), (1, 3))


@dataclass(frozen=True)
class GraftedCode:
    """A color code of distance 3 in the tip of a surface code.

    Attributes:
        color_code: The color code.
        patch: The surface code.
        z_tiles: The tiles with the data qubits of their Z checks.
        x_tiles: The tiles with the data qubits of their X checks.
        faces: Faces of the surface code that are measured at the same time as the tiles.
        seam_faces: The other two faces, which are measured before them.
    """

    color_code: ColorCode
    patch: SurfacePatch
    z_tiles: tuple[Tile, ...]
    x_tiles: tuple[Tile, ...]
    faces: tuple[Face, ...]
    seam_faces: tuple[Face, ...]

    @classmethod
    def of_distance(cls, distance: int) -> GraftedCode:
        """The grafted code for a surface code of the given distance, odd and at least 5.

        Examples:
            >>> code = GraftedCode.of_distance(5)
            >>> len(code.fresh), [len(tile.data) for tile in code.z_tiles]
            (16, [4, 4, 6])
        """
        color_code, patch = ColorCode.triangular(CULTIVATED_DISTANCE), SurfacePatch.rotated(distance)
        red, blue, green = color_code.tiles
        faces = {face.ancilla: face for face in patch.faces if face.ancilla not in TIP_FACES}
        return cls(
            color_code,
            patch,
            z_tiles=(red, blue, _extended(green, GREEN_EXTENSION)),
            x_tiles=(red, _extended(blue, BLUE_EXTENSION), green),
            faces=tuple(face for ancilla, face in faces.items() if ancilla not in SEAM_FACES),
            seam_faces=tuple(faces[ancilla] for ancilla in SEAM_FACES),
        )

    @property
    def fresh(self) -> dict[Coord, Basis]:
        """Data qubits that the seam adds, with the bases in which they start.

        Logical X is extended by those with v > u, which start in |+>, logical Z by those with v < u.
        """
        held = {*self.color_code.data, *TIP_PAIR}
        held |= {move.target for move in (*SEAM_MOVES, *TIP_MOVES)}
        # At (u, v) is the site (2 + u - v, u + v - 2).
        return {site: "X" if site[0] <= 2 else "Z" for site in self.patch.data if site not in held}

    @property
    def sites(self) -> tuple[Coord, ...]:
        """All sites of data qubits and ancillas, of both codes."""
        return (*self.color_code.sites(), *self.patch.data, *(face.ancilla for face in self.patch.faces))


def _extended(tile: Tile, extension: tuple[Coord, ...]) -> Tile:
    return Tile(tile.x_ancilla, tuple(sorted((*tile.data, *extension))))
