"""Rates of codes with two observables and with biased noise are those of plain shots."""

from __future__ import annotations

import math

import pytest

import stim_nonclifford as snc
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
