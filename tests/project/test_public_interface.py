"""What users get from the public names is public too, and documented."""

import ast
import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sinter_plugin
import stim_nonclifford
from stim_nonclifford.simulation.compiler import CompiledCircuit
from stim_nonclifford.simulation.plan import SamplingPlan

from ..support.public_names import PUBLIC

# The methods and attributes of these are for those who look inside.
INSIDES = {CompiledCircuit, SamplingPlan}


CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


def own_methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods and properties of a class that this project defines."""
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        function = getattr(found, "fget", None) or getattr(found, "func", None) or getattr(cls, name)
        ours = str(getattr(function, "__module__", "")).split(".")[0] in ("stim_nonclifford", "sinter_plugin")
        if ours and not name.startswith("_") and inspect.isroutine(function):
            yield name, function


FUNCTIONS = {
    **{name: value for name, value in PUBLIC.items() if inspect.isfunction(value)},
    **{
        f"{name}.{method}": function
        for name, cls in CLASSES.items()
        if cls not in INSIDES
        for method, function in own_methods(cls)
    },
}


def classes_in(hint: Any) -> Iterator[type]:
    """The classes that a type is made of."""
    if inspect.isclass(hint):
        yield hint
    for part in (typing.get_origin(hint), *typing.get_args(hint)):
        if part is not None:
            yield from classes_in(part)


def assert_public(hint: Any) -> None:
    for cls in classes_in(hint):
        if cls.__module__.split(".")[0] in ("stim_nonclifford", "sinter_plugin"):
            assert cls in CLASSES.values(), f"{cls.__module__}.{cls.__qualname__} is not in the reference"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_functions_return_is_public_and_documented(name: str) -> None:
    function = FUNCTIONS[name]
    assert function.__doc__, name
    hints = typing.get_type_hints(function)
    assert "return" in hints, name
    assert_public(hints["return"])


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_documented_with_their_attributes(name: str) -> None:
    cls = CLASSES[name]
    assert cls.__doc__, name
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            if not field.name.startswith("_"):
                assert f"{field.name}:" in cls.__doc__, f"{name}.{field.name}"
        if cls not in INSIDES:
            for attribute, hint in typing.get_type_hints(cls).items():
                if not attribute.startswith("_"):
                    assert_public(hint)


@pytest.mark.parametrize("package", [stim_nonclifford, sinter_plugin])
def test_exported_names_are_those_of_the_reference(package: Any) -> None:
    places = (place.rpartition(".") for place in PUBLIC)
    assert {*package.__all__} - {"__version__"} == {
        name for module, _, name in places if module == package.__name__
    }


PACKAGES = {package.__name__: Path(package.__file__).parent for package in (stim_nonclifford, sinter_plugin)}

ROOMS = (
    "stim_nonclifford", "stim_nonclifford/base", "stim_nonclifford/circuit", "stim_nonclifford/commands",
    "stim_nonclifford/dialect", "stim_nonclifford/generators", "stim_nonclifford/rates",
    "stim_nonclifford/simulation", "sinter_plugin",
)  # fmt: skip
"""The folders that are checked; a package's name alone stands for the modules beside its folders."""

FRAGMENTS = ("Of ", "The same", "Both, as above", "Both.", "Those ", "As above", "So many")
"""Beginnings that can be understood only after another docstring."""


def _modules(room: str) -> Iterator[Path]:
    package, _, folder = room.partition("/")
    root = PACKAGES[package]
    return (root / folder).rglob("*.py") if folder or package == "sinter_plugin" else root.glob("*.py")


def _fragments(source: str) -> Iterator[tuple[int, str]]:
    """The lines and first words of docstrings, those of constants and fields included, that are fragments."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(words))) if words.lstrip().startswith(FRAGMENTS):
                yield node.lineno, words.strip().splitlines()[0]


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_can_be_read_alone(room: str) -> None:
    modules = sorted(_modules(room))
    assert modules
    found = [
        f"{module}:{line}: {words}"
        for module in modules
        for line, words in _fragments(module.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_every_folder_is_listed() -> None:
    root = PACKAGES["stim_nonclifford"]
    folders = {path.parent.relative_to(root).parts[0] for path in root.glob("*/**/*.py")}
    assert {f"stim_nonclifford/{folder}" for folder in folders} <= set(ROOMS)


@pytest.mark.parametrize("beginning", FRAGMENTS)
def test_fragments_are_found(beginning: str) -> None:
    source = f'def f() -> None:\n    """{beginning} others."""\n\nX = 1\n"""{beginning} others."""\n'
    assert [line for line, _ in _fragments(source)] == [5, 2]
