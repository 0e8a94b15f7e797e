"""Right and wrong arguments of what the native module has for chains of fault sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from stim_nonclifford import _native

from .native_instances import GRAPH, WRONG_GRAPH, WRONG_THREADS, Case, Only, floats, long, words

__all__ = ["CHAIN_CASES", "CHAIN_INSTANCES"]

_MEMBERS = long(0, 1, 1, -1)
"""Of two chains with room for two members, among two mechanisms."""


def moves() -> _native.ChainMoves:
    return _native.ChainMoves(2, floats(-1.0, -2.0), long(0, 1, 2), long(1, 0))


def table() -> _native.AnswerTable:
    found = _native.AnswerTable(1, 1, 4)
    found.use_matching(*GRAPH, words(1), 9, 1 << 20)
    return found


_WALK: dict[str, Any] = {
    "moves": moves(),
    "flips": words(1, 0, 5, 6, 2, 0, 7, 8),
    "row_words": 4,
    "tables": [table()],
    "table_of_level": long(0),
    "least_gaps": long(0),
    "is_signed": long(0),
    "kinds": long(0, 1),
    "seeds": words(7, 8),
    "members": _MEMBERS,
    "room": 2,
    "rows": words(3, 0, 2, 14, 2, 0, 7, 8),
    "level_of": long(0, 0),
    "further_level_of": long(-1, 0),
    "listing": 1,
}


def walk() -> _native.ChainWalk:
    return _native.ChainWalk(**_WALK)


def waiting_walk() -> _native.ChainWalk:
    """One with a table that knows nothing."""
    of_all = {"tables": [_native.AnswerTable(1, 1, 4)], "further_level_of": long(0, 0)}
    found = _native.ChainWalk(**{**_WALK, **of_all})
    assert len(found.run(1)[1]) == 2
    return found


_OTHER_TABLES = [table(), _native.AnswerTable(1, 2, 4)]
_ROOMS: dict[str, list[Any]] = {
    "members": [long(0, 2, 1, -1), long(0, -2, 1, -1)],
    "room": [0, 3, 1],
    "level_of": [long(0, 1), long(0, -1)],
}
_LOG_ODDS = [floats(-1.0), floats(-1.0, np.nan), floats(-1.0, np.inf), floats(-1.0, 0.0, 1.0), None]

CHAIN_CASES = (
    Case(
        "ChainWalk.__init__",
        _WALK.values(),
        moves=[1, table()],
        flips=[words(1, 0, 5, 6)],
        row_words=[0, 3, 5, 8, 2**16 + 1],
        tables=[[], [None], [moves()], [_native.AnswerTable(2, 1, 4)], _OTHER_TABLES],
        table_of_level=[long(1), long(-1)],
        kinds=[long(0, 2), long(0, -1)],
        **_ROOMS,
        further_level_of=[long(0, 1), long(0, -2)],
    ),
    Case("ChainWalk.run", [1], threads=WRONG_THREADS),
    Case("ChainWalk.answer", [words(1, 0), long(0, 0)], predictions=[words(1)], gaps=[long(0)]),
    Case(
        "AnswerTable.__init__",
        [1, 1, 4],
        event_words=[0, 2**14 + 1],
        observable_words=[0, 2**14 + 1],
        size_bits=[25],
    ),
    Case("AnswerTable.put", [words(1, 0, 5, 6), 4, words(1), long(7)], row_words=[0, 3, 5]),
    Case(
        "AnswerTable.use_matching",
        [*GRAPH, words(1), 9, 1 << 20],
        **{**WRONG_GRAPH, "num_nodes": [0, 2, 66, 2**20 + 1]},
        added=[words(4)],
    ),
    Case(
        "look_up",
        [[table()], words(1, 0, 5, 6), 4, long(0)],
        tables=[[], [None], [_native.AnswerTable(1, 2, 4)], _OTHER_TABLES],
        rows=[words(4, 0, 5, 6)],
        row_words=[0, 3, 5],
        table_of=[long(1), long(-1)],
    ),
    Case(
        "ChainMoves.__init__",
        [2, floats(-1.0, -2.0), long(0, 1, 2), long(1, 0)],
        num_mechanisms=[0, 1, 3],
        log_odds=Only(_LOG_ODDS),
        starts=[long(0, 3, 2), long(-1, 1, 2)],
        neighbours=[long(1, 2), long(1, -1)],
    ),
    Case("ChainMoves.set_shares", [floats(0.5)], shares=[floats(1.5)]),
    Case("ChainMoves.refresh", [_MEMBERS, 2, long(0, 0), 1], **_ROOMS),
    Case("ChainMoves.replace", [_MEMBERS, 2, long(0, 0), 1], **_ROOMS),
)

CHAIN_INSTANCES = {
    "ChainMoves": moves,
    "AnswerTable": table,
    "ChainWalk": walk,
    "ChainWalk.answer": waiting_walk,
}
