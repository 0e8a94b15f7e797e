"""Draws the stages of the teleported T gate, moment by moment.

`python docs/site/make_pictures.py` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stim_nonclifford.generators.teleportation.injection import corner_of
from stim_nonclifford.generators.teleportation.protocol import build_teleportation
from stim_nonclifford.generators.teleportation.surface_code import Check
from stim_nonclifford.generators.teleportation.surgery import Patches

from .panels import moments_of, panel_of, sites_of
from .svg import Box, Panel, Picture


def all_pictures() -> Mapping[str, str]:
    """Draws all pictures: the text of each SVG file, by file name."""
    patches = Patches.of_distance(3)
    builder = build_teleportation(3).builder
    sites = {qubit: site for qubit, site in sites_of(builder.circuit).items() if site in patches.merged.sites}
    moments = moments_of(builder.circuit)
    first_moment = {stage.name: stage.first_moment for stage in builder.stages}
    apart = [*patches.magic.checks, *patches.target.checks]

    def picture(name: str, checks: Sequence[Check], num_moments: int, last: Sequence[Panel] = ()) -> str:
        first = first_moment[name]
        panels = [panel_of(str(k + 1), moments[first + k], sites) for k in range(num_moments)]
        return Picture(name, checks, patches.merged.sites, [*panels, *last]).svg()

    z_logical = patches.target.column(patches.target.first_column)
    correction = Panel("if the merge gave 1", [Box("feedback", "S", site) for site in z_logical])
    by_patch = build_teleportation(3, correction="decoded", s_gate="patch", magic="perfect").builder
    [second] = [stage.first_moment for stage in by_patch.stages if stage.name == "second merge"]
    consumed = moments_of(by_patch.circuit)[second : second + 6]
    y_state = Panel("if the decoder says 1", [Box("feedback", "S", corner_of(patches.magic))])
    panels = [panel_of(str(k + 1), moment, sites) for k, moment in enumerate(consumed)]
    second_merge = Picture(
        "second merge", patches.merged.checks, patches.merged.sites, [panels[0], y_state, *panels[1:]]
    )
    return {
        "layout.svg": Picture("layout", apart, patches.merged.sites, [Panel("", _roles(patches))]).svg(),
        "injection.svg": picture("injection", apart, 7),
        "merge.svg": picture("merge", patches.merged.checks, 6),
        "split.svg": picture("split", apart, 1, [correction]),
        "second_merge.svg": second_merge.svg(),
    }


def _roles(patches: Patches) -> list[Box]:
    """The roles of all qubits: data, ancillas of X and Z checks, seam, and the corner of the injection."""
    boxes = []
    for site in patches.merged.data:
        letter = "T" if site == corner_of(patches.magic) else "S" if site in patches.seam else "D"
        boxes.append(Box({"T": "rotate", "S": "feedback", "D": "data"}[letter], letter, site))
    boxes += [Box("reset", check.pauli, check.ancilla) for check in patches.merged.checks]
    return boxes
