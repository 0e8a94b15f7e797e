"""Warnings that change what a number means stand in the row: ``custom_counts`` count the shots in question.

Counts of rows are added up, so that the sum says how many of its shots a warning is about. They do not enter
the ``strong_id``.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

QUANTUM_DETECTORS = "warning: decoded detectors depend on quantum outcomes"
"""The decoder saw detectors that no error model describes exactly."""

RANDOM_DECODER = "warning: the decoder answers equal detection events differently"
"""Every shot was decoded. Of shots counted before that was seen, equal ones may have shared one answer."""

RANDOM_DECODER_REMEDY = (
    "Every shot is decoded from now on, and the shots at hand are counted anew. To decode every shot from the"
    " beginning: SoftDecodingSampler(decoder=..., store_bytes=0)."
)
"""What is done about such a decoder, and what a user can do."""

RANDOM_OUTPUTS = "warning: observables or decoded detectors are random without noise"
"""What was counted as an error may be none."""

FLIPPED_BY_CHANCE = "warning: single errors flip observables by chance"
"""No decoder can save such an observable."""

IGNORED_DETECTORS = "warning: detectors are neither postselected nor decoded"
"""Detectors that had no influence on the result."""

UNUSED_HERALDS = "warning: heralds tell the decoder nothing"
"""A decoder that learns nothing from heralds about the errors that they announce."""


@contextlib.contextmanager
def shown_warnings(shown: bool) -> Iterator[None]:
    """Warnings in the context are shown as ever, or not at all."""
    if shown:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
