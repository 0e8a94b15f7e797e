"""Streams of kept shots: the shots of ``sample_kept``, with their numbers, in flat memory."""

from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler, KeptBatch

from ...support.seeds import slow

CIRCUIT = snc.Circuit(
    """
    X_ERROR(0.3) 0 1
    RX 2
    T 2
    DEPOLARIZE1(0.1) 2
    T_DAG 2
    MX 2
    M 0 1
    DETECTOR rec[-1]
    DETECTOR rec[-2]
    DETECTOR rec[-3]
    OBSERVABLE_INCLUDE(0) rec[-2]
    """
)
MASK = np.array([True, False, True])


def sampler(**arguments: Any) -> CompiledDetectorSampler:
    return CIRCUIT.compile_detector_sampler(seed=5, postselection_mask=MASK, **arguments)


def joined(batches: list[KeptBatch]) -> tuple[Any, ...]:
    return (
        sum(batch.shots for batch in batches),
        sum(batch.discards for batch in batches),
        np.concatenate([batch.dets for batch in batches]).tolist(),
        np.concatenate([batch.obs for batch in batches]).tolist(),
        np.concatenate([batch.shot_numbers for batch in batches]).tolist(),
    )


def expected(shots: int) -> tuple[Any, ...]:
    kept = sampler().sample_kept(shots)
    return kept.shots, kept.discards, kept.dets.tolist(), kept.obs.tolist()


@pytest.mark.parametrize("batch_shots", [None, slow(1), 7, slow(1000), 10**6])
@pytest.mark.parametrize("engine", ["cpu", "auto", "reference"])
def test_the_shots_of_sample_kept(batch_shots: int | None, engine: Any) -> None:
    shots = 3000 if engine == "reference" or batch_shots == 1 else 30_000
    found = joined(list(sampler(engine=engine).iter_kept(max_shots=shots, batch_shots=batch_shots)))
    assert found[:4] == expected(shots)
    assert len(found[4]) == len(found[2])
    assert all(np.diff(found[4]) > 0)


def test_numbers_name_the_shots() -> None:
    """Each kept shot, sampled alone, is kept with the same bits; all others are discarded."""
    found = joined(list(sampler().iter_kept(max_shots=300)))
    alone = sampler()
    kept = [(k, part) for k in range(300) if len((part := alone.sample_kept(1)).dets)]
    assert [k for k, _ in kept] == found[4]
    assert [part.dets[0].tolist() for _, part in kept] == found[2]


@pytest.mark.parametrize("batch_shots", [None, 1, 64, 10**5])
@pytest.mark.parametrize("threads", [1, 3])
def test_it_ends_with_the_last_one_to_be_kept(batch_shots: int | None, threads: int) -> None:
    one = sampler(threads=threads)
    found = joined(list(one.iter_kept(max_kept=777, batch_shots=batch_shots)))
    assert len(found[4]) == 777
    assert found[0] == found[4][-1] + 1  # the shots behind it are not used up
    assert found[:4] == expected(found[0])
    assert next(one.iter_kept(max_kept=1)).shot_numbers[0] >= found[0]


def test_both_limits() -> None:
    assert joined(list(sampler().iter_kept(max_kept=10**6, max_shots=500)))[0] == 500
    assert list(sampler().iter_kept(max_kept=0)) == list(sampler().iter_kept(max_shots=0)) == []


def test_nothing_is_postselected() -> None:
    [batch] = CIRCUIT.compile_detector_sampler(seed=5).iter_kept(max_shots=100)
    assert batch.shot_numbers.tolist() == list(range(100))
    assert (batch.shots, batch.discards, batch.dets.shape, batch.obs.shape) == (100, 0, (100, 1), (100, 1))


def test_nothing_is_kept() -> None:
    circuit = snc.Circuit("X 0\nX_ERROR(1) 0\nM 0\nDETECTOR rec[-1]")
    batches = list(
        circuit.compile_detector_sampler(postselection_mask=np.array([True])).iter_kept(max_shots=10**8)
    )
    assert sum(batch.discards for batch in batches) == 10**8
    assert len(batches) < 100
