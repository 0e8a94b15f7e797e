"""Questions about logical errors that no number answers: refused by functions, warned of by samplers."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import sinter_plugin
import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.cultivation.end_to_end import end_to_end_circuit

COIN = "R 1\nX_ERROR(0.1) 1\nM 1\nDETECTOR rec[-1]\nRX 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
"""The observable is a coin."""

T_STATE = "R 1\nX_ERROR(0.1) 1\nM 1\nDETECTOR rec[-1]\nRX 0\nT 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
"""The observable is 1 in 14.6% of the shots without noise."""

FRAME = "R 1\nX_ERROR(0.1) 1\nM 1\nDETECTOR rec[-1]\nRX 0\nZ_ERROR(0.1) 0\nT 0\nOBSERVABLE_INCLUDE(0) X0"
"""Pauli targets on a T state: flips of the frame, which a sampler never reports without noise."""

CERTAIN = (
    "R 1\nX_ERROR(0.1) 1\nM 1\nDETECTOR rec[-1]\nRX 0\nT 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
)

QUESTIONS: list[Callable[[snc.Circuit, Any], Any]] = [
    lambda circuit, mask: circuit.logical_error_rate(postselection_mask=mask),
    lambda circuit, mask: snc.logical_error_rates([circuit], postselection_mask=mask),
    lambda circuit, mask: circuit.malignant_sets(postselection_mask=mask),
    lambda circuit, mask: circuit.fault_distance(postselection_mask=mask),
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("text", [COIN, T_STATE, FRAME])
def test_random_observables_are_refused(text: str, question: Callable[[snc.Circuit, Any], Any]) -> None:
    """The message names the observable, its line, and what to do."""
    circuit = snc.Circuit(text)
    line = len(text.splitlines())
    with pytest.raises(ValueError, match=rf"Observable 0 \(line {line}\) is random without noise") as caught:
        question(circuit, "all")
    for remedy in ("without noise in a basis", "readout", "state_check", "postselected_observables_mask"):
        assert remedy in str(caught.value)
    question(snc.Circuit(CERTAIN), "all")


def test_postselected_observables_may_be_random() -> None:
    """Shots in which they are flipped are discarded: a remedy that the message names."""
    text = T_STATE + "\nMX 0\nOBSERVABLE_INCLUDE(1) rec[-1]"
    with pytest.raises(ValueError, match=r"Observable 0 \(line 8\) and observable 1 \(line 10\) are random"):
        snc.Circuit(text).logical_error_rate(postselection_mask="all")
    found = snc.Circuit(text).logical_error_rate(
        postselection_mask="all", postselected_observables_mask=[True, False]
    )
    assert found.kept == pytest.approx(0.9 * np.cos(np.pi / 8) ** 2)
    assert found.kept_and_wrong == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_observable(question: Callable[[snc.Circuit, Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"no observables.*OBSERVABLE_INCLUDE"):
        question(snc.Circuit("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]"), "all")


MASKS = [[False] * 20, [True] + [False] * 19, np.array([0, 0, 0], dtype=np.uint8)]


@pytest.mark.parametrize(
    "question", [*QUESTIONS, lambda circuit, mask: circuit.outcome_probabilities([], postselection_mask=mask)]
)
@pytest.mark.parametrize("mask", MASKS)
def test_detectors_that_nobody_looks_at(mask: Any, question: Callable[[snc.Circuit, Any], Any]) -> None:
    """With a mask of some detectors, nothing is made of what the others see."""
    circuit = snc.Circuit(cultivation_circuit(3))
    assert circuit.num_detectors == 20
    left = 20 - int(np.sum(mask))
    with pytest.raises(
        ValueError, match=f"{left} of 20 detectors are neither postselected nor dec"
    ) as caught:
        question(circuit, mask)
    for remedy in ('postselection_mask="all"', "soft_pymatching", "docs/guides/decoding.md", "remove these"):
        assert remedy in str(caught.value)


def test_no_detector_needs_no_mask() -> None:
    circuit = snc.Circuit("X_ERROR(0.25) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert circuit.logical_error_rate().logical_error_rate == pytest.approx(0.25)
    assert circuit.fault_distance().value == 1
    assert len(circuit.malignant_sets()) == 1
    assert circuit.outcome_probabilities(circuit.faults()).kept_and_wrong == 1


def caught_by(call: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return list(caught)


@pytest.mark.parametrize("text", [COIN, T_STATE, FRAME])
@pytest.mark.parametrize("method", ["sample_counts", "sample_failures"])
def test_samplers_warn_once(text: str, method: str) -> None:
    """Once for each sampler, at the first call, at the caller's line."""
    sampler = snc.Circuit(text).compile_detector_sampler(seed=1, postselection_mask="all")
    sample = getattr(sampler, method)
    [warning] = caught_by(lambda: [sample(100) for _ in range(3)])
    assert warning.category is snc.RandomObservableWarning
    assert "Observable 0" in str(warning.message)
    assert warning.filename == __file__
    quiet = snc.Circuit(CERTAIN).compile_detector_sampler(seed=1, postselection_mask="all")
    assert caught_by(lambda: getattr(quiet, method)(100)) == []


def test_what_does_not_count_errors_does_not_warn() -> None:
    """Bits are asked for on purpose, and raw parities are no flips."""
    sampler = snc.Circuit(T_STATE).compile_detector_sampler(seed=1)
    assert (
        caught_by(
            lambda: (sampler.sample(10), sampler.sample_kept(10), list(sampler.iter_kept(max_shots=10)))
        )
        == []
    )
    raw = snc.Circuit(T_STATE).compile_detector_sampler(seed=1, skip_reference_sample=True)
    assert caught_by(lambda: raw.sample_counts(10)) == []


def test_coherent_noise_does_not_warn() -> None:
    circuit = snc.Circuit("RX 0\nR_Z(0.05) 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    counts = circuit.compile_detector_sampler(seed=1).sample_counts(100_000)
    assert counts.errors > 0


def test_a_warning_costs_no_shots() -> None:
    """The shots of a seed are the same as without the look at the observables."""
    first = snc.Circuit(T_STATE).compile_detector_sampler(seed=5, postselection_mask="all")
    second = snc.Circuit(T_STATE).compile_detector_sampler(seed=5, postselection_mask="all")
    with pytest.warns(snc.RandomObservableWarning):
        counts = first.sample_counts(1000)
    assert len(second.sample_kept(1000).obs) == counts.kept


class TestSinter:
    def test_soft_postselect_warns_once(self) -> None:
        """When it is compiled, and not for each batch."""
        sampler = sinter_plugin.SoftPostselectSampler()
        task = sinter_plugin.task(snc.Circuit(T_STATE))

        def run() -> None:
            compiled = sampler.compiled_sampler_for_task(task)
            for _ in range(3):
                compiled.sample(1000)

        [warning] = caught_by(run)
        assert warning.category is snc.RandomObservableWarning
        quiet = sinter_plugin.SoftPostselectSampler(warn=False)
        assert caught_by(lambda: quiet.compiled_sampler_for_task(task).sample(1000)) == []

    def test_soft_postselect_with_a_mask_of_some_detectors(self) -> None:
        circuit = snc.Circuit(
            "R 1 2\nX_ERROR(0.1) 1 2\nM 1 2\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
        )
        sampler = sinter_plugin.SoftPostselectSampler()
        task = sinter_plugin.task(circuit, postselection_mask=[True, False])
        [warning] = caught_by(lambda: sampler.compiled_sampler_for_task(task).sample(1000))
        assert warning.category is snc.UnusedDetectorsWarning
        assert "1 of 2 detectors is neither" in str(warning.message)
        assert "soft_pymatching" in str(warning.message)
        for mask in (None, "all"):
            complete = sinter_plugin.task(circuit, postselection_mask=mask)
            assert caught_by(partial(sampler.compiled_sampler_for_task, complete)) == []

    def test_soft_decoding(self) -> None:
        """Random observables, and decoded detectors that are coins; not with a check of the state."""
        text = CERTAIN + "\nRX 2\nM 2\nDETECTOR rec[-1]"
        task = sinter_plugin.task(snc.Circuit(text))
        sampler = sinter_plugin.SoftDecodingSampler(error_model="noise_only")
        [warning] = caught_by(lambda: sampler.compiled_sampler_for_task(task).sample(1000))
        assert warning.category is snc.RandomObservableWarning
        assert str(warning.message).startswith("Detector 1 is random without noise")
        assert "Postselect such a detector" in str(warning.message)
        postselected = sinter_plugin.task(snc.Circuit(text), postselection_mask=[False, True])
        assert caught_by(lambda: sampler.compiled_sampler_for_task(postselected)) == []
        [warning] = caught_by(
            lambda: sampler.compiled_sampler_for_task(sinter_plugin.task(snc.Circuit(T_STATE)))
        )
        assert str(warning.message).startswith("Observable 0")

    def test_state_checks_need_no_certain_observables(self) -> None:
        asked = end_to_end_circuit(3, 7, 1e-3, postselected_rounds=1, rounds=1, readout="expectation_values")
        circuit = snc.Circuit(asked)
        mask = [place[-1] == 1 or k < 60 for k, place in circuit.to_stim().get_detector_coordinates().items()]
        task = sinter_plugin.task(circuit, postselection_mask=mask)
        model = circuit.detector_error_model(kind="noise_only", postselection_mask=mask)
        check = sinter_plugin.LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))
        for state_check, found in ((check, []), (None, [snc.RandomObservableWarning])):
            sampler = sinter_plugin.SoftDecodingSampler(error_model=model, state_check=state_check)
            caught = caught_by(partial(sampler.compiled_sampler_for_task, task))
            assert [each.category for each in caught] == found

    def test_estimate_refuses_masks_of_some_detectors(
        self, tmp_path: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from sinter_plugin.__main__ import main

        path = tmp_path / "circuit.stim"
        path.write_text(CERTAIN + "\nM 1\nDETECTOR rec[-1]")
        arguments = ["estimate", "--circuits", str(path), "--quiet"]
        assert main([*arguments, "--decoders", "soft_postselect"]) == 0
        capsys.readouterr()
        assert main([*arguments, "--postselected_detectors_predicate", "index == 1"]) == 2
        assert "1 of 2 detectors is neither" in capsys.readouterr().err

    def test_collect_says_it_once(self, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
        """From the main process, not from every worker, and for soft_postselect as for decoders."""
        from sinter_plugin.__main__ import main

        path = tmp_path / "circuit.stim"
        path.write_text(T_STATE)
        arguments = ["collect", "--circuits", str(path), "--decoders", "soft_postselect", "--processes", "2"]
        assert main([*arguments, "--max_shots", "1000"]) == 0
        assert capsys.readouterr().err.count("is random without noise") == 1
