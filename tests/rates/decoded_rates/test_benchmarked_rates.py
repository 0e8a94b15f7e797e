"""The benchmarks of decoded rates: their codes, against plain shots, and the methods they compare with."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

import examples.bivariate_bicycle
import stim_nonclifford as snc
from benchmarks.rates.decoded import Problem, splitting, subset_sampling
from benchmarks.rates.decoded_codes import CODES, count_errors
from examples.bivariate_bicycle import BeliefDecoder, bivariate_bicycle_memory, checks, logical_operators

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


def test_documented_properties() -> None:
    assert doctest.testmod(examples.bivariate_bicycle).failed == 0


def test_operators_are_logical() -> None:
    x_checks, z_checks = checks()
    operators = logical_operators(x_checks, z_checks, 72)
    assert len(operators) == 12
    for operator in operators:
        assert all(len({*operator} & {*check}) % 2 == 0 for check in x_checks)


def test_single_faults_can_be_told_apart() -> None:
    # Those with equal detection events flip the same observables, as their product would be a logical error.
    model = bivariate_bicycle_memory(0.001, 1).detector_error_model()
    seen: dict[tuple[int, ...], set[tuple[int, ...]]] = {(): {()}}
    for error in model.flattened():
        if error.type == "error":
            targets = error.targets_copy()
            dets = tuple(sorted(t.val for t in targets if t.is_relative_detector_id()))
            flips = tuple(sorted(t.val for t in targets if t.is_logical_observable_id()))
            seen.setdefault(dets, set()).add(flips)
    assert all(len(flips) == 1 for flips in seen.values())


@pytest.mark.slow
def test_rates_of_twelve_observables() -> None:
    pytest.importorskip("stimbposd")
    noise = (5e-3, 3e-3)
    circuits = [bivariate_bicycle_memory(p, 2) for p in noise]
    rates = snc.logical_error_rates(circuits, decoder=BeliefDecoder(), relative_error=0.2, seed=1)
    for circuit, rate in zip(circuits, rates, strict=True):
        sampler = circuit.to_stim().compile_detector_sampler(seed=2)
        dets, flips = sampler.sample(10_000, separate_observables=True, bit_packed=True)
        decoder = BeliefDecoder().compile_decoder_for_dem(dem=circuit.to_stim().detector_error_model())
        wrong = decoder.decode_shots_bit_packed(bit_packed_detection_event_data=dets) ^ flips
        errors = int(wrong.any(axis=1).sum())
        combined = math.hypot(rate.relative_error, errors**-0.5)
        assert abs(math.log(rate.logical_error_rate * len(dets) / errors)) < SIGNIFICANT * combined
        each = np.unpackbits(wrong, axis=1, bitorder="little")[:, :12].sum(axis=0)
        assert len(rate.observable_rates) == 12
        for count, found, error in zip(each, rate.observable_rates, rate.observable_errors, strict=True):
            assert abs(found - count / len(dets)) < SIGNIFICANT * math.hypot(
                error, max(count, 1) ** 0.5 / len(dets)
            )
