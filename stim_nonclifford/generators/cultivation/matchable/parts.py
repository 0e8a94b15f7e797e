"""What the cycles of seam, graft and surface code have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..builder import CircuitBuilder
from ..color_code import Coord
from .grafted_code import GraftedCode
from .grafts import Reach
from .surface_patch import Basis, Face

Gates = list[tuple[Coord, Coord]]
"""The CX gates of a moment."""

_COLORS: Mapping[Basis, int] = {"X": 0, "Z": 3}

SHOWN_COLORS = (1, 0, 2)
"""The color that a decoder reads, by the color of the tile.

Red and green trade places: red X and green Z are what it postselects, but green X and red Z are the checks
without which errors flip at most two others.
"""

_BESIDE_COLORS: Mapping[Basis, int] = {"X": SHOWN_COLORS[0], "Z": SHOWN_COLORS[1] + 3}
"""The color that a decoder reads at faces beside tiles; no tile on their side of the seam has it."""


def append_face_detector(
    builder: CircuitBuilder, face: Face, records: Iterable[int], *, postselect: bool
) -> None:
    """Declares a detector for a face."""
    builder.detector(face.ancilla, records, color=_COLORS[face.basis], postselect=postselect, is_face=True)


def append_seam_detector(
    builder: CircuitBuilder, code: GraftedCode, face: Face, records: list[int], *, postselect: bool
) -> None:
    """Declares a detector for a face of the grafted code, with a color if it is beside decoded tiles."""
    if code.graft.decodes_tiles and code.is_beside_tiles(face):
        builder.detector(face.ancilla, records, color=_BESIDE_COLORS[face.basis], postselect=postselect)
    else:
        append_face_detector(builder, face, records, postselect=postselect)


def compared(last: Mapping[Coord, int], records: Mapping[Coord, int], face: Face) -> list[int]:
    """The last outcome of a face, if there is one, and the new one."""
    known = [last[face.ancilla]] if face.ancilla in last else []
    return [*known, records[face.ancilla]]


def append_resets(builder: CircuitBuilder, bases: Mapping[Coord, Basis]) -> None:
    """Resets qubits, each in its basis."""
    x, z = (sorted(site for site, found in bases.items() if found == basis) for basis in "XZ")
    builder.reset(x=x, z=z)


def measured(builder: CircuitBuilder, bases: Mapping[Coord, Basis]) -> dict[Coord, int]:
    """Measures qubits, each in its basis; returns the index of each outcome, by the site."""
    x, z = ([site for site, found in bases.items() if found == basis] for basis in "XZ")
    return dict(zip([*z, *x], builder.measure(x=x, z=z), strict=True))


def bases_of(faces: Iterable[Face]) -> dict[Coord, Basis]:
    """The basis of each face, by its ancilla."""
    return {face.ancilla: face.basis for face in faces}


def append_helper_detectors(
    builder: CircuitBuilder, reaches: Iterable[Reach], records: Mapping[Coord, int]
) -> None:
    """Declares that helpers end in the state in which they start."""
    for reach in reaches:
        if reach.helper is not None:
            builder.detector(reach.helper, [records[reach.helper]])


def helpers_of(reaches: Iterable[Reach]) -> dict[Coord, Basis]:
    """The bases in which helpers start, by their sites."""
    return {reach.helper: reach.helper_starts for reach in reaches if reach.helper is not None}
