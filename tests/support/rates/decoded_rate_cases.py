"""Small circuits whose decoded logical error rates are known by looking at all fault sets."""

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pymatching
import sinter
import stim

import stim_nonclifford as snc
from benchmarks.rates import coverage
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import FaultModel, fault_model, symptoms_of
from stim_nonclifford.rates.decoding.classifying import Classifier
from stim_nonclifford.rates.estimation.limits import Deadline

T_STATE = "RX {a}\nT {a}\nX_ERROR({p}) {a}\nT_DAG {a}\nMX {a}\nDETECTOR rec[-1]\n"
"""A detector that an error fires in half of the cases."""

TELEPORTED = (
    "RX {a} {b}\nT {b}\nCX {a} {b}\nX_ERROR({p}) {b}\nM {b}\nCS rec[-1] {a}\nT_DAG {a}\nMX {a}\n"
    "DETECTOR rec[-1]\n"
)
"""The same, by teleportation: an X error makes the record, a coin, wrong, and the state random."""


class Wrapped(sinter.Decoder, sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    """A decoder with given answers."""

    def __init__(self, answer: Callable[[np.ndarray], Any]) -> None:
        self._answer = answer

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        return self._answer(bit_packed_detection_event_data)


def events_of(dets: np.ndarray) -> np.ndarray:
    return np.unpackbits(dets, axis=1, bitorder="little")


def wrong_where(fails: Callable[[np.ndarray], Any]) -> Wrapped:
    """A decoder that predicts a flip where a function of the detection events says so."""
    return Wrapped(lambda dets: fails(events_of(dets)).astype(np.uint8)[:, np.newaxis])


def flips(probabilities: list[float]) -> snc.Circuit:
    """Independent flips, each with a detector, and an observable that nothing flips."""
    count = len(probabilities)
    lines = [f"X_ERROR({p}) {k}" for k, p in enumerate(probabilities)]
    lines += ["M " + " ".join(map(str, range(count + 1)))]
    lines += [f"DETECTOR rec[{k - count - 1}]" for k in range(count)]
    return snc.Circuit("\n".join([*lines, "OBSERVABLE_INCLUDE(0) rec[-1]"]))


def at_least(count: int, p: float, least: int) -> float:
    """P(so many of independent flips happen)."""
    return sum(math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(least, count + 1))


def matching_of(circuit: snc.Circuit) -> pymatching.Matching:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", snc.InexactErrorModelWarning)  # it need not be exact
        model = circuit.detector_error_model(decompose_errors=True, approximate_disjoint_errors=True)
    return pymatching.Matching.from_detector_error_model(model)


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
    matching = matching_of(circuit)
    return Classifier(
        model,
        lambda dets: (
            matching.decode_batch(dets, bit_packed_shots=True, bit_packed_predictions=True),
            np.zeros(len(dets), dtype=np.int64),
        ),
        Deadline(None),
        stores_failures=True,
    )


def probabilities_of_sets(circuit: snc.Circuit) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each fault set, by the bits of its number, and whether PyMatching fails on it."""
    model = model_of(circuit)
    matching = matching_of(circuit)
    sets = np.arange(1 << model.num_mechanisms)
    dets = np.zeros((len(sets), model.num_detectors), dtype=np.uint8)
    flips = np.zeros((len(sets), model.num_observables), dtype=np.uint8)
    expected = symptoms_of(circuit.detector_error_model()).expected
    dets[:, list(expected[0])] = 1
    flips[:, list(expected[1])] = 1
    probabilities = np.ones(len(sets))
    for k, ((detectors, observables), odds) in enumerate(
        zip(model.probabilities, np.exp(model.log_odds), strict=True)
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
