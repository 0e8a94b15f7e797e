"""Estimates of groups of circuits: here, or each group on a worker of a Dask cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import stim_nonclifford as snc
from stim_nonclifford.circuit.decoded_circuits import rates_with_decoder
from stim_nonclifford.circuit.fault_set_methods import planned
from stim_nonclifford.decoded_rates import DecodedErrorRate
from stim_nonclifford.fault_sets import LogicalErrorRate
from stim_nonclifford.fault_sets.interface import PlannedCircuit, estimate_rates
from stim_nonclifford.fault_sets.search.limits import Limits

from .dask_workers import DaskWorkers, dask_client

__all__ = ["GroupEstimates", "Question", "Rate", "estimates_here", "estimates_on_dask"]

Group = TypeVar("Group")


@dataclass(frozen=True)
class Question:
    """A circuit whose logical error rate is asked for, in a form that can be sent.

    Attributes:
        circuit: The circuit.
        detectors: bool, shape (num_detectors,): the postselected detectors; None for all.
        observables: bool, shape (num_observables,): the postselected observables; None for none.
        decoder: The name of the decoder that is told all detectors; None: there is none.
    """

    circuit: snc.Circuit
    detectors: NDArray[np.bool_] | None
    observables: NDArray[np.bool_] | None
    decoder: str | None = None

    def planned(self) -> PlannedCircuit:
        """The circuit, compiled."""
        return planned(self.circuit, "all" if self.detectors is None else self.detectors, self.observables)


Rate = LogicalErrorRate | DecodedErrorRate


def _rates(
    questions: Sequence[Question], limits: Limits, seed: int, threads: int, progress: bool
) -> Sequence[Rate]:
    """The rates of circuits that share work."""
    decoder = questions[0].decoder
    if decoder is None:
        return estimate_rates([each.planned() for each in questions], limits, seed, threads, progress)
    return rates_with_decoder(
        [each.circuit for each in questions],
        decoder,
        relative_error=limits.relative_error,
        max_seconds=limits.max_seconds,
        seed=seed,
        threads=threads,
        progress=progress,
    )


class GroupEstimates:
    """Estimates groups of circuits that share work.

    Args:
        estimate: Returns the rates of the circuits of a group, given a seed.
        num_at_once: How many groups can be estimated at the same time.
    """

    def __init__(
        self, estimate: Callable[[Sequence[Question], int], Sequence[Rate]], num_at_once: int
    ) -> None:
        self.estimate = estimate
        self._num_at_once = num_at_once

    def for_each(self, groups: Sequence[Group], function: Callable[[int, Group], None]) -> None:
        """Calls a function, which calls ``estimate``, for each group.

        Args:
            groups: The groups.
            function: Gets the number of a group and the group. Several calls may run at the same time.
        """
        if self._num_at_once == 1:
            for number, group in enumerate(groups):
                function(number, group)
            return
        threads = ThreadPoolExecutor(self._num_at_once)
        try:
            for call in [threads.submit(function, number, group) for number, group in enumerate(groups)]:
                call.result()
        finally:
            # Calls that wait for a worker end when the client is closed.
            threads.shutdown(wait=False, cancel_futures=True)


@contextlib.contextmanager
def estimates_here(limits: Limits, threads: int, progress: bool) -> Iterator[GroupEstimates]:
    """Estimates in this process.

    Args:
        limits: What a group may cost.
        threads: Number of threads.
        progress: Whether to print what is under way to stderr.

    Yields:
        What estimates.
    """

    def estimate(questions: Sequence[Question], seed: int) -> Sequence[Rate]:
        return _rates(questions, limits, seed, threads, progress)

    yield GroupEstimates(estimate, 1)


@contextlib.contextmanager
def estimates_on_dask(where: str, limits: Limits, num_processes: int) -> Iterator[GroupEstimates]:
    """Estimates on the workers of a cluster, which use as many threads for a group as they have.

    Args:
        where: See ``dask_client``.
        limits: What a group may cost.
        num_processes: The number of workers of a local cluster.

    Yields:
        What estimates. Its errors are those of ``estimates_here``, or ``WorkersLostError``.
    """
    with dask_client(where, num_processes) as client:
        workers = DaskWorkers(client)

        def estimate(questions: Sequence[Question], seed: int) -> Sequence[Rate]:
            found: Sequence[Rate] = workers.call(_estimated, list(questions), limits, seed)
            return found

        yield GroupEstimates(estimate, max(2, workers.num_slots()))


def _estimated(questions: Sequence[Question], limits: Limits, seed: int) -> Sequence[Any]:
    """Estimates a group, in a worker."""
    import distributed

    threads = distributed.get_worker().state.nthreads
    return _rates(questions, limits, seed, threads, False)
