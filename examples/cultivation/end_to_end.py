"""Cultivation end to end into d2 = 15: logical error per kept shot against attempts, ours beside published.

    python -m examples.cultivation.end_to_end [--from FOLDER] [--out docs/plots/cultivation_end_to_end.png]

Draws ``docs/plots/data/end_to_end.csv``. Each row is a point of a curve: the shots whose gap is at least
``least_gap_dB`` are kept. ``FOLDER`` is one that ``stim-nonclifford figure end_to_end --out FOLDER`` wrote;
its curves take the places of those in the file.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import sinter

import sinter_plugin
from sinter_plugin.statistics.csv_rows import ESTIMATE, FAULT_SETS
from sinter_plugin.statistics.estimates import GAP

DATA = Path(__file__).parents[2] / "docs/plots/data/end_to_end.csv"
STRENGTHS = (1e-3, 5e-4)
COLORS = {
    ("ours", 3, "published"): "#0072B2",
    ("ours", 5, "published"): "#D55E00",
    ("ours", 5, "flagged"): "#009E73",
    ("published", 3, "published"): "#888888",
    ("published", 5, "published"): "#000000",
}
MARKERS = dict(zip(COLORS, "os^DX", strict=True))
LABELS = {
    0: {
        ("ours", 3, "published"): ((1.6, 7.0e-7), "d = 3"),
        ("ours", 5, "published"): ((11, 3.5e-7), "d = 5"),
        ("ours", 5, "flagged"): ((13, 6.0e-9), "d = 5,\nflagged"),
        ("published", 3, "published"): ((5.0, 3.1e-6), "d = 3,\npublished"),
        ("published", 5, "published"): ((38, 2.2e-7), "d = 5, published"),
    },
    1: {
        ("ours", 3, "published"): ((1.33, 1.7e-7), "d = 3"),
        ("ours", 5, "published"): ((3.5, 1.5e-8), "d = 5"),
        ("ours", 5, "flagged"): ((5.0, 3.0e-10), "d = 5,\nflagged"),
        ("published", 3, "published"): ((2.15, 5.8e-7), "d = 3, published"),
    },
}
"""Where the curves of a panel have their names, and these."""


@dataclasses.dataclass(frozen=True)
class Point:
    """A row of the file."""

    circuits: str  # "ours" or "published"
    d: int  # the distance that is cultivated
    variant: str  # "published" or "flagged"
    gate: str  # "T", or "S" for the S-proxy
    p: float  # strength of the noise
    kind: str  # "computed" or "counted"
    least_gap_dB: int  # shots with smaller gaps are discarded
    attempts_per_kept_shot: float
    rate: float  # logical errors per kept shot
    low: float  # the 95% interval of the rate
    high: float
    source: str  # the method that computed or counted it, or where it was published

    @property
    def curve(self) -> tuple[str, int, str]:
        """The key of its colour."""
        return self.circuits, self.d, self.variant


def points_of_file(path: Path) -> list[Point]:
    """The rows of a file of points."""
    kinds: dict[str, Any] = {"d": int, "p": float, "least_gap_dB": int}
    kinds |= dict.fromkeys(("attempts_per_kept_shot", "rate", "low", "high"), float)
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Point(**{key: kinds.get(key, str)(value) for key, value in row.items()})
            for row in csv.DictReader(file)
        ]


def points_of_folder(folder: Path) -> Iterator[Point]:
    """The points of what ``figure end_to_end`` wrote: computed ones, and counted ones that have errors."""
    paths = [folder / name for name in ("end_to_end.csv", "end_to_end_computed.csv")]
    for row in sinter.read_stats_from_csv_files(*(path for path in paths if path.exists())):
        facts = row.json_metadata
        if facts["d2"] != 15 or facts.get("escape") != "matchable":
            continue
        key = ("ours", facts["d"], facts.get("variant", "published"), facts["g"], facts["p"])
        if row.decoder == FAULT_SETS:
            found = facts[ESTIMATE]
            low, high = found["interval"]
            yield Point(
                *key, "computed", facts[GAP], 1 / found["kept"], found["logical_error_rate"], low, high,
                "logical_error_rate",
            )  # fmt: skip
            continue
        counted = sinter_plugin.gap_points(row)
        for least in range(0, counted[-1].gap + 1, 10):
            point = next(point for point in counted if point.gap >= least)
            if point.errors:
                fit = sinter_plugin.error_rate(sinter.AnonTaskStats(shots=point.kept, errors=point.errors))
                attempts = point.attempts_per_kept_shot
                yield Point(*key, "counted", least, attempts, fit.best, fit.low, fit.high, row.decoder)


def with_new(points: Sequence[Point], new: Sequence[Point]) -> list[Point]:
    """The points, with new curves in the place of those with the same circuit, gate, strength and kind."""
    replaced = {(point.curve, point.gate, point.p, point.kind) for point in new}
    kept = [point for point in points if (point.curve, point.gate, point.p, point.kind) not in replaced]
    order = {key: k for k, key in enumerate(COLORS)}
    found = [*kept, *new]
    return sorted(
        found, key=lambda one: (order[one.curve], -one.p, one.gate == "S", one.kind, one.least_gap_dB)
    )


def write(points: Iterable[Point], path: Path) -> None:
    """Writes a file of points."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in dataclasses.fields(Point)])
        for point in points:
            writer.writerow(
                [f"{each:.4g}" if isinstance(each, float) else each for each in dataclasses.astuple(point)]
            )


def draw(points: Sequence[Point], path: Path) -> None:
    """Draws a panel for each strength of noise."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    mpl.rcParams["font.size"] = 12
    figure, panels = plt.subplots(1, 2, figsize=(11, 6), sharey=True, layout="constrained")
    for k, (axes, p) in enumerate(zip(panels, STRENGTHS, strict=True)):
        mine = [point for point in points if point.p == p]
        for key in dict.fromkeys((point.curve, point.gate, point.kind) for point in mine):
            curve, gate, kind = key
            chosen = [point for point in mine if (point.curve, point.gate, point.kind) == key]
            x = [point.attempts_per_kept_shot for point in chosen]
            y = [point.rate for point in chosen]
            low, high = [point.low for point in chosen], [point.high for point in chosen]
            style: dict[str, Any] = {"color": COLORS[curve]}
            if kind == "computed":
                axes.plot(x, y, "-" if gate == "T" else "--", linewidth=2, **style)
                axes.fill_between(x, low, high, alpha=0.25, linewidth=0, **style)
            else:
                bars = [
                    [a - b for a, b in zip(y, low, strict=True)],
                    [b - a for a, b in zip(y, high, strict=True)],
                ]
                face = COLORS[curve] if gate == "T" else "white"
                axes.errorbar(x, y, bars, fmt=MARKERS[curve], markersize=6, mfc=face, capsize=2, **style)
        for curve, (place, name) in LABELS[k].items():
            axes.text(*place, name, color=COLORS[curve], fontsize=11, weight="bold", va="center")
        axes.set(xscale="log", yscale="log", xlabel="attempts per kept shot", title=f"p = {p:g}")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
        axes.set_xticks([1, 2, 5, 10, 20, 50, 100, 200] if k == 0 else [1, 2, 3, 4, 5, 7, 10])
        axes.grid(alpha=0.3)
    panels[0].set(ylabel="logical error per kept shot", xlim=(1.5, 320))
    panels[1].set(xlim=(1.2, 11))
    shown: dict[str, Any] = {"color": "#444444"}
    handles: list[Any] = [
        Line2D([], [], linewidth=2, label="T gates, computed", **shown),
        Line2D([], [], linewidth=2, linestyle="--", label="S-proxy, computed", **shown),
        Line2D([], [], marker="o", linestyle="", label="T gates, counted", **shown),
        Line2D([], [], marker="o", linestyle="", mfc="white", label="S-proxy, counted", **shown),
        Patch(alpha=0.25, label="95%", **shown),
    ]
    panels[0].legend(handles=handles, loc="lower left", fontsize=10)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> int:
    """Reads, writes and draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path, metavar="FOLDER", help="take new curves from it")
    parser.add_argument("--data", type=Path, default=DATA, help="the file of points")
    parser.add_argument("--out", type=Path, default=Path("out/cultivation_end_to_end.png"), help="the plot")
    arguments = parser.parse_args()
    points = points_of_file(arguments.data)
    if arguments.folder is not None:
        points = with_new(points, list(points_of_folder(arguments.folder)))
        write(points, arguments.data)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    draw(points, arguments.out)
    print(f"{arguments.out} written: {len(points)} points.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
