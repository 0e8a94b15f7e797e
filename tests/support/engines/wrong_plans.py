"""Attributes of a plan, each wrong in one way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from stim_nonclifford import _native

from .native_instances import PLAN, ints, long


def wrong_plans() -> dict[str, dict[str, Any]]:
    """Attributes of a plan that are wrong, by what is wrong."""
    found: dict[str, dict[str, Any]] = {}
    numbers = (
        "num_checks", "num_signature_bits", "num_outputs", "num_signs", "num_outcome_checks", "peak_width",
    )  # fmt: skip
    for name in numbers:
        for value in (2**32 - 1, 2**32, -1, None, 1.5, np.nan):
            found[f"{name} = {value}"] = {name: value}
    for name in ("never_kept", "effects_are_lists", "coins_are_lists"):
        found[f"{name} = 2"] = {name: 2}
    for name in ("constant", "branch_constant", "outcome_check_deadlines", "sites", "alias_indices"):
        right = getattr(PLAN, name)
        for value in (-2, 10**6):
            wrong = np.append(right, 0).astype(np.int32)
            wrong[-1] = value
            found[f"{name} with {value}, long"] = {name: wrong}
            if len(right):
                found[f"{name} with {value}"] = {name: np.append(right[:-1], value).astype(np.int32)}
        found[f"{name} of int64"] = {name: right.astype(np.int64)}
        found[f"no {name}"] = {name: None}
    for name in ("sites", "alias_indices", "alias_thresholds", "outcome_check_deadlines"):
        found[f"{name}, short"] = {name: getattr(PLAN, name)[:-1]}
        found[f"{name}, empty"] = {name: getattr(PLAN, name)[:0]}
    del found["sites with 1000000"]  # there may be more sites than mechanisms
    found["signature bit in constant"] = {"constant": ints(PLAN.num_checks)}
    found["count_thresholds, descending"] = {"count_thresholds": PLAN.count_thresholds[::-1].copy()}
    found["count_thresholds, in steps"] = {"count_thresholds": np.zeros(8, np.uint64)[::2]}
    for name in ("effects", "coins", "signature_images", "outcome_effects"):
        rows = getattr(PLAN, name)
        starts, bits = rows.starts, rows.bits
        wrong_rows = {
            "short": (starts[:-1], bits),
            "long": (np.append(starts, starts[-1] + 5), bits),
            "negative start": (starts - 1, bits),
            "empty starts": (starts[:0], bits),
            "descending starts": (starts[::-1].copy(), bits),
            "negative bit": (starts, bits - 10**6),
            "large bit": (starts, bits + 10**6),
            "equal bits": (long(0, *[2] * (len(starts) - 1)), ints(1, 1)),
            "bits of int64": (starts, bits.astype(np.int64)),
            "missing bits": (starts, bits[:-1]),
        }
        for what, (wrong_starts, wrong_bits) in wrong_rows.items():
            found[f"{name}, {what}"] = {name: SimpleNamespace(starts=wrong_starts, bits=wrong_bits)}
        found[f"no {name}"] = {name: None}
    for name in ("operations", "rotation_terms"):
        records = getattr(PLAN, name)
        found[f"{name}, short"] = {name: records[:-1]}
        found[f"{name}, long"] = {name: np.append(records, records[-1:])}
        found[f"{name} of another version"] = {name: records[[*records.dtype.names[:-1]]]}
        other_names = [(f"{field}_", kind) for field, kind in records.dtype.descr]
        found[f"{name} with other names"] = {name: np.zeros(len(records), other_names)}
        found[f"{name}, numbers"] = {name: np.zeros(3)}
        found[f"no {name}"] = {name: None}
    for field in PLAN.operations.dtype.names or ():
        for k in range(len(PLAN.operations)):
            for value in (77, -7):
                records = PLAN.operations.copy()
                records[field][k : k + 1] = np.array([value]).astype(records[field].dtype)
                found[f"{field} {value} of operation {k}"] = {"operations": records}
    firsts = {
        int(operation["first_term"]) for operation in PLAN.operations if operation["kind"] != _native.MEASURE
    }
    for k in range(len(PLAN.rotation_terms)):
        wrong_fields: list[tuple[str, float]] = [
            *((field, value) for field in ("cosine", "sine") for value in (np.nan, np.inf, 1.5)),
            ("sign", -2),
            ("sign", PLAN.num_signs),
            ("is_reversed", 2),
        ]
        if k in firsts:
            wrong_fields.append(("is_reversed", 1))
        for field, value in wrong_fields:
            records = PLAN.rotation_terms.copy()
            records[field][k] = value
            found[f"{field} {value} of term {k}"] = {"rotation_terms": records}
    return found
