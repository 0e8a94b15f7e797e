"""Published circuits: their plans, and what test_generated_workloads cannot ask of generated ones.

The files are not part of the project; without them, the tests are skipped.
"""

import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import SamplingPlan

from ...support.laws.exact import exact_outputs
from ...support.published_circuits import FOLDER, needs_published

pytestmark = needs_published

D3, D5 = "msc_d3_inject_cultivate_p1e-3", "msc_d5_inject_cultivate_p1e-3"


def load(name: str) -> Circuit:
    return Circuit.from_file(FOLDER / f"{name}.stim")


def postselected_plan(circuit: Circuit) -> SamplingPlan:
    """All detectors postselected, the observables reported."""
    detectors = range(circuit.num_detectors)
    observables = range(circuit.num_detectors, circuit.num_detectors + circuit.num_observables)
    return circuit.compile().detector_plan(
        RequestedOutputs.of(observables, detectors), skip_reference_sample=True
    )


@pytest.mark.parametrize(
    ("name", "peak_width"),
    [
        (D3, 4), (D5, 10), ("coherent_d3_r3", 5), ("coherent_d5_r5", 13), ("distillation", 4),
        ("pure_surface_d7_r7_p1e-3", 0), ("quantum_volume_q10_seed42", 10), ("k19_not_a_code_p5e-4", 19),
    ],
)  # fmt: skip
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


def test_distillation_without_noise() -> None:
    """No detector fires; the outputs are 5 random bits, of which the likeliest have the same probability."""
    circuit = load("distillation").without_noise()
    found = exact_outputs(postselected_plan(circuit))
    assert found.discarded == 0
    assert len(found.kept) == 32
    assert found.kept_probability == pytest.approx(1, abs=1e-12)


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
