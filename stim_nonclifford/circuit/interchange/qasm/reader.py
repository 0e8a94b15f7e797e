"""Reads OpenQASM 2 and 3, with the parser of the package ``openqasm3``.

The grammar of OpenQASM 3 includes that of OpenQASM 2 but for ``opaque``, which is read here; only ``^`` of
numbers is a power in OpenQASM 2.
"""

from __future__ import annotations

import contextlib
import io
import re
import traceback
from typing import Any

import openqasm3
import stim
from openqasm3 import ast

from ....base.errors import ResourceLimitError
from ..angles import Delays
from .execution import Execution
from .values import Refusal

_SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"', re.DOTALL)
_VERSION = re.compile(r"\bOPENQASM\s+([\d.]+)\s*;")
_VERSIONS = ("2", "2.0", "3", "3.0", "3.1")
_OPAQUE = re.compile(r"(?<![^;}\s])opaque\s+(\w+)[^;{}]*;")
_PLACED = re.compile(r"L(\d+):C\d+: (.*)")
_DEEP = "gates, blocks or expressions are nested too deeply. Write them in fewer levels."
_LONGEST = 100
_PHYSICAL = re.compile(r"\$\d+")
_QELIB = re.compile(r'\binclude\s+"qelib1\.inc"')
_PATH = re.compile(r"[^\r\n;{]*\.(?:qasm|inc|txt)\s*", re.IGNORECASE)


def read_qasm(text: str, delays: Delays | None = None) -> stim.Circuit:
    """The tagged circuit of a program; see ``Circuit.from_qasm``."""
    text = text.removeprefix("\ufeff")
    code = _SKIPPED.sub(lambda found: _blank(found[0]), text)
    is_version_2 = _is_version_2(text, code)
    opaque: list[ast.Identifier] = []
    read = text
    if is_version_2:
        for found in _OPAQUE.finditer(code):
            opaque.append(_name(code, found, 1))
            read = read[: found.start()] + _blank(found[0]) + read[found.end() :]
        read = read.replace("^", "**")  # the sign of powers in OpenQASM 3
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the parser prints its errors, too
            program = openqasm3.parse(read)
    except openqasm3.parser.QASM3ParsingError as error:
        raise ValueError(_parsing_error(text, error)) from None
    except RecursionError as error:
        raise ResourceLimitError(_too_deep(text, error)) from None
    try:
        physical = [_name(code, found, 0) for found in _PHYSICAL.finditer(code)]
        return Execution(program, is_version_2, opaque, physical, delays or Delays()).result()
    except Refusal as refusal:
        span = getattr(refusal.node, "span", None)
        where = f"{_line(text, span.start_line)}: " if span is not None else ""
        raise ValueError(f"{where}{refusal}") from None
    except RecursionError as error:
        raise ResourceLimitError(_too_deep(text, error)) from None


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _name(code: str, found: re.Match[str], group: int) -> ast.Identifier:
    """A name in the program, with its line, as the parser gives it for all that it reads itself."""
    line = code.count("\n", 0, found.start(group)) + 1
    name = ast.Identifier(found[group])
    name.span = ast.Span(line, 0, line, 0)
    return name


def _too_deep(text: str, error: RecursionError) -> str:
    """The message about a program that the parser, or its execution, cannot follow.

    Its line is that of the innermost part of the program that was being read.
    """
    number = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for name in ("localctx", "ctx", "statement"):
            part = frame.f_locals.get(name)
            start = getattr(getattr(part, "start", None), "line", None)
            number = getattr(getattr(part, "span", None), "start_line", start) or number
    return _DEEP if number is None else f"{_line(text, number, _LONGEST)}: {_DEEP}"


def _line(text: str, number: int, longest: int | None = None) -> str:
    """A line of the program and its number, for messages."""
    line = text.split("\n")[number - 1].strip()
    shown = line if longest is None or len(line) <= longest else f"{line[:longest]}..."
    return f"Line {number}: `{shown}`"


def _is_version_2(text: str, code: str) -> bool:
    """Whether the program is in OpenQASM 2, which its first line says, or the library that it includes."""
    version = _VERSION.search(code)
    if version is None:
        return any(code[found.start()] == "i" for found in _QELIB.finditer(text))
    if version[1] not in _VERSIONS:
        number = code.count("\n", 0, version.start()) + 1
        raise ValueError(
            f"{_line(text, number)}: OpenQASM {version[1]} is not known here; 2.0, 3.0 and 3.1 are."
        )
    return version[1].startswith("2")


def _parsing_error(text: str, error: Exception) -> str:
    advice = "It is no OpenQASM 2 or 3, or a name in it is a keyword of OpenQASM 3."
    if _PATH.fullmatch(text):
        return f"`{text.strip()}` looks like a path. Read the file, and give its text to Circuit.from_qasm."
    causes = [*error.args, *(error.__cause__.args if error.__cause__ else ())]
    token: Any = next(filter(None, (getattr(each, "offendingToken", None) for each in causes)), None)
    num_lines = text.count("\n") + 1
    placed = _PLACED.fullmatch(str(error))
    if placed and int(placed[1]) <= num_lines:
        return f"{_line(text, int(placed[1]))}: {placed[2]}."
    if token is None or not 1 <= token.line <= num_lines:
        said = f": {error}" if str(error) else ""
        return f"The program cannot be parsed{said}. {advice}"
    found = "the end" if token.text == "<EOF>" else repr(token.text)
    return f"{_line(text, token.line)}: the parser does not expect {found} here. {advice}"
