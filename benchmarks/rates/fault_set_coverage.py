"""How often the intervals of logical error rates from fault sets hold the true value.

``python -m benchmarks.rates.fault_set_coverage`` estimates circuits with a known answer again and again, with
other seeds and a loose target, and with little enumerated, so that nearly all of the answer is sampled:

* d=3 cultivation at p = 10^-3 (exact value: arXiv 2609.18922);
* six qubits that must all flip, among 120 that flip rarely and are always caught: all of the logical error is
  in a single set of six mechanisms;
* with ``--thinned``, d=5 cultivation without a tenth of its detectors, compared with an estimate to 0.1%;
* with ``--varied 400``, instead of these, so many estimates of different circuits with different targets:
  cultivation and its S-proxy at d=3, and T states in other codes (``benchmarks/rates/code_circuits.py``),
  compared with estimates of which nearly all is enumerated.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.interface import estimate_rates

from .code_circuits import CIRCUITS, t_state_circuit


@dataclass(frozen=True)
class FewExactWeights(Settings):
    """Settings that end the enumeration after a weight."""

    last_exact: int = 2

    def may_enumerate(self, weight: int, steps: float, classes: float) -> bool:
        """See ``Settings``."""
        return weight <= self.last_exact and super().may_enumerate(weight, steps, classes)


def thinned(fraction: float, choice: int, p: float, **arguments: Any) -> snc.Circuit:
    """Cultivation of distance 5 without some of its detectors: other malignant sets, and more of all sets.

    Args:
        fraction: The fraction of the detectors that is left out.
        choice: Which ones: a seed.
        p: Noise strength.
        arguments: Of ``cultivation_circuit``.
    """
    lines = str(cultivation_circuit(distance=5, p=p, **arguments)).splitlines()
    detectors = [k for k, line in enumerate(lines) if line.startswith("DETECTOR")]
    left_out = set(random.Random(choice).sample(detectors, int(fraction * len(detectors))))
    return snc.Circuit("\n".join(line for k, line in enumerate(lines) if k not in left_out))


def one_heavy_set(flip: float = 0.01, rare: float = 1e-4, num_rare: int = 120) -> tuple[snc.Circuit, float]:
    """Six qubits of a repetition code, pairs of others that are compared, and the logical error rate."""
    code, others = range(6), range(6, 6 + num_rare)
    lines = [f"X_ERROR({flip}) {' '.join(map(str, code))}", f"X_ERROR({rare}) {' '.join(map(str, others))}"]
    lines.append(f"M {' '.join(map(str, [*code, *others]))}")
    total = 6 + num_rare
    pairs = [(k, k + 1) for k in range(5)] + [(k, k + 1) for k in range(6, total - 1)]
    lines += [f"DETECTOR rec[{a - total}] rec[{b - total}]" for a, b in pairs]
    lines.append(f"OBSERVABLE_INCLUDE(0) rec[{-total}]")
    return snc.Circuit("\n".join(lines)), flip**6 / (flip**6 + (1 - flip) ** 6)


def varied_circuits() -> Iterator[tuple[str, snc.Circuit]]:
    """Small circuits of several kinds."""
    for gate, p in (("T", 5e-4), ("T", 1e-3), ("T", 3e-3), ("S", 1e-3), ("S", 3e-3)):
        yield f"d=3 cultivation, {gate}, {p}", snc.Circuit(cultivation_circuit(distance=3, p=p, gate=gate))  # type: ignore[arg-type]
    for name, (code, noise) in CIRCUITS.items():
        for p in (1e-3, 3e-3):
            yield f"{name}, {p}", t_state_circuit(code, noise, p)


def print_varied(runs: int, first_seed: int) -> None:
    """Prints how many intervals of different circuits hold the true value, and how far off estimates are."""
    known = []
    for name, circuit in varied_circuits():
        exact = circuit.logical_error_rate(
            postselection_mask="all", seed=2**32, relative_error=1e-4, max_seconds=60
        )
        print(f"{name}: {exact.logical_error_rate:.7g}, known to {exact.relative_error:.1g}", flush=True)
        known.append((name, planned(circuit, "all", None), exact))
    pulls: list[float] = []
    covered = 0
    for run in range(runs):
        name, asked, exact = known[run % len(known)]
        target = (0.3, 0.1, 0.03)[run // len(known) % 3]
        settings = FewExactWeights(target, seed=first_seed + run, last_exact=2 + run // len(known) % 2)
        found = estimate_rates([asked], settings)[0]
        low, high = found.interval
        # An exact value that is not quite known counts if it may be inside.
        misses = not (low <= exact.interval[1] and exact.interval[0] <= high)
        covered += not misses
        error = math.hypot(found.standard_error, exact.standard_error)
        pulls.append((found.logical_error_rate - exact.logical_error_rate) / (error or math.inf))
        if misses or abs(pulls[-1]) > 3:
            print(f"  {name}, target {target}, seed {first_seed + run}: {pulls[-1]:+.2f}", flush=True)
    tails = {sigma: sum(abs(pull) > sigma for pull in pulls) for sigma in (1, 2, 3, 4)}
    spread = math.sqrt(sum(pull**2 for pull in pulls) / len(pulls))
    print(f"{covered} of {runs} intervals hold the value; |z| has a root mean square of {spread:.2f}")
    for sigma, count in tails.items():
        expected = runs * math.erfc(sigma / math.sqrt(2))
        print(f"|z| > {sigma}: {count} of {runs}, of normal numbers {expected:.1f}")


def main() -> None:
    """Prints a line for each circuit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--first_seed", type=int, default=0)
    parser.add_argument("--relative_error", type=float, default=0.05)
    parser.add_argument("--max_seconds", type=float, default=None)
    parser.add_argument("--thinned", type=int, nargs="*", default=[], help="choices of detectors, as 4 7 8")
    parser.add_argument("--varied", type=int, default=0, help="estimates of different circuits")
    arguments = parser.parse_args()
    if arguments.varied:
        print_varied(arguments.varied, arguments.first_seed)
        return
    heavy, heavy_rate = one_heavy_set()
    d3 = snc.Circuit(cultivation_circuit(distance=3, p=1e-3))
    d3_rate = 8.982790954e-7
    cases: list[tuple[str, snc.Circuit, float, dict[str, Any]]] = [
        ("d=3 cultivation", d3, d3_rate, {}),
        ("one heavy set", heavy, heavy_rate, {}),
    ]
    for choice in arguments.thinned:
        circuit = thinned(0.1, choice, 1e-3, injection="degenerate", noise="si1000")
        known = circuit.logical_error_rate(
            postselection_mask="all", seed=2**32, threads=2, relative_error=1e-3
        )
        print(f"thinned {choice}: {known.logical_error_rate:.6g}, known to {known.relative_error:.1g}")
        cases.append((f"thinned {choice}", circuit, known.logical_error_rate, {"last_exact": 3}))
    for name, circuit, rate, few in cases:
        settings = FewExactWeights(arguments.relative_error, max_seconds=arguments.max_seconds, **few)
        begin = time.perf_counter()
        results = [
            estimate_rates([planned(circuit, "all", None)], replace(settings, seed=seed))[0]
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.repetitions)
        ]
        seconds = (time.perf_counter() - begin) / len(results)
        covered = sum(result.interval[0] <= rate <= result.interval[1] for result in results)
        pulls = [
            (result.logical_error_rate - rate) / (result.standard_error or math.inf) for result in results
        ]
        mean = sum(result.logical_error_rate for result in results) / len(results)
        spread = math.sqrt(sum(pull**2 for pull in pulls) / len(pulls))
        farthest = max(map(abs, pulls))
        zeros = sum(result.kept_and_wrong == 0 for result in results)
        print(
            f"{name}: {covered} of {len(results)} intervals hold {rate:.6g}; mean estimate {mean:.6g},"
            f" root mean square of (estimate - truth) / standard error {spread:.2f}, largest {farthest:.1f},"
            f" estimates of 0: {zeros};"
            f" {seconds:.2f} s each"
        )


if __name__ == "__main__":
    main()
