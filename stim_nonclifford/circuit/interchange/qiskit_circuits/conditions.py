"""Conditions and classical expressions of Qiskit as bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..builder import CircuitBuilder, Literal, not_
from ..packages import needed
from .gates import ADVICE

__all__ = ["Conditions"]

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
    """The values of classical bits of the whole circuit, and of expressions of them.

    Attributes:
        bits: The value of each bit.
    """

    def __init__(self, builder: CircuitBuilder, bits: dict[Any, Literal]) -> None:
        self._builder = builder
        self.bits = bits

    def holds(self, condition: Any, outer_bits: Mapping[Any, Any]) -> Literal:
        """The bit that a condition is.

        Raises:
            ValueError: It has no counterpart.
        """
        if isinstance(condition, tuple):
            subject, value = condition
            return self.equal(subject, [int(value)], outer_bits)
        return self._truth(condition, outer_bits)

    def equal(self, subject: Any, values: Sequence[int], outer_bits: Mapping[Any, Any]) -> Literal:
        """Whether a bit, a register or an expression has one of some values."""
        if isinstance(subject, expr.Expr) and not _is_bits(subject):
            return self._function(subject, lambda value: int(value) in values, outer_bits)
        bits = self._bits_of(subject.var if isinstance(subject, expr.Var) else subject, outer_bits)
        found = [self._equal(bits, value) for value in values]
        return not_(self._builder.all_of([not_(each) for each in found]))

    def _equal(self, bits: Sequence[Literal], value: int) -> Literal:
        if not 0 <= value < 1 << len(bits):
            return False
        return self._builder.all_of([bit if value >> k & 1 else not_(bit) for k, bit in enumerate(bits)])

    def _bits_of(self, subject: Any, outer_bits: Mapping[Any, Any]) -> list[Literal]:
        members = list(subject) if hasattr(subject, "size") else [subject]
        return [self.bits[outer_bits.get(bit, bit)] for bit in members]

    def _truth(self, node: Any, outer_bits: Mapping[Any, Any]) -> Literal:
        """The bit that an expression is; long products and sums are written term by term."""
        builder = self._builder
        if _is_bits(node):
            return not_(self.equal(node, [0], outer_bits))
        if isinstance(node, expr.Unary) and node.op.name == "LOGIC_NOT":
            return not_(self._truth(node.operand, outer_bits))
        if isinstance(node, expr.Binary):
            kind = node.op.name
            if kind in ("LOGIC_AND", "LOGIC_OR"):
                left, right = self._truth(node.left, outer_bits), self._truth(node.right, outer_bits)
                if kind == "LOGIC_AND":
                    return builder.all_of([left, right])
                return not_(builder.all_of([not_(left), not_(right)]))
            if kind in ("EQUAL", "NOT_EQUAL") and _is_bits(node.left) and isinstance(node.right, expr.Value):
                found = self.equal(node.left, [int(node.right.value)], outer_bits)
                return found if kind == "EQUAL" else not_(found)
        return self._function(node, bool, outer_bits)

    def _function(self, node: Any, function: Callable[[Any], bool], outer_bits: Mapping[Any, Any]) -> Literal:
        variables = list(dict.fromkeys(expr.iter_vars(node)))
        if not all(map(_is_bits, variables)):
            raise ValueError(f"classical variables have no counterpart here. {ADVICE}")
        places = [self._bits_of(each.var, outer_bits) for each in variables]
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
