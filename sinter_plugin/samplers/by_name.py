"""All samplers of this plugin by the names under which Sinter registers them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import sinter

from stim_nonclifford.base.arguments import did_you_mean
from stim_nonclifford.commands.streams import as_flags
from stim_nonclifford.rates.decoding.decoders import (
    GAP_DECODERS,
    installed_decoders,
    rate_decoder,
)
from stim_nonclifford.rates.decoding.matching.desaturated_gap import DesaturatedGapDecoder

from .soft_decoding import SoftDecodingSampler
from .soft_postselect import SoftPostselectSampler
from .task_sampler import TaskSampler

_OF_RESULTS = ("error_model", "confidence", "state_check", "condition_on_postselection", "decompose_errors")
"""The settings of a sampler without which its rates would be others."""


def sinter_samplers() -> dict[str, SoftPostselectSampler | SoftDecodingSampler]:
    """The samplers of this plugin, by the names under which Sinter registers them.

    Returns:
        A dictionary for the argument ``custom_decoders`` of ``sinter.collect``, and for the command line
        argument ``--custom_decoders_module_function sinter_plugin:sinter_samplers``. ``soft_postselect`` and
        ``soft_postselect_gpu`` do not decode. For each decoder that is installed and that Sinter or its
        plugin knows, there is a sampler: that of ``pymatching`` has the name ``soft_pymatching``.
        ``soft_pymatching_gap``, ``soft_chromobius_gap`` and ``soft_desaturated_gap`` have the complementary
        gap.

    Examples:
        >>> samplers = sinter_samplers()
        >>> samplers["soft_postselect"].engine, samplers["soft_pymatching"].decoder
        ('auto', 'pymatching')
    """
    samplers: dict[str, SoftPostselectSampler | SoftDecodingSampler] = {
        "soft_postselect": SoftPostselectSampler(),
        "soft_postselect_gpu": SoftPostselectSampler(engine="gpu"),
    }
    for name in installed_decoders():
        samplers[f"soft_{name}"] = SoftDecodingSampler(decoder=name)
        if name in GAP_DECODERS:
            samplers[f"soft_{name}_gap"] = SoftDecodingSampler(decoder=name, confidence=True)
    return samplers


def sampler_named(name: str, custom: Mapping[str, Any]) -> tuple[str, TaskSampler[Any]]:
    """The sampler that a name stands for, and the name that its rows have.

    A decoder of the user's is wrapped. Its rows have the name ``soft_...``, so that they are never added to
    those in which Sinter has Stim sample S gates in place of T gates.
    """
    samplers = {**sinter_samplers(), **custom}
    found = samplers.get(name, custom.get(name.removeprefix("soft_")) if name.startswith("soft_") else None)
    if isinstance(found, TaskSampler):
        return name, found
    if isinstance(found, type):
        raise ValueError(
            f"{name!r} is the class {found.__name__}. Register an object in its place: {found.__name__}()."
        )
    soft = name if name.startswith("soft_") else f"soft_{name}"
    if soft in samplers and soft != name:
        if name in custom:
            raise ValueError(
                f"There are a decoder {name} of yours and a sampler {soft}, whose name the rows of both would"
                f" have. Use {soft}, which samples the circuit as it is, or register yours under another"
                " name."
            )
        raise ValueError(
            f"The decoder {name} of Sinter has Stim sample, which reads T gates as S gates. Use {soft},"
            f" which samples the circuit as it is, or `sinter collect` for Stim's samples."
        )
    if _is_decoder(found):
        return soft, SoftDecodingSampler(decoder=found)
    able = [known for known, one in samplers.items() if isinstance(one, TaskSampler) or _is_decoder(one)]
    close = did_you_mean(name, [*able, *sinter.BUILT_IN_DECODERS])
    for known in sinter.BUILT_IN_DECODERS:
        if f" {known}?" in close and f"soft_{known}" in able:
            close = close.replace(known, f"soft_{known}")
    raise ValueError(
        f"{name} is no sampler of this package, which can count numbered shots.{close} Use one of"
        f" {', '.join(able)}, or register a decoder of yours;"
        " or use `sinter collect`, which takes other samplers and decoders, most of which have Stim sample S"
        " gates in place of T gates."
    )


def checks_states(decoder: object) -> bool:
    """Whether the rates of a decoder can be those of a state check."""
    return decoder == "desaturated" or isinstance(decoder, DesaturatedGapDecoder)


def chosen_decoder(name: str, custom: Mapping[str, Any], *, confidence: bool = False) -> Any:
    """The decoder of the user's that a name stands for, also out of a sampler; or the name of a known one."""
    plain = name.removeprefix("soft_")
    found = custom.get(name, custom.get(plain, sinter_samplers().get(name)))
    if isinstance(found, SoftPostselectSampler):
        raise ValueError(f"{name} does not decode. Use soft_postselect, or name a decoder.")
    if isinstance(found, SoftDecodingSampler):
        default = SoftDecodingSampler(decoder=found.decoder)
        lost = [each for each in _OF_RESULTS if getattr(found, each) != getattr(default, each)]
        if lost:
            raise ValueError(
                f"{name} is a sampler whose {', '.join(lost)} would be lost, as here there is a decoder only."
                " Register the decoder itself, or count errors with `python -m sinter_plugin collect`."
            )
        found = found.decoder
    if found is not None and not isinstance(found, str):
        return found
    try:
        rate_decoder(found or name, confidence)
    except ValueError as error:
        raise ValueError(as_flags(str(error))) from None
    return found or name


def check_error_key(key: str | None, sampler: TaskSampler[Any], num_observables: int) -> None:
    """Checks that a sampler counts what is to be limited."""
    patterns = {"survivors": "survivors"}
    if sampler.count_observable_error_combos:
        shown = "obs_mistake_mask=" + "E" + "_" * (num_observables - 1)
        patterns[f"{shown} and its like, of {num_observables} letters"] = (
            rf"obs_mistake_mask=(?=_*E)[_E]{{{num_observables}}}"
        )
    if sampler.count_detection_events:
        patterns["detection_events"] = "detection_events"
    if isinstance(sampler, SoftDecodingSampler) and sampler.confidence:
        patterns["C20 and E20, of any gap"] = r"[CE]-?\d+"
    if key is None or any(re.fullmatch(pattern, key) for pattern in patterns.values()):
        return
    more = ""
    if key.startswith("obs_mistake_mask") and not sampler.count_observable_error_combos:
        more = " Observables are counted with count_observable_error_combos."
    raise ValueError(
        f"custom_error_count_key: there is no custom count {key!r}, so that max_errors would never be"
        f" reached. There are {'; '.join(patterns)}.{more}"
    )


def _is_decoder(found: object) -> bool:
    return (
        not isinstance(found, type)
        and not hasattr(found, "compiled_sampler_for_task")
        and (hasattr(found, "compile_decoder_for_dem") or hasattr(found, "decode_via_files"))
    )
