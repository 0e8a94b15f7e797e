"""PyMatching with edges that are reweighted when heralds fire."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import sinter
import stim

from ....base.arguments import check_types, flag
from ....base.arrays import Bytes
from ....base.probabilities import exactly_one
from ....simulation.compiler.algebra.gf2 import ones
from .matching_graph import Edge, checked_heralds, edge_errors, edge_probabilities

_RARE = 1e-6
"""The probability of a copy of a herald: too small to change that of the edge with which it is correlated."""


@dataclass(frozen=True)
class HeraldedMatchingDecoder(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    r"""PyMatching, with the probabilities that edges have given the heralds of the shot.

    A herald is a detector of its own, which an erased qubit fires together with others. In a matching graph,
    it is isolated: Stim splits the error ``D0 D9 L0`` into the parts ``D9 L0`` and ``D0``, and the matching
    explains each alone. So D9 is as likely with the herald D0 as without it.

    Here, an error that no herald announces has not happened, and an edge e has its probability given a herald
    h that fires, as far as that is at most 1/2:

        1 - 2 p = (1 - 2 p_e) (1 - 2 P(e | h)).

    PyMatching's correlated matching (A. G. Fowler, arXiv 1310.0863) does this: each edge that a herald D0
    makes likelier is correlated with a copy of D0, which must be matched if D0 fires.

    Attributes:
        heralds: The detectors that are heralds; see ``herald_detectors``.
        correlations: Whether other parts of errors are correlated, too, as in Sinter's
            ``pymatching-correlated``.

    Examples:
        Without the herald D2, error 1 is more likely than errors 2 and 3; with the herald it is not.

        >>> model = stim.DetectorErrorModel(
        ...     "error(0.04) D0\nerror(0.1) D0 D1 L0\nerror(0.1) D1\nerror(0.01) D0 D1 L0 ^ D2"
        ...     "\nerror(0.01) D2"
        ... )
        >>> decoder = HeraldedMatchingDecoder(heralds=[2]).compile_decoder_for_dem(dem=model)
        >>> events = np.array([[0b001], [0b101]], dtype=np.uint8)
        >>> decoder.decode_shots_bit_packed(bit_packed_detection_event_data=events).tolist()
        [[0], [1]]
    """

    heralds: Collection[int]
    correlations: bool = False

    def __post_init__(self) -> None:
        """Checks the arguments; see ``checked_heralds``."""
        checked_heralds(self.heralds)
        flag(self.correlations, "correlations")

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledHeraldedMatching:
        """Prepares the decoder for an error model.

        Args:
            dem: The model, decomposed. Parts that flip more than two detectors are ignored.

        Raises:
            ValueError: PyMatching has no correlated matching; or a herald is no detector of the model.
            ImportError: PyMatching is not installed.
        """
        check_types(dem, "dem", "a stim.DetectorErrorModel", stim.DetectorErrorModel)
        heralds = checked_heralds(self.heralds, dem)
        return CompiledHeraldedMatching(dem, heralds, correlations=self.correlations)


class CompiledHeraldedMatching(sinter.CompiledDecoder):  # type: ignore[misc]
    """Returned by ``HeraldedMatchingDecoder.compile_decoder_for_dem``."""

    def __init__(
        self, model: stim.DetectorErrorModel, heralds: Collection[int], *, correlations: bool
    ) -> None:
        """Constructs the graph; see ``HeraldedMatchingDecoder``."""
        import pymatching

        self._row_bytes = -(-model.num_detectors // 8)
        is_herald = np.isin(np.arange(8 * self._row_bytes), list(heralds))
        self._others = ~np.packbits(is_herald, bitorder="little")
        # The model with a copy of a herald for each edge that it announces, in place of the herald.
        self._sources: list[int] = []
        lines = []
        for probability, parts, fired in edge_errors(model, heralds):
            if not fired:
                for together in [parts] if correlations else [[part] for part in parts]:
                    if together:
                        lines.append(f"error({probability}) {_targets(together)}")
        known = edge_probabilities(model, heralds)
        for herald, edges in known.given_herald.items():
            for edge, given in edges.items():
                copy = Edge((8 * self._row_bytes + len(self._sources),), 0)
                probability = exactly_one(given, known.edges.get(edge, 0.0))
                # An error that flips observables alone is no edge.
                parts = [edge, copy] if edge.detectors else [Edge(copy.detectors, edge.observables)]
                lines.append(f"error({_RARE * probability}) {_targets(parts)}")
                lines.append(f"error({_RARE * (1 - probability)}) {_targets([copy])}")
                self._sources.append(herald)
        lines.append(f"detector D{max(8 * self._row_bytes + len(self._sources) - 1, 0)}")
        lines += [f"logical_observable L{k}" for k in range(model.num_observables)]
        graph = stim.DetectorErrorModel("\n".join(lines))
        try:
            self._matching: Any = pymatching.Matching(graph, enable_correlations=True)
        except TypeError:
            raise ValueError(
                f"PyMatching {pymatching.__version__} has no correlated matching, which is needed so that"
                " heralds reweight edges. Update it: pip install --upgrade 'pymatching>=2.3.1'."
            ) from None

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bytes) -> Bytes:
        """The predictions; see ``sinter.CompiledDecoder``."""
        rows = bit_packed_detection_event_data
        places = np.array(self._sources, dtype=np.intp)
        fired = rows[:, places >> 3] >> (places & 7).astype(np.uint8) & 1
        events = np.hstack([rows & self._others, np.packbits(fired, axis=1, bitorder="little")])
        found: Bytes = self._matching.decode_batch(
            events, bit_packed_shots=True, bit_packed_predictions=True, enable_correlations=True
        )
        return found


def _targets(parts: Collection[Edge]) -> str:
    """The text of the targets of an error."""
    return " ^ ".join(
        " ".join([*(f"D{k}" for k in part.detectors), *(f"L{k}" for k in ones(part.observables))])
        for part in parts
    )
