"""Results of logical error rates: sums over seeds, and what they refuse."""

import dataclasses
import math
import pickle

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.rates.results import LogicalErrorRate
from stim_nonclifford.rates.samplers.strata import Stratum


def surface_code(p: float, distance: int = 3) -> snc.Circuit:
    return snc.Circuit.generated(
        "surface_code:rotated_memory_z", distance=distance, rounds=distance, after_clifford_depolarization=p
    )


def decoded(seed: int, p: float = 1e-3, error: float = 0.1) -> LogicalErrorRate:
    return surface_code(p).logical_error_rate(decoder="pymatching", relative_error=error, seed=seed)


def test_a_sum_is_as_good_as_its_parts_together() -> None:
    """Eight seeds with an error of 10% each, against one with 1%: within 5 standard errors, and 8^(-1/2) of them."""
    parts = [decoded(seed) for seed in range(8)]
    together = sum(parts[1:], parts[0])
    exact = decoded(100, error=0.01)
    error = math.hypot(together.standard_error, exact.standard_error)
    assert abs(together.logical_error_rate - exact.logical_error_rate) < 5 * error
    mean = np.mean([each.standard_error for each in parts])
    assert together.standard_error == pytest.approx(mean / math.sqrt(8), rel=0.1)
    low, high = together.interval
    assert low < together.logical_error_rate < high
    # Of a normal distribution: 1.96 standard errors on either side, a little more above, where events are few.
    assert (high - low) / together.standard_error == pytest.approx(3.92, rel=0.15)
    assert together.samples == sum(each.samples for each in parts)
    assert together.decodes == sum(each.decodes for each in parts)
    assert together.seeds == tuple(range(8))
    assert sum(each.kept_and_wrong for each in together.strata) == pytest.approx(together.kept_and_wrong)
    assert sum(each.probability for each in together.strata) == pytest.approx(1, abs=0.02)


def test_the_weights_of_a_sum_are_numbers_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted shots of two seeds are the count of all of them; no number of faults is counted by itself."""
    monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
    first, second = (decoded(seed, p=0.02, error=error) for seed, error in ((1, 0.05), (2, 0.02)))
    shots = [each.strata[0].sets for each in (first, second)]
    wrong = [each.strata[0].wrong for each in (first, second)]
    together = first + second
    assert together.logical_error_rate == pytest.approx(sum(wrong) / sum(shots))
    assert together.strata[0].wrong == sum(wrong)
    # Binomial, with the shot that may have been missed.
    rate = together.logical_error_rate
    assert together.standard_error == pytest.approx(math.sqrt(rate * (1 - rate) / sum(shots)), rel=0.01)


def test_exact_rates_add_up_to_themselves() -> None:
    circuit = snc.Circuit("X_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    first, second = (circuit.logical_error_rate(seed=seed) for seed in (1, 2))
    together = first + second
    assert dataclasses.replace(together, seeds=first.seeds) == first
    assert together.seeds == (1, 2)


def test_bounds_of_sums_do_not_fall() -> None:
    """What no search evaluated stays in the interval, however many seeds there are."""
    circuit = surface_code(3e-3, 5)
    parts = [
        circuit.logical_error_rate(postselection_mask="all", relative_error=0.2, seed=seed) for seed in (1, 2)
    ]
    assert all(each.samples and each.unsampled_bound for each in parts)
    together = parts[0] + parts[1]
    least = min(each.unsampled_bound for each in parts)
    assert together.unsampled_bound >= least
    assert together.interval[1] - together.logical_error_rate >= least


def test_gap_curves_add_up() -> None:
    circuit = surface_code(5e-3)
    parts = [
        circuit.logical_error_rate(decoder="pymatching", confidence=True, relative_error=0.2, seed=seed)
        for seed in (1, 2)
    ]
    together = parts[0] + parts[1]
    assert together.gap_curve
    # Shares at the largest gap are those of one result.
    largest = f"gap >= {together.gap_curve[-1].gap}"
    assert all(f"gap >= {part.gap_curve[-1].gap}" in str(part) for part in parts)
    assert largest not in str(together)
    for point in together.gap_curve:
        each = [{one.gap: one for one in part.gap_curve}[point.gap] for part in parts]
        assert min(one.kept for one in each) <= point.kept <= max(one.kept for one in each)
        assert point.standard_error <= max(one.standard_error for one in each)
        assert point.interval[0] <= point.logical_error_rate <= point.interval[1]


def test_results_without_draws_count_where_they_are_better() -> None:
    """What a search without draws leaves open is no matter of chance: it is not a part of a mean."""
    drawn = surface_code(1e-3).logical_error_rate(decoder="pymatching", relative_error=0.01, seed=1)
    nothing = dataclasses.replace(
        drawn,
        standard_error=0.5,
        interval=(0.0, 1.0),
        strata=tuple(dataclasses.replace(each, draws=0) for each in drawn.strata),
        seeds=(2,),
    )
    for together in (drawn + nothing, nothing + drawn):
        assert together.logical_error_rate == pytest.approx(drawn.logical_error_rate)
        assert together.standard_error == pytest.approx(drawn.standard_error)
        assert together.interval == pytest.approx(drawn.interval)
    exact = dataclasses.replace(nothing, standard_error=0.0)
    for together in (drawn + exact, exact + drawn):
        assert together.standard_error == 0
        assert set(together.seeds) == {1, 2}


def test_what_does_not_add_up() -> None:
    first = decoded(1)
    with pytest.raises(ValueError, match="the seed 1: they are not independent"):
        first + first
    with pytest.raises(ValueError, match="different circuits"):
        first + decoded(2, p=2e-3)
    with pytest.raises(ValueError, match="different circuits"):
        first + surface_code(1e-3).logical_error_rate(postselection_mask="all", seed=2)
    with pytest.raises(TypeError, match="unsupported operand"):
        first + 1  # type: ignore[operator]
    with pytest.raises(ValueError, match="a sum of several seeds"):
        (first + decoded(2)).error_budget("noise")
    loaded = pickle.loads(pickle.dumps(first))
    assert loaded + decoded(2) == first + decoded(2)


def test_clifford_circuits_have_to_say_that_all_detectors_are_postselected() -> None:
    """A memory may be meant to be decoded; a circuit with T gates without a decoder cannot be."""
    with pytest.raises(ValueError, match='decoder="pymatching"'):
        surface_code(1e-3).logical_error_rate()
    circuit = snc.Circuit(
        "RX 0 1\nZ_ERROR(0.01) 0 1\nT 0\nT_DAG 0\nMX 0 1\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    assert circuit.logical_error_rate().kept == pytest.approx(0.99)
    every = circuit.logical_error_rate(postselection_mask="all")
    assert circuit.logical_error_rate().logical_error_rate == every.logical_error_rate
