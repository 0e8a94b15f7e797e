"""How often the intervals of decoded logical error rates hold the true value.

    python -m benchmarks.rates.decoded_coverage
    python -m benchmarks.rates.decoded_coverage --circuits surface "S injection" --runs 100

Each circuit is estimated again and again, with other seeds and a loose target. Sets of few faults are not
enumerated then, which nearly settles the rates of these circuits: it gives the true value instead.
"""

from __future__ import annotations

import argparse
import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from unittest import mock

import stim

import stim_nonclifford as snc
from benchmarks.rates.decoded_codes import generated_memory, toric_memory
from stim_nonclifford.generators.teleportation import injection_circuit
from stim_nonclifford.rates.decoded_rates.samplers import enumeration
from stim_nonclifford.rates.results import LogicalErrorRate

__all__ = ["FAMILIES", "Coverage", "coverage_of", "main", "two_codes"]


def two_codes(p: float) -> stim.Circuit:
    """Two repetition codes of distance 3 side by side, with an observable each.

    Examples:
        >>> two_codes(0.1).num_observables
        2
    """
    circuit = stim.Circuit("R 0 1 2 3 4 5\n")
    circuit.append("X_ERROR", range(6), p)
    circuit += stim.Circuit("M 0 1 2 3 4 5")
    for first, observable in ((-6, 0), (-3, 1)):
        for k in (first, first + 1):
            circuit.append("DETECTOR", [stim.target_rec(k), stim.target_rec(k + 1)])
        circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(first)], observable)
    return circuit


def _injection(gate: Literal["T", "S"]) -> Callable[[float], stim.Circuit | str]:
    return lambda p: injection_circuit(3, p, gate)


FAMILIES: dict[str, tuple[Callable[[float], stim.Circuit | str], float]] = {
    "repetition, d=3": (functools.partial(generated_memory, "repetition_code:memory", 3), 1e-3),
    "surface, d=3": (functools.partial(generated_memory, "surface_code:rotated_memory_z", 3), 1e-4),
    "T injection, d=3": (_injection("T"), 1e-4),
    "S injection, d=3": (_injection("S"), 1e-4),
    "two codes, d=3": (two_codes, 2e-3),
    "toric, L=2, two observables": (functools.partial(toric_memory, 2), 1e-4),
}
"""Circuits of a strength of noise, and a weak one."""


@dataclass(frozen=True)
class Coverage:
    """What repeated estimates of one rate say.

    Attributes:
        true_rate: The rate, and its standard error.
        runs: Number of estimates.
        covered: How many of their intervals hold the true rate.
        mean_pull: The mean of ln(estimate / truth) in standard errors.
        spread: The standard deviation of the same: 1, if errors are what they claim to be.
    """

    true_rate: tuple[float, float]
    runs: int
    covered: int
    mean_pull: float
    spread: float


def coverage_of(name: str, runs: int, relative_error: float, first_seed: int = 1000) -> Coverage:
    """Estimates a rate again and again.

    Args:
        name: The circuit, as in ``FAMILIES``.
        runs: Number of estimates.
        relative_error: Of each.
        first_seed: The seed of the first; the others follow.

    Returns:
        How good they are.
    """
    make, p = FAMILIES[name]
    circuit = snc.Circuit(make(p))

    def rate(seed: int, error: float) -> LogicalErrorRate:
        return circuit.logical_error_rate(decoder="pymatching", relative_error=error, seed=seed)

    exact = rate(1, 0.001)
    with mock.patch.object(enumeration, "_MOST_DECODES", 0):
        found = [rate(first_seed + k, relative_error) for k in range(runs)]
    truth = exact.logical_error_rate
    pulls = [math.log(each.logical_error_rate / truth) / each.relative_error for each in found]
    mean = sum(pulls) / runs
    return Coverage(
        true_rate=(truth, exact.standard_error),
        runs=runs,
        covered=sum(each.interval[0] <= truth <= each.interval[1] for each in found),
        mean_pull=mean,
        spread=math.sqrt(sum((pull - mean) ** 2 for pull in pulls) / max(runs - 1, 1)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each circuit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--circuits", nargs="+", default=list(FAMILIES), help="beginnings of their names")
    parser.add_argument("--relative_error", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args(arguments)
    print("| circuit | true rate | intervals of 95% that hold it | mean pull | spread | time |")
    print(6 * "| --- " + "|")
    total = covered = 0
    for name in FAMILIES:
        if not name.startswith(tuple(options.circuits)):
            continue
        begin = time.process_time()
        found = coverage_of(name, options.runs, options.relative_error)
        total, covered = total + found.runs, covered + found.covered
        rate, error = found.true_rate
        print(
            f"| {name} | {rate:.5g} ± {error:.1g} | {found.covered} of {found.runs}"
            f" | {found.mean_pull:+.2f} | {found.spread:.2f}"
            f" | {time.process_time() - begin:.0f} s |",
            flush=True,
        )
    print(f"\n{covered} of {total} intervals hold the true rate: {covered / total:.1%}.")


if __name__ == "__main__":
    main()
