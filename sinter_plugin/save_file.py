"""The file that a run saves its statistics to: checked and mended before Sinter appends to it."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import pathlib
import stat
from collections.abc import Callable, Collection

import sinter

from .rows import OpenEnd, check_rows, shown

__all__ = ["SaveFile", "SaveFileError"]

# What a write may fail with although the file could be opened: a full disk, quota or file, a broken disk,
# a file system that is gone.
_WRITE_ERRORS = {errno.ENOSPC, errno.EFBIG, errno.EIO} | {
    getattr(errno, name) for name in ("EDQUOT", "ESTALE") if hasattr(errno, name)
}


class SaveFileError(RuntimeError):
    """Statistics can no longer be saved to a file."""


class SaveFile:
    """A file of statistics that is open for appending.

    A last line that was cut off, as a full disk or a crash leaves it, is dropped; a whole one gets the
    newline that it lacks; a file without a header gets one. Then whole rows can be appended.
    """

    def __init__(
        self, path: pathlib.Path, *, survivor_counters: Collection[str], say: Callable[[str], None]
    ) -> None:
        """Opens a file, creates it if there is none, and mends its end.

        Args:
            path: Its path.
            survivor_counters: Names of samplers that count ``survivors`` in every row that has some.
            say: Is told what was mended.

        Raises:
            ValueError: The file is not one of statistics, or a line in it is broken.
            OSError: It cannot be read or written.
        """
        self._path = path
        self._survivor_counters = survivor_counters
        self._say = say
        path.parent.mkdir(exist_ok=True)  # as Sinter does
        # Without a buffer, so that nothing is left to be written once more after an error.
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115  # closed in __exit__
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise ValueError(f"{path} is not a regular file: statistics cannot be read back from it.")
            self.mend()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> SaveFile:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Closes the file; after a failed write mends it and raises SaveFileError."""
        try:
            if isinstance(error, OSError) and error.filename is None and error.errno in _WRITE_ERRORS:
                with contextlib.suppress(OSError, ValueError):  # The next run will say what is wrong.
                    self.mend()
                raise SaveFileError(
                    f"{self._path}: {error.strerror}. What was saved before is whole. Make room, and run the"
                    " same command again."
                ) from error
        finally:
            self._file.close()

    def mend(self) -> None:
        """Brings the file into a state in which rows can be appended.

        Raises:
            ValueError: A line other than the last is broken, or it cannot be told whether the last one is.
            OSError: The file cannot be written.
        """
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
            reader.detach()  # which would close the file

    def _close_end(self, end: OpenEnd) -> None:
        where = f"{self._path}, line {end.line_number}"
        if end.is_whole:
            self._write(b"\n")
            self._say(f"{where}: the newline at the end was missing; it has been added.")
        else:
            self._file.truncate(end.offset)
            self._say(
                f"{where}: the line was cut off and has been dropped; its shots will be taken again."
                f" It was {shown(end.text)}"
            )

    def _write(self, text: bytes) -> None:
        """Appends to the file."""
        try:
            self._file.write(text)
        except OSError as error:
            error.filename = str(self._path)
            raise
