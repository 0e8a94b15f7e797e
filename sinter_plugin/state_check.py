"""Checks a logical state after decoding: its fidelity in the frame that the decoder predicts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import stim
from numpy.typing import NDArray

import stim_nonclifford as snc

__all__ = ["LogicalStateCheck", "frame_circuit"]

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_MIXING = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


@dataclass(frozen=True)
class LogicalStateCheck:
    r"""A check of a logical qubit by expectation values, without a measurement of all its qubits.

    The circuit asks for the expectation values of logical Paulis P_j with ``EXP_VAL``, and has an observable
    for each of them: the records that say in which frame P_j is, and P_j itself as Pauli targets. So a
    decoder predicts whether P_j is flipped. With f_j the flip of the records and d_j the prediction, the
    state of the shot has, in the decoded frame, the expectation values v_j = (-1)^(f_j + d_j) <P_j>, and the
    fidelity F = (1 + Σ_j w_j v_j) / 2, where w is the Bloch vector of the wanted state. The check of a T
    state by X_L and Y_L has w = (1/√2, 1/√2). A check by Y_L alone, which takes it for granted that the shot
    has the state or the one with the other sign of Y_L, has w = √2. F is clipped to [0, 1].

    A kept shot is an error with probability 1 - F. This bit is drawn for each shot, so that Sinter can count
    it; it depends on the seed and the number of the shot alone.

    Attributes:
        expectation_values: The numbers of the expectation values, in the order of the circuit.
        observables: For each of them, the observable that belongs to it.
        weights: For each of them, w_j. Signs are relative to the noiseless reference sample.

    Examples:
        >>> check = LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))
        >>> values = np.array([[0.5**0.5, 0.5**0.5], [0.5**0.5, -(0.5**0.5)]])
        >>> frames = np.array([[0], [0]], dtype=np.uint8)
        >>> check.fidelities(values, frames).round(3)
        array([1. , 0.5])
        >>> check.fidelities(values, frames ^ np.uint8(0b10)).round(3)  # the decoder predicts a flip of Y
        array([0.5, 1. ])
    """

    expectation_values: tuple[int, ...]
    observables: tuple[int, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        """Checks the lengths and the numbers.

        Raises:
            ValueError: The tuples are empty or differ in length, or a number is out of range.
        """
        lengths = {len(self.expectation_values), len(self.observables), len(self.weights)}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(
                "A LogicalStateCheck has one observable and one weight for each expectation value; got"
                f" {len(self.expectation_values)} expectation values, {len(self.observables)} observables and"
                f" {len(self.weights)} weights."
            )
        if not all(math.isfinite(weight) for weight in self.weights):
            raise ValueError(f"The weights of a LogicalStateCheck must be finite, but are {self.weights}.")
        if min(*self.expectation_values, *self.observables) < 0:
            raise ValueError("Expectation values and observables are numbered from 0.")

    def check_circuit(self, circuit: snc.Circuit) -> None:
        """Checks that the circuit has what the check needs.

        Raises:
            ValueError: An expectation value or an observable is missing, or the observable has no Pauli
                targets.
        """
        last = max(self.expectation_values)
        if last >= circuit.num_expectation_values:
            raise ValueError(
                f"The state check needs expectation value {last}, but the circuit has"
                f" {circuit.num_expectation_values}. Ask for them with EXP_VAL."
            )
        missing = set(self.observables) - _with_paulis(circuit.to_stim())
        if missing:
            raise ValueError(
                f"Observable {min(missing)} has no Pauli targets, so that no decoder can say whether its"
                " expectation value is flipped. Add OBSERVABLE_INCLUDE with the Pauli product of the EXP_VAL,"
                " at its place, instead of the record of a measurement."
            )

    def fidelities(self, values: NDArray[np.float64], frames: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The fidelities of shots.

        Args:
            values: float64, shape (shots, num_expectation_values).
            frames: uint8, shape (shots, ceil(num_observables / 8)): flips of the records of the observables,
                XOR the predictions.

        Returns:
            float64, shape (shots,).
        """
        total = np.zeros(len(values))
        for number, observable, weight in zip(
            self.expectation_values, self.observables, self.weights, strict=True
        ):
            flipped = frames[:, observable // 8] >> (observable % 8) & 1
            total += weight * values[:, number] * (1 - 2.0 * flipped)
        return np.clip((1 + total) / 2, 0, 1)

    def failures(
        self,
        values: NDArray[np.float64],
        frames: NDArray[np.uint8],
        seed: int,
        shot_numbers: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Draws for each shot whether the check fails, with probability 1 - F.

        Args:
            values: As for ``fidelities``.
            frames: As for ``fidelities``.
            seed: The seed, in range(2**64).
            shot_numbers: int64, shape (shots,).

        Returns:
            bool, shape (shots,).
        """
        return _uniform(seed, shot_numbers) >= self.fidelities(values, frames)


def frame_circuit(circuit: snc.Circuit) -> snc.Circuit:
    r"""The circuit whose observables are sums of records alone.

    Args:
        circuit: A circuit whose observables may have Pauli targets.

    Returns:
        The circuit without Pauli targets of observables.

    Examples:
        >>> print(frame_circuit(snc.Circuit("MX 0\nOBSERVABLE_INCLUDE(0) rec[-1] X1 Z2\nT 1")))
        MX 0
        OBSERVABLE_INCLUDE(0) rec[-1]
        T 1
    """
    return snc.Circuit(_without_paulis(circuit.to_stim()))


def _without_paulis(circuit: stim.Circuit) -> stim.Circuit:
    result = stim.Circuit()
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            body = _without_paulis(instruction.body_copy())
            result.append(stim.CircuitRepeatBlock(instruction.repeat_count, body, tag=instruction.tag))
        elif instruction.name == "OBSERVABLE_INCLUDE":
            targets = instruction.targets_copy()
            records = [target for target in targets if target.is_measurement_record_target]
            arguments = instruction.gate_args_copy()
            result.append(instruction.name, records, arguments, tag=instruction.tag)
        else:
            result.append(instruction)
    return result


def _with_paulis(circuit: stim.Circuit) -> set[int]:
    """The observables that have Pauli targets."""
    found = set()
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            found |= _with_paulis(instruction.body_copy())
        elif instruction.name == "OBSERVABLE_INCLUDE" and any(
            not target.is_measurement_record_target for target in instruction.targets_copy()
        ):
            found.add(int(instruction.gate_args_copy()[0]))
    return found


def _uniform(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """A number in [0, 1) for each shot, by splitmix64 of the seed and the number of the shot."""
    value: NDArray[np.uint64] = np.full(len(numbers), seed, dtype=np.uint64)
    for words in (np.uint64(0), numbers.astype(np.uint64)):
        value = (value ^ words) + _INCREMENT
        for shift, multiplier in _MIXING:
            value ^= value >> shift
            value *= multiplier
        value ^= value >> np.uint64(31)
    return (value >> np.uint64(11)).astype(np.float64) * 2.0**-53
