"""Cores of failing fault sets: what is left without the faults that do not matter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..decoded_rates.faults.mechanisms import FaultModel, Floats, Words

__all__ = ["Core", "cores_of", "rows_of"]

Indices = npt.NDArray[np.intp]
Core = tuple[int, ...]


def cores_of(
    model: FaultModel,
    members: Indices,
    numbers: Words,
    log_odds: Floats,
    fails: Callable[[Words, Indices], npt.NDArray[np.bool_]],
) -> tuple[list[Core], Indices]:
    """The sets without the members that can be left out, the least probable first.

    A member that could not be left out is tried again after others are gone. Coins, which are no faults, stay
    as they are, and belong to no core.

    Args:
        model: The mechanisms.
        members: intp, shape (sets, room): the members of failing sets, -1 for none.
        numbers: uint64, shape (sets,): what fixes their quantum outcomes, which it goes on doing.
        log_odds: ln of the odds of each mechanism.
        fails: Whether rows still fail, given the indices of the sets that they come from.

    Returns:
        The core of each set, ascending; and intp, shape (sets, room), the same sets with their coins, -1 for
        none.
    """
    odds = np.append(log_odds, np.inf)
    order = np.argsort(odds[members], axis=1, kind="stable")
    members = np.take_along_axis(members, order, axis=1)
    is_coin = np.append(log_odds == 0, False)
    changed = np.ones(len(members), dtype=np.bool_)
    while changed.any():
        active = np.flatnonzero(changed)
        changed[:] = False
        for place in range(members.shape[1]):
            tried = members[active, place]
            there = active[(tried >= 0) & ~is_coin[tried]]
            if not len(there):
                continue
            without = members[there].copy()
            without[:, place] = -1
            is_failing = fails(rows_of(model, without, numbers[there]), there)
            members[there[is_failing], place] = -1
            changed[there[is_failing]] = True
    cores = [tuple(sorted(int(k) for k in row if k >= 0 and not is_coin[k])) for row in members]
    return cores, members


def rows_of(model: FaultModel, members: Indices, numbers: Words) -> Words:
    """The rows of sets.

    Args:
        model: The mechanisms.
        members: intp, shape (sets, room): the members, -1 for none.
        numbers: uint64, shape (sets,): what fixes their quantum outcomes.
    """
    nothing = np.zeros((1, model.flips.shape[1]), dtype=np.uint64)
    flips = np.concatenate([model.flips, nothing])
    rows = np.asarray(np.bitwise_xor.reduce(flips[members], axis=1) ^ model.base)
    return model.with_outcomes(rows, numbers)
