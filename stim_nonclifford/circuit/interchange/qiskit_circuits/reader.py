"""Reads circuits of Qiskit, by the types of their operations. Global phases are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import stim

from ..angles import Delays
from ..builder import CircuitBuilder, Literal, not_
from .conditions import Conditions
from .gates import ADVICE, qiskit, steps_of

__all__ = ["read_qiskit"]


def read_qiskit(circuit: Any, delays: Delays) -> stim.Circuit:
    """The circuit with tagged gates of a ``qiskit.QuantumCircuit``.

    Raises:
        TypeError: It is no ``QuantumCircuit``.
        ValueError: Something has no counterpart; the message names the operation.
    """
    if not isinstance(circuit, qiskit.QuantumCircuit):
        raise TypeError(f"circuit must be a qiskit.QuantumCircuit, but has type {type(circuit).__name__}.")
    if circuit.parameters:
        names = ", ".join(sorted(each.name for each in circuit.parameters))
        raise ValueError(f"The parameters {names} have no values. Write circuit.assign_parameters first.")
    reader = _Reader(circuit, delays)
    try:
        reader.run(
            circuit,
            dict(zip(circuit.qubits, reader.builder.new_qubits(circuit.num_qubits), strict=True)),
            {bit: bit for bit in circuit.clbits},
        )
    except _Located as error:
        text = str(error)
        raise ValueError(text[0].upper() + text[1:]) from None
    return reader.builder.circuit()


class _Reader:
    """Walks through circuits and the blocks in them. Bits are those of the whole circuit."""

    def __init__(self, circuit: Any, delays: Delays) -> None:
        self.builder = CircuitBuilder()
        self._delays = delays
        # Bits are 0 at the beginning.
        self._conditions = Conditions(self.builder, dict.fromkeys(circuit.clbits, False))

    def run(self, circuit: Any, qubits: Mapping[Any, int], outer_bits: Mapping[Any, Any]) -> None:
        """Runs a circuit or a block."""
        for number, instruction in enumerate(circuit.data):
            operation = instruction.operation
            where = f"instruction {number}, {operation.name}:"
            try:
                self._execute(
                    operation,
                    [qubits[each] for each in instruction.qubits],
                    [outer_bits[each] for each in instruction.clbits],
                    outer_bits,
                )
            except _Located as error:
                raise _Located(f"{where} in it {error}") from None
            except (ValueError, NotImplementedError, TypeError) as error:
                raise _Located(f"{where} {error}") from None

    def _run_block(self, block: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        self.run(
            block, dict(zip(block.qubits, qubits, strict=True)), dict(zip(block.clbits, bits, strict=True))
        )

    def _execute(
        self, operation: Any, qubits: Sequence[int], bits: Sequence[Any], outer_bits: Mapping[Any, Any]
    ) -> None:
        builder, kinds = self.builder, qiskit.circuit
        if getattr(operation, "condition", None) is not None and not isinstance(
            operation, kinds.ControlFlowOp
        ):
            raise ValueError("c_if has no counterpart here. Write `with circuit.if_test(...)`.")
        if isinstance(operation, kinds.Measure):
            self._conditions.bits[bits[0]] = builder.measure(qubits[0])
        elif isinstance(operation, kinds.Reset):
            builder.reset(qubits)
        elif isinstance(operation, kinds.Barrier):
            builder.barrier()
        elif isinstance(operation, kinds.Delay):
            self._delay(operation, qubits)
        elif isinstance(operation, kinds.ControlFlowOp):
            self._control_flow(operation, qubits, bits, outer_bits)
        elif isinstance(operation, kinds.Gate | kinds.AnnotatedOperation):
            builder.apply(steps_of(operation, qubits))
        elif getattr(operation, "definition", None) is not None:
            self._run_block(operation.definition, qubits, bits)
        elif hasattr(operation, "to_matrix"):  # an operation that is none of Qiskit's gates, such as Clifford
            matrix = qiskit.circuit.library.UnitaryGate(operation.to_matrix())
            builder.apply(steps_of(matrix, qubits))
        else:
            raise ValueError(f"it has no counterpart here. {ADVICE}")

    def _delay(self, operation: Any, qubits: Sequence[int]) -> None:
        duration, unit = operation.duration, operation.unit
        if not isinstance(duration, int | float):
            try:
                duration = float(duration)
            except TypeError:
                raise ValueError("its duration is an expression, and has no number.") from None
        for qubit in qubits:
            self.builder.append(self._delays.text(qubit, duration, unit))

    def _control_flow(
        self, operation: Any, qubits: Sequence[int], bits: Sequence[Any], outer_bits: Mapping[Any, Any]
    ) -> None:
        kinds, conditions = qiskit.circuit, self._conditions
        if isinstance(operation, kinds.IfElseOp):
            condition = conditions.holds(operation.condition, outer_bits)
            for block, holds in zip(operation.blocks, (condition, not_(condition)), strict=False):
                with self.builder.condition(holds):
                    self._run_block(block, qubits, bits)
        elif isinstance(operation, kinds.SwitchCaseOp):
            self._switch(operation, qubits, bits, outer_bits)
        elif isinstance(operation, kinds.ForLoopOp):
            self._loop(operation, qubits, bits)
        elif isinstance(operation, kinds.WhileLoopOp):
            if conditions.holds(operation.condition, outer_bits) is not False:
                raise ValueError(
                    f"it has no counterpart here, as the number of its iterations is not fixed. {ADVICE}"
                )
        elif isinstance(operation, kinds.BoxOp) and operation.duration is None:
            for block in operation.blocks:
                self._run_block(block, qubits, bits)
        else:
            raise ValueError(f"it has no counterpart here. {ADVICE}")

    def _switch(
        self, operation: Any, qubits: Sequence[int], bits: Sequence[Any], outer_bits: Mapping[Any, Any]
    ) -> None:
        """Each case but the default has values; the first one that has the value of the target is run."""
        others: list[Literal] = []
        blocks: list[tuple[Literal, Any]] = []
        for labels, block in operation.cases_specifier():
            values = [int(label) for label in labels if label is not qiskit.circuit.CASE_DEFAULT]
            holds = self._conditions.equal(operation.target, values, outer_bits) if values else False
            if len(values) < len(labels):
                holds = self.builder.all_of(others)  # the default, which is the last case
            others.append(not_(holds))
            blocks.append((holds, block))
        for holds, block in blocks:
            with self.builder.condition(holds):
                self._run_block(block, qubits, bits)

    def _loop(self, operation: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        numbers, parameter, body = operation.params
        if parameter is not None and not isinstance(parameter, qiskit.circuit.Parameter):
            raise ValueError(f"its variable {parameter} is no parameter. {ADVICE}")
        for number in numbers:
            block = body if parameter is None else body.assign_parameters({parameter: number})
            self._run_block(block, qubits, bits)


class _Located(ValueError):
    """An error whose message names the operation."""
