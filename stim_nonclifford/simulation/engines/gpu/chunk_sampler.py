"""Samples chunks of shots on the device: their memory, and the launches of the kernels."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._native import device_constants, job_fields
from ...plan import BLOCK_SHOTS
from .backend import Array, Backend
from .device_plan import DevicePlan
from .outcome_store import OutcomeStore

_CONSTANTS = device_constants()
_JOB_FIELDS = job_fields()
_NUM_ROUNDS: int = _CONSTANTS["num_rounds"]
_FIRST_WAITING_LIMIT = 4096
MAX_TABLE_BITS = 10
"""With at most this many outputs, the kept shots with each pattern are counted in a table."""


class Results(IntEnum):
    """The results that are computed from the outputs of kept shots; see ``native/kernels/launch/job.h``."""

    PATTERNS = 0
    ERRORS = 1
    ROWS = 2


@dataclass(frozen=True)
class Chunk:
    """A range of shots to sample."""

    seed: int  # the seed
    first_shot: int  # number of the first shot
    end_shot: int  # one more than the number of the last shot
    results: Results  # the results to compute
    count_by_block: bool = False  # whether to count the errors of each block too

    @property
    def shots(self) -> int:
        """Number of shots."""
        return self.end_shot - self.first_shot

    @property
    def num_blocks(self) -> int:
        """Number of blocks that have shots in the chunk."""
        return -(-self.end_shot // BLOCK_SHOTS) - self.first_shot // BLOCK_SHOTS


@dataclass(frozen=True)
class ChunkCapacity:
    """The capacities of the memory for a chunk."""

    queue: int  # number of queued shots, whose outcomes have to be drawn
    errors: int  # number of errors that can be listed
    rows: int  # number of shots whose outputs can be written
    blocks: int  # number of blocks whose errors can be counted


class ChunkSampler:
    """Samples one chunk at a time, in a stream of its own and with its own memory.

    The engine has two such objects, so that two chunks overlap.
    """

    def __init__(self, plan: DevicePlan, store: OutcomeStore, backend: Backend, sizes: ChunkCapacity) -> None:
        xp = backend.xp
        self.sizes = sizes
        self._plan, self._store, self._backend = plan, store, backend
        self._stream = backend.new_stream()
        # How many rounds are launched with a chunk, and how many have been launched for the current one.
        self._first_rounds = _NUM_ROUNDS
        self._rounds = 0
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
        block_places = plan.noise.num_teams * BLOCK_SHOTS
        self._wide_rows: Array = xp.empty(block_places * plan.wide_row_words, dtype=np.uint64)
        self._readouts: Array = xp.empty(block_places * plan.readout_words, dtype=np.uint64)
        self._script_states: Array = xp.empty(block_places * plan.script_qubits, dtype=np.uint16)

    @staticmethod
    def bytes_per_queued_shot(plan: DevicePlan) -> int:
        """Bytes of memory for each queued shot."""
        request: int = _CONSTANTS["request_bytes"]
        return 8 + 8 * (plan.signature_words + plan.output_words) + 4 + 4 + request

    def start(self, chunk: Chunk, after: object | None) -> object:
        """Launches the kernels that sample a chunk, with as many rounds as the previous chunk needed.

        The trees of outcomes are used after the event ``after``; the event that is returned occurs after
        their last use. For ``Results.ROWS``, a chunk may not have more shots than ``sizes.rows``.
        """
        job = self._job_of(chunk)
        stream = self._stream
        with self._backend.active(), stream.active():
            self._counters.fill(0)
            if chunk.results == Results.PATTERNS:
                self._patterns.fill(0)
            if chunk.results == Results.ROWS:
                self._kept[: chunk.shots].fill(0)
            if chunk.count_by_block:
                self._block_errors[: chunk.num_blocks].fill(0)
            self._backend.upload(self._job, job)
            stream.launch(self._plan.noise, self._job)
            self._rounds = 0
            return self._launch_rounds(self._first_rounds, after)

    def start_outcomes(
        self,
        chunk: Chunk,
        signatures: npt.NDArray[np.uint64],
        shots: npt.NDArray[np.uint64],
        after: object | None,
    ) -> object:
        """Launches the kernels that draw the outcomes of some shots of a chunk, whose signatures are given.

        Shots are not more than ``sizes.queue``. Otherwise as ``start``; ``rows`` are what the outcomes flip.
        """
        job = self._job_of(chunk)
        stream, words = self._stream, self._plan.output_words
        rows = np.hstack([signatures, np.zeros((len(shots), words), dtype=np.uint64)]).ravel()
        counters = np.zeros(_CONSTANTS["num_counters"], dtype=np.uint64)
        counters[_CONSTANTS["queued"]] = len(shots)
        with self._backend.active(), stream.active():
            for memory, values in (
                (self._job, job),
                (self._counters, counters),
                (self._queue_shots, shots),
                (self._queue_rows, rows),
            ):
                self._backend.upload(memory[: len(values)], values)
            self._rounds = 0
            return self._launch_rounds(self._first_rounds, after)

    def needs_more(self, counters: npt.NDArray[np.uint64]) -> bool:
        """Whether shots of the chunk still wait for their outcomes. Then call ``go_on``, and wait again."""
        if self._plan.simulate is None or counters[_CONSTANTS["queued"]] > self.sizes.queue:
            return False
        # See `waiting_limit` in native/kernels/simulation/tree_walk.h.
        waiting = [
            int(counters[_CONSTANTS["first_waiting"] + k * _CONSTANTS["counters_per_round"]])
            for k in range(self._rounds)
        ]
        enough = [k + 1 for k, count in enumerate(waiting) if count <= _FIRST_WAITING_LIMIT << 3 * k]
        if self._rounds == _NUM_ROUNDS:
            enough.append(_NUM_ROUNDS)
        if enough:
            self._first_rounds = enough[0]
        return not enough

    def go_on(self, after: object) -> object:
        """Launches the rounds of the chunk that ``start`` has not launched."""
        with self._backend.active(), self._stream.active():
            return self._launch_rounds(_NUM_ROUNDS, after)

    def _launch_rounds(self, end: int, after: object | None) -> object:
        if self._plan.simulate is not None:
            if after is not None:
                self._stream.wait_for(after)
            while self._rounds < end:
                self._stream.launch(self._plan.walk, self._job, self._rounds)
                self._stream.launch(self._plan.simulate, self._job, self._rounds)
                self._rounds += 1
        return self._stream.mark()

    def wait_for(self, mark: object) -> None:
        """Delays all later work of this object until an event has occurred."""
        with self._backend.active():
            self._stream.wait_for(mark)

    def active(self) -> AbstractContextManager[Any]:
        """The context in which the arrays that ``rows`` returns have to be used."""
        return self._stream.active()

    def counters(self) -> npt.NDArray[np.uint64]:
        """Waits until the chunk is done, and returns the counters."""
        with self._backend.active(), self._stream.active():
            return self._backend.to_host(self._counters)

    def pattern_counts(self, num_outputs: int) -> dict[int, int]:
        """The number of kept shots with each pattern, without pattern 0."""
        with self._backend.active(), self._stream.active():
            counts = self._backend.to_host(self._patterns[: 1 << num_outputs])
        return {int(pattern): int(counts[pattern]) for pattern in np.flatnonzero(counts)}

    def block_errors(self, chunk: Chunk) -> npt.NDArray[np.uint32]:
        """The number of errors in each block of the chunk."""
        with self._backend.active(), self._stream.active():
            return self._backend.to_host(self._block_errors[: chunk.num_blocks])

    def listed_errors(self, count: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The numbers of the shots with errors, in arbitrary order, and their outputs."""
        with self._backend.active(), self._stream.active():
            shots = self._backend.to_host(self._error_shots[:count])
            return shots, self._backend.to_host(self._error_rows[:count])

    def rows(self, chunk: Chunk, row_bytes: int, *, only_kept: bool) -> Array:
        """The outputs of the chunk's shots on the device: uint8, shape (shots, row_bytes)."""
        with self._backend.active(), self._stream.active():
            rows = self._rows[: chunk.shots]
            if only_kept:
                rows = rows[self._kept[: chunk.shots].view(np.bool_)]
            packed = rows.view(np.uint8).reshape(len(rows), 8 * self._plan.output_words)
            return packed[:, :row_bytes]

    def kept(self, chunk: Chunk) -> Array:
        """Whether each of the chunk's shots is kept, on the device: uint8, shape (shots,)."""
        return self._kept[: chunk.shots]

    def _job_of(self, chunk: Chunk) -> npt.NDArray[np.uint8]:
        plan, store, sizes = self._plan, self._store, self.sizes
        numbers = {
            "seed": chunk.seed,
            "first_shot": chunk.first_shot,
            "end_shot": chunk.end_shot,
            "event_capacity": plan.event_capacity,
            "queue_capacity": sizes.queue,
            "results": chunk.results,
            "error_capacity": sizes.errors,
            "num_slots": store.num_slots,
            "node_capacity": store.node_capacity,
            "first_waiting_limit": _FIRST_WAITING_LIMIT,
            "vector_bytes": plan.vector_bytes,
            "shared_width": plan.shared_width,
        }
        arrays = {
            "plan": plan.image,
            "wide_rows": self._wide_rows,
            "script_states": self._script_states,
            "readouts": self._readouts,
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
