"""Decoders of the user's: what they answer is checked, their names in `collect` and `estimate`; and metadata that JSON does not have."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler
from sinter_plugin.samplers.by_name import chosen_decoder
from stim_nonclifford.rates.decoding.decoders import decoder_named

CIRCUIT = stim.Circuit.generated(
    "surface_code:rotated_memory_x", distance=3, rounds=2, after_clifford_depolarization=0.01
)
Answer = Callable[[np.ndarray], Any]


def no_flips(events: np.ndarray) -> np.ndarray:
    return np.zeros((len(events), 1), dtype=np.uint8)


class Answering(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """A decoder with given answers, which keeps the error model."""

    model: stim.DetectorErrorModel

    def __init__(self, predictions: Answer = no_flips, confidences: Callable[[int], Any] = np.ones) -> None:
        self._predictions, self._confidences = predictions, confidences

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        Answering.model = dem
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        return self._predictions(bit_packed_detection_event_data)

    def decode_shots_bit_packed_with_confidence(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        events = bit_packed_detection_event_data
        return self._predictions(events), self._confidences(len(events))


class OnlyPredictions(Answering):
    def decode_shots_bit_packed_with_confidence(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        return no_flips(bit_packed_detection_event_data)


class Returning(sinter.Decoder):  # type: ignore[misc]
    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return self._compiled


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
        counts = sampled(Answering(confidences=confidences), confidence=True).custom_counts
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
    (lambda events: None, r"returned predictions of shape \(\) and dtype NoneT"),
    (lambda events: no_flips(events)[:, 0], r"returned predictions of shape \(\d"),
    (lambda events: np.zeros((len(events) + 1, 1), dtype=np.uint8), r"returned predictions of shape"),
    (lambda events: no_flips(events) > 0, r"returned predictions .* dtype bool"),
    (lambda events: no_flips(events) + np.uint8(2), r"predicts a flip of an obse"),
]
DECODERS = [
    *((Answering(confidences=each), f"Answering returned {message}") for each, message in CONFIDENCES),
    *((Answering(each), f"Answering {message}") for each, message in PREDICTIONS),
    (OnlyPredictions(), "_with_confidence of the decoder OnlyPredictions returned ndarray"),
    (Answering, r"decoder is the class Answering. Pass an object: decoder=Answering\(\)"),
    (None, "decoder is None, which is neither a name"),
    (5, "decoder is 5, which is neither a name"),
    (SoftDecodingSampler(), "which is neither a name"),
    (Returning(None), "compile_decoder_for_dem of the decoder Returning returned None"),
    (Returning(5), "decoder Returning returned an object of type int"),
    (sinter.Decoder(), "Decoder has neither compile_decoder_for_dem nor decode_via_files"),
    (ShortFiles(), r"The decoder ShortFiles returned predictions of shape \(\d+, 1\)"),
    (NoFiles(), "The decoder NoFiles failed on the detection events .* with ValueError"),
]


@pytest.mark.parametrize(("decoder", "message"), DECODERS)
def test_decoders_that_are_none(decoder: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sampled(decoder, confidence=isinstance(decoder, Answering))


@pytest.mark.parametrize("error_model", ["s_proxy", "noise_only", CIRCUIT.detector_error_model()])
def test_models_that_are_not_decomposed(error_model: Any) -> None:
    for decompose, expected in ((True, True), (False, False)):
        sampled(Answering(), error_model=error_model, decompose_errors=decompose)
        assert any("^" in str(error) for error in Answering.model) == expected
    assert Answering.model.num_errors == CIRCUIT.detector_error_model().num_errors


FLIP = stim.Circuit("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
TWO = stim.Circuit(
    "X_ERROR(0.1) 0 1\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]\n"
    "OBSERVABLE_INCLUDE(0) rec[-1]\nOBSERVABLE_INCLUDE(1) rec[-2]"
)


def counted(circuit: stim.Circuit, function: Answer) -> sinter.AnonTaskStats:
    task = sinter.Task(circuit=circuit, decoder="mine", json_metadata={"p": 7})
    sampler = SoftDecodingSampler(decoder=Answering(function)).compiled_range_sampler_for_task(task, seed=5)
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
        (FLIP, fails, r"Answering failed on the detection events D0 with KeyError: 'lost'\. Shot \d+ has them"),
        (FLIP, ends, r"Answering failed on the detection events .* with SystemExit: 3"),
        (FLIP, lambda events: (events, np.ones(len(events))), "dtype tuple .* Weights or confidences beside"),
        (TWO, lambda events: np.unpackbits(events, axis=1, count=2, bitorder="little"), r"for 2 observables.*pack them.*discard with the byte 255"),
    ],
)  # fmt: skip
def test_failures_name_the_decoder_the_task_and_the_shot(
    circuit: stim.Circuit, function: Answer, message: str
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


# An X between T and T_DAG flips MX with probability 1/2; between S and S_DAG always.
WITH_T_GATES = snc.Circuit(
    "RX 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\nX_ERROR(0.2) 1\nM 1\nDETECTOR rec[-1]\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
)


def collected(decoder: str, found: Any, **options: Any) -> sinter.TaskStats:
    [stats] = sinter_plugin.collect(
        [sinter_plugin.task(WITH_T_GATES, decoder=decoder)],
        num_workers=1,
        seed=7,
        max_shots=20_000,
        custom_decoders={"mine": found},
        **options,
    )
    return stats


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["mine", "soft_mine"])
def test_a_decoder_of_the_users_decodes_shots_with_t_gates(name: str) -> None:
    """Seed 7. With S in place of T, the rate would be 0.1."""
    stats = collected(name, decoder_named("pymatching"))
    assert stats.decoder == "soft_mine"  # never added to the rows of sinter collect
    assert scipy.stats.binomtest(stats.errors, stats.shots, 0.05).pvalue > 1e-7


def test_one_module_serves_estimate_too() -> None:
    decoder = decoder_named("pymatching")
    for found in (decoder, SoftDecodingSampler(decoder=decoder)):
        for name in ("mine", "soft_mine"):
            assert chosen_decoder(name, {"mine": found}) is decoder
    assert chosen_decoder("soft_pymatching", {}) == "pymatching"
    for name, lost in (("soft_pymatching_gap", "confidence"), ("mine", "error_model")):
        with pytest.raises(ValueError, match=f"{name} is a sampler whose {lost} would be lost"):
            chosen_decoder(name, {"mine": SoftDecodingSampler(decoder=decoder, error_model="noise_only")})
    with pytest.raises(ValueError, match="soft_postselect_gpu does not decode"):
        chosen_decoder("soft_postselect_gpu", {})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "metadata",
    [{3: "a"}, {"n": np.int64(4)}, {np.int32(2): np.float32(0.5)}, {"a": np.arange(3)}, {None: (1, True)}],
)
def test_metadata_come_back_as_they_were(metadata: Any, tmp_path: Path) -> None:
    for shots in (2000, 3000):
        tasks = [
            sinter_plugin.task(WITH_T_GATES, decoder="soft_pymatching", json_metadata=metadata),
            sinter.Task(
                circuit=WITH_T_GATES.to_stim(),
                detector_error_model=WITH_T_GATES.detector_error_model(kind="noise_only"),
                decoder="soft_vacuous",
                json_metadata=metadata,
            ),
        ]
        found = sinter_plugin.collect(
            tasks, num_workers=1, max_shots=shots, save_resume_filepath=tmp_path / "stats.csv"
        )
        assert [stats.shots for stats in found] == [shots, shots]


@pytest.mark.parametrize(
    ("sampler", "key", "message"),
    [
        ({}, "survivers", "There are survivors"),
        ({}, "obs_mistake_mask=E", "counted with count_observable_error_combos"),
        ({}, "E20", "There are survivors"),
        ({"count_observable_error_combos": True}, "obs_mistake_mask=EE", "of 1 letters"),
    ],
)
def test_unknown_counts_are_refused(sampler: dict[str, Any], key: str, message: str) -> None:
    found = SoftDecodingSampler(**sampler)
    with pytest.raises(ValueError, match=f"no custom count '{key}'.*{message}"):
        collected("mine", found, custom_error_count_key=key, max_errors=10)
