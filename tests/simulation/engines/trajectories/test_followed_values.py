"""Expectation values, checks of states and decoders of shots that are followed by themselves."""

import numpy as np
import pytest
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc

from ....support.oracle.density_matrix import Simulator, probability, sandwich
from ....support.oracle.operators import PAULIS
from ....support.oracle.random_circuits import random_circuit
from ....support.seeds import seeds
from .test_trajectory_engine import with_relaxation

SHOTS = 50_000
MOST_DEVIATIONS = 7.5
"""A normal deviate exceeds it with a probability below 1e-13, and a mean of so many shots below 1e-10."""


@pytest.mark.parametrize("seed", seeds(40, quick=5))
def test_averages_are_those_of_the_density_matrix(seed: int) -> None:
    """Of all shots, and of those with each value of the first record."""
    rng = np.random.default_rng([60, seed])
    base = random_circuit(rng, num_operations=20, max_records=5)
    circuit = with_relaxation(base, rng, count=int(rng.integers(1, 5)))
    circuit = snc.Circuit("T 0 1\nH 0 1 2 3\nM 3\n" + str(circuit))
    products = ["".join(rng.choice(list("XYZ_"), size=4)) for _ in range(3)]
    products = [product if product.strip("_") else "Z___" for product in products]
    texts = [
        "*".join(f"{letter}{k}" for k, letter in enumerate(product) if letter != "_") for product in products
    ]
    asks = circuit + snc.Circuit(f"EXP_VAL {texts[0]} !{texts[1]} {texts[2]}")
    records, values = asks.compile_sampler(seed=seed, engine="trajectory").sample_expectation_values(SHOTS)
    assert (records == circuit.compile_sampler(seed=seed, engine="trajectory").sample(SHOTS)).all()
    simulator = Simulator(range(4))
    simulator.run(circuit.to_stim())
    for first in (0, 1):
        expected = np.zeros(3)
        for (bits, _), rho in simulator.branches.items():
            if bits[0] == first:
                for k, product in enumerate(products):
                    expected[k] += (-1) ** (k == 1) * expectation(rho, product)
        found = values * (records[:, :1] == bool(first))
        error = np.sqrt(np.maximum((found**2).mean(axis=0) - found.mean(axis=0) ** 2, 1 / SHOTS) / SHOTS)
        assert (np.abs(found.mean(axis=0) - expected) < MOST_DEVIATIONS * error).all()


def expectation(rho: np.ndarray, product: str) -> float:
    """Tr(P rho), as p(+1) - p(-1)."""
    factors = [(PAULIS[letter], k) for k, letter in enumerate(product) if letter != "_"]
    matrix, qubits = factors[0][0], [factors[0][1]]
    for pauli, qubit in factors[1:]:
        matrix, qubits = np.kron(pauli, matrix), [*qubits, qubit]
    identity = np.eye(len(matrix))
    signs = (1, -1)
    return sum(sign * probability(sandwich(rho, (identity + sign * matrix) / 2, qubits)) for sign in signs)


def test_values_that_a_shot_does_not_come_to() -> None:
    circuit = snc.Circuit(
        "H 0\nM 0\nREPEAT[IF rec[-1]] 1 {\n    EXP_VAL Z0\n}\n"
        "REPEAT[UNTIL rec[-1]] 3 {\n    R 0\n    RX 0\n    T 0\n    EXP_VAL X0\n    M 0\n}"
    )
    records, values = circuit.compile_sampler(seed=1).sample_expectation_values(200)
    assert (np.isnan(values[:, 0]) == ~records[:, 0]).all()
    assert (values[records[:, 0], 0] == -1).all()
    # All attempts but the last one have the record 0, so that the first one is the only one or fails.
    attempts = np.isfinite(values[:, 1:]).sum(axis=1)
    assert set(attempts.tolist()) == {1, 2, 3}
    for row, count in zip(values[:, 1:], attempts, strict=True):
        assert np.isnan(row[: 3 - count]).all()
        assert np.allclose(row[3 - count :], np.sqrt(0.5))


STATE = """
    RX 0
    T 0
    THERMAL_RELAXATION(0.05, 0.04) 0
    R 1
    X_ERROR(0.02) 1
    M(0.01, 0.03) 1
    DETECTOR rec[-1]
    EXP_VAL X0 Y0"""


def test_a_checked_state_is_wrong_as_often_as_its_expectation_values_say() -> None:
    shots, circuit = 200_000, snc.Circuit(STATE)
    arguments = {"seed": 1, "engine": "trajectory", "postselection_mask": "all"}
    counts = circuit.compile_detector_sampler(state_check="T", **arguments).sample_counts(shots)
    kept = circuit.compile_detector_sampler(**arguments).sample_kept(shots, expectation_values=True)
    assert kept.discards == counts.discards
    # Exactly: T of X and Y is multiplied by the coherence, e^(-0.04).
    fidelity = (1 + np.exp(-0.04)) / 2
    accepted = shots - counts.discards
    assert abs(accepted - shots * (1 - 0.02 * (1 - 0.03) - 0.98 * 0.01)) < MOST_DEVIATIONS * np.sqrt(
        shots * 0.03
    )
    assert abs(counts.errors / accepted - (1 - fidelity)) < MOST_DEVIATIONS * np.sqrt(0.02 / accepted)
    means = kept.expectation_values.mean(axis=0)
    error = kept.expectation_values.std(axis=0) / np.sqrt(accepted)
    assert (np.abs(means - np.exp(-0.04) * np.sqrt(0.5)) < MOST_DEVIATIONS * error + 1e-12).all()
    batches = circuit.compile_detector_sampler(**arguments).iter_kept(max_shots=2000, expectation_values=True)
    values = np.concatenate([batch.expectation_values for batch in batches])
    assert (values == kept.expectation_values[: len(values)]).all()


def test_decoded_shots_are_wrong_as_often_as_those_of_the_plan() -> None:
    memory = stim.Circuit.generated("surface_code:rotated_memory_z", distance=3, rounds=2)
    qubits = " ".join(map(str, sorted(memory.get_final_qubit_coordinates())))
    circuit = snc.Circuit(str(memory).replace("TICK", f"TICK\nTHERMAL_RELAXATION(0.01, 0.01) {qubits}"))
    model = circuit.pauli_twirl().detector_error_model()
    task = sinter.Task(circuit=circuit.to_stim(), detector_error_model=model)
    rates, variance = [], 0.0
    for engine in ("cpu", "trajectory"):
        sampler = sinter_plugin.SoftDecodingSampler(decoder="pymatching", engine=engine, warn=False)
        compiled = sampler.compiled_sampler_for_task(task)
        counts = compiled.sample(20_000)
        while counts.shots < 20_000:  # the first calls draw few shots
            counts += compiled.sample(20_000)
        rates.append(counts.errors / counts.shots)
        variance += rates[-1] / counts.shots
    assert 0.002 < rates[0] < 0.4
    assert abs(rates[0] - rates[1]) < MOST_DEVIATIONS * np.sqrt(variance)
