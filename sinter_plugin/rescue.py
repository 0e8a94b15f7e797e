"""What to do when the file of statistics is deleted or replaced while a run appends to it.

Sinter goes on appending to the file that it has opened, and all of that is lost when it closes it.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import pathlib
from io import FileIO

import sinter

__all__ = ["is_at", "rescue_rows"]


def is_at(path: pathlib.Path, file: FileIO) -> bool:
    """Whether a path leads to an open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def rescue_rows(path: pathlib.Path, file: FileIO) -> str:
    """Saves the rows of an open file that is no longer at its path, unless they are safe elsewhere.

    Rows that are in the file now at the path are not saved once more. This compares them as text, so that
    only the user knows whether rows that were changed there, or added up, are counted already.

    Args:
        path: The path that led to the file.
        file: The file, open for reading.

    Returns:
        What happened, and where the rows are, as sentences.

    Raises:
        OSError: The rows cannot be saved.
    """
    name = _name_in_folder(path.parent, file)
    if os.fstat(file.fileno()).st_nlink > 0 and not name.startswith(".nfs"):  # How NFS keeps deleted files.
        return f"{path} was renamed to {name or 'a place elsewhere'} during the run; what was saved is there."
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
        f"{path} was {happened} during the run. The {len(missing)} rows that were in it, and are not at that"
        f" path now, are in {rescued}: if they are to be counted, add them with `sinter combine`."
    )


def _name_in_folder(folder: pathlib.Path, file: FileIO) -> str:
    """The name of an open file in a folder, or "" if it is not there."""
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
