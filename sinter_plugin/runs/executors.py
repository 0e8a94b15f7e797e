"""Executors: processes of this machine, Dask's workers, or what has the interface of Python's library."""

from __future__ import annotations

import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing.process import BaseProcess
from typing import Any

from ..samplers.parent_watch import EndsWithItsParent

_ENDING_SECONDS = 2.0
"""The time, at most, that workers have to end once one has died. Doubled, slower ones say how they ended."""


class WorkersLostError(RuntimeError):
    """No worker can be reached any more, or a job has ended a worker."""


class _LocalProcesses(ProcessPoolExecutor):
    """Processes of this machine that say how they ended."""

    children: Sequence[BaseProcess] = ()

    def end(self) -> str:
        """How the first of them ended that nobody has terminated."""
        # The executor waits for them in a thread of its own. While that has the exit code of a child and has
        # not stored it yet, nobody else can get it.
        limit = time.monotonic() + _ENDING_SECONDS
        while any(child.exitcode is None for child in self.children) and time.monotonic() < limit:
            time.sleep(0.01)
        codes = [code for child in self.children if (code := child.exitcode) and code != -signal.SIGTERM]
        if not codes:
            return "Its system does not say why."
        if codes[0] >= 0:
            return (
                f"It ended itself with exit code {codes[0]}: a decoder may do so, or a program that starts"
                ' workers without `if __name__ == "__main__":`. What it has printed is above.'
            )
        name = signal.Signals(-codes[0]).name
        why = {
            "SIGKILL": "it may have been killed for lack of memory",
            "SIGABRT": "a library in it, for example a decoder, called abort",
            "SIGSEGV": "a library in it, for example a decoder, has used memory that it does not have",
        }
        return f"It ended with {name}: {why.get(name, 'a library in it, or somebody, has sent this signal')}."


@contextlib.contextmanager
def local_executor(num_processes: int) -> Iterator[Executor]:
    """Workers on this machine, which end with the context."""
    if num_processes == 1:
        thread = ThreadPoolExecutor(1)
        try:
            yield thread
        finally:
            thread.shutdown(wait=False, cancel_futures=True)
        return
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file is not None and getattr(main, "__spec__", None) is None and not os.path.exists(file):
        raise ValueError(
            f"Worker processes import the program, but {file} is no file, as for a program that is read from"
            " standard input. Save the program to a file; or use one worker, which is a thread:"
            " num_workers=1."
        )
    before = multiprocessing.active_children()
    processes = _LocalProcesses(
        num_processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(EndsWithItsParent(),),
    )
    try:
        for _ in range(num_processes):  # otherwise a worker would be started when there is a job for it
            processes.submit(int)
        processes.children = [each for each in multiprocessing.active_children() if each not in before]
        yield processes
    finally:
        processes.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():  # they may be in the middle of a job
            if child not in before:
                child.kill()
                child.join()


def _begin(_: EndsWithItsParent) -> None:
    """Begins a worker, which ends with the process that started it, and for which Ctrl-C is, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def dask_executor(where: str, num_processes: int) -> Iterator[Executor]:
    """The workers of a Dask cluster."""
    try:
        import distributed
    except ImportError:
        raise ValueError(
            "--dask needs Dask, which is not installed. Install it: pip install dask distributed, or, in a"
            " clone of this package, pip install '.[dask]'."
        ) from None
    # A worker that comes or goes is no news for those who run this command.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        if where == "local":
            options = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
            with _ignored_interrupts():
                cluster = distributed.LocalCluster(n_workers=num_processes, threads_per_worker=1, **options)
            client = distributed.Client(stack.enter_context(cluster))
        else:
            reason = ""
            try:
                name = "scheduler_file" if where.endswith(".json") else "address"
                client = distributed.Client(**{name: where})
            except (OSError, TimeoutError, ValueError) as error:
                reason = str(error) or "it did not answer in time"
            if reason:
                gc.collect()  # closes the client: later, Dask might wait for ever for it
                raise ValueError(
                    f"--dask {where}: there is no scheduler ({reason}). Start one with `dask scheduler`, or"
                    " use --dask local."
                )
        stack.enter_context(client)
        yield client.get_executor()


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


def num_slots_of(executor: Executor) -> int:
    """How many jobs an executor runs at the same time, which may change; 0 while there is no worker."""
    client = _client_of(executor)
    if client is not None:
        with lost_workers(executor):
            return sum(client.nthreads().values())
    for name in ("_max_workers", "num_workers"):  # of Python's library and loky; of mpi4py
        found = getattr(executor, name, None)
        if isinstance(found, int) and found > 0:
            return found
    return os.cpu_count() or 1


@contextlib.contextmanager
def lost_workers(executor: Executor) -> Iterator[None]:
    """Reports lost workers and a lost connection as such. Errors of jobs pass through."""
    try:
        yield
    except BrokenExecutor as error:
        why = executor.end() if isinstance(executor, _LocalProcesses) else "Its executor does not say why."
        raise WorkersLostError(f"A worker process died. {why}") from error
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            raise WorkersLostError(
                "Several workers died over the same job. Is a circuit too much for their memory? Dask says:"
                f" {str(error).splitlines()[0]}"
            ) from error
        client = _client_of(executor)
        lost: tuple[type[BaseException], ...] = (CancelledError,)
        if client is not None and client.status != "running":
            lost += OSError, TimeoutError, RuntimeError
        if not isinstance(error, lost):
            raise
        raise WorkersLostError("The connection to the workers, or to Dask's scheduler, was lost.") from error


def _client_of(executor: Executor) -> Any:
    """The client of an executor of Dask; None for others."""
    client = getattr(executor, "_client", None)
    return client if hasattr(client, "nthreads") else None
