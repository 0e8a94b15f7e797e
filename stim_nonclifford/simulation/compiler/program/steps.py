"""The steps of a circuit, which the compiler's two sweeps follow.

Stim's ninety instructions become nine kinds of step (``flattening``), and EXP_VAL a tenth one. Circuits with
leakage have more, which the sweeps pass over (``leakage``), and programs for trajectories have relaxation,
misread records and blocks that records switch as steps of their own. Measurement records have absolute
indices, measurements and rotations stand one by one, and sweep bits are zero. Qubits are numbered as
``program.Program.labels`` lists them: the numbers in the circuit are their labels.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from ..algebra.clifford_gates import CliffordGate
from ..algebra.paulis import Factors
from .channels import Channel


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
class Decide:
    """Flips a record if a decoder says so: what is not known when the circuit is compiled."""

    record: int


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


@dataclass(frozen=True, slots=True)
class ExpectationStep:
    """Asks for the expectation value of a Pauli product, with its sign, at this place; it changes nothing."""

    factors: Factors
    is_negative: bool


@dataclass(frozen=True, slots=True)
class Relaxing:
    """A qubit in |1> decays with probability ``decay``; then it has a Z with probability ``dephasing``."""

    qubit: int
    decay: float
    dephasing: float


@dataclass(frozen=True, slots=True)
class Turning:
    """A qubit turns about Z by an angle that is drawn once for a shot: ``number`` in ``turns.TurnSteps``."""

    qubit: int
    number: int


@dataclass(frozen=True, slots=True)
class Misreading:
    """A record is flipped with probability ``p01`` if the outcome behind it is 0, and ``p10`` if it is 1.

    The outcome is record ⊕ ``inverted``. Records of one ``chain`` mostly differ in few places from one to the
    next, as those of the same qubit do.
    """

    record: int
    inverted: bool
    p01: float
    p10: float
    chain: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Goes on behind the matching ``EndBlock`` if the sum of these records is even; if inverted, odd."""

    records: tuple[int, ...]
    inverted: bool


@dataclass(frozen=True, slots=True)
class BeginAttempts:
    """Attempts begin, of which one may be accepted, up to the matching ``EndBlock``.

    ``num_records`` and ``num_detectors`` come before them.
    """

    num_records: int
    num_detectors: int


@dataclass(frozen=True, slots=True)
class Accept:
    """Ends the attempts. This one becomes the last one: its records and detectors move to their end.

    ``num_records`` and ``num_detectors`` come before the next attempt.
    """

    num_records: int
    num_detectors: int


@dataclass(frozen=True, slots=True)
class EndBlock:
    """Ends what a ``Skip`` or ``BeginAttempts`` has begun."""


@dataclass(frozen=True, slots=True)
class Leaking:
    """A computational qubit leaks; with ``is_loss``, a computational or leaked qubit is lost."""

    qubit: int
    probability: float
    is_loss: bool


@dataclass(frozen=True, slots=True)
class LeakingFromOnes:
    """With a probability, qubits are measured; if all are 1, the first one leaks, and others are 0 then."""

    qubits: tuple[int, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class LeakageReturn:
    """A leaked qubit becomes computational again: completely mixed, or 1."""

    qubit: int
    probability: float
    to_one: bool = False


@dataclass(frozen=True, slots=True)
class Absence:
    """Goes on behind the matching ``EndBlock`` if any of these qubits is leaked or lost."""

    qubits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LeakageSpread:
    """Leakage spreads to a computational partner; with ``moves``, it moves there."""

    source: int
    partner: int
    probability: float
    moves: bool


@dataclass(frozen=True, slots=True)
class LeakageHerald:
    """The record is 1 with ``probability`` if the qubit is leaked (``of_loss``: lost), and 0 otherwise."""

    qubit: int
    record: int
    probability: float
    of_loss: bool


@dataclass(frozen=True, slots=True)
class LeakedFlip:
    """If the qubit is leaked or lost, another one has an X error with a probability."""

    qubit: int
    other: int
    probability: float


@dataclass(frozen=True, slots=True)
class Meeting:
    """If any of these qubits is leaked or lost, it is completely mixed from here on, and so are the others.

    If the program has a model of partners for it, the others have Pauli errors instead.
    """

    qubits: tuple[int, ...]


Step = (
    Clifford
    | Rotate
    | Measure
    | Decide
    | Reset
    | Feedback
    | Noise
    | CorrelatedError
    | DetectorStep
    | ObservableStep
    | ExpectationStep
    | Relaxing
    | Turning
    | Misreading
    | Skip
    | BeginAttempts
    | Accept
    | EndBlock
    | Leaking
    | LeakingFromOnes
    | Absence
    | LeakageReturn
    | LeakageSpread
    | LeakageHerald
    | LeakedFlip
    | Meeting
)


def with_meetings(step: Step, stay_lost: Container[int] = ()) -> Iterator[Step]:
    """The step, gate by gate, with the meetings of qubits in it.

    Qubits meet in a gate or measurement of several qubits. A qubit that is measured alone meets nobody, but
    if it is leaked, it must not keep the state into which the measurement puts it. The same holds for the
    reset of a qubit that may stay lost.
    """
    match step:
        case Clifford(gate, groups) if gate.num_qubits > 1:
            for group in groups:
                yield Clifford(gate, (group,))
                yield Meeting(group)
        case Rotate(factors) if len(factors) > 1:
            yield step
            yield Meeting(tuple(qubit for qubit, _ in factors))
        case Measure(factors, _, _, _, False) if factors:
            yield step
            yield Meeting(tuple(qubit for qubit, _ in factors))
        case Reset(qubit) | Measure(((qubit, _),), resets=True) if qubit in stay_lost:
            yield step
            yield Meeting((qubit,))
        case _:
            yield step
