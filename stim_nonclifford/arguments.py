"""Checks of the arguments of public functions, so that a wrong one is refused before anything is computed.

Each check returns the argument as a plain Python value, and takes what NumPy has of the kind: ``np.int64(3)``
is an integer, ``np.float32(0.1)`` a number. A bool is no number, and an array is no scalar. A ``TypeError``
says that an argument is of the wrong kind, a ``ValueError`` that it is out of range; both name the argument,
what it may be, and what it is.
"""

from __future__ import annotations

import math
import numbers
import operator
import os
import pathlib
import secrets
from collections.abc import Collection
from typing import Any, NoReturn, TypeVar

import numpy as np

__all__ = [
    "check_types",
    "choice",
    "flag",
    "integer",
    "integer_or_none",
    "number",
    "path",
    "positive",
    "positive_or_none",
    "probability",
    "refuse",
    "seed_of",
    "text",
]

_Choice = TypeVar("_Choice", bound=str)
_MOST_SHOWN = 60
"""Characters of a wrong argument that a message shows."""


def refuse(name: str, wanted: str, value: Any, *, kind: type[Exception] = TypeError) -> NoReturn:
    """Raises the error about a wrong argument.

    Args:
        name: The name of the argument.
        wanted: What it may be.
        value: What it is.
        kind: ``TypeError`` for a value of the wrong kind, ``ValueError`` for one out of range.

    Examples:
        >>> refuse("threads", "an integer >= 1", "2")
        Traceback (most recent call last):
        ...
        TypeError: threads must be an integer >= 1, but is '2' (str).
    """
    shown = _shown(value)
    type_of = f" ({type(value).__name__})" if kind is TypeError and value is not None else ""
    raise kind(f"{name} must be {wanted}, but is {shown}{type_of}.")


def integer(value: Any, name: str, least: int | None = 0, most: int | None = None) -> int:
    """An argument as an integer.

    Args:
        value: The argument.
        name: Its name.
        least: The least value that it may have; None: any.
        most: The largest, which needs a least one; None: any.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is out of range.

    Examples:
        >>> integer(True, "distance", 3, 9)
        Traceback (most recent call last):
        ...
        TypeError: distance must be an integer from 3 to 9, but is True (bool).
    """
    return _integer(value, name, _range("an integer", least, most), least, most)


def integer_or_none(value: Any, name: str, least: int | None = 0, most: int | None = None) -> int | None:
    """The same for an argument that may be None."""
    return (
        None
        if value is None
        else _integer(value, name, _range("an integer", least, most, " or None"), least, most)
    )


def number(value: Any, name: str, least: float | None = None, most: float | None = None) -> float:
    """An argument as a finite number.

    Raises:
        TypeError: It is not a real number.
        ValueError: It is not finite, or out of range.

    Examples:
        >>> number(np.float64(0.5), "below", 0, 0.25)
        Traceback (most recent call last):
        ...
        ValueError: below must be a number from 0 to 0.25, but is 0.5.
    """
    return _number(value, name, _range("a number", least, most), least, most)


def probability(value: Any, name: str, most: float = 1) -> float:
    """An argument as a probability.

    Args:
        value: The argument.
        name: Its name.
        most: The largest value that it may have.

    Raises:
        TypeError: It is not a real number.
        ValueError: It is out of range.

    Examples:
        >>> probability("1e-3", "p")
        Traceback (most recent call last):
        ...
        TypeError: p must be a probability from 0 to 1, but is '1e-3' (str).
    """
    return _number(value, name, _range("a probability", 0, most), 0, most)


def positive(value: Any, name: str) -> float:
    """An argument as a positive, finite number.

    Raises:
        TypeError: It is not a real number.
        ValueError: It is not positive, or not finite.

    Examples:
        >>> positive(0, "relative_error")
        Traceback (most recent call last):
        ...
        ValueError: relative_error must be a positive number, but is 0.
    """
    return _positive(value, name, "a positive number")


def positive_or_none(value: Any, name: str) -> float | None:
    """The same for an argument that may be None."""
    return None if value is None else _positive(value, name, "a positive number or None")


def flag(value: Any, name: str) -> bool:
    """An argument as a bool.

    Raises:
        TypeError: It is not a bool.

    Examples:
        >>> flag("no", "bit_packed")
        Traceback (most recent call last):
        ...
        TypeError: bit_packed must be True or False, but is 'no' (str).
    """
    if not isinstance(value, (bool, np.bool_)):
        refuse(name, "True or False", value)
    return bool(value)


def choice(value: Any, name: str, choices: Collection[_Choice]) -> _Choice:
    """An argument as one of some names.

    Raises:
        TypeError: It is not a str.
        ValueError: It is another str.

    Examples:
        >>> choice("numpy", "engine", ("auto", "cpu", "gpu"))
        Traceback (most recent call last):
        ...
        ValueError: engine must be 'auto', 'cpu' or 'gpu', but is 'numpy'.
    """
    found = next((each for each in choices if type(value) is str and each == value), None)
    if found is None:
        *others, last = map(repr, choices)
        wanted = f"{', '.join(others)} or {last}" if others else last
        refuse(name, wanted, value, kind=ValueError if isinstance(value, str) else TypeError)
    return found


def text(value: Any, name: str) -> str:
    """An argument as a str.

    Raises:
        TypeError: It is not a str.
    """
    if not isinstance(value, str):
        refuse(name, "a str", value)
    return value


def path(value: Any, name: str) -> pathlib.Path:
    """An argument as the path of a file.

    Raises:
        TypeError: It is neither a str nor a path.

    Examples:
        >>> path(3, "filepath")
        Traceback (most recent call last):
        ...
        TypeError: filepath must be a str or a pathlib.Path, but is 3 (int).
    """
    if not isinstance(value, (str, os.PathLike)):
        refuse(name, "a str or a pathlib.Path", value)
    return pathlib.Path(value)


def check_types(value: Any, name: str, wanted: str, *types: type) -> None:
    """Checks that an argument is an object of one of some types.

    Args:
        value: The argument.
        name: Its name.
        wanted: What it may be, for the message.
        *types: The types.

    Raises:
        TypeError: It is of no such type.
    """
    if not isinstance(value, types):
        refuse(name, wanted, value)


def seed_of(seed: Any) -> int:
    """The seed itself; for None, a seed from the operating system's entropy. The message is Stim's.

    Raises:
        ValueError: The seed is neither None nor an integer in range(2**64).

    Examples:
        >>> seed_of(-1)
        Traceback (most recent call last):
        ...
        ValueError: Expected seed to be None or a 64 bit unsigned integer, got -1.
    """
    if seed is None:
        return secrets.randbits(64)
    found = _as_integer(seed)
    if found is None or not 0 <= found < 1 << 64:
        raise ValueError(f"Expected seed to be None or a 64 bit unsigned integer, got {_shown(seed)}.")
    return found


def _as_integer(value: Any) -> int | None:
    """The value if it is an integer, as an int."""
    if isinstance(value, (bool, np.bool_, np.ndarray)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _integer(value: Any, name: str, wanted: str, least: int | None, most: int | None) -> int:
    found = _as_integer(value)
    if found is None:
        refuse(name, wanted, value)
    if (least is not None and found < least) or (most is not None and found > most):
        refuse(name, wanted, found, kind=ValueError)
    return found


def _number(value: Any, name: str, wanted: str, least: float | None, most: float | None) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        refuse(name, wanted, value)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    is_in_range = (least is None or found >= least) and (most is None or found <= most)
    if not math.isfinite(found) or not is_in_range:
        refuse(name, wanted, value, kind=ValueError)
    return found


def _positive(value: Any, name: str, wanted: str) -> float:
    found = _number(value, name, wanted, None, None)
    if found <= 0:
        refuse(name, wanted, value, kind=ValueError)
    return found


def _range(kind: str, least: float | None, most: float | None, more: str = "") -> str:
    """A kind of number and its range, in words."""
    if least is None:
        return f"{'a finite number' if kind == 'a number' else kind}{more}"
    return (
        f"{kind} >= {_written(least)}{more}"
        if most is None
        else f"{kind} from {_written(least)} to {_written(most)}{more}"
    )


def _written(bound: float) -> str:
    """A bound in digits; a large one next to a power of two by that power."""
    for offset, end in ((0, ""), (1, " - 1")):
        if isinstance(bound, int) and bound > 1 << 20 and (bound + offset).bit_count() == 1:
            return f"2^{(bound + offset).bit_length() - 1}{end}"
    return f"{bound}"


def _shown(value: Any) -> str:
    """A wrong argument, as far as a message has room for it."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        shown = repr(value)
    except ValueError:  # an integer with thousands of digits
        return f"an integer of {value.bit_length()} bits"
    except Exception:
        return "an object that cannot be printed"
    shown = " ".join(shown.split())
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 3]}..."
