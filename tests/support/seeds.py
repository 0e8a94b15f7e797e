"""The seeds of a random test."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def seeds(count: int, quick: int) -> list[int | ParameterSet]:
    """As many seeds, of which ``make test`` takes the first ``quick``, and ``make test-all`` all."""
    return [*range(quick), *(pytest.param(k, marks=pytest.mark.slow) for k in range(quick, count))]
