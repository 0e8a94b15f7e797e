"""The samplers that decode: Sinter's rules, equal to Sinter's PyMatching, and T gates as they are."""

from __future__ import annotations

import importlib.metadata
import pickle
import warnings
from typing import Any

import numpy as np
import pymatching
import pytest
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler, sinter_samplers
from stim_nonclifford.rates.decoding.decoders import installed_decoders

from ...support.processes.sinter_runs import SINTER, Folder, assert_rate, ours_first
from ...support.texts.memory_circuits import memory

FALSE_ALARM = 1e-7
BY_CHANCE = pytest.mark.filterwarnings("ignore:Single errors flip:stim_nonclifford.InexactErrorModelWarning")
"""For circuits in which an X before a T gate flips the observable in half of the shots."""


def noisy(distance: int, p: float, code: str = "surface_code:rotated_memory_x") -> stim.Circuit:
    return memory(code, distance, distance, gates=p, reads=p)


def collected(
    circuit: stim.Circuit,
    shots: int,
    *,
    mask: np.ndarray | None = None,
    obs: int | None = None,
    seed: int = 5,
    **options: Any,
) -> sinter.AnonTaskStats:
    """Statistics of the first shots of a seed, taken in calls of odd sizes."""
    task = sinter.Task(
        circuit=circuit,
        postselection_mask=None if mask is None else np.packbits(mask, bitorder="little"),
        postselected_observables_mask=None if obs is None else np.array([obs], dtype=np.uint8),
        json_metadata={},
    )
    sampler = SoftDecodingSampler(**options).compiled_range_sampler_for_task(task, seed=seed)
    first = min(shots, 777)
    return sampler.sample_range(0, first) + sampler.sample_range(first, shots - first)


@pytest.mark.parametrize("code", ["surface_code:rotated_memory_x", "repetition_code:memory"])
@pytest.mark.parametrize("distance", [3, 5, 7])
def test_the_predictions_are_those_of_pymatching(code: str, distance: int) -> None:
    """On the same shots, without exception; with a mask, on the kept ones."""
    circuit = noisy(distance, 0.01, code)
    matching = pymatching.Matching(circuit.detector_error_model(decompose_errors=True))
    for mask in (np.zeros(circuit.num_detectors, bool), np.arange(circuit.num_detectors) < 2):
        sampler = snc.Circuit(circuit).compile_detector_sampler(seed=5)
        dets, obs = sampler.sample(20_000, separate_observables=True)
        kept = ~dets[:, mask].any(axis=1)
        wrong = (matching.decode_batch(dets[kept]) != obs[kept])[:, 0]
        found = collected(circuit, 20_000, mask=mask)
        assert (found.shots, found.discards) == (20_000, 20_000 - int(kept.sum()))
        assert found.errors == wrong.sum()
        assert found.custom_counts["survivors"] == kept.sum()


def test_nothing_but_the_seed_changes_the_result() -> None:
    """With or without store, whatever its size, and however the shots are divided."""
    circuit = noisy(5, 0.005)
    expected = collected(circuit, 30_000)
    for options in ({"store_bytes": 0}, {"store_bytes": 1}, {"store_bytes": 3000}, {"engine": "cpu"}):
        found = collected(circuit, 30_000, **options)
        assert (found.errors, found.discards) == (expected.errors, expected.discards), options
    assert collected(circuit, 30_000, seed=6).errors != expected.errors or expected.errors == 0
    pieces = SoftDecodingSampler().compiled_range_sampler_for_task(sinter.Task(circuit=circuit), seed=5)
    total = sum((pieces.sample_range(16 * k, 16) for k in range(100)), sinter.AnonTaskStats())
    assert total.errors == collected(circuit, total.shots).errors


def test_statistics_say_what_deduplication_saves() -> None:
    task = sinter.Task(circuit=noisy(3, 0.001))
    sampler = SoftDecodingSampler().compiled_sampler_for_task(task)
    taken = [sampler.sample(100_000) for _ in range(80)]
    found = sampler.statistics()
    shots = sum(stats.shots for stats in taken)
    assert found["rows"] == shots
    assert found["rows"] == (found["rows_found_in_store"] + found["rows_decoded"])
    assert found["stored_rows"] <= found["rows_decoded"] < shots / 10
    assert sum(stats.custom_counts["rows_decoded"] for stats in taken) == found["rows_decoded"]


T_CODE = """
    RX 0
    T 0
    X_ERROR(0.1) 0 1 2
    T_DAG 0
    M 1 2
    DETECTOR(0, 0, 0, 1) rec[-2]
    DETECTOR rec[-1]
    MX 0
    X_ERROR(0.2) 3
    M 3
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-2] rec[-1]
"""


@BY_CHANCE
def test_the_t_gate_is_sampled_and_not_its_proxy() -> None:
    """X between T and T_DAG flips MX with probability 1/2, and S always. D2 tells of the other flip."""
    found = collected(snc.Circuit(T_CODE).to_stim(), 100_000, mask=np.array([True, False, False]))
    assert_rate(found.discards, 100_000, 0.1)
    assert_rate(found.errors, 100_000 - found.discards, 0.05)


def test_observables_follow_sinters_rules() -> None:
    """A wrong prediction of a postselected observable discards, and not its flip."""
    circuit = stim.Circuit(
        """
        X_ERROR(0.25) 0 1 2
        M 0 1 2
        DETECTOR rec[-3]
        OBSERVABLE_INCLUDE(0) rec[-3]
        OBSERVABLE_INCLUDE(1) rec[-2]
        OBSERVABLE_INCLUDE(2) rec[-1]
        """
    )
    found = collected(circuit, 50_000, obs=0b011, count_observable_error_combos=True)
    assert_rate(found.discards, 50_000, 0.25)  # observable 0 is always right
    assert_rate(found.errors, 50_000 - found.discards, 0.25)
    assert found.custom_counts["obs_mistake_mask=__E"] == found.errors
    free = collected(circuit, 50_000, count_observable_error_combos=True).custom_counts
    assert_rate(free["obs_mistake_mask=_EE"], 50_000, 0.0625)


class Discarding(sinter.Decoder):  # type: ignore[misc]
    """Predicts D0, and discards a shot if D1 fires."""

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        events = bit_packed_detection_event_data[:, 0]
        return np.stack([events & 1, events >> 1 & 1], axis=1)


class Confident(Discarding):
    """The same, sure of itself if D2 fires."""

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        events = bit_packed_detection_event_data
        confidence = 0.6 + 30 * (events[:, 0] >> 2 & 1)
        return self.decode_shots_bit_packed(bit_packed_detection_event_data=events), confidence


THREE = stim.Circuit(
    """
    X_ERROR(0.25) 0 1 2 3
    M 0 1 2 3
    DETECTOR rec[-4]
    DETECTOR rec[-3]
    DETECTOR rec[-2]
    OBSERVABLE_INCLUDE(0) rec[-4] rec[-1]
    """
)


def test_decoders_of_ones_own() -> None:
    found = collected(THREE, 50_000, decoder=Discarding())
    assert_rate(found.discards, 50_000, 0.25)
    assert_rate(found.errors, 50_000 - found.discards, 0.25)
    sure = collected(THREE, 50_000, decoder=Confident(), confidence=True)
    assert (sure.errors, sure.discards) == (found.errors, found.discards)
    counts = {key: n for key, n in sure.custom_counts.items() if key[1:].isdigit()}
    assert set(counts) == {"C1", "C31", "E1", "E31"}
    assert counts["E1"] + counts["E31"] == sure.errors
    assert sum(counts.values()) == sure.shots - sure.discards == sure.custom_counts["survivors"]


@pytest.mark.parametrize(
    "name", [name for name in installed_decoders() if name not in ("chromobius", "desaturated")]
)
def test_every_installed_decoder(name: str) -> None:
    """It decodes a repetition code; what decodes better than nothing does so by a factor."""
    circuit = noisy(5, 0.02, "repetition_code:memory")
    found = collected(circuit, 3000, decoder=name)
    assert (found.errors < 60) == (name != "vacuous"), found


def test_names_of_installed_decoders() -> None:
    names = set(sinter_samplers())
    assert {"soft_pymatching", "soft_pymatching_gap", "soft_pymatching-correlated", "soft_vacuous"} <= names
    assert {"soft_desaturated", "soft_desaturated_gap"} <= names
    assert ("soft_chromobius_gap" in names) == ("soft_chromobius" in names)
    assert all(pickle.loads(pickle.dumps(sampler)) == sampler for sampler in sinter_samplers().values())


class TestErrorModels:
    """What the decoder is told."""

    @BY_CHANCE
    def test_kinds(self) -> None:
        circuit = snc.Circuit(T_CODE).to_stim()
        errors = {}
        models: dict[str, Any] = {
            "s_proxy": "s_proxy",
            "noise_only": "noise_only",
            "blind": stim.DetectorErrorModel("error(0.1) D0\nerror(0.1) D1\nerror(0.1) D2\nerror(0.1) L0"),
        }
        for name, model in models.items():
            errors[name] = collected(
                circuit, 20_000, mask=np.array([1, 0, 0], bool), error_model=model
            ).errors
        assert errors["blind"] > 3 * errors["s_proxy"]
        assert errors["s_proxy"] == errors["noise_only"]

    def test_that_of_the_task(self) -> None:
        """It says that D0 and the observable have nothing to do with each other."""
        model = "error(0.1) D0\nerror(0.1) D1\nerror(0.1) D2\nerror(0.1) L0"
        task = sinter.Task(circuit=THREE, detector_error_model=stim.DetectorErrorModel(model))
        for kind, share in (("task", 0.375), ("s_proxy", 0.25)):
            decoding = SoftDecodingSampler(error_model=kind)  # type: ignore[arg-type]
            found = decoding.compiled_range_sampler_for_task(task, seed=5).sample_range(0, 100_000)
            assert_rate(found.errors, found.shots, share)
        with pytest.raises(ValueError, match="needs a task with a detector_error_model"):
            SoftDecodingSampler(error_model="task").compiled_sampler_for_task(sinter.Task(circuit=THREE))

    def test_conditioned_on_the_postselection(self) -> None:
        """D0 and the observable are flipped by one error, D0 and D1 by another that D1 would have shown."""
        circuit = stim.Circuit(
            """
            E(0.2) X0 X1
            E(0.05) X0 X2
            M 0 1 2
            DETECTOR rec[-3]
            DETECTOR rec[-2]
            OBSERVABLE_INCLUDE(0) rec[-1]
            """
        )
        mask = np.array([False, True])
        for conditioned in (False, True):
            found = collected(circuit, 10_000, mask=mask, condition_on_postselection=conditioned)
            assert_rate(found.discards, 10_000, 0.2)
            assert found.errors == 0


def test_warns_once_of_detectors_that_depend_on_quantum_outcomes() -> None:
    circuit = snc.Circuit(T_CODE + "MX 0\nDETECTOR rec[-1]\n").to_stim()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        collected(circuit, 100)
    [of_detectors, of_observables] = [str(each.message) for each in caught]
    assert "1 detector that depends on quantum outcomes and is not postselected: D3" in of_detectors
    assert of_observables.startswith("Single errors flip observable 0 (line 12)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Single errors flip")
        collected(circuit, 100, mask=np.array([0, 0, 0, 1], bool))
        collected(circuit, 100, warn=False)


@pytest.mark.parametrize(
    ("text", "mask", "options", "message"),
    [
        (str(THREE), [1, 1, 1], {}, "All detectors are postselected.*use the sampler soft_postselect"),
        (str(THREE), None, {"decoder": "matching"}, r"There is no decoder .matching.\. Did you mean pymatching\? Installed are"),
        (str(THREE), None, {"decoder": Discarding(), "confidence": True}, "Discarding has no confidences"),
        (str(THREE), None, {"decoder": "vacuous", "confidence": True}, "The decoder vacuous has no confidences"),
        ("H 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]", None, {}, "json_metadata={}"),
        (str(THREE), None, {"error_model": stim.DetectorErrorModel("error(0.1) D0 L0")}, r"observables\) = \(1, 1\), but this circuit has \(3, 1\)"),
        (str(THREE), None, {"error_model": stim.DetectorErrorModel("error(0.1) D0 D1\ndetector D2\nlogical_observable L0")}, "no errors of the error model explain"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
def test_wrong_input(text: str, mask: list[int] | None, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        collected(
            stim.Circuit(text), 1000, mask=None if mask is None else np.array(mask, dtype=bool), **options
        )


def extra(name: str) -> list[str]:
    """The requirements of an extra of this package."""
    lines = importlib.metadata.requires("stim-nonclifford") or []
    return [line for line in lines if f"extra == '{name}'" in line or f'extra == "{name}"' in line]


def test_a_decoder_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"fusion_blossom is not installed. .* pip install fusion-blossom\."):
        collected(THREE, 100, decoder="fusion_blossom")
    clone = r", or, in a clone of this package, pip install '\.\[decoding\]'\."
    for decoder, package in (
        ("pymatching", "pymatching"),
        ("pymatching-correlated", "pymatching"),
        ("chromobius", "chromobius"),
    ):
        with pytest.raises(ValueError, match=f"{decoder} is not installed. .* pip install {package}{clone}"):
            collected(THREE, 100, decoder=decoder)
        assert any(line.startswith(package) for line in extra("decoding"))
    assert not any(line.startswith("fusion") for line in extra("decoding"))
    assert set(sinter_samplers()) == {"soft_vacuous", "soft_postselect", "soft_postselect_gpu"}


@ours_first
def test_what_changes_the_meaning_of_a_number_stands_in_the_row(folder: Folder, command: list[str]) -> None:
    """And is said, even if progress is not to be shown; a run that is resumed counts it once per shot."""
    (folder.path / "code.stim").write_text(str(snc.Circuit(T_CODE + "MX 0\nDETECTOR rec[-1]\n").to_stim()))
    arguments = "--circuits code.stim --decoders soft_pymatching --processes 1 --quiet --max_shots "
    for shots in ("3000", "6000"):
        said = folder.run(command, f"{arguments}{shots} --save_resume_filepath stats.csv").stderr
        assert "1 detector that depends on quantum outcomes and is not postselected: D3" in said
        named = [line for line in said.splitlines() if "code.stim: " in line]
        assert len(named) == len(set(named)) == (0 if command is SINTER else 2), said
    [stats] = folder.stats()
    assert stats.shots == stats.custom_counts["warning: decoded detectors depend on quantum outcomes"] == 6000
    folder.run(
        command,
        f"{arguments}3000 --save_resume_filepath sure.csv --postselected_detectors_predicate 'index == 3'",
    )
    [stats] = folder.stats("sure.csv")
    assert not [key for key in stats.custom_counts if "warning" in key]
