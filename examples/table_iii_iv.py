"""Discard rates and logical error rates: Tables III and IV and the error-rate figure of the SOFT paper.

    python -m examples.table_iii_iv [--shots 1000000000] [--d 3 5] [--p 0.001 0.002]

Collects every circuit, with T gates and as S-proxy, up to --shots attempted shots through Sinter. Then it
prints the counts beside the published values, and draws a plot. Statistics are stored in --csv: a second run
with more --shots, or for other circuits, collects only the missing shots.

Square brackets are the ranges of rates whose likelihood is within a factor 1000 of the best one, as in the
paper. P-values are two-sided, for the number of errors (or discards) given the exact rate.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import sinter

import sinter_plugin
from examples.published import (
    CONJECTURED,
    DISTANCES,
    EXACT,
    PROXY_SAMPLED,
    STRENGTHS,
    TABLE_III,
    TABLE_IV,
    Sampled,
)
from examples.rates import LIKELIHOOD_FACTOR, interval, p_value, ratio
from stim_nonclifford.cultivation import AVAILABLE_DISTANCES, circuit_file_name, cultivation_circuit
from stim_nonclifford.cultivation.builder import GATE_CHOICES, GateChoice

NAMES = {"T": "T gates", "S": "S-proxy"}

Key = tuple[int, float, str]
Stats = dict[Key, sinter.TaskStats]


def task(d: int, p: float, gate: GateChoice) -> sinter.Task:
    """The task that `sinter collect --metadata_func auto` would construct from the circuit's file."""
    circuit = cultivation_circuit(distance=d, p=p, gate=gate)
    name = circuit_file_name(distance=d, p=p, gate=gate, noise="uniform")
    return sinter_plugin.task(
        circuit,
        decoder="soft_postselect",
        postselection_mask="all",
        json_metadata=sinter.comma_separated_key_values(name),
    )


def collect(keys: Sequence[tuple[int, float, GateChoice]], shots: int, csv: Path, workers: int) -> Stats:
    """Collects the shots that the file still lacks, and returns the statistics of the given circuits."""
    tasks = {task(*key).strong_id(): (key, task(*key)) for key in keys}
    sinter.collect(
        num_workers=workers,
        tasks=[each for _, each in tasks.values()],
        custom_decoders=sinter_plugin.sinter_samplers(),
        max_shots=shots,
        save_resume_filepath=csv,
        print_progress=sys.stderr.isatty(),
    )
    rows = sinter.read_stats_from_csv_files(csv)
    return {tasks[row.strong_id][0]: row for row in rows if row.strong_id in tasks}


def published(counts: Sampled) -> str:
    """A published rate with the error bar of its counts."""
    _, region = interval(counts.errors, counts.kept).split(" ", 1)
    return f"{counts.rate:.4g} {region}"


def print_discards(stats: Stats) -> None:
    """Prints the discard rates, beside those of Table IV of the paper."""
    print("\nDiscarded shots (Table IV)")
    header = ("shots", "discards", "rate", "exact", "p-value", "paper")
    print(f" d{'p':>8}{'':10}{{:>16}}{{:>16}}{{:>11}}{{:>11}}{{:>9}}{{:>9}}".format(*header))
    for (d, p, gate), row in stats.items():
        # The exact rates are those of T gates. The S-proxy has almost the same discards, but not exactly.
        exact = EXACT.get((d, p)) if gate == "T" else None
        paper = TABLE_IV[d].get(p) if gate == "T" and d in TABLE_IV else None
        line = (
            f"{d:2}{p:8} {NAMES[gate]:9}{row.shots:16,}{row.discards:16,}{row.discards / row.shots:11.5%}"
            + (f"{1 - exact.kept:11.5%}" if exact else f"{'':11}")
            + (f"{p_value(row.shots - row.discards, row.shots, exact.kept):>9}" if exact else f"{'':9}")
            + (f"{paper:9.2%}" if paper else "")
        )
        print(line.rstrip())


def print_errors(stats: Stats) -> None:
    """Prints the logical error rates, beside those of Table III of the paper."""
    print("\nLogical errors among kept shots (Table III)")
    print(f" d{'p':>8} {'':26}{'kept':>16}{'errors':>8}  {'rate':38}p-value")

    def line(what: str, kept: float | str, errors: int | str, rate: str, chance: str = "") -> None:
        number = kept if isinstance(kept, str) else f"{kept:,.0f}"
        print(f"{d:2}{p:8} {what:26}{number:>16}{errors:>8}  {rate:38}{chance}".rstrip())

    for d, p in dict.fromkeys((d, p) for d, p, _ in stats):
        here = {gate: stats[d, p, gate] for gate in GATE_CHOICES if (d, p, gate) in stats}
        exact, paper = EXACT.get((d, p)), TABLE_III.get(p) if d == 5 else None
        for gate, row in here.items():
            kept = row.shots - row.discards
            chance = p_value(row.errors, kept, exact.error) if exact and gate == "T" else ""
            line(f"{NAMES[gate]}, here", kept, row.errors, interval(row.errors, kept), chance)
            if gate == "T" and exact:
                line(f"T gates, {'series' if exact.series else 'exact'}", "", "", f"{exact.error:.6g}")
            if gate == "T" and paper and exact:
                chance = p_value(paper.errors, paper.kept, exact.error)
                line("T gates, SOFT paper", paper.kept, paper.errors, published(paper), chance)
        if d == 5 and p in PROXY_SAMPLED:
            proxy = PROXY_SAMPLED[p]
            line("S-proxy, Gidney et al.", proxy.kept, proxy.errors, published(proxy))
            line("conjectured from S-proxy", "", "", f"{CONJECTURED[p]:.3g}")
        if len(here) == 2:
            counts = [(row.errors, row.shots - row.discards) for row in (here["T"], here["S"])]
            line("ratio T / S, here", "", "", ratio(*counts[0], *counts[1]))


def plot(stats: Stats, path: Path) -> None:
    """Plots error rates and kept fractions against the noise strength, with axes as in the paper's figure."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 7))
    options: dict[str, Any] = {
        "stats": stats.values(),
        "x_func": lambda row: row.json_metadata["p"],
        "group_func": lambda row: f"d={row.json_metadata['d']}, {NAMES[row.json_metadata['g']]}",
    }
    sinter.plot_error_rate(ax=left, highlight_max_likelihood_factor=LIKELIHOOD_FACTOR, **options)
    sinter.plot_custom(ax=right, y_func=lambda row: (row.shots - row.discards) / row.shots, **options)
    shown = {(d, p) for d, p, _ in stats}
    for d in sorted({d for d, _ in shown}):
        strengths = [p for p in STRENGTHS if (d, p) in shown & EXACT.keys()]
        exact = [EXACT[d, p] for p in strengths]
        style: dict[str, Any] = {"marker": "x", "s": 90, "color": "black", "zorder": 10}
        left.scatter(strengths, [e.error for e in exact], **style, label=f"d={d}, T gates, exact")
        right.scatter(strengths, [e.kept for e in exact], **style, label=f"d={d}, T gates, exact")
    elsewhere = ((TABLE_III, "s", "T gates, SOFT paper"), (PROXY_SAMPLED, "o", "S-proxy, Gidney et al."))
    for source, marker, name in elsewhere:
        rates = {p: each.rate for p, each in source.items() if each.errors and (5, p) in shown}
        if rates:
            style = {"marker": marker, "s": 60, "facecolors": "none", "color": "red", "zorder": 11}
            left.scatter(list(rates), list(rates.values()), **style, label=f"d=5, {name}")
    for axes, title in ((left, "logical error per kept shot"), (right, "kept fraction of shots")):
        axes.set(xscale="log", yscale="log", xlabel="physical error rate p", title=title)
        axes.grid(which="both", alpha=0.3)
        axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> int:
    """Collects, prints and plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shots", type=int, default=10**9, help="attempted shots per circuit, in total")
    parser.add_argument("--d", type=int, nargs="+", choices=AVAILABLE_DISTANCES, default=DISTANCES)
    parser.add_argument("--p", type=float, nargs="+", default=STRENGTHS, help="noise strengths")
    parser.add_argument("--gate", choices=GATE_CHOICES, nargs="+", default=GATE_CHOICES)
    parser.add_argument("--workers", type=int, default=2, help="processes that sample")
    parser.add_argument("--csv", type=Path, default=Path("out/table_iii_iv.csv"), help="Sinter's statistics")
    parser.add_argument("--out", type=Path, default=Path("out/table_iii_iv.png"), help="the plot")
    arguments = parser.parse_args()
    for path in (arguments.csv, arguments.out):
        path.parent.mkdir(parents=True, exist_ok=True)
    keys = [(d, p, gate) for d in arguments.d for p in arguments.p for gate in arguments.gate]
    start = time.monotonic()
    stats = collect(keys, arguments.shots, arguments.csv, arguments.workers)
    wall = time.monotonic() - start
    stats = {key: stats[key] for key in keys if key in stats}
    print_discards(stats)
    print_errors(stats)
    shots, seconds = sum(row.shots for row in stats.values()), sum(row.seconds for row in stats.values())
    print(f"\nThis run: {wall:.0f} s, {arguments.workers} workers.", end=" ")
    print(f"In total: {shots:,} shots in {seconds:,.0f} worker seconds:", end=" ")
    print(f"{shots / max(seconds, 1e-9):,.0f} shots per second.")
    plot(stats, arguments.out)
    print(f"{arguments.out} written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
