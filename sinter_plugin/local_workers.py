"""Workers on this machine: the process itself, or processes that it starts."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from .parent_watch import EndsWithItsParent
from .range_collection import WorkersLostError
from .range_jobs import RangeCounts, RangeJob, TaskPackage, run_job

__all__ = ["LocalWorkers", "local_workers"]


class _Watch(EndsWithItsParent):
    """Sent to each new process, so that it ends with this one."""


class LocalWorkers:
    """Runs jobs with an executor of Python's library.

    Args:
        executor: The executor.
        num_slots: How many jobs it runs at the same time.
    """

    def __init__(self, executor: Executor, num_slots: int) -> None:
        self._executor = executor
        self._num_slots = num_slots
        self._numbers = itertools.count()
        self._futures: dict[int, Future[RangeCounts]] = {}

    def num_slots(self) -> int:
        """The number of jobs that run at the same time."""
        return self._num_slots

    def start(self, package: TaskPackage, job: RangeJob, done: Callable[[int], None]) -> int:
        """See ``Workers.start``."""
        number = next(self._numbers)
        try:
            future = self._executor.submit(run_job, package, job)
        except BrokenProcessPool:
            raise _died() from None
        self._futures[number] = future
        future.add_done_callback(lambda _: done(number))
        return number

    def result(self, number: int) -> RangeCounts:
        """See ``Workers.result``."""
        try:
            return self._futures.pop(number).result()
        except BrokenProcessPool:
            raise _died() from None

    def cancel(self, numbers: Sequence[int]) -> None:
        """See ``Workers.cancel``."""
        for number in numbers:
            self._futures.pop(number).cancel()


@contextlib.contextmanager
def local_workers(num_processes: int) -> Iterator[LocalWorkers]:
    """Workers on this machine, which end with the context.

    Args:
        num_processes: How many. One worker is a thread of this process.

    Yields:
        The workers.
    """
    if num_processes == 1:
        thread = ThreadPoolExecutor(1)
        try:
            yield LocalWorkers(thread, 1)
        finally:
            thread.shutdown(wait=False, cancel_futures=True)
        return
    before = multiprocessing.active_children()
    processes = ProcessPoolExecutor(
        num_processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(_Watch(),),
    )
    try:
        yield LocalWorkers(processes, num_processes)
    finally:
        processes.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():  # they may be in the middle of a job
            if child not in before:
                child.kill()
                child.join()


def _begin(watch: _Watch) -> None:
    """Begins a worker: Ctrl-C is for the process that started it."""
    del watch
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _died() -> WorkersLostError:
    return WorkersLostError("A worker process died. It may have been killed, for example for lack of memory.")
