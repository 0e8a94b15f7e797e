"""``python -m sinter_plugin plot-gap``: logical error against attempts per kept shot, counted and computed.

Rows with counts by confidence gap are curves: each gap is a threshold below which shots are discarded. So are
computed rows of several least gaps with the same label. All others are points. All have 95% intervals.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sinter

from ..statistics.csv_rows import ESTIMATE, FAULT_SETS
from ..statistics.estimates import COVERAGE, GAP, error_rate
from ..statistics.gap_points import counts_of, gap_points, has_gaps

_MARKERS = "osD^vP*X"
_LINES = ("-", "--", "-.")
_MOST_INSIDE = 6
"""If there are more curves, the legend is beside the picture, which is larger."""


@dataclasses.dataclass(frozen=True)
class GapCurve:
    """What is drawn of one row."""

    label: str  # its name in the legend
    attempts: list[float]  # shots for each kept shot
    # the logical error rate per kept shot and its interval; ``best`` is None if no error was seen
    rates: list[sinter.Fit]
    is_curve: bool  # whether the points are thresholds of one row
    is_computed: bool  # whether they are computed from fault sets


def plot_gap(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        prog="python -m sinter_plugin plot-gap",
        description="Draws the logical error rate per kept shot against attempts per kept shot.",
    )
    add = parser.add_argument
    add("paths", nargs="+", metavar="FILE", help="CSV files of collect and estimate.")
    add("--out", metavar="FILE", help="File of the picture; without it, a window opens.")
    add(
        "--group_func",
        metavar="EXPRESSION",
        default="f'{decoder} {metadata}'",
        help="Python expression for the label of a row, as for `sinter plot`, with decoder, metadata and m"
        " (fields of the metadata): for example \"f'{decoder} d={m.d}'\". Default: decoder and metadata.",
    )
    rows_drawn = "Python expression: which rows are drawn."
    add("--filter_func", metavar="EXPRESSION", default="True", help=rows_drawn)
    add("--title", default="", help="Title of the picture.")
    args = parser.parse_args(arguments)
    rows = sinter.read_stats_from_csv_files(*args.paths)
    chosen = [row for row in rows if _evaluated("--filter_func", args.filter_func, row)]
    curves = curves_of(chosen, lambda row: str(_evaluated("--group_func", args.group_func, row)))
    if not curves:
        raise ValueError("No row has a kept shot, so that there is nothing to draw.")
    draw(curves, args.title, args.out)
    return 0


def curves_of(
    rows: Iterable[sinter.TaskStats], label_of: Callable[[sinter.TaskStats], str]
) -> list[GapCurve]:
    """What is drawn of rows of statistics; rows without a kept shot are left out."""
    found: list[GapCurve] = []
    by_gap: dict[str, GapCurve] = {}  # computed rows with a label and a least gap are points of one curve
    for row in rows:
        is_computed, is_curve = row.decoder == FAULT_SETS, has_gaps(row)
        attempts: list[float] = []
        if is_curve:
            points = [point for point in gap_points(row) if point.kept]
            attempts = [point.attempts_per_kept_shot for point in points]
            rates = [error_rate(counts_of(point)) for point in points]
        else:
            counted = (row.shots - row.discards) / max(row.shots, 1)
            kept = row.json_metadata[ESTIMATE].get("kept") if is_computed else counted
            attempts, rates = [1 / kept] if kept else [], [error_rate(row)]
        if not attempts:
            continue
        curve = GapCurve(label_of(row), attempts, rates, is_curve, is_computed)
        known = by_gap.setdefault(curve.label, curve) if is_computed and GAP in row.json_metadata else curve
        if known is curve:
            found.append(curve)
        else:
            known.attempts.extend(attempts)
            known.rates.extend(rates)
    return [dataclasses.replace(one, is_curve=one.is_curve or len(one.attempts) > 1) for one in found]


def _evaluated(flag: str, expression: str, row: sinter.TaskStats) -> Any:
    metadata = row.json_metadata
    fields = metadata if isinstance(metadata, dict) else {}
    shown = {key: value for key, value in fields.items() if key != ESTIMATE} if fields else metadata
    values = {"decoder": row.decoder, "metadata": shown, "m": _Fields(fields), "stat": row, "math": math}
    try:
        return eval(expression, values)
    except Exception as error:
        raise ValueError(f"{flag} {expression!r} fails for the row of {shown!r}: {error!r}.") from None


class _Fields:
    """The fields of metadata as attributes; None where there is none, as in ``sinter plot``."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        return self._fields.get(name)


def draw(curves: Sequence[GapCurve], title: str, out: str | None) -> None:
    """Draws curves and points. Counted curves are dotted where they are computed, too, in the same colour."""
    if out is not None:
        import matplotlib as mpl

        mpl.use("agg")
    import matplotlib.pyplot as plt

    labels = list(dict.fromkeys(curve.label for curve in curves))
    computed = {curve.label for curve in curves if curve.is_computed}
    is_crowded = len(curves) > _MOST_INSIDE
    figure, ax = plt.subplots(figsize=(11.0, 6.0) if is_crowded else (7.5, 5.0), layout="constrained")
    for curve in curves:
        k = labels.index(curve.label)
        colour, marker = f"C{k % 10}", _MARKERS[k // 10 % len(_MARKERS)]
        known = [(x, fit) for x, fit in zip(curve.attempts, curve.rates, strict=True) if fit.best is not None]
        label = f"{curve.label} (computed)" if curve.is_computed else curve.label
        xs, ys = [x for x, _ in known], [fit.best for _, fit in known]
        if curve.is_curve:
            is_beside = curve.label in computed and not curve.is_computed
            style = ":" if is_beside else _LINES[k // 10 % len(_LINES)]
            ax.plot(xs, ys, style, color=colour, label=label, linewidth=1.2)
            # Where no error was counted, the band reaches down to 0, over what is computed.
            shown = known if is_beside else list(zip(curve.attempts, curve.rates, strict=True))
            lows, highs = [fit.low for _, fit in shown], [fit.high for _, fit in shown]
            ax.fill_between([x for x, _ in shown], lows, highs, color=colour, alpha=0.2, linewidth=0)
        elif known:
            errors = [[fit.best - fit.low for _, fit in known], [fit.high - fit.best for _, fit in known]]
            face = "none" if curve.is_computed else colour
            ax.errorbar(
                xs, ys, errors, fmt=marker, color=colour, markerfacecolor=face, label=label, capsize=3
            )
        else:  # no error was seen: an upper end alone
            highs = [fit.high for fit in curve.rates]
            ax.plot(curve.attempts, highs, "v", color=colour, label=f"{label}, upper end", fillstyle="none")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="attempts per kept shot",
        ylabel="logical error rate per kept shot",
        title=title or f"bands and bars: {COVERAGE:.0%} intervals",
    )
    ax.grid(alpha=0.3, which="both")
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if is_crowded else {}
    ax.legend(fontsize="small", **place)
    if out is None:
        plt.show()
    else:
        figure.savefig(pathlib.Path(out), dpi=150)
    plt.close(figure)
