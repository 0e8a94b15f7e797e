"""The results of ``benchmarks.compare``: as lines, as a table, and as one kind of plot."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measuring import description
from benchmarks.simulators import OTHERS

CLIFFORD = "stim"
PLOTS = {
    "peers": "compare.png",
    "width": "growth/width.png",
    "mechanisms": "growth/mechanisms.png",
    "noise": "growth/noise.png",
    "first_shot_growth": "growth/first_shot.png",
    "estimates_growth": "fault_sets.png",
}
SECTIONS = {
    "peers": ("results/other_tools.md", "comparison"),
    "narrow": ("methods/cost.md", "narrow"),
    "surface": ("results/performance.md", "surface codes"),
    "first_shot": ("results/performance.md", "first shot"),
    "tracked": ("developers/releasing.md", "tracked"),
}
"""Pages of the documentation with a section that a suite fills, and its name."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
"""The palette of M. Okabe and K. Ito, whose colours remain distinct for colour-blind readers."""
MARKERS, STYLES = ("o", "s", "^", "D", "v"), ("-", ":", "--", "-.")
_CLAUSE = re.compile(r" \(|[;,.] ")
"""The end of what a table says of an error."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Value = Callable[[dict[str, Any], dict[str, Any]], float]
"""A figure of a row and of one of its results."""


def rate(row: dict[str, Any], found: dict[str, Any]) -> float:
    """Shots per second."""
    return float(found["rate"])


def at_x(row: dict[str, Any], found: dict[str, Any]) -> float:
    """The place on the horizontal axis."""
    return float(row["x"])


def events(row: dict[str, Any], found: dict[str, Any]) -> float:
    """Noise events of a shot."""
    return float(row["facts"]["mean_events"])


PANELS: dict[str, list[tuple[str, Value, str, Value]]] = {
    "width": [
        ("active coordinates", at_x, "shots per second", rate),
        ("active coordinates", at_x, "ns per coefficient and operation",
         lambda row, found: 1e9 / (found["rate"] * row["facts"]["coefficients"])),
    ],
    "mechanisms": [
        ("errors in the circuit", at_x, "shots per second", rate),
        ("errors in the circuit", at_x, "noise events per second",
         lambda row, found: found["rate"] * events(row, found)),
    ],
    "noise": [
        ("physical error probability p", at_x, "shots per second", rate),
        ("mean noise events per shot", events, "shots per second", rate),
    ],
    "estimates_growth": [
        ("mechanisms", lambda row, found: row["facts"]["mechanisms"], "processor seconds for an error of 1%",
         lambda row, found: found["first_cpu_seconds"]),
        ("mechanisms", lambda row, found: row["facts"]["mechanisms"], "memory (MiB)",
         lambda row, found: found["more_bytes"] / 2**20),
    ],
}  # fmt: skip
"""Of each plot: the label and the figure of both axes."""


def line_of(row: dict[str, Any]) -> str:
    """A row as it is printed."""
    place = "" if row["x"] is None else f", {row['plot']} {row['x']:g}"
    lines = [f"{row['name']}{place}, {row['mode']}"]
    facts = row.get("facts")
    for name, found in row["results"].items():
        if "problem" in found:
            lines.append(f"  {name:28}{found['problem']}")
            continue
        line = (
            f"  {name:28}first shot {found['first_seconds']:.3g} s ({found['first_cpu_seconds']:.3g} s CPU),"
        )
        line += (
            f" {found['first_bytes'] / 2**20:.0f} MiB ({found['more_bytes'] / 2**20:.0f} above the imports)"
        )
        if "rate" in found:
            shot = 1e9 / found["rate"]
            line = f"  {name:28}{found['rate']:.4g}/s, {shot:.3g} ns per shot"
            if facts and facts["mean_events"]:
                line += f" with {facts['mean_events']:.3g} events"
            if facts and facts["coefficients"]:
                line += f", {shot / facts['coefficients']:.3g} ns per coefficient and operation"
            line += f"; first shot after {found['first_seconds']:.2g} s"
            line += f"; {found['peak_bytes'] / 2**20:.0f} MiB {found['best']}"
        lines.append(line)
    return "\n".join(lines)


def table(results: dict[str, Any]) -> str:
    """The results as a table in Markdown, with the machine, the versions, and why figures are missing."""
    names = list(results["versions"])
    lines = [
        f"Medians of {results['repeats']} alternating runs of {results['seconds']:g} s."
        f" {description(results['machine'])}",
        "",
        f"| {results['suite']} | "
        + " | ".join(f"{name} {version}" for name, version in results["versions"].items())
        + " | ratio |",
        "|---" * (len(names) + 2) + "|",
    ]
    problems: dict[str, int] = {}
    for row in results["rows"]:
        place = "" if row["x"] is None else f", {row['plot']} {row['x']:g}"
        title = f"{row['name']}{place}" + (
            f", {row['mode']}" if results["suite"] in ("peers", "narrow") else ""
        )
        cells = []
        for name in names:
            found = row["results"].get(name)
            if found is None:
                cells.append("-")
            elif "problem" in found and found["problem"].startswith(">"):
                cells.append(found["problem"])
            elif "problem" in found:
                problem = f"{row['name']}{place}: {name}: {_CLAUSE.split(found['problem'])[0]}"
                cells.append(f"({problems.setdefault(problem, len(problems) + 1)})")
            elif "rate" in found:
                cells.append(_power_of_ten(found["rate"]))
            else:
                cells.append(f"{found['first_seconds']:.2g} s, {found['first_bytes'] / 2**20:.0f} MiB")
        lines.append(f"| {title} | {' | '.join(cells)} | {_ratio(row, results['suite'])} |")
    notes = [f"({k}) {problem}" for problem, k in problems.items()]
    return "\n".join([*lines, *([""] if notes else []), *(f"{note}\\" for note in notes[:-1]), *notes[-1:]])


def _ratio(row: dict[str, Any], suite: str) -> str:
    """Our rate over the best of the others. Beside simulators with T gates, Stim is not one of them."""
    rates = {name: found["rate"] for name, found in row["results"].items() if found.get("rate")}
    first = next(iter(row["results"]))
    names = [name for name in rates if name != first] if suite == "narrow" else OTHERS
    others = [rates[name] for name in names if name in rates and (name != CLIFFORD or suite != "peers")]
    return _power_of_ten(rates[first] / max(others)) if first in rates and others else ""


def _power_of_ten(value: float) -> str:
    """A number such as 1.6·10⁸; numbers below 1000 stay as they are."""
    if value < 1000:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def draw(results: dict[str, Any], path: Path) -> Path:
    """Draws a suite: bars if it has no horizontal axis, else a panel for each pair of axes.

    Names of workloads have colours, simulators have styles of lines.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    rows, names = results["rows"], list(results["versions"])
    if rows[0]["x"] is None:
        figure, axes = plt.subplots(figsize=(9, 1.4 + 0.4 * len(rows)))
        for k, name in enumerate(names):
            known = [
                (row["results"][name]["rate"], place)
                for place, row in enumerate(rows)
                if row["results"].get(name, {}).get("rate")
            ]
            label = f"{name}, S for T" if name == CLIFFORD else name
            shape: dict[str, Any] = {"marker": MARKERS[k % len(MARKERS)], "markersize": 11 if k == 0 else 8}
            face = "white" if name == CLIFFORD else COLOURS[k % len(COLOURS)]
            places = list(zip(*known, strict=True)) or [(), ()]
            axes.plot(*places, linestyle="", color=COLOURS[k % len(COLOURS)], mfc=face, label=label, **shape)
        axes.set_yticks(range(len(rows)), [f"{row['name']}, {row['mode']}" for row in rows], fontsize=12)
        axes.set(xscale="log")
        axes.set_xlabel("attempted shots per second, one core", fontsize=12)
        axes.tick_params(axis="x", labelsize=12)
        axes.invert_yaxis()
        axes.grid(alpha=0.3)
        # Above the points, as some of them reach every corner.
        columns = min(len(names), 3)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.3, 1), ncols=columns, frameon=False, fontsize=12)
    else:
        plots = dict.fromkeys(row["plot"] for row in rows)
        first: Value = lambda row, found: found["first_seconds"]  # noqa: E731
        panels = PANELS.get(
            results["suite"], [(plot, at_x, "seconds to the first shot", first) for plot in plots]
        )
        figure, several = plt.subplots(1, len(panels), figsize=(4.5 * len(panels), 3.8), squeeze=False)
        for axes, (x_label, x, y_label, y) in zip(several[0], panels, strict=True):
            mine = [row for row in rows if len(plots) == 1 or row["plot"] == x_label]
            _curves(axes, mine, names, x, y)
            axes.set(xlabel=x_label, ylabel=y_label, yscale="log")
            axes.grid(alpha=0.3)
        several[0][0].legend(fontsize=9)
    figure.tight_layout()
    memory = io.BytesIO()
    figure.savefig(memory, dpi=100)
    plt.close(figure)
    # With 64 colours the file is small.
    Image.open(memory).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def _curves(axes: Any, rows: list[dict[str, Any]], names: list[str], x: Value, y: Value) -> None:
    places = set()
    for k, series in enumerate(dict.fromkeys(row["name"] for row in rows)):
        for style, name in zip(STYLES, names, strict=False):
            curve = [
                (x(row, found), y(row, found))
                for row in rows
                if row["name"] == series
                and "problem" not in (found := row["results"].get(name, {"problem": ""}))
            ]
            if curve:
                label = series if len(names) == 1 else f"{series}, {name}"
                axes.plot(
                    *zip(*curve, strict=True),
                    style,
                    color=COLOURS[k],
                    marker=MARKERS[k],
                    markersize=4,
                    label=label,
                )
                places |= {place for place, _ in curve}
    if places and max(places) > 30 * min(places):
        axes.set_xscale("log")


HISTORY = "plots/data/speed.csv"
_SHOWN_COMMITS = 3


def with_history(results: dict[str, Any], docs: Path) -> str:
    """Stores what a commit reaches in the table of all commits; shows the last ones, and the goals.

    Args:
        results: The results of the suite ``tracked``.
        docs: The folder of the documentation.

    Returns:
        A table in Markdown: shots per second, or seconds where the first shot is what counts.
    """
    file = docs / HISTORY
    columns = ["commit", "machine", "load", "workload", "value"]
    rows: list[dict[str, str]] = []
    if file.exists():
        with file.open(encoding="utf-8", newline="") as stored:
            rows = [row for row in csv.DictReader(stored) if row["commit"] != results["commit"]]
    facts = results["machine"]
    goals: dict[str, float] = {}
    for row in results["rows"]:
        [found] = row["results"].values()
        name = f"{row['name']}, {row['mode']}"
        goals[name] = row["goal"]
        value = found.get("rate", found.get("first_cpu_seconds"))
        if value is not None:
            values = (results["commit"], facts["processor"], f"{facts['load']:.1f}", name, f"{value:.3g}")
            rows.append(dict(zip(columns, values, strict=True)))
    with file.open("w", encoding="utf-8", newline="") as stored:
        writer = csv.DictWriter(stored, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    commits = list(dict.fromkeys(row["commit"] for row in rows))[-_SHOWN_COMMITS:]
    reached = {(row["commit"], row["workload"]): float(row["value"]) for row in rows}
    lines = [f"| workload | {' | '.join(commits)} | goal |", "|---" * (len(commits) + 2) + "|"]
    for name, goal in goals.items():
        unit = "{:.2g} s" if goal < 100 else "{:.2g}/s"
        cells = [
            unit.format(reached[key]) if (key := (commit, name)) in reached else "-" for commit in commits
        ]
        lines.append(f"| {name} | {' | '.join(cells)} | {unit.format(goal)} |")
    return "\n".join([description(facts), "", *lines])


def filled(page: str, section: str, contents: str) -> str:
    r"""Replaces the contents of one section of a page.

    Args:
        page: The text of the page.
        section: The name of the section.
        contents: The new text between the marks of the section.

    Returns:
        The text with the new contents.

    Raises:
        ValueError: The page does not have both marks.

    Examples:
        >>> filled("a\n<!-- begin speed -->\nold\n<!-- end speed -->\nb", "speed", "new")
        'a\n<!-- begin speed -->\n\nnew\n\n<!-- end speed -->\nb'
    """
    begin, end = f"<!-- begin {section} -->", f"<!-- end {section} -->"
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"page has no section {section!r}: it must contain `{begin}` and, after it, `{end}`")
    return f"{before}{begin}\n\n{contents}\n\n{end}{after}"
