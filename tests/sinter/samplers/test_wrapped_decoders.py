"""Names of samplers and decoders of the user's in `collect` and `estimate`, metadata that JSON does not have, and unknown counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sinter

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler
from sinter_plugin.samplers.by_name import chosen_decoder
from stim_nonclifford.rates.decoding.decoders import decoder_named

# An X between T and T_DAG flips MX with probability 1/2; between S and S_DAG always.
CIRCUIT = snc.Circuit(
    "RX 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\nX_ERROR(0.2) 1\nM 1\nDETECTOR rec[-1]\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
)


def collected(decoder: str, found: Any, **options: Any) -> sinter.TaskStats:
    [stats] = sinter_plugin.collect(
        [sinter_plugin.task(CIRCUIT, decoder=decoder)],
        num_workers=1,
        seed=7,
        max_shots=20_000,
        custom_decoders={"mine": found},
        **options,
    )
    return stats


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["mine", "soft_mine"])
def test_a_decoder_of_the_users_decodes_shots_with_t_gates(name: str) -> None:
    """Seed 7. With S in place of T, the rate would be 0.1."""
    stats = collected(name, decoder_named("pymatching"))
    assert stats.decoder == "soft_mine"  # never added to the rows of sinter collect
    assert scipy.stats.binomtest(stats.errors, stats.shots, 0.05).pvalue > 1e-7


def test_one_module_serves_estimate_too() -> None:
    decoder = decoder_named("pymatching")
    for found in (decoder, SoftDecodingSampler(decoder=decoder)):
        for name in ("mine", "soft_mine"):
            assert chosen_decoder(name, {"mine": found}) is decoder
    assert chosen_decoder("soft_pymatching", {}) == "pymatching"
    for name, lost in (("soft_pymatching_gap", "confidence"), ("mine", "error_model")):
        with pytest.raises(ValueError, match=f"{name} is a sampler whose {lost} would be lost"):
            chosen_decoder(name, {"mine": SoftDecodingSampler(decoder=decoder, error_model="noise_only")})
    with pytest.raises(ValueError, match="soft_postselect_gpu does not decode"):
        chosen_decoder("soft_postselect_gpu", {})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "metadata",
    [{3: "a"}, {"n": np.int64(4)}, {np.int32(2): np.float32(0.5)}, {"a": np.arange(3)}, {None: (1, True)}],
)
def test_metadata_come_back_as_they_were(metadata: Any, tmp_path: Path) -> None:
    for shots in (2000, 3000):
        tasks = [
            sinter_plugin.task(CIRCUIT, decoder="soft_pymatching", json_metadata=metadata),
            sinter.Task(
                circuit=CIRCUIT.to_stim(),
                detector_error_model=CIRCUIT.detector_error_model(kind="noise_only"),
                decoder="soft_vacuous",
                json_metadata=metadata,
            ),
        ]
        found = sinter_plugin.collect(
            tasks, num_workers=1, max_shots=shots, save_resume_filepath=tmp_path / "stats.csv"
        )
        assert [stats.shots for stats in found] == [shots, shots]


@pytest.mark.parametrize(
    ("sampler", "key", "message"),
    [
        ({}, "survivers", "There are survivors"),
        ({}, "obs_mistake_mask=E", "counted with count_observable_error_combos"),
        ({}, "E20", "There are survivors"),
        ({"count_observable_error_combos": True}, "obs_mistake_mask=EE", "of 1 letters"),
    ],
)
def test_unknown_counts_are_refused(sampler: dict[str, Any], key: str, message: str) -> None:
    found = SoftDecodingSampler(**sampler)
    with pytest.raises(ValueError, match=f"no custom count '{key}'.*{message}"):
        collected("mine", found, custom_error_count_key=key, max_errors=10)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_known_counts_are_limits() -> None:
    for options, key in (
        ({}, "survivors"),
        ({"count_observable_error_combos": True}, "obs_mistake_mask=E"),
        ({"confidence": True}, "E0"),
    ):
        found = SoftDecodingSampler(**options)
        assert (
            collected("mine", found, custom_error_count_key=key, max_errors=10).shots < 20_000 or key == "E0"
        )
