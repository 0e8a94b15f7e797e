"""What decoded logical error rates refuse, and what they say then."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.rates.decoding import classifying
from stim_nonclifford.rates.estimation import limits
from stim_nonclifford.rates.results import LogicalErrorRate
from tests.support.rates.decoded_rate_cases import (
    Wrapped,
    at_least,
    exact_rate,
    flips,
    matching_of,
    repetition_code,
    surface_code,
    wrong_where,
)

SLOW = repetition_code(1e-3, rounds=3)


def rate_with(answer: Callable[[np.ndarray], Any], p: float = 0.01) -> LogicalErrorRate:
    return repetition_code(p).logical_error_rate(decoder=Wrapped(answer), relative_error=0.3, seed=1)


def raising(dets: np.ndarray) -> np.ndarray:
    raise RuntimeError("out of ideas")


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (
            lambda dets: np.zeros((len(dets) + 1, 1), np.uint8),
            ValueError,
            r"Wrapped returned predictions of shape",
        ),
        (lambda dets: np.zeros((len(dets), 1), np.int64), ValueError, r"dtype int64"),
        (
            lambda dets: np.full((len(dets), 1), 2, np.uint8),
            ValueError,
            r"an observable that the circuit does not",
        ),
        (lambda dets: np.ones((len(dets), 2), np.uint8), ValueError, r"predicts|discards shots"),
        (raising, ValueError, r"Wrapped failed on .* RuntimeError: out of ideas"),
    ],
)
def test_wrong_answers(answer: Callable[[np.ndarray], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rate_with(answer)


def test_a_decoder_that_discards_shots() -> None:
    with pytest.raises(ValueError, match=r"Wrapped discards shots"):
        rate_with(lambda dets: np.repeat(np.array([[0, 1]], np.uint8), len(dets), axis=0))


@pytest.mark.parametrize("p", [1e-4, 1e-2])
def test_a_decoder_that_is_random_in_one_of_fifty_answers(p: float) -> None:
    """Of 1024 answers that are asked for again, none differs with a chance of 0.98^1024 < 2e-9."""
    rng, matching = np.random.default_rng(2), matching_of(surface_code(p))

    def careless(dets: np.ndarray) -> np.ndarray:
        found = matching.decode_batch(dets, bit_packed_shots=True, bit_packed_predictions=True)
        return found ^ (rng.random(len(dets)) < 0.02)[:, np.newaxis].astype(np.uint8)

    with pytest.raises(
        ValueError,
        match=r"detection events once more.*seed that follows.*SoftDecodingSampler, which decodes every",
    ):
        surface_code(p).logical_error_rate(decoder=Wrapped(careless), relative_error=0.2, seed=1)


def test_a_decoder_that_is_random_on_few_different_events() -> None:
    """Four detection events in all, one of them answered at random: asked once each, half of the runs see it."""
    rng = np.random.default_rng(3)

    def guess(events: np.ndarray) -> np.ndarray:
        return events[:, :2].all(axis=1) & (rng.random(len(events)) < 0.05)

    for p in (1e-3, 0.2):
        with pytest.raises(ValueError, match=r"Wrapped is not deterministic: it decoded 1024 detection"):
            flips([p] * 2).logical_error_rate(decoder=wrong_where(guess), relative_error=0.1, seed=1)


def test_a_decoder_that_is_always_right() -> None:
    # The observable is the last detector: it can be read off.
    circuit = snc.Circuit(
        "X_ERROR(0.01) 0\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-2]"
    )
    rate = circuit.logical_error_rate(decoder=Wrapped(lambda dets: dets >> 1), seed=1)
    assert (rate.logical_error_rate, rate.standard_error, rate.interval) == (0, 0, (0, 0))
    # Of many errors, not all sets can be looked at.
    with pytest.raises(
        snc.ResourceLimitError, match=r"failed in none of [\d,]+ shots.*at most 7\.8e-13 \(95%\)"
    ):
        flips([1e-3] * 50).logical_error_rate(
            decoder=Wrapped(lambda dets: np.zeros_like(dets[:, :1])), seed=1
        )


def test_a_decoder_that_is_wrong_on_one_set_alone() -> None:
    """Events {1, 2} exactly: the set has no failing superset."""

    def fails(events: np.ndarray) -> np.ndarray:
        return np.asarray((events.sum(axis=1) == 2) & (events[:, 1:3].sum(axis=1) == 2))

    p = 1e-3
    rate = flips([p] * 50).logical_error_rate(decoder=wrong_where(fails), seed=1)
    assert rate.logical_error_rate == pytest.approx(p**2 * (1 - p) ** 48, rel=1e-9)
    assert rate.relative_error < 0.01
    assert [each.least_faults for each in rate.strata if each.kept_and_wrong] == [2]


def test_more_fault_sets_than_a_float_can_count() -> None:
    """Of 5000 mechanisms, there are some 10^1500 sets. The decoder fails on each that is not empty."""
    decoder = wrong_where(lambda events: events.any(axis=1))
    rate = flips([1e-7] * 5000).logical_error_rate(decoder=decoder, relative_error=0.01, seed=1)
    low, high = rate.interval
    assert low <= -math.expm1(5000 * math.log1p(-1e-7)) <= high
    assert rate.relative_error < 0.01


@pytest.mark.parametrize("size", [3, 4])
def test_sets_that_could_not_be_looked_at_are_in_the_interval(size: int) -> None:
    """Of 200 mechanisms, all sets of two are looked at. Wrong are one larger set alone, and all sets of five."""

    def fails(events: np.ndarray) -> np.ndarray:
        is_alone = (events.sum(axis=1) == size) & (events[:, :size].sum(axis=1) == size)
        return np.asarray(is_alone | (events.sum(axis=1) >= 5))

    count, p = 200, 1e-3
    rate = flips([p] * count).logical_error_rate(decoder=wrong_where(fails), seed=1)
    exact = at_least(count, p, 5) + p**size * (1 - p) ** (count - size)
    low, high = rate.interval
    assert low <= exact <= high
    # One random set of three or four may have been missed, of which no superset fails.
    (note,) = rate.notes
    samples = int(note.split()[1].replace(",", ""))
    one = (at_least(count, p, 3) - at_least(count, p, 5)) / samples
    assert high - rate.logical_error_rate > 2.9 * one  # of Fay and Feuer, where the rest is known
    assert "random sets of 3 to 4 faults" in str(rate)


def test_sets_without_supersets_are_found_where_they_are_many() -> None:
    """Wrong on all sets of three, and on those of seven and more: nothing leads from seven to three."""
    decoder = wrong_where(lambda events: np.isin(events.sum(axis=1), [3, *range(7, 200)]))
    count, p = 200, 4e-4
    rate = flips([p] * count).logical_error_rate(decoder=decoder, relative_error=0.02, seed=2)
    exact = math.comb(count, 3) * p**3 * (1 - p) ** (count - 3) + at_least(count, p, 7)
    assert rate.relative_error <= 0.02
    assert abs(rate.logical_error_rate - exact) < 5.5 * rate.standard_error


def test_a_rate_of_one_has_an_error_and_is_no_more_than_one() -> None:
    rate = flips([0.1] * 50).logical_error_rate(
        decoder=Wrapped(lambda dets: np.ones_like(dets[:, :1])), relative_error=0.1, seed=1
    )
    assert rate.logical_error_rate == rate.observable_rates[0] == pytest.approx(1, rel=1e-12)
    assert 0 < rate.standard_error < 0.01
    low, high = rate.interval
    assert 0.9 < low < 1 == high


def test_an_observable_that_is_never_wrong_has_an_error() -> None:
    circuit = flips([0.02] * 40)
    circuit.append_from_stim_program_text("M 50\nOBSERVABLE_INCLUDE(1) rec[-1]")
    rate = circuit.logical_error_rate(
        decoder=wrong_where(lambda events: events.sum(axis=1) >= 2),
        relative_error=0.05,
        seed=1,
    )
    assert rate.observable_rates[1] == 0
    assert 0 < rate.observable_errors[1] < 0.01
    assert rate.observable_rates[0] == rate.logical_error_rate


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"decoder": "pymatchng"}, r"There is no decoder 'pymatchng'"),
        ({"decoder": 3}, r"decoder is 3, which is neither a name"),
        ({"decoder": Wrapped}, r"decoder is the class Wrapped. Pass an object"),
        ({"postselection_mask": [True]}, r"postselection_mask"),
        (
            {"postselected_observables_mask": [True]},
            r"postselected_observables_mask is not available .*Count errors .*Or leave out decoder=",
        ),
        (
            {"state_check": "T"},
            r"state_check is not available .*Count with SoftDecodingSampler.*Or leave out decoder=.*desaturated",
        ),
        ({"relative_error": 0}, r"relative_error must be a positive number"),
        ({"seed": -1}, r"Expected seed"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        repetition_code(0.01).logical_error_rate(**({"decoder": "pymatching"} | arguments))


def test_masks_that_select_nothing_are_none() -> None:
    circuit = repetition_code(0.2)
    mask = np.zeros(circuit.num_detectors, dtype=np.bool_)
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask=mask, relative_error=0.2, seed=1
    )
    assert rate.logical_error_rate > 0


def test_t_gates_on_which_nothing_depends() -> None:
    plain = repetition_code(0.05)
    circuit = snc.Circuit(f"RX 20\nT 20\n{plain}")
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.2, seed=1)
    exact = exact_rate("repetition", 0.05)
    assert abs(rate.logical_error_rate - exact) < 6.5 * rate.standard_error + 1e-9 * exact


RANDOM_DETECTOR = "RX 0\nR 1\nX_ERROR(0.1) 1\nM 0 1\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"


@pytest.mark.parametrize(
    ("circuit", "message", "arguments"),
    [
        ("M(0.1) 0\nDETECTOR rec[-1]", r"no observables", {}),
        ("M(0.1) 0\nOBSERVABLE_INCLUDE(0) rec[-1]", r"no detectors, so there is nothing to decode", {}),
        (
            "RX 0\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]",
            r"Observable 0 \(line 4\) is random without noise",
            {},
        ),
        (RANDOM_DETECTOR, r"Detector 0 is random without noise.* Leave such a detector out", {}),
        # Postselection would be no remedy: the decoder's error model has no such detector.
        (RANDOM_DETECTOR, r"Detector 0 is random without noise.* Leave", {"postselection_mask": [True]}),
        (
            "R 0 1 2 3\nE(0.02) X0 X1 X2 X3\nX_ERROR(0.01) 0\nM 0 1 2 3\nDETECTOR rec[-1]\nDETECTOR rec[-2]\n"
            "DETECTOR rec[-3]\nDETECTOR rec[-4]\nOBSERVABLE_INCLUDE(0) rec[-1]",
            r"cannot be decomposed are left out .* choose another",
            {"seed": 1},
        ),
        # Two T gates are an S gate. With S in place of T, the observable is random.
        (
            "RX 0\nZ_ERROR(0.01) 0\nT 0\nT 0\nS_DAG 0\nX_ERROR(0.01) 1\nM 1\nDETECTOR rec[-1]\nMX 0\n"
            "OBSERVABLE_INCLUDE(0) rec[-1]",
            r"refuses to compute it: L0 .* leave out decoder= and give postselection",
            {},
        ),
        (str(repetition_code(0.01)), r'logical_error_rate\(decoder="pymatching"\)', {"decoder": None}),
    ],
)
def test_circuits_without_an_answer(circuit: str, message: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=message):
        snc.Circuit(circuit).logical_error_rate(**({"decoder": "pymatching"} | arguments))


def test_circuits_that_are_none() -> None:
    tagged = repetition_code(0.1).to_stim()
    with pytest.raises(TypeError, match=r"a list of circuits, such as \[circuit\]"):
        snc.logical_error_rates(repetition_code(0.1), decoder="pymatching")
    with pytest.raises(TypeError, match=r"such as stim_nonclifford.Circuit\(c\)"):
        snc.logical_error_rates([tagged], decoder="pymatching")  # type: ignore[list-item]


def with_slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves on each time somebody looks at it."""
    looks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: 0.005 * next(looks))
    for module in (limits, classifying):
        monkeypatch.setattr(module, "time", clock)


@pytest.mark.parametrize(
    ("circuit", "max_seconds", "rate"),
    [(surface_code(1e-4), 0.05, 7.89e-6), (surface_code(1e-4, 5), 0.1, 1.3e-7)],
)
def test_too_little_time(
    circuit: snc.Circuit, max_seconds: float, rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_slow_clock(monkeypatch)
    message = rf"at most (\S+) \(95%\), when max_seconds={max_seconds:g} ended the search"
    with pytest.raises(snc.ResourceLimitError, match=message) as found:
        circuit.logical_error_rate(decoder="pymatching", max_seconds=max_seconds, seed=1)
    assert float(str(found.value).split("at most ")[1].split()[0]) > rate


@pytest.mark.parametrize("max_seconds", [0.5, 5.0])
def test_time_ends_the_search_with_what_is_known(max_seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With plain shots, if there is nothing better."""
    with_slow_clock(monkeypatch)
    rate = surface_code(3e-3, 5).logical_error_rate(
        decoder="pymatching", relative_error=1e-5, max_seconds=max_seconds, seed=1
    )
    assert 1e-5 < rate.relative_error < 2
    low, high = rate.interval
    assert low < 3.3e-3 < high  # 3.32(6)e-3, of a table in the documentation
    assert "shots ended the search" in str(rate)
    assert 1 <= len(rate.failures(3)) <= 3  # which are decoded after that time


@pytest.mark.parametrize("max_seconds", [8.0, 20.0])
def test_a_slow_decoder_is_asked_in_small_batches(
    max_seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a hundredth of a second for each row, by a clock of its own."""
    rows = [0]

    def answer(dets: np.ndarray) -> np.ndarray:
        rows.append(len(dets))
        return np.zeros((len(dets), 1), dtype=np.uint8)

    clock = SimpleNamespace(monotonic=lambda: 0.01 * sum(rows), perf_counter=lambda: 0.01 * sum(rows))
    for module in (limits, classifying):
        monkeypatch.setattr(module, "time", clock)
    rate = surface_code(2e-3).logical_error_rate(decoder=Wrapped(answer), max_seconds=max_seconds, seed=1)
    assert rate.interval[0] < rate.logical_error_rate < rate.interval[1]
    assert 0.01 * sum(rows) <= max_seconds + min(1.0, 0.1 * max_seconds + 0.3)
