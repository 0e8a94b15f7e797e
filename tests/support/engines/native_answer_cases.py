"""Right and wrong arguments of what the native module has for answers of decoders."""

from __future__ import annotations

from stim_nonclifford import _native

from .native_instances import Case, long, words

__all__ = ["ANSWER_CASES"]


def table() -> _native.AnswerTable:
    found = _native.AnswerTable(1, 1, 4)
    found.use_matching(3, long(0, 1, 0), long(1, 2, 3), long(2, 4, 6), words(1), 9, 1 << 20)
    return found


ANSWER_CASES: dict[str, Case] = {
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
}
