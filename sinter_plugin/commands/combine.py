"""``python -m sinter_plugin combine``: ``sinter combine``, which counts no shot twice.

Files that were cut off, shots of a seed that two rows count, files with the same rows, and two
estimates of a circuit are refused, with file, line and remedy, before anything is printed. Ranges of numbered
shots that follow one another become one. So the parts of a run add up to the very row of a single run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import pathlib
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace

import sinter

from ..statistics.csv_rows import ESTIMATE, FAULT_SETS, Row, read_rows
from ..statistics.shot_ranges import OverlapError, ShotRange, joined_ranges, ranges_in, with_joined_ranges
from ..statistics.statistics_file import sums_of
from .sinter_internals import run_sinter_command


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
    _check_counted_once(files)
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


def _check_counted_once(files: Sequence[Sequence[Row]]) -> None:
    """Checks that the rows of files can be added up: no shot and no estimate is counted twice.

    Rows of runs with a seed say which shots they count, and estimates are never added up. A file of other
    rows that is named twice, or is there as a copy, shows by its content.
    """
    rows = [row for file in files for row in file]
    _check_tasks(rows)
    _check_ranges(rows)
    known: dict[tuple[str, ...], Row] = {}
    for file in files:
        first = known.setdefault(tuple(row.text for row in file), file[0]) if file else None
        if first is not None and first is not file[0]:
            raise ValueError(
                f"{file[0].path} has the rows of {first.path}: the same shots would be counted twice. Leave"
                " one of them out. If they are different shots, `sinter combine` adds them up without a look."
            )


def _check_tasks(rows: Iterable[Row]) -> None:
    """Checks that rows of a task agree about what it is, and that estimates are there once."""
    known: dict[str, Row] = {}
    for row in rows:
        first = known.setdefault(row.stats.strong_id, row)
        here, there = row.stats, first.stats
        if first is row:
            continue
        if here.decoder == there.decoder == FAULT_SETS:
            raise ValueError(
                f"{row}: there is an estimate of the same circuit in {first}, and estimates are not added"
                f" up. Leave one of them out. {_about(row)}"
            )
        if (here.decoder, here.json_metadata) != (there.decoder, there.json_metadata):
            raise ValueError(
                f"{row}: the row has the strong_id of {first}, but other metadata or another decoder:"
                f" {here.decoder}, {here.json_metadata!r} instead of {there.decoder},"
                f" {there.json_metadata!r}. Correct the metadata, or leave one of the files out."
            )


def _check_ranges(rows: Iterable[Row]) -> None:
    """Checks that no two rows count the same numbered shots."""
    ranges: dict[tuple[str, int], list[tuple[ShotRange, Row]]] = {}
    for row in rows:
        try:
            own = joined_ranges(ranges_in(row.stats.custom_counts))
        except OverlapError as error:
            raise _overlap(str(error), row, row) from None
        except ValueError as error:
            raise ValueError(f"{row}: {error}. Correct the row, or delete it and lose its shots.") from None
        for one in own:
            ranges.setdefault((row.stats.strong_id, one.seed), []).append((one, row))
    for found in ranges.values():
        found.sort(key=lambda each: each[0])
        for (one, row), (other, other_row) in itertools.pairwise(found):
            try:
                joined_ranges([one, other])
            except OverlapError as error:
                raise _overlap(str(error), row, other_row) from None


def _overlap(what: str, row: Row, other: Row) -> ValueError:
    where = f"{row}" if row is other else f"{row} and {other}"
    return ValueError(f"{where}: {what}. Leave one of the files or rows out. {_about(other)}")


def _about(row: Row) -> str:
    metadata = row.stats.json_metadata
    if row.stats.decoder == FAULT_SETS:
        metadata = {key: value for key, value in metadata.items() if key != ESTIMATE}
    return f"(Decoder {row.stats.decoder}, metadata {metadata!r}.)"
