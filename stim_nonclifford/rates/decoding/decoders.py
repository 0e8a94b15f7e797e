"""Decoders by name, or given as objects: found and checked once, with what estimates of rates need."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sinter
import stim

from ...base.arguments import did_you_mean
from ...base.arrays import Bools
from ...base.errors import InexactErrorModelWarning
from .kept_shot_decoding import CheckedDecoder

_MATCHING_DECODERS = frozenset({"pymatching", "pymatching-correlated", "fusion_blossom"})
"""Decoders that use only errors, or parts of errors, that flip at most two detectors."""

HERALDED_DECODERS = {"pymatching": False, "pymatching-correlated": True}
"""Decoders whose edges heralds reweight; and whether other parts of errors are correlated, too."""

DECODERS_WITHOUT_HERALDS = frozenset({"chromobius", "fusion_blossom"})
"""Decoders to which a detector that fires alone tells nothing about other detectors."""

GAP_DECODERS = ("chromobius", "desaturated", "pymatching")
"""Decoders for which this package computes the complementary gap."""

_LEAST_WEIGHT = frozenset({"fusion_blossom", "pymatching"})
"""Decoders whose correction is a matching of the least weight in their graph."""

_DESATURATED = "desaturated"

_PLUGINS = frozenset({"chromobius"})
"""Decoders that their modules offer by a function ``sinter_decoders``."""

_MODULES = {
    "pymatching": "pymatching",
    "pymatching-correlated": "pymatching",
    "fusion_blossom": "fusion_blossom",
    "hypergraph_union_find": "mwpf",
    "mw_parity_factor": "mwpf",
    "chromobius": "chromobius",
    _DESATURATED: "pymatching",
}
"""The modules that decoders need; others need none."""


def known_decoders() -> list[str]:
    """The names of all decoders that Sinter knows, of the plugins that this package knows, and of its own."""
    return sorted({*sinter.BUILT_IN_DECODERS, *_PLUGINS, _DESATURATED})


def installed_decoders() -> list[str]:
    """The names of the known decoders whose modules are installed."""
    return [name for name in known_decoders() if _is_installed(name)]


def decoder_named(name: str) -> sinter.Decoder:
    """The decoder with a name of Sinter, of a plugin, or of this package.

    Examples:
        >>> type(decoder_named("pymatching")).__name__
        'PyMatchingDecoder'
        >>> decoder_named("pymatchng")
        Traceback (most recent call last):
        ...
        ValueError: There is no decoder 'pymatchng'. Did you mean pymatching? Installed are ...
    """
    if name not in known_decoders():
        raise ValueError(
            f"There is no decoder {name!r}.{did_you_mean(name, known_decoders())} Installed are"
            f" {', '.join(installed_decoders())}. Pass a decoder of your own as an"
            " object: decoder=MyDecoder()."
        )
    if not _is_installed(name):
        package = _MODULES[name].replace("_", "-")
        is_extra = package in ("chromobius", "pymatching")
        extra = ", or, in a clone of this package, pip install '.[decoding]'" if is_extra else ""
        raise ValueError(f"The decoder {name} is not installed. Install it: pip install {package}{extra}.")
    if name == _DESATURATED:
        from .matching.desaturated_gap import DesaturatedGapDecoder

        return DesaturatedGapDecoder()
    if name in _PLUGINS:
        return importlib.import_module(_MODULES[name]).sinter_decoders()[name]
    return sinter.BUILT_IN_DECODERS[name]


def checked_decoder(decoder: Any) -> sinter.Decoder:
    """A decoder that was given as an object; a ``ValueError`` refuses classes, and what is no decoder."""
    if isinstance(decoder, type):
        raise ValueError(
            f"decoder is the class {decoder.__name__}. Pass an object: decoder={decoder.__name__}()."
        )
    if not hasattr(decoder, "compile_decoder_for_dem") and not hasattr(decoder, "decode_via_files"):
        raise ValueError(
            f"decoder is {decoder!r}, which is neither a name, such as 'pymatching', nor a sinter.Decoder: it"
            " has neither of the methods compile_decoder_for_dem and decode_via_files."
        )
    return decoder


def decompositions(is_matching: bool) -> list[dict[str, Any]]:
    """The ways to decompose the error model of a decoder, the second one where the first is impossible.

    They are Sinter's, but matching decoders are better off with some errors decomposed than with none.
    """
    partly = {"decompose_errors": True, "ignore_decomposition_failures": True}
    return [{"decompose_errors": True}, partly if is_matching else {}]


def first_error_model(circuit: Any, attempts: Sequence[Mapping[str, Any]]) -> stim.DetectorErrorModel:
    """The first error model of a circuit that there is; what decoders are told need not be exact."""
    *others, last = attempts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactErrorModelWarning)
        for attempt in others:
            with contextlib.suppress(ValueError):
                return circuit.detector_error_model(approximate_disjoint_errors=True, **attempt)
        return circuit.detector_error_model(approximate_disjoint_errors=True, **last)


@dataclass(frozen=True)
class RateDecoder:
    """A decoder whose logical error rate is estimated."""

    name: str  # the name of the decoder, for messages and results
    decoder: sinter.Decoder
    confidence: bool  # whether it says how sure it is
    is_named: bool  # whether it was given by its name, so that its properties are known

    @property
    def decodes_kept_shots(self) -> bool:
        """Whether it decodes only shots in which the detectors are silent that it postselects."""
        return callable(getattr(self.decoder, "postselected_detectors", None))

    def postselected(self, model: stim.DetectorErrorModel, given: Bools | None) -> Bools:
        """The detectors that discard a shot, for a decoder of kept shots: those that it needs, or a mask."""
        needed: Bools = self.decoder.postselected_detectors(model)
        if given is None:
            return needed
        missing = np.flatnonzero(needed & ~given)
        if len(missing):
            raise ValueError(
                f"postselection_mask leaves out {len(missing)} of the {np.count_nonzero(needed)} detectors"
                f" that the decoder {self.name} postselects (first D{missing[0]}). Leave out the mask, so"
                " that they are postselected, or add them to it:"
                f" {type(self.decoder).__name__}().postselected_detectors(model)."
            )
        return given

    @property
    def is_matching(self) -> bool:
        """Whether it uses only errors, or parts of errors, that flip at most two detectors."""
        return self.is_named and self.name in _MATCHING_DECODERS

    @property
    def is_pymatching(self) -> bool:
        """Whether it is PyMatching, whose graph decides its predictions."""
        return self.name == "pymatching" and self._is_sinters

    @property
    def finds_least_weight(self) -> bool:
        """Whether its correction is always one of the least weight in its graph.

        If each edge of the graph is a fault, too, a failing fault set F then has a failing superset of one
        fault more. Let C be the correction of F, and e a fault of C that is not in F. C without e is a
        correction of least weight for F with e: a lighter one would, with e, be lighter than C. So the
        decoder is wrong again. If F has all of C, it fails with any fault that is corrected beside C.
        (Corrections that weigh the same are left out here.)
        """
        return self.name in _LEAST_WEIGHT and self._is_sinters

    @property
    def _is_sinters(self) -> bool:
        """Whether it is the decoder that Sinter has by this name, without gaps or heralds."""
        return self.is_named and self.decoder is sinter.BUILT_IN_DECODERS.get(self.name)

    def checked(self, model: stim.DetectorErrorModel, observable: int | None = None) -> CheckedDecoder:
        """The decoder, compiled for all observables of an error model or one, with checks of its answers."""
        return CheckedDecoder(self.decoder, model, self.name, self.confidence, observable)


def rate_decoder(
    decoder: Any, confidence: bool = False, heralds: frozenset[int] = frozenset()
) -> RateDecoder:
    """The decoder with a name, or the one that was given as an object, with what estimates need of it.

    With ``confidence``, those of ``GAP_DECODERS`` compute the complementary gap; decoders of kept shots do so
    always. Those of ``HERALDED_DECODERS`` use heralds.
    """
    if not isinstance(decoder, str):
        given = RateDecoder(type(decoder).__name__, checked_decoder(decoder), confidence, is_named=False)
        return replace(given, confidence=confidence or given.decodes_kept_shots)
    found = decoder_named(decoder)
    confidence = confidence or decoder == _DESATURATED
    if confidence and decoder == "pymatching":
        from .matching.matching_gap import MatchingGapDecoder

        found = MatchingGapDecoder(heralds)
    elif confidence and decoder == "chromobius":
        from .chromobius_gap import ChromobiusGapDecoder

        found = ChromobiusGapDecoder()
    elif heralds and decoder in HERALDED_DECODERS:
        from .matching.heralded_matching import HeraldedMatchingDecoder

        found = HeraldedMatchingDecoder(heralds, correlations=HERALDED_DECODERS[decoder])
    return RateDecoder(decoder, found, confidence, is_named=True)


def _is_installed(name: str) -> bool:
    return name not in _MODULES or importlib.util.find_spec(_MODULES[name]) is not None
