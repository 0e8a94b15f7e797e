"""The parts of decoded logical error rates: mechanisms, shots, moves, ratios."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import stim
from scipy.stats import chi2

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates.anchoring import anchors, family
from stim_nonclifford.rates.decoded_rates.anchoring.anchors import LowAnchor, burn_ins, chains_of, profile_of
from stim_nonclifford.rates.decoded_rates.anchoring.lightest import (
    largest_enumerable,
    log_probability_of_lightest,
)
from stim_nonclifford.rates.decoded_rates.anchoring.plain_counts import PlainLevel
from stim_nonclifford.rates.decoded_rates.anchoring.ratios import bennett_ratio
from stim_nonclifford.rates.decoded_rates.chains import jumps
from stim_nonclifford.rates.decoded_rates.chains.chains import ChainStates, Level, Moves
from stim_nonclifford.rates.decoded_rates.chains.descent import Stop, ladder_down_from, resampled
from stim_nonclifford.rates.decoded_rates.chains.renewal import RENEWED, Families
from stim_nonclifford.rates.decoded_rates.failing.cores import cores_of, rows_of
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import families_of, fault_model, symptoms_of
from tests.support.rates.decoded_rate_cases import (
    failure_test,
    model_of,
    probabilities_of_sets,
    repetition_code,
    surface_code,
)

IMPROBABLE = 1e-7
NOISE = 0.15


def nothing() -> None:
    pass


def numbers_of_sets(states: ChainStates) -> np.ndarray:
    return np.array(
        [int((1 << row[:size]).sum()) for row, size in zip(states.members, states.sizes, strict=True)]
    )


def test_loops_list_symptoms_more_than_once() -> None:
    circuit = surface_code(3e-3, distance=5)
    folded, unrolled = (circuit.detector_error_model(flatten_loops=flatten) for flatten in (False, True))
    one, other = symptoms_of(folded), symptoms_of(unrolled)
    assert one.probabilities.keys() == other.probabilities.keys()
    for symptom, probability in other.probabilities.items():
        assert one.probabilities[symptom] == pytest.approx(probability, rel=1e-9)


def test_equal_symptoms_are_one_mechanism_whatever_their_parts() -> None:
    model = stim.DetectorErrorModel("error(0.1) D0 D1 ^ D1 L0\nerror(0.2) D0 L0\nerror(0.3) D1 ^ D1")
    assert symptoms_of(model).probabilities == {((0,), (0,)): pytest.approx(0.26)}


def test_likely_errors_are_expected() -> None:
    found = symptoms_of(stim.DetectorErrorModel("error(0.9) D0 L0\nerror(1) D1\nerror(0) D2"))
    assert found.expected == ((0, 1), (0,))
    assert found.probabilities == {((0,), (0,)): pytest.approx(0.1)}


def test_families_share_their_symptoms() -> None:
    circuits = [
        repetition_code(0.1),
        surface_code(0.1),
        repetition_code(0.2),
        repetition_code(0.1, readout=0),
    ]
    symptoms = [symptoms_of(circuit.detector_error_model()) for circuit in circuits]
    assert families_of(symptoms) == [[0, 2], [1], [3]]


def test_rows_have_what_members_flip() -> None:
    model = fault_model(
        [symptoms_of(stim.DetectorErrorModel("error(0.1) D0 D70 L1\nerror(0.1) D70\nerror(1) D3"))]
    )
    states = ChainStates.of(model, [np.array([0, 1]), np.array([], dtype=np.intp)])
    dets = np.unpackbits(model.detectors(states.rows), axis=1, bitorder="little")
    assert [np.flatnonzero(row).tolist() for row in dets] == [[0, 3], [3]]
    assert model.observables(states.rows)[:, 0].tolist() == [2, 0]


def test_plain_shots_have_the_probabilities_of_fault_sets() -> None:
    circuit = repetition_code(NOISE, distance=3)
    probabilities, fails = probabilities_of_sets(circuit)
    model = model_of(circuit)
    level = PlainLevel(model, [failure_test(circuit, model)], Stop(model.log_odds[0], 0))
    level.take(200_000, np.random.default_rng(5), nothing)
    expected = float(probabilities[fails].sum()) * level.shots
    assert abs(level.failures - expected) < 5.4 * math.sqrt(expected)
    found = np.array([int((1 << members).sum()) for members in level.sets])
    assert_law(found, probabilities * fails)


def assert_law(found: np.ndarray, weights: np.ndarray) -> None:
    """A chi-squared test of independent draws, with rare values put together."""
    counts = np.bincount(found, minlength=len(weights))
    assert not counts[weights == 0].any()
    expected = weights / weights.sum() * len(found)
    rare = expected < 10
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    chi_squared = float(((counts - expected) ** 2 / expected).sum())
    assert len(counts) > 5
    assert chi2.sf(chi_squared, len(counts) - 1) > IMPROBABLE, chi_squared


@pytest.mark.parametrize("kinds", ["r", "s", "e", "g", "rseg"])
def test_moves_keep_the_law_of_failing_fault_sets(kinds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jumps, "_MOST_MEMBERS", {"exchange": 3, "growth": 2})
    circuit = repetition_code(NOISE, distance=3)
    probabilities, fails = probabilities_of_sets(circuit)
    model = model_of(circuit)
    rng = np.random.default_rng(11)
    weights = probabilities * fails
    starts = rng.choice(len(weights), size=20_000, p=weights / weights.sum())
    states = ChainStates.of(
        model, [np.flatnonzero(number >> np.arange(model.num_mechanisms) & 1) for number in starts]
    )
    # Two levels of the same noise, of which each draws another share anew.
    levels = [Level(model.log_odds[0], 0, share) for share in (0.2, 0.5)]
    test = failure_test(circuit, model)
    cores, _ = cores_of(
        model, states.members[:60], states.numbers[:60], model.log_odds[0], lambda rows, _: test(rows)
    )
    moves = Moves(model, [test], levels, cores)
    assert moves.kinds == "rrseg"
    level_of = np.arange(len(starts)) % 2
    for kind in kinds * 3:
        decided, accepted = moves.move(moves.kinds.index(kind), states, level_of, rng)
        assert not (accepted & ~decided).any()
        assert 0.02 < accepted.mean() < 0.98
    found = numbers_of_sets(states)
    assert (found != starts).mean() > 0.3
    assert_law(found, weights)
    again = ChainStates.of(
        model, [row[:size] for row, size in zip(states.members, states.sizes, strict=True)]
    )
    assert (again.rows == states.rows).all()


def test_cores_fail_and_have_no_member_too_many() -> None:
    circuit = repetition_code(NOISE)
    model = model_of(circuit)
    test = failure_test(circuit, model)
    level = PlainLevel(model, [test], Stop(model.log_odds[0], 0))
    level.take(2000, np.random.default_rng(6), nothing)
    sets = ChainStates.of(model, level.sets)
    cores, members = cores_of(
        model, sets.members, sets.numbers, model.log_odds[0], lambda rows, _: test(rows)
    )
    assert len(cores) == len(level.sets) > 100
    assert test(rows_of(model, members, sets.numbers)).all()
    for core, whole in zip(cores, level.sets, strict=True):
        assert set(core) <= set(whole.tolist())
        smaller = np.array([[k for k in core if k != member] for member in core], dtype=np.intp)
        assert not test(rows_of(model, smaller, sets.numbers[: len(smaller)])).any()
    assert len(set(cores)) > 10


def test_an_error_that_no_detector_sees() -> None:
    # Qubit 9 flips the observable as often as the code fails.
    circuit = snc.Circuit(f"X_ERROR(2e-5) 9\n{repetition_code(2e-3, distance=3, readout=0)}")
    circuit += snc.Circuit("M 9\nOBSERVABLE_INCLUDE(0) rec[-1]")
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.05, seed=1)
    data = 2e-3 * 2 / 3
    of_code = 3 * data**2 * (1 - data) + data**3
    exact = of_code * (1 - 2e-5) + 2e-5 * (1 - of_code)
    assert rate.logical_error_rate == pytest.approx(exact, rel=1e-9)


def test_moves_reach_the_law_from_one_fault_set() -> None:
    circuit = repetition_code(NOISE, distance=3)
    probabilities, fails = probabilities_of_sets(circuit)
    model = model_of(circuit)
    rng = np.random.default_rng(12)
    start = np.flatnonzero(int(np.argmax(probabilities * fails)) >> np.arange(model.num_mechanisms) & 1)
    states = ChainStates.of(model, [start] * 10_000)
    moves = Moves(model, [failure_test(circuit, model)], [Level(model.log_odds[0], 0, 0.4)])
    level_of = np.zeros(10_000, dtype=np.intp)
    for kind in "rrs" * 25:
        (moves.refresh if kind == "r" else moves.replace)(states, level_of, rng)
    assert_law(numbers_of_sets(states), probabilities * fails)


def test_failures_do_not_depend_on_what_was_asked_before() -> None:
    circuit = surface_code(8e-3)
    model = model_of(circuit)
    fails = failure_test(circuit, model)
    rng = np.random.default_rng(3)
    numbers = rng.poisson(2.0, 3000)
    from stim_nonclifford.rates.decoded_rates.failing.plain_shots import xor_of_groups

    rows = xor_of_groups(model, rng.integers(model.num_mechanisms, size=int(numbers.sum())), numbers)
    first = fails(rows)
    decoded = fails.decoded
    assert (fails(rows[::-1])[::-1] == first).all()
    assert fails.decoded < decoded + len(rows) // 10
    assert (fails.without_memory(rows)[0] == first).all()


def test_bennett_ratio_of_gaussians() -> None:
    # Weights e^{u} of the next level over this one, with u of mean -1/2 + 0.3 and 1/2 + 0.3 and variance 1: e^0.3.
    rng = np.random.default_rng(8)
    up, down = rng.normal(size=(2, 500, 64)) + np.array([-0.2, 0.8])[:, None, None]
    ratio = bennett_ratio(up, down)
    error = ratio.influences.mean(axis=0).std(ddof=1) / 8
    assert ratio.influences.mean() == pytest.approx(0, abs=1e-9)
    assert 0.002 < error < 0.02
    assert abs(ratio.log_ratio - 0.3) < 6.5 * error


def test_bennett_ratio_where_not_all_fail_in_both() -> None:
    # Of equal weights, half of this level's sets fail in the next, and all of the next level's in this one.
    up, down = np.zeros((400, 64)), np.zeros((400, 64))
    up[::2] = -np.inf
    assert bennett_ratio(up, down).log_ratio == pytest.approx(math.log(0.5), abs=1e-6)
    with pytest.raises(ZeroDivisionError):
        bennett_ratio(np.full((4, 2), -np.inf), np.zeros((4, 2)))


def test_burn_in_leaves_out_a_slow_start() -> None:
    rng = np.random.default_rng(4)
    sizes = 5 + rng.normal(size=(400, 3, 64))
    assert list(burn_ins(sizes)) == [50, 100, 150, 200]
    assert list(burn_ins(sizes, 0.25)) == [100, 150, 200]
    assert list(burn_ins(sizes[:120])) == [48, 60]
    sizes[:140, 1] += np.linspace(3, 0, 140)[:, None]
    assert list(burn_ins(sizes)) == [150, 200]
    sizes[:, 1] += np.linspace(3, 0, 400)[:, None]
    assert list(burn_ins(sizes)) == [200]


def test_searches_go_on_by_as_much_as_they_need() -> None:
    """Of variances that fall as one over the work, within limits."""
    assert family._growth(1.1, 1.0) == pytest.approx(0.1)
    assert family._growth(1.01, 1.0) == 0.05
    assert family._growth(0.5, 1.0) == 0.05  # something else is to blame
    assert [family._growth(3.0, 1.0), family._growth(math.inf, 1.0), family._growth(1.0, -0.1)] == 3 * [0.2]


def test_chains_with_common_ancestors_have_larger_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sweeps take no fault set through four levels; in many sweeps of seed 9, nearly all come from the first."""
    circuits = [repetition_code(p) for p in (0.05, 0.01, 0.002, 4e-4)]
    symptoms = [symptoms_of(circuit.detector_error_model()) for circuit in circuits]
    model = fault_model(symptoms)
    tests = [failure_test(circuit, model) for circuit in circuits]
    stops = [Stop(odds, k) for k, odds in enumerate(model.log_odds)]
    plain, rng = PlainLevel(model, tests, stops[0]), np.random.default_rng(9)
    plain.take(20_000, rng, nothing)
    starts = ChainStates.of(model, plain.sets[:64], plain.numbers[:64])
    ladder = ladder_down_from(model, tests, stops, starts, rng, nothing)
    ladder.run(2, rng, nothing)
    assert RENEWED not in ladder.families[-1][0]
    assert len(np.unique(ladder.families[-1][0][1])) < 48  # of the last level
    ladder.run(14, rng, nothing)
    chains = chains_of(ladder)
    profile = profile_of(ladder, chains, [(0, plain)], None)
    renewed = (ladder.families[-1][-1] == RENEWED).mean()
    assert (profile.variances >= chains.of_families + profile.count_variance).all()
    variances = {}
    for left_out in (2, 4, 6, 8):
        with monkeypatch.context() as patched:
            patched.setattr(anchors, "burn_ins", lambda *_, only=left_out: [only])
            others = chains_of(ladder)
        own = others.influences.mean(axis=0).var(axis=0, ddof=1) / 64
        variances[left_out] = float((own + others.of_families).max())
    monkeypatch.setattr(anchors, "burn_ins", lambda *_: list(variances))
    assert chains_of(ladder).burn_in == 2  # what families have in common hardly matters
    monkeypatch.setattr(anchors, "_WORTH_SWEEPS", 0)
    assert chains_of(ladder).burn_in == min(variances, key=variances.__getitem__) != 2
    monkeypatch.undo()
    means = chains.influences.mean(axis=0)[:, 1:]
    early = chains.of_families[1:] / (means**2).sum(axis=0) * 64**2
    assert (early > 0).all()
    unseen = chains_of(ladder, from_first=False)
    assert not unseen.of_families.any()
    ladder.run(400, rng, nothing)
    chains = chains_of(ladder)
    assert 0 < renewed < (ladder.families[-1][-1] == RENEWED).mean()
    means = chains.influences.mean(axis=0)[:, 1:]
    late = chains.of_families[1:] / (means**2).sum(axis=0) * 64**2
    assert (late < 0.1 * early).all()
    # Where an exact sum says all, it does not matter what nobody knows of families.
    last = len(ladder.levels) - 1
    everything = LowAnchor(last, model.num_mechanisms, float(profile.log_rates[-1]), 0.0)
    unknown = replace(chains, of_families=np.array([0] + [math.inf] * last))
    found = profile_of(ladder, unknown, [(0, plain)], everything).variances
    assert found[-1] == 0
    assert not np.isnan(found).any()


def test_copies_follow_weights() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        log_weights = 2 * rng.normal(size=64)
        log_weights[:5] = -np.inf
        taken = resampled(log_weights, rng)
        copies = np.bincount(taken, minlength=64)
        expected = 64 * np.exp(log_weights) / np.exp(log_weights).sum()
        assert (np.abs(copies - expected) < 1 + 1e-9).all()
        assert not copies[:5].any()
        assert (taken[copies > 0] == np.flatnonzero(copies > 0)).all()


def test_errors_of_families() -> None:
    """Sixteen families of four columns: what they have in common makes the variance 1 + 3 s^2 / (1 + s^2) times as large.

    Both means have, over 400 repetitions, relative errors below 1/40: 7 of them are far from the limits.
    """
    rng = np.random.default_rng(12)
    labels = np.repeat(np.arange(16), 4) + np.zeros((6, 2, 1), dtype=np.intp)
    for in_common in (0.0, 1.0):
        found = []
        for _ in range(400):
            own, shared = rng.normal(size=64), in_common * np.repeat(rng.normal(size=16), 4)
            says = np.broadcast_to((own + shared - (own + shared).mean()) / 2, labels.shape)
            families = Families(2, 64)
            families.add(0, labels, says)
            assert families.variances()[0] == 0
            found.append(families.variances()[1])
        added = float(np.mean(found)) * 64
        # Within families the variance is 1 + s^2; its noise has the part (2/15)^(1/2).
        noise = (1 + in_common**2) * math.sqrt(2 / 15)
        assert 3 * in_common**2 + 0.8 * noise < added < 3 * in_common**2 + 1.6 * noise
    one = Families(2, 64)
    one.add(0, np.zeros_like(labels), says)
    assert one.variances().tolist() == [0, math.inf]
    renewed = Families(2, 64)
    renewed.add(0, np.full_like(labels, RENEWED), says)
    assert renewed.variances().tolist() == [0, 0]


def test_lightest_sets_of_all_sizes_are_all() -> None:
    circuit = repetition_code(0.05, distance=3)
    probabilities, fails = probabilities_of_sets(circuit)
    model = model_of(circuit)
    assert largest_enumerable(model.num_mechanisms) == model.num_mechanisms
    assert largest_enumerable(219) == 2
    found = log_probability_of_lightest(
        model, failure_test(circuit, model), model.log_odds[0], model.num_mechanisms, nothing
    )
    assert math.exp(found) == pytest.approx(float(probabilities[fails].sum()), rel=1e-9)
