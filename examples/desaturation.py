"""Matching in codes that are a color code in part, after desaturation.

Red X and green Z detectors of the color code are postselected, so that errors flip at most two of the others.
A model without the errors that flip a postselected detector forgets pairs of them: two errors that flip the
same one leave it silent, and the shot is kept. So here these errors stay. An error that flips a red, a green
and a blue detector becomes three edges, each from one of them to a node that stands for the other two. Two
errors that have two detectors in common are then a path through that node. The node itself never fires. The
published end-to-end results were decoded like that (arXiv 2409.17595,
github.com/Strilanc/magic-state-cultivation).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sinter
import stim

from sinter_plugin import CompiledGapDecoder, CompiledMatchingGap, MatchingGapDecoder

CULTIVATION = -9
"""The fifth coordinate of detectors of cultivation; those without it are detectors of cultivation, too."""

BASES = "XXXZZZXZ"
COLORS = "rgbrgb__"
"""By the fifth coordinate of other detectors: the last two are not of the color code."""

RED_X, GREEN_Z = 0, 4
"""The detectors of these kinds are postselected, and known to the decoder."""


def kinds(detectors: stim.Circuit | stim.DetectorErrorModel) -> dict[int, int]:
    """The fifth coordinate of each detector."""
    places = detectors.get_detector_coordinates()
    return {k: int(place[4]) if len(place) > 4 else CULTIVATION for k, place in places.items()}


def hidden_detectors(model: stim.DetectorErrorModel) -> frozenset[int]:
    """The postselected detectors that the decoder need not know.

    They are those of cultivation, and both ends of errors that flip two detectors of one basis and the
    observable.
    """
    kind = kinds(model)
    found = {k for k in kind if kind[k] == CULTIVATION}
    for _, detectors, flips in errors(model):
        bases = {"!" if kind[k] == CULTIVATION else BASES[kind[k]] for k in detectors}
        if flips and len(detectors) == 2 and len(bases) == 1:
            found |= detectors
    return frozenset(found)


def errors(model: stim.DetectorErrorModel) -> Iterator[tuple[float, frozenset[int], bool]]:
    """The probability of each error, the detectors that it flips, and whether it flips the observable."""
    for error in model.flattened():
        if error.type == "error":
            detectors: frozenset[int] = frozenset()
            flips = False
            for target in error.targets_copy():
                if target.is_relative_detector_id():
                    detectors ^= {target.val}
                flips ^= target.is_logical_observable_id()
            yield error.args_copy()[0], detectors, flips


@dataclass(frozen=True)
class DesaturatedDecoder(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """PyMatching with nodes for pairs of color-code detectors, and the complementary gap as confidence."""

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledDesaturated:
        """Prepares the decoder for a model of the whole circuit, not conditioned on the postselection."""
        graph = matchable(dem)
        decoder = MatchingGapDecoder().compile_decoder_for_dem(dem=graph)
        return CompiledDesaturated(decoder, graph.num_detectors)


class CompiledDesaturated(CompiledGapDecoder):
    """Decodes with confidence; returned by ``DesaturatedDecoder.compile_decoder_for_dem``."""

    def __init__(self, decoder: CompiledMatchingGap, num_detectors: int) -> None:
        self._decoder = decoder
        self._row_bytes = -(-num_detectors // 8)

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """See ``CompiledGapDecoder``."""
        shots, known = bit_packed_detection_event_data.shape
        silent = np.zeros((shots, self._row_bytes - known), dtype=np.uint8)
        return self._decoder.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=np.hstack([bit_packed_detection_event_data, silent])
        )


def matchable(model: stim.DetectorErrorModel) -> stim.DetectorErrorModel:
    """The model of the matching graph, in which the nodes of pairs are further detectors."""
    kind = kinds(model)
    hidden = hidden_detectors(model)
    known = [error for error in errors(model) if not error[1] & hidden]
    alone = {half: flips for _, half, flips in known if len({BASES[kind[k]] for k in half}) == 1}
    nodes: dict[frozenset[int], int] = {}
    found = stim.DetectorErrorModel()
    for p, detectors, flips in known:
        halves = [frozenset(k for k in detectors if BASES[kind[k]] == basis) for basis in "XZ"]
        halves = [half for half in halves if half]
        if not alone.keys() >= set(halves) or sum(alone[half] for half in halves) % 2 != flips:
            continue  # it is not known which half flips the observable
        for half in halves:
            for edge in _edges(half, {k: COLORS[kind[k]] for k in half}):
                ends = [
                    end if isinstance(end, int) else nodes.setdefault(end, model.num_detectors + len(nodes))
                    for end in edge
                ]
                targets = [stim.target_relative_detector_id(k) for k in ends]
                targets += [stim.target_logical_observable_id(0)] * alone[half]
                found.append("error", p, targets)
    return found


def _edges(half: frozenset[int], colors: dict[int, str]) -> Iterator[list[int | frozenset[int]]]:
    """The edges of an error in one basis: one or two ends, which are detectors or pairs of them."""
    if len(half) <= 2:
        yield [*half]
        if len(half) == 2 and len({*colors.values()} - {"_"}) == 2:
            yield [half]  # at the side of the color code
    elif len(half) == 3 and {*colors.values()} == {*"rgb"}:
        for k in half:
            yield [k, half - {k}]
