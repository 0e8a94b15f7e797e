"""Kept shots with a logical error: which faults caused them, and each as a circuit without noise.

    python -m examples.failures [--d 5] [--p 0.002] [--count 3] [--out out/failures]

Samples a cultivation circuit with T gates until --count kept shots were wrong. For each it prints the
faults (one for each noise event; where several faults have the same effect, the first of them), the exact
probability that a shot with these faults passes all checks and is wrong, and what the reference engine finds
when it samples such shots. Faults without which the others could not fail are marked with *.

Each failure is written as a circuit in which the faults are gates and nothing else is noisy, for any
simulator that knows T gates. Sample such a file with skip_reference_sample=True: the faults are part of the
circuit, so what they flip shows in the raw parities, not against the circuit's own reference.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import stim_nonclifford as snc
from examples.published import FEWEST_FAULTS
from examples.rates import p_value
from stim_nonclifford.cultivation import AVAILABLE_DISTANCES, cultivation_circuit

Faults = tuple[snc.CircuitFault, ...]
SHOTS_PER_CALL = 1 << 26
IMPOSSIBLE = 1e-9  # Probabilities below are rounding errors.


@dataclass(frozen=True)
class Verdict:
    """What becomes of shots with given faults.

    Attributes:
        needed: The faults without which the others could not fail.
        exact: Exact probabilities.
        discarded: Of the shots of the reference engine, those that a check discarded.
        wrong: Of the shots of the reference engine, those that were kept and wrong.
    """

    needed: Faults
    exact: snc.OutcomeProbabilities
    discarded: int
    wrong: int


def failures(
    circuit: snc.Circuit, count: int, seed: int | None, threads: int
) -> Iterator[tuple[int, snc.KeptFailure]]:
    """Samples until there are enough failures; yields each with the number of shots attempted so far."""
    everything = np.ones(circuit.num_detectors, dtype=np.bool_)
    sampler = circuit.compile_detector_sampler(seed=seed, postselection_mask=everything, threads=threads)
    attempted = found = 0
    while found < count:
        result = sampler.sample_failures(SHOTS_PER_CALL, max_errors=count - found)
        attempted += result.counts.shots
        for failure in result.failures[: count - found]:
            found += 1
            yield attempted, failure


def needed_faults(circuit: snc.Circuit, faults: Faults) -> Faults:
    """Leaves out faults, one after the other, as long as the others can still fail."""
    needed = faults
    for fault in faults:
        others = tuple(other for other in needed if other != fault)
        if circuit.outcome_probabilities(others).kept_and_wrong > IMPOSSIBLE:
            needed = others
    return needed


def examine(circuit: snc.Circuit, faults: Faults, shots: int) -> Verdict:
    """Computes the fate of shots with given faults, and samples them with the reference engine."""
    exact = circuit.outcome_probabilities(faults)
    # Without noise all detectors and the observable are 0, so raw parities are flips.
    sampler = circuit.with_faults(faults).compile_detector_sampler(
        seed=1, engine="reference", skip_reference_sample=True
    )
    dets, obs = sampler.sample(shots, separate_observables=True)
    discarded = dets.any(axis=1)
    wrong = obs.any(axis=1) & ~discarded
    return Verdict(needed_faults(circuit, faults), exact, int(discarded.sum()), int(wrong.sum()))


def description(failure: snc.KeptFailure, needed: Faults) -> list[str]:
    """One line for each fault."""
    lines = []
    for alternatives in failure.causes:
        mark = "*" if alternatives[0] in needed else " "
        others = f" (or {len(alternatives) - 1} others)" if len(alternatives) > 1 else ""
        lines.append(f"{mark} {alternatives[0]}{others}")
    return lines


def write(path: Path, circuit: snc.Circuit, failure: snc.KeptFailure, verdict: Verdict, title: str) -> None:
    """Writes the circuit with the faults in it and a comment that says what it is."""
    comment = [
        f"{title}, without noise but with the faults of a kept shot that was wrong.",
        f"All detectors are 0 and the observable is 1 with probability {verdict.exact.kept_and_wrong:.6g}.",
        "S[T] is the T gate. Sample with skip_reference_sample=True: the faults are gates of this circuit.",
        "The faults, at lines and ticks of the noisy circuit (* needed for the failure):",
        *description(failure, verdict.needed),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"# {line}\n" for line in comment)
        circuit.with_faults(failure.faults).to_file(file)


def main() -> int:
    """Finds, prints, checks and writes failures; 1 if one of them contradicts what is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, choices=AVAILABLE_DISTANCES, default=max(AVAILABLE_DISTANCES))
    parser.add_argument("--p", type=float, default=2e-3, help="noise strength")
    parser.add_argument("--count", type=int, default=3, help="failures to find")
    parser.add_argument("--seed", type=int, default=None, help="for the same failures again")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check-shots", type=int, default=400, help="shots of the reference engine")
    parser.add_argument("--out", type=Path, default=Path("out/failures"), help="folder for the circuits")
    arguments = parser.parse_args()
    circuit = snc.Circuit(cultivation_circuit(distance=arguments.d, p=arguments.p))
    title = f"d={arguments.d},p={arguments.p}"
    start = time.monotonic()
    fewest, fewest_needed, wrong = sys.maxsize, sys.maxsize, 0
    found = failures(circuit, arguments.count, arguments.seed, arguments.threads)
    for number, (attempted, failure) in enumerate(found, start=1):
        verdict = examine(circuit, failure.faults, arguments.check_shots)
        fewest = min(fewest, len(failure.causes))
        fewest_needed = min(fewest_needed, len(verdict.needed))
        path = arguments.out / f"{title},failure={number}.stim"
        write(path, circuit, failure, verdict, title)
        seconds = time.monotonic() - start
        print(f"Failure {number}: shot {failure.shot:,}; {attempted:,} shots in {seconds:.0f} s")
        print("\n".join(f"  {line}" for line in description(failure, verdict.needed)))
        exact = verdict.exact
        chance = p_value(verdict.wrong, arguments.check_shots, exact.kept_and_wrong)
        print(
            f"  exact: kept and wrong {exact.kept_and_wrong:.6g}, kept and right {exact.kept_and_right:.6g},"
            f" discarded {exact.discarded:.6g}\n"
            f"  reference engine: {verdict.wrong} of {arguments.check_shots} kept and wrong,"
            f" {verdict.discarded} discarded (p-value {chance})\n"
            f"  {path}",
            flush=True,
        )
        wrong += exact.kept_and_wrong < IMPOSSIBLE or float(chance) < IMPOSSIBLE
    print(f"\nFewest faults in a failure: {fewest}; fewest of them needed: {fewest_needed}.", end=" ")
    bound = FEWEST_FAULTS.get(arguments.d, 1)
    print(f"Known: d={arguments.d} cannot fail with fewer than {bound}.")
    if wrong or fewest_needed < bound:
        print(f"{wrong} failures were not confirmed, or failed with too few faults.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
