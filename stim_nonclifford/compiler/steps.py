"""The circuit as a flat list of steps: what the compiler's two sweeps read.

Stim's ninety instructions become nine kinds of step (``flattening``). Measurement records have absolute
indices, loops are unrolled, measurements and rotations stand one by one, and sweep bits are zero. Qubits are
numbered as ``Program.labels`` lists them: the numbers in the circuit are their labels.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import stim

from .channels import Channel
from .clifford_gates import CliffordGate
from .paulis import Factors

__all__ = [
    "Clifford",
    "CorrelatedError",
    "DetectorStep",
    "Feedback",
    "Measure",
    "Noise",
    "ObservableStep",
    "Program",
    "Reset",
    "Rotate",
    "Step",
]


@dataclass(frozen=True, slots=True)
class Clifford:
    """A Clifford gate, applied to one group of targets after the other."""

    gate: CliffordGate
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Rotate:
    """exp(-i π/2 a P) with ``half_turns`` a, not a multiple of 1/2."""

    factors: Factors
    half_turns: float


@dataclass(frozen=True, slots=True)
class Measure:
    """A Pauli product measurement.

    ``record`` is outcome ⊕ ``inverted`` ⊕ readout flip (with ``flip_probability``). With ``resets``, the
    (single) qubit is then put into the +1 eigenstate of the measured Pauli.
    """

    factors: Factors
    record: int
    inverted: bool
    flip_probability: float
    resets: bool


@dataclass(frozen=True, slots=True)
class Reset:
    """Puts a qubit into the +1 eigenstate of a Pauli (code)."""

    qubit: int
    pauli: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """Applies a Pauli (code) to a qubit if the record is 1."""

    record: int
    qubit: int
    pauli: int


@dataclass(frozen=True, slots=True)
class Noise:
    """A noise channel on each group of targets.

    Bit 2k (2k+1) of the channel's patterns is an X (Z) on target k of the group; with ``herald`` the
    next bit flips the record ``first_herald + (index of the group)``.
    """

    channel: Channel
    groups: tuple[tuple[int, ...], ...]
    first_herald: int | None


@dataclass(frozen=True, slots=True)
class CorrelatedError:
    """A Pauli product that happens with ``probability``, excluding all others of the same ``chain``."""

    chain: int
    probability: float
    factors: Factors


@dataclass(frozen=True, slots=True)
class DetectorStep:
    """Detector ``index`` is the parity of these records."""

    index: int
    records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ObservableStep:
    """Adds records, and Paulis (whose anticommuting faults flip it), to observable ``index``."""

    index: int
    records: tuple[int, ...]
    factors: Factors


Step = (
    Clifford | Rotate | Measure | Reset | Feedback | Noise | CorrelatedError | DetectorStep | ObservableStep
)


@dataclass(frozen=True)
class Program:
    """A circuit as steps.

    Attributes:
        steps: The steps in circuit order.
        lines: For each step, the line of its instruction in the printed circuit, counted from 1.
        numbers: For each step, the number of its instruction among the unrolled ones.
        ticks: For each step, the number of TICKs before it, with every iteration of a REPEAT counted.
        sources: For each step, its instruction; those of all iterations are the same object.
        labels: The label of each qubit, ascending: the numbers that occur in the circuit.
        num_records: Length of the measurement record.
        num_detectors: Number of detectors.
        num_observables: Number of observables.
        has_non_clifford_gates: Whether any instruction has a tag that reinterprets it.
    """

    steps: list[Step]
    lines: list[int]
    numbers: array[int]
    ticks: array[int]
    sources: list[stim.CircuitInstruction]
    labels: Sequence[int]
    num_records: int
    num_detectors: int
    num_observables: int
    has_non_clifford_gates: bool

    @property
    def num_qubits(self) -> int:
        """Number of qubits."""
        return len(self.labels)

    def labelled(self, factors: Factors) -> Factors:
        """A Pauli with the labels of its qubits in place of their numbers."""
        return tuple((self.labels[qubit], code) for qubit, code in factors)
