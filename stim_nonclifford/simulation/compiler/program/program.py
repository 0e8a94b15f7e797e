"""The program: a circuit as steps, of which one iteration of each loop is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import stim

from ...._native import Program as NativeProgram
from ..algebra.paulis import Factors
from .extent import Extent
from .leakage_steps import LeakageModels
from .loops import Loop, Shift, Unrolled, Unrolling, shifted
from .program_arrays import program_arrays
from .steps import BeginAttempts, Decide, ExpectationStep, Misreading, Rotate, Skip, Step
from .turns import TurnSteps


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step comes from."""

    line: int  # the line of its instruction in the printed circuit, counted from 1
    number: int  # the number of its instruction among the unrolled ones
    tick: int  # the number of TICKs before it, with every iteration of a REPEAT counted
    source: stim.CircuitInstruction

    def shifted(self, shift: Shift) -> Place:
        """The place in a later iteration of a loop."""
        return Place(self.line, self.number + shift.instructions, self.tick + shift.ticks, self.source)


class ReadoutDecay(NamedTuple):
    """A record that becomes a value with some probability."""

    step: int  # the number of the step
    record: int
    value: bool
    probability: float
    chain: int


@dataclass(frozen=True)
class Program:
    """A circuit as steps."""

    stored_steps: list[Step]  # the steps, with the first iteration of each loop alone
    stored_places: list[Place]  # where they come from
    loops: list[Loop]  # the loops, inner ones before outer ones
    labels: Sequence[int]  # the label of each qubit, ascending: the numbers that occur in the circuit
    num_records: int  # length of the measurement record
    num_detectors: int
    num_observables: int
    has_non_clifford_gates: bool  # whether any instruction has a tag that reinterprets it
    # whether any qubit can decay, or an outcome be misread depending on its value
    has_non_pauli_channels: bool
    has_leakage: bool  # whether any qubit can leak or be lost
    leakage_models: LeakageModels  # what is unusual about qubits that are leaked or lost, by their numbers
    extent: Extent
    turns: TurnSteps  # by quasi-static noise
    # whether relaxation, misread records and leakage are steps that an engine follows shot by shot. If
    # not, they are gates with ancillas and scripts
    for_trajectories: bool = False
    no_plan: str = ""  # why there is no plan, although no record switches a block; with a remedy

    @property
    def num_qubits(self) -> int:
        """Number of qubits."""
        return len(self.labels)

    @cached_property
    def _unrolling(self) -> Unrolling:
        return Unrolling(len(self.stored_steps), self.loops)

    @cached_property
    def steps(self) -> Unrolled[Step]:
        """The steps in circuit order, with loops unrolled."""
        return Unrolled(self._unrolling, self.stored_steps, shifted)

    @cached_property
    def decisions(self) -> list[tuple[int, int]]:
        """For each bit that a decoder decides, the number of its step, and its record; in circuit order."""
        if not any(isinstance(step, Decide) for step in self.stored_steps):
            return []
        return [(k, step.record) for k, step in enumerate(self.steps) if isinstance(step, Decide)]

    @cached_property
    def readout_decays(self) -> list[ReadoutDecay]:
        """The records that may decay, in circuit order."""
        if self.for_trajectories or not any(isinstance(step, Misreading) for step in self.stored_steps):
            return []
        return [
            ReadoutDecay(
                k, step.record, (step.p01 > step.p10) != step.inverted, max(step.p01, step.p10), step.chain
            )
            for k, step in enumerate(self.steps)
            if isinstance(step, Misreading)
        ]

    def stored_record(self, decay: ReadoutDecay) -> int:
        """The record of a decay in the first iteration of its loops."""
        step = self.stored_steps[self.stored_number(decay.step)]
        assert isinstance(step, Misreading)
        return step.record

    def stored_number(self, step: int) -> int:
        """The place of a step in ``stored_steps``, the same in each iteration of a loop."""
        return self._unrolling.stored(step)

    def rotation_at(self, step: int) -> Rotate:
        """The rotation that a step is. It is the same in each iteration of a loop."""
        rotation = self.stored_steps[self.stored_number(step)]
        assert isinstance(rotation, Rotate)
        return rotation

    @cached_property
    def places(self) -> Unrolled[Place]:
        """Where each step comes from."""
        return Unrolled(self._unrolling, self.stored_places, Place.shifted)

    @cached_property
    def has_expectations(self) -> bool:
        """Whether there are expectation values among the steps."""
        return any(isinstance(step, ExpectationStep) for step in self.stored_steps)

    @cached_property
    def is_switched(self) -> bool:
        """Whether records switch blocks, so that no two shots need have the same operations."""
        return any(isinstance(step, (Skip, BeginAttempts)) for step in self.stored_steps)

    @property
    def has_plan(self) -> bool:
        """Whether all shots have the same operations."""
        return not (self.is_switched or self.no_plan)

    @cached_property
    def native(self) -> NativeProgram:
        """The steps in the form in which native code follows them."""
        arrays = program_arrays(
            self.stored_steps,
            self.loops,
            num_qubits=self.num_qubits,
            num_records=self.num_records,
            num_detectors=self.num_detectors,
            num_observables=self.num_observables,
            for_trajectories=self.for_trajectories,
        )
        return NativeProgram(arrays)

    def labelled(self, factors: Factors) -> Factors:
        """A Pauli with the labels of its qubits in place of their numbers."""
        return tuple((self.labels[qubit], code) for qubit, code in factors)
