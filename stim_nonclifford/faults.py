"""The faults of a circuit: their places, and the exact results of shots with given faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import stim

from .compiler import CompiledCircuit, RequestedOutputs
from .compiler.effects import Fault
from .compiler.flattening import unrolled
from .compiler.gf2 import mask_of, parities
from .compiler.steps import CorrelatedError, Measure, Noise
from .engines.row_fates import fates_of_rows
from .plan import SamplingPlan

__all__ = ["CircuitFault", "FaultTable", "OutcomeProbabilities"]

_LETTERS = "_XZY"


@dataclass(frozen=True)
class CircuitFault:
    """One error at one place of a circuit; compare ``stim.CircuitErrorLocation``.

    Attributes:
        line: Line of the instruction in the printed circuit, counted from 1.
        tick: Number of TICKs before the instruction; every iteration of a REPEAT counts.
        instruction: Name of the instruction.
        targets: The qubits of the channel or measurement: one group of its targets.
        pauli: The Pauli that is applied, for example ``"X3*Z5"``; empty if only records flip.
        records: The records that flip: readout errors and heralds.
        step: Position of the instruction's step in the unrolled circuit, which differs between iterations.
        group: The index of the group of targets in the step.
    """

    line: int
    tick: int
    instruction: str
    targets: tuple[int, ...]
    pauli: str
    records: tuple[int, ...]
    step: int
    group: int

    def __str__(self) -> str:
        qubits = " ".join(str(qubit) for qubit in self.targets)
        flips = " and ".join(f"record {record} flips" for record in self.records)
        what = ", ".join(part for part in (self.pauli, flips) if part)
        return f"line {self.line}, tick {self.tick}: {self.instruction} {qubits}: {what}"


@dataclass(frozen=True)
class OutcomeProbabilities:
    """Exact probabilities for a shot with given faults; they sum to 1.

    Attributes:
        kept_and_right: No postselected detector fires and no observable flips.
        kept_and_wrong: No postselected detector fires, but an observable flips.
        discarded: A postselected detector fires.
    """

    kept_and_right: float
    kept_and_wrong: float
    discarded: float


class FaultTable:
    """The faults of a circuit's noise, with their effects.

    Args:
        circuit: The circuit, with tags; it must not be changed afterwards.
        compiled: The compiled circuit.
    """

    def __init__(self, circuit: stim.Circuit, compiled: CompiledCircuit) -> None:
        self.circuit = circuit
        self.compiled = compiled

    @property
    def faults(self) -> list[CircuitFault]:
        """All single faults, in circuit order."""
        return list(self._effects)

    @cached_property
    def _effects(self) -> dict[CircuitFault, int]:
        program = self.compiled.program
        found = {}
        for fault in self.compiled.faults:
            place = program.places[fault.step]
            located = CircuitFault(
                line=place.line,
                tick=place.tick,
                instruction=place.source.name,
                targets=self._targets_of(fault),
                pauli="*".join(f"{_LETTERS[code]}{qubit}" for qubit, code in program.labelled(fault.factors)),
                records=fault.records,
                step=fault.step,
                group=fault.group,
            )
            found[located] = fault.effect
        return found

    def _targets_of(self, fault: Fault) -> tuple[int, ...]:
        program = self.compiled.program
        match program.steps[fault.step]:
            case Noise(_, groups, _):
                return tuple(program.labels[qubit] for qubit in groups[fault.group])
            case Measure(factors) | CorrelatedError(_, _, factors):
                return tuple(program.labels[qubit] for qubit, _ in factors)
        raise AssertionError("a fault stands at noise or at a measurement")

    def by_mechanism(self, plan: SamplingPlan) -> dict[int, list[CircuitFault]]:
        """For each mechanism of a plan, the faults with the same effect.

        Args:
            plan: A plan of this circuit.

        Returns:
            The faults, by the index of the mechanism. A mechanism is missing if no single fault has its
            effect. This occurs in channels where the identity is not the most likely choice.
        """
        mechanisms: dict[int, list[int]] = defaultdict(list)
        for mechanism in range(plan.num_mechanisms):
            row = mask_of(plan.effects.row(mechanism).tolist())
            mechanisms[row].append(mechanism)
        sources = plan.row_sources
        sums = [sources.row(k).tolist() for k in range(len(sources))]
        rows = parities(list(self._effects.values()), sums)
        found: dict[int, list[CircuitFault]] = defaultdict(list)
        for fault, row in zip(self._effects, rows, strict=True):
            for mechanism in mechanisms[row]:
                found[mechanism].append(fault)
        return dict(found)

    def outcome_probabilities(
        self, fault_sets: Sequence[Iterable[CircuitFault]], postselected: Sequence[int]
    ) -> list[OutcomeProbabilities]:
        """The exact probabilities of the results of shots that have exactly these faults.

        Args:
            fault_sets: The faults of each shot.
            postselected: The detectors that discard a shot.

        Returns:
            The probabilities for each shot.

        Raises:
            ValueError: A fault is not one of this circuit.
        """
        program = self.compiled.program
        observables = range(program.num_detectors, program.num_detectors + program.num_observables)
        plan = self.compiled.fault_plan(RequestedOutputs.of(observables, postselected))
        rows = np.zeros((len(fault_sets), plan.num_row_bits), dtype=np.bool_)
        row_of: dict[CircuitFault, npt.NDArray[np.bool_]] = {}
        for row, faults in zip(rows, fault_sets, strict=True):
            for fault in faults:
                if fault not in row_of:
                    row_of[fault] = plan.row_of(self._effect_of(fault))
                row ^= row_of[fault]
        fates = zip(*(each.tolist() for each in fates_of_rows(plan, rows)), strict=True)
        return [OutcomeProbabilities(*fate) for fate in fates]

    def _effect_of(self, fault: CircuitFault) -> int:
        if fault not in self._effects:
            raise ValueError(f"The circuit has no fault '{fault}'. circuit.faults() lists all faults.")
        return self._effects[fault]

    def circuit_with(self, faults: Iterable[CircuitFault]) -> stim.Circuit:
        """The circuit without noise, but with given faults.

        Args:
            faults: The faults. Their Paulis become gates, and readout errors become inverted targets.

        Returns:
            The circuit, with loops unrolled. Any simulator that supports its gates can run it.

        Raises:
            ResourceLimitError: The circuit is too large to be unrolled.
        """
        places = self.compiled.program.places
        at_instruction: dict[int, list[CircuitFault]] = defaultdict(list)
        for fault in faults:
            at_instruction[places[fault.step].number].append(fault)
        first_step: dict[int, int] = {}
        for step, place in enumerate(places):
            first_step.setdefault(place.number, step)
        result = stim.Circuit()
        for number, instruction in enumerate(unrolled(self.circuit)):
            data = stim.gate_data(instruction.name)
            if data.produces_measurements:
                # The compiler makes one step of each group of targets of a measurement.
                flipped = {
                    fault.step - first_step[number] + fault.group
                    for fault in at_instruction[number]
                    if fault.records
                }
                result.append(_noiseless_measurement(instruction, flipped))
            elif not data.is_noisy_gate:
                result.append(instruction)
            for fault in at_instruction[number]:
                for factor in filter(None, fault.pauli.split("*")):
                    result.append(factor[0], [int(factor[1:])])
        return result


def _noiseless_measurement(
    instruction: stim.CircuitInstruction, flipped: set[int]
) -> stim.CircuitInstruction:
    """A measurement without readout errors, with the records of the ``flipped`` groups inverted."""
    if instruction.name.startswith("HERALDED"):
        heralds = [int(k in flipped) for k in range(len(instruction.targets_copy()))]
        return stim.CircuitInstruction("MPAD", heralds)
    targets: list[stim.GateTarget] = []
    groups: Sequence[Sequence[stim.GateTarget]] = instruction.target_groups()
    for k, group in enumerate(groups):
        for j, target in enumerate(group):
            if j and instruction.name == "MPP":
                targets.append(stim.target_combiner())
            targets.append(_inverted(instruction.name, target) if j == 0 and k in flipped else target)
    return stim.CircuitInstruction(instruction.name, targets, tag=instruction.tag)


def _inverted(name: str, target: stim.GateTarget) -> stim.GateTarget:
    invert = not target.is_inverted_result_target
    if name == "MPP":
        return stim.target_pauli(target.value, target.pauli_type, invert=invert)
    if name == "MPAD":
        return stim.GateTarget(1 - target.value)
    return stim.target_inv(target.value) if invert else stim.GateTarget(target.value)
