"""What to do about a package without its compiled module, as in a clone."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path


def what_to_do(folder: str) -> str:
    """A message for an import that has found only the sources.

    Examples:
        >>> what_to_do("/clone/stim_nonclifford").partition(",")[0]
        'stim_nonclifford in /clone/stim_nonclifford is not built'
    """
    begin = f"stim_nonclifford in {folder} is not built, as it has no compiled module for this Python."
    installed = _installed()
    if installed is None or installed.samefile(folder):
        return (
            f"{begin} Run 'pip install .' in its repository and start Python in another folder, or run 'make"
            " install' and then use .venv/bin/python."
        )
    safe_path = "'python -P', or start Python" if sys.version_info >= (3, 11) else "Python"
    return (
        f"{begin} It hides the installed one in {installed}. The command 'stim-nonclifford' works here. For"
        f" own code use {safe_path} in another folder; for the examples run 'make install', and use"
        " .venv/bin/python."
    )


def _installed() -> Path | None:
    """The folder of the installed package; None if there is none, or if it leads to a clone."""
    try:
        found = importlib.metadata.distribution("stim-nonclifford").locate_file("stim_nonclifford")
    except importlib.metadata.PackageNotFoundError:
        return None
    folder = Path(str(found))
    return folder if (folder / "__init__.py").exists() else None
