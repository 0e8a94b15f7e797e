"""The circuit's steps as native code follows them (``native/compiler/program/program.h``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from ...._native import CircuitStepKind as Kind
from ...._native import Program
from ....base.errors import assert_never
from ...plan import SparseRows
from ..algebra.clifford_gates import CliffordGate
from ..algebra.paulis import Factors
from .channels import Channel, channel_of_patterns
from .loops import Loop
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

__all__ = ["native_program"]


def native_program(
    steps: Sequence[Step],
    loops: Sequence[Loop],
    *,
    num_qubits: int,
    num_records: int,
    num_detectors: int,
    num_observables: int,
) -> Program:
    """Converts steps.

    Args:
        steps: The steps, with one iteration of each loop.
        loops: The loops, inner ones first.
        num_qubits: Number of qubits.
        num_records: Length of the measurement record.
        num_detectors: Number of detectors.
        num_observables: Number of observables.

    Returns:
        The program.
    """
    writer = _Writer()
    for step in steps:
        writer.add(step)
    gates, channels = [gate for _, gate in writer.gates.values()], list(writer.channels)
    images = SparseRows.of(image for gate in gates for image in gate.inverse_images)
    events = [event for channel in channels for event in (*channel.rates, *channel.site)]
    return Program(
        num_qubits,
        num_records,
        num_detectors,
        num_observables,
        steps=_int64(writer.steps),
        probabilities=np.array(writer.probabilities, dtype=np.float64),
        targets=np.array(writer.targets, dtype=np.int32),
        factors=np.array(writer.factors, dtype=np.int32),
        records=_int64(writer.records),
        nothing=np.array(
            [max(0.0, 1 - math.fsum(link)) for link in writer.chains.values()], dtype=np.float64
        ),
        gate_sizes=_int64([gate.num_qubits for gate in gates]),
        image_starts=images.starts,
        image_bits=images.bits,
        channels=_int64([(channel.constant, len(channel.rates), len(channel.site)) for channel in channels]),
        patterns=_int64([pattern for pattern, _ in events]),
        amounts=np.array([amount for _, amount in events], dtype=np.float64),
        loops=_int64([(loop.first, loop.end, loop.repetitions, *loop.shift[:2]) for loop in loops]),
    )


def _int64(numbers: Sequence[int] | Sequence[tuple[int, ...]]) -> npt.NDArray[np.int64]:
    """A list of numbers, or a table in one piece."""
    return np.array(numbers, dtype=np.int64).ravel()


class _Writer:
    """Writes steps.

    Attributes:
        steps: For each step its kind, its number (of a gate, a channel, a chain, a detector or an
            observable), its record, how many targets it has, how many of them are a group, how many factors
            and how many records it has, and whether it is inverted and whether it resets.
        probabilities: For each step, that of a correlated error.
        targets: The targets of all steps.
        factors: Their factors: qubits and codes by turns.
        records: Their records.
        chains: For each chain of correlated errors, their probabilities.
        gates: The gates with their numbers, by their identities.
        channels: The channels, with their numbers.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[int, ...]] = []
        self.probabilities: list[float] = []
        self.targets: list[int] = []
        self.factors: list[int] = []
        self.records: list[int] = []
        self.chains: dict[int, list[float]] = {}
        self.gates: dict[int, tuple[int, CliffordGate]] = {}
        self.channels: dict[Channel, int] = {}

    def add(self, step: Step) -> None:
        match step:
            case Clifford(gate, groups):
                self.add_step(Kind.CLIFFORD, self.number_of_gate(gate), groups=groups)
            case Noise(channel, groups, herald):
                number = self.number_of_channel(channel)
                self.add_step(Kind.NOISE, number, -1 if herald is None else herald, groups=groups)
            case Measure(factors, record, inverted, flip_probability, resets):
                number = -1
                if flip_probability > 0:
                    number = self.number_of_channel(channel_of_patterns(((1, flip_probability),)))
                self.add_step(
                    Kind.MEASURE, number, record, factors=factors, is_inverted=inverted, resets=resets
                )
            case DetectorStep(index, records):
                self.add_step(Kind.DETECTOR, index, records=records)
            case Reset(qubit, pauli):
                self.add_step(Kind.RESET, factors=((qubit, pauli),))
            case Rotate(factors):
                self.add_step(Kind.ROTATE, factors=factors)
            case Feedback(record, qubit, pauli):
                self.add_step(Kind.FEEDBACK, record=record, factors=((qubit, pauli),))
            case CorrelatedError(number, probability, factors):
                self.chains.setdefault(number, []).append(probability)
                self.add_step(Kind.CORRELATED_ERROR, number, factors=factors, probability=probability)
            case ObservableStep(index, records, factors):
                self.add_step(Kind.OBSERVABLE, index, factors=factors, records=records)
            case ExpectationStep(factors, is_negative):
                self.add_step(Kind.EXPECTATION, factors=factors, is_inverted=is_negative)
            case Leaking() | LeakageReturn() | LeakageSpread() | LeakageHerald() | LeakedFlip() | Meeting():
                # Which qubits are leaked depends on no quantum state: for the sweeps, nothing happens here.
                self.add_step(Kind.NOISE, self.number_of_channel(channel_of_patterns(())))
            case _:
                assert_never(step)

    def add_step(
        self,
        kind: Kind,
        number: int = -1,
        record: int = -1,
        *,
        groups: tuple[tuple[int, ...], ...] = (),
        factors: Factors = (),
        records: tuple[int, ...] = (),
        probability: float = 0.0,
        is_inverted: bool = False,
        resets: bool = False,
    ) -> None:
        size = len(groups[0]) if groups else 1
        counts = size * len(groups), size, len(factors), len(records)
        self.steps.append((kind.value, number, record, *counts, is_inverted, resets))
        self.probabilities.append(probability)
        self.targets.extend(chain.from_iterable(groups))
        self.factors.extend(chain.from_iterable(factors))
        self.records += records

    def number_of_gate(self, gate: CliffordGate) -> int:
        number, _ = self.gates.setdefault(id(gate), (len(self.gates), gate))
        return number

    def number_of_channel(self, channel: Channel) -> int:
        return self.channels.setdefault(channel, len(self.channels))
