"""Values of OpenQASM's expressions: numbers, qubits, classical bits.

A value is a number, or a list of qubits (``Qubits``), or a list of bits (``Bits``). Arithmetic is on numbers
alone; bits are compared, and combined by Boolean operators.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import openqasm3.ast as ast

from .builder import CircuitBuilder, Literal, not_

__all__ = [
    "Bits",
    "Qubits",
    "Refusal",
    "Value",
    "bit_of",
    "number_of",
    "places_of_bits",
    "range_of",
    "selected",
    "value_of",
    "whole_of",
]


class Refusal(ValueError):
    """Something in a program that has no counterpart here, at a node of its syntax tree."""

    def __init__(self, node: ast.QASMNode, message: str) -> None:
        super().__init__(message)
        self.node = node


@dataclass
class Qubits:
    """Qubits by their indices in the circuit."""

    items: list[int]
    is_register: bool


@dataclass
class Bits:
    """Classical bits: constants and records; the first one is the least significant."""

    items: list[Literal]
    is_register: bool


Value = int | float | Qubits | Bits
Scope = Mapping[str, Value]

_CONSTANTS = {"pi": math.pi, "π": math.pi, "tau": math.tau, "τ": math.tau, "euler": math.e, "ℇ": math.e}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arcsin": math.asin,
    "arccos": math.acos,
    "arctan": math.atan,
    "exp": math.exp,
    "ln": math.log,
    "log": math.log,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "ceiling": math.ceil,
    "mod": operator.mod,
    "pow": operator.pow,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "==": operator.eq,
    "!=": operator.ne,
}


def value_of(node: Any, scope: Scope, builder: CircuitBuilder) -> Value:
    """The value of an expression.

    Raises:
        Refusal: It is of a kind that has no counterpart here.
    """
    match node:
        case ast.IntegerLiteral() | ast.FloatLiteral() | ast.BooleanLiteral():
            return node.value
        case ast.BitstringLiteral():
            return Bits([bool(node.value >> k & 1) for k in range(node.width)], True)
        case ast.Identifier():
            if node.name in scope:
                return scope[node.name]
            if node.name in _CONSTANTS:
                return _CONSTANTS[node.name]
            raise Refusal(node, f"{node.name} has no value here. Every parameter must have a number.")
        case ast.IndexExpression():
            return selected(node, value_of(node.collection, scope, builder), [node.index], scope, builder)
        case ast.Cast():
            value = value_of(node.argument, scope, builder)
            if isinstance(value, Bits | Qubits) or not isinstance(node.type, ast.IntType | ast.UintType):
                return value
            return int(value)
        case ast.FunctionCall() if node.name.name in _FUNCTIONS:
            arguments = [number_of(each, scope, builder) for each in node.arguments]
            return _calculated(node, lambda: _FUNCTIONS[node.name.name](*arguments))
        case ast.UnaryExpression():
            return _unary(node, scope, builder)
        case ast.BinaryExpression():
            return _binary(node, scope, builder)
        case ast.Concatenation():
            left, right = value_of(node.lhs, scope, builder), value_of(node.rhs, scope, builder)
            if isinstance(left, Qubits) and isinstance(right, Qubits):
                return Qubits(left.items + right.items, True)
    raise Refusal(node, f"an expression of the kind {type(node).__name__} has no counterpart here.")


def number_of(node: Any, scope: Scope, builder: CircuitBuilder) -> float:
    """The number that an expression is.

    Raises:
        Refusal: It is no number, or depends on a measurement.
    """
    value = value_of(node, scope, builder)
    if isinstance(value, Bits) and all(isinstance(bit, bool) for bit in value.items):
        return sum(bool(bit) << k for k, bit in enumerate(value.items))
    if isinstance(value, Bits):
        raise Refusal(node, "this number depends on a measurement. Bits can only be conditions.")
    if isinstance(value, Qubits):
        raise Refusal(node, "a number is needed here, and these are qubits.")
    return value


def whole_of(node: Any, scope: Scope, builder: CircuitBuilder) -> int:
    """The whole number that an expression is.

    Raises:
        Refusal: It is none.
    """
    value = number_of(node, scope, builder)
    if value != int(value):
        raise Refusal(node, f"a whole number is needed here, and this is {value}.")
    return int(value)


def bit_of(node: Any, scope: Scope, builder: CircuitBuilder) -> Literal:
    """The bit that a condition is; its computation may add an ancilla to the circuit.

    Raises:
        Refusal: It is none.
    """
    value = value_of(node, scope, builder)
    if isinstance(value, Qubits):
        raise Refusal(node, "a condition is needed here, and these are qubits. Measure them first.")
    if not isinstance(value, Bits):
        return bool(value)
    # A register is true if it is not 0.
    return not_(builder.all_of([not_(bit) for bit in value.items]))


def selected(
    node: ast.QASMNode, value: Value, indices: Sequence[Any], scope: Scope, builder: CircuitBuilder
) -> Qubits | Bits:
    """The elements of a register.

    Raises:
        Refusal: There are no such elements.
    """
    if not isinstance(value, Qubits | Bits) or not value.is_register:
        raise Refusal(node, "only registers of qubits or bits have an index.")
    for index in indices:
        places, is_register = _places(node, index, len(value.items), scope, builder)
        if isinstance(value, Qubits):
            value = Qubits([value.items[k] for k in places], is_register)
        else:
            value = Bits([value.items[k] for k in places], is_register)
    return value


def _places(
    node: ast.QASMNode, index: Any, size: int, scope: Scope, builder: CircuitBuilder
) -> tuple[list[int], bool]:
    if isinstance(index, ast.DiscreteSet):
        places, is_register = [whole_of(each, scope, builder) for each in index.values], True
    elif len(index) != 1:
        raise Refusal(node, "registers have one index.")
    elif isinstance(index[0], ast.RangeDefinition):
        places, is_register = range_of(index[0], size, scope, builder), True
    else:
        places, is_register = [whole_of(index[0], scope, builder)], False
    for place in places:
        if not -size <= place < size:
            raise Refusal(node, f"there is no element {place}: the register has {size}.")
    return places, is_register


def range_of(node: ast.RangeDefinition, size: int, scope: Scope, builder: CircuitBuilder) -> list[int]:
    """The numbers of a range, whose end is one of them, in a register of some size."""
    step = 1 if node.step is None else whole_of(node.step, scope, builder)
    if not step:
        raise Refusal(node, "the step of a range cannot be 0.")
    start = 0 if node.start is None else whole_of(node.start, scope, builder)
    end = size - 1 if node.end is None else whole_of(node.end, scope, builder)
    return list(range(start, end + (1 if step > 0 else -1), step))


def places_of_bits(
    node: ast.QASMNode, size: int, indices: Sequence[Any], scope: Scope, builder: CircuitBuilder
) -> list[int]:
    """The places in a register of bits that are assigned to."""
    places = list(range(size))
    for index in indices:
        chosen, _ = _places(node, index, len(places), scope, builder)
        places = [places[k] for k in chosen]
    return places


def _calculated(node: ast.QASMNode, calculate: Callable[[], Any]) -> Any:
    try:
        result = calculate()
    except (ArithmeticError, ValueError, TypeError) as error:
        raise Refusal(node, f"this cannot be calculated: {error}.") from None
    if isinstance(result, complex):
        raise Refusal(node, "this is no real number.")
    return result


def _unary(node: Any, scope: Scope, builder: CircuitBuilder) -> Value:
    sign = node.op.name
    if sign == "-":
        return -number_of(node.expression, scope, builder)
    value = value_of(node.expression, scope, builder)
    if sign == "~" and isinstance(value, Bits):
        return Bits([not_(bit) for bit in value.items], value.is_register)
    return Bits([not_(bit_of(node.expression, scope, builder))], False)


def _binary(node: Any, scope: Scope, builder: CircuitBuilder) -> Value:
    sign = node.op.name
    if sign in ("&&", "||"):
        left, right = bit_of(node.lhs, scope, builder), bit_of(node.rhs, scope, builder)
        return Bits([_and_or(sign, left, right, builder)], False)
    first, second = value_of(node.lhs, scope, builder), value_of(node.rhs, scope, builder)
    if isinstance(first, Bits) or isinstance(second, Bits):
        return _of_bits(node, first, second, builder)
    numbers = number_of(node.lhs, scope, builder), number_of(node.rhs, scope, builder)
    if sign in _ARITHMETIC:
        return cast("float", _calculated(node, lambda: _ARITHMETIC[sign](*numbers)))
    raise Refusal(node, f"{sign} of numbers has no counterpart here.")


def _of_bits(node: Any, first: Value, second: Value, builder: CircuitBuilder) -> Value:
    sign = node.op.name
    size = max(len(each.items) for each in (first, second) if isinstance(each, Bits))
    left, right = _as_bits(node, first, size), _as_bits(node, second, size)
    pairs = list(zip(left, right, strict=True))
    if sign in ("==", "!="):
        equal = builder.all_of([not_(builder.parity_of(pair)) for pair in pairs])
        return Bits([equal if sign == "==" else not_(equal)], False)
    if sign in ("&", "|", "^"):
        return Bits([_and_or(sign, *pair, builder) for pair in pairs], size > 1)
    raise Refusal(
        node, f"{sign} of measured bits has no counterpart here. ==, !=, !, &&, ||, &, |, ^ and ~ have."
    )


def _as_bits(node: ast.QASMNode, value: Value, size: int) -> list[Literal]:
    if isinstance(value, Qubits):
        raise Refusal(node, "qubits cannot be compared. Measure them first.")
    if isinstance(value, Bits):
        return value.items + [False] * (size - len(value.items))
    if value != int(value) or not 0 <= value < 1 << size:
        raise Refusal(node, f"{size} bits are never equal to {value}.")
    return [bool(int(value) >> k & 1) for k in range(size)]


def _and_or(sign: str, left: Literal, right: Literal, builder: CircuitBuilder) -> Literal:
    if sign == "^":
        return builder.parity_of([left, right])
    if sign[0] == "&":
        return builder.all_of([left, right])
    return not_(builder.all_of([not_(left), not_(right)]))
