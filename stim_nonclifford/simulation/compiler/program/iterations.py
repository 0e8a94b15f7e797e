"""Iterations of loops: a step of one of them as it is in a later one, and instructions one by one."""

from __future__ import annotations

from collections.abc import Iterator

import stim

from .extent import Extent, extent_of
from .extent_limits import check_targets
from .loops import Shift
from .steps import (
    Clifford,
    CorrelatedError,
    DetectorStep,
    ExpectationStep,
    Feedback,
    LeakageHerald,
    LeakageReturn,
    LeakageSpread,
    LeakedFlip,
    Leaking,
    Measure,
    Meeting,
    Noise,
    ObservableStep,
    Reset,
    Rotate,
    Step,
)

__all__ = ["shifted", "unrolled"]


def shifted(step: Step, shift: Shift) -> Step:
    """A step as it is in a later iteration; correlated errors have no numbers that differ.

    Examples:
        >>> shifted(DetectorStep(0, (1, 2)), Shift(10, 3))
        DetectorStep(index=3, records=(11, 12))
    """
    records, detectors, *_ = shift
    match step:
        case Clifford() | Rotate() | Reset() | CorrelatedError() | ExpectationStep():
            return step
        case Leaking() | LeakageReturn() | LeakageSpread() | LeakedFlip() | Meeting():
            return step
        case LeakageHerald(qubit, record, probability, of_loss):
            return LeakageHerald(qubit, record + records, probability, of_loss)
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


def unrolled(circuit: stim.Circuit) -> Iterator[stim.CircuitInstruction]:
    """The instructions of a circuit with loops unrolled, one by one as ``Program.numbers`` counts them.

    Unlike in ``stim.Circuit.flattened``, neighbours are not fused and coordinates stay as they are.

    Raises:
        ResourceLimitError: They are too many.
    """
    extent = extent_of(circuit)
    check_targets(extent)
    yield from _unrolled(extent)


def _unrolled(extent: Extent) -> Iterator[stim.CircuitInstruction]:
    for _ in range(extent.repetitions):
        for part in extent.parts:
            if isinstance(part, Extent):
                yield from _unrolled(part)
            else:
                yield part
