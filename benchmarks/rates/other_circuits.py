"""Circuits that the search for fault sets was not tuned on, each against a run with 30 times the time.

``python -m benchmarks.rates.other_circuits`` estimates each of them for a second, and again with another seed
for 30 times as long and to a tenth of the error, and prints a row of a Markdown table for both.
``--seconds 900`` shortens the runs so that all together take 15 minutes of processor time. The clock on the
wall limits each run: on a busy machine, it gets less processor time than that.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.generators.teleportation import injection_circuit, teleportation_circuit
from stim_nonclifford.rates.results import LogicalErrorRate

from .code_circuits import CIRCUITS, biased_noise, color_code, t_state_circuit
from .fault_set_coverage import thinned

_LEAST_SECONDS = 0.2
"""The least time of a run, when the budget is used up."""

_DEPOLARIZE = re.compile(r"DEPOLARIZE([12])\(([^)]*)\)")


def biased(circuit: stim.Circuit) -> snc.Circuit:
    """A circuit with noise that is biased towards Z in place of its depolarizing noise."""
    return snc.Circuit(
        _DEPOLARIZE.sub(lambda found: biased_noise(int(found[1]), float(found[2])), str(circuit))
    )


def _cultivation(p: float, bias: bool = False, **arguments: object) -> snc.Circuit:
    circuit = cultivation_circuit(p=p, **arguments)  # type: ignore[arg-type]
    return biased(circuit) if bias else snc.Circuit(circuit)


def _factory(p: float) -> snc.Circuit:
    return snc.Circuit(distillation_circuit("15-to-1", t_error=p, p=p / 100))


OTHER_CIRCUITS: Mapping[str, Callable[[float], snc.Circuit]] = {
    **{name: partial(t_state_circuit, code, noise) for name, (code, noise) in CIRCUITS.items()},
    "[[7,1,3]], cat states": partial(t_state_circuit, color_code(3), "uniform", cats=True),
    "[[19,1,5]], cat states, si1000": partial(t_state_circuit, color_code(5), "si1000", cats=True),
    "cultivation d=3, bell, si1000": partial(_cultivation, distance=3, injection="bell", noise="si1000"),
    "cultivation d=3, degenerate, biased": partial(
        _cultivation, distance=3, injection="degenerate", bias=True
    ),
    "cultivation d=5, bell": partial(_cultivation, distance=5, injection="bell"),
    "cultivation d=5, degenerate, si1000": partial(
        _cultivation, distance=5, injection="degenerate", noise="si1000"
    ),
    "cultivation d=5, biased": partial(_cultivation, distance=5, bias=True),
    "cultivation d=5, flagged": partial(_cultivation, distance=5, variant="flagged"),
    "cultivation d=5, 90% of the detectors, si1000": lambda p: thinned(
        0.1, 4, p, injection="degenerate", noise="si1000"
    ),
    "surface code d=3, injection": lambda p: snc.Circuit(injection_circuit(3, p)),
    "surface code d=5, injection, si1000": lambda p: snc.Circuit(injection_circuit(5, p, noise="si1000")),
    "surface code d=3, teleported T": lambda p: snc.Circuit(teleportation_circuit(3, p)),
    "15-to-1, p/100 for other gates": _factory,
}
"""Circuits of a strength of noise. All detectors postselect."""


@dataclass(frozen=True)
class _Run:
    """An estimate, and the processor time that it took."""

    estimate: LogicalErrorRate
    seconds: float

    def meets(self, other: _Run) -> bool:
        """Whether the 95% intervals of both meet."""
        (low, high), (least, most) = self.estimate.interval, other.estimate.interval
        return bool(low <= most and least <= high)


def _run(circuit: snc.Circuit, seed: int, relative_error: float, max_seconds: float, threads: int) -> _Run:
    begin = time.process_time()
    estimate = circuit.logical_error_rate(
        postselection_mask="all",
        seed=seed,
        relative_error=relative_error,
        max_seconds=max_seconds,
        threads=threads,
    )
    return _Run(estimate, time.process_time() - begin)


def _row(name: str, p: float, short: list[_Run], reference: _Run) -> str:
    ours, exact = short[0].estimate, reference.estimate
    error = math.hypot(ours.standard_error, exact.standard_error)
    difference = ours.logical_error_rate - exact.logical_error_rate
    (low, high), (least, most) = ours.interval, exact.interval
    return (
        f"| {name} | {p:g} | {ours.logical_error_rate:.5g} | {low:.5g} to {high:.5g}"
        f" | {short[0].seconds:.1f} s"
        f" | {exact.logical_error_rate:.6g} | {least:.6g} to {most:.6g} | {reference.seconds:.1f} s"
        f" | {difference / error if error else 0.0:+.1f}"
        f" | {sum(run.meets(reference) for run in short)} of {len(short)} |"
    )


def main() -> None:
    """Prints a row for each circuit and strength, and how many intervals meet that of the reference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of the names of the circuits")
    parser.add_argument("--strengths", type=float, nargs="+", default=[3e-4, 1e-3, 3e-3])
    parser.add_argument("--relative_error", type=float, default=0.01, help="of short runs; others: a tenth")
    parser.add_argument("--short", type=float, default=1.0, help="seconds of a short run, at most")
    parser.add_argument(
        "--long", type=float, help="seconds of a reference, at most; 30 times as many if not given"
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="processor time of all rows together")
    parser.add_argument("--seeds", type=int, default=1, help="short runs of each row; the first is printed")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    chosen = [
        (name, p, circuit_of)
        for name, circuit_of in OTHER_CIRCUITS.items()
        for p in arguments.strengths
        if arguments.only in name
    ]
    print("| circuit | p | rate | 95% interval | CPU time | reference | 95% interval | CPU time | z | meet |")
    print(10 * "| --- " + "|")
    covered, runs, begin = 0, 0, time.process_time()
    for number, (name, p, circuit_of) in enumerate(chosen):
        # What earlier rows left of their shares is for the later ones. Budgets keep the ratio of both runs.
        left = arguments.seconds - (time.process_time() - begin)
        long = 30 * arguments.short if arguments.long is None else arguments.long
        share = max(left, 0.0) / (len(chosen) - number)
        scale = min(1.0, share / (arguments.seeds * arguments.short + long))
        circuit = circuit_of(p)
        try:
            reference = _run(
                circuit,
                arguments.seed + 2**32,
                arguments.relative_error / 10,
                max(scale * long, _LEAST_SECONDS),
                arguments.threads,
            )
            short = [
                _run(
                    circuit,
                    arguments.seed + k,
                    arguments.relative_error,
                    max(scale * arguments.short, _LEAST_SECONDS),
                    arguments.threads,
                )
                for k in range(arguments.seeds)
            ]
        except snc.ResourceLimitError as error:
            print(f"| {name} | {p:g} | {str(error).splitlines()[0]} |", flush=True)
            continue
        print(_row(name, p, short, reference), flush=True)
        runs += len(short)
        covered += sum(run.meets(reference) for run in short)
    print(f"\n{covered} of {runs} intervals meet that of the reference.")


if __name__ == "__main__":
    main()
