"""Shots per second against noise strength, batch size and threads: the SOFT paper's two performance figures.

    python -m examples.throughput [--d 5] [--seconds 2] [--threads 1 2]

Measures counting with postselection on cultivation circuits with T gates, on the CPU, and draws a plot. The
batch size is the number of shots in one call. Compilation and the first call are not timed. The paper's
average on one GPU is drawn for comparison.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl

import stim_nonclifford as snc
from examples.published import DISTANCES, SECONDS_PER_SHOT, STRENGTHS
from stim_nonclifford.cultivation import AVAILABLE_DISTANCES, cultivation_circuit

BATCH_SIZES = tuple(1 << k for k in range(8, 25, 2))
# As in the paper: the batch size of the sweep over p, and the noise strength of the sweep over batch sizes.
DEFAULT_BATCH_SIZE = 1 << 18
DEFAULT_STRENGTH = 1e-3


def sampler(d: int, p: float, threads: int) -> snc.CompiledDetectorSampler:
    """A sampler that postselects on all detectors."""
    circuit = snc.Circuit(cultivation_circuit(distance=d, p=p))
    return circuit.compile_detector_sampler(seed=1, postselection_mask="all", threads=threads)


def rate(call: Callable[[int], object], batch_size: int, seconds: float) -> float:
    """Shots per second in calls of ``batch_size`` shots each, measured for at least the given time."""
    call(batch_size)
    calls = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        call(batch_size)
        calls += 1
    return calls * batch_size / elapsed


def measure(
    d: int, threads: Sequence[int], batch_sizes: Sequence[int], seconds: float
) -> tuple[dict[int, list[float]], dict[int, list[float]]]:
    """Measures and prints both sweeps.

    Returns:
        The rates by noise strength and the rates by batch size, each for every number of threads.
    """
    by_strength: dict[int, list[float]] = {count: [] for count in threads}
    by_batch_size: dict[int, list[float]] = {count: [] for count in threads}
    header = "".join(f"{f'threads={count}':>14}" for count in threads)
    print(f"Shots per second, d={d}, batch size {DEFAULT_BATCH_SIZE:,}\n{'p':>12}{header}")
    for p in STRENGTHS:
        for count in threads:
            by_strength[count].append(rate(sampler(d, p, count).sample_counts, DEFAULT_BATCH_SIZE, seconds))
        print(f"{p:12}" + "".join(f"{by_strength[count][-1]:14,.0f}" for count in threads), flush=True)
    print(f"Shots per second, d={d}, p={DEFAULT_STRENGTH}\n{'batch size':>12}{header}")
    samplers = {count: sampler(d, DEFAULT_STRENGTH, count) for count in threads}
    for each in samplers.values():
        each.sample_counts(max(batch_sizes))  # fills the store of outcome laws before the first batch size
    for size in batch_sizes:
        for count in threads:
            by_batch_size[count].append(rate(samplers[count].sample_counts, size, seconds))
        print(f"{size:12,}" + "".join(f"{by_batch_size[count][-1]:14,.0f}" for count in threads), flush=True)
    return by_strength, by_batch_size


def main() -> int:
    """Measures, prints and plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, choices=AVAILABLE_DISTANCES, default=max(DISTANCES))
    parser.add_argument("--seconds", type=float, default=2.0, help="time of one measurement")
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    parser.add_argument("--batch_sizes", type=int, nargs="+", default=BATCH_SIZES)
    parser.add_argument("--out", type=Path, default=Path("out/throughput.png"), help="the plot")
    arguments = parser.parse_args()
    sizes = sorted(arguments.batch_sizes)
    by_strength, by_batch_size = measure(arguments.d, arguments.threads, sizes, arguments.seconds)

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 6), sharey=True)
    for axes, x, sweep in ((left, STRENGTHS, by_strength), (right, sizes, by_batch_size)):
        for count, rates in sweep.items():
            axes.plot(x, rates, marker="o", label=f"{count} CPU thread{'s' * (count > 1)}")
        if arguments.d in SECONDS_PER_SHOT:
            paper = 1 / SECONDS_PER_SHOT[arguments.d]
            axes.axhline(paper, color="black", linestyle="dashed", label="SOFT paper, one H800 GPU, average")
        axes.set(xscale="log", yscale="log")
        axes.grid(which="both", alpha=0.3)
        axes.legend()
    left.set(
        xlabel="physical error rate p",
        ylabel="attempted shots per second",
        title=f"d={arguments.d}, batch size {DEFAULT_BATCH_SIZE:,}",
    )
    right.set(xlabel="batch size", title=f"d={arguments.d}, p={DEFAULT_STRENGTH}")
    figure.tight_layout()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.out)
    print(f"{arguments.out} written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
