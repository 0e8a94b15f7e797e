"""Rates of kept and decoded shots as sums over strata agree with sums over all fault sets, and with shots."""

from __future__ import annotations

import itertools
import math
import sys
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import DesaturatedGapDecoder, SoftDecodingSampler, task
from stim_nonclifford.circuit.logical_states import LogicalStateCheck
from stim_nonclifford.generators.cultivation import end_to_end_circuit
from stim_nonclifford.rates.decoded_rates.estimate import Search, decoded_rate
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import Symptom, Symptoms, fault_model
from stim_nonclifford.rates.decoded_rates.partition import partition
from stim_nonclifford.rates.decoded_rates.parts import Parts
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.decoding.matching.matching_graph import model_errors
from stim_nonclifford.rates.decoding_problems import accepted_problem, exact_symptoms
from stim_nonclifford.rates.estimation.interval import Ratio
from stim_nonclifford.rates.estimation.limits import Deadline, Settings
from stim_nonclifford.rates.samplers import accepted_sets, undetected_sets
from stim_nonclifford.rates.samplers.accepted_sets import AcceptedSetSearch
from stim_nonclifford.rates.samplers.undetected_sets import UndetectedSets

from ...support.rates.decoded_rate_cases import repetition_code
from .test_decoded_outcomes import encoded_t_state

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""

SIGNIFICANT_OF_16 = 8.0
"""Standard errors: with 15 degrees of freedom, a chance of 9e-7."""

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
    model = fault_model(exact_symptoms(circuit), postselected)
    rows = model.base[np.newaxis]
    probabilities = np.ones(1)
    for flips, odds in zip(model.flips, np.exp(model.log_odds), strict=True):
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

EXCLUSIVE = snc.Circuit(
    str(GRAFTED)
    .replace("E(0.01) X2 X6", "E(0.01) X2 X6\nELSE_CORRELATED_ERROR(0.05) X5")
    .replace("E(0.02) X0 X1 X4", "E(0.02) X0 X1 X4\nELSE_CORRELATED_ERROR(0.03) X3 X4")
)
"""The same with errors that exclude each other, one of which flips the red detector."""


@pytest.mark.parametrize("listed_from", [0, 1 << 40])
@pytest.mark.parametrize(
    ("circuit", "postselected", "decoder"),
    [
        pytest.param(
            repetition_code(0.04, distance=3, rounds=2), (0, 1), LikelierClass(0, 1), marks=pytest.mark.slow
        ),
        (encoded_t_state(0.02), (1,), LikelierClass(1)),
        (encoded_t_state(0.02), (0, 2), LikelierClass(0, 2)),
        (GRAFTED, (0,), DesaturatedGapDecoder()),
        (EXCLUSIVE, (0,), DesaturatedGapDecoder()),
    ],
)
def test_curves_are_those_of_all_fault_sets(
    circuit: snc.Circuit,
    postselected: tuple[int, ...],
    decoder: sinter.Decoder,
    listed_from: int,
) -> None:
    """With lists of accepted sets, and without; cells of few sets are enumerated."""
    asked = accepted_problem(circuit, rate_decoder(decoder, True), None, None, True)
    rate = decoded_rate(asked, Settings(0.01, seed=7), Deadline(None), listed_from)
    probabilities, gaps, wrong = exact_curve(circuit, postselected, decoder)
    assert rate.kept < 1
    assert len(rate.gap_curve) > 2
    for point in rate.gap_curve:
        is_sure = gaps >= point.gap
        kept, both = float(probabilities[is_sure].sum()), float(probabilities[is_sure & wrong].sum())
        assert abs(point.kept - kept) < 6 * point.kept_error + 1e-9 * kept
        assert abs(point.kept_and_wrong - both) < 6 * point.kept_and_wrong_error + 1e-9 * both
        assert abs(point.logical_error_rate - both / kept) < 6 * point.standard_error + 1e-9
        assert point.relative_error <= 0.02
        assert point.interval[0] <= point.logical_error_rate <= point.interval[1]
    if listed_from == 0:
        assert len(rate.strata) > 1
        assert sum(stratum.probability for stratum in rate.strata) == pytest.approx(rate.kept, rel=1e-3)
    else:
        assert [stratum.name for stratum in rate.strata[:2]] == ["0 faults", "1 fault"]
    assert "P(kept and wrong)" in str(rate)


def test_drawn_sets_are_the_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over sets of three to six mechanisms: joins of a fixed seed within 6.5 standard errors."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(undetected_sets, "REPLICAS", 64)
    monkeypatch.setattr(undetected_sets, "_FINDS", 1 << 8)
    for size, number in ((3, 18), (4, 16), (5, 13), (6, 12)):
        flips = rng.integers(0, 2, size=(number, 4)).astype(np.bool_)
        odds = rng.uniform(0.01, 0.2, size=number)
        values = rng.integers(0, 2, size=number).astype(np.bool_)  # of a set: of how many members it is true
        for target in (np.zeros(4, dtype=np.bool_), np.array([True, False, True, True])):
            sums = []
            for members in itertools.combinations(range(number), size):
                if ((flips[list(members)].sum(axis=0) % 2) == target).all():
                    sums.append((odds[list(members)].prod(), values[list(members)].sum() == 2))
            sets = UndetectedSets(flips, target, odds, rng, lambda: None)
            whole = sets.of_size(size)
            assert whole.replicas is None
            assert len(np.unique(np.sort(whole.members), axis=0)) == len(whole.members) == len(sums)
            assert whole.weights.sum() == pytest.approx(sum(weight for weight, _ in sums))
            with monkeypatch.context() as drawing:
                drawing.setattr(undetected_sets, "_MOST_LISTED", 0)
                part = sets.of_size(size)
            assert part.replicas is not None
            assert (flips[part.members].sum(axis=1) % 2 == target).all()
            assert (np.diff(np.sort(part.members, axis=1), axis=1) > 0).all()
            for chosen in (np.array([True] * len(sums)), np.array([each[1] for each in sums])):
                exact = sum(weight for (weight, _), is_in in zip(sums, chosen, strict=True) if is_in)
                is_in = values[part.members].sum(axis=1) == 2
                weights = part.weights if chosen.all() else part.weights * is_in
                found = np.bincount(part.replicas, weights, minlength=64)
                error = found.std(ddof=1) / 8
                assert exact > 0
                assert error < 0.05 * exact
                assert abs(found.mean() - exact) < SIGNIFICANT * error


def test_drawn_accepted_sets_are_the_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of three: those that flip no detector are exact, the others are within 6.5 standard errors."""
    for module in (undetected_sets, accepted_sets):
        monkeypatch.setattr(module, "REPLICAS", 64)
    model = fault_model(exact_symptoms(repetition_code(0.04, distance=3, rounds=3)), (0, 1, 2))

    def masses() -> dict[bytes, np.ndarray]:
        found = AcceptedSetSearch(model, None, np.random.default_rng(7), lambda: None).of_size(3)
        return dict(zip((row.tobytes() for row in found.rows), found.replicas, strict=True))

    listed = masses()
    assert all((each == each[0]).all() for each in listed.values())
    silent = {row for row in listed if not any(row[: 8 * model.detector_words])}
    assert silent
    monkeypatch.setattr(undetected_sets, "_MOST_LISTED", 2 * len(listed))
    monkeypatch.setattr(undetected_sets, "_FINDS", 1 << 10)
    drawn = masses()
    assert {row: mass[0] for row, mass in drawn.items() if row in silent} == pytest.approx(
        {row: listed[row][0] for row in silent}
    )
    assert any(each.std() > 1e-9 * each.mean() for each in drawn.values())
    for row in drawn.keys() | listed.keys():
        if (drawn[row] > 0).sum() < 16:
            continue  # too few finds for a standard error
        error = float(drawn[row].std(ddof=1)) / 8
        assert abs(drawn[row].mean() - listed[row][0]) <= SIGNIFICANT * error + 1e-9 * listed[row][0]
    total = sum(each[0] for each in listed.values())
    sums = np.sum(list(drawn.values()), axis=0)
    error = float(sums.std(ddof=1)) / 8
    assert abs(sums.mean() - total) < SIGNIFICANT * error < 0.1 * total


@pytest.mark.parametrize(
    ("circuit", "postselected"),
    [
        (encoded_t_state(0.02), (1,)),
        (encoded_t_state(0.02), (0, 2)),
        (repetition_code(0.04, distance=3, rounds=3), (0, 1, 2)),
    ],
)
def test_accepted_sets_are_all_sets(circuit: snc.Circuit, postselected: tuple[int, ...]) -> None:
    """All sets of up to three mechanisms with all quantum outcomes, one after the other."""
    model = fault_model(exact_symptoms(circuit), postselected)
    search = AcceptedSetSearch(model, None, np.random.default_rng(7), lambda: None)
    width = model.flips.shape[1] - model.signatures(model.flips).shape[1]
    is_discarded = False
    for size in range(4):
        expected: dict[bytes, float] = {}
        for members in itertools.combinations(range(model.num_mechanisms), size):
            rows = np.bitwise_xor.reduce(model.flips[list(members)], axis=0, initial=0) ^ model.base
            odds = np.exp(model.log_odds[list(members)]).prod()
            _, shares, rows = model.with_all_outcomes(rows[np.newaxis])
            is_accepted = model.fired(rows) == 0
            is_discarded |= not is_accepted.all()
            for row, share in zip(rows[is_accepted], shares[is_accepted], strict=True):
                name = row[:width].tobytes()
                expected[name] = expected.get(name, 0.0) + odds * share
        found = search.of_size(size)
        assert found.rows.dtype == np.uint64
        assert len(found.rows) == len(expected)
        assert (found.replicas == found.replicas[:, :1]).all()
        names = (row.tobytes() for row in found.rows)
        assert dict(zip(names, found.masses.tolist(), strict=True)) == pytest.approx(expected)
    assert is_discarded


@pytest.mark.parametrize("most_listed", [1 << 21, pytest.param(0, marks=pytest.mark.slow)])
def test_lists_take_little_memory(most_listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All errors of eight detectors: 255 * 254 * 252 / 24 sets of four flip nothing, and share one row.

    A row has 320 words: one of each set would take 1.7 GB, and that of each member four times as much.
    """
    monkeypatch.setattr(undetected_sets, "_MOST_LISTED", most_listed)
    odds, sets = 1 / 9, 255 * 254 * 252 // 24
    errors: dict[Symptom, float] = {
        (tuple(k for k in range(8) if n >> k & 1), ()): 0.1 for n in range(1, 256)
    }
    model = fault_model(Symptoms(20_000, 1, ((), ()), errors), range(8))
    search = AcceptedSetSearch(model, None, np.random.default_rng(7), lambda: None)
    tracemalloc.start()
    found = search.of_size(4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 256 * sets
    assert not found.rows.any()
    assert len(found.rows) == 1
    error = float(found.replicas.std(ddof=1)) / 4
    assert abs(found.masses[0] - sets * odds**4) <= SIGNIFICANT_OF_16 * error + 1e-9 * sets * odds**4
    assert error < 0.05 * found.masses[0]


def test_accepted_sets_are_drawn_until_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The masses of strata: exact ones within 6.5 standard errors, smaller ones of wrong sets if asked for."""
    for module in (undetected_sets, accepted_sets, sys.modules[partition.__module__]):
        monkeypatch.setattr(module, "REPLICAS", 64)
    monkeypatch.setattr(sys.modules[partition.__module__], "_MOST_TIMES", 16)
    circuit = repetition_code(0.04, distance=3, rounds=3)
    asked = accepted_problem(circuit, rate_decoder(LikelierClass(0, 1, 2)), None, None, True)

    def masses_of_strata(relative_error: float) -> dict[str, tuple[float, float]]:
        found = partition(asked, relative_error, np.random.default_rng(7), Deadline(None)).strata
        return {each.name: (each.probability, each.probability * each.relative_error) for each in found}

    listed = masses_of_strata(1.0)
    monkeypatch.setattr(undetected_sets, "_MOST_LISTED", 0)
    monkeypatch.setattr(undetected_sets, "_FINDS", 1 << 6)
    some, more = masses_of_strata(1.0), masses_of_strata(1e-3)
    for name, (mass, error) in listed.items():
        for drawn in (some, more):
            assert abs(drawn[name][0] - mass) <= SIGNIFICANT * math.hypot(error, drawn[name][1]) + 1e-9 * mass
    before, after = (
        sum(error for name, (_, error) in drawn.items() if name.startswith("wrong")) for drawn in (some, more)
    )
    assert 0 < after < 0.5 * before


class FewEvents(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """Never corrects; its gap is 10 less for each event of the detectors that are not postselected."""

    def __init__(self, postselected: int) -> None:
        self.postselected = postselected

    def postselected_detectors(self, dem: stim.DetectorErrorModel) -> np.ndarray:
        return np.arange(dem.num_detectors) < self.postselected

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return _FewEvents(dem.num_detectors, self.postselected)


class _FewEvents(sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    def __init__(self, detectors: int, postselected: int) -> None:
        self._detectors, self._postselected = detectors, postselected

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        raise AssertionError("asked without confidence")

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        events = np.unpackbits(
            bit_packed_detection_event_data, axis=1, bitorder="little", count=self._detectors
        )
        others = events[:, self._postselected :]
        return np.zeros((len(events), 1), np.uint8), 10.0 * (~others.astype(bool)).sum(axis=1)


def test_intervals_hold_what_no_join_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One wrong set of four errors, which 16 joins find 2.4 times on average; seeds 0 to 49.

    If intervals hold with 95%, 13 of 50 that do not have a probability below 1e-6. Where the set was not
    found, only the zero-count bound knows that it may be there: without it, 33 of 50 do not. Five free errors
    leave a shot its largest gap with a probability of 0.08: so much of the bound belongs to that gap.
    """
    p, errors, others, free = 0.02, ["X0", "X0 X1", "X1 X2", "X2 X3"], range(4, 44), range(44, 49)
    circuit = snc.Circuit(
        "R 0 1 2 3\n"
        + "\n".join(f"E({p}) {each}" for each in errors)
        + "".join(f"\nR {k}\nX_ERROR({p}) {k}" for k in others)
        + "".join(f"\nR {k}\nX_ERROR(0.4) {k}" for k in free)
        + "\nM "
        + " ".join(map(str, range(49)))
        + "".join(f"\nDETECTOR rec[{k - 49}]" for k in range(49) if k != 3)
        + "\nOBSERVABLE_INCLUDE(0) rec[-46]"
    )
    wrong = p**4 * (1 - p) ** 40
    listed = UndetectedSets.of_size
    monkeypatch.setattr(undetected_sets, "_MOST_HALVES", 1 << 7)
    monkeypatch.setattr(sys.modules[partition.__module__], "_MOST_TIMES", 1)
    monkeypatch.setattr(sys.modules[partition.__module__], "MOST_MEMBERS", 4)
    monkeypatch.setattr(
        UndetectedSets, "of_size", lambda sets, size: sets._drawn(4) if size == 4 else listed(sets, size)
    )
    asked = accepted_problem(circuit, rate_decoder(FewEvents(43), True), None, None, True)
    found: dict[int, list[Ratio]] = {0: [], 50: []}
    for seed in range(50):
        lists, shots = np.random.SeedSequence(seed).spawn(2)
        drawn = partition(asked, 0.1, np.random.default_rng(lists), Deadline(None))
        parts = Parts(asked, drawn, 0.1, Deadline(None), shots)
        Search(parts, lambda _: None).run(1 << 14)
        sums = parts.sums(np.array([0, 50]))
        for place, ratios in enumerate(found.values()):
            ratios.append(sums.ratio(place, 1.0))
    for exact, ratios in ((wrong, found[0]), (wrong * 0.6**5, found[50])):
        rates = [ratio.rate for ratio in ratios]
        assert rates.count(0.0) >= 5
        assert sum(not ratio.interval[0] <= exact <= ratio.interval[1] for ratio in ratios) < 13
        assert abs(np.mean(rates) - exact) < 6 * np.std(rates) / math.sqrt(50)
    for every, sure in zip(*found.values(), strict=True):
        if not every.rate:
            assert sure.interval[1] == pytest.approx(0.6**5 * every.interval[1], rel=0.25)


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
            "leaves out 1 of the 2 detectors that the decoder LikelierClass",
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


def test_too_much_noise_for_lists_is_counted() -> None:
    circuit = repetition_code(0.4, distance=3, rounds=3)
    rate = circuit.logical_error_rate(decoder=LikelierClass(*range(7)), relative_error=0.1, seed=1)
    assert [stratum.name for stratum in rate.strata[:2]] == ["0 faults", "1 fault"]
    assert rate.relative_error < 0.1
    detectors, _ = circuit.compile_detector_sampler(seed=2).sample(200_000, separate_observables=True)
    kept = float((~detectors[:, :7].any(axis=1)).mean())
    assert abs(rate.kept - kept) < 6 * math.hypot(rate.kept_error, math.sqrt(kept / 200_000))


def test_too_little_time() -> None:
    circuit = repetition_code(0.01, distance=3, rounds=3)
    with pytest.raises(snc.ResourceLimitError, match=r"max_seconds=1e-06 .* 0 of .* Allow"):
        circuit.logical_error_rate(decoder=LikelierClass(*range(7)), max_seconds=1e-6, seed=1)
