"""Misspelled names of samplers and decoders: the message has the name that was meant."""

from __future__ import annotations

import pytest

import sinter_plugin
from stim_nonclifford import Circuit
from stim_nonclifford.rates.decoding.decoders import decoder_named

CIRCUIT = Circuit("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("soft_postselct", r"numbered shots\. Did you mean soft_postselect\? Use one of"),
        ("soft_pymatchng", r"numbered shots\. Did you mean soft_pymatching\? Use one of"),
        ("zzz", r"numbered shots\. Use one of"),
    ],
)
def test_collect_suggests_a_sampler(name: str, message: str) -> None:
    task = sinter_plugin.task(CIRCUIT, decoder=name)
    with pytest.raises(ValueError, match=message):
        sinter_plugin.collect([task], num_workers=1, max_shots=10)


def test_decoders_are_suggested() -> None:
    with pytest.raises(ValueError, match=r"'chromobus'\. Did you mean chromobius\? Installed are"):
        decoder_named("chromobus")
    with pytest.raises(ValueError, match=r"'zzz'\. Installed are"):
        decoder_named("zzz")
