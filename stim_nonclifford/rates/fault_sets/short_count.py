"""Short counts of shots for a circuit that has too many fault sets: how many shots would be enough."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from ...simulation.engines import CpuEngine
from ...simulation.plan import SamplingPlan
from .wrong_tool import WrongToolError

__all__ = ["enough_shots_text", "naming_enough_shots"]

_SECONDS = 0.3
"""The time that the run may take. If it is doubled, refusals take longer, and their numbers are closer."""

_MAX_WIDTH = 16
"""Circuits with wider vectors are not counted. If it is doubled, even a few shots may take minutes."""


@contextlib.contextmanager
def naming_enough_shots(
    plan: SamplingPlan, num_circuits: int, relative_error: float, threads: int
) -> Iterator[None]:
    """Completes the message of a search that is refused.

    Args:
        plan: That of the circuit; of several circuits, that of the one with the strongest noise.
        num_circuits: Number of circuits that share the search.
        relative_error: See ``enough_shots_text``.
        threads: Number of threads.
    """
    try:
        yield
    except WrongToolError as error:
        counts = enough_shots_text(plan, relative_error, threads)
        if counts and num_circuits > 1:
            counts = f"{num_circuits} circuits share the search. Of that with the strongest noise: {counts}"
        text = f"{error} {counts}".strip()
        raise WrongToolError(text, checks_are_weak=error.checks_are_weak) from error


def enough_shots_text(plan: SamplingPlan, relative_error: float, threads: int) -> str:
    r"""Number of shots that give the error that was asked of fault sets, estimated from a short run.

    Args:
        plan: The plan for the observables of kept shots.
        relative_error: The standard error over the logical error rate that was asked for.
        threads: Number of threads.

    Returns:
        Sentences for a message; the empty text if shots take too long.

    Examples:
        >>> import stim_nonclifford as snc
        >>> from stim_nonclifford.simulation.compiler import RequestedOutputs
        >>> compiled = snc.Circuit("X_ERROR(0.5) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]").compile()
        >>> enough_shots_text(compiled.detector_plan(RequestedOutputs.of([0], [])), 0.01, 1)
        'In a short run of ... kept ones were wrong: about 20,000 shots give the rate to 0.01 of it ...'
    """
    if plan.peak_width > _MAX_WIDTH:
        return ""
    engine = CpuEngine(plan, threads=threads)
    shots = discards = errors = 0
    begin, size, seconds = time.perf_counter(), 1, 0.0
    while size > 0:
        tally = engine.count(0, shots, size, 0)
        shots, discards, errors = shots + tally.shots, discards + tally.discards, errors + tally.errors
        seconds = time.perf_counter() - begin
        affordable = int(shots * (_SECONDS - seconds) / max(seconds, 1e-9))
        size = min(8 * size, affordable)
    kept = shots - discards
    if not errors:
        found = f"none of {kept:,} kept ones was wrong" if kept else "none was kept"
        return (
            f"In a short run of {shots:,} shots, {found}. Where counts take too long, too, ask for weaker"
            " noise: fewer faults matter there."
        )
    enough = shots / errors / relative_error**2
    return (
        f"In a short run of {shots:,} shots, {errors:,} of {kept:,} kept ones were wrong: about"
        f" {float(f'{enough:.1g}'):,.0f} shots give the rate to {relative_error:.2g} of it"
        f" ({_time_text(enough / shots * seconds)} here)."
    )


def _time_text(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{max(1, round(seconds))} s"
