"""Circuits that the search for fault sets was not tuned on, each against a run with 30 times the time.

``python -m benchmarks.rates.other_circuits`` estimates each of them for a few seconds, and again with another
seed for 30 times as long and to a tenth of the error, and prints a row of a table for both.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from collections.abc import Callable, Mapping
from functools import partial

import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.generators.teleportation import injection_circuit, teleportation_circuit
from stim_nonclifford.rates.fault_sets import LogicalErrorRate

from .code_circuits import CIRCUITS, biased_noise, color_code, t_state_circuit
from .fault_set_coverage import thinned

__all__ = ["OTHER_CIRCUITS"]

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


def _row(name: str, p: float, ours: LogicalErrorRate, reference: LogicalErrorRate, cpu: list[float]) -> str:
    error = math.hypot(ours.standard_error, reference.standard_error)
    difference = ours.logical_error_rate - reference.logical_error_rate
    low, high = ours.interval
    least, most = reference.interval
    return (
        f"| {name} | {p:g} | {ours.logical_error_rate:.5g} | {low:.5g} to {high:.5g} | {cpu[0]:.1f} s"
        f" | {reference.logical_error_rate:.6g} | {least:.6g} to {most:.6g} | {cpu[1]:.1f} s"
        f" | {difference / error if error else 0.0:+.1f} |"
    )


def main() -> None:
    """Prints a row for each circuit and strength, and how many intervals hold the reference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of the names of the circuits")
    parser.add_argument("--strengths", type=float, nargs="+", default=[3e-4, 1e-3, 3e-3])
    parser.add_argument("--relative_error", type=float, default=0.01)
    parser.add_argument("--max_seconds", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print("| circuit | p | rate | 95% interval | CPU time | reference | 95% interval | CPU time | z |")
    print(9 * "| --- " + "|")
    rows = covered = 0
    for name, circuit_of in OTHER_CIRCUITS.items():
        for p in arguments.strengths if arguments.only in name else []:
            circuit, found, cpu = circuit_of(p), [], []
            for times, seed in ((1, arguments.seed), (30, arguments.seed + 2**32)):
                begin = time.process_time()
                try:
                    found.append(
                        circuit.logical_error_rate(
                            postselection_mask="all",
                            seed=seed,
                            relative_error=arguments.relative_error / (1 if times == 1 else 10),
                            max_seconds=times * arguments.max_seconds,
                            threads=arguments.threads,
                        )
                    )
                except snc.ResourceLimitError as error:
                    print(f"| {name} | {p:g} | {str(error).splitlines()[0]} |", flush=True)
                    break
                cpu.append(time.process_time() - begin)
            if len(found) < 2:
                continue
            ours, reference = found
            print(_row(name, p, ours, reference, cpu), flush=True)
            rows += 1
            covered += ours.interval[0] <= reference.interval[1] and reference.interval[0] <= ours.interval[1]
    print(f"{covered} of {rows} intervals meet that of the reference")


if __name__ == "__main__":
    main()
