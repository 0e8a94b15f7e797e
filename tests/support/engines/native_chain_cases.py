"""Right and wrong arguments of what the native module has for chains of fault sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from stim_nonclifford import _native

from .native_instances import Case, floats, long, words

__all__ = ["CHAIN_CASES"]

_MEMBERS = long(0, 1, 1, -1)
"""Of two chains with room for two members, among two mechanisms."""

_WRONG_MEMBERS = [long(0, 2, 1, -1), long(0, -2, 1, -1)]


def moves() -> _native.ChainMoves:
    return _native.ChainMoves(2, floats(-1.0, -2.0), long(0, 1, 2), long(1, 0))


def table() -> _native.AnswerTable:
    found = _native.AnswerTable(1, 1, 4)
    found.use_matching(3, long(0, 1, 0), long(1, 2, 3), long(2, 4, 6), words(1), 9, 1 << 20)
    return found


_MOVE = Case(
    {"members": _MEMBERS, "room": 2, "level_of": long(0, 0), "seed": 1},
    {"members": _WRONG_MEMBERS, "room": [0, 3, 1], "level_of": [long(0, 1), long(0, -1)]},
    moves,
)

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


CHAIN_CASES: dict[str, Case] = {
    "ChainWalk.__init__": Case(
        _WALK,
        {
            "moves": [1, table()],
            "flips": [words(1, 0, 5, 6)],
            "row_words": [0, 3, 5, 8, 2**16 + 1],
            "tables": [
                [],
                [None],
                [moves()],
                [_native.AnswerTable(2, 1, 4)],
                [table(), _native.AnswerTable(1, 2, 4)],
            ],
            "table_of_level": [long(1), long(-1)],
            "kinds": [long(0, 2), long(0, -1)],
            "members": _WRONG_MEMBERS,
            "room": [0, 3, 1],
            "level_of": [long(0, 1), long(0, -1)],
            "further_level_of": [long(0, 1), long(0, -2)],
        },
    ),
    "ChainWalk.run": Case({"threads": 1}, {"threads": [0, 1025]}, walk),
    "ChainWalk.answer": Case(
        {"predictions": words(1, 0), "gaps": long(0, 0)},
        {"predictions": [words(1)], "gaps": [long(0)]},
        waiting_walk,
    ),
    "AnswerTable.__init__": Case(
        {"event_words": 1, "observable_words": 1, "size_bits": 4},
        {"event_words": [0, 2**14 + 1], "observable_words": [0, 2**14 + 1], "size_bits": [25]},
    ),
    "AnswerTable.put": Case(
        {"rows": words(1, 0, 5, 6), "row_words": 4, "predictions": words(1), "gaps": long(7)},
        {"row_words": [0, 3, 5]},
        table,
    ),
    "AnswerTable.use_matching": Case(
        {
            "num_nodes": 3,
            "first": long(0, 1, 0),
            "second": long(1, 2, 3),
            "weights": long(2, 4, 6),
            "added": words(1),
            "max_events": 9,
            "max_bytes": 1 << 20,
        },
        {
            "num_nodes": [0, 2, 66, 2**20 + 1],
            "first": [long(0, 3, 0), long(-1, 1, 0)],
            "second": [long(1, 2, 4), long(-1, 2, 3)],
            "weights": [long(2, 3, 6), long(2, -2, 6), long(2, 4, 2**26 + 2)],
            "added": [words(4)],
        },
        table,
    ),
    "look_up": Case(
        {"tables": [table()], "rows": words(1, 0, 5, 6), "row_words": 4, "table_of": long(0)},
        {
            "tables": [
                [],
                [None],
                [_native.AnswerTable(1, 2, 4)],
                [table(), _native.AnswerTable(1, 2, 4)],
            ],
            "rows": [words(4, 0, 5, 6)],
            "row_words": [0, 3, 5],
            "table_of": [long(1), long(-1)],
        },
    ),
    "ChainMoves.__init__": Case(
        {
            "num_mechanisms": 2,
            "log_odds": floats(-1.0, -2.0),
            "starts": long(0, 1, 2),
            "neighbours": long(1, 0),
        },
        {
            "num_mechanisms": [0, 1, 3],
            "starts": [long(0, 3, 2), long(-1, 1, 2)],
            "neighbours": [long(1, 2), long(1, -1)],
        },
        instead={
            "log_odds": [
                floats(-1.0),
                floats(-1.0, np.nan),
                floats(-1.0, np.inf),
                floats(-1.0, 0.0, 1.0),
                None,
            ]
        },
    ),
    "ChainMoves.set_shares": Case({"shares": floats(0.5)}, {"shares": [floats(1.5)]}, moves),
    "ChainMoves.refresh": _MOVE,
    "ChainMoves.replace": _MOVE,
}
"""By name, as ``CASES``."""
