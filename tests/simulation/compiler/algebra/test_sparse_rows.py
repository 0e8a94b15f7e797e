"""Sparse rows over GF(2), against dense matrices and dictionaries."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stim_nonclifford import _native
from stim_nonclifford.simulation.compiler.algebra.sparse_rows import (
    independent_rows,
    joined,
    odd_sums,
    transposed,
)
from stim_nonclifford.simulation.plan import SparseRows

from ....support.laws.exact import mask_of, rank


def rows_of(matrix: npt.NDArray[np.bool_]) -> SparseRows:
    return SparseRows.of([np.flatnonzero(row).tolist() for row in matrix])


def matrices(seed: int) -> Iterator[tuple[np.random.Generator, npt.NDArray[np.bool_]]]:
    """200 matrices with up to 40 rows and columns, from empty to half full."""
    rng = np.random.default_rng(seed)
    for _ in range(200):
        shape = rng.integers(0, 41, size=2)
        yield rng, rng.random(shape) < rng.uniform(0, 0.5)


def assert_equal(rows: SparseRows, matrix: npt.NDArray[np.bool_]) -> None:
    np.testing.assert_array_equal(rows.dense(matrix.shape[1]), matrix)
    for k in range(len(rows)):
        assert (np.diff(rows.row(k)) > 0).all()
    assert rows.starts.dtype == np.int64
    assert rows.bits.dtype == np.int32


def test_transposed() -> None:
    for _, matrix in matrices(seed=1):
        assert_equal(transposed(rows_of(matrix), matrix.shape[1]), matrix.T)


def test_odd_sums_are_a_product_of_matrices() -> None:
    for rng, matrix in matrices(seed=2):
        sums = rng.random((int(rng.integers(12)), matrix.shape[1])) < 0.4
        found = odd_sums(rows_of(matrix), rows_of(sums), matrix.shape[1])
        assert_equal(found, (matrix.astype(int) @ sums.T.astype(int) % 2).astype(np.bool_))


def test_joined() -> None:
    for rng, matrix in matrices(seed=3):
        other = rng.random((int(rng.integers(9)), matrix.shape[1])) < 0.3
        assert_equal(joined(rows_of(matrix), rows_of(other)), np.concatenate([matrix, other]))


def test_independent_rows() -> None:
    """The rows that raise the rank over GF(2), also if the rows are the last ones of a longer list."""
    for rng, matrix in matrices(seed=5):
        rows = rows_of(matrix)
        left_out = int(rng.integers(len(matrix) + 1))
        for first in (0, left_out):
            chosen: list[int] = []
            for k in range(first, len(matrix)):
                if rank(map(mask_of, matrix[[*chosen, k]])) > len(chosen):
                    chosen.append(k)
            assert_equal(independent_rows(SparseRows(rows.starts[first:], rows.bits)), matrix[chosen])


def test_sums_by_row() -> None:
    """Rows keep the order in which they came first; the sums are those of a dictionary, in the same order."""
    rng = np.random.default_rng(4)
    for size in (0, 1, 50, 5000):
        # Few bits, so that most rows come several times, and many bits, so that the table grows.
        for num_bits in (3, 14):
            matrix = rng.random((size, num_bits)) < 0.4
            amounts = rng.random(size)
            rows = rows_of(matrix)
            expected: dict[tuple[int, ...], float] = {}
            for k, amount in enumerate(amounts.tolist()):
                row = tuple(rows.row(k).tolist())
                if row:
                    expected[row] = expected.get(row, 0.0) + amount
            starts, bits, sums = _native.sums_by_row(rows.starts, rows.bits, amounts)
            found = SparseRows(starts, bits)
            assert [tuple(found.row(k).tolist()) for k in range(len(found))] == list(expected)
            assert sums.tolist() == list(expected.values())
