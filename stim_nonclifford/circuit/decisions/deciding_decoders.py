"""Decoders of Sinter that decide in the loop."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ...base.arguments import did_you_mean
from ...base.memory import collector_paused
from ...rates.decoding.decoders import RateDecoder, decoder_named, known_decoders, rate_decoder
from ...rates.decoding.kept_shot_decoding import KeptShotDecoding
from ...simulation.decisions import DecisionPoint
from ...simulation.engines import PackedBits
from .components import ComponentDecoding
from .models import RAW
from .record_gaps import RecordGaps

MOST_MODELS = 1024
"""Error models of all decisions. Doubled, circuits whose models depend on ten records and more take longer
before they are refused."""

STORE_BYTES = 64 << 20
"""Memory for the answers of the decoders of all decisions. Doubled, frequent events are looked up longer."""


class SintersDecisions:
    """Decides by decoders of Sinter, one for each decision; equal rows are decoded once.

    Args:
        decoders: The decoder of each decision; None for raw records.
        points: The decisions.
        store_bytes: Memory for answers.
    """

    def __init__(
        self, decoders: Sequence[RateDecoder | None], points: Sequence[DecisionPoint], store_bytes: int
    ) -> None:
        self._decoders, self._points, self._store_bytes = decoders, points, store_bytes
        # For each question what answers it, and by which number it knows the question.
        self._asked: list[tuple[KeptShotDecoding | ComponentDecoding, int] | None] = []
        self._gaps: dict[int, list[RecordGaps]] = {}

    @collector_paused()
    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        """See ``DecidingDecoder.begin``."""
        by_components = [
            k
            for k, (decoder, point) in enumerate(zip(self._decoders, self._points, strict=True))
            if decoder is not None and point.gap is None and _is_plain_pymatching(decoder)
        ]
        for number, model in enumerate(models):
            is_shared = number in by_components
            store_bytes = self._store_bytes // max(1, len(models))
            self._asked.append(None if is_shared else self._answering(number, model, store_bytes))
        if by_components:
            decoder = self._decoders[by_components[0]]
            assert decoder is not None
            shared = ComponentDecoding(decoder, [models[k] for k in by_components], self._store_bytes)
            for place, k in enumerate(by_components):
                self._asked[k] = shared, place

    def extend(self, number: int, model: stim.DetectorErrorModel) -> None:
        """See ``BranchDecoder.extend``."""
        self._asked.append(self._answering(number, model, self._store_bytes // MOST_MODELS))

    def _answering(
        self, number: int, model: stim.DetectorErrorModel, store_bytes: int
    ) -> tuple[KeptShotDecoding | ComponentDecoding, int] | None:
        """What answers one more question, that of a decision with a model."""
        decoder, point = self._decoders[number], self._points[number]
        if decoder is None:
            return None
        if point.gap is not None:
            self._gaps[len(self._asked)] = [
                RecordGaps(decoder, model, k, f"Line {point.line}", store_bytes // len(point.records))
                for k in range(len(point.records))
            ]
            return None
        if _is_plain_pymatching(decoder):
            return ComponentDecoding(decoder, [model], store_bytes), 0
        return KeptShotDecoding(replace(decoder, confidence=False).checked(model), store_bytes), 0

    def gaps(self, number: int, detectors: PackedBits) -> npt.NDArray[np.float64]:
        """See ``GapDecoder.gaps``."""
        return np.stack([gaps(detectors) for gaps in self._gaps[number]], axis=1)

    @property
    def is_random(self) -> bool:
        """Whether a decoder was seen to answer equal questions differently."""
        asked = [each[0] for each in self._asked if each is not None]
        gaps = itertools.chain.from_iterable(self._gaps.values())
        return any(not isinstance(each, ComponentDecoding) and each.is_random for each in (*asked, *gaps))

    def decide(self, number: int, detectors: PackedBits) -> PackedBits:
        """See ``DecidingDecoder.decide``."""
        asked = self._asked[number]
        assert asked is not None
        answering, place = asked
        if isinstance(answering, ComponentDecoding):
            return answering.decide(place, detectors)
        predictions, is_discarded, _ = answering.decode(detectors)
        if is_discarded.any():
            raise ValueError("it discards shots. A decision needs an answer for each shot.")
        return predictions


class FixedDecisions:
    """Decides as a decoder that has begun, whatever the models of circuits with less noise.

    Args:
        decoder: The decoder, which has the models of the circuit with all noise.
    """

    def __init__(self, decoder: Any) -> None:
        self.decide = decoder.decide
        if hasattr(decoder, "gaps"):
            self.gaps = decoder.gaps

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        """See ``DecidingDecoder.begin``."""


def _is_plain_pymatching(decoder: RateDecoder) -> bool:
    """Whether it is PyMatching without heralds, whose components do not know of each other."""
    return decoder.is_pymatching and type(decoder.decoder) is type(decoder_named("pymatching"))


def decoders_of(
    decoder: Any, points: Sequence[DecisionPoint], heralds: frozenset[int]
) -> list[RateDecoder | None]:
    """The decoders of all decisions, by the names in the circuit; None for raw records."""
    # By the identity of the decoder, whether for gaps, and how many heralds it sees.
    found: dict[tuple[int, bool, int], RateDecoder] = {}

    def checked(given: Any) -> RateDecoder | None:
        if isinstance(given, str) and given == RAW:
            return None
        seen = frozenset(herald for herald in heralds if herald < point.num_detectors)
        key = id(given), point.gap is not None, len(seen)
        if key not in found:
            found[key] = rate_decoder(given, confidence=point.gap is not None, heralds=seen)
        return found[key]

    result = []
    for point in points:
        where = f"Line {point.line}: "
        if not isinstance(decoder, Mapping):
            if point.decoder and point.decoder not in (RAW, *known_decoders()):
                raise ValueError(
                    f"{where}DECODE(decoder={point.decoder}) names a decoder that is not known."
                    f" Give it with the sampler: decoder={{{point.decoder!r}: ...}}."
                )
            result.append(checked(point.decoder or decoder))
            continue
        names = ", ".join(map(repr, decoder))
        if not point.decoder and len(decoder) != 1:
            raise ValueError(
                f"{where}DECODE does not say which of the decoders {names} it asks. Write"
                f" DECODE(decoder={next(iter(decoder), 'name')}), or give a single decoder."
            )
        name = point.decoder or next(iter(decoder))
        if name not in decoder:
            raise ValueError(
                f"{where}DECODE(decoder={name}): decoder= has no such name."
                f"{did_you_mean(name, list(map(str, decoder)))} It has {names or 'none'}."
            )
        result.append(checked(decoder[name]))
    return result
