"""Tables III and IV and the error-rate figure of the SOFT paper, computed from fault sets instead of sampled.

    python -m examples.fault_set_rates [--d 3 5] [--relative_error 0.01] [--out out/fault_set_rates.png]

For d=3 and d=5, with T gates and for the S-proxy, from p = 0.0001 to 0.005. Each curve is computed from one
search for fault sets. At d=5 and p > 0.002, where fewer than 1 of 300 shots is kept, the search is a second
one with a larger error (--strong_relative_error). Tables and plot show the results beside exact values,
counts and importance sampling from elsewhere.

Errors in brackets are standard errors of the last digits. Where the 95% interval reaches farther than three
of them, as sets of many faults were sampled in vain, its far end is printed instead.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

import stim_nonclifford as snc
from examples.published import (
    DISTANCES,
    EXACT,
    IMPORTANCE_SAMPLED,
    PROXY_SAMPLED,
    RATIOS,
    TABLE_III,
    TABLE_IV,
    Sampled,
)
from examples.rates import likelihood_region
from stim_nonclifford.cultivation import AVAILABLE_DISTANCES, cultivation_circuit
from stim_nonclifford.cultivation.builder import GATE_CHOICES, GateChoice
from stim_nonclifford.fault_sets.uncertainty import is_narrow

STRENGTHS = (0.0001, 0.0002, 0.0003, 0.0005, 0.0007, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.005)
STRONG = 0.0025
"""Noise at d=5 above which estimates are costly."""

Rates = dict[tuple[int, float, str], snc.LogicalErrorRate]


def estimate(
    d: int, gate: GateChoice, strengths: Sequence[float], error: float, arguments: argparse.Namespace
) -> Rates:
    """A curve, from one search."""
    circuits = [snc.Circuit(cultivation_circuit(distance=d, p=p, gate=gate)) for p in strengths]
    # Seeds differ, so that the errors of the numerator and of the denominator of a ratio are independent.
    seed = arguments.seed + (gate == "S")
    start = time.monotonic()
    found = snc.logical_error_rates(
        circuits, relative_error=error, seed=seed, threads=arguments.threads, postselection_mask="all"
    )
    name = f"d={d}, {gate}, p = {strengths[0]} to {strengths[-1]}"
    print(f"{name}: {len(found)} rates in {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
    return {(d, p, gate): rate for p, rate in zip(strengths, found, strict=True)}


def estimate_all(arguments: argparse.Namespace) -> Rates:
    """All curves."""
    rates: Rates = {}
    for d, gate in itertools.product(arguments.d, GATE_CHOICES):
        weak = [p for p in arguments.p if d == 3 or p < STRONG]
        strong = [p for p in arguments.p if p not in weak]
        if weak:
            rates |= estimate(d, gate, weak, arguments.relative_error, arguments)
        if strong:
            rates |= estimate(d, gate, strong, arguments.strong_relative_error, arguments)
    return rates


def with_uncertainty(value: float, error: float, interval: tuple[float, float]) -> str:
    """A value with its standard error, or with the far end of its 95% interval, if that is no guide.

    Examples:
        >>> with_uncertainty(3.3284e-9, 2.9e-11, (3.27e-9, 3.39e-9))
        '3.328(29)e-09'
        >>> with_uncertainty(1.958e-11, 9.2e-13, (1.78e-11, 2.7e-8))
        '1.958e-11 (to 2.7e-08)'
        >>> with_uncertainty(1.958e-11, 9.2e-13, (1e-15, 2e-11))
        '1.958e-11 (from 1e-15)'
    """
    low, high = interval
    if high - low < 1e-6 * value or is_narrow(value, error, interval):
        return with_error(value, error)
    far = f"to {high:.4g}" if high - value > value - low else f"from {low:.4g}"
    return f"{value:.4g} ({far})"


def with_error(value: float, error: float) -> str:
    """A value and its standard error with two digits.

    Examples:
        >>> with_error(3.3284e-9, 2.9e-11)
        '3.328(29)e-09'
        >>> with_error(9.7, 0.1234)
        '9.70(12)'
        >>> with_error(2e-9, 0.0)
        '2.000000e-09'
    """
    if not error:
        return f"{value:.6e}"
    exponent = 0 if 0.01 <= value < 1000 else math.floor(math.log10(value))
    digits = min(9, max(0, 1 - math.floor(math.log10(error / 10**exponent))))
    shown = f"{value / 10**exponent:.{digits}f}({round(error / 10**exponent * 10**digits)})"
    return shown + (f"e{exponent:+03}" if exponent else "")


Known = tuple[float, float, tuple[float, float]]
"""A value, its standard error, and its 95% interval."""


def known(rate: snc.LogicalErrorRate) -> Known:
    """What is known of a rate."""
    return rate.logical_error_rate, rate.standard_error, rate.interval


def ratio_of(t: Known, s: Known) -> Known:
    """T / S. Its interval is that of the farthest ends.

    Examples:
        >>> t = 2e-9, 2e-11, (1.96e-9, 2.04e-9)
        >>> with_uncertainty(*ratio_of(t, (1e-9, 1e-11, (0.98e-9, 1.02e-9))))
        '2.000(28)'
        >>> with_uncertainty(*ratio_of(t, (1e-9, 1e-11, (0.98e-9, 1e-7))))
        '2 (from 0.0196)'
    """
    ratio = t[0] / s[0]
    return ratio, ratio * math.hypot(t[1] / t[0], s[1] / s[0]), (t[2][0] / s[2][1], t[2][1] / s[2][0])


def print_discards(rates: Rates) -> None:
    """Discarded shots, as in Table IV."""
    print("\nDiscarded shots, in percent (Table IV)")
    print(f" d{'p':>8}{'T gates':>13}{'exact':>13}{'paper':>9}{'S-proxy':>13}")
    for d, p, gate in rates:
        if gate == "T":
            exact, paper = EXACT.get((d, p)), TABLE_IV.get(d, {}).get(p)
            print(
                f"{d:2}{p:8}{100 * (1 - rates[d, p, 'T'].kept):13.6f}"
                + (f"{100 * (1 - exact.kept):13.6f}" if exact else f"{'':13}")
                + (f"{100 * paper:9.2f}" if paper else f"{'':9}")
                + f"{100 * (1 - rates[d, p, 'S'].kept):13.6f}"
            )


def print_errors(rates: Rates) -> None:
    """Logical error rates, as in Table III, and the ratio T / S."""
    print(
        "\nLogical errors per kept shot (Table III), with the standard errors of the last digits in brackets,"
        " or the far end of the 95% interval"
    )
    columns = {
        "T gates": 25,
        "exact": 14,
        "SOFT (errors)": 16,
        "imp. sampling": 15,
        "S-proxy": 25,
        "imp. sampl. ": 15,
        "counted (errors)": 18,
        "T / S": 20,
    }
    widths = tuple(columns.values())
    print(f" d{'p':>8}" + "".join(f"{name:>{width}}" for name, width in zip(columns, widths, strict=True)))
    for d, p, gate in rates:
        if gate != "T":
            continue
        t, s = rates[d, p, "T"], rates[d, p, "S"]
        exact = EXACT.get((d, p))
        cells = [
            shown(t),
            f"{exact.error:.7g}" if exact else "",
            counted(TABLE_III, p) if d == 5 else "",
            elsewhere("T", p) if d == 5 else "",
            shown(s),
            elsewhere("S", p) if d == 5 else "",
            counted(PROXY_SAMPLED, p) if d == 5 else "",
            with_uncertainty(*ratio_of(known(t), known(s))),
        ]
        row = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        print(f"{d:2}{p:8}{row}")


def shown(rate: snc.LogicalErrorRate) -> str:
    """A rate as a cell of the table."""
    return with_uncertainty(*known(rate))


def elsewhere(gate: str, p: float) -> str:
    """What importance sampling gave."""
    value, error = IMPORTANCE_SAMPLED[gate].get(p, (None, None))
    if value is None:
        return ""
    return with_error(value, error) if error else f"{value:.3g}"


def counted(table: dict[float, Sampled], p: float) -> str:
    """A rate that was counted, with the number of errors."""
    return f"{table[p].rate:.3g} ({table[p].errors})" if p in table and table[p].errors else ""


def print_deviations(rates: Rates) -> None:
    """Compares with the exact values."""
    pulls = [
        (rates[d, p, "T"].logical_error_rate - exact.error) / rates[d, p, "T"].standard_error
        for (d, p), exact in EXACT.items()
        if (d, p, "T") in rates and not exact.series
    ]
    if pulls:
        squares = sum(pull**2 for pull in pulls)
        print(
            f"\n{len(pulls)} rates have a published exact value: they deviate by {max(map(abs, pulls)):.1f}"
            f" standard errors at most; the sum of squares is {squares:.1f}."
        )


def plot(rates: Rates, path: Path) -> None:
    """Rates, and the ratio T / S, against the noise strength."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6.5), width_ratios=(1.35, 1))
    colors = {(3, "T"): "C0", (3, "S"): "C9", (5, "T"): "C3", (5, "S"): "C1"}
    distances = sorted({d for d, _, _ in rates})
    for d, gate in itertools.product(distances, GATE_CHOICES):
        curve = {p: rate for (d_, p, g), rate in rates.items() if (d_, g) == (d, gate)}
        values = [rate.logical_error_rate for rate in curve.values()]
        errors = [
            [rate.logical_error_rate - rate.interval[0] for rate in curve.values()],
            [rate.interval[1] - rate.logical_error_rate for rate in curve.values()],
        ]
        style: dict[str, Any] = {"color": colors[d, gate], "linestyle": "-" if gate == "T" else "--"}
        name = f"d={d}, {'T gates' if gate == 'T' else 'S-proxy'}"
        left.errorbar(list(curve), values, errors, marker=".", capsize=2, label=name, **style)
    plot_published(left, distances)
    left.set(
        yscale="log", ylabel="logical error per kept shot", title="Logical error rate, with 95% intervals"
    )
    handles, labels = left.get_legend_handles_labels()
    left.legend(handles[1:] + handles[:1], labels[1:] + labels[:1], loc="lower right", fontsize=9)
    left.yaxis.set_major_locator(LogLocator(numticks=20))
    for d in distances:
        strengths = [p for d_, p, gate in rates if (d_, gate) == (d, "T")]
        ratios = [ratio_of(known(rates[d, p, "T"]), known(rates[d, p, "S"])) for p in strengths]
        right.errorbar(
            strengths,
            [value for value, _, _ in ratios],
            [
                [ratio - low for ratio, _, (low, _) in ratios],
                [high - ratio for ratio, _, (_, high) in ratios],
            ],
            marker=".",
            capsize=2,
            color=colors[d, "T"],
            label=f"d={d}, 95% intervals",
        )
    if 5 in distances:
        best, low, high = zip(*RATIOS.values(), strict=True)
        bars = [
            [b - x for b, x in zip(best, low, strict=True)],
            [x - b for b, x in zip(best, high, strict=True)],
        ]
        style = {"fmt": "s", "mfc": "none", "color": "black", "capsize": 3, "zorder": 5}
        right.errorbar(list(RATIOS), best, bars, label="d=5, S-proxy counted elsewhere", **style)
    right.set(yscale="log", ylabel="T / S", title="Ratio: T gates over S-proxy")
    right.legend(loc="upper right", fontsize=9)
    right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    right.yaxis.set_major_formatter("{x:g}")
    for axes in (left, right):
        axes.set(xscale="log", xlabel="physical error rate p")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(which="major", alpha=0.5)
        axes.grid(which="minor", alpha=0.15)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def plot_published(axes: Any, distances: Sequence[int]) -> None:
    """Exact values, counts and importance sampling of others."""
    exact = {(d, p): each.error for (d, p), each in EXACT.items() if d in distances and not each.series}
    if exact:
        axes.plot(
            [p for _, p in exact],
            list(exact.values()),
            "x",
            ms=9,
            color="black",
            zorder=6,
            label="T gates, exact",
        )
    if 5 not in distances:
        return
    for table, marker, name in (
        (TABLE_III, "s", "T gates, SOFT paper"),
        (PROXY_SAMPLED, "o", "S-proxy, Gidney et al."),
    ):
        points = {p: each for p, each in table.items() if each.errors}
        fits = [likelihood_region(each.errors, each.kept) for each in points.values()]
        bars = [[fit[1] - fit[0] for fit in fits], [fit[2] - fit[1] for fit in fits]]
        axes.errorbar(
            list(points),
            [fit[1] for fit in fits],
            bars,
            fmt=marker,
            mfc="none",
            ms=8,
            capsize=3,
            color="dimgray",
            label=f"d=5, {name} (counted)",
            zorder=4,
        )
    points_is = {p: (value, error or 0.0) for p, (value, error) in IMPORTANCE_SAMPLED["T"].items()}
    axes.errorbar(
        list(points_is),
        [v for v, _ in points_is.values()],
        [2 * e for _, e in points_is.values()],
        fmt="v",
        mfc="none",
        ms=7,
        capsize=3,
        color="purple",
        label="d=5, T gates, importance sampling",
        zorder=3,
    )


def main() -> int:
    """Computes, prints and plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", choices=AVAILABLE_DISTANCES, default=DISTANCES)
    parser.add_argument("--p", type=float, nargs="+", default=STRENGTHS, help="noise strengths")
    parser.add_argument("--relative_error", type=float, default=0.01, help="standard error over rate")
    parser.add_argument(
        "--strong_relative_error", type=float, default=0.05, help="the same for d=5 and p above 0.0025"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/fault_set_rates.png"), help="the plot")
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.p = sorted(arguments.p)
    start = time.monotonic()
    rates = estimate_all(arguments)
    seconds = time.monotonic() - start
    print_discards(rates)
    print_errors(rates)
    print_deviations(rates)
    print(f"\n{len(rates)} rates in {seconds:.0f} s with {arguments.threads} threads.", end=" ")
    plot(rates, arguments.out)
    print(f"{arguments.out} written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
