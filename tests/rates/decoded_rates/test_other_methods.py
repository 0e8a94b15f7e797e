"""The methods that the benchmark compares with are right: they find the rate of a code that is known."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.rates.decoded import Problem, splitting, subset_sampling


@pytest.mark.slow
def test_splitting_and_subset_sampling() -> None:
    # 7.69e-4 from the exact sum over failing sets of up to three mechanisms, and plain shots.
    problem = Problem(3, 1e-3)
    for way, seconds in ((splitting, 4.0), (subset_sampling, 1.0)):
        rate = way(problem, seconds, np.random.default_rng(1))
        assert 0.5 < rate / 7.69e-4 < 2, way
    assert problem.decoded > 10_000
