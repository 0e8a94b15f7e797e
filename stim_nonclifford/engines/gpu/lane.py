"""The device's memory for a chunk of shots, and the launches that sample it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _native
from ...plan import BLOCK_SHOTS
from .backend import Array, Backend
from .device_plan import DevicePlan
from .outcome_store import OutcomeStore

__all__ = ["Chunk", "Lane", "LaneSizes", "Results"]

_CONSTANTS = _native.device_constants()
_JOB_FIELDS = _native.job_fields()
_FIRST_WAITING_LIMIT = 4096
MAX_TABLE_BITS = 10
"""Patterns of at most this many outputs are counted in a table."""


class Results(IntEnum):
    """What is made of the outputs of kept shots; see ``kernels/job.h``."""

    PATTERNS = 0
    ERRORS = 1
    ROWS = 2


@dataclass(frozen=True)
class Chunk:
    """Shots to take.

    Attributes:
        seed: The seed.
        first_shot: Number of the first shot.
        end_shot: Number after the last one.
        results: What to make of them.
        count_by_block: Whether to count errors by block too.
    """

    seed: int
    first_shot: int
    end_shot: int
    results: Results
    count_by_block: bool = False

    @property
    def shots(self) -> int:
        """How many."""
        return self.end_shot - self.first_shot

    @property
    def num_blocks(self) -> int:
        """Blocks of shots that the chunk has a part in."""
        return -(-self.end_shot // BLOCK_SHOTS) - self.first_shot // BLOCK_SHOTS


@dataclass(frozen=True)
class LaneSizes:
    """How much a lane has room for.

    Attributes:
        queue: Shots whose outcomes must be drawn.
        errors: Errors that can be listed.
        rows: Shots whose outputs can be written.
        blocks: Blocks of shots whose errors can be counted.
    """

    queue: int
    errors: int
    rows: int
    blocks: int


class Lane:
    """A queue of the device with memory of its own: one of two that overlap.

    Args:
        plan: The plan, on the device.
        store: The trees of outcomes, which lanes share.
        backend: The device.
        sizes: How much there is room for.
    """

    def __init__(self, plan: DevicePlan, store: OutcomeStore, backend: Backend, sizes: LaneSizes) -> None:
        xp = backend.xp
        self.sizes = sizes
        self._plan, self._store, self._backend = plan, store, backend
        self._queue = backend.new_queue()
        words = plan.output_words
        self._job: Array = xp.zeros(8 * len(_JOB_FIELDS), dtype=np.uint8)
        self._counters: Array = xp.zeros(_CONSTANTS["num_counters"], dtype=np.uint64)
        self._queue_shots: Array = xp.empty(sizes.queue, dtype=np.uint64)
        self._queue_rows: Array = xp.empty(sizes.queue * (plan.signature_words + words), dtype=np.uint64)
        self._waiting: tuple[Array, Array] = (
            xp.empty(sizes.queue, dtype=np.uint32),
            xp.empty(sizes.queue, dtype=np.uint32),
        )
        self._requests: Array = xp.empty(sizes.queue * _CONSTANTS["request_bytes"], dtype=np.uint8)
        self._patterns: Array = xp.zeros(1 << MAX_TABLE_BITS, dtype=np.uint64)
        self._block_errors: Array = xp.zeros(sizes.blocks, dtype=np.uint32)
        self._error_shots: Array = xp.empty(sizes.errors, dtype=np.uint64)
        self._error_rows: Array = xp.empty((sizes.errors, words), dtype=np.uint64)
        self._rows: Array = xp.empty((sizes.rows, words), dtype=np.uint64)
        self._kept: Array = xp.empty(sizes.rows, dtype=np.uint8)
        self._wide_rows: Array = xp.empty(
            plan.noise.num_teams * plan.wide_row_words * BLOCK_SHOTS, dtype=np.uint64
        )

    @staticmethod
    def bytes_per_queued_shot(plan: DevicePlan) -> int:
        """Memory that a place in the queue takes."""
        request: int = _CONSTANTS["request_bytes"]
        return 8 + 8 * (plan.signature_words + plan.output_words) + 4 + 4 + request

    def start(self, chunk: Chunk, after: object | None) -> object:
        """Gives the device a chunk to sample.

        Args:
            chunk: The shots. Their outputs must fit in, if they are wanted.
            after: A mark to wait for before the trees of outcomes are used.

        Returns:
            A mark after the last use of the trees.
        """
        job = self._job_of(chunk)
        queue = self._queue
        with self._backend.active(), queue.active():
            self._counters.fill(0)
            if chunk.results == Results.PATTERNS:
                self._patterns.fill(0)
            if chunk.results == Results.ROWS:
                self._kept[: chunk.shots].fill(0)
            if chunk.count_by_block:
                self._block_errors[: chunk.num_blocks].fill(0)
            self._backend.upload(self._job, job)
            queue.launch(self._plan.noise, self._job)
            if self._plan.simulate is not None:
                if after is not None:
                    queue.wait_for(after)
                for number in range(_CONSTANTS["num_rounds"]):
                    queue.launch(self._plan.walk, self._job, number)
                    queue.launch(self._plan.simulate, self._job, number)
            return queue.mark()

    def active(self) -> AbstractContextManager[Any]:
        """The context in which the arrays that it returns are to be used."""
        return self._queue.active()

    def counters(self) -> npt.NDArray[np.uint64]:
        """The counters, when the chunk is done."""
        with self._backend.active(), self._queue.active():
            return self._backend.to_host(self._counters)

    def pattern_counts(self, num_outputs: int) -> dict[int, int]:
        """Kept shots by pattern, without pattern 0."""
        with self._backend.active(), self._queue.active():
            counts = self._backend.to_host(self._patterns[: 1 << num_outputs])
        return {int(pattern): int(counts[pattern]) for pattern in np.flatnonzero(counts)}

    def block_errors(self, chunk: Chunk) -> npt.NDArray[np.uint32]:
        """Errors of each block of the chunk."""
        with self._backend.active(), self._queue.active():
            return self._backend.to_host(self._block_errors[: chunk.num_blocks])

    def listed_errors(self, count: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Numbers of the shots with errors, in any order, and their outputs."""
        with self._backend.active(), self._queue.active():
            shots = self._backend.to_host(self._error_shots[:count])
            return shots, self._backend.to_host(self._error_rows[:count])

    def rows(self, chunk: Chunk, row_bytes: int, *, only_kept: bool) -> Array:
        """The outputs of the chunk's shots on the device: uint8, shape (shots, row_bytes)."""
        with self._backend.active(), self._queue.active():
            rows = self._rows[: chunk.shots]
            if only_kept:
                rows = rows[self._kept[: chunk.shots].view(np.bool_)]
            packed = rows.view(np.uint8).reshape(len(rows), 8 * self._plan.output_words)
            return packed[:, :row_bytes]

    def _job_of(self, chunk: Chunk) -> npt.NDArray[np.uint8]:
        plan, store, sizes = self._plan, self._store, self.sizes
        numbers = {
            "seed": chunk.seed,
            "first_shot": chunk.first_shot,
            "end_shot": chunk.end_shot,
            "tables_in_shared": plan.noise.in_shared,
            "event_capacity": plan.event_capacity,
            "queue_capacity": sizes.queue,
            "results": chunk.results,
            "error_capacity": sizes.errors,
            "num_slots": store.num_slots,
            "node_capacity": store.node_capacity,
            "first_waiting_limit": _FIRST_WAITING_LIMIT,
            "vector_bytes": plan.vector_bytes,
        }
        arrays = {
            "plan": plan.image,
            "wide_rows": self._wide_rows,
            "counters": self._counters,
            "queue_shots": self._queue_shots,
            "queue_rows": self._queue_rows,
            "pattern_counts": self._patterns,
            "error_shots": self._error_shots,
            "error_rows": self._error_rows,
            "output_rows": self._rows,
            "output_kept": self._kept,
            "fingerprints": store.fingerprints,
            "keys": store.keys,
            "roots": store.roots,
            "nodes": store.nodes,
            "node_outputs": store.node_outputs,
            "law_counters": store.counters,
            "waiting_even": self._waiting[0],
            "waiting_odd": self._waiting[1],
            "requests": self._requests,
            "vectors": store.vectors,
            "branch_rows": store.branch_rows,
        }
        values = numbers | {name: self._backend.address(array) for name, array in arrays.items()}
        values["block_errors"] = self._backend.address(self._block_errors) if chunk.count_by_block else 0
        job = np.zeros(len(_JOB_FIELDS), dtype=np.uint64)
        for name, offset in _JOB_FIELDS:
            job[offset // 8] = values[name]
        return job.view(np.uint8)
