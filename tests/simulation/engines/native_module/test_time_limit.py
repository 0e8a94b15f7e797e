"""Native work ends when its time is over."""

from __future__ import annotations

import pytest

import stim_nonclifford as snc
from stim_nonclifford.simulation.engines.time_limit import time_limit

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
