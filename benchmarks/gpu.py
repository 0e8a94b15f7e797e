"""The speed of the GPU engine, its kernels' shares of the time, and how close they come to the limits.

    python -m benchmarks.gpu [--seconds 2] [--repeats 5] [--workloads d3 d5 ...] [--device 0]
    python -m benchmarks.gpu --sweep batch    # shots per second against shots per call
    python -m benchmarks.gpu --sweep p        # against the error rate, d=3 and d=5
    python -m benchmarks.gpu --check 100000000    # the same counts as the CPU engine, d=3 and d=5

Rates are attempted shots per second of wall time, medians of repeated calls after a first one. Kernel times
are those of CUDA events around each launch in one more call; two streams overlap, so that they may add up to
more than the time of the call. Shares of limits are counted work (``gpu_work``) over time: the algorithm's
own work at the device's highest clock. Circuits that are not in this repository come from ``--circuits``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stim_nonclifford as snc
from benchmarks.compare import CIRCUITS
from benchmarks.gpu_work import Work, limits_of, noise_work, simulation_work
from stim_nonclifford.compiler import RequestedOutputs
from stim_nonclifford.cultivation import cultivation_circuit
from stim_nonclifford.engines import CpuEngine, GpuEngine
from stim_nonclifford.engines.gpu import CupyBackend
from stim_nonclifford.engines.gpu.backend import Array
from stim_nonclifford.engines.gpu.cuda_source import Kernel
from stim_nonclifford.engines.gpu.cupy_backend import CupyQueue
from stim_nonclifford.engines.gpu.device_plan import DevicePlan
from stim_nonclifford.plan import Plan

SWEEP_RATES = (5e-4, 1e-3, 2e-3, 3e-3, 5e-3)
SWEEP_CALLS = [4**k for k in range(5, 19)]


@dataclass(frozen=True)
class Workload:
    """What is sampled.

    Attributes:
        circuit: Makes the circuit, given the folder of circuit files.
        postselected: Whether all detectors postselect, and shots are counted; else all outputs of all shots
            are written, in the memory of the GPU.
    """

    circuit: Callable[[Path], snc.Circuit]
    postselected: bool

    def plan(self, circuits: Path) -> Plan:
        """The plan for the engine."""
        circuit = self.circuit(circuits)
        detectors = range(circuit.num_detectors)
        bits = circuit.num_detectors + circuit.num_observables
        compiled = circuit.compile()
        if self.postselected:
            return compiled.detector_plan(RequestedOutputs.of(range(len(detectors), bits), detectors))
        return compiled.detector_plan(RequestedOutputs.of(range(bits)))


def cultivation(distance: int, p: float = 1e-3) -> Callable[[Path], snc.Circuit]:
    """A circuit of this repository."""
    return lambda folder: snc.Circuit(cultivation_circuit(distance=distance, p=p))


def file(name: str) -> Callable[[Path], snc.Circuit]:
    """A published circuit."""
    return lambda folder: snc.Circuit.from_file(folder / f"{name}.stim")


WORKLOADS = {
    "d3": Workload(cultivation(3), postselected=True),
    "d5": Workload(cultivation(5), postselected=True),
    "d5-all-bits": Workload(cultivation(5), postselected=False),
    "coherent-d5r5": Workload(file("coherent_d5_r5"), postselected=False),
    "k19": Workload(file("k19_not_a_code_p5e-4"), postselected=True),
}


class TimedQueue(CupyQueue):
    """Notes the time of each launch by CUDA events."""

    def __init__(self, cupy: Any, kernels: dict[Kernel, Any], launches: list[tuple[str, Any, Any]]) -> None:
        super().__init__(cupy, kernels)
        self._launches = launches

    def launch(self, kernel: Kernel, job: Array, round_number: int | None = None) -> None:
        """See ``Queue.launch``."""
        start, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
        start.record(self._stream)
        super().launch(kernel, job, round_number)
        end.record(self._stream)
        self._launches.append((kernel.name, start, end))


class TimedBackend(CupyBackend):
    """A GPU whose launches can be timed."""

    def __init__(self, device: int | None = None) -> None:
        super().__init__(device)
        self._launches: list[tuple[str, Any, Any]] = []

    def new_queue(self) -> TimedQueue:
        """See ``Backend.new_queue``."""
        with self.active():
            return TimedQueue(self.xp, self._kernels, self._launches)

    def kernel_seconds(self) -> dict[str, float]:
        """Seconds of each kernel since the last call."""
        self.finish()
        totals: dict[str, float] = {}
        for name, start, end in self._launches:
            totals[name] = totals.get(name, 0.0) + self.xp.cuda.get_elapsed_time(start, end) / 1e3
        self._launches.clear()
        return totals

    def properties(self) -> str:
        """What the device is."""
        properties = self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)
        name = properties["name"].decode()
        return f"{name}, {self.multiprocessors} multiprocessors, CuPy {self.xp.__version__}"


def sampled(engine: GpuEngine, workload: Workload, seed: int, shots: int) -> None:
    """Samples as the workload says."""
    if workload.postselected:
        engine.count(seed, 0, shots)
    else:
        engine.sample_on_device(seed, 0, shots)


def timed(engine: GpuEngine, workload: Workload, seed: int, shots: int) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    sampled(engine, workload, seed, shots)
    return time.perf_counter() - start


def shots_for(engine: GpuEngine, workload: Workload, seconds: float) -> int:
    """Shots that take about that long, in one call."""
    shots = 1 << 16
    # Outputs of all shots stay in the memory of the GPU.
    largest = 1 << 40 if workload.postselected else 1 << 27
    while shots < largest:
        elapsed = timed(engine, workload, 1, shots)
        if elapsed >= seconds / 2:
            break
        shots = min(largest, int(shots * min(8, max(2, seconds / max(elapsed, 1e-6)))))
    return shots


def measure(name: str, backend: TimedBackend, arguments: argparse.Namespace) -> None:
    """Prints the rows of a workload."""
    workload = WORKLOADS[name]
    plan = workload.plan(arguments.circuits)
    start = time.perf_counter()
    engine = GpuEngine(plan, backend)
    sampled(engine, workload, 1, 1024)
    start_seconds = time.perf_counter() - start
    shots = shots_for(engine, workload, arguments.seconds)
    rates = [shots / timed(engine, workload, seed, shots) for seed in range(2, 2 + arguments.repeats)]
    rate = statistics.median(rates)
    spread = f"{min(rates):.3g} to {max(rates):.3g}"
    print(f"\n{name}: {rate:.3g} attempted shots/s ({spread}; {shots:.3g} shots per call)")
    print(f"  first shots after {start_seconds:.1f} s")

    backend.kernel_seconds()
    before = engine.statistics()
    wall = timed(engine, workload, 1000, shots)
    seconds = backend.kernel_seconds()
    after = engine.statistics()
    simulations = (after["simulations"] - before["simulations"]) / shots
    print(f"  simulations per shot {simulations:.3g}, close decisions {after['close_decisions']}")
    device_plan = DevicePlan(plan, backend, 1 << 32)
    written = 0 if workload.postselected else 8 * device_plan.output_words + 1
    work = {
        "noise": noise_work(plan, device_plan, queued=0, written_bytes=written),
        "walk": Work(),
        "simulate": simulation_work(plan, device_plan) * simulations,
    }
    limits = limits_of(backend.xp)
    for kernel, spent in seconds.items():
        shares = limits.shares(work[kernel], shots / spent)
        reached = ", ".join(f"{share:.1%} of {limit}" for limit, share in shares.items() if share >= 5e-4)
        print(f"  {kernel}: {spent / wall:.0%} of {wall:.3g} s" + (f"; {reached}" if reached else ""))


def sweep_batch(backend: TimedBackend, arguments: argparse.Namespace) -> None:
    """Prints shots per second against shots per call."""
    print("\n| shots per call | " + " | ".join(arguments.workloads) + " |")
    print("|" + "---|" * (len(arguments.workloads) + 1))
    engines = {
        name: GpuEngine(WORKLOADS[name].plan(arguments.circuits), backend) for name in arguments.workloads
    }
    for shots in SWEEP_CALLS:
        cells = []
        for name, engine in engines.items():
            workload = WORKLOADS[name]
            if not workload.postselected and shots > 1 << 27:
                cells.append("")
                continue
            sampled(engine, workload, 1, shots)
            seconds = [timed(engine, workload, seed, shots) for seed in range(arguments.repeats)]
            cells.append(f"{shots / statistics.median(seconds):.3g}")
        print(f"| {shots} | " + " | ".join(cells) + " |", flush=True)


def sweep_p(backend: TimedBackend, arguments: argparse.Namespace) -> None:
    """Prints shots per second, postselected, against the error rate."""
    print("\n| p | d=3 | d=5 |\n|---|---|---|")
    for p in SWEEP_RATES:
        cells = []
        for distance in (3, 5):
            workload = Workload(cultivation(distance, p), postselected=True)
            engine = GpuEngine(workload.plan(arguments.circuits), backend)
            shots = shots_for(engine, workload, arguments.seconds)
            seconds = [timed(engine, workload, seed, shots) for seed in range(2, 2 + arguments.repeats)]
            cells.append(f"{shots / statistics.median(seconds):.3g}")
        print(f"| {p:g} | " + " | ".join(cells) + " |", flush=True)


def check(backend: TimedBackend, shots: int, threads: int) -> Iterator[str]:
    """Compares counts with the CPU engine; what differs."""
    for distance in (3, 5):
        plan = Workload(cultivation(distance), postselected=True).plan(CIRCUITS)
        engine = GpuEngine(plan, backend)
        gpu, cpu = engine.count(7, 0, shots), CpuEngine(plan, threads=threads).count(7, 0, shots)
        close = engine.statistics()["close_decisions"]
        print(
            f"d={distance}, seed 7, {shots} shots: {gpu}, {'the same' if gpu == cpu else f'not {cpu}'};",
            end=" ",
        )
        print(f"{close} close decisions", flush=True)
        if gpu != cpu:
            yield f"d={distance}"


def main() -> int:
    """Prints what the arguments ask for; 1 if counts differ, 2 without a GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="time of one call")
    parser.add_argument("--repeats", type=int, default=5, help="calls per number")
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--sweep", choices=["batch", "p"], help="make a table instead")
    parser.add_argument("--check", type=int, metavar="SHOTS", help="compare counts with the CPU instead")
    parser.add_argument("--threads", type=int, default=1, help="of the CPU engine, for --check")
    parser.add_argument("--device", type=int, help="number of the GPU")
    parser.add_argument("--circuits", type=Path, default=CIRCUITS, help="folder of circuit files")
    arguments = parser.parse_args()
    try:
        backend = TimedBackend(arguments.device)
    except snc.EngineUnavailableError as error:
        print(error, file=sys.stderr)
        return 2
    with backend.active():
        print(backend.properties())
        if arguments.check is not None:
            return 1 if list(check(backend, arguments.check, arguments.threads)) else 0
        if arguments.sweep == "batch":
            sweep_batch(backend, arguments)
        elif arguments.sweep == "p":
            sweep_p(backend, arguments)
        else:
            for name in arguments.workloads:
                measure(name, backend, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
