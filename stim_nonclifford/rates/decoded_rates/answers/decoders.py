"""Decoders of rates: any that Sinter knows, or a ``sinter.Decoder``, with their answers checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from .decoding import Predict

__all__ = ["compiled_decoder", "decompositions_for", "finds_least_weight", "name_of_decoder"]

_LEAST_WEIGHT = frozenset({"fusion_blossom", "pymatching"})
"""Decoders that find a matching of the least weight in their graph."""


def name_of_decoder(decoder: Any) -> str:
    """The name of a decoder, for messages and results."""
    return decoder if isinstance(decoder, str) else type(decoder).__name__


def decompositions_for(decoder: Any) -> list[dict[str, Any]]:
    """The ways to decompose the error model of a decoder; see ``decoding.decoders``."""
    from ...decoding.decoders import MATCHING_DECODERS, decompositions

    return decompositions(isinstance(decoder, str) and decoder in MATCHING_DECODERS)


def finds_least_weight(decoder: Any) -> bool:
    """Whether the correction of a decoder is always one of the least weight in its graph.

    Then a failing fault set F has a failing superset of one fault more. Let C be the correction of F, and
    e a fault of C that is not in F. C without e is a correction of least weight for F with e: a lighter one,
    with e, would be lighter than C. So the decoder is wrong again, by the same logical operator. If F has
    all of C, the rest of F is a logical operator, and F fails again with any fault that is corrected beside
    C. This leaves out corrections that weigh the same, and circuits so small that no fault is apart from C.

    Args:
        decoder: The name of a decoder, or a ``sinter.Decoder``, of which nothing is known.
    """
    return isinstance(decoder, str) and decoder in _LEAST_WEIGHT


def compiled_decoder(model: stim.DetectorErrorModel, decoder: Any, confidence: bool = False) -> Predict:
    """What a decoder predicts for the circuit with an error model.

    Args:
        model: The error model.
        decoder: The name of a decoder, or a ``sinter.Decoder``.
        confidence: Whether to ask how sure it is: by the complementary gap, for the decoders of
            ``GAP_DECODERS``.

    Returns:
        The predictions of batches of detection events. They are checked: a ``ValueError`` says what is wrong
        with them, also if the decoder discards shots.

    Raises:
        ValueError: There is no such decoder, or it refuses the model.
    """
    # They import Sinter, which takes as long as this package: not at the top.
    from ...decoding.decoders import checked_decoder, decoder_named, gap_decoder_named
    from ...decoding.kept_shot_decoding import KeptShotDecoding

    name = name_of_decoder(decoder)
    if isinstance(decoder, str):
        decoder = gap_decoder_named(decoder) if confidence else decoder_named(decoder)
    else:
        decoder = checked_decoder(decoder)
    decoding = KeptShotDecoding(
        decoder,
        model,
        name=name,
        num_observables=model.num_observables,
        confidence=confidence,
        store_bytes=0,
    )

    def predict(dets: npt.NDArray[np.uint8], /) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        predictions, is_discarded, gaps = decoding.decode(dets)
        if is_discarded.any():
            raise ValueError(
                f"The decoder {name} discards shots. The rate of the shots that such a decoder keeps is not"
                " known from failing fault sets alone: count it with SoftDecodingSampler."
            )
        return predictions, gaps

    return predict
