"""``python -m sinter_plugin combine``: ``sinter combine``, which knows which shots of a seed are counted.

The rows of runs with a seed say which shots they count (``shot_ranges``). If a shot is counted twice, because
a file is named twice or two parts overlap, the command says which rows are to blame and adds nothing up.
Ranges that follow one another become one. So the parts of a run add up to the very row of a single run.
"""

from __future__ import annotations

import contextlib
import io
import pathlib
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace

import sinter

from .rows import FAULT_SETS, check_rows
from .shot_ranges import OverlapError, ShotRange, joined_ranges, ranges_in, with_joined_ranges
from .sinter_internals import run_sinter_command

__all__ = ["combine"]


def combine(arguments: Sequence[str]) -> int:
    """Runs the command.

    Args:
        arguments: The arguments of ``sinter combine``: options, then paths of files.

    Returns:
        The exit code, 0.

    Raises:
        ValueError: A file is broken, or a shot is counted twice.
        OSError: A file cannot be read.
        SystemExit: Sinter ended the command, for example after ``--help``.
    """
    options, paths = _split(arguments)
    if not paths:
        run_sinter_command(["combine", *arguments])
        return 0
    total: dict[str, sinter.TaskStats] = {}
    places: dict[tuple[str, int], list[tuple[ShotRange, str]]] = {}
    for path in paths:
        with open(path, "rb") as lines:
            check_rows(lines, path)
        for stats in sinter.read_stats_from_csv_files(path):
            _check_ranges(stats, path, places)
            known = total.get(stats.strong_id)
            _check_same_task(stats, known, path)
            total[stats.strong_id] = stats if known is None else known + stats
    rows = [replace(stats, custom_counts=with_joined_ranges(stats.custom_counts)) for stats in total.values()]
    # Sinter sorts and prints; what it prints is shown only if nothing failed.
    with tempfile.TemporaryDirectory() as folder:
        joined = pathlib.Path(folder) / "joined.csv"
        text = "\n".join([sinter.CSV_HEADER, *(row.to_csv_line() for row in rows), ""])
        joined.write_text(text, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run_sinter_command(["combine", *options, str(joined)])
    sys.stdout.write(printed.getvalue())
    sys.stdout.flush()
    return 0


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options and paths. Sinter takes everything from the first path on as paths.

    Examples:
        >>> _split(["--order", "error", "a.csv", "b.csv"])
        (['--order', 'error'], ['a.csv', 'b.csv'])
        >>> _split(["--strip_custom_counts", "a.csv"])
        (['--strip_custom_counts'], ['a.csv'])
    """
    end = 0
    while end < len(arguments) and arguments[end].startswith("-"):
        end += 2 if arguments[end] == "--order" else 1
    return list(arguments[:end]), list(arguments[end:])


def _check_same_task(stats: sinter.TaskStats, known: sinter.TaskStats | None, path: str) -> None:
    if known is None or (stats.decoder, stats.json_metadata) == (known.decoder, known.json_metadata):
        return
    remedy = "Correct the metadata, or leave one of the files out."
    if stats.decoder == known.decoder == FAULT_SETS:
        remedy = "It is another estimate, and estimates are not added up: leave one of the files out."
    raise ValueError(
        f"{path}: a row has the strong_id of another one, but other metadata or another decoder:"
        f" {stats.decoder}, {stats.json_metadata!r} instead of {known.decoder}, {known.json_metadata!r}."
        f" {remedy}"
    )


def _check_ranges(
    stats: sinter.TaskStats, path: str, places: dict[tuple[str, int], list[tuple[ShotRange, str]]]
) -> None:
    """Checks that no other row counts the same shots, and notes those of this one."""
    try:
        own = joined_ranges(ranges_in(stats.custom_counts))
    except OverlapError as error:
        raise _overlap(str(error), [path], stats) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}. Correct the row, or delete it and lose its shots.") from None
    for one in own:
        known = places.setdefault((stats.strong_id, one.seed), [])
        for other, other_path in known:
            if one.first < other.end and other.first < one.end:
                first, last = max(one.first, other.first), min(one.end, other.end) - 1
                raise _overlap(
                    f"the shots {first} to {last} of seed {one.seed} are counted 2 times",
                    sorted({path, other_path}),
                    stats,
                )
        known.append((one, path))


def _overlap(what: str, paths: Sequence[str], stats: sinter.TaskStats) -> ValueError:
    return ValueError(
        f"{' and '.join(paths)}: {what} (decoder {stats.decoder}, metadata {stats.json_metadata!r}). Leave"
        " one of the files or rows out."
    )
