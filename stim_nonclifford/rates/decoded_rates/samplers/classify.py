"""Whether a decoder fails on a fault set, given the random number that fixes coins and quantum outcomes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...decoding.failure_test import FailureTest
from ..faults.mechanisms import FaultModel, Words

__all__ = ["Bits", "Classify", "bits_of_words", "fails"]

Bits = npt.NDArray[np.bool_]


def bits_of_words(words: Words, count: int) -> Bits:
    """The first bits of words, shape (rows, count)."""
    packed = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(packed, axis=1, count=count, bitorder="little").astype(np.bool_)


def fails(wrong: Bits) -> Bits:
    """Whether any observable is predicted wrongly, shape (rows,)."""
    return np.asarray(wrong.any(axis=1))


class Classify:
    """Says which observables are predicted wrongly.

    Args:
        model: The mechanisms.
        test: The decoder.
    """

    def __init__(self, model: FaultModel, test: FailureTest) -> None:
        self.model, self.test = model, test

    def __call__(self, rows: Words, numbers: Words, remember: bool = True) -> Bits:
        """Whether each observable is predicted wrongly.

        Args:
            rows: uint64, shape (sets, words): what faults and coins flip.
            numbers: uint64, shape (sets,): what fixes the quantum outcomes.
            remember: Whether equal detection events are decoded once.

        Returns:
            bool, shape (sets, observables).
        """
        rows = self.model.with_outcomes(rows, numbers)
        wrong = self.test.wrong(rows) if remember else self.test.wrong_without_memory(rows)
        return bits_of_words(wrong, self.model.num_observables)
