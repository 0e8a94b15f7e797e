"""A call that ends with an exception takes no shots, and leaves the sampler as it was."""

import os
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.engines import CpuEngine, GpuEngine
from stim_nonclifford.simulation.engines.gpu import engine as gpu_engine
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend, HostStream
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler, detector_sampler, kept_batches
from stim_nonclifford.simulation.sampling.shot_files import ShotFile
from stim_nonclifford.simulation.sampling.shot_numbers import ShotNumbers

from ...support.engines.engine_cases import DEEP, LAYERS, SEED, plans_of
from ...support.engines.fake_cupy import make_cupy
from ...support.processes.stopped_calls import Stop, needs_timer, stopped
from ...support.seeds import slow

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
"""Bits are compared here, whatever they mean: some observables are random without noise."""

CIRCUIT = Circuit(DEEP + "DETECTOR rec[-1]\nDETECTOR rec[-2] rec[-3]\nOBSERVABLE_INCLUDE(0) rec[-4]")
MASK = np.arange(CIRCUIT.num_detectors) == 0
MANY = 2 * 10**8  # a minute of work, and little memory until it is done
ENDLESS = 10**15


CALLS: dict[str, Callable[[CompiledDetectorSampler, str], Any]] = {
    "sample": lambda sampler, path: sampler.sample(MANY, bit_packed=True),
    "sample_kept": lambda sampler, path: sampler.sample_kept(MANY),
    "sample_counts": lambda sampler, path: sampler.sample_counts(ENDLESS),
    "sample_counts, errors": lambda sampler, path: sampler.sample_counts(ENDLESS, max_errors=ENDLESS),
    "sample_write": lambda sampler, path: sampler.sample_write(ENDLESS, filepath=path, format="b8"),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "cpu": {"engine": "cpu", "cache_bytes": 0},
    "two threads": {"engine": "cpu", "threads": 2, "cache_bytes": 1 << 20},
    "auto": {"engine": "auto", "cache_bytes": 0},
    "gpu": {"engine": "gpu", "cache_bytes": 1 << 20},
}


@needs_timer
@pytest.mark.parametrize("options", [slow("cpu"), "two threads", slow("auto"), "gpu"])
def test_shots_after_an_interruption(
    options: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 5. The shots after it are those that the call would have had, whenever it comes."""
    monkeypatch.setitem(sys.modules, "cupy", make_cupy())
    # On the host, a launch for more shots takes minutes.
    for limit in ("_FIRST_CHUNK", "_MAX_CHUNK"):
        monkeypatch.setattr(gpu_engine, limit, 2048)
    arguments: dict[str, Any] = {"seed": 5, "postselection_mask": MASK, **OPTIONS[options]}
    alone = CIRCUIT.compile_detector_sampler(seed=5, engine="cpu")
    sampler = CIRCUIT.compile_detector_sampler(**arguments)
    np.testing.assert_array_equal(sampler.sample(40), alone.sample(40))
    for name, call in CALLS.items():
        start = time.monotonic()
        with stopped(0.3):
            call(sampler, str(tmp_path / "shots"))
        assert time.monotonic() - start < 60
        np.testing.assert_array_equal(sampler.sample(30), alone.sample(30), err_msg=name)

    records, alone_records = (
        CIRCUIT.compile_sampler(seed=6, **some) for some in (OPTIONS[options], {"engine": "cpu"})
    )
    for write in (False, True):
        with stopped(0.3):
            if write:
                records.sample_write(ENDLESS, filepath=tmp_path / "shots", format="b8")
            else:
                records.sample(MANY, bit_packed=True)
        np.testing.assert_array_equal(records.sample(30), alone_records.sample(30))


def test_chunks_before_an_exception(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Seed 7. ``sample_kept`` and ``sample_write`` take several chunks of shots; a later one fails."""
    circuit = Circuit(
        "X_ERROR(0.5) " + " ".join(map(str, range(64))) + "\nM " + " ".join(map(str, range(64)))
    )
    circuit = Circuit(str(circuit) + "\n" + "DETECTOR rec[-1]\n" * 2 + "OBSERVABLE_INCLUDE(0) rec[-2]")
    mask = np.array([True, False])
    sampler, alone = (circuit.compile_detector_sampler(seed=7, postselection_mask=mask) for _ in range(2))
    np.testing.assert_array_equal(sampler.sample_kept(1000).dets, alone.sample_kept(1000).dets)
    calls = []

    def failing(engine: Any, output: Any, seed: int, first_shot: int, shots: int) -> Any:
        calls.append(first_shot)
        if len(calls) == 4:
            raise Stop
        return engine.sample_kept(seed, first_shot, min(shots, 10))

    with monkeypatch.context() as patch:
        patch.setattr(kept_batches, "kept_rows_from", failing)
        with pytest.raises(Stop):
            sampler.sample_kept(10**9)
    assert calls == [1000, 1000, 1000 + (1 << 24), 1000 + (2 << 24)]
    np.testing.assert_array_equal(sampler.sample_kept(1000).obs, alone.sample_kept(1000).obs)

    with monkeypatch.context() as patch:
        patch.setattr(detector_sampler, "chunk_sizes", lambda shots, row: [64] * (shots // 64))
        patch.setattr(ShotFile, "write", lambda file, rows, left=[0, 1]: left.pop())
        with pytest.raises(IndexError):
            sampler.sample_write(640, filepath=tmp_path / "shots")
    np.testing.assert_array_equal(sampler.sample(50), alone.sample(50))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk here")
@pytest.mark.parametrize("file_format", ["01", "b8"])
def test_full_disk(file_format: Any) -> None:
    """Seed 8."""
    sampler, alone = (CIRCUIT.compile_detector_sampler(seed=8, engine="cpu") for _ in range(2))
    with pytest.raises(OSError, match="No space left"):
        sampler.sample_write(640, filepath="/dev/full", format=file_format)
    np.testing.assert_array_equal(sampler.sample(50), alone.sample(50))
    records, alone_records = (CIRCUIT.compile_sampler(seed=8, engine="cpu") for _ in range(2))
    with pytest.raises(OSError, match="No space left"):
        records.sample_write(640, filepath="/dev/full", format=file_format)
    np.testing.assert_array_equal(records.sample(50), alone_records.sample(50))


def test_wrong_arrays_take_no_shots() -> None:
    """Seed 9."""
    sampler, alone = (CIRCUIT.compile_detector_sampler(seed=9, engine="cpu") for _ in range(2))
    with pytest.raises(ValueError, match="shape"):
        sampler.sample(5, dets_out=np.zeros((4, CIRCUIT.num_detectors), dtype=np.bool_))
    np.testing.assert_array_equal(sampler.sample(50), alone.sample(50))


class FailingStream(HostStream):
    """Fails at one of its launches, as when a signal handler raises between two of them."""

    def __init__(self, left: list[int]) -> None:
        super().__init__(reversed_order=False)
        self._left = left

    def launch(self, *arguments: Any) -> None:
        self._left[0] -= 1
        if self._left[0] == 0:
            raise Stop
        super().launch(*arguments)


class FailingHost(HostBackend):
    left: list[int]

    def new_stream(self) -> HostStream:
        return FailingStream(self.left)


@pytest.mark.parametrize("launch", range(1, 15))
def test_gpu_work_that_is_given_in_part(launch: int) -> None:
    """Trees of outcomes that were being grown are grown again: no shot waits for them for ever."""
    for name, plan in plans_of(LAYERS):
        backend = FailingHost()
        backend.left = [launch]
        engine, cpu = GpuEngine(plan, backend), CpuEngine(plan)
        if plan.never_kept or not plan.operations.size:
            continue
        with pytest.raises(Stop):  # the second call has launches enough
            [engine.count(SEED, 0, 500) for _ in range(2)]
        for _ in range(100):
            before = engine.statistics()["simulations"]
            assert engine.count(SEED, 0, 500) == cpu.count(SEED, 0, 500), name
            if engine.statistics()["simulations"] == before:
                break
        else:
            pytest.fail(f"Some outcomes are never stored: {name}")
        np.testing.assert_array_equal(
            engine.sample_kept(SEED, 5, 2000), cpu.sample_kept(SEED, 5, 2000), err_msg=name
        )


def test_numbers_run_out() -> None:
    numbers = ShotNumbers()
    with numbers.call():
        assert numbers.take((1 << 63) - 10) == 0
    with numbers.call(), pytest.raises(ValueError, match=r"10 shots left, not 11.*another seed"):
        numbers.take(11)
    with numbers.call():
        assert numbers.take(10) == (1 << 63) - 10
        numbers.give_back(3)
    assert numbers.next == (1 << 63) - 3
