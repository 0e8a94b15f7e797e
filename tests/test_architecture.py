"""The rooms of the package import in one direction: text -> circuit -> plan -> engine -> arrays."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import stim_nonclifford

PACKAGE = Path(stim_nonclifford.__file__).parent
ROOMS = (
    "errors",
    "arguments",
    "unbuilt",
    "memory",
    "notebook",
    "_native",
    "dialect",
    "logical_states",
    "plan",
    "coefficients",
    "compiler",
    "engines",
    "coherent_noise",
    "noiseless_outputs",
    "mechanism_flips",
    "logical_errors",
    "faults",
    "plan_report",
    "sampling",
    "fault_sets",
    "decoded_rates",
    "circuit",
    "cultivation",
    "distillation",
    "teleportation",
    "commands",
)
"""A room imports from rooms before it only."""


def imported_rooms(path: Path) -> Iterator[str]:
    """The rooms that a module imports from by relative imports, at its top or inside a function."""
    package = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - (node.level - 1)]
            names = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
            yield from [base[0]] if base else names


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_in_one_direction(room: str) -> None:
    folder = PACKAGE / room
    paths = list(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{room}.py"]
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    for path in filter(Path.exists, paths):
        found = set(imported_rooms(path))
        assert found <= allowed, f"{path}: {sorted(found - allowed)}"


def test_every_room_is_listed() -> None:
    found = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert found - {"__init__", "__main__"} <= set(ROOMS)


def test_types_of_the_native_module_have_different_names() -> None:
    # The linker keeps one of two types of a name without a word, whatever their members are.
    definition = re.compile(r"^(?:struct|class|enum class) (?:alignas\(\d+\) )?(\w+)[^;<]*\{", re.MULTILINE)
    places: dict[str, list[str]] = {}
    for folder in ("native", "kernels"):
        for path in sorted((PACKAGE / folder).glob("*.h")):
            text = path.read_text(encoding="utf-8")
            namespace = re.search(r"^namespace ([\w:]+)", text, re.MULTILINE)
            for name in definition.findall(text):
                places.setdefault(f"{namespace and namespace[1]}::{name}", []).append(path.name)
    assert len(places) > 50
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_import_is_light() -> None:
    """Every worker imports both packages, and few calls need what takes as long to import as they do."""
    code = "import sys, stim_nonclifford, sinter_plugin; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert {"stim_nonclifford", "sinter_plugin", "stim", "sinter", "numpy"} <= loaded
    assert loaded.isdisjoint({"scipy", "matplotlib", "pymatching", "dask", "distributed", "cupy"})
