"""Texts that are large in structure: no crash, no hang, documented exceptions only, within 10 s and 1 GiB each.

The cases are fixed by the seed. ``python -m tests.structured_texts 30000`` runs more of them.
"""

from __future__ import annotations

from .structured_texts import run_cases


def test_large_structures() -> None:
    outcomes = list(run_cases("suite", 0, 34))
    assert [outcome.number for outcome in outcomes] == list(range(34))
    assert not [outcome for outcome in outcomes if outcome.is_wrong]
    assert len({outcome.what for outcome in outcomes}) >= 3
