"""Expectation values by simulation of density matrices, and random circuits that ask for them."""

import re
from collections.abc import Sequence

import numpy as np
import stim

from ..oracle.density_matrix import Simulator, probability, sandwich, used_qubits
from ..oracle.leakage import LeakageSimulator
from ..oracle.operators import pauli_product

_TAG = re.compile(r"EXP_VAL\((.*)\)")


class _Expectations:
    """Notes, at each EXP_VAL, the probability of every record so far, and the trace of P rho with it."""

    def __init__(self) -> None:
        self.traces: list[dict[tuple[int, ...], float]] = []
        self.weights: list[dict[tuple[int, ...], float]] = []

    def note(self, instruction: stim.CircuitInstruction, parts: Sequence[Simulator]) -> bool:
        """Notes those that an instruction asks for, of a sum of density matrices; whether it is an EXP_VAL."""
        found = _TAG.fullmatch(instruction.tag)
        if not found:
            return False
        qubits = [target.value for target in instruction.targets_copy()]
        while qubits:
            for product in found[1].split(","):
                letters = product.strip().removeprefix("!")
                terms = [(letter, qubits.pop(0)) for letter in letters]
                self._expect(terms, "!" in product, parts)
        return True

    def _expect(self, terms: list[tuple[str, int]], is_negative: bool, parts: Sequence[Simulator]) -> None:
        on, pauli = pauli_product(terms, is_negative)
        traces: dict[tuple[int, ...], float] = {}
        weights: dict[tuple[int, ...], float] = {}
        for simulator in parts:
            positions = [simulator.position[qubit] for qubit in on]
            for (records, _), rho in simulator.branches.items():
                # tr(P rho) from the projector: sandwich gives the trace of K rho K^dagger.
                plus = probability(sandwich(rho, (np.eye(len(pauli)) + pauli) / 2, positions))
                weights[records] = weights.get(records, 0.0) + probability(rho)
                traces[records] = traces.get(records, 0.0) + 2 * plus - probability(rho)
        self.traces.append(traces)
        self.weights.append(weights)


class ExpectationSimulator(Simulator, _Expectations):
    """Notes the expectation values of a circuit without leakage."""

    def __init__(self, circuit: stim.Circuit) -> None:
        Simulator.__init__(self, used_qubits(circuit))
        _Expectations.__init__(self)
        self.run(circuit)

    def _perform(self, instruction: stim.CircuitInstruction) -> None:
        if not self.note(instruction, [self]):
            super()._perform(instruction)


class LeakedExpectationSimulator(LeakageSimulator, _Expectations):
    """Notes the expectation values of a circuit in which qubits leak and are lost."""

    def __init__(self, circuit: stim.Circuit) -> None:
        LeakageSimulator.__init__(self, circuit.num_qubits)
        _Expectations.__init__(self)
        self.run(circuit)

    def _perform(self, instruction: stim.CircuitInstruction) -> None:
        if not self.note(instruction, list(self.parts.values())):
            super()._perform(instruction)


def random_product(rng: np.random.Generator, num_qubits: int) -> str:
    """A Pauli product as EXP_VAL takes it, on one to three qubits."""
    count = min(num_qubits, int(rng.integers(1, 4)))
    factors = [f"{rng.choice(list('XYZ'))}{q}" for q in rng.choice(num_qubits, count, replace=False)]
    return str(rng.choice(["", "!"])) + "*".join(factors)


def with_random_expectations(circuit: stim.Circuit, rng: np.random.Generator, num_qubits: int) -> str:
    """The text of the circuit with one to four EXP_VAL at random places, some of them in blocks."""
    lines = str(circuit).split("\n")
    for _ in range(int(rng.integers(1, 4))):
        products = [random_product(rng, num_qubits) for _ in range(int(rng.integers(1, 3)))]
        lines.insert(int(rng.integers(len(lines) + 1)), f"EXP_VAL {' '.join(products)}")
    # One at the end, where all errors and outcomes matter.
    return "\n".join([*lines, f"EXP_VAL {random_product(rng, num_qubits)}"])
