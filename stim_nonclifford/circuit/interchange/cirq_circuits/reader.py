"""Reads circuits of Cirq, moment by moment."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import stim

from ....base.errors import ResourceLimitError
from ..angles import Delays
from ..builder import CircuitBuilder, Literal, with_note
from ..steps import Gate, Step
from .channels import channel_lines, readout_arguments
from .conditions import bit_of
from .gates import cirq, stimcirq
from .unitaries import steps_of

_MOST_OPERATIONS = 10_000_000

Placed = tuple[Any, Literal]
"""An operation, and whether it happens."""


def read_cirq(circuit: Any, delays: Delays) -> stim.Circuit:
    """The circuit with tagged gates of a ``cirq.Circuit``."""
    if not isinstance(circuit, cirq.AbstractCircuit):
        raise TypeError(f"circuit must be a cirq.Circuit, but has type {type(circuit).__name__}.")
    for qubit in circuit.all_qubits():
        if qubit.dimension != 2:
            raise ValueError(f"{qubit!r} has {qubit.dimension} levels, and qubits have two here.")
    return _Reader(circuit, delays).builder.circuit()


class _Reader:
    def __init__(self, circuit: Any, delays: Delays) -> None:
        self.builder = CircuitBuilder()
        self._delays = delays
        self._operations_left = _MOST_OPERATIONS
        qubits = sorted(circuit.all_qubits())
        if all(isinstance(each, cirq.LineQubit) and each.x >= 0 for each in qubits):
            self._indices = {each: each.x for each in qubits}
        else:
            self._indices = {each: k for k, each in enumerate(qubits)}
        self.builder.new_qubits(max(self._indices.values(), default=-1) + 1)
        self._measured: dict[str, list[list[Literal]]] = {}
        for qubit in qubits:
            if isinstance(qubit, cirq.GridQubit):
                self.builder.append(f"QUBIT_COORDS({qubit.row}, {qubit.col}) {self._indices[qubit]}")
        for number, moment in enumerate(circuit):
            for k, layer in enumerate(self._layers(number, moment, True)):
                if k:
                    self.builder.barrier()
                for operation, holds in layer:
                    self._place(number, operation, holds)
            self.builder.barrier(", ".join(map(str, moment.tags)))

    def _layers(self, number: int, moment: Any, holds: Literal) -> Iterator[list[Placed]]:
        """The operations of a moment, with those of sub-circuits at the times at which they happen."""
        # Detectors act on no qubits, and may stand before the measurements of their moment.
        operations = sorted(moment, key=lambda each: not each.qubits)
        inner = [self._layers_of(number, each, holds) for each in operations]
        if sum(map(cirq.is_measurement, operations)) > 1:
            # One after another, so that records have Cirq's order.
            yield from itertools.chain.from_iterable(inner)
            return
        for layers in itertools.zip_longest(*inner, fillvalue=()):
            yield [placed for layer in layers for placed in layer]

    def _layers_of(self, number: int, operation: Any, holds: Literal) -> Iterator[list[Placed]]:
        plain, controls, tags = _unwrapped(operation)
        if not isinstance(plain, cirq.CircuitOperation):
            yield [(operation, holds)]
            return
        with _named(number, operation):
            if tags:
                raise ValueError(f"a sub-circuit is written out, and its tag {tags!r} has no place then.")
            if plain.repeat_until is not None:
                raise ValueError(
                    "it is repeated until a condition holds, and loops have a fixed length here."
                )
            if cirq.is_parameterized(plain):
                raise ValueError(_symbols(plain))
            self._operations_left -= abs(plain.repetitions)
            self._check_number()
            holds = self.builder.all_of([holds, *(self._bit(each) for each in controls)])
            once = plain.mapped_circuit()
        for moment in once:
            yield from self._layers(number, moment, holds)

    def _check_number(self) -> None:
        if self._operations_left < 0:
            raise ResourceLimitError(f"the circuit has more than {_MOST_OPERATIONS:,} operations.")

    def _place(self, number: int, operation: Any, holds: Literal) -> None:
        self._operations_left -= 1
        self._check_number()
        plain, controls, tag = _unwrapped(operation)
        with _named(number, operation):
            if cirq.is_parameterized(plain) and not isinstance(plain.gate, stimcirq.SweepPauli):
                raise ValueError(_symbols(plain))
            bits = [self._bit(each) for each in controls]
            with self.builder.condition(self.builder.all_of([holds, *bits])):
                self._execute(plain, tag)

    def _bit(self, condition: Any) -> Literal:
        return bit_of(condition, self._measured, self.builder)

    def _execute(self, operation: Any, tag: str) -> None:
        builder, gate = self.builder, operation.gate
        qubits = [self._indices[each] for each in operation.qubits]
        lines: list[str] | None = None
        kind = operation if gate is None else gate
        if type(kind).__module__.startswith("stimcirq") and hasattr(kind, "_stim_conversion_"):
            lines = self._annotations(operation)
        elif isinstance(gate, cirq.MeasurementGate):
            lines = _measurements(gate, qubits)
        elif isinstance(gate, cirq.PauliMeasurementGate):
            lines = [_measured_product(gate.observable(), qubits)]
        elif isinstance(gate, cirq.ResetChannel):
            lines = [f"R {' '.join(map(str, qubits))}"]
        elif isinstance(gate, cirq.WaitGate):
            lines = [self._delays.text(qubit, gate.duration.total_nanos(), "ns") for qubit in qubits]
        if lines is not None:
            self._append(operation, lines, tag)
            return
        steps = steps_of(operation, self._indices)
        if steps is not None:
            product = "" if builder.is_conditional else _product(operation, steps)
            if product:
                builder.append(with_note(product, tag))
            else:
                builder.apply(steps, tag)
            return
        is_channel = gate is not None and not isinstance(gate, cirq.ParallelGate)
        lines = channel_lines(gate, qubits) if is_channel else None
        if lines is not None:
            self._append(operation, lines, tag)
            return
        parts = cirq.decompose_once(operation, default=None)
        if parts is None:
            raise ValueError("it has no counterpart here, and Cirq does not decompose it.")
        for part in parts:
            inner, controls, inner_tag = _unwrapped(part)
            with builder.condition(builder.all_of([self._bit(each) for each in controls])):
                self._execute(inner, inner_tag or tag)

    def _append(self, operation: Any, lines: Sequence[str], tag: str) -> None:
        records = [bit for line in lines for bit in self.builder.append(with_note(line, tag))]
        if records:
            # stimcirq's own measurements have a key that Cirq does not know.
            names = cirq.measurement_key_names(operation) or {str(operation.gate.key)}
            for name in names:
                self._measured.setdefault(name, []).append(records)

    def _annotations(self, operation: Any) -> list[str]:
        """What stimcirq makes of its own operations."""
        if isinstance(operation, stimcirq.DetAnnotation | stimcirq.CumulativeObservableAnnotation):
            operation = self._with_relative_keys(operation)
        written = stimcirq.cirq_circuit_to_stim_circuit(
            cirq.Circuit(operation), qubit_to_index_dict=self._indices
        )
        return [str(part) for part in written if part.name not in ("TICK", "QUBIT_COORDS")]

    def _with_relative_keys(self, operation: Any) -> Any:
        """A detector or an observable with records counted from its place, in place of keys."""
        records = set(operation.relative_keys)
        for key in operation.parity_keys:
            if key not in self._measured:
                raise ValueError(f"nothing before it was measured with the key {key}.")
            records ^= {self.builder.relative(record) for record in self._measured[key][-1]}
        if isinstance(operation, stimcirq.DetAnnotation):
            return stimcirq.DetAnnotation(
                relative_keys=records, coordinate_metadata=operation.coordinate_metadata
            )
        return stimcirq.CumulativeObservableAnnotation(
            relative_keys=records,
            pauli_keys=operation.pauli_keys,
            observable_index=operation.observable_index,
        )


@contextmanager
def _named(number: int, operation: Any) -> Iterator[None]:
    """Says in messages which operation is meant."""
    try:
        yield
    except ResourceLimitError as error:
        raise ResourceLimitError(f"Moment {number}, `{operation}`: {error}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"Moment {number}, `{operation}`: {error}") from None


def _unwrapped(operation: Any) -> tuple[Any, list[Any], str]:
    """An operation without tags and classical controls; these; and the text of its tags."""
    controls: list[Any] = []
    tags: list[str] = []
    while True:
        if isinstance(operation, cirq.TaggedOperation):
            # Noise models mark the operations that they add, which is no note of the user.
            tags += [str(tag) for tag in operation.tags if not isinstance(tag, cirq.VirtualTag)]
            operation = operation.sub_operation
        elif isinstance(operation, cirq.ClassicallyControlledOperation):
            controls += operation.classical_controls
            operation = operation.without_classical_controls()
        else:
            return operation, controls, ", ".join(tags)


def _symbols(operation: Any) -> str:
    names = ", ".join(sorted(cirq.parameter_names(operation)))
    return f"the symbols {names} have no values. Write cirq.resolve_parameters(circuit, {{...}}) first."


def _measurements(gate: Any, qubits: Sequence[int]) -> list[str]:
    arguments = readout_arguments(gate.confusion_map, len(qubits))
    measured = zip(qubits, gate.full_invert_mask(), arguments, strict=True)
    return [f"M{noise} {'!' if inverted else ''}{qubit}" for qubit, inverted, noise in measured]


def _measured_product(observable: Any, qubits: Sequence[int]) -> str:
    letters = ["IXYZ"[k] for k in observable.pauli_mask]
    sign = "!" if observable.coefficient == -1 else ""
    if len(qubits) == 1:
        return f"M{letters[0]} {sign}{qubits[0]}".replace("MZ", "M")
    product = "*".join(f"{letter}{qubit}" for letter, qubit in zip(letters, qubits, strict=True))
    return f"MPP {sign}{product}"


def _product(operation: Any, steps: Sequence[Step] | None) -> str:
    """The text of a product of Paulis whose rotation has a name; empty if it has none."""
    if not isinstance(operation, cirq.PauliStringPhasor) or not steps:
        return ""
    [gate] = steps
    assert isinstance(gate, Gate)
    name = {0.5: "SPP", 1.5: "SPP_DAG", 0.25: "TPP", 1.75: "TPP_DAG"}.get(gate.angles[0] % 2)
    factors = zip(gate.paulis, gate.qubits, strict=True)
    return f"{name} {'*'.join(f'{pauli}{qubit}' for pauli, qubit in factors)}" if name else ""
