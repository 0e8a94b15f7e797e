"""No shot is counted twice: not by several workers, and not when a run is resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
import scipy.stats
import sinter

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler, SoftPostselectSampler

FALSE_ALARM = 1e-7  # of one test; samplers here have no seed

# Ten observables that are flipped independently, each by a coin: 1024 equally likely combinations.
BITS = 10
COINS = "\n".join(
    [
        "M 10\nDETECTOR rec[-1]\nM 10\nDETECTOR rec[-1]",
        *(f"X_ERROR(0.5) {k}\nM {k}\nOBSERVABLE_INCLUDE({k}) rec[-1]" for k in range(BITS)),
    ]
)
SAMPLERS = {
    "postselects": SoftPostselectSampler(count_observable_error_combos=True),
    "decodes": SoftDecodingSampler(count_observable_error_combos=True, warn=False),
}


def combinations(stats: sinter.TaskStats | sinter.AnonTaskStats) -> list[int]:
    """How often each combination of flips occurred."""
    counts = [count for key, count in stats.custom_counts.items() if key.startswith("obs_mistake_mask=")]
    counts.append(stats.shots - sum(counts))  # no flip
    return counts + [0] * (2**BITS - len(counts))


def collect(name: str, num_workers: int, max_shots: int, **arguments: object) -> sinter.TaskStats:
    [stats] = sinter.collect(
        num_workers=num_workers,
        tasks=[sinter_plugin.task(snc.Circuit(COINS), decoder=name)],
        custom_decoders=SAMPLERS,
        max_shots=max_shots,
        **arguments,
    )
    return stats


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.slow
def test_runs_that_are_resumed_and_three_workers_take_new_shots(name: str, tmp_path: Path) -> None:
    """If shots are counted twice, the counts of combinations scatter twice as much as they should."""
    path = tmp_path / "stats.csv"
    for max_shots in (20_000, 40_000, 60_000):
        resumed = collect(name, 1, max_shots, save_resume_filepath=path)
        assert resumed.shots == max_shots
    for stats in (resumed, collect(name, 3, 60_000)):
        assert scipy.stats.chisquare(combinations(stats)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("kind", [SoftPostselectSampler, SoftDecodingSampler])
def test_a_sampler_for_sinter_has_no_seed(kind: type) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'seed'"):
        kind(seed=7)
    task = sinter_plugin.task(snc.Circuit(COINS))
    numbered = kind().compiled_range_sampler_for_task(task, seed=7)
    with pytest.raises(ValueError, match="would count the same shots again"):
        numbered.sample(100)
    with pytest.raises(ValueError, match="has no seed, so that its shots have no numbers"):
        kind().compiled_sampler_for_task(task).sample_range(0, 100)
    for seed in (-1, 2**64, 0.5, "7"):
        with pytest.raises(ValueError, match="seed"):
            kind().compiled_range_sampler_for_task(task, seed=seed)
    first, again = numbered.sample_range(0, 5000), numbered.sample_range(0, 5000)
    assert (first.errors, first.discards) == (again.errors, again.discards)
