"""Small circuits whose decoded logical error rates are known by looking at all fault sets."""

from __future__ import annotations

import functools

import numpy as np
import pymatching

import stim_nonclifford as snc
from benchmarks.rates import coverage
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import FaultModel, fault_model, symptoms_of
from stim_nonclifford.rates.decoding.classifying import Classifier
from stim_nonclifford.rates.estimation.deadline import Deadline


def repetition_code(
    p: float, distance: int = 5, rounds: int = 1, readout: float | None = None
) -> snc.Circuit:
    return snc.Circuit.generated(
        "repetition_code:memory",
        distance=distance,
        rounds=rounds,
        before_round_data_depolarization=p,
        before_measure_flip_probability=p if readout is None else readout,
    )


def surface_code(p: float, distance: int = 3) -> snc.Circuit:
    return snc.Circuit.generated(
        "surface_code:rotated_memory_z",
        distance=distance,
        rounds=distance,
        after_clifford_depolarization=p,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
        before_round_data_depolarization=p,
    )


def two_codes(p: float) -> snc.Circuit:
    """Two repetition codes of distance 3 side by side, with an observable each."""
    return snc.Circuit(coverage.two_codes(p))


def model_of(circuit: snc.Circuit) -> FaultModel:
    return fault_model(symptoms_of(circuit.detector_error_model()))


def random_rows(model: FaultModel, rng: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
    """The rows of fault sets of so many random mechanisms, some of which may cancel."""
    rows = np.repeat(model.base[np.newaxis], len(sizes), axis=0)
    for row, size in zip(rows, sizes.tolist(), strict=True):
        row ^= np.bitwise_xor.reduce(model.flips[rng.integers(model.num_mechanisms, size=size)], axis=0)
    return rows


def classifier_of(circuit: snc.Circuit, model: FaultModel) -> Classifier:
    matching = pymatching.Matching.from_detector_error_model(
        circuit.detector_error_model(decompose_errors=True)
    )
    return Classifier(
        model,
        lambda dets: (
            matching.decode_batch(dets, bit_packed_shots=True, bit_packed_predictions=True),
            np.zeros(len(dets), dtype=np.int64),
        ),
        Deadline(None),
    )


def probabilities_of_sets(circuit: snc.Circuit) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each fault set, by the bits of its number, and whether PyMatching fails on it."""
    model = model_of(circuit)
    matching = pymatching.Matching.from_detector_error_model(
        circuit.detector_error_model(decompose_errors=True)
    )
    sets = np.arange(1 << model.num_mechanisms)
    dets = np.zeros((len(sets), model.num_detectors), dtype=np.uint8)
    flips = np.zeros((len(sets), model.num_observables), dtype=np.uint8)
    expected = symptoms_of(circuit.detector_error_model()).expected
    dets[:, list(expected[0])] = 1
    flips[:, list(expected[1])] = 1
    probabilities = np.ones(len(sets))
    for k, ((detectors, observables), odds) in enumerate(
        zip(model.symptoms, np.exp(model.log_odds), strict=True)
    ):
        acts = (sets >> k & 1).astype(np.uint8)
        for detector in detectors:
            dets[:, detector] ^= acts
        for observable in observables:
            flips[:, observable] ^= acts
        probabilities *= np.where(acts, odds, 1.0) / (1 + odds)
    predictions = matching.decode_batch(dets)
    return probabilities, (predictions != flips).any(axis=1)


@functools.cache
def exact_rate(kind: str, p: float) -> float:
    """The logical error rate with PyMatching."""
    circuit = {"repetition": repetition_code, "two": two_codes}[kind](p)
    probabilities, fails = probabilities_of_sets(circuit)
    return float(probabilities[fails].sum())
