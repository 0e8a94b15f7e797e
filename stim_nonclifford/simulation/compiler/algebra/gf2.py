"""Linear algebra over GF(2) with rows as Python ints."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_

import numpy as np

from ...plan import SparseRows

_MANY = 32
"""With more set bits than this, unpacking all bits with NumPy is faster than a loop over the set bits."""


def ones(mask: int) -> list[int]:
    """The positions of the set bits, ascending."""
    if mask.bit_count() > _MANY:
        packed = np.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), dtype=np.uint8)
        return np.flatnonzero(np.unpackbits(packed, bitorder="little")).tolist()
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def mask_of(positions: Collection[int]) -> int:
    """The mask with these bits set."""
    if len(positions) <= _MANY:
        # A shift by one of NumPy's integers would overflow at 63.
        return sum(1 << int(position) for position in positions)
    chosen = np.fromiter(positions, dtype=np.int64)
    bits = np.zeros(int(chosen.max()) + 1, dtype=np.uint8)
    bits[chosen] = 1
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def masks_of(rows: SparseRows) -> list[int]:
    """The masks of rows of bits."""
    starts, bits = rows.starts.tolist(), rows.bits.tolist()
    return [mask_of(bits[begin:end]) for begin, end in itertools.pairwise(starts)]


def independent(rows: Iterable[int], enough: int | None = None) -> list[int]:
    """The rows that are not sums of earlier rows; the search ends after `enough` of them."""
    basis: dict[int, int] = {}
    kept: list[int] = []
    for row in rows:
        if len(kept) == enough:
            break
        reduced = row
        while reduced:
            known = basis.get(reduced.bit_length())
            if known is None:
                basis[reduced.bit_length()] = reduced
                kept.append(row)
                break
            reduced ^= known
    return kept


def relations(rows: Sequence[int]) -> tuple[list[int], dict[int, int]]:
    """Finds independent rows, and writes the other rows as sums of them.

    These are a dictionary: a mask over *row indices*, of the independent rows whose sum a row is, by the
    index of the row.
    """
    basis: dict[int, tuple[int, int]] = {}  # leading bit -> (reduced row, mask of the rows whose sum it is)
    kept: list[int] = []
    dependent: dict[int, int] = {}
    for k, row in enumerate(rows):
        if not row:
            dependent[k] = 0
            continue
        sources = 1 << k
        while row:
            known = basis.get(row.bit_length())
            if known is None:
                basis[row.bit_length()] = (row, sources)
                kept.append(k)
                break
            row ^= known[0]
            sources ^= known[1]
        else:
            dependent[k] = sources ^ (1 << k)
    return kept, dependent


def parities(rows: Sequence[int], sums: Iterable[Iterable[int]]) -> list[int]:
    """For each row, an int whose bit k is the parity of the row's bits at the positions ``sums[k]``."""
    # Positions at which all rows are 0 are skipped, as often most of them are.
    occurring = set(ones(reduce(or_, rows, 0)))
    sums_with: dict[int, list[int]] = {}
    for k, positions in enumerate(sums):
        for position in positions:
            if position in occurring:
                sums_with.setdefault(position, []).append(k)
    image = {position: mask_of(found) for position, found in sums_with.items()}
    found = []
    for row in rows:
        parity = 0
        for bit in ones(row):
            parity ^= image.get(bit, 0)
        found.append(parity)
    return found
