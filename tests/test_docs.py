"""Pages that are generated are what their generators write, and speak of tests that exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import stim

from .instruction_lines import NON_CLIFFORD

DOCS = Path(__file__).parents[1] / "docs"


def test_table_of_instructions_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_instructions", DOCS / "make_instructions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (DOCS / "instructions.md").read_text(encoding="utf-8")
    assert page == module.table(), "run python docs/make_instructions.py"
    tested = re.findall(r"test_(stim_instruction|non_clifford_gate)\[(\w+)\]", page)
    assert {name for kind, name in tested if kind == "stim_instruction"} == set(stim.gate_data())
    assert {name for kind, name in tested if kind == "non_clifford_gate"} == set(NON_CLIFFORD)


def test_links_of_the_readme_lead_somewhere() -> None:
    root = DOCS.parent
    for page in [root / "README.md", *DOCS.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
