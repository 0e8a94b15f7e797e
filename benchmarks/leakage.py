"""Leakage: its speed beside that without it and that of other simulators, and what it does.

python -m benchmarks.leakage cultivation [--distances 3 5] [--seconds 5]
python -m benchmarks.leakage clifft [--distances 3] [--seconds 5]      (with clifft, in Python 3.12)
python -m benchmarks.leakage deltakit [--distances 7] [--seconds 5]    (with deltakit-stim)
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable

import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler

from .measuring import Run, description, machine, rate_of

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


def without_products(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit with an ancilla, without noise, for each measured product: not all simulators have MPP."""
    result = stim.Circuit()
    for part in circuit.flattened():
        if part.name != "MPP":
            result.append(part)
            continue
        for group in part.target_groups():
            ancilla = result.num_qubits
            result.append("RX", [ancilla])
            for target in group:
                result.append(f"C{target.pauli_type}", [ancilla, target.value])
            result.append("MX", [stim.target_inv(ancilla) if _is_negative(group) else ancilla])
    return result


def leaking_surface_code(distance: int, p: float = _P) -> snc.Circuit:
    """A rotated surface code with circuit noise; qubits leak with p/10 wherever they depolarize."""
    code = stim.Circuit.generated(
        "surface_code:rotated_memory_z",
        distance=distance,
        rounds=distance,
        after_clifford_depolarization=p,
        before_round_data_depolarization=p,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
    )
    return with_leakage(code, p / 10)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "table", choices=["cultivation", "clifft", "deltakit"], nargs="?", default="cultivation"
    )
    parser.add_argument("--distances", type=int, nargs="+")
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    print(description(machine()))
    if arguments.table == "cultivation":
        _print_cultivation(arguments.distances or [3, 5], arguments.seconds)
        return
    print("| circuit | simulator | shots/s, one core | ratio |\n|---|---|---|---|")
    if arguments.table == "clifft":
        for distance in arguments.distances or [3]:
            circuit = with_leakage(without_products(cultivation_circuit(distance=distance, p=_P)), _P / 10)
            own: Run = circuit.compile_detector_sampler(postselection_mask="all", seed=1).sample_counts
            _print_two(
                f"cultivation d={distance}", own, "clifft.noncomp", _clifft(circuit), arguments.seconds
            )
    else:
        for distance in arguments.distances or [7]:
            circuit = leaking_surface_code(distance)
            own = circuit.compile_detector_sampler(seed=1).sample_bit_packed
            _print_two(
                f"surface code d={distance}", own, "deltakit-stim", _deltakit(circuit), arguments.seconds
            )


def _print_cultivation(distances: list[int], seconds: float) -> None:
    print(
        "| d | leakage | shots/s, one core | ratio | kept | errors | shots |\n|---|---|---|---|---|---|---|"
    )
    for distance in distances:
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

            rate = rate_of(run, seconds, clock=time.process_time)
            plain = plain or rate
            numbers = f"{rate:.3g}", f"{rate / plain:.2f}", f"{kept / shots:.4f}", total, shots
            cells = distance, name, *numbers
            print("|", " | ".join(map(str, cells)), "|", flush=True)


def _print_two(name: str, own: Run, other_name: str, other: Run, seconds: float) -> None:
    own(1 << 16)  # outcome laws are stored
    rates = [rate_of(run, seconds, most=1 << 20, clock=time.process_time) for run in (other, own)]
    for simulator, rate in zip((other_name, "stim_nonclifford"), rates, strict=True):
        print(f"| {name} | {simulator} | {rate:.3g} | {rate / rates[0]:.3g} |", flush=True)


def _clifft(circuit: snc.Circuit) -> Run:
    noncomp = importlib.import_module("clifft.noncomp")
    mixing = noncomp.PartnerEffect(pauli=(0.25, 0.25, 0.25))
    model = noncomp.Model(
        classifier=noncomp.Classifier([[1, 0, 0.5, 0.5, 0.5], [0, 1, 0.5, 0.5, 0.5]]),
        reset_restores_lost=True,
        gate_partner_effects={"leaked": mixing, "lost": mixing},
    )
    text = str(circuit)
    return lambda shots: noncomp.sample(text, model, shots=shots, seed=1)


def _deltakit(circuit: snc.Circuit) -> Run:
    deltakit_stim = importlib.import_module("deltakit_stim")
    sampler = deltakit_stim.Circuit(str(circuit)).compile_detector_sampler(seed=1)
    return lambda shots: sampler.sample(shots, bit_packed=True)


def _is_negative(group: list[stim.GateTarget]) -> bool:
    return sum(target.is_inverted_result_target for target in group) % 2 == 1


if __name__ == "__main__":
    main()
