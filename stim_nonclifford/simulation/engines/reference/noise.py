"""The noise of a shot, exactly as ``plan`` defines it: events, coins and leakage, and what they flip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from ...plan import (
    BLOCK_SHOTS,
    LEAKAGE_CHANGE,
    LEAKAGE_END,
    LEAKAGE_FLIP,
    LEAKAGE_MIX,
    LEAKAGE_MOVE,
    LEAKAGE_SPREAD,
    SamplingPlan,
)
from ..random_streams import LeakageDraws, Stream, words

__all__ = ["Bits", "acting_mechanisms", "noise_of_shots"]

Bits = npt.NDArray[np.bool_]


def noise_of_shots(
    plan: SamplingPlan, seed: int, first_shot: int, num_shots: int
) -> Iterator[tuple[list[int], Bits]]:
    """The noise of the shots first_shot, ..., first_shot + num_shots - 1.

    Args:
        plan: The plan.
        seed: 0 <= seed < 2^64.
        first_shot: Number of the first shot.
        num_shots: How many shots there are.

    Yields:
        The mechanisms of the events in a shot; and the row of bits that they, the coins and leakage flip,
        with the constant of the plan: bool, shape (num_row_bits,).
    """
    words_per_shot = -(-len(plan.coins) // 64)
    for block in range(first_shot // BLOCK_SHOTS, -(-(first_shot + num_shots) // BLOCK_SHOTS)):
        count_words = words(seed, Stream.COUNTS, block, BLOCK_SHOTS)
        counts = np.searchsorted(plan.count_thresholds, count_words, side="right")
        event_words = words(seed, Stream.EVENTS, block, int(counts.sum()))
        coin_words = words(seed, Stream.COINS, block, BLOCK_SHOTS * words_per_shot)
        ends = np.cumsum(counts)
        for k in range(BLOCK_SHOTS):
            shot = block * BLOCK_SHOTS + k
            if not first_shot <= shot < first_shot + num_shots:
                continue
            mechanisms = [_mechanism(plan, int(w)) for w in event_words[ends[k] - counts[k] : ends[k]]]
            row = _noise_row(plan, mechanisms)
            for f in range(len(plan.coins)):
                if int(coin_words[k * words_per_shot + f // 64]) >> (f % 64) & 1:
                    row[plan.coins.row(f)] ^= True
            if plan.has_leakage:
                _leak(plan, mechanisms, row, LeakageDraws(seed, shot))
            yield mechanisms, row


def acting_mechanisms(plan: SamplingPlan, events: Iterable[int]) -> list[int]:
    """The mechanisms that act in a shot: two events of one cancel; of a site only the first event counts."""
    acting: dict[int, None] = {}
    used_sites = set()
    for mechanism in events:
        site = int(plan.sites[mechanism])
        if site >= 0:
            if site in used_sites:
                continue
            used_sites.add(site)
        if mechanism in acting:
            del acting[mechanism]
        else:
            acting[mechanism] = None
    return list(acting)


def _mechanism(plan: SamplingPlan, word: int) -> int:
    product = word * plan.num_mechanisms
    cell, fraction = product >> 64, product & (1 << 64) - 1
    return cell if fraction < int(plan.alias_thresholds[cell]) else int(plan.alias_indices[cell])


def _noise_row(plan: SamplingPlan, mechanisms: list[int]) -> Bits:
    row = np.zeros(plan.num_row_bits, dtype=np.bool_)
    row[plan.constant] = True
    for mechanism in acting_mechanisms(plan, mechanisms):
        row[plan.effects.row(mechanism)] ^= True
    return row


def _leak(plan: SamplingPlan, mechanisms: list[int], row: Bits, draws: LeakageDraws) -> None:
    """What a shot with these events flips in its row by leakage."""
    for first in plan.leakage_always:
        _follow_script(plan, int(first), {}, row, draws)
    first_mechanism = plan.num_mechanisms - len(plan.leakage_entries)
    acting = acting_mechanisms(plan, mechanisms) if len(plan.leakage_entries) else []
    changes = [int(plan.leakage_entries[m - first_mechanism]) for m in acting if m >= first_mechanism]
    for k in [*range(1, len(changes)), *range(len(changes))[:1]]:  # the first one after all others
        change = changes[k]
        item = plan.leakage_items[change]
        decided = draws.deciding_bits() if k == 0 and _is_decided(plan, change) else None
        _follow_script(plan, change + 1, {int(item["qubit"]): int(item["to"])}, row, draws, decided)


def _is_decided(plan: SamplingPlan, change: int) -> bool:
    """Whether the final checks of the last item after a change are decided by one word."""
    place = change + 1
    while plan.leakage_items[place]["kind"] == LEAKAGE_FLIP:
        place += 1
    before, last = plan.leakage_items[change], plan.leakage_items[place]
    if last["kind"] != LEAKAGE_MIX or plan.leakage_items[place + 1]["kind"] != LEAKAGE_END:
        return False
    return bool(last["qubit"] == before["qubit"] and int(last["states"]) >> int(before["to"]) & 1)


def _follow_script(
    plan: SamplingPlan,
    place: int,
    states: dict[int, int],
    row: Bits,
    draws: LeakageDraws,
    decided: list[bool] | None = None,
) -> None:
    """What is flipped by a script from an item on, with these states of its qubits; the others are 0."""
    while (item := plan.leakage_items[place])["kind"] != LEAKAGE_END:
        place += 1
        qubit, partner = int(item["qubit"]), int(item["partner"])
        state = states.get(qubit, 0)
        if not int(item["states"]) >> state & 1:
            continue
        rows = range(item["first_row"], item["end_row"])
        if item["kind"] == LEAKAGE_MIX:
            values = iter(decided or ())
            for k in range(0, len(rows), 64):
                some = rows[::-1][k : k + 64]
                for number, bit in zip(some, draws.bits(len(some)), strict=True):
                    check = int(plan.leakage_final_checks[number])
                    flips = bit if decided is None or check < 0 else bool(row[check]) != next(values)
                    if flips:
                        row[plan.leakage_rows.row(number)] ^= True
        elif item["kind"] in (LEAKAGE_SPREAD, LEAKAGE_MOVE):
            if not states.get(partner, 0) and draws.happens(int(item["threshold"])):
                states[partner] = state
                states[qubit] = 0 if item["kind"] == LEAKAGE_MOVE else state
        elif draws.happens(int(item["threshold"])):
            states[qubit] = int(item["to"]) if item["kind"] == LEAKAGE_CHANGE else state
            for number in rows:
                row[plan.leakage_rows.row(number)] ^= True
            place += int(item["to"]) if item["kind"] == LEAKAGE_FLIP else 0
