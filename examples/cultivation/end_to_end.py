"""Cultivation end to end into d2 = 15: logical error per kept shot against attempts, ours beside published.

    python -m examples.cultivation.end_to_end [--from FOLDER] [--out docs/plots]
    python -m examples.cultivation.end_to_end --costs [--published FILE ...]

Draws ``docs/plots/data/end_to_end.csv``, against attempts and against qubit-rounds. Each row is a point of a
curve: the shots whose gap is at least ``least_gap_dB`` are kept. ``FOLDER`` is one that
``stim-nonclifford figure end_to_end --out FOLDER`` wrote; its curves take the places of those in the file.
``--costs`` computes what an attempt costs on the average, in qubit-rounds, for our circuits and for FILES
such as ``e2e_t_d3_p1e-3.stim``, and writes ``qubit_rounds.csv`` beside the data. A round is six moments, as
in a cycle of the surface code; a qubit counts from its first gate to its last, and until a postselected
detector fires.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import itertools
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import sinter
import stim
from numpy.typing import NDArray

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin.commands.end_to_end_circuits import circuit_of_file
from sinter_plugin.statistics.csv_rows import ESTIMATE, FAULT_SETS
from sinter_plugin.statistics.estimates import GAP
from stim_nonclifford.generators.cultivation import VariantChoice, end_to_end_circuit

DATA = Path(__file__).parents[2] / "docs/plots/data/end_to_end.csv"
ROUND = 6
"""Moments of a cycle of the surface code."""
STRENGTHS = (1e-3, 5e-4)
COLORS = {
    ("ours", 3, "published"): "#3F9BD9",
    ("ours", 5, "published"): "#C44E00",
    ("ours", 5, "flagged"): "#00513B",
    ("published", 3, "published"): "#9A9A9A",
    ("published", 5, "published"): "#000000",
}
MARKERS = dict(zip(COLORS, "os^DX", strict=True))
_OURS_3, _OURS_5, _FLAGGED, _PUBLISHED_3, _PUBLISHED_5 = COLORS
NAMES = dict(
    zip(
        COLORS,
        ("d = 3", "d = 5", "d = 5,\nflagged", "d = 3,\npublished", "d = 5,\npublished"),
        strict=True,
    )
)
"""The names of the curves."""
LABELS: dict[tuple[str, float], dict[tuple[str, int, str], tuple[float, float]]] = {
    ("attempts", 1e-3): {
        _OURS_3: (1.6, 7.0e-7),
        _OURS_5: (10, 3.5e-7),
        _FLAGGED: (12, 1.2e-8),
        _PUBLISHED_3: (5.2, 4.0e-6),
        _PUBLISHED_5: (60, 2.5e-7),
    },
    ("attempts", 5e-4): {
        _OURS_3: (1.3, 1.7e-7),
        _OURS_5: (3.2, 1.5e-8),
        _FLAGGED: (4.4, 6.0e-10),
        _PUBLISHED_3: (2.1, 6.5e-7),
    },
    ("qubit_rounds", 1e-3): {
        _OURS_3: (4.4e3, 1.6e-6),
        _OURS_5: (9.0e3, 1.3e-7),
        _FLAGGED: (8.0e3, 1.2e-8),
        _PUBLISHED_3: (2.1e4, 6.0e-6),
        _PUBLISHED_5: (6.0e4, 2.5e-7),
    },
    ("qubit_rounds", 5e-4): {
        _OURS_3: (4.3e3, 1.7e-7),
        _OURS_5: (7.2e3, 1.5e-8),
        _FLAGGED: (9.2e3, 6.0e-10),
    },
}
"""Where the curves of a panel have their names."""


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


Costs = dict[tuple[tuple[str, int, str], float], float]
"""Qubit-rounds of an attempt, by curve and strength of noise."""


def qubit_rounds(
    circuit: snc.Circuit, shots: int = 40_000, postselected: NDArray[np.bool_] | None = None
) -> float:
    """Mean number of qubit-rounds that an attempt takes, until a postselected detector fires.

    By default, these detectors are those of the decoder ``desaturated``.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    records: list[int] = []
    moments: list[int] = []  # of the last record of each detector
    now = 0
    for instruction in circuit.to_stim().flattened():
        targets = instruction.targets_copy()
        if instruction.name == "TICK":
            now += 1
        elif instruction.name == "DETECTOR":
            moments.append(max((records[target.value] for target in targets), default=0))
        elif stim.gate_data(instruction.name).is_unitary or instruction.name[0] in "MR":
            for target in targets:
                if target.qubit_value is not None and "EXP_VAL" not in instruction.tag:
                    first.setdefault(target.qubit_value, now)
                    last[target.qubit_value] = now
        records += [now] * instruction.num_measurements
    end = max(last.values()) + 1
    busy = np.zeros(end + 1)
    for qubit, begin in first.items():
        busy[begin + 1 : last[qubit] + 2] += 1
    if postselected is None:
        with warnings.catch_warnings():  # only the detectors of the model are looked at
            warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
            model = circuit.detector_error_model(kind="noise_only", decompose_errors=False)
        postselected = sinter_plugin.DesaturatedGapDecoder().postselected_detectors(model)
    chosen = np.flatnonzero(postselected)
    fired = circuit.compile_detector_sampler(seed=1).sample(shots)[:, chosen]
    stops = np.where(fired, np.array(moments)[chosen] + 1, end).min(axis=1)
    return float(busy.cumsum()[stops].mean() / ROUND)


def write_costs(files: Sequence[Path], path: Path) -> None:
    """Writes the qubit-rounds of an attempt, of our circuits and of files."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["circuits", "d", "variant", "p", "qubit_rounds_per_attempt"])
        for (_, d, variant), p in itertools.product(list(COLORS)[:3], STRENGTHS):
            kind: VariantChoice = "flagged" if variant == "flagged" else "published"
            circuit = end_to_end_circuit(
                d, 15, p, "T", escape="matchable", variant=kind, postselected_rounds=0, rounds=6,
                readout="expectation_values",
            )  # fmt: skip
            writer.writerow(["ours", d, variant, p, f"{qubit_rounds(snc.Circuit(circuit)):.4g}"])
        for name in files:
            found = circuit_of_file(name, "T")
            facts = found.metadata
            writer.writerow(
                ["published", facts["d"], "published", facts["p"], f"{qubit_rounds(found.circuit):.4g}"]
            )


def costs_of_file(path: Path) -> Costs:
    """Reads what ``write_costs`` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            ((row["circuits"], int(row["d"]), row["variant"]), float(row["p"])): float(
                row["qubit_rounds_per_attempt"]
            )
            for row in csv.DictReader(file)
        }


def draw(points: Sequence[Point], costs: Costs, cost: str, path: Path) -> None:
    """Draws a panel for each strength of noise, against the ``"attempts"`` or the ``"qubit_rounds"``."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    mpl.rcParams["font.size"] = 15
    figure, panels = plt.subplots(1, 2, figsize=(11, 6.2), sharey=True, layout="constrained")
    against_attempts = cost == "attempts"
    for axes, p in zip(panels, STRENGTHS, strict=True):
        mine = [point for point in points if point.p == p and (against_attempts or (point.curve, p) in costs)]
        for key in dict.fromkeys((point.curve, point.gate, point.kind) for point in mine):
            curve, gate, kind = key
            chosen = [point for point in mine if (point.curve, point.gate, point.kind) == key]
            scale = 1.0 if against_attempts else costs[curve, p]
            x = [scale * point.attempts_per_kept_shot for point in chosen]
            y = [point.rate for point in chosen]
            low, high = [point.low for point in chosen], [point.high for point in chosen]
            style: dict[str, Any] = {"color": COLORS[curve]}
            if kind == "computed":
                axes.plot(x, y, "-" if gate == "T" else "--", linewidth=2.5, **style)
                axes.fill_between(x, low, high, alpha=0.25, linewidth=0, **style)
            else:
                bars = [
                    [a - b for a, b in zip(y, low, strict=True)],
                    [b - a for a, b in zip(y, high, strict=True)],
                ]
                face = COLORS[curve] if gate == "T" else "white"
                axes.errorbar(x, y, bars, fmt=MARKERS[curve], markersize=8, mfc=face, capsize=3, **style)
        for curve, place in LABELS[cost, p].items():
            axes.text(*place, NAMES[curve], color=COLORS[curve], fontsize=14, weight="bold", va="center")
        axes.set(xscale="log", yscale="log")
        axes.set_title(f"p = {p:g}")
        axes.set_xlabel("attempts per kept shot" if against_attempts else "qubit-rounds per kept shot")
        axes.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
        axes.xaxis.set_major_formatter("{x:g}" if against_attempts else "{x:,.0f}")
        axes.grid(alpha=0.3)
    left, right = panels
    left.set_ylabel("logical error per kept shot")
    if against_attempts:
        left.set_xticks([2, 5, 10, 20, 50, 100, 200])
        right.set_xticks([1, 2, 3, 5, 10])
        left.set_xlim(1.5, 330)
        right.set_xlim(1.2, 11)
    else:
        left.set_xticks([5000, 20_000, 100_000])
        right.set_xticks([5000, 10_000, 20_000])
        left.set_xlim(4e3, 4e5)
        right.set_xlim(4e3, 2.5e4)
    shown: dict[str, Any] = {"color": "#444444"}
    handles: list[Any] = [
        Line2D([], [], linewidth=2.5, label="T gates, computed, 95%", **shown),
        Line2D([], [], linewidth=2.5, linestyle="--", label="S-proxy, computed", **shown),
        Line2D([], [], marker="o", linestyle="", label="filled: T gates, counted", **shown),
        Line2D([], [], marker="o", linestyle="", mfc="white", label="open: S-proxy, counted", **shown),
    ]
    handles[0] = (handles[0], Patch(alpha=0.25, **shown))
    names = ["T gates, computed, 95%", *(handle.get_label() for handle in handles[1:])]
    figure.legend(handles, names, loc="outside lower center", fontsize=13, ncols=2)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> int:
    """Reads, writes and draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path, metavar="FOLDER", help="take new curves from it")
    parser.add_argument("--data", type=Path, default=DATA, help="the file of points")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the plots")
    parser.add_argument("--costs", action="store_true", help="compute qubit-rounds, and draw nothing")
    parser.add_argument("--published", type=Path, nargs="+", default=(), metavar="FILE", help="for --costs")
    arguments = parser.parse_args()
    costs = arguments.data.with_name("qubit_rounds.csv")
    if arguments.costs:
        write_costs(arguments.published, costs)
        print(f"{costs} written.")
        return 0
    points = points_of_file(arguments.data)
    if arguments.folder is not None:
        points = with_new(points, list(points_of_folder(arguments.folder)))
        write(points, arguments.data)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for cost, name in (("attempts", "end_to_end"), ("qubit_rounds", "qubit_rounds")):
        path = arguments.out / f"cultivation_{name}.png"
        draw(points, costs_of_file(costs), cost, path)
        print(f"{path} written: {len(points)} points.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
