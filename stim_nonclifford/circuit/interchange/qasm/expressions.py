"""Evaluates OpenQASM's expressions, by the rules of its version 3; division in OpenQASM 2 is that of reals.

Arithmetic needs numbers that are known. Bits that are measured are compared, and combined by Boolean
operators, which may add an ancilla to the circuit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import openqasm3.ast as ast

from ..builder import CircuitBuilder, Literal, not_
from .arithmetic import COMPARISONS, calculated, float_of, function_of, negative
from .scopes import Scopes
from .values import Bits, Duration, Integer, Qubits, Refusal, Value, converted, kind_of

_SIZES_IN_BRACKETS = (ast.IntType, ast.UintType, ast.FloatType, ast.AngleType, ast.BitType)


@dataclass
class Evaluator:
    """Evaluates expressions."""

    scopes: Scopes  # the names that are known
    builder: CircuitBuilder  # where bits are computed
    is_version_2: bool = False  # whether numbers are reals, as in OpenQASM 2

    def value(self, node: Any) -> Value:
        """The value of an expression."""
        match node:
            case ast.BooleanLiteral():
                return bool(node.value)
            case ast.IntegerLiteral():
                return float(node.value) if self._reals(node.value) else Integer(node.value)
            case ast.FloatLiteral():
                return float(node.value)
            case ast.BitstringLiteral():
                return Bits.of([bool(node.value >> k & 1) for k in range(node.width)], True)
            case ast.DurationLiteral():
                return Duration(float(node.value), node.unit.name)
            case ast.Identifier():
                return self._named(node)
            case ast.IndexExpression():
                return self.selected(node, self.value(node.collection), [node.index])
            case ast.IndexedIdentifier():
                return self.selected(node, self._named(node.name), node.indices)
            case ast.Cast():
                return self.converted(node, self.value(node.argument), node.type, explicit=True)
            case ast.FunctionCall():
                return self._function(node)
            case ast.SizeOf():
                return self._size_of(node)
            case ast.UnaryExpression():
                return self._unary(node)
            case ast.BinaryExpression():
                return self.binary(node, node.op.name, self.value(node.lhs), self.value(node.rhs))
            case ast.Concatenation():
                return self._concatenated(node)
        raise Refusal(node, f"an expression of the kind {type(node).__name__} has no counterpart here.")

    def _reals(self, value: int) -> bool:
        return self.is_version_2 and abs(value) < 1 << 53

    def converted(self, node: Any, value: Value, kind: Any, *, explicit: bool) -> Value:
        """A value as one of a type of the syntax tree; see ``values.converted``."""
        if isinstance(kind, ast.BoolType) and isinstance(value, Bits):
            return _simplest(self._truth(node, value))
        return converted(node, value, kind, self._width(kind), explicit=explicit)

    def _width(self, kind: Any) -> int | None:
        """The width in brackets of a type, or None."""
        node = kind.size if isinstance(kind, _SIZES_IN_BRACKETS) else None
        if node is None:
            return None
        size = self.size(node)
        if size > 1 << 20 and not isinstance(kind, ast.BitType):
            raise Refusal(node, f"numbers of {size} bits are too long.")
        return size

    def size(self, node: Any) -> int:
        """The number in brackets of a declaration; 1 if there is none."""
        size = 1 if node is None else self.whole(node)
        if size < 1:
            raise Refusal(node, f"a size is at least 1, and not {size}.")
        return size

    def number(self, node: Any) -> float:
        """The real number that an expression is; of an angle, that in radians."""
        found = float_of(node, self.value(node))
        if not math.isfinite(found):
            raise Refusal(node, f"a finite number is needed here, and this is {found}.")
        return found

    def whole(self, node: Any) -> int:
        """The whole number that an expression is."""
        value = self.value(node)
        if isinstance(value, Bits) and value.number is not None:
            return value.number
        if isinstance(value, Integer | bool):
            return int(value.value if isinstance(value, Integer) else value)
        if isinstance(value, float) and self.is_version_2 and value.is_integer():
            return int(value)
        found = repr(value) if isinstance(value, float) else f"of type {kind_of(value)}"
        raise Refusal(node, f"a whole number is needed here, and this is {found}.")

    def bit(self, node: Any) -> Literal:
        """The bit that a condition is."""
        return self._truth(node, self.value(node))

    def _truth(self, node: Any, value: Value) -> Literal:
        value = converted(node, value, ast.BoolType(), None, explicit=True)
        if isinstance(value, bool):
            return value
        assert isinstance(value, Bits)
        return not_(self.builder.all_of([not_(bit) for bit in value.items]))

    def _named(self, node: ast.Identifier) -> Value:
        found = self.scopes.value(node.name)
        if found is None:
            raise Refusal(node, f"{node.name} has no value here. Declare it before, with a number.")
        if not isinstance(found, Value):
            raise Refusal(node, f"{node.name} is a gate, and has no value.")
        return found

    def selected(self, node: Any, value: Value, indices: Sequence[Any]) -> Qubits | Bits:
        """The elements of a register."""
        if not isinstance(value, Qubits | Bits) or not value.is_register:
            raise Refusal(node, "only registers of qubits or bits have an index.")
        for index in indices:
            value = self._elements(node, value, index)
        return value

    def _elements(self, node: Any, value: Qubits | Bits, index: Any) -> Qubits | Bits:
        items: Sequence[Any] = value.items if isinstance(value, Qubits) else value.cells
        size = len(items)
        if isinstance(index, ast.DiscreteSet):
            places, is_register = [self.whole(each) for each in index.values], True
        elif len(index) != 1:
            raise Refusal(node, "registers have one index.")
        elif isinstance(index[0], ast.RangeDefinition):
            places, is_register = self._slice(index[0], size), True
        else:
            places, is_register = [self.whole(index[0])], False
        for place in places:
            if not -size <= place < size:
                raise Refusal(node, f"there is no element {place}: the register has {size}.")
        if not places:
            raise Refusal(node, "this selects no element of the register. A range includes its end.")
        if len({place % size for place in places}) < len(places):
            raise Refusal(node, "an element is selected twice.")
        chosen = [items[place] for place in places]
        return Qubits(chosen, is_register) if isinstance(value, Qubits) else Bits(chosen, is_register)

    def _slice(self, node: ast.RangeDefinition, size: int) -> list[int]:
        """The places of a range in a register, in which -1 is the last one."""
        step = self._step(node)
        if step < 0 and (node.start is None or node.end is None):
            raise Refusal(node, "a range that runs down has both ends. Write them.")
        ends = [0 if node.start is None else self.whole(node.start)]
        ends.append(size - 1 if node.end is None else self.whole(node.end))
        for end in ends:
            if not -size <= end < size:
                raise Refusal(node, f"there is no element {end}: the register has {size}.")
        start, end = (each % size for each in ends)
        return list(_inclusive(start, end, step))

    def range(self, node: ast.RangeDefinition) -> range:
        """The numbers of a range that a loop runs over, whose end is one of them."""
        if node.start is None or node.end is None:
            raise Refusal(node, "the range of a loop has a start and an end.")
        return _inclusive(self.whole(node.start), self.whole(node.end), self._step(node))

    def _step(self, node: ast.RangeDefinition) -> int:
        step = 1 if node.step is None else self.whole(node.step)
        if not step:
            raise Refusal(node, "the step of a range cannot be 0.")
        return step

    def _concatenated(self, node: ast.Concatenation) -> Value:
        left, right = self.value(node.lhs), self.value(node.rhs)
        if isinstance(left, Qubits) and isinstance(right, Qubits):
            items = [*left.items, *right.items]
            if len(set(items)) < len(items):
                raise Refusal(node, "a register is not concatenated with a part of itself.")
            return Qubits(items, True)
        if isinstance(left, Bits) and isinstance(right, Bits):
            cells = [*left.cells, *right.cells]
            if len({id(cell) for cell in cells}) < len(cells):
                raise Refusal(node, "a register is not concatenated with a part of itself.")
            return Bits(cells, True)
        raise Refusal(node, "two registers of qubits, or two of bits, can be concatenated.")

    def _size_of(self, node: ast.SizeOf) -> Value:
        value = self.value(node.target)
        if node.index is not None or not isinstance(value, Qubits | Bits) or not value.is_register:
            raise Refusal(node, "sizeof is known of registers alone here.")
        return Integer(len(value.items), None, False)

    def _function(self, node: ast.FunctionCall) -> Value:
        arguments = [self.value(each) for each in node.arguments]
        name = node.name.name
        if name in ("rotl", "rotr") and arguments and isinstance(arguments[0], Bits):
            if len(arguments) != 2:
                raise Refusal(node, f"{name} has 2 arguments, and not {len(arguments)}.")
            bits = arguments[0].items
            turns = self.whole(node.arguments[1]) * (1 if name == "rotr" else -1) % len(bits)
            return Bits.of(bits[turns:] + bits[:turns], arguments[0].is_register)
        return function_of(node, name, arguments, is_version_2=self.is_version_2)

    def _unary(self, node: Any) -> Value:
        value, sign = self.value(node.expression), node.op.name
        if sign == "!":
            return _simplest(not_(self._truth(node.expression, value)))
        if sign == "~" and isinstance(value, Bits):
            return Bits.of([not_(bit) for bit in value.items], value.is_register)
        return negative(node, sign, value)

    def binary(self, node: Any, sign: str, first: Value, second: Value) -> Value:
        """The value of two values with an operator between them."""
        if isinstance(first, Qubits) or isinstance(second, Qubits):
            raise Refusal(node, "qubits cannot be compared. Measure them first.")
        if sign in ("&&", "||"):
            left, right = self._truth(node, first), self._truth(node, second)
            return _simplest(self._and_or(sign, left, right))
        if isinstance(first, Bits) or isinstance(second, Bits):
            return self._of_bits(node, sign, first, second)
        return calculated(node, sign, first, second)

    def _of_bits(self, node: Any, sign: str, first: Value, second: Value) -> Value:
        if sign in ("<<", ">>") and isinstance(first, Bits) and isinstance(second, Integer):
            return _shifted(node, sign, first, second.value)
        if sign in ("==", "!="):
            equal = self._equal(node, first, second)
            return _simplest(equal if sign == "==" else not_(equal))
        if sign in ("&", "|", "^"):
            left, right = (self._as_bits(node, *sides) for sides in ((first, second), (second, first)))
            if len(left) != len(right):
                raise Refusal(
                    node, f"{sign} is between registers of one size, not {len(left)} and {len(right)}."
                )
            pairs = zip(left, right, strict=True)
            is_register = any(isinstance(each, Bits) and each.is_register for each in (first, second))
            return Bits.of([self._and_or(sign, *pair) for pair in pairs], is_register)
        numbers = [_known(each) for each in (first, second)]
        if None in numbers:
            raise Refusal(
                node,
                f"{sign} of measured bits has no counterpart here. ==, !=, !, &&, ||, &, |, ^ and ~ have.",
            )
        if sign in COMPARISONS and all(isinstance(each, Bits) for each in (first, second)):
            return COMPARISONS[sign](*(each.value for each in numbers if isinstance(each, Integer)))
        known = [each for each in numbers if each is not None]
        return calculated(node, sign, known[0], known[1])

    def _as_bits(self, node: Any, value: Value, other: Value) -> list[Literal]:
        """A value as bits, as many as another value has."""
        if not isinstance(value, Bits):
            size = len(other.cells) if isinstance(other, Bits) and other.is_register else None
            value = converted(node, value, ast.BitType(), size, explicit=False)
        assert isinstance(value, Bits)
        return value.items

    def _equal(self, node: Any, first: Value, second: Value) -> Literal:
        size = max(len(each.cells) for each in (first, second) if isinstance(each, Bits))
        sides: list[list[Literal]] = []
        for value in (first, second):
            if isinstance(value, Bits | bool):
                bits: list[Literal] = [value] if isinstance(value, bool) else value.items
                sides.append(bits + [False] * (size - len(bits)))
                continue
            number = value.value if isinstance(value, Integer) else value
            if not isinstance(number, int | float):
                raise Refusal(node, f"bits are not compared with a value of type {kind_of(value)}.")
            if number != int(number) or not 0 <= number < 1 << size:
                return False
            sides.append([bool(int(number) >> k & 1) for k in range(size)])
        pairs = zip(*sides, strict=True)
        return self.builder.all_of([not_(self.builder.parity_of(pair)) for pair in pairs])

    def _and_or(self, sign: str, left: Literal, right: Literal) -> Literal:
        if sign == "^":
            return self.builder.parity_of([left, right])
        if sign[0] == "&":
            return self.builder.all_of([left, right])
        return not_(self.builder.all_of([not_(left), not_(right)]))


def _inclusive(start: int, end: int, step: int) -> range:
    return range(start, end + (1 if step > 0 else -1), step)


def _simplest(bit: Literal) -> Value:
    return bit if isinstance(bit, bool) else Bits.of([bit], False)


def _known(value: Value) -> Value | None:
    """A value in whose place known bits are a number."""
    if not isinstance(value, Bits):
        return value
    return None if value.number is None else Integer(value.number, len(value.cells), False)


def _shifted(node: Any, sign: str, bits: Bits, count: int) -> Bits:
    if count < 0:
        raise Refusal(node, f"bits cannot be shifted by {count}.")
    items = bits.items
    count = min(count, len(items))
    zeros: list[Literal] = [False] * count
    moved = zeros + items[: len(items) - count] if sign == "<<" else items[count:] + zeros
    return Bits.of(moved, bits.is_register)
