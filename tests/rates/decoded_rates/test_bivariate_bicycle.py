"""The code [[72,12,6]] of the example: it is one, and its rates with BP+OSD are those of plain shots."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

import examples.bivariate_bicycle
import stim_nonclifford as snc
from examples.bivariate_bicycle import BeliefDecoder, bivariate_bicycle_memory, checks, logical_operators

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""


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
