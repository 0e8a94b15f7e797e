"""All simulators side by side: one core each, medians of alternating runs.

    python -m benchmarks.compare [--seconds 5] [--repeats 5] [--workloads d3 k19] [--modes postselected]

Runs the circuits of ``--circuits`` (the published workloads, one .stim file each) in every simulator that
is installed (``pip install -e '.[peers]'``), each in a process of its own. For each workload, the
best settings of a simulator (such as batch sizes) are used. Prints attempted shots per second, the ratio of
ours to each, the time to compile and the peak memory. Writes all of it and a plot to ``--out``.
``python -m benchmarks.compare_report out/compare.json`` copies them to ``docs/performance.md``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import stim_nonclifford as snc
from benchmarks.compare_report import draw
from benchmarks.machine import description, machine
from benchmarks.simulators import MODES, SIMULATORS, Mode, version_of
from benchmarks.timing import Run, rate_of

CIRCUITS = Path(__file__).parents[2] / "shared" / "reference_circuits"
WORKLOADS = {
    "d3": "msc_d3_inject_cultivate_p1e-3",
    "d5": "msc_d5_inject_cultivate_p1e-3",
    "distillation": "distillation",
    "coherent-d3r3": "coherent_d3_r3",
    "coherent-d5r5": "coherent_d5_r5",
    "surface-d7": "pure_surface_d7_r7_p1e-3",
    "k19": "k19_not_a_code_p5e-4",
    "qv10": "quantum_volume_q10_seed42",
}
PATIENCE = 60.0
"""Seconds that a simulator may take for its first shots in one setting."""


@dataclass
class Result:
    """The measurements of one simulator on one workload.

    Attributes:
        setting: The best setting.
        compile_seconds: Seconds of compilation before the first shot, in the best setting.
        rates: Attempted shots per second, one number per repetition.
        peak_bytes: Peak memory of the simulator's process.
        problem: Why there are no rates; empty if there are.
    """

    setting: str = ""
    compile_seconds: float = 0.0
    rates: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    problem: str = ""

    @property
    def rate(self) -> float:
        """The median of the rates; 0 if there are none."""
        return statistics.median(self.rates) if self.rates else 0.0


def serve(name: str, text: str, mode: Mode, limit: int, seconds: float, pipe: Connection) -> None:
    """Main function of a simulator's process: finds the best setting, then measures on each request."""
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.environ["OMP_NUM_THREADS"] = "1"
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    most = 1 << 16 if mode == "bits" else 1 << 40
    best: tuple[float, str, float, Run] | None = None
    try:
        start = time.perf_counter()
        for setting, run in SIMULATORS[name](text, mode):
            compiled = time.perf_counter() - start
            pipe.send(setting)  # the parent's timeout starts anew
            rate = rate_of(run, seconds, most=most)
            if best is None or rate > best[0]:
                best = (rate, setting, compiled, run)
            start = time.perf_counter()
    except (Exception, MemoryError) as error:
        if best is None:
            pipe.send(Result(problem=f"{type(error).__name__}: {error}"[:200]))
            return
    assert best is not None
    _, setting, compiled, run = best
    pipe.send(Result(setting, compiled))
    while (wanted := pipe.recv()) is not None:
        try:
            rate = rate_of(run, wanted, most=most)
        except (Exception, MemoryError) as error:
            pipe.send(f"{type(error).__name__}: {error}"[:200])
            return
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pipe.send((rate, peak))


class Contestant:
    """A simulator that runs one workload in a process of its own."""

    def __init__(self, name: str, text: str, mode: Mode, limit: int, seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(name, text, mode, limit, min(1.0, seconds), theirs), daemon=True
        )
        self._process.start()
        theirs.close()
        self.result = self._first_answer()

    def _first_answer(self) -> Result:
        while True:
            if not self._pipe.poll(PATIENCE):
                self._process.kill()
                return Result(problem=f"no shot within {PATIENCE:.0f} s")
            try:
                answer = self._pipe.recv()
            except EOFError:
                self._process.join()
                return Result(problem=f"ended with exit code {self._process.exitcode}")
            if isinstance(answer, Result):
                return answer

    def measure(self, seconds: float) -> None:
        """Measures one repetition."""
        if not self.result.problem:
            try:
                self._pipe.send(seconds)
                answer = self._pipe.recv()
            except (EOFError, BrokenPipeError):
                self._process.join()
                answer = f"ended with exit code {self._process.exitcode}"
            if isinstance(answer, str):
                self.result.problem = answer
                return
            rate, self.result.peak_bytes = answer
            self.result.rates.append(rate)

    def end(self) -> None:
        """Ends the process."""
        if self._process.is_alive() and not self.result.problem:
            self._pipe.send(None)
        self._process.join(5)
        self._process.kill()


def compare(
    text: str, mode: Mode, names: Sequence[str], limit: int, seconds: float, repeats: int
) -> dict[str, Result]:
    """Measures the simulators in turn, ``repeats`` times."""
    contestants = {name: Contestant(name, text, mode, limit, seconds) for name in names}
    try:
        for _ in range(repeats):
            for contestant in contestants.values():
                contestant.measure(seconds)
    finally:
        for contestant in contestants.values():
            contestant.end()
    return {name: contestant.result for name, contestant in contestants.items()}


def makes_sense(circuit: snc.Circuit, mode: Mode) -> bool:
    """Whether a mode applies to a circuit: counts need detectors and observables."""
    return mode == "bits" or (circuit.num_detectors > 0 and circuit.num_observables > 0)


def main() -> int:
    """Measures, prints the results, and writes them to files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--circuits", type=Path, default=CIRCUITS, help="folder of the .stim files")
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--simulators", nargs="+", choices=list(SIMULATORS), default=list(SIMULATORS))
    parser.add_argument("--seconds", type=float, default=5.0, help="time of one measurement")
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each simulator")
    parser.add_argument("--memory", type=float, default=12.0, help="GiB of address space of each process")
    parser.add_argument(
        "--out", type=Path, default=Path("out"), help="folder of compare.json and compare.png"
    )
    arguments = parser.parse_args()
    names = [name for name in arguments.simulators if version_of(name)]
    facts = machine()
    print(description(facts))
    print(", ".join(f"{name} {version_of(name)}" for name in names), flush=True)
    rows: list[dict[str, Any]] = []
    for workload in arguments.workloads:
        path = arguments.circuits / f"{WORKLOADS[workload]}.stim"
        if not path.exists():
            print(f"{workload}: {path} does not exist; pass the folder of the circuit files as --circuits")
            continue
        text = path.read_text(encoding="utf-8")
        circuit = snc.Circuit(text)
        width = circuit.compile().record_plan().peak_width
        for mode in arguments.modes:
            if not makes_sense(circuit, mode):
                continue
            limit = int(arguments.memory * 2**30)
            results = compare(text, mode, names, limit, arguments.seconds, arguments.repeats)
            rows.append(
                {
                    "workload": workload,
                    "mode": mode,
                    "width": width,
                    "results": {name: {**asdict(r), "rate": r.rate} for name, r in results.items()},
                }
            )
            print(f"\n{workload}, {mode} (width {width})")
            ours = results.get("stim_nonclifford", Result()).rate
            for name, result in results.items():
                if result.problem:
                    print(f"  {name:17}{result.problem}")
                    continue
                ratio = f"{ours / result.rate:8.3g}x" if name != "stim_nonclifford" and ours else ""
                print(
                    f"  {name:17}{result.rate:10.4g}/s {ratio:10} compile {result.compile_seconds:.3g} s,"
                    f" {result.peak_bytes / 2**20:.0f} MiB {result.setting}",
                    flush=True,
                )
    if rows:
        arguments.out.mkdir(parents=True, exist_ok=True)
        report: dict[str, Any] = {
            "machine": facts,
            "versions": {name: version_of(name) for name in names},
            "seconds": arguments.seconds,
            "repeats": arguments.repeats,
            "rows": rows,
        }
        (arguments.out / "compare.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        draw(report, arguments.out / "compare.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
