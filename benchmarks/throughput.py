"""Attempted shots per second of `sample_counts`, beside Stim's detector sampler on the S-proxy.

    python -m benchmarks.throughput [--seconds 5] [--repeats 5] [--threads 1]

Both samplers run in one process, alternating; the table shows medians. One unit of work is one attempted
shot. Our sampler returns counts of discards and errors. Stim returns bit-packed detection events, from which
NumPy computes the same counts. Compilation is timed separately.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import stim

import stim_nonclifford as snc
from benchmarks.machine import description, machine
from benchmarks.timing import rate_of
from stim_nonclifford.cultivation import cultivation_circuit

WORKLOADS = {
    "cultivation d=3, p=1e-3": (3, 1e-3),
    "cultivation d=5, p=1e-3": (5, 1e-3),
}


def stim_counts(circuit: stim.Circuit) -> Callable[[int], None]:
    """A function that counts discards and errors of the S-proxy with Stim and NumPy."""
    sampler = circuit.compile_detector_sampler(seed=1)

    def run(shots: int) -> None:
        discards = errors = 0
        for start in range(0, shots, 1 << 16):
            dets, obs = sampler.sample(
                min(1 << 16, shots - start), separate_observables=True, bit_packed=True
            )
            discarded = dets.any(axis=1)
            discards += int(discarded.sum())
            errors += int((obs.any(axis=1) & ~discarded).sum())

    return run


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="time of one measurement")
    parser.add_argument("--repeats", type=int, default=5, help="measurements per row")
    parser.add_argument("--threads", type=int, default=1, help="threads of our sampler")
    arguments = parser.parse_args()
    print(f"{description(machine())}; threads={arguments.threads}")
    print("| workload | compile | stim_nonclifford, T gates | stim, S-proxy | ratio |")
    print("|---|---|---|---|---|")
    for name, (distance, p) in WORKLOADS.items():
        circuit = snc.Circuit(cultivation_circuit(distance=distance, p=p))
        start = time.perf_counter()
        sampler = circuit.compile_detector_sampler(
            seed=1,
            postselection_mask="all",
            threads=arguments.threads,
        )
        sampler.sample_counts(1)
        compile_seconds = time.perf_counter() - start
        ours, theirs = [], []
        baseline = stim_counts(circuit.to_stim())
        for _ in range(arguments.repeats):
            ours.append(rate_of(sampler.sample_counts, arguments.seconds))
            theirs.append(rate_of(baseline, arguments.seconds))
        a, b = statistics.median(ours), statistics.median(theirs)
        print(f"| {name} | {compile_seconds:.3f} s | {a:.3g}/s | {b:.3g}/s | {a / b:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
