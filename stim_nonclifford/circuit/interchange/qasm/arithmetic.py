"""Arithmetic of OpenQASM's numbers: integers, floats, angles and durations, and its functions.

Two integers have an integer quotient, which is truncated towards zero, and a remainder of the sign of the
dividend, as in C. An integer beside a float becomes a float; a float beside an angle becomes an angle.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..angles import SECONDS
from .values import Angle, Bits, Duration, Integer, Qubits, Refusal, Value, angle_of, in_width, kind_of

_LONGEST = 4096
"""Largest number of bits of a power or a shift, before it is cut to the width of a type."""

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_REAL: dict[str, Callable[[float, float], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "%": math.fmod,
}
_BITWISE: dict[str, Callable[[int, int], int]] = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_OF_REALS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arcsin": math.asin,
    "arccos": math.acos,
    "arctan": math.atan,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "floor": lambda x: float(math.floor(x)),
    "ceiling": lambda x: float(math.ceil(x)),
}


def float_of(node: Any, value: Value) -> float:
    """The real number that a value is; of an angle, that in radians."""
    match value:
        case Integer():
            return float(value.value)
        case Angle():
            return value.radians
        case bool() | float():
            return float(value)
        case Bits():
            number = value.number
            if number is not None:
                return float(number)
            raise Refusal(node, "this number depends on a measurement. Measured bits can only be conditions.")
        case Qubits():
            raise Refusal(node, "a number is needed here, and these are qubits.")
    raise Refusal(node, f"a number is needed here, and this is a {kind_of(value)}.")


def negative(node: Any, sign: str, value: Value) -> Value:
    """The value after a sign ``-`` or ``~``."""
    match value:
        case bool() if sign == "-":
            return Integer(-int(value))
        case Integer() if sign == "-":
            return in_width(node, -value.value, value.width, value.signed)
        case Integer() if not value.signed and value.width is not None:
            return in_width(node, ~value.value, value.width, False)
        case Angle():
            return Angle((-value.steps if sign == "-" else ~value.steps) % (1 << value.width), value.width)
        case float() if sign == "-":
            return -value
        case Duration() if sign == "-":
            return Duration(-value.amount, value.unit)
        case Bits() if sign == "-":
            return -float_of(node, value)
    raise Refusal(node, f"a {kind_of(value)} has no sign {sign}. ~ needs bits, or a uint with a width.")


def calculated(node: Any, sign: str, first: Value, second: Value) -> Value:
    """The value of two numbers with an operator between them."""
    try:
        found = _calculated(node, sign, first, second)
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(node, f"this cannot be calculated: {error}.") from None
    if found is None:
        kinds = f"{kind_of(first)} {sign} {kind_of(second)}"
        raise Refusal(node, f"{kinds} has no meaning in OpenQASM, or no counterpart here.")
    return found


def _calculated(node: Any, sign: str, first: Value, second: Value) -> Value | None:
    left, right = (Integer(int(each)) if isinstance(each, bool) else each for each in (first, second))
    if sign == "==" and isinstance(first, bool) and isinstance(second, bool):
        return first == second
    if isinstance(left, Integer) and isinstance(right, Integer):
        return _of_integers(node, sign, left, right)
    if isinstance(left, Angle) or isinstance(right, Angle):
        return _with_angle(node, sign, left, right)
    if isinstance(left, Duration) or isinstance(right, Duration):
        return _with_duration(node, sign, left, right)
    if not isinstance(left, Integer | float) or not isinstance(right, Integer | float):
        return None
    numbers = float_of(node, left), float_of(node, right)
    if sign in COMPARISONS:
        return COMPARISONS[sign](*numbers)
    if sign not in _REAL:
        return None
    result = _REAL[sign](*numbers)
    if isinstance(result, complex):
        raise Refusal(node, "this is no real number.")
    return float(result)


def _of_integers(node: Any, sign: str, left: Integer, right: Integer) -> Value | None:
    a, b = left.value, right.value
    if sign in COMPARISONS:
        return COMPARISONS[sign](a, b)
    signed = left.signed or right.signed
    width = None if left.width is None or right.width is None else max(left.width, right.width)
    if sign in ("<<", ">>"):
        signed, width = left.signed, left.width
        if b < 0 or a < 0:
            raise Refusal(node, "shifts are of numbers that are not negative, by such numbers.")
        if sign == "<<" and b > _LONGEST:
            raise Refusal(node, f"a shift by {b} is too long.")
        result = a << b if sign == "<<" else a >> min(b, _LONGEST)
    elif sign == "**":
        if b < 0:
            return float(a) ** b  # the power of two floats is the one that there is
        if abs(a) > 1 and b * math.log2(abs(a)) > _LONGEST:
            raise Refusal(node, "this power is too large.")
        result = a**b if abs(a) > 1 else a ** min(b, 2 + b % 2)
    elif sign in ("/", "%"):
        if not b:
            raise Refusal(node, "this cannot be calculated: a division by 0.")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        result = quotient if sign == "/" else a - quotient * b
    elif sign in _BITWISE:
        if a < 0 or b < 0:
            raise Refusal(node, f"{sign} is of numbers that are not negative.")
        result = _BITWISE[sign](a, b)
    elif sign in ("+", "-", "*"):
        result = int(_REAL[sign](a, b))
    else:
        return None
    return in_width(node, result, width, signed)


def _with_angle(node: Any, sign: str, left: Value, right: Value) -> Value | None:
    """Angles are unsigned integers, times a unit."""
    width = max(each.width for each in (left, right) if isinstance(each, Angle))
    is_scaled = isinstance(right, Integer) and sign in ("<<", ">>", "*", "/") and right.value >= 0
    if isinstance(left, Angle) and isinstance(right, Integer) and is_scaled:
        sides = (Integer(left.steps, width, False), Integer(right.value, width, False))
        result = _of_integers(node, sign, *sides)
        return Angle(result.value, width) if isinstance(result, Integer) else None
    if isinstance(left, Integer) and isinstance(right, Angle) and sign == "*" and left.value >= 0:
        return Angle(left.value * right.steps % (1 << width), width)
    if sign in ("*", "/") and not (isinstance(left, Angle) and isinstance(right, Angle)):
        raise Refusal(node, "an angle is multiplied and divided by unsigned integers. Declare it as float.")
    numbers: list[int] = []
    for value in (left, right):
        if isinstance(value, Angle):
            numbers.append(value.steps << (width - value.width))
        elif isinstance(value, float | Integer):
            numbers.append(angle_of(float_of(node, value), width).steps)
        else:
            return None
    if sign in COMPARISONS:
        return COMPARISONS[sign](*numbers)
    if sign not in ("+", "-", "/", *_BITWISE):
        return None
    result = _of_integers(node, sign, *(Integer(each, width, False) for each in numbers))
    if not isinstance(result, Integer) or sign == "/":
        return result
    return Angle(result.value, width)


def _with_duration(node: Any, sign: str, left: Value, right: Value) -> Value | None:
    if isinstance(left, Duration) and isinstance(right, Duration):
        if sign not in ("+", "-", "/") and sign not in COMPARISONS:
            return None
        unit = left.unit
        other = _in_unit(node, right, unit)
        if sign in COMPARISONS:
            return COMPARISONS[sign](left.amount, other)
        if sign == "/":
            return left.amount / other
        return Duration(float(_REAL[sign](left.amount, other)), unit)
    if isinstance(left, Duration) and sign in ("*", "/"):
        return Duration(float(_REAL[sign](left.amount, float_of(node, right))), left.unit)
    if isinstance(right, Duration) and sign == "*":
        return Duration(float_of(node, left) * right.amount, right.unit)
    return None


def _in_unit(node: Any, duration: Duration, unit: str) -> float:
    if duration.unit == unit:
        return duration.amount
    if "dt" in (duration.unit, unit):
        raise Refusal(
            node, f"times in dt and in {unit if duration.unit == 'dt' else duration.unit} are mixed."
        )
    return duration.amount * SECONDS[duration.unit] / SECONDS[unit]


def function_of(node: Any, name: str, arguments: Sequence[Value], *, is_version_2: bool) -> Value:
    """The value of one of OpenQASM's functions."""
    if is_version_2 and name == "ln":
        name = "log"
    if name in _OF_REALS:
        _check_count(node, name, arguments, 1)
        number = float_of(node, arguments[0])
        try:
            return _OF_REALS[name](number)
        except (ArithmeticError, ValueError) as error:
            raise Refusal(node, f"this cannot be calculated: {error}.") from None
    if name in ("mod", "pow"):
        _check_count(node, name, arguments, 2)
        return calculated(node, "%" if name == "mod" else "**", *arguments)
    if name in ("popcount", "rotl", "rotr"):
        _check_count(node, name, arguments, 1 if name == "popcount" else 2)
        return _of_pattern(node, name, arguments)
    known = ", ".join([*_OF_REALS, "mod", "pow", "popcount", "rotl", "rotr", "sizeof"])
    raise Refusal(node, f"there is no function {name} here. There are {known}.")


def _check_count(node: Any, name: str, arguments: Sequence[Value], count: int) -> None:
    if len(arguments) != count:
        raise Refusal(node, f"{name} has {count} arguments, and not {len(arguments)}.")


def _of_pattern(node: Any, name: str, arguments: Sequence[Value]) -> Value:
    """Functions of the bits of a value."""
    value = arguments[0]
    match value:
        case Bits() if value.number is not None:
            pattern, width = value.number, len(value.cells)
        case Integer() if not value.signed and value.width is not None:
            pattern, width = value.value, value.width
        case Angle():
            pattern, width = value.steps, value.width
        case _:
            raise Refusal(node, f"{name} needs known bits, or a uint or an angle with a width.")
    if name == "popcount":
        return Integer(pattern.bit_count(), None, False)
    turns = arguments[1]
    if not isinstance(turns, Integer):
        raise Refusal(node, f"{name} turns by a whole number.")
    left = turns.value * (1 if name == "rotl" else -1) % width
    turned = (pattern << left | pattern >> (width - left)) & ((1 << width) - 1)
    return Angle(turned, width) if isinstance(value, Angle) else Integer(turned, width, False)
