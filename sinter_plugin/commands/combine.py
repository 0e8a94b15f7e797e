"""``python -m sinter_plugin combine``: ``sinter combine``, which counts no shot twice.

Files that were cut off, shots of a seed that two rows count, files with the same rows, and two
estimates of a circuit are refused, with file, line and remedy, before anything is printed. Ranges of numbered
shots that follow one another become one. So the parts of a run add up to the very row of a single run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import pathlib
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace

import sinter

from ..statistics.counted_once import check_counted_once
from ..statistics.csv_rows import read_rows
from ..statistics.shot_ranges import with_joined_ranges
from ..statistics.statistics_file import sums_of
from .sinter_internals import run_sinter_command

__all__ = ["combine"]


def combine(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        prog="python -m sinter_plugin combine",
        description="Adds rows of statistics of the same task up, and refuses shots that are counted twice.",
    )
    parser.add_argument(
        "--order",
        choices=("preserve", "metadata", "error"),
        default="metadata",
        help="Order of the rows: by their metadata (the default), as in the files, or by error rate.",
    )
    parser.add_argument(
        "--strip_custom_counts",
        action="store_true",
        help="Leave custom counts out, also those that say which shots of a seed are counted.",
    )
    parser.add_argument("paths", nargs="*", help="CSV files of statistics; without one, standard input.")
    args = parser.parse_args(list(arguments))
    contents = [(path, pathlib.Path(path).read_bytes()) for path in args.paths]
    contents = contents or [("standard input", sys.stdin.buffer.read())]
    for path, content in contents:
        if not content:
            raise ValueError(f"{path} is empty. Leave it out, or run its command again.")
    files = [read_rows(content, path) for path, content in contents]
    check_counted_once(files)
    total = sums_of(each.stats for rows in files for each in rows)
    joined = [replace(row, custom_counts=with_joined_ranges(row.custom_counts)) for row in total.values()]
    # Sinter sorts and prints; what it prints is shown only if nothing failed.
    with tempfile.TemporaryDirectory() as folder:
        joined_path = pathlib.Path(folder) / "joined.csv"
        text = "\n".join([sinter.CSV_HEADER, *(row.to_csv_line() for row in joined), ""])
        joined_path.write_text(text, encoding="utf-8")
        options = ["--strip_custom_counts"] if args.strip_custom_counts else []
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run_sinter_command(["combine", "--order", args.order, *options, str(joined_path)])
    sys.stdout.write(printed.getvalue())
    sys.stdout.flush()
    return 0
