"""Saves the rows of a file of statistics that is deleted or replaced while a run appends to it.

Sinter continues to append to the file that it has opened. If that file has no name any more, its contents are
lost when Sinter closes it.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import pathlib
from io import FileIO

import sinter

from .row_warnings import counted

__all__ = ["is_at", "rescue_rows"]


def is_at(path: pathlib.Path, file: FileIO) -> bool:
    """Whether a path leads to the given open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def rescue_rows(path: pathlib.Path, file: FileIO) -> str:
    """Saves the rows of an open file that is no longer at its path, unless another file has them.

    Rows that are in the file now at the path are not saved again. Rows are compared as text. If rows of the
    new file were edited or added up, only the user knows which rows they already include.

    Args:
        path: The path that led to the file.
        file: The file, open for reading.

    Returns:
        A message that says what happened and where the rows are.

    Raises:
        OSError: The rows cannot be saved.
    """
    name = _name_in_folder(path.parent, file)
    # NFS renames a deleted file that is still open to a name that starts with .nfs.
    if os.fstat(file.fileno()).st_nlink > 0 and not name.startswith(".nfs"):
        return f"{path} was moved to {name or 'another folder'} during the run; the saved rows are there."
    file.seek(0)
    rows = file.read().splitlines()[1:]
    if not path.exists():
        happened, missing = "deleted", rows
    else:
        in_new_file = collections.Counter(path.read_bytes().splitlines())
        happened, missing = "replaced", []
        for row in rows:
            in_new_file[row] -= 1
            if in_new_file[row] < 0:
                missing.append(row)
    if not missing:
        return f"{path} was {happened} during the run; nothing is lost."
    lines = [sinter.CSV_HEADER.encode(), *missing, b""]
    rescued = _write_new(path, b"\n".join(lines))
    return (
        f"{path} was {happened} during the run. What is missing there now, {counted(len(missing), 'row')}, is"
        f" saved in {rescued}. To count these shots, add the file with `python -m sinter_plugin combine`."
    )


def _name_in_folder(folder: pathlib.Path, file: FileIO) -> str:
    """The name of an open file in a folder, or "" if the folder does not contain the file."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                if os.path.samestat(path.lstat(), os.fstat(file.fileno())):
                    return path.name
    return ""


def _write_new(path: pathlib.Path, content: bytes) -> pathlib.Path:
    for number in itertools.count(1):
        new = pathlib.Path(f"{path}.rescued-{number}")
        with contextlib.suppress(FileExistsError), new.open("xb") as file:
            file.write(content)
            break
    return new
