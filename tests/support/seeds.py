"""The seeds of a random test, and what only ``make test-all`` runs."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.mark import ParameterSet


def slow(*values: Any) -> ParameterSet:
    """Values of parameters with which a test runs in ``make test-all`` only."""
    return pytest.param(*values, marks=pytest.mark.slow)


def seeds(count: int, quick: int, first: int = 0) -> list[int | ParameterSet]:
    """As many seeds, of which ``make test`` takes the first ``quick``, and ``make test-all`` all."""
    return [*range(first, first + quick), *map(slow, range(first + quick, first + count))]
