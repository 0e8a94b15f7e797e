"""The outputs that are stored in the tutorials are those of a fresh run, with nothing but the installed wheel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..support.processes.installed_wheel import ROOT, run

NOTEBOOKS = sorted(ROOT.glob("docs/tutorials/*.ipynb"))

RUNNER = """
import contextlib, io, json, sys, warnings

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
names = {"__name__": "__main__"}
printed = []
for source in json.load(open("cells.json")):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(source, "cell", "exec"), names)
    printed.append(stream.getvalue())
json.dump([names["snc"].__file__ if "snc" in names else names["sinter_plugin"].__file__, printed], sys.stdout)
"""


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def stored(cell: dict[str, Any]) -> str:
    """What the cell has printed, as it is stored."""
    return "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")


def test_there_is_a_tutorial_for_each_topic() -> None:
    index = (ROOT / "docs" / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) >= 8
    for notebook in NOTEBOOKS:
        assert f"({notebook.name})" in index


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_outputs_are_fresh(notebook: Path, wheel_python: Path, tmp_path: Path) -> None:
    pytest.importorskip("pymatching")
    cells = code_cells(notebook)
    sources = ["".join(cell["source"]) for cell in cells]
    (tmp_path / "cells.json").write_text(json.dumps(sources), encoding="utf-8")
    place, printed = json.loads(
        run(wheel_python, "-I", "-c", RUNNER, folder=tmp_path, variables={"MPLBACKEND": "agg"}).splitlines()[
            -1
        ]
    )
    assert Path(place).is_relative_to(wheel_python.parents[1])
    for cell, source, text in zip(cells, sources, printed, strict=True):
        if "random" not in cell["metadata"].get("tags", []):
            assert text == stored(cell), f"run make notebooks; the cell is\n{source}"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_outputs_are_stored(notebook: Path) -> None:
    kinds = {
        kind for cell in code_cells(notebook) for output in cell["outputs"] for kind in output.get("data", {})
    }
    assert "image/png" in kinds, "no figure is stored"
    for cell in code_cells(notebook):
        assert all(output["output_type"] in ("stream", "display_data") for output in cell["outputs"])
        assert not any(output.get("name") == "stderr" for output in cell["outputs"])
