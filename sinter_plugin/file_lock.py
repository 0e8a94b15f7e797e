"""Locks a file for one run at a time; whoever comes second learns who holds it.

The lock is the operating system's, on the file itself: it ends with the process that holds it, however that
ends, and a symbolic link or another name of the file leads to the same lock. A note beside the file says who
holds it. The note is no lock: one that a killed run has left behind does no harm.
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

_NOTE_SECONDS = 0.5  # What a holder needs at most to leave its note, once it has the lock.

if sys.platform == "win32":
    import msvcrt

    def _lock(file: FileIO) -> None:
        # A byte far behind the end: a locked one could not be read or written.
        file.seek(1 << 40)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    _HELD_ELSEWHERE: tuple[type[OSError], ...] = (PermissionError,)
else:
    import fcntl

    def _lock(file: FileIO) -> None:
        # Not lockf: its lock would end when Sinter closes the file after reading it.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    _HELD_ELSEWHERE = (BlockingIOError,)


class FileInUseError(OSError):
    """Another process has locked a file."""


class FileLock:
    """The lock of an open file. It lasts until the file is closed."""

    def __init__(self, file: FileIO, path: pathlib.Path) -> None:
        """Locks a file.

        Args:
            file: The file, open for writing.
            path: Its path.

        Raises:
            FileInUseError: Another process has locked it. The message says which one.
            OSError: The file system has no locks.
        """
        self._note = pathlib.Path(f"{path.resolve()}.lock")
        try:
            _lock(file)
        except _HELD_ELSEWHERE:
            time.sleep(_NOTE_SECONDS)
            raise FileInUseError(
                f"{path} is in use: {self._holder()}. Wait until that has ended, or save to another file and"
                " add both up with `sinter combine`. Nothing was changed."
            ) from None
        started = time.strftime("%Y-%m-%d %H:%M:%S %z")
        with contextlib.suppress(OSError):  # A full disk is no reason not to lock.
            self._note.unlink(missing_ok=True)
            self._note.write_text(
                f"process {os.getpid()} on {platform.node()}, started {started}\n"
                f"This says who saves statistics to {path.name}. It is no lock, and may be deleted.\n"
            )

    def remove_note(self) -> None:
        """Removes the note, before the file is closed."""
        with contextlib.suppress(OSError):
            self._note.unlink(missing_ok=True)

    def _holder(self) -> str:
        try:
            return f"another run saves to it, {self._note.read_text().splitlines()[0]}"
        except (OSError, IndexError):
            return "another process has locked it"
