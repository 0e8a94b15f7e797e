"""Fixtures of several test files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .sinter_runs import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = Folder(tmp_path)
    yield made
    made.end_all()
