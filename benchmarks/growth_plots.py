"""Plots for ``docs/performance.md``, from the results of ``benchmarks.growth``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.ticker import LogLocator
from PIL import Image

from benchmarks.machine import BYTES_PER_COEFFICIENT

__all__ = ["COLOURS", "MARKERS", "draw_all", "save"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
"""The palette of M. Okabe and K. Ito, whose colours remain distinct for colour-blind readers."""
MARKERS = ("o", "s", "^", "D", "v")


def draw_all(results: dict[str, Any], folder: Path) -> list[Path]:
    """Draws every plot for which the results have points.

    Args:
        results: The contents of the file that ``benchmarks.growth`` writes.
        folder: The folder to which the plots are written.

    Returns:
        The paths of the plots.
    """
    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for part, draw in (("width", _draw_width), ("mechanisms", _draw_mechanisms), ("noise", _draw_noise)):
        points = [point for point in results["points"] if point["part"] == part]
        if points:
            figure = draw(points, results["machine"])
            drawn.append(save(figure, folder / f"growth_{part}.png"))
    return drawn


def save(figure: Any, path: Path) -> Path:
    """Saves a figure with 64 colours, which keeps the file small, and returns its path."""
    figure.tight_layout()
    memory = io.BytesIO()
    figure.savefig(memory, dpi=100)
    Image.open(memory).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def _figure() -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(1, 2, figsize=(9, 3.6))


def _curves(axes: Any, points: list[dict[str, Any]], value: str = "rate") -> None:
    for k, series in enumerate(dict.fromkeys(point["series"] for point in points)):
        mine = [point for point in points if point["series"] == series]
        axes.plot(
            [point["x"] for point in mine],
            [point[value] for point in mine],
            color=COLOURS[k],
            marker=MARKERS[k],
            markersize=4,
            label=series,
        )
    axes.set_yscale("log")
    axes.grid(alpha=0.3)


def _draw_width(points: list[dict[str, Any]], machine: dict[str, Any]) -> Any:
    figure, (rates, work) = _figure()
    _curves(rates, points)
    rates.set_ylabel("shots per second")
    rates.legend()
    simulated = [
        {**point, "nanoseconds": 1e9 / (point["rate"] * point["facts"]["coefficients"])}
        for point in points
        if point["series"].startswith("every")
    ]
    _curves(work, simulated, "nanoseconds")
    work.set_ylabel("ns per coefficient and operation")
    work.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    work.yaxis.set_major_formatter("{x:g}")
    work.yaxis.set_minor_formatter("")
    for name, size in machine["cache_bytes"].items():
        width = (size // BYTES_PER_COEFFICIENT).bit_length() - 1
        work.axvline(width, color="grey", linestyle=":")
        work.text(width, 0.98, f" {name}", transform=work.get_xaxis_transform(), va="top", color="grey")
    for axes in (rates, work):
        axes.set_xlabel("active coordinates")
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


def _draw_mechanisms(points: list[dict[str, Any]], machine: dict[str, Any]) -> Any:
    figure, (rates, work) = _figure()
    _curves(rates, points)
    rates.set_ylabel("shots per second")
    rates.legend()
    _curves(work, [{**p, "events": p["rate"] * p["facts"]["mean_events"]} for p in points], "events")
    work.set_ylabel("noise events per second")
    for axes in (rates, work):
        axes.set_xscale("log")
        axes.set_xlabel("errors in the circuit")
    return figure


def _draw_noise(points: list[dict[str, Any]], machine: dict[str, Any]) -> Any:
    figure, (rates, events) = _figure()
    _curves(rates, points)
    rates.set_ylabel("shots per second")
    rates.set_xlabel("physical error probability p")
    rates.set_xscale("log")
    per_event = [{**p, "x": p["facts"]["mean_events"]} for p in points]
    _curves(events, per_event)
    events.set_ylabel("shots per second")
    events.set_xlabel("mean noise events per shot")
    events.set_xscale("log")
    events.legend(loc="lower left", fontsize="small")
    return figure
