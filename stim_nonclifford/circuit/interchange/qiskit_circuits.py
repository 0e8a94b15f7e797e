"""Circuits of Qiskit, read by the types of their operations: names are free there.

Global phases are left out. This module is imported when it is used, as Qiskit is an extra.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import stim

from .angles import Delays, half_turns_of
from .builder import CircuitBuilder, Literal, not_
from .packages import needed
from .qiskit_noise import AerNoise, channel_lines, channel_of_operation
from .standard_gates import STANDARD_GATES
from .steps import Gate, Phase, Step, controlled, inverse

qiskit: Any = needed("qiskit", "from_qiskit", "qiskit>=1.3", "qiskit")
library: Any = needed("qiskit.circuit.library", "from_qiskit", "qiskit>=1.3", "qiskit")

ADVICE = "Replace it, for example by qiskit.transpile, or write the part of the circuit before it."
_MOST_GATES = 1_000_000


@cache
def _names() -> dict[Any, str]:
    """The names that Qiskit's own gates have in ``STANDARD_GATES``, by their classes."""
    own = {gate.base_class: name for name, gate in library.get_standard_gate_name_mapping().items()}
    more = {"C3XGate": "c3x", "C4XGate": "c4x", "C3SXGate": "c3sx", "RCCXGate": "rccx", "RC3XGate": "rcccx"}
    own |= {getattr(library, kind): name for kind, name in more.items()}
    return {kind: name for kind, name in own.items() if name in STANDARD_GATES}


def steps_of(gate: Any, qubits: Sequence[int]) -> list[Step]:
    """The steps of a gate or of an annotated operation."""
    if isinstance(gate, qiskit.circuit.AnnotatedOperation):
        return _annotated(gate, qubits)
    if isinstance(gate, qiskit.circuit.Barrier):
        return []
    if not isinstance(gate, qiskit.circuit.Gate):
        raise ValueError(f"{gate.name} in it is no gate. {ADVICE}")
    if gate.base_class is library.GlobalPhaseGate:
        return [Phase(half_turns_of(float(gate.params[0])))]
    standard = STANDARD_GATES.get(_names().get(gate.base_class, ""))
    is_plain = getattr(gate, "ctrl_state", None) in (None, 2 ** getattr(gate, "num_ctrl_qubits", 0) - 1)
    if standard is not None and is_plain and len(gate.params) == standard.num_angles:
        angles = [half_turns_of(float(each)) for each in gate.params]
        return standard.steps(*angles, *qubits)
    if isinstance(gate, library.PauliEvolutionGate):
        _check_commuting(gate)
    definition = gate.definition
    if definition is None:
        definition = _definition_by_matrix(gate)
    where = dict(zip(definition.qubits, qubits, strict=True))
    steps: list[Step] = [Phase(half_turns_of(float(definition.global_phase)))]
    for instruction in definition.data:
        steps += steps_of(instruction.operation, [where[each] for each in instruction.qubits])
    return steps


def _check_commuting(gate: Any) -> None:
    """Refuses sums whose definition is another unitary than their exponential."""
    sums = gate.operator if isinstance(gate.operator, list) else [gate.operator]
    pauli_op = qiskit.quantum_info.SparsePauliOp
    terms = [each if isinstance(each, pauli_op) else pauli_op.from_sparse_observable(each) for each in sums]
    if len(pauli_op.sum(terms).group_commuting()) > 1:
        raise ValueError(
            "its terms do not commute, and its definition is not its exponential. To mean the definition,"
            " write circuit.decompose() first."
        )


def _definition_by_matrix(gate: Any) -> Any:
    try:
        matrix = qiskit.quantum_info.Operator(gate)
    except qiskit.exceptions.QiskitError:
        raise ValueError(f"it has no definition in other gates, and no matrix. {ADVICE}") from None
    return library.UnitaryGate(matrix).definition


def _annotated(gate: Any, qubits: Sequence[int]) -> list[Step]:
    """The steps of a gate with modifiers, of which the first one is applied first."""
    circuit = qiskit.circuit
    num_controls = sum(
        each.num_ctrl_qubits for each in gate.modifiers if isinstance(each, circuit.ControlModifier)
    )
    steps = steps_of(gate.base_op, qubits[num_controls:])
    for modifier in gate.modifiers:
        if isinstance(modifier, circuit.InverseModifier):
            steps = inverse(steps)
        elif isinstance(modifier, circuit.ControlModifier):
            first = num_controls - modifier.num_ctrl_qubits
            controls = qubits[first:num_controls]
            num_controls = first
            zeros = [q for k, q in enumerate(controls) if not modifier.ctrl_state >> k & 1]
            flips: list[Step] = [Gate("X", (qubit,)) for qubit in zeros]
            for control in controls:
                steps = controlled(steps, control)
            steps = [*flips, *steps, *flips]
        elif isinstance(modifier, circuit.PowerModifier) and float(modifier.power).is_integer():
            power = int(modifier.power)
            if abs(power) * len(steps) > _MOST_GATES:
                raise ValueError(f"its power is more than {_MOST_GATES:,} gates. {ADVICE}")
            steps = (inverse(steps) if power < 0 else steps) * abs(power)
        else:
            raise ValueError(f"the modifier {modifier} has no counterpart here. {ADVICE}")
    return steps


expr: Any = needed("qiskit.circuit.classical.expr", "from_qiskit", "qiskit>=1.3", "qiskit")
types: Any = needed("qiskit.circuit.classical.types", "from_qiskit", "qiskit>=1.3", "qiskit")

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "BIT_AND": lambda a, b: a & b,
    "BIT_OR": lambda a, b: a | b,
    "BIT_XOR": lambda a, b: a ^ b,
    "LOGIC_AND": lambda a, b: a and b,
    "LOGIC_OR": lambda a, b: a or b,
    "EQUAL": lambda a, b: a == b,
    "NOT_EQUAL": lambda a, b: a != b,
    "LESS": lambda a, b: a < b,
    "LESS_EQUAL": lambda a, b: a <= b,
    "GREATER": lambda a, b: a > b,
    "GREATER_EQUAL": lambda a, b: a >= b,
    "SHIFT_LEFT": lambda a, b: a << b,
    "SHIFT_RIGHT": lambda a, b: a >> b,
    "ADD": lambda a, b: a + b,
    "SUB": lambda a, b: a - b,
    "MUL": lambda a, b: a * b,
}


class Conditions:
    """The values of classical bits of the whole circuit, and of expressions of them in a block."""

    def __init__(self, builder: CircuitBuilder, bits: dict[Any, Literal]) -> None:
        self._builder = builder
        self.bits = bits
        self.outer: Mapping[Any, Any] = {}  # by the bits of the block that is read, those of the circuit

    def holds(self, condition: Any) -> Literal:
        """The bit that a condition is."""
        if isinstance(condition, tuple):
            subject, value = condition
            return self.equal(subject, [int(value)])
        return self._truth(condition)

    def equal(self, subject: Any, values: Sequence[int]) -> Literal:
        """Whether a bit, a register or an expression has one of some values."""
        if isinstance(subject, expr.Expr) and not _is_bits(subject):
            return self._function(subject, lambda value: int(value) in values)
        bits = self._bits_of(subject.var if isinstance(subject, expr.Var) else subject)
        found = [self._equal(bits, value) for value in values]
        return not_(self._builder.all_of([not_(each) for each in found]))

    def _equal(self, bits: Sequence[Literal], value: int) -> Literal:
        if not 0 <= value < 1 << len(bits):
            return False
        return self._builder.all_of([bit if value >> k & 1 else not_(bit) for k, bit in enumerate(bits)])

    def _bits_of(self, subject: Any) -> list[Literal]:
        members = list(subject) if hasattr(subject, "size") else [subject]
        return [self.bits[self.outer.get(bit, bit)] for bit in members]

    def _truth(self, node: Any) -> Literal:
        """The bit that an expression is; long products and sums are written term by term."""
        builder = self._builder
        if _is_bits(node):
            return not_(self.equal(node, [0]))
        if isinstance(node, expr.Unary) and node.op.name == "LOGIC_NOT":
            return not_(self._truth(node.operand))
        if isinstance(node, expr.Binary):
            kind = node.op.name
            if kind in ("LOGIC_AND", "LOGIC_OR"):
                left, right = self._truth(node.left), self._truth(node.right)
                if kind == "LOGIC_AND":
                    return builder.all_of([left, right])
                return not_(builder.all_of([not_(left), not_(right)]))
            if kind in ("EQUAL", "NOT_EQUAL") and _is_bits(node.left) and isinstance(node.right, expr.Value):
                found = self.equal(node.left, [int(node.right.value)])
                return found if kind == "EQUAL" else not_(found)
        return self._function(node, bool)

    def _function(self, node: Any, function: Callable[[Any], bool]) -> Literal:
        variables = list(dict.fromkeys(expr.iter_vars(node)))
        if not all(map(_is_bits, variables)):
            raise ValueError(f"classical variables have no counterpart here. {ADVICE}")
        places = [self._bits_of(each.var) for each in variables]
        flat = [bit for bits in places for bit in bits]

        def value(chosen: Sequence[bool]) -> bool:
            values, left = {}, list(chosen)
            for variable, bits in zip(variables, places, strict=True):
                own, left = left[: len(bits)], left[len(bits) :]
                number = sum(bit << k for k, bit in enumerate(own))
                values[variable] = bool(number) if isinstance(variable.type, types.Bool) else number
            return function(_value(node, values))

        return self._builder.function_of(flat, value)


def _is_bits(node: Any) -> bool:
    return isinstance(node, expr.Var) and not node.standalone


def _value(node: Any, values: Mapping[Any, Any]) -> Any:
    """The value of an expression, for values of its variables."""
    if isinstance(node, expr.Value):
        return node.value
    if isinstance(node, expr.Var):
        return values[node]
    if isinstance(node, expr.Cast):
        return _typed(_value(node.operand, values), node.type)
    if isinstance(node, expr.Index):
        return bool(int(_value(node.target, values)) >> int(_value(node.index, values)) & 1)
    if isinstance(node, expr.Unary):
        operand = _value(node.operand, values)
        if node.op.name == "LOGIC_NOT" or isinstance(node.type, types.Bool):
            return not operand
        if node.op.name in ("BIT_NOT", "NEGATE"):
            return _typed(~operand if node.op.name == "BIT_NOT" else -operand, node.type)
    if isinstance(node, expr.Binary):
        left, right = _value(node.left, values), _value(node.right, values)
        if node.op.name in _OPERATIONS:
            return _typed(_OPERATIONS[node.op.name](left, right), node.type)
        if node.op.name == "DIV" and right != 0:
            return left // right if isinstance(node.type, types.Uint) else left / right
    raise ValueError(f"the expression {node} has no counterpart here, or divides by 0. {ADVICE}")


def _typed(value: Any, kind: Any) -> Any:
    if isinstance(kind, types.Bool):
        return bool(value)
    return int(value) % (1 << kind.width) if isinstance(kind, types.Uint) else float(value)


def read_qiskit(circuit: Any, delays: Delays, noise_model: Any = None) -> stim.Circuit:
    """The circuit with tagged gates of a ``qiskit.QuantumCircuit``."""
    if not isinstance(circuit, qiskit.QuantumCircuit):
        raise TypeError(f"circuit must be a qiskit.QuantumCircuit, but has type {type(circuit).__name__}.")
    if circuit.parameters:
        names = ", ".join(sorted(each.name for each in circuit.parameters))
        raise ValueError(f"The parameters {names} have no values. Write circuit.assign_parameters first.")
    reader = _Reader(circuit, delays, None if noise_model is None else AerNoise(noise_model))
    try:
        reader.run(circuit, reader.builder.new_qubits(circuit.num_qubits), circuit.clbits)
    except _Located as error:
        text = str(error)
        raise ValueError(text[0].upper() + text[1:]) from None
    return reader.builder.circuit()


class _Reader:
    """Walks through circuits and the blocks in them. Bits are those of the whole circuit."""

    def __init__(self, circuit: Any, delays: Delays, noise: AerNoise | None) -> None:
        self.builder = CircuitBuilder()
        self._delays = delays
        self._noise = noise
        # Bits are 0 at the beginning.
        self._conditions = Conditions(self.builder, dict.fromkeys(circuit.clbits, False))

    def run(self, block: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        """Runs a circuit or a block on qubits by their numbers, and on bits of the circuit."""
        outer_qubits = dict(zip(block.qubits, qubits, strict=True))
        outer_bits = dict(zip(block.clbits, bits, strict=True))
        for number, instruction in enumerate(block.data):
            operation = instruction.operation
            where = f"instruction {number}, {operation.name}:"
            self._conditions.outer = outer_bits
            try:
                self._execute(
                    operation,
                    [outer_qubits[each] for each in instruction.qubits],
                    [outer_bits[each] for each in instruction.clbits],
                )
            except _Located as error:
                raise _Located(f"{where} in it {error}") from None
            except (ValueError, NotImplementedError, TypeError) as error:
                raise _Located(f"{where} {error}") from None

    def _execute(self, operation: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        builder, kinds = self.builder, qiskit.circuit
        if getattr(operation, "condition", None) is not None and not isinstance(
            operation, kinds.ControlFlowOp
        ):
            raise ValueError("c_if has no counterpart here. Write `with circuit.if_test(...)`.")
        name, noise = getattr(operation, "label", None) or operation.name, self._noise
        channel = channel_of_operation(operation)
        if channel is not None:
            self._append(channel_lines(channel, qubits))
            return
        if noise is not None and not isinstance(operation, kinds.Measure):
            is_composed = isinstance(operation, kinds.Gate) and operation.base_class not in _names()
            if is_composed and not noise.has(name) and operation.definition is not None:
                self.run(operation.definition, qubits, bits)
                return
        if isinstance(operation, kinds.Measure) and noise is not None:
            self._append(noise.lines(name, qubits))
            [self._conditions.bits[bits[0]]] = builder.append(f"M{noise.readout(qubits[0])} {qubits[0]}")
            return
        self._execute_without_noise(operation, qubits, bits)
        if noise is not None:
            self._append(noise.lines(name, qubits))

    def _append(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.builder.append(line)

    def _execute_without_noise(self, operation: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        builder, kinds = self.builder, qiskit.circuit
        if isinstance(operation, kinds.Measure):
            self._conditions.bits[bits[0]] = builder.measure(qubits[0])
        elif isinstance(operation, kinds.Reset):
            builder.reset(qubits)
        elif isinstance(operation, kinds.Barrier):
            builder.barrier()
        elif isinstance(operation, kinds.Delay):
            self._delay(operation, qubits)
        elif isinstance(operation, kinds.ControlFlowOp):
            self._control_flow(operation, qubits, bits)
        elif isinstance(operation, kinds.Gate | kinds.AnnotatedOperation):
            builder.apply(steps_of(operation, qubits))
        elif getattr(operation, "definition", None) is not None:
            self.run(operation.definition, qubits, bits)
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

    def _control_flow(self, operation: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        kinds, conditions = qiskit.circuit, self._conditions
        if isinstance(operation, kinds.IfElseOp):
            condition = conditions.holds(operation.condition)
            for block, holds in zip(operation.blocks, (condition, not_(condition)), strict=False):
                with self.builder.condition(holds):
                    self.run(block, qubits, bits)
        elif isinstance(operation, kinds.SwitchCaseOp):
            self._switch(operation, qubits, bits)
        elif isinstance(operation, kinds.ForLoopOp):
            self._loop(operation, qubits, bits)
        elif isinstance(operation, kinds.WhileLoopOp):
            if conditions.holds(operation.condition) is not False:
                raise ValueError(
                    f"it has no counterpart here, as the number of its iterations is not fixed. {ADVICE}"
                )
        elif isinstance(operation, kinds.BoxOp) and operation.duration is None:
            for block in operation.blocks:
                self.run(block, qubits, bits)
        else:
            raise ValueError(f"it has no counterpart here. {ADVICE}")

    def _switch(self, operation: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        """Each case but the default has values; the first one that has the value of the target is run."""
        others: list[Literal] = []
        blocks: list[tuple[Literal, Any]] = []
        for labels, block in operation.cases_specifier():
            values = [int(label) for label in labels if label is not qiskit.circuit.CASE_DEFAULT]
            holds = self._conditions.equal(operation.target, values) if values else False
            if len(values) < len(labels):
                holds = self.builder.all_of(others)  # the default, which is the last case
            others.append(not_(holds))
            blocks.append((holds, block))
        for holds, block in blocks:
            with self.builder.condition(holds):
                self.run(block, qubits, bits)

    def _loop(self, operation: Any, qubits: Sequence[int], bits: Sequence[Any]) -> None:
        numbers, parameter, body = operation.params
        if parameter is not None and not isinstance(parameter, qiskit.circuit.Parameter):
            raise ValueError(f"its variable {parameter} is no parameter. {ADVICE}")
        for number in numbers:
            block = body if parameter is None else body.assign_parameters({parameter: number})
            self.run(block, qubits, bits)


class _Located(ValueError):
    """An error whose message names the operation."""
