"""Simulations of long vectors and of many branches hear exceptions of signal handlers, and release Python's lock."""

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford import Circuit, _native
from stim_nonclifford.simulation.engines.time_limit import time_limit
from stim_nonclifford.simulation.plan import plain_attributes

from ....support.processes.stopped_calls import heard_soon, needs_timer

WIDTH = 21


@cache
def long_vector() -> SimpleNamespace:
    """A vector of 2^21 coefficients, and many rotations that mix all of them."""
    lines = []
    for layer in range(600):
        for q in range(WIDTH):
            other = (q + 1 + layer % (WIDTH - 1)) % WIDTH
            lines.append(f"R_X({0.1 + 0.01 * q}) {q}\nR_ZZ(0.07) {q} {other}")
    circuit = Circuit("\n".join([*lines, "M 0"]))
    plan = circuit.compile().record_plan(max_active_coordinates=WIDTH)
    assert plan.peak_width == WIDTH
    return plain_attributes(plan)


@cache
def many_branches() -> SimpleNamespace:
    """2^30 sequences of outcomes."""
    lines = [f"R_X(0.3) {q}\nM {q}" for q in range(30)]
    return plain_attributes(Circuit("\n".join(lines)).compile().record_plan())


CALLS: dict[str, Callable[[], Any]] = {
    "Engine": lambda: _native.Engine(long_vector(), 1, 0),
    "Engine of two threads": lambda: _native.Engine(long_vector(), 2, 0),
    "plan_image": lambda: _native.plan_image(long_vector()),
    "kept_branches": lambda: _native.kept_branches(many_branches(), np.zeros(0, np.uint64), 1),
    "kept_law": lambda: _native.Engine(many_branches(), 1, 0).kept_law(np.zeros(0, np.uint64)),
}


@needs_timer
@pytest.mark.parametrize("name", CALLS)
def test_exceptions_of_handlers_are_heard_soon(name: str) -> None:
    """Each call takes ten seconds, or more memory than there is."""
    long_vector(), many_branches()
    with heard_soon():
        CALLS[name]()


@needs_timer
def test_outcome_laws_after_an_interruption() -> None:
    """The engine is as it was."""
    engine = _native.Engine(many_branches(), 1, 1 << 20)
    alone = _native.Engine(many_branches(), 1, 1 << 20)
    with heard_soon():
        engine.kept_law(np.zeros(0, np.uint64))
    np.testing.assert_array_equal(engine.sample(5, 0, 100, 30), alone.sample(5, 0, 100, 30))


CIRCUIT = "RX 0\nT 0\nZ_ERROR(0.1) 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"


def test_work_ends_and_the_next_call_has_all_its_time() -> None:
    sampler = snc.Circuit(CIRCUIT).compile_detector_sampler(seed=1)
    for _ in range(2):
        with pytest.raises(TimeoutError, match="The time that a call may take is over"), time_limit(0.0):
            sampler.sample_counts(10**12)
        assert sampler.sample_counts(100).shots == 100


def test_the_outer_limit_holds_too() -> None:
    sampler = snc.Circuit(CIRCUIT).compile_detector_sampler(seed=1)
    with time_limit(None), pytest.raises(TimeoutError), time_limit(0.0), time_limit(1e6):
        sampler.sample_counts(10**12)
    with time_limit(0.0):
        with time_limit(None):
            pass
        with pytest.raises(TimeoutError):
            sampler.sample_counts(10**12)


def test_an_inner_limit_ends_with_its_block() -> None:
    sampler = snc.Circuit(CIRCUIT).compile_detector_sampler(seed=1)
    with time_limit(1e6):
        with time_limit(0.0):
            pass
        assert sampler.sample_counts(100).shots == 100
