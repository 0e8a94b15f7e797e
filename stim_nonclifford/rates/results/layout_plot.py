"""Error budgets drawn on the qubits' places: one picture for each group, in one scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["plot_on_layout"]

_SMALLEST, _LARGEST = 12.0, 150.0


def plot_on_layout(
    panels: Sequence[tuple[str, Mapping[int, float]]],
    places: Mapping[int, tuple[float, float]],
    title: str,
) -> Any:
    """A figure with heat maps over qubits: for each, its title and the share of each qubit."""
    import matplotlib.pyplot as plt

    columns = min(len(panels), 4)
    rows = math.ceil(len(panels) / columns)
    xs, ys = [x for x, _ in places.values()], [y for _, y in places.values()]
    ratio = (max(ys) - min(ys) + 1) / (max(xs) - min(xs) + 1)
    width = 7.0 if columns == 1 else 2.9 * columns
    height = (width / columns) * min(1.6, max(0.45, ratio)) + 0.35
    figure, axes = plt.subplots(
        rows, columns, figsize=(width + 0.9, rows * height + 0.5), squeeze=False, layout="constrained"
    )
    most = max((share for _, shares in panels for share in shares.values()), default=0.0)
    points = None
    for ax, (label, shares) in zip(axes.flat, panels, strict=False):
        values = [100 * shares.get(qubit, 0.0) for qubit in places]
        sizes = [
            _SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(max(0.0, shares.get(qubit, 0.0)) / (most or 1.0))
            for qubit in places
        ]
        points = ax.scatter(
            xs,
            ys,
            c=values,
            s=[(3 if columns == 1 else 1) * size for size in sizes],
            cmap="cividis",
            vmin=0,
            vmax=100 * most,
            edgecolors="black",
            linewidths=0.4,
        )
        ax.set_title(f"{label}: {sum(shares.values()):.1%}", fontsize="small")
        ax.set_aspect("equal")
        ax.margins(0.12)
        ax.invert_yaxis()
        ax.set_xticks([])
        ax.set_yticks([])
        if columns == 1:
            for qubit, place in places.items():
                ax.annotate(str(qubit), place, xytext=(7, -9), textcoords="offset points", fontsize="x-small")
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_axis_off()
    if points is not None:
        figure.colorbar(points, ax=axes, label="share of a qubit (%)", shrink=0.8)
    figure.suptitle(title, fontsize="medium")
    return figure
