"""Circuits whose cost depends on one thing: the vector's width, the error mechanisms, or a code's size."""

from __future__ import annotations

import numpy as np
import stim

import stim_nonclifford as snc

__all__ = ["many_mechanisms", "memory_circuit", "mirrored", "scrambled"]

_LAYERS = 3
_ROUNDS = 6
"""Rounds of two-qubit gates between layers of T gates, so that every outcome depends on every T gate."""


def scrambled(width: int) -> snc.Circuit:
    """Layers of T gates on all qubits, with random Clifford gates in between; then all qubits are measured.

    Strong noise after the first layer randomizes the signs of the later rotations. The outcomes are random
    too, so in a wide circuit no two shots have the same signature and outcomes.

    Args:
        width: Number of qubits, and of active coordinates.
    """
    qubits = " ".join(map(str, range(width)))
    lines = [f"RX {qubits}", f"T {qubits}", f"DEPOLARIZE1(0.3) {qubits}"]
    for _ in range(_LAYERS - 1):
        lines += [*_scramble(width, len(lines)), f"T {qubits}"]
    return snc.Circuit("\n".join([*lines, *_scramble(width, len(lines)), f"M {qubits}"]))


def mirrored(width: int, p: float) -> snc.Circuit:
    """The layers of ``scrambled``, noise, and the inverse of the layers; one detector per qubit.

    Args:
        width: Number of qubits, and of active coordinates.
        p: Probability of depolarizing noise on each qubit.
    """
    qubits = " ".join(map(str, range(width)))
    lines = [f"T {qubits}"]
    for _ in range(_LAYERS - 1):
        lines += [*_scramble(width, len(lines)), f"T {qubits}"]
    layers = snc.Circuit("\n".join(lines))
    detectors = "".join(f"\nDETECTOR rec[-{k + 1}]" for k in range(width))
    return snc.Circuit(
        f"RX {qubits}\n{layers}\nTICK\nDEPOLARIZE1({p}) {qubits}\nTICK\n{layers.inverse()}\nMX {qubits}"
        f"{detectors}\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )


def many_mechanisms(count: int, p: float) -> snc.Circuit:
    """A circuit of noise alone: independent errors, each of which flips 4 randomly chosen of 64 detectors.

    Args:
        count: Number of errors; those with equal effects are one mechanism.
        p: Probability of each error.
    """
    rng = np.random.default_rng(count)
    qubits = " ".join(map(str, range(64)))
    lines = [f"R {qubits}"]
    for _ in range(count):
        flipped = rng.choice(64, size=4, replace=False)
        lines.append(f"CORRELATED_ERROR({p}) " + " ".join(f"X{q}" for q in flipped))
    lines += [f"M {qubits}", *(f"DETECTOR rec[-{k + 1}]" for k in range(64))]
    return snc.Circuit("\n".join([*lines, "OBSERVABLE_INCLUDE(0) rec[-1]"]))


def memory_circuit(distance: int, p: float, rounds: int | None = None) -> stim.Circuit:
    """A memory experiment with a rotated surface code.

    Args:
        distance: Distance of the code.
        p: Strength of each noise channel: on gates, before measurements and after resets.
        rounds: Number of rounds; by default the distance.
    """
    return stim.Circuit.generated(
        "surface_code:rotated_memory_z",
        distance=distance,
        rounds=rounds or distance,
        after_clifford_depolarization=p,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
    )


def _scramble(width: int, seed: int) -> list[str]:
    rng = np.random.default_rng([width, seed])
    lines = []
    for _ in range(_ROUNDS):
        order = rng.permutation(width)
        pairs = " ".join(map(str, order[: width // 2 * 2]))
        lines += [
            f"CX {pairs}",
            f"SQRT_X {' '.join(map(str, order[::2]))}",
            f"H {' '.join(map(str, order[1::2]))}",
        ]
    return lines
