"""Shots per second on a Dask cluster on this machine, with one worker process and with several.

    python -m benchmarks.many_workers [--workers 2] [--seconds 20] [--repeats 3]

d=5 cultivation with T gates, p=0.001, postselected on all detectors, by `sinter_plugin.collect`. One
worker and several take turns. The time of a run includes that of sending and compiling the circuit, but not
that of starting the cluster. The second figure is the number of workers that were sampling on average: what
is missing to the number of workers is the time that they waited for work.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from concurrent.futures import Executor

import sinter_plugin
from benchmarks.machine import description, machine
from sinter_plugin.processes.executors import dask_executor
from stim_nonclifford.cultivation import cultivation_circuit

FIRST_SHOTS = 10_000_000


def run(executor: Executor, shots: int, seed: int) -> tuple[float, float]:
    """The seconds that a run takes, and how many workers were sampling on average."""
    circuit = cultivation_circuit(distance=5, p=1e-3, gate="T")
    task = sinter_plugin.task(circuit, decoder="soft_postselect")
    start = time.perf_counter()
    [stats] = sinter_plugin.collect([task], executor=executor, seed=seed, max_shots=shots)
    seconds = time.perf_counter() - start
    return seconds, stats.seconds / seconds


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0, help="Of a run with one worker, about.")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    speeds: dict[int, list[float]] = {1: [], args.workers: []}
    busy: dict[int, list[float]] = {1: [], args.workers: []}
    shots = FIRST_SHOTS
    with dask_executor("local", 1) as executor:
        while (seconds := run(executor, shots, seed=0)[0]) < args.seconds / 4:
            shots *= 2
    shots = int(shots * args.seconds / seconds)
    for seed in range(1, args.repeats + 1):
        for workers in speeds:
            with dask_executor("local", workers) as executor:
                run(executor, FIRST_SHOTS, seed=0)  # imports
                seconds, working = run(executor, shots, seed)
            speeds[workers].append(shots / seconds)
            busy[workers].append(working)
    print(description(machine()))
    for workers in speeds:
        print(
            f"{workers} workers: {statistics.median(speeds[workers]):.3g} shots/s,"
            f" {statistics.median(busy[workers]):.2f} of them sampling ({shots:.2g} shots per run)"
        )
    ratios = [many / one for one, many in zip(speeds[1], speeds[args.workers], strict=True)]
    print(f"{args.workers} workers are {statistics.median(ratios):.2f} times as fast as one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
