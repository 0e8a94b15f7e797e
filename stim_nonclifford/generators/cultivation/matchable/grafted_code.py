"""The code between the color code and the surface code, which has checks of both: code as data.

The color code of distance d takes the place of d x d data qubits at the tip of the surface code. It is
grafted onto the surface code along two sides: there, tiles of one color are extended by two data qubits of
the surface code each, and between them are faces of the surface code. The third side is the tip of the patch.

These are the checks, with the sites that they act on while the color code is measured:

* X and Z checks of the tiles. Along the left side, the X checks of blue tiles are extended, along the right
  side the Z checks of green ones;
* all faces of the surface code but those inside of the tip, and those that are replaced by extended tiles.

The code has one logical qubit, and the distance of the surface code.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..color_code import ColorCode, Coord, Tile
from .grafts import GRAFTS, Graft
from .surface_patch import Basis, Face, SurfacePatch, patch_site


@dataclass(frozen=True)
class GraftedCode:
    """A color code in the tip of a surface code."""

    graft: Graft  # where it is grafted
    color_code: ColorCode
    patch: SurfacePatch
    z_tiles: tuple[Tile, ...]  # the tiles with the data qubits of their Z checks
    x_tiles: tuple[Tile, ...]  # the tiles with the data qubits of their X checks
    faces: tuple[Face, ...]  # faces of the surface code that are measured at the same time as the tiles
    seam_faces: tuple[Face, ...]  # the others, which are measured before them

    @classmethod
    def of_distances(cls, cultivated: int, distance: int) -> GraftedCode:
        """The grafted code.

        Examples:
            >>> code = GraftedCode.of_distances(3, 5)
            >>> len(code.fresh), [len(tile.data) for tile in code.z_tiles]
            (16, [4, 4, 6])
        """
        graft = GRAFTS[cultivated]
        color_code, patch = ColorCode.triangular(cultivated), SurfacePatch.rotated(distance, graft.tip)
        tip = _tip(graft)
        seam = {move.origin for move in graft.apex_moves} | {reach.ancilla for reach in graft.reaches}
        replaced = [{*extension.data} for extension in graft.extensions]
        kept = [
            face
            for face in patch.faces
            if not tip.issuperset(face.data)
            and not any(tip.issuperset({*face.data} - pair) and pair.issubset(face.data) for pair in replaced)
        ]
        return cls(
            graft,
            color_code,
            patch,
            z_tiles=tuple(_extended(tile, tile.z_ancilla, graft) for tile in color_code.tiles),
            x_tiles=tuple(_extended(tile, tile.x_ancilla, graft) for tile in color_code.tiles),
            faces=tuple(face for face in kept if face.ancilla not in seam),
            seam_faces=tuple(face for face in kept if face.ancilla in seam),
        )

    @property
    def fresh(self) -> dict[Coord, Basis]:
        """Data qubits that the seam adds, with the bases in which they start.

        Logical X is extended by those with v > u, which start in |+>, logical Z by those with v < u.
        """
        left = self.patch.tip[0]
        return {site: "X" if site[0] <= left else "Z" for site in self.patch.data if site not in self.tip}

    def is_beside_tiles(self, face: Face) -> bool:
        """Whether two data qubits of a face are those of the color code."""
        return len(self.tip.intersection(face.data)) == 2

    @property
    def tip(self) -> set[Coord]:
        """Sites of the data qubits of the surface code in the place of which the color code is."""
        return _tip(self.graft)

    @property
    def sites(self) -> tuple[Coord, ...]:
        """All sites of data qubits and ancillas, of both codes."""
        faces = [face.ancilla for face in self.patch.faces]
        return (*self.color_code.sites(), *self.patch.data, *faces)


def _tip(graft: Graft) -> set[Coord]:
    steps = range(graft.distance)
    return {patch_site(graft.tip, u, v) for u in steps for v in steps}


def _extended(tile: Tile, ancilla: Coord, graft: Graft) -> Tile:
    added = [
        site for extension in graft.extensions if extension.ancilla == ancilla for site in extension.data
    ]
    return Tile(tile.x_ancilla, tuple(sorted((*tile.data, *added))))
