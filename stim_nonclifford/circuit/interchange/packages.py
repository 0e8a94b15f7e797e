"""Imports packages of other languages, which are installed as extras."""

from __future__ import annotations

import importlib
import os
from typing import Any


def needed(module: str, what: str, package: str, extra: str) -> Any:
    """A module that belongs to an extra; if it is not installed, the message says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {package}: {error}. Install it: pip install '{package}' or, in a clone of this"
            f" package, pip install '.[{extra}]'."
        ) from None


def remedy_for(circuit: object) -> str:
    """What to write for an argument that is no circuit of Stim."""
    package = type(circuit).__module__.partition(".")[0]
    if isinstance(circuit, os.PathLike):
        return " Read a file with Circuit.from_file(path)."
    return f" Read it with Circuit.from_{package}(circuit)." if package in ("qiskit", "cirq") else ""
