"""The benchmarks of decoded rates: their codes, against plain shots, and the methods they compare with."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stim_nonclifford as snc
from benchmarks.rates.decoded import Problem, splitting, subset_sampling
from benchmarks.rates.decoded_codes import CODES, count_errors

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""

SHOTS = 50_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xzzx, d=3", "toric, L=3"])
def test_rates_are_those_of_plain_shots(name: str) -> None:
    family = CODES[name]
    circuits = [family.circuit(p) for p in family.strengths]
    rates = snc.logical_error_rates(
        [snc.Circuit(circuit) for circuit in circuits],
        decoder="pymatching",
        relative_error=0.1,
        seed=1,
    )
    for circuit, rate in zip(circuits, rates, strict=True):
        values = (rate.logical_error_rate, *rate.observable_rates)
        errors = (rate.standard_error, *rate.observable_errors)
        for value, error, count in zip(values, errors, count_errors(circuit, SHOTS, seed=2), strict=True):
            combined = math.hypot(error / value, count**-0.5)
            assert abs(math.log(value * SHOTS / count)) < SIGNIFICANT * combined


@pytest.mark.slow
def test_splitting_and_subset_sampling() -> None:
    # 7.69e-4 from the exact sum over failing sets of up to three mechanisms, and plain shots.
    problem = Problem(3, 1e-3)
    for way, seconds in ((splitting, 4.0), (subset_sampling, 1.0)):
        rate = way(problem, seconds, np.random.default_rng(1))
        assert 0.5 < rate / 7.69e-4 < 2, way
    assert problem.decoded > 10_000
