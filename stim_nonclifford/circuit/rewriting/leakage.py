"""Pauli errors in place of leakage and loss, on the average, for everything that knows Pauli errors alone.

At each place, the errors of a leaked qubit happen with the probability that a qubit is leaked or lost there.
In truth, a qubit that is leaked at one place mostly is so at the next one, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import stim

from ...dialect import CONDITIONAL_CARRIER, gate_from_tag, leakage_of
from ...simulation.compiler.program.iterations import unrolled

__all__ = ["has_leakage", "with_averaged_leakage"]

_MIX = 0.75
"""DEPOLARIZE1 with this probability makes a qubit completely mixed."""


def has_leakage(circuit: stim.Circuit) -> bool:
    """Whether a circuit has instructions of leakage or loss, heralds included."""
    return any(
        has_leakage(part.body_copy())
        if isinstance(part, stim.CircuitRepeatBlock)
        else bool(part.tag) and leakage_of(part) is not None
        for part in circuit
    )


def with_averaged_leakage(circuit: stim.Circuit) -> stim.Circuit:
    r"""A tagged circuit with Pauli errors in place of its leakage and loss.

    The errors at a place have the probability that a qubit is leaked or lost there, but are independent of
    those at other places. A leaked qubit is completely mixed when it is measured or returns: what it does
    before then makes no difference to its partners, which are completely mixed themselves. Heralds are
    records that are 1 with the probability that they report leakage.

    Args:
        circuit: The circuit.

    Returns:
        The circuit, unrolled if it has leakage.

    Raises:
        ResourceLimitError: It is too large to be unrolled.

    Examples:
        >>> print(with_averaged_leakage(stim.Circuit("I_ERROR[LEAKAGE(p=0.5)] 0\nCX 0 1\nMR 0 1")))
        CX 0 1
        DEPOLARIZE1(0.375) 1 0
        MR 0 1
    """
    if not has_leakage(circuit):
        return circuit
    averages = _Averages()
    for instruction in unrolled(circuit):
        averages.add(instruction)
    return averages.circuit


class _Averages:
    def __init__(self) -> None:
        self.circuit = stim.Circuit()
        self.leaked: dict[int, float] = {}  # by qubit, the probability that it is leaked
        self.lost: dict[int, float] = {}

    def gone(self, qubits: Iterable[int]) -> float:
        """The probability that any of these qubits is leaked or lost."""
        return 1 - math.prod(1 - self.leaked.get(q, 0.0) - self.lost.get(q, 0.0) for q in qubits)

    def mix(self, qubit: int, probability: float) -> None:
        if probability > 0:
            self.circuit.append("DEPOLARIZE1", [qubit], _MIX * probability)

    def add(self, instruction: stim.CircuitInstruction) -> None:
        channel = leakage_of(instruction)
        if channel is not None:
            (p,) = channel.values or (1.0,)
            for target in instruction.targets_copy():
                self.change(channel.name, target.value, p)
            return
        data = stim.gate_data(instruction.name)
        passes = not (data.is_unitary or data.is_reset or data.produces_measurements)
        if passes or instruction.name.startswith("HERALDED") or instruction.name == "MPAD":
            self.circuit.append(instruction)
            return
        for part, qubits in _parts(instruction):
            if data.produces_measurements:
                for qubit in qubits:
                    self.mix(qubit, self.gone([qubit]))
            self.circuit.append(part)
            for qubit in qubits:
                if data.is_reset:
                    self.leaked.pop(qubit, None)
                    self.lost.pop(qubit, None)
                others = [other for other in qubits if other != qubit]
                self.mix(qubit, self.gone(others) * (1 - self.gone([qubit])))

    def change(self, name: str, qubit: int, p: float) -> None:
        leaked, lost = self.leaked.get(qubit, 0.0), self.lost.get(qubit, 0.0)
        if name.startswith("HERALD"):
            flip = (1 - p) * (lost if "LOSS" in name else leaked)
            self.circuit.append("MPAD", [0], flip or None)
        elif name in ("RELAX", "RL"):
            self.leaked[qubit] = leaked * (1 - p)
            self.mix(qubit, leaked * p)
        elif name == "LOSS":
            self.leaked[qubit], self.lost[qubit] = leaked * (1 - p), lost + (1 - lost) * p
        else:
            self.leaked[qubit] = leaked + (1 - leaked - lost) * p


def _parts(instruction: stim.CircuitInstruction) -> Iterator[tuple[stim.CircuitInstruction, list[int]]]:
    """The instruction for one group of targets after the other, and the qubits of the group."""
    targets = instruction.targets_copy()
    gate = gate_from_tag(instruction)
    size = None if gate is None or instruction.name == CONDITIONAL_CARRIER else gate.definition.num_targets
    if size is not None:
        groups = [targets[k : k + size] for k in range(0, len(targets), size)]
    else:
        groups = instruction.target_groups()
    for group in groups:
        given = group
        if any(target.pauli_type != "I" for target in group):
            given = stim.target_combined_paulis(group)
        part = stim.CircuitInstruction(
            instruction.name, given, instruction.gate_args_copy(), tag=instruction.tag
        )
        yield part, [target.value for target in group if target.qubit_value is not None]
