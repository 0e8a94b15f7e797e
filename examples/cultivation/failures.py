"""Kept shots with a logical error: the faults that caused them, and each shot as a circuit without noise.

    python -m examples.cultivation.failures [--d 5] [--p 0.002] [--count 3] [--out out/failures]

Samples a cultivation circuit with T gates until --count kept shots have a logical error. For each of them, it
prints three things. First, the faults: of several faults with the same effect, the first. Faults without
which the others could not cause a failure are marked with *. Second, the exact probability that a shot with
these faults passes all checks and has a logical error. Third, the counts that the reference engine finds in a
sample of such shots.

Each failure is also written to a file, as a circuit without noise in which the faults are gates. Any
simulator that supports T gates can run it. Sample such a file with skip_reference_sample=True: the faults are
part of the circuit, so a comparison with the circuit's own reference sample would hide them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import stim_nonclifford as snc
from examples.cultivation.published import DISTANCES, FEWEST_FAULTS
from examples.cultivation.rates import p_value
from stim_nonclifford.generators.cultivation import AVAILABLE_DISTANCES, cultivation_circuit
from stim_nonclifford.simulation.faults import CircuitFault, OutcomeProbabilities
from stim_nonclifford.simulation.sampling import KeptFailure

Faults = tuple[CircuitFault, ...]
SHOTS_PER_CALL = 1 << 26
IMPOSSIBLE = 1e-9  # Smaller probabilities are rounding errors.


@dataclass(frozen=True)
class Verdict:
    """The results for shots with given faults.

    Attributes:
        needed: The faults without which the others could not cause a failure.
        exact: Exact probabilities of the outcomes of such a shot.
        discarded: Number of shots of the reference engine that a check discarded.
        wrong: Number of shots of the reference engine that were kept and had a logical error.
    """

    needed: Faults
    exact: OutcomeProbabilities
    discarded: int
    wrong: int


def failures(
    circuit: snc.Circuit, count: int, seed: int | None, threads: int
) -> Iterator[tuple[int, KeptFailure]]:
    """Samples until ``count`` failures are found; yields each with the number of shots attempted so far."""
    sampler = circuit.compile_detector_sampler(seed=seed, postselection_mask="all", threads=threads)
    attempted = found = 0
    while found < count:
        result = sampler.sample_failures(SHOTS_PER_CALL, max_errors=count - found)
        attempted += result.counts.shots
        for failure in result.failures[: count - found]:
            found += 1
            yield attempted, failure


def needed_faults(circuit: snc.Circuit, faults: Faults) -> Faults:
    """Removes faults one by one, as long as the remaining ones can still cause a failure."""
    needed = faults
    for fault in faults:
        others = tuple(other for other in needed if other != fault)
        if circuit.outcome_probabilities(others, postselection_mask="all").kept_and_wrong > IMPOSSIBLE:
            needed = others
    return needed


def examine(circuit: snc.Circuit, faults: Faults, shots: int) -> Verdict:
    """Computes the probabilities for shots with given faults, and samples them with the reference engine."""
    exact = circuit.outcome_probabilities(faults, postselection_mask="all")
    # Without noise all detectors and the observable are 0, so the raw parities are the flips.
    sampler = circuit.with_faults(faults).compile_detector_sampler(
        seed=1, engine="reference", skip_reference_sample=True
    )
    dets, obs = sampler.sample(shots, separate_observables=True)
    discarded = dets.any(axis=1)
    wrong = obs.any(axis=1) & ~discarded
    return Verdict(needed_faults(circuit, faults), exact, int(discarded.sum()), int(wrong.sum()))


def description(failure: KeptFailure, needed: Faults) -> list[str]:
    """One line of text for each fault; a * marks those that are needed."""
    lines = []
    for fault in failure.faults:
        mark = "*" if fault in needed else " "
        alternatives = next((each for each in failure.causes if fault in each), ())
        others = f" (or {len(alternatives) - 1} others)" if len(alternatives) > 1 else ""
        lines.append(f"{mark} {fault}{others}")
    return lines


def write(path: Path, circuit: snc.Circuit, failure: KeptFailure, verdict: Verdict, title: str) -> None:
    """Writes the circuit with the faults as gates, below a comment that describes it."""
    comment = [
        f"{title}, without noise but with the faults of a kept shot that had a logical error.",
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
    """Finds, prints, checks and writes failures; returns 1 if a failure contradicts a known result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, choices=AVAILABLE_DISTANCES, default=max(DISTANCES))
    parser.add_argument("--p", type=float, default=2e-3, help="noise strength")
    parser.add_argument("--count", type=int, default=3, help="failures to find")
    parser.add_argument("--seed", type=int, default=None, help="the same seed gives the same failures")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check_shots", type=int, default=400, help="shots of the reference engine")
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
    print(f"\nFewest faults in a failure: {fewest}; fewest needed faults: {fewest_needed}.", end=" ")
    bound = FEWEST_FAULTS.get(arguments.d, 1)
    print(f"Known bound: at d={arguments.d}, a failure needs at least {bound} faults.")
    if wrong or fewest_needed < bound:
        print(
            f"{wrong} failures were not confirmed; the fewest needed faults were {fewest_needed},"
            f" with a bound of {bound}.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
