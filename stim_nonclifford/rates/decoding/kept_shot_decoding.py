"""Predictions and confidences for kept shots: equal detection events are decoded once."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

from .distinct_rows import DistinctRows
from .file_decoder import FileDecoder, decodes_files

__all__ = ["ConfidentDecoder", "KeptShotDecoding"]

Rows = NDArray[np.uint8]

_LARGEST_CONFIDENCE = 2.0**53
"""Up to here, every whole number is a float64."""


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
            per shot, shape (shots,), finite: the larger, the surer. It is counted rounded to an integer.
        """
        ...


class KeptShotDecoding:
    """Decodes kept shots of a circuit with a decoder."""

    def __init__(
        self,
        decoder: sinter.Decoder,
        model: stim.DetectorErrorModel,
        *,
        name: str,
        num_observables: int,
        confidence: bool,
        store_bytes: int,
    ) -> None:
        """Compiles the decoder.

        Args:
            decoder: The decoder.
            model: The error model.
            name: The name of the decoder, for messages.
            num_observables: Number of observables of the circuit.
            confidence: Whether to ask for confidences.
            store_bytes: Memory for rows decoded before; 0 decodes every row.

        Raises:
            ValueError: The decoder cannot be compiled, or has no confidences although they are asked for.
            ImportError: A module of the decoder is missing.
        """
        self._name = name
        self._decoder = self._compiled(decoder, model)
        self._confidence = confidence
        if confidence and not isinstance(self._decoder, ConfidentDecoder):
            raise ValueError(
                f"The decoder {name} has no confidences: the object that its compile_decoder_for_dem returns"
                " has no method decode_shots_bit_packed_with_confidence. The decoders 'pymatching' and"
                " 'chromobius' have them."
            )
        self._num_observables = num_observables
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

    def _compiled(self, decoder: sinter.Decoder, model: stim.DetectorErrorModel) -> Any:
        try:
            found = decoder.compile_decoder_for_dem(dem=model)
        except (NotImplementedError, AttributeError) as error:
            if isinstance(error, AttributeError) and hasattr(decoder, "compile_decoder_for_dem"):
                raise  # it is the decoder's own error
            if decodes_files(decoder):
                return FileDecoder(decoder, model, self._name)
            raise ValueError(
                f"The decoder {self._name} has neither compile_decoder_for_dem nor decode_via_files."
                " Implement compile_decoder_for_dem, as sinter.Decoder describes it."
            ) from None
        if not callable(getattr(found, "decode_shots_bit_packed", None)):
            raise ValueError(
                f"compile_decoder_for_dem of the decoder {self._name} returned"
                f" {'None' if found is None else f'an object of type {type(found).__name__}'}. It must return"
                " a sinter.CompiledDecoder, which has the method decode_shots_bit_packed."
            )
        return found

    def _decode(self, dets: Rows) -> Rows:
        confidences = np.zeros(len(dets), dtype=np.int64)
        try:
            if self._confidence:
                answer = self._decoder.decode_shots_bit_packed_with_confidence(
                    bit_packed_detection_event_data=dets
                )
                if not isinstance(answer, tuple | list) or len(answer) != 2:
                    raise ValueError(
                        f"decode_shots_bit_packed_with_confidence of the decoder {self._name} returned"
                        f" {type(answer).__name__}; it must return a tuple: the predictions and the"
                        " confidences."
                    )
                predictions = answer[0]
                confidences[:] = np.rint(self._checked_confidences(answer[1], len(dets)))
            else:
                predictions = self._decoder.decode_shots_bit_packed(bit_packed_detection_event_data=dets)
        except ValueError as error:
            if "perfect matching" in str(error):
                raise ValueError(
                    f"The decoder {self._name} found detection events that no errors of the error model"
                    " explain. Errors that flip more than two detectors and cannot be decomposed are left"
                    " out for a matching decoder: choose another one. Or some detectors depend on quantum"
                    " outcomes that the model does not know, or the model is conditioned on the"
                    " postselection: postselect these detectors, too, or choose another error_model."
                    f" PyMatching says: {error}"
                ) from error
            raise
        self._check_predictions(predictions, len(dets))
        results = np.zeros((len(dets), self._observable_bytes + 9), dtype=np.uint8)
        results[:, : predictions.shape[1]] = predictions
        results[:, self._observable_bytes + 1 :] = confidences[:, np.newaxis].view(np.uint8)
        return results

    def _checked_confidences(self, values: Any, shots: int) -> NDArray[np.float64]:
        found = np.asarray(values)
        if found.shape != (shots,) or not np.issubdtype(found.dtype, np.number) or np.iscomplexobj(found):
            raise ValueError(
                f"The decoder {self._name} returned confidences of shape {found.shape} and dtype"
                f" {found.dtype} for {shots} shots; they must be real numbers of shape ({shots},)."
            )
        numbers = found.astype(np.float64)
        wrong = np.flatnonzero(~(np.abs(numbers) <= _LARGEST_CONFIDENCE))  # NaN is not
        if len(wrong):
            raise ValueError(
                f"The decoder {self._name} returned the confidence {numbers[wrong[0]]}, which cannot be"
                " counted as a whole number. Return finite numbers up to 2^53, such as the largest gap that"
                " occurs."
            )
        return numbers

    def _check_predictions(self, predictions: Any, shots: int) -> None:
        allowed = {(shots, self._observable_bytes), (shots, self._observable_bytes + 1)}
        found = (np.shape(predictions), getattr(predictions, "dtype", type(predictions).__name__))
        if found[0] not in allowed or found[1] != np.uint8:
            raise ValueError(
                f"The decoder {self._name} returned predictions of shape {found[0]} and dtype {found[1]} for"
                f" {shots} shots; they must have shape ({shots}, {self._observable_bytes}), with one more"
                " column if the decoder discards shots, and dtype uint8."
            )
        unused = 8 * self._observable_bytes - self._num_observables
        last = predictions[:, self._observable_bytes - 1]
        if unused and np.any(last >> np.uint8(8 - unused)):
            raise ValueError(
                f"The decoder {self._name} predicts a flip of an observable that the circuit does not have."
                " Predictions are bit-packed, observable 0 in the lowest bit; bits from"
                f" {self._num_observables} on must be 0."
            )
