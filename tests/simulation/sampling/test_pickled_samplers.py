"""Samplers that are pickled go on with the shots that they would have returned."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.engines import EngineOptions
from stim_nonclifford.simulation.sampling import CompiledMeasurementSampler


def copy_of(sampler: Any) -> Any:
    return pickle.loads(pickle.dumps(sampler))


@pytest.mark.parametrize("seed", [None, 5])
def test_measurement_sampler(seed: int | None) -> None:
    circuit = snc.Circuit("H 0 1\nT 0\nH 0\nX_ERROR(0.1) 0\nM 0 1")
    for arguments in ({}, {"skip_reference_sample": True}, {"reference_sample": np.array([True, False])}):
        sampler = circuit.compile_sampler(seed=seed, threads=2, **arguments)
        sampler.sample(100)
        copy = copy_of(sampler)
        assert (copy.sample(1000) == sampler.sample(1000)).all()
        assert (copy_of(copy).sample(10) == sampler.sample(10)).all()


def test_detector_sampler_keeps_its_masks() -> None:
    circuit = snc.Circuit(cultivation_circuit(distance=3, p=0.003, gate="T"))
    mask = np.ones(circuit.num_detectors, dtype=np.bool_)
    sampler = circuit.compile_detector_sampler(seed=1, postselection_mask=mask)
    mask[:] = False  # what the sampler was compiled with counts
    circuit.append("X", [0])
    sampler.sample_counts(1000)
    copy = copy_of(sampler)
    assert copy.sample_counts(10_000) == sampler.sample_counts(10_000)
    kept, copied = sampler.sample_kept(1000), copy.sample_kept(1000)
    assert kept.discards == copied.discards > 0
    assert (copy.sample(100) == sampler.sample(100)).all()


def test_samplers_without_a_circuit() -> None:
    compiled = snc.Circuit("M 0").compile()
    with pytest.raises(TypeError, match="CompiledMeasurementSampler cannot be pickled"):
        pickle.dumps(CompiledMeasurementSampler(compiled, EngineOptions()))
