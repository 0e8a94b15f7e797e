"""Files of shots in Stim's formats, written in chunks by Stim itself."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, Literal, get_args

import numpy as np
import stim

from ..engines import PackedBits
from .rows import pack, unpack

ShotFormat = Literal["01", "b8", "r8", "ptb64", "hits", "dets"]
SHOT_FORMATS: tuple[ShotFormat, ...] = get_args(ShotFormat)
_FIRST_SHOTS = 64
_GROWTH = 4
_CHUNK_BYTES = 1 << 22
_DETS_LINE = re.compile(rb"shot((?: D\d+)*)((?: L\d+)*)\n")


def chunk_sizes(shots: int, bytes_per_shot: int) -> Iterator[int]:
    """Splits shots into chunks, which grow up to about 4 MiB; all but the last are multiples of 64 shots.

    The first chunks are small, so that who reads the file meanwhile need not wait, however slow a shot is.
    """
    largest = max(_FIRST_SHOTS, _CHUNK_BYTES // max(1, bytes_per_shot) // 64 * 64)
    size = _FIRST_SHOTS
    while shots:
        chunk = min(shots, size)
        yield chunk
        shots -= chunk
        size = min(largest, _GROWTH * size)


class ShotFile:
    """A file in one of Stim's result formats to which rows of bits are appended.

    A path is replaced if it exists; a file that is open for writing bytes stays open. The format ``dets``
    names the observables of a shot before its detectors if ``observables_first``.
    """

    def __init__(
        self,
        file: BinaryIO | str | pathlib.Path,
        format: ShotFormat,
        shots: int,
        *,
        num_measurements: int = 0,
        num_detectors: int = 0,
        num_observables: int = 0,
        observables_first: bool = False,
    ) -> None:
        if format == "ptb64" and shots % 64:
            raise ValueError(f"shots must be a multiple of 64 for the format 'ptb64', but is {shots}.")
        self._format = format
        self._counts = {
            "num_measurements": num_measurements,
            "num_detectors": num_detectors,
            "num_observables": num_observables,
        }
        self._changes_order = observables_first and format == "dets"
        self._closing = contextlib.ExitStack()
        if isinstance(file, (str, os.PathLike)):
            file = self._closing.enter_context(open(file, "wb"))  # noqa: SIM115  closed by __exit__
        self._file = file

    def write(self, rows: PackedBits) -> None:
        """Appends packed rows."""
        with tempfile.TemporaryDirectory() as folder:
            part = os.path.join(folder, "part")
            stim.write_shot_data_file(data=rows, path=part, format=self._format, **self._counts)
            with open(part, "rb") as source:
                while data := b"".join(source.readlines(1 << 20)):
                    if self._changes_order:
                        data = _DETS_LINE.sub(rb"shot\2\1\n", data)
                    self._file.write(data)
        self._file.flush()

    def __enter__(self) -> ShotFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()


class DetectionFiles:
    """Files of detection events and of observable flips, to which the bits of shots are appended.

    See ``ShotFile``.
    """

    def __init__(
        self,
        detectors: BinaryIO | str | pathlib.Path,
        format: ShotFormat,
        shots: int,
        *,
        num_detectors: int,
        num_observables: int,
        observables: BinaryIO | str | pathlib.Path | None = None,
        observables_format: ShotFormat = "01",
        prepend_observables: bool = False,
        append_observables: bool = False,
    ) -> None:
        if format == "dets" and prepend_observables and append_observables:
            raise ValueError(
                "The format 'dets' names each observable once: set prepend_observables or append_observables."
            )
        self._sizes = num_detectors, num_observables
        self._times = int(prepend_observables), int(append_observables)
        num_included = num_observables * sum(self._times)
        if format == "dets":
            counts = {"num_detectors": num_detectors, "num_observables": num_included}
            if prepend_observables:  # rows have the detectors first, as Stim writes this format
                self._times = 0, 1
        else:
            counts = {"num_measurements": num_detectors + num_included}
        with contextlib.ExitStack() as closing:
            self._observables = None
            if observables is not None:
                self._observables = closing.enter_context(
                    ShotFile(observables, observables_format, shots, num_observables=num_observables)
                )
            self._detectors = closing.enter_context(
                ShotFile(detectors, format, shots, **counts, observables_first=prepend_observables)
            )
            self._closing = closing.pop_all()

    def write(self, dets: PackedBits, obs: PackedBits) -> None:
        """Appends packed rows of detection events, and of the observable flips of the same shots."""
        rows = dets
        before, after = self._times
        if before or after:
            num_detectors, num_observables = self._sizes
            flips = unpack(obs, num_observables)
            events = unpack(dets, num_detectors)
            rows = pack(np.concatenate([*[flips] * before, events, *[flips] * after], axis=1))
        self._detectors.write(rows)
        if self._observables is not None:
            self._observables.write(obs)

    def __enter__(self) -> DetectionFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()
