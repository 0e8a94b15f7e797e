"""The GPU engine on a GPU gives the shots of the CPU engine. Skipped where there is none."""

import numpy as np
import pytest

from stim_nonclifford import Circuit, EngineUnavailableError
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, GpuEngine
from stim_nonclifford.simulation.engines.gpu import CupyBackend

from ...support.engines.engine_cases import DEEP, FIXED, SEED, plans_of
from .ptx.cases import CASES
from .ptx.comparison import same_shots


@pytest.fixture(scope="module")
def backend() -> CupyBackend:
    try:
        return CupyBackend()
    except EngineUnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", FIXED)
def test_fixed_circuits(backend: CupyBackend, name: str) -> None:
    for kind, plan in plans_of(FIXED[name]):
        cpu, gpu = CpuEngine(plan), GpuEngine(plan, backend)
        for max_errors in (0, 1, 1000):
            expected = cpu.count(SEED, 1000, 50_000, max_errors)
            assert gpu.count(SEED, 1000, 50_000, max_errors) == expected, kind
        np.testing.assert_array_equal(
            gpu.sample_kept(SEED, 1000, 50_000), cpu.sample_kept(SEED, 1000, 50_000)
        )
        listed = cpu.count(SEED, 1000, 5000, list_errors=True)
        assert gpu.count(SEED, 1000, 5000, list_errors=True) == listed, kind


@pytest.mark.parametrize("distance", [3, 5])
def test_counts_of_cultivation(backend: CupyBackend, distance: int) -> None:
    circuit = Circuit(cultivation_circuit(distance=distance, p=1e-3))
    detectors, bits = range(circuit.num_detectors), circuit.num_detectors + circuit.num_observables
    plan = circuit.compile().detector_plan(RequestedOutputs.of(range(len(detectors), bits), detectors))
    gpu = GpuEngine(plan, backend)
    assert gpu.count(SEED, 5, 10**7) == CpuEngine(plan).count(SEED, 5, 10**7)
    assert gpu.statistics()["close_decisions"] == 0


@pytest.mark.parametrize("name", CASES)
def test_cases_of_the_emulated_kernels(backend: CupyBackend, name: str) -> None:
    case = CASES[name]
    plan = case.plan()
    gpu = GpuEngine(plan, backend, cache_bytes=case.cache_bytes)
    for _ in range(case.times):  # with empty trees of outcomes, and with grown ones
        assert all(same_shots(plan, gpu, SEED, case.first, 10 * case.shots).values())


def test_wide_vectors(backend: CupyBackend) -> None:
    plan = Circuit(DEEP).compile().record_plan()
    rows = CpuEngine(plan).sample(SEED, 3, 5000)
    np.testing.assert_array_equal(GpuEngine(plan, backend).sample(SEED, 3, 5000), rows)


def test_output_on_the_device(backend: CupyBackend) -> None:
    circuit = Circuit(cultivation_circuit(distance=3, p=1e-3))
    mask = np.ones(circuit.num_detectors, dtype=np.bool_)
    device, host = (
        circuit.compile_detector_sampler(seed=5, postselection_mask=mask, engine=engine)
        for engine in ("gpu", "cpu")
    )
    for bit_packed in (False, True):
        for on_device, on_host in zip(
            device.sample(10_000, bit_packed=bit_packed, output="cupy", separate_observables=True),
            host.sample(10_000, bit_packed=bit_packed, separate_observables=True),
            strict=True,
        ):
            assert type(on_device).__module__.partition(".")[0] == "cupy"
            np.testing.assert_array_equal(on_device.get(), on_host)
        rows = device.sample(100, bit_packed=bit_packed, output="cupy", prepend_observables=True)
        expected = host.sample(100, bit_packed=bit_packed, prepend_observables=True)
        np.testing.assert_array_equal(rows.get(), expected)
    kept, expected_kept = device.sample_kept(10_000, output="cupy"), host.sample_kept(10_000)
    np.testing.assert_array_equal(kept.dets.get(), expected_kept.dets)
    np.testing.assert_array_equal(kept.obs.get(), expected_kept.obs)
