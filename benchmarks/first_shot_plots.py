"""The plot of ``benchmarks.first_shot``: time to the first shot against the size of the circuit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks.growth_plots import COLOURS, MARKERS, save

__all__ = ["draw"]

_STYLES = {"ours": ("-", "stim-nonclifford"), "stim": (":", "Stim, S-proxy"), "clifft": ("--", "Clifft")}


def draw(points: list[dict[str, Any]], path: Path) -> Path:
    """Draws one panel for each thing that grows.

    Args:
        points: The points that ``benchmarks.first_shot`` has measured.
        path: The file for the plot.

    Returns:
        The path.
    """
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plots = list(dict.fromkeys(point["plot"] for point in points))
    figure, panels = plt.subplots(1, len(plots), figsize=(3.6 * len(plots), 3.8), squeeze=False)
    for axes, plot in zip(panels[0], plots, strict=True):
        mine = [point for point in points if point["plot"] == plot]
        series = list(dict.fromkeys(point["series"] for point in mine))
        for k, name in enumerate(series):
            for simulator, (line, label) in _STYLES.items():
                curve = [p for p in mine if p["series"] == name and p["simulator"] == simulator]
                if not curve:
                    continue
                axes.plot(
                    [point["x"] for point in curve],
                    [point["seconds"] for point in curve],
                    line,
                    color=COLOURS[k],
                    marker=MARKERS[k],
                    markersize=4,
                    label=f"{name}, {label}" if len(series) > 1 else label,
                )
        places = [point["x"] for point in mine]
        if max(places) > 30 * min(places):
            axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(plot)
        axes.set_ylabel("seconds to the first shot")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6)
    return save(figure, path)
