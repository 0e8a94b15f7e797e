"""Sets up levels of the signed gap, from all shots to those that are wrong with the largest gap.

Chains that are confined to wrong shots hardly ever get from one kind of failure to another. So the first
level has all shots, in which a move may draw anything anew, and the next ones those that are less and less
surely right. What is exchanged between levels makes the way from one kind of failure to another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....base.errors import ResourceLimitError
from ..answers.decoding import FailureTest
from ..chains.chains import ChainStates, Level, Moves, signed_gaps
from ..chains.descent import allowed_in_both, settle
from ..chains.ladder import Ladder
from ..faults.mechanisms import FaultModel, Floats

__all__ = ["ladder_of_gaps"]

_PASSING = 0.35
"""The part of the states of a level that are in the next one."""

_MOST_LEVELS = 48
_FEWEST_ABOVE = 4
_COPIES = 0.75
"""The part of the columns that may begin a level with the state of another one."""

_SWEEPS_BETWEEN, _LEVELS_BETWEEN = 16, 6
"""Sweeps of the last levels before the next one is added, so that states are not what they began with."""


def ladder_of_gaps(
    model: FaultModel,
    test: FailureTest,
    starts: ChainStates,
    log_odds: Floats,
    rng: np.random.Generator,
    check: Callable[[], None],
) -> Ladder | None:
    """A ladder whose levels have larger and larger least signed gaps.

    Args:
        model: The mechanisms.
        test: The decoder.
        starts: Plain shots, one for each column.
        log_odds: ln of the odds of the mechanisms.
        rng: What the moves are drawn with.
        check: Is called between moves; may raise to end the work.

    Returns:
        The ladder; None if nearly all shots have the same gap, so that there is no second level.
    """
    columns = np.arange(len(starts.sizes))
    levels = [Level(log_odds, 0, share=0.5, least_gap=None, signed=True)]
    states, founders = [starts.taken(columns)], [columns]
    while len(levels) < _MOST_LEVELS:
        here = states[-1]
        seen = np.sort(signed_gaps(*test.answers(here.rows)))
        least = levels[-1].least_gap
        above = seen[seen > (seen[0] if least is None else least)]
        if len(above) < _FEWEST_ABOVE:
            break
        following = max(int(seen[int((1 - _PASSING) * len(seen))]), int(above[0]))
        level = Level(log_odds, 0, share=levels[-1].share, least_gap=following, signed=True)
        try:
            found, taken = allowed_in_both(model, [test], levels[-1], level, here, rng, check, _COPIES)
        except ResourceLimitError:
            break
        level.share = settle(Moves(model, [test], [level]), found, rng, check)
        levels, states, founders = [*levels, level], [*states, found], [*founders, founders[-1][taken]]
        first = max(0, len(levels) - _LEVELS_BETWEEN)
        ladder = Ladder(model, [test], levels[first:], [0], states[first:], False, founders[first:])
        ladder.run(_SWEEPS_BETWEEN, rng, check)
        states[first:], founders[first:] = ladder.states(), ladder.founders(founders[first])
    if len(levels) < 2:
        return None
    return Ladder(model, [test], levels, [0], states, jumps=False, founders=founders)
