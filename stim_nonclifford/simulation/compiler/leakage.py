"""The scripts of qubits that may leak: what happens to them, and the Paulis that it draws.

Whether a qubit is leaked or lost depends on no quantum state and on no other qubit, and a reset makes it
computational. So the time of each qubit between two resets is a *script*, a Markov chain of its own with the
states computational, leaked and lost, and all scripts are independent. Qubits between which leakage spreads
have a script together, from where the first of them can leak to where all are computational for certain.

Pauli errors stand for a leaked qubit, exactly. A qubit that leaks is completely mixed (a uniformly random
Pauli), and stays so, whatever gates do to it alone. After a gate on it and others, all of them are completely
mixed, whatever the gate does to them: U (I/2 ⊗ ρ) U† with random Paulis on all qubits of U is
I/2 ⊗ I/2 ⊗ tr ρ. After a measurement, which gives a random bit, it is made completely mixed again. With a
model of partners (``LeakageModels``), the leaked qubit alone is mixed after a gate, and the others have Pauli
errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...base.errors import ResourceLimitError
from .algebra.paulis import X, Z
from .program.leakage_steps import LeakageModels
from .program.program import Program
from .program.steps import (
    LeakageHerald,
    LeakageReturn,
    LeakageSpread,
    LeakedFlip,
    Leaking,
    Measure,
    Meeting,
    Reset,
)

COMPUTATIONAL, LEAKED, LOST = 0, 1, 2
"""The states of a qubit. Sets of them are masks: bit k is state k."""

MAX_SCRIPT_ITEMS = 1 << 24
"""Limit for the items of all scripts."""


@dataclass(frozen=True, slots=True)
class InsertedBit:
    """What an item flips: an X or Z of a qubit just before a step, or a record."""

    step: int
    qubit: int  # the qubit, or -1 for a record
    number: int  # the code of the Pauli, or the record


@dataclass(frozen=True, slots=True)
class Change:
    """A qubit in one of ``states`` comes into the state ``to`` with a probability."""

    states: int
    to: int
    probability: float
    qubit: int = 0


@dataclass(frozen=True, slots=True)
class Spread:
    """If the qubit is leaked and the partner computational, the partner leaks with a probability.

    With ``moves``, the qubit becomes computational then.
    """

    partner: int
    probability: float
    moves: bool
    qubit: int = 0


@dataclass(frozen=True, slots=True)
class Flip:
    """For a qubit in one of ``states``, the inserted bit with this number is flipped with a probability."""

    states: int
    bit: int
    probability: float
    qubit: int = 0


@dataclass(frozen=True, slots=True)
class Mix:
    """If the qubit is leaked or lost, each of these inserted bits is flipped with probability 1/2."""

    bits: tuple[int, ...]
    qubit: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """If the qubit is leaked or lost, at most one of these sets of inserted bits is flipped."""

    sets: tuple[tuple[int, ...], ...]
    probabilities: tuple[float, ...]
    qubit: int = 0


ScriptItem = Change | Spread | Flip | Mix | Choice
"""Items name the qubits of their script by numbers from 0 on."""
Script = Sequence[ScriptItem]


@dataclass
class Scripts:
    """The scripts of a circuit."""

    # the scripts, each for one qubit, or for qubits between which leakage spreads, from a place where
    # one of them can leak to where all are computational for certain
    scripts: list[Script] = field(default_factory=list)
    bits: list[InsertedBit] = field(default_factory=list)  # the inserted bits


def scripts_of(program: Program) -> Scripts:
    """Finds the scripts of a circuit."""
    if not program.has_leakage:
        return Scripts()
    finder = _Finder(_groups(program), program.leakage_models)
    for number, step in enumerate(program.steps):
        match step:
            case Leaking(qubit, p, is_loss):
                finder.leak(number, qubit, p, is_loss)
            case LeakageReturn(qubit, p):
                finder.give_back(qubit, p)
            case LeakageSpread(source, partner, p, moves) if source in finder.may_leak and p > 0:
                finder.spread(number, source, partner, p, moves)
            case LeakageHerald(qubit, record, p, of_loss) if qubit in finder.may_leak:
                bit = finder.bit(InsertedBit(number, -1, record))
                finder.add(qubit, Flip(1 << (LOST if of_loss else LEAKED), bit, p, finder.number(qubit)))
            case LeakedFlip(qubit, other, p) if qubit in finder.may_leak and p > 0:
                bit = finder.bit(InsertedBit(number, other, X))
                finder.add(qubit, Flip(1 << LEAKED | 1 << LOST, bit, p, finder.number(qubit)))
            case Meeting(qubits):
                for qubit in qubits:
                    if qubit in finder.may_leak:
                        finder.meet(number, qubit, qubits)
            case Reset(qubit, _) | Measure(((qubit, _),), _, _, _, True):
                finder.reset(qubit)
    return Scripts(finder.scripts, list(finder.numbers))


def _groups(program: Program) -> dict[int, list[int]]:
    """By qubit, the qubits that share a script with it; alone, it is not there."""
    groups: dict[int, list[int]] = {}
    for step in program.steps:
        if isinstance(step, LeakageSpread) and step.probability > 0:
            first, second = (groups.get(q, [q]) for q in (step.source, step.partner))
            if first is not second:
                first += second
                groups |= dict.fromkeys(first, first)
    return groups


class _Finder:
    def __init__(self, groups: dict[int, list[int]], models: LeakageModels) -> None:
        self.groups = groups
        self.models = models
        self.places = {q: k for group in groups.values() for k, q in enumerate(group)}
        self.scripts: list[Script] = []
        self.open: dict[
            int, list[ScriptItem]
        ] = {}  # by the first qubit of a group, the script that has not ended
        self.numbers: dict[InsertedBit, int] = {}
        self.may_leak: set[int] = set()  # qubits that may be leaked or lost
        self.may_be_lost: set[int] = set()
        self.num_items = 0

    def number(self, qubit: int) -> int:
        """The number of a qubit in its script."""
        return self.places.get(qubit, 0)

    def leak(self, step: int, qubit: int, probability: float, is_loss: bool) -> None:
        if probability == 0:
            return
        self.may_leak.add(qubit)
        if is_loss:
            self.may_be_lost.add(qubit)
        states = 1 << COMPUTATIONAL | is_loss << LEAKED
        self.add(qubit, Change(states, LOST if is_loss else LEAKED, probability, self.number(qubit)))
        self.add(qubit, Mix(self.mixed(step, (qubit,)), self.number(qubit)))

    def spread(self, step: int, source: int, partner: int, probability: float, moves: bool) -> None:
        self.may_leak.add(partner)
        self.add(source, Spread(self.number(partner), probability, moves, self.number(source)))
        self.add(partner, Mix(self.mixed(step, (partner,)), self.number(partner)))

    def give_back(self, qubit: int, probability: float) -> None:
        if probability == 1 and qubit not in self.may_be_lost:
            self.end(qubit)
        elif qubit in self.may_leak:
            self.add(qubit, Change(1 << LEAKED, COMPUTATIONAL, probability, self.number(qubit)))

    def meet(self, step: int, qubit: int, qubits: tuple[int, ...]) -> None:
        """What a qubit that may leak does to the qubits of a gate."""
        paulis = self.models.partners.get(qubit)
        mixed = qubits if paulis is None else (qubit,)
        self.add(qubit, Mix(self.mixed(step, mixed), self.number(qubit)))
        for partner in qubits if paulis is not None and any(paulis) else ():
            if partner != qubit:
                x, z = self.mixed(step, (partner,))
                self.add(qubit, Choice(((x,), (x, z), (z,)), paulis or (), self.number(qubit)))

    def reset(self, qubit: int) -> None:
        replaced = self.models.replacements.get(qubit, 1.0)
        if replaced == 1 or qubit not in self.may_be_lost:
            self.end(qubit)
            return
        self.add(qubit, Change(1 << LEAKED, COMPUTATIONAL, 1.0, self.number(qubit)))
        if replaced > 0:
            self.add(qubit, Change(1 << LOST, COMPUTATIONAL, replaced, self.number(qubit)))

    def end(self, qubit: int) -> None:
        if qubit not in self.may_leak:
            return
        group = self.groups.get(qubit, [qubit])
        self.may_leak.discard(qubit)
        self.may_be_lost.discard(qubit)
        if self.may_leak.isdisjoint(group):
            self.open.pop(group[0])
        else:
            self.add(qubit, Change(1 << LEAKED | 1 << LOST, COMPUTATIONAL, 1.0, self.number(qubit)))

    def add(self, qubit: int, item: ScriptItem) -> None:
        self.num_items += 1
        if self.num_items > MAX_SCRIPT_ITEMS:
            raise ResourceLimitError(
                f"Qubits that can leak meet gates and measurements more than {MAX_SCRIPT_ITEMS:,} times, the"
                " limit. Lower the repeat counts, or sample the circuit in parts."
            )
        first = self.groups.get(qubit, [qubit])[0]
        if first not in self.open:
            self.scripts.append(self.open.setdefault(first, []))
        self.open[first].append(item)

    def mixed(self, step: int, qubits: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.bit(InsertedBit(step, qubit, code)) for qubit in qubits for code in (X, Z))

    def bit(self, bit: InsertedBit) -> int:
        return self.numbers.setdefault(bit, len(self.numbers))
