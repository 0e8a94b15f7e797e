"""How often the 95% intervals of decoded logical error rates hold the true value.

    python -m benchmarks.rates.coverage
    python -m benchmarks.rates.coverage --cases "surface" "T injection" --runs 100

Each circuit is estimated again and again, with other seeds and a loose target. Fault sets are not enumerated
then, which nearly settles the rates of these circuits: it gives the true value instead.
"""

from __future__ import annotations

import argparse
import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unittest import mock

import stim

import stim_nonclifford as snc
from benchmarks.rates.decoded_codes import generated_memory, toric_memory
from stim_nonclifford.generators.teleportation import injection_circuit
from stim_nonclifford.rates.samplers.strata import Stratum


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


@dataclass(frozen=True)
class Case:
    """A small circuit with noise, of which most fault sets can be enumerated.

    Attributes:
        circuit: Makes the circuit.
        postselected: The detectors that discard a shot.
        gap: The least gap of the shots that count; None: whatever it is.
    """

    circuit: Callable[[], stim.Circuit | str]
    postselected: tuple[int, ...] = ()
    gap: int | None = None


_REPETITION = functools.partial(generated_memory, "repetition_code:memory", 3)

CASES: dict[str, Case] = {
    "repetition, d=3": Case(functools.partial(_REPETITION, 1e-3)),
    "repetition, d=3, strong noise": Case(functools.partial(_REPETITION, 0.05)),
    "surface, d=3": Case(functools.partial(generated_memory, "surface_code:rotated_memory_z", 3, 1e-4)),
    "T injection, d=3": Case(functools.partial(injection_circuit, 3, 1e-4, "T")),
    "two codes, d=3": Case(functools.partial(two_codes, 2e-3)),
    "toric, L=2, two observables": Case(functools.partial(toric_memory, 2, 1e-4)),
    "repetition, d=3, with a mask": Case(functools.partial(_REPETITION, 5e-3), (0, 1)),
    "repetition, d=3, gap": Case(functools.partial(_REPETITION, 0.02), (), 10),
}
"""The circuits."""


@dataclass(frozen=True)
class Coverage:
    """What repeated estimates of one rate show.

    Attributes:
        true_rate: The rate, and its standard error.
        runs: Number of estimates.
        covered: How many of their intervals hold the true rate.
        mean_pull: The mean of (estimate - truth) / standard error.
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
        name: The circuit, as in ``CASES``.
        runs: Number of estimates.
        relative_error: Of each.
        first_seed: The seed of the first; the others follow.

    Returns:
        How good they are.
    """
    case = CASES[name]
    circuit = snc.Circuit(case.circuit())
    mask = [k in case.postselected for k in range(circuit.num_detectors)] if case.postselected else None

    def rate(seed: int, error: float) -> tuple[float, float, tuple[float, float]]:
        found = circuit.logical_error_rate(
            decoder="pymatching",
            relative_error=error,
            seed=seed,
            postselection_mask=mask,
            confidence=case.gap is not None,
        )
        if case.gap is None:
            return found.logical_error_rate, found.standard_error, found.interval
        point = next(point for point in found.gap_curve if point.gap >= case.gap)
        return point.logical_error_rate, point.standard_error, point.interval

    truth, uncertainty, _ = rate(1, 0.001)
    with mock.patch.object(Stratum, "size", return_value=math.inf):
        found = [rate(first_seed + k, relative_error) for k in range(runs)]
    pulls = [(value - truth) / error for value, error, _ in found]
    mean = sum(pulls) / runs
    return Coverage(
        true_rate=(truth, uncertainty),
        runs=runs,
        covered=sum(low <= truth <= high for _, _, (low, high) in found),
        mean_pull=mean,
        spread=math.sqrt(sum((pull - mean) ** 2 for pull in pulls) / max(runs - 1, 1)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each circuit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=list(CASES), help="beginnings of their names")
    parser.add_argument("--relative_error", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=400)
    options = parser.parse_args(arguments)
    print("| circuit | true rate | intervals of 95% that hold it | mean pull | spread | time |")
    print(6 * "| --- " + "|")
    total = covered = 0
    for name in CASES:
        if not name.startswith(tuple(options.cases)):
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
