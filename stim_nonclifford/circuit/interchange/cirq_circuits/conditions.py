"""Classical controls of Cirq as bits."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..builder import CircuitBuilder, Literal, not_
from .gates import cirq

Measured = Mapping[str, list[list[Literal]]]
"""By its key, the bits of each measurement, in the order in which they were made."""


class _Digits:
    """Values of measurements, as Cirq's conditions read them."""

    def __init__(self, measured: Measured, values: Mapping[tuple[str, int], bool]) -> None:
        self._measured, self._values = measured, values

    def keys(self) -> set[Any]:
        return {cirq.MeasurementKey.parse_serialized(key) for key in self._measured}

    def get_digits(self, key: Any, index: int = -1) -> tuple[int, ...]:
        return tuple(
            int(self._values.get((str(key), k), False)) for k in range(len(self._measured[str(key)][index]))
        )

    def get_int(self, key: Any, index: int = -1) -> int:
        return int(cirq.big_endian_bits_to_int(self.get_digits(key, index)))


def bit_of(condition: Any, measured: Measured, builder: CircuitBuilder) -> Literal:
    """The bit that a condition is."""
    for key in condition.keys:
        if str(key) not in measured:
            raise ValueError(f"nothing before it was measured with the key {key}.")
    if isinstance(condition, cirq.KeyCondition):
        bits = _instance(condition, measured)
        return not_(builder.all_of([not_(each) for each in bits]))
    if isinstance(condition, cirq.BitMaskKeyCondition):
        return _masked(condition, _instance(condition, measured), builder)
    if isinstance(condition, cirq.SympyCondition):
        return _expression(condition, measured, builder)
    raise ValueError(f"a condition of the kind {type(condition).__name__} has no counterpart here.")


def _instance(condition: Any, measured: Measured) -> Sequence[Literal]:
    """The bits of the measurement with this key that a condition means."""
    found, index = measured[str(condition.key)], condition.index
    if not -len(found) <= index < len(found):
        raise ValueError(
            f"it depends on measurement {index} with the key {condition.key}, of which there are"
            f" {len(found)} before it."
        )
    return found[index]


def _masked(condition: Any, bits: Sequence[Literal], builder: CircuitBuilder) -> Literal:
    whole = (1 << max(len(bits), int(condition.target_value).bit_length())) - 1
    mask = whole if condition.bitmask is None else int(condition.bitmask)
    target = int(condition.target_value)
    if target < 0 or mask < 0:
        raise ValueError("its bit mask or its value is negative.")
    wanted: list[Literal] = [not target & ~(mask & ((1 << len(bits)) - 1))]
    for place, bit in enumerate(reversed(bits)):
        if mask >> place & 1:
            wanted.append(bit if target >> place & 1 else not_(bit))
    equal = builder.all_of(wanted)
    return equal if condition.equal_target else not_(equal)


def _expression(condition: Any, measured: Measured, builder: CircuitBuilder) -> Literal:
    sympy: Any = importlib.import_module("sympy")  # which Cirq needs, too
    indexed = list(condition.expr.atoms(sympy.Indexed))
    whole = condition.expr.xreplace({each: sympy.Dummy() for each in indexed}).free_symbols
    places: dict[tuple[str, int], Literal] = {}
    for symbol in whole:
        if isinstance(symbol, sympy.Symbol) and not isinstance(symbol, sympy.Dummy):
            key = str(cirq.MeasurementKey.parse_serialized(symbol.name))
            places.update({(key, k): bit for k, bit in enumerate(measured[key][-1])})
    for each in indexed:
        key = str(cirq.MeasurementKey.parse_serialized(each.base.name))
        bits = measured[key][-1]
        if len(each.indices) != 1 or not (
            each.indices[0].is_Integer and 0 <= int(each.indices[0]) < len(bits)
        ):
            raise ValueError(f"{each} is no bit of the measurement with the key {key}.")
        places[key, int(each.indices[0])] = bits[int(each.indices[0])]

    def value(chosen: Sequence[bool]) -> bool:
        return bool(condition.resolve(_Digits(measured, dict(zip(places, chosen, strict=True)))))

    return builder.function_of(list(places.values()), value)
