"""The native module refuses wrong arguments with a message: it never crashes, and never takes them for others."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import _native
from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import SamplingPlan, plain_attributes

from ....support.engines.native_cases import (
    ATTRIBUTES,
    CASES,
    IMAGE,
    INSTANCES,
    PLAN,
    argument_names,
    engine,
    path_steps,
    paths,
    plan_of_all_kinds,
    program,
    quantum,
    study,
)  # fmt: skip
from ....support.engines.native_wrong import wrong_plans, wrong_programs

REFUSALS = (ValueError, TypeError, MemoryError, OverflowError, ResourceLimitError)
WRONG_PLANS = wrong_plans()


def entries() -> Iterator[tuple[str, Any]]:
    """Every function, and every method of a class, by name."""
    for name, value in vars(_native).items():
        if type(value).__name__ == "nb_func":
            yield name, value
        elif type(value).__name__ == "nb_type":
            for method, function in vars(value).items():
                if type(function).__name__ == "nb_method":
                    yield f"{name}.{method}", function


def called(name: str, arguments: dict[str, Any]) -> Any:
    owner, _, method = name.rpartition(".")
    made = _native
    if owner:
        made = _native if method == "__init__" else (INSTANCES.get(name) or INSTANCES[owner])()
    return getattr(made, owner if method == "__init__" else method)(**arguments)


def is_refused(call: Callable[..., Any], *arguments: Any) -> bool:
    """Whether there is an error with a message; other errors are not caught."""
    try:
        call(*arguments)
    except REFUSALS as refusal:
        return bool(str(refusal))
    return False


def test_every_entry_has_a_case() -> None:
    assert set(CASES) == {name for name, function in entries() if argument_names(function)}


@pytest.mark.parametrize("name", [name for name in CASES if name != "run_on_host"])
def test_right_arguments(name: str) -> None:
    """Else the wrong ones could be refused for another reason."""
    called(name, CASES[name].right)


@pytest.mark.parametrize("name", CASES)
def test_wrong_arguments(name: str) -> None:
    case = CASES[name]
    wrong = [(argument, value) for argument, values in case.wrong.items() for value in values]
    taken = [
        (argument, value)
        for argument, value in wrong
        if not is_refused(called, name, {**case.right, argument: value})
    ]
    assert not taken


def test_wrong_plans_and_programs() -> None:
    """Every entry reads plans with the same function."""
    taken = [what for what, plan in WRONG_PLANS.items() if not is_refused(_native.check_plan, plan)]
    taken += [what for what, parts in wrong_programs().items() if not is_refused(_native.Program, parts)]
    assert not taken, "\n".join(taken)


@pytest.mark.parametrize("name", sorted(name for name, function in entries() if not argument_names(function)))
def test_entries_without_arguments(name: str) -> None:
    function = dict(entries())[name]
    with pytest.raises(TypeError):
        function(*([None] * 2))


def test_the_plan_has_everything() -> None:
    """What is missing in it could not be made wrong."""
    assert set(PLAN.operations["kind"].tolist()) == {0, 1, 2}
    for name in ("num_checks", "num_signature_bits", "num_outputs", "num_signs", "num_outcome_checks"):
        assert getattr(PLAN, name) > 0
    assert len(PLAN.coins) > 0
    assert len(PLAN.branch_constant) > 0
    assert max(PLAN.sites) >= 0
    assert (np.diff(PLAN.operations["end_term"] - PLAN.operations["first_term"]) != 0).any()
    assert PLAN.rotation_terms["is_reversed"].any()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "plan" in case.right])
def test_every_entry_checks_the_plan(name: str) -> None:
    plan = WRONG_PLANS["rotation_terms: cosine nan of 0"]
    with pytest.raises(ValueError, match="Operation 0, term 0 has the cosine nan"):
        called(name, {**CASES[name].right, "plan": plan})


@pytest.mark.parametrize("make", [CpuEngine, ReferenceEngine])
def test_engines_refuse_wrong_plans(make: Any) -> None:
    terms = PLAN.rotation_terms.copy()
    terms["is_reversed"][0] = 1
    wrong = plan_of_all_kinds()
    object.__setattr__(wrong, "rotation_terms", terms)
    with pytest.raises(ValueError, match="Operation 0: its Pauli is that of its first term"):
        make(wrong)


@pytest.mark.parametrize("seed", range(40))
def test_random_plans(seed: int) -> None:
    """A plan in which some numbers are random is refused, or sampled: nothing reads outside of the arrays."""
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(30):
        attributes = dict(vars(ATTRIBUTES))
        for _ in range(int(rng.integers(1, 3))):
            name = str(rng.choice(list(attributes)))
            attributes[name] = _with_random_numbers(attributes[name], rng)
        plan = SimpleNamespace(**attributes)
        try:
            made = _native.Engine(plan, 1, 1 << 20)
        except REFUSALS:
            refused += 1
            continue
        made.sample_kept(seed, 0, 50)
        made.likely_outputs()
        _native.plan_image(plan)
    assert refused < 30


def _with_random_numbers(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return int(value + rng.integers(-1, 2))
    if hasattr(value, "bits"):
        part = str(rng.choice(["starts", "bits"]))
        both = {"starts": value.starts, "bits": value.bits}
        return SimpleNamespace(**{**both, part: _with_random_numbers(both[part], rng)})
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
    with pytest.raises(TypeError, match=r"The plan has no 'sites'.*another version"):
        _native.check_plan(
            SimpleNamespace(**{name: value for name, value in vars(ATTRIBUTES).items() if name != "sites"})
        )


@pytest.mark.parametrize("make", [engine, study, program, quantum, paths])
def test_native_objects_are_not_copied(make: Any) -> None:
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copied(make())


def test_images_are_images() -> None:
    assert _native.image_sizes(IMAGE)["row_words"] == PLAN.num_row_words
    assert len(_native.image_steps(IMAGE)) >= PLAN.num_outcomes
