"""The mechanisms of error models, and what is left of failing sets without the faults that do not matter."""

from __future__ import annotations

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.budget.failing_sets import cores_of, rows_of
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import symptoms_of
from stim_nonclifford.rates.estimation.limits import Deadline
from stim_nonclifford.rates.estimation.tally import FailingSets
from stim_nonclifford.rates.samplers.sampler import DirectSamples
from stim_nonclifford.rates.samplers.strata import Stratum
from tests.support.rates.decoded_rate_cases import (
    classifier_of,
    model_of,
    random_rows,
    repetition_code,
    surface_code,
)

FOREVER = Deadline(None)


def test_loops_list_symptoms_more_than_once() -> None:
    circuit = surface_code(3e-3, distance=5)
    folded, unrolled = (circuit.detector_error_model(flatten_loops=flatten) for flatten in (False, True))
    one, other = symptoms_of(folded), symptoms_of(unrolled)
    assert one.probabilities.keys() == other.probabilities.keys()
    for symptom, probability in other.probabilities.items():
        assert one.probabilities[symptom] == pytest.approx(probability, rel=1e-9)


def test_equal_symptoms_are_one_mechanism_whatever_their_parts() -> None:
    model = stim.DetectorErrorModel("error(0.1) D0 D1 ^ D1 L0\nerror(0.2) D0 L0\nerror(0.3) D1 ^ D1")
    assert symptoms_of(model).probabilities == {((0,), (0,)): pytest.approx(0.26)}


def test_likely_errors_are_expected() -> None:
    found = symptoms_of(stim.DetectorErrorModel("error(0.9) D0 L0\nerror(1) D1\nerror(0) D2"))
    assert found.expected == ((0, 1), (0,))
    assert found.probabilities == {((0,), (0,)): pytest.approx(0.1)}


def test_cores_fail_and_have_no_member_too_many() -> None:
    circuit = repetition_code(0.15)
    model = model_of(circuit)
    classifier = classifier_of(circuit, model)
    stratum = Stratum(model)
    shots = DirectSamples(stratum, classifier, 0, stratum.numbers.most)
    shots.take(2000, np.random.default_rng(6))
    sets = FailingSets.joined([(shots.found, 2000)])
    cores, members = cores_of(model, sets.members, sets.numbers, classifier.fails)
    assert len(cores) == len(sets) > 100
    assert classifier.fails(rows_of(model, members, sets.numbers)).all()
    for core, whole in zip(cores, sets.members, strict=True):
        assert set(core) <= set(whole.tolist())
        smaller = np.array([[k for k in core if k != member] for member in core], dtype=np.intp)
        assert not classifier.fails(rows_of(model, smaller, sets.numbers[: len(smaller)])).any()
    assert len(set(cores)) > 10


def test_an_error_that_no_detector_sees() -> None:
    # Qubit 9 flips the observable as often as the code fails.
    circuit = snc.Circuit(f"X_ERROR(2e-5) 9\n{repetition_code(2e-3, distance=3, readout=0)}")
    circuit += snc.Circuit("M 9\nOBSERVABLE_INCLUDE(0) rec[-1]")
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.05, seed=1)
    data = 2e-3 * 2 / 3
    of_code = 3 * data**2 * (1 - data) + data**3
    exact = of_code * (1 - 2e-5) + 2e-5 * (1 - of_code)
    assert rate.logical_error_rate == pytest.approx(exact, rel=1e-9)


def test_failures_do_not_depend_on_what_was_asked_before() -> None:
    circuit = surface_code(8e-3)
    model = model_of(circuit)
    classifier = classifier_of(circuit, model)
    rng = np.random.default_rng(3)
    rows = random_rows(model, rng, rng.poisson(2.0, 3000))
    first = classifier.wrong(rows)
    decoded = classifier._distinct.decoded  # without those that are decoded once more
    assert (classifier.wrong(rows[::-1])[::-1] == first).all()
    assert classifier._distinct.decoded == decoded < len(rows)
    for place in range(0, len(rows), 100):  # each by itself
        assert (classifier_of(circuit, model).wrong(rows[place : place + 1]) == first[place]).all()
