"""The checks for a real GPU run, on a stand-in for CuPy, and say what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu import checks as gpu_checks
from stim_nonclifford.simulation.engines import GpuEngine

from ...support.engines.fake_cupy import make_cupy


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, **options: Any) -> int:
    cupy = make_cupy(**options)
    cupy.RawKernel = lambda source, name: lambda grid, block, arguments: None
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(sys, "argv", ["checks", "--fraction", "10000", *arguments])
    return gpu_checks.main()


@pytest.mark.slow
def test_all_checks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "--circuits", str(tmp_path)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("coherent-d5r5, k19")
    assert [line.split(":")[0] for line in lines[1:]] == ["pair"] * 4 + ["agree"] * 9 + ["streams", "stop"]
    assert all(line.endswith(": OK") for line in lines[1:])


def test_work_for_profilers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "spin", "--workload", "d3", "--shots", "2000") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("spin: d3, {")


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
    assert run(monkeypatch, "pair", "streams", "--fraction", "100") == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("pair", "streams"))]
    assert [line.rpartition(": ")[2] for line in lines] == ["FAILED"] * 5
    assert "out of order" in lines[-1]


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "pair", devices=0) == 2
    assert "needs an NVIDIA GPU" in capsys.readouterr().err
