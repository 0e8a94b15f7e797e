"""The GPU engine's orchestration: chunks, rounds, memory, limits, with its kernels run on the host.

On the host a kernel's threads run one after another. What a GPU runs is compared in ``test_ptx_engine``.
"""

import types
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from stim_nonclifford import Circuit, ResourceLimitError, _native
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import DEFAULT_CACHE_BYTES, CpuEngine, Tally
from stim_nonclifford.simulation.engines.gpu import GpuEngine
from stim_nonclifford.simulation.engines.gpu.cuda_source import KernelLaunch
from stim_nonclifford.simulation.engines.gpu.device_plan import DevicePlan
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend, HostStream
from stim_nonclifford.simulation.engines.random_streams import Stream, words
from stim_nonclifford.simulation.plan import ACTIVATE, BLOCK_SHOTS, MEASURE, SamplingPlan, plain_attributes

from ...support.engines.engine_cases import DEEP, FIXED, REPETITION, SEED, plans_of
from ...support.oracle.random_circuits import seeded_circuits
from ...support.seeds import slow

SMALL_SHARED = 14 << 10
"""So little shared memory that tables, vectors and most events lie in the device's memory."""


def host(**options: Any) -> HostBackend:
    return HostBackend(**options)


def assert_same_shots(
    plan: SamplingPlan, gpu: GpuEngine, first_shot: int, shots: int, where: str = ""
) -> None:
    """Compares all methods with those of the CPU engine."""
    cpu = CpuEngine(plan)
    for max_errors in (0, 1, 17, 10**6):
        for listed in (False, True):
            expected = cpu.count(SEED, first_shot, shots, max_errors, list_errors=listed)
            found = gpu.count(SEED, first_shot, shots, max_errors, list_errors=listed)
            assert found == expected, where
    kept = cpu.sample_kept(SEED, first_shot, shots)
    for rows in (
        gpu.sample_kept(SEED, first_shot, shots),
        gpu.sample_kept_on_device(SEED, first_shot, shots),
    ):
        assert rows.dtype == np.uint8
        assert rows.shape == kept.shape, where
        np.testing.assert_array_equal(rows, kept, err_msg=where)
    if not plan.num_checks + plan.num_outcome_checks and not plan.never_kept:
        np.testing.assert_array_equal(gpu.sample(SEED, first_shot, shots), kept, err_msg=where)
        np.testing.assert_array_equal(gpu.sample_on_device(SEED, first_shot, shots), kept, err_msg=where)


class DeviceStep(NamedTuple):
    """As ``_native.image_steps`` gives it."""

    kind: int
    width: int
    new_coordinates: int
    rotations: int
    projects: bool
    sums: bool

    def __str__(self) -> str:
        """R rotates, G also adds coordinates, A activates one, M measures, W measures weakly."""
        return "G" if self.kind == 0 and self.new_coordinates else "RAMW"[self.kind]


def steps_of(plan: SamplingPlan) -> list[DeviceStep]:
    image = _native.plan_image(plain_attributes(plan))
    return [DeviceStep(*step) for step in _native.image_steps(image)]


def weak_measurements(operations: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Those of a coordinate that the operation before activates about Z, on which the measurement has an X."""
    before = operations[np.arange(len(operations)) - 1]
    activated = (before["kind"] == ACTIVATE) & (before["x"] == 0) & (before["pivot"] == operations["pivot"])
    found: npt.NDArray[np.bool_] = (operations["kind"] == MEASURE) & (operations["x"] != 0) & activated
    return found


def test_steps_make_each_operation_once() -> None:
    """Of circuits of the seeds [5, 0], ..., [5, 19]: rotations, widths, and measurements in their order."""
    circuits = [*FIXED.values(), DEEP]
    circuits += [str(c) for _, _, c in seeded_circuits(5, 20, num_qubits=5, num_operations=40)]
    activated_together = joined = 0
    for text in circuits:
        for kind, plan in plans_of(text):
            operations, steps = plan.operations, steps_of(plan)
            measured = operations["outcome"] >= 0
            weak = weak_measurements(operations)
            has_rotation = operations["kind"] != MEASURE
            assert sum(step.rotations for step in steps) == has_rotation.sum(), f"{kind}\n{text}"
            measurements = [step for step in steps if str(step) in "MW"]
            assert [str(step) == "W" for step in measurements] == weak[measured].tolist()
            assert [step.width for step in measurements] == (operations["width"] - weak)[measured].tolist()
            width = 0
            for step in steps:
                assert step.width == width
                width += step.new_coordinates - (str(step) == "M")
            activated_together += any(step.new_coordinates > 1 for step in steps)
            joined += any(step.projects or step.sums for step in steps)
    assert activated_together > 10
    assert joined > 20


def test_backends_are_what_they_should_be() -> None:
    """The sizes for which they are made."""
    deep = Circuit(DEEP).compile().record_plan()
    events = dict(plans_of(FIXED["events"]))["records"]
    cultivation = Circuit(cultivation_circuit(distance=5, p=2e-3))
    detectors = range(cultivation.num_detectors)
    tables = cultivation.compile().detector_plan(RequestedOutputs.of((0,), detectors))
    plain, small = (
        [DevicePlan(plan, host(shared_bytes=size), 1 << 22) for plan in (deep, events, tables)]
        for size in (227 << 10, SMALL_SHARED)
    )
    assert plain[0].simulate is not None
    assert small[0].simulate is not None
    assert (plain[0].simulate.in_shared, plain[0].simulate.team_size) == (True, 128)
    assert (small[0].simulate.in_shared, small[0].simulate.team_size) == (False, 512)
    assert (plain[0].shared_width, small[0].shared_width) == (10, 9)
    assert plain[1].event_capacity > 5000 > 2000 > small[1].event_capacity
    assert (plain[2].noise.in_shared, small[2].noise.in_shared) == (True, False)


@pytest.mark.parametrize("cache_bytes", [0, slow(300), slow(3000), slow(100_000), DEFAULT_CACHE_BYTES])
def test_size_of_the_store_changes_nothing(cache_bytes: int) -> None:
    """The second round finds the trees of the first one, as far as they were stored."""
    for name in ("layers", "repetition", "long signature"):
        for kind, plan in plans_of(FIXED[name]):
            cpu = CpuEngine(plan)
            engine = GpuEngine(plan, host(), cache_bytes=cache_bytes)
            for _ in range(2):
                rows = cpu.sample_kept(SEED, 77, 2000)
                np.testing.assert_array_equal(engine.sample_kept(SEED, 77, 2000), rows, err_msg=kind)
                assert engine.count(SEED, 77, 2000) == cpu.count(SEED, 77, 2000)
            assert engine.statistics()["bytes"] <= cache_bytes


class NotedStream(HostStream):
    """Notes the kernels that are launched."""

    def __init__(self, launches: list[str]) -> None:
        super().__init__(reversed_order=False)
        self.launches = launches

    def launch(self, kernel: KernelLaunch, job: Any, round_number: int | None = None) -> None:
        self.launches.append(kernel.name)
        super().launch(kernel, job, round_number)


class NotingHost(HostBackend):
    def __init__(self) -> None:
        super().__init__()
        self.launches: list[str] = []

    def new_stream(self) -> HostStream:
        return NotedStream(self.launches)


def test_rounds_without_work_are_not_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few shots need one round. Many shots that share few trees of depth 3 wait for each other at first."""
    monkeypatch.setattr("stim_nonclifford.simulation.engines.gpu.chunk_sampler._FIRST_WAITING_LIMIT", 8)
    plan = Circuit("H 0 1 2\nT 0 1 2\nH 0 1 2\nM 0 1 2").compile().record_plan()
    backend = NotingHost()
    engine, cpu = GpuEngine(plan, backend), CpuEngine(plan)
    found = []
    for first_shot, shots in ((0, 2), (2, 2), (4, 5000), (5004, 5000), (10_004, 5000)):
        del backend.launches[:]
        rows = engine.sample(SEED, first_shot, shots)
        np.testing.assert_array_equal(rows, cpu.sample(SEED, first_shot, shots))
        found.append(backend.launches.count("walk"))
    # The third call launches the other five rounds when it finds shots that still wait.
    assert found == [6, 1, 6, 3, 1]


@pytest.mark.parametrize("options", [{}, {"reversed_order": True}, {"shared_bytes": SMALL_SHARED}])
def test_shots_are_in_the_order_of_their_numbers_of_events(options: dict[str, Any]) -> None:
    """All shots are queued, as the outcome is random for each of them."""
    plan = Circuit("X_ERROR(0.4) 0 1 2 3 4\nH 5\nT 5\nH 5\nM 0 1 2 3 4 5").compile().record_plan()
    engine = GpuEngine(plan, host(**options))
    engine.sample(SEED, 0, BLOCK_SHOTS)
    queued = engine._samplers[-1]._queue_shots[:BLOCK_SHOTS]
    np.testing.assert_array_equal(np.sort(queued), np.arange(BLOCK_SHOTS))
    drawn = words(SEED, Stream.COUNTS, 0, BLOCK_SHOTS)
    events = np.searchsorted(plan.count_thresholds, drawn, side="right")
    steps = np.diff(events[queued])
    assert (steps >= 0).all() or (steps <= 0).all()
    assert events.max() >= 5


def test_close_decisions_are_counted() -> None:
    """A rotation so small that its outcome's probability, 2.5e-13, is nearly taken as certain."""
    plan = Circuit("R 0\nR_X(3.1831e-7) 0\nM 0").compile().record_plan()
    engine = GpuEngine(plan, host())
    engine.sample(SEED, 0, 100)
    assert engine.statistics()["close_decisions"] > 0


@pytest.mark.parametrize("first_shot", [0, 1, 1023, 1024, 1025, 10**12 + 7, 2**62 + 1000])
def test_any_first_shot(first_shot: int) -> None:
    for name in ("layers", "coins", "sites", "events"):
        for kind, plan in plans_of(FIXED[name]):
            assert_same_shots(plan, GpuEngine(plan, host()), first_shot, 1100, f"{name}, {kind}")


@pytest.mark.parametrize("seed", [0, 2**53 + 1, 2**63, 2**64 - 1])
def test_any_seed(seed: int) -> None:
    plan = dict(plans_of(REPETITION))["detectors"]
    rows = GpuEngine(plan, host()).sample(seed, 5, 500)
    np.testing.assert_array_equal(rows, CpuEngine(plan).sample(seed, 5, 500))


@pytest.mark.parametrize("max_errors", [1, 2, 700, 20_000, 10**9])
def test_limit_of_errors(max_errors: int) -> None:
    """Over several chunks, the first of which ends within a block."""
    plan = Circuit("X_ERROR(0.01) 0\nM 0").compile().record_plan()
    engine = GpuEngine(plan, host())
    tally = CpuEngine(plan).count(SEED, 300, 3_000_000, max_errors)
    assert engine.count(SEED, 300, 3_000_000, max_errors) == tally
    assert (tally.shots < 3_000_000) == (max_errors < 10**9)


def test_chunks_grow_and_agree() -> None:
    plan = (
        Circuit("X_ERROR(0.001) 0 1\nM 0 1\nDETECTOR rec[-1]")
        .compile()
        .detector_plan(RequestedOutputs.of((0,)))
    )
    engine = GpuEngine(plan, host())
    assert engine.count(SEED, 77, 8_000_000) == CpuEngine(plan).count(SEED, 77, 8_000_000)
    assert 2 <= engine.statistics()["chunks"] <= 5


def test_no_shots_and_no_outputs() -> None:
    compiled = Circuit("X_ERROR(0.25) 0\nM 0\nDETECTOR rec[-1]").compile()
    plan = compiled.detector_plan(RequestedOutputs.of((), (0,)))
    engine = GpuEngine(plan, host())
    assert engine.count(SEED, 0, 3000) == CpuEngine(plan).count(SEED, 0, 3000)
    assert engine.sample_kept(SEED, 0, 3000).shape == CpuEngine(plan).sample_kept(SEED, 0, 3000).shape
    assert engine.count(SEED, 0, 0) == Tally(0, 0, 0, {})
    assert engine.sample_kept(SEED, 0, 0).shape == (0, 0)


class CountingHost(HostBackend):
    """A host that counts the bytes of its arrays, and makes none above a number of bytes."""

    def __init__(self, largest_array: int = 1 << 62, **options: Any) -> None:
        super().__init__(**options)
        self.allocated = 0

        def counted(make: Any) -> Any:
            def made(shape: Any, *values: Any, dtype: Any) -> Any:
                size = int(np.prod(shape)) * np.dtype(dtype).itemsize
                if size > largest_array:
                    raise MemoryError
                self.allocated += size
                return make(shape, *values, dtype=dtype)

            return made

        self.xp = types.SimpleNamespace(
            **{name: counted(getattr(np, name)) for name in ("empty", "zeros", "full")}
        )


def test_less_memory_than_there_seemed_to_be() -> None:
    plan = dict(plans_of(REPETITION))["counts"]
    engine = GpuEngine(plan, CountingHost(5 << 20))
    assert 0 < engine.statistics()["bytes"] < 20 << 20
    assert engine.count(SEED, 0, 5000) == CpuEngine(plan).count(SEED, 0, 5000)


def test_rows_of_many_bits_stay_within_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of shots for all 528 teams of the noise kernel, twice, would take 2.7 GB."""
    qubits = " ".join(map(str, range(20_000)))
    plan = Circuit(f"X_ERROR(0.001) {qubits}\nM {qubits}").compile().record_plan()
    monkeypatch.setattr(CountingHost, "multiprocessors", 132)
    backend = CountingHost(free_bytes=1 << 30)
    engine = GpuEngine(plan, backend)
    assert 1 << 24 < backend.allocated <= 1 << 28
    np.testing.assert_array_equal(engine.sample(SEED, 0, 1200), CpuEngine(plan).sample(SEED, 0, 1200))


def test_too_little_memory() -> None:
    for text, backend, message in (
        (REPETITION, CountingHost(10_000), r"too little free memory.*device=.*engine='cpu'"),
        (DEEP, host(shared_bytes=SMALL_SHARED, free_bytes=1 << 16), r"2\^10 numbers"),
    ):
        with pytest.raises(ResourceLimitError, match=message):
            GpuEngine(Circuit(text).compile().record_plan(), backend)


def test_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stim_nonclifford.simulation.engines.gpu.device_plan._MAX_VECTOR_WIDTH", 8)
    plan = Circuit(DEEP).compile().record_plan()
    with pytest.raises(ResourceLimitError, match=r"2\^10 numbers, but the limit there is 2\^8"):
        GpuEngine(plan, host())
