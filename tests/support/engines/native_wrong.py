"""Plans and programs with one thing changed, which the native module must refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from stim_nonclifford import _native
from stim_nonclifford.simulation.compiler.program.program_arrays import ProgramArrays
from stim_nonclifford.simulation.plan import SparseRows

from .native_cases import ATTRIBUTES, MAX, PLAN, ints, long, program_of_all_kinds

Named = Iterator[tuple[str, str, Any]]
"""The name of an attribute, what is wrong, and the value."""


def _with_fields(
    name: str, records: npt.NDArray[np.void], k: int, values: Mapping[str, Sequence[Any]]
) -> Named:
    """Arrays of records with one field of record k changed."""
    for field, wrong in values.items():
        for value in wrong:
            changed = records.copy()
            changed[field][k] = np.array(value).astype(changed[field].dtype)
            yield name, f"{field} {value} of {k}", changed


def _with_wrong_rows(name: str, rows: SparseRows) -> Named:
    starts, bits = rows.starts, rows.bits
    for what, wrong_starts, wrong_bits in (
        ("short", starts[:-1], bits),
        ("long", np.append(starts, starts[-1] + 5), bits),
        ("negative start", starts - 1, bits),
        ("empty starts", starts[:0], bits),
        ("descending starts", starts[::-1].copy(), bits),
        ("negative bit", starts, bits - 10**6),
        ("large bit", starts, bits + 10**6),
        ("equal bits", long(0, *[2] * (len(starts) - 1)), ints(1, 1)),
        ("bits of int64", starts, bits.astype(np.int64)),
        ("missing bits", starts, bits[:-1]),
    ):
        yield name, what, SimpleNamespace(starts=wrong_starts, bits=wrong_bits)


def _of_plans() -> Named:
    for name in (
        "num_checks",
        "num_signature_bits",
        "num_outputs",
        "num_signs",
        "num_outcome_checks",
        "peak_width",
    ):
        yield from ((name, str(value), value) for value in (2**32 - 1, 2**32, -1, None, 1.5, np.nan))
    yield from ((name, "2", 2) for name in ("never_kept", "effects_are_lists", "coins_are_lists"))
    for name in ("constant", "branch_constant", "outcome_check_deadlines", "sites", "alias_indices"):
        right = getattr(PLAN, name)
        for value in (-2, 10**6):
            yield name, f"{value}, long", np.append(right, value).astype(np.int32)
            if len(right) and (name, value) != ("sites", 10**6):  # there may be more sites than mechanisms
                yield name, str(value), np.append(right[:-1], value).astype(np.int32)
        yield name, "int64", right.astype(np.int64)
        yield name, "None", None
    for name in ("sites", "alias_indices", "alias_thresholds", "outcome_check_deadlines"):
        yield name, "short", getattr(PLAN, name)[:-1]
        yield name, "empty", getattr(PLAN, name)[:0]
    yield "constant", "signature bit", ints(PLAN.num_checks)
    yield "count_thresholds", "descending", PLAN.count_thresholds[::-1].copy()
    yield "count_thresholds", "in steps", np.zeros(8, np.uint64)[::2]
    for name in ("effects", "coins", "signature_images", "outcome_effects"):
        yield from _with_wrong_rows(name, getattr(PLAN, name))
        yield name, "None", None
    for name in ("operations", "rotation_terms"):
        records = getattr(PLAN, name)
        yield name, "short", records[:-1]
        yield name, "long", np.append(records, records[-1:])
        yield name, "of another version", records[[*records.dtype.names[:-1]]]
        other_names = [(f"{field}_", kind) for field, kind in records.dtype.descr]
        yield name, "other names", np.zeros(len(records), other_names)
        yield name, "numbers", np.zeros(3)
        yield name, "None", None
    for k in range(len(PLAN.operations)):
        fields = dict.fromkeys(PLAN.operations.dtype.names or (), (77, -7))
        yield from _with_fields("operations", PLAN.operations, k, fields)
    firsts = PLAN.operations["first_term"][PLAN.operations["kind"] != _native.MEASURE].tolist()
    for k in range(len(PLAN.rotation_terms)):
        numbers = {
            "cosine": (np.nan, np.inf, 1.5),
            "sine": (np.nan, np.inf, 1.5),
            "sign": (-2, PLAN.num_signs),
        }
        reversed_ = {"is_reversed": (2, 1) if k in firsts else (2,)}
        yield from _with_fields("rotation_terms", PLAN.rotation_terms, k, {**numbers, **reversed_})


_OF_ALL_STEPS: dict[str, list[Any]] = {
    **{key: [2] for key in ("is_inverted", "resets")},
    **{
        key: [2**32 - 1]
        for key in ("first", "end", "first_factor", "end_factor", "first_record", "end_record")
    },
    **{key: [np.nan, -0.1, 1.1] for key in ("probability", "nothing")},
    "kind": [-1, 10],
}
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


def _of_programs(right: ProgramArrays) -> Named:
    for name in ("num_qubits", "num_records", "num_detectors", "num_observables"):
        yield from ((name, str(number), number) for number in (-1, 2**31, MAX, 1.5, None))
    for name in ("steps", "targets", "factors", "records", "gate_sizes", "channels", "choices", "loops"):
        if name != "loops":
            yield name, "short", getattr(right, name)[:-1]
        yield name, "of another dtype", np.zeros(len(getattr(right, name)), np.complex128)
        yield name, "None", None
    for k in range(len(right.steps)):
        yield from _with_fields("steps", right.steps, k, _OF_ALL_STEPS)
        yield from _with_fields("steps", right.steps, k, _OF_STEPS.get(k, {}))
    for name, wrong in (("targets", [3, MAX >> 32]), ("records", [-1, 8]), ("gate_sizes", [0, 2, 65])):
        for value in wrong:
            changed = getattr(right, name).copy()
            changed[0] = value
            yield name, str(value), changed
    yield from _with_fields("factors", right.factors, 0, {"qubit": [3, 2**32 - 1], "code": [0, 4]})
    of_channels = {"constant": [2], "first_rate": [9], "first_choice": [9], "end": [9, MAX]}
    yield from _with_fields("channels", right.channels, 0, of_channels)
    of_choices = {"pattern": [MAX], "amount": [np.nan, -0.1, np.inf]}
    yield from _with_fields("choices", right.choices, 0, of_choices)
    yield from _with_fields("choices", right.choices, len(right.choices) - 1, {"amount": [np.nan, -0.1, 1.1]})
    yield from _with_fields("loops", right.loops, 0, _LOOP)
    loops = np.repeat(right.loops, 2)
    loops["first"], loops["end"] = [3, 4], [5, 6]
    yield "loops", "not nested", loops
    yield from _with_wrong_rows("images", right.images)
    starts, bits = right.images.starts, right.images.bits
    yield "images", "bits less 1", SparseRows(starts, bits - 1)
    yield "images", "9 for 0", SparseRows(starts, np.where(bits == 0, 9, bits))


def wrong_plans() -> dict[str, SimpleNamespace]:
    """Plans by what is wrong in them."""
    return {
        f"{name}: {what}": SimpleNamespace(**{**vars(ATTRIBUTES), name: value})
        for name, what, value in _of_plans()
    }


def wrong_programs() -> dict[str, ProgramArrays]:
    """Programs by what is wrong in them."""
    right = program_of_all_kinds()
    return {f"{name}: {what}": right._replace(**{name: value}) for name, what, value in _of_programs(right)}
