"""The GPU engine, with the kernels that a GPU runs, gives the shots of the CPU engine: see ``tests/gpu/ptx``."""

from __future__ import annotations

import pytest

from .ptx.cases import CASES, Case, fixed_plans
from .ptx.kernels import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")

QUICK = ("T gates", "d=3")
TWO_STREAMS = "d=3, two streams"
RACES = ("T gates", "d=3, p=0.005", "d=5, p=0.003", "coherent, k=7", "k=11, small shared memory")
"""Of the cases that run again with reports of races: they are slower then."""


@pytest.mark.parametrize("name", QUICK)
def test_quick_cases(name: str) -> None:
    result = CASES[name].run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in (*QUICK, TWO_STREAMS)])
def test_cases(name: str) -> None:
    result = CASES[name].run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("case", fixed_plans(0), ids=lambda case: case.name)
def test_fixed_plans(case: Case) -> None:
    result = case.run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("name", RACES)
def test_races(name: str) -> None:
    result = CASES[name].run(mode="races")
    assert result.is_right, result


def test_two_streams() -> None:
    """Launches of both take turns, little memory makes many chunks, and arrays get the memory of earlier ones."""
    result = CASES[TWO_STREAMS].run()
    assert result.is_right, result
    assert result.device.timeline.interleaved > 100
    assert result.statistics["chunks"] > 20
    assert result.device.reused > 10
