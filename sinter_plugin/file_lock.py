"""Locks a file, so that one run at a time appends to it. A second run is told which process holds the lock.

The lock is a lock of the operating system on the file itself. It is released when the process that holds it
ends, for whatever reason. All links to the file lead to the same lock. A note beside the file names the
process that holds the lock. The note itself locks nothing, so a note that a killed run leaves does no harm.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import platform
import sys
import time
from io import FileIO

__all__ = ["FileInUseError", "FileLock"]

_NOTE_SECONDS = 0.5  # time within which a process that has the lock writes its note

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
        # Not lockf, whose lock would be released when Sinter closes the file after reading it.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    _HELD_ELSEWHERE = (BlockingIOError,)


class FileInUseError(OSError):
    """Another process has locked a file."""


class FileLock:
    """The lock of an open file. It is held until the file is closed."""

    def __init__(self, file: FileIO, path: pathlib.Path) -> None:
        """Locks a file.

        Args:
            file: The file, open for writing.
            path: The path of the file.

        Raises:
            FileInUseError: Another process has locked the file. The message names the process.
            OSError: The file system does not support locks.
        """
        self._note = pathlib.Path(f"{path.resolve()}.lock")
        try:
            _lock(file)
        except _HELD_ELSEWHERE:
            time.sleep(_NOTE_SECONDS)
            raise FileInUseError(
                f"{path} is in use: {self._holder()}. Wait until that process has ended, or save to another"
                " file and add both up with `sinter combine`. Nothing was changed."
            ) from None
        started = time.strftime("%Y-%m-%d %H:%M:%S %z")
        try:
            with contextlib.suppress(OSError):  # the lock holds even if a full disk prevents the note
                self._note.unlink(missing_ok=True)
                self._note.write_text(
                    f"process {os.getpid()} on {platform.node()}, started {started}\n"
                    f"This note names the process that saves statistics to {path.name}. It may be deleted.\n"
                )
        except BaseException:  # an interrupt
            self.remove_note()
            raise

    def remove_note(self) -> None:
        """Deletes the note. To be called before the file is closed."""
        with contextlib.suppress(OSError):
            self._note.unlink(missing_ok=True)

    def _holder(self) -> str:
        try:
            return f"another run saves to it ({self._note.read_text().splitlines()[0]})"
        except (OSError, IndexError):
            return "another process has locked it"
