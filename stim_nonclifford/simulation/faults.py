"""The faults of a circuit: their places, their mechanisms in a plan, and shots in which given ones happen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import stim

from ..base.arguments import iterable, refuse_argument
from ..dialect import bare_name, check_unconditional
from .compiler import CompiledCircuit, RequestedOutputs
from .compiler.program.loops import unrolled
from .compiler.program.steps import CorrelatedError, Measure, Noise
from .compiler.sweeps.effects import Fault
from .noise_events import NoiseEvent, located, noise_events
from .plan import SamplingPlan
from .row_fates import fates_of_rows

Name = TypeVar("Name")


class NamedMechanisms(Generic[Name]):
    """The faults behind the mechanisms of a plan."""

    def __init__(self, compiled: CompiledCircuit, plan: SamplingPlan, names: Sequence[Name]) -> None:
        events = noise_events(compiled)
        self._names = names
        self._draws = events.draws
        self._usual = {k: 0 for k, draw in enumerate(events.draws) if draw.usual}
        self._events: list[list[NoiseEvent]] = [[] for _ in range(plan.num_mechanisms)]
        for found in located(plan, events):
            if found.mechanism >= 0 and found.amount > 0:
                self._events[found.mechanism].append(found.event)
        for own in self._events:
            own.sort(key=lambda event: (event.place, event.pattern))

    def causes(self, mechanism: int) -> tuple[Name, ...]:
        """The faults any one of which may have happened if a mechanism acts, in the order of the circuit.

        A fault in a draw that usually has another result happens in the place of that one. A result without
        a fault has no name.
        """
        numbers = {self._fault(event.draw, event.pattern) for event in self._events[mechanism]}
        return self._named(numbers)

    def faults(self, mechanisms: Iterable[int]) -> tuple[Name, ...]:
        """The faults of a shot in which these mechanisms act and no others, in the order of the circuit.

        Where a mechanism has several possible causes, one is chosen. Events of the same place are added up
        to one fault: X and Z of a depolarizing channel are Y. The errors that usually happen are among the
        faults.
        """
        results = dict(self._usual)
        for mechanism in mechanisms:
            event = self._chosen(mechanism, results.keys() - self._usual.keys())
            results[event.draw] = results.get(event.draw, 0) ^ event.pattern
        return self._named(self._fault(draw, pattern) for draw, pattern in results.items())

    def _named(self, numbers: Iterable[int | None]) -> tuple[Name, ...]:
        return tuple(self._names[number] for number in sorted(k for k in numbers if k is not None))

    def _chosen(self, mechanism: int, taken: set[int]) -> NoiseEvent:
        """An event of a mechanism: if possible a fault, and of a draw without another event."""
        events = self._events[mechanism]
        return min(
            events,
            key=lambda event: (event.draw in taken, self._fault(event.draw, event.pattern) is None),
        )

    def _fault(self, draw: int, pattern: int) -> int | None:
        """The index of the fault that happens; None if none does."""
        result = self._draws[draw].usual ^ pattern
        return self._draws[draw].faults[result] if result else None


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
    """The faults of a circuit's noise, with their effects. The circuit must not be changed afterwards."""

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
        found, names = {}, dict[int, str]()
        for fault in self.compiled.faults:
            place = program.places[fault.step]
            if place.line not in names:
                names[place.line] = bare_name(place.source)
            located = CircuitFault(
                line=place.line,
                tick=place.tick,
                instruction=names[place.line],
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

    def by_mechanism(self, plan: SamplingPlan) -> NamedMechanisms[CircuitFault]:
        """The faults behind the mechanisms of a plan."""
        return NamedMechanisms(self.compiled, plan, self.faults)

    def outcome_probabilities(
        self, fault_sets: Sequence[Iterable[CircuitFault]], postselected: Sequence[int]
    ) -> list[OutcomeProbabilities]:
        """The exact probabilities of the results of shots that have exactly these faults."""
        program = self.compiled.program
        observables = range(program.num_detectors, program.num_detectors + program.num_observables)
        plan = self.compiled.fault_plan(RequestedOutputs.of(observables, postselected))
        rows = np.zeros((len(fault_sets), plan.num_row_bits), dtype=np.bool_)
        row_of: dict[CircuitFault, npt.NDArray[np.bool_]] = {}
        for row, faults in zip(rows, fault_sets, strict=True):
            for fault in self._happening(faults):
                if fault not in row_of:
                    row_of[fault] = plan.row_of(self._effect_of(fault))
                row ^= row_of[fault]
        fates = zip(*(each.tolist() for each in fates_of_rows(plan, rows)), strict=True)
        return [OutcomeProbabilities(*fate) for fate in fates]

    def _effect_of(self, fault: CircuitFault) -> int:
        if fault not in self._effects:
            raise ValueError(f"The circuit has no fault '{fault}'. circuit.faults() lists all faults.")
        return self._effects[fault]

    def _happening(self, faults: Iterable[CircuitFault]) -> list[CircuitFault]:
        """The faults that are given an odd number of times, in the order of the circuit."""
        odd: dict[CircuitFault, None] = {}
        for fault in faults:
            self._effect_of(fault)
            if fault in odd:
                del odd[fault]
            else:
                odd[fault] = None
        chosen = sorted(odd, key=lambda fault: (fault.step, fault.group))
        of_draw: dict[tuple[int, int], CircuitFault] = {}
        for fault in chosen:
            other = of_draw.setdefault(self._draw_of(fault), fault)
            if other is not fault:
                raise ValueError(self._exclusive(other, fault))
        return chosen

    def _draw_of(self, fault: CircuitFault) -> tuple[int, int]:
        """What faults that exclude each other have in common: a place, or a chain of correlated errors."""
        step = self.compiled.program.steps[fault.step]
        return (-1, step.chain) if isinstance(step, CorrelatedError) else (fault.step, fault.group)

    def _exclusive(self, first: CircuitFault, second: CircuitFault) -> str:
        """Why two faults cannot both happen, and what to give instead."""
        start = f"'{first}' and '{second}' cannot both happen:"
        if (first.step, first.group) != (second.step, second.group):
            return f"{start} a chain of E and ELSE_CORRELATED_ERROR has one error at most. Give one of them."
        effect = self._effect_of(first) ^ self._effect_of(second)
        both = [
            fault
            for fault, own in self._effects.items()
            if own == effect
            and (fault.step, fault.group) == (first.step, first.group)
            and fault not in (first, second)
        ]
        remedy = f"or '{both[0]}', which has the effect of both." if both else "not both."
        return f"{start} {first.instruction} draws one of its errors, or none. Give one of them, {remedy}"

    def number_of(self, fault: CircuitFault) -> int:
        """The number of the instruction that has a fault, in the unrolled circuit."""
        return self.compiled.program.places[fault.step].number

    def group_of(self, fault: CircuitFault) -> int:
        """The index of the group of targets that has a fault, in its instruction."""
        # The compiler makes one step of each group of targets of a measurement.
        return fault.step - self._first_steps[self.number_of(fault)] + fault.group

    @cached_property
    def _first_steps(self) -> dict[int, int]:
        """The first step of each instruction of the unrolled circuit."""
        found: dict[int, int] = {}
        for step, place in enumerate(self.compiled.program.places):
            found.setdefault(place.number, step)
        return found

    def circuit_with(self, faults: Iterable[CircuitFault]) -> stim.Circuit:
        """The circuit with given faults, without noise and with loops unrolled, for any simulator.

        Their Paulis become gates, and readout errors become inverted targets. A fault that is given twice
        cancels.
        """
        check_unconditional(self.circuit)
        at_instruction: dict[int, list[CircuitFault]] = defaultdict(list)
        for fault in self._happening(faults):
            at_instruction[self.number_of(fault)].append(fault)
        result = stim.Circuit()
        for number, instruction in enumerate(unrolled(self.circuit)):
            data = stim.gate_data(instruction.name)
            if data.produces_measurements:
                flipped = {self.group_of(fault) for fault in at_instruction[number] if fault.records}
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


def faults_of_shots(faults: Any) -> tuple[list[list[CircuitFault]], bool]:
    """The faults of each shot, and whether the argument was a list of sets rather than those of one shot."""
    given = list(iterable(faults, "faults", "the faults of a shot, or a list of these for several shots"))
    one_shot = [each for each in given if isinstance(each, CircuitFault)]
    several = [checked_faults(each) for each in given if not isinstance(each, CircuitFault)]
    if one_shot and several:
        raise ValueError("faults must be the faults of one shot or a list of such sets, not a mixture.")
    return several or [one_shot], bool(several)


def checked_faults(faults: Any) -> list[CircuitFault]:
    """The argument ``faults`` of a method, for one shot, as a list."""
    found = list(iterable(faults, "faults", "an iterable of faults"))
    for fault in found:
        if not isinstance(fault, CircuitFault):
            refuse_argument("Each of faults", "a CircuitFault", fault)
    return found
