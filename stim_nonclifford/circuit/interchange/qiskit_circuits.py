"""Reads circuits of Qiskit.

Gates of Qiskit's library that ``standard_gates`` has are translated by name. Others are replaced by their
definitions, as Qiskit gives them. Global phases are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import stim

from .angles import half_turns_of
from .builder import CircuitBuilder, Literal, not_
from .packages import needed
from .standard_gates import STANDARD_GATES
from .steps import Step

__all__ = ["read_qiskit"]

_WITHOUT_EFFECT = frozenset({"delay", "global_phase"})
_LIBRARY = "qiskit.circuit.library.standard_gates"
_ADVICE = "Replace it, for example by qiskit.transpile, or write the part of the circuit before it."


def read_qiskit(circuit: Any) -> stim.Circuit:
    """The circuit with tagged gates of a ``qiskit.QuantumCircuit``.

    Args:
        circuit: The circuit; all its parameters have numbers.

    Raises:
        ImportError: Qiskit is not installed.
        TypeError: It is no ``QuantumCircuit``.
        ValueError: Something has no counterpart; the message names the operation.
    """
    qiskit = needed("qiskit", "from_qiskit", "qiskit>=1.3", "qiskit")
    if not isinstance(circuit, qiskit.QuantumCircuit):
        raise TypeError(f"circuit must be a qiskit.QuantumCircuit, but has type {type(circuit).__name__}.")
    if circuit.parameters:
        names = ", ".join(sorted(each.name for each in circuit.parameters))
        raise ValueError(f"The parameters {names} have no values. Write circuit.assign_parameters first.")
    reader = _Reader(qiskit)
    qubits = reader.builder.new_qubits(circuit.num_qubits)
    reader.bits = dict.fromkeys(circuit.clbits, False)
    wires = dict(zip(circuit.qubits, qubits, strict=True))
    try:
        reader.run(circuit, wires, {bit: bit for bit in circuit.clbits})
    except _Located as error:
        raise ValueError(str(error)) from None
    return reader.builder.circuit()


class _Reader:
    """Walks through circuits and the blocks in them. Bits are those of the whole circuit."""

    def __init__(self, qiskit: Any) -> None:
        self.builder = CircuitBuilder()
        self.bits: dict[Any, Literal] = {}
        self._expr: Any = needed("qiskit.circuit.classical.expr", "from_qiskit", "qiskit>=1.3", "qiskit")
        self._gate_class = qiskit.circuit.Gate

    def run(self, circuit: Any, qubits: Mapping[Any, int], outer_bits: Mapping[Any, Any]) -> None:
        """Runs a circuit or a block, whose qubits and bits are mapped to those of the builder."""
        for number, instruction in enumerate(circuit.data):
            operation = instruction.operation
            try:
                self._execute(
                    operation,
                    [qubits[each] for each in instruction.qubits],
                    [outer_bits[each] for each in instruction.clbits],
                    outer_bits,
                )
            except _Located:
                raise
            except (ValueError, NotImplementedError) as error:
                raise _Located(f"Instruction {number}, {operation.name}: {error}") from None

    def _execute(
        self, operation: Any, qubits: Sequence[int], bits: Sequence[Any], outer_bits: Mapping[Any, Any]
    ) -> None:
        builder, name = self.builder, operation.name
        if name in ("while_loop", "switch_case"):
            raise ValueError(f"it has no counterpart here. {_ADVICE}")
        if getattr(operation, "condition", None) is not None and name != "if_else":
            raise ValueError("c_if has no counterpart here. Write `with circuit.if_test(...)`.")
        if name == "measure":
            self.bits[bits[0]] = builder.measure(qubits[0])
        elif name == "reset":
            builder.reset(qubits)
        elif name == "barrier":
            builder.barrier()
        elif name == "if_else":
            self._branch(operation, qubits, bits, outer_bits)
        elif name == "for_loop":
            self._loop(operation, qubits, bits)
        elif name not in _WITHOUT_EFFECT:
            if isinstance(operation, self._gate_class):
                builder.apply(self._steps(operation, qubits))
            elif getattr(operation, "definition", None) is not None:
                inner = operation.definition
                self.run(
                    inner,
                    dict(zip(inner.qubits, qubits, strict=True)),
                    dict(zip(inner.clbits, bits, strict=True)),
                )
            else:
                raise ValueError(f"it has no counterpart here. {_ADVICE}")

    def _steps(self, gate: Any, qubits: Sequence[int]) -> list[Step]:
        standard = STANDARD_GATES.get(gate.name) if gate.base_class.__module__.startswith(_LIBRARY) else None
        is_plain = getattr(gate, "ctrl_state", None) in (None, 2 ** getattr(gate, "num_ctrl_qubits", 0) - 1)
        if (
            standard is not None
            and is_plain
            and (len(gate.params), gate.num_qubits) == (standard.num_angles, standard.num_qubits)
        ):
            angles = [half_turns_of(float(each)) for each in gate.params]
            return standard.steps(*angles, *qubits)
        if gate.definition is None:
            raise ValueError(f"it has no definition in other gates. {_ADVICE}")
        where = dict(zip(gate.definition.qubits, qubits, strict=True))
        steps: list[Step] = []
        for instruction in gate.definition.data:
            if instruction.operation.name not in ("barrier", *_WITHOUT_EFFECT):
                steps += self._steps(instruction.operation, [where[each] for each in instruction.qubits])
        return steps

    def _branch(
        self, operation: Any, qubits: Sequence[int], bits: Sequence[Any], outer_bits: Mapping[Any, Any]
    ) -> None:
        condition = self._condition(operation.condition, outer_bits)
        for block, holds in zip(operation.blocks, (condition, not_(condition)), strict=False):
            with self.builder.condition(holds):
                self.run(
                    block,
                    dict(zip(block.qubits, qubits, strict=True)),
                    dict(zip(block.clbits, bits, strict=True)),
                )

    def _loop(self, operation: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        numbers, parameter, body = operation.params
        for number in numbers:
            block = body if parameter is None else body.assign_parameters({parameter: number})
            self.run(
                block,
                dict(zip(block.qubits, qubits, strict=True)),
                dict(zip(block.clbits, bits, strict=True)),
            )

    def _condition(self, condition: Any, outer_bits: Mapping[Any, Any]) -> Literal:
        if isinstance(condition, tuple):
            subject, value = condition
            return self._equal(self._bits_of(subject, outer_bits), int(value))
        return self._truth(condition, outer_bits)

    def _bits_of(self, subject: Any, outer_bits: Mapping[Any, Any]) -> list[Literal]:
        members = list(subject) if hasattr(subject, "size") else [subject]
        return [self.bits[outer_bits.get(bit, bit)] for bit in members]

    def _equal(self, bits: Sequence[Literal], value: int) -> Literal:
        if not 0 <= value < 1 << len(bits):
            return False
        return self.builder.all_of([bit if value >> k & 1 else not_(bit) for k, bit in enumerate(bits)])

    def _truth(self, node: Any, outer_bits: Mapping[Any, Any]) -> Literal:
        """The bit that an expression of Qiskit is."""
        expr, builder = self._expr, self.builder
        if isinstance(node, expr.Var):
            bits = self._known_bits(node, outer_bits)
            return not_(builder.all_of([not_(bit) for bit in bits]))
        if isinstance(node, expr.Value):
            return bool(node.value)
        if isinstance(node, expr.Cast):
            return self._truth(node.operand, outer_bits)
        if isinstance(node, expr.Index) and isinstance(node.index, expr.Value):
            return self._known_bits(node.target, outer_bits)[int(node.index.value)]
        if isinstance(node, expr.Unary) and node.op.name in ("LOGIC_NOT", "BIT_NOT"):
            return not_(self._truth(node.operand, outer_bits))
        if isinstance(node, expr.Binary):
            return self._binary(node, outer_bits)
        raise ValueError(f"the condition {type(node).__name__} has no counterpart here. {_ADVICE}")

    def _known_bits(self, node: Any, outer_bits: Mapping[Any, Any]) -> list[Literal]:
        if isinstance(node, self._expr.Cast):
            return self._known_bits(node.operand, outer_bits)
        if not isinstance(node, self._expr.Var) or node.standalone:
            raise ValueError(f"classical variables have no counterpart here. {_ADVICE}")
        return self._bits_of(node.var, outer_bits)

    def _binary(self, node: Any, outer_bits: Mapping[Any, Any]) -> Literal:
        kind, builder = node.op.name, self.builder
        if kind in ("EQUAL", "NOT_EQUAL"):
            sides = (node.left, node.right)
            values = [each for each in sides if isinstance(each, self._expr.Value)]
            others = [each for each in sides if not isinstance(each, self._expr.Value)]
            if len(values) == 1 and isinstance(others[0], self._expr.Var | self._expr.Cast):
                equal = self._equal(self._known_bits(others[0], outer_bits), int(values[0].value))
            else:
                equal = not_(builder.parity_of([self._truth(each, outer_bits) for each in sides]))
            return equal if kind == "EQUAL" else not_(equal)
        left, right = self._truth(node.left, outer_bits), self._truth(node.right, outer_bits)
        if kind in ("LOGIC_AND", "BIT_AND"):
            return builder.all_of([left, right])
        if kind in ("LOGIC_OR", "BIT_OR"):
            return not_(builder.all_of([not_(left), not_(right)]))
        if kind == "BIT_XOR":
            return builder.parity_of([left, right])
        raise ValueError(f"the condition {kind} has no counterpart here. {_ADVICE}")


class _Located(ValueError):
    """An error whose message names the operation."""
