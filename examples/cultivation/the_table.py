"""The table of cultivation: kept shots, attempts and logical errors, with T gates and as S-proxy.

    python -m examples.cultivation.the_table [--d 3 5 7 9] [--p 0.0001 0.001] [--seconds 60] [--out FOLDER]

For the distances 3, 5 (published and flagged), 7 and 9, at seven strengths p of uniform noise, computed from
fault sets to an error of 1% (--relative_error), or as far as --seconds a point allow (--seconds_d7 at
distances 7 and 9). Published numbers are printed beside it, with their sources. Results are files of Sinter's
statistics in OUT, so that the command, run again, goes on where it stopped: with more seconds, it computes
again the points whose error is still too large.

Errors in brackets are standard errors of the last digits. Where the 95% interval reaches farther than three
of them, as sets of many faults were sampled in vain or were not looked at, its far end is printed instead.
(If they were not looked at, P(kept) is a little too small.)

    python -m examples.cultivation.the_table --shots 1_000_000_000 [--d 3 5] [--p 0.001 0.002] [--gate T S]

counts shots of the published circuits instead, as Tables III and IV of the SOFT paper do (arXiv 2512.23037).
Square brackets are rates whose likelihood is within a factor 1000 of the best one, as in the paper. P-values
are two-sided, for the number of errors (or discards) given the exact rate.

    python -m examples.cultivation.the_table --sizes

prints the sizes of the circuits, as Table II of that paper does.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import sinter

from examples.cultivation.published import (
    EXACT,
    IMPORTANCE_SAMPLED,
    PROXY_SAMPLED,
    TABLE_II,
    TABLE_III,
    TABLE_IV,
)
from examples.cultivation.rates import (
    interval,
    likelihood_region,
    p_value,
    quotient,
    ratio,
    with_error,
    with_uncertainty,
)
from sinter_plugin.__main__ import main as sinter_plugin
from stim_nonclifford.generators.cultivation import (
    AVAILABLE_DISTANCES,
    VariantChoice,
    circuit_file_name,
    circuit_statistics,
    cultivation_circuit,
)
from stim_nonclifford.generators.cultivation.builder import GATE_CHOICES, GateChoice
from stim_nonclifford.generators.cultivation.stages.cat_trees import FLAGGED_CAT_TREES

STRENGTHS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005)
QUIET = () if sys.stderr.isatty() else ("--quiet",)
COLORS = {
    (3, "published"): "#3F9BD9",
    (5, "published"): "#C44E00",
    (5, "flagged"): "#00513B",
    (7, "published"): "#000000",
    (9, "published"): "#7A3E9D",
}
MARKERS = dict(zip(COLORS, "os^Dv", strict=True))


@dataclass(frozen=True)
class Point:
    """A circuit of the table.

    Attributes:
        d: Distance of the code.
        variant: Variant of the protocol.
        p: Strength of the noise.
        gate: "T" for T gates, "S" for the S-proxy.
    """

    d: int
    variant: VariantChoice
    p: float
    gate: GateChoice


@dataclass(frozen=True)
class Rate:
    """What is known of a point.

    Attributes:
        kept: Probability that a shot is kept.
        error: Probability that a kept shot is wrong.
        standard_error: Of `error`.
        interval: 95% interval of `error`.
        seconds: Seconds that it took.
    """

    kept: float
    error: float
    standard_error: float
    interval: tuple[float, float]
    seconds: float

    def __str__(self) -> str:
        if not self.error:
            return f"below {self.interval[1]:.2g}"
        return with_uncertainty(self.error, self.standard_error, self.interval)


Rates = dict[Point, Rate]
Counts = dict[Point, sinter.TaskStats]


def points_of(
    distances: Sequence[int], strengths: Sequence[float], gates: Sequence[GateChoice] = GATE_CHOICES
) -> Iterator[Point]:
    """The circuits of the table, those of small distances first."""
    variants: tuple[VariantChoice, ...] = ("published", "flagged")
    for d, variant in itertools.product(sorted(distances), variants):
        if variant == "published" or d in FLAGGED_CAT_TREES:
            for p, gate in itertools.product(sorted(strengths), gates):
                yield Point(d, variant, p, gate)


def write(point: Point, folder: Path) -> str:
    """Writes the file of a circuit, and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / circuit_file_name(
        distance=point.d, p=point.p, gate=point.gate, noise="uniform", variant=point.variant
    )
    cultivation_circuit(point.d, point.p, point.gate, variant=point.variant).to_file(path)
    return str(path)


def compute(point: Point, arguments: argparse.Namespace) -> int:
    """Has `python -m sinter_plugin estimate` compute a point and add it to the file.

    Returns:
        Its exit code: 1 if there are too many fault sets for the method, 130 after an interrupt.
    """
    path = write(point, arguments.out / "circuits")
    seconds = arguments.seconds_d7 if point.d >= 7 else arguments.seconds
    # Seeds differ, so that the errors of the numerator and of the denominator of a ratio are independent.
    seed = arguments.seed + (point.gate == "S")
    return sinter_plugin(
        [
            *("estimate", "--circuits", path, "--decoders", "soft_postselect", "--metadata_func", "auto"),
            *("--relative_error", str(arguments.relative_error), "--max_seconds", str(seconds)),
            *("--threads", str(arguments.threads), "--seed", str(seed), *QUIET),
            *("--save_resume_filepath", str(arguments.out / "the_table.csv")),
        ]
    )


def sample(points: Sequence[Point], arguments: argparse.Namespace) -> int:
    """Has `python -m sinter_plugin collect` take the shots that the file still lacks."""
    return sinter_plugin(
        [
            *("collect", "--circuits", *(write(point, arguments.out / "circuits") for point in points)),
            *("--decoders", "soft_postselect", "--postselect_detectors_with_non_zero_4th_coord", *QUIET),
            *("--metadata_func", "auto", "--processes", str(arguments.threads)),
            *(
                "--max_shots",
                str(arguments.shots),
                "--save_resume_filepath",
                str(arguments.out / "counts.csv"),
            ),
        ]
    )


def read(csv: Path) -> Counts:
    """The rows of a file."""
    found: Counts = {}
    for row in sinter.read_stats_from_csv_files(csv) if csv.exists() else ():
        about = row.json_metadata
        found[Point(about["d"], about.get("variant", "published"), about["p"], about["g"])] = row
    return found


def rates_of(rows: Counts) -> Rates:
    """The estimates that rows carry."""
    rates: Rates = {}
    for point, row in rows.items():
        found = row.json_metadata["estimate"]
        rates[point] = Rate(
            found["kept"],
            found["logical_error_rate"],
            found["standard_error"],
            (found["interval"][0], found["interval"][1]),
            found["seconds"],
        )
    return rates


def name_of(d: int, variant: str) -> str:
    """A circuit as tables and legends name it."""
    return f"d={d}" if variant == "published" else f"d={d}, {variant}"


def ratio_of(t: Rate | None, s: Rate | None) -> str:
    """T / S and its uncertainty, if both are known."""
    if t is None or s is None or not t.error or not s.error:
        return "-"
    return quotient(*((each.error, each.standard_error, each.interval) for each in (t, s)))


def published_rates(point: Point) -> str:
    """Published logical error rates of kept shots, with T gates, and their sources by letter."""
    if point.variant != "published":
        return ""
    found = []
    if (exact := EXACT.get((point.d, point.p))) is not None:
        found.append(f"{exact.error:.7g} (a)")
    if point.d == 5:
        if point.p in TABLE_III:
            found.append(f"{TABLE_III[point.p].rate:.3g}, {TABLE_III[point.p].errors} errors (b)")
        if point.p in IMPORTANCE_SAMPLED["T"]:
            value, error = IMPORTANCE_SAMPLED["T"][point.p]
            found.append(f"{with_error(value, error) if error else f'{value:.3g}'} (c)")
        if point.p in PROXY_SAMPLED and (counted := PROXY_SAMPLED[point.p]).errors:
            found.append(f"S: {counted.rate:.3g}, {counted.errors} errors (d)")
    return "; ".join(found)


SOURCES = """\
(a) exact, arXiv 2609.18922   (b) SOFT, arXiv 2512.23037, counted   (c) importance sampling, Clifft paper
(d) S-proxy, counted from samples of Gidney, Shutty and Jones, arXiv 2409.17595"""


def print_table(points: Sequence[Point], rates: Rates) -> None:
    """Prints a row for each circuit and strength."""
    head = f"{'circuit':<13}{'p':>7}{'kept':>13}{'attempts':>11}{'T gates':>26}{'S-proxy':>26}{'T / S':>20}"
    print(f"\n{head}{'seconds':>9}  published")
    for point in points:
        if point.gate != "T":
            continue
        t = rates.get(point)
        s = rates.get(Point(point.d, point.variant, point.p, "S"))
        known = [rate for rate in (t, s) if rate is not None]
        kept = known[0].kept if known else math.nan
        print(
            f"{name_of(point.d, point.variant):<13}{point.p:7g}{kept:13.6g}{1 / kept:11.4g}"
            f"{t or '-'!s:>26}{s or '-'!s:>26}{ratio_of(t, s):>20}"
            f"{sum(rate.seconds for rate in known):9.1f}  {published_rates(point)}".rstrip()
        )
    print(f"\n-: unknown, or too many faults for this method\n{SOURCES}")


def print_counts(counts: Counts) -> None:
    """Prints what was counted, beside exact rates and those of Tables IV and III of the paper."""
    print(f"\n{'circuit':<13}{'p':>7} g{'shots':>16}{'discarded':>11}{'exact':>11}{'p-value':>9}  Table IV")
    for point, row in counts.items():
        # The exact rates are those of T gates. The S-proxy has almost the same discards, but not exactly.
        of_t = point.gate == "T" and point.variant == "published"
        exact = EXACT.get((point.d, point.p)) if of_t else None
        paper = TABLE_IV.get(point.d, {}).get(point.p) if of_t else None
        kept = row.shots - row.discards
        print(
            f"{name_of(point.d, point.variant):<13}{point.p:7g} {point.gate}{row.shots:16,}"
            f"{row.discards / row.shots:11.5%}{f'{1 - exact.kept:.5%}' if exact else '':>11}"
            f"{p_value(kept, row.shots, exact.kept) if exact else '':>9}"
            f"{f'{paper:.2%}' if paper else '':>10}".rstrip()
        )
    print(
        f"\n{'circuit':<13}{'p':>7} g{'kept':>16}{'errors':>9}  {'error per kept shot':34}{'p-value':>9}",
        end="",
    )
    print("  published, among them Table III (b)")
    for point, row in counts.items():
        exact = EXACT.get((point.d, point.p)) if point.gate == "T" and point.variant == "published" else None
        kept = row.shots - row.discards
        print(
            f"{name_of(point.d, point.variant):<13}{point.p:7g} {point.gate}{kept:16,}{row.errors:9,}  "
            f"{interval(row.errors, kept):34}{p_value(row.errors, kept, exact.error) if exact else '':>9}"
            f"  {published_rates(point) if point.gate == 'T' else ''}".rstrip()
        )
    print()
    for point, row in counts.items():
        proxy = counts.get(dataclasses.replace(point, gate="S"))
        if point.gate == "T" and proxy is not None:
            quotient = ratio(row.errors, row.shots - row.discards, proxy.errors, proxy.shots - proxy.discards)
            print(f"{name_of(point.d, point.variant):<13}{point.p:7g} T / S: {quotient}")
    seconds = sum(row.seconds for row in counts.values())
    shots = sum(row.shots for row in counts.values())
    print(f"\n{shots:,} shots in {seconds:,.0f} s of all processes\n{SOURCES}")


def print_sizes(distances: Sequence[int]) -> None:
    """Prints the sizes of the circuits, beside those of Table II."""
    sizes = {d: dataclasses.asdict(circuit_statistics(cultivation_circuit(d))) for d in distances}
    print(f"{'':24}" + "".join(f"{f'd={d} here':>12}{'Table II':>10}" for d in distances))
    for name, published in TABLE_II.items():
        cells = "".join(f"{sizes[d][name]:12}{published.get(d, '-'):>10}" for d in distances)
        print(f"{name.replace('_', ' '):24}{cells}")
    print("\nWithout the perfect final check, but with the T gates before its logical measurement.")


LABEL_PLACES: dict[tuple[int, str], tuple[tuple[float, float] | None, tuple[float, float]]] = {
    (3, "published"): ((1.05e-4, 2.0e-8), (9, 6.0e-5)),
    (5, "published"): ((1.05e-4, 1.1e-11), (9, 2.5e-7)),
    (5, "flagged"): (None, (60, 7.0e-10)),
    (7, "published"): ((2.2e-4, 8.0e-16), (300, 4.0e-12)),
}
"""Where the curves of both panels have their names."""
FAR = 3.0
"""Bars that reach up by more than such a factor end in an arrow."""


def plot(points: Sequence[Point], rates: Rates, counts: Counts, path: Path) -> None:
    """Logical error rates against the noise strength, and against the attempts that they cost."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    mpl.rcParams["font.size"] = 14
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 6.6), sharey=True, layout="constrained")
    curves: dict[tuple[int, VariantChoice, str], list[Point]] = {}
    for point in points:
        if point in rates and rates[point].error:
            curves.setdefault((point.d, point.variant, point.gate), []).append(point)
    for (d, variant, gate), curve in curves.items():
        known = [rates[point] for point in curve]
        panels = [(left, [point.p for point in curve])]
        if gate == "T":
            panels.append((right, [1 / rate.kept for rate in known]))
        style: dict[str, Any] = {"color": COLORS[d, variant], "linestyle": "-" if gate == "T" else "--"}
        for k, (axes, places) in enumerate(panels):
            marker = MARKERS[d, variant]
            axes.plot(places, [rate.error for rate in known], marker=marker, markersize=4, **style)
            if gate == "T" and (at := LABEL_PLACES.get((d, variant), (None, None))[k]):
                axes.text(*at, name_of(d, variant), color=style["color"], weight="bold")
            for place, rate in zip(places, known, strict=True):
                low, high = rate.interval
                top = min(high, FAR * rate.error)
                axes.plot([place, place], [low, top], color=style["color"], linewidth=1.2)
                if high > top:
                    axes.plot([place], [top], marker="^", markersize=4, color=style["color"])
    for point, row in counts.items():
        kept = row.shots - row.discards
        if point in points and row.errors:
            low, best, high = likelihood_region(row.errors, kept)
            bar = [[best - low], [high - best]]
            style = {"color": COLORS[point.d, point.variant], "fmt": "o" if point.gate == "T" else "s"}
            left.errorbar([point.p], [best], bar, mfc="none", capsize=3, **style)
            if point.gate == "T":
                right.errorbar([row.shots / kept], [best], bar, mfc="none", capsize=3, **style)
    distances = {point.d for point in points}
    exact = [(p, each.error) for (d, p), each in EXACT.items() if d in distances]
    if exact:
        left.plot(*zip(*exact, strict=True), "x", color="black", markersize=9, zorder=5)
    handles = [
        Line2D([], [], color="#444444", label="T gates"),
        Line2D([], [], color="#444444", linestyle="--", label="S-proxy"),
        Line2D([], [], color="black", linestyle="", marker="x", markersize=9, label="exact, published"),
        Line2D([], [], color="#444444", marker="^", markersize=4, label="95% reaches beyond 3 times"),
    ]
    figure.legend(handles=handles, fontsize=13, loc="outside lower center", ncols=4)
    left.set(xlabel="strength p of the noise", ylabel="logical error per kept shot")
    right.set(xlabel="attempts per kept shot, T gates")
    right.tick_params(labelleft=True)
    for axes in (left, right):
        axes.set(xscale="log", yscale="log")
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=100)


def write_csv(points: Sequence[Point], rates: Rates, path: Path) -> None:
    """Writes the rates as a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = ("kept", "logical_error_rate", "standard_error", "low", "high", "seconds")
        writer.writerow(["d", "variant", "p", "gate", *names])
        for point in points:
            if point in rates:
                rate = rates[point]
                values = (rate.kept, rate.error, rate.standard_error, *rate.interval, rate.seconds)
                writer.writerow(
                    [point.d, point.variant, point.p, point.gate, *(f"{value:.10g}" for value in values)]
                )


def main() -> int:
    """Computes, prints and plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--distances", "--d", dest="d", type=int, nargs="+", choices=AVAILABLE_DISTANCES, default=[3, 5, 7]
    )
    parser.add_argument("--p", type=float, nargs="+", default=STRENGTHS, help="noise strengths")
    parser.add_argument("--gate", choices=GATE_CHOICES, nargs="+", default=GATE_CHOICES)
    parser.add_argument("--sizes", action="store_true", help="print the sizes of the circuits alone")
    parser.add_argument(
        "--shots", type=int, help="count so many shots of each circuit, with those of the file"
    )
    parser.add_argument("--relative_error", type=float, default=0.01, help="error over rate")
    parser.add_argument("--seconds", type=float, default=60, help="for a point, about")
    parser.add_argument("--seconds_d7", type=float, default=1800, help="the same at distances 7 and 9")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2, help="threads, or processes that sample")
    parser.add_argument("--out", type=Path, default=Path("out/the_table"), help="folder for rows and plot")
    parser.add_argument("--csv", type=Path, help="write the computed rates to this file, too")
    arguments = parser.parse_args()
    if arguments.sizes:
        print_sizes(arguments.d)
        return 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    points = list(points_of(arguments.d, arguments.p, arguments.gate))
    if arguments.shots:
        points = [point for point in points if point.variant == "published"]
        if code := sample(points, arguments):
            return code
    else:
        for point in points:
            if compute(point, arguments) == 130:
                return 130
    rates = rates_of(read(arguments.out / "the_table.csv"))
    found = read(arguments.out / "counts.csv")
    counts = {point: found[point] for point in points if point in found}
    if arguments.shots:
        print_counts(counts)
    else:
        print_table(points, rates)
        if arguments.csv is not None:
            write_csv(points, rates, arguments.csv)
    plot(points, rates, counts, arguments.out / "the_table.png")
    print(f"\nThe rows and the_table.png are in {arguments.out}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
