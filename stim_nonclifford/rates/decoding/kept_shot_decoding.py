"""Answers of decoders, predictions and confidences: checked, and once for equal detection events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

from ...base.arrays import Bools, Bytes, Floats, Integers
from .distinct_rows import DistinctRows
from .matching.matching_graph import model_errors

_LARGEST_CONFIDENCE = 2.0**53
"""Up to here, every whole number is a float64."""

_MOST_OBSERVABLES_OF_SINTERS = 64


@runtime_checkable
class ConfidentDecoder(Protocol):
    """What a compiled decoder must have so that its confidence is counted.

    A decoder of one's own is a ``sinter.Decoder`` whose ``compile_decoder_for_dem`` returns a
    ``sinter.CompiledDecoder`` with this method. The confidence of the decoders of this package is the
    complementary gap, in decibels.
    """

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: Bytes
    ) -> tuple[Bytes, NDArray[Any]]:
        """Predicts observable flips, and says how sure that is.

        Args:
            bit_packed_detection_event_data: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            The predictions as ``sinter.CompiledDecoder.decode_shots_bit_packed`` returns them, and one number
            per shot, shape (shots,), finite: the larger, the surer. It is counted rounded to an integer.
        """
        ...

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bytes) -> Bytes:
        """The predictions alone; see ``sinter.CompiledDecoder``. Those who subclass this class inherit it."""
        return self.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        )[0]


class DecoderFailedError(ValueError):
    """A decoder raised an error on detection events.

    Attributes:
        events: The bit-packed detection events, uint8, shape (ceil(num_detectors / 8),).
    """

    def __init__(self, message: str, events: Bytes) -> None:
        super().__init__(message)
        self.events = events

    def __reduce__(self) -> tuple[Any, ...]:  # workers send it
        return type(self), (str(self), self.events)


@dataclass(eq=False)
class CheckedDecoder:
    """A decoder that is compiled for an error model, and whose answers are checked.

    Pickled, it is compiled again where it arrives. With an observable, ``predict`` predicts only that one.
    Events and predictions are bit-packed: uint8, shape (shots, bytes).
    """

    decoder: sinter.Decoder
    model: stim.DetectorErrorModel
    name: str
    confidence: bool
    observable: int | None = None

    def __post_init__(self) -> None:
        self._decoder = self._compiled()
        if self.confidence and not isinstance(self._decoder, ConfidentDecoder):
            raise ValueError(
                f"The decoder {self.name} has no confidences: the object that its compile_decoder_for_dem"
                " returns has no method decode_shots_bit_packed_with_confidence. The decoders 'pymatching'"
                " and 'chromobius' have them."
            )
        self._num_observables = self.model.num_observables
        self.detector_bytes = -(-self.model.num_detectors // 8)
        self.observable_bytes = -(-self.model.num_observables // 8)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.decoder, self.model, self.name, self.confidence, self.observable)

    def predict(self, dets: Bytes, /) -> tuple[Bytes, Integers]:
        """Predictions and rounded confidences, 0 if not wanted, of a decoder that discards no shot."""
        predictions, is_discarded, confidences = self.decode(dets)
        if is_discarded.any():
            raise ValueError(
                f"The decoder {self.name} discards shots. The rate of the shots that such a decoder keeps is"
                " not known from failing fault sets alone: count it with SoftDecodingSampler."
            )
        if self.observable is not None:
            byte, bit = divmod(self.observable, 8)
            predictions = predictions[:, [byte]] >> np.uint8(bit) & np.uint8(1)
        return predictions, np.rint(confidences).astype(np.int64)

    def decode(self, dets: Bytes) -> tuple[Bytes, Bools, Floats]:
        """Predictions, whether the decoder discards each shot, and confidences, which are 0 if not wanted."""
        confidences = np.zeros(len(dets))
        predictions = self._returned(dets)
        if self.confidence:
            if not isinstance(predictions, tuple | list) or len(predictions) != 2:
                raise ValueError(
                    f"decode_shots_bit_packed_with_confidence of the decoder {self.name} returned"
                    f" {type(predictions).__name__}; it must return a tuple: the predictions and the"
                    " confidences."
                )
            predictions, values = predictions
            confidences = self._checked_confidences(values, len(dets))
        self._check_predictions(predictions, len(dets))
        is_discarded = predictions[:, self.observable_bytes :].any(axis=1)
        return predictions[:, : self.observable_bytes], is_discarded, confidences

    def _compiled(self) -> Any:
        decoder, model = self.decoder, self.model
        try:
            found = decoder.compile_decoder_for_dem(dem=model)
        except SystemExit as error:
            raise ValueError(
                f"The decoder {self.name} ended the program with SystemExit({error})."
            ) from error
        except OverflowError as error:
            if model.num_observables <= _MOST_OBSERVABLES_OF_SINTERS:
                raise
            raise ValueError(
                f"The decoder {self.name} cannot decode {model.num_observables} observables ({error})."
                f" Sinter's fusion_blossom, mw_parity_factor and hypergraph_union_find keep the observables"
                f" of an error in a number of {_MOST_OBSERVABLES_OF_SINTERS} bits; pymatching has no such"
                " limit."
            ) from error
        except (NotImplementedError, AttributeError) as error:
            if isinstance(error, AttributeError) and hasattr(decoder, "compile_decoder_for_dem"):
                raise  # it is the decoder's own error
            method = getattr(type(decoder), "decode_via_files", None)
            if method not in (None, sinter.Decoder.decode_via_files):
                return _FileDecoder(decoder, model)
            raise ValueError(
                f"The decoder {self.name} has neither compile_decoder_for_dem nor decode_via_files."
                " Implement compile_decoder_for_dem, as sinter.Decoder describes it."
            ) from None
        if not callable(getattr(found, "decode_shots_bit_packed", None)):
            raise ValueError(
                f"compile_decoder_for_dem of the decoder {self.name} returned"
                f" {'None' if found is None else f'an object of type {type(found).__name__}'}. It must return"
                " a sinter.CompiledDecoder, which has the method decode_shots_bit_packed."
            )
        return found

    def _returned(self, dets: Bytes) -> Any:
        """What the decoder returns. Its errors are reported with its name and with detection events."""
        try:
            return self._called(dets)
        except (Exception, SystemExit) as error:
            if "perfect matching" in str(error):
                raise ValueError(
                    f"The decoder {self.name} found detection events that no errors of the error model"
                    " explain. Errors that flip more than two detectors and cannot be decomposed are left"
                    " out for a matching decoder: choose another one. Or some detectors depend on quantum"
                    " outcomes that the model does not know, or the model is conditioned on the"
                    " postselection: postselect these detectors, too, or sample with another model:"
                    " SoftDecodingSampler(error_model=...)."
                    f" PyMatching says: {error}"
                ) from error
            row, own = dets[0], error
            for k in range(len(dets)):  # the first row on which it fails alone, otherwise the first row
                try:
                    self._called(np.ascontiguousarray(dets[k : k + 1]))
                except (Exception, SystemExit) as of_row:
                    row, own = dets[k], of_row
                    break
            fired = np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist()
            names = " ".join(f"D{k}" for k in fired[:20]) + (" ..." if len(fired) > 20 else "")
            raise DecoderFailedError(
                f"The decoder {self.name} failed on the detection events {names or '(none)'} with"
                f" {type(own).__name__}{f': {own}' if str(own) else ''}.",
                row,
            ) from error

    def _called(self, dets: Bytes) -> Any:
        if self.confidence:
            return self._decoder.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=dets)
        return self._decoder.decode_shots_bit_packed(bit_packed_detection_event_data=dets)

    def _checked_confidences(self, values: Any, shots: int) -> Floats:
        found = np.asarray(values)
        if found.shape != (shots,) or not np.issubdtype(found.dtype, np.number) or np.iscomplexobj(found):
            raise ValueError(
                f"The decoder {self.name} returned confidences of shape {found.shape} and dtype"
                f" {found.dtype} for {shots} shots; they must be real numbers of shape ({shots},)."
            )
        numbers = found.astype(np.float64)
        wrong = np.flatnonzero(~(np.abs(numbers) <= _LARGEST_CONFIDENCE))  # NaN is not
        if len(wrong):
            raise ValueError(
                f"The decoder {self.name} returned the confidence {numbers[wrong[0]]}, which cannot be"
                " counted as a whole number. Return finite numbers up to 2^53, such as the largest gap that"
                " occurs."
            )
        return numbers

    def _check_predictions(self, predictions: Any, shots: int) -> None:
        is_array = isinstance(predictions, np.ndarray)
        shape = predictions.shape if is_array else ()
        dtype = predictions.dtype if is_array else type(predictions).__name__
        width = self.observable_bytes
        if shape not in {(shots, width), (shots, width + 1)} or dtype != np.uint8:
            hint = ""
            if isinstance(predictions, tuple | list):
                hint = (
                    " Weights or confidences beside them belong into the result of"
                    " decode_shots_bit_packed_with_confidence, which confidence=True calls."
                )
            elif shape == (shots, self._num_observables):
                hint = " Pack the observables: np.packbits(..., axis=1, bitorder='little')."
            raise ValueError(
                f"The decoder {self.name} returned predictions of shape {shape} and dtype {dtype} for"
                f" {shots} shots; they must be a bit-packed numpy array of shape ({shots}, {width}), with one"
                f" more column if the decoder discards shots, and dtype uint8.{hint}"
            )
        in_two_ways = shape[1] == self._num_observables > width
        if in_two_ways and np.any(predictions[:, -1] == 1) and not self._is_packed:
            raise ValueError(
                f"The decoder {self.name} returned predictions of shape {predictions.shape} for 2"
                " observables. They may be bit-packed with a byte that discards the shot, or have a byte for"
                " each observable. In the second case, pack them: np.packbits(..., axis=1,"
                f" bitorder='little'), of shape ({shots}, 1). In the first case, discard with the byte 255."
            )
        unused = 8 * width - self._num_observables
        last = predictions[:, width - 1]
        if unused and np.any(last >> np.uint8(8 - unused)):
            raise ValueError(
                f"The decoder {self.name} predicts a flip of an observable that the circuit does not have."
                " Predictions are bit-packed, observable 0 in the lowest bit; bits from"
                f" {self._num_observables} on must be 0."
            )

    @cached_property
    def _is_packed(self) -> bool:
        """Whether the decoder returns numbers that are no single bits for single errors."""
        errors = model_errors(self.model)
        if not errors:
            return False
        events = np.zeros((len(errors), self.model.num_detectors), dtype=np.bool_)
        for row, error in zip(events, errors, strict=True):
            row[list(error.detectors)] = True
        found = self._returned(np.packbits(events, axis=1, bitorder="little"))
        predictions = found[0] if self.confidence else found
        return bool(np.any(np.asarray(predictions) > 1))


@dataclass(frozen=True)
class _FileDecoder(sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    """A decoder that reads and writes files, as Sinter's older ones do: in a temporary folder of Sinter."""

    _decoder: sinter.Decoder
    _model: stim.DetectorErrorModel

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bytes) -> Bytes:
        """The predictions, as they are in the file."""
        predictions: Bytes = sinter.predict_observables_bit_packed(
            dem=self._model,
            dets_bit_packed=bit_packed_detection_event_data,
            decoder="own",
            custom_decoders={"own": self._decoder},
        )
        return predictions


class KeptShotDecoding:
    """Decodes kept shots of a circuit with a decoder, those with equal detection events once.

    If the decoder was seen to predict differently for equal detection events (``DistinctRows``), it is
    random, and every row is decoded from then on. With ``store_bytes=0``, every row always is.
    """

    def __init__(self, decoder: CheckedDecoder, store_bytes: int) -> None:
        self._decoder = decoder
        # A prediction, the byte that says whether the decoder discards the shot, the confidence.
        self._rows = DistinctRows(
            row_bytes=decoder.detector_bytes,
            result_bytes=decoder.observable_bytes + 9,
            max_bytes=store_bytes,
        )
        self.is_random = False

    def decode(self, dets: Bytes) -> tuple[Bytes, Bools, Integers]:
        """The answers of the decoder, with rounded confidences; see ``CheckedDecoder.decode``."""
        found = self._rows.results(dets, self._decode)
        if self._rows.is_random and not self.is_random:
            self.is_random = True
            self._rows.forget()
            found = self._rows.results(dets, self._decode)
        end = self._decoder.observable_bytes
        confidences = np.ascontiguousarray(found[:, end + 1 :]).view(np.int64)[:, 0]
        return found[:, :end], found[:, end] != 0, confidences

    def _decode(self, dets: Bytes) -> Bytes:
        predictions, is_discarded, confidences = self._decoder.decode(dets)
        rounded = np.rint(confidences).astype(np.int64)[:, np.newaxis]
        return np.hstack([predictions, is_discarded[:, np.newaxis], rounded.view(np.uint8)])

    def statistics(self) -> dict[str, int]:
        """How often equal rows saved a call of the decoder: rows by what became of them."""
        rows = self._rows
        return {
            "rows": rows.asked,
            "stored_rows": len(rows),
            "rows_found_in_store": rows.asked - rows.decoded,
            "rows_decoded": rows.decoded,
            "rows_asked_again": rows.repeated,  # of the store, to see whether the decoder is random
        }
