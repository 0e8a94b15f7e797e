"""The Sinter plugin in Python: the sampler, its batches, and tasks."""

from __future__ import annotations

import dataclasses
import math
import pickle
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import SoftPostselectSampler, sinter_samplers, task
from sinter_plugin.samplers.task_sampler import MAX_SHARE, MIN_SHOTS, BatchSize

from ..support.engines.fake_cupy import make_cupy
from ..support.processes.sinter_runs import (
    ERROR_IF_KEPT,
    FALSE_ALARM,
    KEPT_BY_ALL,
    KEPT_BY_MASK,
    T_CIRCUIT,
    assert_rate,
)

CIRCUIT = stim.Circuit(T_CIRCUIT)
MASK = np.array([0b101], dtype=np.uint8)


def collected(compiled: sinter.CompiledSampler, shots: int) -> sinter.AnonTaskStats:
    """Calls a sampler as Sinter's worker does, until the shots are taken."""
    total = sinter.AnonTaskStats()
    while total.shots < shots:
        stats = compiled.sample(shots - total.shots)
        assert 1 <= stats.shots <= shots - total.shots
        total += stats
    return total


def compiled_for(
    circuit: stim.Circuit = CIRCUIT,
    *,
    sampler: SoftPostselectSampler | None = None,
    **kwargs: object,
) -> sinter.CompiledSampler:
    sampler = sampler or sinter_samplers()["soft_postselect"]
    return sampler.compiled_sampler_for_task(task(circuit, **kwargs))


@pytest.mark.filterwarnings("ignore::stim_nonclifford.UnusedDetectorsWarning")
@pytest.mark.parametrize(
    ("mask", "expected"),
    [(None, KEPT_BY_ALL), (MASK, KEPT_BY_MASK), (MASK | 0b11111000, KEPT_BY_MASK), (MASK & 0, 1.0)],
    ids=["none", "mask", "with padding", "empty"],
)
def test_discards_on_the_detectors_of_the_mask(mask: np.ndarray | None, expected: float) -> None:
    """Without a mask, on all detectors; padding bits of a mask mean nothing."""
    stats = collected(compiled_for(postselection_mask=mask), 200_000)
    kept = stats.shots - stats.discards
    assert stats.shots == 200_000
    assert_rate(kept, stats.shots, expected)
    assert_rate(stats.errors, kept, ERROR_IF_KEPT)
    assert stats.custom_counts["survivors"] == kept
    assert stats.seconds > 0


TWO_OBSERVABLES = stim.Circuit("""
    X_ERROR(0.1) 0
    X_ERROR(0.2) 1
    X_ERROR(0.3) 2
    M 0 1 2
    DETECTOR rec[-3]
    OBSERVABLE_INCLUDE(0) rec[-2]
    OBSERVABLE_INCLUDE(1) rec[-1]
""")


@pytest.mark.parametrize(
    ("mask", "kept", "errors"), [(None, 1, 0.44), (1, 0.8, 0.3), (2, 0.7, 0.2), (3, 0.56, 0)]
)
def test_a_flip_of_a_postselected_observable_discards(mask: int | None, kept: float, errors: float) -> None:
    packed = None if mask is None else np.array([mask], dtype=np.uint8)
    stats = collected(compiled_for(TWO_OBSERVABLES, postselected_observables_mask=packed), 50_000)
    survivors = stats.shots - stats.discards
    assert_rate(survivors, stats.shots, 0.9 * kept)
    assert_rate(stats.errors, survivors, errors)


def test_counts_combinations_of_flips() -> None:
    sampler = SoftPostselectSampler(count_observable_error_combos=True)
    stats = collected(compiled_for(TWO_OBSERVABLES, sampler=sampler), 50_000)
    survivors = stats.custom_counts["survivors"]
    combos = {"E_": 0.2 * 0.7, "_E": 0.8 * 0.3, "EE": 0.2 * 0.3}
    for combo, probability in combos.items():
        assert_rate(stats.custom_counts[f"obs_mistake_mask={combo}"], survivors, probability)
    assert stats.errors == sum(stats.custom_counts[f"obs_mistake_mask={combo}"] for combo in combos)


def test_all_shots_discarded_leaves_no_counts_behind() -> None:
    circuit = stim.Circuit("X_ERROR(1) 0\nM 0 1\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    stats = collected(compiled_for(circuit), 1000)
    assert (stats.shots, stats.discards, stats.errors) == (1000, 1000, 0)
    assert not stats.custom_counts


@pytest.mark.parametrize("name", ["postselection_mask", "postselected_observables_mask"])
def test_refuses_masks_of_the_wrong_size(name: str) -> None:
    """Also those that ``sinter.Task`` has not checked; ``tests/circuit/test_masks.py`` has all others."""
    for mask in (np.zeros(2, dtype=np.uint8), np.zeros((1, 1), dtype=np.uint8), np.zeros(5, dtype=np.bool_)):
        with pytest.raises(ValueError, match=f"{name} must be .* got .* shape"):
            task(CIRCUIT, **{name: mask})
        unchecked = sinter.Task(circuit=CIRCUIT, skip_validation=True, **{name: mask})
        with pytest.raises(ValueError, match=f"{name} must be"):
            SoftPostselectSampler().compiled_sampler_for_task(unchecked)


def test_says_which_task_is_too_wide() -> None:
    circuit = snc.Circuit("R 0 1\nH 0 1\nT 0 1\nMPP X0*X1\nDETECTOR\nOBSERVABLE_INCLUDE(0) rec[-1]")
    sampler = SoftPostselectSampler(max_active_coordinates=0)
    with pytest.raises(snc.ResourceLimitError, match=r"1 active coordinates.*json_metadata=\{'d': 7\}"):
        sampler.compiled_sampler_for_task(task(circuit, json_metadata={"d": 7}))


@pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
def test_takes_a_circuit_from_a_file(tmp_path: Path) -> None:
    """It has a bare T gate, which is no S: on the S-proxy the observable is random."""
    path = tmp_path / "bare.stim"
    path.write_text("RX 0\nT 0\nM 1\nDETECTOR rec[-1]\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]\n")
    compiled = SoftPostselectSampler().compiled_sampler_for_task(sinter.Task(circuit_path=path))
    assert_rate(collected(compiled, 20_000).errors, 20_000, math.sin(math.pi / 8) ** 2)
    for spelled in (path, str(path)):
        assert task(spelled).circuit == snc.Circuit.from_file(path).to_stim()


def test_sampler_for_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a stand-in for CuPy; it counts as the sampler for CPUs does, and can be pickled."""
    monkeypatch.setitem(sys.modules, "cupy", make_cupy(devices=2))
    sampler = pickle.loads(pickle.dumps(sinter_samplers()["soft_postselect_gpu"]))
    assert sampler == SoftPostselectSampler(engine="gpu")
    for device in (None, 1):
        chosen = dataclasses.replace(sampler, device=device)
        stats = collected(chosen.compiled_sampler_for_task(task(CIRCUIT)), 100_000)
        assert_rate(stats.shots - stats.discards, stats.shots, KEPT_BY_ALL)
        assert_rate(stats.errors, stats.shots - stats.discards, ERROR_IF_KEPT)
    with pytest.raises(snc.EngineUnavailableError, match="no GPU with device=7"):
        dataclasses.replace(sampler, device=7).compiled_sampler_for_task(task(CIRCUIT))


@pytest.mark.parametrize("shots_per_second", [0.1, 30.0, 1e4, 1e8, math.inf])
def test_batches_are_short_and_small_beside_the_rest(shots_per_second: float) -> None:
    """On a clock of their own."""
    batch_size = BatchSize()
    taken = 0
    for _ in range(200):
        shots = batch_size.next_shots(10**15)
        assert 1 <= shots <= max(MIN_SHOTS, taken * MAX_SHARE)
        if taken >= MIN_SHOTS:
            assert shots == 1 or shots / shots_per_second <= 0.2
        taken += shots
        batch_size.record(shots=shots, seconds=shots / shots_per_second)
    if math.isfinite(shots_per_second):  # the rate that the sampler can do is used in the end
        assert shots == max(1, int(0.2 * shots_per_second))


@pytest.mark.parametrize("wanted", [1, 10, 100, 1000])
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_errors_overshoot_little(wanted: int, known: bool) -> None:
    # Sinter's loop with one worker: it stops after the call in which the number is reached.
    options = sinter.CollectionOptions(max_errors=wanted) if known else None
    compiled = compiled_for(collection_options=options)
    errors = 0
    while errors < wanted:
        errors += compiled.sample(10**12).errors
    # Of 1/8 more errors at most, the number in the last batch is about Poisson distributed; the first
    # batches have 16 shots, each an error with probability below 1/32.
    last_batch = max(wanted, 4) / 8
    assert errors - wanted <= scipy.stats.poisson.ppf(1 - FALSE_ALARM, last_batch)


def test_a_task_has_sinters_own_error_model_where_there_is_one() -> None:
    model = CIRCUIT.detector_error_model(decompose_errors=True, approximate_disjoint_errors=True)
    options = {"decoder": "soft_postselect", "postselection_mask": MASK, "json_metadata": {"p": 1}}
    plain = sinter.Task(circuit=CIRCUIT, detector_error_model=model, **options)
    assert task(CIRCUIT, **options).strong_id() == plain.strong_id()


def test_warnings_stand_in_the_row() -> None:
    """Shown or not, by a sampler with a seed and without."""
    ignored = "warning: detectors are neither postselected nor decoded"
    random = "warning: observables or decoded detectors are random without noise"
    coin = stim.Circuit("M 0\nDETECTOR rec[-1]\nRX 1\nS[T] 1\nMX 1\nOBSERVABLE_INCLUDE(0) rec[-1]")
    for circuit, mask, expected in (
        (CIRCUIT, None, set()),
        (CIRCUIT, MASK, {ignored}),
        (coin, None, {random}),
        (coin, np.array([0], dtype=np.uint8), {ignored, random}),
    ):
        asked = task(circuit, postselection_mask=mask)
        quiet = SoftPostselectSampler(warn=False)
        loud = SoftPostselectSampler()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            samplers = [quiet.compiled_sampler_for_task(asked)]
            assert not caught
            samplers.append(loud.compiled_sampler_for_task(asked))
        assert len(caught) == len(expected)
        assert {each.filename for each in caught} <= {__file__}
        rows = [sampler.sample(100) for sampler in samplers]
        rows.append(quiet.compiled_range_sampler_for_task(asked, seed=1).sample_range(0, 500))
        for stats in rows:
            found = {key: count for key, count in stats.custom_counts.items() if key.startswith("warning")}
            assert found == dict.fromkeys(expected, stats.shots)
