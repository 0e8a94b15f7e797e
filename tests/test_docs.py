"""Pages that are generated are what their generators write, and speak of tests that exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import stim

import stim_nonclifford.compiler

from .instruction_lines import CONDITIONAL, NON_CLIFFORD

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [
    *DOCS.glob("*.md"),
    *(
        DOCS.parent / folder / "README.md"
        for folder in (
            ".",
            "examples",
            "circuits/cultivation",
            "circuits/distillation",
            "circuits/teleportation",
        )
    ),
]


def test_table_of_instructions_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_instructions", DOCS / "make_instructions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (DOCS / "instructions.md").read_text(encoding="utf-8")
    assert page == module.table(), "run python docs/make_instructions.py"
    tested = re.findall(r"test_(stim_instruction|non_clifford_gate|conditional_gate)\[(\w+)\]", page)
    assert {name for kind, name in tested if kind == "stim_instruction"} == set(stim.gate_data())
    assert {name for kind, name in tested if kind == "non_clifford_gate"} == set(NON_CLIFFORD)
    assert {name for kind, name in tested if kind == "conditional_gate"} <= set(CONDITIONAL)


def test_links_of_the_readme_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_source_files_that_pages_name_exist() -> None:
    folders = [
        DOCS.parent / name for name in ("stim_nonclifford", "sinter_plugin", "tests", "examples", "docs")
    ]
    sources = [f"/{path.relative_to(DOCS.parent)}" for folder in folders for path in folder.rglob("*.*")]
    named = [
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"`([\w/]+\.(?:py|h|cc|cu|ipynb))`", page.read_text(encoding="utf-8"))
    ]
    assert len(named) > 20
    assert [place for place in named if not any(path.endswith(f"/{place[1]}") for path in sources)] == []


def test_passes_of_the_compiler_are_listed_in_their_order() -> None:
    page = (DOCS / "internals.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. \*\*.*?\*\* \(`(\w+)\.py`\)", page, re.MULTILINE)
    described = re.findall(r"^\d+\. +``(\w+)``", stim_nonclifford.compiler.__doc__ or "", re.MULTILINE)
    assert listed == described
    assert len(listed) >= 11


def test_glossary_is_alphabetical() -> None:
    page = (DOCS / "how_it_works.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([a-z -]+) \|", page.split("\n## Glossary\n")[1], re.MULTILINE)[1:]
    assert words == sorted(set(words))
    assert len(words) >= 40
