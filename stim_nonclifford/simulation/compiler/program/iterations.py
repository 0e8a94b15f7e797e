"""Iterations of loops: a step of one of them as it is in a later one."""

from __future__ import annotations

from .loops import Shift
from .steps import (
    Clifford,
    CorrelatedError,
    DetectorStep,
    ExpectationStep,
    Feedback,
    Measure,
    Noise,
    ObservableStep,
    Reset,
    Rotate,
    Step,
)

__all__ = ["shifted"]


def shifted(step: Step, shift: Shift) -> Step:
    """A step as it is in a later iteration; correlated errors have no numbers that differ.

    Args:
        step: The step.
        shift: What comes in between.

    Examples:
        >>> shifted(DetectorStep(0, (1, 2)), Shift(10, 3))
        DetectorStep(index=3, records=(11, 12))
    """
    records, detectors, *_ = shift
    match step:
        case Clifford() | Rotate() | Reset() | CorrelatedError() | ExpectationStep():
            return step
        case Noise(channel, groups, herald):
            return step if herald is None else Noise(channel, groups, herald + records)
        case Measure(factors, record, inverted, probability, resets):
            return Measure(factors, record + records, inverted, probability, resets)
        case Feedback(record, qubit, pauli):
            return Feedback(record + records, qubit, pauli)
        case DetectorStep(index, sources):
            return DetectorStep(index + detectors, tuple(record + records for record in sources))
        case ObservableStep(index, sources, factors):
            return ObservableStep(index, tuple(record + records for record in sources), factors)
