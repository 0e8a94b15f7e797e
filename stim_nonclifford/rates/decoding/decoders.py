"""Decoders by name, or given as objects: found and checked once, with what estimates of rates need."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import sinter
import stim

from ...base.arguments import did_you_mean
from ...base.errors import InexactErrorModelWarning
from .failure_test import Gaps, Predict
from .kept_shot_decoding import KeptShotDecoding
from .matching.pymatching_graph import PredictingMatching, PyMatchingGraph

__all__ = [
    "DECODERS_WITHOUT_HERALDS",
    "GAP_DECODERS",
    "HERALDED_DECODERS",
    "MATCHING_DECODERS",
    "CompiledRateDecoder",
    "RateDecoder",
    "checked_decoder",
    "decoder_named",
    "decodes_kept_shots",
    "decompositions",
    "first_error_model",
    "installed_decoders",
    "known_decoders",
    "rate_decoder",
]

MATCHING_DECODERS = frozenset({"pymatching", "pymatching-correlated", "fusion_blossom"})
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

_MODULES = {
    "pymatching": "pymatching",
    "pymatching-correlated": "pymatching",
    "fusion_blossom": "fusion_blossom",
    "hypergraph_union_find": "mwpf",
    "mw_parity_factor": "mwpf",
}
"""The modules that Sinter's own decoders need; others need none."""

_PLUGINS = {"chromobius": "chromobius"}
"""Decoders that a module of their own offers by its function ``sinter_decoders``."""

_OWN = {_DESATURATED: "pymatching"}
"""Decoders of this package, and the module that each needs."""

_PACKAGES = {"fusion_blossom": "fusion-blossom"}
"""The packages of modules, where the name is another one."""


_EXTRA = frozenset({"chromobius", "pymatching"})
"""The packages in the extra ``decoding`` of this package."""


def known_decoders() -> list[str]:
    """The names of all decoders that Sinter knows, of the plugins that this package knows, and of its own."""
    return sorted({*sinter.BUILT_IN_DECODERS, *_PLUGINS, *_OWN})


def installed_decoders() -> list[str]:
    """The names of the known decoders whose modules are installed.

    Examples:
        >>> "pymatching" in installed_decoders()
        True
    """
    return [name for name in known_decoders() if _missing_module(name) is None]


def decoder_named(name: str) -> sinter.Decoder:
    """The decoder with a name.

    Args:
        name: A name of Sinter, such as ``"pymatching"``, of a plugin, such as ``"chromobius"``, or
            ``"desaturated"``.

    Returns:
        The decoder.

    Raises:
        ValueError: The name is unknown, or the decoder is not installed.

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
    missing = _missing_module(name)
    if missing is not None:
        package = _PACKAGES.get(missing, missing)
        extra = ", or, in a clone of this package, pip install '.[decoding]'" if package in _EXTRA else ""
        raise ValueError(f"The decoder {name} is not installed. Install it: pip install {package}{extra}.")
    if name == _DESATURATED:
        from .matching.desaturated_gap import DesaturatedGapDecoder

        return DesaturatedGapDecoder()
    if name in _PLUGINS:
        return importlib.import_module(_PLUGINS[name]).sinter_decoders()[name]
    return sinter.BUILT_IN_DECODERS[name]


def checked_decoder(decoder: Any) -> sinter.Decoder:
    """A decoder that was given as an object.

    Args:
        decoder: The object.

    Returns:
        The object itself.

    Raises:
        ValueError: It is a class, or has no method of a decoder.
    """
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
    """The ways to decompose the error model of a decoder, the second one for where the first is impossible.

    They are Sinter's, but matching decoders are better off with a part of the errors decomposed than with
    none.

    Args:
        is_matching: Whether it uses only errors, or parts of errors, that flip at most two detectors.

    Returns:
        Arguments of ``stim.Circuit.detector_error_model``.
    """
    partly = {"decompose_errors": True, "ignore_decomposition_failures": True}
    return [{"decompose_errors": True}, partly if is_matching else {}]


def first_error_model(circuit: Any, attempts: Sequence[Mapping[str, Any]]) -> stim.DetectorErrorModel:
    """The first error model of a circuit that there is; what decoders are told need not be exact.

    Args:
        circuit: A ``stim_nonclifford.Circuit``.
        attempts: Arguments of ``detector_error_model``.

    Raises:
        ValueError: There is none; the error is that of the last attempt.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactErrorModelWarning)
        for attempt in attempts[:-1]:
            try:
                return circuit.detector_error_model(approximate_disjoint_errors=True, **attempt)
            except ValueError:
                continue
        return circuit.detector_error_model(approximate_disjoint_errors=True, **attempts[-1])


def decodes_kept_shots(decoder: Any) -> bool:
    """Whether a decoder, given by its name or as an object, decodes only shots that its detectors accept."""
    if isinstance(decoder, str):
        return decoder == _DESATURATED
    return callable(getattr(decoder, "postselected_detectors", None))


@dataclass(frozen=True)
class RateDecoder:
    """A decoder whose logical error rate is estimated.

    Attributes:
        name: The name of the decoder, for messages and results.
        decoder: The decoder.
        confidence: Whether it says how sure it is.
        is_named: Whether it was given by its name, so that its properties are known.
    """

    name: str
    decoder: sinter.Decoder
    confidence: bool
    is_named: bool

    @property
    def decodes_kept_shots(self) -> bool:
        """Whether it decodes only shots in which the detectors are silent that it postselects."""
        return decodes_kept_shots(self.decoder)

    @property
    def decompositions(self) -> list[dict[str, Any]]:
        """The ways to decompose its error model; see the function ``decompositions``."""
        return decompositions(self.is_named and self.name in MATCHING_DECODERS)

    @property
    def finds_least_weight(self) -> bool:
        """Whether its correction is always one of the least weight in its graph.

        Then a failing fault set F has a failing superset of one fault more. Let C be the correction of F, and
        e a fault of C that is not in F. C without e is a correction of least weight for F with e: a lighter
        one, with e, would be lighter than C. So the decoder is wrong again, by the same logical operator. If
        F has all of C, the rest of F is a logical operator, and F fails again with any fault that is
        corrected beside C. This leaves out corrections that weigh the same, and circuits so small that no
        fault is apart from C.
        """
        return self.is_named and self.name in _LEAST_WEIGHT

    def compiled(self, model: stim.DetectorErrorModel) -> CompiledRateDecoder:
        """The decoder, compiled for an error model.

        Raises:
            ValueError: The decoder refuses the model.
        """
        recipe = (_predictor_of, (self.name if self.is_named else self.decoder, self.confidence, model))
        is_by_graph = self.is_named and self.name == "pymatching" and not self.confidence
        graph = PyMatchingGraph(model) if is_by_graph else None
        return CompiledRateDecoder(self.name, self.predictor(model), self.finds_least_weight, graph, recipe)

    def predictor(self, model: stim.DetectorErrorModel) -> Predict:
        """The predictions and gaps of batches of detection events, of a decoder compiled for an error model.

        They are checked: a ``ValueError`` says what is wrong with them, also if the decoder discards shots.

        Raises:
            ValueError: The decoder refuses the model.
        """
        decoding = KeptShotDecoding(
            self.decoder,
            model,
            name=self.name,
            num_observables=model.num_observables,
            confidence=self.confidence,
            store_bytes=0,
        )

        def predict(dets: npt.NDArray[np.uint8], /) -> tuple[npt.NDArray[np.uint8], Gaps]:
            predictions, is_discarded, gaps = decoding.decode(dets)
            if is_discarded.any():
                raise ValueError(
                    f"The decoder {self.name} discards shots. The rate of the shots that such a decoder keeps"
                    " is not known from failing fault sets alone: count it with SoftDecodingSampler."
                )
            return predictions, gaps

        return predict


@dataclass(frozen=True)
class CompiledRateDecoder:
    """A decoder, compiled for an error model.

    Attributes:
        name: The name of the decoder, for messages and results.
        predict: The decoder.
        finds_least_weight: Whether its correction is always one of least weight; see ``RateDecoder``.
        graph: The graph that decides its predictions, if that is PyMatching's.
        recipe: A function that makes ``predict`` in another process, and its arguments; None: there is none.
    """

    name: str
    predict: Predict
    finds_least_weight: bool = False
    graph: PyMatchingGraph | None = None
    recipe: tuple[Callable[..., Predict], tuple[Any, ...]] | None = None

    @cached_property
    def matching(self) -> PredictingMatching | None:
        """A matching by distances that predicts the same, but faster, where it predicts."""
        return None if self.graph is None else self.graph.predicting_matching()


def rate_decoder(
    decoder: Any,
    confidence: bool = False,
    heralds: frozenset[int] = frozenset(),
    store_bytes: int | None = None,
) -> RateDecoder:
    """The decoder with a name, or the one that was given as an object, with what estimates need of it.

    Args:
        decoder: The name of a decoder, or a ``sinter.Decoder``.
        confidence: Whether it is to say how sure it is: by the complementary gap, for the decoders of
            ``GAP_DECODERS``. Decoders of kept shots always do.
        heralds: Detectors that announce errors; the decoders of ``HERALDED_DECODERS`` use them.
        store_bytes: Memory of decoders that store rows by themselves; None: what they take by default.

    Raises:
        ValueError: There is no such decoder, or it is not installed.

    Examples:
        >>> rate_decoder("pymatching").finds_least_weight
        True
    """
    confidence = confidence or decodes_kept_shots(decoder)
    if not isinstance(decoder, str):
        return RateDecoder(type(decoder).__name__, checked_decoder(decoder), confidence, is_named=False)
    found = decoder_named(decoder)
    if confidence and decoder == "pymatching":
        from .matching.matching_gap import MatchingGapDecoder

        found = MatchingGapDecoder(heralds)
    elif confidence and decoder == "chromobius":
        from .chromobius_gap import ChromobiusGapDecoder

        found = ChromobiusGapDecoder() if store_bytes is None else ChromobiusGapDecoder(store_bytes)
    elif heralds and decoder in HERALDED_DECODERS:
        from .matching.heralded_matching import HeraldedMatchingDecoder

        found = HeraldedMatchingDecoder(heralds, correlations=HERALDED_DECODERS[decoder])
    return RateDecoder(decoder, found, confidence, is_named=True)


def _predictor_of(decoder: Any, confidence: bool, model: stim.DetectorErrorModel) -> Predict:
    return rate_decoder(decoder, confidence).predictor(model)


def _missing_module(name: str) -> str | None:
    module = _MODULES.get(name) or _PLUGINS.get(name) or _OWN.get(name)
    return module if module is not None and importlib.util.find_spec(module) is None else None
