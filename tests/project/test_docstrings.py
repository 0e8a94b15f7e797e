"""Docstrings begin with a noun phrase that names the thing, so that each can be read alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sinter_plugin
import stim_nonclifford

PACKAGES = {package.__name__: Path(package.__file__).parent for package in (stim_nonclifford, sinter_plugin)}

ROOMS = (
    "stim_nonclifford",
    "stim_nonclifford/base",
    "stim_nonclifford/circuit",
    "stim_nonclifford/commands",
    "stim_nonclifford/dialect",
    "stim_nonclifford/generators",
    "stim_nonclifford/simulation",
    "sinter_plugin",
)
"""The folders that are checked; a package's name alone stands for the modules beside its folders."""

UNCHECKED = {"stim_nonclifford/rates"}
"""The folders that are not checked yet."""

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
    assert {f"stim_nonclifford/{folder}" for folder in folders} <= {*ROOMS, *UNCHECKED}


@pytest.mark.parametrize("beginning", FRAGMENTS)
def test_fragments_are_found(beginning: str) -> None:
    source = f'def f() -> None:\n    """{beginning} others."""\n\nX = 1\n"""{beginning} others."""\n'
    assert [line for line, _ in _fragments(source)] == [5, 2]
