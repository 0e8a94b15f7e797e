"""All detectors of all shots of surface codes, beside Stim; and tables of words, beside tables of lists.

    python -m benchmarks.surface_codes [--seconds 1] [--repeats 5] [--distances 7 11 15 25]
                                       [--page docs/performance.md]

Measures `compile_detector_sampler().sample(shots, bit_packed=True)` for rotated surface codes without T
gates, with as many rounds as the distance. Both samplers run in one process, in turns; the tables show
medians of processor time. `--page` writes them to a page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import stim

import stim_nonclifford as snc
from benchmarks.machine import description, machine
from benchmarks.pages import filled
from benchmarks.synthetic import memory_circuit
from benchmarks.timing import Run, in_turns, rate_of
from stim_nonclifford import plan as plans
from stim_nonclifford.compiler import RequestedOutputs
from stim_nonclifford.engines import CpuEngine
from stim_nonclifford.plan import SamplingPlan

DISTANCES = (7, 11, 15, 25)
PROBABILITIES = (1e-3, 5e-3)
MOST_BYTES = 1 << 27
"""The largest result of a call."""

ROW_WORDS = (8, 12, 16, 32, 64, 128)
ONES = (2, 4, 8, 16, 32)

Form = Literal["words", "lists"]
Measure = Callable[[float], float]


def measuring(run: Run, row_bytes: int) -> Measure:
    """A function that measures shots per second of processor time."""
    most = 1 << (MOST_BYTES // row_bytes).bit_length() - 1
    return partial(rate_of, run, most=most, clock=time.process_time)


def medians(runs: dict[str, Measure], seconds: float, repeats: int) -> dict[str, float]:
    """The median rate of each function."""
    return {name: statistics.median(rates) for name, rates in in_turns(runs, seconds, repeats).items()}


def beside_stim(distances: tuple[int, ...], seconds: float, repeats: int) -> Iterator[str]:
    """The lines of the table of shots per second."""
    yield "| distance, rounds | p | detectors | events per shot | stim_nonclifford | stim | ratio |"
    yield "|---|---|---|---|---|---|---|"
    for distance in distances:
        for p in PROBABILITIES:
            theirs = memory_circuit(distance, p)
            ours = snc.Circuit(theirs)
            row_bytes = -(-theirs.num_detectors // 8)
            runs = {
                name: measuring(partial(sampler.sample, bit_packed=True), row_bytes)
                for name, sampler in {
                    "ours": ours.compile_detector_sampler(seed=1),
                    "theirs": theirs.compile_detector_sampler(seed=1),
                }.items()
            }
            rates = medians(runs, seconds, repeats)
            yield (
                f"| {distance} | {p:g} | {theirs.num_detectors:,} | {ours.plan('sample').mean_events:.3g}"
                f" | {rates['ours']:,.3g}/s | {rates['theirs']:,.3g}/s"
                f" | {rates['ours'] / rates['theirs']:.1f} |"
            )


def random_effects(row_words: int, ones: int, *, faults: int = 4000, events: float = 10.0) -> SamplingPlan:
    """Independent faults, each of which flips so many detectors. Seed 1."""
    rng = np.random.default_rng(1)
    circuit = stim.Circuit()
    circuit.append("X_ERROR", range(faults), events / faults)
    circuit.append("M", range(faults))
    flipping: list[list[int]] = [[] for _ in range(64 * row_words)]
    for fault in range(faults):
        for detector in rng.choice(len(flipping), ones, replace=False):
            flipping[detector].append(fault - faults)
    for records in flipping:
        circuit.append("DETECTOR", [stim.target_rec(record) for record in records])
    detectors = RequestedOutputs.of(range(circuit.num_detectors))
    return snc.Circuit(circuit).compile().detector_plan(detectors)


def engine_in_form(plan: SamplingPlan, form: Form) -> CpuEngine:
    """An engine that keeps all tables of rows in one form."""
    before = plans._FORM
    plans._FORM = form
    try:
        return CpuEngine(plan)
    finally:
        plans._FORM = before


def words_against_lists(
    row_words: tuple[int, ...], ones: tuple[int, ...], seconds: float, repeats: int
) -> Iterator[str]:
    """The lines of the table of the time with words over the time with lists."""
    yield "| words of a row | " + " | ".join(f"{count} ones" for count in ones) + " |"
    yield "|---" * (len(ones) + 1) + "|"
    for words in row_words:
        ratios = []
        for count in ones:
            plan = random_effects(words, count)
            runs = {
                form: measuring(sampling(engine_in_form(plan, form)), 8 * words)
                for form in ("words", "lists")
            }
            rates = medians(runs, seconds, repeats)
            ratio = rates["lists"] / rates["words"]
            ratios.append(f"**{ratio:.2f}**" if plan.effects_are_lists else f"{ratio:.2f}")
        yield f"| {words} | " + " | ".join(ratios) + " |"


def sampling(engine: CpuEngine) -> Run:
    """A function that samples the first shots."""
    return lambda shots: engine.sample(1, 0, shots)


def printed(lines: Iterator[str]) -> str:
    """Prints lines as they come, and returns them."""
    seen: list[Any] = []
    for line in lines:
        print(line, flush=True)
        seen.append(line)
    return "\n".join(seen)


def main() -> int:
    """Measures and prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="time of one measurement")
    parser.add_argument("--repeats", type=int, default=5, help="measurements per row")
    parser.add_argument("--distances", type=int, nargs="+", default=DISTANCES)
    parser.add_argument("--page", type=Path, help="page on which the tables are written")
    arguments = parser.parse_args()
    print(description(machine()))
    ratios = printed(beside_stim(tuple(arguments.distances), arguments.seconds, arguments.repeats))
    print("\nTime of a shot with tables of words, over that with lists; bold: the plan chooses lists.")
    forms = printed(words_against_lists(ROW_WORDS, ONES, arguments.seconds / 5, arguments.repeats))
    if arguments.page:
        page = arguments.page.read_text(encoding="utf-8")
        page = filled(page, "surface codes", f"{description(machine())}.\n\n{ratios}")
        arguments.page.write_text(filled(page, "words against lists", forms), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
