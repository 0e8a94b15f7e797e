"""Decoders by name: those of Sinter and of its plugins, as far as they are installed, and of this package."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import sinter

from ...base.spelling import did_you_mean

__all__ = [
    "DECODERS_WITHOUT_HERALDS",
    "GAP_DECODERS",
    "HERALDED_DECODERS",
    "MATCHING_DECODERS",
    "checked_decoder",
    "decoder_named",
    "decompositions",
    "gap_decoder_named",
    "installed_decoders",
    "known_decoders",
]

MATCHING_DECODERS = frozenset({"pymatching", "pymatching-correlated", "fusion_blossom"})
"""Decoders that use only errors, or parts of errors, that flip at most two detectors."""

HERALDED_DECODERS = {"pymatching": False, "pymatching-correlated": True}
"""Decoders whose edges heralds reweight; and whether other parts of errors are correlated, too."""

DECODERS_WITHOUT_HERALDS = frozenset({"chromobius", "fusion_blossom"})
"""Decoders to which a detector that fires alone tells nothing about other detectors."""

GAP_DECODERS = ("chromobius", "desaturated", "pymatching")
"""Decoders for which this package computes the complementary gap."""

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

_OWN = {"desaturated": "pymatching"}
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
    if name == "desaturated":
        from .desaturation.desaturated_gap import DesaturatedGapDecoder

        return DesaturatedGapDecoder()
    if name in _PLUGINS:
        return importlib.import_module(_PLUGINS[name]).sinter_decoders()[name]
    return sinter.BUILT_IN_DECODERS[name]


def gap_decoder_named(name: str) -> sinter.Decoder:
    """The decoder with a name that says how sure it is, by the complementary gap where there is one.

    Args:
        name: As in ``decoder_named``.

    Raises:
        ValueError: As in ``decoder_named``.
    """
    found = decoder_named(name)
    if name == "pymatching":
        from .matching_gap import MatchingGapDecoder

        return MatchingGapDecoder()
    if name == "chromobius":
        from .chromobius_gap import ChromobiusGapDecoder

        return ChromobiusGapDecoder()
    return found


def checked_decoder(decoder: Any) -> sinter.Decoder:
    """A decoder that was given as an object.

    Args:
        decoder: The object.

    Returns:
        The same.

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


def _missing_module(name: str) -> str | None:
    module = _MODULES.get(name) or _PLUGINS.get(name) or _OWN.get(name)
    return module if module is not None and importlib.util.find_spec(module) is None else None
