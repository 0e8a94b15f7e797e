"""The seeds of a random test."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def seeds(count: int, quick: int, first: int = 0) -> list[int | ParameterSet]:
    """As many seeds, of which ``make test`` takes the first ``quick``, and ``make test-all`` all."""
    slow = range(first + quick, first + count)
    return [*range(first, first + quick), *(pytest.param(k, marks=pytest.mark.slow) for k in slow)]
