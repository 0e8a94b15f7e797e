"""The scripts of leakage as tables of a plan.

The first change of a script that happens is an event. Such events exclude each other, as those at a site do,
so that qubits that do not leak cost nothing. A script whose qubit is more likely to leak than not is followed
in every shot.
"""

from __future__ import annotations

import functools
import math
import operator
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
    LEAKAGE_MOVE,
    LEAKAGE_SPREAD,
    SparseRows,
)
from ..algebra.gf2 import mask_of, ones
from ..leakage import COMPUTATIONAL, LEAKED, LOST, Change, Choice, Flip, Script, Spread

_MAX_EVENT = 0.5
"""A script that is entered with a larger probability is followed in every shot."""

_MAX_REDUCED_ROWS = 512
"""Only so many later rows are added to a row."""

_MAX_FLIPS = 4
_MAX_FINAL_CHECKS = 64
_ALWAYS = (1 << 64) - 1
_GONE = 1 << LEAKED | 1 << LOST
_ANY_STATE = 1 << COMPUTATIONAL | _GONE


@dataclass(frozen=True)
class LeakageTables:
    """Tables of a plan; see ``SamplingPlan``."""

    items: npt.NDArray[np.void]  # ``leakage_items``
    rows: SparseRows  # ``leakage_rows``
    final_checks: npt.NDArray[np.int32]  # ``leakage_final_checks``
    entries: npt.NDArray[np.int32]  # ``leakage_entries``
    rates: npt.NDArray[np.float64]  # the rates of the mechanisms that are entries
    sites: npt.NDArray[np.int32]  # their sites
    always: npt.NDArray[np.int32]  # ``leakage_always``


def leakage_tables(
    scripts: Iterable[Script], rows: SparseRows, num_checks: int, first_site: int
) -> LeakageTables:
    """Writes the tables; ``rows`` has the bits of the plan's row that each inserted bit of the scripts flips.

    The first ``num_checks`` bits of a row are noise-only checks.
    """
    writer = _Writer(rows, num_checks)
    entries: list[int] = []
    rates: list[float] = []
    sites: list[int] = []
    always: list[int] = []
    for script in scripts:
        kept = _reduced(script, rows)
        while kept and isinstance(kept[-1], (Change, Spread)):
            kept.pop()  # it changes nothing any more
        found = list(_first_changes(kept))
        total = math.fsum(probability for _, probability in found)
        if total > _MAX_EVENT:
            always.append(writer.add(kept)[0])
        elif found:
            items = writer.add_tails(kept) if _is_simple(kept) else writer.add(kept)
            events: dict[int, float] = {}  # by entry: several changes may be equal from there on
            for place, probability in found:
                events[items[place]] = events.get(items[place], 0.0) + probability
            entries += events
            rates += [-math.log1p(-total) * probability / total for probability in events.values()]
            sites += [first_site] * len(events)
            first_site += 1
    return LeakageTables(
        np.array(writer.items, dtype=LEAKAGE_ITEM_DTYPE),
        SparseRows.of(map(ones, writer.rows)),
        np.array([writer.final_checks.get(row, -1) for row in range(len(writer.rows))], dtype=np.int32),
        np.array(entries, dtype=np.int32),
        np.array(rates, dtype=np.float64),
        np.array(sites, dtype=np.int32),
        np.array(always, dtype=np.int32),
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows that a qubit that is not computational flips with probability 1/2 each, as masks."""

    masks: tuple[int, ...]
    qubit: int


_Item = Change | Spread | Flip | Choice | _Rows


def _reduced(script: Script, rows: SparseRows) -> list[_Item]:
    """The script with rows in place of bits, and without those that change nothing.

    A leaked qubit follows the script from some place on up to a change that may return it. So between two
    such changes, later rows may be added to a row. A row that vanishes is left out. Then the first bit of
    each row is in no earlier row. Once its row and all later ones are known, it is final. If it is a check,
    it is a fair coin, whether the shot is discarded or not, and an engine can toss it first.
    """
    result: list[_Item] = []
    # By qubit, its rows after the place, the last one first: its first bit, and the row.
    rows_after: dict[int, list[tuple[int, int]]] = {}
    for item in reversed(script):
        if isinstance(item, Change):
            if item.to == COMPUTATIONAL:
                rows_after.pop(item.qubit, None)
            result.append(item)
        elif isinstance(item, Spread):
            if item.moves:
                rows_after.pop(item.qubit, None)
            result.append(item)
        elif isinstance(item, Flip):
            if len(rows.row(item.bit)):
                result.append(item)
        elif isinstance(item, Choice):
            result.append(item)
        else:
            masks = []
            later = rows_after.setdefault(item.qubit, [])
            for bit in reversed(item.bits):
                mask = mask_of(rows.row(bit).tolist())
                for first, row in later:
                    if mask & first:
                        mask ^= row
                if mask:
                    masks.append(mask)
                    if len(later) < _MAX_REDUCED_ROWS:
                        later.append((mask & -mask, mask))
            if masks:
                result.append(_Rows(tuple(reversed(masks)), item.qubit))
    return result[::-1]


def _first_changes(script: Sequence[_Item]) -> Iterator[tuple[int, float]]:
    """The items that may be the first change of the qubit, and the probabilities that they are."""
    nothing = 1.0
    for place, item in enumerate(script):
        if isinstance(item, Change) and item.states >> COMPUTATIONAL & 1:
            yield place, nothing * item.probability
            nothing *= 1 - item.probability


def _is_simple(script: Sequence[_Item]) -> bool:
    """Whether a qubit that is not computational stays in its state, and flips few bits of heralds."""
    ends = {item.to for item in script if isinstance(item, Change)}
    num_flips = sum(isinstance(item, Flip) for item in script)
    is_alone = len({item.qubit for item in script}) == 1
    has_choices = any(isinstance(item, Choice) for item in script)
    is_steady = len(ends) == 1 and COMPUTATIONAL not in ends
    return is_alone and is_steady and not has_choices and num_flips <= _MAX_FLIPS


class _Writer:
    def __init__(self, flips: SparseRows, num_checks: int) -> None:
        self.flips = flips
        self.num_checks = num_checks
        self.final_checks: dict[int, int] = {}  # by row
        self.items: list[tuple[int, int, int, int, int, int, int, int]] = []
        self.rows: list[int] = []

    def add(self, script: Sequence[_Item]) -> list[int]:
        """Adds a script, and returns the numbers of its items."""
        numbers = []
        for item in script:
            numbers.append(len(self.items))
            if isinstance(item, _Rows):
                self.mix(self.add_rows(item.masks), item.qubit)
            elif isinstance(item, Choice):
                self.add_choice(item)
            else:
                self.add_item(item)
        self.end()
        return numbers

    def add_choice(self, choice: Choice) -> None:
        """Adds flips, of which one that happens skips all later ones."""
        found: dict[int, float] = {}  # by row
        for bits, probability in zip(choice.sets, choice.probabilities, strict=True):
            row = functools.reduce(operator.xor, (mask_of(self.flips.row(bit).tolist()) for bit in bits))
            if row and probability > 0:
                found[row] = found.get(row, 0.0) + probability
        nothing = 1.0
        for k, (row, probability) in enumerate(found.items()):
            (number,) = self.add_rows([row])
            skipped = len(found) - 1 - k
            threshold = _threshold(probability / nothing if nothing > probability else 1.0)
            self.items.append((threshold, LEAKAGE_FLIP, _GONE, skipped, number, number + 1, choice.qubit, 0))
            nothing -= probability

    def add_tails(self, script: Sequence[_Item]) -> dict[int, int]:
        """Adds a simple script for each of its changes, from there on, with rows that they share."""
        firsts = [len(self.rows)]
        for item in script:
            firsts.append(firsts[-1] + (len(self.add_rows(item.masks)) if isinstance(item, _Rows) else 0))
        numbers: dict[int, int] = {}
        known: dict[tuple[int, int], int] = {}
        for place, item in enumerate(script):
            if isinstance(item, Change):
                flips = [other for other in script[place:] if isinstance(other, Flip)]
                tail = firsts[place], len(flips)
                if tail not in known:
                    known[tail] = len(self.items)
                    self.add_item(item)
                    for flip in flips:
                        self.add_item(flip)
                    self.mix(range(firsts[place], firsts[-1]), item.qubit)
                    self.end()
                numbers[place] = known[tail]
        return numbers

    def add_rows(self, masks: Sequence[int]) -> range:
        self.rows += masks
        return range(len(self.rows) - len(masks), len(self.rows))

    def add_item(self, item: Change | Spread | Flip) -> None:
        threshold = _threshold(item.probability)
        if isinstance(item, Change):
            self.items.append((threshold, LEAKAGE_CHANGE, item.states, item.to, 0, 0, item.qubit, 0))
        elif isinstance(item, Spread):
            kind = LEAKAGE_MOVE if item.moves else LEAKAGE_SPREAD
            self.items.append((threshold, kind, 1 << LEAKED, 0, 0, 0, item.qubit, item.partner))
        else:
            (row,) = self.add_rows([mask_of(self.flips.row(item.bit).tolist())])
            self.items.append((threshold, LEAKAGE_FLIP, item.states, 0, row, row + 1, item.qubit, 0))

    def mix(self, rows: range, qubit: int) -> None:
        if rows:
            if rows[-1] not in self.final_checks:  # later items that share rows have a part of them
                self.final_checks |= self.final_checks_of(rows)
            self.items.append((_ALWAYS, LEAKAGE_MIX, _GONE, 0, rows.start, rows.stop, qubit, 0))

    def final_checks_of(self, rows: range) -> dict[int, int]:
        """For rows from the last one to the first, a check that is in no earlier one, or -1."""
        final = dict.fromkeys(rows, -1)
        row_of: dict[int, int] = {}
        for row in reversed(rows):
            mask = self.rows[row]
            for check in [check for check in row_of if mask >> check & 1]:
                final[row_of.pop(check)] = -1
            first = (mask & -mask).bit_length() - 1
            if first < self.num_checks and len(row_of) < _MAX_FINAL_CHECKS:
                final[row] = first
                row_of[first] = row
        return final

    def end(self) -> None:
        self.items.append((_ALWAYS, LEAKAGE_END, _ANY_STATE, 0, 0, 0, 0, 0))


def _threshold(probability: float) -> int:
    """The largest 64-bit word with which something of this probability happens."""
    return min(max(round(probability * 2**64), 1), 1 << 64) - 1
