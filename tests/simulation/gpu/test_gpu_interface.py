"""What users say to get the GPU engine, and what they are told where there is no GPU."""

import contextlib
import subprocess
import sys
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import (
    AutoEngine,
    CpuEngine,
    EngineOptions,
    GpuEngine,
    SamplingEngine,
    engine_factory,
)
from stim_nonclifford.simulation.engines.cost import gpu_simulation_seconds
from stim_nonclifford.simulation.engines.gpu.cuda_source import KernelLaunch
from stim_nonclifford.simulation.engines.gpu.cupy_backend import CupyBackend
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.plan import SamplingPlan

from ...support.engines import fake_cupy
from ...support.engines.engine_cases import LAYERS, REPETITION, SEED, plans_of
from ...support.engines.fake_cupy import make_cupy

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
"""Bits are compared here, whatever they mean: some observables are random without noise."""

DETECTORS = """
    RX 0
    R 1 2
    T 0
    X_ERROR(0.2) 1 2
    M 1 2
    DETECTOR rec[-2]
    DETECTOR rec[-1]
    REPEAT 9 {
        DETECTOR rec[-1] rec[-2]
    }
    SQRT_X 0
    T 0
    MX 0
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]
"""


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stands in for CuPy."""
    module = make_cupy()
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


DECIDED = """
    R 0 1 2 3
    RX 4 5
    T 4
    X_ERROR(0.2) 0 1 2
    DEPOLARIZE1(0.1) 4 5
    MPP(0.1) Z0*Z1 Z1*Z2
    DETECTOR rec[-2]
    DETECTOR rec[-1]
    MPP[DECODE] Z0*Z1*Z2
    C_T rec[-1] 5
    MZZ 4 5
    C_S rec[-1] 5
    T 5
    MX 4
    X_ERROR(0.2) 0 1 2
    MPP(0.1) Z0*Z1 Z1*Z2
    DETECTOR rec[-2] rec[-7]
    DETECTOR rec[-1] rec[-6]
    MPP[DECODE] Z0*Z1*Z2
    {block}
    R_X(0.3) 5
    EXP_VAL X5 Z5
    MX 5
    OBSERVABLE_INCLUDE(0) rec[-1]
"""
"""Quantum outcomes before a decision and after it, which controls a T gate, or a block."""


@pytest.mark.parametrize("block", ["C_T_DAG rec[-1] 5", "REPEAT[IF rec[-1]] 1 {\nT 5\nDEPOLARIZE1(0.1) 5\n}"])
def test_decided_shots_are_those_of_the_cpu(cupy: Any, block: str) -> None:
    circuit = snc.Circuit(DECIDED.format(block=block))
    found: list[Any] = []
    for engine in ("gpu", "cpu"):
        options: dict[str, Any] = {"seed": 5, "decoder": "pymatching", "engine": engine}
        records = circuit.compile_sampler(**options)
        detectors = circuit.compile_detector_sampler(postselection_mask=[True] + 3 * [False], **options)
        values = next(iter(detectors.iter_kept(max_shots=2000, expectation_values=True)))
        kept = detectors.sample_kept(3000)
        found.append((records.sample(3000), kept.dets, kept.obs, values.obs, values.expectation_values))
        assert records.statistics()["engine"] == engine
        assert records.statistics()["simulations"] > 0
    for gpu, cpu in zip(*found, strict=True):
        np.testing.assert_array_equal(gpu, cpu)


def test_samplers_give_the_shots_of_the_cpu(cupy: Any) -> None:
    circuit = snc.Circuit(DETECTORS)
    mask = np.arange(circuit.num_detectors) == 1
    samplers = [
        circuit.compile_detector_sampler(seed=5, postselection_mask=mask, engine=engine)
        for engine in ("gpu", "cpu")
    ]
    results = []
    for sampler in samplers:
        dets, obs = sampler.sample(300, separate_observables=True)
        kept = sampler.sample_kept(3000)
        counts = sampler.sample_counts(5000, max_errors=50)
        failures = sampler.sample_failures(500)
        results.append((dets, obs, kept.discards, kept.dets, kept.obs))
        results.append((counts.shots, counts.discards, counts.errors, [f.shot for f in failures.failures]))
    for gpu, cpu in zip(results[:2], results[2:], strict=True):
        for a, b in zip(gpu, cpu, strict=True):
            np.testing.assert_array_equal(a, b)
    records = [circuit.compile_sampler(seed=5, engine=engine).sample(700) for engine in ("gpu", "cpu")]
    np.testing.assert_array_equal(*records)


@pytest.mark.parametrize("bit_packed", [True, False])
@pytest.mark.parametrize("engine", ["gpu", "auto"])
def test_output_on_the_device(cupy: Any, bit_packed: bool, engine: str) -> None:
    circuit = snc.Circuit(DETECTORS)
    mask = np.arange(circuit.num_detectors) == 1
    arguments: Any = {"seed": 5, "postselection_mask": mask}
    device = circuit.compile_detector_sampler(**arguments, engine=engine)
    host = circuit.compile_detector_sampler(**arguments, engine="cpu")
    for options in (
        {},
        {"append_observables": True},
        {"prepend_observables": True},
        {"prepend_observables": True, "append_observables": True},
    ):
        rows = device.sample(100, bit_packed=bit_packed, output="cupy", **options)
        assert not isinstance(rows, np.ndarray)
        expected = host.sample(100, bit_packed=bit_packed, **options)
        assert rows.dtype == expected.dtype
        np.testing.assert_array_equal(rows.get(), expected)
    for on_device, on_host in zip(
        device.sample(100, bit_packed=bit_packed, output="cupy", separate_observables=True),
        host.sample(100, bit_packed=bit_packed, separate_observables=True),
        strict=True,
    ):
        np.testing.assert_array_equal(on_device.get(), on_host)
    kept, expected_kept = device.sample_kept(1000, output="cupy"), host.sample_kept(1000)
    assert kept.discards == expected_kept.discards
    np.testing.assert_array_equal(kept.dets.get(), expected_kept.dets)
    np.testing.assert_array_equal(kept.obs.get(), expected_kept.obs)
    records = circuit.compile_sampler(seed=5, engine=engine).sample(50, bit_packed=bit_packed, output="cupy")
    np.testing.assert_array_equal(
        records.get(), circuit.compile_sampler(seed=5).sample(50, bit_packed=bit_packed)
    )


def test_two_plans_share_a_kernel_but_not_its_limit_of_shared_memory(cupy: Any) -> None:
    """The kernel of the larger tables can still be launched after that of the smaller ones is compiled."""
    stream = CupyBackend().new_stream()
    large, small = (
        KernelLaunch("noise", block_threads=512, num_blocks=1, shared_bytes=size, in_shared=True)
        for size in (210_328, 188_288)
    )
    function = stream._function(large)
    assert stream._function(small) is function
    assert function.max_dynamic_shared_size_bytes >= large.shared_bytes


def test_rows_are_not_written_while_the_caller_still_reads_their_memory(cupy: Any) -> None:
    """Every stream waits for the caller's before its first launch."""
    sampler = snc.Circuit(DETECTORS).compile_detector_sampler(seed=5, engine="gpu")
    sampler.sample(10, output="cupy")
    del cupy.log[:]
    sampler.sample(10, output="cupy")
    first_launch = next(k for k, entry in enumerate(cupy.log) if entry[0] == "launch")
    before = cupy.log[:first_launch]
    caller = cupy.cuda.get_current_stream()
    waiting = {entry[1] for entry in before if entry[0] == "wait" and entry[2] is caller}
    assert ("record", caller) in before
    assert len(waiting) == 2


def test_stopping_early_waits_for_the_chunk_in_flight(cupy: Any) -> None:
    """Errors of the first chunk are enough, and the second one has been launched."""
    circuit = snc.Circuit("X_ERROR(0.5) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    plan = circuit.compile().detector_plan(RequestedOutputs.of([0]))
    engine = engine_factory(EngineOptions(engine="gpu"))(plan)
    del cupy.log[:]
    tally = engine.count(5, 0, 3 << 20, 400_000)
    assert 400_000 <= tally.errors < 500_000
    names = [entry[0] for entry in cupy.log if entry[0] != "record"]
    # Two chunks, the wait, and the first chunk again, up to the block that has the last error.
    assert names == ["launch", "launch", "finish", "launch"]


def fails(error: Exception) -> Any:
    def fail(*arguments: Any, **keywords: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("owner", "method", "error"),
    [
        (fake_cupy.DeviceArray, "get", fake_cupy.CUDARuntimeError(700)),
        (fake_cupy.Device, "synchronize", fake_cupy.CUDARuntimeError(719)),
        (fake_cupy.RawKernel, "__call__", fake_cupy.CUDADriverError("status 1")),
        (fake_cupy.RawModule, "get_function", fake_cupy.CompileException("status 6")),
    ],
)
def test_a_gpu_that_fails(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, owner: Any, method: str, error: Exception
) -> None:
    """Errors of kernels come when results are read, or when a call waits for them."""
    circuit = snc.Circuit(DETECTORS)
    calls = [methodcaller(name, 10, output="cupy") for name in ("sample", "sample_kept")]
    if method != "synchronize":
        calls += [methodcaller(name, 10) for name in ("sample", "sample_kept", "sample_counts")]
    for call in calls:
        sampler = circuit.compile_detector_sampler(seed=5, engine="gpu")
        # Makes the engine of this call, which is not to fail yet.
        with contextlib.suppress(snc.EngineUnavailableError), monkeypatch.context() as patched:
            patched.setattr(fake_cupy.RawModule, "get_function", fails(fake_cupy.CompileException("")))
            call(sampler)
        with monkeypatch.context() as patched:
            patched.setattr(owner, method, fails(error))
            with pytest.raises(snc.EngineUnavailableError, match=rf"GPU failed: {error}.*engine='cpu'"):
                call(sampler)


def test_results_that_the_memory_does_not_hold(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = snc.Circuit(DETECTORS).compile_detector_sampler(seed=5, engine="gpu")
    sampler.sample(10, output="cupy")
    monkeypatch.setattr(cupy, "empty", fails(fake_cupy.OutOfMemoryError("12 bytes")))
    with pytest.raises(snc.ResourceLimitError, match=r"too little free memory.*12 bytes.*fewer shots"):
        sampler.sample(10, output="cupy")


def test_output_on_the_device_needs_one(cupy: Any) -> None:
    circuit = snc.Circuit(DETECTORS)
    sampler = circuit.compile_detector_sampler(engine="cpu")
    for sample in (sampler.sample, sampler.sample_kept, circuit.compile_sampler(engine="cpu").sample):
        with pytest.raises(ValueError, match=r"output='cupy' needs a sampler with engine='gpu'"):
            sample(1, output="cupy")
        with pytest.raises(ValueError, match=r"output must be 'numpy' or 'cupy', but is 'torch'"):
            sample(1, output="torch")
    dets = np.zeros((1, circuit.num_detectors), dtype=np.bool_)
    with pytest.raises(ValueError, match="dets_out and obs_out are for output='numpy'"):
        circuit.compile_detector_sampler(engine="gpu").sample(1, output="cupy", dets_out=dets)


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        (None, {}, r"needs CuPy: pip install 'cupy-cuda13x\[ctk\]'"),
        ({"status": 100}, {}, r"none is visible.*CUDA_VISIBLE_DEVICES.*engine='cpu'"),
        ({"devices": 0}, {}, r"none is visible"),
        ({"status": 35, "driver": 0}, {}, r"no driver is installed. Install it, or use engine='cpu'"),
        ({"status": 35, "driver": 12040}, {}, r"too old.*CUDA 12.4.*built for CUDA 13.2.*cupy-cuda12x"),
        ({"status": 46}, {}, r"cannot be used: status 46"),
        ({"compute_capability": "61"}, {}, r"compute capability 6.1; engine='gpu' needs 7.0"),
        ({"devices": 2}, {"device": 2}, "no GPU with device=2: 2 GPUs are visible"),
        ({"devices": 2}, {"device": 1000}, "no GPU with device=1000: 2 GPUs are visible"),
        ({}, {"engine": "cpu", "device": 0}, "device=0 needs engine='gpu' or 'auto'"),
        ({}, {"engine": "reference", "device": 0}, "device=0 needs engine='gpu' or 'auto'"),
    ],
)
def test_engines_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any] | None, arguments: dict[str, Any], message: str
) -> None:
    """Options of the stand-in for CuPy, or None where it is not installed."""
    monkeypatch.setitem(sys.modules, "cupy", None if options is None else make_cupy(**options))
    error = ValueError if "engine" in arguments else snc.EngineUnavailableError
    for compile_it in (snc.Circuit("M 0").compile_sampler, snc.Circuit("M 0").compile_detector_sampler):
        with pytest.raises(error, match=message):
            compile_it(**{"engine": "gpu", **arguments})


class Clock:
    """Time that passes as shots are taken on the CPU."""

    def __init__(self, seconds_per_shot: float) -> None:
        self.seconds_per_shot = seconds_per_shot
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class TimedEngine(CpuEngine):
    """Lets a clock advance, and notes the ranges of shots."""

    def __init__(self, plan: SamplingPlan, clock: Clock) -> None:
        super().__init__(plan)
        self.clock = clock
        self.ranges: list[tuple[int, int]] = []

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Any:
        self.ranges.append((first_shot, first_shot + shots))
        self.clock.now += shots * self.clock.seconds_per_shot
        return super().count(seed, first_shot, shots, max_errors, list_errors=list_errors)

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> Any:
        self.ranges.append((first_shot, first_shot + shots))
        self.clock.now += shots * self.clock.seconds_per_shot
        return super().sample_kept(seed, first_shot, shots)


def auto_engine(
    plan: SamplingPlan, seconds_per_shot: float, fails: bool = False, gpu_seconds: float = 0.0
) -> tuple[AutoEngine, TimedEngine, list[Any]]:
    """An engine, its CPU part, and what was made for the GPU."""
    clock = Clock(seconds_per_shot)
    cpu = TimedEngine(plan, clock)
    made: list[Any] = []

    def make_gpu() -> GpuEngine:
        made.append(None)
        if fails:
            raise snc.EngineUnavailableError("no GPU")
        made[-1] = GpuEngine(plan, HostBackend())
        return made[-1]  # type: ignore[no-any-return]

    return AutoEngine(cpu, make_gpu, clock, gpu_seconds), cpu, made


def assert_same_shots(engine: SamplingEngine, plan: SamplingPlan, shots: int) -> None:
    cpu = CpuEngine(plan)
    for first_shot in (0, 777):
        assert engine.count(SEED, first_shot, shots) == cpu.count(SEED, first_shot, shots)
        for max_errors in (1, 300, 3000):
            expected = cpu.count(SEED, first_shot, shots, max_errors)
            assert engine.count(SEED, first_shot, shots, max_errors) == expected
            listed = cpu.count(SEED, first_shot, shots, max_errors, list_errors=True)
            assert engine.count(SEED, first_shot, shots, max_errors, list_errors=True) == listed
        kept = cpu.sample_kept(SEED, first_shot, shots)
        np.testing.assert_array_equal(engine.sample_kept(SEED, first_shot, shots), kept)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("seconds_per_shot", [0, 1e-9, 1e-4, 1e-3, 1.0])
def test_auto_gives_the_same_shots(seconds_per_shot: float, fails: bool) -> None:
    for kind, plan in plans_of(REPETITION):
        engine, _, _ = auto_engine(plan, seconds_per_shot, fails)
        if kind != "records":
            assert_same_shots(engine, plan, 20_000)


class Auto(NamedTuple):
    """Calls of (first shot, shots), what the CPU draws of them, and how often a GPU was asked for."""

    calls: list[tuple[int, int]]
    ranges: list[tuple[int, int]] | None
    asked: int
    seconds_per_shot: float = 1e-3
    fails: bool = False
    gpu_seconds: float = 0.0


AUTO = {
    "short calls, in one piece after a trial": Auto(
        [(0, 100_000), (3, 50_000)], [(0, 1), (0, 100_000), (3, 50_003)], 0, seconds_per_shot=1e-5
    ),
    # NVRTC needs six seconds and more for the kernels of a circuit.
    "less than the start takes": Auto([(0, 12_000)], None, 0),
    # The trial takes 1.4 seconds; after its fifth part, 0.3 had passed. Once there is a GPU, 50 shots take less than 0.1.
    "a long call, as a whole": Auto(
        [(100, 30_000), (0, 50), (0, 5000)], [*((100, 100 + 4**k) for k in range(6)), (0, 50)], 1
    ),
    "no GPU": Auto([(0, 30_000)] * 3, None, 1, fails=True),
    # The CPU needs no coefficients: what a simulation takes the GPU decides.
    "quick simulations": Auto([(0, 30_000)], None, 1, gpu_seconds=1e-5),
    "slow simulations": Auto([(0, 30_000)], None, 0, gpu_seconds=1.0),
}


@pytest.mark.parametrize("name", AUTO)
def test_auto_chooses(name: str) -> None:
    case = AUTO[name]
    plan = dict(plans_of(LAYERS))["counts"]
    engine, cpu, made = auto_engine(plan, case.seconds_per_shot, case.fails, case.gpu_seconds)
    for call in case.calls:
        assert engine.count(SEED, *call) == CpuEngine(plan).count(SEED, *call)
    assert len(made) == case.asked
    assert case.ranges in (None, cpu.ranges)


def test_auto_is_not_misled_by_slow_first_shots() -> None:
    """The first shots take a thousand times as long as later ones: the trial goes on until the call is seen to be short."""
    plan = dict(plans_of(LAYERS))["counts"]
    engine, cpu, made = auto_engine(plan, 1e-6)
    slow = iter([1e-3, 1e-4])
    count = cpu.count

    def slowing(*arguments: Any, **options: Any) -> Any:
        cpu.clock.seconds_per_shot = next(slow, 1e-6)
        return count(*arguments, **options)

    cpu.count = slowing  # type: ignore[method-assign]
    engine.count(SEED, 0, 300_000)
    assert not made
    assert cpu.ranges == [(0, 1), (0, 4), (0, 16), (0, 300_000)]


def undone_phases(num_qubits: int) -> str:
    """T rotations about random products of Zs that are undone after flips, which leave Clifford gates. Seed 3."""
    matrix = np.random.default_rng(3).random((3 * num_qubits // 2, num_qubits)) < 0.3
    products = ["*".join(f"Z{q}" for q in np.flatnonzero(row)) for row in matrix if row.any()]
    names = " ".join(map(str, range(num_qubits)))
    lines = [f"RX {names}", *(f"TPP_DAG {product}" for product in products), f"X_ERROR(0.1) {names}"]
    return "\n".join([*lines, *(f"TPP {product}" for product in products), f"MX {names}"])


def test_seconds_of_the_gpu_where_the_cpu_needs_no_coefficients() -> None:
    """They double with each coordinate; where the CPU needs the vector, too, its own trial tells enough."""
    plans = [snc.Circuit(undone_phases(n)).plan().sampling_plan for n in (24, 30)]
    assert plans[1].peak_width > plans[0].peak_width > 8
    narrow, wide = (gpu_simulation_seconds(plan) for plan in plans)
    widths = plans[1].peak_width - plans[0].peak_width
    assert 0 < narrow < wide < 3 * 2**widths * narrow
    dense = snc.Circuit("RX 0 1\nT 0 1\nCX 0 1\nT 0 1\nMX 0 1").plan().sampling_plan
    assert gpu_simulation_seconds(dense) == 0


def test_auto_of_what_no_gpu_could_hold(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU needs no vector for it. The GPU says so."""
    circuit = snc.Circuit(undone_phases(40))
    assert circuit.plan().peak_width > 31
    monkeypatch.setattr("stim_nonclifford.simulation.engines.auto.START_SECONDS", 0.0)
    found = circuit.compile_sampler(seed=5, engine="auto").sample(20)
    np.testing.assert_array_equal(found, circuit.compile_sampler(seed=5, engine="cpu").sample(20))
    with pytest.raises(snc.ResourceLimitError, match=r"engine='cpu', whose width is 0 for this circuit"):
        circuit.compile_sampler(seed=5, engine="gpu")


def test_auto_without_cupy_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = dict(plans_of(LAYERS))["counts"]
    for there, kind in ((False, CpuEngine), (True, AutoEngine)):
        monkeypatch.setattr("stim_nonclifford.simulation.engines.gpu_may_be_there", lambda there=there: there)
        assert type(engine_factory(EngineOptions())(plan)) is kind


def test_no_import_of_cupy_without_need() -> None:
    """Neither importing the package nor a short job with engine="auto" imports CuPy."""
    code = (
        "import sys, stim_nonclifford as snc\n"
        "circuit = snc.Circuit('RX 0\\nT 0\\nMX 0\\nOBSERVABLE_INCLUDE(0) rec[-1]')\n"
        "circuit.compile_detector_sampler().sample_counts(10**5)\n"
        "assert 'cupy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
