"""The GPU engine: samples shots in chunks, of which two run at the same time."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...._native import device_constants
from ....base.errors import ResourceLimitError
from ...plan import BLOCK_SHOTS, SamplingPlan
from ..contract import PackedBits, Tally
from ..cpu import DEFAULT_CACHE_BYTES
from ..turns import Turns
from .backend import Array, Backend
from .chunk_sampler import MAX_TABLE_BITS, Chunk, ChunkCapacity, ChunkSampler, Results
from .device_plan import DevicePlan
from .outcome_store import OutcomeStore

_CONSTANTS = device_constants()

_MAX_BUDGET = 8 << 30
_MIN_BUDGET = 8 << 20
_SHARE_OF_FREE = 4
"""The engine uses a quarter of the free memory, so that other processes on the same GPU have some too.

A quarter of that are the trees of outcomes, another one the coefficient vectors, an eighth rows of shots, and
up to five sixteenths the queues, errors and outputs of the two chunks.
"""

_FIRST_CHUNK = 1 << 20
_MAX_CHUNK = 1 << 28
_MAX_QUEUE = 1 << 23
_MAX_ROWS = 1 << 24
_GROWTH = 16
_MARGIN = 1.25


class GpuEngine:
    r"""Draws shots on an NVIDIA GPU. They are the same shots as those of the other engines.

    Threads may share an engine: their calls follow one another.

    Args:
        plan: The plan.
        backend: The GPU.
        cache_bytes: Limit for stored outcome laws, in bytes of the GPU's memory. Beyond it, shots are
            simulated and their outcome laws are not stored.

    Raises:
        ResourceLimitError: The GPU has too little free memory for the circuit.
    """

    def __init__(
        self, plan: SamplingPlan, backend: Backend, *, cache_bytes: int = DEFAULT_CACHE_BYTES
    ) -> None:
        self.plan = plan
        self._backend = backend
        self._row_bytes = -(-plan.num_outputs // 8)
        with self._backend.active():
            self._allocate(cache_bytes)
        self._outcome_mark: object | None = None
        self._chunk_shots = _FIRST_CHUNK
        self._turns = Turns("engine")
        self._totals = dict.fromkeys(("simulations", "close_decisions", "chunks"), 0)

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return "gpu"

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Tally:
        """See ``SamplingEngine.count``."""
        if self.plan.never_kept:
            return Tally(shots, shots, 0, {})
        table = self.plan.num_outputs <= MAX_TABLE_BITS and not list_errors
        results = Results.PATTERNS if table else Results.ERRORS
        attempted = kept = errors = 0
        patterns: dict[int, int] = {}
        error_shots: list[int] = []
        again = 0
        for chunk, sampler, counters in self._run(seed, first_shot, shots, results, max_errors > 0):
            numbers: list[int] = []
            if results == Results.PATTERNS:
                found = sampler.pattern_counts(self.plan.num_outputs)
            else:
                listed, rows = sampler.listed_errors(int(counters[_CONSTANTS["errors"]]))
                found = _patterns(rows)
                numbers = np.sort(listed).tolist() if list_errors else []
            chunk_errors = sum(found.values())
            if max_errors and errors + chunk_errors >= max_errors:
                by_block = np.cumsum(sampler.block_errors(chunk))
                last = int(np.searchsorted(by_block, max_errors - errors))
                end = min(chunk.end_shot, (chunk.first_shot // BLOCK_SHOTS + last + 1) * BLOCK_SHOTS)
                if end < chunk.end_shot:
                    again = end - chunk.first_shot
                    break
            attempted += chunk.shots
            kept += int(counters[_CONSTANTS["kept"]])
            errors += chunk_errors
            _add(patterns, found)
            error_shots += numbers
            if max_errors and errors >= max_errors:
                break
        if again:
            # The last chunk has more blocks than are counted: sample it again, up to the last of them.
            rest = self.count(seed, first_shot + attempted, again, list_errors=list_errors)
            attempted += rest.shots
            kept += rest.shots - rest.discards
            errors += rest.errors
            _add(patterns, rest.patterns)
            error_shots += rest.error_shots
        return Tally(attempted, attempted - kept, errors, patterns, error_shots)

    def sample(self, seed: int, first_shot: int, shots: int, *, num_outputs: int | None = None) -> PackedBits:
        """See ``SamplingEngine.sample``."""
        wanted = self.plan.num_outputs if num_outputs is None else num_outputs
        rows = np.empty((shots, -(-wanted // 8)), dtype=np.uint8)
        for chunk, sampler, _ in self._run(seed, first_shot, shots, Results.ROWS):
            begin = chunk.first_shot - first_shot
            found = self._to_host(sampler, chunk, only_kept=False)
            rows[begin : begin + chunk.shots] = found[:, : rows.shape[1]]
        if wanted % 8:
            rows[:, -1] &= np.uint8((1 << wanted % 8) - 1)
        return rows

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """See ``SamplingEngine.sample_kept``."""
        parts = [np.empty((0, self._row_bytes), dtype=np.uint8)]
        if not self.plan.never_kept:
            for chunk, sampler, _ in self._run(seed, first_shot, shots, Results.ROWS):
                parts.append(self._to_host(sampler, chunk, only_kept=True))
        return np.concatenate(parts)

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""
        parts = [np.empty((0, self._row_bytes), dtype=np.uint8)]
        numbers = [np.empty(0, dtype=np.int64)]
        if not self.plan.never_kept:
            for chunk, sampler, _ in self._run(seed, first_shot, shots, Results.ROWS):
                parts.append(self._to_host(sampler, chunk, only_kept=True))
                with self._backend.active(), sampler.active():
                    kept = self._backend.to_host(sampler.kept(chunk))
                numbers.append(chunk.first_shot + np.flatnonzero(kept))
        return np.concatenate(parts), np.concatenate(numbers)

    def sample_on_device(self, seed: int, first_shot: int, shots: int) -> Array:
        """As ``sample``, with the result in the GPU's memory."""
        with self._backend.active():
            rows = self._backend.xp.empty((shots, self._row_bytes), dtype=np.uint8)
        # The memory may have belonged to an array that the caller's stream is still reading.
        mark = self._backend.mark_caller()
        for sampler in self._samplers:
            sampler.wait_for(mark)
        for chunk, sampler, _ in self._run(seed, first_shot, shots, Results.ROWS):
            begin = chunk.first_shot - first_shot
            with self._backend.active(), sampler.active():
                rows[begin : begin + chunk.shots] = sampler.rows(chunk, self._row_bytes, only_kept=False)
        with self._backend.active():
            self._backend.finish()
        return rows

    def sample_kept_on_device(self, seed: int, first_shot: int, shots: int) -> Array:
        """As ``sample_kept``, with the result in the GPU's memory."""
        with self._backend.active():
            parts = [self._backend.xp.empty((0, self._row_bytes), dtype=np.uint8)]
        if not self.plan.never_kept:
            for chunk, sampler, _ in self._run(seed, first_shot, shots, Results.ROWS):
                with self._backend.active(), sampler.active():
                    parts.append(sampler.rows(chunk, self._row_bytes, only_kept=True).copy())
        with self._backend.active():
            self._backend.finish()
            rows = self._backend.xp.concatenate(parts)
            # The copies must be done before the memory of the parts is reused.
            self._backend.finish()
            return rows

    def outcomes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> npt.NDArray[np.uint64]:
        """See ``RowEngine.outcomes``."""
        found = np.zeros((len(numbers), self._device_plan.output_words), dtype=np.uint64)
        sizes, order = self._samplers[0].sizes, np.argsort(numbers, kind="stable")
        most = min(sizes.rows, sizes.queue)
        with self._turns.turn():
            while len(order) and self.plan.num_outcomes:
                first = int(numbers[order[0]])
                end = int(np.searchsorted(numbers[order] - np.uint64(first), np.uint64(most)))
                mine, order = order[:end], order[end:]
                chunk = Chunk(seed, first, int(numbers[mine[-1]]) + 1, Results.ROWS)
                found[mine] = self._outcomes(chunk, signatures[mine], numbers[mine])
        return found

    def _outcomes(
        self, chunk: Chunk, signatures: npt.NDArray[np.uint64], shots: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.uint64]:
        """What the outcomes of some shots of a chunk flip."""
        sampler = self._samplers[0]
        with self._trees_guarded():
            self._outcome_mark = sampler.start_outcomes(chunk, signatures, shots, self._outcome_mark)
        counters = self._counters(sampler)
        self._totals["simulations"] += int(counters[_CONSTANTS["simulations"]])
        self._totals["close_decisions"] += int(counters[_CONSTANTS["close_decisions"]])
        self._totals["chunks"] += 1
        with self._backend.active(), sampler.active():
            rows = self._backend.to_host(
                sampler.rows(chunk, 8 * self._device_plan.output_words, only_kept=False)
            )
        return rows.view(np.uint64)[(shots - np.uint64(chunk.first_shot)).astype(np.int64)]

    def statistics(self) -> dict[str, int]:
        """Sizes of the store of outcome laws, and counts over the life of the engine."""
        with self._turns.turn(), self._backend.active():
            return {**self._store.statistics(), **self._totals}

    def _allocate(self, cache_bytes: int) -> None:
        """Allocates memory; tries again with half as much if the GPU is out of memory."""
        budget = min(_MAX_BUDGET, self._backend.free_bytes() // _SHARE_OF_FREE)
        while True:
            try:
                self._device_plan = DevicePlan(self.plan, self._backend, budget)
                self._store = OutcomeStore(self._device_plan, self._backend, min(cache_bytes, budget // 4))
                sizes = _chunk_capacity(self._device_plan, budget)
                self._samplers = [
                    ChunkSampler(self._device_plan, self._store, self._backend, sizes) for _ in range(2)
                ]
                # Arrays are filled in CuPy's own stream; the streams of the samplers do not wait for it.
                self._backend.finish()
                return
            except Exception as error:
                if not self._backend.is_out_of_memory(error):
                    raise
                if budget < 2 * _MIN_BUDGET:
                    raise ResourceLimitError(
                        f"The GPU has too little free memory: {self._backend.free_bytes() / 2**20:.0f} MiB."
                        " End other programs that use it, use another GPU (device=...), or use engine='cpu'."
                    ) from error
            budget //= 2

    def _run(
        self, seed: int, first_shot: int, shots: int, results: Results, count_by_block: bool = False
    ) -> Iterator[tuple[Chunk, ChunkSampler, npt.NDArray[np.uint64]]]:
        """Samples shots; yields the chunks in order, each with its sampler and its counters.

        The results in a sampler are overwritten when the next chunk is requested. Calls of other threads wait
        until the iterator ends or is deleted.
        """
        with self._turns.turn():
            end = first_shot + shots
            started: deque[tuple[Chunk, ChunkSampler]] = deque()
            free = list(self._samplers)
            try:
                while first_shot < end or started:
                    while first_shot < end and free:
                        chunk = self._next_chunk(seed, first_shot, end, results, count_by_block)
                        sampler = free.pop()
                        self._start(chunk, sampler)
                        started.append((chunk, sampler))
                        first_shot = chunk.end_shot
                    chunk, sampler = started.popleft()
                    yield from self._finished(chunk, sampler)
                    free.append(sampler)
            finally:
                # The caller has stopped early. Its next step may be to free the memory of a running chunk.
                if started:
                    with self._backend.active():
                        self._backend.finish()

    def _start(self, chunk: Chunk, sampler: ChunkSampler) -> None:
        with self._trees_guarded():
            self._outcome_mark = sampler.start(chunk, self._outcome_mark)

    def _counters(self, sampler: ChunkSampler) -> npt.NDArray[np.uint64]:
        """Waits until a chunk is done."""
        counters = sampler.counters()
        while sampler.needs_more(counters):
            with self._trees_guarded():
                self._outcome_mark = sampler.go_on(self._outcome_mark)
            counters = sampler.counters()
        return counters

    @contextlib.contextmanager
    def _trees_guarded(self) -> Iterator[None]:
        """A context for launches of kernels that use the trees of outcomes: only one chunk at a time may."""
        try:
            yield
        except BaseException:
            # Perhaps not all kernels were launched. Then nodes that were reserved are never written.
            with self._backend.active():
                self._backend.finish()
                self._store.clear()
                self._backend.finish()
            raise

    def _finished(
        self, chunk: Chunk, sampler: ChunkSampler
    ) -> Iterator[tuple[Chunk, ChunkSampler, npt.NDArray[np.uint64]]]:
        """Yields the results of a chunk. If they did not fit into memory, the chunk is sampled in halves."""
        counters = self._counters(sampler)
        queued, listed = int(counters[_CONSTANTS["queued"]]), int(counters[_CONSTANTS["errors"]])
        self._adapt(chunk, sampler.sizes, queued, listed)
        if queued <= sampler.sizes.queue and listed <= sampler.sizes.errors:
            self._totals["simulations"] += int(counters[_CONSTANTS["simulations"]])
            self._totals["close_decisions"] += int(counters[_CONSTANTS["close_decisions"]])
            self._totals["chunks"] += 1
            yield chunk, sampler, counters
            return
        middle = chunk.first_shot + chunk.shots // 2
        for begin, end in ((chunk.first_shot, middle), (middle, chunk.end_shot)):
            half = Chunk(chunk.seed, begin, end, chunk.results, chunk.count_by_block)
            self._start(half, sampler)
            yield from self._finished(half, sampler)

    def _next_chunk(
        self, seed: int, first_shot: int, end: int, results: Results, count_by_block: bool
    ) -> Chunk:
        sizes = self._samplers[0].sizes
        limit = min(self._chunk_shots, sizes.rows if results == Results.ROWS else _MAX_CHUNK)
        stop = first_shot + limit
        if stop < end and stop // BLOCK_SHOTS * BLOCK_SHOTS > first_shot:
            # Chunks end where blocks end, so that the noise of a block is drawn only once.
            stop = stop // BLOCK_SHOTS * BLOCK_SHOTS
        return Chunk(seed, first_shot, min(end, stop), results, count_by_block)

    def _adapt(self, chunk: Chunk, sizes: ChunkCapacity, queued: int, listed: int) -> None:
        """Sets the size of the next chunks to what should fit into memory, judged by this chunk."""
        fill = max(queued / sizes.queue, listed / sizes.errors) / chunk.shots
        wanted = 1 / (_MARGIN * fill) if fill else _MAX_CHUNK
        largest = max(_FIRST_CHUNK, min(_MAX_CHUNK, _GROWTH * chunk.shots))
        self._chunk_shots = max(BLOCK_SHOTS, int(min(wanted, largest)))

    def _to_host(self, sampler: ChunkSampler, chunk: Chunk, *, only_kept: bool) -> PackedBits:
        with self._backend.active(), sampler.active():
            return self._backend.to_host(sampler.rows(chunk, self._row_bytes, only_kept=only_kept))


def _chunk_capacity(plan: DevicePlan, budget: int) -> ChunkCapacity:
    row_bytes = 8 * plan.output_words
    queue = budget // 16 // ChunkSampler.bytes_per_queued_shot(plan)
    return ChunkCapacity(
        queue=max(BLOCK_SHOTS, min(_MAX_QUEUE, queue)),
        errors=max(BLOCK_SHOTS, min(_MAX_QUEUE, budget // 32 // (8 + row_bytes))),
        rows=max(BLOCK_SHOTS, min(_MAX_ROWS, budget // 16 // (1 + row_bytes))),
        blocks=_MAX_CHUNK // BLOCK_SHOTS + 2,
    )


def _patterns(rows: npt.NDArray[np.uint64]) -> dict[int, int]:
    """Counts equal rows of words. Keys are the rows as ints, with word 0 lowest."""
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    keys = [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in distinct]
    return dict(zip(keys, counts.tolist(), strict=True))


def _add(total: dict[int, int], part: dict[int, int]) -> None:
    for pattern, count in part.items():
        total[pattern] = total.get(pattern, 0) + count
