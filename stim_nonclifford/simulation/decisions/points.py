"""The decisions of a circuit, and what a decoder is asked at each of them.

Let a decision be about a record m. The decoder finds whether errors flip m. For this it has an error model:
that of the circuit up to the decision, whose observable is m, in which all earlier decisions are plain
measurements. Errors flip detectors and records linearly, and so do the flips of earlier records by the
decoder. The flips that were made are known: what they do to detectors is undone before the decoder sees
them, and what they do to m is added to the answer.

Conditional Clifford gates need more. Let a rotation by a quarter turn about P be applied if a record is 1.
An error before it that anticommutes with P is followed by a further P, but only if the rotation was applied.
The model has an observable for each such rotation, which is flipped by the errors that anticommute with P
there. If the decoder finds that it is flipped, and the rotation was applied, what a P at this place does is
added to the answer. So one model serves all values of the records. This needs that P flips no detector that
the decoder sees. Where it flips one, there is a model for each branch: rotations are applied or not, as the
records say, and what is known of flips is that of the branch.

The end of a circuit is a question of the same kind: which observables are flipped? It may also ask for all
decided records once more: the answers are what a decoder would have decided that knows the whole shot.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import stim

from ...dialect import (
    CONDITIONAL_CARRIER,
    CliffordPart,
    Decision,
    RotationPart,
    bare_name,
    decision_of,
    first_conditional_block,
    gate_from_tag,
    groups_of_pairs,
    without_decisions,
    without_noise,
)
from ..compiler.algebra.gf2 import ones
from ..compiler.program.flattening import program_of
from ..compiler.program.loops import unrolled
from ..compiler.program.steps import Decide, DetectorStep
from .frame_circuits import FrameCircuits, frame_circuit, frames_of, has_known_noise

_PROBE = 0.25
_MEASUREMENTS = frozenset({"M", "MX", "MY", "MR", "MRX", "MRY", "MXX", "MYY", "MZZ", "MPP"})


@dataclass(frozen=True)
class DecisionPoint:
    """A place of a circuit at which a decoder decides.

    Attributes:
        line: The line of its instruction in the printed circuit, counted from 1.
        tick: The number of TICKs before it, with every iteration of a REPEAT counted.
        records: The records that are decided.
        num_detectors: The number of detectors that the decoder sees: D0, D1, ...
        latency: The number of TICKs for which detectors are on their way to the decoder.
        decoder: The name of the decoder that the instruction asks for; empty for that of the sampler.
        gap: Of SURE, the complementary gap in decibels from which on the decoder is sure; None for others.
    """

    line: int
    tick: int
    records: tuple[int, ...]
    num_detectors: int
    latency: int = 0
    decoder: str = ""
    gap: float | None = None


@dataclass(frozen=True)
class Axis:
    """A conditional rotation whose angle is a multiple of a quarter turn, whatever the records are.

    Attributes:
        number: The number of its instruction among the unrolled ones.
        line: The line of its instruction in the printed circuit.
        name: The name of its gate.
        text: The axis, such as ``X0*Z3``.
        records: The records that control it.
        turns: bool, shape (2^num_records,): whether it is an odd multiple, for each value of the records;
            bit k of the index is record k of ``records``.
    """

    number: int
    line: int
    name: str
    text: str
    records: tuple[int, ...]
    turns: npt.NDArray[np.bool_]

    def is_applied(self, values: Mapping[int, bool]) -> bool:
        """Whether the rotation is an odd multiple of a quarter turn for values of the records."""
        return bool(self.turns[sum(bool(values[record]) << j for j, record in enumerate(self.records))])


@dataclass(frozen=True)
class Knowledge:
    """What known flips of records, and Paulis about axes, do to what a decoder is asked.

    All arrays are bool. Bits are the decided records of the circuit in order. What a row flips comes later.

    Attributes:
        detectors: Shape (num_bits, num_detectors): the detectors that the flip of each decided record flips.
        axes: Shape (num_bits, num_axes): the axes that it flips.
        asked: Shape (num_bits, num_bits + num_observables): the decided records that it flips, before they
            are decided, and the observables. Without a question at the end, there are no observables.
        axes_by_axes: Shape (num_axes, num_axes): the axes that a Pauli about each axis flips.
        asked_by_axes: Shape (num_axes, num_bits + num_observables): the decided records and observables that
            it flips.
        detectors_by_axes: Shape (num_axes, num_detectors): the detectors that it flips.
    """

    detectors: npt.NDArray[np.bool_]
    axes: npt.NDArray[np.bool_]
    asked: npt.NDArray[np.bool_]
    axes_by_axes: npt.NDArray[np.bool_]
    asked_by_axes: npt.NDArray[np.bool_]
    detectors_by_axes: npt.NDArray[np.bool_]


class DecidedCircuit:
    r"""A circuit with decisions, and what a decoder is asked at each of them.

    Args:
        circuit: The circuit, tagged.
        asks_at_end: Whether the end of the circuit is a further point, at which the decoder is asked for the
            observables. It decides no records.
        in_hindsight: Whether it is also asked for all decided records once more.
        lines: For each line of the circuit, the one that messages name; None: the line itself.

    Raises:
        NotImplementedError: A block is switched by a record.

    Examples:
        >>> decided = DecidedCircuit(stim.Circuit("X_ERROR(0.1) 0\nM 0 0\nDETECTOR rec[-1]\nM[DECODE] 0"))
        >>> decided.points
        [DecisionPoint(line=4, tick=0, records=(2,), num_detectors=1, latency=0, decoder='', gap=None)]
        >>> print(decided.prefix(0))
        X_ERROR(0.1) 0
        M 0 0
        DETECTOR rec[-1]
        M 0
        OBSERVABLE_INCLUDE(0) rec[-1]
    """

    def __init__(
        self,
        circuit: stim.Circuit,
        *,
        asks_at_end: bool = False,
        in_hindsight: bool = False,
        lines: Sequence[int] | None = None,
    ) -> None:
        self.circuit, self._in_hindsight = circuit, in_hindsight
        self._given_lines = lines
        self.num_observables = circuit.num_observables if asks_at_end else 0
        self.points: list[DecisionPoint] = []
        self._numbers: list[int] = []  # of the instructions of the points, among the unrolled ones
        self._lines: dict[int, int] = {}  # by the number of an instruction with an axis or a decision
        self._find_points()
        if asks_at_end:
            self._numbers.append(sum(1 for _ in unrolled(circuit)))
            self.points.append(DecisionPoint(0, circuit.num_ticks, (), circuit.num_detectors))

    def _find_points(self) -> None:
        program = program_of(self.circuit, with_decisions=True)
        if program.is_switched:
            raise NotImplementedError(
                f"{first_conditional_block(self.circuit)}: this block is executed or not, and each choice of"
                " blocks has decisions and error models of its own. compile_sampler(decoder=...),"
                " compile_detector_sampler(decoder=...) and logical_error_rate(decoder=...) follow them. To"
                " count with a decoder at the end, write a circuit for each choice, and count in each of them"
                " the shots whose records make it (docs/methods/decisions.md). Without a decoder, sample"
                " circuit.without_decisions()."
            )
        detector_ticks: list[int] = []
        for step, place in zip(program.steps, program.places, strict=True):
            line = place.line if self._given_lines is None else self._given_lines[place.line - 1]
            self._lines[place.number] = line
            if isinstance(step, DetectorStep):
                detector_ticks.append(place.tick)
            if not isinstance(step, Decide):
                continue
            if self._numbers and self._numbers[-1] == place.number:
                last = self.points[-1]
                self.points[-1] = replace(last, records=(*last.records, step.record))
                continue
            decision = decision_of(place.source) or Decision()
            known = len(detector_ticks)
            if decision.latency:
                known = sum(tick <= place.tick - decision.latency for tick in detector_ticks)
            self._numbers.append(place.number)
            self.points.append(
                DecisionPoint(
                    line,
                    place.tick,
                    (step.record,),
                    known,
                    decision.latency,
                    decision.decoder,
                    decision.gap,
                )
            )

    @cached_property
    def detectors_before(self) -> list[int]:
        """For each point the number of detectors before it, whether or not its decoder sees them."""
        found, count = [], 0
        numbers = set(self._numbers)
        for number, instruction in enumerate(unrolled(self.circuit)):
            if number in numbers:
                found.append(count)
            count += instruction.name == "DETECTOR"
        return found + [count] * (len(self.points) - len(found))

    @property
    def bits(self) -> list[int]:
        """The decided records, in order."""
        return [record for point in self.points for record in point.records]

    @property
    def first_bits(self) -> list[int]:
        """For each point, the number of the first one of its bits."""
        return [0, *itertools.accumulate(len(point.records) for point in self.points)][:-1]

    def asked_of(self, point: int) -> list[int]:
        """What a point asks for: the numbers of columns of ``Knowledge.asked``.

        A decision asks for its records; the end for the observables, and then, in hindsight, for all records.
        """
        if not self.points[point].records:
            num_bits = len(self.bits)
            again = range(num_bits if self._in_hindsight else 0)
            return [*range(num_bits, num_bits + self.num_observables), *again]
        first = self.first_bits[point]
        return [*range(first, first + len(self.points[point].records))]

    # Axes

    @cached_property
    def all_axes(self) -> list[Axis]:
        """The conditional rotations before the last decision, in order."""
        found: list[Axis] = []
        num_records = 0
        for number, instruction in enumerate(unrolled(self.circuit)):
            if not self._numbers or number >= self._numbers[-1]:
                break
            if instruction.name == CONDITIONAL_CARRIER and instruction.tag:
                found += _axes_of(instruction, number, self._lines.get(number, 0), num_records)
            num_records += instruction.num_measurements
        return found

    def switching(self, point: int) -> list[int]:
        """The numbers of the axes whose rotations, if they are applied, change the error model of a point.

        A Pauli about such an axis flips a detector that the decoder sees, or a later axis of this kind.
        """
        if not self.points[point].records:
            return []
        last, known = self._numbers[point], self.knowledge
        flips = known.detectors_by_axes[:, : self.points[point].num_detectors].any(axis=1)
        is_before = np.array([axis.number < last for axis in self.all_axes], dtype=np.bool_)
        found = flips & is_before
        while (more := known.axes_by_axes[:, found].any(axis=1) & is_before & ~found).any():
            found |= more
        numbers = {self.all_axes[k].number for k in np.flatnonzero(found).tolist()}
        return [k for k, axis in enumerate(self.all_axes) if axis.number in numbers]

    def branch(self, switching: Sequence[int], applied: Sequence[bool]) -> DecidedCircuit:
        """The circuit if rotations about some axes, all of their instructions, are applied or not."""
        turned: dict[int, list[stim.GateTarget]] = {self.all_axes[k].number: [] for k in switching}
        for k, is_applied in zip(switching, applied, strict=True):
            if is_applied:
                targets = _targets_of(self.all_axes[k].text)
                turned[self.all_axes[k].number] += stim.target_combined_paulis(targets)
        result = stim.Circuit()
        for number, instruction in enumerate(unrolled(self.circuit)):
            single = stim.Circuit()
            if number in turned:  # something stays between two decisions, which are not one then
                single.append(*(("SPP", turned[number]) if turned[number] else ("I", [0])))
            else:
                single.append(instruction)
            result += single
        branch = DecidedCircuit(result)
        own, others = self.points[: len(branch.points)], np.delete(np.arange(len(self.all_axes)), switching)
        assert [point.records for point in branch.points] == [point.records for point in own]
        branch.points = own
        branch.all_axes = [
            replace(axis, line=self.all_axes[k].line)
            for axis, k in zip(branch.all_axes, others.tolist(), strict=True)
        ]
        return branch

    def axes_of(self, point: int) -> list[int]:
        """The numbers of the axes that matter for a decision: in its model they are observables."""
        last = self._numbers[point]
        knowledge, asked = self.knowledge, self.asked_of(point)
        matters = {
            k
            for k, axis in enumerate(self.all_axes)
            if axis.number < last and knowledge.asked_by_axes[k, asked].any()
        }
        reached = list(matters)
        while reached:
            k = reached.pop()
            for j in np.flatnonzero(knowledge.axes_by_axes[:, k]).tolist():
                if j not in matters:
                    matters.add(j)
                    reached.append(j)
        return sorted(matters)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What known flips do, found by probes: errors where decisions and conditional rotations are."""
        num_detectors, bits, axes = self.circuit.num_detectors, self.bits, self.all_axes
        of_axis: dict[int, list[int]] = {}
        for k, axis in enumerate(axes):
            of_axis.setdefault(axis.number, []).append(k)
        deciding = set(self._numbers)
        number_of_bit = {record: k for k, record in enumerate(bits)}
        probed = stim.Circuit()
        order: list[int] = []  # bits, then axes
        num_records = 0
        for number, instruction in enumerate(unrolled(self.circuit)):
            for k in of_axis.get(number, ()):
                targets = _targets_of(axes[k].text)
                probed.append("OBSERVABLE_INCLUDE", targets, k)
                probed.append("E", targets, _PROBE)
                order.append(len(bits) + k)
            count = instruction.num_measurements
            if number in deciding:
                probed.append(instruction.name, instruction.targets_copy(), _PROBE)
                order += [number_of_bit[num_records + j] for j in range(count)]
                for j, targets in enumerate(_asked_of(instruction)):
                    probed.append("OBSERVABLE_INCLUDE", targets, len(axes) + number_of_bit[num_records + j])
            elif instruction.name == "OBSERVABLE_INCLUDE":
                if self.num_observables:
                    observable = len(axes) + len(bits) + int(instruction.gate_args_copy()[0])
                    probed.append("OBSERVABLE_INCLUDE", instruction.targets_copy(), observable)
            elif count and instruction.name not in (*_MEASUREMENTS, "MPAD"):
                probed.append("MPAD", [0] * count)
            else:
                single = stim.Circuit()
                single.append(instruction)
                probed += without_noise(without_decisions(single))
            num_records += count
        faults = frames_of(probed).faults
        assert len(faults) == len(order)
        num_asked = len(bits) + self.num_observables
        flips = np.zeros((len(order), num_detectors + len(axes) + num_asked), dtype=np.bool_)
        for fault, place in zip(faults, order, strict=True):
            effect = [bit for bit in ones(fault.effect) if bit < flips.shape[1]]
            flips[place, effect] = True
        by_bits, by_axes = flips[: len(bits)], flips[len(bits) :]
        end = num_detectors + len(axes)
        return Knowledge(
            by_bits[:, :num_detectors],
            by_bits[:, num_detectors:end],
            np.triu(by_bits[:, end:], 1),
            by_axes[:, num_detectors:end],
            by_axes[:, end:],
            by_axes[:, :num_detectors],
        )

    # What a decoder is told

    def prefix(self, point: int) -> stim.Circuit:
        """The circuit up to a point, in which decisions are plain measurements.

        Its detectors are those that the decoder sees. Its observables are what the point asks for, and then
        the axes of ``axes_of``.

        Raises:
            NotImplementedError: At the end, a Pauli about a conditional rotation flips a detector.
            ValueError: Before a decision it does: only a branch has this prefix.
        """
        self._check_axes(point, self.axes_of(point))
        asking, ends = self._asking
        place = {observable: k for k, observable in enumerate(self._observables_of(point))}
        most_detectors, num_detectors = self.points[point].num_detectors, 0
        result = stim.Circuit()
        for instruction in asking[: ends[point]]:
            if instruction.name == "OBSERVABLE_INCLUDE":
                if (observable := int(instruction.gate_args_copy()[0])) in place:
                    result.append("OBSERVABLE_INCLUDE", instruction.targets_copy(), place[observable])
                continue
            num_detectors += instruction.name == "DETECTOR"
            if instruction.name != "DETECTOR" or num_detectors <= most_detectors:
                result.append(instruction)
        return result

    def frame_circuit(self, point: int) -> stim.Circuit | None:
        """A circuit of Stim with the error model of ``prefix``; None if its noise is of another kind.

        Raises:
            NotImplementedError: As for ``prefix``.
            ValueError: As for ``prefix``.
        """
        if self._frames is None:
            return frame_circuit(self.prefix(point))
        self._check_axes(point, self.axes_of(point))
        end, num_detectors = self._asking[1][point], self.points[point].num_detectors
        return self._frames.up_to(end, num_detectors, self._observables_of(point))

    def _observables_of(self, point: int) -> list[int]:
        """What a point asks for, and then the axes of ``axes_of``, as observables of ``_asking``."""
        first_axis = len(self.bits) + self.num_observables
        return [*self.asked_of(point), *(first_axis + k for k in self.axes_of(point))]

    @cached_property
    def _frames(self) -> FrameCircuits | None:
        """The frame circuits of all points; None if the noise is of another kind."""
        asking, _ = self._asking
        return FrameCircuits(asking) if has_known_noise(asking) else None

    @cached_property
    def _asking(self) -> tuple[stim.Circuit, list[int]]:
        """The circuit with observables for all that any point may ask for, and where in it each point is.

        Observables are the columns of ``Knowledge.asked``, and then all axes.
        """
        first_axis = len(self.bits) + self.num_observables
        bit_of_record = {record: k for k, record in enumerate(self.bits)}
        axes: dict[int, list[int]] = {}
        for k, axis in enumerate(self.all_axes):
            axes.setdefault(axis.number, []).append(k)
        deciding, ends = set(self._numbers), []
        result = stim.Circuit()
        num_records = 0
        for number, instruction in enumerate(unrolled(self.circuit)):
            for k in axes.get(number, ()):
                result.append("OBSERVABLE_INCLUDE", _targets_of(self.all_axes[k].text), first_axis + k)
            if instruction.name == "OBSERVABLE_INCLUDE":
                if self.num_observables:
                    observable = len(self.bits) + int(instruction.gate_args_copy()[0])
                    result.append("OBSERVABLE_INCLUDE", instruction.targets_copy(), observable)
                continue
            single = stim.Circuit()
            single.append(instruction)
            result += without_decisions(single)
            if number in deciding:
                for record, targets in enumerate(_asked_of(instruction), num_records):
                    result.append("OBSERVABLE_INCLUDE", targets, bit_of_record[record])
                ends.append(len(result))
            num_records += instruction.num_measurements
        ends += [len(result)] * (len(self.points) - len(ends))
        return result, ends

    def _check_axes(self, point: int, wanted: Sequence[int]) -> None:
        """Checks that one model serves all values of the records before a point."""
        asking, seen = self.points[point], self.points[point].num_detectors
        if wanted and asking.gap is not None:
            gate = self.all_axes[wanted[0]]
            raise NotImplementedError(
                f"Line {asking.line}: what SURE asks for depends on the gate `{gate.name}` of line"
                f" {gate.line}, which a record controls, and a complementary gap is that of one error model."
                " Ask before that gate, or ask FRAME, which needs no gap."
            )
        for k, axis in enumerate(self.all_axes):
            if axis.number >= self._numbers[point]:
                return
            flipped = np.flatnonzero(self.knowledge.detectors_by_axes[k, :seen])
            if len(flipped):
                depends = (
                    f"Line {axis.line}: `{axis.name}`: whether an error before this gate flips D{flipped[0]}"
                    f" depends on the record that controls it, as its axis {axis.text} anticommutes with what"
                    " the detector measures. "
                )
                if asking.records:
                    raise ValueError(
                        f"{depends}So the decision of line {asking.line} has an error model for each value:"
                        " give decision_model(..., records={number: value, ...}) with the values of"
                        f" {self._named(self.switching(point))}."
                    )
                raise NotImplementedError(
                    f"{depends}The decoder of the observables would need an error model for each value of the"
                    " record, which only decisions have. Sample with compile_detector_sampler(decoder=...),"
                    " and let FRAME decide what the observables need; or apply the gate about a logical"
                    " operator, which commutes with the checks."
                )

    def _named(self, axes: Sequence[int]) -> str:
        """The records that control gates, as text."""
        records = sorted({record for k in axes for record in self.all_axes[k].records})
        return ("record " if len(records) == 1 else "records ") + ", ".join(map(str, records))

    def branch_of_records(self, point: int, values: Mapping[int, bool]) -> DecidedCircuit:
        """The circuit with the gates that values of records apply, as far as the model of a point asks.

        Raises:
            ValueError: A record that matters is missing, or one has a value that does not.
        """
        switching = self.switching(point)
        records = {record for k in switching for record in self.all_axes[k].records}
        if records != set(values):
            asked = f"those of {self._named(switching)}" if records else "no records"
            raise ValueError(
                f"records= must have the values of the records on which the model of the decision of line"
                f" {self.points[point].line} depends, {asked}, but has {sorted(values) or 'none'}."
            )
        applied = [self.all_axes[k].is_applied(values) for k in switching]
        return self.branch(switching, applied) if switching else self

    def observed(self, circuit: stim.Circuit, records: Sequence[int]) -> stim.Circuit:
        """A circuit with the records of this one, and with further observables.

        They are some of its records, and then one for each decided record, which is 0.
        """
        result = circuit.copy()
        first, end = result.num_observables, result.num_measurements
        for k, record in enumerate(records):
            result.append("OBSERVABLE_INCLUDE", [stim.target_rec(record - end)], first + k)
        for k in range(len(self.bits)):
            result.append("OBSERVABLE_INCLUDE", [], first + len(records) + k)
        return result


def _targets_of(product: str) -> list[stim.GateTarget]:
    return [stim.target_pauli(int(factor[1:]), factor[0]) for factor in product.split("*")]


def _asked_of(instruction: stim.CircuitInstruction) -> list[list[stim.GateTarget]]:
    """For each record that an instruction decides, the observable whose flips decide it."""
    decision = decision_of(instruction)
    if decision is not None and decision.products:
        return [_targets_of(product) for product in decision.products]
    count = instruction.num_measurements
    return [[stim.target_rec(k - count)] for k in range(count)]


def _axes_of(
    instruction: stim.CircuitInstruction, number: int, line: int, num_records: int
) -> Iterator[Axis]:
    """The conditional rotations by quarter turns in a conditional gate."""
    gate = gate_from_tag(instruction)
    if gate is None:
        return
    parts = gate.definition.decomposition(*gate.half_turns)
    for group in groups_of_pairs(gate.definition, instruction.targets_copy()):
        if any(target.is_sweep_bit_target for target in group):
            continue  # which is 0
        records = tuple(num_records + t.value for t in group if t.is_measurement_record_target)
        angles: dict[str, list[tuple[float, int]]] = {}  # by axis, with masks of records
        order: list[str] = []
        for part in parts:
            if isinstance(part, CliffordPart):
                continue  # a Pauli that records control
            assert isinstance(part, RotationPart)
            mask, factors, place = 0, [], 0
            for letter, target in zip(part.pauli, group, strict=True):
                if target.is_measurement_record_target:
                    mask |= (letter == "Z") << place
                    place += 1
                elif letter != "_":
                    factors.append((letter, target.value))
            text = "*".join(f"{letter}{qubit}" for letter, qubit in sorted(factors, key=lambda f: f[1]))
            if text:
                angles.setdefault(text, []).append((part.half_turns, mask))
                order.append(text)
        axes = list(dict.fromkeys(order))
        found = []
        for text in axes:
            turns = _odd_quarter_turns(angles[text], len(records))
            if turns is not None and turns.any():
                found.append(Axis(number, line, bare_name(instruction), text, records, turns))
        # CH is written by rotations that are no Clifford gates.
        if gate.name == "CH" or any(_anticommute(a.text, b) for a in found for b in axes):
            raise NotImplementedError(
                f"Line {line}: `{bare_name(instruction)}`: a gate that a record controls before a DECODE must"
                " be a product of commuting rotations, as C_S, C_SQRT_X, C_SPP and CCZ are. Write it as"
                " several such gates."
            )
        yield from found


def _odd_quarter_turns(angles: Sequence[tuple[float, int]], num_records: int) -> npt.NDArray[np.bool_] | None:
    """Whether the sum of angles is an odd multiple of a quarter turn, by the records; None if it is none."""
    result = np.zeros(1 << num_records, dtype=np.bool_)
    for values in range(len(result)):
        total = sum(half_turns * (-1) ** ((mask & values).bit_count() % 2) for half_turns, mask in angles)
        quarters = 2 * total
        if abs(quarters - round(quarters)) > 1e-9:
            return None
        result[values] = round(quarters) % 2 == 1
    return result


def _anticommute(first: str, second: str) -> bool:
    letters = {factor[1:]: factor[0] for factor in first.split("*")}
    differing = [f for f in second.split("*") if letters.get(f[1:], f[0]) != f[0]]
    return len(differing) % 2 == 1
