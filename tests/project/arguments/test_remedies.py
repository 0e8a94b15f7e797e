"""What refusals advise exists, and helps: calls are refused, name the remedy, and work once it is followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ...support.remedies.collection import remedies
from ...support.remedies.elsewhere import ELSEWHERE, FOLDERS
from ...support.remedies.rows import Row, message_of, names_for, result_of
from ...support.remedies.table_of_circuits import CIRCUITS
from ...support.remedies.table_of_rates import RATES
from ...support.remedies.table_of_sinter import COMMANDS, SINTER

ROWS = [*CIRCUITS, *RATES, *SINTER, *COMMANDS]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return names_for(Path(tmp_path_factory.mktemp("rows")))


@pytest.fixture(scope="module")
def messages(names: dict[str, Any]) -> dict[Row, str]:
    return {row: message_of(row, names) for row in ROWS}


def test_calls_are_refused_with_the_remedy(messages: dict[Row, str]) -> None:
    wrong = {row.refused: said for row, said in messages.items() if not row.named or row.named not in said}
    assert not wrong


def test_calls_that_follow_the_remedy_work(names: dict[str, Any]) -> None:
    for row in ROWS:
        try:
            result_of(row, names)
        except (Exception, UserWarning) as error:
            pytest.fail(f"{row.works}: {error}")


def test_every_remedy_in_the_code_has_a_row_or_a_reason(messages: dict[Row, str]) -> None:
    """A new refusal that advises something needs a row; a row or a reason that is left over goes."""
    collected = remedies()
    assert len(collected) > 250
    said = list(messages.values())
    alone = {
        (remedy.place, remedy.text)
        for remedy in collected
        if not remedy.place.startswith(tuple(FOLDERS)) and not any(remedy.is_in(each) for each in said)
    }
    reasons = {entry for entries in ELSEWHERE.values() for entry in entries}
    without = {
        (place, text)
        for place, text in alone
        if not any(place == file and text.startswith(start) for file, start in reasons)
    }
    left_over = {
        (file, start)
        for file, start in reasons
        if not any(place == file and text.startswith(start) for place, text in alone)
    }
    assert (without, left_over) == (set(), set())
