"""The file to which a run saves its statistics: locked, checked, and replaced whenever something is saved."""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

import sinter

from .csv_rows import read_rows
from .file_lock import FileLock
from .row_warnings import counted
from .shot_ranges import with_joined_ranges

__all__ = ["StatisticsFile", "StatisticsFileError", "sums_of"]

_HEADER = sinter.CSV_HEADER.encode()


class StatisticsFileError(RuntimeError):
    """Statistics can no longer be saved to a file."""


def sums_of(rows: Iterable[sinter.TaskStats]) -> dict[str, sinter.TaskStats]:
    """The sum of the rows of each task."""
    sums: dict[str, sinter.TaskStats] = {}
    for row in rows:
        known = sums.get(row.strong_id)
        sums[row.strong_id] = row if known is None else known + row
    return sums


class StatisticsFile:
    """A file of statistics, to which one run at a time saves.

    Whatever is saved, a new file takes the place of the old one in a single step. So the file has whole rows
    at all times, also after the process was killed, or on a full disk.

    Attributes:
        rows: The rows that were in the file when it was opened.
    """

    def __init__(self, path: pathlib.Path, *, say: Callable[[str], None]) -> None:
        """Opens a file, or creates it, and locks it."""
        self._path = path
        self._target = path.resolve()
        self._new_path = self._target.with_name(f"{self._target.name}.new")
        path.parent.mkdir(exist_ok=True)  # as Sinter does
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is not a regular file: statistics cannot be read back from it.")
        self._lock = FileLock(path)
        try:
            if self._lock.problem is not None:
                say(
                    f"{path} cannot be locked on its file system ({self._lock.problem}). Make sure that no"
                    " other run saves to it."
                )
            self._new_path.unlink(missing_ok=True)  # a run that was killed may have left it
            self._open()
        except BaseException:
            self._lock.release()
            raise

    def _open(self) -> None:
        if self._target.exists():
            with open(self._target, "r+b") as file:  # which fails if nothing may be written to it
                content = file.read()
        else:
            content = b""
        rows = read_rows(content, str(self._path))
        self.rows = [row.stats for row in rows]
        self._lines: dict[str, list[bytes]] = {}  # by strong_id
        has_columns = content.partition(b"\n")[0].strip() == _HEADER
        for row in rows:
            line = row.text if has_columns else row.stats.to_csv_line()
            self._lines.setdefault(row.stats.strong_id, []).append(line.encode("utf-8", "surrogateescape"))
        self._base = sums_of(self.rows)
        self._failure: StatisticsFileError | None = None
        self._content = content
        self._expected = {content}
        if not content:
            self._write(self._lines)

    def __enter__(self) -> StatisticsFile:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Releases the lock; raises StatisticsFileError if rows that were saved are no longer in the file."""
        try:
            if not isinstance(error, StatisticsFileError):
                found = self._found()
                if found not in self._expected and self._missing_in(found):
                    raise StatisticsFileError(self._rescued(found))
        finally:
            self._lock.release()

    def save(self, rows: Iterable[sinter.TaskStats], *, replacing: Collection[str] = ()) -> None:
        """Saves what this run has for some tasks until now: one row each, with what was there before.

        Of the tasks in ``replacing``, what was there before is dropped. Rows can be saved again, as after an
        interrupt.
        """
        if self._failure is not None:
            raise self._failure
        lines = {task: [] if task in replacing else found for task, found in self._lines.items()}
        for row in rows:
            base = None if row.strong_id in replacing else self._base.get(row.strong_id)
            total = row if base is None else base + row
            total = replace(total, custom_counts=with_joined_ranges(total.custom_counts))
            lines[row.strong_id] = [total.to_csv_line().encode()]
        try:
            self._check()
            self._write(lines)
        except StatisticsFileError as error:
            self._failure = error
            raise

    def _write(self, lines: Mapping[str, list[bytes]]) -> None:
        content = b"".join(line + b"\n" for line in [_HEADER, *itertools.chain(*lines.values())])
        try:
            with open(self._new_path, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(self._target, self._new_path)
            self._check()  # once more: on a busy disk, the lines above take long
            # An interrupt may come before or after the file is replaced.
            self._expected = {self._content, content}
            os.replace(self._new_path, self._target)
        except (OSError, StatisticsFileError) as error:
            with contextlib.suppress(OSError):
                self._new_path.unlink(missing_ok=True)
            if isinstance(error, StatisticsFileError):
                raise
            raise StatisticsFileError(
                f"{self._path}: {error.strerror}. The rows saved before are complete. Free some space, and"
                " run the same command again."
            ) from error
        self._lines, self._content, self._expected = dict(lines), content, {content}

    def _check(self) -> None:
        """Raises StatisticsFileError if another program has changed the file."""
        found = self._found()
        if found not in self._expected:
            raise StatisticsFileError(self._rescued(found))

    def _found(self) -> bytes | None:
        """The content of the file; None if there is none."""
        try:
            return self._target.read_bytes()
        except FileNotFoundError:
            return b"" if b"" in self._expected else None

    def _missing_in(self, found: bytes | None) -> list[bytes]:
        """The lines that were saved, and are not in the file any more."""
        saved = Counter(itertools.chain(*self._lines.values()))
        return list((saved - Counter((found or b"").splitlines())).elements())

    def _rescued(self, found: bytes | None) -> str:
        """Saves the lines that are not in the file any more beside it, and says what happened."""
        what = "deleted or moved" if found is None else "changed by another program"
        happened = f"{self._path} was {what} during the run, which was stopped."
        missing = self._missing_in(found)
        if not missing:
            return f"{happened} All rows that were saved are in the file."
        content = b"".join(line + b"\n" for line in [_HEADER, *missing])
        for number in itertools.count(1):
            rescued = pathlib.Path(f"{self._path}.rescued-{number}")
            with contextlib.suppress(FileExistsError), rescued.open("xb") as file:
                file.write(content)
                break
        return (
            f"{happened} What is missing there now, {counted(len(missing), 'row')}, is saved in {rescued}. To"
            " count these shots, add the file with `python -m sinter_plugin combine`."
        )
