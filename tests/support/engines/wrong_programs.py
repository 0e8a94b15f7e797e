"""Programs with one number changed, which the native module must refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stim_nonclifford.simulation.compiler.program.program_arrays import ProgramArrays
from stim_nonclifford.simulation.plan import SparseRows

from .native_instances import MAX, program_of_all_kinds

__all__ = ["wrong_programs"]

_FLAGS = {"is_inverted": [2], "resets": [2]}
_PARTS = {
    "first": [2**32 - 1],
    "end": [2**32 - 1],
    "first_factor": [2**32 - 1],
    "end_factor": [2**32 - 1],
    "first_record": [2**32 - 1],
    "end_record": [2**32 - 1],
}
_CHANCES = {"probability": [np.nan, -0.1, 1.1], "nothing": [np.nan, -0.1, 1.1]}
_OF_ALL_STEPS = {**_FLAGS, **_PARTS, **_CHANCES, "kind": [-1, 10]}
_OF_STEPS: dict[int, dict[str, list[int]]] = {
    0: {"number": [-1, 1, 2], "group_size": [0, 2, 3]},
    1: {"number": [-1, 0, 2], "group_size": [0, 1, 3]},
    3: {"number": [-2, 1, 9], "record": [-1, 8]},
    4: {"number": [-1, 4]},
    5: {"number": [-1, 2, 9], "group_size": [0, 3, 32], "record": [-2, 7, 2**62]},
    6: {"record": [-2, -1, 8, 2**62]},
    8: {"record": [-1, 8]},
    10: {"number": [-1, 2]},
    12: {"number": [-1, 3, 4]},
}
"""By the number of a step, numbers that are wrong in it."""

_LOOP = {
    "first": [99],
    "end": [99, 0],
    "repetitions": [0, 2**62],
    "records": [-1, 5, 2**62],
    "detectors": [-1, 4, 2**62],
}


def wrong_programs() -> Iterator[tuple[str, ProgramArrays]]:
    """What is wrong, and the program."""
    right = program_of_all_kinds()
    found: list[tuple[str, ProgramArrays]] = []

    def add(name: str, what: str, value: Any) -> None:
        found.append((f"{name} {what}", right._replace(**{name: value})))

    def change(name: str, place: int, values: dict[str, list[Any]]) -> None:
        array = getattr(right, name)
        for field, wrong in values.items():
            for value in wrong:
                changed = array.copy()
                changed[field][place] = value
                add(name, f"{place}: {field} {value}", changed)

    for name in ("num_qubits", "num_records", "num_detectors", "num_observables"):
        for number in (-1, 2**31, MAX, 1.5, None):
            add(name, str(number), number)
    for name in ("steps", "targets", "factors", "records", "gate_sizes", "channels", "choices", "loops"):
        array = getattr(right, name)
        if name != "loops":
            add(name, "short", array[:-1])
        add(name, "of another dtype", np.zeros(len(array), np.complex128))
        add(name, "None", None)
    for place in range(len(right.steps)):
        change("steps", place, _OF_ALL_STEPS)
        change("steps", place, _OF_STEPS.get(place, {}))
    for name, wrong in (("targets", [3, MAX >> 32]), ("records", [-1, 8]), ("gate_sizes", [0, 2, 65])):
        for value in wrong:
            changed = getattr(right, name).copy()
            changed[0] = value
            add(name, str(value), changed)
    change("factors", 0, {"qubit": [3, 2**32 - 1], "code": [0, 4]})
    change("channels", 0, {"constant": [2], "first_rate": [9], "first_choice": [9], "end": [9, MAX]})
    change("choices", 0, {"pattern": [MAX], "amount": [np.nan, -0.1, np.inf]})
    change("choices", len(right.choices) - 1, {"amount": [np.nan, -0.1, 1.1]})
    change("loops", 0, _LOOP)
    loops = np.repeat(right.loops, 2)
    loops["first"], loops["end"] = [3, 4], [5, 6]
    add("loops", "that are not nested", loops)
    starts, bits = right.images.starts, right.images.bits
    for k, (wrong_starts, wrong_bits) in enumerate(
        [
            (starts[:-1], bits),
            (starts[::-1].copy(), bits),
            (starts, bits[:-1]),
            (starts, bits - 1),
            (starts, np.where(bits == 0, 9, bits)),
            (starts, bits.astype(np.int64)),
        ]
    ):
        add("images", str(k), SparseRows(wrong_starts, wrong_bits))
    return iter(found)
