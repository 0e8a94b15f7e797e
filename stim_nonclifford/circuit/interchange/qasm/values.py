"""Values of OpenQASM, with the types that the specification has, and the conversions between them.

A Boolean is a Python ``bool``, a floating-point number a ``float``. An integer has a width in bits and may be
unsigned; an angle is a whole number of steps of 2π / 2^width, so that its arithmetic is that of unsigned
integers. Bits and qubits are lists; a bit that was measured is a record of the circuit.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import openqasm3.ast as ast

from ..builder import Literal

WIDTH = 64
"""The width of integers and angles that have none in the program, which the specification leaves open."""

_FLOAT_FORMATS = {16: "e", 32: "f", 64: "d"}


class Refusal(ValueError):
    """Something in a program that has no counterpart here, at a node of its syntax tree."""

    def __init__(self, node: Any, message: str) -> None:
        super().__init__(message)
        self.node = node


@dataclass(slots=True)
class Cell:
    """The place of one classical bit; a register and its aliases share it."""

    bit: Literal


@dataclass(frozen=True, slots=True)
class Qubits:
    """Qubits by their indices in the circuit."""

    items: Sequence[int]
    is_register: bool


@dataclass(frozen=True, slots=True)
class Bits:
    """Classical bits; the first one is the least significant."""

    cells: Sequence[Cell]
    is_register: bool

    @classmethod
    def of(cls, bits: Sequence[Literal], is_register: bool) -> Bits:
        """Bits in places of their own."""
        return cls([Cell(bit) for bit in bits], is_register)

    @property
    def items(self) -> list[Literal]:
        """The bits."""
        return [cell.bit for cell in self.cells]

    @property
    def number(self) -> int | None:
        """The number that the bits are, or None if it depends on a measurement."""
        if not all(isinstance(cell.bit, bool) for cell in self.cells):
            return None
        return sum(bool(cell.bit) << k for k, cell in enumerate(self.cells))


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer."""

    value: int
    width: int | None = None  # its width in bits, or None if the program does not say it
    signed: bool = True  # whether its type is ``int``, and not ``uint``


@dataclass(frozen=True, slots=True)
class Angle:
    """An angle of ``steps`` times 2π / 2^width."""

    steps: int
    width: int

    @property
    def radians(self) -> float:
        """The angle, from 0 to 2π."""
        return math.ldexp(self.steps, 1 - self.width) * math.pi


@dataclass(frozen=True, slots=True)
class Duration:
    """A time in seconds, or in units of ``dt``."""

    amount: float
    unit: str  # s, ms, us, ns, or dt


Value = bool | float | Integer | Angle | Duration | Qubits | Bits


def kind_of(value: Value) -> str:
    """The name of the type of a value, as OpenQASM writes it."""
    match value:
        case bool():
            return "bool"
        case float():
            return "float"
        case Integer():
            width = "" if value.width is None else f"[{value.width}]"
            return f"{'int' if value.signed else 'uint'}{width}"
        case Angle():
            return f"angle[{value.width}]"
        case Duration():
            return "duration"
        case Qubits():
            return f"qubit[{len(value.items)}]" if value.is_register else "qubit"
    return f"bit[{len(value.cells)}]" if value.is_register else "bit"


def in_width(node: Any, value: int, width: int | None, signed: bool) -> Integer:
    """An integer of a type: one that is unsigned wraps around, as in C."""
    bits = WIDTH if width is None else width
    if signed:
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise Refusal(node, f"{value} does not fit in an int of {bits} bits.")
        return Integer(value, width, True)
    if width is None and not 0 <= value < 1 << bits:
        raise Refusal(
            node, f"{value} does not fit in a uint without a width. Write the width, as in uint[32]."
        )
    return Integer(value % (1 << bits), width, False)


def angle_of(radians: float, width: int) -> Angle:
    """The angle of a width that is next to a number in radians."""
    return Angle(round(math.ldexp(radians / math.pi, width - 1)) % (1 << width), width)


def converted(node: Any, value: Value, kind: Any, size: int | None, *, explicit: bool) -> Value:
    """A value as one of another type; without a cast (``explicit``), digits must not be lost."""
    if isinstance(value, Qubits):
        raise Refusal(node, "qubits have no value. Measure them first.")
    found: Value | None = None
    match kind:
        case ast.BoolType():
            found = _as_bool(value)
        case ast.IntType() | ast.UintType():
            found = _as_integer(node, value, size, isinstance(kind, ast.IntType), explicit)
        case ast.FloatType():
            found = _as_float(node, value, size)
        case ast.AngleType():
            found = _as_angle(value, WIDTH if size is None else size)
        case ast.BitType():
            found = _as_bits(node, value, size)
        case ast.DurationType():
            found = value if isinstance(value, Duration) else None
        case _:
            name = type(kind).__name__.removesuffix("Type").lower()
            raise Refusal(node, f"the type {name} has no counterpart here. Write numbers in its place.")
    if found is None:
        name = type(kind).__name__.removesuffix("Type").lower()
        raise Refusal(node, f"a value of type {kind_of(value)} is no {name}, and OpenQASM has no such cast.")
    return found


def _as_bool(value: Value) -> Value | None:
    match value:
        case bool() | Bits():
            return value  # bits are true if one is 1, which conditions look at
        case Integer():
            return value.value != 0
        case float():
            return value != 0
        case Angle():
            return value.steps != 0
    return None


def _as_integer(node: Any, value: Value, size: int | None, signed: bool, explicit: bool) -> Value | None:
    match value:
        case float():
            if not explicit:
                name = "int" if signed else "uint"
                raise Refusal(node, f"{value!r} is a float, and digits might be lost. Write {name}(...).")
            if not math.isfinite(value):
                raise Refusal(node, f"{value!r} is no whole number.")
            return in_width(node, int(value), size, signed)
        case bool():
            return Integer(int(value), size, signed)
        case Integer():
            wraps = signed and explicit and not value.signed and value.width == size and size is not None
            number = value.value
            if wraps and size is not None and number >= 1 << (size - 1):
                number -= 1 << size
            return in_width(node, number, size, signed)
        case Bits():
            count, number_or_none = len(value.cells), value.number
            if size is not None and size != count and value.is_register:
                raise Refusal(node, f"{count} bits are no integer of {size} bits. Write the width {count}.")
            if number_or_none is not None:
                if signed and size is not None and number_or_none >= 1 << (size - 1):
                    number_or_none -= 1 << size
                return in_width(node, number_or_none, size, signed)
            if signed and size is not None:
                raise Refusal(node, "measured bits are no int with a sign here. Write uint in its place.")
            return Bits.of(value.items, True)
    return None


def _as_float(node: Any, value: Value, size: int | None) -> Value | None:
    match value:
        case bool():
            found = float(value)
        case Integer():
            found = float(value.value)
        case float():
            found = value
        case _:
            return None
    format_ = _FLOAT_FORMATS.get(64 if size is None else size)
    if format_ is None:
        raise Refusal(node, f"a float has 16, 32 or 64 bits here, and not {size}.")
    try:
        [rounded] = struct.unpack(format_, struct.pack(format_, found))
    except OverflowError:
        raise Refusal(node, f"{found!r} does not fit in a float of {size} bits.") from None
    return float(rounded)


def _as_angle(value: Value, size: int) -> Value | None:
    match value:
        case Integer():
            return angle_of(float(value.value), size)
        case float():
            return angle_of(value, size) if math.isfinite(value) else None
        case Angle():
            if size >= value.width:
                return Angle(value.steps << (size - value.width), size)
            return angle_of(value.radians, size)
        case Bits():
            number = value.number
            return Angle(number, size) if number is not None and len(value.cells) == size else None
    return None


def _as_bits(node: Any, value: Value, size: int | None) -> Value | None:
    count = 1 if size is None else size
    match value:
        case Bits():
            if len(value.cells) != count:
                raise Refusal(node, f"{len(value.cells)} bits cannot be assigned to {count}.")
            return Bits.of(value.items, size is not None)
        case bool():
            number = int(value)
        case Integer():
            number = value.value % (1 << count) if value.width == count else value.value
        case Angle() if value.width == count:
            number = value.steps
        case _:
            return None
    if not 0 <= number < 1 << count:
        raise Refusal(node, f"{number} does not fit in {count} bits.")
    return Bits.of([bool(number >> k & 1) for k in range(count)], size is not None)
