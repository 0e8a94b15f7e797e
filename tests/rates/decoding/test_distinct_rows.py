"""Equal rows are decoded once, within the store's memory and within the time."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.circuit.decisions.record_gaps import RecordGaps
from stim_nonclifford.rates.decoding import classifying
from stim_nonclifford.rates.decoding.classifying import Classifier
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.decoding.distinct_rows import DistinctRows
from stim_nonclifford.rates.decoding.kept_shot_decoding import CheckedDecoder, KeptShotDecoding
from stim_nonclifford.rates.estimation.limits import Deadline
from tests.support.rates.decoded_rate_cases import model_of, surface_code


class Decoder:
    """A function of the row that uses all of its bits, and notes how many rows it was asked for."""

    def __init__(self, most: int = 1 << 20) -> None:
        self.calls: list[int] = []
        self.most = most

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        assert rows.flags.c_contiguous
        rows = rows[: self.most]
        self.calls.append(len(rows))
        weights = np.arange(1, rows.shape[1] + 1)
        total = rows.astype(np.int64) @ weights
        return np.stack([total % 251, total % 256], axis=1).astype(np.uint8)


def batches(seed: int, row_bytes: int, distinct: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 256, (distinct, row_bytes), dtype=np.uint8)
    return [pool[(rng.random(n) ** 4 * distinct).astype(int)] for n in (1, 16, 3000, 0, 5000, 2, 4000)]


@pytest.mark.parametrize("row_bytes", [1, 7, 8, 9, 40])
@pytest.mark.parametrize("max_bytes", [0, 1, 2000, 1 << 20])
def test_the_results_are_those_of_the_decoder(row_bytes: int, max_bytes: int) -> None:
    """Seed 1."""
    decoder = Decoder()
    found = DistinctRows(row_bytes=row_bytes, result_bytes=2, max_bytes=max_bytes)
    total = 0
    seen: set[bytes] = set()
    for rows in batches(1, row_bytes, 500):
        np.testing.assert_array_equal(found.results(rows, decoder), Decoder()(rows))
        total += len(rows)
        seen |= {row.tobytes() for row in rows}
    assert found.asked == total
    assert found.decoded + found.repeated == sum(decoder.calls)
    assert not found.is_random
    assert len(found) <= max_bytes // 48
    if max_bytes < 2000:
        assert found.decoded == total
    elif max_bytes > 2000:
        assert found.decoded == len(found) == len(seen)


def test_rows_that_came_first_are_stored() -> None:
    """As many as there is memory for."""
    rows = np.arange(200, dtype=np.uint8)[:, np.newaxis]
    for max_bytes, stored in ((1 << 20, 200), (5_900, 115), (1, 0)):
        found = DistinctRows(row_bytes=1, result_bytes=2, max_bytes=max_bytes)
        for _ in range(2):
            np.testing.assert_array_equal(found.results(rows, Decoder()), Decoder()(rows))
        assert len(found) == stored
        assert found.decoded == 400 - stored


def test_what_is_known_when_decoding_ends_early() -> None:
    """Rows 0 to 9 are known, and three of the others are decoded: row 13 is the first without a result."""
    rows = np.array([3, 10, 3, 11, 10, 12, 9, 13, 3, 14, 13], dtype=np.uint8)[:, np.newaxis]
    found = DistinctRows(row_bytes=1, result_bytes=2)
    found.results(np.arange(10, dtype=np.uint8)[:, np.newaxis], Decoder())
    np.testing.assert_array_equal(found.results(rows, Decoder(most=3)), Decoder()(rows[:7]))
    decoder = Decoder()
    np.testing.assert_array_equal(found.results(rows, decoder), Decoder()(rows))
    assert decoder.calls == [2]


@pytest.mark.parametrize(("changing", "is_random"), [(40, False), (3, True)])
def test_stored_rows_that_are_decoded_differently(changing: int, is_random: bool) -> None:
    """Row 3 has another result later; for 16 rows that the store has saved, one is decoded again."""
    rows = np.tile(np.arange(40, dtype=np.uint8), 100)[:, np.newaxis]
    found = DistinctRows(row_bytes=1, result_bytes=2)
    found.results(rows[:40], Decoder())
    found.results(rows, lambda again: Decoder()(again) + (again == changing))
    assert found.repeated == 4000 // 16
    assert found.is_random == is_random


class Coin(sinter.CompiledDecoder):  # type: ignore[misc]
    """Tosses a coin for events of D0 to D2, in one stream, or in one that begins anew with each call."""

    def __init__(self, anew: bool) -> None:
        self._anew = anew
        self._rng = np.random.default_rng(4)

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Coin:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        rows = bit_packed_detection_event_data
        rng = np.random.default_rng(4) if self._anew else self._rng
        return (rng.integers(0, 2, (len(rows), 1)) * (rows[:, :1] == 7)).astype(np.uint8)


def kept_shot_decoding(decoder: sinter.Decoder) -> KeptShotDecoding:
    model = stim.DetectorErrorModel("error(0.1) D0 L0\ndetector D15")
    return KeptShotDecoding(CheckedDecoder(decoder, model, name="it", confidence=False), 1 << 20)


@pytest.mark.parametrize("anew", [False, True])
def test_a_random_decoder_is_seen_and_asked_for_every_row(anew: bool) -> None:
    """Seed 6. Of 1000 repeated rows, a fourth are tossed: that all agree has probability < 2^-200."""
    rng = np.random.default_rng(6)
    found = kept_shot_decoding(Coin(anew))
    for _ in range(20):
        rows = np.stack([rng.choice([7, 1, 2, 3], 200, p=[0.05, 0.5, 0.25, 0.2]), rng.integers(0, 2, 200)], 1)
        found.decode(rows.astype(np.uint8))
    assert found.is_random
    statistics = found.statistics()
    assert statistics["rows_found_in_store"] + statistics["rows_decoded"] == statistics["rows"]
    before = statistics["rows_decoded"]
    sevens = np.tile(np.array([[7, 0]], dtype=np.uint8), (400, 1))
    predictions, _, _ = found.decode(sevens)
    assert found.statistics()["rows_decoded"] == before + 400
    assert 120 < predictions.sum() < 280  # eight standard deviations


def test_a_decoder_that_is_not_random_is_not_called_so() -> None:
    """Seed 1; and after 1024 rows that are decoded again there are few more: one for 16 that are decoded."""
    found = kept_shot_decoding(sinter.BUILT_IN_DECODERS["vacuous"])
    for _ in range(3):
        for rows in batches(1, 2, 500):
            found.decode(rows)
    assert not found.is_random
    assert 1024 < found.statistics()["rows_asked_again"] < 1024 + 500 / 16


def test_decodes_do_not_depend_on_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a store that has no room for most rows: one row at a time, and hundreds of rows at once."""
    monkeypatch.setattr(classifying, "DistinctRows", partial(DistinctRows, max_bytes=6_000))
    circuit = surface_code(1e-2)
    decoder = rate_decoder("pymatching", confidence=True)
    predict = decoder.checked(circuit.detector_error_model(decompose_errors=True)).predict
    model = model_of(circuit)
    chosen = np.random.default_rng(1).integers(model.num_mechanisms, size=(4, 500, 1))
    decodes, gaps = [], []
    for seconds in (1e-12, 1e3):
        monkeypatch.setattr(classifying, "MOST_AT_A_TIME", seconds)
        classifier = Classifier(model, predict, Deadline(None))
        found = [classifier.classify(np.bitwise_xor.reduce(model.flips[part], axis=1)) for part in chosen]
        decodes.append(classifier.decoded)
        gaps.append(np.concatenate([each.gaps for each in found]).tolist())
    assert decodes[0] == decodes[1] > 400
    assert gaps[0] == gaps[1]
    assert len(set(gaps[0])) > 10


def test_gaps_that_are_random_are_seen() -> None:
    """Seed 5. Of 1024 gaps that are tossed again, all are as before with probability 2^-1024."""
    model = model_of(surface_code(1e-2))
    rng = np.random.default_rng(5)
    classifier = Classifier(
        model,
        lambda dets: (np.zeros((len(dets), 1), dtype=np.uint8), rng.integers(0, 2, len(dets))),
        Deadline(None),
    )
    classifier.classify(model.flips)
    with pytest.raises(ValueError, match="it is not deterministic: it decoded 1024 detection events once"):
        classifier.check_repeats("it")


class RandomlySure(Coin):
    """Predicts no flip, and is sure of it in all but one of 20 cases, whatever the events are."""

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        count = len(bit_packed_detection_event_data)
        return np.zeros((count, 1), dtype=np.uint8), np.where(self._rng.random(count) < 0.05, 0.0, 20.0)


class Unsure(RandomlySure):
    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return bit_packed_detection_event_data, np.full(len(bit_packed_detection_event_data), np.nan)


def test_gaps_of_a_loop_are_numbers() -> None:
    model = stim.DetectorErrorModel("error(0.1) D0 L0")
    gaps = RecordGaps(rate_decoder(Unsure(False), True), model, 0, "Line 1", 1 << 20)
    with pytest.raises(ValueError, match="Unsure returned the confidence nan"):
        gaps(np.array([[1]], dtype=np.uint8))


def test_a_loop_that_is_sure_at_random_has_no_rate() -> None:
    """The gaps of two detection events are in the store: only those that are asked for again differ."""
    circuit = snc.Circuit(
        "R 0 1 2\nX_ERROR(0.1) 0 1\nMPP(0.05) Z0*Z1\nDETECTOR rec[-1]\nSURE(5) Z0\nCX rec[-1] 2\nX 2\n"
        "X_ERROR(0.01) 2\nM 2\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    with pytest.raises(ValueError, match="one that decides, is not deterministic"):
        circuit.logical_error_rate(decoder="pymatching", loop_decoder=RandomlySure(False), seed=1)
