"""Checks of the arguments of public functions, so that a wrong one is refused before anything is computed.

Each check returns the argument as a plain Python value, and takes what NumPy has of the kind: ``np.int64(3)``
is an integer, ``np.float32(0.1)`` a number. A bool is no number, and an array is no scalar. A ``TypeError``
says that an argument is of the wrong kind, a ``ValueError`` that it is out of range; both name the argument,
what it may be, and what it is.
"""

from __future__ import annotations

import difflib
import math
import numbers
import operator
import os
import pathlib
import secrets
from collections.abc import Collection, Iterable
from typing import Any, BinaryIO, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

_Choice = TypeVar("_Choice", bound=str)
MOST_SHOTS = (1 << 62) - 1
_MOST_SHOWN = 60
"""Characters of a wrong argument that a message shows."""


def refuse_argument(name: str, wanted: str, value: Any, *, kind: type[Exception] = TypeError) -> NoReturn:
    """Raises the error about a wrong argument.

    Args:
        name: The name of the argument.
        wanted: What it may be.
        value: What it is.
        kind: ``TypeError`` for a value of the wrong kind, ``ValueError`` for one out of range.

    Examples:
        >>> refuse_argument("threads", "an integer >= 1", "2")
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
    """An integer argument in a range, as ``integer`` checks it, or None."""
    return (
        None
        if value is None
        else _integer(value, name, _range("an integer", least, most, " or None"), least, most)
    )


def integer_among(value: Any, name: str, choices: Collection[int]) -> int:
    """An argument as one of some integers.

    Examples:
        >>> integer_among(4, "distance", (3, 5, 7))
        Traceback (most recent call last):
        ...
        ValueError: distance must be 3, 5 or 7, but is 4.
    """
    found = _as_integer(value)
    if found is None or found not in choices:
        kind = TypeError if found is None else ValueError
        refuse_argument(name, _listed(choices), value if found is None else found, kind=kind)
    return found


def number_of_shots(value: Any, name: str = "shots") -> int:
    """An argument as a number of shots, which is below 2^62.

    Examples:
        >>> number_of_shots(1e6)
        Traceback (most recent call last):
        ...
        TypeError: shots must be an integer from 0 to 2^62 - 1, but is 1000000.0 (float).
    """
    return integer(value, name, 0, MOST_SHOTS)


def number(value: Any, name: str, least: float | None = None, most: float | None = None) -> float:
    """An argument as a finite number.

    Examples:
        >>> number(np.float64(0.5), "below", 0, 0.25)
        Traceback (most recent call last):
        ...
        ValueError: below must be a number from 0 to 0.25, but is 0.5.
    """
    return _number(value, name, _range("a number", least, most), least, most)


def probability(value: Any, name: str, most: float = 1) -> float:
    """An argument as a probability.

    Examples:
        >>> probability("1e-3", "p")
        Traceback (most recent call last):
        ...
        TypeError: p must be a probability from 0 to 1, but is '1e-3' (str).
    """
    return _number(value, name, _range("a probability", 0, most), 0, most)


def positive(value: Any, name: str) -> float:
    """An argument as a positive, finite number.

    Examples:
        >>> positive(0, "relative_error")
        Traceback (most recent call last):
        ...
        ValueError: relative_error must be a positive number, but is 0.
    """
    return _positive(value, name, "a positive number")


def positive_or_none(value: Any, name: str) -> float | None:
    """A positive number, or None."""
    return None if value is None else _positive(value, name, "a positive number or None")


def flag(value: Any, name: str) -> bool:
    """An argument as a bool.

    Examples:
        >>> flag("no", "bit_packed")
        Traceback (most recent call last):
        ...
        TypeError: bit_packed must be True or False, but is 'no' (str).
    """
    if not isinstance(value, (bool, np.bool_)):
        refuse_argument(name, "True or False", value)
    return bool(value)


def choice(value: Any, name: str, choices: Collection[_Choice], more: str = "") -> _Choice:
    """An argument as one of some names.

    Examples:
        >>> choice("numpy", "engine", ("auto", "cpu", "gpu"))
        Traceback (most recent call last):
        ...
        ValueError: engine must be 'auto', 'cpu' or 'gpu', but is 'numpy'.
    """
    found = next((each for each in choices if isinstance(value, str) and each == value), None)
    if found is None:
        kind = ValueError if isinstance(value, str) else TypeError
        refuse_argument(name, f"{_listed(choices)}{more}", value, kind=kind)
    return found


def text(value: Any, name: str) -> str:
    """An argument as a str."""
    if not isinstance(value, str):
        refuse_argument(name, "a str", value)
    return value


def path(value: Any, name: str, wanted: str = "a str or a pathlib.Path") -> pathlib.Path:
    """An argument as the path of a file.

    Examples:
        >>> path(3, "filepath")
        Traceback (most recent call last):
        ...
        TypeError: filepath must be a str or a pathlib.Path, but is 3 (int).
    """
    if not isinstance(value, (str, os.PathLike)):
        refuse_argument(name, wanted, value)
    return pathlib.Path(value)


def path_or_file(value: Any, name: str) -> pathlib.Path | BinaryIO:
    """An argument as the path of a file, or as a file opened for writing bytes."""
    if hasattr(value, "write"):
        return value
    return path(value, name, "a str, a pathlib.Path or a file opened for writing bytes")


def array(value: Any, name: str, wanted: str) -> npt.NDArray[Any]:
    """An argument as an array of its own, also if it is a list.

    Examples:
        >>> array([1, [2, 3]], "reference_sample", "bools")
        Traceback (most recent call last):
        ...
        TypeError: reference_sample must be bools, but is [1, [2, 3]] (list).
    """
    try:
        return np.array(value)
    except (TypeError, ValueError):
        refuse_argument(name, wanted, value)


def iterable(value: Any, name: str, wanted: str) -> Iterable[Any]:
    """An argument as something to loop over, which a text is not."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        refuse_argument(name, wanted, value)
    return value


def check_types(value: Any, name: str, wanted: str, *types: type) -> None:
    """Checks that an argument is an object of one of some types."""
    if not isinstance(value, types):
        refuse_argument(name, wanted, value)


def seed_of(seed: Any) -> int:
    """The seed itself; for None, a seed from the operating system's entropy. The message is Stim's.

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


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question after the first sentence of a message, or nothing if no name is similar.

    Examples:
        >>> did_you_mean("soft_postselct", ["soft_pymatching", "soft_postselect"])
        ' Did you mean soft_postselect?'
        >>> did_you_mean("mine", ["soft_pymatching", "soft_postselect"])
        ''
    """
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else ""


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
        refuse_argument(name, wanted, value)
    if (least is not None and found < least) or (most is not None and found > most):
        refuse_argument(name, wanted, found, kind=ValueError)
    return found


def _number(value: Any, name: str, wanted: str, least: float | None, most: float | None) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        refuse_argument(name, wanted, value)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    is_in_range = (least is None or found >= least) and (most is None or found <= most)
    if not math.isfinite(found) or not is_in_range:
        refuse_argument(name, wanted, value, kind=ValueError)
    return found


def _positive(value: Any, name: str, wanted: str) -> float:
    found = _number(value, name, wanted, None, None)
    if found <= 0:
        refuse_argument(name, wanted, value, kind=ValueError)
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


def _listed(choices: Collection[object]) -> str:
    """Names or numbers in words."""
    *others, last = map(repr, choices)
    return f"{', '.join(others)} or {last}" if others else last


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


def check_out(out: Any, name: str, shape: tuple[int, int], bit_packed: bool) -> None:
    """Checks an array of the caller, to which a result will be written.

    Examples:
        >>> check_out(np.zeros((2, 3), dtype=bool), "dets_out", (2, 4), False)
        Traceback (most recent call last):
        ...
        ValueError: Output buffer dets_out must be a NumPy array of dtype bool and shape (2, 4), but has ...
    """
    if out is None:
        return
    dtype = np.dtype(np.uint8 if bit_packed else np.bool_)
    shape = (shape[0], -(-shape[1] // 8)) if bit_packed else shape
    wanted = f"a NumPy array of dtype {dtype} and shape {shape}"
    if not isinstance(out, np.ndarray):
        refuse_argument(f"Output buffer {name}", wanted, out, kind=ValueError)
    if out.dtype != dtype or out.shape != shape:
        raise ValueError(
            f"Output buffer {name} must be {wanted}, but has dtype {out.dtype} and shape {out.shape}."
        )
