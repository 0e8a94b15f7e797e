"""Right and wrong arguments of what the native module has for answers of decoders."""

from __future__ import annotations

from stim_nonclifford import _native

from .native_instances import GRAPH, WRONG_GRAPH, Case, long, words

__all__ = ["ANSWER_CASES", "ANSWER_INSTANCES"]


def table() -> _native.AnswerTable:
    found = _native.AnswerTable(1, 1, 4)
    found.use_matching(*GRAPH, words(1), 9, 1 << 20)
    return found


_OTHER_TABLES = [table(), _native.AnswerTable(1, 2, 4)]

ANSWER_CASES = (
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
)

ANSWER_INSTANCES = {"AnswerTable": table}
