"""What decoded logical error rates refuse, and what they say then."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pymatching
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates import decoding_problems
from stim_nonclifford.rates.decoding import classifying
from stim_nonclifford.rates.estimation import deadline
from stim_nonclifford.rates.results import LogicalErrorRate
from tests.support.rates.decoded_rate_cases import exact_rate, repetition_code, surface_code

SLOW = repetition_code(1e-3, rounds=3)


def events_of(dets: np.ndarray) -> np.ndarray:
    return np.unpackbits(dets, axis=1, bitorder="little")


def flips(count: int, p: float) -> snc.Circuit:
    """Independent flips, each with a detector, and an observable that nothing flips."""
    lines = [f"X_ERROR({p}) {k}" for k in range(count)]
    lines += ["M " + " ".join(map(str, range(count + 1)))]
    lines += [f"DETECTOR rec[{k - count - 1}]" for k in range(count)]
    return snc.Circuit("\n".join([*lines, "OBSERVABLE_INCLUDE(0) rec[-1]"]))


def at_least(count: int, p: float, least: int) -> float:
    """P(so many of independent flips happen)."""
    return sum(math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(least, count + 1))


class Answering(sinter.CompiledDecoder):  # type: ignore[misc]
    def __init__(self, answer: Callable[[np.ndarray], Any]) -> None:
        self._answer = answer

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> Any:
        return self._answer(bit_packed_detection_event_data)


class Wrapped(sinter.Decoder):  # type: ignore[misc]
    """A decoder with given answers."""

    def __init__(self, answer: Callable[[np.ndarray], Any]) -> None:
        self._answer = answer

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Answering:
        return Answering(self._answer)


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
    rng = np.random.default_rng(2)
    matching: list[pymatching.Matching] = []

    class Careless(sinter.Decoder):  # type: ignore[misc]
        def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Answering:
            matching.append(pymatching.Matching.from_detector_error_model(dem))
            return Answering(self.answer)

        def answer(self, dets: np.ndarray) -> np.ndarray:
            found = matching[0].decode_batch(dets, bit_packed_shots=True, bit_packed_predictions=True)
            return found ^ (rng.random(len(dets)) < 0.02)[:, np.newaxis].astype(np.uint8)

    with pytest.raises(
        ValueError,
        match=r"detection events once more.*seed that follows.*SoftDecodingSampler, which decodes every",
    ):
        surface_code(p).logical_error_rate(decoder=Careless(), relative_error=0.2, seed=1)


def test_a_decoder_that_is_random_on_few_different_events() -> None:
    """Four detection events in all, one of them answered at random: asked once each, half of the runs see it."""
    rng = np.random.default_rng(3)

    def guess(dets: np.ndarray) -> np.ndarray:
        is_tie = events_of(dets)[:, :2].all(axis=1)
        return (is_tie & (rng.random(len(dets)) < 0.05))[:, np.newaxis].astype(np.uint8)

    for p in (1e-3, 0.2):
        with pytest.raises(ValueError, match=r"Wrapped is not deterministic: it decoded 1024 detection"):
            flips(2, p).logical_error_rate(decoder=Wrapped(guess), relative_error=0.1, seed=1)


def test_a_decoder_that_is_always_right() -> None:
    # The observable is the last detector: it can be read off.
    circuit = snc.Circuit(
        "X_ERROR(0.01) 0\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-2]"
    )
    rate = circuit.logical_error_rate(decoder=Wrapped(lambda dets: dets >> 1), seed=1)
    assert (rate.logical_error_rate, rate.standard_error, rate.interval) == (0, 0, (0, 0))
    # Of many errors, not all sets can be looked at.
    with pytest.raises(
        snc.ResourceLimitError, match=r"failed in none of [\d,]+ shots.*at most 5e-15 \(95%\)"
    ):
        flips(50, 1e-3).logical_error_rate(decoder=Wrapped(lambda dets: np.zeros_like(dets[:, :1])), seed=1)


def test_a_decoder_that_is_wrong_on_one_set_alone() -> None:
    """Events {1, 2} exactly: the set has no failing superset."""

    def fails(dets: np.ndarray) -> np.ndarray:
        events = events_of(dets)
        return ((events.sum(axis=1) == 2) & (events[:, 1:3].sum(axis=1) == 2)).astype(np.uint8)[:, np.newaxis]

    p = 1e-3
    rate = flips(50, p).logical_error_rate(decoder=Wrapped(fails), seed=1)
    assert rate.logical_error_rate == pytest.approx(p**2 * (1 - p) ** 48, rel=1e-9)
    assert rate.relative_error < 0.01
    assert [each.least_faults for each in rate.strata if each.kept_and_wrong] == [2]


def test_more_fault_sets_than_a_float_can_count() -> None:
    """Of 5000 mechanisms, there are some 10^1500 sets. The decoder fails on each that is not empty."""

    def fails(dets: np.ndarray) -> np.ndarray:
        return (events_of(dets).any(axis=1)).astype(np.uint8)[:, np.newaxis]

    rate = flips(5000, 1e-7).logical_error_rate(decoder=Wrapped(fails), relative_error=0.01, seed=1)
    low, high = rate.interval
    assert low <= -math.expm1(5000 * math.log1p(-1e-7)) <= high
    assert rate.relative_error < 0.01


@pytest.mark.parametrize("size", [3, 4])
def test_sets_that_could_not_be_looked_at_are_in_the_interval(size: int) -> None:
    """Of 200 mechanisms, all sets of two are looked at. Wrong are one larger set alone, and all sets of five."""

    def fails(dets: np.ndarray) -> np.ndarray:
        events = events_of(dets)
        is_alone = (events.sum(axis=1) == size) & (events[:, :size].sum(axis=1) == size)
        return (is_alone | (events.sum(axis=1) >= 5)).astype(np.uint8)[:, np.newaxis]

    count, p = 200, 1e-3
    rate = flips(count, p).logical_error_rate(decoder=Wrapped(fails), seed=1)
    exact = at_least(count, p, 5) + p**size * (1 - p) ** (count - size)
    low, high = rate.interval
    assert low <= exact <= high
    # One random set of three or four may have been missed, of which no superset fails.
    (note,) = rate.notes
    samples = int(note.split()[1].replace(",", ""))
    one = (at_least(count, p, 3) - at_least(count, p, 5)) / samples
    assert high - rate.logical_error_rate > 3 * one
    assert "random sets of 3 to 4 faults" in str(rate)


def test_sets_without_supersets_are_found_where_they_are_many() -> None:
    """Wrong on all sets of three, and on those of seven and more: nothing leads from seven to three."""

    def fails(dets: np.ndarray) -> np.ndarray:
        counts = events_of(dets).sum(axis=1)
        return ((counts == 3) | (counts >= 7)).astype(np.uint8)[:, np.newaxis]

    count, p = 200, 4e-4
    rate = flips(count, p).logical_error_rate(decoder=Wrapped(fails), relative_error=0.02, seed=2)
    exact = math.comb(count, 3) * p**3 * (1 - p) ** (count - 3) + at_least(count, p, 7)
    assert rate.relative_error <= 0.02
    assert abs(rate.logical_error_rate - exact) < 5.5 * rate.standard_error


def test_a_rate_of_one_has_an_error_and_is_no_more_than_one() -> None:
    rate = flips(50, 0.1).logical_error_rate(
        decoder=Wrapped(lambda dets: np.ones_like(dets[:, :1])), relative_error=0.1, seed=1
    )
    assert rate.logical_error_rate == rate.observable_rates[0] == 1
    assert 0 < rate.standard_error < 0.01
    low, high = rate.interval
    assert 0.9 < low < 1 == high


def test_an_observable_that_is_never_wrong_has_an_error() -> None:
    circuit = flips(40, 0.02)
    circuit.append_from_stim_program_text("M 50\nOBSERVABLE_INCLUDE(1) rec[-1]")
    rate = circuit.logical_error_rate(
        decoder=Wrapped(lambda dets: (events_of(dets).sum(axis=1) >= 2).astype(np.uint8)[:, np.newaxis]),
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


def test_circuits_without_a_question() -> None:
    with pytest.raises(ValueError, match=r"no observables"):
        snc.Circuit("M(0.1) 0\nDETECTOR rec[-1]").logical_error_rate(decoder="pymatching")
    with pytest.raises(ValueError, match=r"no detectors, so there is nothing to decode"):
        snc.Circuit("M(0.1) 0\nOBSERVABLE_INCLUDE(0) rec[-1]").logical_error_rate(decoder="pymatching")


def test_t_gates_on_which_nothing_depends() -> None:
    plain = repetition_code(0.05)
    circuit = snc.Circuit(f"RX 20\nT 20\n{plain}")
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.2, seed=1)
    exact = exact_rate("repetition", 0.05)
    assert abs(rate.logical_error_rate - exact) < 6.5 * rate.standard_error + 1e-9 * exact


def test_random_outputs() -> None:
    circuit = snc.Circuit("RX 0\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]")
    with pytest.raises(ValueError, match=r"Observable 0 \(line 4\) is random without noise"):
        circuit.logical_error_rate(decoder="pymatching")


def test_a_random_detector_is_to_be_left_out() -> None:
    """Postselection would be no remedy: the decoder's error model has no such detector."""
    circuit = snc.Circuit("RX 0\nR 1\nX_ERROR(0.1) 1\nM 0 1\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    for mask in (None, [True]):
        with pytest.raises(
            ValueError, match=r"Detector 0 is random without noise.* Leave such a detector out"
        ):
            circuit.logical_error_rate(decoder="pymatching", postselection_mask=mask)


def test_circuits_that_are_none() -> None:
    tagged = repetition_code(0.1).to_stim()
    with pytest.raises(TypeError, match=r"a list of circuits, such as \[circuit\]"):
        snc.logical_error_rates(repetition_code(0.1), decoder="pymatching")
    with pytest.raises(TypeError, match=r"such as stim_nonclifford.Circuit\(c\)"):
        snc.logical_error_rates([tagged], decoder="pymatching")  # type: ignore[list-item]


def test_exclusive_errors() -> None:
    body = "R 0 1\n{}\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    circuit = snc.Circuit(body.format("E(0.1) X0\nELSE_CORRELATED_ERROR(0.3) X1"))
    with pytest.raises(ValueError, match=r"exclude each other.*soft_pymatching.*Paulis\.$"):
        circuit.logical_error_rate(decoder="pymatching")
    # Exclusive errors that are as likely as independent ones are none of these.
    channel = snc.Circuit(body.format("PAULI_CHANNEL_1(0.04, 0.04, 0.04) 0 1"))
    rate = channel.logical_error_rate(decoder="pymatching", seed=1)
    assert rate.interval == (0, 0)  # each detector sees its error: it never fails


def test_a_model_that_cannot_be_decomposed() -> None:
    circuit = snc.Circuit(
        "R 0 1 2 3\nE(0.02) X0 X1 X2 X3\nX_ERROR(0.01) 0\nM 0 1 2 3\nDETECTOR rec[-1]\nDETECTOR rec[-2]\n"
        "DETECTOR rec[-3]\nDETECTOR rec[-4]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    with pytest.raises(ValueError, match=r"cannot be decomposed are left out .* choose another"):
        circuit.logical_error_rate(decoder="pymatching", seed=1)


def with_slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves on each time somebody looks at it."""
    looks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: 0.005 * next(looks))
    monkeypatch.setattr(deadline, "time", clock)
    monkeypatch.setattr(decoding_problems, "time", clock)


@pytest.mark.parametrize(
    ("circuit", "max_seconds", "reached"),
    [
        (surface_code(1e-4), 0.05, r"when 0 of [\d,]+ shots had failed. The rate is at most 0.\d+ \(95%\)"),
        (surface_code(1e-4, 5), 0.3, r"when [\d,]+ sets of \d+ faults had failed, which do not suffice"),
    ],
)
def test_too_little_time(
    circuit: snc.Circuit, max_seconds: float, reached: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_slow_clock(monkeypatch)
    with pytest.raises(
        snc.ResourceLimitError, match=f"max_seconds={max_seconds:g} ended the search {reached}"
    ):
        circuit.logical_error_rate(decoder="pymatching", max_seconds=max_seconds, seed=1)


@pytest.mark.parametrize("max_seconds", [0.1, 2.0])
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
    assert len(rate.failures(3)) == 3  # which are decoded after that time


class Counted(sinter.Decoder):  # type: ignore[misc]
    """Takes a hundredth of a second for each row, by a clock of its own."""

    def __init__(self) -> None:
        self.now = 0.0

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Answering:
        return Answering(self.answer)

    def answer(self, dets: np.ndarray) -> np.ndarray:
        self.now += 0.01 * len(dets)
        return np.zeros((len(dets), 1), dtype=np.uint8)


@pytest.mark.parametrize("max_seconds", [2.0, 20.0])
def test_a_slow_decoder_is_asked_in_small_batches(
    max_seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = Counted()
    clock = SimpleNamespace(monotonic=lambda: decoder.now, perf_counter=lambda: decoder.now)
    for module in (deadline, decoding_problems, classifying):
        monkeypatch.setattr(module, "time", clock)
    rate = surface_code(2e-3).logical_error_rate(decoder=decoder, max_seconds=max_seconds, seed=1)
    assert rate.interval[0] < rate.logical_error_rate < rate.interval[1]
    assert decoder.now <= max_seconds + min(1.0, 0.1 * max_seconds + 0.3)


def test_the_refusal_without_a_decoder_names_it() -> None:
    with pytest.raises(ValueError, match=r'logical_error_rate\(decoder="pymatching"\)'):
        repetition_code(0.01).logical_error_rate()


def test_decoders_without_an_error_model() -> None:
    """Two T gates are an S gate. With S in place of T, the observable is random."""
    circuit = snc.Circuit("""
        RX 0
        Z_ERROR(0.01) 0
        T 0
        T 0
        S_DAG 0
        X_ERROR(0.01) 1
        M 1
        DETECTOR rec[-1]
        MX 0
        OBSERVABLE_INCLUDE(0) rec[-1]
    """)
    with pytest.raises(
        ValueError, match=r"refuses to compute it: L0 .* leave out decoder= and give postselection"
    ):
        circuit.logical_error_rate(decoder="pymatching")
