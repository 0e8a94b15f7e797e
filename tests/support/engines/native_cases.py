"""Right arguments for every function and method of the native module, and wrong ones for each argument."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from stim_nonclifford import _native

from .native_chain_cases import CHAIN_CASES
from .native_instances import (
    ATTRIBUTES,
    IMAGE,
    JOB_BYTES,
    KEY_WORDS,
    MAX,
    MECHANISMS,
    NO_IMAGE,
    PLAN,
    ROWS,
    SHOTS,
    SIGNATURE_WORDS,
    SIZE,
    STEPS,
    WRONG_WEIGHTS,
    Case,
    changed_steps,
    engine,
    floats,
    ints,
    long,
    matchings,
    paths,
    program,
    program_of_all_kinds,
    quantum,
    study,
    study_arguments,
    without_length,
    words,
)

__all__ = ["CASES", "Case"]

_ROWS = {"starts": ROWS[0], "bits": ROWS[1]}
_WRONG_STARTS = [long(0, 9, 3), long(-1, 2, 3), long(0, 2, 99), long()]
_WRONG_BITS = [ints(0, -4, 1)]
_WRONG_IMAGES = [NO_IMAGE, None, 0]
_SIGNATURE = words(*[0] * SIGNATURE_WORDS)
_WRONG_SIGNATURE = [words(*[MAX] * SIGNATURE_WORDS), [0] * SIGNATURE_WORDS]
_WRONG_HALVES = [
    np.array(draws, np.uint32) for draws in ([], [0, 0], [1, 1], [0, 2**31, 2**31], [0] * 65 + [1])
]
_MORE_SHOTS = {"first_shot": [2**63], "shots": [MAX]}

CASES: dict[str, Case] = {
    "alias_table": Case({"scaled": floats(1.0, 1.0)}, instead={"scaled": without_length(floats(1.0, 1.0))}),
    "backward_sweep": Case(
        {
            "program": program(),
            "quantum": quantum(),
            "by_records": False,
            "with_noise": True,
            "with_faults": False,
            "leakage": long(2, 0, 1, 3, -1, 0),
            "max_bytes": 1 << 20,
            "progress": lambda step: None,
        },
        {
            "quantum": [_native.QuantumProgram(np.zeros(7, np.uint8))],
            "leakage": [
                *(long(2, qubit, 1) for qubit in (9, -2, 2**32)),
                *(long(2, 0, code) for code in (0, 4, 2**32 + 1)),
                *(long(2, -1, record) for record in (-1, 8)),
                *(long(place, 0, 1) for place in (-1, 99)),
            ],
            "max_bytes": [0],
        },
    ),
    "certain_at": Case({"width": 20}, {"width": [-1, 65]}),
    "check_plan": Case({"plan": ATTRIBUTES}),
    "forward_sweep": Case(
        {"program": program(), "keep_order": False, "progress": print},
        {"program": [ATTRIBUTES], "keep_order": [2], "progress": [3]},
    ),
    "has_insertion_laws": Case({"plan": ATTRIBUTES}),
    "image_of_rows": Case(
        {**_ROWS, "image_starts": ROWS[0], "image_bits": ROWS[1]},
        {
            "starts": _WRONG_STARTS,
            "bits": _WRONG_BITS,
            "image_starts": _WRONG_STARTS,
            "image_bits": _WRONG_BITS,
        },
    ),
    "image_sizes": Case({"image": IMAGE}, instead={"image": [IMAGE[:4], *_WRONG_IMAGES]}),
    "image_steps": Case({"image": IMAGE}, instead={"image": [IMAGE[:60], *_WRONG_IMAGES]}),
    "independent_rows": Case(_ROWS, {"starts": _WRONG_STARTS, "bits": [*_WRONG_BITS, ints(4, 0, 1)]}),
    "kept_branches": Case(
        {"plan": ATTRIBUTES, "signatures": _SIGNATURE, "count": 1, "width_of_sums": 14},
        {"signatures": [words(*[MAX] * SIGNATURE_WORDS)], "count": [2, 0, 2**63]},
    ),
    "limit_time": Case({"seconds": float("inf")}, {"seconds": [np.nan]}),
    "plan_image": Case({"plan": ATTRIBUTES}),
    "random_words": Case({"seed": 1, "stream": 2, "index": 3, "count": 4}, {"count": [MAX]}),
    "run_on_host": Case(
        # A job without addresses: those that a job has must be right.
        {
            "kernel": "noise",
            "job": np.zeros(JOB_BYTES, np.uint8),
            "round": 0,
            "num_teams": 1,
            "row_words": 0,
            "team_size": 32,
            "in_shared": False,
            "reversed": False,
        },
        {
            "kernel": ["other"],
            "job": [np.zeros(JOB_BYTES, np.uint8)],
            "round": [99],
            "num_teams": [0],
            "row_words": [99],
        },
        runs=False,
    ),
    "Engine.__init__": Case(
        {"plan": ATTRIBUTES, "num_threads": 1, "cache_bytes": 0, "instruction_set": "generic"},
        {"num_threads": [0, 1025], "instruction_set": ["abacus"]},
    ),
    "Engine.count": Case({**SHOTS, "max_errors": 0, "list_errors": False}, _MORE_SHOTS, engine),
    "Engine.sample": Case(
        {**SHOTS, "num_outputs": 1}, {**_MORE_SHOTS, "num_outputs": [PLAN.num_outputs + 1]}, engine
    ),
    "Engine.sample_kept": Case(dict(SHOTS), _MORE_SHOTS, engine),
    "Engine.kept_law": Case({"signature": _SIGNATURE}, {"signature": _WRONG_SIGNATURE}, engine),
    "Engine.outcomes": Case(
        {"signatures": _SIGNATURE, "numbers": words(0), "seed": 1},
        {"signatures": [words(*[MAX] * SIGNATURE_WORDS)]},
        engine,
    ),
    "Engine.possible_path": Case(
        {"signature": _SIGNATURE, "seed": 1, "number": 0}, {"signature": _WRONG_SIGNATURE}, engine
    ),
    "FaultSetStudy.__init__": Case(
        study_arguments(),
        {
            "keys": [words(*[MAX] * (SIZE * KEY_WORDS))],
            "base": [words(*[MAX] * KEY_WORDS)],
            "sites": [ints(*[-2] * SIZE)],
            "max_weight": [0, 65],
            "threads": [0, 1025],
        },
        # Sets of coins are words.
        instead={
            "coins": [words(0), words(*[MAX] * KEY_WORDS), words(*[0] * (49 * KEY_WORDS)), None][
                KEY_WORDS == 1 :
            ],
        },
    ),
    "FaultSetStudy.bounds": Case(
        # Bounds are taken where ``closed`` ends, so that it may be of any length.
        {"closed": floats(1.0, 0.0), "negligible": 0.0},
        {"negligible": [-1.0, np.nan]},
        study,
        instead={"closed": without_length(floats(1.0, 0.0))},
    ),
    "FaultSetStudy.compose": Case(
        {"left": 2, "right": 2, "draws": 10.0, "seed": 1, "round": 1, "max_keys": 10, "kept_only": False},
        {
            "left": [*WRONG_WEIGHTS, 0, 4],
            "right": [*WRONG_WEIGHTS, 0, 4],
            "draws": [0.0, np.nan, np.inf, 2.0**31 + 1],
            "round": [2**24],
        },
        study,
    ),
    "FaultSetStudy.enumerate": Case(
        {
            "weight": 2,
            "circuits": MECHANISMS.odds,
            "num_circuits": 1,
            "max_steps": 10**6,
            "max_keys": 10**6,
            "kept_only": False,
            "max_seconds": 1.0,
            "max_laws": 10**6,
        },
        {"weight": WRONG_WEIGHTS, "num_circuits": [0, 2, 2**63], "max_seconds": [0.0, -1.0, np.nan]},
        study,
    ),
    "FaultSetStudy.join": Case(
        {
            "left": np.array([0, 10], np.uint32),
            "right": np.array([0, 5, 5], np.uint32),
            "counts": floats(0.0, 0.0, 0.5, 1.0),
            "seed": 1,
            "round": 1,
            "max_sets": 10,
            "ratios": np.ones(SIZE),
            "num_circuits": 1,
            "kept_only": False,
        },
        {
            **dict.fromkeys(("left", "right"), _WRONG_HALVES),
            "counts": [floats(*[1.0] * 66)],
            "round": [2**24],
            "num_circuits": [0, 2],
        },
        study,
        instead={
            "left": without_length(np.array([0, 10], np.uint32)),
            "right": without_length(np.array([0, 5, 5], np.uint32)),
            "counts": without_length(floats(0.0, 0.0, 0.5, 1.0)),
        },
    ),
    "FaultSetStudy.member_sums": Case(
        {"weight": 1, "odds": MECHANISMS.odds, "values": floats(1.0, 0.0), "columns": 2},
        {"weight": WRONG_WEIGHTS, "columns": [0, 3]},
        study,
    ),
    "FaultSetStudy.number_keys": Case(
        {"members": np.array([0, 1], np.uint32), "weight": 2, "kept_only": True},
        {"members": [np.array([0, SIZE], np.uint32)], "weight": [*WRONG_WEIGHTS, 0, 3]},
        study,
    ),
    "FaultSetStudy.sets_with": Case(
        {"weight": 1, "values": floats(1.0)},
        {"weight": WRONG_WEIGHTS},
        study,
        instead={"values": without_length(floats(1.0))},
    ),
    "FaultSetStudy.total": Case({"weight": 1}, {"weight": WRONG_WEIGHTS}, study),
    "MatchingWeights.__init__": Case(
        {
            "num_nodes": 3,
            "first": long(0, 1, 0),
            "second": long(1, 2, 3),
            "weights": long(2, 4, 6),
            "max_bytes": 1 << 20,
        },
        {
            "num_nodes": [0, 2, 2**20 + 1],
            "first": [long(0, 3, 0), long(-1, 1, 0)],
            "second": [long(1, 2, 4), long(-1, 2, 3)],
            "weights": [long(2, 3, 6), long(2, -2, 6), long(2, 4, 2**26 + 2)],
        },
    ),
    "MatchingWeights.least": Case(
        {"events": np.array([1, 2], np.uint8), "row_bytes": 1, "further_node": 2, "max_events": 9},
        {"row_bytes": [0, 3], "further_node": [0, 1, 3]},
        matchings,
        instead={
            "events": [
                np.array([8], np.uint8),
                np.array([4], np.uint8),
                *without_length(np.array([1], np.uint8)),
            ]
        },
    ),
    "PathExpectations.__init__": Case(
        {"steps": STEPS, "num_bits": 0},
        {
            "steps": [
                *(changed_steps("kind", kind) for kind in (-1, _native.EXPECT + 1)),
                *(changed_steps("width", width) for width in (1, -1)),
                changed_steps("x", 2**63),
                changed_steps("z", 0),
                *(changed_steps("i_power", power) for power in (1, -2)),
                *(changed_steps("pivot", pivot) for pivot in (1, -1)),
                *(changed_steps("outcome", outcome) for outcome in (0, -2)),
                changed_steps("segment", 1),
                *(changed_steps("first_term", first) for first in (-1, 1)),
                *(changed_steps("end_term", end) for end in (-1, 0, 2)),
                changed_steps("cosine", np.nan),
                *(changed_steps("sine", sine) for sine in (np.inf, 0.7)),
                *(changed_steps("sign", sign) for sign in (-2, 0, 3)),
                changed_steps("is_reversed", 1),
                SimpleNamespace(operations=STEPS.operations, rotation_terms=STEPS.rotation_terms[:0]),
                SimpleNamespace(
                    operations=np.repeat(STEPS.operations, 2), rotation_terms=STEPS.rotation_terms
                ),
                SimpleNamespace(operations=STEPS.rotation_terms, rotation_terms=STEPS.operations),
                SimpleNamespace(operations=None, rotation_terms=None),
            ],
            "num_bits": [1],
        },
    ),
    "PathExpectations.evaluate": Case({"paths": np.array([0, 1], np.uint8)}, instance=paths),
    "Program.__init__": Case(
        {"arrays": program_of_all_kinds()}, instead={"arrays": [None, SimpleNamespace(), ATTRIBUTES]}
    ),
    "Program.odd_outputs": Case({"records": np.zeros(8, np.uint8)}, instance=program),
    "QuantumProgram.__init__": Case(
        {"base_records": np.zeros(8, np.uint8)},
        instead={"base_records": without_length(np.zeros(8, np.uint8))},
    ),
    "sums_by_row": Case(
        {**_ROWS, "amounts": floats(1.0, 1.0)},
        {"starts": _WRONG_STARTS, "bits": [*_WRONG_BITS, ints(4, 0, 1)]},
    ),
} | CHAIN_CASES
