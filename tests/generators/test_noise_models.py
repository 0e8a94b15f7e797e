"""Noise models of Aer, channels of Qiskit and noise of Cirq, against their own density matrices."""

from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc

from ..support.oracle.density_matrix import final_density_matrix, record_distribution

qiskit = pytest.importorskip("qiskit")
noise = pytest.importorskip("qiskit_aer.noise")
aer = pytest.importorskip("qiskit_aer")


def random_channel(rng: np.random.Generator, num_qubits: int) -> Any:
    size = 2**num_qubits
    while True:
        parts = rng.normal(size=(2, size, size)) + 1j * rng.normal(size=(2, size, size))
        parts[0] = np.eye(size) + 0.2 * parts[0]
        parts[1] *= 0.1
        values, vectors = np.linalg.eigh(np.einsum("kba,kbc->ac", parts.conj(), parts))
        return qiskit.quantum_info.Kraus(list(parts @ (vectors * values**-0.5) @ vectors.conj().T))


def random_model(rng: np.random.Generator) -> Any:
    """Relaxation after gates, alone and with depolarizing noise, Pauli errors, Kraus operators, and readout."""
    model = noise.NoiseModel()

    def relaxation() -> Any:
        t1 = rng.uniform(20, 60)
        return noise.thermal_relaxation_error(
            t1, t1 * rng.uniform(0.3, 2), 1, rng.choice([0.0, 0.0, 0.1, 0.4])
        )

    for gate in ("h", "t", "sx"):
        model.add_all_qubit_quantum_error(relaxation(), gate)
        model.add_quantum_error(relaxation(), gate, [1])
    model.add_all_qubit_quantum_error(noise.pauli_error([("X", 0.02), ("Z", 0.03), ("I", 0.95)]), "tdg")
    model.add_quantum_error(noise.QuantumError(random_channel(rng, 1)), "s", [0])
    both = relaxation().tensor(relaxation())
    depolarizing = noise.depolarizing_error(0.03, 2)
    model.add_all_qubit_quantum_error(depolarizing.compose(both), "cx")
    model.add_quantum_error(both.compose(depolarizing), "cx", [0, 1])
    model.add_quantum_error(noise.depolarizing_error(0.02, 2), "cx", [2, 0])
    model.add_all_qubit_quantum_error(noise.pauli_error([("XY", 0.02), ("II", 0.98)]), "cz")
    model.add_quantum_error(noise.QuantumError(random_channel(rng, 2)), "cz", [1, 2])
    model.add_all_qubit_quantum_error(noise.reset_error(0.05, 0.02), "reset")
    model.add_all_qubit_quantum_error(noise.pauli_error([("X", 0.04), ("I", 0.96)]), "measure")
    model.add_all_qubit_readout_error(noise.ReadoutError([[0.97, 0.03], [0.08, 0.92]]))
    model.add_readout_error(noise.ReadoutError([[0.99, 0.01], [0.01, 0.99]]), [2])
    return model


def random_circuit(rng: np.random.Generator, *, delays: bool) -> Any:
    circuit = qiskit.QuantumCircuit(3, 3)
    circuit.h([0, 1, 2])
    for _ in range(14):
        kind = rng.choice(["h", "t", "t", "tdg", "s", "sx", "cx", "cx", "cz", "reset", "delay"])
        a, b = rng.permutation(3)[:2].tolist()
        if kind == "delay":
            if delays:
                circuit.delay(int(rng.integers(1, 400)), a, "ns")
        elif kind in ("cx", "cz"):
            getattr(circuit, kind)(a, b)
        else:
            getattr(circuit, kind)(a)
    return circuit


def aer_density_matrix(circuit: Any, model: Any) -> np.ndarray:
    circuit = circuit.copy()
    circuit.save_density_matrix()
    simulator = aer.AerSimulator(method="density_matrix", noise_model=model)
    return np.asarray(simulator.run(circuit, optimization_level=0).result().data()["density_matrix"])


def distance(read: snc.Circuit, expected: np.ndarray) -> float:
    """The distance of two density matrices; the first qubit of Qiskit is the least significant one."""
    return float(np.abs(final_density_matrix(read.to_stim()) - expected).max())


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 20))]
)
def test_t_circuits_have_the_density_matrices_of_aer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    circuit, model = random_circuit(rng, delays=True), random_model(rng)
    read = snc.Circuit.from_qiskit(circuit, noise_model=model)
    expected = aer_density_matrix(circuit, model)
    assert distance(read, expected) < 1e-7
    without = snc.Circuit.from_qiskit(circuit)
    assert distance(without, expected) > 0.01


def test_readout_has_the_counts_of_aer() -> None:
    """Errors before measurements and misread outcomes: six standard errors of 400,000 shots, significance 1e-7."""
    rng = np.random.default_rng(5)
    circuit, model = random_circuit(rng, delays=False), random_model(rng)
    circuit.measure([2, 0, 1], [2, 0, 1])
    read = snc.Circuit.from_qiskit(circuit, noise_model=model)
    assert str(read).count("M(0.03, 0.08)") == 2
    assert "M(0.01) 2" in str(read)
    shots = 400_000
    simulator = aer.AerSimulator(method="density_matrix", noise_model=model, seed_simulator=1)
    counts = simulator.run(circuit, shots=shots, optimization_level=0).result().get_counts()
    for records, p in record_distribution(read.to_stim()).items():
        value = dict(zip((2, 0, 1), records, strict=True))  # by bits
        found = counts.get(f"{value[2]:d}{value[1]:d}{value[0]:d}", 0) / shots
        assert abs(found - p) < 6 * (p / shots) ** 0.5 + 1e-9


def test_relaxation_stays_relaxation() -> None:
    """What the trajectory engine follows at full speed is written as such, and nothing as KRAUS."""
    model = noise.NoiseModel()
    one, two = (noise.thermal_relaxation_error(t1, t2, 1) for t1, t2 in ((50, 40), (30, 55)))
    model.add_all_qubit_quantum_error(one, "t")
    model.add_all_qubit_quantum_error(noise.depolarizing_error(0.01, 2).compose(one.tensor(two)), "cx")
    model.add_all_qubit_quantum_error(noise.depolarizing_error(0.01, 1), "h")
    circuit = qiskit.QuantumCircuit(2)
    circuit.h(0)
    circuit.t(0)
    circuit.cx(0, 1)
    text = str(snc.Circuit.from_qiskit(circuit, noise_model=model))
    assert "KRAUS" not in text
    assert text.count("THERMAL_RELAXATION") == 3
    h, errors = text.splitlines()[:2]
    assert h == "H 0"
    assert errors.startswith(("DEPOLARIZE1(0.00749999", "DEPOLARIZE1(0.0075"))
    assert distance(snc.Circuit(text), aer_density_matrix(circuit, model)) < 1e-9
    assert "DEPOLARIZE2(0.0093" in text


def test_channels_in_circuits_and_delays() -> None:
    rng = np.random.default_rng(3)
    circuit = random_circuit(rng, delays=True)
    circuit.delay(200, 0, "ns")
    times = dict(t1s=[30e-6, 20e-6, 25e-6], t2s=[20e-6, 30e-6, 50e-6])
    noisy = noise.RelaxationNoisePass(**times, dt=1e-9, op_types=[qiskit.circuit.Delay])(circuit)
    noisy.append(random_channel(rng, 1).to_instruction(), [1])
    noisy.append(qiskit.quantum_info.SuperOp(random_channel(rng, 2)).to_instruction(), [2, 0])
    read = snc.Circuit.from_qiskit(noisy)
    assert distance(read, aer_density_matrix(noisy, None)) < 1e-7
    assert "THERMAL_RELAXATION" in str(read)
    # A delay of this package has the same relaxation.
    one = qiskit.QuantumCircuit(1)
    one.delay(300, 0, "ns")
    by_pass = snc.Circuit.from_qiskit(noise.RelaxationNoisePass([30e-6], [20e-6], dt=1e-9)(one))
    by_times = snc.Circuit.from_qiskit(one, relaxation_times=(30e-6, 20e-6))
    found, expected = (
        final_density_matrix((snc.Circuit("H 0") + each).to_stim()) for each in (by_pass, by_times)
    )
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_what_cannot_be_read_is_refused() -> None:
    circuit = qiskit.QuantumCircuit(3, 1)
    circuit.ccx(0, 1, 2)
    model = noise.NoiseModel()
    model.add_all_qubit_quantum_error(noise.depolarizing_error(0.01, 3), "ccx")
    with pytest.raises(ValueError, match="Instruction 0, ccx: its noise acts on 3 qubits together"):
        snc.Circuit.from_qiskit(circuit, noise_model=model)
    several = noise.NoiseModel()
    several.add_readout_error(noise.ReadoutError(np.eye(4)[[0, 2, 1, 3]]), [0, 1])
    with pytest.raises(ValueError, match="together, and measurements are misread independently"):
        snc.Circuit.from_qiskit(circuit, noise_model=several)
    passes = noise.NoiseModel()
    passes._custom_noise_passes.append(noise.RelaxationNoisePass([1e-6], [1e-6]))
    with pytest.raises(ValueError, match="RelaxationNoisePass"):
        snc.Circuit.from_qiskit(circuit, noise_model=passes)
    with pytest.raises(TypeError, match=r"must be a qiskit_aer\.noise\.NoiseModel"):
        snc.Circuit.from_qiskit(circuit, noise_model=3)
    conditional = qiskit.QuantumCircuit(1, 1)
    conditional.measure(0, 0)
    with conditional.if_test((conditional.clbits[0], 1)):
        conditional.t(0)
    noisy = noise.NoiseModel()
    noisy.add_all_qubit_quantum_error(noise.depolarizing_error(0.01, 1), "t")
    with pytest.raises(ValueError, match="cannot be conditional"):
        snc.Circuit.from_qiskit(conditional, noise_model=noisy)


def test_noise_models_of_cirq() -> None:
    """`circuit.with_noise` writes channels, which are read with their density matrices."""
    cirq = pytest.importorskip("cirq")
    pytest.importorskip("stimcirq")
    a, b = cirq.LineQubit.range(2)
    circuit = cirq.Circuit([cirq.H(a), cirq.T(a), cirq.CNOT(a, b), cirq.T(b) ** -1, cirq.H(b)])
    channels = (
        cirq.depolarize(0.03), cirq.amplitude_damp(0.1), cirq.phase_damp(0.2), cirq.bit_flip(0.1),
        cirq.asymmetric_depolarize(0.01, 0.02, 0.05), cirq.generalized_amplitude_damp(0.8, 0.1),
        cirq.ResetChannel(), cirq.phase_flip(0.2),
    )  # fmt: skip
    for channel in channels:
        noisy = circuit.with_noise(cirq.ConstantQubitNoiseModel(channel))
        found = final_density_matrix(snc.Circuit.from_cirq(noisy).to_stim())
        expected = cirq.DensityMatrixSimulator(dtype=np.complex128).simulate(noisy).final_density_matrix
        order = [0, 2, 1, 3]  # Cirq's first qubit is the most significant one
        np.testing.assert_allclose(found, expected[np.ix_(order, order)], atol=1e-7)
