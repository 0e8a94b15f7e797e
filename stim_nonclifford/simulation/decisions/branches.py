"""The static circuits of a circuit whose blocks records switch: one for each choice of blocks.

A block that is not executed is left out, with zeros in place of its records, and detectors that never fire.
Of attempts, the last one that is made has the last places. So all branches have the records and detectors of
the circuit, with the same numbers, and what comes before a choice is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import stim

from ...base.written_circuits import circuit_of
from ...dialect import Condition, condition_of_block, num_expectations
from ...dialect.feed_forward.blocks import condition_of_instruction, with_blocks_of_conditions


@dataclass(frozen=True)
class Choice:
    """A choice of a shot: whether it executes a block, or accepts an attempt.

    Attributes:
        line: The line of the block.
        terms: Records and whether their sum must be even, for each term. All must hold.
        taken: Whether they hold in this branch.
    """

    line: int
    terms: tuple[tuple[tuple[int, ...], bool], ...]
    taken: bool


@dataclass(frozen=True)
class Branch:
    """A circuit in which choices are taken.

    Attributes:
        circuit: The circuit, without blocks that records switch.
        lines: For each of its lines, that of the circuit whose branch it is.
        choices: Its choices, in order.
        absent: The numbers of the detectors that are not executed.
        values: For each expectation value, its number in this circuit, or -1 if it is not executed.
    """

    circuit: stim.Circuit
    lines: Sequence[int]
    choices: Sequence[Choice]
    absent: Sequence[int]
    values: Sequence[int]

    @property
    def name(self) -> str:
        """Its choices, by the lines of the blocks, for messages."""
        return ", ".join(f"line {each.line}: {'yes' if each.taken else 'no'}" for each in self.choices)

    @property
    def records(self) -> set[int]:
        """The records on which its choices depend."""
        return {record for choice in self.choices for records, _ in choice.terms for record in records}


def branch_of(circuit: stim.Circuit, taken: Sequence[bool]) -> Branch:
    r"""The branch whose first choices are given. Further blocks are not executed, and attempts are accepted.

    Args:
        circuit: A tagged circuit.
        taken: The first choices.

    Examples:
        >>> text = "M 0\nREPEAT[IF rec[-1\\C] 1 {\n    M 1\n}\nREPEAT[UNTIL rec[-1\\C] 2 {\n    MX 2\n}"
        >>> print(branch_of(stim.Circuit(text), [True]).circuit)
        M 0
        I
        M 1
        MPAD 0
        MX 2
        >>> [(choice.line, choice.taken) for choice in branch_of(stim.Circuit(text), [False]).choices]
        [(2, False), (5, True)]
    """
    writer = _Writer(taken)
    writer.add_parts(circuit, 1)
    for observable in range(writer.result.num_observables, circuit.num_observables):
        writer.append(stim.CircuitInstruction("OBSERVABLE_INCLUDE", [], [observable]), 0)
    assert writer.result.num_measurements == circuit.num_measurements
    assert writer.result.num_detectors == circuit.num_detectors
    return Branch(writer.result, writer.lines, writer.choices, writer.absent, writer.values)


def branches_of(circuit: stim.Circuit) -> Iterator[Branch]:
    r"""All branches of a circuit: a shot is of one of them.

    Examples:
        >>> text = "M 0\nREPEAT[IF rec[-1\\C] 1 {\n    M 1\n}\nREPEAT[UNTIL rec[-1\\C] 3 {\n    MX 2\n}"
        >>> for branch in branches_of(stim.Circuit(text)):
        ...     print(*("yes" if choice.taken else "no" for choice in branch.choices))
        no yes
        no no yes
        no no no
        yes yes
        yes no yes
        yes no no
    """
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        given = waiting.pop()
        branch = branch_of(circuit, given)
        yield branch
        taken = [choice.taken for choice in branch.choices]
        waiting += [(*taken[:k], not taken[k]) for k in range(len(given), len(taken))]


class _Writer:
    def __init__(self, taken: Sequence[bool]) -> None:
        self._taken = taken
        self.result = stim.Circuit()
        self.lines: list[int] = []
        self.choices: list[Choice] = []
        self.absent: list[int] = []
        self.values: list[int] = []
        self._num_values = 0
        self._records = self._detectors = 0  # of the result
        # Records of attempts that have moved, from a number on, with the distance; inner ones come later.
        self._moves: list[tuple[int, int]] = []

    # Places of records: numbers without the moves of attempts that are under way

    @property
    def _now(self) -> int:
        return self._records - sum(distance for _, distance in self._moves)

    def _place(self, record: int) -> int:
        """Where a record is that is counted without moves."""
        return record + sum(distance for first, distance in self._moves if record >= first)

    def append(self, part: stim.CircuitInstruction | stim.CircuitRepeatBlock, line: int) -> None:
        """Appends a part without switched blocks, whose records are given by their places."""
        single = circuit_of(part)
        if len(self.result) and len(circuit_of(self.result[-1]) + single) == 1:
            # Stim would make them one instruction, and one decision.
            self.result.append("I", [])
            self.lines.append(line)
        self.result += single
        size = _num_lines(single)
        self.lines += range(line, line + size)
        self._records += single.num_measurements
        self._detectors += single.num_detectors
        count = num_expectations(single)
        self.values += range(self._num_values, self._num_values + count)
        self._num_values += count

    def add_parts(self, circuit: stim.Circuit, line: int) -> None:
        """Adds the parts of a circuit whose first line is given."""
        for part, at in _with_lines(circuit, line):
            if isinstance(part, stim.CircuitRepeatBlock):
                self._add_block(part, at)
            elif condition_of_instruction(part) is not None:
                for block in with_blocks_of_conditions(circuit_of(part)):
                    assert isinstance(block, stim.CircuitRepeatBlock)
                    self._add_block(block, at, is_instruction=True)
            else:
                self.append(self._placed(part), at)

    def _placed(self, part: stim.CircuitInstruction) -> stim.CircuitInstruction:
        """An instruction whose records are looked up where they have moved to."""
        if not self._moves or not any(t.is_measurement_record_target for t in part.targets_copy()):
            return part
        now = self._now
        targets = [
            stim.target_rec(self._place(now + t.value) - self._records)
            if t.is_measurement_record_target and now + t.value >= 0
            else t
            for t in part.targets_copy()
        ]
        return stim.CircuitInstruction(part.name, targets, part.gate_args_copy(), tag=part.tag)

    def _add_block(self, block: stim.CircuitRepeatBlock, line: int, *, is_instruction: bool = False) -> None:
        body, condition = block.body_copy(), condition_of_block(block)
        inside = line if is_instruction else line + 1
        if condition is None:
            if not self._moves and not is_switched(body):
                self.append(block, line)
                return
            for _ in range(block.repeat_count):
                self.add_parts(body, inside)
        elif condition.word == "IF":
            if self._choose(condition, line):
                self.add_parts(body, inside)
            else:
                self._leave_out(body, 1)
        else:
            self._add_attempts(body, block.repeat_count, condition, line)

    def _add_attempts(self, body: stim.Circuit, most: int, condition: Condition, line: int) -> None:
        for attempt in range(1, most + 1):
            given = self._taken[len(self.choices) :]
            inner = _num_choices(body, given)
            is_last = attempt == most or (given[inner] if inner < len(given) else True)
            if not is_last:
                self.add_parts(body, line + 1)
                self._choose(condition, line)
                continue
            first, left = self._now, most - attempt
            self._leave_out(body, left)
            self._moves.append((first, left * body.num_measurements))
            self.add_parts(body, line + 1)
            if attempt < most:
                self._choose(condition, line, default=True)
            self._moves.pop()
            return

    def _choose(self, condition: Condition, line: int, *, default: bool = False) -> bool:
        number = len(self.choices)
        taken = self._taken[number] if number < len(self._taken) else default
        now = self._now
        terms = []
        for term in condition.terms:
            if now + min(term.records) < 0:
                raise ValueError(
                    f"Line {line}: `REPEAT[{condition}]`: there is no measurement record"
                    f" rec[{min(term.records)}] here; there have been {now} measurements."
                )
            terms.append((tuple(self._place(now + record) for record in term.records), term.inverted))
        self.choices.append(Choice(line, tuple(terms), taken))
        return taken

    def _leave_out(self, body: stim.Circuit, times: int) -> None:
        """Adds what stands for a block that is not executed: records, detectors, coordinates."""
        if body.num_measurements and times:
            pads = stim.CircuitInstruction("MPAD", [0] * (times * body.num_measurements))
            self.append(pads, 0)
        for _ in range(times):
            for part in _annotations(body):
                if part.name == "DETECTOR":
                    self.absent.append(self._detectors)
                self.append(part, 0)
        self.values += [-1] * (times * num_expectations(body))


def _annotations(body: stim.Circuit) -> Iterator[stim.CircuitInstruction]:
    """Detectors without records, and shifts of coordinates."""
    for part in body:
        if isinstance(part, stim.CircuitRepeatBlock):
            inner = list(_annotations(part.body_copy()))
            for _ in range(part.repeat_count):
                yield from inner
        elif part.name == "DETECTOR":
            yield stim.CircuitInstruction(part.name, [], part.gate_args_copy(), tag=part.tag)
        elif part.name == "SHIFT_COORDS":
            yield part


def is_switched(circuit: stim.Circuit) -> bool:
    """Whether records switch blocks, measurements or resets of a circuit."""
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            if condition_of_block(part) is not None or is_switched(part.body_copy()):
                return True
        elif condition_of_instruction(part) is not None:
            return True
    return False


def _num_choices(circuit: stim.Circuit, given: Sequence[bool]) -> int:
    """How many choices there are in a circuit if the first ones are given."""
    found = 0
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            found += _num_choices_of_block(part, given[found:])
        elif condition_of_instruction(part) is not None:
            found += len(with_blocks_of_conditions(circuit_of(part)))
    return found


def _num_choices_of_block(block: stim.CircuitRepeatBlock, given: Sequence[bool]) -> int:
    body, condition = block.body_copy(), condition_of_block(block)
    if condition is not None and condition.word == "IF":
        return 1 + (_num_choices(body, given[1:]) if given and given[0] else 0)
    found = 0
    for attempt in range(block.repeat_count):
        found += _num_choices(body, given[found:])
        if condition is None or attempt == block.repeat_count - 1:
            continue
        found += 1
        if found > len(given) or given[found - 1]:
            break
    return found


def _with_lines(
    circuit: stim.Circuit, line: int
) -> Iterator[tuple[stim.CircuitInstruction | stim.CircuitRepeatBlock, int]]:
    for part in circuit:
        yield part, line
        line += _num_lines(circuit_of(part))


def _num_lines(circuit: stim.Circuit) -> int:
    blocks = [part.body_copy() for part in circuit if isinstance(part, stim.CircuitRepeatBlock)]
    return len(circuit) + sum(_num_lines(body) + 1 for body in blocks)
