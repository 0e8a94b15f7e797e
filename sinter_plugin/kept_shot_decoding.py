"""Predictions and confidences for kept shots: equal detection events are decoded once."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

from .distinct_rows import DistinctRows

__all__ = ["ConfidentDecoder", "KeptShotDecoding"]

Rows = NDArray[np.uint8]


@runtime_checkable
class ConfidentDecoder(Protocol):
    """What a compiled decoder must have so that its confidence is counted.

    A decoder of one's own is a ``sinter.Decoder`` whose ``compile_decoder_for_dem`` returns a
    ``sinter.CompiledDecoder`` with this method.
    """

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: Rows
    ) -> tuple[Rows, NDArray[Any]]:
        """Predicts observable flips, and says how sure that is.

        Args:
            bit_packed_detection_event_data: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            The predictions as ``sinter.CompiledDecoder.decode_shots_bit_packed`` returns them, and one number
            per shot, shape (shots,): the larger, the surer. It is counted rounded to an integer.
        """
        ...


class KeptShotDecoding:
    """Decodes kept shots of a circuit with a decoder."""

    def __init__(
        self,
        decoder: sinter.Decoder,
        model: stim.DetectorErrorModel,
        *,
        num_observables: int,
        confidence: bool,
        store_bytes: int,
    ) -> None:
        """Compiles the decoder.

        Args:
            decoder: The decoder.
            model: The error model.
            num_observables: Number of observables of the circuit.
            confidence: Whether to ask for confidences.
            store_bytes: Memory for rows decoded before; 0 decodes every row.

        Raises:
            ValueError: The decoder cannot be compiled, or has no confidences although they are asked for.
            ImportError: A module of the decoder is missing.
        """
        try:
            self._decoder = decoder.compile_decoder_for_dem(dem=model)
        except NotImplementedError:
            raise ValueError(
                f"The decoder {type(decoder).__name__} has no compile_decoder_for_dem, and decodes files"
                " only, which this sampler does not write. Implement compile_decoder_for_dem."
            ) from None
        self._confidence = confidence
        if confidence and not isinstance(self._decoder, ConfidentDecoder):
            raise ValueError(
                f"The decoder {type(decoder).__name__} has no confidences: the object that its"
                " compile_decoder_for_dem returns has no method decode_shots_bit_packed_with_confidence. The"
                " decoders 'pymatching' and 'chromobius' have them."
            )
        self._observable_bytes = -(-num_observables // 8)
        # A prediction, the byte that says whether the decoder discards the shot, the confidence.
        self._rows = DistinctRows(
            self._decode,
            row_bytes=-(-model.num_detectors // 8),
            result_bytes=self._observable_bytes + 9,
            max_bytes=store_bytes,
        )

    def decode(self, dets: Rows) -> tuple[Rows, NDArray[np.bool_], NDArray[np.int64]]:
        """Decodes shots.

        Args:
            dets: Detection events, uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            The predictions, uint8, shape (shots, ceil(num_observables / 8)); whether the decoder discards
            each shot, bool; and the confidences, int64, which are 0 if nobody asked for them.

        Raises:
            ValueError: The decoder returned something else than predictions, or cannot decode the events.
        """
        found = self._rows.results(dets)
        end = self._observable_bytes
        confidences = np.ascontiguousarray(found[:, end + 1 :]).view(np.int64)[:, 0]
        return found[:, :end], found[:, end] != 0, confidences

    def statistics(self) -> dict[str, int]:
        """See ``DistinctRows.statistics``."""
        return self._rows.statistics()

    def _decode(self, dets: Rows) -> Rows:
        confidences = np.zeros(len(dets), dtype=np.int64)
        try:
            if self._confidence:
                predictions, values = self._decoder.decode_shots_bit_packed_with_confidence(
                    bit_packed_detection_event_data=dets
                )
                confidences[:] = np.rint(values)
            else:
                predictions = self._decoder.decode_shots_bit_packed(bit_packed_detection_event_data=dets)
        except ValueError as error:
            if "perfect matching" in str(error):
                raise ValueError(
                    "The decoder found detection events that no errors of the error model explain. Some"
                    " detectors depend on quantum outcomes that the model does not know, or the model is"
                    " conditioned on the postselection: postselect these detectors, too, or choose another"
                    f" error_model. PyMatching says: {error}"
                ) from error
            raise
        allowed = {(len(dets), self._observable_bytes), (len(dets), self._observable_bytes + 1)}
        found = (np.shape(predictions), getattr(predictions, "dtype", type(predictions).__name__))
        if found[0] not in allowed or found[1] != np.uint8:
            raise ValueError(
                f"The decoder returned predictions of shape {found[0]} and dtype {found[1]} for {len(dets)}"
                f" shots; they must have shape ({len(dets)}, {self._observable_bytes}), with one more column"
                " if the decoder discards shots, and dtype uint8."
            )
        results = np.zeros((len(dets), self._observable_bytes + 9), dtype=np.uint8)
        results[:, : predictions.shape[1]] = predictions
        results[:, self._observable_bytes + 1 :] = confidences[:, np.newaxis].view(np.uint8)
        return results
