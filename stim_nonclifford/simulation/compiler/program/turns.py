"""Turns by quasi-static noise, whose angle is drawn once for each shot and qubit.

An engine that follows each shot draws the angle. In a plan, the bits of a few ancillas say which angle it is:
noise flips them at the beginning, and rotations about products with their Zs add up to the angle, so that
nothing becomes wider.

A normal deviate has the nodes x of a Gauss-Hermite rule with n points in its place, and their weights. A
probability is a trigonometric polynomial in x, with no frequency above θ, which is π times the sum of all
standard deviations of a qubit in half-turns. By Bernstein's inequality its derivative of order 2n is at most
θ^2n / 2, so that the mean is right to θ^2n n! / 2 (2n)!.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import stim

from ....dialect import Quasistatic, quasistatic_of
from ..algebra.paulis import Factors, X, Z
from .channels import Channel, channel_of_patterns

TOLERANCE = 1e-9
"""How far the mean over the nodes may be from that over all values, for each qubit."""

_MOST_BITS = 6
_NOTHING = 1e-15
"""Shares of an angle that are smaller are rounded zeros."""

Variable = tuple[int, bool]
"""A qubit, and whether it is a list of values that is drawn for it; otherwise it is a normal deviate."""


def _error(angle: float, bits: int) -> float:
    """The largest error of a rule with 2^bits nodes for turns that add up to so many half-turns."""
    points = 1 << bits
    if not angle:
        return 0.0
    exponent = 2 * points * math.log(math.pi * angle) + math.lgamma(points + 1) - math.lgamma(2 * points + 1)
    return math.exp(min(exponent, 0.0)) / 2


MOST_TURNED = next(a / 100 for a in range(1000, 0, -1) if _error(a / 100, _MOST_BITS) <= TOLERANCE)
"""In half-turns: what the standard deviations of a qubit may add up to in a plan."""


@dataclass(frozen=True)
class _Values:
    """What is drawn for a variable in a plan: values, each with a weight; their number is a power of two."""

    values: npt.NDArray[np.float64]  # of a list, the numbers of its angles
    weights: npt.NDArray[np.float64]

    @property
    def bits(self) -> int:
        return (len(self.values) - 1).bit_length()

    @property
    def channel(self) -> Channel:
        """The noise that flips the bits: an X on the ancilla of each bit."""
        patterns = [
            (sum(X << 2 * k for k in range(self.bits) if number >> k & 1), float(weight))
            for number, weight in enumerate(self.weights)
        ]
        return channel_of_patterns(tuple(patterns[1:]))


def _padded(values: Sequence[float], size: int) -> npt.NDArray[np.float64]:
    return np.concatenate([values, np.zeros(size - len(values))])


def _normal_values(angle: float) -> _Values:
    """The nodes of a rule that is right for these turns. The last bit of a number is the sign."""
    bits = next((bits for bits in range(1, _MOST_BITS) if _error(angle, bits) <= TOLERANCE), _MOST_BITS)
    nodes, weights = np.polynomial.hermite_e.hermegauss(1 << bits)
    half = len(nodes) // 2
    positive, shares = nodes[half:], weights[half:] / weights.sum()
    return _Values(np.concatenate([positive, -positive]), np.concatenate([shares, shares]))


@dataclass
class Turns:
    """The turns of a circuit."""

    weights: dict[int, tuple[float, ...]] = field(default_factory=dict)  # of lists, by qubit
    # by qubit, the sum of the standard deviations in half-turns, with REPEAT blocks unrolled
    angles: dict[int, float] = field(default_factory=dict)

    def add(self, channel: Quasistatic, qubits: Iterable[int], repetitions: int = 1) -> None:
        """Adds an instruction."""
        for qubit in qubits:
            if not channel.weights:
                more = repetitions * abs(channel.angles[0])
                self.angles[qubit] = self.angles.get(qubit, 0.0) + more
            elif self.weights.setdefault(qubit, channel.weights) != channel.weights:
                raise ValueError(
                    f"QUASISTATIC_VALUES of qubit {qubit} has the probabilities {self.weights[qubit]} at one"
                    f" place and {channel.weights} at another one. One of the angles is drawn for all places"
                    " of a qubit: give each list the same probabilities, in the same order."
                )

    def add_block(self, block: Turns, repetitions: int) -> None:
        """Adds the turns of a block that is repeated."""
        for qubit, angle in block.angles.items():
            self.angles[qubit] = self.angles.get(qubit, 0.0) + repetitions * angle
        for qubit, weights in block.weights.items():
            self.add(Quasistatic("", tuple(part for p in weights for part in (0.0, p))), [qubit])

    def __bool__(self) -> bool:
        return bool(self.weights or self.angles)

    @property
    def too_far(self) -> int | None:
        """A qubit that turns too far for a plan, or None."""
        return next((qubit for qubit, angle in self.angles.items() if angle > MOST_TURNED), None)

    @property
    def variables(self) -> list[Variable]:
        """What is drawn for a shot."""
        return [*((qubit, False) for qubit in self.angles), *((qubit, True) for qubit in self.weights)]

    def values(self, variable: Variable) -> _Values:
        """What is drawn for a variable in a plan."""
        qubit, is_list = variable
        if not is_list:
            return _normal_values(self.angles[qubit])
        weights = self.weights[qubit]
        size = 1 << (len(weights) - 1).bit_length()
        return _Values(np.arange(size, dtype=np.float64), _padded(weights, size))

    def steps(self, first_ancilla: int | None, numbers: Mapping[int, int]) -> TurnSteps:
        """What they become in a program; see ``TurnSteps``."""
        return TurnSteps(self, first_ancilla, numbers)

    @property
    def num_ancillas(self) -> int:
        """How many ancillas a plan has for them."""
        return sum(self.values(variable).bits for variable in self.variables)


class TurnSteps:
    """What turns become in a program.

    Args:
        turns: The turns of the circuit.
        first_ancilla: The number of the first ancilla; None if the program is for trajectories.
        numbers: The numbers of qubits, by label.
    """

    def __init__(self, turns: Turns, first_ancilla: int | None, numbers: Mapping[int, int]) -> None:
        self.too_far = turns.too_far
        self._variables = {variable: k for k, variable in enumerate(turns.variables)}
        self.weights = [turns.weights[qubit] if is_list else () for qubit, is_list in self._variables]
        self.tables: dict[tuple[int, tuple[float, ...]], int] = {}
        self._numbers = numbers
        self._ancillas: list[tuple[int, ...]] = []
        self._values: list[_Values] = []
        if first_ancilla is None:
            return
        for variable in self._variables:
            found = turns.values(variable)
            self._ancillas.append(tuple(range(first_ancilla, first_ancilla + found.bits)))
            self._values.append(found)
            first_ancilla += found.bits

    @property
    def reason(self) -> str:
        """Why there is no plan if a qubit turns too far."""
        return (
            f"the standard deviations of qubit {self.too_far} add up to more than {MOST_TURNED:g} half-turns,"
            f" and a plan has no {1 << _MOST_BITS} values that stand for all to {TOLERANCE:g}"
        )

    def draws(self) -> list[tuple[Channel, tuple[int, ...]]]:
        """The noise at the beginning, and the ancillas on which it acts."""
        pairs = zip(self._values, self._ancillas, strict=True)
        return [(values.channel, ancillas) for values, ancillas in pairs if ancillas]

    def table_of(self, channel: Quasistatic, label: int) -> int:
        """The number of a turn in the tables for trajectories."""
        variable = self._variables[label, bool(channel.weights)]
        return self.tables.setdefault((variable, channel.angles), len(self.tables))

    def rotations(self, channel: Quasistatic, label: int) -> list[tuple[Factors, float]]:
        """The rotations that add up to a turn, with their half-turns."""
        number = self._variables[label, bool(channel.weights)]
        drawn, ancillas = self._values[number], self._ancillas[number]
        size = len(drawn.values)
        angles = _padded(channel.angles, size) if channel.weights else channel.angles[0] * drawn.values
        found = []
        for subset, share in enumerate(_walsh(angles)):
            if abs(share) > _NOTHING * np.abs(angles).max():
                others = tuple((ancilla, Z) for k, ancilla in enumerate(ancillas) if subset >> k & 1)
                found.append((((self._numbers[label], Z), *others), float(share)))
        return found


def _walsh(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The coefficients c with values[b] = the sum of c[s] (-1)^(b·s) over all s."""
    found = values
    for _ in range((len(values) - 1).bit_length()):
        even, odd = found[0::2], found[1::2]
        found = np.concatenate([even + odd, even - odd]) / 2
    return found


def add_turns(turns: Turns, instruction: stim.CircuitInstruction) -> bool:
    """Adds an instruction, if it is quasi-static noise; whether it is."""
    channel = quasistatic_of(instruction)
    if channel is not None:
        turns.add(channel, [target.value for target in instruction.targets_copy()])
    return channel is not None
