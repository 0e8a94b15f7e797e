"""Four threads of the CPU engine, on circuits whose outcome laws they store together. `make sanitize` runs this too."""

import functools
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.engines.cpu import DEFAULT_CACHE_BYTES
from stim_nonclifford.simulation.plan import BLOCK_SHOTS, SamplingPlan

from ....support.engines.engine_cases import DEEP, SEED

BLOCKS = 300  # the threads need some blocks each, or fewer of them are started
CACHES = (0, 1 << 12, 1 << 16, 1 << 20, DEFAULT_CACHE_BYTES)
NAMES = ("d=3, noise", "d=3, much noise", "d=5, noise", "deep")


@functools.cache
def plan_of(name: str) -> SamplingPlan:
    """Plans for the counts, and, without postselection, for all bits."""
    if name == "deep":
        return Circuit(DEEP).compile().record_plan()
    distance = int(name[2])
    circuit = Circuit(cultivation_circuit(distance=distance, p=0.01 if "much" in name else 0.001))
    if "much" in name:
        return circuit.compile().record_plan()
    return circuit.plan("sample_counts", postselection_mask="all").sampling_plan


def results_of(engine: CpuEngine, name: str) -> list[Any]:
    """Several calls, each of which finds what those before it have stored."""
    shots = 4 * BLOCK_SHOTS if name == "deep" else BLOCKS * BLOCK_SHOTS
    return [
        engine.count(SEED, 0, shots),
        engine.count(SEED, 10, shots, 50),
        engine.sample_kept(SEED, 500, shots // 4),
        engine.count(SEED, 0, shots),
    ]


@functools.cache
def expected_of(name: str) -> list[Any]:
    return results_of(CpuEngine(plan_of(name)), name)


@pytest.mark.parametrize("cache_bytes", CACHES)
@pytest.mark.parametrize("name", NAMES)
def test_four_threads(name: str, cache_bytes: int) -> None:
    engine = CpuEngine(plan_of(name), threads=4, cache_bytes=cache_bytes)
    for found, expected in zip(results_of(engine, name), expected_of(name), strict=True):
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(found, expected)
        else:
            assert found == expected
    statistics = engine.statistics()
    assert statistics["bytes"] <= cache_bytes
