"""How often a prediction with a given complementary gap is wrong, on a surface code or on a color code.

    python -m examples.gap_calibration [--code color] [--shots 2000000] [--out out]

Collects with `soft_pymatching_gap`, or `soft_chromobius_gap`, through Sinter, and plots the share of wrong
predictions at each gap beside the one that the gap stands for. The second plot is the curve of logical error
against the fraction of shots that a threshold of the gap keeps.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

import matplotlib as mpl
import sinter
import stim

import sinter_plugin
from stim_nonclifford.generators.cultivation.color_code import ColorCode

mpl.use("Agg")

P = 0.005
LEAST_ERRORS = 4  # with fewer, the bars of a point reach over a factor of ten
COLORS = {3: "#3F9BD9", 5: "#C44E00"}
MARKERS = {3: "o", 5: "s"}


def surface_code(distance: int, p: float) -> stim.Circuit:
    """A rotated surface code with as many rounds as its distance."""
    return stim.Circuit.generated(
        "surface_code:rotated_memory_x",
        distance=distance,
        rounds=distance,
        after_clifford_depolarization=p,
        before_measure_flip_probability=p,
    )


def color_code(distance: int, p: float) -> stim.Circuit:
    """A triangular color code with as many rounds as its distance.

    Its checks are measured as products, each wrong with probability p, after depolarizing noise on the data.
    """
    code = ColorCode.triangular(distance)
    number = {site: k for k, site in enumerate(code.data)}
    data = range(len(code.data))
    checks = stim.Circuit()
    detectors = stim.Circuit()
    lookback = 2 * len(code.tiles)
    for k, (tile, first) in enumerate((tile, first) for tile in code.tiles for first in (0, 3)):
        factors = [stim.target_pauli(number[site], "XZ"[first // 3]) for site in tile.data]
        checks.append("MPP", stim.target_combined_paulis(factors), p)
        records = [stim.target_rec(k - lookback), stim.target_rec(k - 2 * lookback)]
        detectors.append("DETECTOR", records, (*tile.x_ancilla, 0, first + tile.color))
    circuit = stim.Circuit()
    circuit.append("RX", data)
    circuit += checks.without_noise()
    round_of_noise = stim.Circuit()
    round_of_noise.append("DEPOLARIZE1", data, p)
    circuit += (round_of_noise + checks + detectors) * distance
    circuit += checks.without_noise() + detectors
    circuit.append("MX", data)
    circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1 - k) for k in data], 0)
    return circuit


CODES = {"surface": (surface_code, "soft_pymatching_gap"), "color": (color_code, "soft_chromobius_gap")}
"""The circuits and their decoders."""


def collected(code: str, shots: int, path: pathlib.Path, processes: int) -> list[sinter.TaskStats]:
    """Collects, or continues from the file."""
    circuit, decoder = CODES[code]
    sinter.collect(
        num_workers=processes,
        tasks=[sinter.Task(circuit=circuit(d, P), json_metadata={"d": d, "p": P}) for d in (3, 5)],
        decoders=[decoder],
        custom_decoders=sinter_plugin.sinter_samplers(),
        max_shots=shots,
        save_resume_filepath=path,
    )
    return sinter_plugin.read_gap_stats(path)


def with_error_bars(axes: Any, xs: list[float], fits: list[sinter.Fit], **style: Any) -> None:
    """Points whose bars are Sinter's intervals."""
    best = [fit.best for fit in fits]
    bars = [[fit.best - fit.low for fit in fits], [fit.high - fit.best for fit in fits]]
    axes.errorbar(xs, best, bars, capsize=2, markersize=4.5, linestyle="", **style)


def plot(stats: list[sinter.TaskStats], path: pathlib.Path) -> None:
    """Draws both plots, of gaps with at least ``LEAST_ERRORS`` wrong predictions."""
    import matplotlib.pyplot as plt

    mpl.rcParams["font.size"] = 14
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    gaps: set[int] = set()
    for one in sorted(stats, key=lambda one: one.json_metadata["d"]):
        d = one.json_metadata["d"]
        style = {"label": f"d={d}", "color": COLORS[d], "marker": MARKERS[d]}
        seen = [point for point in sinter_plugin.gap_calibration(one) if point.errors >= LEAST_ERRORS]
        with_error_bars(left, [point.gap for point in seen], [point.error_rate for point in seen], **style)
        gaps.update(point.gap for point in seen)
        points = [point for point in sinter_plugin.gap_points(one) if point.errors >= LEAST_ERRORS]
        kept = [point.kept_fraction.best for point in points]
        with_error_bars(right, kept, [point.error_rate for point in points], **style)
    xs = range(max(gaps, default=0) + 1)
    left.plot(xs, [1 / (1 + 10 ** (gap / 10)) for gap in xs], "k--", label="what the gap stands for")
    left.set(xlabel="complementary gap (dB)", ylabel="share of wrong predictions", yscale="log")
    right.set(xlabel="kept fraction of the attempts", ylabel="logical error of kept shots", yscale="log")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    left.legend()
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--code", choices=CODES, default="surface", help="the family of codes")
    parser.add_argument("--shots", type=int, default=2_000_000, help="shots per circuit")
    parser.add_argument("--processes", type=int, default=2, help="number of workers")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder for results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    prefix = "" if args.code == "surface" else f"{args.code}_code_"
    stats = collected(args.code, args.shots, args.out / f"{prefix}gap_stats.csv", args.processes)
    sinter_plugin.write_gap_points(stats, args.out / f"{prefix}gap_points.csv")
    plot(stats, args.out / f"{prefix}gap_calibration.png")
    print(
        f"Wrote {prefix}gap_stats.csv, {prefix}gap_points.csv and {prefix}gap_calibration.png to {args.out}."
    )


if __name__ == "__main__":
    main()
