"""The file to which a run saves its statistics: locked, checked, and replaced whenever something is saved."""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from io import FileIO

import sinter

from .csv_rows import read_rows
from .row_warnings import counted
from .shot_ranges import with_joined_ranges

if sys.platform == "win32":
    import msvcrt

    def _lock(file: FileIO) -> None:
        # A byte far behind the end of the file, since nobody can read or write a locked byte.
        file.seek(1 << 40)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    _HELD_ELSEWHERE: tuple[type[OSError], ...] = (PermissionError,)
else:
    import fcntl

    def _lock(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    _HELD_ELSEWHERE = (BlockingIOError,)

_HEADER = sinter.CSV_HEADER.encode()


class StatisticsFileError(RuntimeError):
    """Statistics can no longer be saved to a file."""


class FileInUseError(OSError):
    """Another process has locked a file."""


class FileLock:
    """The lock of a file, so that one run at a time saves to it.

    It is a lock of the operating system on a file beside that file, which is replaced whenever something is
    saved. It is released when the process that holds it ends, for whatever reason. A file that a killed run
    leaves does no harm.
    """

    def __init__(self, path: pathlib.Path) -> None:
        """Locks a file."""
        self._path = pathlib.Path(f"{path.resolve()}.lock")
        self.problem: str | None = None
        self._file = self._locked(path)

    def release(self) -> None:
        """Releases the lock."""
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._file.close()

    def _locked(self, path: pathlib.Path) -> FileIO:
        while True:
            file = open(self._path, "a+b", buffering=0)  # noqa: SIM115  # closed in release
            try:
                _lock(file)
                if os.path.samestat(self._path.stat(), os.fstat(file.fileno())):
                    return file
            except FileNotFoundError:
                pass  # a run that has ended meanwhile has deleted it
            except _HELD_ELSEWHERE:
                file.close()
                raise FileInUseError(
                    f"{path} is in use: another process has locked it. Nothing was changed. Wait until that"
                    " process has ended; then the same command goes on from its rows. Or save to another file"
                    " with another seed, and add both up with `python -m sinter_plugin combine`: shots of one"
                    " seed are the same in both files, and estimates are not added up."
                ) from None
            except OSError as error:
                self.problem = error.strerror  # some file systems have no locks
                return file
            file.close()


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
        content = b""
        if self._target.exists():
            with open(self._target, "r+b") as file:  # which fails if nothing may be written to it
                content = file.read()
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

    def __exit__(self, *error: object) -> None:
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
            self._write(lines)
        except StatisticsFileError as error:
            self._failure = error
            raise

    def _write(self, lines: Mapping[str, list[bytes]]) -> None:
        content = _content_of(itertools.chain(*lines.values()))
        try:
            with open(self._new_path, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(self._target, self._new_path)
            self._check(lines)
            # An interrupt may come before or after the file is replaced.
            self._expected = {self._content, content}
            os.replace(self._new_path, self._target)
        except OSError as error:
            raise StatisticsFileError(
                f"{self._path}: {error.strerror}. The rows saved before are complete. Free some space, and"
                " run the same command again."
            ) from error
        finally:
            with contextlib.suppress(OSError):
                self._new_path.unlink(missing_ok=True)
        self._lines, self._content, self._expected = dict(lines), content, {content}

    def _check(self, lines: Mapping[str, list[bytes]]) -> None:
        """Saves lines beside the file, and raises StatisticsFileError, if another program has changed it."""
        found = self._target.read_bytes() if self._target.exists() else b""
        if found in self._expected:
            return
        there = set(found.splitlines())
        missing = [line for line in itertools.chain(*lines.values()) if line not in there]
        for number in itertools.count(1):
            rescued = pathlib.Path(f"{self._path}.rescued-{number}")
            with contextlib.suppress(FileExistsError), rescued.open("xb") as file:
                file.write(_content_of(missing))
                break
        raise StatisticsFileError(
            f"{self._path} was {'changed' if found else 'deleted'} by another program during the run, which"
            f" was stopped. What is missing there now, {counted(len(missing), 'row')}, is saved in {rescued}."
            " To count these shots, add the file with `python -m sinter_plugin combine`."
        )


def _content_of(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in [_HEADER, *lines])
