"""Memory of a long run against its number of shots.

    python -m benchmarks.long_runs [--distance 3] [--seconds 600] [--rows 12]

Cultivation with T gates, p=0.001, postselected on all detectors, sampled in this process as by
`python -m sinter_plugin collect --seed 1 --processes 1`. The table has the resident memory of the process at
about equal intervals of time. The last line fits a line to the second half of the table.
"""

from __future__ import annotations

import argparse
import pathlib
import resource
import sys
import time

import numpy as np
import sinter

import sinter_plugin
from benchmarks.machine import description, machine
from stim_nonclifford.cultivation import cultivation_circuit


def resident_bytes() -> int:
    """Memory of this process, on Linux."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--distance", type=int, choices=(3, 5), default=3)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rows", type=int, default=12)
    args = parser.parse_args()
    print(description(machine()))
    print("| shots | MiB |\n|---|---|")
    points: list[tuple[int, int]] = []
    start = time.monotonic()
    shots = 0

    def look(progress: sinter.Progress) -> None:
        nonlocal shots
        shots += sum(row.shots for row in progress.new_stats)
        if time.monotonic() - start >= (len(points) + 1) * args.seconds / args.rows:
            points.append((shots, resident_bytes()))
            print(f"| {points[-1][0]:.3g} | {points[-1][1] / 2**20:.1f} |", flush=True)

    circuit = cultivation_circuit(distance=args.distance, p=1e-3, gate="T")
    task = sinter_plugin.task(circuit, decoder="soft_postselect")
    sinter_plugin.collect([task], num_workers=1, seed=1, max_seconds=args.seconds, progress_callback=look)
    counted, memory = np.array(points[len(points) // 2 :], dtype=float).T
    slope = np.polyfit(counted, memory, 1)[0]
    print(f"{slope * 1e12 / 2**20:.1f} MiB more at 10^12 shots, by a line through the second half")
    return 0


if __name__ == "__main__":
    sys.exit(main())
