"""The GPU engine, with the kernels that a GPU runs, gives the shots of the CPU engine: see ``tests/simulation/gpu/ptx``."""

from typing import Any

import numpy as np
import pytest

from stim_nonclifford import _native
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.engines.gpu.chunk_sampler import Chunk, Results
from stim_nonclifford.simulation.engines.gpu.cuda_source import KernelLaunch
from stim_nonclifford.simulation.engines.gpu.cupy_backend import CupyStream
from stim_nonclifford.simulation.plan import BLOCK_SHOTS

from .ptx.cases import CASES, OPTIONS, few_outcomes, fixed_plans, random_cases
from .ptx.comparison import engine_on
from .ptx.machine.device import Device, Properties
from .ptx.machine.kernels import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")

TWO_STREAMS = "d=3, two streams"
RACES = ("T gates", "d=3, p=0.005", "d=5, p=0.003", "coherent, k=7", "k=11, small shared memory")
"""Of the cases that run again with reports of races: they are slower then."""

OTHER_CODE = ("d=3, p=0.005", "k=11, small shared memory")
"""Of the cases that run again with the code of newer devices: a thread, and a team, for each vector."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name != TWO_STREAMS])
def test_cases(name: str) -> None:
    result = CASES[name].run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("number", range(len(fixed_plans(0))))
def test_fixed_plans(number: int, shift: int) -> None:
    """Each plan with two of the options of the device, and each option with half of the plans."""
    result = fixed_plans(shift)[number].run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(OPTIONS)))
def test_random_plans(seed: int) -> None:
    """As many seeds as there are options, so that each circuit of a seed meets another one."""
    for case in random_cases(seed):
        result = case.run(seed=seed + 1)
        assert result.is_right, f"{case.name}: {result}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [(name, {"mode": "races"}) for name in RACES]
    + [
        (name, {"architecture": architecture})
        for name in OTHER_CODE
        for architecture in ("compute_90", "compute_100")
    ],
    ids=str,
)
def test_races_and_other_architectures(name: str, options: dict[str, Any]) -> None:
    result = CASES[name].run(**options)
    assert result.is_right, result


@pytest.mark.slow
def test_two_streams() -> None:
    """Launches of both take turns, little memory makes many chunks, and arrays get the memory of earlier ones."""
    result = CASES[TWO_STREAMS].run()
    assert result.is_right, result
    assert result.device.timeline.interleaved > 100
    assert result.statistics["chunks"] > 20
    assert result.device.reused > 10


@pytest.mark.slow
@pytest.mark.parametrize("results", [Results.PATTERNS, Results.ERRORS])
def test_the_end_of_the_largest_chunk(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    """Of 2^28 shots that begin within a block, far from shot 0, the last 20 blocks are drawn."""
    first, last_blocks, seed = (1 << 40) + 5, 20, 11
    plan = few_outcomes()
    device = Device(Properties(free_bytes=1 << 28))
    engine = engine_on(device, plan)
    chunk = Chunk(seed, first, first + (1 << 28), results, count_by_block=True)
    sampler = engine._samplers[0]
    launch = CupyStream.launch

    def at_the_end(self: CupyStream, kernel: KernelLaunch, job: Any, round_number: int | None = None) -> None:
        if kernel.name == "noise":
            sampler._counters[:1].fill(chunk.num_blocks - last_blocks)  # the next block
        launch(self, kernel, job, round_number)

    monkeypatch.setattr(CupyStream, "launch", at_the_end)
    after = sampler.start(chunk, None)
    while sampler.needs_more(sampler.counters()):
        after = sampler.go_on(after)
    begin = (chunk.end_shot // BLOCK_SHOTS + 1 - last_blocks) * BLOCK_SHOTS
    expected = CpuEngine(plan).count(seed, begin, chunk.end_shot - begin, list_errors=True)
    counters = sampler.counters()
    constants = _native.device_constants()
    assert int(counters[constants["kept"]]) == expected.shots - expected.discards > 0
    blocks = [(shot // BLOCK_SHOTS) - first // BLOCK_SHOTS for shot in expected.error_shots]
    found = sampler.block_errors(chunk)
    assert np.flatnonzero(found).tolist() == sorted(set(blocks))
    assert found.sum() == expected.errors > 0
    if results == Results.PATTERNS:
        assert sampler.pattern_counts(plan.num_outputs) == expected.patterns
    else:
        shots, _ = sampler.listed_errors(expected.errors)
        assert sorted(shots.tolist()) == expected.error_shots
    assert not device.findings
