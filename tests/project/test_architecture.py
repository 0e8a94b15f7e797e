"""The rooms of the package import in one direction: text -> circuit -> plan -> engine -> arrays."""

import ast
import functools
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import stim_nonclifford

PACKAGE = Path(stim_nonclifford.__file__).parent

ROOMS = (
    "base",
    "_native",
    "dialect",
    "simulation.plan",
    "simulation.reduction",
    "simulation.compiler.algebra",
    "simulation.compiler.program",
    "simulation.compiler.leakage",
    "simulation.compiler.sweeps",
    "simulation.compiler.plans",
    "simulation.compiler.error_models",
    "simulation.compiler.heralds",
    "simulation.compiler",
    "simulation.engines",
    "simulation.row_fates",
    "simulation.logical_errors",
    "simulation.noise_events",
    "simulation.faults",
    "simulation.sampling",
    "simulation.decisions",
    "simulation",
    "rates.estimation",
    "rates.results",
    "rates.fault_sets.wrong_tool",
    "rates.fault_sets.search",
    "rates.decoding.matching.matching_graph",
    "rates.decoded_rates.faults",
    "rates.decoding",
    "rates.budget",
    "rates.fault_sets",
    "rates.samplers",
    "rates.decoded_rates.questions",
    "rates.decoded_rates",
    "rates",
    "circuit.rewriting",
    "circuit.logical_states",
    "circuit.interchange",
    "circuit.plan_report",
    "circuit",
    "generators.cultivation",
    "generators.distillation",
    "generators.teleportation",
    "generators.logical",
    "generators",
    "commands",
)
"""Folders and modules. One imports from those before it only, and from itself without a circle."""

NATIVE_ROOMS = (
    "kernels/shared",
    "kernels/launch",
    "kernels/noise",
    "kernels/simulation",
    "kernels",
    "base",
    "algebra",
    "plan/steps",
    "plan/reduction",
    "plan",
    "compiler/program",
    "compiler/sweeps",
    "cpu",
    "simulation",
    "engine/laws",
    "engine/trajectories",
    "engine",
    "rates/set_laws",
    "rates/fault_sets",
    "rates/matching",
    "device",
    "bindings/python",
    "bindings",
)
"""The folders of ``native``: a room includes headers of itself and of rooms before it."""


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports_of(name: str) -> set[str]:
    """The modules that a module imports by relative imports, at its top or inside a function or for types."""
    path = PATHS[name]
    package = path.relative_to(PACKAGE).parts[:-1]
    found = set()
    for node in ast.walk(tree_of(path)):
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


PLUGIN_ROOMS = ("statistics", "samplers", "runs", "commands")
"""The folders of ``sinter_plugin``: a module imports from its folder and from those before it."""


def test_rooms_of_the_plugin_import_in_one_direction() -> None:
    plugin = PACKAGE.parent / "sinter_plugin"
    rooms = sorted(path.parent.name for path in plugin.glob("*/__init__.py"))
    assert rooms == sorted(PLUGIN_ROOMS)
    found: dict[str, set[str]] = {}
    for path in sorted(plugin.rglob("*.py")):
        room = list(path.relative_to(plugin).parts[:-1])
        imports = found.setdefault(path.relative_to(plugin).as_posix(), set())
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [*room[: len(room) - (node.level - 1)], *(node.module or "").split(".")]
                imports.add(f"{'/'.join(base)}.py")
                if room:
                    assert PLUGIN_ROOMS.index(base[0]) <= PLUGIN_ROOMS.index(room[0]), path
    assert sum(map(len, found.values())) > 50
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        pytest.fail(str(error))


def native_files() -> dict[str, Path]:
    """The C++ and CUDA files by their names as includes give them, such as plan/plan.h."""
    native = PACKAGE / "native"
    paths = [path for path in sorted(native.rglob("*")) if path.suffix in (".h", ".cc", ".cu")]
    return {path.relative_to(native).as_posix(): path for path in paths}


def included_files(path: Path) -> list[str]:
    """What a file includes of the project."""
    return re.findall(r'^#include "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)


def test_native_rooms_include_in_one_direction() -> None:
    files = native_files()
    rooms = {name: name.rpartition("/")[0] for name in files}
    assert set(rooms.values()) == set(NATIVE_ROOMS)
    found = {name: included_files(path) for name, path in files.items()}
    assert sum(map(len, found.values())) > 150
    for name, included in found.items():
        assert set(included) <= set(files), f"{name}: a header is given as room/header.h"
        allowed = NATIVE_ROOMS[: NATIVE_ROOMS.index(rooms[name]) + 1]
        upward = [other for other in included if rooms[other] not in allowed]
        assert not upward, f"{name}: {upward}"


def test_native_headers_include_in_no_circle() -> None:
    found = {name: included_files(path) for name, path in native_files().items()}
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        pytest.fail(str(error))


TOPS = ("benchmarks", "circuits", "docs", "examples", "sinter_plugin", "stim_nonclifford", "tests")


def test_folders_have_at_most_a_dozen_entries() -> None:
    """What Python leaves behind does not count, nor do folders with nothing else in them."""
    root = PACKAGE.parent
    made_here = {"__pycache__", ".ipynb_checkpoints"}
    entries: dict[str, set[str]] = {}
    for path in (path for top in TOPS for path in (root / top).rglob("*")):
        if path.is_file() and path.suffix != ".so" and made_here.isdisjoint(path.parts):
            inner = path.relative_to(root)
            for entry in (inner, *inner.parents[:-2]):
                entries.setdefault(entry.parent.as_posix(), set()).add(entry.name)
    assert len(entries) > 100
    assert {folder: len(names) for folder, names in entries.items() if len(names) > 12} == {}


PYTHON = sorted(
    path for top in ("sinter_plugin", "stim_nonclifford") for path in (PACKAGE.parent / top).rglob("*.py")
)

LARGE_CLASSES = {
    "stim_nonclifford/circuit/circuit.py: Circuit": "it has the methods of stim.Circuit",
    "stim_nonclifford/simulation/sampling/detector_sampler.py: CompiledDetectorSampler": (
        "it has the methods of Stim's sampler"
    ),
    "stim_nonclifford/circuit/interchange/qasm/execution.py: Execution": (
        "it has a method for each kind of statement"
    ),
    "stim_nonclifford/circuit/interchange/qasm/expressions.py: Evaluator": (
        "it has a method for each kind of expression"
    ),
    "stim_nonclifford/simulation/compiler/program/flattening.py: _Flattener": (
        "it has a method for each kind of instruction"
    ),
}
"""Classes of more than 20 methods, each with the reason."""


def test_classes_have_at_most_20_methods() -> None:
    counts = {
        f"{path.relative_to(PACKAGE.parent)}: {node.name}": len(
            {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        )
        for path in PYTHON
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
    }
    assert len(counts) > 200
    assert {name for name, count in counts.items() if count > 20} == set(LARGE_CLASSES)


MODULES_WITH_MANY_SIBLINGS = {
    "stim_nonclifford/dialect/__init__.py": "it has the names of the whole folder",
    "stim_nonclifford/circuit/circuit.py": "it has a method for each of them",
}
"""Modules that import more than 8 others of their folder, each with the reason."""


def siblings_of(path: Path) -> set[str]:
    """The modules and folders beside a module that it imports."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
    beside = {each.stem for each in path.parent.iterdir() if each.suffix == ".py" or each.is_dir()}
    return found & beside


def test_modules_import_at_most_8_siblings() -> None:
    counts = {path.relative_to(PACKAGE.parent).as_posix(): len(siblings_of(path)) for path in PYTHON}
    assert max(counts.values()) > 5
    assert {name for name, count in counts.items() if count > 8} == set(MODULES_WITH_MANY_SIBLINGS)


SMALL_FOLDERS = {}
"""Packages of three files and folders or fewer, each with the reason."""


def test_folders_have_more_than_three_files() -> None:
    """A folder of a few files is a module that was cut by a limit; ``__init__.py`` does not count."""
    not_counted = {"__init__.py", "__pycache__"}
    counts = {
        folder.relative_to(PACKAGE.parent).as_posix(): len(
            {each.name for each in folder.iterdir()} - not_counted
        )
        for folder in {path.parent for path in PYTHON}
    }
    assert len(counts) > 30
    found = {folder for folder, count in counts.items() if count <= 3}
    assert found == set(SMALL_FOLDERS)


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
