"""Samplers of fault sets agree with exact sums over all fault sets, for each number of faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates.failing.sets import EXACT
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import FaultModel, fault_model, symptoms_of
from stim_nonclifford.rates.decoded_rates.samplers import enumeration, fault_numbers
from stim_nonclifford.rates.decoded_rates.samplers.backward_deletion import BackwardDeletion, Orphans
from stim_nonclifford.rates.decoded_rates.samplers.classify import Classify
from stim_nonclifford.rates.decoded_rates.samplers.direct_samples import DirectSamples
from stim_nonclifford.rates.decoded_rates.samplers.enumeration import Enumeration
from stim_nonclifford.rates.decoded_rates.samplers.fault_numbers import FaultNumberSum
from stim_nonclifford.rates.decoded_rates.samplers.plain_counts import PlainCounts
from stim_nonclifford.rates.decoded_rates.samplers.sized_sets import SizedSets
from stim_nonclifford.rates.decoded_rates.samplers.tally import Tally, interval_of_tallies
from stim_nonclifford.rates.decoded_rates.samplers.weighted_sets import WeightedSets
from stim_nonclifford.rates.decoding.failure_test import FailureTest
from stim_nonclifford.rates.decoding_problems import exact_symptoms
from stim_nonclifford.rates.estimation.deadline import TimeIsOver
from tests.support.rates.decoded_rate_cases import (
    failure_test,
    model_of,
    probabilities_of_sets,
    repetition_code,
)

SIGNIFICANT = 5.5
"""Standard errors: a chance of 4e-8."""

Fails = Callable[[np.ndarray], np.ndarray]


def nothing() -> None:
    pass


@dataclass(frozen=True)
class Case:
    """A circuit with a decoder, and P(so many faults, and it fails)."""

    model: FaultModel
    test: FailureTest
    exact: np.ndarray

    @property
    def sized(self) -> SizedSets:
        return SizedSets(self.model, self.model.log_odds[0])

    @property
    def classify(self) -> Classify:
        return Classify(self.model, self.test)


def by_size(probabilities: np.ndarray, fails: np.ndarray) -> np.ndarray:
    count = int(math.log2(len(fails)))
    sizes = (np.arange(len(fails))[:, np.newaxis] >> np.arange(count) & 1).sum(axis=1)
    return np.bincount(sizes, probabilities * fails, minlength=count + 1)


def with_pymatching(circuit: snc.Circuit) -> Case:
    model = model_of(circuit)
    return Case(model, failure_test(circuit, model), by_size(*probabilities_of_sets(circuit)))


def surface_code_of_data_noise(p: float) -> snc.Circuit:
    return snc.Circuit.generated(
        "surface_code:rotated_memory_z", distance=3, rounds=1, before_round_data_depolarization=p
    )


def failing_where(model: FaultModel, fails: Fails) -> FailureTest:
    """A test that fails where a function of the detectors says so; the observable is never flipped."""

    def predict(dets: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
        bits = np.unpackbits(dets, axis=1, count=model.num_detectors, bitorder="little")
        return fails(bits).astype(np.uint8)[:, np.newaxis], np.zeros(len(dets), dtype=np.int64)

    return FailureTest(model, predict)


def flips(probabilities: list[float]) -> snc.Circuit:
    """Independent flips, each with a detector, and an observable that nothing flips."""
    count = len(probabilities)
    lines = [f"X_ERROR({p}) {k}" for k, p in enumerate(probabilities)]
    lines += ["M " + " ".join(map(str, range(count + 1)))]
    lines += [f"DETECTOR rec[{k - count - 1}]" for k in range(count)]
    return snc.Circuit("\n".join([*lines, "OBSERVABLE_INCLUDE(0) rec[-1]"]))


def of_flips(probabilities: list[float], fails: Fails) -> Case:
    model = model_of(flips(probabilities))
    order = [detectors[0] for detectors, _ in model.symptoms]
    sets = np.arange(1 << len(order))[:, np.newaxis] >> np.arange(len(order)) & 1
    q = np.array(probabilities)[order]
    dets = np.zeros_like(sets)
    dets[:, order] = sets
    return Case(
        model,
        failing_where(model, fails),
        by_size(np.where(sets, q, 1 - q).prod(axis=1), fails(dets).astype(bool)),
    )


UNEQUAL = [0.3, 3e-4, 0.2, 2e-4, 0.1, 1e-4, 0.25, 2e-4, 0.15, 3e-4]


def two_weak_ones(bits: np.ndarray) -> np.ndarray:
    return np.asarray(bits[:, 1::2].sum(axis=1) >= 2)


def states_of_t(p: float, count: int) -> snc.Circuit:
    """States of T gates that an X error makes random: each detector fires in half of the cases."""
    lines = [f"RX {k}\nT {k}\nX_ERROR({p}) {k}\nT_DAG {k}\nMX {k}\nDETECTOR rec[-1]" for k in range(count)]
    return snc.Circuit("\n".join([*lines, f"M {count}\nOBSERVABLE_INCLUDE(0) rec[-1]"]))


def teleported_t_gates(p: float, count: int) -> snc.Circuit:
    """T gates by teleportation: an X error makes the record, a coin, wrong, and the state random."""
    lines = [
        f"RX {a} {b}\nT {b}\nCX {a} {b}\nX_ERROR({p}) {b}\nM {b}\nCS rec[-1] {a}\nT_DAG {a}\nMX {a}\n"
        "DETECTOR rec[-1]"
        for a, b in ((2 * k, 2 * k + 1) for k in range(count))
    ]
    return snc.Circuit("\n".join([*lines, f"M {2 * count}\nOBSERVABLE_INCLUDE(0) rec[-1]"]))


def of_random_outcomes(circuit: snc.Circuit, p: float, count: int, threshold: int) -> Case:
    """A decoder that is wrong where so many detectors fire, each of which an error fires in half of the cases."""
    model = fault_model([exact_symptoms(circuit)])
    exact = np.zeros(count + 1)
    for k in range(count + 1):
        fires = sum(math.comb(k, j) for j in range(threshold, k + 1)) / 2**k
        exact[k] = math.comb(count, k) * p**k * (1 - p) ** (count - k) * fires
    return Case(model, failing_where(model, lambda bits: bits.sum(axis=1) >= threshold), exact)


CASES: dict[str, Callable[[], Case]] = {
    "repetition code": lambda: with_pymatching(repetition_code(0.15)),
    "surface code": lambda: with_pymatching(surface_code_of_data_noise(0.15)),
    "T gates, order 2": lambda: of_random_outcomes(states_of_t(0.2, 6), 0.2, 6, 2),
    "T gates, order 3": lambda: of_random_outcomes(states_of_t(0.2, 6), 0.2, 6, 3),
    "coins": lambda: of_random_outcomes(teleported_t_gates(0.2, 5), 0.2, 5, 2),
    "unequal mechanisms": lambda: of_flips(UNEQUAL, two_weak_ones),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


def test_sets_of_a_size_are_drawn_by_their_odds() -> None:
    """Each set of three of ten, of strengths that differ by three orders of magnitude."""
    sized = of_flips(UNEQUAL, two_weak_ones).sized
    states = sized.drawn(3, 200_000, np.random.default_rng(1))
    assert (np.diff(states.sets, axis=1) > 0).all()
    counts = np.bincount((1 << states.sets).sum(axis=1), minlength=1 << 10)
    sets = np.arange(1 << 10)[:, np.newaxis] >> np.arange(10) & 1
    weights = np.where(sets, sized.odds, 1.0).prod(axis=1) * (sets.sum(axis=1) == 3)
    expected = weights / weights.sum() * len(states)
    assert not counts[expected == 0].any()
    large = expected > 20
    assert (np.abs(counts - expected)[large] < SIGNIFICANT * np.sqrt(expected[large])).all()
    assert large.sum() > 25


def test_faults_outside_a_set_are_drawn_by_their_odds() -> None:
    sized = of_flips(UNEQUAL, two_weak_ones).sized
    sets = np.tile(np.array([0, 6, 9], dtype=np.intp), (100_000, 1))  # 9: the most probable one
    counts = np.bincount(sized.outside(sets, np.random.default_rng(2)), minlength=10)
    odds = np.where(np.isin(np.arange(10), [0, 6, 9]), 0.0, sized.odds)
    assert sized.odds_outside(sets[:1])[0] == pytest.approx(odds.sum())
    expected = odds / odds.sum() * len(sets)
    assert not counts[odds == 0].any()
    assert (np.abs(counts - expected) <= SIGNIFICANT * np.sqrt(expected) + 3).all()


def test_enumeration_is_exact(case: Case) -> None:
    found = Enumeration(case.sized, case.classify)
    found.run(nothing)
    assert found.is_complete
    assert found.by_size == pytest.approx(case.exact.tolist(), rel=1e-9, abs=1e-30)
    assert found.rate == pytest.approx(float(case.exact.sum()), rel=1e-9)
    sets = found.found()
    assert (sets.owners == EXACT).all()
    assert sets.weights.sum() == pytest.approx(found.rate, rel=1e-9)
    assert sets.wrong.any(axis=1).all()


def test_deletion_and_orphans_are_without_a_bias_for_each_size(case: Case) -> None:
    """In the surface code, where PyMatching has orphans, deletion alone is 20% too low."""
    start = len(case.exact) // 2 + 1
    deletion = BackwardDeletion(case.sized, case.classify, start, 0)
    deletion.take(40_000, np.random.default_rng(21), nothing)
    orphans = Orphans(case.sized, case.classify, 0, start - 1)
    orphans.take(40_000, np.random.default_rng(22), nothing)
    exact, means, variances = case.exact[: start + 1], np.zeros(start + 1), np.zeros(start + 1)
    for part in (deletion, orphans):
        mean = part.sums[: start + 1] / part.tally.samples
        means += mean
        variances += (part.squares[: start + 1] / part.tally.samples - mean**2) / part.tally.samples
        assert part.found.weights.sum() == pytest.approx(float(part.tally.sums[0]))
    errors = np.sqrt(variances)
    seen = exact > 1e-3 * exact.max()
    assert ((means > 0) | ~seen).all()
    assert (np.abs(means - exact) <= SIGNIFICANT * errors + 1e-9 * exact)[seen].all()
    total = float(deletion.tally.means[0] + orphans.tally.means[0])
    error = math.sqrt(float(deletion.tally.variances[0] + orphans.tally.spreads[0]))
    assert abs(total - exact.sum()) < SIGNIFICANT * error
    assert error < 0.07 * total


def test_direct_samples_and_plain_shots(case: Case) -> None:
    direct = DirectSamples(case.sized, case.classify, 2)
    direct.take(40_000, np.random.default_rng(3), nothing)
    expected = float(case.exact[2:].sum())
    assert abs(direct.tally.means[0] - expected) < SIGNIFICANT * math.sqrt(direct.tally.variances[0])
    plain = PlainCounts(case.model, case.model.log_odds[0], case.classify)
    plain.take(40_000, np.random.default_rng(4), nothing)
    assert abs(plain.tally.means[0] - case.exact.sum()) < SIGNIFICANT * math.sqrt(plain.tally.variances[0])


def test_sums_over_fault_numbers_without_enumeration(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "_MOST_DECODES", 0)
    monkeypatch.setattr(fault_numbers, "_PLAIN_RATE", 1.1)
    found = FaultNumberSum(case.model, case.model.log_odds[0], case.test)
    found.run(0.01, np.random.default_rng(6), nothing, lambda _: None)
    exact = float(case.exact.sum())
    error = math.sqrt(float(found.variances[0]))
    assert error <= 0.01 * found.rate
    assert abs(found.rate - exact) < SIGNIFICANT * error
    low, high = found.interval
    assert low < found.rate < high


@pytest.mark.parametrize("name", ["none", "weights of deletion", "draws", "direct weights"])
def test_a_weight_that_is_one_percent_too_large_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder that is wrong where three of eight flips happen: weights vary little."""

    def three(bits: np.ndarray) -> np.ndarray:
        return np.asarray(bits[:, :7].sum(axis=1) >= 3)

    case = of_flips([0.1, 0.12, 0.1, 0.09, 0.1, 0.11, 0.1, 0.1], three)
    if name == "weights of deletion":
        original = SizedSets.odds_outside
        monkeypatch.setattr(SizedSets, "odds_outside", lambda self, sets: original(self, sets) / 1.01)
        # The draws go by the same sum, so that one fault in a hundred of them would be one too far.
        monkeypatch.setattr(SizedSets, "outside", _outside_by_rejection)
    elif name == "draws":
        draws = BackwardDeletion._draws_until_failing
        monkeypatch.setattr(
            BackwardDeletion, "_draws_until_failing", lambda *arguments: 1.01 * draws(*arguments)
        )
    found = BackwardDeletion(case.sized, case.classify, 5, 3)
    direct = DirectSamples(case.sized, case.classify, 3)
    if name == "direct weights":
        direct.probability *= 1.01
    found.take(300_000, np.random.default_rng(31), nothing)
    direct.take(150_000, np.random.default_rng(32), nothing)
    size = 3
    mean = float(found.sums[size]) / found.tally.samples
    error = math.sqrt((float(found.squares[size]) / found.tally.samples - mean**2) / found.tally.samples)
    of_deletion = abs(mean - case.exact[size]) / error
    of_direct = abs(direct.tally.means[0] - case.exact[3:].sum()) / math.sqrt(direct.tally.variances[0])
    assert error < 0.0016 * mean
    assert (of_deletion > SIGNIFICANT) == (name in ("weights of deletion", "draws"))
    assert (of_direct > SIGNIFICANT) == (name == "direct weights")


def _outside_by_rejection(self: SizedSets, sets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    found = rng.choice(len(self.odds), size=len(sets), p=self.odds / self.odds.sum())
    while (inside := (sets == found[:, np.newaxis]).any(axis=1)).any():
        found[inside] = rng.choice(len(self.odds), size=int(inside.sum()), p=self.odds / self.odds.sum())
    return found


def pair_or_many(bits: np.ndarray) -> np.ndarray:
    """Wrong on flips 1 and 2 exactly, of which no superset fails, and on four and more."""
    return np.asarray((bits.sum(axis=1) == 2) & (bits[:, 1:3].sum(axis=1) == 2) | (bits.sum(axis=1) >= 4))


def test_orphans_are_what_deletion_does_not_reach() -> None:
    case = of_flips([0.1] * 9, pair_or_many)
    deletion = BackwardDeletion(case.sized, case.classify, 5, 0)
    deletion.take(20_000, np.random.default_rng(7), nothing)
    assert deletion.sums[2] == 0 < case.exact[2]
    orphans = Orphans(case.sized, case.classify, 0, 4)
    orphans.take(100_000, np.random.default_rng(8), nothing)
    mean = float(orphans.tally.means[0])
    assert abs(mean - case.exact[2]) < SIGNIFICANT * math.sqrt(orphans.tally.variances[0])
    assert orphans.sums[2] == pytest.approx(orphans.tally.sums[0])
    assert orphans.sums[3] == orphans.sums[4] == 0  # sets of four fail, but have failing supersets


def test_lineages_of_orphans_are_followed() -> None:
    """Sets {0}, {0, 1} and {0, 1, 2} fail, and no superset of the last: one orphan, and two below it."""
    powers = 1 << np.arange(9)

    def chain(bits: np.ndarray) -> np.ndarray:
        return np.isin(bits @ powers, [1, 3, 7])

    case = of_flips([0.3] * 9, chain)
    orphans = Orphans(case.sized, case.classify, 0, 8)
    orphans.take(150_000, np.random.default_rng(9), nothing)
    means = orphans.sums / orphans.tally.samples
    errors = np.sqrt((orphans.squares / orphans.tally.samples - means**2) / orphans.tally.samples)
    assert (errors[1:4] > 0).all()
    assert (np.abs(means - case.exact)[1:4] < SIGNIFICANT * errors[1:4]).all()
    assert (errors[1:4] < 0.3 * means[1:4]).all()


def test_few_of_many_weighted_sets() -> None:
    """The sum of the weights stays as it is; so does, within 5.5 standard deviations, the part with a member 0."""
    rng = np.random.default_rng(4)
    kept = WeightedSets(1)
    members, weights = rng.integers(2, size=(40_000, 1)), rng.random(40_000)
    numbers, wrong = np.arange(40_000, dtype=np.uint64), np.ones((40_000, 1), dtype=np.bool_)
    for part in range(0, 40_000, 10_000):
        where = slice(part, part + 10_000)
        owners = np.arange(40_000)[where]
        kept.add(members[where], numbers[where], wrong[where], weights[where], owners, rng)
    assert len(kept) < 20_000
    assert kept.weights.sum() == pytest.approx(weights.sum(), rel=1e-9)
    assert (members[kept.owners] == kept.members).all()
    assert (kept.numbers == kept.owners).all()
    share = float(kept.weights[kept.members[:, 0] == 0].sum() / weights.sum())
    expected = float(weights[members[:, 0] == 0].sum() / weights.sum())
    assert abs(share - expected) < 5.5 / math.sqrt(8192)


def test_counts_of_none_and_of_all_have_errors() -> None:
    none, every = Tally.of(1, 1.0), Tally.of(1, 1.0)
    none.add(1000, np.zeros((0, 2)))
    every.add(1000, np.ones((1000, 2)))
    assert none.means.tolist() == [0, 0]
    assert every.means.tolist() == [1, 1]
    for tally in (none, every):
        assert np.sqrt(tally.variances).tolist() == pytest.approx([1e-3, 1e-3])
    assert interval_of_tallies(0.0, [none]) == pytest.approx((0, math.log(40) / 1000))
    assert interval_of_tallies(0.0, [every]) == pytest.approx((1 - math.log(40) / 1000, 1))


def test_intervals_of_tallies_cover() -> None:
    """Of 2000 intervals of 95% for a mean of 3 events, fewer than 1850 cover with a chance of 1e-6 at most."""
    rng = np.random.default_rng(5)
    covered = 0
    for events in rng.binomial(1000, 3e-3, size=2000).tolist():
        tally = Tally.of(0, 0.5)
        tally.add(1000, np.full((events, 1), 0.5))
        low, high = interval_of_tallies(0.25, [tally])
        covered += low <= 0.25 + 0.5 * 3e-3 <= high
    assert covered >= 1850


def test_what_takes_too_long_is_not_counted() -> None:
    """A lineage that time ends leaves all tallies as they were."""
    case = of_flips(UNEQUAL, two_weak_ones)
    found = BackwardDeletion(case.sized, case.classify, 6, 0)
    found.take(1000, np.random.default_rng(1), nothing)
    before = found.tally.samples, found.tally.sums.tolist(), found.sums.tolist(), len(found.found)
    looks = iter(range(4))

    def check() -> None:
        if next(looks) == 3:
            raise TimeIsOver

    with pytest.raises(TimeIsOver):
        found.take(1000, np.random.default_rng(2), check)
    assert (found.tally.samples, found.tally.sums.tolist(), found.sums.tolist(), len(found.found)) == before


def test_mechanisms_of_a_half_are_coins() -> None:
    model = stim.DetectorErrorModel("error(0.5) D0\nerror(0.1) D1 L0\nerror(0.2) D0 D1")
    found = fault_model([symptoms_of(model)])
    sized = SizedSets(found, found.log_odds[0])
    assert (len(sized.coins), len(sized.faults)) == (1, 2)
    states = sized.drawn(0, 4000, np.random.default_rng(1))
    share = sized.coin_bits(states.numbers).mean()
    assert abs(share - 0.5) < SIGNIFICANT * 0.5 / math.sqrt(4000)
    members = sized.members(states)
    assert ((members[:, 0] >= 0) == (states.rows[:, 0] & np.uint64(1) == 1)).all()
