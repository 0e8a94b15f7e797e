"""Collects the sentences of the code that say what to do, from the texts of errors and warnings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
_VERBS = (
    "add|allow|apply|ask|call|change|check|choose|collect|combine|compile|compute|correct|count|create|declare"
    "|decode|define|delete|discard|divide|draw|drop|end|estimate|evaluate|export|free|generate|give|implement"
    "|include|install|keep|leave|limit|list|lower|make|mark|measure|merge|move|name|number|open|pack|pad|pass"
    "|postselect|put|raise|read|register|remove|rename|repeat|replace|reset|return|round|run|sample|save|search"
    "|select|set|simulate|split|start|store|take|try|turn|unroll|update|use|wait|write"
)
_ADVICE = re.compile(rf"(?:^|[.;:,)] |\b(?:or|and) |either |otherwise,? )(?:{_VERBS})\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!])\s+(?=[A-Z`\0-])")
_HELP = {"help", "description", "epilog", "usage", "metavar"}
_HOLE = "\0"


class Remedy:
    """A sentence in the code that advises something.

    Attributes:
        place: The file.
        text: The sentence, with {} where values are put in.
    """

    def __init__(self, place: str, sentence: str) -> None:
        self.place, self.text = place, " ".join(sentence.replace(_HOLE, "{}").split())
        self._pattern = re.compile(
            ".*?".join(re.escape(part).replace(r"\ ", r"\s+") for part in self.text.split("{}")),
            re.DOTALL | re.IGNORECASE,
        )

    def is_in(self, message: str) -> bool:
        """Whether a message has the sentence."""
        return self._pattern.search(message) is not None


def remedies() -> list[Remedy]:
    """All of them."""
    found = []
    for folder in ("stim_nonclifford", "sinter_plugin"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            for text in _texts(ast.parse(path.read_text())):
                found += [
                    Remedy(place, sentence)
                    for sentence in _SENTENCE.split(text)
                    if len(sentence.split()) >= 2 and _ADVICE.search(sentence)
                ]
    return found


def _texts(tree: ast.Module) -> Iterator[str]:
    """The texts of a module that are no docstrings and no help of commands."""
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
