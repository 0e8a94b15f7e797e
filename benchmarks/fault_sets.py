"""Time and memory of logical error rates from fault sets, each in a process of its own.

    python -m benchmarks.fault_sets points    # magic state cultivation at several noise strengths
    python -m benchmarks.fault_sets growth    # against the numbers of mechanisms and checks; draws the plots

Times are those of a fresh process, with imports and compilation; processor time is that of all its threads
together, in which other processes matter less. Memory is the most that the process used, less what it used
after its imports.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks.growth_plots import COLOURS, MARKERS, save

DOCS = Path(__file__).parents[1] / "docs"

POINTS = (
    (3, 5e-4, "T"), (3, 1e-3, "T"), (3, 2e-3, "T"), (3, 5e-3, "T"),
    (5, 1e-4, "T"), (5, 5e-4, "T"), (5, 1e-3, "T"), (5, 2e-3, "T"),
)  # fmt: skip

ROUNDS = (2, 4, 8, 16, 32, 64, 96)
EVENTS = (0.3, 1.0)
BOUNDS = (64 << 20, 2 << 30)


def surface_code(distance: int, rounds: int, events: float) -> str:
    """A surface code memory, all detectors postselected, with so many noise events per shot."""
    return f"surface:{distance}:{rounds}:{events}"


def circuit_of(name: str) -> Any:
    """The circuit of a name that ``surface_code`` gives, or of ``cultivation:distance:p:gate``."""
    import stim_nonclifford as snc
    from benchmarks.synthetic import memory_circuit
    from stim_nonclifford.cultivation import cultivation_circuit

    kind, size, *arguments = name.split(":")
    distance = int(size)
    if kind == "cultivation":
        p, gate = float(arguments[0]), arguments[1]
        return snc.Circuit(cultivation_circuit(distance=distance, p=p, gate=gate))  # type: ignore[arg-type]
    rounds, events = int(arguments[0]), float(arguments[1])

    small = 1e-6
    per_strength = snc.Circuit(memory_circuit(distance, small, rounds)).plan().mean_events / small
    return snc.Circuit(memory_circuit(distance, events / per_strength, rounds))


def run_here(name: str, relative_error: float, threads: int, max_bytes: int, seed: int) -> dict[str, Any]:
    """Estimates the logical error rate of a circuit in this process."""
    import time

    from stim_nonclifford.circuit.fault_set_methods import planned

    begin = time.perf_counter()
    circuit = circuit_of(name)
    before = peak_bytes()
    plan = planned(circuit, "all", None).plan()
    compiled = time.perf_counter()
    found = circuit.logical_error_rate(
        relative_error=relative_error,
        seed=seed,
        threads=threads,
        max_bytes=max_bytes,
        postselection_mask="all",
    )
    done = time.perf_counter()
    return {
        "mechanisms": plan.num_mechanisms,
        "checks": plan.num_checks,
        "rate": found.logical_error_rate,
        "relative_error": found.relative_error,
        "interval": found.interval,
        "compile_seconds": compiled - begin,
        "estimate_seconds": done - compiled,
        "bytes": peak_bytes() - before,
    }


def peak_bytes() -> int:
    """The most memory that this process has used."""
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(name: str, relative_error: float, threads: int, max_bytes: int, seed: int) -> dict[str, Any]:
    """The same in a process of its own, with its time from start to end, and its processor time."""
    import resource
    import time

    begin = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = [name, relative_error, threads, max_bytes, seed]
    command = [sys.executable, "-m", "benchmarks.fault_sets", "one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"name": name, "refused": done.stderr.strip().splitlines()[-1]}
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "name": name,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "max_bytes": max_bytes,
        **json.loads(done.stdout),
    }


def print_points(only: Sequence[str], relative_error: float, threads: int, seed: int) -> None:
    """Prints a line for each point."""
    print(
        "| circuit | p | logical error rate | error | seconds | CPU | memory |\n|---|---|---|---|---|---|---|"
    )
    for distance, p, gate in POINTS:
        name = f"cultivation:{distance}:{p}:{gate}"
        if only and name not in only:
            continue
        point = measured(name, relative_error, threads, 2 << 30, seed)
        if "refused" in point:
            print(f"| {name} | {point['refused']} |")
            continue
        print(
            f"| d={distance}, {gate} | {p:g} | {point['rate']:.6e} | {point['relative_error']:.1e}"
            f" | {point['seconds']:.1f} | {point['cpu_seconds']:.1f} | {point['bytes'] / 1e6:.0f} MB |",
            flush=True,
        )


def grow(threads: int, seed: int, rounds: Sequence[int]) -> list[dict[str, Any]]:
    """Measures surface codes of distance 3 with more and more rounds."""
    points = []
    for events in EVENTS:
        for max_bytes in BOUNDS:
            for count in rounds:
                point = measured(surface_code(3, count, events), 0.01, threads, max_bytes, seed)
                point["events"] = events
                print(json.dumps(point), flush=True)
                if "seconds" in point:
                    points.append(point)
    return points


def draw(points: list[dict[str, Any]], path: Path) -> Path:
    """Draws time and memory against the number of mechanisms."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    series = list(dict.fromkeys((point["events"], point["max_bytes"]) for point in points))
    for k, (events, max_bytes) in enumerate(series):
        mine = [point for point in points if (point["events"], point["max_bytes"]) == (events, max_bytes)]
        label = f"{events:g} events per shot, {max_bytes >> 20} MiB"
        x = [point["mechanisms"] for point in mine]
        style: dict[str, Any] = {"color": COLOURS[k], "marker": MARKERS[k], "markersize": 4, "label": label}
        left.plot(x, [point["cpu_seconds"] for point in mine], **style)
        right.plot(x, [point["bytes"] / 2**20 for point in mine], **style)
        right.axhline(max_bytes >> 20, color=COLOURS[k], linewidth=0.8, linestyle=":")
    for axes, label in ((left, "processor seconds for an error of 1%"), (right, "memory (MiB)")):
        axes.set(xscale="log", yscale="log", xlabel="mechanisms", ylabel=label)
        axes.grid(alpha=0.3)
    top = left.secondary_xaxis("top", functions=(lambda x: x, lambda x: x))
    pairs = sorted({(point["mechanisms"], point["checks"]) for point in points})
    top.set_xticks([mechanisms for mechanisms, _ in pairs], [str(checks) for _, checks in pairs], fontsize=7)
    top.set_xlabel("checks")
    top.minorticks_off()
    left.legend(fontsize=7)
    return save(figure, path)


def main() -> None:
    """Runs a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", choices=("points", "growth", "one"))
    parser.add_argument("only", nargs="*", help="of the points; for `one`, the arguments")
    parser.add_argument("--relative_error", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, nargs="+", default=ROUNDS)
    parser.add_argument("--out", type=Path, default=DOCS / "fault_sets.png")
    arguments = parser.parse_args()
    if arguments.part == "one":
        name, relative_error, threads, max_bytes, seed = arguments.only
        print(json.dumps(run_here(name, float(relative_error), int(threads), int(max_bytes), int(seed))))
    elif arguments.part == "points":
        print_points(arguments.only, arguments.relative_error, arguments.threads, arguments.seed)
    else:
        print(draw(grow(arguments.threads, arguments.seed, arguments.rounds), arguments.out))


if __name__ == "__main__":
    main()
