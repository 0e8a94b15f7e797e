"""What refusals advise exists, and helps: calls are refused, name the remedy, and work once it is followed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stim_nonclifford as snc

from ...support.remedies.collection import named_in_sentences, texts
from ...support.remedies.rows import Row, message_of, names_for, result_of
from ...support.remedies.table_of_circuits import CIRCUITS
from ...support.remedies.table_of_rates import RATES
from ...support.remedies.table_of_sinter import COMMANDS, SINTER
from .test_arguments import CALLS

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


OF_OTHERS = {"decompose", "assign_parameters", "if_test", "axis", "bitorder", "--upgrade", "latency"}
"""Names of Qiskit, NumPy and pip, and of a tag."""

OF_SINTER = {"--max_errors"}
"""Options of Sinter's parser, which the plugin's commands extend."""


def test_what_errors_name_exists() -> None:
    """In every sentence of the code, also those that no row provokes."""
    parameters = {name for call in CALLS.values() for name in call.parameters}
    options = OF_SINTER | {text for _, text in texts() if text.startswith("--")}
    exists: dict[str, Callable[[str], bool]] = {
        "method": lambda name: hasattr(snc.Circuit, name),
        "argument": parameters.__contains__,
        "option": options.__contains__,
    }
    found = [each for each in named_in_sentences() if each[2] not in OF_OTHERS]
    assert {kind for _, kind, _ in found} == set(exists)
    assert len(found) > 200
    assert [each for each in found if not exists[each[1]](each[2])] == []
