"""Hook of MkDocs: every notebook of docs/tutorials becomes a page, with the outputs that are stored in it.

Nothing is executed here. ``make notebooks`` executes the notebooks and stores their outputs, and
``tests/project/test_code_blocks.py`` compares these outputs with those of a fresh run.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PICTURES = {"image/svg+xml": "svg", "image/png": "png"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for each notebook, and its pictures."""
    for path in sorted(Path(config.docs_dir).glob("tutorials/*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        text, pictures = page(notebook["cells"], path.stem)
        files.append(File.generated(config, f"tutorials/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"tutorials/{name}", content=content))
    return files


def page(cells: list[dict[str, Any]], name: str) -> tuple[str, dict[str, bytes]]:
    """The Markdown text of a notebook, and the pictures that it shows, by file name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(fenced(source, "python"))
        for output in joined(cell["outputs"]):
            data = output.get("data", {})
            kind = next((kind for kind in PICTURES if kind in data), None)
            if kind is not None:
                picture = f"{name}_{len(pictures) + 1}.{PICTURES[kind]}"
                content = "".join(data[kind])
                pictures[picture] = content.encode() if kind != "image/png" else base64.b64decode(content)
                parts.append(f"![output of the cell above]({picture}){{ .output }}")
            else:
                parts.append(shown(output))
    parts.append(f"*This page is the notebook `docs/tutorials/{name}.ipynb`.*")
    return "\n\n".join(parts) + "\n", pictures


def shown(output: dict[str, Any]) -> str:
    """An output that is no picture: Markdown as it is, all else as a block of text."""
    data = output.get("data", {})
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    text = output["text"] if "text" in output else data["text/plain"]
    return fenced("".join(text).rstrip("\n"), "{ .text .output }")


def joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outputs of a cell, where lines that were printed one after the other are one output."""
    result: list[dict[str, Any]] = []
    for output in outputs:
        if "text" in output and result and "text" in result[-1]:
            result[-1] = {"text": [*result[-1]["text"], *output["text"]]}
        else:
            result.append(output)
    return result


def fenced(text: str, language: str) -> str:
    """A block of code or of output."""
    return f"``` {language}\n{text}\n```"
