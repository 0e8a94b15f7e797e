"""How speed is measured: shots per second over a given time, in alternating runs, after a warm-up."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

__all__ = ["Run", "in_turns", "rate_of"]

Run = Callable[[int], object]
"""Runs that many shots."""


def rate_of(
    run: Run, seconds: float, *, most: int = 1 << 40, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Shots per second over about the given time, in calls of up to a fifth of it.

    Args:
        run: What is measured.
        seconds: For how long.
        most: Shots of one call, at most: calls that return bits would fill the memory.
        clock: ``time.perf_counter``, or ``time.process_time`` for a single thread on a machine where other
            processes wait for the same cores.
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
    """Measures each in turn, ``repeats`` times, after a warm-up of each for as long as a measurement.

    Args:
        runs: What is measured, by name: takes seconds and returns shots per second.
        seconds: Time of one measurement.
        repeats: How many of each.

    Returns:
        The rates, by name.
    """
    for measure in runs.values():
        measure(seconds)
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, measure in runs.items():
            rates[name].append(measure(seconds))
    return rates
