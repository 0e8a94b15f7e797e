"""Draws the stages of the protocol, moment by moment.

`python docs/site/make_pictures.py` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import stim

from stim_nonclifford.generators.cultivation.builder import CircuitBuilder
from stim_nonclifford.generators.cultivation.color_code import ColorCode
from stim_nonclifford.generators.cultivation.end_to_end import build_noiseless_end_to_end
from stim_nonclifford.generators.cultivation.injections.degenerate_injection import STRETCHED_TILES
from stim_nonclifford.generators.cultivation.injections.unitary_injection import CORNER_PARKING
from stim_nonclifford.generators.cultivation.matchable.grafted_code import GraftedCode
from stim_nonclifford.generators.cultivation.noise import is_feedback
from stim_nonclifford.generators.cultivation.protocol import build_noiseless

from .panels import moments_of, panel_of, sites_of
from .svg import Box, Face, Panel, Picture


def all_pictures() -> Mapping[str, str]:
    """Draws all pictures: the text of each SVG file, by file name."""
    small, large = ColorCode.triangular(3), ColorCode.triangular(5)
    unitary, bell, degenerate = (
        build_noiseless(5, injection=injection) for injection in ("unitary", "bell", "degenerate")
    )
    flagged = build_noiseless(5, variant="flagged")
    escape = build_noiseless_end_to_end(3, 7)
    pictures = {
        "layout": _layout(unitary, large),
        "unitary_injection": _stage(unitary, 0, small.tiles),
        "bell_injection": _stage(bell, 0, small.tiles, corrections_in=1),
        "degenerate_injection": _stage(degenerate, 0, STRETCHED_TILES, corrections_in=1),
        "syndrome_cycle_d3": _stage(unitary, 1, small.tiles),
        "cat_check_d3": _stage(unitary, 2, small.tiles),
        "growth_d5": _stage(unitary, 3, large.tiles, corrections_in=5),
        "syndrome_cycle_d5": _stage(unitary, 4, large.tiles),
        "cat_check_d5": _stage(unitary, 7, large.tiles),
        "cat_check_d5_flagged": _stage(flagged, 7, large.tiles),
        "escape_d7": _stage(escape, 3, ColorCode.triangular(7).tiles),
        "graft_d9": _graft(GraftedCode.of_distances(5, 9)),
    }
    return {f"{name}.svg": picture.svg() for name, picture in pictures.items()}


def _graft(code: GraftedCode) -> Picture:
    """Draws the first graft."""
    builder = build_noiseless_end_to_end(code.color_code.distance, code.patch.distance, escape="matchable")
    names = [stage.name for stage in builder.stages]
    return _stage(builder, names.index("graft"), [*code.faces, *code.z_tiles])


def _layout(builder: CircuitBuilder, code: ColorCode) -> Picture:
    """Draws all qubits of the circuit with their roles."""
    roles = {
        **dict.fromkeys(code.data, ("data", "D")),
        **dict.fromkeys(code.x_ancillas, ("reset", "X")),
        **dict.fromkeys(code.z_ancillas, ("reset", "Z")),
        CORNER_PARKING: ("reset", "P"),
    }
    sites = list(sites_of(builder.circuit).values())
    boxes = [Box(*roles.get(site, ("reset", "F")), site) for site in sites]
    return Picture("distance 5", code.tiles, sites, [Panel("", boxes)])


def _stage(
    builder: CircuitBuilder, index: int, tiles: Sequence[Face], *, corrections_in: int | None = None
) -> Picture:
    """The picture of a stage; the first moment of the stage ``corrections_in`` has its corrections."""
    moments = moments_of(builder.circuit)
    sites = sites_of(builder.circuit)
    first, end = (builder.stages[k].first_moment for k in (index, index + 1))
    panels = [panel_of(str(k - first + 1), moments[k], sites) for k in range(first, end)]
    if corrections_in is not None:
        panels += _corrections(builder.circuit, builder.stages[corrections_in].first_moment)
    used = {site for tile in tiles for site in tile.data}
    used.update(box.site for panel in panels for box in panel.boxes)
    used.update(site for panel in panels for pair in panel.cx for site in pair)
    return Picture(builder.stages[index].name, tiles, sorted(used), panels)


def _corrections(circuit: stim.Circuit, moment: int) -> list[Panel]:
    """Draws the feedback in one moment, with a panel for each outcome that controls a Pauli."""
    sites = sites_of(circuit)
    measured: list[str] = []
    paulis: dict[int, list[Box]] = {}  # by record
    for k, instructions in enumerate(moments_of(circuit)):
        for instruction in instructions:
            if instruction.name in ("M", "MX"):
                basis = "X" if instruction.name == "MX" else "Z"
                measured += [f"{basis} at {sites[t.value]}" for t in instruction.targets_copy()]
            elif k == moment and is_feedback(instruction):
                pauli = "X" if instruction.name == "CX" else "Z"
                for control, target in instruction.target_groups():
                    boxes = paulis.setdefault(len(measured) + control.value, [])
                    boxes.append(Box("feedback", pauli, sites[target.value]))
    return [Panel(f"if {measured[record]} gave 1", boxes) for record, boxes in sorted(paulis.items())]
