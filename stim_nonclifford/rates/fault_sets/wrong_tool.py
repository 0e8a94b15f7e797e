"""Where fault sets are the wrong tool, that is said with a number, the cause, and what to use instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from ...base.errors import ResourceLimitError
from ...dialect import bare_name
from ...simulation.compiler import CompiledCircuit
from ...simulation.compiler.program.steps import Rotate
from ...simulation.logical_errors.coherent_noise import is_noise_angle
from ...simulation.logical_errors.noiseless_outputs import outcome_dependent
from ...simulation.plan import SamplingPlan

__all__ = ["WrongToolError", "cause_of", "refuse"]

_INSTEAD = "Count errors instead: compile_detector_sampler(...).sample_counts(shots)."

_MOST_LINES = 3


class WrongToolError(ResourceLimitError):
    """Too many fault sets matter.

    Args:
        message: What is too much.
        checks_are_weak: Whether that is because too many sets pass the checks.
    """

    def __init__(self, message: str, checks_are_weak: bool) -> None:
        super().__init__(message)
        self.checks_are_weak = checks_are_weak


def refuse(reason: str, *, checks_are_weak: bool = True) -> NoReturn:
    """Says that fault sets are the wrong tool.

    Args:
        reason: What is too much.
        checks_are_weak: Whether that is because too many sets pass the checks.

    Raises:
        WrongToolError: Always.
    """
    raise WrongToolError(
        "Fault sets are the wrong tool for this circuit: its noise-only checks leave too much, as"
        f" {reason}. {_INSTEAD}",
        checks_are_weak,
    )


def cause_of(compiled: CompiledCircuit, plan: SamplingPlan, postselected: Sequence[int]) -> str:
    r"""Why the checks of a circuit leave much, if its rotations are the cause.

    Args:
        compiled: The circuit, compiled.
        plan: Its plan.
        postselected: The outputs that discard a shot.

    Returns:
        Sentences for a message; the empty text if all postselected detectors depend on noise alone.

    Examples:
        >>> import stim_nonclifford as snc
        >>> from stim_nonclifford.simulation.compiler import RequestedOutputs
        >>> compiled = snc.Circuit("RX 0\nR_Z(0.02) 0\nMX 0\nDETECTOR rec[-1]").compile()
        >>> plan = compiled.detector_plan(RequestedOutputs.of([], [0]))
        >>> cause_of(compiled, plan, [0])
        '1 of the 1 postselected detectors depends on quantum outcomes, because of R_Z(0.02) (line 2), ...'
    """
    detectors = [output for output in postselected if output < compiled.program.num_detectors]
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
