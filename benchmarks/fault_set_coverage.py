"""How often the intervals of logical error rates from fault sets hold the true value.

``python -m benchmarks.fault_set_coverage`` estimates circuits with a known answer again and again, with
other seeds and a loose target, and with little enumerated, so that nearly all of the answer is sampled:

* d=3 cultivation at p = 10^-3 (exact value: arXiv 2609.18922), with drawn sets and with joined halves;
* six qubits that must all flip, among 120 that flip rarely and are always caught: all of the logical error is
  in a single set of six mechanisms.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import stim_nonclifford as snc
from stim_nonclifford.circuit.fault_set_methods import planned
from stim_nonclifford.cultivation import cultivation_circuit
from stim_nonclifford.fault_sets.interface import estimate_rates
from stim_nonclifford.fault_sets.search.limits import Limits


@dataclass(frozen=True)
class FewExactWeights(Limits):
    """Limits that end the enumeration early, and if wanted do not let whole sets be drawn."""

    most_steps: float = 5e3
    most_draw_steps: float = 4e8

    @property
    def exact_steps(self) -> float:
        """See ``Limits``."""
        return self.most_steps

    @property
    def draw_steps(self) -> float:
        """See ``Limits``."""
        return self.most_draw_steps


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


def main() -> None:
    """Prints a line for each circuit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--first_seed", type=int, default=0)
    parser.add_argument("--relative_error", type=float, default=0.05)
    arguments = parser.parse_args()
    heavy, heavy_rate = one_heavy_set()
    d3 = snc.Circuit(cultivation_circuit(distance=3, p=1e-3))
    cases = (
        ("d=3 cultivation, drawn", d3, 8.982790954e-7, 5e3, 4e8),
        ("d=3 cultivation, joined", d3, 8.982790954e-7, 5e3, 0),
        ("one heavy set", heavy, heavy_rate, 100, 4e8),
    )
    for name, circuit, rate, most_steps, most_draw_steps in cases:
        limits = FewExactWeights(
            arguments.relative_error, most_steps=most_steps, most_draw_steps=most_draw_steps
        )
        begin = time.perf_counter()
        results = [
            estimate_rates([planned(circuit, "all", None)], limits, seed, 1, False)[0]
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.repetitions)
        ]
        seconds = (time.perf_counter() - begin) / len(results)
        covered = sum(result.interval[0] <= rate <= result.interval[1] for result in results)
        pulls = [
            (result.logical_error_rate - rate) / (result.standard_error or math.inf) for result in results
        ]
        mean = sum(result.logical_error_rate for result in results) / len(results)
        spread = math.sqrt(sum(pull**2 for pull in pulls) / len(pulls))
        zeros = sum(result.kept_and_wrong == 0 for result in results)
        print(
            f"{name}: {covered} of {len(results)} intervals hold {rate:.6g}; mean estimate {mean:.6g},"
            f" root mean square of (estimate - truth) / standard error {spread:.2f}, estimates of 0: {zeros};"
            f" {seconds:.2f} s each"
        )


if __name__ == "__main__":
    main()
