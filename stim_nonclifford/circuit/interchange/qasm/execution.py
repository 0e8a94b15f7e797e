"""Executes the syntax tree of an OpenQASM program, statement by statement, on a builder.

Loops are unrolled, and gates that the program defines are replaced by their definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import openqasm3.ast as ast
import stim

from ....base.errors import ResourceLimitError
from ..angles import Delays
from ..builder import CircuitBuilder, not_
from ..standard_gates import LIBRARIES, OPENQASM_3, STANDARD_GATES
from .controls import lowered
from .expressions import Evaluator
from .gates import Gates, identifiers
from .scopes import Scopes, Variable
from .values import Bits, Duration, Integer, Qubits, Refusal, Value, converted

_MOST = 10_000_000

_PHYSICAL = re.compile(r"\$(\d+)")
_REFUSED = {
    ast.Pragma: "a pragma has a meaning for one tool only. Remove it if the circuit does not need it.",
    ast.WhileLoop: "a while loop has no counterpart here. Write a for loop over a range.",
    ast.SwitchStatement: "a switch has no counterpart here. Write it with if.",
    ast.SubroutineDefinition: "subroutines have no counterpart here. Write a gate in its place.",
    ast.ExternDeclaration: "extern functions have no counterpart here. Write their results as constants.",
}


class Execution:
    """Executes a program, with the gates that it declares as opaque, and the places of its qubits ``$0``."""

    def __init__(
        self,
        program: ast.Program,
        is_version_2: bool,
        opaque: Iterable[ast.Identifier],
        physical: Sequence[ast.Identifier],
        delays: Delays,
    ) -> None:
        self._builder = CircuitBuilder()
        self._scopes = Scopes()
        self._evaluator = Evaluator(self._scopes, self._builder, is_version_2)
        self._gates = Gates(self._evaluator)
        self._delays = delays
        self._ancillas: list[int] = []
        self._left = _MOST
        for node in opaque:
            self._scopes.declare(node, node.name, Variable(None))
        numbers = {int(each.name[1:]) + 1: each for each in reversed(physical)}  # 1 is that of $0
        most = max(numbers, default=0)
        self._physical = Qubits(self._new_qubits(numbers.get(most), most), True)
        self._run(program.statements)

    def result(self) -> stim.Circuit:
        """The circuit."""
        return self._builder.circuit()

    def _run(self, statements: Sequence[Any]) -> None:
        for statement in statements:
            try:
                if getattr(statement, "annotations", None):
                    raise Refusal(statement, "annotations have no counterpart here. Remove them.")
                self._execute(statement)
            except Refusal:
                raise
            except ResourceLimitError:
                raise
            except ValueError as error:
                raise Refusal(statement, str(error)) from None

    def _execute(self, node: Any) -> None:
        builder, scopes = self._builder, self._scopes
        match node:
            case ast.QubitDeclaration():
                self._declare_qubits(node)
            case ast.ClassicalDeclaration() | ast.ConstantDeclaration():
                self._declare(node, node.init_expression)
            case ast.IODeclaration() if node.io_identifier.name == "output":
                self._declare(node, None)
            case ast.IODeclaration():
                raise Refusal(
                    node, "an input has no value. Write a constant with a number in place of the declaration."
                )
            case ast.QuantumGateDefinition():
                self._gates.define(node)
            case ast.QuantumGate() | ast.QuantumPhase():
                self._apply(node)
            case ast.QuantumMeasurementStatement():
                measured = self._measured(node.measure)
                if node.target is not None:
                    self._assign(node.target, measured)
            case ast.QuantumReset():
                qubits = self._qubits(node.qubits).items
                self._spend(node, len(qubits))
                builder.reset(qubits)
            case ast.QuantumBarrier():
                for each in node.qubits:
                    self._qubits(each)
                builder.barrier()
            case ast.DelayInstruction():
                self._delay(node)
            case ast.BranchingStatement():
                self._branch(node)
            case ast.ForInLoop():
                self._loop(node)
            case ast.AliasStatement():
                scopes.declare(node, node.target.name, Variable(self._alias(node)))
            case ast.ClassicalAssignment():
                self._assign_classical(node)
            case ast.Include():
                self._include(node)
            case ast.Box():
                if node.duration is not None:
                    raise Refusal(node, "a box with a duration has no counterpart here. Write delays inside.")
                with scopes.block():
                    self._run(node.body)
            case ast.CalibrationGrammarDeclaration():
                pass
            case ast.ExpressionStatement():
                self._evaluator.value(node.expression)
            case _:
                message = f"a statement of the kind {type(node).__name__} has no counterpart here."
                raise Refusal(node, _REFUSED.get(type(node), message))

    def _include(self, node: ast.Include) -> None:
        names = LIBRARIES.get(node.filename)
        if names is None:
            raise Refusal(
                node,
                f"only {' and '.join(LIBRARIES)} are known. Put the text of {node.filename} in the"
                " place of this line.",
            )
        own = {} if self._evaluator.is_version_2 else OPENQASM_3
        for name in names:
            gate = own.get(name) or STANDARD_GATES[name]
            self._scopes.declare(node, name, Variable(gate))

    def _declare_qubits(self, node: ast.QubitDeclaration) -> None:
        if not self._scopes.is_global:
            raise Refusal(node, "qubits are declared outside of all blocks.")
        if self._physical.items:
            raise Refusal(node, "the program has physical qubits such as $0. Name all qubits, or none.")
        size = self._evaluator.size(node.size)
        qubits = Qubits(self._new_qubits(node, size), node.size is not None)
        self._scopes.declare(node, node.qubit.name, Variable(qubits))

    def _new_qubits(self, node: Any, count: int) -> range:
        self._spend(node, count)
        first = self._builder.num_qubits
        self._builder.num_qubits += count
        return range(first, first + count)

    def _declare(self, node: Any, initial: Any) -> None:
        name, kind = node.identifier.name, node.type
        is_constant = isinstance(node, ast.ConstantDeclaration)
        if isinstance(kind, ast.StretchType):
            raise Refusal(node, "a stretch has no length here. Write a duration with a number.")
        if isinstance(kind, ast.BitType):
            self._spend(node, self._evaluator.size(kind.size))
        if initial is not None:
            value = self._evaluator.converted(node, self._read(initial), kind, explicit=False)
        elif isinstance(kind, ast.BitType):
            # OpenQASM 2 says that bits are 0 at the beginning.
            value = Bits.of([False] * self._evaluator.size(kind.size), kind.size is not None)
        else:
            raise Refusal(node, f"{name} has no value here. Write it at the end, after =.")
        self._scopes.declare(node, name, Variable(value, kind, is_constant))

    def _read(self, node: Any) -> Value:
        if isinstance(node, ast.QuantumMeasurement):
            return self._measured(node)
        return self._evaluator.value(node)

    def _alias(self, node: ast.AliasStatement) -> Value:
        names = (ast.Identifier, ast.IndexExpression, ast.IndexedIdentifier, ast.Concatenation)
        value = self._evaluator.value(node.value) if isinstance(node.value, names) else None
        if not isinstance(value, Qubits | Bits):
            raise Refusal(node, "let gives another name to qubits or bits. Declare a constant for a number.")
        return value

    def _apply(self, node: Any) -> None:
        for qubits in self._broadcast(node):
            steps = list(lowered(self._gates.applied(node, qubits), self._ancilla))
            self._spend(node, len(steps))
            self._builder.apply(steps)

    def _broadcast(self, node: ast.QuantumGate | ast.QuantumPhase) -> Iterator[list[int]]:
        """The qubits of a gate on registers: each of their elements in turn."""
        operands = [self._qubits(qubit) for qubit in node.qubits]
        sizes = {len(each.items) for each in operands if each.is_register}
        if len(sizes) > 1:
            raise Refusal(node, f"the registers have different sizes: {sorted(sizes)}.")
        count = next(iter(sizes), 1)
        self._check(node, count)
        for k in range(count):
            yield [each.items[k if each.is_register else 0] for each in operands]

    def _ancilla(self, number: int) -> int:
        while len(self._ancillas) <= number:
            self._ancillas += self._builder.new_qubits(1)
        return self._ancillas[number]

    def _measured(self, node: ast.QuantumMeasurement) -> Bits:
        qubits = self._qubits(node.qubit)
        self._spend(node, len(qubits.items))
        return Bits.of([self._builder.measure(qubit) for qubit in qubits.items], qubits.is_register)

    def _delay(self, node: ast.DelayInstruction) -> None:
        duration = self._evaluator.value(node.duration)
        if not isinstance(duration, Duration):
            raise Refusal(node, "a delay has a duration, such as 100ns.")
        qubits = [qubit for each in node.qubits for qubit in self._qubits(each).items]
        if not node.qubits:
            qubits = list(range(self._builder.num_qubits))
        self._spend(node, len(qubits))
        for qubit in qubits:
            self._builder.append(self._delays.text(qubit, duration.amount, duration.unit))

    def _branch(self, node: ast.BranchingStatement) -> None:
        condition = self._evaluator.bit(node.condition)
        for holds, block in ((condition, node.if_block), (not_(condition), node.else_block)):
            if holds is False:
                continue
            with self._builder.condition(holds), self._scopes.block():
                self._run(block)

    def _loop(self, node: ast.ForInLoop) -> None:
        values = self._values(node)
        self._check(node, len(values) * self._least_size(node.block))
        for each in values:
            self._spend(node, 1)
            value = self._evaluator.converted(
                node, Integer(each) if isinstance(each, int) else each, node.type, explicit=False
            )
            with self._scopes.block():
                self._scopes.declare(node, node.identifier.name, Variable(value, node.type))
                self._run(node.block)

    def _least_size(self, statements: Sequence[Any]) -> int:
        """A lower bound of the number of statements that run, by which long loops are refused early."""
        size = 1
        for each in statements:
            repeats = 1
            if isinstance(each, ast.ForInLoop) and isinstance(each.set_declaration, ast.RangeDefinition):
                what = each.set_declaration
                if not list(identifiers([what.start, what.step, what.end])):
                    repeats = len(self._values(each)) * self._least_size(each.block)
            size += repeats
        return max(1, size - 1)

    def _values(self, node: ast.ForInLoop) -> Sequence[int | Value]:
        """The values that a loop runs over; those of a range are numbers of Python."""
        what = node.set_declaration
        if isinstance(what, ast.RangeDefinition):
            return self._evaluator.range(what)
        if isinstance(what, ast.DiscreteSet):
            return [self._evaluator.value(each) for each in what.values]
        value = self._evaluator.value(what)
        if isinstance(value, Bits) and value.is_register:
            return [Bits([cell], False) for cell in value.cells]
        raise Refusal(node, "a loop runs over a range, a set of numbers or a register of bits here.")

    def _assign_classical(self, node: ast.ClassicalAssignment) -> None:
        value = self._read(node.rvalue)
        if node.op.name != "=":
            value = self._evaluator.binary(
                node, node.op.name.removesuffix("="), self._evaluator.value(node.lvalue), value
            )
        self._assign(node.lvalue, value)

    def _assign(self, target: ast.Identifier | ast.IndexedIdentifier, value: Value) -> None:
        name = target.name.name if isinstance(target, ast.IndexedIdentifier) else target.name
        variable = self._scopes.find(name)
        known = None if variable is None else variable.value
        if variable is None or not isinstance(known, Value) or isinstance(known, Qubits):
            raise Refusal(target, f"{name} is no bit or register of bits, and no other variable.")
        if variable.is_constant:
            raise Refusal(target, f"{name} is a constant. Declare it without const.")
        if self._builder.is_conditional:
            raise Refusal(
                target, "an assignment cannot be conditional. Write the condition where the bit is used."
            )
        if not isinstance(variable.kind, ast.BitType | None):
            if isinstance(target, ast.IndexedIdentifier):
                raise Refusal(target, f"{name} is no register of bits.")
            variable.value = self._evaluator.converted(target, value, variable.kind, explicit=False)
            return
        place = known if isinstance(target, ast.Identifier) else self._evaluator.value(target)
        assert isinstance(place, Bits)
        size = len(place.cells) if place.is_register or len(place.cells) > 1 else None
        bits = converted(target, value, ast.BitType(), size, explicit=False)
        assert isinstance(bits, Bits)
        for cell, new in zip(place.cells, bits.items, strict=True):
            cell.bit = new

    def _qubits(self, node: Any) -> Qubits:
        name = node.name.name if isinstance(node, ast.IndexedIdentifier) else node.name
        physical = _PHYSICAL.fullmatch(name)
        if physical:
            return Qubits([self._physical.items[int(physical[1])]], False)
        value = self._scopes.value(name)
        if not isinstance(value, Qubits):
            raise Refusal(node, f"there are no qubits with the name {name}.")
        if isinstance(node, ast.IndexedIdentifier):
            found = self._evaluator.selected(node, value, node.indices)
            assert isinstance(found, Qubits)
            return found
        return value

    def _check(self, node: Any, count: int) -> None:
        if count > self._left:
            raise ResourceLimitError(
                f"Line {node.span.start_line}: the program has more than {_MOST:,} gates, measurements,"
                " qubits and bits."
            )

    def _spend(self, node: Any, count: int) -> None:
        self._check(node, count)
        self._left -= count
