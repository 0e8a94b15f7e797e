"""Iterations of a loop: a step of one of them as it is in a later one."""

from __future__ import annotations

from .steps import (
    Clifford,
    CorrelatedError,
    DetectorStep,
    Feedback,
    Measure,
    Noise,
    ObservableStep,
    Reset,
    Rotate,
    Step,
)

__all__ = ["shifted"]


def shifted(step: Step, records: int, detectors: int) -> Step:
    """A step with later records and detectors; correlated errors have none.

    Args:
        step: The step.
        records: How many records come in between.
        detectors: The same for detectors.

    Examples:
        >>> shifted(DetectorStep(0, (1, 2)), 10, 3)
        DetectorStep(index=3, records=(11, 12))
    """
    match step:
        case Clifford() | Rotate() | Reset():
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
        case CorrelatedError():
            pass
    raise AssertionError("what a correlated error excludes depends on what came before it")
