"""Time to the first shot of a circuit with a wide vector, beside Clifft: one shot in a fresh process.

    python -m benchmarks.first_shot [--workload qv20] [--repeats 9]

The processes of the two simulators alternate, and the table has medians. Each process first compiles the
text of the circuit to a plan or a program. Then it constructs a sampler and draws one shot. The two steps are
timed separately; the time to start Python and to import packages is not counted.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.compare import CIRCUITS, WORKLOADS
from benchmarks.machine import description, machine

__all__ = ["PROGRAMS", "times_of"]


def ours(text: str) -> Callable[[], object]:
    """Compiles a circuit with this package, and returns a function that draws one shot."""
    import stim_nonclifford as snc
    from stim_nonclifford.engines import CpuEngine

    plan = snc.Circuit(text).compile().record_plan()
    return lambda: CpuEngine(plan).sample_kept(1, 0, 1)


def clifft(text: str) -> Callable[[], object]:
    """Compiles a circuit with Clifft, and returns a function that draws one shot."""
    peer: Any = importlib.import_module("clifft")
    program = peer.compile(text)
    return lambda: peer.sample(program=program, shots=1, seed=1, batch_size=1)


PROGRAMS = {"stim_nonclifford": ours, "clifft": clifft}


def times_of(name: str, path: Path) -> tuple[float, float]:
    """Seconds to compile, and seconds from there to the end of the first shot, in this process."""
    text = path.read_text(encoding="utf-8")
    importlib.import_module(name)
    start = time.perf_counter()
    draw = PROGRAMS[name](text)
    compiled = time.perf_counter()
    draw()
    return compiled - start, time.perf_counter() - compiled


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--circuits", type=Path, default=CIRCUITS, help="folder of the .stim files")
    parser.add_argument("--workload", choices=list(WORKLOADS), default="qv20")
    parser.add_argument("--repeats", type=int, default=9, help="processes of each simulator")
    parser.add_argument("--only", choices=list(PROGRAMS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    path = arguments.circuits / f"{WORKLOADS[arguments.workload]}.stim"
    if arguments.only:
        print(json.dumps(times_of(arguments.only, path)))
        return 0
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(description(machine()))
    measured: dict[str, list[list[float]]] = {name: [] for name in PROGRAMS}
    for _ in range(arguments.repeats):
        for name, times in measured.items():
            command = [sys.executable, "-m", "benchmarks.first_shot", "--only", name]
            command += ["--circuits", str(arguments.circuits), "--workload", arguments.workload]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            times.append(json.loads(done.stdout))
    print(f"| {arguments.workload} | compile | first shot | smallest | largest |\n|---|---|---|---|---|")
    for name, times in measured.items():
        compiling, shots = zip(*times, strict=True)
        print(
            f"| {name} | {statistics.median(compiling):.3f} s | {statistics.median(shots):.3f} s"
            f" | {min(shots):.3f} s | {max(shots):.3f} s |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
