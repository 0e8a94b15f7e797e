"""The results of ``benchmarks.compare`` as a table and a plot in ``docs/performance.md``.

    python -m benchmarks.compare_report out/compare.json

replaces the comparison section of that page, and its plot.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks.growth_plots import COLOURS, save
from benchmarks.machine import description
from benchmarks.pages import filled

__all__ = ["draw", "table"]

OURS = "stim_nonclifford"
CLIFFORD = "stim"
"""This simulator runs S in place of T, so it does not simulate the same circuit as the others."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def table(results: dict[str, Any]) -> str:
    """The comparison in Markdown.

    Args:
        results: The contents of the file that ``benchmarks.compare`` writes.

    Returns:
        Lines with the machine and versions, a table with a row for each workload and mode, and the reasons
        why figures are missing.
    """
    names = list(results["versions"])
    lines = [
        f"Attempted shots per second on one core: medians of {results['repeats']} alternating runs of"
        f" {results['seconds']:g} s. The last column is the rate of stim_nonclifford divided by that of the"
        " fastest other simulator of the same gates. `stim` runs S in place of T, and is not one of them.",
        f"{description(results['machine'])}.",
        "",
        "| workload, mode | width | "
        + " | ".join(f"{name} {version}" for name, version in results["versions"].items())
        + " | ratio |",
        "|---" * (len(names) + 3) + "|",
    ]
    problems: list[str] = []
    for row in results["rows"]:
        cells = []
        for name in names:
            result = row["results"][name]
            if result["problem"]:
                problems.append(f"{row['workload']}, {row['mode']}: {name}: {result['problem']}")
                cells.append(f"({len(problems)})")
            else:
                cells.append(_power_of_ten(result["rate"]))
        lines.append(
            f"| {row['workload']}, {row['mode']} | {row['width']} | {' | '.join(cells)} | {_ratio(row)} |"
        )
    notes = [f"({k}) {problem}" for k, problem in enumerate(problems, start=1)]
    return "\n".join([*lines, *([""] if notes else []), *(f"{note}\\" for note in notes[:-1]), *notes[-1:]])


def draw(results: dict[str, Any], path: Path) -> Path:
    """Draws the rates of all simulators on a logarithmic axis, and returns the path of the plot."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names, rows = list(results["versions"]), results["rows"]
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.45 * len(rows)))
    for k, name in enumerate(names):
        places = [row + 0.8 * k / len(names) for row in range(len(rows))]
        rates = [row["results"][name]["rate"] for row in rows]
        label = f"{name} (S in place of T)" if name == CLIFFORD else name
        axes.barh(places, rates, height=0.8 / len(names), label=label, color=COLOURS[k % len(COLOURS)])
    axes.set_yticks(
        [row + 0.4 for row in range(len(rows))], [f"{row['workload']}, {row['mode']}" for row in rows]
    )
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel("attempted shots per second, one core")
    axes.margins(y=0.01)
    # Above the bars, as some of them reach every corner.
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(names), frameon=False)
    return save(figure, path)


def _ratio(row: dict[str, Any]) -> str:
    others = [r["rate"] for name, r in row["results"].items() if name not in (OURS, CLIFFORD) and r["rate"]]
    ours = row["results"].get(OURS, {"rate": 0.0})["rate"]
    return f"{ours / max(others):.3g}" if others and ours else ""


def _power_of_ten(value: float) -> str:
    """A number such as 1.6×10⁸; numbers below 1000 stay as they are."""
    if value < 1000:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def main() -> int:
    """Writes the table into the page and draws the plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path, help="compare.json")
    parser.add_argument("--page", type=Path, default=Path("docs") / "performance.md")
    parser.add_argument("--plot", type=Path, default=Path("docs") / "compare.png")
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    draw(results, arguments.plot)
    contents = f"{table(results)}\n\n![attempted shots per second of all simulators]({arguments.plot.name})"
    page = filled(arguments.page.read_text(encoding="utf-8"), "comparison", contents)
    arguments.page.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
