"""The seeds of a random test, and what only ``make test-all`` runs, or ``.ci/run`` every tenth day."""

import zlib
from datetime import date
from typing import Any

import pytest
from _pytest.mark import ParameterSet

DAYS = 10
"""The number of days in which each slow test runs once in ``.ci/run``. Doubled, this takes some minutes less, and
an error that only a slow test sees may stay unseen for 20 days where nothing runs at night."""


def slow(*values: Any) -> ParameterSet:
    """Values of parameters with which a test runs in ``make test-all`` only."""
    return pytest.param(*values, marks=pytest.mark.slow)


def seeds(count: int, quick: int, first: int = 0) -> list[int | ParameterSet]:
    """As many seeds, of which ``make test`` takes the first ``quick``, and ``make test-all`` all."""
    return [*range(first, first + quick), *map(slow, range(first + quick, first + count))]


def runs_on(day: date, name: str) -> bool:
    """Whether the slow test of a name runs on a day: once in any ten days that follow one another."""
    return (zlib.crc32(name.encode()) + day.toordinal()) % DAYS == 0
