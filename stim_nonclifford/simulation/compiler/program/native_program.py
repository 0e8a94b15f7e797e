"""The circuit's steps as native code follows them (``native/compiler/program/program.h``)."""

from __future__ import annotations

from collections.abc import Sequence

from ...._native import CircuitStepKind as Kind
from ...._native import Program
from ....base.errors import assert_never
from ..algebra.clifford_gates import CliffordGate
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
    writer = _Writer(Program(num_qubits, num_records, num_detectors, num_observables))
    for step in steps:
        writer.add(step)
    for loop in loops:
        shift = loop.shift
        writer.program.add_loop(loop.first, loop.end, loop.repetitions, shift.records, shift.detectors)
    return writer.program


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.gates: dict[int, int] = {}  # by the identity of a gate, its number
        self.channels: dict[Channel, int] = {}

    def add(self, step: Step) -> None:
        add_step = self.program.add_step
        match step:
            case Clifford(gate, groups):
                add_step(Kind.CLIFFORD, number=self.number_of_gate(gate), groups=groups)
            case Noise(channel, groups, herald):
                number = self.number_of_channel(channel)
                add_step(Kind.NOISE, number=number, groups=groups, record=-1 if herald is None else herald)
            case Measure(factors, record, inverted, flip_probability, resets):
                number = -1
                if flip_probability > 0:
                    number = self.number_of_channel(channel_of_patterns(((1, flip_probability),)))
                add_step(
                    Kind.MEASURE,
                    number=number,
                    record=record,
                    factors=factors,
                    is_inverted=inverted,
                    resets=resets,
                )
            case DetectorStep(index, records):
                add_step(Kind.DETECTOR, number=index, records=records)
            case Reset(qubit, pauli):
                add_step(Kind.RESET, factors=((qubit, pauli),))
            case Rotate(factors):
                add_step(Kind.ROTATE, factors=factors)
            case Feedback(record, qubit, pauli):
                add_step(Kind.FEEDBACK, record=record, factors=((qubit, pauli),))
            case CorrelatedError(chain, probability, factors):
                add_step(Kind.CORRELATED_ERROR, number=chain, probability=probability, factors=factors)
            case ObservableStep(index, records, factors):
                add_step(Kind.OBSERVABLE, number=index, records=records, factors=factors)
            case ExpectationStep(factors, is_negative):
                add_step(Kind.EXPECTATION, factors=factors, is_inverted=is_negative)
            case Leaking() | LeakageReturn() | LeakageSpread() | LeakageHerald() | LeakedFlip() | Meeting():
                # Which qubits are leaked depends on no quantum state: for the sweeps, nothing happens here.
                add_step(Kind.NOISE, number=self.number_of_channel(channel_of_patterns(())), groups=())
            case _:
                assert_never(step)

    def number_of_gate(self, gate: CliffordGate) -> int:
        number = self.gates.get(id(gate))  # gates outlive the writer, as the steps have them
        if number is None:
            number = self.program.add_gate(gate.num_qubits, gate.pullback or (), gate.inverse_images)
            self.gates[id(gate)] = number
        return number

    def number_of_channel(self, channel: Channel) -> int:
        number = self.channels.get(channel)
        if number is None:
            number = self.program.add_channel(channel.constant, channel.rates, channel.site)
            self.channels[channel] = number
        return number
