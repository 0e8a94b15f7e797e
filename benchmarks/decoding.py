"""Shots decoded per second in `sinter collect`: `soft_pymatching`, with and without its store, and Sinter.

    python -m benchmarks.decoding [--seconds 3] [--repeats 3]

Rotated surface codes with d rounds and circuit-level noise of strength p on every operation, which Sinter can
sample too. All samplers run through `sinter.collect` with one worker, in turn; the table shows medians of
shots per second of processor time, without that of a run of a few shots, which starts and compiles only.
Other processes on the machine therefore disturb little. Sinter's decoder samples with Stim and decodes every
shot. The last columns are the share of the shots that soft_pymatching passed to PyMatching, and logical error
rates.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from typing import Any

import sinter
import stim

from benchmarks.machine import description, machine
from sinter_plugin import SoftDecodingSampler

WORKLOADS = [(d, p) for p in (1e-3, 5e-3) for d in (3, 5, 7)]
SAMPLERS: dict[str, Any] = {
    "pymatching": None,
    "soft_pymatching": SoftDecodingSampler(),
    "without store": SoftDecodingSampler(store_bytes=0),
}
FEW_SHOTS = 16
FIRST_SHOTS = 200_000


def code(distance: int, p: float, task: str = "surface_code:rotated_memory_x") -> stim.Circuit:
    return stim.Circuit.generated(
        task,
        distance=distance,
        rounds=distance,
        after_clifford_depolarization=p,
        before_round_data_depolarization=p,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
    )


def collected(name: str, circuit: stim.Circuit, shots: int) -> tuple[sinter.TaskStats, float]:
    """The statistics of a run, and the processor seconds of its worker."""
    before = _seconds_of_children()
    [stats] = sinter.collect(
        num_workers=1,
        tasks=[sinter.Task(circuit=circuit, decoder=name)],
        custom_decoders={name: sampler for name, sampler in SAMPLERS.items() if sampler is not None},
        max_shots=shots,
    )
    return stats, _seconds_of_children() - before


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(
    circuit: stim.Circuit, seconds: float, repeats: int
) -> tuple[dict[str, list[float]], dict[str, sinter.TaskStats]]:
    """The rates of each sampler, in turn, and the sum of its statistics."""
    starting: dict[str, float] = {}
    shots: dict[str, int] = {}
    for name in SAMPLERS:
        starting[name] = statistics.median(collected(name, circuit, FEW_SHOTS)[1] for _ in range(3))
        shots[name] = FIRST_SHOTS
        while collected(name, circuit, shots[name])[1] - starting[name] < seconds / 2:
            shots[name] *= 2
        shots[name] *= 2
    rates: dict[str, list[float]] = {name: [] for name in SAMPLERS}
    totals: dict[str, sinter.TaskStats] = {}
    for _ in range(repeats):
        for name in SAMPLERS:
            stats, used = collected(name, circuit, shots[name])
            rates[name].append(stats.shots / (used - starting[name]))
            totals[name] = totals[name] + stats if name in totals else stats
    return rates, totals


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="time of one measurement")
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each sampler")
    args = parser.parse_args()
    print(description(machine()))
    print(
        "| d | p | " + " | ".join(f"{name}, shots/s" for name in SAMPLERS) + " | ratio | decoded | errors |"
    )
    print("|" + "---|" * (len(SAMPLERS) + 5))
    slow = False
    for distance, p in WORKLOADS:
        rates, totals = measured(code(distance, p), args.seconds, args.repeats)
        medians = {name: statistics.median(found) for name, found in rates.items()}
        ratio = medians["soft_pymatching"] / medians["pymatching"]
        slow |= p == 1e-3 and ratio < 1.5
        ours = totals["soft_pymatching"]
        errors = " / ".join(f"{totals[name].errors / totals[name].shots:.3g}" for name in SAMPLERS)
        cells = [f"{found:.3g}" for found in medians.values()]
        share = ours.custom_counts["rows_decoded"] / ours.shots
        print(
            f"| {distance} | {p:g} | {' | '.join(cells)} | {ratio:.2f} | {share:.3g} | {errors} |", flush=True
        )
    if slow:
        print("soft_pymatching is less than 1.5 times as fast as Sinter's pymatching at p = 1e-3.")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
