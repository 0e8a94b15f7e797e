"""The scripts of qubits that may leak: what happens to them, and the Paulis that it draws.

Whether a qubit is leaked or lost depends on no quantum state and on no other qubit, and a reset makes it
computational. So the time of each qubit between two resets is a *script*, a Markov chain of its own with the
states computational, leaked and lost, and all scripts are independent.

Pauli errors stand for a leaked qubit, exactly. A qubit that leaks is completely mixed (a uniformly random
Pauli), and stays so, whatever gates do to it alone. After a gate on it and others, all of them are completely
mixed, whatever the gate does to them: U (I/2 ⊗ ρ) U† with random Paulis on all qubits of U is
I/2 ⊗ I/2 ⊗ tr ρ. After a measurement, which gives a random bit, it is made completely mixed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....base.errors import ResourceLimitError
from ..algebra.paulis import X, Z
from ..program.program import Program
from ..program.steps import LeakageHerald, LeakageReturn, Leaking, Measure, Meeting, Reset

__all__ = [
    "COMPUTATIONAL",
    "LEAKED",
    "LOST",
    "Change",
    "Flip",
    "InsertedBit",
    "Mix",
    "Script",
    "ScriptItem",
    "Scripts",
    "scripts_of",
]

COMPUTATIONAL, LEAKED, LOST = 0, 1, 2
"""The states of a qubit. Sets of them are masks: bit k is state k."""

MAX_SCRIPT_ITEMS = 1 << 24
"""Limit for the items of all scripts."""


@dataclass(frozen=True, slots=True)
class InsertedBit:
    """What an item flips: an X or Z of a qubit just before a step, or a record.

    Attributes:
        step: The step of the program.
        qubit: The qubit, or -1 for a record.
        number: The code of the Pauli, or the record.
    """

    step: int
    qubit: int
    number: int


@dataclass(frozen=True, slots=True)
class Change:
    """A qubit in one of ``states`` comes into the state ``to`` with a probability."""

    states: int
    to: int
    probability: float


@dataclass(frozen=True, slots=True)
class Flip:
    """For a qubit in one of ``states``, the inserted bit with this number is flipped with a probability."""

    states: int
    bit: int
    probability: float


@dataclass(frozen=True, slots=True)
class Mix:
    """If the qubit is leaked or lost, each of these inserted bits is flipped with probability 1/2."""

    bits: tuple[int, ...]


ScriptItem = Change | Flip | Mix
Script = Sequence[ScriptItem]


@dataclass
class Scripts:
    """The scripts of a circuit.

    Attributes:
        scripts: The scripts, each for one qubit from a place where it can leak to where it is computational
            for certain.
        bits: The inserted bits.
    """

    scripts: list[Script] = field(default_factory=list)
    bits: list[InsertedBit] = field(default_factory=list)


def scripts_of(program: Program) -> Scripts:
    r"""Finds the scripts of a circuit.

    Args:
        program: The circuit's steps.

    Returns:
        The scripts.

    Raises:
        ResourceLimitError: They have more than 2^24 items.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.simulation.compiler.program.flattening import program_of
        >>> scripts = scripts_of(program_of(stim.Circuit("I_ERROR[LEAKAGE(p=0.1)] 0\nM 0\nR 0")))
        >>> scripts.scripts
        [[Change(states=1, to=1, probability=0.1), Mix(bits=(0, 1)), Mix(bits=(2, 3))]]
    """
    if not program.has_leakage:
        return Scripts()
    finder = _Finder()
    for number, step in enumerate(program.steps):
        match step:
            case Leaking(qubit, p, is_loss):
                finder.leak(number, qubit, p, is_loss)
            case LeakageReturn(qubit, p):
                finder.give_back(qubit, p)
            case LeakageHerald(qubit, record, p, of_loss) if qubit in finder.open:
                bit = finder.bit(InsertedBit(number, -1, record))
                finder.add(qubit, Flip(1 << (LOST if of_loss else LEAKED), bit, p))
            case Meeting(qubits):
                for qubit in qubits:
                    if qubit in finder.open:
                        finder.add(qubit, Mix(finder.mixed(number, qubits)))
            case Reset(qubit, _) | Measure(((qubit, _),), _, _, _, True):
                finder.end(qubit)
    return Scripts(finder.scripts, list(finder.numbers))


class _Finder:
    def __init__(self) -> None:
        self.scripts: list[Script] = []
        self.open: dict[int, list[ScriptItem]] = {}  # by qubit, the script that no reset has ended
        self.numbers: dict[InsertedBit, int] = {}
        self.may_be_lost: set[int] = set()
        self.num_items = 0

    def leak(self, step: int, qubit: int, probability: float, is_loss: bool) -> None:
        if probability == 0:
            return
        if qubit not in self.open:
            self.scripts.append(self.open.setdefault(qubit, []))
        if is_loss:
            self.may_be_lost.add(qubit)
        states = 1 << COMPUTATIONAL | is_loss << LEAKED
        self.add(qubit, Change(states, LOST if is_loss else LEAKED, probability))
        self.add(qubit, Mix(self.mixed(step, (qubit,))))

    def give_back(self, qubit: int, probability: float) -> None:
        if probability == 1 and qubit not in self.may_be_lost:
            self.end(qubit)
        else:
            self.add(qubit, Change(1 << LEAKED, COMPUTATIONAL, probability))

    def end(self, qubit: int) -> None:
        self.open.pop(qubit, None)
        self.may_be_lost.discard(qubit)

    def add(self, qubit: int, item: ScriptItem) -> None:
        if qubit not in self.open:
            return  # it is computational
        self.num_items += 1
        if self.num_items > MAX_SCRIPT_ITEMS:
            raise ResourceLimitError(
                f"Qubits that can leak meet gates and measurements more than {MAX_SCRIPT_ITEMS:,} times, the"
                " limit. Lower the repeat counts, or sample the circuit in parts."
            )
        self.open[qubit].append(item)

    def mixed(self, step: int, qubits: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.bit(InsertedBit(step, qubit, code)) for qubit in qubits for code in (X, Z))

    def bit(self, bit: InsertedBit) -> int:
        return self.numbers.setdefault(bit, len(self.numbers))
