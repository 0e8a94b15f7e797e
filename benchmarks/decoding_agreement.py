"""Logical error rates of `soft_pymatching` beside those of Sinter's `pymatching`, on Clifford circuits.

    python -m benchmarks.decoding_agreement [--shots 10000000] [--p 0.005]

Both run through `sinter.collect` on memory experiments with d rounds. Stim draws the shots of one and this
package those of the other, so that the counts are independent. The last column is Fisher's exact test: how
often counts with the same expectation differ as much. The command fails if one of them is below 0.1%.
"""

from __future__ import annotations

import argparse
import sys

import scipy.stats
import sinter

from benchmarks.decoding import code
from sinter_plugin import SoftDecodingSampler

TASKS = ("surface_code:rotated_memory_x", "repetition_code:memory")
DISTANCES = (3, 5, 7)
SIGNIFICANCE = 0.001


def main() -> int:
    """Collects and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shots", type=int, default=10_000_000, help="shots of each decoder and circuit")
    parser.add_argument("--p", type=float, default=0.005, help="noise strength")
    args = parser.parse_args()
    print("| code | d | errors, Sinter's `pymatching` | errors, `soft_pymatching` | p-value |")
    print("|---|---|---|---|---|", flush=True)
    smallest = 1.0
    for name in TASKS:
        for distance in DISTANCES:
            circuit = code(distance, args.p, name)
            theirs, ours = sinter.collect(
                num_workers=1,
                tasks=[
                    sinter.Task(circuit=circuit, decoder=decoder)
                    for decoder in ("pymatching", "soft_pymatching")
                ],
                custom_decoders={"soft_pymatching": SoftDecodingSampler()},
                max_shots=args.shots,
            )
            if theirs.decoder != "pymatching":
                theirs, ours = ours, theirs
            table = [[stats.errors, stats.shots - stats.errors] for stats in (theirs, ours)]
            value = scipy.stats.fisher_exact(table).pvalue
            smallest = min(smallest, value)
            print(f"| {name} | {distance} | {theirs.errors} | {ours.errors} | {value:.3f} |", flush=True)
    return int(smallest < SIGNIFICANCE)


if __name__ == "__main__":
    sys.exit(main())
