"""The check of a logical qubit's state by expectation values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import stim
from numpy.typing import NDArray

from ...base import arguments
from ...base.random_bits import GOLDEN, mixed
from ...dialect import num_expectations
from .operators import expected_paulis, observable_paulis, shown_product

TOLERANCE = 1e-9
"""Rounding may take the length of a Bloch vector, or a fidelity, so far beyond 1 or below 0."""


class _HasStim(Protocol):
    def to_stim(self) -> stim.Circuit: ...


@dataclass(frozen=True)
class StateTerm:
    """One Pauli of a check."""

    number: int  # the number of the expectation value
    product: stim.PauliString  # the Pauli product of the EXP_VAL, with its sign
    weight: float  # the component of the Bloch vector, not 0
    observable: int | None  # the observable that says whether the product is flipped, or None


@dataclass(frozen=True)
class LogicalStateCheck:
    r"""A check of a logical qubit by expectation values, without a measurement of all its qubits.

    The circuit asks for the expectation values of logical Paulis P_j with ``EXP_VAL``, and has an observable
    for each of them: the records that say in which frame P_j is, and P_j itself as Pauli targets. So a
    decoder predicts whether P_j is flipped. With f_j the flip of the records and d_j the prediction, the
    state of the shot has, in the decoded frame, the expectation values v_j = (-1)^(f_j + d_j) <P_j>, and the
    fidelity F = (1 + Σ_j w_j v_j) / 2, where w is the Bloch vector of the wanted state. The check of a T
    state by X_L and Y_L has w = (1/√2, 1/√2).

    A kept shot is an error with probability 1 - F. This bit is drawn for each shot, so that Sinter can count
    it; it depends on the seed and the number of the shot alone.

    A check by one Pauli alone, with a weight above 1, takes it for granted that without errors the Pauli has
    the value 1/w, and that every shot has this value, its opposite, or 0. The check of a T state by Y_L alone
    has w = √2. In a shot with any other value, F would not be a probability: then the check refuses.

    Attributes:
        expectation_values: The numbers of the expectation values, in the order of the circuit.
        observables: For each of them, the observable that belongs to it. Or ``()``, if the circuit has no
            such observables: then nothing is decoded.
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
        """Checks the lengths and the numbers."""
        for name in ("expectation_values", "observables"):
            arguments.check_types(getattr(self, name), name, "a tuple of integers", tuple, list)
            for each in getattr(self, name):
                arguments.integer(each, f"Each of {name}")
        arguments.check_types(self.weights, "weights", "a tuple of numbers", tuple, list)
        for weight in self.weights:
            arguments.number(weight, "Each of weights")
        lengths = {len(self.expectation_values), len(self.weights)}
        if self.observables:
            lengths.add(len(self.observables))
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(
                "A LogicalStateCheck has one observable and one weight for each expectation value; got"
                f" {len(self.expectation_values)} expectation values, {len(self.observables)} observables and"
                f" {len(self.weights)} weights."
            )
        length = math.hypot(*self.weights)
        alone = sum(weight != 0 for weight in self.weights) == 1
        if abs(length - 1) > TOLERANCE and not (alone and length > 1):
            scaled = tuple(weight / length for weight in self.weights) if length else "none"
            raise ValueError(
                "The weights of a LogicalStateCheck are the Bloch vector of a state, whose length is 1, but"
                f" {self.weights} has length {length:.9g}. The T state has (0.5**0.5, 0.5**0.5), and the"
                f" state in this direction {scaled}. Only a check by one Pauli may have a weight above 1."
            )

    def check_circuit(self, circuit: stim.Circuit | _HasStim) -> None:
        """Checks that the circuit has what the check needs.

        Args:
            circuit: A ``Circuit``, or a ``stim.Circuit`` with tags.

        Raises:
            ValueError: An expectation value or an observable is missing, the observable has no Pauli targets,
                or these are not logical Paulis of one qubit that belong together.
        """
        terms_of(self, circuit if isinstance(circuit, stim.Circuit) else circuit.to_stim())

    def fidelities(self, values: NDArray[np.float64], frames: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The fidelities of shots.

        Args:
            values: float64, shape (shots, num_expectation_values).
            frames: uint8, shape (shots, ceil(num_observables / 8)): flips of the records of the observables,
                XOR the predictions. Without observables, it is not looked at.

        Returns:
            float64, shape (shots,).

        Raises:
            ValueError: The state of a shot has no fidelity, as the check by one Pauli with a weight above 1
                takes for granted what is not so.
        """
        total = np.zeros(len(values))
        observables = self.observables or (-1,) * len(self.weights)
        for number, observable, weight in zip(
            self.expectation_values, observables, self.weights, strict=True
        ):
            signs = np.ones(len(values))
            if observable >= 0:
                signs -= 2.0 * (frames[:, observable // 8] >> (observable % 8) & 1)
            total += weight * values[:, number] * signs
        wrong = np.flatnonzero(np.abs(total) > 1 + TOLERANCE)
        if len(wrong):
            number, weight = max(
                zip(self.expectation_values, self.weights, strict=True), key=lambda each: abs(each[1])
            )
            raise ValueError(
                f"The check by expectation value {number} alone takes it for granted that its size is"
                f" {1 / abs(weight):.6g} or 0 in every shot, but it is"
                f" {abs(float(values[wrong[0], number])):.6g} in shot {wrong[0]} of {len(values)}. Check all"
                " components of the state: a T state by X and Y with the weights (0.5**0.5, 0.5**0.5)."
            )
        return (1 + total) / 2

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

        Raises:
            ValueError: As ``fidelities``.
        """
        return _uniform(seed, shot_numbers) >= self.fidelities(values, frames)


def terms_of(check: LogicalStateCheck, circuit: stim.Circuit) -> list[StateTerm]:
    """The Paulis of a check with weights other than 0, as a circuit has them."""
    count, last = num_expectations(circuit), max(check.expectation_values)
    if last >= count:
        raise ValueError(
            f"The state check needs expectation value {last}, but the circuit has {count}. Ask for them"
            " with EXP_VAL."
        )
    wanted = set(check.expectation_values)
    numbered = zip(range(last + 1), expected_paulis(circuit), strict=False)
    products = {k: product for k, product in numbered if k in wanted}
    paulis = observable_paulis(circuit)
    observables = check.observables or (None,) * len(check.weights)
    found = [
        StateTerm(value, products[value], weight, observable)
        for value, observable, weight in zip(
            check.expectation_values, observables, check.weights, strict=True
        )
        if weight != 0
    ]
    for term in found:
        if term.observable is not None and term.observable not in paulis:
            raise ValueError(
                f"Observable {term.observable} has no Pauli targets, so that no decoder can say whether"
                " its expectation value is flipped. Add OBSERVABLE_INCLUDE with the Pauli product of the"
                " EXP_VAL, at its place, instead of the record of a measurement."
            )
    _check_algebra(found, paulis)
    return found


def _check_algebra(terms: list[StateTerm], paulis: dict[int, stim.PauliString]) -> None:
    """Checks that the products are logical Paulis of one qubit, and that each has its own observable."""
    for k, term in enumerate(terms):
        for other in terms[:k]:
            if term.product.commutes(other.product):
                raise ValueError(
                    f"The expectation values of {shown_product(other.product)} and"
                    f" {shown_product(term.product)} are not those of two logical Paulis of one qubit, which"
                    " anticommute. The state check needs two of X, Y and Z of the same logical qubit."
                )
        if term.observable is None:
            continue
        pauli = paulis[term.observable]
        others = [each for each in terms if each is not term]
        if not pauli.commutes(term.product) or any(pauli.commutes(each.product) for each in others):
            raise ValueError(
                f"Observable {term.observable} has the Pauli targets {shown_product(pauli)}, which do not"
                f" belong to the expectation value of {shown_product(term.product)}. The observables of a"
                " state check have the order of its expectation values."
            )


def _uniform(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """A number in [0, 1) for each shot, by splitmix64 of the seed and the number of the shot."""
    value: NDArray[np.uint64] = np.full(len(numbers), seed, dtype=np.uint64)
    for words in (np.uint64(0), numbers.astype(np.uint64)):
        value = mixed((value ^ words) + np.uint64(GOLDEN))
    return (value >> np.uint64(11)).astype(np.float64) * 2.0**-53
