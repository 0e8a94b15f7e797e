"""Equal rows are decoded once, whatever their hash values, and within the store's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sinter_plugin import distinct_rows
from sinter_plugin.distinct_rows import DistinctRows


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
    assert statistics["rows_decoded"] == sum(decoder.calls)
    parts = ("rows_found_in_store", "rows_equal_to_others", "rows_decoded")
    assert sum(statistics[name] for name in parts) == total
    if max_bytes == 0:
        assert statistics["rows_decoded"] == total
    else:
        assert statistics["stored_rows"] <= max(2, max_bytes // (16 + 2))
    if max_bytes == 1 << 20:
        assert statistics["rows_decoded"] < 1200


def test_single_rows_are_stored_if_asked_for() -> None:
    rows = np.arange(200, dtype=np.uint8)[:, np.newaxis]
    for store_all, stored in ((False, 0), (True, 200)):
        decoder = Decoder()
        found = DistinctRows(decoder, row_bytes=1, result_bytes=2, max_bytes=1 << 24, store_all=store_all)
        for _ in range(2):
            np.testing.assert_array_equal(found.results(rows), Decoder()(rows))
        assert found.statistics()["stored_rows"] >= 0.9 * stored  # some have the same place
        assert sum(decoder.calls) <= 400 - 0.9 * stored


@pytest.mark.parametrize("value", [1, 2**63 + 1])
def test_equal_hash_values_do_no_harm(value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_equal(words: Any) -> Any:
        return np.full(len(words), value, dtype=np.uint64)

    monkeypatch.setattr(distinct_rows, "_hashes", all_equal)
    found = DistinctRows(Decoder(), row_bytes=9, result_bytes=2, max_bytes=1 << 20)
    for rows in batches(2, 9, 50):
        np.testing.assert_array_equal(found.results(rows), Decoder()(rows))
    assert found.statistics()["stored_rows"] == 1


def test_hash_values_differ() -> None:
    """Of rows with one or two bits, and the place in a store of 2^16 is spread well."""
    bits = np.eye(128, dtype=np.uint8)
    rows = np.concatenate(
        [np.zeros((1, 128), np.uint8), bits, *(bits[k] | bits[k + 1 :] for k in range(127))]
    )
    words = np.packbits(rows, axis=1, bitorder="little").view(np.uint64)
    hashes = distinct_rows._hashes(words)
    assert len(np.unique(hashes)) == len(rows)
    places = len(np.unique(hashes >> np.uint64(48)))
    expected = 2**16 * (1 - np.exp(-len(rows) / 2**16))
    assert places > 0.95 * expected


def test_what_does_not_pay_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are all different: a sixteenth of the batches is looked up, if the decoder takes no time."""
    monkeypatch.setattr(distinct_rows, "_COST_OF_FREQUENT_ROWS", 0)
    looked = []
    original = distinct_rows._hashes
    monkeypatch.setattr(distinct_rows, "_hashes", lambda words: (looked.append(1), original(words))[1])
    rng = np.random.default_rng(3)
    found = DistinctRows(Decoder(), row_bytes=16, result_bytes=2, max_bytes=1 << 20)
    for _ in range(64):
        rows = rng.integers(0, 256, (2000, 16), dtype=np.uint8)
        np.testing.assert_array_equal(found.results(rows), Decoder()(rows))
    assert len(looked) == 4
    monkeypatch.setattr(distinct_rows, "_COST_OF_FREQUENT_ROWS", 1e9)
    slow = DistinctRows(Decoder(), row_bytes=16, result_bytes=2, max_bytes=1 << 20)
    rows[:10] = rows[0]
    for _ in range(64):
        slow.results(rows)
    assert len(looked) == 68
