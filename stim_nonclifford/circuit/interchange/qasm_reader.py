"""Reads OpenQASM 2 and 3, with the parser of the package ``openqasm3``.

The parser's syntax tree is executed, statement by statement, by a ``CircuitBuilder``: loops are unrolled, and
gates that the program defines are replaced by their definitions. The grammar of OpenQASM 3 includes that of
OpenQASM 2 but for ``opaque``; only ``^`` of numbers is a power in OpenQASM 2.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import openqasm3
import openqasm3.ast as ast
import stim

from ...base.errors import ResourceLimitError
from ...base.spelling import did_you_mean
from .angles import half_turns_of
from .builder import CircuitBuilder, not_
from .qasm_values import (
    Bits,
    Qubits,
    Refusal,
    Value,
    bit_of,
    number_of,
    places_of_bits,
    range_of,
    selected,
    value_of,
    whole_of,
)
from .standard_gates import BUILT_IN, STANDARD_GATES
from .steps import Gate, Phase, Step, controlled, inverse

__all__ = ["read_qasm"]

_LIBRARIES = ("qelib1.inc", "stdgates.inc")
_MOST_STEPS = 10_000_000
_WITHOUT_EFFECT = (ast.DelayInstruction, ast.Pragma, ast.CalibrationGrammarDeclaration)
_VERSION_2 = re.compile(r"^\s*OPENQASM\s+2\b", re.MULTILINE)
_PATH = re.compile(r"[^\r\n;{]*\.(?:qasm|inc|txt)\s*", re.IGNORECASE)
_PHYSICAL = re.compile(r"\$(\d+)")


def read_qasm(text: str) -> stim.Circuit:
    r"""The circuit of a program.

    Args:
        text: A program in OpenQASM 2 or 3.

    Returns:
        The circuit with tagged gates. Qubits are numbered in the order in which they are declared, records in
        the order of the measurements.

    Raises:
        ResourceLimitError: The program has more than ten million gates.
        ValueError: The program is malformed, or has something without a counterpart. The message names the
            line.

    Examples:
        >>> text = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; creg c[2];\n'
        >>> print(read_qasm(text + "h q[0]; u1(pi/4) q[1]; measure q -> c;"))
        H 0
        S[T] 1
        M 0 1
    """
    if _VERSION_2.search(text):
        text = text.replace("^", "**")  # the sign of powers in OpenQASM 3
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the parser prints its errors, too
            program = openqasm3.parse(text)
    except openqasm3.parser.QASM3ParsingError as error:
        raise ValueError(_parsing_error(text, error)) from None
    try:
        return _Execution(program).result()
    except Refusal as refusal:
        raise ValueError(_located(text, refusal)) from None


def _located(text: str, refusal: Refusal) -> str:
    span = refusal.node.span
    if span is None:
        return str(refusal)
    line = text.splitlines()[span.start_line - 1].strip()
    return f"Line {span.start_line}: `{line}`: {refusal}"


def _parsing_error(text: str, error: Exception) -> str:
    advice = "It is no OpenQASM 2 or 3, or a name in it is a keyword of OpenQASM 3."
    if _PATH.fullmatch(text):
        return f"`{text.strip()}` looks like a path. Read the file, and give its text to Circuit.from_qasm."
    causes = [*error.args, *(error.__cause__.args if error.__cause__ else ())]
    tokens = [getattr(each, "offendingToken", None) for each in causes]
    token = next((each for each in tokens if each is not None), None)
    lines = text.splitlines()
    if token is None or not 1 <= token.line <= len(lines):
        said = f": {error}" if str(error) else ""
        return f"The program cannot be parsed{said}. {advice}"
    found = "the end" if token.text == "<EOF>" else repr(token.text)
    return (
        f"Line {token.line}: `{lines[token.line - 1].strip()}`: the parser does not expect {found} here."
        f" {advice}"
    )


class _Execution:
    """Executes a program on a builder."""

    def __init__(self, program: ast.Program) -> None:
        self._builder = CircuitBuilder()
        self._values: dict[str, Value] = {}
        self._definitions: dict[str, ast.QuantumGateDefinition] = {}
        self._steps_left = _MOST_STEPS
        self._is_version_2 = (program.version or "").startswith("2") or any(
            isinstance(each, ast.Include) and each.filename == _LIBRARIES[0] for each in program.statements
        )
        self._run(program.statements)

    def result(self) -> stim.Circuit:
        """The circuit."""
        return self._builder.circuit()

    def _run(self, statements: Sequence[Any]) -> None:
        for statement in statements:
            try:
                self._execute(statement)
            except Refusal:
                raise
            except ValueError as error:
                raise Refusal(statement, str(error)) from None

    def _execute(self, node: Any) -> None:
        builder, values = self._builder, self._values
        match node:
            case ast.QubitDeclaration():
                size = 1 if node.size is None else whole_of(node.size, values, builder)
                values[node.qubit.name] = Qubits(builder.new_qubits(size), node.size is not None)
            case ast.ClassicalDeclaration() | ast.ConstantDeclaration():
                self._declare(node)
            case ast.QuantumGateDefinition():
                self._define(node)
            case ast.QuantumGate() | ast.QuantumPhase():
                for steps in self._broadcast(node):
                    builder.apply(steps)
            case ast.QuantumMeasurementStatement():
                measured = self._measured(node.measure)
                if node.target is not None:
                    self._assign(node.target, measured)
            case ast.QuantumReset():
                builder.reset(self._qubits(node.qubits).items)
            case ast.QuantumBarrier():
                builder.barrier()
            case ast.BranchingStatement():
                condition = bit_of(node.condition, values, builder)
                with builder.condition(condition):
                    self._run(node.if_block)
                if node.else_block:
                    with builder.condition(not_(condition)):
                        self._run(node.else_block)
            case ast.ForInLoop():
                self._loop(node)
            case ast.AliasStatement():
                values[node.target.name] = value_of(node.value, values, builder)
            case ast.ClassicalAssignment() if node.op.name == "=":
                self._assign(node.lvalue, self._bits(node.rvalue))
            case ast.Include():
                if node.filename not in _LIBRARIES:
                    raise Refusal(
                        node,
                        f"only {' and '.join(_LIBRARIES)} are known. Put the text of {node.filename} in the"
                        " place of this line.",
                    )
            case ast.Box():
                self._run(node.body)
            case _ if isinstance(node, _WITHOUT_EFFECT):
                pass
            case ast.IODeclaration():
                raise Refusal(
                    node, "an input has no value. Write a constant with a number in place of the declaration."
                )
            case _:
                raise Refusal(node, f"a statement of the kind {type(node).__name__} has no counterpart here.")

    def _declare(self, node: ast.ClassicalDeclaration | ast.ConstantDeclaration) -> None:
        name, kind, initial = node.identifier.name, node.type, node.init_expression
        if not isinstance(kind, ast.BitType):
            if initial is None:
                raise Refusal(node, f"{name} has no value. Numbers are constants here.")
            self._values[name] = value_of(initial, self._values, self._builder)
            return
        size = 1 if kind.size is None else whole_of(kind.size, self._values, self._builder)
        # OpenQASM 2 says that bits are 0 at the beginning.
        self._values[name] = Bits([False] * size, kind.size is not None)
        if initial is not None:
            self._assign(node.identifier, self._bits(initial))

    def _define(self, node: ast.QuantumGateDefinition) -> None:
        for inner in _gates_in(node.body):
            name = inner.name.name
            if name not in self._definitions and name not in BUILT_IN and name not in STANDARD_GATES:
                raise Refusal(inner, self._unknown(name))
        self._definitions[node.name.name] = node

    def _unknown(self, name: str) -> str:
        known = [*self._definitions, *BUILT_IN, *STANDARD_GATES]
        return f"there is no gate {name}.{did_you_mean(name, known)}"

    def _loop(self, node: ast.ForInLoop) -> None:
        name = node.identifier.name
        outer = self._values.get(name)
        for number in self._numbers(node.set_declaration):
            self._values[name] = number
            self._spend(node, 1)
            self._run(node.block)
        self._values.pop(name, None)
        if outer is not None:
            self._values[name] = outer

    def _numbers(self, node: Any) -> list[int]:
        if isinstance(node, ast.RangeDefinition):
            if node.end is None:
                raise Refusal(node, "the range of a loop has an end.")
            return range_of(node, 0, self._values, self._builder)
        if isinstance(node, ast.DiscreteSet):
            return [whole_of(each, self._values, self._builder) for each in node.values]
        raise Refusal(node, "a loop runs over a range or a set of numbers here.")

    def _measured(self, node: ast.QuantumMeasurement) -> Bits:
        qubits = self._qubits(node.qubit)
        return Bits([self._builder.measure(qubit) for qubit in qubits.items], qubits.is_register)

    def _bits(self, node: Any) -> Bits:
        if isinstance(node, ast.QuantumMeasurement):
            return self._measured(node)
        value = value_of(node, self._values, self._builder)
        if isinstance(value, Bits):
            return value
        return Bits([bool(number_of(node, self._values, self._builder))], False)

    def _assign(self, target: ast.Identifier | ast.IndexedIdentifier, bits: Bits) -> None:
        name = target.name.name if isinstance(target, ast.IndexedIdentifier) else target.name
        known = self._values.get(name)
        if not isinstance(known, Bits):
            raise Refusal(target, f"{name} is no bit or register of bits. Only bits can be assigned to.")
        if self._builder.is_conditional:
            raise Refusal(target, "an assignment cannot be conditional.")
        places = list(range(len(known.items)))
        if isinstance(target, ast.IndexedIdentifier):
            places = places_of_bits(target, len(places), target.indices, self._values, self._builder)
        if len(places) != len(bits.items):
            raise Refusal(target, f"{len(bits.items)} bits cannot be assigned to {len(places)}.")
        for place, bit in zip(places, bits.items, strict=True):
            known.items[place] = bit

    def _qubits(self, node: Any) -> Qubits:
        name = node.name.name if isinstance(node, ast.IndexedIdentifier) else node.name
        physical = _PHYSICAL.fullmatch(name)
        if physical:
            index = int(physical[1])
            self._builder.new_qubits(max(0, index + 1 - self._builder.num_qubits))
            return Qubits([index], False)
        value = self._values.get(name)
        if not isinstance(value, Qubits):
            raise Refusal(node, f"there are no qubits with the name {name}.")
        if isinstance(node, ast.IndexedIdentifier):
            found = selected(node, value, node.indices, self._values, self._builder)
            assert isinstance(found, Qubits)
            return found
        return value

    def _broadcast(self, node: ast.QuantumGate | ast.QuantumPhase) -> Iterator[list[Step]]:
        """The steps of a gate on registers: of each of their elements in turn."""
        operands = [self._qubits(qubit) for qubit in node.qubits]
        sizes = {len(each.items) for each in operands if each.is_register}
        if len(sizes) > 1:
            raise Refusal(node, f"the registers have different sizes: {sorted(sizes)}.")
        for k in range(*sizes) if sizes else range(1):
            yield self._steps(node, [each.items[k if each.is_register else 0] for each in operands], {})

    def _steps(self, node: Any, qubits: Sequence[int], local: dict[str, Value]) -> list[Step]:
        """The steps of one gate, with its modifiers."""
        scope = {**self._values, **local}
        builder = self._builder
        if len(set(qubits)) < len(qubits):
            raise Refusal(node, "a gate acts on different qubits, and one is given twice.")
        controls: list[tuple[int, bool]] = []
        powers = 1
        for modifier in node.modifiers:
            kind = modifier.modifier.name
            if kind in ("ctrl", "negctrl"):
                count = 1 if modifier.argument is None else whole_of(modifier.argument, scope, builder)
                taken = len(controls)
                if count < 1 or taken + count > len(qubits):
                    raise Refusal(node, "there are fewer qubits than controls.")
                controls += [(qubit, kind == "ctrl") for qubit in qubits[taken : taken + count]]
            elif kind == "pow":
                powers *= whole_of(modifier.argument, scope, builder)
            else:
                powers = -powers
        steps = self._without_modifiers(node, qubits[len(controls) :], scope)
        self._spend(node, len(steps) * max(1, abs(powers)))
        steps = (inverse(steps) if powers < 0 else steps) * abs(powers)
        for control, positive in reversed(controls):
            steps = controlled(steps, control)
            if not positive:
                steps = [Gate("X", (control,)), *steps, Gate("X", (control,))]
        self._spend(node, len(steps))
        return steps

    def _without_modifiers(self, node: Any, qubits: Sequence[int], scope: dict[str, Value]) -> list[Step]:
        if isinstance(node, ast.QuantumPhase):
            return [Phase(number_of(node.argument, scope, self._builder) / math.pi)]
        name = node.name.name
        angles = [number_of(each, scope, self._builder) for each in node.arguments]
        if name in self._definitions:
            return self._expanded(node, self._definitions[name], qubits, angles)
        standard = None if self._is_version_2 and name == "U" else BUILT_IN.get(name)
        standard = standard or STANDARD_GATES.get("u" if name == "U" else name)
        if standard is None:
            raise Refusal(node, self._unknown(name))
        self._check_counts(node, name, standard.num_angles, standard.num_qubits, angles, qubits)
        return standard.steps(*map(half_turns_of, angles), *qubits)

    def _expanded(
        self, node: Any, definition: ast.QuantumGateDefinition, qubits: Sequence[int], angles: list[float]
    ) -> list[Step]:
        names = [each.name for each in definition.qubits]
        self._check_counts(node, definition.name.name, len(definition.arguments), len(names), angles, qubits)
        local: dict[str, Value] = {
            each.name: angle for each, angle in zip(definition.arguments, angles, strict=True)
        }
        where = dict(zip(names, qubits, strict=True))
        steps: list[Step] = []
        for inner in definition.body:
            if isinstance(inner, ast.QuantumBarrier):
                continue
            if not isinstance(inner, ast.QuantumGate | ast.QuantumPhase):
                raise Refusal(inner, f"{type(inner).__name__} in the definition of a gate is not known here.")
            used = [str(getattr(each, "name", "")) for each in inner.qubits]
            if not set(used) <= where.keys():
                raise Refusal(inner, "the definition has no such qubit.")
            steps += self._steps(inner, [where[each] for each in used], local)
        return steps

    def _check_counts(
        self,
        node: Any,
        name: str,
        num_angles: int,
        num_qubits: int,
        angles: Sequence[float],
        qubits: Sequence[int],
    ) -> None:
        if (len(angles), len(qubits)) != (num_angles, num_qubits):
            raise Refusal(
                node,
                f"{name} has {num_angles} parameters and {num_qubits} qubits, and not {len(angles)} and"
                f" {len(qubits)}.",
            )

    def _spend(self, node: Any, count: int) -> None:
        self._steps_left -= count
        if self._steps_left < 0:
            raise ResourceLimitError(
                f"Line {node.span.start_line}: the program has more than {_MOST_STEPS:,} gates."
            )


def _gates_in(statements: Sequence[Any]) -> Iterator[ast.QuantumGate]:
    return (each for each in statements if isinstance(each, ast.QuantumGate))
