"""Complementary gaps of a single observable of an error model, computed once for equal detection events."""

from __future__ import annotations

import math
import re

import numpy as np
import stim

from ...base.arrays import Bytes, Floats
from ...base.probabilities import exactly_one
from ...rates.decoding.decoders import RateDecoder
from ...rates.decoding.distinct_rows import DistinctRows
from ...rates.decoding.kept_shot_decoding import CheckedDecoder
from ...rates.decoding.matching.matching_graph import DECIBEL, ERROR_LINE


class RecordGaps:
    r"""Complementary gaps of one observable, in decibels.

    Errors that no detector sees limit the gap: with probability q they flip the observable, and then it is at
    most 10 log10((1 - q) / q). It is infinite if no error flips the observable. ``where`` is how messages
    name the place that asks.

    Examples:
        >>> from stim_nonclifford.rates.decoding.decoders import rate_decoder
        >>> model = stim.DetectorErrorModel("error(0.1) D0 L0\nerror(0.01) D0\nerror(0.002) L0")
        >>> gaps = RecordGaps(rate_decoder("pymatching", confidence=True), model, 0, "Line 1", 1 << 20)
        >>> gaps(np.array([[0], [1]], dtype=np.uint8)).round(2).tolist()
        [26.98, 10.41]
    """

    def __init__(
        self,
        decoder: RateDecoder,
        model: stim.DetectorErrorModel,
        observable: int,
        where: str,
        store_bytes: int,
    ) -> None:
        # The model without other observables, and how likely errors without detectors flip this one.
        lines, unseen = ["logical_observable L0"], 0.0
        for line in str(model.flattened()).splitlines():
            error = ERROR_LINE.fullmatch(line)
            if error is None:
                lines += [line] * (not line.startswith("logical_observable"))
                continue
            text = re.sub(r"L(\d+)", lambda found: "L0" if int(found[1]) == observable else "", error[2])
            targets = " ^ ".join(" ".join(group.split()) for group in text.split("^") if group.strip())
            if "D" in targets:
                lines.append(f"error({error[1]}) {targets}")
            elif targets.count("L") % 2:
                unseen = exactly_one(unseen, float(error[1]))
        self._most = DECIBEL * math.log((1 - unseen) / unseen) if unseen > 0 else math.inf
        self._decoder: CheckedDecoder | None = None
        self._rows = DistinctRows(
            row_bytes=-(-model.num_detectors // 8), result_bytes=8, max_bytes=store_bytes
        )
        if any(line.startswith("error") and "L" in line for line in lines):
            try:
                self._decoder = decoder.checked(stim.DetectorErrorModel("\n".join(lines)))
            except ValueError as refusal:
                raise ValueError(f"{where}: SURE asks for complementary gaps. {refusal}") from refusal

    @property
    def is_random(self) -> bool:
        """Whether the decoder was seen to have different gaps for equal detection events."""
        return self._rows.is_random

    def __call__(self, detectors: Bytes) -> Floats:
        """The gaps of shots, shape (shots,), by their bit-packed detection events."""
        if self._decoder is None:
            return np.full(len(detectors), self._most)
        gaps = np.ascontiguousarray(self._rows.results(detectors, self._decode)).view(np.float64)[:, 0]
        return np.minimum(gaps, self._most)

    def _decode(self, detectors: Bytes) -> Bytes:
        assert self._decoder is not None
        _, _, gaps = self._decoder.decode(detectors)
        return gaps[:, np.newaxis].view(np.uint8)
