"""Cultivation with leakage: its speed against that without, side by side, and what leakage does.

python -m benchmarks.leakage [--distances 3 5] [--seconds 5]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler

from .measuring import description, machine, rate_of

__all__ = ["VARIANTS", "main", "with_leakage"]

_P = 1e-3


def with_leakage(circuit: stim.Circuit, p: float, *, reduction: bool = False) -> snc.Circuit:
    """A circuit in which qubits leak wherever they depolarize.

    Args:
        circuit: A circuit with DEPOLARIZE1 and DEPOLARIZE2.
        p: The probability that a qubit leaks there.
        reduction: Whether all qubits return at each TICK.
    """
    result = stim.Circuit()
    qubits = range(circuit.num_qubits)
    for part in circuit.flattened():
        result.append(part)
        if part.name.startswith("DEPOLARIZE"):
            result.append("I_ERROR", part.targets_copy(), tag=f"LEAKAGE(p={p!r})")
        elif part.name == "TICK" and reduction:
            result.append("I_ERROR", qubits, tag="RL")
    return snc.Circuit(result)


VARIANTS: dict[str, Callable[[stim.Circuit], snc.Circuit]] = {
    "without leakage": snc.Circuit,
    "p/10": lambda circuit: with_leakage(circuit, _P / 10),
    "p/10, RL at each TICK": lambda circuit: with_leakage(circuit, _P / 10, reduction=True),
}
"""The circuits that are compared, by how qubits leak in them."""


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distances", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    print(description(machine()))
    print(
        "| d | leakage | shots/s, one core | ratio | kept | errors | shots |\n|---|---|---|---|---|---|---|"
    )
    for distance in arguments.distances:
        circuit = cultivation_circuit(distance=distance, p=_P)
        plain = 0.0
        for name, variant in VARIANTS.items():
            sampler = variant(circuit).compile_detector_sampler(postselection_mask="all", seed=1)
            sampler.sample_counts(1 << 20)  # outcome laws are stored
            total = shots = kept = 0

            def run(count: int, sampler: CompiledDetectorSampler = sampler) -> None:
                nonlocal total, shots, kept
                counts = sampler.sample_counts(count)
                shots, kept, total = shots + counts.shots, kept + counts.kept, total + counts.errors

            rate = rate_of(run, arguments.seconds, clock=time.process_time)
            plain = plain or rate
            numbers = f"{rate:.3g}", f"{rate / plain:.2f}", f"{kept / shots:.4f}", total, shots
            cells = distance, name, *numbers
            print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
