"""The methods that every engine has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..plan import BLOCK_SHOTS

_COUNTED_BLOCKS = 64
"""Blocks of shots whose rows are counted together. Doubled, rows take twice the memory, and a count that ends
at an error draws more shots in vain."""

PackedBits = npt.NDArray[np.uint8]
"""Rows of packed bits: bit k of row r is ``(rows[r, k // 8] >> (k % 8)) & 1``."""

DeviceRows = Any
"""Rows of packed bits in a CuPy array."""


@dataclass(frozen=True)
class Tally:
    """Counts over a range of shots."""

    shots: int  # number of attempted shots
    discards: int  # number of discarded shots, in which a postselected output was 1
    errors: int  # number of kept shots in which any output is 1
    # number of kept shots with each non-zero pattern of outputs (bit k is output k)
    patterns: dict[int, int] = field(default_factory=dict)
    # the numbers of the shots with errors, ascending; empty if the call did not ask for them
    error_shots: list[int] = field(default_factory=list)


class SamplingEngine(Protocol):
    """An object that draws shots from a plan.

    Shots are numbered. The results of a shot depend on the plan, the seed and the number of the shot alone.
    """

    @property
    def name(self) -> str:
        """The name of the engine, as the argument ``engine`` of a sampler; with a comma, of several."""
        ...

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Tally:
        """Counts the results of the shots first_shot, ..., first_shot + shots - 1.

        Args:
            seed: 0 <= seed < 2^64.
            first_shot: Number of the first shot.
            shots: How many shots to draw.
            max_errors: If positive, sampling stops at the end of the block of ``plan.BLOCK_SHOTS`` shots
                (counted from shot 0) in which the number of errors reaches this value.
            list_errors: Whether the result lists the numbers of the shots with errors.
        """
        ...

    def sample(self, seed: int, first_shot: int, shots: int, *, num_outputs: int | None = None) -> PackedBits:
        """The outputs of all shots; the plan must not postselect.

        Args:
            seed: 0 <= seed < 2^64.
            first_shot: Number of the first shot.
            shots: How many shots to draw.
            num_outputs: How many outputs to return: the first ones of the plan. None for all.

        Returns:
            uint8, shape (shots, ceil(num_outputs / 8)).
        """
        ...

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """The outputs of the kept shots, in the order of their numbers."""
        ...

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """As ``sample_kept``, with the numbers of the kept shots."""
        ...

    def statistics(self) -> dict[str, int]:
        """Counts of stored objects and of work done, by names that depend on the engine."""
        ...


class KeptRowsEngine(ABC):
    """An engine whose methods all follow from the rows of kept shots."""

    @property
    @abstractmethod
    def name(self) -> str:
        """See ``SamplingEngine.name``."""

    @abstractmethod
    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""

    @abstractmethod
    def statistics(self) -> dict[str, int]:
        """See ``SamplingEngine.statistics``."""

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """See ``SamplingEngine.sample_kept``."""
        return self.sample_kept_numbered(seed, first_shot, shots)[0]

    def sample(self, seed: int, first_shot: int, shots: int, *, num_outputs: int | None = None) -> PackedBits:
        """See ``SamplingEngine.sample``."""
        rows = self.sample_kept(seed, first_shot, shots)
        if len(rows) < shots:
            raise ValueError("The engine discards shots, so that it has no outputs of all of them.")
        if num_outputs is None:
            return rows
        rows = np.ascontiguousarray(rows[:, : -(-num_outputs // 8)])
        if num_outputs % 8:
            rows[:, -1] &= np.uint8((1 << num_outputs % 8) - 1)
        return rows

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Tally:
        """See ``SamplingEngine.count``."""
        first, end = first_shot, first_shot + shots
        kept_shots = errors = 0
        patterns: Counter[int] = Counter()
        numbers: list[int] = []
        # With a limit, frequent errors must not draw many blocks that do not count.
        blocks = 1 if max_errors else _COUNTED_BLOCKS
        while first < end and not (max_errors and errors >= max_errors):
            stop = min(end, (first // BLOCK_SHOTS + blocks) * BLOCK_SHOTS)
            rows, kept = self.sample_kept_numbered(seed, first, stop - first)
            wrong = rows.any(axis=1)
            if max_errors and errors + wrong.sum() >= max_errors:
                # Ends with the block in which the errors become enough.
                last = int(kept[np.flatnonzero(wrong)[max_errors - errors - 1]])
                stop = min(stop, (last // BLOCK_SHOTS + 1) * BLOCK_SHOTS)
            wrong &= kept < stop
            kept_shots += int((kept < stop).sum())
            errors += int(wrong.sum())
            different, times = np.unique(rows[wrong], axis=0, return_counts=True)
            for row, count in zip(different, times.tolist(), strict=True):
                patterns[int.from_bytes(row.tobytes(), "little")] += count
            if list_errors:
                numbers += kept[wrong].tolist()
            first, blocks = stop, min(2 * blocks, _COUNTED_BLOCKS)
        attempted = first - first_shot
        return Tally(attempted, attempted - kept_shots, errors, dict(patterns), numbers)


class RowEngine(Protocol):
    """An engine that draws the noise of shots and their outcomes apart."""

    @property
    def name(self) -> str:
        """The name of the engine, as the argument ``engine`` of a sampler; with a comma, of several."""
        ...

    def rows(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint64]:
        """The rows of shots after noise and before outcomes.

        Args:
            seed: 0 <= seed < 2^64.
            first_shot: Number of the first shot.
            shots: How many shots to draw.

        Returns:
            uint64, shape (shots, num_row_words): checks, signature and outputs, which start at words of their
            own. Bit k of a part is bit k % 64 of word k // 64.
        """
        ...

    def outcomes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> npt.NDArray[np.uint64]:
        """Draws outcomes for given signatures; the plan must not postselect what depends on outcomes.

        Args:
            signatures: uint64, shape (shots, words): bit k of a signature is bit k % 64 of word k // 64.
            numbers: uint64, shape (shots,). Together with the seed, a number fixes the outcomes of its
                signature, as that of a shot does.
            seed: 0 <= seed < 2^64.

        Returns:
            uint64, shape (shots, words of the outputs): the outputs that the outcomes flip.
        """
        ...

    def statistics(self) -> dict[str, int]:
        """See ``SamplingEngine.statistics``."""
        ...


class OutcomePasses(Protocol):
    """Outcomes of shots whose signatures get more bits as a decoder decides."""

    def draw(self, read: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Draws outcomes.

        Args:
            read: uint64, shape (words of the outputs,): the outputs that are read; others may be wrong. All
                that were read before are among them.

        Returns:
            uint64, shape (shots, words of the outputs): the outputs that the outcomes flip.
        """
        ...

    def flip(self, bits: npt.NDArray[np.uint64]) -> None:
        """Flips bits of the signatures: uint64, shape (shots, words)."""
        ...


@runtime_checkable
class PassEngine(RowEngine, Protocol):
    """An engine that can simulate shots up to a decision, and go on from there."""

    def can_go_on(self, read: npt.NDArray[np.uint64], bits: npt.NDArray[np.uint64]) -> bool:
        """Whether it can with this plan.

        Args:
            read: uint64, shape (passes, words of the outputs): the outputs that are read.
            bits: uint64, shape (passes, words of a signature): the bits that may change after each pass.
        """
        ...

    def passes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> OutcomePasses:
        """Begins shots; arguments as for ``outcomes``."""
        ...


@runtime_checkable
class DeviceSamplingEngine(SamplingEngine, Protocol):
    """An engine that can leave its results in the memory of a GPU."""

    def sample_on_device(self, seed: int, first_shot: int, shots: int) -> DeviceRows:
        """As ``sample``, with the result on the GPU."""
        ...

    def sample_kept_on_device(self, seed: int, first_shot: int, shots: int) -> DeviceRows:
        """As ``sample_kept``, with the result on the GPU."""
        ...
