"""Decoded logical error rates of several codes, each against plain shots at two strengths of noise.

    python -m benchmarks.rates.decoded_codes
    python -m benchmarks.rates.decoded_codes --codes toric xzzx --seeds 1 2 3 --shots 1000000

A row has the rate that ``logical_error_rates`` finds for a family of two circuits, the rate among shots of
Stim's sampler that the same decoder has decoded, and their difference in combined standard errors: for any
observable, and the largest one for each of several. The bivariate bicycle code takes minutes, and needs the
packages stimbposd and ldpc; without them, it is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

import stim_nonclifford as snc
from benchmarks.rates.code_circuits import toric
from examples.bivariate_bicycle import BeliefDecoder, bivariate_bicycle_memory
from examples.gap_calibration import color_code
from stim_nonclifford.rates.decoding.decoders import decoder_named

_BATCH = 100_000


@dataclass(frozen=True)
class Family:
    """Circuits of a code, which differ in the strength of their noise.

    Attributes:
        circuit: The circuit of a strength.
        strengths: Two strengths at which plain shots are affordable.
        decoder: A name, or a function that makes the decoder.
        needs: A module that it needs.
        shots: How many plain shots are affordable; None: any number.
        relative_error: How well its rates can be known in minutes.
    """

    circuit: Callable[[float], stim.Circuit]
    strengths: tuple[float, float]
    decoder: str | Callable[[], Any] = "pymatching"
    needs: str = "pymatching"
    shots: int | None = None
    relative_error: float = 0.0


def generated_memory(task: str, distance: int, p: float) -> stim.Circuit:
    """A memory circuit of Stim, of as many rounds as its distance, with noise of strength p everywhere."""
    return stim.Circuit.generated(
        task,
        distance=distance,
        rounds=distance,
        after_clifford_depolarization=p,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
        before_round_data_depolarization=p,
    )


def _generated(task: str, distance: int) -> Callable[[float], stim.Circuit]:
    return partial(generated_memory, task, distance)


def xzzx_memory(distance: int, p: float, bias: float = 10.0) -> stim.Circuit:
    """The XZZX code under dephasing: data qubits before each round, readouts and resets have errors.

    Hadamards on one sublattice make it the rotated surface code, and exchange X and Z errors there.

    Args:
        distance: The distance, and the number of rounds.
        p: Probability of an error of a data qubit in a round, of a readout, and of a reset.
        bias: How many times as likely Z is as X and Y together.

    Returns:
        The circuit, with one observable.

    Examples:
        >>> xzzx_memory(3, 0.01).num_observables
        1
    """
    plain = stim.Circuit.generated(
        "surface_code:rotated_memory_z",
        distance=distance,
        rounds=distance,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
        before_round_data_depolarization=p,
    ).flattened()
    coordinates = plain.get_final_qubit_coordinates()
    frequent, rare = p * bias / (bias + 1), p / (bias + 1) / 2
    found = stim.Circuit()
    for instruction in plain:
        if instruction.name != "DEPOLARIZE1":
            found.append(instruction)
            continue
        for target in instruction.targets_copy():
            is_turned = sum(coordinates[target.value]) % 4 == 0
            law = (frequent, rare, rare) if is_turned else (rare, rare, frequent)
            found.append("PAULI_CHANNEL_1", [target.value], law)
    return found


def toric_memory(length: int, p: float) -> stim.Circuit:
    """Both logical qubits of the toric code, in the Z basis, under circuit noise.

    Args:
        length: The length of the torus, and the number of rounds.
        p: The strength of the noise after gates and resets, and before readouts.

    Returns:
        The circuit, with two observables.

    Examples:
        >>> toric_memory(3, 0.001).num_observables
        2
    """
    code = toric(length)
    data, checks = range(code.size), (*code.z_checks, *code.x_checks)
    ancillas = range(code.size, code.size + len(checks))
    of_x = ancillas[len(code.z_checks) :]
    circuit = stim.Circuit()
    circuit.append("R", data)
    circuit.append("X_ERROR", data, p)
    for number in range(length):
        circuit.append("DEPOLARIZE1", data, p)
        circuit.append("R", ancillas)
        circuit.append("X_ERROR", ancillas, p)
        circuit.append("H", of_x)
        for ancilla, check in zip(ancillas, checks, strict=True):
            for qubit in sorted(check):
                pair = [ancilla, qubit] if ancilla in of_x else [qubit, ancilla]
                circuit.append("CX", pair)
                circuit.append("DEPOLARIZE2", pair, p)
        circuit.append("H", of_x)
        circuit.append("X_ERROR", ancillas, p)
        circuit.append("M", ancillas)
        for k in range(len(code.z_checks) if number == 0 else len(checks)):
            now = k - len(checks)
            before = [] if number == 0 else [stim.target_rec(now - len(checks))]
            circuit.append("DETECTOR", [stim.target_rec(now), *before])
    circuit.append("X_ERROR", data, p)
    circuit.append("M", data)
    for k, check in enumerate(code.z_checks):
        readouts = [stim.target_rec(qubit - code.size) for qubit in sorted(check)]
        circuit.append("DETECTOR", [*readouts, stim.target_rec(k - len(checks) - code.size)])
    for number in range(2):
        loop = [2 * k * (length if number == 0 else 1) + number for k in range(length)]
        circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(q - code.size) for q in loop], number)
    return circuit


def _bicycle(p: float) -> stim.Circuit:
    return bivariate_bicycle_memory(p, rounds=2).to_stim()


def _bicycle_decoder() -> BeliefDecoder:
    """BP+OSD with one set of priors: with those of each circuit, hardly any fault set fails in two levels."""
    return BeliefDecoder(_bicycle(2e-3).detector_error_model())


CODES = {
    "repetition, d=5": Family(_generated("repetition_code:memory", 5), (2e-2, 1e-2)),
    "rotated, d=3": Family(_generated("surface_code:rotated_memory_z", 3), (4e-3, 2e-3)),
    "rotated, correlated matching, d=3": Family(
        _generated("surface_code:rotated_memory_z", 3), (4e-3, 2e-3), "pymatching-correlated"
    ),
    "rotated, memory X, d=3": Family(_generated("surface_code:rotated_memory_x", 3), (4e-3, 2e-3)),
    "unrotated, d=3": Family(_generated("surface_code:unrotated_memory_z", 3), (3e-3, 1.5e-3)),
    "xzzx, d=3": Family(lambda p: xzzx_memory(3, p), (2e-2, 1e-2)),
    "xzzx, d=5": Family(lambda p: xzzx_memory(5, p), (2e-2, 1.2e-2)),
    "toric, L=3": Family(lambda p: toric_memory(3, p), (3e-3, 1.5e-3)),
    "color, d=3": Family(partial(color_code, 3), (6e-3, 3e-3), "chromobius", "chromobius"),
    "color, d=5": Family(partial(color_code, 5), (1.2e-2, 8e-3), "chromobius", "chromobius"),
    "bivariate bicycle [[72,12,6]]": Family(
        _bicycle, (3e-3, 1.5e-3), _bicycle_decoder, "stimbposd", shots=20_000, relative_error=0.15
    ),
}
"""Codes and the strengths of their noise."""


def count_errors(
    circuit: stim.Circuit, shots: int, seed: int, decoder: str | Callable[[], Any] = "pymatching"
) -> npt.NDArray[np.int64]:
    """How many of so many plain shots a decoder gets wrong.

    Args:
        circuit: The circuit.
        shots: The number of shots.
        seed: Of Stim's sampler.
        decoder: As of a ``Family``.

    Returns:
        int64, shape (1 + observables,): the number of shots with any observable wrong, and with each.

    Examples:
        >>> count_errors(toric_memory(2, 0.001), 100, seed=1).shape
        (3,)
    """
    sampler = circuit.compile_detector_sampler(seed=seed)
    made = decoder_named(decoder) if isinstance(decoder, str) else decoder()
    is_matching = decoder in ("pymatching", "pymatching-correlated")
    model = circuit.detector_error_model(decompose_errors=is_matching)
    compiled = made.compile_decoder_for_dem(dem=model)
    errors = np.zeros(1 + circuit.num_observables, dtype=np.int64)
    for begin in range(0, shots, _BATCH):
        dets, flips = sampler.sample(min(_BATCH, shots - begin), separate_observables=True, bit_packed=True)
        predicted = compiled.decode_shots_bit_packed(bit_packed_detection_event_data=dets)
        wrong = np.unpackbits(predicted ^ flips, axis=1, count=circuit.num_observables, bitorder="little")
        errors += [wrong.any(axis=1).sum(), *wrong.sum(axis=0, dtype=np.int64)]
    return errors


def _z(rate: float, error: float, counted: float, shots: int) -> float:
    spread = math.sqrt(max(counted, 1 / shots) * (1 - counted) / shots)
    return (rate - counted) / math.hypot(spread, error)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each code, strength and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--codes", nargs="+", default=list(CODES), help="beginnings of their names")
    parser.add_argument("--relative_error", type=float, default=0.03)
    parser.add_argument("--shots", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args(arguments)
    print(
        "| code | p | computed | processor time of the family | counted | z | of each |\n"
        + 7 * "| --- "
        + "|"
    )
    for name, family in CODES.items():
        if not name.startswith(tuple(options.codes)) or importlib.util.find_spec(family.needs) is None:
            continue
        circuits = [family.circuit(p) for p in family.strengths]
        shots = min(options.shots, family.shots or options.shots)
        counts = [
            count_errors(circuit, shots, 1000 + k, family.decoder) for k, circuit in enumerate(circuits)
        ]
        for seed in options.seeds:
            begin = time.process_time()
            rates = snc.logical_error_rates(
                [snc.Circuit(circuit) for circuit in circuits],
                decoder=family.decoder if isinstance(family.decoder, str) else family.decoder(),
                relative_error=max(options.relative_error, family.relative_error),
                seed=seed,
            )
            seconds = time.process_time() - begin
            for p, rate, count in zip(family.strengths, rates, counts, strict=True):
                counted = count / shots
                found, error = rate.logical_error_rate, rate.logical_error_rate * rate.relative_error
                spread = math.sqrt(counted[0] * (1 - counted[0]) / shots)
                each = [
                    _z(one, spread_of_one, share, shots)
                    for one, spread_of_one, share in zip(
                        rate.observable_rates, rate.observable_errors, counted[1:], strict=True
                    )
                ]
                print(
                    f"| {name} | {p:g} | {found:.4g} ± {error:.1g} | {seconds:.1f} s"
                    f" | {counted[0]:.4g} ± {spread:.1g} | {_z(found, error, counted[0], shots):+.1f}"
                    f" | {f'{max(each, key=abs):+.1f}' if len(each) > 1 else ''} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
