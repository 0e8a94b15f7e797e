"""Right arguments for every function and method of the native module, and wrong ones for each argument.

They are of a plan with all kinds of operations, and of a program with all kinds of steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np

from stim_nonclifford import Circuit, _native
from stim_nonclifford.rates.fault_sets.search.mechanisms import mechanisms_of, packed_words
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.compiler.algebra.clifford_gates import named_gate
from stim_nonclifford.simulation.compiler.program import steps
from stim_nonclifford.simulation.compiler.program.channels import channel_of_patterns
from stim_nonclifford.simulation.compiler.program.loops import Loop, Shift
from stim_nonclifford.simulation.compiler.program.program_arrays import ProgramArrays, program_arrays
from stim_nonclifford.simulation.plan import (
    OPERATION_DTYPE,
    ROTATION_TERM_DTYPE,
    SamplingPlan,
    plain_attributes,
)

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


def argument_names(function: Any) -> list[str]:
    """The names of a native function's arguments, without ``self``."""
    return re.findall(r"[(,] ?(\w+): ", function.__nb_signature__[0][0])


class Only(list[Any]):
    """All the values that an argument must refuse, where something like the right one need not be wrong."""


class Case:
    """Arguments of a function or a method.

    Attributes:
        right: Arguments that it takes, by name.
        wrong: Values that each argument must refuse: what is wrong for any argument like the right one, and more.
    """

    def __init__(self, name: str, right: Iterable[Any], /, **more: Sequence[Any]) -> None:
        """The right arguments are given in order, and more wrong ones by name."""
        self.name = name
        names = argument_names(attrgetter(name)(_native))
        self.right = dict(zip(names, right, strict=True))
        assert more.keys() <= self.right.keys(), name
        self.wrong = {
            key: more[key] if isinstance(more.get(key), Only) else [*wrong_like(value), *more.get(key, ())]
            for key, value in self.right.items()
        }


def wrong_like(right: Any) -> list[Any]:
    """What is wrong in the place of a value, whatever it means."""
    if isinstance(right, np.ndarray):
        return arrays(right)
    if right is ATTRIBUTES:
        return [None, SimpleNamespace(), BROKEN_PLAN]
    if isinstance(right, int) and not isinstance(right, bool):
        return [-1, 2**64, 1.5, None][right < 0 :]
    return [None, "0"] if isinstance(right, float) else [None]


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


def array(dtype: Any, *numbers: float) -> np.ndarray:
    return np.array(numbers, dtype)


floats, words = partial(array, np.float64), partial(array, np.uint64)
long, ints = partial(array, np.int64), partial(array, np.int32)


def without_length(right: np.ndarray) -> list[Any]:
    """As ``arrays``, for arguments that may be of any length."""
    return arrays(right)[2:]


def arrays(right: np.ndarray) -> list[Any]:
    """Short, long, of another dtype or shape, and no array."""
    wrong: list[Any] = [np.append(right, [1]).astype(right.dtype)]
    if len(right):
        wrong.append(right[:-1])
    wrong += [right.astype(np.complex128), right[None, :], None, "text"]
    if right.dtype == np.float64:
        for number in (-1.0, np.nan, np.inf):
            wrong.append(np.full(max(len(right), 1), number))
    return wrong


STEPS_OF_PROGRAM: list[steps.Step] = [
    steps.Clifford(named_gate("H"), ((0,), (1,))),
    steps.Clifford(named_gate("CX"), ((0, 2),)),
    steps.Rotate(((0, 1), (1, 2)), 0.25),
    steps.Measure(((0, 1),), 0, False, 0.1, True),
    steps.DetectorStep(0, (0,)),
    steps.Noise(channel_of_patterns(((1, 0.1), (2, 0.1), (3, 0.1))), ((0,), (1,)), None),
    steps.Noise(channel_of_patterns(((4, 0.1), (5, 0.2))), ((0,),), 1),
    steps.Reset(2, 2),
    steps.Feedback(0, 2, 1),
    steps.CorrelatedError(0, 0.1, ((0, 1),)),
    steps.ObservableStep(1, (2,), ((0, 1),)),
    steps.ExpectationStep(((0, 1),), True),
    steps.DetectorStep(1, (3, 4)),
]
"""A step of each kind; the last one is repeated."""


def program_of_all_kinds() -> ProgramArrays:
    """A program with a step of each kind, and a loop."""
    last = len(STEPS_OF_PROGRAM)
    loops = [Loop(last - 1, last, 2, Shift(1, 1))]
    return program_arrays(
        STEPS_OF_PROGRAM, loops, num_qubits=3, num_records=8, num_detectors=4, num_observables=2
    )


def program() -> _native.Program:
    return _native.Program(program_of_all_kinds())


def quantum() -> _native.QuantumProgram:
    return _native.forward_sweep(program(), False, lambda step: None)


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
    segment = first = values = 0
    for k, (kind, width, x, z, pivot) in enumerate(operations):
        measures, expects = kind == _native.MEASURE, kind == _native.EXPECT
        end = first + (not measures and not expects)
        outcome = segment if measures else values if expects else -1
        rows[k] = (x, z, kind, width, 0, pivot, outcome, segment, first, end)
        segment, first, values = segment + measures, end, values + expects
    terms = np.array([(*angle, 0) for angle in angles], ROTATION_TERM_DTYPE)
    return SimpleNamespace(operations=rows, rotation_terms=terms)


def matchings() -> _native.MatchingWeights:
    return _native.MatchingWeights(*GRAPH, 1 << 20)


def paths() -> _native.PathExpectations:
    activate, rotate = (_native.ACTIVATE, 0, 0, 1, 0), (_native.ROTATE, 1, 1, 0, 0)
    value, measurement = (_native.EXPECT, 1, 0, 1, 0), (_native.MEASURE, 1, 1, 0, 0)
    steps = path_steps(activate, rotate, value, measurement, angles=[(0.8, 0.6, -1), (0.6, 0.8, 0)])
    return _native.PathExpectations(steps, 2)


IMAGE = _native.plan_image(ATTRIBUTES)
NO_IMAGE = np.full_like(IMAGE, 255)
JOB_BYTES = 8 * len(_native.job_fields())
SIGNATURE_WORDS = -(-PLAN.num_signature_bits // 64)
ROWS = (long(0, 2, 3), ints(0, 4, 1))
STEPS = path_steps((_native.ACTIVATE, 0, 0, 1, 0), angles=[(0.8, 0.6, -1)])
WRONG_WEIGHTS = [5, 65, 2**32 - 1]
WRONG_THREADS = [0, 1025]
GRAPH = (3, long(0, 1, 0), long(1, 2, 3), long(2, 4, 6))
"""A matching graph: its number of nodes, and the two ends and the weight of each edge."""
WRONG_GRAPH: dict[str, list[Any]] = {
    "num_nodes": [0, 2, 2**20 + 1],
    "first": [long(0, 3, 0), long(-1, 1, 0)],
    "second": [long(1, 2, 4), long(-1, 2, 3)],
    "weights": [long(2, 3, 6), long(2, -2, 6), long(2, 4, 2**26 + 2)],
}


def changed_steps(field: str, value: Any) -> Any:
    """The steps of a path, with one number of the operation or of its term changed."""
    steps = SimpleNamespace(operations=STEPS.operations.copy(), rotation_terms=STEPS.rotation_terms.copy())
    (steps.operations if field in OPERATION_DTYPE.fields else steps.rotation_terms)[field] = value
    return steps


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
    Case("image_of_rows", [*ROWS, *ROWS], starts=_STARTS, bits=_BITS, image_starts=_STARTS, image_bits=_BITS),
    Case("image_sizes", [IMAGE], image=Only([IMAGE[:4], *_NO_IMAGES])),
    Case("image_steps", [IMAGE], image=Only([IMAGE[:60], *_NO_IMAGES])),
    Case("independent_rows", ROWS, starts=_STARTS, bits=[*_BITS, ints(4, 0, 1)]),
    Case("kept_branches", [ATTRIBUTES, _SIGNATURE, 1, "vector"], signatures=[_LARGE], count=[2, 0, 2**63]),
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


CASES = {case.name: case for case in _CASES}
INSTANCES: dict[str, Callable[[], Any]] = {
    "Engine": engine, "FaultSetStudy": study, "MatchingWeights": matchings, "PathExpectations": paths,
    "Program": program,
}  # fmt: skip
"""What makes the object whose method is called, by its class, or by the method."""
