"""Right arguments for every function and method of the native module, and wrong ones for each argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from stim_nonclifford import Circuit, _native
from stim_nonclifford._native import CircuitStepKind as Kind
from stim_nonclifford.compiler import RequestedOutputs
from stim_nonclifford.fault_sets.search.mechanisms import mechanisms_of, packed_words
from stim_nonclifford.plan import OPERATION_DTYPE, ROTATION_TERM_DTYPE, SamplingPlan, plain_attributes

__all__ = ["CASES", "STEP_CASES", "Case", "path_steps", "wrong_plans"]

TEXT = """
    RX 0 1 2 3 4 5
    R_Z(0.3) 0 1 2 3 4 5
    DEPOLARIZE1(0.1) 0 1 2 3 4 5
    R_X(0.2) 0 1 2
    Z 0
    R_X(0.1) 0
    Z 0 3
    R_ZZ(0.1) 0 1 2 3
    HERALDED_PAULI_CHANNEL_1(0.1, 0.2, 0.1, 0.1) 4
    MPP X0*X1*X2 X3*X4
    R_Z(0.2) 0
    CX rec[-1] 0
    R_X(0.1) 1
    MX 0 1 !2 3
    M 4 5
    DETECTOR rec[-1] rec[-3]
    DETECTOR rec[-4]
    DETECTOR rec[-8] rec[-6]
    OBSERVABLE_INCLUDE(0) rec[-2] rec[-5]
    R 6
    X_ERROR(0.2) 6
    M 6
    DETECTOR rec[-1]
    MPAD 0
    DETECTOR rec[-11]
"""

MAX = 2**64 - 1


def plan_of_all_kinds() -> SamplingPlan:
    """A plan with each kind of operation, with sites, coins, signature bits, and both kinds of checks."""
    circuit = Circuit(TEXT)
    outputs = range(circuit.num_detectors, circuit.num_detectors + circuit.num_observables)
    requested = RequestedOutputs.of([2, 4, *outputs], [0, 1, 3])
    return circuit.compile().detector_plan(requested, skip_reference_sample=True)


PLAN = plan_of_all_kinds()
ATTRIBUTES = plain_attributes(PLAN)
MECHANISMS = mechanisms_of(PLAN)
SIZE = len(MECHANISMS.odds)
KEY_WORDS = len(MECHANISMS.base)
BROKEN_PLAN = SimpleNamespace(**{**vars(ATTRIBUTES), "num_signs": 0})


def study_arguments() -> dict[str, Any]:
    """The arguments of a ``FaultSetStudy``."""
    return {
        "plan": ATTRIBUTES,
        "checks": packed_words(MECHANISMS.checks).ravel(),
        "keys": MECHANISMS.keys.ravel(),
        "target": packed_words(MECHANISMS.target[None, :])[0],
        "base": MECHANISMS.base,
        "weights": MECHANISMS.odds,
        "sites": np.ascontiguousarray(MECHANISMS.sites),
        "coins": MECHANISMS.coins.ravel(),
        "max_weight": 4,
        "threads": 1,
        "max_pair_bytes": 1 << 20,
        "max_bytes": 1 << 20,
    }


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float64)


def words(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def long(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


def arrays(right: np.ndarray, *others: np.ndarray) -> list[Any]:
    """Short, long, of another dtype or shape, and no array."""
    wrong: list[Any] = [np.append(right, [1]).astype(right.dtype)]
    if len(right):
        wrong.append(right[:-1])
    wrong += [right.astype(np.complex128), right[None, :], None, "text", *others]
    if right.dtype == np.float64:
        for number in (-1.0, np.nan, np.inf):
            wrong.append(np.full(max(len(right), 1), number))
    return wrong


@dataclass(frozen=True)
class Case:
    """A function or a method.

    Attributes:
        right: Arguments that it takes.
        wrong: For each argument, values that it must refuse.
        instance: Makes the object whose method it is.
        runs: Whether it can be called with the right arguments here.
    """

    right: dict[str, Any]
    wrong: dict[str, list[Any]]
    instance: Callable[[], Any] | None = None
    runs: bool = True


H = [([(0, 2)], False), ([(0, 1)], False)]
CX = [([(0, 1), (1, 1)], False), ([(0, 2)], False), ([(1, 1)], False), ([(0, 2), (1, 2)], False)]
WRONG_FACTORS = [[(9, 1)], [(0, 0)], [(0, 4)], [(-1, 1)], [(0,)], None]
WRONG_NUMBERS = [-1, 2**64, 1.5, None]


def program() -> _native.Program:
    """A program with a gate, a channel, and a step of most kinds."""
    found = _native.Program(3, 8, 4, 2)
    found.add_gate(1, [[1], [0]], H)
    found.add_gate(2, [[0, 2], [1], [2], [1, 3]], CX)
    found.add_channel(0, [(1, 0.1), (2, 0.1)], [])
    found.add_channel(0, [(1, 0.1)], [])
    found.add_step(Kind.CLIFFORD, number=0, groups=[[0], [1]])
    found.add_step(Kind.ROTATE, factors=[(0, 1), (1, 2)])
    found.add_step(Kind.MEASURE, number=1, record=0, factors=[(0, 1)], resets=True)
    found.add_step(Kind.DETECTOR, number=0, records=[0])
    return found


def sweep() -> _native.EffectSweep:
    made = program()
    insertions = [(2, [(0, 1)], [5], [0])]
    return _native.EffectSweep(made, False, True, True, [(2, 7)], insertions, 1 << 20, lambda step: None)


def engine() -> _native.Engine:
    return _native.Engine(ATTRIBUTES, 1, 1 << 20)


def study() -> _native.FaultSetStudy:
    found = _native.FaultSetStudy(**study_arguments())
    found.enumerate(1, MECHANISMS.odds, 1, 10**6, 10**6, False)
    found.evaluate()
    return found


def path_steps(
    *operations: tuple[int, int, int, int, int], angles: Sequence[tuple[float, float, int]]
) -> Any:
    """Steps of a path. An operation is kind, width, x, z and pivot; an angle is cosine, sine and bit."""
    rows = np.zeros(len(operations), OPERATION_DTYPE)
    segment = first = 0
    for k, (kind, width, x, z, pivot) in enumerate(operations):
        measures = kind == _native.MEASURE
        end = first + (not measures)
        rows[k] = (x, z, kind, width, 0, pivot, segment if measures else -1, segment, first, end)
        segment, first = segment + measures, end
    terms = np.array([(*angle, 0) for angle in angles], ROTATION_TERM_DTYPE)
    return SimpleNamespace(operations=rows, rotation_terms=terms)


def paths() -> _native.PathExpectations:
    activate, rotate = (_native.ACTIVATE, 0, 0, 1, 0), (_native.ROTATE, 1, 1, 0, 0)
    steps = path_steps(
        activate, rotate, (_native.MEASURE, 1, 1, 0, 0), angles=[(0.8, 0.6, -1), (0.6, 0.8, 0)]
    )
    return _native.PathExpectations(steps, [(2, 0, 1, 0, False)], 2)


SHOTS = {"seed": 1, "first_shot": 0, "shots": 3}
WRONG_SHOTS = {
    "seed": [*WRONG_NUMBERS],
    "first_shot": [*WRONG_NUMBERS, 2**63],
    "shots": [*WRONG_NUMBERS, MAX],
}
IMAGE = _native.plan_image(ATTRIBUTES)
NO_IMAGE = np.full_like(IMAGE, 255)
JOB_BYTES = 8 * len(_native.job_fields())
SIGNATURE_WORDS = -(-PLAN.num_signature_bits // 64)
ROWS = (long(0, 2, 3), ints(0, 4, 1))
WRONG_STARTS = arrays(ROWS[0], long(0, 9, 3), long(-1, 2, 3), long(0, 2, 99), long())
WRONG_BITS = [*arrays(ROWS[1]), ints(0, -4, 1)]
STEPS = path_steps((_native.ACTIVATE, 0, 0, 1, 0), angles=[(0.8, 0.6, -1)])


def changed_steps(field: str, value: Any) -> Any:
    """The steps of a path, with one number of the operation or of its term changed."""
    steps = SimpleNamespace(operations=STEPS.operations.copy(), rotation_terms=STEPS.rotation_terms.copy())
    (steps.operations if field in OPERATION_DTYPE.fields else steps.rotation_terms)[field] = value
    return steps


WRONG_WEIGHTS = [*WRONG_NUMBERS, 5, 65, 2**32 - 1]
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
            # Of 25 coins, there are 2^25 tosses.
            "coins": [words(0), words(*[MAX] * KEY_WORDS), words(*[0] * (25 * KEY_WORDS)), None][
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
        {"weight": 3, "spacing": 1.0, "seed": 1, "max_draws": 10},
        {
            "weight": [*WRONG_WEIGHTS, 0],
            "spacing": [0.0, -1.0, np.nan, np.inf, None],
            "seed": WRONG_NUMBERS,
            "max_draws": [*WRONG_NUMBERS, MAX],
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
        },
        {
            "weight": WRONG_WEIGHTS,
            "circuits": arrays(MECHANISMS.odds),
            "num_circuits": [*WRONG_NUMBERS, 0, 2, 2**63],
            "max_steps": WRONG_NUMBERS,
            "max_keys": WRONG_NUMBERS,
            "kept_only": [None],
            "max_seconds": [0.0, -1.0, np.nan, None],
        },
        study,
    ),
    "FaultSetStudy.join": Case(
        {
            "left": 1,
            "right": 2,
            "draws": 10,
            "stride": 1.0,
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
            "stride": [0.0, -1.0, np.nan, np.inf, None],
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
    "FaultSetStudy.sets_with": Case(
        {"weight": 1, "values": floats(1.0)},
        {"weight": WRONG_WEIGHTS, "values": arrays(floats(1.0))[2:]},
        study,
    ),
    "FaultSetStudy.total": Case({"weight": 1}, {"weight": WRONG_WEIGHTS}, study),
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
}

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


def wrong_plans() -> dict[str, dict[str, Any]]:
    """Attributes of a plan that are wrong, by what is wrong."""
    found: dict[str, dict[str, Any]] = {}
    numbers = (
        "num_checks",
        "num_signature_bits",
        "num_outputs",
        "num_signs",
        "num_outcome_checks",
        "peak_width",
    )
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
