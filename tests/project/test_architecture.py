"""The rooms of the package import in one direction: text -> circuit -> plan -> engine -> arrays."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stim_nonclifford

PACKAGE = Path(stim_nonclifford.__file__).parent

ROOMS = (
    "errors",
    "base",
    "_native",
    "dialect",
    "logical_states",
    "plan",
    "compiler.algebra",
    "compiler.program",
    "compiler.sweeps",
    "compiler.plans",
    "compiler.error_models",
    "compiler",
    "engines",
    "logical_errors",
    "faults",
    "plan_report",
    "sampling",
    "fault_sets.interval",
    "fault_sets.uncertainty",
    "fault_sets.search",
    "fault_sets.budget",
    "fault_sets",
    "circuit",
    "cultivation",
    "distillation",
    "teleportation",
    "commands",
)
"""Folders and modules. One imports from those before it only, and from itself without a circle."""


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(name: str) -> set[str]:
    """The modules that a module imports by relative imports, at its top or inside a function or for types."""
    path = PATHS[name]
    package = path.relative_to(PACKAGE).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join([*package[: len(package) - (node.level - 1)], *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                found.add(inner if inner in PATHS or inner == "_native" else base)
    return found


def room_of(name: str) -> str:
    return max((room for room in ROOMS if f"{name}.".startswith(f"{room}.")), key=len, default="")


def test_every_module_has_a_room() -> None:
    assert {name for name in PATHS if not room_of(name)} == {"", "__main__"}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_in_one_direction(room: str) -> None:
    allowed = ROOMS[: ROOMS.index(room) + 1]
    for name in PATHS:
        if room_of(name) == room:
            assert {found for found in imports_of(name) if room_of(found) not in allowed} == set(), name


def test_no_module_imports_itself_by_a_circle() -> None:
    left = {name: imports_of(name) for name in PATHS}
    while ready := [name for name, found in left.items() if not found & left.keys()]:
        for name in ready:
            del left[name]
    assert left == {}


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
