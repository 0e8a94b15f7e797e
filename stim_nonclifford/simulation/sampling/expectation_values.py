"""Expectation values beside the bits of a sampler's shots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...base.arguments import flag, number_of_shots
from ...base.memory import check_result_bytes
from ..compiler import ExpectationPlan
from ..engines import PackedBits, SamplingEngine
from ..plan import SamplingPlan
from .rows import columns, unpack
from .shot_numbers import ShotNumbers

_STORE_BYTES = 64 << 20
_BYTES_PER_PATH = 300  # of Python's objects
_CHUNK_SHOTS = 1 << 16
_IF_TOO_MANY = "Take the shots in several calls."


class ShotsWithValues(Protocol):
    """An object that draws shots with their expectation values."""

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        ...

    def sample(self, seed: int, first_shot: int, shots: int) -> tuple[PackedBits, npt.NDArray[np.float64]]:
        """The requested outputs of all shots, packed, and their expectation values."""
        ...

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The bits of the kept shots, their numbers, and their expectation values."""
        ...

    @property
    def num_expectations(self) -> int:
        """Number of expectation values of a shot."""
        ...

    def statistics(self) -> dict[str, int]:
        """See ``SamplingEngine.statistics``."""
        ...


class EngineWithValues(Protocol):
    """An engine whose shots have expectation values of their own."""

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        ...

    def sample_kept_with_values(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """See ``TrajectoryEngine.sample_kept_with_values``."""
        ...

    def statistics(self) -> dict[str, int]:
        """See ``SamplingEngine.statistics``."""
        ...


class FollowedExpectations:
    """Draws shots that are followed by themselves, or branch by branch, with their expectation values."""

    def __init__(self, engine: EngineWithValues, num_expectations: int) -> None:
        self._engine = engine
        self._num_expectations = num_expectations

    def sample(self, seed: int, first_shot: int, shots: int) -> tuple[PackedBits, npt.NDArray[np.float64]]:
        """See ``ShotsWithValues.sample``."""
        rows, _, values = self._engine.sample_kept_with_values(seed, first_shot, shots)
        return rows, values

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """See ``ShotsWithValues.sample_kept_numbered``."""
        return self._engine.sample_kept_with_values(seed, first_shot, shots)

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return self._engine.name

    @property
    def num_expectations(self) -> int:
        """See ``ShotsWithValues.num_expectations``."""
        return self._num_expectations

    def statistics(self) -> dict[str, int]:
        """See ``SamplingEngine.statistics``."""
        return self._engine.statistics()


class ExpectationEngine:
    """Draws shots, and computes their expectation values.

    The values of a path are computed once, and stored. When the store is full, it is emptied: this changes no
    result.
    """

    def __init__(self, plan: ExpectationPlan, make_engine: Callable[[SamplingPlan], SamplingEngine]) -> None:
        self._plan = plan
        self._engine = make_engine(plan.plan)
        self._stored: dict[bytes, npt.NDArray[np.float64]] = {}
        self._path_bytes = -(-plan.num_path_bits // 8)
        self._max_stored = _STORE_BYTES // (_BYTES_PER_PATH + self._path_bytes + 8 * plan.num_expectations)

    def sample(self, seed: int, first_shot: int, shots: int) -> tuple[PackedBits, npt.NDArray[np.float64]]:
        """The requested outputs of all shots, packed, and their expectation values."""
        return self._split(self._engine.sample(seed, first_shot, shots))

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The bits of the kept shots, their numbers, and their expectation values."""
        rows, numbers = self._engine.sample_kept_numbered(seed, first_shot, shots)
        bits, values = self._split(rows)
        return bits, numbers, values

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return self._engine.name

    @property
    def num_expectations(self) -> int:
        """Number of expectation values of a shot."""
        return self._plan.num_expectations

    def statistics(self) -> dict[str, int]:
        """See ``SamplingEngine.statistics``."""
        return self._engine.statistics()

    def _split(self, rows: PackedBits) -> tuple[PackedBits, npt.NDArray[np.float64]]:
        plan = self._plan
        first_bit = plan.num_requested + len(plan.signed)
        signs = unpack(columns(rows, plan.num_requested, first_bit), len(plan.signed))
        values = self._values(columns(rows, first_bit, first_bit + plan.num_path_bits))
        values[:, plan.signed] *= np.where(signs, -1.0, 1.0)
        return columns(rows, 0, plan.num_requested), values + 0.0  # not -0.0

    def _values(self, paths: PackedBits) -> npt.NDArray[np.float64]:
        """The values of paths, before signs."""
        keys, group = _distinct(paths)
        found = [self._stored.get(key.tobytes()) for key in keys]
        missing = [k for k, values in enumerate(found) if values is None]
        if missing:
            fresh = self._plan.values(unpack(keys[missing], self._plan.num_path_bits))
            if len(self._stored) + len(missing) > self._max_stored:
                self._stored.clear()
            for k, values in zip(missing, fresh, strict=True):
                found[k] = values
                if len(self._stored) < self._max_stored:
                    self._stored[keys[k].tobytes()] = values.copy()
        table = np.array(found, dtype=np.float64).reshape(len(keys), self._plan.num_expectations)
        return table[group]


def _distinct(rows: PackedBits) -> tuple[PackedBits, npt.NDArray[np.intp]]:
    """The distinct rows, and for each row which of them it is."""
    group = np.zeros(len(rows), dtype=np.intp)
    if not rows.shape[1] or not len(rows):
        return rows[:1], group
    # Most shots have the path of the first one, without any error.
    differs = (rows != rows[0]).any(axis=1)
    others = np.ascontiguousarray(rows[differs])
    items = others.view(np.dtype((np.void, rows.shape[1])))[:, 0]
    _, first, inverse = np.unique(items, return_index=True, return_inverse=True)
    group[differs] = inverse + 1
    return np.concatenate([rows[:1], others[first]]), group


def sampled_in_chunks(
    engine: ShotsWithValues, seed: int, numbers: ShotNumbers, shots: int, num_bits: int, bit_packed: bool
) -> tuple[PackedBits, npt.NDArray[np.float64]]:
    """The outputs and the expectation values of shots, in a call of a sampler."""
    shots, bit_packed = number_of_shots(shots), flag(bit_packed, "bit_packed")
    check_result_bytes(shots, num_bits + 64 * engine.num_expectations, bit_packed, _IF_TOO_MANY)
    sizes = [min(_CHUNK_SHOTS, shots - first) for first in range(0, shots, _CHUNK_SHOTS)] or [0]
    # In chunks, so that memory for paths stays small.
    parts = [engine.sample(seed, numbers.take(size), size) for size in sizes]
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([values for _, values in parts])
