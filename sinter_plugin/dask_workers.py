"""Workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import itertools
import logging
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from .range_collection import WorkersLostError
from .range_jobs import RangeCounts, RangeJob, TaskPackage, run_job

if TYPE_CHECKING:
    import distributed

__all__ = ["DaskWorkers", "dask_client"]

_LOOK_SECONDS = 2.0  # between two questions to the scheduler for its workers

_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
}
"""Dask watches itself. So less often, the scheduler of local workers takes 2% of a core, not 5%."""

_NEEDS_DASK = (
    "--dask needs Dask, which is not installed. Install it: pip install dask distributed, or, in a clone of"
    " this package, pip install '.[dask]'."
)


class DaskWorkers:
    """Runs jobs on a cluster.

    If a worker dies, the scheduler gives its jobs to others. As a job returns the same counts wherever it
    runs, nothing is lost or counted twice.

    Args:
        client: The client of the cluster.
    """

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._run = uuid.uuid4().hex[:12]  # two runs on a cluster share no jobs
        self._numbers = itertools.count()
        self._futures: dict[int, Any] = {}
        self._packages: dict[str, Any] = {}
        self._num_slots = 0
        self._asked_at = float("-inf")

    def num_slots(self) -> int:
        """The number of threads of all workers, which may come and go."""
        if time.monotonic() - self._asked_at > _LOOK_SECONDS:
            with self._scheduler_errors():
                self._num_slots = sum(self._client.nthreads().values())
            self._asked_at = time.monotonic()
        return self._num_slots

    def start(self, package: TaskPackage, job: RangeJob, done: Callable[[int], None]) -> int:
        """See ``Workers.start``."""
        number = next(self._numbers)
        with self._scheduler_errors():
            # The package is the result of a job of its own, not scattered data: each worker gets it once, and
            # if the only worker that has it dies, the scheduler makes it again.
            sent = self._packages.get(package.key)
            if sent is None:
                key = f"package-{self._run}-{len(self._packages)}"
                sent = self._client.submit(_unchanged, package, key=key, pure=False)
                self._packages[package.key] = sent
            key = f"shots-{self._run}-{number}"
            future = self._client.submit(run_job, sent, job, key=key, pure=False)
        self._futures[number] = future
        future.add_done_callback(lambda _: done(number))
        return number

    def result(self, number: int) -> RangeCounts:
        """See ``Workers.result``."""
        with self._scheduler_errors():
            found: RangeCounts = self._futures.pop(number).result()
        return found

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function on a worker, and waits for its result.

        Args:
            function: The function, which the worker can import.
            arguments: Its arguments.

        Returns:
            Its result.

        Raises:
            WorkersLostError: The call was lost. Errors of the function are raised as they are.
        """
        with self._scheduler_errors():
            return self._client.submit(function, *arguments, pure=False).result()

    @contextlib.contextmanager
    def _scheduler_errors(self) -> Iterator[None]:
        """Reports a lost connection and lost workers as such. Errors of jobs pass through."""
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise WorkersLostError(
                "Several workers died over the same job. Is a circuit too much for their memory? Dask says:"
                f" {str(error).splitlines()[0]}"
            ) from error
        except (CancelledError, OSError, TimeoutError, RuntimeError) as error:
            if isinstance(error, CancelledError) or self._client.status != "running":
                raise WorkersLostError("The connection to Dask's scheduler was lost.") from error
            raise

    def cancel(self, numbers: Sequence[int]) -> None:
        """See ``Workers.cancel``."""
        futures = [self._futures.pop(number) for number in numbers]
        if futures:
            with contextlib.suppress(OSError, TimeoutError, CancelledError, RuntimeError):
                self._client.cancel(futures)


def _unchanged(package: TaskPackage) -> TaskPackage:
    return package


@contextlib.contextmanager
def dask_client(where: str, num_processes: int) -> Iterator[distributed.Client]:
    """A client of a cluster.

    Args:
        where: The address of a scheduler, such as ``tcp://10.0.0.1:8786``; the file that ``dask scheduler
            --scheduler-file`` writes, with a name that ends with ``.json``; or ``local``, for a cluster on
            this machine that ends with the context.
        num_processes: The number of workers of a local cluster, with one thread each.

    Yields:
        The client.

    Raises:
        ValueError: Dask is not installed, or there is no scheduler.
    """
    try:
        import dask
        import distributed
    except ImportError:
        raise ValueError(_NEEDS_DASK) from None
    # A worker that comes or goes is no news for those who run this command.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        if where == "local":
            stack.enter_context(dask.config.set(_QUIET))
            with _ignored_interrupts():
                cluster = distributed.LocalCluster(
                    n_workers=num_processes,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            stack.enter_context(cluster)
            client = distributed.Client(cluster)
        else:
            try:
                if where.endswith(".json"):
                    client = distributed.Client(scheduler_file=where)
                else:
                    client = distributed.Client(where)
            except (OSError, TimeoutError, ValueError) as error:
                reason = str(error) or "it did not answer in time"
                raise ValueError(
                    f"--dask {where}: there is no scheduler ({reason}). Start one with `dask scheduler`, or"
                    " use --dask local."
                ) from None
        stack.enter_context(client)
        yield client


@contextlib.contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Processes that are started in this context ignore Ctrl-C, which is for the process that starts them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
