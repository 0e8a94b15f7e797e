"""Coherent noise on surface codes and random circuits, generated: what test_reference_circuits asks of published ones."""

import numpy as np
import pytest
import scipy.stats
import stim

from examples.cultivation.published import EXACT
from stim_nonclifford import Circuit
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import SamplingPlan
from stim_nonclifford.simulation.sampling import SampleCounts

from ...support.laws.exact import exact_outputs
from ...support.oracle.operators import gate_unitary
from ...support.texts.memory_circuits import memory


def coherent_surface_code(distance: int, rounds: int, angle: float = 0.02) -> Circuit:
    """A memory with over-rotations about Z behind all gates, and with flips of resets and measurements."""
    circuit = memory("surface_code:rotated_memory_z", distance, rounds, gates=0.5, reads=0.001, resets=0.001)
    lines = str(circuit.flattened()).splitlines()
    return Circuit(
        "\n".join(
            f"R_Z({angle}) {line.split(' ', 1)[1]}" if line.startswith("DEPOLARIZE") else line
            for line in lines
        )
    )


def random_circuit_of_pairs(num_qubits: int, layers: int, seed: int) -> Circuit:
    """Layers of random one-qubit gates and CX on random pairs, as in circuits for quantum volume."""
    generator = np.random.default_rng(seed)
    lines = []
    for _ in range(layers):
        for qubit in range(num_qubits):
            angles = ", ".join(f"{angle:.6f}" for angle in generator.uniform(-1, 1, 3))
            lines.append(f"U3({angles}) {qubit}")
        lines.append("CX " + " ".join(map(str, generator.permutation(num_qubits))))
    measured = " ".join(map(str, range(num_qubits)))
    return Circuit("\n".join([*lines, f"M {measured}", "OBSERVABLE_INCLUDE(0) rec[-1]"]))


def postselected_plan(circuit: Circuit) -> SamplingPlan:
    """All detectors postselected, the observable reported."""
    detectors = circuit.num_detectors
    requested = RequestedOutputs.of([detectors], range(detectors))
    return circuit.compile().detector_plan(requested, skip_reference_sample=True)


@pytest.mark.parametrize(("distance", "rounds", "peak_width"), [(3, 3, 5), (5, 5, 13)])
def test_widths_of_coherent_noise(distance: int, rounds: int, peak_width: int) -> None:
    """No wider than those of the published circuits; narrower is better."""
    assert postselected_plan(coherent_surface_code(distance, rounds)).peak_width <= peak_width


@pytest.mark.parametrize("distance", [3, 5])
def test_coherent_noise_that_one_round_does_not_see(distance: int) -> None:
    """Rotations about Z before measurements of Z: the noiseless circuit has one outcome, exactly."""
    found = exact_outputs(postselected_plan(coherent_surface_code(distance, 1).without_noise()))
    assert found.kept == {0: pytest.approx(1.0, abs=1e-12)}


def test_coherent_noise_without_incoherent_noise() -> None:
    """Detectors fire, and yet no logical error survives postselection on all of them: distance 3."""
    found = exact_outputs(postselected_plan(coherent_surface_code(3, 3).without_noise()))
    assert 0.2 < found.discarded < 0.7
    assert found.kept.get(1, 0.0) < 1e-3


@pytest.mark.parametrize("first_shot", [0, 337_920])
def test_wide_simulations_agree_with_the_reference_engine(first_shot: int) -> None:
    """Seed 11, shot by shot."""
    plan = postselected_plan(coherent_surface_code(5, 5))
    found, expected = (engine(plan).count(11, first_shot, 20) for engine in (CpuEngine, ReferenceEngine))
    assert found == expected


def test_random_circuit_against_a_state_vector() -> None:
    circuit = random_circuit_of_pairs(10, layers=6, seed=42)
    assert 6 < postselected_plan(circuit).peak_width <= 10
    state = np.zeros((2,) * 10, dtype=np.complex128)
    state[(0,) * 10] = 1
    for instruction in circuit.to_stim():
        if not stim.gate_data(instruction.name).is_unitary:
            continue
        for group in instruction.target_groups():
            qubits, unitary = gate_unitary(instruction.name, instruction.tag, group)
            tensor = unitary.reshape((2,) * (2 * len(qubits)))
            axes = list(reversed(qubits))  # the first qubit is the least significant bit
            inputs = range(len(qubits), 2 * len(qubits))
            state = np.moveaxis(np.tensordot(tensor, state, (inputs, axes)), range(len(qubits)), axes)
    probability_of_one = np.sum(np.abs(np.moveaxis(state, 9, 0)[1]) ** 2)
    found = exact_outputs(postselected_plan(circuit))
    assert found.kept[1] == pytest.approx(probability_of_one, abs=1e-10)
    assert abs(probability_of_one - 0.5) > 0.005


@pytest.mark.parametrize(("distance", "shots"), [(3, 10**8), (5, 10**7)])
def test_published_probabilities_of_cultivation(distance: int, shots: int) -> None:
    """Seed 1, at p = 0.001. False alarms: 5.5 sigma is 4e-8, and 1e-7 for the errors (62 and 0.005 expected)."""
    circuit = Circuit(cultivation_circuit(distance=distance, p=1e-3))
    counts: SampleCounts = circuit.compile_detector_sampler(seed=1, postselection_mask="all").sample_counts(
        shots
    )
    exact = EXACT[distance, 1e-3]
    deviation = (shots * exact.kept * (1 - exact.kept)) ** 0.5
    assert abs(counts.kept - shots * exact.kept) < 5.5 * deviation
    assert scipy.stats.binomtest(counts.errors, counts.kept, exact.error).pvalue > 1e-7
