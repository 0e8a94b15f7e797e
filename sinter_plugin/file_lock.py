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

__all__ = ["FileInUseError", "FileLock", "other_file_advice"]

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


def other_file_advice(seed: int | None) -> str:
    """What a second run can do instead of saving to a file that is in use.

    Args:
        seed: The seed of the run; None if its shots are those of nobody else.

    Returns:
        A sentence.
    """
    add_up = "save to another file and add both up with `python -m sinter_plugin combine`."
    if seed is None:
        return f"Or {add_up}"
    return (
        "Then the same command goes on from its rows. Another file would hold the same shots of seed"
        f" {seed} once more, which must not be added up. For more shots, choose another seed, {add_up}"
    )


class FileInUseError(OSError):
    """Another process has locked a file."""


class FileLock:
    """The lock of an open file. It is held until the file is closed."""

    def __init__(self, file: FileIO, path: pathlib.Path, advice: str) -> None:
        """Locks a file.

        Args:
            file: The file, open for writing.
            path: The path of the file.
            advice: What the user can do instead if the file is in use, such as ``other_file_advice``.

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
                f"{path} is in use: {self._holder()}. Nothing was changed. Wait until that process has ended."
                f" {advice}"
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
