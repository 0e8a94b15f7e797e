"""How speed falls as circuits grow (wider vectors, more error mechanisms, more noise), and what threads gain.

    python -m benchmarks.growth [--seconds 2] [--repeats 5] [--parts width mechanisms noise threads]

Every figure is a median of runs of one thread, after a warm-up. Runs that a plot shows at the same place of
its horizontal axis alternate. Writes ``growth.json`` to ``--out``, and plots of it to ``--plots``.
``--page docs/performance.md --plots docs`` updates that page. With ``--from out/growth.json`` nothing is
measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import stim_nonclifford as snc
from benchmarks.growth_plots import draw_all
from benchmarks.growth_report import summary
from benchmarks.machine import description, machine
from benchmarks.pages import filled
from benchmarks.synthetic import many_mechanisms, mirrored, scrambled
from benchmarks.timing import Run, in_turns, rate_of
from stim_nonclifford.cultivation import cultivation_circuit
from stim_nonclifford.plan_report import PlanReport

WIDTHS = range(4, 23)
MECHANISMS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
NOISE = (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
MOST_BITS = 1 << 16
"""Largest number of shots in a call that returns bits, so that the bits fit into memory."""


@dataclass
class Workload:
    """One point of a curve, to be measured.

    Attributes:
        series: The name of the curve.
        run: Function that runs a given number of shots.
        most: Largest number of shots per call.
        facts: Figures of the plan; see ``facts_of``.
    """

    series: str
    run: Run
    most: int = 1 << 40
    facts: dict[str, float] = field(default_factory=dict)


@dataclass
class Point:
    """One measured point of a curve.

    Attributes:
        part: The name of the plot.
        series: The name of the curve.
        x: Position on the horizontal axis.
        rates: Attempted shots per second, one number per repetition.
        rate: The median of the rates.
        facts: Figures of the plan; see ``facts_of``.
    """

    part: str
    series: str
    x: float
    rates: list[float]
    rate: float
    facts: dict[str, float]


def facts_of(report: PlanReport) -> dict[str, float]:
    """The figures of a plan on which its speed depends."""
    return {
        "peak_width": report.peak_width,
        "operations": len(report.operations),
        "coefficients": report.total_coefficients,
        "mechanisms": report.num_mechanisms,
        "mean_events": report.mean_events,
        "signature_bits": report.num_signature_bits,
    }


def counting(series: str, circuit: snc.Circuit, threads: int = 1) -> Workload:
    """A workload that counts discards and errors, postselected on all detectors."""
    sampler = circuit.compile_detector_sampler(seed=1, postselection_mask="all", threads=threads)
    return Workload(series, sampler.sample_counts, facts=facts_of(circuit.plan(postselection_mask="all")))


def all_bits(series: str, circuit: snc.Circuit, threads: int = 1) -> Workload:
    """A workload that returns the bits of all detectors and observables of all shots."""
    sampler = circuit.compile_detector_sampler(seed=1, threads=threads)
    return Workload(series, sampler.sample_bit_packed, MOST_BITS, facts_of(circuit.plan("sample")))


def simulated(series: str, circuit: snc.Circuit, threads: int = 1) -> Workload:
    """A workload that returns all records and stores no outcome law: every shot simulates the vector."""
    sampler = circuit.compile_sampler(seed=1, threads=threads, cache_bytes=0)
    return Workload(
        series, sampler.sample_bit_packed, MOST_BITS, facts_of(circuit.plan("sample_measurements"))
    )


def width_workloads() -> Iterator[tuple[float, list[Workload]]]:
    """Circuits that differ in the width of the vector."""
    for width in WIDTHS:
        yield (
            width,
            [
                simulated("every shot simulated", scrambled(width)),
                counting("postselected, p=0.001", mirrored(width, 1e-3)),
            ],
        )


def mechanism_workloads() -> Iterator[tuple[float, list[Workload]]]:
    """Circuits that differ in the number of error mechanisms."""
    for count in MECHANISMS:
        yield (
            count,
            [
                counting("half an event per shot", many_mechanisms(count, 0.5 / count)),
                counting("probability 0.001 each", many_mechanisms(count, 1e-3)),
            ],
        )


def noise_workloads() -> Iterator[tuple[float, list[Workload]]]:
    """Cultivation at several strengths of noise."""
    for p in NOISE:
        workloads = []
        for distance in (3, 5):
            circuit = snc.Circuit(cultivation_circuit(distance=distance, p=p))
            workloads.append(counting(f"d={distance}, postselected", circuit))
            workloads.append(all_bits(f"d={distance}, all bits of all shots", circuit))
        yield p, workloads


PARTS: dict[str, Callable[[], Iterator[tuple[float, list[Workload]]]]] = {
    "width": width_workloads,
    "mechanisms": mechanism_workloads,
    "noise": noise_workloads,
}


def measure(part: str, seconds: float, repeats: int) -> Iterator[Point]:
    """Measures one plot, one place of its horizontal axis after another."""
    for x, workloads in PARTS[part]():

        def measuring(workload: Workload) -> Callable[[float], float]:
            # CPU time: what other processes take does not count.
            return lambda seconds: rate_of(workload.run, seconds, most=workload.most, clock=time.process_time)

        rates = in_turns({w.series: measuring(w) for w in workloads}, seconds, repeats)
        for workload in workloads:
            found = rates[workload.series]
            yield Point(part, workload.series, x, found, statistics.median(found), workload.facts)


def two_cores() -> set[int]:
    """Two of the cores that this process may use, or the only one."""
    return set(sorted(os.sched_getaffinity(0))[:2]) if hasattr(os, "sched_getaffinity") else {0, 1}


def on_cores(cores: set[int], measure: Callable[[], float]) -> float:
    """Measures with the thread pinned to these cores, if the system allows it."""
    if not hasattr(os, "sched_setaffinity"):
        return measure()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        return measure()
    finally:
        os.sched_setaffinity(0, before)


def measure_threads(seconds: float, repeats: int) -> Iterator[Point]:
    """Two threads compared with one, in wall time.

    Cores are not equal, because other guests of the machine use some of them. So one thread is measured on
    each of two cores. Two samplers that share nothing, each on its own core, show what the machine can give
    to two threads.
    """
    d3, d5 = (snc.Circuit(cultivation_circuit(distance=distance, p=1e-3)) for distance in (3, 5))
    cases: dict[str, Callable[[int], Workload]] = {
        "cultivation d=3, postselected": lambda threads: counting("", d3, threads),
        "cultivation d=5, postselected": lambda threads: counting("", d5, threads),
        "cultivation d=5, all bits of all shots": lambda threads: all_bits("", d5, threads),
        "width 10, every shot simulated": lambda threads: simulated("", scrambled(10), threads),
        "width 16, every shot simulated": lambda threads: simulated("", scrambled(16), threads),
    }
    cores = two_cores()
    for name, make in cases.items():
        samplers, both = [make(1), make(1)], make(2)

        def measuring(workload: Workload, cores: set[int] = cores) -> Callable[[float], float]:
            return lambda seconds: on_cores(cores, lambda: rate_of(workload.run, seconds, most=workload.most))

        alone = [measuring(sampler, {core}) for sampler, core in zip(samplers, sorted(cores), strict=False)]

        def apart(seconds: float, alone: list[Callable[[float], float]] = alone) -> float:
            with ThreadPoolExecutor(len(alone)) as pool:
                return sum(pool.map(lambda measured: measured(seconds), alone))

        runs = {f"core {k}": measure for k, measure in enumerate(alone)}
        rates = in_turns({**runs, "apart": apart, "threads": measuring(both)}, seconds, repeats)
        one = [statistics.mean(turn) for turn in zip(*(rates[key] for key in runs), strict=True)]
        yield Point("threads", name, 1, one, statistics.median(one), both.facts)
        facts = {**both.facts, "apart": statistics.median(rates["apart"])}
        yield Point("threads", name, 2, rates["threads"], statistics.median(rates["threads"]), facts)


def main() -> int:
    """Measures, and writes the results and their plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=[*PARTS, "threads"], default=[*PARTS, "threads"])
    parser.add_argument("--seconds", type=float, default=2.0, help="time of one measurement")
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each point")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of growth.json")
    parser.add_argument("--plots", type=Path, default=Path("out"), help="folder of the plots")
    parser.add_argument("--page", type=Path, help="page to write a table of the results into")
    parser.add_argument("--from", dest="source", type=Path, help="draw the results in this file")
    arguments = parser.parse_args()
    if arguments.source is None:
        facts = machine()
        print(description(facts), flush=True)
        points: list[Point] = []
        for part in arguments.parts:
            found = (
                measure_threads(arguments.seconds, arguments.repeats)
                if part == "threads"
                else measure(part, arguments.seconds, arguments.repeats)
            )
            for point in found:
                points.append(point)
                print(f"{part:11}{point.series:40}{point.x:>8g}{point.rate:12.4g}/s", flush=True)
                if part == "threads" and point.x == 2:
                    ratios = [rate / points[-2].rate for rate in (point.rate, point.facts["apart"])]
                    print(
                        f"{'':11}two threads give {ratios[0]:.2f}x one, two samplers {ratios[1]:.2f}x",
                        flush=True,
                    )
        measured: dict[str, Any] = {
            "machine": facts,
            "seconds": arguments.seconds,
            "repeats": arguments.repeats,
            "points": [asdict(point) for point in points],
        }
        arguments.out.mkdir(parents=True, exist_ok=True)
        arguments.source = arguments.out / "growth.json"
        arguments.source.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    results = json.loads(arguments.source.read_text(encoding="utf-8"))
    print(summary(results))
    if arguments.page is not None:
        page = filled(arguments.page.read_text(encoding="utf-8"), "growth", summary(results))
        arguments.page.write_text(page, encoding="utf-8")
    for path in draw_all(results, arguments.plots):
        print(f"{path} written, {path.stat().st_size >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
