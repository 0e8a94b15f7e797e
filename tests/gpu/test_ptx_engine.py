"""The GPU engine, with the kernels that a GPU runs, gives the shots of the CPU engine: see ``tests/gpu/ptx``."""

from __future__ import annotations

import pytest

from .ptx.cases import CASES, FIXED_PLANS, Case
from .ptx.kernels import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")

QUICK = ("T gates", "d=3", "d=3, two streams")
RACES = ("T gates", "d=3, p=0.005", "d=5, p=0.003", "coherent, k=7", "k=11, small shared memory")
"""Of the cases that run again with reports of races: they are slower then."""


@pytest.mark.parametrize("name", QUICK)
def test_quick_cases(name: str) -> None:
    result = CASES[name].run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in QUICK])
def test_cases(name: str) -> None:
    result = CASES[name].run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("case", FIXED_PLANS, ids=lambda case: case.name)
def test_fixed_plans(case: Case) -> None:
    result = case.run()
    assert result.is_right, result


@pytest.mark.slow
@pytest.mark.parametrize("name", RACES)
def test_races(name: str) -> None:
    result = CASES[name].run(mode="races")
    assert result.is_right, result


def test_cases_are_what_they_should_be() -> None:
    """Two streams interleave within launches, and little memory makes many chunks."""
    result = CASES["d=3, two streams"].run()
    assert result.device.timeline.interleaved > 100
    assert result.statistics["chunks"] > 20
    assert result.device.reused > 10
