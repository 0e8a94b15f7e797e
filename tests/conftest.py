"""Fixtures of several test files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .support.processes.installed_wheel import wheel, wheel_python
from .support.processes.sinter_runs import Folder

__all__ = ["folder", "wheel", "wheel_python"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = Folder(tmp_path)
    yield made
    made.end_all()
