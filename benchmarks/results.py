"""The numbers of ``docs/results``: runs the commands behind them whose tables are missing.

    python -m benchmarks.results [--list] [--only NAME ...] [--again] [--out docs/plots/data]

A command prints tables in Markdown, or writes its plot and its rows itself. Tables become ``NAME.csv`` in
``--out``; what was printed is kept in ``out/results/NAME.txt``. What has its CSV is skipped, so that an
interrupted run goes on where it stopped; ``--again`` runs it nevertheless. Hours are those of two idle cores.
"""

from __future__ import annotations

import argparse
import csv
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LOGS = Path("out/results")
FIGURE = (
    "-m sinter_plugin figure end_to_end --d2 15 --escape matchable --postselected_rounds 0 --rounds 6"
    " --seed 1 --gate T S --p 0.001 0.0005 --quiet --out out/results/end_to_end"
)


@dataclass(frozen=True)
class Result:
    """Commands behind one table."""

    name: str  # of the CSV file
    hours: float  # about how long the commands take
    commands: tuple[str, ...]  # arguments of Python
    prints: bool = True  # whether the table is what the last command prints; otherwise it writes the file


RESULTS = (
    Result(
        "cultivation",
        1.5,
        (
            "-m examples.cultivation.the_table --seed 1 --seconds 300 --seconds_d7 400"
            " --csv docs/plots/data/cultivation.csv",
        ),
        False,
    ),
    Result("cultivation_checks", 0.2, ("-m benchmarks.rates.other_circuits --seconds 900",)),
    Result("surface_codes", 0.2, ("-m benchmarks.rates.acceptance --only surface --seeds 1 2 3 4",)),
    Result(
        "decoded_codes",
        0.1,
        ("-m benchmarks.rates.decoded_codes --shots 1000000 --relative_error 0.02 --seeds 1 2",),
    ),
    Result("coverage", 0.3, ("-m benchmarks.rates.coverage",)),
    Result(
        "end_to_end",
        1.5,
        (
            f"{FIGURE} --d 3 --compute_seconds 600 --relative_error 0.1 --max_seconds 1200",
            f"{FIGURE} --d 5 --variant published flagged --compute_seconds 1200 --relative_error 0.15"
            " --max_seconds 600",
            "-m examples.cultivation.end_to_end --from out/results/end_to_end --out docs/plots",
        ),
        False,
    ),
    Result("decoders", 0.2, ("-m benchmarks.compare decoders",)),
    Result("leakage", 0.2, ("-m benchmarks.leakage cultivation --seconds 60",)),
    Result("peers", 0.5, ("-m benchmarks.compare peers --seconds 3 --repeats 3 --docs docs",)),
)


def tables(text: str) -> Iterator[list[list[str]]]:
    """The tables of a text in Markdown, as rows of cells, without the line below the head."""
    found: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip()[1:].removesuffix("|"))
            found.append([cell.strip().replace("\\|", "|") for cell in cells])
        elif found:
            yield [row for row in found if not set("".join(row)) <= set("-|: ")]
            found = []


def write(rows: Sequence[Sequence[str]], path: Path) -> None:
    """Writes a table as CSV, all at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    partial.replace(path)


def run(result: Result, folder: Path) -> None:
    """Runs the commands of a result; their output is shown, and kept."""
    LOGS.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    printed: list[str] = []
    for command in result.commands:
        print(f"\n$ python {command}", flush=True)
        with subprocess.Popen(
            [sys.executable, *shlex.split(command)], stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process:
            assert process.stdout is not None
            printed = []
            for line in process.stdout:
                print(line, end="", flush=True)
                printed.append(line)
        if process.returncode:
            raise SystemExit(f"{result.name} has failed: python {command}")
    (LOGS / f"{result.name}.txt").write_text("".join(printed), encoding="utf-8")
    if result.prints:
        found = list(tables("".join(printed)))
        if not found:
            raise SystemExit(f"{result.name} has printed no table: python {result.commands[-1]}")
        write([row for table in found for row in table], folder / f"{result.name}.csv")
    print(f"{result.name}: {(time.monotonic() - started) / 3600:.2f} hours", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Lists or runs the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true", help="show commands and hours, and run nothing")
    parser.add_argument("--only", nargs="+", choices=[result.name for result in RESULTS], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also those that have a CSV")
    parser.add_argument("--out", type=Path, default=Path("docs/plots/data"), help="folder of the CSV files")
    args = parser.parse_args(arguments)
    chosen = [result for result in RESULTS if args.only is None or result.name in args.only]
    for result in chosen:
        is_there = (args.out / f"{result.name}.csv").exists()
        if args.list:
            print(f"{result.name:20}{result.hours:5.1f} h  {'there' if is_there else 'missing'}")
            print("".join(f"  python {command}\n" for command in result.commands), end="")
        elif args.again or not is_there:
            run(result, args.out)
    if args.list:
        print(f"{sum(result.hours for result in chosen):.1f} hours in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
