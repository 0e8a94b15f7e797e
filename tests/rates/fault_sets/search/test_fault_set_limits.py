"""Searches for fault sets end at their limits, hear exceptions of signal handlers, and may be shared by threads."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit, _native
from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.estimation import limits as limits_module
from stim_nonclifford.rates.estimation.limits import Deadline, Settings
from stim_nonclifford.rates.fault_sets.interface import estimate_rates
from stim_nonclifford.rates.fault_sets.search import search as search_module
from stim_nonclifford.rates.fault_sets.search.halves import Halves
from stim_nonclifford.rates.fault_sets.search.mechanisms import Mechanisms, mechanisms_of, native_search
from stim_nonclifford.simulation.engines.time_limit import time_limit
from stim_nonclifford.simulation.plan import SamplingPlan, plain_attributes

from ....support.processes.stopped_calls import heard_soon, needs_timer, stopped_from_a_thread
from ....support.rates.fault_set_cases import estimate, search_of

MANY = 2**62


@cache
def cultivation(distance: int) -> tuple[SamplingPlan, Mechanisms]:
    """All detectors are postselected."""
    plan = planned(Circuit(cultivation_circuit(distance=distance, p=1e-3)), "all", None).plan()
    return plan, mechanisms_of(plan)


def study_for(distance: int, *, threads: int = 1, max_bytes: int = 1 << 30) -> _native.FaultSetStudy:
    return native_search(*cultivation(distance), threads, max_bytes)


def enumerated(study: _native.FaultSetStudy, weight: int, **limits: Any) -> dict[str, Any]:
    given = {"max_steps": MANY, "max_keys": MANY, **limits}
    return study.enumerate(weight, **given)


def joined(study: _native.FaultSetStudy, draws: int) -> dict[str, Any]:
    """Sets of four."""
    halves = Halves(range(4, 5), np.ones(5))
    left, right = halves.draws_of_sizes(draws)
    counts = halves.importance_weights(draws)
    return study.join(left, right, counts, 3, 1, 10**6)


def enumerated_search(distance: int, settings: Settings, weights: int = 3) -> search_module.Search:
    """So many weights are enumerated."""
    known = search_of(cultivation(distance)[0], settings)
    for weight in range(weights):
        known.enumerate(weight, MANY)
    return known


def study_of_one_class(num_mechanisms: int, odds: float, max_bytes: int = 1 << 26) -> _native.FaultSetStudy:
    """All mechanisms flip the same check, and each one an output of its own."""
    lines = [f"R {k}\nX_ERROR(0.1) {k}\nM {k}" for k in range(num_mechanisms)]
    lines.append("DETECTOR " + " ".join(f"rec[-{k + 1}]" for k in range(num_mechanisms)))
    lines += [f"OBSERVABLE_INCLUDE({k}) rec[-{k + 1}]" for k in range(num_mechanisms)]
    plan = planned(Circuit("\n".join(lines)), "all", None).plan()
    found = mechanisms_of(plan)
    assert len(found.odds) == num_mechanisms
    found.odds[:] = odds
    return native_search(plan, found, 1, max_bytes)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("weight", [3, 4, 5])
def test_max_steps(weight: int, threads: int) -> None:
    """At most one more look at each mechanism by each thread, where the whole search takes millions of steps.

    Other threads notice it after as many steps as all have left between them when they looked the last time.
    """
    study = study_for(5, threads=threads)
    for max_steps in (0, 1000, 100_000):
        found = enumerated(study, weight, max_steps=max_steps)
        assert not found["is_complete"]
        most = max_steps + threads * len(cultivation(5)[1].odds) + (threads > 1) * max_steps // 2
        assert max_steps < found["steps"] <= most


def test_a_search_at_its_limit_is_complete() -> None:
    """The same steps with any number of threads."""
    for threads in (1, 3):
        study = study_for(3, threads=threads)
        steps = enumerated(study, 3)["steps"]
        assert enumerated(study, 3, max_steps=steps)["is_complete"]
        assert not enumerated(study, 3, max_steps=steps - 1)["is_complete"]


def test_max_keys_of_all_sets_together() -> None:
    """The search ends as soon as there are too many."""
    study = study_for(3)
    whole = enumerated(study, 4)
    assert enumerated(study, 4, max_keys=whole["num_keys"])["is_complete"]
    assert not enumerated(study, 4, max_keys=whole["num_keys"] - 1)["is_complete"]
    found = enumerated(study, 4, max_keys=100)
    assert not found["is_complete"]
    assert found["steps"] < whole["steps"] / 100


def test_max_seconds() -> None:
    """The whole searches would take hours."""
    study = study_for(5)
    found = enumerated(study, 6, max_seconds=0.2)
    assert not found["is_complete"]
    assert found["steps"] > 1 << 16
    with pytest.raises(ValueError, match="max_seconds must be positive"):
        enumerated(study, 3, max_seconds=0.0)


def test_a_join_that_takes_too_long_is_dropped() -> None:
    """What was found before is left, and the search ends."""
    known = enumerated_search(3, Settings(seed=1))
    joins = known.joined(range(3, 4))
    known.sample(joins, 20_000)
    found = known.sums(joins)
    with pytest.raises(TimeoutError), time_limit(0.0):
        known.sample(joins, 10**6)
    assert known.sums(joins) is found


class SlowStudy:
    """A study in which sets of three mechanisms and more cannot be enumerated in any time, by a clock of its own."""

    def __init__(self, study: _native.FaultSetStudy) -> None:
        self._study = study
        self._now = 0.0

    def monotonic(self) -> float:
        self._now += 1e-6
        return self._now

    def enumerate(self, weight: int, *arguments: Any) -> dict[str, Any]:
        *others, max_seconds, max_laws = arguments
        if weight < 3:
            return self._study.enumerate(weight, *others, max_seconds, max_laws)
        self._now += max_seconds
        return {**self._study.enumerate(2, *others, max_seconds, max_laws), "is_complete": False}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._study, name)


def test_an_enumeration_that_takes_too_long_leaves_time_for_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed 1; the exact value is that of arXiv 2609.18922."""
    study = SlowStudy(study_for(3))
    monkeypatch.setattr(search_module, "native_search", lambda *_: study)
    monkeypatch.setattr(limits_module, "time", study)
    circuit = Circuit(cultivation_circuit(distance=3, p=1e-3))
    found = estimate(circuit, Settings(0.04, max_seconds=10.0), 1)
    assert [share.method == "enumerated" for share in found.strata[:4]] == [True, True, True, False]
    assert abs(found.logical_error_rate - 8.982790954e-7) < 5 * found.standard_error
    assert found.standard_error < 0.05 * found.logical_error_rate


def test_memory_of_lists() -> None:
    """The numbers of the error are those of the limit and of what is needed."""
    with pytest.raises(
        ResourceLimitError, match=r"4,950 pairs of 8 bytes; the limit is 39,599 bytes. Raise max"
    ):
        study_of_one_class(100, 0.1, 8 * 4950 - 1)
    assert study_of_one_class(100, 0.1, 8 * 4950).num_twins == 4950


CALLS: dict[str, Callable[[_native.FaultSetStudy], Any]] = {
    "enumerate": lambda study: study.enumerate(6, MANY, MANY),
    "join": lambda study: study.join(
        *Halves(range(8, 9), np.ones(9)).draws_of_sizes(2 * 10**7),
        np.append(np.zeros(8), 1.0),
        1,
        1,
        MANY,
    ),
    "member_sums": lambda study: study.member_sums(6, np.ones(1), 1),
    "sets_with": lambda study: study.sets_with(6, np.ones(1)),
}


@needs_timer
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("enumerate", "join") else pytest.mark.slow) for name in CALLS],
)
def test_exceptions_of_handlers_are_heard_soon(name: str, threads: int) -> None:
    """Each call would take longer than ten seconds. What it has stored until then does not change later calls."""
    study = study_for(5, threads=threads)
    with heard_soon():
        CALLS[name](study)
    alone = study_for(5)
    for one in (study, alone):
        one.enumerate(2, MANY, MANY)
    np.testing.assert_array_equal(*(joined(one, 20_000)["members"] for one in (study, alone)))


def slow_construction() -> _native.FaultSetStudy:
    """A basis of 4096 random checks takes some ten seconds."""
    size, check_words = 3000, 64
    plan = cultivation(3)[0]
    key_words = -(-plan.num_signature_bits // 64) + 1
    checks = np.random.default_rng(1).integers(2**63, size=size * check_words, dtype=np.uint64)
    arguments = {
        "plan": plain_attributes(plan),
        "checks": checks,
        "keys": np.zeros(size * key_words, np.uint64),
        "target": np.zeros(check_words, np.uint64),
        "base": np.zeros(key_words, np.uint64),
        "weights": np.full(size, 0.1),
        "sites": np.full(size, -1, np.int32),
        "coins": np.zeros(0, np.uint64),
        "max_weight": 4,
        "threads": 1,
        "max_pair_bytes": 0,
        "max_bytes": 1 << 30,
    }
    return _native.FaultSetStudy(**arguments)


@needs_timer
def test_construction_is_interrupted() -> None:
    with heard_soon():
        slow_construction()


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_share_a_study(threads: int) -> None:
    """Their calls follow one another, and have the results that they have alone."""
    alone, shared = study_for(3), study_for(3, threads=threads)
    weights = [1, 2, 3, 4] * 2
    expected = {weight: enumerated(alone, weight) for weight in weights}
    members = alone.sets_with(2, np.ones(alone.num_keys))

    def call(weight: int) -> dict[str, Any]:
        joined(shared, 1000)
        shared.number_keys(members, 2)
        shared.evaluate()
        result = enumerated(shared, weight)
        shared.member_sums(2, np.ones(1), 1)
        return result

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(call, weights))
    for weight, result in zip(weights, results, strict=True):
        assert result["num_keys"] == expected[weight]["num_keys"]
        np.testing.assert_array_equal(result["masses"], expected[weight]["masses"])
    assert shared.num_keys == alone.num_keys


@needs_timer
def test_python_runs_while_a_study_works() -> None:
    """The lock of Python is released, in the constructor too: another thread goes on, and ends the call."""
    study = study_for(5)
    for call in (slow_construction, lambda: enumerated(study, 6)):
        with stopped_from_a_thread():
            call()


def test_time_counts_from_the_call() -> None:
    """Of a thousand seconds that are over, nothing is left for samples of weights that are not enumerated."""
    asked = [planned(Circuit(cultivation_circuit(3, p=1e-3)), "all", None)]
    now, settings = time.monotonic(), Settings(0.01, max_seconds=1000, seed=1)
    in_time, late = (
        estimate_rates(asked, settings, Deadline(settings.max_seconds, begin))[0]
        for begin in (now, now - 2000)
    )
    assert late.seconds > 2000
    assert late.strata[-1].method == in_time.strata[-1].method == "bound"
    assert late.strata[-1].probability > 100 * in_time.strata[-1].probability
    assert late.interval[0] <= in_time.interval[1]
    assert in_time.interval[0] <= late.interval[1]
