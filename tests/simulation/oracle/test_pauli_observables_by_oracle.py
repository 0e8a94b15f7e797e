"""Observables with Pauli targets are what a noiseless measurement of these Paulis would say, exactly.

The Paulis are chosen so that they have one value without noise, alone or together with a random record. For the
oracle, each of them is measured at its place.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import stim

import stim_nonclifford as snc

from ...support.oracle.certain_circuits import certain_circuit
from ...support.oracle.density_matrix import Simulator, probability, sandwich
from ...support.oracle.operators import pauli_product
from ...support.seeds import seeds
from .test_faults_by_oracle import assert_exact, case_of

pytestmark = pytest.mark.filterwarnings("ignore:.* is there without any fault")
"""Random circuits are wrong by their gates, too."""

CIRCUITS_PER_SEED = 24
NUM_SEEDS = 4


def certain_products(circuit: stim.Circuit, num_qubits: int) -> Iterator[tuple[str, int | None]]:
    """The Pauli products that have one value after a noiseless circuit, and those that a record determines."""
    simulator = Simulator(range(num_qubits))
    simulator.run(circuit.without_noise())
    records: list[int | None] = [None, *range(simulator.num_records)]
    for letters in itertools.product("IXYZ", repeat=num_qubits):
        terms = [(letter, q) for q, letter in enumerate(letters) if letter != "I"]
        if not terms:
            continue
        qubits, pauli = pauli_product(terms)
        projector = (np.eye(len(pauli)) + pauli) / 2
        means = []
        for (bits, _), rho in simulator.branches.items():
            value = 2 * probability(sandwich(rho, projector, qubits)) - probability(rho)
            means.append([value * (-1) ** (0 if record is None else bits[record]) for record in records])
        for record, mean in zip(records, np.sum(means, axis=0), strict=True):
            if abs(mean) > 1 - 1e-9:
                yield "*".join(f"{letter}{q}" for letter, q in terms), record


def with_observable(
    circuit: stim.Circuit, position: int, number: int, product: str, record: int | None
) -> tuple[stim.Circuit, stim.Circuit]:
    """The circuit with the observable after some instructions, for the package and for the oracle."""
    asked, measured = circuit[:position], circuit[:position]
    before = asked.num_measurements
    of_record = "" if record is None else f" rec[{record - before}]"
    asked += stim.Circuit(f"OBSERVABLE_INCLUDE({number}) {product.replace('*', ' ')}{of_record}")
    shifted = "" if record is None else f" rec[{record - before - 1}]"
    measured += stim.Circuit(f"MPP {product}\nOBSERVABLE_INCLUDE({number}) rec[-1]{shifted}")
    since = 0
    for instruction in circuit[position:]:
        asked.append(instruction)
        targets = [
            stim.target_rec(t.value - 1) if t.is_measurement_record_target and -t.value > since else t
            for t in instruction.targets_copy()
        ]
        arguments = instruction.gate_args_copy()
        measured.append(stim.CircuitInstruction(instruction.name, targets, arguments, tag=instruction.tag))
        since += instruction.num_measurements
    return asked, measured


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_rates(seed: int) -> None:
    """At random places of circuits of the seeds [900 + seed, 0], [900 + seed, 1], ..., some with T gates.

    Behind T gates, a flip of the Pauli frame may be another value than the measurement's: that is refused.
    """
    compared = refused = with_records = before_t = 0
    for k in range(CIRCUITS_PER_SEED):
        rng = np.random.default_rng([900 + seed, k])
        num_qubits = 2 + k % 2
        circuit = certain_circuit(
            rng,
            num_qubits=num_qubits,
            num_segments=2 + k % 2,
            gates=5,
            max_records=7,
            mixed=k % 3 > 0,
            clifford=k % 3 == 0,
            random_outputs=0.0,
        )
        position = int(rng.integers(1, len(circuit)))
        if circuit[position - 1].name in ("E", "ELSE_CORRELATED_ERROR"):
            continue
        found = list(certain_products(circuit[:position], num_qubits))
        if not found or not circuit.num_observables:
            continue
        product, record = found[int(rng.integers(len(found)))]
        asked, measured = with_observable(circuit, position, circuit.num_observables, product, record)
        case = case_of(rng, measured)
        if case is None or not case.is_certain():
            continue
        own = snc.Circuit(asked)
        t_gates = [line for line, each in enumerate(circuit) if each.tag]
        if t_gates and t_gates[0] < position and own.quantum_observables()[-1]:
            with pytest.raises(ValueError, match="has Pauli targets after T gates"):
                own.logical_error_rate(seed=1, relative_error=1e-100, **case.arguments())
            refused += 1
            continue
        assert_exact(
            own.logical_error_rate(seed=1, relative_error=1e-100, **case.arguments()), case, measured
        )
        compared += 1
        with_records += record is not None
        before_t += len(t_gates) > 0
    assert compared > CIRCUITS_PER_SEED / 3
    assert min(refused, before_t) > 0
