"""Counts, kept samples and seeds: what samplers have beyond Stim's."""

import itertools
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.sampling import SampleCounts

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
"""Bits are compared here, whatever they mean: some observables are random without noise."""


NOISY = """
    RX 0
    T 0
    X_ERROR(0.1) 0 1
    SQRT_X 0
    T 0
    M(0.05) 1
    DETECTOR rec[-1]
    MX 0
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]
    OBSERVABLE_INCLUDE(1) rec[-2]
"""


@pytest.mark.parametrize("engine", ["auto", "cpu", "reference"])
def test_shots_do_not_depend_on_calls(engine: str) -> None:
    """Seed 4. Any split into calls, method, number of threads or engine gives the same shots."""
    circuit = Circuit(NOISY)
    expected = circuit.compile_detector_sampler(seed=4).sample(1500, append_observables=True)
    sampler = circuit.compile_detector_sampler(seed=4, engine=engine)
    first = sampler.sample(100, append_observables=True)
    dets, obs = sampler.sample(900, separate_observables=True)
    kept = sampler.sample_kept(500)
    rows = np.unpackbits(np.concatenate([kept.dets | kept.obs << 2], axis=1), axis=1, bitorder="little")
    np.testing.assert_array_equal(first, expected[:100])
    np.testing.assert_array_equal(np.concatenate([dets, obs], axis=1), expected[100:1000])
    np.testing.assert_array_equal(rows[:, :4], expected[1000:])
    records = circuit.compile_sampler(seed=4).sample(1500)
    sampler_of_records = circuit.compile_sampler(seed=4, engine=engine)
    parts = [sampler_of_records.sample(size) for size in (0, 7, 1000, 493)]
    np.testing.assert_array_equal(np.concatenate(parts), records)


def test_counts_do_not_depend_on_calls() -> None:
    """Seed 5."""
    arguments: Any = {"seed": 5, "postselection_mask": np.array([True, False])}
    whole = Circuit(NOISY).compile_detector_sampler(**arguments).sample_counts(50_000)
    split = Circuit(NOISY).compile_detector_sampler(**arguments)
    counts = [split.sample_counts(size) for size in (0, 1, 1022, 30_000, 18_977)]
    assert sum(counts[1:], start=counts[0]) == whole
    threaded = Circuit(NOISY).compile_detector_sampler(**arguments, threads=3)
    assert threaded.sample_counts(50_000) == whole


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_seeking_gives_the_same_shots_in_any_order(engine: str) -> None:
    """Seed 6."""
    arguments: Any = {"seed": 6, "postselection_mask": np.array([True, False]), "engine": engine}
    whole = Circuit(NOISY).compile_detector_sampler(**arguments)
    counts, whole_kept = whole.sample_counts(1500), whole.sample_kept(1500)
    assert whole.next_shot == 3000
    sampler = Circuit(NOISY).compile_detector_sampler(**arguments)
    parts = {}
    for first, end in ((1100, 1500), (0, 777), (1024, 1100), (777, 1024)):
        sampler.seek(first)
        parts[first] = sampler.sample_counts(end - first)
        assert sampler.next_shot == end
    assert sum((parts[first] for first in (777, 1024, 1100)), start=parts[0]) == counts
    sampler.seek(2700)
    end_of_kept = sampler.sample_kept(300)
    np.testing.assert_array_equal(end_of_kept.dets, whole_kept.dets[-len(end_of_kept.dets) :])
    with pytest.raises(ValueError, match="shot must be an integer"):
        sampler.seek(-1)
    assert sampler.next_shot == 3000


def test_seeds() -> None:
    circuit = Circuit(NOISY)
    for seed in (0, 1, 2**63 - 1, 2**64 - 1):
        a, b = (circuit.compile_detector_sampler(seed=seed).sample(500) for _ in range(2))
        np.testing.assert_array_equal(a, b)
        other = circuit.compile_detector_sampler(seed=seed ^ 1).sample(500)
        assert not np.array_equal(a, other)
    integer = circuit.compile_sampler(seed=np.uint8(7)).sample(500)  # type: ignore[arg-type]
    np.testing.assert_array_equal(integer, circuit.compile_sampler(seed=7).sample(500))


@pytest.mark.parametrize("mask", [*itertools.product((False, True), repeat=2)])
@pytest.mark.parametrize("observables_mask", [*itertools.product((False, True), repeat=2)])
def test_kept_samples_and_counts(mask: tuple[bool, bool], observables_mask: tuple[bool, bool]) -> None:
    """Seed 6: rows satisfy the masks, and the numbers agree."""
    shots = 4000
    arguments: Any = {
        "seed": 6,
        "postselection_mask": np.array(mask),
        "postselected_observables_mask": np.array(observables_mask),
    }
    sampler = Circuit(NOISY).compile_detector_sampler(**arguments)
    kept = sampler.sample_kept(shots)
    assert kept.shots == shots
    assert kept.dets.dtype == kept.obs.dtype == np.uint8
    assert kept.dets.shape == kept.obs.shape == (shots - kept.discards, 1)
    dets = np.unpackbits(kept.dets, axis=1, count=2, bitorder="little")
    obs = np.unpackbits(kept.obs, axis=1, count=2, bitorder="little")
    assert not dets[:, np.array(mask)].any()
    assert not obs[:, np.array(observables_mask)].any()
    # The masks leave the other methods alone.
    everything = Circuit(NOISY).compile_detector_sampler(**arguments).sample(shots, append_observables=True)
    unmasked = Circuit(NOISY).compile_detector_sampler(seed=6).sample(shots, append_observables=True)
    np.testing.assert_array_equal(everything, unmasked)
    if not any(mask) and not any(observables_mask):
        assert kept.discards == 0
        np.testing.assert_array_equal(np.concatenate([dets, obs], axis=1), everything)
    else:
        assert 0 < kept.discards < shots
    counts = Circuit(NOISY).compile_detector_sampler(**arguments).sample_counts(shots)
    assert_counts_consistent(counts, shots)
    if observables_mask[0]:
        assert counts.observable_flips[0] == 0
    if observables_mask[1]:
        assert counts.observable_flips[1] == 0


def assert_counts_consistent(counts: SampleCounts, shots: int) -> None:
    assert counts.shots == shots
    assert counts.kept == shots - counts.discards
    assert 0 not in counts.error_patterns
    assert sum(counts.error_patterns.values()) == counts.errors
    assert counts.observable_flips.dtype == np.int64
    flips = np.zeros(len(counts.observable_flips), dtype=np.int64)
    for pattern, count in counts.error_patterns.items():
        flips += count * np.array([pattern >> k & 1 for k in range(len(flips))])
    np.testing.assert_array_equal(flips, counts.observable_flips)


def test_counts_by_hand() -> None:
    """The third detector is postselected; observables are 1 (always) and 66 (never)."""
    text = "X_ERROR(1) 0\nM 0 1\nDETECTOR rec[-2]\nDETECTOR\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(1) rec[-2]\nOBSERVABLE_INCLUDE(66) rec[-1]"
    sampler = Circuit(text).compile_detector_sampler(postselection_mask=np.array([False, False, True]))
    counts = sampler.sample_counts(1000)
    flips = np.zeros(67, dtype=np.int64)
    flips[1] = 1000
    assert counts == SampleCounts(1000, 0, 1000, flips, {2: 1000})
    assert_counts_consistent(counts, 1000)
    sampler = Circuit(text).compile_detector_sampler(postselection_mask=np.array([True, False, False]))
    assert sampler.sample_counts(1000) == SampleCounts(1000, 1000, 0, np.zeros(67, dtype=np.int64), {})
    assert sampler.sample_kept(1000).dets.shape == (0, 1)
    assert sampler.sample_kept(1000).obs.shape == (0, 9)


def test_patterns_of_many_observables() -> None:
    """Seed 7: patterns are integers of any length."""
    text = "".join(f"X_ERROR(0.02) {k}\nM {k}\nOBSERVABLE_INCLUDE({k}) rec[-1]\n" for k in range(130))
    sampler = Circuit(text).compile_detector_sampler(seed=7)
    counts = sampler.sample_counts(3000)
    assert_counts_consistent(counts, 3000)
    rows = Circuit(text).compile_detector_sampler(seed=7).sample(3000, separate_observables=True)[1]
    # Plans of different methods differ, so the shots do: compare frequencies, within ten standard deviations.
    assert abs(counts.errors - rows.any(axis=1).sum()) < 10 * np.sqrt(2 * 3000 * 0.25)
    assert max(counts.error_patterns) >= 1 << 64
    assert np.all(abs(counts.observable_flips - 60) < 10 * np.sqrt(60))


def test_max_errors() -> None:
    """Counting goes on where it stopped."""
    arguments: Any = {"seed": 8, "postselection_mask": np.array([True, False])}
    sampler = Circuit(NOISY).compile_detector_sampler(**arguments)
    first = sampler.sample_counts(100_000, max_errors=1)
    assert first.shots == 1024
    assert first.errors >= 1
    rest = sampler.sample_counts(100_000 - first.shots)
    whole = Circuit(NOISY).compile_detector_sampler(**arguments).sample_counts(100_000)
    assert first + rest == whole
    unlimited = Circuit(NOISY).compile_detector_sampler(**arguments)
    assert unlimited.sample_counts(100_000, max_errors=10**9) == whole
