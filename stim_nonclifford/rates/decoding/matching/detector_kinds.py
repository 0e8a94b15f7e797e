"""What the coordinates say of a detector: its basis, its color, and whether it is postselected.

The fourth coordinate is that of Chromobius: 0, 1 and 2 for the X checks of red, green and blue tiles, 3, 4
and 5 for their Z checks, -1 for others. The fifth one follows one of two conventions.

* *Grafted codes* (the circuits of arXiv 2409.17595): it repeats the fourth one in the color code, and is 6
  and 7 for X and Z checks outside of it. It is -9 for detectors of cultivation, or these have fewer
  coordinates.
* *Color codes* (``end_to_end_circuit``): it is 1 for detectors that postselect and 0 for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import stim

Basis = Literal["X", "Z"]

_CULTIVATION = -9
_OUTSIDE = {6: "X", 7: "Z"}
NUM_COLORS = 3
_RED_X, _GREEN_Z = 0, 4

_REMEDY = (
    "Desaturation needs the coordinates (x, y, t, color, kind): color 0, 1, 2 for X checks of red, green,"
    " blue tiles, 3, 4, 5 for Z checks, -1 for others; kind as in arXiv 2409.17595 (the color again, 6 or 7"
    " outside of the color code, -9 in cultivation), or 1 for detectors that postselect and 0 for others, as"
    " end_to_end_circuit writes them. Give the detectors these coordinates, or sample with"
    " soft_pymatching_gap, which needs none, or soft_chromobius_gap, which needs the color alone."
)


@dataclass(frozen=True, slots=True)
class DetectorKind:
    """What the decoder is told of a detector."""

    basis: Basis | None  # "X" or "Z": the basis of the check. None: the decoder does not know the detector.
    color: int | None  # 0, 1 or 2 in the color code: the color of the tile. None: outside of it.
    postselected: bool  # whether the detector discards the shot if it fires. All that are not known do.


_UNKNOWN = DetectorKind(None, None, True)


def detector_kinds(model: stim.DetectorErrorModel) -> list[DetectorKind]:
    r"""The kinds of the detectors of a model, by their coordinates.

    Red X and green Z checks of the color code are postselected: errors flip at most two of the others. A
    ``ValueError`` says that the coordinates follow neither of the conventions.

    Examples:
        >>> grafted = "detector(0, 0, 0, 0, 0) D0\ndetector(0, 0, 0, 5, 5) D1\ndetector(1, 0, 0, 3, 7) D2"
        >>> for kind in detector_kinds(stim.DetectorErrorModel(grafted + "\ndetector(2, 0, 0) D3")):
        ...     print(kind.basis, kind.color, kind.postselected)
        X 0 True
        Z 2 False
        Z None False
        None None True
    """
    places = model.get_detector_coordinates()
    if _is_of_color_codes(places):
        return [_of_color_code(places[k]) for k in range(model.num_detectors)]
    found = [_of_grafted_code(k, places[k]) for k in range(model.num_detectors)]
    if all(kind.basis is None for kind in found):
        raise ValueError(f"No detector has coordinates that say what it checks. {_REMEDY}")
    return found


def _is_of_color_codes(places: Mapping[int, Sequence[float]]) -> bool:
    """Whether the fifth coordinate is 0 or 1, and not because it repeats the fourth one."""
    if any(len(place) < 5 or place[3] not in range(-1, 2 * NUM_COLORS) for place in places.values()):
        return False
    return all(place[4] in (0, 1) for place in places.values()) and any(
        place[3] != place[4] for place in places.values()
    )


def _of_color_code(place: Sequence[float]) -> DetectorKind:
    if place[4] == 1:
        return _UNKNOWN
    if place[3] < 0:
        raise ValueError(f"A detector at {tuple(place)} has no color, but is not postselected. {_REMEDY}")
    return _colored(int(place[3]))


def _of_grafted_code(detector: int, place: Sequence[float]) -> DetectorKind:
    if len(place) < 4 or (len(place) > 4 and place[4] == _CULTIVATION):
        return _UNKNOWN
    color, kind = place[3], place[4] if len(place) > 4 else None
    if color in range(2 * NUM_COLORS):
        inside = _colored(int(color))
        if kind == color:
            return inside
        if kind in _OUTSIDE and _OUTSIDE[int(kind)] == inside.basis:
            return DetectorKind(inside.basis, None, False)
    raise ValueError(f"D{detector} has the coordinates {tuple(place)}. {_REMEDY}")


def _colored(color: int) -> DetectorKind:
    basis: Basis = "X" if color < NUM_COLORS else "Z"
    return DetectorKind(basis, color % NUM_COLORS, color in (_RED_X, _GREEN_Z))
