"""Right arguments for every function and method of the native module, and wrong ones for each argument."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from stim_nonclifford import _native
from stim_nonclifford._native import CircuitStepKind as Kind

from .native_chain_cases import CHAIN_CASES
from .native_instances import (
    ATTRIBUTES,
    BROKEN_PLAN,
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
    WRONG_BITS,
    WRONG_FACTORS,
    WRONG_NUMBERS,
    WRONG_SHOTS,
    WRONG_STARTS,
    WRONG_WEIGHTS,
    Case,
    H,
    arrays,
    changed_steps,
    engine,
    floats,
    ints,
    long,
    matchings,
    paths,
    program,
    study,
    study_arguments,
    sweep,
    words,
)

__all__ = ["CASES", "STEP_CASES", "Case"]


CASES: dict[str, Case] = {
    "alias_table": Case({"scaled": floats(1.0, 1.0)}, {"scaled": arrays(floats(1.0, 1.0))[2:]}),
    "check_plan": Case({"plan": ATTRIBUTES}, {"plan": [None, SimpleNamespace(), BROKEN_PLAN]}),
    "forward_sweep": Case(
        {"program": program(), "keep_order": False, "progress": print},
        {"program": [None, ATTRIBUTES], "keep_order": [None, 2], "progress": [None, 3]},
    ),
    "has_insertion_laws": Case({"plan": ATTRIBUTES}, {"plan": [None, SimpleNamespace(), BROKEN_PLAN]}),
    "image_of_rows": Case(
        {"starts": ROWS[0], "bits": ROWS[1], "image_starts": ROWS[0], "image_bits": ROWS[1]},
        {"starts": WRONG_STARTS, "bits": WRONG_BITS, "image_starts": WRONG_STARTS, "image_bits": WRONG_BITS},
    ),
    "image_sizes": Case({"image": IMAGE}, {"image": [IMAGE[:4], NO_IMAGE, None, 0]}),
    "image_steps": Case({"image": IMAGE}, {"image": [IMAGE[:60], NO_IMAGE, None, 0]}),
    "independent_rows": Case(
        {"starts": ROWS[0], "bits": ROWS[1]}, {"starts": WRONG_STARTS, "bits": [*WRONG_BITS, ints(4, 0, 1)]}
    ),
    "kept_branches": Case(
        {"plan": ATTRIBUTES, "signatures": words(*[0] * SIGNATURE_WORDS), "count": 1, "width_of_sums": 14},
        {
            "plan": [None, BROKEN_PLAN],
            "signatures": arrays(words(*[0] * SIGNATURE_WORDS), words(*[MAX] * SIGNATURE_WORDS)),
            "count": [*WRONG_NUMBERS, 2, 0, 2**63],
            "width_of_sums": WRONG_NUMBERS,
        },
    ),
    "plan_image": Case({"plan": ATTRIBUTES}, {"plan": [None, SimpleNamespace(), BROKEN_PLAN]}),
    "random_words": Case(
        {"seed": 1, "stream": 2, "index": 3, "count": 4},
        {
            "seed": WRONG_NUMBERS,
            "stream": WRONG_NUMBERS,
            "index": WRONG_NUMBERS,
            "count": [*WRONG_NUMBERS, MAX],
        },
    ),
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
            "kernel": [None, "other"],
            "job": [*arrays(np.zeros(JOB_BYTES, np.uint8)), np.zeros(JOB_BYTES, np.uint8)],
            "round": [*WRONG_NUMBERS, 99],
            "num_teams": [*WRONG_NUMBERS, 0],
            "row_words": [*WRONG_NUMBERS, 99],
            "team_size": WRONG_NUMBERS,
            "in_shared": [None],
            "reversed": [None],
        },
        runs=False,
    ),
    "EffectSweep.__init__": Case(
        {
            "program": program(),
            "by_records": False,
            "with_noise": True,
            "with_faults": False,
            "signs": [(2, 7)],
            "insertions": [(3, [], [], [0]), (2, [(0, 1)], [5], [0])],
            "max_bytes": 1 << 20,
            "progress": lambda step: None,
        },
        {
            "program": [None],
            "by_records": [None],
            "with_noise": [None],
            "with_faults": [None],
            "signs": [[(2, -1)], [(2, 2**31)], [(2,)], None],
            "insertions": [
                [(2, [], [], []), (3, [], [], [])],
                [(2, [(9, 1)], [], [])],
                [(2, [(0, 0)], [], [])],
                [(2, [], [-5], [])],
                [(2, [], [], [8])],
                [(2, [], [], [-1])],
                None,
            ],
            "max_bytes": [*WRONG_NUMBERS, 0],
            "progress": [None],
        },
    ),
    "EffectSweep.add_choices": Case(
        {"constant": -1, "choices": [(0, 0.5), (-1, 0.5)]},
        {
            "constant": [-2, 10**6, None],
            "choices": [[(10**6, 0.5)], [(-2, 0.5)], [(0, np.nan)], [(0, -0.1)], [(0, 1.5)], None],
        },
        sweep,
    ),
    "EffectSweep.fix_signs": Case(
        {"free_signs": []}, {"free_signs": [[(7, 10**6)], [(-1, 0)], [(2**31, 0)], [(7,)], None]}, sweep
    ),
    "Engine.__init__": Case(
        {"plan": ATTRIBUTES, "num_threads": 1, "cache_bytes": 0, "instruction_set": "generic"},
        {
            "plan": [None, SimpleNamespace(), BROKEN_PLAN],
            "num_threads": [*WRONG_NUMBERS, 0, 1025],
            "cache_bytes": WRONG_NUMBERS,
            "instruction_set": [None, "abacus"],
        },
    ),
    "Engine.count": Case(
        {**SHOTS, "max_errors": 0, "list_errors": False},
        {**WRONG_SHOTS, "max_errors": WRONG_NUMBERS, "list_errors": [None]},
        engine,
    ),
    "Engine.sample": Case(
        {**SHOTS, "num_outputs": 1},
        {**WRONG_SHOTS, "num_outputs": [*WRONG_NUMBERS, PLAN.num_outputs + 1]},
        engine,
    ),
    "Engine.sample_kept": Case(dict(SHOTS), WRONG_SHOTS, engine),
    "Engine.outcome_law": Case(
        {"signature": [0] * SIGNATURE_WORDS},
        {
            "signature": [
                [0] * (SIGNATURE_WORDS + 1),
                [],
                [MAX] * SIGNATURE_WORDS,
                [-1] * SIGNATURE_WORDS,
                None,
            ]
        },
        engine,
    ),
    "Engine.outcomes": Case(
        {"signatures": words(*[0] * SIGNATURE_WORDS), "numbers": words(0), "seed": 1},
        {
            "signatures": [words(*[0] * (SIGNATURE_WORDS + 1)), words(*[MAX] * SIGNATURE_WORDS), None],
            "numbers": [words(0, 0), words(), None],
            "seed": [-1, 2**64, 0.5, None],
        },
        engine,
    ),
    "Engine.possible_path": Case(
        {"signature": [0] * SIGNATURE_WORDS, "seed": 1, "number": 0},
        {
            "signature": [
                [0] * (SIGNATURE_WORDS + 1),
                [],
                [MAX] * SIGNATURE_WORDS,
                [-1] * SIGNATURE_WORDS,
                None,
            ],
            "seed": [-1, 2**64, 0.5, None],
            "number": [-1, 2**64, 0.5, None],
        },
        engine,
    ),
    "FaultSetStudy.__init__": Case(
        study_arguments(),
        {
            "plan": [None, BROKEN_PLAN],
            "checks": arrays(study_arguments()["checks"]),
            "keys": arrays(study_arguments()["keys"], words(*[MAX] * (SIZE * KEY_WORDS))),
            "target": arrays(study_arguments()["target"]),
            "base": arrays(study_arguments()["base"], words(*[MAX] * KEY_WORDS)),
            "weights": arrays(study_arguments()["weights"]),
            "sites": arrays(study_arguments()["sites"], ints(*[-2] * SIZE)),
            # Sets of coins are words.
            "coins": [words(0), words(*[MAX] * KEY_WORDS), words(*[0] * (49 * KEY_WORDS)), None][
                KEY_WORDS == 1 :
            ],
            "max_weight": [*WRONG_NUMBERS, 0, 65],
            "threads": [*WRONG_NUMBERS, 0, 1025],
            "max_pair_bytes": WRONG_NUMBERS,
            "max_bytes": WRONG_NUMBERS,
        },
    ),
    "FaultSetStudy.bounds": Case(
        {"closed": floats(1.0, 0.0), "negligible": 0.0},
        # Bounds are taken where ``closed`` ends, so that it may be of any length.
        {"closed": arrays(floats(1.0, 0.0))[2:], "negligible": [-1.0, np.nan, None]},
        study,
    ),
    "FaultSetStudy.draw": Case(
        {"weight": 3, "spacing": 1.0, "seed": 1, "max_draws": 10, "per_clump": 1.0, "passing": 1.0},
        {
            "weight": [*WRONG_WEIGHTS, 0],
            "spacing": [0.0, -1.0, np.nan, np.inf, None],
            "seed": WRONG_NUMBERS,
            "max_draws": [*WRONG_NUMBERS, MAX],
            "per_clump": [-1.0, np.nan, np.inf, None],
            "passing": [-1.0, np.nan, np.inf, None],
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
        {
            "weight": WRONG_WEIGHTS,
            "circuits": arrays(MECHANISMS.odds),
            "num_circuits": [*WRONG_NUMBERS, 0, 2, 2**63],
            "max_steps": WRONG_NUMBERS,
            "max_keys": WRONG_NUMBERS,
            "kept_only": [None],
            "max_seconds": [0.0, -1.0, np.nan, None],
            "max_laws": WRONG_NUMBERS,
        },
        study,
    ),
    "FaultSetStudy.join": Case(
        {
            "left": 1,
            "right": 2,
            "draws": 10,
            "seed": 1,
            "round": 1,
            "max_sets": 10,
            "ratios": np.ones(SIZE),
            "num_circuits": 1,
            "kept_only": False,
        },
        {
            "left": [*WRONG_WEIGHTS, 0],
            "right": [*WRONG_WEIGHTS, 0],
            "draws": WRONG_NUMBERS,
            "seed": WRONG_NUMBERS,
            "round": [*WRONG_NUMBERS, 2**24],
            "max_sets": WRONG_NUMBERS,
            "ratios": arrays(np.ones(SIZE)),
            "num_circuits": [*WRONG_NUMBERS, 0, 2],
            "kept_only": [None],
        },
        study,
    ),
    "FaultSetStudy.member_sums": Case(
        {"weight": 1, "odds": MECHANISMS.odds, "values": floats(1.0, 0.0), "columns": 2},
        {
            "weight": WRONG_WEIGHTS,
            "odds": arrays(MECHANISMS.odds),
            "values": arrays(floats(1.0, 0.0)),
            "columns": [*WRONG_NUMBERS, 0, 3],
        },
        study,
    ),
    "FaultSetStudy.number_keys": Case(
        {"members": np.array([0, 1], np.uint32), "weight": 2, "kept_only": True},
        {
            "members": arrays(np.array([0, 1], np.uint32), np.array([0, SIZE], np.uint32)),
            "weight": [*WRONG_WEIGHTS, 0, 3],
            "kept_only": [None],
        },
        study,
    ),
    "FaultSetStudy.sets_like": Case(
        {
            "members": np.array([0, 1], np.uint32),
            "weight": 2,
            "max_steps_each": 10,
            "max_steps": 10,
            "max_sets": 10,
        },
        {
            "members": arrays(np.array([0, 1], np.uint32), np.array([0, SIZE], np.uint32)),
            "weight": [*WRONG_WEIGHTS, 0, 3],
            "max_steps_each": WRONG_NUMBERS,
            "max_steps": WRONG_NUMBERS,
            "max_sets": WRONG_NUMBERS,
        },
        study,
    ),
    "FaultSetStudy.sets_with": Case(
        {"weight": 1, "values": floats(1.0)},
        {"weight": WRONG_WEIGHTS, "values": arrays(floats(1.0))[2:]},
        study,
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
            "num_nodes": [*WRONG_NUMBERS, 0, 2, 2**20 + 1],
            "first": [*arrays(long(0, 1, 0)), long(0, 3, 0), long(-1, 1, 0)],
            "second": [*arrays(long(1, 2, 3)), long(1, 2, 4), long(-1, 2, 3)],
            "weights": [*arrays(long(2, 4, 6)), long(2, 3, 6), long(2, -2, 6), long(2, 4, 2**26 + 2)],
            "max_bytes": WRONG_NUMBERS,
        },
    ),
    "MatchingWeights.least": Case(
        {"events": np.array([1, 2], np.uint8), "row_bytes": 1, "further_node": 2, "max_events": 9},
        {
            "events": [
                np.array([8], np.uint8),
                np.array([4], np.uint8),
                *arrays(np.array([1], np.uint8))[2:],
            ],
            "row_bytes": [*WRONG_NUMBERS, 0, 3],
            "further_node": [*WRONG_NUMBERS, 0, 1, 3],
            "max_events": WRONG_NUMBERS,
        },
        matchings,
    ),
    "PathExpectations.__init__": Case(
        {"steps": STEPS, "expectations": [(1, 0, 1, 0, False)], "num_bits": 0},
        {
            "steps": [
                *(changed_steps("kind", kind) for kind in (-1, _native.WEAK_MEASURE, 4)),
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
                None,
            ],
            "expectations": [
                [(2, 0, 1, 0, False)],
                [(1, 0, 1, 0, False), (0, 0, 0, 0, False)],
                [(1, 2, 0, 0, False)],
                [(1, 0, 1, 1, False)],
                [(1, 0, 1, 6, False)],
                [(1, -1, 1, 0, False)],
                None,
            ],
            "num_bits": [*WRONG_NUMBERS, 1],
        },
    ),
    "PathExpectations.evaluate": Case(
        {"paths": np.array([0, 1], np.uint8)}, {"paths": arrays(np.array([0, 1], np.uint8))}, paths
    ),
    "Program.__init__": Case(
        {"num_qubits": 1, "num_records": 1, "num_detectors": 1, "num_observables": 1},
        {
            name: [*WRONG_NUMBERS, 2**31, MAX]
            for name in ("num_qubits", "num_records", "num_detectors", "num_observables")
        },
    ),
    "Program.add_channel": Case(
        {"constant": 0, "rates": [(1, 0.1)], "site": [(1, 0.1)]},
        {
            "constant": WRONG_NUMBERS,
            "rates": [[(1, np.nan)], [(1, -0.1)], [(1, np.inf)], [(-1, 0.1)], [(1,)], None],
            "site": [[(1, np.nan)], [(1, -0.1)], [(1, 1.1)], [(-1, 0.1)], [(1,)], None],
        },
        program,
    ),
    "Program.add_gate": Case(
        {"num_targets": 1, "pullback": [[1], [0]], "inverse": H},
        {
            "num_targets": [*WRONG_NUMBERS, 0, 2, 65],
            "pullback": [[[1]], [[1], [2]], [[1], [-1]], None],
            "inverse": [H[:1], [([(1, 1)], False), H[1]], [([(0, 0)], False), H[1]], None],
        },
        program,
    ),
    "Program.add_loop": Case(
        {"first": 0, "end": 4, "repetitions": 4, "records": 1, "detectors": 1},
        {
            "first": [*WRONG_NUMBERS, 5],
            "end": [*WRONG_NUMBERS, 5],
            "repetitions": [*WRONG_NUMBERS, 0, 5, MAX],
            "records": [None, -1, 8, 2**62],
            "detectors": [None, -1, 2, 2**62],
        },
        program,
    ),
    "Program.add_step": Case(
        {
            "kind": Kind.MEASURE,
            "number": -1,
            "record": 0,
            "groups": [],
            "factors": [(0, 1)],
            "records": [],
            "probability": 0.0,
            "is_inverted": False,
            "resets": True,
        },
        {
            "kind": [None, 10, "MEASURE"],
            "number": [None, -2, 2, 0, 2**31],
            "record": [None, -1, 8],
            "groups": [[[0], [0, 1]], [[-1]], [[]], None],
            "factors": [*WRONG_FACTORS, [], [(0, 1), (1, 1)]],
            "records": [[-1], [8], None],
            "probability": [None, "0"],
            "is_inverted": [None],
            "resets": [None],
        },
        program,
    ),
    "Program.odd_outputs": Case(
        {"records": np.zeros(8, np.uint8)}, {"records": arrays(np.zeros(8, np.uint8))}, program
    ),
    "RowSums.add": Case(
        {"starts": ROWS[0], "bits": ROWS[1], "amounts": floats(1.0, 1.0)},
        {"starts": WRONG_STARTS, "bits": [*WRONG_BITS, ints(4, 0, 1)], "amounts": arrays(floats(1.0, 1.0))},
        _native.RowSums,
    ),
} | CHAIN_CASES

ONE_QUBIT = {"factors": [*WRONG_FACTORS, [], [(0, 1), (1, 1)]]}
STEP_CASES: dict[Kind, Case] = {
    Kind.CLIFFORD: Case(
        {"number": 1, "groups": [[0, 1]]},
        {"number": [-1, 2, 0], "groups": [[[0]], [[0, 1], [0]], [[0, 3]], [[-1, 0]], [[]]]},
    ),
    Kind.ROTATE: Case({"factors": [(0, 1)]}, {"factors": WRONG_FACTORS}),
    Kind.RESET: Case({"factors": [(0, 1)]}, ONE_QUBIT),
    Kind.FEEDBACK: Case({"record": 0, "factors": [(0, 1)]}, {"record": [-1, 8], **ONE_QUBIT}),
    Kind.NOISE: Case(
        {"number": 0, "groups": [[0], [1]], "record": -1},
        {
            "number": [-1, 2],
            "groups": [[[0], [0, 1]], [[3]], [[-1]], [[]]],
            "record": [-2, 7, 2**62],
        },
    ),
    Kind.CORRELATED_ERROR: Case(
        {"number": 0, "probability": 0.1, "factors": [(0, 1)]},
        {"probability": [np.nan, -0.1, 1.1], "factors": WRONG_FACTORS},
    ),
    Kind.DETECTOR: Case({"number": 1, "records": [0]}, {"number": [-1, 4], "records": [[-1], [8]]}),
    Kind.OBSERVABLE: Case(
        {"number": 0, "records": [0], "factors": [(0, 1)]},
        {"number": [-1, 2], "records": [[-1], [8]], "factors": WRONG_FACTORS},
    ),
    Kind.EXPECTATION: Case({"factors": [(0, 1)], "is_inverted": True}, {"factors": WRONG_FACTORS}),
}
"""Arguments of ``Program.add_step`` for the other kinds of steps."""
