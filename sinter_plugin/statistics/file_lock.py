"""Locks a file of statistics, so that one run at a time saves to it.

The lock is a lock of the operating system on a file beside the file of statistics, which is replaced whenever
something is saved. It is released when the process that holds it ends, for whatever reason. A file that a
killed run leaves does no harm.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys
from io import FileIO

__all__ = ["FileInUseError", "FileLock"]

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


class FileInUseError(OSError):
    """Another process has locked a file."""


class FileLock:
    """The lock of a file."""

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
