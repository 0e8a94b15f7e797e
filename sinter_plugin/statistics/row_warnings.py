"""Warnings that change what a number means stand in the row: ``custom_counts`` count the shots in question.

Counts of rows are added up, so that the sum says how many of its shots a warning is about. They do not enter
the ``strong_id``.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import replace

import sinter

__all__ = [
    "FLIPPED_BY_CHANCE",
    "IGNORED_DETECTORS",
    "QUANTUM_DETECTORS",
    "RANDOM_OUTPUTS",
    "S_PROXY",
    "UNUSED_HERALDS",
    "counted",
    "shown_warnings",
    "with_warning",
]

QUANTUM_DETECTORS = "warning: decoded detectors depend on quantum outcomes"
"""The decoder saw detectors that no error model describes exactly."""

RANDOM_OUTPUTS = "warning: observables or decoded detectors are random without noise"
"""What was counted as an error may be none."""

FLIPPED_BY_CHANCE = "warning: single errors flip observables by chance"
"""No decoder can save such an observable."""

IGNORED_DETECTORS = "warning: detectors are neither postselected nor decoded"
"""Nothing was made of what they see."""

UNUSED_HERALDS = "warning: heralds tell the decoder nothing"
"""Of the errors that they announce, the decoder knows as little as without them."""

S_PROXY = "warning: sampled with S in place of T"
"""Stim has sampled the circuit, in which tags are comments."""


@contextlib.contextmanager
def shown_warnings(shown: bool) -> Iterator[None]:
    """Warnings in the context are shown as ever, or not at all.

    Args:
        shown: Whether they are.
    """
    if shown:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def with_warning(row: sinter.TaskStats, warning: str) -> sinter.TaskStats:
    """A row that says that a warning is about all of its shots.

    Args:
        row: The row.
        warning: The name of the count.

    Returns:
        The row with a further count.

    Examples:
        >>> with_warning(sinter.TaskStats("id", "pymatching", None, shots=9), S_PROXY).custom_counts
        Counter({'warning: sampled with S in place of T': 9})
    """
    return replace(row, custom_counts=row.custom_counts + type(row.custom_counts)({warning: row.shots}))


def counted(number: int, noun: str) -> str:
    """A number of things.

    Examples:
        >>> counted(1, "detector"), counted(2, "detector")
        ('1 detector', '2 detectors')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
