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

__all__ = ["FileInUseError", "FileLock", "other_file_advice"]

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
    """The lock of a file."""

    def __init__(self, path: pathlib.Path, advice: str) -> None:
        """Locks a file.

        Args:
            path: The path of the file. All symbolic links to it have the same lock.
            advice: What the user can do instead if the file is in use, such as ``other_file_advice``.

        Raises:
            FileInUseError: Another process has locked the file.
            OSError: The file beside it cannot be written.
        """
        self._path = pathlib.Path(f"{path.resolve()}.lock")
        self.problem: str | None = None
        self._file = self._locked(path, advice)

    def release(self) -> None:
        """Releases the lock."""
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._file.close()

    def _locked(self, path: pathlib.Path, advice: str) -> FileIO:
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
                    f" process has ended. {advice}"
                ) from None
            except OSError as error:
                self.problem = error.strerror  # some file systems have no locks
                return file
            file.close()
