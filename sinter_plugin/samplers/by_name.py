"""All samplers of this plugin by the names under which Sinter registers them."""

from __future__ import annotations

from stim_nonclifford.rates.decoding.decoders import GAP_DECODERS, installed_decoders

from .soft_decoding import SoftDecodingSampler
from .soft_postselect import SoftPostselectSampler

__all__ = ["SAMPLER_TYPES", "all_samplers"]

SAMPLER_TYPES = (SoftPostselectSampler, SoftDecodingSampler)
"""The types of all samplers."""


def all_samplers() -> dict[str, SoftPostselectSampler | SoftDecodingSampler]:
    """The samplers of this plugin; see ``sinter_plugin.sinter_samplers``."""
    samplers: dict[str, SoftPostselectSampler | SoftDecodingSampler] = {
        "soft_postselect": SoftPostselectSampler(),
        "soft_postselect_gpu": SoftPostselectSampler(engine="gpu"),
    }
    for name in installed_decoders():
        samplers[f"soft_{name}"] = SoftDecodingSampler(decoder=name)
        if name in GAP_DECODERS:
            samplers[f"soft_{name}_gap"] = SoftDecodingSampler(decoder=name, confidence=True)
    return samplers
