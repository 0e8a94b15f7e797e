"""T states in several codes: rates from fault sets against counted errors."""

import pytest

from benchmarks.rates.code_circuits import CIRCUITS, color_code, t_state_circuit, toric
from stim_nonclifford.rates.estimation.limits import Settings

from ....support.rates.fault_set_cases import SIGMAS, estimate

P = 6e-3


@pytest.mark.parametrize("name", CIRCUITS)
def test_rates_equal_counts(name: str) -> None:
    """Seeds 1 and 2. With biased noise, 9% of the pairs of mechanisms pass the checks of the 3D color code."""
    circuit = t_state_circuit(*CIRCUITS[name], P)
    found = circuit.logical_error_rate(postselection_mask="all", seed=1)
    counts = circuit.compile_detector_sampler(seed=2, postselection_mask="all").sample_counts(2 * 10**6)
    assert found.relative_error <= 0.01
    kept = found.kept * counts.shots
    assert abs(counts.kept - kept) < SIGMAS * kept**0.5
    # A Poisson number with this mean is farther away with a probability below 1e-6.
    expected = found.logical_error_rate * counts.kept
    error = SIGMAS * (expected**0.5 + found.standard_error * counts.kept) + SIGMAS**2 / 2
    assert abs(counts.errors - expected) < error
    assert expected > 10


def test_the_steane_code() -> None:
    """Two faults are needed: single ones that spread are seen by the check of the T state."""
    circuit = t_state_circuit(color_code(3), p=P)
    assert circuit.fault_distance(postselection_mask="all").value == 2


class UpToThree(Settings):
    """Settings under which only sets of up to three mechanisms are enumerated."""

    def may_enumerate(self, weight: int, steps: float, classes: float) -> bool:
        return weight <= 3


def test_what_was_not_looked_at_is_part_of_the_error() -> None:
    """Seed 1. Three mechanisms tell far more than was asked for; four are left out."""
    circuit = t_state_circuit(toric(3), "biased", 3e-3)
    exact = estimate(circuit, Settings(1e-3), 1)
    found = estimate(circuit, UpToThree(0.3), 1)
    assert exact.relative_error < 1e-4
    assert [(each.most_faults, each.method) for each in found.strata[-2:]] == [
        (3, "enumerated"),
        (None, "bound"),
    ]
    assert exact.kept_and_wrong - found.kept_and_wrong > 1e-3 * exact.kept_and_wrong
    assert abs(found.logical_error_rate - exact.logical_error_rate) < 2 * found.standard_error
