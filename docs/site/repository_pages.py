"""Hook of MkDocs: pages that lie outside of docs/, next to the code that they describe, join the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = {
    "circuits/cultivation/README.md": "circuits/cultivation.md",
    "circuits/distillation/README.md": "circuits/distillation.md",
    "circuits/teleportation/README.md": "circuits/teleportation.md",
    "examples/README.md": "examples.md",
    "CHANGELOG.md": "changelog.md",
}
"""Where the site has the pages of the repository."""

SOURCES = {place: path for path, place in OUTSIDE.items()}
LINK = re.compile(r"(\]\()(?!\w+:)([^)\s#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages and their pictures."""
    root = Path(config.docs_dir).parent
    for path, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=(root / path).read_text(encoding="utf-8")))
        for picture in sorted((root / path).parent.glob("pictures/*.svg")):
            files.append(File.generated(config, str(picture.relative_to(root)), abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between files of the repository into links between pages of the site."""
    place = page.file.src_uri
    source = SOURCES.get(place, f"docs/{place}")

    def in_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[2]))
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        target = re.sub(r"^(tutorials/\w+)\.ipynb$", r"\1.md", target)
        return link[1] + posixpath.relpath(target, posixpath.dirname(place) or ".")

    return LINK.sub(in_site, markdown)
