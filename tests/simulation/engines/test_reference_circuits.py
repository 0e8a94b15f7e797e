"""Published circuits: their sizes, their plans, and their published probabilities.

The files are not part of the project; without them, the tests are skipped.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import SamplingPlan
from stim_nonclifford.simulation.sampling import SampleCounts

from ...support.laws.exact import exact_outputs
from ...support.oracle.operators import gate_unitary
from ...support.published_circuits import FOLDER, needs_published
from ...support.rates.error_models import assert_same_model

pytestmark = needs_published

# Qubits, measurements, detectors, observables.
SIZES = {
    "msc_d3_inject_cultivate_p1e-3": (15, 21, 20, 1),
    "msc_d5_inject_cultivate_p1e-3": (42, 112, 107, 1),
    "distillation": (85, 85, 40, 5),
    "coherent_d3_r1": (26, 17, 8, 1),
    "coherent_d3_r3": (26, 33, 24, 1),
    "coherent_d5_r1": (64, 49, 24, 1),
    "coherent_d5_r5": (64, 145, 120, 1),
    "pure_surface_d7_r7_p1e-3": (118, 385, 336, 1),
    "quantum_volume_q10_seed42": (10, 10, 0, 1),
    "quantum_volume_q20_seed42": (20, 20, 0, 1),
    "k19_not_a_code_p5e-4": (80, 355, 344, 1),
    "e2e_t_d3_p1e-3": (454, 2280, 2162, 1),
    "e2e_t_d5_p1e-3": (463, 2863, 2744, 1),
}
D3, D5 = "msc_d3_inject_cultivate_p1e-3", "msc_d5_inject_cultivate_p1e-3"

# Exact values of arXiv 2609.18922 at p = 0.001: probability to keep a shot, and errors per kept shot.
D3_KEPT, D3_ERROR = 0.6867847489562792, 8.982790954282e-7
D5_KEPT, D5_ERROR = 0.1439555840959421903, 3.328425371418e-9


def load(name: str) -> Circuit:
    return Circuit.from_file(FOLDER / f"{name}.stim")


def postselected_plan(circuit: Circuit) -> SamplingPlan:
    """All detectors postselected, the observables reported."""
    detectors = range(circuit.num_detectors)
    observables = range(circuit.num_detectors, circuit.num_detectors + circuit.num_observables)
    return circuit.compile().detector_plan(
        RequestedOutputs.of(observables, detectors), skip_reference_sample=True
    )


def test_every_file_is_listed() -> None:
    assert {path.stem for path in FOLDER.glob("*.stim")} == set(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    circuit = load(name)
    found = (circuit.num_qubits, circuit.num_measurements, circuit.num_detectors, circuit.num_observables)
    assert found == SIZES[name]
    assert Circuit(str(circuit)) == circuit


@pytest.mark.parametrize(
    ("name", "peak_width"),
    [
        (D3, 4),
        (D5, 10),
        ("coherent_d3_r3", 5),
        ("coherent_d5_r5", 13),
        ("distillation", 4),
        ("pure_surface_d7_r7_p1e-3", 0),
        ("quantum_volume_q10_seed42", 10),
        ("k19_not_a_code_p5e-4", 19),
    ],
)
def test_widths(name: str, peak_width: int) -> None:
    """No wider than they have been; narrower is better."""
    assert postselected_plan(load(name)).peak_width <= peak_width


@pytest.mark.parametrize(("name", "mechanisms", "events"), [(D3, 395, 0.3766), (D5, 2934, 1.942)])
def test_mechanisms(name: str, mechanisms: int, events: float) -> None:
    """Few of the 518 and 3564 places of noise are seen to differ."""
    plan = postselected_plan(load(name))
    assert 0.9 * mechanisms < plan.num_mechanisms <= mechanisms
    assert plan.mean_events == pytest.approx(events, abs=0.001)
    assert (plan.sites < 0).all()
    assert not len(plan.coins)


@pytest.mark.parametrize("name", [D3, D5])
@pytest.mark.parametrize("skip_reference_sample", [False, True])
def test_cultivation_without_noise(name: str, skip_reference_sample: bool) -> None:
    """Exactly: no detector fires, and the logical state is right."""
    circuit = load(name).without_noise()
    outputs = range(circuit.num_detectors + circuit.num_observables)
    for postselected in ((), outputs):
        plan = circuit.compile().detector_plan(
            RequestedOutputs.of(outputs, postselected), skip_reference_sample=skip_reference_sample
        )
        found = exact_outputs(plan)
        assert plan.num_outcomes > 0
        assert found.kept[0] == pytest.approx(1, abs=1e-12)


def test_cultivation_in_the_wrong_frame() -> None:
    """With T_DAG for every T but not the other way round, the logical state is another one."""
    text = str(load(D3).without_noise())
    lines = [line.replace("T ", "T_DAG ", 1) if line.startswith("T ") else line for line in text.splitlines()]
    assert exact_outputs(postselected_plan(Circuit("\n".join(lines)))).kept.get(0, 0.0) < 0.9


def sigmas(counts: SampleCounts, kept: float) -> float:
    """How many standard deviations off the number of kept shots is."""
    return abs(counts.kept - counts.shots * kept) / math.sqrt(counts.shots * kept * (1 - kept))


def error_p_value(counts: SampleCounts, error_rate: float) -> float:
    """Of the exact two-sided binomial test of the errors among the kept shots."""
    return float(scipy.stats.binomtest(counts.errors, counts.kept, error_rate).pvalue)


def counts_of(name: str, shots: int, seed: int) -> SampleCounts:
    circuit = load(name)
    mask = np.ones(circuit.num_detectors, dtype=np.bool_)
    sampler = circuit.compile_detector_sampler(seed=seed, postselection_mask=mask)
    return sampler.sample_counts(shots)


def test_published_probabilities_of_d3() -> None:
    """10^8 shots of seed 1; false alarms: 5.5 sigma is 4e-8, and 1e-7 for the errors (62 expected)."""
    counts = counts_of(D3, 10**8, seed=1)
    assert sigmas(counts, D3_KEPT) < 5.5
    assert error_p_value(counts, D3_ERROR) > 1e-7


def test_published_probabilities_of_d5() -> None:
    """10^7 shots of seed 2; false alarms: 5.5 sigma is 4e-8, and 1e-7 for the errors (0.005 expected)."""
    counts = counts_of(D5, 10**7, seed=2)
    assert sigmas(counts, D5_KEPT) < 5.5
    assert error_p_value(counts, D5_ERROR) > 1e-7


def test_the_published_probabilities_would_be_missed() -> None:
    """The tests above see a change of 0.1 % in the noise, or of a factor of 2 in the errors."""
    counts = SampleCounts(10**8, 10**8 - round(10**8 * D3_KEPT**1.001), 62, np.array([62]))
    assert sigmas(counts, D3_KEPT) > 5.5
    doubled = SampleCounts(10**8, 10**8 - round(10**8 * D3_KEPT), 124, np.array([124]))
    assert error_p_value(doubled, D3_ERROR) < 1e-7


def test_raw_parities_and_flips_are_the_same_for_cultivation() -> None:
    """Seed 3: the reference sample has no detector set."""
    circuit = load(D3)
    flips, raw = (
        circuit.compile_detector_sampler(seed=3, skip_reference_sample=skip).sample(
            10_000, append_observables=True
        )
        for skip in (False, True)
    )
    np.testing.assert_array_equal(flips, raw)


def test_surface_code_as_stim() -> None:
    assert_same_model(load("pure_surface_d7_r7_p1e-3").to_stim())


@pytest.mark.parametrize("name", ["coherent_d3_r1", "coherent_d5_r1"])
def test_coherent_noise_that_one_round_does_not_see(name: str) -> None:
    """Rotations about Z before measurements of Z: the noiseless circuit has one outcome, exactly."""
    circuit = load(name).without_noise()
    found = exact_outputs(postselected_plan(circuit))
    assert found.kept == {0: 1.0}


def test_coherent_noise_without_incoherent_noise() -> None:
    """Detectors fire, and yet no logical error survives postselection on all of them: distance 3."""
    found = exact_outputs(postselected_plan(load("coherent_d3_r3").without_noise()))
    assert 0.3 < found.discarded < 0.7
    assert found.kept.get(1, 0.0) < 1e-3


def test_distillation_without_noise() -> None:
    """No detector fires; the outputs are 5 random bits, of which the likeliest have the same probability."""
    circuit = load("distillation").without_noise()
    found = exact_outputs(postselected_plan(circuit))
    assert found.discarded == 0
    assert len(found.kept) == 32
    assert found.kept_probability == pytest.approx(1, abs=1e-12)


def test_quantum_volume_circuit() -> None:
    """The output's distribution, against a state vector of ten qubits."""
    circuit = load("quantum_volume_q10_seed42")
    state = np.zeros((2,) * 10, dtype=np.complex128)
    state[(0,) * 10] = 1
    measured = []
    for instruction in circuit.to_stim().flattened():
        if instruction.name == "M":
            measured += [target.value for target in instruction.targets_copy()]
        elif stim.gate_data(instruction.name).is_unitary:
            for group in instruction.target_groups():
                qubits, unitary = gate_unitary(instruction.name, instruction.tag, group)
                tensor = unitary.reshape((2,) * (2 * len(qubits)))
                axes = list(reversed(qubits))  # the first qubit is the least significant bit
                inputs = range(len(qubits), 2 * len(qubits))
                state = np.moveaxis(np.tensordot(tensor, state, (inputs, axes)), range(len(qubits)), axes)
    probability_of_one = np.sum(np.abs(np.moveaxis(state, measured[-1], 0)[1]) ** 2)
    found = exact_outputs(postselected_plan(circuit))
    assert found.kept[1] == pytest.approx(probability_of_one, abs=1e-10)
    assert abs(probability_of_one - 0.5) > 0.005


def test_detector_that_fires_without_noise() -> None:
    """One detector of the wide circuit fires with probability 3/8."""
    compiled = load("k19_not_a_code_p5e-4").without_noise().compile()
    plan = compiled.detector_plan(RequestedOutputs.of([69]), skip_reference_sample=True)
    assert exact_outputs(plan).kept[1] == pytest.approx(3 / 8, abs=1e-12)


@pytest.mark.parametrize("first_shot", [3400, 337_920])
def test_wide_simulations_from_a_stored_vector_agree_with_the_reference_engine(first_shot: int) -> None:
    """Seed 11. In shot 3410 an outcome check becomes final at a weak measurement whose angle was taken up before."""
    circuit = load("coherent_d5_r5")
    detectors = circuit.num_detectors
    plan = circuit.compile().detector_plan(RequestedOutputs.of([detectors], range(detectors)))
    found, expected = (engine(plan).count(11, first_shot, 20) for engine in (CpuEngine, ReferenceEngine))
    assert found == expected
