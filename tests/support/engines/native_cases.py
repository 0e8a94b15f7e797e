"""Right arguments for every function and method of the native module, and wrong ones for each argument."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from stim_nonclifford import _native

from .native_answer_cases import ANSWER_CASES, ANSWER_INSTANCES
from .native_instances import (
    ATTRIBUTES,
    GRAPH,
    IMAGE,
    JOB_BYTES,
    KEY_WORDS,
    MAX,
    MECHANISMS,
    NO_IMAGE,
    PLAN,
    ROWS,
    SIGNATURE_WORDS,
    SIZE,
    STEPS,
    WRONG_GRAPH,
    WRONG_THREADS,
    WRONG_WEIGHTS,
    Case,
    Only,
    array,
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

__all__ = ["CASES", "INSTANCES"]

_BYTES, _U32 = np.uint8, np.uint32
_STARTS = [long(0, 9, 3), long(-1, 2, 3), long(0, 2, 99), long()]
_BITS = [ints(0, -4, 1)]
_NO_IMAGES = [NO_IMAGE, None, 0]
_SIGNATURE = words(*[0] * SIGNATURE_WORDS)
_LARGE = words(*[MAX] * SIGNATURE_WORDS)
_NO_SIGNATURE = [_LARGE, [0] * SIGNATURE_WORDS]
_PAIR, _FOREIGN = array(_U32, 0, 1), [array(_U32, 0, SIZE)]
_LEFT, _RIGHT, _COUNTS = array(_U32, 0, 10), array(_U32, 0, 5, 5), floats(0.0, 0.0, 0.5, 1.0)
_HALVES = [array(_U32, *h) for h in ([], [0, 0], [1, 1], [0, 2**31, 2**31], [0] * 65 + [1])]
_SIZES_OF_PAIRS, _SIZES_OF_PARTS = [*WRONG_WEIGHTS, 0, 3], [*WRONG_WEIGHTS, 0, 4]
_NEGATIVE = [-1.0, np.nan, np.inf]
_SHOTS = [1, 0, 3]
_MANY_SHOTS: dict[str, list[Any]] = {"first_shot": [2**63], "shots": [MAX]}
_RECORDS = np.zeros(8, _BYTES)
# Sets of coins are words.
_COINS = [words(0), words(*[MAX] * KEY_WORDS), words(*[0] * (49 * KEY_WORDS)), None][KEY_WORDS == 1 :]
_LEAKAGE = [
    *(long(2, qubit, 1) for qubit in (9, -2, 2**32)),
    *(long(2, 0, code) for code in (0, 4, 2**32 + 1)),
    *(long(2, -1, record) for record in (-1, 8)),
    *(long(place, 0, 1) for place in (-1, 99)),
]
_WRONG_FIELDS: dict[str, list[float]] = {
    "kind": [-1, _native.EXPECT + 1],
    "width": [1, -1],
    "x": [2**63],
    "z": [0],
    "i_power": [1, -2],
    "pivot": [1, -1],
    "outcome": [0, -2],
    "segment": [1],
    "first_term": [-1, 1],
    "end_term": [-1, 0, 2],
    "cosine": [np.nan],
    "sine": [np.inf, 0.7],
    "sign": [-2, 0, 3],
    "is_reversed": [1],
}
_TERMS, _OPERATIONS = STEPS.rotation_terms, STEPS.operations
_STEPS = [
    *(changed_steps(field, value) for field, values in _WRONG_FIELDS.items() for value in values),
    *(
        SimpleNamespace(operations=operations, rotation_terms=terms)
        for operations, terms in (
            (_OPERATIONS, _TERMS[:0]),
            (np.repeat(_OPERATIONS, 2), _TERMS),
            (_TERMS, _OPERATIONS),
            (None, None),
        )
    ),
]

_CASES = (
    Case("alias_table", [floats(1.0, 1.0)], scaled=Only(without_length(floats(1.0, 1.0)))),
    Case(
        "backward_sweep",
        [program(), quantum(), False, True, False, long(2, 0, 1, 3, -1, 0), 1 << 20, print],
        quantum=[_native.QuantumProgram(np.zeros(7, _BYTES))],
        leakage=_LEAKAGE,
        max_bytes=[0],
    ),
    Case("certain_at", [20], width=[-1, 65]),
    Case("check_plan", [ATTRIBUTES]),
    Case("forward_sweep", [program(), False, print], program=[ATTRIBUTES], keep_order=[2], progress=[3]),
    Case("has_insertion_laws", [ATTRIBUTES]),
    Case("image_of_rows", [*ROWS, *ROWS], starts=_STARTS, bits=_BITS, image_starts=_STARTS, image_bits=_BITS),
    Case("image_sizes", [IMAGE], image=Only([IMAGE[:4], *_NO_IMAGES])),
    Case("image_steps", [IMAGE], image=Only([IMAGE[:60], *_NO_IMAGES])),
    Case("independent_rows", ROWS, starts=_STARTS, bits=[*_BITS, ints(4, 0, 1)]),
    Case("kept_branches", [ATTRIBUTES, _SIGNATURE, 1, 14], signatures=[_LARGE], count=[2, 0, 2**63]),
    Case("limit_time", [float("inf")], seconds=[np.nan]),
    Case("plan_image", [ATTRIBUTES]),
    Case("random_words", [1, 2, 3, 4], count=[MAX]),
    Case("reduction", [ATTRIBUTES]),
    Case(
        # A job without addresses: those that a job has must be right.
        "run_on_host",
        ["noise", np.zeros(JOB_BYTES, _BYTES), 0, 1, 0, 32, False, False],
        kernel=["other"],
        job=[np.zeros(JOB_BYTES, _BYTES)],
        round=[99],
        num_teams=[0],
        row_words=[99],
    ),
    Case(
        "Engine.__init__",
        [ATTRIBUTES, 1, 0, "generic", "vector"],
        num_threads=WRONG_THREADS,
        instruction_set=["abacus"],
        path_method=["abacus", "elimination"],
    ),
    Case("Engine.count", [*_SHOTS, 0, False], **_MANY_SHOTS),
    Case("Engine.sample", [*_SHOTS, 1], **_MANY_SHOTS, num_outputs=[PLAN.num_outputs + 1]),
    Case("Engine.sample_kept", _SHOTS, **_MANY_SHOTS),
    Case("Engine.kept_law", [_SIGNATURE], signature=_NO_SIGNATURE),
    Case("Engine.outcomes", [_SIGNATURE, words(0), 1], signatures=[_LARGE]),
    Case("Engine.possible_path", [_SIGNATURE, 1, 0], signature=_NO_SIGNATURE),
    Case(
        "FaultSetStudy.__init__",
        study_arguments().values(),
        keys=[words(*[MAX] * (SIZE * KEY_WORDS))],
        base=[words(*[MAX] * KEY_WORDS)],
        sites=[ints(*[-2] * SIZE)],
        coins=Only(_COINS),
        max_weight=[0, 65],
        threads=WRONG_THREADS,
    ),
    Case(
        # Bounds are taken where ``closed`` ends, so that it may be of any length.
        "FaultSetStudy.bounds",
        [floats(1.0, 0.0), 0.0],
        closed=Only(without_length(floats(1.0, 0.0))),
        negligible=[-1.0, np.nan],
    ),
    Case(
        "FaultSetStudy.compose",
        [2, 2, 10.0, 1, 1, 10, False],
        left=_SIZES_OF_PARTS,
        right=_SIZES_OF_PARTS,
        draws=[0.0, np.nan, np.inf, 2.0**31 + 1],
        round=[2**24],
    ),
    Case(
        "FaultSetStudy.enumerate",
        [2, MECHANISMS.odds, 1, 10**6, 10**6, False, 1.0, 10**6],
        weight=WRONG_WEIGHTS,
        num_circuits=[0, 2, 2**63],
        max_seconds=[0.0, -1.0, np.nan],
    ),
    Case(
        "FaultSetStudy.join",
        [_LEFT, _RIGHT, _COUNTS, 1, 1, 10, np.ones(SIZE), 1, False],
        left=Only([*without_length(_LEFT), *_HALVES]),
        right=Only([*without_length(_RIGHT), *_HALVES]),
        counts=Only([*without_length(_COUNTS), floats(*[1.0] * 66)]),
        round=[2**24],
        num_circuits=[0, 2],
    ),
    Case(
        "FaultSetStudy.member_sums",
        [1, MECHANISMS.odds, floats(1.0, 0.0), 2],
        weight=WRONG_WEIGHTS,
        columns=[0, 3],
    ),
    Case("FaultSetStudy.number_keys", [_PAIR, 2, True], members=_FOREIGN, weight=_SIZES_OF_PAIRS),
    Case(
        "FaultSetStudy.sets_with",
        [1, floats(1.0)],
        weight=WRONG_WEIGHTS,
        values=Only(without_length(floats(1.0))),
    ),
    Case("FaultSetStudy.total", [1], weight=WRONG_WEIGHTS),
    Case("MatchingWeights.__init__", [*GRAPH, 1 << 20], **WRONG_GRAPH),
    Case(
        "MatchingWeights.least",
        [array(_BYTES, 1, 2), 1, 2, 9],
        events=Only([array(_BYTES, 8), array(_BYTES, 4), *without_length(array(_BYTES, 1))]),
        row_bytes=[0, 3],
        further_node=[0, 1, 3],
    ),
    Case("PathExpectations.__init__", [STEPS, 0], steps=_STEPS, num_bits=[1]),
    Case("PathExpectations.evaluate", [array(_BYTES, 0, 1)]),
    Case("Program.__init__", [program_of_all_kinds()], arrays=Only([None, SimpleNamespace(), ATTRIBUTES])),
    Case("Program.odd_outputs", [_RECORDS]),
    Case("QuantumProgram.__init__", [_RECORDS], base_records=Only(without_length(_RECORDS))),
    Case("sums_by_row", [*ROWS, floats(1.0, 1.0)], starts=_STARTS, bits=[*_BITS, ints(4, 0, 1)]),
)

CASES = {case.name: case for case in (*_CASES, *ANSWER_CASES)}
INSTANCES: dict[str, Callable[[], Any]] = {
    "Engine": engine,
    "FaultSetStudy": study,
    "MatchingWeights": matchings,
    "PathExpectations": paths,
    "Program": program,
    **ANSWER_INSTANCES,
}
"""What makes the object whose method is called, by its class, or by the method."""
