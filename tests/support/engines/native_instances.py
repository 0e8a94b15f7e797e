"""A plan of all kinds of operations, the native module's objects made of it, and arrays to make wrong ones of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np

from stim_nonclifford import Circuit, _native
from stim_nonclifford.rates.fault_sets.search.mechanisms import mechanisms_of, packed_words
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.compiler.algebra.clifford_gates import named_gate
from stim_nonclifford.simulation.compiler.program.channels import channel_of_patterns
from stim_nonclifford.simulation.compiler.program.loops import Loop, Shift
from stim_nonclifford.simulation.compiler.program.program_arrays import ProgramArrays, program_arrays
from stim_nonclifford.simulation.compiler.program.steps import (
    Clifford,
    CorrelatedError,
    DetectorStep,
    ExpectationStep,
    Feedback,
    Measure,
    Noise,
    ObservableStep,
    Reset,
    Rotate,
    Step,
)
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


STEPS_OF_PROGRAM: list[Step] = [
    Clifford(named_gate("H"), ((0,), (1,))),
    Clifford(named_gate("CX"), ((0, 2),)),
    Rotate(((0, 1), (1, 2)), 0.25),
    Measure(((0, 1),), 0, False, 0.1, True),
    DetectorStep(0, (0,)),
    Noise(channel_of_patterns(((1, 0.1), (2, 0.1), (3, 0.1))), ((0,), (1,)), None),
    Noise(channel_of_patterns(((4, 0.1), (5, 0.2))), ((0,),), 1),
    Reset(2, 2),
    Feedback(0, 2, 1),
    CorrelatedError(0, 0.1, ((0, 1),)),
    ObservableStep(1, (2,), ((0, 1),)),
    ExpectationStep(((0, 1),), True),
    DetectorStep(1, (3, 4)),
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
