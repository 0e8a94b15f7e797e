"""The desaturated decoder: matching with nodes for pairs of color-code detectors, and its gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sinter
import stim

from ....base.arguments import check_types
from ....base.arrays import Bools, Bytes, Floats
from ..kept_shot_decoding import ConfidentDecoder
from .detector_kinds import DetectorKind, detector_kinds
from .matching_gap import CompiledMatchingGap
from .matching_graph import model_errors
from .pair_graph import BasisGraph, basis_graphs, hidden_detectors


@dataclass(frozen=True)
class DesaturatedGapDecoder(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """PyMatching for codes that are a color code, at least in part, with the complementary gap as confidence.

    It decodes shots in which the detectors of ``postselected_detectors`` are silent: red X and green Z checks
    of the color code, those of cultivation, and those where the color code is joined with another code. The
    other errors flip at most two detectors, and pairs of errors that leave a postselected detector silent are
    explained by nodes for pairs of detectors (see ``pair_graph``). The published end-to-end results of
    cultivation were decoded like that (arXiv 2409.17595).

    X and Z checks are decoded by themselves. The gap is the smaller one of both, in decibels.

    Detectors need five coordinates: see ``detector_kinds``.

    Examples:
        Two errors flip D0 and D1, which are postselected. Together they flip D2 and D3.

        >>> model = stim.DetectorErrorModel('''
        ...     error(0.01) D0 D1 D2
        ...     error(0.01) D0 D1 D3
        ...     error(0.001) D2 L0
        ...     error(0.001) D3
        ...     detector(0, 0, 0, 0, 0) D0
        ...     detector(1, 0, 0, 1, 1) D1
        ...     detector(2, 0, 0, 2, 2) D2
        ...     detector(3, 0, 0, 2, 2) D3
        ... ''')
        >>> DesaturatedGapDecoder().postselected_detectors(model).tolist()
        [True, False, False, False]
        >>> decoder = DesaturatedGapDecoder().compile_decoder_for_dem(dem=model)
        >>> events = np.array([[0b1100]], dtype=np.uint8)
        >>> predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        ...     bit_packed_detection_event_data=events
        ... )
        >>> predictions.tolist(), gaps.round(1).tolist()
        ([[0]], [20.1])
    """

    def postselected_detectors(self, dem: stim.DetectorErrorModel) -> Bools:
        """The detectors that must discard a shot if they fire.

        Args:
            dem: The error model of the circuit.

        Returns:
            bool, shape (num_detectors,).

        Raises:
            ValueError: The detectors do not have the coordinates that say what they are.
        """
        check_types(dem, "dem", "a stim.DetectorErrorModel", stim.DetectorErrorModel)
        kinds = detector_kinds(dem)
        return _postselected(kinds, hidden_detectors(model_errors(dem), kinds))

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledDesaturatedGap:
        """Prepares the decoder for an error model.

        Args:
            dem: The model of the whole circuit, not conditioned on the postselection.

        Raises:
            ValueError: The detectors do not have the coordinates that say what they are; errors of one basis
                flip different observables; or no error flips an observable.
        """
        check_types(dem, "dem", "a stim.DetectorErrorModel", stim.DetectorErrorModel)
        kinds, errors = detector_kinds(dem), model_errors(dem)
        hidden = hidden_detectors(errors, kinds)
        graphs = basis_graphs(errors, kinds, hidden)
        return CompiledDesaturatedGap(graphs, _postselected(kinds, hidden), dem.num_observables)


def _postselected(kinds: Sequence[DetectorKind], hidden: frozenset[int]) -> Bools:
    return np.array([kind.postselected or k in hidden for k, kind in enumerate(kinds)], dtype=np.bool_)


class CompiledDesaturatedGap(ConfidentDecoder, sinter.CompiledDecoder):  # type: ignore[misc]
    """Decodes with confidence; returned by ``DesaturatedGapDecoder.compile_decoder_for_dem``."""

    def __init__(self, graphs: Sequence[BasisGraph], postselected: Bools, num_observables: int) -> None:
        """Prepares a decoder for each basis in which logical errors are seen."""
        self._graphs = [graph for graph in graphs if graph.observables]
        if not self._graphs:
            raise ValueError(
                "No error that the decoder knows flips an observable, so there is nothing to predict. Check"
                " that the circuit has noise, and an observable of records or of Pauli targets."
            )
        self._decoders = [CompiledMatchingGap(graph.probabilities, graph.num_nodes) for graph in self._graphs]
        self._postselected = np.packbits(postselected, bitorder="little")
        self._flips = [
            np.packbits([graph.observables >> k & 1 for k in range(num_observables)], bitorder="little")
            for graph in self._graphs
        ]

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: Bytes
    ) -> tuple[Bytes, Floats]:
        """The predictions and their complementary gaps; see ``ConfidentDecoder``.

        Raises:
            ValueError: A postselected detector fires.
        """
        rows = bit_packed_detection_event_data
        fired = np.bitwise_or.reduce(rows & self._postselected, axis=0, initial=0)
        if fired.any():
            first = int(np.flatnonzero(np.unpackbits(fired, bitorder="little"))[0])
            raise ValueError(
                f"D{first} fires, but desaturation postselects it. Postselect what"
                " DesaturatedGapDecoder().postselected_detectors(model) says, or use the sampler"
                " soft_desaturated_gap, which does it."
            )
        events = np.unpackbits(rows, axis=1, bitorder="little")
        predictions = np.zeros((len(rows), len(self._flips[0])), dtype=np.uint8)
        gaps = np.full(len(rows), np.inf)
        for graph, decoder, flips in zip(self._graphs, self._decoders, self._flips, strict=True):
            chosen = np.packbits(np.take(events, graph.detectors, axis=1), axis=1, bitorder="little")
            found, gap = decoder.decode_shots_bit_packed_with_confidence(
                bit_packed_detection_event_data=chosen
            )
            predictions ^= found * flips
            gaps = np.minimum(gaps, gap)
        return predictions, gaps
