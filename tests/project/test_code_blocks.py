"""Every block of code in the documentation runs, in a folder of its own, with nothing but the installed wheel.

The outputs that are stored in the tutorials are those of a fresh run.
"""

import json
import os
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from stim_nonclifford import EngineUnavailableError
from stim_nonclifford.simulation.engines.gpu import CupyBackend

from ..support.code_block_context import CONTEXT
from ..support.processes.installed_wheel import ROOT, run

README = ROOT / "README.md"
"""Its Python runs in test_wheel.py, with the numbers of shots that it has."""

PAGES = [
    README,
    *(
        path
        for path in sorted(ROOT.glob("docs/**/*.md"))
        if path.name != "instructions.md" and path.parent.name != "developers"
    ),
    *sorted(ROOT.glob("circuits/*/README.md")),
    *sorted(ROOT.glob("docs/tutorials/*.ipynb")),
]
"""The examples need a clone, and so do the pages for developers: test_root_files.py runs the blocks of internals.md. Of notebooks, these are the blocks
of their text."""

BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)

NEEDS_MORE = (
    "pip install", "make", "python -m benchmarks", "python -m examples", "CUDA_VISIBLE_DEVICES", "flock",
)  # fmt: skip
"""Commands that need a registry, a clone or several GPUs."""

SMALLER = {
    r"--max_shots [\d_]+": "--max_shots 20_000",
    r"--processes 4": "--processes 1",
    r"(sinter_plugin|stim-nonclifford) estimate": r"\1 estimate --max_seconds 0.5",
    r"--p 0\.0005 0\.001 0\.002": "--p 0.001 0.002",
    r"--compute_seconds \d+": "--compute_seconds 2 --max_seconds 2",
    r"num_workers=4": "num_workers=1",
    r"max_shots=(1_000_000_000|10\*\*8)": "max_shots=20_000",
}
"""What a page does with many shots is run with few."""

QUICK = (ROOT / "docs/start/first_five_minutes.md",)
"""The page that the quick tests run; the slow ones run the others."""


SINTER = """
from sinter._command._main import main

if __name__ == "__main__":  # workers import this file again
    raise SystemExit(main())
"""


def blocks(page: Path) -> list[tuple[str, str]]:
    """Languages and texts of the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = BLOCK.findall(text)
    return [(language, textwrap.dedent(code)) for _, language, code in found]


def commands(code: str) -> str:
    """A block of Bash without the commands that need more than the wheel."""
    lines = re.split(r"(?<!\\)\n", code)
    return "\n".join(line for line in lines if not line.startswith(NEEDS_MORE))


def script(page: Path) -> str:
    """One program of all blocks of a page, in their order."""
    parts = ["import subprocess"]
    for language, code in blocks(page):
        if language == "python" and page != README:
            parts.append(code)
        elif language == "bash" and commands(code).strip():
            parts.append(f"subprocess.run(['bash', '-euc', {commands(code)!r}], check=True)")
    text = "\n".join(parts)
    for pattern, replacement in SMALLER.items():
        text = re.sub(pattern, replacement, text)
    return text


def with_code(page: Path) -> bool:
    return script(page) != "import subprocess"


def command_line_tools(python: Path, folder: Path) -> str:
    """A search path on which ``python`` and ``sinter`` are those of the wheel's environment."""
    folder.mkdir()
    (folder / "python").symlink_to(python)
    sinter = folder / "sinter"
    sinter.write_text(f"#!{python} -I\n{SINTER}")
    sinter.chmod(0o755)
    return f"{python.parent}{os.pathsep}{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=() if any(page.is_relative_to(quick) for quick in QUICK) else pytest.mark.slow,
        )
        for page in filter(with_code, PAGES)
    ],
)
def test_blocks_run(page: Path, wheel_python: Path, tmp_path: Path) -> None:
    if page.name == "gpu.md":
        try:
            CupyBackend()
        except EngineUnavailableError as error:
            pytest.skip(f"the blocks of this page need a GPU: {error}")
    if page.name == "many_machines.md":
        pytest.skip(
            "the blocks of this page need a cluster; test_dask_collection.py starts one on this machine"
        )
    folder = tmp_path / "folder"
    folder.mkdir()
    variables = {"PATH": command_line_tools(wheel_python, tmp_path / "bin"), "MPLBACKEND": "agg"}
    program = "\n".join(
        [
            "import stim_nonclifford as snc",
            CONTEXT.get(str(page.relative_to(ROOT)), ""),
            script(page),
            "print(snc.__file__)",
        ]
    )
    printed = run(wheel_python, "-I", "-c", program, folder=folder, variables=variables)
    assert Path(printed.splitlines()[-1]).is_relative_to(wheel_python.parents[1])


def test_every_command_is_in_a_block_that_runs() -> None:
    for page in [*PAGES, *ROOT.glob("docs/*/*.md")]:
        for language, code in blocks(page):
            assert language in ("python", "bash", "json", ""), f"{page.name}: {language}"
            if not language:
                assert not re.search(r"^(python|sinter|stim-nonclifford|pip|make) ", code, re.MULTILINE), (
                    f"{page.name}:\n{code}"
                )


def test_pages_that_use_more_than_they_show_exist() -> None:
    assert set(CONTEXT) <= {str(page.relative_to(ROOT)) for page in PAGES}


# Cells of notebooks

NOTEBOOKS = [page for page in PAGES if page.suffix == ".ipynb"]

RUNNER = """
import contextlib, io, json, sys, warnings

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
names = {"__name__": "__main__"}
printed = []
with contextlib.suppress(ImportError):  # displayed text is printed as it is
    from IPython.display import Markdown

    Markdown.__repr__ = lambda shown: shown.data
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
    """What the cell has printed, and the text that it displays, as it is stored."""
    texts = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            texts += output["text"]
        elif "text/markdown" in output["data"]:
            texts += [*output["data"]["text/markdown"], "\n"]
    return "".join(texts)


def test_there_is_a_tutorial_for_each_topic() -> None:
    index = (ROOT / "docs" / "start" / "tutorials.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) >= 8
    for notebook in NOTEBOOKS:
        assert f"(../tutorials/{notebook.name})" in index


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_outputs_are_fresh(notebook: Path, wheel_python: Path, tmp_path: Path) -> None:
    pytest.importorskip("pymatching")
    cells = code_cells(notebook)
    sources = ["".join(cell["source"]) for cell in cells]
    (tmp_path / "cells.json").write_text(json.dumps(sources), encoding="utf-8")
    output = run(wheel_python, "-I", "-c", RUNNER, folder=tmp_path, variables={"MPLBACKEND": "agg"})
    place, printed = json.loads(output.splitlines()[-1])
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
