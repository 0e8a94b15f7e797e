"""The native module refuses wrong arguments with a message: it never crashes, and never takes them for others."""

import copy
import pickle
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit, _native
from stim_nonclifford.base.arrays import words_of_bits
from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.rates.fault_sets.search.mechanisms import mechanisms_of
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.program.program_arrays import ProgramArrays, program_arrays
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import (
    OPERATION_DTYPE,
    ROTATION_TERM_DTYPE,
    SamplingPlan,
    plain_attributes,
)

REFUSALS = (ValueError, TypeError, MemoryError, OverflowError, ResourceLimitError)

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
    E(0.1) X0 Z1
    MPP X0*X1*X2 X3*X4
    R_Z(0.2) 0
    CX rec[-1] 0
    R_X(0.1) 1
    MX 0 1 !2 3
    M(0.1) 4 5
    DETECTOR rec[-1] rec[-3]
    DETECTOR rec[-4]
    DETECTOR rec[-8] rec[-6]
    OBSERVABLE_INCLUDE(0) rec[-2] rec[-5]
    EXP_VAL X0*Y1
    REPEAT 2 {
        R 6
        X_ERROR(0.2) 6
        M 6
        DETECTOR rec[-1]
    }
    MPAD 0
    DETECTOR rec[-12]
"""


def plan_of_all_kinds() -> SamplingPlan:
    """A plan with each kind of operation, with sites, coins, signature bits, and both kinds of checks."""
    circuit = Circuit(TEXT.replace("EXP_VAL X0*Y1", ""))
    outputs = range(circuit.num_detectors, circuit.num_detectors + circuit.num_observables)
    requested = RequestedOutputs.of([2, 5, *outputs], [0, 1, 3])
    return circuit.compile().detector_plan(requested, skip_reference_sample=True)


PLAN = plan_of_all_kinds()
ATTRIBUTES = plain_attributes(PLAN)
MECHANISMS = mechanisms_of(PLAN)


def engine(**changes: Any) -> _native.Engine:
    return _native.Engine(**{"plan": ATTRIBUTES, "num_threads": 1, "cache_bytes": 1 << 20, **changes})


def study(**changes: Any) -> _native.FaultSetStudy:
    arguments = {
        "plan": ATTRIBUTES,
        "checks": words_of_bits(MECHANISMS.checks).ravel(),
        "keys": MECHANISMS.effects.ravel(),
        "target": words_of_bits(MECHANISMS.target[None, :])[0],
        "base": MECHANISMS.base,
        "weights": MECHANISMS.odds,
        "sites": np.ascontiguousarray(MECHANISMS.sites),
        "coins": MECHANISMS.coins.ravel(),
        "max_weight": 4,
        "threads": 1,
        "max_pair_bytes": 1 << 20,
        "max_bytes": 1 << 20,
    }
    return _native.FaultSetStudy(**{**arguments, **changes})


def program_arrays_of_all_kinds() -> ProgramArrays:
    made = program_of(Circuit(TEXT).to_stim())
    return program_arrays(
        made.stored_steps,
        made.loops,
        num_qubits=made.num_qubits,
        num_records=made.num_records,
        num_detectors=made.num_detectors,
        num_observables=made.num_observables,
    )


def program() -> _native.Program:
    return _native.Program(program_arrays_of_all_kinds())


def path_steps(
    *operations: tuple[int, int, int, int, int], angles: list[tuple[float, float, int]]
) -> SimpleNamespace:
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


def changed_plan(**changes: Any) -> SimpleNamespace:
    return SimpleNamespace(**{**vars(ATTRIBUTES), **changes})


def with_field(name: str, field: str, value: Any) -> SimpleNamespace:
    """The plan with one number of the first record of a table changed."""
    records = getattr(PLAN, name).copy()
    records[field][0] = value
    return changed_plan(**{name: records})


def test_the_plan_has_everything() -> None:
    """What is missing in it could not be made wrong."""
    assert set(PLAN.operations["kind"].tolist()) == {0, 1, 2}
    for name in ("num_checks", "num_signature_bits", "num_outputs", "num_signs", "num_outcome_checks"):
        assert getattr(PLAN, name) > 0
    assert len(PLAN.coins) > 0
    assert len(PLAN.branch_constant) > 0
    assert max(PLAN.sites) >= 0
    assert PLAN.rotation_terms["is_reversed"].any()


def array(dtype: Any, *numbers: float) -> np.ndarray:
    return np.array(numbers, dtype)


floats, words, long, ints = (partial(array, kind) for kind in (np.float64, np.uint64, np.int64, np.int32))
SIGNATURE = words(*[0] * -(-PLAN.num_signature_bits // 64))
ONES = 2**64 - 1

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "an array of another dtype": (lambda: _native.alias_table(np.ones(2, np.complex128)), "incompatible"),
    "an array of another shape": (lambda: _native.alias_table(np.ones((1, 2))), "incompatible"),
    "no array": (lambda: _native.alias_table(None), "incompatible"),
    "a negative rate": (lambda: _native.alias_table(floats(1, -1)), "finite and not negative"),
    "a rate that is no number": (lambda: _native.alias_table(floats(np.nan)), "finite and not negative"),
    "rows beyond their bits": (
        lambda: _native.independent_rows(long(0, 2, 99), ints(0, 4, 1)),
        "must ascend from 0",
    ),
    "rows without starts": (lambda: _native.independent_rows(long(), ints(0)), "must ascend from 0"),
    "bits that descend": (lambda: _native.independent_rows(long(0, 2, 3), ints(4, 0, 1)), "must ascend"),
    "a negative bit": (lambda: _native.independent_rows(long(0, 2, 3), ints(0, -4, 1)), "but has -4"),
    "arrays of different lengths": (
        lambda: _native.sums_by_row(long(0, 2, 3), ints(0, 4, 1), floats(1)),
        "an amount for each row",
    ),
    "no image": (lambda: _native.image_sizes(np.full(300, 255, np.uint8)), "no image of a plan"),
    "no kernel": (lambda: run_on_host("other", 8 * len(_native.job_fields())), "no kernel 'other'"),
    "a short job": (lambda: run_on_host("noise", 8), "The job must have"),
    "an empty job": (lambda: run_on_host("noise", 8 * len(_native.job_fields())), "no plan, or no counters"),
    "no threads": (lambda: engine(num_threads=0), "num_threads must be from 1 to 1024"),
    "negative threads": (lambda: engine(num_threads=-1), "incompatible"),
    "too many threads": (lambda: engine(num_threads=1025), "num_threads must be from 1 to 1024"),
    "no instruction set": (lambda: engine(instruction_set="abacus"), "no instruction set 'abacus'"),
    "no method": (lambda: engine(path_method="abacus"), "path_method must be"),
    "shots beyond 2^63": (lambda: engine().count(1, 5, ONES, 0, False), r"below 2\^63"),
    "too many outputs": (
        lambda: engine().sample(1, 0, 3, PLAN.num_outputs + 1),
        "above the number of outputs",
    ),
    "a long signature": (lambda: engine().kept_law(words(0, 0)), "words of each signature"),
    "a signature with other bits": (lambda: engine().kept_law(SIGNATURE + ONES), "beyond the signature bits"),
    "passes of a plan that discards by outcomes": (
        lambda: _native.OutcomePasses(engine(), SIGNATURE, words(0), 1),
        "no passes",
    ),
    "bits of too few passes": (
        lambda: _native.OutcomePasses.suits(engine(), words(*[0] * -(-PLAN.num_outputs // 64)), words()),
        "words of each signature",
    ),
    "a short table of mechanisms": (lambda: study(checks=words()), r"checks must be \[mechanisms\]"),
    "keys with other bits": (lambda: study(base=MECHANISMS.base + ONES), "beyond the signature bits"),
    "sites below -1": (lambda: study(sites=MECHANISMS.sites - 9), "sites must be from -1"),
    "sets of too many members": (lambda: study(max_weight=65), "max_weight must be from 1 to 64"),
    "sets of more members than the study's": (
        lambda: study().enumerate(5, 9, 9),
        "to the max_weight 4",
    ),
    "an unknown mechanism": (
        lambda: study().number_keys(array(np.uint32, 0, 99), 2),
        "but has 99",
    ),
    "edges of nodes that are not there": (
        lambda: _native.MatchingWeights(3, long(0, 9), long(1, 2), long(2, 4), 1 << 20),
        "first must be from 0 to 2, but has 9",
    ),
    "odd weights": (
        lambda: _native.MatchingWeights(3, long(0, 1), long(1, 2), long(2, 5), 1 << 20),
        "weights must be even",
    ),
    "leakage of another qubit": (lambda: swept(long(2, 99, 1)), "on qubits of the program"),
    "leakage behind the program": (lambda: swept(long(10**6, 0, 1)), "before steps of the program"),
    "a time that is no number": (lambda: _native.limit_time(np.nan), "seconds must be a number"),
    "more words than fit": (lambda: _native.random_words(1, 2, 3, ONES), r"at most 2\^27"),
    "no plan": (lambda: _native.check_plan(SimpleNamespace()), "The plan has no 'num_checks'"),
    "a path without its outcomes": (
        lambda: _native.PathExpectations(path_steps((_native.ACTIVATE, 0, 0, 1, 0), angles=[(1, 0, -1)]), 1),
        "an operation for each bit",
    ),
    "a program that is a plan": (lambda: _native.Program(ATTRIBUTES), "."),
    **{
        f"a plan: {message}": (lambda plan=plan: _native.check_plan(plan), message)
        for plan, message in (
            (changed_plan(num_checks=-1), "num_checks"),
            (changed_plan(num_outputs=1.5), "num_outputs"),
            (changed_plan(never_kept=2), "never_kept"),
            (changed_plan(sites=PLAN.sites[:-1]), "sites"),
            (changed_plan(sites=PLAN.sites.astype(np.int64)), "array of 32-bit integers"),
            (changed_plan(alias_indices=PLAN.alias_indices + 10**6), "alias_indices"),
            (changed_plan(constant=ints(PLAN.num_checks)), "constant"),
            (changed_plan(count_thresholds=PLAN.count_thresholds[::-1].copy()), "ascend"),
            (changed_plan(effects=PLAN.coins), "effects"),
            (changed_plan(operations=PLAN.operations[:-1]), "."),
            (changed_plan(rotation_terms=PLAN.rotation_terms[:-1]), "terms"),
            (with_field("operations", "kind", 77), "no such kind"),
            (with_field("operations", "width", 77), "its width"),
            (with_field("operations", "pivot", 77), "its pivot"),
            (with_field("operations", "outcome", 77), "outcome"),
            (with_field("rotation_terms", "cosine", np.nan), "cosine nan"),
            (with_field("rotation_terms", "sign", PLAN.num_signs), "no such sign"),
            (with_field("rotation_terms", "is_reversed", 1), "must not be reversed"),
        )
    },
}


def run_on_host(kernel: str, job_bytes: int) -> None:
    _native.run_on_host(kernel, np.zeros(job_bytes, np.uint8), 0, 1, 0, 32, False, False, False)


def swept(leakage: np.ndarray) -> Any:
    """A backward sweep in which bits of leakage are inserted: for each, its step, its qubit and its number."""
    quantum = _native.forward_sweep(program(), False, lambda step: None)
    return _native.backward_sweep(program(), quantum, False, True, False, leakage, 1 << 20, print)


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(what: str) -> None:
    call, message = WRONG[what]
    with pytest.raises(REFUSALS, match=message) as refusal:
        call()
    assert str(refusal.value)


def test_right_arguments() -> None:
    """Else the wrong ones could be refused for another reason."""
    made = study()
    made.enumerate(1, 10**6, 10**6)
    assert engine().count(1, 5, 3, 0, False)
    assert engine().kept_law(SIGNATURE)
    assert swept(long(2, 0, 1))
    _native.check_plan(ATTRIBUTES)
    _native.MatchingWeights(3, long(0, 1), long(1, 2), long(2, 4), 1 << 20)
    image = _native.plan_image(ATTRIBUTES)
    assert _native.image_sizes(image)["row_words"] == PLAN.num_row_words
    assert len(_native.image_steps(image)) >= PLAN.num_outcomes


@pytest.mark.parametrize("make", [CpuEngine, ReferenceEngine])
def test_engines_refuse_wrong_plans(make: Any) -> None:
    wrong = plan_of_all_kinds()
    object.__setattr__(wrong, "rotation_terms", with_field("rotation_terms", "is_reversed", 1).rotation_terms)
    with pytest.raises(ValueError, match="Operation 0: its Pauli is that of its first term"):
        make(wrong)


@pytest.mark.parametrize("seed", range(40))
def test_random_plans(seed: int) -> None:
    """A plan in which some numbers are random is refused, or sampled: nothing reads outside of the arrays."""
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(30):
        plan = SimpleNamespace(**with_random_numbers(vars(ATTRIBUTES), rng))
        try:
            made = _native.Engine(plan, 1, 1 << 20)
        except REFUSALS:
            refused += 1
            continue
        made.sample_kept(seed, 0, 50)
        made.likely_outputs()
        _native.plan_image(plan)
    assert 0 < refused < 30


@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed: int) -> None:
    """The same of programs, which are swept."""
    rng = np.random.default_rng(seed)
    right = program_arrays_of_all_kinds()
    refused = 0
    for _ in range(30):
        arrays = right._replace(**with_random_numbers(right._asdict(), rng))
        try:
            made = _native.Program(arrays)
            _native.forward_sweep(made, False, lambda step: None)
        except REFUSALS:
            refused += 1
    assert 0 < refused < 30


def with_random_numbers(values: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """One or two of the values changed."""
    changed = dict(values)
    for _ in range(int(rng.integers(1, 3))):
        name = str(rng.choice(list(changed)))
        changed[name] = with_random_number(changed[name], rng)
    return changed


def with_random_number(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return int(value + rng.integers(-1, 2))
    if hasattr(value, "bits"):
        part = str(rng.choice(["starts", "bits"]))
        both = {"starts": value.starts, "bits": value.bits}
        return SimpleNamespace(**{**both, part: with_random_number(both[part], rng)})
    changed = value.copy()
    if not len(changed):
        return changed
    numbers = changed if changed.dtype.names is None else changed[str(rng.choice(changed.dtype.names))]
    place = int(rng.integers(len(numbers)))
    if numbers.dtype.kind == "f":
        numbers[place] = rng.choice([np.nan, np.inf, -numbers[place], 0.0])
    else:
        size = np.iinfo(numbers.dtype)
        choices = [int(numbers[place]) + int(rng.integers(-2, 3)), int(size.max), int(size.min), 0, 1]
        numbers[place] = min(max(int(rng.choice(np.array(choices, dtype=object))), size.min), size.max)
    return changed


def test_outcome_of_probability_0_on_a_path() -> None:
    """Measured twice, a Pauli has the same outcome."""
    activate, other = (_native.ACTIVATE, 0, 0, 1, 0), (_native.ACTIVATE, 1, 0, 2, 1)
    measured, value = (_native.MEASURE, 2, 2, 0, 1), (_native.EXPECT, 1, 1, 0, 0)
    both = path_steps(activate, other, measured, value, angles=[(0.8, 0.6, -1), (0.8, 0.6, -1)])
    states = _native.PathExpectations(both, 1)
    assert np.isfinite(states.evaluate(np.array([0], np.uint8))).all()
    plus = path_steps(activate, value, (_native.MEASURE, 1, 1, 0, 0), angles=[(1.0, 0.0, -1)])
    certain = _native.PathExpectations(plus, 1)
    assert certain.evaluate(np.array([0], np.uint8)).tolist() == [1.0]
    with pytest.raises(ValueError, match="A path has an outcome of probability 0"):
        certain.evaluate(np.array([1], np.uint8))


def test_pickled_plan_of_another_version() -> None:
    """With fewer fields, or with records of another dtype."""
    plan: SamplingPlan = pickle.loads(pickle.dumps(PLAN))
    assert plan == PLAN
    CpuEngine(plan)
    old = pickle.loads(pickle.dumps(PLAN))
    del old.__dict__["outcome_check_deadlines"]
    with pytest.raises(ValueError, match=r"not complete .*outcome_check_deadlines.*another version"):
        plain_attributes(pickle.loads(pickle.dumps(old)))
    old = pickle.loads(pickle.dumps(PLAN))
    fields = PLAN.rotation_terms.dtype.descr
    old.__dict__["rotation_terms"] = np.zeros(len(PLAN.rotation_terms), [fields[1], fields[0], *fields[2:]])
    with pytest.raises(TypeError, match="rotation_terms must be an array of the dtype"):
        CpuEngine(pickle.loads(pickle.dumps(old)))


@pytest.mark.parametrize("make", [engine, study, program])
def test_native_objects_are_not_copied(make: Any) -> None:
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copied(make())
