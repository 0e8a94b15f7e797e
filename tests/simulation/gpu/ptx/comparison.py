"""Compares the shots of the GPU engine, run from its PTX, with those of the CPU engine."""

import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from stim_nonclifford.simulation.engines import DEFAULT_CACHE_BYTES, CpuEngine, GpuEngine
from stim_nonclifford.simulation.engines.gpu import CupyBackend
from stim_nonclifford.simulation.plan import SamplingPlan

from .machine.cupy_module import make_cupy
from .machine.device import Device, Properties


@dataclass
class Comparison:
    """What came out of a comparison."""

    device: Device  # the device, for its counts
    # for each call, whether its results are those of the CPU engine
    same: dict[str, bool] = field(default_factory=dict)
    shots: int = 0  # the number of shots in all calls
    findings: Counter[str] = field(default_factory=Counter)  # what the emulator reports
    error: str | None = None  # an error that ended the comparison, or None
    statistics: dict[str, int] = field(default_factory=dict)  # those of the engine

    @property
    def is_right(self) -> bool:
        """Whether all results are the same, and nothing is reported."""
        return self.error is None and bool(self.same) and all(self.same.values()) and not self.findings

    def __str__(self) -> str:
        if self.is_right:
            return "SAME"
        different = [name for name, same in self.same.items() if not same]
        return f"DIFFERENT: {different}, error: {self.error}, findings: {dict(self.findings)}"


def engine_on(device: Device, plan: SamplingPlan, cache_bytes: int = DEFAULT_CACHE_BYTES) -> GpuEngine:
    """The GPU engine for a plan, on a device."""
    before = sys.modules.get("cupy")
    sys.modules["cupy"] = make_cupy(device)
    try:
        backend = CupyBackend()
    finally:
        if before is None:
            del sys.modules["cupy"]
        else:
            sys.modules["cupy"] = before
    return GpuEngine(plan, backend, cache_bytes=cache_bytes)


def same_shots(plan: SamplingPlan, gpu: GpuEngine, seed: int, first: int, shots: int) -> dict[str, bool]:
    """For each call of the engine, whether its results are those of the CPU engine."""
    cpu = CpuEngine(plan, threads=1)
    where = (seed, first, shots)
    found = {
        f"count, {max_errors}, {listed}": gpu.count(*where, max_errors, list_errors=listed)
        == cpu.count(*where, max_errors, list_errors=listed)
        for max_errors, listed in ((0, False), (17, True))
    }
    rows, numbers = cpu.sample_kept_numbered(*where)
    gpu_rows, gpu_numbers = gpu.sample_kept_numbered(*where)
    found["sample_kept_numbered"] = np.array_equal(gpu_rows, rows) and np.array_equal(gpu_numbers, numbers)
    found["sample_kept_on_device"] = np.array_equal(gpu.sample_kept_on_device(*where).get(), rows)
    if not plan.num_checks + plan.num_outcome_checks and not plan.never_kept:
        found["sample"] = np.array_equal(gpu.sample(*where), rows)
        found["sample_on_device"] = np.array_equal(gpu.sample_on_device(*where).get(), rows)
        # Some of the shots, in another order, as after decisions.
        some = np.random.default_rng(seed).permutation(shots)[: shots // 2]
        signatures = cpu.rows(*where)[some, : -(-plan.num_signature_bits // 64)]
        drawn = signatures, (first + some).view(np.uint64), seed
        found["outcomes"] = np.array_equal(gpu.outcomes(*drawn), cpu.outcomes(*drawn))
    return found


def compared(
    plan: SamplingPlan,
    properties: Properties,
    *,
    seed: int,
    first: int,
    shots: int,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    times: int = 2,
) -> Comparison:
    """Compares all calls; again with the trees of outcomes that are there after the first time."""
    result = Comparison(Device(properties))
    result.findings = result.device.findings
    try:
        engine = engine_on(result.device, plan, cache_bytes)
        for turn in range(times):
            same = same_shots(plan, engine, seed, first, shots)
            result.same |= {f"{name}, time {turn + 1}": value for name, value in same.items()}
            result.shots += shots * len(same)
        result.statistics = engine.statistics()
    except Exception as error:
        result.error = f"{type(error).__name__}: {error}"
    return result
