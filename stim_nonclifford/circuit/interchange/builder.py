"""Circuit text, gate by gate, with classical bits and conditions.

A bit of another language is a record here, or a constant if it was never measured. A condition on one bit
becomes a gate that a record controls. Where a gate is applied if a bit is 0, it is applied always, and undone
if the bit is 1. A condition on several bits is computed on an ancilla, whose measurement is one more record.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import stim

from ...dialect import parse
from .steps import Gate, Phase, Step, inverse, text_of


@dataclass(frozen=True, slots=True)
class Record:
    """A record, or its opposite."""

    index: int
    negated: bool = False


_LINES_AT_ONCE = 100_000

Literal = bool | Record
"""A classical bit: a constant, or a record."""


def not_(bit: Literal) -> Literal:
    """The opposite of a bit."""
    return (not bit) if isinstance(bit, bool) else Record(bit.index, not bit.negated)


_MOST_RECORDS = 10

_NAME = re.compile(r"\w+")
_ESCAPES = str.maketrans({"\\": r"\B", "]": r"\C", "\n": r"\n", "\r": r"\r"})


def with_note(line: str, note: str) -> str:
    r"""A line of circuit text with a note.

    Examples:
        >>> with_note("X 0", "first]"), with_note("M(0.1) !0", "")
        ('X[first\\C] 0', 'M(0.1) !0')
    """
    if not note:
        return line
    text = _NAME.sub(lambda name: f"{name[0]}[{note.translate(_ESCAPES)}]", line, count=1)
    try:
        parse(text)
    except ValueError:
        raise ValueError(
            f"it becomes `{line}` here, which cannot have its tag {note!r}. Remove the tag, or put it on"
            " another operation."
        ) from None
    return text


class CircuitBuilder:
    """Writes a circuit.

    Examples:
        >>> builder = CircuitBuilder()
        >>> [first, second] = builder.new_qubits(2)
        >>> builder.apply([Gate("H", (first,))])
        >>> outcome = builder.measure(first)
        >>> with builder.condition(outcome):
        ...     builder.apply([Gate("T", (second,))])
        >>> print(builder.circuit())
        H 0
        M 0
        CZ[CT] rec[-1] 1
    """

    def __init__(self) -> None:
        self.num_qubits = 0
        self._lines: list[str] = []
        self._num_records = 0
        self._conditions: list[Literal] = [True]
        self._ancilla: int | None = None
        self._finished = stim.Circuit()

    def new_qubits(self, count: int) -> list[int]:
        """Qubits that the circuit has not used yet."""
        first, self.num_qubits = self.num_qubits, self.num_qubits + count
        return list(range(first, first + count))

    def circuit(self) -> stim.Circuit:
        """The circuit with tagged gates."""
        self._flush()
        circuit = self._finished
        if circuit.num_qubits < self.num_qubits:
            circuit.append("I", [self.num_qubits - 1])  # so that the number of qubits is kept
        return circuit

    def _flush(self, most_lines: int = 0) -> None:
        """Reads the lines if there are many, since an instruction takes less memory than its text."""
        if len(self._lines) <= most_lines:
            return
        self._finished += parse("\n".join(self._lines))
        self._lines.clear()

    def apply(self, steps: Sequence[Step], tag: str = "") -> None:
        """Applies a unitary, under the conditions that hold."""
        condition = self._conditions[-1]
        if condition is False:
            return
        self._flush(_LINES_AT_ONCE)
        gates = [step for step in steps if not isinstance(step, Phase)]
        record, lines = "", []
        if isinstance(condition, Record):
            lines = [text_of(gate) for gate in gates if gate.name == "I"]
            gates = [gate for gate in gates if gate.name != "I"]
            record = self._target(condition)
            if condition.negated:
                lines += [text_of(gate) for gate in gates]
                gates = [step for step in inverse(gates) if isinstance(step, Gate)]
        lines += [text_of(gate, record) for gate in gates]
        self._lines += [with_note(line, tag) for line in lines] if tag else lines

    def measure(self, qubit: int, *, inverted: bool = False) -> Literal:
        """Measures a qubit."""
        self._check_no_condition("a measurement", "Measure always, and use the record where it counts.")
        return self._measured(qubit, inverted)

    def append(self, text: str) -> list[Literal]:
        """Appends circuit text as it is."""
        self._check_no_condition("this operation", "Only gates can be.")
        first, self._num_records = self._num_records, self._num_records + parse(text).num_measurements
        self._lines.append(text)
        return [Record(k) for k in range(first, self._num_records)]

    def relative(self, bit: Literal) -> int:
        """The number of a record, counted back from here: -1 is the last one."""
        assert isinstance(bit, Record)
        return bit.index - self._num_records

    def reset(self, qubits: Sequence[int]) -> None:
        """Resets qubits."""
        self._check_no_condition("a reset", "Measure the qubit, and flip it if both bits are 1.")
        if qubits:
            self._lines.append(f"R {' '.join(map(str, qubits))}")

    @property
    def is_conditional(self) -> bool:
        """Whether a condition holds."""
        return self._conditions[-1] is not True

    def barrier(self, note: str = "") -> None:
        """A barrier between all qubits: a TICK."""
        self._lines.append(with_note("TICK", note))

    @contextmanager
    def condition(self, bit: Literal) -> Iterator[None]:
        """Gates inside are applied only if a bit is 1, and what holds outside."""
        outer = self._conditions[-1]
        self._conditions.append(True)
        both = self.all_of([outer, bit])
        self._conditions[-1] = both
        try:
            yield
        finally:
            self._conditions.pop()

    def all_of(self, bits: Sequence[Literal]) -> Literal:
        """Whether all bits are 1."""
        records = list(dict.fromkeys(bit for bit in bits if not isinstance(bit, bool)))
        if not all(bit for bit in bits if isinstance(bit, bool)):
            return False
        if any(not_(record) in records for record in records):
            return False
        found: Literal = records[0] if records else True
        for record in records[1:]:
            assert isinstance(found, Record)
            found = self._product(found, record)
        return found

    def parity_of(self, bits: Sequence[Literal]) -> Literal:
        """Whether an odd number of bits is 1."""
        negated = sum(bit if isinstance(bit, bool) else bit.negated for bit in bits) % 2 == 1
        odd: dict[int, None] = {}
        for bit in bits:
            if isinstance(bit, Record):
                odd.pop(bit.index) if bit.index in odd else odd.setdefault(bit.index)
        if len(odd) < 2:
            return Record(next(iter(odd)), negated) if odd else negated
        ancilla = self._cleared_ancilla()
        self._lines += [f"CX {self._target(Record(index))} {ancilla}" for index in odd]
        found = self._measured(ancilla)
        return Record(found.index, negated)

    def function_of(self, bits: Sequence[Literal], function: Callable[[Sequence[bool]], bool]) -> Literal:
        """Any function of bits, as the parity of products of some of them."""
        records = list(dict.fromkeys(bit.index for bit in bits if isinstance(bit, Record)))
        if len(records) > _MOST_RECORDS:
            raise ValueError(
                f"the condition depends on {len(records)} records, and those on more than {_MOST_RECORDS} are"
                " not computed. Split it into conditions on fewer bits."
            )

        def value(chosen: Sequence[bool]) -> bool:
            of_record = dict(zip(records, chosen, strict=True))
            return function(
                [bit if isinstance(bit, bool) else of_record[bit.index] != bit.negated for bit in bits]
            )

        table = {chosen: value(chosen) for chosen in itertools.product((False, True), repeat=len(records))}
        for holds in (True, False):
            rows = [chosen for chosen, found in table.items() if found is holds]
            if len(rows) < 2:
                literals = [Record(k, not bit) for row in rows for k, bit in zip(records, row, strict=True)]
                product = self.all_of(literals) if rows else False
                return product if holds else not_(product)
        # Each product has the parity of the values where all other bits are 0 (Reed-Muller).
        terms: list[Literal] = []
        for chosen in table:
            below = [each for each in table if all(a <= b for a, b in zip(each, chosen, strict=True))]
            if sum(table[each] for each in below) % 2:
                terms.append(self.all_of([Record(k) for k, bit in zip(records, chosen, strict=True) if bit]))
        return self.parity_of(terms)

    def _product(self, first: Record, second: Record) -> Record:
        """(a + s)(b + t) = ab + at + bs + st (mod 2) on an ancilla."""
        a, b, ancilla = self._target(first), self._target(second), self._cleared_ancilla()
        self._lines.append(f"CCX {a} {b} {ancilla}")
        if second.negated:
            self._lines.append(f"CX {a} {ancilla}")
        if first.negated:
            self._lines.append(f"CX {b} {ancilla}")
        if first.negated and second.negated:
            self._lines.append(f"X {ancilla}")
        return self._measured(ancilla)

    def _cleared_ancilla(self) -> int:
        if self._ancilla is None:
            [self._ancilla] = self.new_qubits(1)
        self._lines.append(f"R {self._ancilla}")
        return self._ancilla

    def _measured(self, qubit: int, inverted: bool = False) -> Record:
        self._lines.append(f"M {'!' if inverted else ''}{qubit}")
        self._num_records += 1
        self._flush(_LINES_AT_ONCE)
        return Record(self._num_records - 1)

    def _target(self, record: Record) -> str:
        return f"rec[{self.relative(record)}]"

    def _check_no_condition(self, what: str, advice: str) -> None:
        if self.is_conditional:
            raise ValueError(f"{what} cannot be conditional. {advice}")
