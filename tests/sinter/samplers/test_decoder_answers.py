"""What decoders return is checked: a wrong answer is an error that names the decoder, and not a count."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sinter
import stim

from sinter_plugin import SoftDecodingSampler
from stim_nonclifford.rates.decoding.decoders import decoder_named

CIRCUIT = stim.Circuit.generated(
    "surface_code:rotated_memory_x", distance=3, rounds=2, after_clifford_depolarization=0.01
)
Answer = Callable[[int], Any]


class Answering:
    """A compiled decoder with given answers."""

    def __init__(self, predictions: Answer, confidences: Answer) -> None:
        self._predictions = predictions
        self._confidences = confidences

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        return self._predictions(len(bit_packed_detection_event_data))

    def decode_shots_bit_packed_with_confidence(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        shots = len(bit_packed_detection_event_data)
        return self._predictions(shots), self._confidences(shots)


def no_flips(shots: int) -> np.ndarray:
    return np.zeros((shots, 1), dtype=np.uint8)


class Lookup(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    def __init__(self, confidences: Answer = np.ones, predictions: Answer = no_flips) -> None:
        self._answers = predictions, confidences

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return Answering(*self._answers)


class Returning(sinter.Decoder):  # type: ignore[misc]
    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return self._compiled


class OnlyPredictions(Answering):
    def decode_shots_bit_packed_with_confidence(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        return self.decode_shots_bit_packed(bit_packed_detection_event_data=bit_packed_detection_event_data)


def sampled(decoder: Any, shots: int = 2000, **options: Any) -> sinter.AnonTaskStats:
    task = sinter.Task(circuit=CIRCUIT, json_metadata={})
    sampler = SoftDecodingSampler(decoder=decoder, **options).compiled_range_sampler_for_task(task, seed=5)
    return sampler.sample_range(0, shots)


def test_confidences_that_can_be_counted() -> None:
    for confidences, key in [
        (lambda shots: np.full(shots, -7.4), "-7"),
        (lambda shots: [2] * shots, "2"),
        (lambda shots: np.full(shots, 2.0**53), str(2**53)),
        (lambda shots: np.full(shots, 3, dtype=np.uint8), "3"),
    ]:
        counts = sampled(Lookup(confidences), confidence=True).custom_counts
        assert counts[f"C{key}"] + counts[f"E{key}"] == 2000


class Files(sinter.Decoder):  # type: ignore[misc]
    """PyMatching by files, as Sinter calls a decoder that has no compile_decoder_for_dem."""

    def decode_via_files(
        self,
        *,
        num_shots: int,
        num_dets: int,
        num_obs: int,
        dem_path: pathlib.Path,
        dets_b8_in_path: pathlib.Path,
        obs_predictions_b8_out_path: pathlib.Path,
        tmp_dir: pathlib.Path,
    ) -> None:
        assert tmp_dir.is_dir()
        model = stim.DetectorErrorModel.from_file(dem_path)
        assert (num_dets, num_obs) == (model.num_detectors, model.num_observables)
        dets = np.fromfile(dets_b8_in_path, dtype=np.uint8).reshape(num_shots, -(-num_dets // 8))
        compiled = decoder_named("pymatching").compile_decoder_for_dem(dem=model)
        self.write(
            compiled.decode_shots_bit_packed(bit_packed_detection_event_data=dets),
            obs_predictions_b8_out_path,
        )

    def write(self, predictions: np.ndarray, path: pathlib.Path) -> None:
        predictions.tofile(path)


class ShortFiles(Files):
    def write(self, predictions: np.ndarray, path: pathlib.Path) -> None:
        predictions[1:].tofile(path)


class NoFiles(Files):
    def write(self, predictions: np.ndarray, path: pathlib.Path) -> None:
        pass


class FilesOfAnotherKind:
    """No child of sinter.Decoder, which is not asked for."""

    decode_via_files = Files.decode_via_files
    write = Files.write


@pytest.mark.parametrize("decoder", [Files(), FilesOfAnotherKind()])
def test_a_decoder_of_files(decoder: Any) -> None:
    found, expected = sampled(decoder), sampled("pymatching")
    assert (found.errors, found.discards) == (expected.errors, expected.discards)
    assert found.errors > 0


CONFIDENCES = [
    (lambda shots: np.full(shots, math.inf), r"the confidence inf"),
    (lambda shots: np.full(shots, -math.inf), r"the confidence -inf"),
    (lambda shots: np.full(shots, math.nan), r"the confidence nan"),
    (lambda shots: np.where(np.arange(shots) == 1, math.inf, 3.0), r"the confidence inf"),
    (lambda shots: np.full(shots, 1e300), r"the confidence 1e\+300"),
    (lambda shots: 3.0, r"confidences of shape \(\)"),
    (lambda shots: np.ones((shots, 1)), r"confidences of shape \(\d+, 1\)"),
    (lambda shots: np.ones(shots - 1), r"confidences of shape"),
    (lambda shots: np.ones(shots) * 1j, r"confidences .* dtype complex128"),
    (lambda shots: np.array(["sure"] * shots), r"confidences .* dtype <U4"),
    (lambda shots: None, r"confidences of shape \(\)"),
]
PREDICTIONS = [
    (lambda shots: None, r"returned predictions of shape \(\) and dtype NoneT"),
    (lambda shots: no_flips(shots)[:, 0], r"returned predictions of shape \(\d"),
    (lambda shots: no_flips(shots + 1), r"returned predictions of shape"),
    (lambda shots: no_flips(shots) > 0, r"returned predictions .* dtype bool"),
    (lambda shots: no_flips(shots) + np.uint8(2), r"predicts a flip of an obse"),
]
OF_ARRAYS = Returning(OnlyPredictions(lambda shots: np.zeros((shots, 1), dtype=np.uint8), np.ones))
DECODERS = [
    *((Lookup(each), f"Lookup returned {message}") for each, message in CONFIDENCES),
    *((Lookup(predictions=each), f"Lookup {message}") for each, message in PREDICTIONS),
    (OF_ARRAYS, "_with_confidence of the decoder Returning returned ndarray"),
    (Lookup, r"decoder is the class Lookup. Pass an object: decoder=Lookup\(\)"),
    (None, "decoder is None, which is neither a name"),
    (5, "decoder is 5, which is neither a name"),
    (SoftDecodingSampler(), "which is neither a name"),
    (Returning(None), "compile_decoder_for_dem of the decoder Returning returned None"),
    (Returning(5), "decoder Returning returned an object of type int"),
    (sinter.Decoder(), "Decoder has neither compile_decoder_for_dem nor decode_via_files"),
    (ShortFiles(), r"decode_via_files of the decoder ShortFiles wrote \d+ bytes of predictions"),
    (NoFiles(), "decode_via_files of the decoder NoFiles wrote no predictions"),
]


@pytest.mark.parametrize(("decoder", "message"), DECODERS)
def test_decoders_that_are_none(decoder: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sampled(decoder, confidence=isinstance(decoder, Lookup) or decoder is OF_ARRAYS)


class Recording(sinter.Decoder):  # type: ignore[misc]
    """Keeps the error model."""

    model: stim.DetectorErrorModel

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        Recording.model = dem
        return Answering(no_flips, np.ones)


@pytest.mark.parametrize("error_model", ["s_proxy", "noise_only", CIRCUIT.detector_error_model()])
def test_models_that_are_not_decomposed(error_model: Any) -> None:
    for decompose, expected in ((True, True), (False, False)):
        sampled(Recording(), error_model=error_model, decompose_errors=decompose)
        assert any("^" in str(error) for error in Recording.model) == expected
    assert Recording.model.num_errors == CIRCUIT.detector_error_model().num_errors


FLIP = stim.Circuit("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
TWO = stim.Circuit(
    "X_ERROR(0.1) 0 1\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]\n"
    "OBSERVABLE_INCLUDE(0) rec[-1]\nOBSERVABLE_INCLUDE(1) rec[-2]"
)


class Calling(sinter.Decoder):  # type: ignore[misc]
    """Decodes with a function of detection events."""

    def __init__(self, function: Callable[[np.ndarray], Any]) -> None:
        self._function = function

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        return self._function(bit_packed_detection_event_data)


def counted(circuit: stim.Circuit, function: Callable[[np.ndarray], Any]) -> sinter.AnonTaskStats:
    task = sinter.Task(circuit=circuit, decoder="mine", json_metadata={"p": 7})
    sampler = SoftDecodingSampler(decoder=Calling(function)).compiled_range_sampler_for_task(task, seed=5)
    return sampler.sample_range(0, 20_000)


def fails(events: np.ndarray) -> np.ndarray:
    if events.any():
        raise KeyError("lost")
    return events


def ends(events: np.ndarray) -> np.ndarray:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("circuit", "function", "message"),
    [
        (FLIP, fails, r"Calling failed on the detection events D0 with KeyError: 'lost'\. Shot \d+ has them"),
        (FLIP, ends, r"Calling failed on the detection events .* with SystemExit: 3"),
        (FLIP, lambda events: (events, np.ones(len(events))), "dtype tuple .* Weights or confidences beside"),
        (TWO, lambda events: np.unpackbits(events, axis=1, count=2, bitorder="little"), r"for 2 observables.*pack them.*discard with the byte 255"),
    ],
)  # fmt: skip
def test_failures_name_the_decoder_the_task_and_the_shot(
    circuit: stim.Circuit, function: Callable[[np.ndarray], Any], message: str
) -> None:
    with pytest.raises(ValueError, match=rf"{message}.*decoder='mine', json_metadata=\{{'p': 7\}}"):
        counted(circuit, function)


@pytest.mark.parametrize("byte", [1, 255])
def test_a_byte_that_discards_beside_two_observables(byte: int) -> None:
    """Both flips are predicted, and discarded if both are there; the right answer is never an error."""
    found = counted(TWO, lambda events: np.hstack([events, byte * (events == 3)]).astype(np.uint8))
    assert found.errors == 0
    assert abs(found.discards - 200) < 85  # six standard deviations


@pytest.mark.parametrize("seed", range(3))
def test_a_random_decoder_is_asked_for_every_shot(seed: int) -> None:
    """It predicts half of the flips: 0.05 are wrong. One answer for all would give 0 or 0.1."""
    rng = np.random.default_rng(seed)
    with pytest.warns(UserWarning, match="answers equal detection events differently"):
        found = counted(FLIP, lambda events: events * rng.integers(0, 2, events.shape, dtype=np.uint8))
    assert abs(found.errors - 1000) < 6 * math.sqrt(950)
    assert found.custom_counts["warning: the decoder answers equal detection events differently"] == 20_000
