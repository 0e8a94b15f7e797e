"""Pauli errors in place of leakage and loss, on the average, for everything that knows Pauli errors alone.

At each place, the errors of a leaked qubit happen with the probability that a qubit is leaked or lost there.
In truth, a qubit that is leaked at one place mostly is so at the next one, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import stim

from ...base.written_circuits import instructions_in, source_tag
from ...dialect import gate_from_tag, leakage_of, target_groups
from ...simulation.compiler.program.leakage_steps import (
    LeakageModels,
    is_leakage_model,
    leakage_models,
)
from ...simulation.compiler.program.loops import unrolled
from .channels import has_interrupted_chain

_MIX = 0.75
"""DEPOLARIZE1 with this probability makes a qubit completely mixed."""

_OVER_STATES = {
    "LEAKAGE_FROM_ONE": ("LEAKAGE", 0.5, 1),
    "LEAKAGE_FROM_11": ("LEAKAGE", 0.25, 2),
    "RELAX_TO_ONE": ("RELAX", 1.0, 1),
}
"""What stands for leakage that depends on the state: the share of its probability, and of its qubits."""


def has_leakage(circuit: stim.Circuit) -> bool:
    """Whether a circuit has instructions of leakage or loss, heralds included."""
    return any(part.tag and leakage_of(part) is not None for part in instructions_in(circuit))


def with_averaged_leakage(circuit: stim.Circuit, *, flags: bool = False) -> stim.Circuit:
    r"""A tagged circuit with Pauli errors in place of its leakage and loss.

    The errors at a place have the probability that a qubit is leaked or lost there, but are independent of
    those at other places. A leaked qubit is completely mixed when it is measured or returns: what it does
    before then makes no difference to its partners, which are completely mixed themselves. Heralds are
    records that are 1 with the probability that they report leakage.

    With ``flags``, errors of a leaked qubit flip its next herald, too, so that decoders can use heralds. In a
    model of independent errors, they do so as often as the rate of the herald allows: each of n errors that
    a herald announces has, given the herald, a probability of about 1/n. A herald is the record of a further
    qubit then, the flag. They do not if a chain of correlated errors has other instructions in between, which
    further correlated errors would end.

    Examples:
        >>> print(with_averaged_leakage(stim.Circuit("I_ERROR[LEAKAGE(p=0.5)] 0\nCX 0 1\nMR 0 1")))
        CX 0 1
        DEPOLARIZE1[twirl of LEAKAGE 0](0.375) 1 0
        MR 0 1
        >>> heralded = "I_ERROR[LEAKAGE(p=0.01)] 0\nCX 0 1\nHERALDED_ERASE[HERALD_LEAKAGE_EVENT(p=0)](0) 0"
        >>> print(with_averaged_leakage(stim.Circuit(heralded), flags=True))
        CX 0 1
        E(0.00250628) X1 X2
        E(0.00250628) Y1 X2
        E(0.00250628) Z1 X2
        MR(0.00255704) 2
    """
    if not has_leakage(circuit):
        return circuit
    instructions = list(averaged_over_states(unrolled(circuit)))
    announces = flags and not has_interrupted_chain(instructions)
    averages = _Averages(circuit.num_qubits if announces else None, leakage_models(instructions))
    for instruction in instructions:
        averages.add(instruction)
    return averages.circuit()


def averaged_over_states(
    instructions: Iterable[stim.CircuitInstruction],
) -> Iterator[stim.CircuitInstruction]:
    """Instructions with leakage that depends on no state in place of leakage from 1, or to it.

    Examples:
        >>> [leaking] = averaged_over_states(stim.Circuit("II_ERROR[LEAKAGE_FROM_11(p=0.4)] 0 1 2 3"))
        >>> print(leaking)
        I_ERROR[LEAKAGE(p=0.1)] 0 2
    """
    for instruction in instructions:
        channel = leakage_of(instruction) if instruction.tag else None
        if channel is None or channel.name not in _OVER_STATES:
            yield instruction
            continue
        name, share, size = _OVER_STATES[channel.name]
        targets = instruction.targets_copy()[::size]
        yield stim.CircuitInstruction("I_ERROR", targets, tag=f"{name}(p={share * channel.values[0]!r})")


@dataclass
class _Mixing:
    """A qubit is completely mixed with a probability."""

    qubit: int
    probability: float
    leaked: float = 0.0  # the probability of that and that the cause, a qubit, has been leaked ever since
    lost: float = 0.0  # the same for a lost one
    announced: float = 0.0  # the exponent (see ``_exponent``) of those of its errors that flip the flag, too
    flag: int = 0
    source: str = ""  # the tag of its errors
    # With a model of partners, the probabilities of X, Y and Z errors in place of the mixing.
    paulis: tuple[float, ...] | None = None

    def most_announced(self, p: float, *, of_loss: bool) -> float:
        """The exponent of its errors that a herald which reports with probability p can announce."""
        happens = p * (self.lost if of_loss else self.leaked)
        if self.paulis is not None:
            return _exponent(happens * sum(self.paulis))
        return 3 * _exponent_of_mixing(happens) if self.probability < 1 else math.inf

    def append_to(self, circuit: stim.Circuit) -> None:
        """Appends its errors."""
        if self.paulis is not None:
            self._append_partner_errors(circuit, self.paulis)
            return
        rest, each = self.probability, self.announced / 3
        if each > 0:
            rest = -math.expm1(2 * (each - _exponent_of_mixing(rest)))
        if rest > 0:
            circuit.append("DEPOLARIZE1", [self.qubit], _MIX * rest, tag=self.source)
        for pauli in "XYZ" if each > 0 else "":
            errors = [stim.target_pauli(self.qubit, pauli), stim.target_x(self.flag)]
            circuit.append("E", errors, _probability(each))

    def _append_partner_errors(self, circuit: stim.Circuit, paulis: tuple[float, ...]) -> None:
        """Appends errors that exclude each other; those that flip the flag come first."""
        share = _probability(self.announced) / sum(paulis)
        if share <= 0:
            errors = [self.probability * p for p in paulis]
            circuit.append("PAULI_CHANNEL_1", [self.qubit], errors, tag=self.source)
            return
        name, nothing = "E", 1.0
        for each, flag in ((share, [stim.target_x(self.flag)]), (self.probability - share, [])):
            for pauli, p in zip("XYZ", paulis, strict=True):
                if each * p > 0:
                    errors = [stim.target_pauli(self.qubit, pauli), *flag]
                    circuit.append(name, errors, min(1.0, each * p / nothing))
                    name, nothing = "ELSE_CORRELATED_ERROR", nothing - each * p


class _Averages:
    def __init__(self, first_flag: int | None, models: LeakageModels) -> None:
        self.models = models
        self.first_flag = first_flag
        self.parts: list[stim.CircuitInstruction | _Mixing] = []
        self.leaked: dict[int, float] = {}  # by qubit, the probability that it is leaked
        self.lost: dict[int, float] = {}
        self.since_herald: dict[int, list[_Mixing]] = {}  # by qubit, what it has caused

    def circuit(self) -> stim.Circuit:
        """The circuit so far."""
        result = stim.Circuit()
        for part in self.parts:
            if isinstance(part, _Mixing):
                part.append_to(result)
            else:
                result.append(part)
        return result

    def gone(self, qubits: Iterable[int]) -> float:
        """The probability that any of these qubits is leaked or lost."""
        each = [self.leaked.get(q, 0.0) + self.lost.get(q, 0.0) for q in qubits]
        return sum(each) if len(each) == 1 else 1 - math.prod(1 - p for p in each)

    def source(self, causes: list[int]) -> str:
        """The tag of errors that are consequences of qubits which are leaked or lost."""
        if self.first_flag is not None:
            return ""
        found = [name for name, known in (("LEAKAGE", self.leaked), ("LOSS", self.lost))
                 if any(known.get(cause) for cause in causes)]  # fmt: skip
        return source_tag("+".join(found), causes)

    def mix(
        self, qubit: int, causes: list[int], factor: float = 1.0, paulis: tuple[float, ...] | None = None
    ) -> None:
        """Mixes a qubit completely if any of the causes is leaked or lost, and something else happens.

        With ``paulis``, it has X, Y or Z errors with these probabilities in place of that.
        """
        probability = self.gone(causes) * factor
        if probability <= 0:
            return
        causes = [cause for cause in causes if self.gone([cause]) > 0]
        mixing = _Mixing(qubit, probability, paulis=paulis, source=self.source(causes))
        self.parts.append(mixing)
        if len(causes) == 1:  # else no herald announces it
            (cause,) = causes
            mixing.leaked = self.leaked.get(cause, 0.0) * factor
            mixing.lost = self.lost.get(cause, 0.0) * factor
            self.since_herald.setdefault(cause, []).append(mixing)

    def add(self, instruction: stim.CircuitInstruction) -> None:
        channel = leakage_of(instruction)
        if channel is not None:
            if channel.name == "LEAKAGE_SPREAD":
                for a, b in instruction.target_groups():
                    self.spread(a.value, b.value, *channel.values)
                return
            if is_leakage_model(channel):
                return
            (p,) = channel.values or (1.0,)
            for target in instruction.targets_copy():
                self.change(channel.name, target.value, p)
            return
        data = stim.gate_data(instruction.name)
        passes = not (data.is_unitary or data.is_reset or data.produces_measurements)
        if passes or instruction.name.startswith("HERALDED") or instruction.name == "MPAD":
            self.parts.append(instruction)
            return
        for part, qubits in parts_with_qubits(instruction):
            if data.produces_measurements:
                for qubit in qubits:
                    self.mix(qubit, [qubit])
            self.parts.append(part)
            for qubit in qubits:
                if data.is_reset:
                    lost = self.lost.get(qubit, 0.0) * (1 - self.models.replacements.get(qubit, 1.0))
                    for known in (self.leaked, self.lost, self.since_herald):
                        known.pop(qubit, None)
                    if lost:
                        self.lost[qubit] = lost
                others = [other for other in qubits if other != qubit]
                paulis = _partner_errors(part, qubits, qubit, self.models)
                if paulis is None or any(paulis):
                    self.mix(qubit, others, 1 - self.gone([qubit]), paulis)

    def spread(self, first: int, second: int, s01: float, s10: float, m01: float, m10: float) -> None:
        for source, partner, spread, move in ((first, second, s01, m01), (second, first, s10, m10)):
            for probability, moves in ((spread, False), (move, True)):
                happens = (1 - self.gone([partner])) * probability
                there = self.leaked.get(partner, 0.0) + self.leaked.get(source, 0.0) * happens
                if moves:
                    self.change("RELAX", source, happens)
                self.leaked[partner] = there

    def change(self, name: str, qubit: int, p: float) -> None:
        leaked, lost = self.leaked.get(qubit, 0.0), self.lost.get(qubit, 0.0)
        if name.startswith("HERALD"):
            self.add_herald(qubit, 1 - p, of_loss="LOSS" in name)
        elif name in ("RELAX", "RL"):
            if leaked * p > 0:
                self.parts.append(_Mixing(qubit, leaked * p, source=self.source([qubit])))
            self.leaked[qubit] = leaked * (1 - p)
            for mixing in self.since_herald.get(qubit, ()):
                mixing.leaked *= 1 - p
        elif name == "LOSS":
            self.leaked[qubit], self.lost[qubit] = leaked * (1 - p), lost + (1 - lost) * p
            for mixing in self.since_herald.get(qubit, ()):
                mixing.leaked, mixing.lost = mixing.leaked * (1 - p), mixing.lost + mixing.leaked * p
        else:
            self.leaked[qubit] = leaked + (1 - leaked - lost) * p

    def add_herald(self, qubit: int, p: float, *, of_loss: bool) -> None:
        """A record that is 1 with probability p for a leaked or lost qubit."""
        reported = p * (self.lost if of_loss else self.leaked).get(qubit, 0.0)
        mixings = [] if self.first_flag is None else self.since_herald.pop(qubit, [])
        announced = {k: mixing.most_announced(p, of_loss=of_loss) for k, mixing in enumerate(mixings)}
        announced = {k: each for k, each in announced.items() if each < math.inf}
        wanted, most = _exponent(reported), sum(announced.values())
        if not most or wanted == math.inf:
            arguments, tag = ([reported], self.source([qubit])) if reported else ([], "")
            self.parts.append(stim.CircuitInstruction("MPAD", [0], arguments, tag=tag))
            return
        scale = min(1.0, wanted / most)
        flag = (self.first_flag or 0) + qubit
        for k, each in announced.items():
            mixings[k].announced, mixings[k].flag = scale * each, flag
        rest = _probability(max(0.0, wanted - scale * most))
        self.parts.append(stim.CircuitInstruction("MR", [flag], [rest] if rest else []))


def _partner_errors(
    gate: stim.CircuitInstruction, qubits: list[int], qubit: int, models: LeakageModels
) -> tuple[float, ...] | None:
    """X, Y and Z errors of a qubit after a gate with one that is leaked, or None if it is completely mixed.

    A Clifford gate turns a random Pauli of the leaked qubit into one of four on the other. Non-Clifford gates
    and products are taken to mix it completely.
    """
    if len(qubits) != 2:
        return None
    own = qubits.index(qubit)
    paulis = models.partners.get(qubits[1 - own])
    if paulis is None or not stim.gate_data(gate.name).is_two_qubit_gate or gate_from_tag(gate) is not None:
        return None
    if not stim.gate_data(gate.name).is_unitary:
        return None
    tableau = stim.Tableau.from_named_gate(gate.name)
    x, z = tableau.x_output(1 - own)[own], tableau.z_output(1 - own)[own]
    given = [1 - sum(paulis), *paulis]
    both = stim.PauliString([x]) * stim.PauliString([z])
    random = (0, x, z, both[0])
    found = [0.0] * 4
    for code, p in enumerate(given):
        for other in random:
            found[(stim.PauliString([code]) * stim.PauliString([other]))[0]] += p / 4
    return tuple(found[1:])


def _exponent(probability: float) -> float:
    """The exponent x of exp(-x) = 1 - 2 p; exponents of independent flips of a bit add up."""
    return math.inf if probability >= 0.5 else -math.log1p(-2 * probability)


def _exponent_of_mixing(probability: float) -> float:
    """The exponent of each of three independent Pauli errors that fully mix a qubit with a probability."""
    return -math.log1p(-probability) / 2


def _probability(exponent: float) -> float:
    return -math.expm1(-exponent) / 2


def parts_with_qubits(
    instruction: stim.CircuitInstruction,
) -> Iterator[tuple[stim.CircuitInstruction, list[int]]]:
    """The instruction for one group of targets after the other, and the qubits of the group."""
    for group in target_groups(instruction):
        given = group
        if any(target.pauli_type != "I" for target in group):
            given = stim.target_combined_paulis(group)
        part = stim.CircuitInstruction(
            instruction.name, given, instruction.gate_args_copy(), tag=instruction.tag
        )
        yield part, [target.value for target in group if target.qubit_value is not None]
