"""The circuit's steps as native code follows them (``native/compiler/program/program.h``)."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...._native import CircuitStepKind as Kind
from ....base.errors import assert_never
from ...plan import SparseRows
from ..algebra.clifford_gates import CliffordGate
from ..algebra.paulis import Factors, Z
from .channels import Channel, channel_of_patterns
from .loops import Loop
from .steps import (
    Absence,
    Accept,
    BeginAttempts,
    Clifford,
    CorrelatedError,
    Decide,
    DetectorStep,
    EndBlock,
    ExpectationStep,
    Feedback,
    LeakageHerald,
    LeakageReturn,
    LeakageSpread,
    LeakedFlip,
    Leaking,
    LeakingFromOnes,
    Measure,
    Meeting,
    Misreading,
    Noise,
    ObservableStep,
    Relaxing,
    Reset,
    Rotate,
    Skip,
    Step,
    Turning,
)

_STEP_DTYPE = np.dtype(
    [
        ("amount", np.float64),  # half-turns; or the probability of an error, a decay or leakage; or p01
        ("second_amount", np.float64),  # that no error of a chain happens; of a Z after a decay; or p10
        # Of a measurement or feedback; the first herald of noise; how many come before an attempt; or -1.
        ("record", np.int64),
        ("kind", np.int32),
        # Of a gate, channel, chain, detector, observable or turn; how many detectors come before an attempt.
        ("number", np.int32),
        ("group_size", np.uint32),
        ("first", np.uint32),  # its targets: targets[first:end]
        ("end", np.uint32),
        ("first_factor", np.uint32),
        ("end_factor", np.uint32),
        ("first_record", np.uint32),  # the records that a detector, an observable or a condition sums
        ("end_record", np.uint32),
        ("is_inverted", np.uint8),
        ("resets", np.uint8),
    ],
    align=True,
)
_PACKED_STEP = struct.Struct("".join(_STEP_DTYPE[name].char for name in _STEP_DTYPE.names or ()) + "0d")
"""A step of ``_STEP_DTYPE`` as bytes: tuples of millions of steps take five times as much memory."""
assert _PACKED_STEP.size == _STEP_DTYPE.itemsize
_FACTOR_DTYPE = np.dtype([("qubit", np.uint32), ("code", np.uint32)])
_CHANNEL_DTYPE = np.dtype([(name, np.uint64) for name in ("constant", "first_rate", "first_choice", "end")])
_CHOICE_DTYPE = np.dtype([("pattern", np.uint64), ("amount", np.float64)])
_LOOP_DTYPE = np.dtype(
    [(name, np.uint64) for name in ("first", "end", "repetitions")]
    + [(name, np.int64) for name in ("records", "detectors", "chains")]
)


class ProgramArrays(NamedTuple):
    """A program as arrays. The dtypes are those of the structs in ``native/compiler/program/program.h``."""

    num_qubits: int
    num_records: int  # length of the measurement record
    num_detectors: int
    num_observables: int
    steps: npt.NDArray[np.void]  # the steps, with one iteration of each loop
    targets: npt.NDArray[np.uint32]  # the targets of gates and noise
    factors: npt.NDArray[np.void]  # the factors of Paulis
    records: npt.NDArray[np.int64]  # the records of detectors and observables
    gate_sizes: npt.NDArray[np.uint32]  # for each gate its number of targets
    images: SparseRows  # ``CliffordGate.inverse_images`` of all gates
    # the channels: ``choices[first_rate:first_choice]`` are independent, ``choices[first_choice:end]``
    # exclude each other
    channels: npt.NDArray[np.void]
    choices: npt.NDArray[np.void]  # patterns with rates or probabilities
    loops: npt.NDArray[
        np.void
    ]  # the loops, inner ones first, with the records, detectors and chains in an iteration


def program_arrays(
    steps: Sequence[Step],
    loops: Sequence[Loop],
    *,
    num_qubits: int,
    num_records: int,
    num_detectors: int,
    num_observables: int,
    for_trajectories: bool = False,
) -> ProgramArrays:
    """Writes steps to arrays. Without ``for_trajectories``, leakage does nothing there: which qubits are
    leaked depends on no quantum state, and the sweeps have scripts for it.
    """
    chains: dict[int, list[float]] = {}
    for step in steps:
        if isinstance(step, CorrelatedError):
            chains.setdefault(step.chain, []).append(step.probability)
    nothing = {chain: max(0.0, 1 - math.fsum(links)) for chain, links in chains.items()}
    writer = _Writer(nothing, for_trajectories)
    for step in steps:
        writer.add(step)
    gates = [gate for _, gate in writer.gates.values()]
    return ProgramArrays(
        num_qubits,
        num_records,
        num_detectors,
        num_observables,
        steps=np.frombuffer(writer.steps, dtype=_STEP_DTYPE),
        targets=np.array(writer.targets, dtype=np.uint32),
        factors=np.array(writer.factors, dtype=_FACTOR_DTYPE),
        records=np.array(writer.records, dtype=np.int64),
        gate_sizes=np.array([gate.num_qubits for gate in gates], dtype=np.uint32),
        images=SparseRows.of(image for gate in gates for image in gate.inverse_images),
        channels=np.array(writer.channels, dtype=_CHANNEL_DTYPE),
        choices=np.array(writer.choices, dtype=_CHOICE_DTYPE),
        loops=np.array(
            [
                (
                    loop.first,
                    loop.end,
                    loop.repetitions,
                    loop.shift.records,
                    loop.shift.detectors,
                    loop.shift.chains,
                )
                for loop in loops
            ],
            dtype=_LOOP_DTYPE,
        ),
    )


class _Writer:
    """Writes steps. ``nothing``: for each chain of errors, the probability that none of them happens."""

    def __init__(self, nothing: Mapping[int, float], for_trajectories: bool) -> None:
        self.nothing = nothing
        self.for_trajectories = for_trajectories
        self.steps = bytearray()
        self.targets: list[int] = []
        self.factors: list[tuple[int, int]] = []
        self.records: list[int] = []
        self.gates: dict[int, tuple[int, CliffordGate]] = {}  # by the identity of a gate, its number
        self.channels: list[tuple[int, int, int, int]] = []
        self.choices: list[tuple[int, float]] = []
        self.numbers_of_channels: dict[Channel, int] = {}

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
            case Rotate(factors, half_turns):
                self.add_step(Kind.ROTATE, factors=factors, amounts=(half_turns, 0.0))
            case Feedback(record, qubit, pauli):
                self.add_step(Kind.FEEDBACK, record=record, factors=((qubit, pauli),))
            case CorrelatedError(chain, probability, factors):
                amounts = probability, self.nothing[chain]
                self.add_step(Kind.CORRELATED_ERROR, chain, factors=factors, amounts=amounts)
            case ObservableStep(index, records, factors):
                self.add_step(Kind.OBSERVABLE, index, factors=factors, records=records)
            case ExpectationStep(factors, is_negative):
                self.add_step(Kind.EXPECTATION, factors=factors, is_inverted=is_negative)
            case Decide():
                # Its effect is that of an inserted bit (``sweeps.backward_sweep``).
                self.add_step(Kind.NOISE, self.number_of_channel(channel_of_patterns(())))
            case Relaxing(qubit, decay, dephasing):
                self.add_step(Kind.RELAXATION, groups=((qubit,),), amounts=(decay, dephasing))
            case Turning(qubit, number):
                self.add_step(Kind.TURN, number, factors=((qubit, Z),))
            case Misreading(record, inverted, p01, p10, chain):
                amounts = p01, p10
                self.add_step(Kind.MISREADING, chain, record=record, is_inverted=inverted, amounts=amounts)
            case Skip(records, inverted):
                self.add_step(Kind.SKIP, records=records, is_inverted=inverted)
            case BeginAttempts(num_records, num_detectors):
                self.add_step(Kind.BEGIN_ATTEMPTS, num_detectors, num_records)
            case Accept(num_records, num_detectors):
                self.add_step(Kind.ACCEPT, num_detectors, num_records)
            case EndBlock():
                self.add_step(Kind.END_BLOCK)
            case _ if not self.for_trajectories:
                self.add_step(Kind.NOISE, self.number_of_channel(channel_of_patterns(())))
            case Leaking(qubit, p, is_loss):
                self.add_step(Kind.LEAKING, int(is_loss), groups=((qubit,),), amounts=(p, 0.0))
            case LeakingFromOnes(qubits, p):
                self.add_step(Kind.LEAKING_FROM_ONES, groups=(qubits,), amounts=(p, 0.0))
            case Absence(qubits):
                self.add_step(Kind.ABSENCE, groups=(qubits,))
            case LeakageReturn(qubit, p, to_one):
                self.add_step(Kind.LEAKAGE_RETURN, int(to_one), groups=((qubit,),), amounts=(p, 0.0))
            case LeakageSpread(source, partner, p, moves):
                pair = (source, partner)
                self.add_step(Kind.LEAKAGE_SPREAD, int(moves), groups=(pair,), amounts=(p, 0.0))
            case LeakageHerald(qubit, record, p, of_loss):
                groups = ((qubit,),)
                self.add_step(Kind.LEAKAGE_HERALD, int(of_loss), record, groups=groups, amounts=(p, 0.0))
            case LeakedFlip(qubit, other, p):
                self.add_step(Kind.LEAKED_FLIP, groups=((qubit, other),), amounts=(p, 0.0))
            case Meeting(qubits):
                self.add_step(Kind.MEETING, groups=(qubits,))
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
        amounts: tuple[float, float] = (0.0, 0.0),
        is_inverted: bool = False,
        resets: bool = False,
    ) -> None:
        places = len(self.targets), len(self.factors), len(self.records)
        for group in groups:
            self.targets += group
        self.factors += factors
        self.records += records
        self.steps += _PACKED_STEP.pack(
            *amounts,
            record,
            kind.value,
            number,
            len(groups[0]) if groups else 1,
            places[0],
            len(self.targets),
            places[1],
            len(self.factors),
            places[2],
            len(self.records),
            is_inverted,
            resets,
        )

    def number_of_gate(self, gate: CliffordGate) -> int:
        # Gates outlive the writer, as the steps have them.
        number, _ = self.gates.setdefault(id(gate), (len(self.gates), gate))
        return number

    def number_of_channel(self, channel: Channel) -> int:
        number = self.numbers_of_channels.setdefault(channel, len(self.channels))
        if number == len(self.channels):
            first = len(self.choices)
            self.choices += (*channel.rates, *channel.site)
            self.channels.append((channel.constant, first, first + len(channel.rates), len(self.choices)))
        return number
