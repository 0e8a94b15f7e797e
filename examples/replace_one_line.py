"""A Stim + PyMatching script in which one line is replaced: surface-code memory, sampled both ways.

    python -m examples.replace_one_line [--shots 200000] [--d 3 5]

Decodes a rotated surface code memory, and prints the logical error rates with Stim's sampler and with the
sampler of this package. This circuit has no T gate, so the two agree. With T gates, only the sampler of this
package would be correct.
"""

from __future__ import annotations

import argparse
import sys
from typing import Literal

import numpy as np
import pymatching
import stim

import stim_nonclifford as snc
from examples.cultivation.rates import interval, p_value


def logical_errors(d: int, p: float, shots: int, package: Literal["stim", "stim_nonclifford"]) -> int:
    """Samples and decodes a surface code memory, and returns the number of logical errors."""
    circuit = stim.Circuit.generated(
        "surface_code:rotated_memory_z",
        distance=d,
        rounds=d,
        after_clifford_depolarization=p,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
    )
    matching = pymatching.Matching(circuit.detector_error_model(decompose_errors=True))
    if package == "stim":
        sampler = circuit.compile_detector_sampler(seed=1)
    else:
        sampler = snc.Circuit(circuit).compile_detector_sampler(seed=1)  # instead of the line above
    detections, flips = sampler.sample(shots, separate_observables=True)
    return int(np.any(matching.decode_batch(detections) != flips, axis=1).sum())


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shots", type=int, default=200_000)
    parser.add_argument("--d", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--p", type=float, default=5e-3, help="noise strength")
    arguments = parser.parse_args()
    print(f"p = {arguments.p}; logical error rate of {arguments.shots:,} shots with its error bar")
    for d in arguments.d:
        theirs = logical_errors(d, arguments.p, arguments.shots, "stim")
        ours = logical_errors(d, arguments.p, arguments.shots, "stim_nonclifford")
        print(f"d={d}  stim              {interval(theirs, arguments.shots)}")
        print(f"d={d}  stim_nonclifford  {interval(ours, arguments.shots)}")
        # If the rates are equal, an error is one of ours with probability 1/2.
        print(f"d={d}  p-value if the rates are equal: {p_value(ours, ours + theirs, 0.5)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
