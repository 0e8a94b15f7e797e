"""The file to which a run saves its statistics: locked, checked, repaired, and watched during the run."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import pathlib
import shutil
import stat
import time
from collections.abc import Callable, Collection

import sinter

from .file_lock import FileInUseError, FileLock, other_file_advice
from .rescue import is_at, rescue_rows
from .rows import OpenEnd, check_rows, shown, strong_id_of

__all__ = ["SaveFile", "SaveFileError"]

# Errors of a write to a file that could be opened: the disk or the quota is full, the file is too large, the
# disk is broken, or the file system is not mounted any more.
_WRITE_ERRORS = {errno.ENOSPC, errno.EFBIG, errno.EIO} | {
    getattr(errno, name) for name in ("EDQUOT", "ESTALE") if hasattr(errno, name)
}
# Some file systems report the new size of a file late if it was written through another descriptor.
_NUM_LOOKS = 10
_LOOK_SECONDS = 0.2


class SaveFileError(RuntimeError):
    """Statistics can no longer be saved to a file."""


class SaveFile:
    """A file of statistics to which rows are appended, or in which they are replaced.

    The file is locked, so that no other run appends to it. A last line that was cut off by a full disk or a
    crash is dropped. A newline or a header is added where it is missing.
    """

    def __init__(
        self,
        path: pathlib.Path,
        *,
        survivor_counters: Collection[str],
        say: Callable[[str], None],
        advice: str | None = None,
    ) -> None:
        """Opens a file, or creates it, locks it, and repairs its end.

        Args:
            path: The path of the file.
            survivor_counters: Names of samplers that report ``survivors`` in every row with kept shots.
            say: Function that shows a message to the user; called after each repair.
            advice: What the user can do if the file is in use; by default ``other_file_advice(None)``.

        Raises:
            ValueError: The file is not a file of statistics, or a line of it is broken.
            FileInUseError: Another run saves to the file.
            OSError: The file cannot be read or written.
        """
        self._path = path
        self._survivor_counters = survivor_counters
        self._say = say
        self._advice = other_file_advice(None) if advice is None else advice
        path.parent.mkdir(exist_ok=True)  # as Sinter does
        # Without a buffer: after an error, a buffer would be written again when the file is closed.
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115  # closed in _close
        self._lock: FileLock | None = None
        try:
            if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                raise ValueError(f"{path} is not a regular file: statistics cannot be read back from it.")
            self._lock = self._locked()
            self._mend()
        except BaseException:
            self._close()
            raise
        self._size = os.fstat(self._file.fileno()).st_size

    def __enter__(self) -> SaveFile:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Closes the file. After a failed write, repairs its end and raises SaveFileError."""
        try:
            if isinstance(error, OSError) and error.filename is None and error.errno in _WRITE_ERRORS:
                with contextlib.suppress(OSError, ValueError):  # the next run will report what is wrong
                    self._mend()
                raise SaveFileError(
                    f"{self._path}: {error.strerror}. The rows saved before are complete. Free some space,"
                    " and run the same command again."
                ) from error
            if not isinstance(error, SaveFileError):
                self._check_place()
        finally:
            self._close()

    def check(self) -> None:
        """Checks that no other program writes to the file, and that it is still at its path.

        Raises:
            SaveFileError: The file was deleted, replaced or changed. Rows that would be lost have been saved
                to another file, which the message names.
        """
        self._check_place()
        for _ in range(_NUM_LOOKS):
            size = os.fstat(self._file.fileno()).st_size
            if size == self._size:
                return
            time.sleep(_LOOK_SECONDS)
        raise SaveFileError(
            f"{self._path} was changed by another program during the run: it has {size} bytes instead of"
            f" {self._size}. The run was stopped, as the other rows might take it over its limits."
        )

    def append(self, row: str) -> None:
        """Saves a row behind all others.

        Args:
            row: The row, as text without a newline.

        Raises:
            SaveFileError: The file was deleted, replaced or changed. Then the row is where the others are.
            OSError: The row cannot be written. The rows saved before are complete.
        """
        line = row.encode() + os.linesep.encode()
        self._append(line)
        self._size += len(line)
        self.check()

    def put(self, row: str, strong_id: str) -> None:
        """Saves a row in the place of all rows that have the same strong_id.

        Args:
            row: The row, as text without a newline.
            strong_id: Its strong_id.

        Raises:
            SaveFileError: The file was deleted, replaced or changed.
            OSError: The row cannot be written. The rows saved before are complete.
        """
        self.check()
        self._file.seek(0)
        lines = self._file.readall().splitlines(keepends=True)
        others = [line for line in lines if strong_id_of(line) != strong_id]
        new = row.encode() + os.linesep.encode()
        if len(others) == len(lines):
            self._append(new)
        else:
            self._replace(b"".join([*others, new]))
        self._size = os.fstat(self._file.fileno()).st_size

    def _append(self, text: bytes) -> None:
        while text:
            text = text[self._file.write(text) :]

    def _replace(self, content: bytes) -> None:
        """Replaces the file in a single step, so that no row is lost whatever happens."""
        target = self._path.resolve()
        new_path = target.with_name(f"{target.name}.new")
        new_path.unlink(missing_ok=True)  # a run that was killed may have left it
        new = open(new_path, "a+b", buffering=0)  # noqa: SIM115  # closed in _close
        try:
            if self._lock is not None:
                self._lock = FileLock(new, self._path, self._advice)
            shutil.copymode(target, new_path)
            while content:
                content = content[new.write(content) :]
            os.fsync(new.fileno())
            os.replace(new_path, target)
        except BaseException:
            new.close()
            new_path.unlink(missing_ok=True)
            raise
        self._file.close()
        self._file = new

    def _close(self) -> None:
        if self._lock is not None:
            self._lock.remove_note()
        self._file.close()

    def _check_place(self) -> None:
        if not is_at(self._path, self._file):
            raise SaveFileError(f"{rescue_rows(self._path, self._file)} The run was stopped.")

    def _locked(self) -> FileLock | None:
        try:
            return FileLock(self._file, self._path, self._advice)
        except FileInUseError:
            raise
        except OSError as error:
            self._say(
                f"{self._path} cannot be locked on its file system ({error.strerror}). Make sure that no"
                " other run saves to it."
            )
            return None

    def _mend(self) -> None:
        """Repairs the end of the file, so that rows can be appended."""
        while (end := self._open_end()) is not None:
            self._close_end(end)
        if self._file.seek(0, os.SEEK_END) == 0:
            self._write(sinter.CSV_HEADER.encode() + b"\n")

    def _open_end(self) -> OpenEnd | None:
        self._file.seek(0)
        reader = io.BufferedReader(self._file)
        try:
            return check_rows(
                reader, str(self._path), for_appending=True, survivor_counters=self._survivor_counters
            )
        finally:
            reader.detach()  # otherwise the reader would close the file

    def _close_end(self, end: OpenEnd) -> None:
        where = f"{self._path}, line {end.line_number}"
        if end.is_whole:
            self._write(b"\n")
            self._say(f"{where}: the newline at the end was missing and has been added.")
        else:
            self._file.truncate(end.offset)
            self._say(
                f"{where}: the line was cut off and has been dropped; its shots will be sampled again."
                f" The line was {shown(end.text)}"
            )

    def _write(self, text: bytes) -> None:
        """Appends to the file."""
        try:
            self._file.write(text)
        except OSError as error:
            error.filename = str(self._path)
            raise
