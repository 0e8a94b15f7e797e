"""Collects what errors and warnings name: methods of circuits, arguments of functions, options of commands."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
_NAMED = re.compile(
    r"\b[Cc]ircuit\.(?P<method>\w+)\("
    r"|(?<![\w.\0\"'-])(?P<argument>[a-z]\w+)=(?=[\"'A-Z\d\0.,;: ]|$)"
    r"|(?P<option>--[a-z]\w+)"
)
_SENTENCE = re.compile(r"\w+ \w+ \w+")
_HELP = {"help", "description", "epilog", "usage", "metavar"}
_HOLE = "\0"


@functools.cache
def texts() -> list[tuple[str, str]]:
    """The files of the code, and their texts that are no docstrings and no help of commands."""
    return [
        (path.relative_to(ROOT).as_posix(), text)
        for folder in ("stim_nonclifford", "sinter_plugin")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for text in _texts(ast.parse(path.read_text(encoding="utf-8")))
    ]


def named_in_sentences() -> Iterator[tuple[str, str, str]]:
    """What sentences name: the file, the kind, and the name."""
    for place, text in texts():
        if _SENTENCE.search(text) and "<" not in text:
            for found in _NAMED.finditer(text):
                yield place, str(found.lastgroup), found[str(found.lastgroup)]


def _texts(tree: ast.Module) -> Iterator[str]:
    skipped: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                skipped.add(id(docstring))
            case ast.JoinedStr(values=parts):
                skipped.update(map(id, parts))
            case ast.keyword(arg=name, value=value) if name in _HELP:
                skipped.update(map(id, ast.walk(value)))
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else _HOLE for part in node.values
            )
