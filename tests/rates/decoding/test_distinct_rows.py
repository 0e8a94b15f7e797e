"""Equal rows are decoded once, within the store's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stim_nonclifford.rates.decoding import distinct_rows
from stim_nonclifford.rates.decoding.distinct_rows import DistinctRows


class Decoder:
    """A function of the row that uses all of its bits, and notes how many rows it was asked for."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        assert rows.flags.c_contiguous
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
    found = DistinctRows(decoder, row_bytes=row_bytes, result_bytes=2, max_bytes=max_bytes)
    total = 0
    for rows in batches(1, row_bytes, 500):
        np.testing.assert_array_equal(found.results(rows), Decoder()(rows))
        total += len(rows)
    statistics = found.statistics()
    assert statistics["rows"] == total
    assert statistics["rows_decoded"] + statistics["rows_asked_again"] == sum(decoder.calls)
    parts = ("rows_found_in_store", "rows_equal_to_others", "rows_decoded")
    assert sum(statistics[name] for name in parts) == total
    if max_bytes == 0:
        assert statistics["rows_decoded"] == total
    else:
        assert statistics["stored_rows"] <= max_bytes // 170


def test_rows_that_came_first_are_stored() -> None:
    """As many as there is memory for."""
    rows = np.arange(200, dtype=np.uint8)[:, np.newaxis]
    for max_bytes, stored in ((1 << 20, 200), (20_000, 115), (1, 0)):
        decoder = Decoder()
        found = DistinctRows(decoder, row_bytes=1, result_bytes=2, max_bytes=max_bytes)
        for _ in range(2):
            np.testing.assert_array_equal(found.results(rows), Decoder()(rows))
            found._rows_to_skip = 0
        assert found.statistics()["stored_rows"] == stored
        assert found.statistics()["rows_found_in_store"] == stored
        assert sum(decoder.calls) == 400 - stored + found.statistics()["rows_asked_again"]


def test_what_does_not_pay_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixteenth of the batches is looked up if the decoder takes no time, and each one if it takes long."""
    looked = []
    original = np.unique

    def unique(*arguments: Any, **options: Any) -> Any:
        looked.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(distinct_rows.np, "unique", unique)
    rng = np.random.default_rng(3)
    for cost, expected in ((0.0, 4), (1e9, 64)):
        monkeypatch.setattr(distinct_rows, "_COST_OF_FREQUENT_ROWS", cost)
        looked.clear()
        found = DistinctRows(Decoder(), row_bytes=16, result_bytes=2, max_bytes=1 << 20)
        for _ in range(64):
            rows = rng.integers(0, 256, (2000, 16), dtype=np.uint8)
            rows[:10] = rows[0]
            np.testing.assert_array_equal(found.results(rows), Decoder()(rows))
        assert len(looked) == expected


class Coin:
    """Tosses a coin for rows that begin with 7, in one stream, or in one that begins anew with each call."""

    def __init__(self, anew: bool) -> None:
        self._anew = anew
        self._rng = np.random.default_rng(4)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        rng = np.random.default_rng(4) if self._anew else self._rng
        return (rng.integers(0, 2, (len(rows), 1)) * (rows[:, :1] == 7)).astype(np.uint8)


@pytest.mark.parametrize("anew", [False, True])
def test_a_random_decoder_is_seen_and_asked_for_every_row(anew: bool) -> None:
    """Seed 6. Of 4000 rows, 200 are tossed: that 19 batches and all repeats agree has probability < 2^-19."""
    rng = np.random.default_rng(6)
    coin = Coin(anew)
    found = DistinctRows(coin, row_bytes=2, result_bytes=1, max_bytes=1 << 20)
    for _ in range(20):
        rows = np.stack([rng.choice([7, 1, 2, 3], 200, p=[0.05, 0.5, 0.25, 0.2]), rng.integers(0, 2, 200)], 1)
        results = found.results(rows.astype(np.uint8))
    assert found.is_random
    statistics = found.statistics()
    parts = ("rows_found_in_store", "rows_equal_to_others", "rows_decoded")
    assert sum(statistics[name] for name in parts) == statistics["rows"]
    before = statistics["rows_decoded"]
    sevens = np.tile(np.array([[7, 0]], dtype=np.uint8), (400, 1))
    results = found.results(sevens)
    assert found.statistics()["rows_decoded"] == before + 400
    assert 120 < results.sum() < 280  # eight standard deviations


def test_a_decoder_that_is_not_random_is_not_called_so() -> None:
    """Seed 1; and the questions get fewer: a sixteenth of the repeated rows after the first 1000."""
    found = DistinctRows(Decoder(), row_bytes=7, result_bytes=2, max_bytes=1 << 20)
    for _ in range(10):
        for rows in batches(1, 7, 500):
            found.results(rows)
    assert not found.is_random
    assert 1000 < found.statistics()["rows_asked_again"] < 5000
