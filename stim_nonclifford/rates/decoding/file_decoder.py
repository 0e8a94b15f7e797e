"""Decoders that read and write files, as Sinter's older ones do, with the interface of compiled ones."""

from __future__ import annotations

import pathlib
import tempfile

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

__all__ = ["FileDecoder", "decodes_files"]


def decodes_files(decoder: object) -> bool:
    """Whether a decoder has a method ``decode_via_files`` of its own."""
    method = getattr(type(decoder), "decode_via_files", None)
    return method is not None and method is not sinter.Decoder.decode_via_files


class FileDecoder(sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    """Calls ``decode_via_files`` of a decoder, with files in a temporary folder.

    Args:
        decoder: The decoder.
        model: The error model.
        name: The name of the decoder, for messages.
    """

    def __init__(self, decoder: sinter.Decoder, model: stim.DetectorErrorModel, name: str) -> None:
        self._decoder = decoder
        self._model = model
        self._name = name

    def decode_shots_bit_packed(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """The predictions.

        Args:
            bit_packed_detection_event_data: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            uint8, shape (shots, ceil(num_observables / 8)).

        Raises:
            ValueError: The decoder wrote no file, or one of another size.
        """
        shots = len(bit_packed_detection_event_data)
        with tempfile.TemporaryDirectory(prefix="decode_via_files_") as name:
            folder = pathlib.Path(name)
            scratch = folder / "scratch"
            scratch.mkdir()
            self._model.to_file(folder / "model.dem")
            np.ascontiguousarray(bit_packed_detection_event_data).tofile(folder / "dets.b8")
            predictions = folder / "predictions.b8"
            self._decoder.decode_via_files(
                num_shots=shots,
                num_dets=self._model.num_detectors,
                num_obs=self._model.num_observables,
                dem_path=folder / "model.dem",
                dets_b8_in_path=folder / "dets.b8",
                obs_predictions_b8_out_path=predictions,
                tmp_dir=scratch,
            )
            if not predictions.exists():
                raise ValueError(f"decode_via_files of the decoder {self._name} wrote no predictions.")
            found = np.fromfile(predictions, dtype=np.uint8)
        shape = (shots, -(-self._model.num_observables // 8))
        if found.size != shape[0] * shape[1]:
            raise ValueError(
                f"decode_via_files of the decoder {self._name} wrote {found.size} bytes of predictions for"
                f" {shots} shots; there must be {shape[1]} for each shot (format b8)."
            )
        return found.reshape(shape)
