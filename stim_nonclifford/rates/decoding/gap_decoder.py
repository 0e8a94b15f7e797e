"""What decoders with a complementary gap share."""

from __future__ import annotations

import abc

import numpy as np
import sinter
from numpy.typing import NDArray

__all__ = ["CompiledGapDecoder"]


class CompiledGapDecoder(sinter.CompiledDecoder, abc.ABC):  # type: ignore[misc]  # Sinter has no type marker.
    """A compiled decoder that weighs the logical classes of errors against each other.

    It is a ``ConfidentDecoder``, whose confidence is the complementary gap.
    """

    @abc.abstractmethod
    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """The predictions and their complementary gaps.

        Args:
            bit_packed_detection_event_data: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            The predictions, uint8, shape (shots, ceil(num_observables / 8)), and the gaps in decibels,
            float64, shape (shots,).
        """

    def decode_shots_bit_packed(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """The predictions alone; see ``sinter.CompiledDecoder``."""
        return self.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        )[0]
