"""Names of an OpenQASM program: what they stand for, and where they are known.

A block has a scope of its own, in which a name may be declared again. The body of a gate knows constants and
gates alone, and those only that were declared before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .values import Refusal, Value

_CONSTANTS = {"pi": math.pi, "π": math.pi, "tau": math.tau, "τ": math.tau, "euler": math.e, "ℇ": math.e}


@dataclass(slots=True)
class Variable:
    """What a name stands for."""

    value: Any  # its value; for a gate, its definition; None for a gate that is opaque
    kind: Any = None  # its type in the syntax tree, if it can be assigned to
    is_constant: bool = False  # whether the bodies of gates know it


class Scopes:
    """The scopes that hold at a place of a program, from the outermost to the innermost."""

    def __init__(self) -> None:
        self._frames: list[dict[str, Variable]] = [
            {name: Variable(value, is_constant=True) for name, value in _CONSTANTS.items()}
        ]

    def find(self, name: str) -> Variable | None:
        """What a name stands for, or None."""
        return next((frame[name] for frame in reversed(self._frames) if name in frame), None)

    def value(self, name: str) -> Value | None:
        """The value of a name, or None."""
        found = self.find(name)
        return None if found is None else found.value

    def declare(self, node: Any, name: str, variable: Variable) -> None:
        """Declares a name in the innermost scope."""
        if name in self._frames[-1]:
            raise Refusal(node, f"{name} is declared already, or a gate of the library. Choose another name.")
        self._frames[-1][name] = variable

    @property
    def is_global(self) -> bool:
        """Whether no block is open."""
        return len(self._frames) == 1

    @contextmanager
    def block(self) -> Iterator[None]:
        """A further scope inside."""
        self._frames.append({})
        try:
            yield
        finally:
            self._frames.pop()

    def constants(self) -> dict[str, Variable]:
        """The constants that are known here."""
        return {
            name: variable
            for frame in self._frames
            for name, variable in frame.items()
            if variable.is_constant
        }

    @contextmanager
    def only(self, names: dict[str, Variable]) -> Iterator[None]:
        """Some names take the place of all others."""
        outer, self._frames = self._frames, [names]
        try:
            yield
        finally:
            self._frames = outer
