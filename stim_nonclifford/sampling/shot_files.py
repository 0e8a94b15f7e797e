"""Files of shots in Stim's formats, written in chunks by Stim itself."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, get_args

import stim

from ..engines import PackedBits

__all__ = ["ShotFile", "ShotFormat", "chunk_sizes"]

ShotFormat = Literal["01", "b8", "r8", "ptb64", "hits", "dets"]
_CHUNK_BYTES = 1 << 24


def chunk_sizes(shots: int, bytes_per_shot: int) -> Iterator[int]:
    """Splits shots into chunks of about 16 MiB; all chunks but the last are multiples of 64 shots.

    Examples:
        >>> list(chunk_sizes(100, 1))
        [100]
    """
    size = max(64, _CHUNK_BYTES // max(1, bytes_per_shot) // 64 * 64)
    while shots:
        chunk = min(shots, size)
        yield chunk
        shots -= chunk


class ShotFile:
    """A file to which rows of bits are appended.

    Args:
        path: The file; replaced if it exists.
        format: One of Stim's result formats.
        shots: Total number of shots that will be written.
        num_measurements: Number of measurements in a row.
        num_detectors: Number of detectors in a row.
        num_observables: Number of observables in a row, after the detectors.

    Raises:
        ValueError: The format is unknown; or the format is ``ptb64`` and the number of shots is not a
            multiple of 64.
    """

    def __init__(
        self,
        path: str | pathlib.Path,
        format: ShotFormat,
        shots: int,
        *,
        num_measurements: int = 0,
        num_detectors: int = 0,
        num_observables: int = 0,
    ) -> None:
        if format not in get_args(ShotFormat):
            known = ", ".join(repr(name) for name in get_args(ShotFormat))
            raise ValueError(f"Unrecognized output format: {format!r}. Recognized formats are {known}.")
        if format == "ptb64" and shots % 64:
            raise ValueError(f"shots must be a multiple of 64 for the format 'ptb64', but is {shots}.")
        self._format = format
        self._counts = {
            "num_measurements": num_measurements,
            "num_detectors": num_detectors,
            "num_observables": num_observables,
        }
        self._file = open(path, "wb")  # noqa: SIM115  closed by __exit__

    def write(self, rows: PackedBits) -> None:
        """Appends packed rows."""
        with tempfile.TemporaryDirectory() as folder:
            part = os.path.join(folder, "part")
            stim.write_shot_data_file(data=rows, path=part, format=self._format, **self._counts)
            with open(part, "rb") as source:
                while data := source.read(1 << 20):
                    self._file.write(data)

    def __enter__(self) -> ShotFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
