"""The benchmark and the checks of the GPU engine run on a stand-in for CuPy, count work as by hand, and say what is wrong."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.gpu import checks as gpu_checks
from benchmarks.gpu import speed as benchmark
from benchmarks.gpu.noise import GLOBAL_BYTES, ISSUE_SLOTS
from benchmarks.gpu.work import Limits, Work, noise_work, simulation_work
from stim_nonclifford import Circuit
from stim_nonclifford.simulation.engines import GpuEngine
from stim_nonclifford.simulation.engines.gpu.device_plan import DevicePlan
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.plan import BLOCK_SHOTS

from ...support.engines.fake_cupy import make_cupy


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setitem(sys.modules, "cupy", make_cupy())
    monkeypatch.setattr(benchmark, "FEWEST_SHOTS", 1 << 11)  # the stand-in is slow
    monkeypatch.setattr(sys, "argv", ["speed", "--seconds", "0.01", "--repeats", "1", *arguments])
    return benchmark.main()


def test_rates(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--workloads", "d3", "d5-all-bits") == 0
    printed = capsys.readouterr().out
    assert "Stand-in, 2 multiprocessors" in printed
    for name in ("d3", "d5-all-bits"):
        assert f"\n{name}: " in printed
    for kernel in ("noise", "walk", "simulate"):
        assert printed.count(f"\n  {kernel}: ") == 2
    assert "of instruction issue" in printed
    assert "close decisions 0" in printed


def test_check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--check", "20000") == 0
    assert capsys.readouterr().out.count("the same; 0 close decisions") == 2


def test_work() -> None:
    """One qubit activated, two rotations about X and Z, a measurement; 0.5 events of noise per shot."""
    circuit = Circuit("RX 0\nT 0\nX_ERROR(0.25) 0\nSQRT_X 0\nT 0\nR_Z(0.3) 0\nSQRT_X 0\nT 0\nM 0")
    plan = circuit.compile().record_plan()
    device_plan = DevicePlan(plan, HostBackend(), 0)
    work = simulation_work(plan, device_plan)
    assert work.hbm_bytes == 0
    assert work.shared_bytes > 2 * 16 * 2
    assert work.fused > 0
    noise = noise_work(plan, written_bytes=9)
    assert noise.instructions > 32 * ISSUE_SLOTS.blocks / BLOCK_SHOTS
    assert noise.hbm_bytes > 9 + GLOBAL_BYTES.blocks / BLOCK_SHOTS
    double = work + work
    assert double == work * 2
    limits = Limits(instructions=1, shared_bytes=10, hbm_bytes=100, fused=1000)
    shares = limits.shares(Work(shared_bytes=2), 3)
    assert shares == {"instruction issue": 0, "shared memory": 0.6, "HBM": 0, "FP64": 0}


def check(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    cupy = make_cupy()
    cupy.RawKernel = lambda source, name: lambda grid, block, arguments: None
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(sys, "argv", ["checks", "--fraction", "10000", *arguments])
    return gpu_checks.main()


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts of another seed, and an error; the other checks run all the same."""
    count = GpuEngine.count

    def wrong(self: GpuEngine, seed: int, *arguments: Any, **options: Any) -> Any:
        return count(self, seed + 1, *arguments, **options)

    def broken(arguments: Any) -> Iterator[tuple[str, bool]]:
        raise RuntimeError("out of order")
        yield "never", True

    monkeypatch.setattr(GpuEngine, "count", wrong)
    monkeypatch.setitem(gpu_checks.CHECKS, "streams", broken)
    assert check(monkeypatch, "pair", "streams", "--fraction", "100") == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("pair", "streams"))]
    assert [line.rpartition(": ")[2] for line in lines] == ["FAILED"] * 5
    assert "out of order" in lines[-1]
