"""Fixtures of several test files."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from .support.processes.installed_wheel import wheel, wheel_python
from .support.processes.sinter_runs import Folder
from .support.seeds import runs_on

__all__ = ["folder", "wheel", "wheel_python"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the slow tests that are not of the day STIM_NONCLIFFORD_SLOW_DAY, such as 2026-11-29."""
    day = os.environ.get("STIM_NONCLIFFORD_SLOW_DAY")
    if day is None:
        return
    chosen = date.fromisoformat(day)
    left_out = {
        item for item in items if item.get_closest_marker("slow") and not runs_on(chosen, item.nodeid)
    }
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = Folder(tmp_path)
    yield made
    made.end_all()
