"""Where fault sets are the wrong tool, that is said with a number, the cause, and what to use instead."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from ...base.errors import ResourceLimitError
from ...dialect import bare_name
from ...simulation.compiler import CompiledCircuit
from ...simulation.compiler.program.steps import Rotate
from ...simulation.engines import CpuEngine
from ...simulation.logical_errors.coherent_noise import is_noise_angle
from ...simulation.logical_errors.noiseless_outputs import outcome_dependent
from ...simulation.plan import SamplingPlan
from ..estimation.limits import MOST_AT_A_TIME, Settings

_INSTEAD = "Count errors instead: compile_detector_sampler(...).sample_counts(shots)."

_MOST_LINES = 3

_MAX_WIDTH = 16
"""Circuits with wider vectors are not counted. Doubled, even a few shots may take minutes."""


class WrongToolError(ResourceLimitError):
    """Too many fault sets matter; ``checks_are_weak``: because too many pass the checks."""

    def __init__(self, message: str, checks_are_weak: bool) -> None:
        super().__init__(message)
        self.checks_are_weak = checks_are_weak


def refuse(reason: str, *, checks_are_weak: bool = True) -> NoReturn:
    """Says that fault sets are the wrong tool, as something is too much."""
    raise WrongToolError(
        "Fault sets are the wrong tool for this circuit: its noise-only checks leave too much, as"
        f" {reason}. {_INSTEAD}",
        checks_are_weak,
    )


def cause_of(compiled: CompiledCircuit, plan: SamplingPlan, detectors: Sequence[int]) -> str:
    r"""Why the checks of a circuit leave much, if rotations are the cause: sentences, or nothing."""
    dependent = int(np.count_nonzero(outcome_dependent(compiled)[detectors]))
    if not dependent:
        return ""
    lines: dict[int, str] = {}
    noisy: set[int] = set()
    for step in sorted(set(plan.rotation_term_steps.tolist())):
        rotation, place = compiled.program.steps[step], compiled.program.places[step]
        assert isinstance(rotation, Rotate)
        name = bare_name(place.source)
        lines[place.line] = name if name.startswith(("T", "C")) else f"{name}({rotation.half_turns:g})"
        if is_noise_angle(rotation.half_turns):
            noisy.add(place.line)
    named = [line for line in lines if line in noisy or not noisy]
    shown = ", ".join(f"{lines[line]} (line {line})" for line in named[:_MOST_LINES])
    if len(named) > _MOST_LINES:
        shown += f" and {len(named) - _MOST_LINES} more lines"
    text = (
        f"{dependent} of the {len(detectors)} postselected detectors depend{'s' * (dependent == 1)} on"
        f" quantum outcomes, because of {shown}, and what noise does to such a detector is no check."
    )
    if noisy:
        text += (
            " These rotations are coherent noise: budgets of it come from differences of counts. The"
            " rate of circuit.pauli_twirl() is that of another circuit, and often too low"
            " (docs/guides/fault_sets.md)."
        )
    return text


def enough_shots_text(plan: SamplingPlan, settings: Settings) -> str:
    r"""Number of shots that give the error that was asked of fault sets: sentences from a short run.

    They are empty if shots take too long.
    """
    if plan.peak_width > _MAX_WIDTH:
        return ""
    engine = CpuEngine(plan, threads=settings.threads)
    shots = discards = errors = 0
    begin, size, seconds = time.perf_counter(), 1, 0.0
    while size > 0:
        tally = engine.count(0, shots, size, 0)
        shots, discards, errors = shots + tally.shots, discards + tally.discards, errors + tally.errors
        seconds = time.perf_counter() - begin
        affordable = int(shots * (MOST_AT_A_TIME - seconds) / max(seconds, 1e-9))
        size = min(8 * size, affordable)
    kept = shots - discards
    if not errors:
        found = f"none of {kept:,} kept ones was wrong" if kept else "none was kept"
        return (
            f"In a short run of {shots:,} shots, {found}. Where counts take too long, too, ask for weaker"
            " noise: fewer faults matter there."
        )
    enough = shots / errors / settings.relative_error**2
    needed = enough / shots * seconds
    units = ((86400, "days"), (3600, "hours"), (60, "minutes"))
    taking = next((f"{needed / size:.0f} {name}" for size, name in units if needed >= 2 * size), "")
    return (
        f"In a short run of {shots:,} shots, {errors:,} of {kept:,} kept ones were wrong: about"
        f" {float(f'{enough:.1g}'):,.0f} shots give the rate to {settings.relative_error:.2g} of it"
        f" ({taking or f'{max(1, round(needed))} s'} here)."
    )
