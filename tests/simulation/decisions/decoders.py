"""Decoders for tests."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import stim

Bits = npt.NDArray[np.uint8]


def unpacked(rows: Bits, count: int) -> Bits:
    """Packed rows as bits."""
    return np.unpackbits(rows, axis=1, count=count, bitorder="little")


class FunctionDecoder:
    """A decoder that decides by a function of the number of the decision and the detectors.

    The function maps bits, uint8 of shape (shots, num_detectors), to bits of shape (shots, num_observables). What
    it was given is noted in ``seen``.
    """

    def __init__(self, answer: Callable[[int, Bits, int], Bits]) -> None:
        self.answer = answer
        self.models: Sequence[stim.DetectorErrorModel] = ()
        self.seen: list[tuple[int, Bits]] = []

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        self.models = models

    def decide(self, number: int, detectors: Bits) -> Bits:
        model = self.models[number]
        bits = unpacked(detectors, model.num_detectors)
        self.seen.append((number, bits))
        return np.packbits(self.answer(number, bits, model.num_observables), axis=1, bitorder="little")
