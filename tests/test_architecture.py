"""The rooms of the package import in one direction: text -> circuit -> plan -> engine -> arrays."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
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
    "circuit",
    "cultivation",
    "distillation",
    "teleportation",
    "commands",
)
"""A room imports from rooms before it only."""

NATIVE_ROOMS = (
    "base",
    "algebra",
    "steps",
    "plan",
    "program",
    "sweeps",
    "cpu",
    "simulation",
    "laws",
    "engine",
    "fault_sets",
    "device",
    "bindings",
)
"""The folders of ``native``: a room includes headers of itself, of rooms before it, and of ``kernels``."""


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


def native_files() -> dict[str, Path]:
    """The C++ and CUDA files by their names as includes give them, such as plan/plan.h or kernels/job.h."""
    files: dict[str, Path] = {}
    for base, folder in ((PACKAGE / "native", "."), (PACKAGE, "kernels")):
        for path in sorted((base / folder).rglob("*")):
            if path.suffix in (".h", ".cc", ".cu"):
                files[path.relative_to(base).as_posix()] = path
    return files


def included_files(name: str, path: Path) -> list[str]:
    """What a file includes of the project. The CUDA files, which NVRTC compiles, give names without their folder."""
    names = re.findall(r'^#include "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    return [f"kernels/{other}" for other in names] if name.startswith("kernels/") else names


def test_native_rooms_include_in_one_direction() -> None:
    files = native_files()
    order = ["kernels", *NATIVE_ROOMS]
    assert {name.split("/")[0] for name in files} == set(order)
    found = {name: included_files(name, path) for name, path in files.items()}
    assert sum(map(len, found.values())) > 150
    for name, included in found.items():
        assert set(included) <= set(files), f"{name}: a header is given as room/header.h"
        upward = [
            other for other in included if order.index(other.split("/")[0]) > order.index(name.split("/")[0])
        ]
        assert not upward, f"{name}: {upward}"


def test_native_headers_include_in_no_circle() -> None:
    found = {name: included_files(name, path) for name, path in native_files().items()}
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        pytest.fail(str(error))


def test_native_rooms_are_small() -> None:
    for room in NATIVE_ROOMS:
        assert len(list((PACKAGE / "native" / room).iterdir())) <= 13, room


def test_types_of_the_native_module_have_different_names() -> None:
    # The linker keeps one of two types of a name without a word, whatever their members are.
    definition = re.compile(r"^(?:struct|class|enum class) (?:alignas\(\d+\) )?(\w+)[^;<]*\{", re.MULTILINE)
    places: dict[str, list[str]] = {}
    for path in native_files().values():
        if path.suffix != ".h":
            continue
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
