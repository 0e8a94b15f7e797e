"""Masks in all their forms, wherever one is accepted."""

import pickle
from typing import Any

import numpy as np
import pytest

import sinter_plugin
import stim_nonclifford as snc
from stim_nonclifford.base.masks import bools_of_mask, checked_mask

CIRCUIT = snc.Circuit(
    """
    X_ERROR(0.125) 0 1 2
    M 0 1 2
    DETECTOR rec[-1] rec[-2]
    DETECTOR rec[-1] rec[-3]
    OBSERVABLE_INCLUDE(0) rec[-1]
    OBSERVABLE_INCLUDE(1) rec[-1]
    OBSERVABLE_INCLUDE(2) rec[-1]
    """
)

ALL_OF_TWO: list[Any] = [
    "all",
    [True, True],
    (True, np.True_),
    np.array([True, True]),
    np.array([0b11], dtype=np.uint8),
]
FIRST_OF_TWO: list[Any] = [
    [True, False],
    (True, False),
    np.array([True, False]),
    np.array([0b01], dtype=np.uint8),
]
WRONG: list[tuple[Any, type[Exception], str]] = [
    ("none", ValueError, "'none'"),
    ([True], ValueError, "a list of 1 bools"),
    ((True, True, False), ValueError, "a tuple of 3 bools"),
    ([0, 1], TypeError, r"a list with 0 in it\. Of numbers, \[k in numbers"),
    ([True, 1], TypeError, "with 1 in it"),
    (np.array([True]), ValueError, r"shape \(1,\)"),
    (np.array([[True], [False]]), ValueError, r"shape \(2, 1\)"),
    (np.array([1, 0]), TypeError, "dtype int64"),
    (np.zeros(2), TypeError, "dtype float64"),
    (np.array([0b100], dtype=np.uint8), ValueError, "bit 2"),
    (np.array([0, 0], dtype=np.uint8), ValueError, r"shape \(2,\)"),
    (1, TypeError, "dtype int64"),
    ([[True, False]], TypeError, "in it"),
]


def results(**masks: Any) -> list[Any]:
    """What everything that takes masks of detectors and observables gives."""
    sampler = CIRCUIT.compile_detector_sampler(seed=1, **masks)
    counts = sampler.sample_counts(1000)
    return [counts, sampler.sample_kept(100).dets.tolist(), str(CIRCUIT.plan("sample_counts", **masks))]


@pytest.mark.parametrize(("forms", "chosen"), [(ALL_OF_TWO, [0, 1]), (FIRST_OF_TWO, [0])])
def test_forms_of_detectors(forms: list[Any], chosen: list[int]) -> None:
    """All forms select the same, in samplers, reports, error models and tasks."""
    expected = results(postselection_mask=forms[-1])
    model = CIRCUIT.detector_error_model(postselection_mask=forms[-1])
    for mask in forms:
        assert checked_mask(mask, 2, "mask", "detectors") == chosen
        assert results(postselection_mask=mask) == expected
        assert CIRCUIT.detector_error_model(postselection_mask=mask) == model
        assert sinter_plugin.task(CIRCUIT, postselection_mask=mask).postselection_mask.tolist() == [
            sum(1 << k for k in chosen)
        ]


def test_forms_of_observables() -> None:
    forms: list[Any] = ["all", [True] * 3, np.ones(3, dtype=np.bool_), np.array([0b111], dtype=np.uint8)]
    expected = results(postselected_observables_mask=forms[-1])
    assert expected[0].errors == 0
    for mask in forms:
        assert results(postselected_observables_mask=mask) == expected
        made = sinter_plugin.task(CIRCUIT, postselected_observables_mask=mask)
        assert made.postselected_observables_mask.tolist() == [0b111]
        rate = CIRCUIT.logical_error_rate(postselection_mask="all", postselected_observables_mask=mask)
        assert rate.kept_and_wrong == 0


@pytest.mark.parametrize(("mask", "error", "message"), WRONG)
def test_wrong_masks(mask: Any, error: type[Exception], message: str) -> None:
    """The message names the argument, what it may be, and what came."""
    calls = [
        CIRCUIT.compile_detector_sampler,
        CIRCUIT.plan,
        CIRCUIT.detector_error_model,
        CIRCUIT.logical_error_rate,
        CIRCUIT.fault_distance,
        CIRCUIT.malignant_sets,
        lambda **mask: CIRCUIT.outcome_probabilities([], **mask),
        lambda **mask: snc.logical_error_rates([CIRCUIT], **mask),
    ]
    for call in calls:
        with pytest.raises(error, match=message) as caught:
            call(postselection_mask=mask)
        if "bit 2" not in message:
            assert str(caught.value).startswith('postselection_mask must be "all"')
    if not isinstance(mask, np.ndarray) or mask.dtype != np.uint8:
        with pytest.raises(error, match=message):
            sinter_plugin.task(CIRCUIT, postselection_mask=mask)


def test_no_bits() -> None:
    """A circuit without detectors has an empty mask, whichever way it is written."""
    for mask in (None, "all", [], (), np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.uint8)):
        assert bools_of_mask(mask, 0, "mask", "detectors").shape == (0,)


def test_masks_are_copied() -> None:
    """A list or an array that is changed later does not change the sampler, nor its pickled copy."""
    for mask in ([True, True], np.array([True, True])):
        sampler = CIRCUIT.compile_detector_sampler(seed=1, postselection_mask=mask)
        mask[1] = False
        expected = CIRCUIT.compile_detector_sampler(seed=1, postselection_mask="all").sample_counts(1000)
        copy = pickle.loads(pickle.dumps(sampler))
        assert copy.sample_counts(1000) == sampler.sample_counts(1000) == expected
        assert copy.sample_kept(100).discards == sampler.sample_kept(100).discards
