"""Rates of kept and decoded shots as sums over strata agree with sums over all fault sets, and with shots."""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import DesaturatedGapDecoder, SoftDecodingSampler, task
from stim_nonclifford.circuit.logical_states import LogicalStateCheck
from stim_nonclifford.circuit.methods.decoded_circuits import exact_symptoms
from stim_nonclifford.circuit.methods.kept_circuits import kept_question
from stim_nonclifford.generators.cultivation import end_to_end_circuit
from stim_nonclifford.rates.decoded_rates.answers.decoding import FailureTest
from stim_nonclifford.rates.decoded_rates.deadline import Deadline
from stim_nonclifford.rates.decoded_rates.failing.plain_shots import PlainShots
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import fault_model
from stim_nonclifford.rates.decoded_rates.postselection import listed_sets, strata
from stim_nonclifford.rates.decoded_rates.postselection.kept_sets import KeptSetSearch
from stim_nonclifford.rates.decoded_rates.postselection.listed_sets import SilentSets
from stim_nonclifford.rates.decoded_rates.postselection.partition import partition
from stim_nonclifford.rates.decoded_rates.postselection.paths import path_shots, wrong_shots
from stim_nonclifford.rates.decoded_rates.postselection.paths.logical_paths import PathKind
from stim_nonclifford.rates.decoded_rates.postselection.paths.path_shots import PathShots, paths_of
from stim_nonclifford.rates.decoded_rates.postselection.paths.wrong_shots import WrongShots, weighted_curve
from stim_nonclifford.rates.decoded_rates.postselection.survival import Counts, Curve
from stim_nonclifford.rates.decoding.desaturation.logical_graphs import logical_graphs
from stim_nonclifford.rates.decoding.matching_graph import model_errors

from ...support.rates.decoded_rate_cases import repetition_code
from .test_decoded_outcomes import encoded_t_state

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""

Y = LogicalStateCheck((0, 1), (0, 1), (0.0, 2**0.5))


class LikelierClass(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """Adds up all errors that explain the events. It refuses shots in which a postselected detector fires."""

    def __init__(self, *postselected: int) -> None:
        self.postselected = postselected

    def postselected_detectors(self, dem: stim.DetectorErrorModel) -> np.ndarray:
        return np.isin(np.arange(dem.num_detectors), self.postselected)

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return _LikelierClass(dem, self.postselected)


class _LikelierClass(sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    def __init__(self, dem: stim.DetectorErrorModel, postselected: tuple[int, ...]) -> None:
        assert dem.num_detectors <= 8
        self._mask = sum(1 << k for k in postselected)
        # Probabilities by events and by the flip of the observable.
        found = np.zeros((256, 2))
        found[0, 0] = 1.0
        for error in model_errors(dem):
            events = np.arange(256) ^ sum(1 << k for k in error.detectors)
            flipped = found[events][:, [error.observables, 1 - error.observables]]
            found = (1 - error.probability) * found + error.probability * flipped
        self._weights = 10 * np.log10(np.maximum(found, 1e-30))

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        raise AssertionError("asked without confidence")

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        events = bit_packed_detection_event_data[:, 0]
        assert not (events & self._mask).any()
        difference = self._weights[events, 1] - self._weights[events, 0]
        return (difference > 0).astype(np.uint8)[:, np.newaxis], np.abs(difference)


def exact_curve(
    circuit: snc.Circuit, postselected: tuple[int, ...], whole: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all fault sets with all outcomes that are kept: probabilities, gaps, and whether they are wrong."""
    model = fault_model([exact_symptoms(circuit)], postselected)
    rows = model.base[np.newaxis]
    probabilities = np.ones(1)
    for flips, odds in zip(model.flips, np.exp(model.log_odds[0]), strict=True):
        rows = np.concatenate([rows, rows ^ flips])
        probabilities = np.concatenate([probabilities, probabilities * odds]) / (1 + odds)
    owners, shares, rows = model.with_all_outcomes(rows)
    probabilities = probabilities[owners] * shares
    assert probabilities.sum() == pytest.approx(1)
    is_kept = model.fired(rows) == 0
    rows, probabilities = rows[is_kept], probabilities[is_kept]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
        dem = circuit.detector_error_model(approximate_disjoint_errors=True)
    decoder = whole.compile_decoder_for_dem(dem=dem)
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=model.detectors(rows)
    )
    wrong = predictions[:, 0] != model.observables(rows)[:, 0].astype(np.uint8)
    return probabilities, np.rint(gaps), wrong


_CHAIN = """
    E(0.02) X0 X1 X2
    E(0.02) X0 X1 X4
    E(0.01) X2 X6
    E(0.01) X2 X3
    E(0.005) X3 X4
    E(0.02) X3 X4 X7
    E(0.01) X4 X5
    E(0.003) X2 X4
    E(0.01) X5
    E(0.01) X7
"""
GRAFTED = snc.Circuit(
    f"R 0 1 2 3 4 5 6 7\n{_CHAIN}M 0 1 2 3 4 5 7 6\n"
    + "".join(
        f"DETECTOR({k}, 0, 0, {color}, {color}) rec[{k - 8}]\n"
        for k, color in enumerate((0, 1, 2, 2, 2, 2, 5))
    )
    + "OBSERVABLE_INCLUDE(0) rec[-1]"
)
"""A chain of blue detectors between two boundaries. The first two errors leave the red one silent together."""


@pytest.mark.parametrize(
    ("circuit", "postselected", "decoder"),
    [
        pytest.param(
            repetition_code(0.04, distance=3, rounds=2), (0, 1), LikelierClass(0, 1), marks=pytest.mark.slow
        ),
        (encoded_t_state(0.02), (1,), LikelierClass(1)),
        (encoded_t_state(0.02), (0, 2), LikelierClass(0, 2)),
        (GRAFTED, (0,), DesaturatedGapDecoder()),
    ],
)
def test_curves_are_those_of_all_fault_sets(
    circuit: snc.Circuit, postselected: tuple[int, ...], decoder: sinter.Decoder
) -> None:
    rate = circuit.logical_error_rate(decoder=decoder, confidence=True, relative_error=0.15, seed=7)
    probabilities, gaps, wrong = exact_curve(circuit, postselected, decoder)
    assert rate.kept < 1
    assert len(rate.gap_curve) > 2
    assert any(stratum.path_shots for stratum in rate.strata) == (circuit is GRAFTED)
    for point in rate.gap_curve:
        is_sure = gaps >= point.gap
        kept, both = float(probabilities[is_sure].sum()), float(probabilities[is_sure & wrong].sum())
        assert abs(point.kept - kept) < SIGNIFICANT * point.kept_error + 1e-9
        assert 0 < point.kept_and_wrong_error < 0.4 * both
        assert abs(point.kept_and_wrong - both) < SIGNIFICANT * point.kept_and_wrong_error
    assert sum(stratum.probability for stratum in rate.strata) == pytest.approx(rate.kept)
    assert "of errors" in str(rate)
    assert "gaps the relative error is more than 0.001 as asked for" in str(
        dataclasses.replace(rate, asked_relative_error=1e-3)
    )


def test_chains_know_what_paths_hardly_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take the place of plain shots at all gaps, and the curve is that of all fault sets: seed 0."""
    monkeypatch.setattr(path_shots, "_KINDS", (PathKind(0.6, 0.9, slack=0.1),))  # the shortest paths only
    monkeypatch.setattr(wrong_shots, "_ENOUGH", 1 << 40)
    monkeypatch.setattr(wrong_shots, "_MOST_PART", 0.0)
    monkeypatch.setattr(strata, "_COST_OF_CHAINS", 0)
    noisy = snc.Circuit(str(GRAFTED).replace("(0.0", "(0.1"))
    decoder = DesaturatedGapDecoder()
    rate = noisy.logical_error_rate(decoder=decoder, confidence=True, relative_error=0.05, seed=0)
    assert any(stratum.sweeps and stratum.path_shots for stratum in rate.strata)
    assert rate.halves is not None
    probabilities, gaps, wrong = exact_curve(noisy, (0,), decoder)
    for point in rate.gap_curve:
        both = float(probabilities[(gaps >= point.gap) & wrong].sum())
        assert 0 < point.kept_and_wrong_error < 0.06 * both
        assert abs(point.kept_and_wrong - both) < SIGNIFICANT * point.kept_and_wrong_error


def test_shots_with_paths_are_as_likely_as_they_say() -> None:
    """The factors of all fault sets have mean 1, and sets are drawn as often: chi-squared, seed 11."""
    others = {
        name: q for name, q in exact_symptoms(GRAFTED).probabilities.items() if not {0, 1} & set(name[0])
    }
    model = fault_model([dataclasses.replace(exact_symptoms(GRAFTED), probabilities=others)])
    size = model.num_mechanisms
    choices = np.zeros((2, 8), dtype=np.bool_)
    choices[1, [2, 4]] = True
    shots = PathShots(model, paths_of(model, logical_graphs(GRAFTED.detector_error_model())), choices)
    members = (np.arange(1 << size)[:, np.newaxis] >> np.arange(size)) & 1
    odds = np.exp(model.log_odds[0])
    probabilities = (np.where(members, odds, 1.0) / (1 + odds)).prod(axis=1)
    sets, mechanisms = np.nonzero(members)
    rng, drawn = np.random.default_rng(11), 1 << 15
    plain = PlainShots(model, model.log_odds[0], FailureTest(model, no_prediction))
    for choice in (0, 1):
        ratios = shots.ratios(sets * size + mechanisms, np.full(1 << size, choice))
        assert (probabilities * ratios).sum() == pytest.approx(1)
        rows, events, numbers, _ = plain.drawn(rng, drawn)
        owners = np.repeat(np.arange(drawn), numbers) * size
        keys, counts = np.unique(owners + events, return_counts=True)
        rows, keys = shots.add_paths(rows, keys[counts % 2 == 1], np.full(drawn, choice), rng)
        found = np.bincount(keys // size, 1 << (keys % size), drawn).astype(np.int64)
        flips = np.bitwise_xor.reduce(np.where(members[found, :, None] == 1, model.flips, 0), axis=1)
        assert (rows == model.base ^ flips).all()
        expected = drawn * probabilities * ratios
        often = expected > 10
        assert often.sum() > 20
        seen = np.bincount(found, minlength=1 << size)
        chi_squared = ((seen - expected) ** 2 / np.maximum(expected, 1e-9))[often].sum()
        assert chi_squared < often.sum() + 7 * math.sqrt(2 * often.sum())
        assert expected[~often].sum() < 0.2 * drawn


def no_prediction(dets: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((len(dets), 1), dtype=np.uint8), np.zeros(len(dets), dtype=np.int64)


def test_drawn_sets_are_the_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over sets of three to six mechanisms: draws of a fixed seed within 5 standard errors."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(listed_sets, "_MOST_LISTED", 0)
    monkeypatch.setattr(listed_sets, "_DRAWS", 1 << 13)
    monkeypatch.setattr(listed_sets, "_DRAWS_OF_FOUR", 1 << 13)
    monkeypatch.setattr(listed_sets, "_DRAWS_OF_THREE", 1 << 13)
    for size, number in ((3, 18), (4, 16), (5, 13), (6, 12)):
        flips = rng.integers(0, 2, size=(number, 4)).astype(np.bool_)
        odds = rng.uniform(0.01, 0.2, size=number)
        values = rng.integers(0, 2, size=number).astype(np.bool_)  # of a set: of how many members it is true
        for target in (np.zeros(4, dtype=np.bool_), np.array([True, False, True, True])):
            sums = []
            for members in itertools.combinations(range(number), size):
                if ((flips[list(members)].sum(axis=0) % 2) == target).all():
                    sums.append((odds[list(members)].prod(), values[list(members)].sum() == 2))
            sets = SilentSets(flips, target, odds, rng, lambda: None)
            if size <= 4:
                with monkeypatch.context() as listing:
                    listing.setattr(listed_sets, "_MOST_LISTED", 1 << 20)
                    (whole,) = sets.of_size(size)
                assert not whole.is_drawn
                assert len(np.unique(np.sort(whole.members), axis=0)) == len(whole.members) == len(sums)
                assert whole.weights.sum() == pytest.approx(sum(weight for weight, _ in sums))
            (part,) = sets.of_size(size)
            assert part.is_drawn
            assert (flips[part.members].sum(axis=1) % 2 == target).all()
            assert (np.diff(np.sort(part.members, axis=1), axis=1) > 0).all()
            for chosen in (np.array([True] * len(sums)), np.array([each[1] for each in sums])):
                exact = sum(weight for (weight, _), is_in in zip(sums, chosen, strict=True) if is_in)
                is_in = values[part.members].sum(axis=1) == 2
                drawn = part.weights if chosen.all() else part.weights[is_in]
                error = math.sqrt((drawn**2).sum())
                assert exact > 0
                assert error < 0.2 * exact
                assert abs(drawn.sum() - exact) < 5 * error


def test_drawn_kept_sets_are_the_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of three: those that flip no detector are exact, the others are within 6 standard errors."""
    model = fault_model([exact_symptoms(repetition_code(0.04, distance=3, rounds=3))], (0, 1, 2))
    certain = np.arange(model.num_detectors) < 3

    def masses() -> dict[bytes, tuple[float, float]]:
        found = KeptSetSearch(model, certain, None, np.random.default_rng(7), lambda: None).of_size(3)
        values = zip(found.masses.tolist(), found.variances.tolist(), strict=True)
        return dict(zip((row.tobytes() for row in found.rows), values, strict=True))

    listed = masses()
    monkeypatch.setattr(listed_sets, "_MOST_LISTED", len(listed) // 2)
    drawn = masses()
    silent = {row for row in listed if not any(row[: model.num_detectors])}
    assert silent
    assert {row: mass for row, (mass, _) in drawn.items() if row in silent} == pytest.approx(
        {row: listed[row][0] for row in silent}
    )
    assert any(variance for _, variance in drawn.values())
    for row, (mass, variance) in drawn.items():
        assert abs(mass - listed[row][0]) <= 6 * math.sqrt(variance) + 1e-9 * mass
    total = sum(mass for mass, _ in listed.values())
    error = math.sqrt(sum(variance for _, variance in drawn.values()))
    assert abs(sum(mass for mass, _ in drawn.values()) - total) < 6 * error < 0.1 * total


def test_kept_sets_are_drawn_until_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The masses of strata: exact ones within 6 standard errors, which become smaller if that is asked for."""
    circuit = repetition_code(0.04, distance=3, rounds=3)
    asked = kept_question(circuit, LikelierClass(0, 1, 2), None, None, True)

    def masses_of_strata(relative_error: float) -> dict[str, tuple[float, float]]:
        found = partition(asked, relative_error, np.random.default_rng(7), Deadline(None)).strata
        return {each.name: (each.mass, each.mass_error) for each in found}

    listed = masses_of_strata(1.0)
    monkeypatch.setattr(listed_sets, "_MOST_LISTED", 0)
    for name in ("_DRAWS", "_DRAWS_OF_THREE", "_DRAWS_OF_FOUR"):
        monkeypatch.setattr(listed_sets, name, 1 << 8)
    some, more = masses_of_strata(1.0), masses_of_strata(1e-3)
    for name, (mass, error) in listed.items():
        for drawn in (some, more):
            assert abs(drawn[name][0] - mass) <= 6 * math.hypot(error, drawn[name][1]) + 1e-9 * mass
    assert sum(error for _, error in more.values()) < 0.5 * sum(error for _, error in some.values())


CULTIVATION = snc.Circuit(
    end_to_end_circuit(3, 5, 2e-3, "T", postselected_rounds=1, rounds=1, readout="expectation_values")
)


@pytest.mark.slow
def test_cultivation_end_to_end_is_what_shots_say() -> None:
    """T gates, with a state: kept shots and errors above each gap, seed 5, within 5 standard errors."""
    rate = CULTIVATION.logical_error_rate(
        decoder="desaturated", confidence=True, state_check=Y, relative_error=0.05, seed=3
    )
    sampler = SoftDecodingSampler("desaturated", confidence=True, state_check=Y, warn=False)
    compiled = sampler.compiled_range_sampler_for_task(task(CULTIVATION), seed=5)
    shots = 2_000_000
    counts = compiled.sample_range(0, shots).custom_counts
    for point in rate.gap_curve:
        sure, wrong = (
            sum(
                n
                for name, n in counts.items()
                if name[0] in kinds and name[1:].isdigit() and int(name[1:]) >= point.gap
            )
            for kinds in ("CE", "E")
        )
        kept_error = math.hypot(point.kept_error, math.sqrt(sure) / shots)
        assert abs(point.kept - sure / shots) < 5 * kept_error
        if wrong >= 50:
            error = math.hypot(point.kept_and_wrong_error, math.sqrt(wrong) / shots)
            assert abs(point.kept_and_wrong - wrong / shots) < 5 * error
    assert rate.gap_curve[-1].relative_error < 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"postselection_mask": [True] + [False] * 3, "state_check": "T"},
            "leaves out D1, which the decoder LikelierClass",
        ),
        ({"state_check": "T"}, "checked by one logical Pauli"),
        ({}, "L0 is random there.* pass state_check"),
        ({"postselected_observables_mask": [True]}, "not available with decoder="),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    circuit = snc.Circuit("RX 0\nT 0\nX_ERROR(0.1) 0\nR 1 2 3 4\nX_ERROR(0.1) 1 2 3 4\nM 1 2 3 4\n")
    circuit += snc.Circuit("\n".join(f"DETECTOR rec[{k}]" for k in range(-4, 0)))
    circuit += snc.Circuit("EXP_VAL X0 Y0\nOBSERVABLE_INCLUDE(0) X0\nOBSERVABLE_INCLUDE(1) Y0")
    with pytest.raises(ValueError, match=message):
        circuit.logical_error_rate(decoder=LikelierClass(0, 1), confidence=True, seed=1, **arguments)


def test_too_much_noise_is_refused() -> None:
    circuit = repetition_code(0.4, distance=3, rounds=3)
    with pytest.raises(snc.ResourceLimitError, match="more than 6 mechanisms"):
        circuit.logical_error_rate(decoder=LikelierClass(*range(7)), seed=1)


def test_too_little_time() -> None:
    circuit = repetition_code(0.01, distance=3, rounds=3)
    with pytest.raises(snc.ResourceLimitError, match=r"max_seconds=1e-06 .* sets were being listed\. Allow"):
        circuit.logical_error_rate(decoder=LikelierClass(*range(7)), max_seconds=1e-6, seed=1)


def test_plain_shots_may_be_missed_if_paths_cover_little() -> None:
    """Three with a probability of 5%, whatever is seen at large gaps: there, paths see as little as if nothing were wrong."""
    counts = Counts(np.full(4, 250.0), np.ones((4, 9)), *np.zeros((3, 4, 18)))

    def curve(covered: int) -> Curve:
        ratios = np.where(np.arange(200) < covered, 50.0, 0.1)
        return weighted_curve(counts, [WrongShots(ratios, np.full(200, 3), np.arange(200) % 4, True)], 1000)

    mostly, hardly = curve(150), curve(50)
    assert np.allclose(hardly.one_more, 1.5 / 1000)
    assert not hardly.unseen.any()
    assert np.allclose(mostly.one_more, 1.5 / 1100)
    assert np.allclose(mostly.unseen[:4], 1.5 / 1000)
    assert not mostly.unseen[4:].any()
