"""Checks of the GPU engine that tell something only on a real GPU; each line ends with OK or FAILED.

    python -m benchmarks.gpu.checks pair       # two plans with the same kernels, in turn
    python -m benchmarks.gpu.checks agree      # shots and counts of the CPU engine, for each workload
    python -m benchmarks.gpu.checks streams    # rows that the caller still reads are not written again
    python -m benchmarks.gpu.checks stop       # an engine is dropped while its GPU is busy
    python -m benchmarks.gpu.checks spin --workload d5 --shots 200000000    # work for profilers

The workloads are those of ``benchmarks.gpu.speed``; circuits that are not in this repository are read from
``--circuits``, and left out if they are not there. Without a name, all checks but ``spin`` run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.compare import CIRCUITS
from benchmarks.gpu.speed import WORKLOADS, Workload, chosen_workloads, cultivation
from stim_nonclifford import EngineUnavailableError
from stim_nonclifford.simulation.engines import CpuEngine, GpuEngine
from stim_nonclifford.simulation.engines.gpu import CupyBackend

SHOTS = {
    "d3": 100_000_000,
    "d5": 100_000_000,
    "d5-all-bits": 2_000_000,
    "coherent-d5r5": 50_000,
    "k19": 20_000_000,
}
"""Shots of each workload that are compared: some seconds of the CPU's time."""

DELAY = r"""extern "C" __global__ void delay(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
}"""
DELAY_CYCLES = 1_000_000_000  # half a second

Result = tuple[str, bool]
"""What was checked, and whether it is right."""


def pair(arguments: argparse.Namespace) -> Iterator[Result]:
    """Two plans with the same kernel sources and different amounts of shared memory, in turn."""
    plans = {p: Workload(cultivation(5, p), postselected=True).plan(CIRCUITS) for p in (1e-3, 5e-4)}
    engines = {p: GpuEngine(plan, CupyBackend()) for p, plan in plans.items()}
    shots = 1_000_000 // arguments.fraction
    for turn in range(2):
        for p, engine in engines.items():
            expected = CpuEngine(plans[p]).count(turn, 0, shots)
            yield f"p={p}, turn {turn}", engine.count(turn, 0, shots) == expected


def agree(arguments: argparse.Namespace) -> Iterator[Result]:
    """Shots or counts are those of the CPU engine, with empty trees of outcomes and with grown ones."""
    for name in arguments.workloads:
        plan, shots = WORKLOADS[name].plan(arguments.circuits), SHOTS[name] // arguments.fraction
        cpu, gpu = CpuEngine(plan, threads=arguments.threads), GpuEngine(plan, CupyBackend())
        for seed in (3, 3, 2**63 + 5):
            start = time.perf_counter()
            if WORKLOADS[name].postselected:
                same = gpu.count(seed, 777, shots) == cpu.count(seed, 777, shots)
            else:
                same = np.array_equal(gpu.sample(seed, 777, shots), cpu.sample(seed, 777, shots))
            yield f"{name}, seed {seed}, {time.perf_counter() - start:.1f} s, {gpu.statistics()}", same


def streams(arguments: argparse.Namespace) -> Iterator[Result]:
    """The caller's work that reads rows is pending when they are freed and the engine writes new ones."""
    import cupy

    engine = GpuEngine(WORKLOADS["d5-all-bits"].plan(arguments.circuits), CupyBackend())
    shots = (1 << 20) // arguments.fraction
    delay = cupy.RawKernel(DELAY, "delay")
    expected = engine.sample_on_device(1, 0, shots).get()
    rows = engine.sample_on_device(1, 0, shots)
    delay((1,), (1,), (np.int64(DELAY_CYCLES),))
    late = rows.copy()
    del rows
    engine.sample_on_device(2, 0, shots)
    yield "a late reader", np.array_equal(late.get(), expected)


def stop(arguments: argparse.Namespace) -> Iterator[Result]:
    """An engine that stops early is dropped; the next one gets its memory."""
    name = "coherent-d5r5" if "coherent-d5r5" in arguments.workloads else "d5-all-bits"
    plan, fraction = WORKLOADS[name].plan(arguments.circuits), arguments.fraction
    engine = GpuEngine(plan, CupyBackend())
    engine.sample(1, 0, 1_000_000 // fraction)
    engine.count(1, 0, 200_000_000 // fraction, 1)
    del engine
    found = GpuEngine(plan, CupyBackend()).sample(9, 0, 20_000 // fraction)
    expected = CpuEngine(plan, threads=arguments.threads).sample(9, 0, 20_000 // fraction)
    yield "after an early stop", np.array_equal(found, expected)


def spin(arguments: argparse.Namespace) -> Iterator[Result]:
    """Three calls, of which profilers look at the last."""
    workload = WORKLOADS[arguments.workload]
    engine = GpuEngine(workload.plan(arguments.circuits), CupyBackend(), cache_bytes=64 << 20)
    for seed in range(3):
        (engine.count if workload.postselected else engine.sample_on_device)(seed, 0, arguments.shots)
    yield f"{arguments.workload}, {engine.statistics()}", True


CHECKS: dict[str, Callable[[argparse.Namespace], Iterator[Result]]] = {
    "pair": pair,
    "agree": agree,
    "streams": streams,
    "stop": stop,
    "spin": spin,
}


def reported(results: Iterator[Result]) -> Iterator[Result]:
    """The results, and an error as the last one: the other checks shall run all the same."""
    try:
        yield from results
    except Exception as error:
        yield repr(error), False


def main() -> int:
    """Runs the checks; returns 1 if one fails, 2 if there is no GPU, and 0 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="check", help="default: all but spin")
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), help="of agree")
    parser.add_argument("--workload", choices=list(WORKLOADS), default="d5", help="of spin")
    parser.add_argument("--shots", type=int, default=200_000_000, help="of each call of spin")
    parser.add_argument("--fraction", type=int, default=1, help="divides the shots of the other checks")
    parser.add_argument("--threads", type=int, default=1, help="threads of the CPU engine")
    parser.add_argument("--circuits", type=Path, default=CIRCUITS, help="folder of circuit files")
    arguments = parser.parse_args()
    for name in arguments.checks:
        if name not in CHECKS:
            parser.error(f"there is no check {name!r}; the checks are {', '.join(CHECKS)}")
    failed = False
    try:
        CupyBackend()
        arguments.workloads = chosen_workloads(arguments.workloads, arguments.circuits)
        for name in arguments.checks or [name for name in CHECKS if name != "spin"]:
            for what, is_right in reported(CHECKS[name](arguments)):
                print(f"{name}: {what}: {'OK' if is_right else 'FAILED'}", flush=True)
                failed = failed or not is_right
    except (FileNotFoundError, EngineUnavailableError) as error:
        print(error, file=sys.stderr)
        return 2
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
