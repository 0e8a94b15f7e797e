"""Leakage and loss as events of an error model: each is one qubit that leaves at one place until it returns.

While a qubit is away, it mixes its partners completely, and its own outcomes. So what an event flips is a
uniformly random element of a group, which the Paulis X and Z at these places generate, and its heralds
announce it. An error model can say that with an error for each element, each as likely as the others. Errors
that are independent at each place, of the same rates, would flip detectors several times as often.

Two events together, and that a qubit cannot leave when it is away, are of second order.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import xor

import stim

from ...base.written_circuits import circuit_of, instructions_in
from ...dialect import leakage_of, without_noise
from ...simulation.compiler.algebra.gf2 import independent, ones
from ...simulation.compiler.error_models import decomposed, parts_of, targets_of
from ...simulation.compiler.program.leakage_steps import is_leakage_model, leakage_models
from ...simulation.compiler.program.loops import unrolled
from .channels import has_interrupted_chain
from .leakage import averaged_over_states, has_leakage, parts_with_qubits

_MOST_GENERATORS = 5
"""Larger groups have a subgroup with so many generators in their place, that flips each output as often."""

_MOST_MARKS = 256
"""After so many marks a qubit that is still away is an event of its own, so that models grow linearly."""

_CHECK_LENGTH = 4
"""A check that may report a qubit which is there is so many instructions, as DeviceNoise writes it."""

_PAIR = 2
_LARGEST = 1 - 1e-9
"""The probability of an event that is certain."""

_RARE = 1e-3
"""What heralds report less likely than this, given the event, is left out."""


@dataclass(frozen=True)
class _Mark:
    """A place at which a qubit is mixed, or at which the record of a herald (``qubit``: None) is flipped."""

    qubit: int | None


@dataclass(frozen=True)
class _Leave:
    probability: float  # if it is computational before
    is_loss: bool
    was_there: float  # the probability of that


@dataclass(frozen=True)
class _Return:
    leaked: float  # the probability that it returns if it is leaked
    lost: float
    mark: int | None


@dataclass(frozen=True)
class _Herald:
    mark: int
    probability: float
    of_loss: bool


_Item = int | _Leave | _Return | _Herald  # a number is that of a mark


@dataclass(frozen=True)
class LeakageEvent:
    """A qubit is away.

    Attributes:
        probability: Its probability.
        marks: The marks at which qubits are mixed.
        heralds: The marks of the heralds that report it.
        period: Its period. Of the events of one qubit from one return to the next, at most one happens.
    """

    period: tuple[int, int]
    probability: float
    marks: tuple[int, ...]
    heralds: tuple[int, ...]


@dataclass
class _Branch:
    is_lost: bool
    weight: float
    marks: list[int] = field(default_factory=list)
    heralds: list[int] = field(default_factory=list)

    def copy(self, weight: float) -> _Branch:
        return _Branch(self.is_lost, weight, list(self.marks), list(self.heralds))


class LeakageEvents:
    """The events of a tagged circuit with leakage or loss, and the circuit without these."""

    def __init__(self, circuit: stim.Circuit) -> None:
        instructions = list(averaged_over_states(unrolled(circuit)))
        self._replacements = leakage_models(instructions).replacements
        self._num_qubits = circuit.num_qubits
        self._parts: list[stim.CircuitInstruction | int] = []
        self._marks: list[_Mark] = []
        self._items: dict[int, list[_Item]] = {}  # by qubit, since it was certainly computational
        self._leaked: dict[int, float] = {}  # by qubit, the probability that it is leaked
        self._lost: dict[int, float] = {}
        self._marks_of: dict[int, int] = {}  # by qubit, their number in its items
        self._looked_at: dict[int, int] = {}  # by qubit that a check looks at, the qubit that it is about
        self.events: list[LeakageEvent] = []
        for k, instruction in enumerate(instructions):
            self._looked_at |= _check_at(instructions[k : k + _CHECK_LENGTH])
            self._add(instruction)
        for qubit in list(self._items):
            self._close(qubit)

    def without_leakage(self) -> stim.Circuit:
        """The circuit in which no qubit is leaked or lost. Heralds are records that are 0."""
        result = stim.Circuit()
        for part in self._parts:
            if isinstance(part, stim.CircuitInstruction):
                result.append(part)
            elif self._marks[part].qubit is None:
                result.append("MPAD", [0])
        return result

    def model(
        self, model_of: Callable[[stim.Circuit], stim.DetectorErrorModel], decompose_errors: bool
    ) -> stim.DetectorErrorModel:
        """The errors of the events; ``model_of`` returns the model of a circuit, not decomposed."""
        flips = self._flips(model_of)
        known: dict[tuple[int, ...], list[int]] = {}
        totals: dict[tuple[tuple[int, int], int], float] = {}
        for event in self.events:
            place = event.period, self._heralds_of(event, flips)
            totals[place] = totals.get(place, 0.0) + event.probability
        exponents: dict[tuple[tuple[int, ...], int], float] = {}  # by generators and heralds
        for event in self.events:
            heralds = self._heralds_of(event, flips)
            if event.marks not in known:
                known[event.marks] = independent([mask for mark in event.marks for mask in flips[mark]])
            key = tuple(known[event.marks]), heralds
            share = event.probability / totals[event.period, heralds]
            total = min(totals[event.period, heralds], _LARGEST)
            # Outputs are flipped by half of the elements, and heralds by all: these are a little too rare.
            exponents[key] = exponents.get(key, 0.0) - 2 * share * math.log1p(-total)
        masks = sorted({mask for generators, _ in exponents for mask in generators})
        parts = self._parts_of(masks) if decompose_errors else {mask: [mask] for mask in masks}
        result = stim.DetectorErrorModel()
        for (generators, heralds), exponent in exponents.items():
            elements = list(_elements(generators))
            probability = -math.expm1(-exponent / len(elements)) / 2
            for chosen in elements:
                if decompose_errors:
                    flipped: dict[int, bool] = {}
                    for mask in chosen:
                        for part in parts[mask]:
                            flipped[part] = not flipped.get(part, False)
                    found = [part for part, odd in flipped.items() if odd]
                    found += [1 << k for k in ones(heralds)]
                else:
                    found = [reduce(xor, chosen, 0) ^ heralds]
                targets = targets_of([self._targets(part) for part in found if part])
                if targets:
                    result.append("error", probability, targets)
        return result

    def _heralds_of(self, event: LeakageEvent, flips: Sequence[Sequence[int]]) -> int:
        """What the heralds flip that report an event."""
        return reduce(xor, (flips[mark][0] for mark in event.heralds), 0)

    def _targets(self, mask: int) -> list[stim.DemTarget]:
        return [
            stim.target_relative_detector_id(k)
            if k < self._num_detectors
            else stim.target_logical_observable_id(k - self._num_detectors)
            for k in ones(mask)
        ]

    def _mask(self, targets: Sequence[stim.DemTarget]) -> int:
        return sum(
            1 << (t.val + (0 if t.is_relative_detector_id() else self._num_detectors)) for t in targets
        )

    def _flips(self, model_of: Callable[[stim.Circuit], stim.DetectorErrorModel]) -> list[list[int]]:
        """What X and Z at each mark flip: masks of detectors and observables."""
        circuit = stim.Circuit()
        flags: list[int] = []  # the marks of errors, each of which flips a detector of its own
        flag = self._num_qubits
        for part in self._parts:
            if isinstance(part, stim.CircuitInstruction):
                circuit += without_noise(circuit_of(part))
                continue
            qubit = self._marks[part].qubit
            for pauli in "XZ" if qubit is not None else "X":
                targets = [stim.target_x(flag + 1 + len(flags))]
                place = flag if qubit is None else qubit
                circuit.append("E", [stim.target_pauli(place, pauli), *targets], 0.125)
                flags.append(part)
            if qubit is None:
                circuit.append("MR", [flag])
        self._num_detectors = circuit.num_detectors
        for k in range(len(flags)):
            circuit.append("M", [flag + 1 + k])
            circuit.append("DETECTOR", [stim.target_rec(-1)])
        masks = [0] * len(flags)
        for error in model_of(circuit).flattened():
            if error.type != "error":
                continue
            targets = [t for part in parts_of(error) for t in part]
            own = [t.val - self._num_detectors for t in targets if self._is_flag(t)]
            if len(own) == 1:
                masks[own[0]] = self._mask([t for t in targets if not self._is_flag(t)])
        found: list[list[int]] = [[] for _ in self._marks]
        for k, part in enumerate(flags):
            found[part].append(masks[k])
        return found

    def _is_flag(self, target: stim.DemTarget) -> bool:
        return target.is_relative_detector_id() and target.val >= self._num_detectors

    def _parts_of(self, masks: Sequence[int]) -> dict[int, list[int]]:
        """The edges of each mask, as Stim decomposes these errors."""
        model = stim.DetectorErrorModel()
        for mask in masks:
            model.append("error", 0.01, self._targets(mask))
        found: dict[int, list[int]] = {}
        for error in decomposed(model, ignore_decomposition_failures=True):
            if error.type == "error":
                parts = [self._mask(list(part)) for part in parts_of(error)]
                found[reduce(xor, parts, 0)] = parts
        return {mask: found.get(mask, [mask]) for mask in masks}

    def _add(self, instruction: stim.CircuitInstruction) -> None:
        channel = leakage_of(instruction)
        if channel is not None:
            if channel.name == "LEAKAGE_SPREAD":
                for a, b in instruction.target_groups():
                    self._spread(a.value, b.value, *channel.values)
            elif not is_leakage_model(channel):
                (p,) = channel.values or (1.0,)
                for target in instruction.targets_copy():
                    self._change(channel.name, target.value, p)
            return
        data = stim.gate_data(instruction.name)
        passes = not (data.is_unitary or data.is_reset or data.produces_measurements)
        if passes or instruction.name.startswith("HERALDED") or instruction.name == "MPAD":
            self._parts.append(instruction)
            return
        for part, qubits in parts_with_qubits(instruction):
            if data.produces_measurements:
                for qubit in qubits:
                    self._mix(qubit, [qubit])
            self._parts.append(part)
            for qubit in qubits:
                if data.is_reset:
                    self._looked_at.pop(qubit, None)
                    self._returns(qubit, 1.0, self._replacements.get(qubit, 1.0), None)
                self._mix(qubit, [other for other in qubits if other != qubit])

    def _mark(self, qubit: int | None) -> int:
        self._marks.append(_Mark(qubit))
        self._parts.append(len(self._marks) - 1)
        return len(self._marks) - 1

    def _mix(self, qubit: int, causes: Sequence[int]) -> None:
        causes = [cause for cause in causes if cause in self._items]
        if causes:
            mark = self._mark(qubit)
            for cause in causes:
                self._items[cause].append(mark)
                self._marks_of[cause] = self._marks_of.get(cause, 0) + 1
                if self._marks_of[cause] >= _MOST_MARKS:
                    self._cut(cause)

    def _change(self, name: str, qubit: int, p: float) -> None:
        leaked, lost = self._leaked.get(qubit, 0.0), self._lost.get(qubit, 0.0)
        if name.startswith("HERALD"):
            mark = self._mark(None)
            for away in (qubit, self._looked_at.get(qubit)):
                if away is not None and away in self._items:
                    self._items[away].append(_Herald(mark, 1 - p, "LOSS" in name))
        elif name in ("RELAX", "RL"):
            if qubit in self._items:
                self._returns(qubit, p, 0.0, self._mark(qubit))
        elif p > 0:
            is_loss = name == "LOSS"
            self._items.setdefault(qubit, []).append(_Leave(p, is_loss, 1 - leaked - lost))
            if is_loss:
                self._leaked[qubit], self._lost[qubit] = leaked * (1 - p), lost + (1 - lost) * p
            else:
                self._leaked[qubit] = leaked + (1 - leaked - lost) * p

    def _spread(self, first: int, second: int, s01: float, s10: float, m01: float, m10: float) -> None:
        """What leaks by its partner is an event of its own."""
        if self._looked_at.get(second) == first:  # its herald reports the events of the first one
            return
        for source, partner, spread, move in ((first, second, s01, m01), (second, first, s10, m10)):
            for probability, moves in ((spread, False), (move, True)):
                there = self._leaked.get(source, 0.0)
                if moves and probability and source in self._items:
                    gone = self._leaked.get(partner, 0.0) + self._lost.get(partner, 0.0)
                    self._returns(source, probability * (1 - gone), 0.0, self._mark(source))
                self._change("LEAKAGE", partner, there * probability)

    def _returns(self, qubit: int, leaked: float, lost: float, mark: int | None) -> None:
        if qubit not in self._items:
            return
        self._items[qubit].append(_Return(leaked, lost, mark))
        self._leaked[qubit] = self._leaked.get(qubit, 0.0) * (1 - leaked)
        self._lost[qubit] = self._lost.get(qubit, 0.0) * (1 - lost)
        if not self._leaked[qubit] and not self._lost[qubit]:
            self._close(qubit)

    def _cut(self, qubit: int) -> None:
        """Ends the events of a qubit, and starts others if it is still away."""
        self._close(qubit)
        self._items[qubit] = [
            _Leave(self._leaked.get(qubit, 0.0), False, 1.0),
            _Leave(self._lost.get(qubit, 0.0), True, 1.0),
        ]

    def _close(self, qubit: int) -> None:
        """Turns what is known of a qubit into events."""
        items = self._items.pop(qubit)
        self._marks_of.pop(qubit, None)
        for k, item in enumerate(items):
            if isinstance(item, _Leave) and item.probability * item.was_there > 0:
                self.events += _events_from(item, items[k + 1 :], (qubit, len(self._parts)))


def _check_at(instructions: Sequence[stim.CircuitInstruction]) -> dict[int, int]:
    """The qubit that a check looks at, with the qubit that it is about, if these instructions are a check.

    It leaks for certain if the other one is leaked, perhaps by itself, then its herald follows, and a reset.
    """
    if len(instructions) < _CHECK_LENGTH:
        return {}
    spread, leak, herald = (leakage_of(part) for part in instructions[:-1])
    names = [each and each.name for each in (spread, leak, herald)]
    targets = [part.targets_copy() for part in instructions]
    if names != ["LEAKAGE_SPREAD", "LEAKAGE", "HERALD_LEAKAGE_EVENT"] or instructions[-1].name != "R":
        return {}
    assert spread is not None
    own = targets[0][-1]
    is_check = len(targets[0]) == _PAIR and all(each == [own] for each in targets[1:])
    return {own.value: targets[0][0].value} if is_check and spread.values == (1, 0, 0, 0) else {}


def _events_from(start: _Leave, items: Sequence[_Item], period: tuple[int, int]) -> Iterator[LeakageEvent]:
    """The events in which a qubit leaves at a place."""
    probability = start.probability * start.was_there
    branches = [_Branch(start.is_loss, 1.0)]

    def event(branch: _Branch, weight: float) -> LeakageEvent:
        return LeakageEvent(period, probability * weight, tuple(branch.marks), tuple(branch.heralds))

    for item in items:
        if isinstance(item, int):
            for branch in branches:
                branch.marks.append(item)
        elif isinstance(item, _Return):
            for branch in branches:
                p = item.lost if branch.is_lost else item.leaked
                if p > 0:
                    back = branch.copy(branch.weight * p)
                    back.marks += [] if item.mark is None else [item.mark]
                    yield event(back, back.weight)
                    branch.weight *= 1 - p
            branches = [branch for branch in branches if branch.weight > 0]
        else:
            for branch in list(branches):
                if isinstance(item, _Herald):
                    p = item.probability if item.of_loss == branch.is_lost else 0.0
                else:
                    p = item.probability if item.is_loss and not branch.is_lost else 0.0
                p = 0.0 if p * branch.weight < _RARE else 1.0 if (1 - p) * branch.weight < _RARE else p
                other = branch if p == 1 else branch.copy(branch.weight * p)
                if isinstance(item, _Herald):
                    other.heralds += [item.mark] if p else []
                else:
                    other.is_lost = other.is_lost or p > 0
                if 0 < p < 1:
                    branch.weight *= 1 - p
                    branches.append(other)
        if not branches:
            return
    for branch in branches:
        yield event(branch, branch.weight)


def can_be_events(circuit: stim.Circuit) -> bool:
    """Whether leakage of a circuit mixes all partners completely, so that it has ``LeakageEvents``."""
    return has_leakage(circuit) and not (
        has_interrupted_chain(circuit) or leakage_models(instructions_in(circuit)).partners
    )


def _elements(generators: Sequence[int]) -> Iterator[list[int]]:
    """Elements of the group, as lists of generators: all, or those of a subgroup.

    The subgroup flips each output that the group flips, and so do half of its elements.
    """
    size = min(len(generators), _MOST_GENERATORS)
    columns = _columns(generators, size)
    for chosen in range(1 << size):
        yield [
            mask
            for mask, column in zip(generators, columns, strict=True)
            if (chosen & column).bit_count() & 1
        ]


def _columns(generators: Sequence[int], size: int) -> list[int]:
    """For each generator, on which generators of the subgroup it depends.

    An output is flipped by the sum of the columns of its generators. The last one is chosen so that this is
    not 0.
    """
    if len(generators) == size:
        return [1 << k for k in range(size)]
    rng = random.Random(0)
    outputs = [ones(mask) for mask in generators]
    last = {bit: k for k, bits in enumerate(outputs) for bit in bits}
    sums = dict.fromkeys(last, 0)
    columns = []
    for k, bits in enumerate(outputs):
        forbidden = {sums[bit] for bit in bits if last[bit] == k}
        allowed = [column for column in range(1, 1 << size) if column not in forbidden]
        columns.append(rng.choice(allowed or [1]))
        for bit in bits:
            sums[bit] ^= columns[-1]
    return columns
