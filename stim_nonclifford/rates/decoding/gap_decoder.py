"""Decoders that say how sure they are."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["ConfidentDecoder"]


@runtime_checkable
class ConfidentDecoder(Protocol):
    """What a compiled decoder must have so that its confidence is counted.

    A decoder of one's own is a ``sinter.Decoder`` whose ``compile_decoder_for_dem`` returns a
    ``sinter.CompiledDecoder`` with this method. The confidence of the decoders of this package is the
    complementary gap, in decibels.
    """

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint8], NDArray[Any]]:
        """Predicts observable flips, and says how sure that is.

        Args:
            bit_packed_detection_event_data: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            The predictions as ``sinter.CompiledDecoder.decode_shots_bit_packed`` returns them, and one number
            per shot, shape (shots,), finite: the larger, the surer. It is counted rounded to an integer.
        """
        ...

    def decode_shots_bit_packed(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """The predictions alone; see ``sinter.CompiledDecoder``. Those who subclass this class inherit it."""
        return self.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        )[0]
