"""Logical error rates of decoded circuits agree with sums over all fault sets and with plain shots."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import symptoms_of, symptoms_without
from stim_nonclifford.rates.decoding.matching.matching_graph import detectors_that_matter
from stim_nonclifford.rates.results import LogicalErrorRate
from stim_nonclifford.rates.samplers.strata import Stratum
from tests.support.rates.decoded_rate_cases import (
    exact_rate,
    probabilities_of_sets,
    repetition_code,
    surface_code,
    wrong_where,
)

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""

SILENT = wrong_where(lambda events: np.zeros(len(events)))
"""A decoder that predicts no flips."""

NOISE = (0.12, 0.04, 0.012, 1e-3)


def assert_agrees(rate: LogicalErrorRate, exact: float) -> None:
    difference = abs(math.log(rate.logical_error_rate / exact))
    assert difference <= SIGNIFICANT * rate.relative_error + 1e-9, (rate.logical_error_rate, exact)


def without_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)


@pytest.mark.parametrize("is_enumerated", [True, False])
def test_curve_against_all_fault_sets(is_enumerated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_enumerated:
        without_enumeration(monkeypatch)
    rates = snc.logical_error_rates(
        [repetition_code(p) for p in NOISE], decoder="pymatching", relative_error=0.02, seed=3
    )
    for p, rate in zip(NOISE, rates, strict=True):
        assert_agrees(rate, exact_rate("repetition", p))
        assert (rate.relative_error == 0) == is_enumerated
        assert rate.relative_error <= 0.02


def test_a_rate_does_not_depend_on_what_else_is_asked() -> None:
    circuits = [surface_code(p) for p in (1e-3, 2e-3, 1e-3)]
    options = {"decoder": "pymatching", "relative_error": 0.05}
    curve = snc.logical_error_rates(circuits, seed=4, **options)
    assert [circuit.logical_error_rate(seed=4, **options) for circuit in circuits] == curve
    assert curve[0] == curve[2]


@pytest.mark.parametrize(("p", "exact"), [(1e-4, 7.8912e-6), (1e-3, 7.686e-4)])
def test_a_rate_is_a_sum_over_numbers_of_faults(p: float, exact: float) -> None:
    """The rates are those of the sum over all failing sets of up to three faults, and of 5e7 plain shots (0.5%)."""
    circuit = surface_code(p)
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.03, seed=5)
    assert rate.relative_error <= 0.03
    assert abs(rate.logical_error_rate / exact - 1) < SIGNIFICANT * math.hypot(rate.relative_error, 0.005)
    assert sum(each.kept_and_wrong for each in rate.strata) == pytest.approx(rate.logical_error_rate)
    assert [each.name for each in rate.strata[:3]] == ["0 faults", "1 fault", "2 faults"]
    assert [each.wrong != 0 for each in rate.strata[:3]] == [False, False, True]  # two make distance 3 fail
    assert rate.strata[2].standard_error == 0  # all sets of two
    assert rate.strata[-1].most_faults is None
    assert "or more" in str(rate)
    assert "direct samples" in rate._repr_html_()
    assert circuit.logical_error_rate(decoder="pymatching", relative_error=0.03, seed=5) == rate
    assert pickle.loads(pickle.dumps(rate)) == rate
    assert json.loads(json.dumps(dataclasses.asdict(rate)))["logical_error_rate"] == rate.logical_error_rate
    # Sensitivities are the numbers of additional faults: those of failing shots, less the mean number.
    model = circuit.detector_error_model(decompose_errors=True)
    matter = detectors_that_matter(model)
    mean = sum(symptoms_without(symptoms_of(model), np.flatnonzero(~matter).tolist()).probabilities.values())
    faults = sum(each.kept_and_wrong * each.least_faults for each in rate.strata) / rate.logical_error_rate
    slope = sum(group.sensitivity for group in rate.error_budget("noise").groups)
    assert slope == pytest.approx(faults - mean, rel=0.03)
    assert rate.failures(1)[0].share > 0.005


def test_progress_shows_no_rate_before_all_sizes_are_in_it(capfd: pytest.CaptureFixture[str]) -> None:
    circuit = surface_code(2e-3, 5)
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.1, seed=1, progress=True)
    shown = re.findall(r"s: (\S+) ± (\S+)", capfd.readouterr().err)
    assert len(shown) > 3
    for each, error in shown:
        assert abs(float(each) - rate.logical_error_rate) < 7 * float(error) * max(float(each), 1e-300)


def test_seed_fixes_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    without_enumeration(monkeypatch)
    circuit = repetition_code(1e-3)

    def rate(seed: int) -> float:
        found = circuit.logical_error_rate(decoder="pymatching", relative_error=0.3, seed=seed)
        return found.logical_error_rate

    assert rate(7) == rate(7)
    assert rate(7) != rate(8)


def test_certain_errors_and_absent_ones() -> None:
    # Flips that are certain change what is expected, and not what is an error.
    circuit = repetition_code(0.02)
    flipped = snc.Circuit(str(circuit).replace("TICK", "X_ERROR(1) 1\nTICK\nX_ERROR(0) 3", 1))
    assert len(flipped) > len(circuit)
    rate = flipped.logical_error_rate(decoder="pymatching", relative_error=0.1, seed=1)
    probabilities, fails = probabilities_of_sets(flipped)
    assert_agrees(rate, float(probabilities[fails].sum()))
    assert float(probabilities[fails].sum()) == pytest.approx(exact_rate("repetition", 0.02), rel=0.01)


def test_without_noise_the_rate_is_exactly_zero() -> None:
    circuit = repetition_code(0.0)
    rate = circuit.logical_error_rate(decoder=SILENT, seed=1)
    assert (rate.logical_error_rate, rate.standard_error, rate.interval) == (0.0, 0.0, (0.0, 0.0))
    assert "(exact)" in str(rate)


def test_a_sum_over_all_sets_is_printed_as_exact() -> None:
    circuit = snc.Circuit("""
        R 0 1 2
        X_ERROR(0.01) 0 1 2
        MZZ(0.01) 0 1 1 2
        M 0 1 2
        DETECTOR rec[-5]
        DETECTOR rec[-4]
        DETECTOR rec[-5] rec[-3] rec[-2]
        DETECTOR rec[-4] rec[-2] rec[-1]
        OBSERVABLE_INCLUDE(0) rec[-1]
    """)
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.1, seed=1)
    probabilities, fails = probabilities_of_sets(circuit)
    assert f"{float(probabilities[fails].sum()):.6g} (exact)" in str(rate)


def test_decoder_of_ones_own() -> None:
    # The observable is wrong if its qubit is flipped by the data noise (2/3 of it) or by the readout, not both.
    rate = repetition_code(0.003).logical_error_rate(decoder=SILENT, relative_error=0.05, seed=1)
    assert rate.decoder == "Wrapped"
    assert_agrees(rate, 0.002 * 0.997 + 0.003 * 0.998)


def test_what_is_printed_and_drawn() -> None:
    import matplotlib

    matplotlib.use("Agg")
    rate = surface_code(1e-3, 5).logical_error_rate(decoder="pymatching", relative_error=0.3, seed=1)
    text = str(rate)
    for part in ("pymatching", "95% interval", "probability", "direct samples", "or more"):
        assert part in text
    assert "<table>" in rate._repr_html_()
    axes = rate.plot()
    assert axes.get_yscale() == "log"
    matplotlib.pyplot.close(axes.figure)
    assert (rate.kept, rate.kept_and_wrong) == (1.0, rate.logical_error_rate)
