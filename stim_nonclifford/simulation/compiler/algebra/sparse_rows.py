"""Matrices over GF(2) as sparse rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...._native import image_of_rows
from ...._native import independent_rows as native_independent_rows
from ...plan import SparseRows


def single_bits(bits: Sequence[int]) -> SparseRows:
    """Rows with one bit each."""
    return SparseRows(np.arange(len(bits) + 1, dtype=np.int64), np.array(bits, dtype=np.int32))


def odd_sums(rows: SparseRows, sums: SparseRows, num_bits: int) -> SparseRows:
    """For each row, the numbers of the sums of bits that are odd, ascending."""
    images = transposed(sums, num_bits)
    return SparseRows(*image_of_rows(rows.starts, rows.bits, images.starts, images.bits))


def transposed(rows: SparseRows, num_columns: int) -> SparseRows:
    """The transposed matrix: for each column, the rows that have a one in it, ascending."""
    starts = np.zeros(num_columns + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows.bits, minlength=num_columns), out=starts[1:])
    return SparseRows(starts, numbers_of_rows(rows)[np.argsort(rows.bits, kind="stable")])


def independent_rows(rows: SparseRows) -> SparseRows:
    """The rows that are not sums of earlier rows, in their order."""
    chosen = np.zeros(len(rows), dtype=np.bool_)
    chosen[native_independent_rows(rows.starts, rows.bits)] = True
    lengths = np.diff(rows.starts)
    starts = np.concatenate([[0], np.cumsum(lengths[chosen])])
    return SparseRows(starts, rows.bits[rows.starts[0] : rows.starts[-1]][np.repeat(chosen, lengths)])


def taken(rows: SparseRows, numbers: Sequence[int] | npt.NDArray[np.intp]) -> SparseRows:
    """The rows with these numbers, in this order.

    Examples:
        >>> rows = taken(SparseRows.of([[0, 3], [], [2]]), [2, 0])
        >>> rows.row(0).tolist(), rows.row(1).tolist()
        ([2], [0, 3])
    """
    firsts = rows.starts[:-1][numbers]
    lengths = rows.starts[1:][numbers] - firsts
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], lengths)
    return SparseRows(starts, rows.bits[places])


def numbers_of_rows(rows: SparseRows) -> npt.NDArray[np.int32]:
    """For each of the bits, the number of its row."""
    return np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.starts))


def cut(rows: SparseRows, num_bits: int) -> tuple[SparseRows, SparseRows]:
    """The first bits of each row, and the others, which are numbered from 0 on.

    Examples:
        >>> first, others = cut(SparseRows.of([[0, 3], [2]]), 2)
        >>> first.bits.tolist(), others.bits.tolist()
        ([0], [1, 0])
    """

    def part(chosen: npt.NDArray[np.bool_], shift: int) -> SparseRows:
        counts = np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])
        bits = rows.bits[rows.starts[0] : rows.starts[-1]][chosen] - np.int32(shift)
        return SparseRows(counts[rows.starts - rows.starts[0]], bits)

    is_first = rows.bits[rows.starts[0] : rows.starts[-1]] < num_bits
    return part(is_first, 0), part(~is_first, num_bits)


def joined(first: SparseRows, second: SparseRows) -> SparseRows:
    """The rows of both matrices, one after the other."""
    starts = np.concatenate([first.starts, second.starts[1:] + first.starts[-1]])
    return SparseRows(starts, np.concatenate([first.bits, second.bits]))
