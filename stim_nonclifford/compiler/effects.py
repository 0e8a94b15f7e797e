"""Effects: the bits that a fault, a random outcome or a coin flips.

Pauli noise, feedback and random outcomes never change which operations a circuit performs. They change only
signs and records. An *effect* is the set of bits that one cause flips, as a Python int. It has one bit per
**output** (detectors and then observables, or records), followed by one bit per **sign** of a rotation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .paulis import Factors

__all__ = ["EffectTable", "Fault", "Outputs"]

Outputs = Literal["detectors", "records"]


@dataclass
class EffectTable:
    """The effects of all random causes.

    Attributes:
        num_outputs: Bits [0, num_outputs) of an effect are outputs.
        num_signs: Bits [num_outputs, num_outputs + num_signs) are signs. The signs of ACTIVATE operations are
            chosen as +, and occur in no effect.
        constant: The effect that is present in every shot.
        rates: Effect -> rate of independent Poisson events.
        sites: For each site, effect -> probability of mutually exclusive events.
        coins: Independent effects, each present with probability 1/2.
        outcomes: For each MEASURE of the forward sweep, the effect if its outcome is 1.
        tosses: For each coin of the forward sweep, the effect if its outcome is 1.
        base_outputs: The outputs on the base path (no noise, all random outcomes 0).
    """

    num_outputs: int
    num_signs: int
    constant: int = 0
    rates: dict[int, float] = field(default_factory=dict)
    sites: list[dict[int, float]] = field(default_factory=list)
    coins: list[int] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)
    tosses: list[int] = field(default_factory=list)
    base_outputs: int = 0


@dataclass(frozen=True)
class Fault:
    """One error at one place of the circuit.

    Attributes:
        step: The index of the step in the program.
        group: The index of the group of targets in the step.
        factors: The Pauli of the fault, on the qubits of the program; empty if it flips only records.
        records: The records that the fault flips directly: readout errors and heralds.
        effect: The effect of the fault.
    """

    step: int
    group: int
    factors: Factors
    records: tuple[int, ...]
    effect: int
