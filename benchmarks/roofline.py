"""How close dense simulations come to the limits of the machine.

    python -m benchmarks.roofline [--seconds 10]

Samples circuits in which every shot simulates the coefficient vector, and divides the work that the engine
counts (``sampler.statistics()``) by the time. The limits are measured on the same core. For arithmetic it is
a matrix product, whose fused multiply-adds do twice as much as separate multiplications and additions. For
memory it is copies of arrays as large as the vector.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import stim_nonclifford as snc
from benchmarks.compare import CIRCUITS, WORKLOADS
from benchmarks.machine import BYTES_PER_COEFFICIENT, description, machine
from stim_nonclifford.sampling import CompiledDetectorSampler, CompiledMeasurementSampler

DENSE = ("coherent-d5r5", "k19")
BLAS_CORES = {"avx512": ("SKYLAKEX", "HASWELL"), "avx2": ("HASWELL",)}
"""OpenBLAS's names of processors with an instruction set."""


def best_time(call: Callable[[], object], seconds: float = 0.5) -> float:
    """The shortest time of a call, among as many calls as fit into the given time."""
    best = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def product_flops() -> float:
    """Floating-point operations per second of a matrix product."""
    size = 512
    a = np.random.default_rng(0).random((size, size))
    out = np.empty_like(a)
    return 2 * size**3 / best_time(lambda: np.matmul(a, a, out=out))


def peak_flops(instruction_set: str) -> float:
    """The same for one thread, with the best code of NumPy's OpenBLAS for an instruction set.

    By default, OpenBLAS uses AVX2 on some processors that have AVX-512, and then reaches half of their peak.
    """
    rates = []
    for core in BLAS_CORES.get(instruction_set, ("",)):
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": core}
        call = [sys.executable, "-c", "from benchmarks import roofline; print(roofline.product_flops())"]
        done = subprocess.run(
            call, env={**os.environ, **one_thread}, capture_output=True, text=True, check=True
        )
        rates.append(float(done.stdout))
    return max(rates)


def peak_bytes(size: int) -> float:
    """Bytes per second that copies of an array of ``size`` bytes read and write."""
    array = np.ones(max(size // 16, 64))
    out = np.empty_like(array)
    return 2 * array.nbytes / best_time(lambda: np.copyto(out, array))


def measure(text: str, seconds: float) -> tuple[float, dict[str, float], int]:
    """Samples a circuit for the given time; returns shots per second, work per second, and the width."""
    circuit = snc.Circuit(text)
    sampler: CompiledDetectorSampler | CompiledMeasurementSampler
    if circuit.num_detectors:
        sampler = circuit.compile_detector_sampler(seed=1)
        width = circuit.plan("sample").peak_width
    else:
        sampler = circuit.compile_sampler(seed=1)
        width = circuit.plan("sample_measurements").peak_width
    shots, done = 1, 0
    sampler.sample(1)
    before = sampler.statistics()
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        sampler.sample(shots, bit_packed=True)
        done += shots
        shots = min(2 * shots, max(1, round(done / elapsed * seconds / 10)), 1 << 16)
    after = sampler.statistics()
    work = {name: (after[name] - before[name]) / elapsed for name in before}
    return done / elapsed, work, width


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--circuits", type=Path, default=CIRCUITS, help="folder of the .stim files")
    parser.add_argument("--seconds", type=float, default=10.0, help="time of one measurement")
    arguments = parser.parse_args()
    facts = machine()
    print(description(facts))
    flops = peak_flops(str(facts["instruction_set"]))
    print(f"peak: {flops / 1e9:.0f} Gflop/s (fused)\n")
    print("circuit        width  shots/s    simulated  Gflop/s  of peak   GB/s  of copies of that size")
    for name in DENSE:
        path = arguments.circuits / f"{WORKLOADS[name]}.stim"
        if not path.exists():
            print(f"{name}: {path} does not exist; pass the folder of the circuit files as --circuits")
            continue
        rate, work, width = measure(path.read_text(encoding="utf-8"), arguments.seconds)
        moved = BYTES_PER_COEFFICIENT * (work["coefficients_read"] + work["coefficients_written"])
        copies = peak_bytes(BYTES_PER_COEFFICIENT << width)
        print(
            f"{name:14} {width:5}  {rate:<9.4g}  {work['simulations'] / rate:9.1%}"
            f"  {work['flops'] / 1e9:7.1f}  {work['flops'] / flops:7.1%}"
            f"  {moved / 1e9:5.1f}  {moved / copies:7.1%} of {copies / 1e9:.0f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
