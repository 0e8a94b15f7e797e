"""How speed is measured: shots per second over a given time, in alternating runs, after a warm-up."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

__all__ = ["Run", "in_turns", "rate_of"]

Run = Callable[[int], object]
"""A function that runs a given number of shots."""


def rate_of(
    run: Run, seconds: float, *, most: int = 1 << 40, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Shots per second over about the given time, in calls that take up to a fifth of it.

    Args:
        run: The function to measure.
        seconds: How long to measure.
        most: Largest number of shots per call. It limits the memory of calls that return bits.
        clock: ``time.perf_counter``, or ``time.process_time`` for a single thread on a machine where other
            processes compete for the same cores.

    Returns:
        Shots per second.
    """
    shots, done = 1, 0
    start = clock()
    while True:
        before = clock()
        run(shots)
        now = clock()
        done += shots
        if now - start >= seconds:
            return done / (now - start)
        if now - before < seconds / 10:
            shots = min(2 * shots, most)


def in_turns(
    runs: Mapping[str, Callable[[float], float]], seconds: float, repeats: int
) -> dict[str, list[float]]:
    """Measures several functions in turn, ``repeats`` times, after a warm-up as long as a measurement.

    Args:
        runs: By name, a function that measures for the given seconds and returns shots per second.
        seconds: Time of one measurement.
        repeats: Number of measurements of each.

    Returns:
        The rates of each function, by name.
    """
    for measure in runs.values():
        measure(seconds)
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, measure in runs.items():
            rates[name].append(measure(seconds))
    return rates
