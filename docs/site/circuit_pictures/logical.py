"""Draws patches of a logical circuit, apart and merged, moment by moment.

`python docs/site/make_pictures.py` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stim_nonclifford.generators.logical.layout import Layout, MergedCode
from stim_nonclifford.generators.logical.program import surgery_steps
from stim_nonclifford.generators.logical.surgery import LogicalBuilder, SurgeryOptions
from stim_nonclifford.generators.teleportation.surface_code import Check

from .panels import moments_of, panel_of, sites_of
from .svg import Box, Panel, Picture


def all_pictures() -> Mapping[str, str]:
    """Draws all pictures: the text of each SVG file, by file name."""
    layout = Layout(3, 2)
    _, steps = surgery_steps([(1 / 8, "X"), (1 / 8, "Z")], [])
    builder = LogicalBuilder(layout, steps, SurgeryOptions(inject_t=True)).builder
    moments = moments_of(builder.circuit)
    named = sites_of(builder.circuit)
    apart = [check for patch in layout.patches for check in patch.checks]
    in_x, in_z = layout.merged("X", (0, 1)), layout.merged("Z", (0, 1))
    shown = sorted(
        {site for code in (in_x, in_z) for check in code.checks for site in (check.ancilla, *check.data)}
    )
    sites = {qubit: site for qubit, site in named.items() if site in shown}
    first = {
        name: [s.first_moment for s in builder.stages if s.name == name] for name in ("T state", "merge X")
    }
    first["merge Z"] = [s.first_moment for s in builder.stages if s.name == "merge Z"]
    first["split"] = [s.first_moment for s in builder.stages if s.name == "split"]

    def picture(title: str, checks: Sequence[Check], moment: int, count: int) -> str:
        panels = [panel_of(f"{title}: {k + 1}", moments[moment + k], sites) for k in range(count)]
        return Picture(title, checks, shown, panels).svg()

    return {
        "layout.svg": Picture(
            "patches", apart, shown, [Panel("a patch, and the magic patch", _roles(in_x))]
        ).svg(),
        "merge_x.svg": picture("merge X", in_x.checks, first["merge X"][0], 2),
        "merge_z.svg": picture("merge Z", in_z.checks, first["merge Z"][0], 2),
        "split.svg": picture("split", apart, first["split"][1], 1),
    }


def _roles(merged: MergedCode) -> list[Box]:
    """The data qubits of the patches, and those of the lane."""
    lane = set(merged.region)
    data = {site for check in merged.checks for site in check.data}
    return [
        Box("feedback" if site in lane else "data", "L" if site in lane else "D", site)
        for site in sorted(data)
    ]
