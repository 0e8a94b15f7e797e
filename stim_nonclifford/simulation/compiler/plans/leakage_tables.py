"""The scripts of leakage as tables of a plan.

The first change of a script that happens is an event. Such events exclude each other, as those at a site do,
so that qubits that do not leak cost nothing. A script whose qubit is more likely to leak than not is followed
in every shot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...plan import (
    LEAKAGE_CHANGE,
    LEAKAGE_END,
    LEAKAGE_FLIP,
    LEAKAGE_ITEM_DTYPE,
    LEAKAGE_MIX,
    SparseRows,
)
from ..algebra.gf2 import mask_of
from ..leakage.scripts import COMPUTATIONAL, LEAKED, LOST, Change, Flip, Mix, Script, ScriptItem

__all__ = ["LeakageTables", "leakage_tables"]

_MAX_EVENT = 0.5
"""A script that is entered with a larger probability is followed in every shot."""

_MAX_BASIS_ROWS = 512
"""Of more rows than this, those that are sums of others are not looked for."""

_MIX_ROWS = 64
_ALWAYS = (1 << 64) - 1
_ANY_STATE = 1 << COMPUTATIONAL | 1 << LEAKED | 1 << LOST


@dataclass(frozen=True)
class LeakageTables:
    """Tables of a plan; see ``SamplingPlan``.

    Attributes:
        items: ``leakage_items``.
        rows: ``leakage_rows``.
        entries: ``leakage_entries``.
        rates: float64: the rates of the mechanisms that are entries.
        sites: int32: their sites.
        always: ``leakage_always``.
    """

    items: npt.NDArray[np.void]
    rows: SparseRows
    entries: npt.NDArray[np.int32]
    rates: npt.NDArray[np.float64]
    sites: npt.NDArray[np.int32]
    always: npt.NDArray[np.int32]


def leakage_tables(scripts: Iterable[Script], rows: SparseRows, first_site: int) -> LeakageTables:
    """Writes the tables.

    Args:
        scripts: The scripts.
        rows: For each inserted bit of the scripts, the bits of the plan's row that it flips.
        first_site: The number of the first site.

    Returns:
        The tables.

    Examples:
        >>> script = [Change(1, LEAKED, 0.25), Mix((0, 1)), Change(1, LEAKED, 0.125), Mix((0,))]
        >>> tables = leakage_tables([script], SparseRows.of([[5], []]), first_site=3)
        >>> tables.entries.tolist(), tables.sites.tolist(), tables.rows.bits.tolist()
        ([0, 1], [3, 3], [5])
    """
    writer = _Writer()
    entries, rates, sites, always = [], [], [], []
    for script in scripts:
        kept = list(_without_sums(script, rows))
        while kept and isinstance(kept[-1], Change):
            kept.pop()  # it changes nothing any more
        if not kept:
            continue
        first = len(writer.items)
        found = list(_first_changes(kept))
        total = math.fsum(probability for _, probability in found)
        if total > _MAX_EVENT:
            always.append(first)
        else:
            for place, probability in found:
                entries.append(first + place)
                rates.append(-math.log1p(-total) * probability / total)
                sites.append(first_site)
            first_site += 1
        writer.add(kept)
    return LeakageTables(
        np.array(writer.items, dtype=LEAKAGE_ITEM_DTYPE),
        SparseRows.of(rows.row(bit).tolist() for bit in writer.bits),
        np.array(entries, dtype=np.int32),
        np.array(rates, dtype=np.float64),
        np.array(sites, dtype=np.int32),
        np.array(always, dtype=np.int32),
    )


def _first_changes(script: Script) -> Iterator[tuple[int, float]]:
    """The items that may be the first change of the qubit, and the probabilities that they are."""
    nothing = 1.0
    for place, item in enumerate(script):
        if isinstance(item, Change) and item.states >> COMPUTATIONAL & 1:
            yield place, nothing * item.probability
            nothing *= 1 - item.probability


def _without_sums(script: Script, rows: SparseRows) -> Iterator[ScriptItem]:
    """The script without bits that change nothing.

    A leaked qubit follows the script from some place on up to a change that may return it. So between two
    such changes, a row of a Mix is not needed that is a sum of rows of later ones.
    """
    result: list[ScriptItem] = []
    basis: dict[int, int] = {}  # of the rows after the place, up to the next return
    for item in reversed(script):
        if isinstance(item, Change):
            if item.to == COMPUTATIONAL:
                basis = {}
            result.append(item)
        elif isinstance(item, Flip):
            if len(rows.row(item.bit)):
                result.append(item)
        else:
            bits = tuple(bit for bit in item.bits if _is_new(rows.row(bit).tolist(), basis))
            if bits:
                result.append(Mix(bits))
    return reversed(result)


def _is_new(row: Sequence[int], basis: dict[int, int]) -> bool:
    """Whether a row is no sum of those of the basis, to which it is added then."""
    if not row or len(basis) > _MAX_BASIS_ROWS:
        return bool(row)
    rest = mask_of(row)
    while rest:
        reduced = basis.get(rest.bit_length())
        if reduced is None:
            basis[rest.bit_length()] = rest
            return True
        rest ^= reduced
    return False


class _Writer:
    def __init__(self) -> None:
        self.items: list[tuple[int, int, int, int, int, int]] = []
        self.bits: list[int] = []  # of each row that is written, its inserted bit

    def add(self, script: Script) -> None:
        for item in script:
            match item:
                case Change(states, to, probability):
                    self.items.append((_threshold(probability), LEAKAGE_CHANGE, states, to, 0, 0))
                case Flip(states, bit, probability):
                    self.write(_threshold(probability), LEAKAGE_FLIP, states, (bit,))
                case Mix(bits):
                    for k in range(0, len(bits), _MIX_ROWS):
                        self.write(_ALWAYS, LEAKAGE_MIX, 1 << LEAKED | 1 << LOST, bits[k : k + _MIX_ROWS])
        self.items.append((_ALWAYS, LEAKAGE_END, _ANY_STATE, 0, 0, 0))

    def write(self, threshold: int, kind: int, states: int, bits: Sequence[int]) -> None:
        first = len(self.bits)
        self.bits += bits
        self.items.append((threshold, kind, states, 0, first, len(self.bits)))


def _threshold(probability: float) -> int:
    """The largest 64-bit word with which something of this probability happens."""
    return min(max(round(probability * 2**64), 1), 1 << 64) - 1
