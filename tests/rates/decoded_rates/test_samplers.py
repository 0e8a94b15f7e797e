"""Each sampler of fault sets against exact sums over all fault sets of small circuits, number by number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import stim
from scipy.stats import chi2

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates import refinements
from stim_nonclifford.rates.decoded_rates.estimate import Search
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import (
    FaultModel,
    Symptoms,
    fault_model,
    symptoms_of,
)
from stim_nonclifford.rates.decoded_rates.partition import Partition, partition
from stim_nonclifford.rates.decoded_rates.parts import Parts
from stim_nonclifford.rates.decoded_rates.questions import DecodingProblem
from stim_nonclifford.rates.decoded_rates.result import result_of
from stim_nonclifford.rates.decoding.classifying import Classifier, Predict
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.decoding_problems import exact_symptoms
from stim_nonclifford.rates.estimation.interval import ratio_of
from stim_nonclifford.rates.estimation.limits import Deadline, TimeIsOver
from stim_nonclifford.rates.estimation.tally import ACCEPTED, EXACT, WRONG, FailingSets, RunTally, Tally
from stim_nonclifford.rates.samplers.backward_deletion import BackwardDeletion, Orphans
from stim_nonclifford.rates.samplers.sampler import DirectSamples, Enumeration, Sampler
from stim_nonclifford.rates.samplers.splitting import Splitting
from stim_nonclifford.rates.samplers.strata import FaultNumbers, Stratum
from tests.support.rates.decoded_rate_cases import T_STATE, TELEPORTED, flips, model_of, repetition_code

SIGNIFICANT = 5.5
"""Standard errors: a chance of 4e-8."""

ALL = np.array([np.iinfo(np.int64).min])
FOREVER = Deadline(None)


def mean_of(tally: Tally) -> float:
    """The mean of the wrong shots, whatever the gap."""
    return float(tally.means()[WRONG, 0])


def variance_of(tally: Tally) -> float:
    """The variance of that mean, with the square of the zero-count bound."""
    return float(tally.variances()[0][WRONG, 0]) + tally.bound**2


@dataclass(frozen=True)
class Case:
    """A circuit with a decoder, and sums over all of its fault sets.

    Attributes:
        model: Its mechanisms.
        predict: Its decoder.
        gaps: The least gaps.
        exact: Shape (numbers of faults, 2, gaps): P(so many faults, accepted, gap), and P(also wrong).
        question: The same as a question, if shots may be discarded.
    """

    model: FaultModel
    predict: Predict
    gaps: np.ndarray
    exact: np.ndarray
    question: DecodingProblem | None = None

    @property
    def stratum(self) -> Stratum:
        return Stratum(self.model)

    @property
    def classifier(self) -> Classifier:
        return Classifier(self.model, self.predict, FOREVER, stores_failures=True)

    @property
    def wrong(self) -> np.ndarray:
        return np.asarray(self.exact[:, 1, 0])


def with_pymatching(circuit: snc.Circuit, postselected: tuple[int, ...] = (), gaps: bool = False) -> Case:
    """All fault sets, by the exclusive or of the symptoms of their members."""
    dem = circuit.detector_error_model(decompose_errors=True)
    symptoms = symptoms_of(dem)
    predict = rate_decoder("pymatching", gaps).checked(dem).predict
    sets = np.arange(1 << len(symptoms.probabilities))
    dets = np.zeros((len(sets), circuit.num_detectors), dtype=np.uint8)
    flipped, sizes, weights = np.zeros(len(sets), np.uint8), np.zeros(len(sets), int), np.ones(len(sets))
    for k, ((detectors, observables), q) in enumerate(symptoms.probabilities.items()):
        acts = (sets >> k & 1).astype(np.uint8)
        dets[:, list(detectors)] ^= acts[:, np.newaxis]
        flipped ^= acts * (0 in observables)
        sizes += acts
        weights *= np.where(acts, q, 1 - q)
    predictions, found = predict(np.packbits(dets, axis=1, bitorder="little"))
    accepted = ~dets[:, list(postselected)].any(axis=1)
    wrong = accepted & (predictions[:, 0] != flipped)
    least = np.unique(found)[:: max(1, len(np.unique(found)) // 4)] if gaps else ALL
    exact = np.array(
        [
            [np.bincount(sizes, weights * which * (found >= gap)) for gap in least]
            for which in (accepted, wrong)
        ]
    )
    mask = np.isin(np.arange(circuit.num_detectors), postselected)
    question = DecodingProblem(symptoms, "pymatching", predict, mask, None, gaps) if postselected else None
    return Case(fault_model(symptoms, postselected), predict, least, exact.transpose(2, 0, 1), question)


def data_noise(p: float) -> snc.Circuit:
    return snc.Circuit.generated(
        "surface_code:rotated_memory_z", distance=3, rounds=1, before_round_data_depolarization=p
    )


Fails = Callable[[np.ndarray], np.ndarray]


def failing_where(model: FaultModel, fails: Fails) -> Predict:
    """A decoder that is wrong where a function of the detectors says so; the observable is never flipped."""

    def predict(dets: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
        bits = np.unpackbits(dets, axis=1, count=model.num_detectors, bitorder="little")
        return fails(bits).astype(np.uint8)[:, np.newaxis], np.zeros(len(dets), dtype=np.int64)

    return predict


def of_flips(probabilities: list[float], fails: Fails) -> Case:
    """Independent flips, each with a detector, and an observable that nothing flips."""
    count, model = len(probabilities), model_of(flips(probabilities))
    dets = np.arange(1 << count)[:, np.newaxis] >> np.arange(count) & 1
    weights = np.where(dets, probabilities, 1 - np.array(probabilities)).prod(axis=1)
    sums = [np.bincount(dets.sum(axis=1), weights * which) for which in (np.ones(len(dets)), fails(dets))]
    return Case(model, failing_where(model, fails), ALL, np.array(sums).T[:, :, np.newaxis])


def of_outcomes(unit: str, p: float, count: int, threshold: int) -> Case:
    """A decoder that is wrong where so many units fire, in each of which an error fires in half of the cases.

    A unit's last detector is the one that counts.
    """
    text = "".join(unit.format(a=2 * k, b=2 * k + 1, p=p) for k in range(count))
    circuit = snc.Circuit(f"{text}M {2 * count}\nOBSERVABLE_INCLUDE(0) rec[-1]")
    model, step = fault_model(exact_symptoms(circuit)), unit.count("DETECTOR")
    exact = np.zeros((count + 1, 2, 1))
    for k in range(count + 1):
        fires = sum(math.comb(k, j) for j in range(threshold, k + 1)) / 2**k
        exact[k, 0] = math.comb(count, k) * p**k * (1 - p) ** (count - k)
        exact[k, 1] = exact[k, 0] * fires
    fails = failing_where(model, lambda bits: bits[:, step - 1 :: step].sum(axis=1) >= threshold)
    return Case(model, fails, ALL, exact)


ERASED = "R {a}\nHERALDED_ERASE({p}) {a}\nDETECTOR rec[-1]\nM {a}\nDETECTOR rec[-1]\n"
"""Errors that exclude each other: a herald, and with it a flip in half of the cases."""

UNEQUAL = [0.3, 3e-4, 0.2, 2e-4, 0.1, 1e-4, 0.25, 2e-4, 0.15, 3e-4]


def two_weak_ones(bits: np.ndarray) -> np.ndarray:
    return np.asarray(bits[:, 1::2].sum(axis=1) >= 2)


CASES: dict[str, Callable[[], Case]] = {
    "surface code": lambda: with_pymatching(data_noise(0.15)),
    "unequal mechanisms": lambda: of_flips(UNEQUAL, two_weak_ones),
    "T outcomes": lambda: of_outcomes(T_STATE, 0.2, 6, 3),
    "coins": lambda: of_outcomes(TELEPORTED, 0.2, 5, 2),
    "exclusive errors": lambda: of_outcomes(ERASED, 0.2, 6, 3),
    "gaps": lambda: with_pymatching(data_noise(0.02), (), True),
    "a mask": lambda: with_pymatching(repetition_code(0.08, distance=3, rounds=2), (0,)),
    "a mask and gaps": lambda: with_pymatching(repetition_code(0.08, distance=3, rounds=2), (1, 2), True),
}


def enumerated(case: Case, samples: int) -> tuple[list[Sampler], np.ndarray]:
    parts = [Enumeration(case.stratum, case.classifier, k) for k in range(len(case.exact))]
    for k, part in enumerate(parts):
        part.take(0, np.random.default_rng(0))
        assert mean_of(part.tally) == pytest.approx(float(case.wrong[k]), rel=1e-9, abs=1e-30)
        sets = part.failing_sets()
        assert (sets.owners == EXACT).all()
        assert sets.weights.sum() == pytest.approx(mean_of(part.tally), rel=1e-9, abs=1e-30)
    return [*parts], case.exact.sum(axis=0)


def direct(case: Case, samples: int) -> tuple[list[Sampler], np.ndarray]:
    """Sets of exactly two faults, and of three and more."""
    numbers = [(2, 2), (3, len(case.exact) - 1)]
    parts = [DirectSamples(case.stratum, case.classifier, *each) for each in numbers]
    for seed, part in enumerate(parts):
        part.take(samples, np.random.default_rng(seed))
    return [*parts], case.exact[2:].sum(axis=0)


def plain(case: Case, samples: int) -> tuple[list[Sampler], np.ndarray]:
    part = DirectSamples(case.stratum, case.classifier, 0, case.stratum.numbers.most)
    part.take(samples, np.random.default_rng(4))
    return [part], case.exact.sum(axis=0)


def deletion(
    case: Case, samples: int, limits: Sequence[int] | None = None
) -> tuple[list[Sampler], np.ndarray]:
    """With orphans: in the surface code, where PyMatching has some, deletion alone is 20% too low."""
    start, limits = len(case.exact) // 2 + 1, limits or [16] * len(case.exact)
    parts: list[Sampler] = [
        BackwardDeletion(case.stratum, case.classifier, 0, start, limits),
        Orphans(case.stratum, case.classifier, 0, start - 1, limits),
    ]
    means, variances = np.zeros((2, start + 1))
    for seed, part in enumerate(parts):
        part.take(samples, np.random.default_rng(21 + seed))
        assert isinstance(part, (BackwardDeletion, Orphans))
        mean, square = part.by_number[:, : start + 1] / part.tally.samples
        means += mean
        variances += (square - mean**2) / part.tally.samples
        assert part.found.weights.sum() == pytest.approx(mean_of(part.tally) * samples)
    exact = case.wrong[: start + 1]
    often = exact > 1e-3 * exact.max()
    errors = SIGNIFICANT * np.sqrt(np.maximum(variances, 0.0)) + 1e-9 * exact
    assert (np.abs(means - exact) <= errors)[often].all()
    assert (means > 0)[often].all()
    return parts, case.exact[: start + 1].sum(axis=0)


def limited_deletion(case: Case, samples: int) -> tuple[list[Sampler], np.ndarray]:
    """With one to three draws at most."""
    return deletion(case, samples, [1 + k % 3 for k in range(len(case.exact))])


def accepted_sets(case: Case, samples: int) -> tuple[list[Sampler], np.ndarray]:
    """Strata of listed sets: the numbers of free faults are those beside a set, so only all together are compared."""
    assert case.question is not None
    found = partition(case.question, 1e-3, np.random.default_rng(1), FOREVER)
    assert len(found.strata) > 1
    classifier = Classifier(found.strata[0].model, case.predict, FOREVER)
    parts = [DirectSamples(each, classifier, 0, each.numbers.most) for each in found.strata]
    for seed, part in enumerate(parts):
        part.take(samples, np.random.default_rng(seed))
    return [*parts], case.exact.sum(axis=0)


def splitting(case: Case, samples: int) -> tuple[list[Sampler], np.ndarray]:
    """Wrong shots from a gap on, and others directly; with a mask, of each stratum of listed sets."""
    middle, top, exact = int(case.gaps[len(case.gaps) // 2]), int(case.gaps[-1]), case.exact[1:].sum(axis=0)
    strata: tuple[Stratum, ...] = (case.stratum,)
    classifier, least = case.classifier, 1
    if case.question is not None:
        found = partition(case.question, 1e-3, np.random.default_rng(1), FOREVER)
        strata, least, exact = found.strata, 0, case.exact.sum(axis=0)
        classifier = Classifier(found.strata[0].model, case.predict, FOREVER)
    parts: list[Sampler] = []
    for each in strata:
        parts.append(DirectSamples(each, classifier, least, each.numbers.most, wrong_below=middle))
        parts.append(Splitting(each, classifier, least, middle, top, 0.0))
    for seed, part in enumerate(parts):
        part.take((1 + 3 * (seed % 2)) * samples, np.random.default_rng(seed))
    assert not any(part.tally.means(case.gaps)[WRONG, len(case.gaps) // 2 :].any() for part in parts[::2])
    return parts, exact


Draw = Callable[[Case, int], tuple[list[Sampler], np.ndarray]]
SAMPLERS: list[Draw] = [enumerated, direct, plain, deletion, limited_deletion, accepted_sets, splitting]


def compared(case: Case, draw: Draw, samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimates, their standard errors and the exact sums, each of shape (2, gaps)."""
    parts, exact = draw(case, samples)
    means = np.sum([part.tally.means(case.gaps)[:2] for part in parts], axis=0)
    variances = np.sum([part.tally.variances(case.gaps)[0][:2] for part in parts], axis=0)
    bounds = sum(part.tally.bound**2 for part in parts)
    if draw in (deletion, limited_deletion):  # how many shots are accepted is no question there
        means[ACCEPTED], variances[ACCEPTED] = exact[ACCEPTED], 0.0
    return means, np.sqrt(variances + bounds) + 1e-9 * exact + 1e-300, exact


@pytest.mark.parametrize(
    ("name", "draw"),
    # Deletion draws all shots; sets are listed where some are discarded.
    [
        pytest.param(name, draw, id=f"{name}, {draw.__name__}")
        for name in CASES
        for draw in SAMPLERS
        if not (draw in (deletion, limited_deletion) and ("mask" in name or "gaps" in name))
        if not (draw is accepted_sets and "mask" not in name)
    ],
)
def test_samplers_are_without_a_bias(name: str, draw: Draw) -> None:
    """P(accepted, gap) and P(accepted and wrong, gap), within 5.5 standard errors."""
    means, errors, exact = compared(CASES[name](), draw, 40_000)
    assert (np.abs(means - exact) < SIGNIFICANT * errors).all()


def assert_right_to_one_percent(mean: float, error: float, exact: float, factor: float = 1.01) -> None:
    """A right mean, and so small an error that one too large by the factor would be seen."""
    assert abs(mean - exact) < SIGNIFICANT * error
    assert abs(factor * mean - exact) > SIGNIFICANT * factor * error


@pytest.mark.parametrize(
    ("draw", "samples"),
    [
        (enumerated, 0),
        (direct, 4_000),
        (plain, 120_000),
        (deletion, 4_000),
        (limited_deletion, 4_000),
        (accepted_sets, 160_000),
        (splitting, 40_000),
    ],
)
def test_a_weight_that_is_one_percent_too_large_would_be_seen(draw: Draw, samples: int) -> None:
    """A decoder that is wrong where two of seven flips happen, or with a mask: weights vary little."""
    case = of_flips([0.4, 0.42, 0.4, 0.39, 0.4, 0.41, 0.4], lambda bits: bits.sum(axis=1) >= 2)
    if draw is accepted_sets:
        case = with_pymatching(repetition_code(0.7, distance=3, readout=0.2), (0,))
    means, errors, exact = compared(case, draw, samples)
    assert_right_to_one_percent(means[WRONG, 0], errors[WRONG, 0], exact[WRONG, 0])


def test_a_weight_within_lineages_that_is_one_percent_too_large_would_be_seen() -> None:
    """P(three flips, of seven), from five: a factor in the weight of each deletion acts twice."""
    case = of_flips([0.1, 0.12, 0.1, 0.09, 0.1, 0.11, 0.1, 0.1], lambda bits: bits[:, :7].sum(axis=1) >= 3)
    found = BackwardDeletion(case.stratum, case.classifier, 3, 5)
    found.take(100_000, np.random.default_rng(31))
    mean, square = found.by_number[:, 3] / found.tally.samples
    error = math.sqrt((square - mean**2) / found.tally.samples)
    assert_right_to_one_percent(mean, error, case.wrong[3], 1.01**2)


def test_a_weight_above_a_level_that_is_one_percent_too_large_would_be_seen() -> None:
    """P(two of seven flips), of which the gap has a level; direct samples are those below it."""
    case = of_flips([0.4, 0.42, 0.4, 0.39, 0.4, 0.41, 0.4], lambda bits: bits.sum(axis=1) >= 2)

    def predict(dets: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
        number = np.unpackbits(dets, axis=1, bitorder="little").sum(axis=1)
        return (number >= 2).astype(np.uint8)[:, np.newaxis], np.where(number >= 2, 30, 10).astype(np.int64)

    found = Splitting(case.stratum, Classifier(case.model, predict, FOREVER), 0, 30, 30, 0.0)
    found.take(240_000, np.random.default_rng(3))
    error = math.sqrt(found.tally.variances()[0][WRONG, 0])
    assert_right_to_one_percent(mean_of(found.tally), error, case.wrong.sum())


@pytest.mark.parametrize(
    ("name", "relative_error"),
    [
        ("surface code", 0.01),
        ("unequal mechanisms", 0.01),
        ("T outcomes", 0.01),
        ("coins", 0.01),
        ("exclusive errors", 0.01),
    ],
)
def test_sums_over_fault_numbers_without_enumeration(
    name: str, relative_error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
    monkeypatch.setattr(refinements, "MANY_SHOTS", 0)
    case = CASES[name]()
    symptoms = Symptoms(case.model.num_detectors, case.model.num_observables, ((), ()), {})
    none = np.zeros(case.model.num_detectors, dtype=np.bool_)
    asked = DecodingProblem(symptoms, "any", case.predict, none, None, False)
    seed = np.random.SeedSequence(6)
    shots = Partition((case.stratum,))
    search = Search(Parts(asked, shots, relative_error, FOREVER, seed), lambda _: None)
    assert search.run(1 << 22)
    rate, exact = result_of(search.parts), float(case.wrong.sum())
    assert "backward deletion" in {each.method for each in rate.strata}
    assert rate.standard_error <= relative_error * rate.logical_error_rate
    assert abs(rate.logical_error_rate - exact) < SIGNIFICANT * rate.standard_error
    assert rate.interval[0] < rate.logical_error_rate < rate.interval[1]


def search_of_gaps(monkeypatch: pytest.MonkeyPatch, seed: int = 6) -> tuple[Case, Search]:
    """A search for the curve of a code whose fault sets are all drawn, and where splitting seems to pay early."""
    case = CASES["gaps"]()
    symptoms = Symptoms(case.model.num_detectors, case.model.num_observables, ((), ()), {})
    none = np.zeros(case.model.num_detectors, dtype=np.bool_)
    asked = DecodingProblem(symptoms, "any", case.predict, none, None, True)
    monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
    monkeypatch.setattr(refinements, "MANY_SHOTS", 0)
    monkeypatch.setattr(refinements, "_SHOTS_OF_LEVELS", 10.0)
    shots = Partition((case.stratum,))
    return case, Search(Parts(asked, shots, 0.1, FOREVER, np.random.SeedSequence(seed)), lambda _: None)


def test_a_curve_has_splitting_where_wrong_shots_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """At all gaps as the exact sums: those below some gap are sampled directly, others by splitting."""
    case, search = search_of_gaps(monkeypatch)
    assert search.run(1 << 22)
    found = result_of(search.parts)
    assert [each.method for each in found.strata] == ["direct samples, splitting"]
    for gap, exact in zip(case.gaps, case.exact.sum(axis=0).T, strict=True):
        point = next(each for each in found.gap_curve if each.gap >= gap)
        tally = np.sum([each.sampler.tally.means(np.array([gap])) for each in search.parts.counted], axis=0)
        assert point.relative_error <= 0.1
        assert abs(tally[WRONG, 0] - exact[WRONG]) < SIGNIFICANT * 0.1 * exact[WRONG]
        assert tally[ACCEPTED, 0] == pytest.approx(exact[ACCEPTED], rel=0.01)


def pair_or_many(bits: np.ndarray) -> np.ndarray:
    """Wrong on flips 1 and 2 exactly, of which no superset fails, and on four and more."""
    return np.asarray((bits.sum(axis=1) == 2) & (bits[:, 1:3].sum(axis=1) == 2) | (bits.sum(axis=1) >= 4))


def test_orphans_are_what_deletion_does_not_reach() -> None:
    case = of_flips([0.1] * 9, pair_or_many)
    found = BackwardDeletion(case.stratum, case.classifier, 0, 5)
    found.take(20_000, np.random.default_rng(7))
    assert found.by_number[0, 2] == 0 < case.wrong[2]
    orphans = Orphans(case.stratum, case.classifier, 0, 4, most_draws=[64] * 6)
    orphans.take(100_000, np.random.default_rng(8))
    assert abs(mean_of(orphans.tally) - case.wrong[2]) < SIGNIFICANT * math.sqrt(variance_of(orphans.tally))
    assert orphans.by_number[0, 2] == pytest.approx(mean_of(orphans.tally) * 100_000)
    assert not orphans.by_number[0, 3:].any()  # sets of four fail, but have failing supersets


def test_deletion_ends_where_its_weights_are_large() -> None:
    """A set of one fault fails, and hardly any larger one with it: direct samples have it, deletion has not."""
    case = of_flips([0.05] * 12, lambda bits: np.isin(bits @ (1 << np.arange(12)), [1, 3, 0b110000]))
    pilot = BackwardDeletion(case.stratum, case.classifier, 1, 2)
    pilot.take(4_000, np.random.default_rng(1))
    once = (
        12 * pilot.probability / sum(case.stratum.numbers.odds)
    )  # 1/h is 11, and the last pair has no such set
    assert pilot.tally.largest > 0.3 * once
    largest = 0.05 * once
    limits = pilot.draws_for(largest)
    assert limits[1:3] == [0, 0]
    parts = [
        BackwardDeletion(case.stratum, case.classifier, 1, 2, most_draws=limits),
        Orphans(case.stratum, case.classifier, 1, 1, most_draws=limits),
    ]
    for seed, part in enumerate(parts):
        part.take(20_000, np.random.default_rng(seed))
        assert part.tally.largest <= max(largest, part.probability)
        expected = case.wrong[2 - seed]
        assert mean_of(part.tally) == pytest.approx(part.by_number[0, 2 - seed] / 20_000)
        assert abs(mean_of(part.tally) - expected) < SIGNIFICANT * math.sqrt(variance_of(part.tally))


def test_lineages_of_orphans_are_followed() -> None:
    """Sets {0}, {0, 1} and {0, 1, 2} fail, and no superset of the last: one orphan, and two below it."""
    case = of_flips([0.3] * 9, lambda bits: np.isin(bits @ (1 << np.arange(9)), [1, 3, 7]))
    orphans = Orphans(case.stratum, case.classifier, 0, 8, most_draws=[64] * 10)
    orphans.take(150_000, np.random.default_rng(9))
    means, squares = orphans.by_number[:, 1:4] / orphans.tally.samples
    errors = np.sqrt((squares - means**2) / orphans.tally.samples)
    assert (errors > 0).all()
    assert (np.abs(means - case.wrong[1:4]) < SIGNIFICANT * errors).all()
    assert (errors < 0.3 * means).all()


def test_numbers_of_faults_are_those_of_all_sets() -> None:
    odds = np.sort(np.random.default_rng(2).uniform(0.001, 2.0, size=9))
    numbers = FaultNumbers(odds)
    for k in range(10):
        sets = list(itertools.combinations(range(9), k))
        weights = [float(np.prod(odds[list(members)])) / float(np.prod(1 + odds)) for members in sets]
        assert numbers.probabilities[k] == pytest.approx(sum(weights))
        listed = [*numbers.listed(k)]
        assert np.concatenate([members for members, _ in listed]).tolist() == [list(each) for each in sets]
        assert np.concatenate([found for _, found in listed]) == pytest.approx(weights)


@pytest.mark.parametrize("k", [1, 2, 4, 7])
def test_sets_are_drawn_by_their_probabilities(k: int) -> None:
    """Chi-squared of 2^17 draws, seed 3: it is exceeded with a probability of 1e-7."""
    odds = np.array([0.001, 3.0, 0.2, 0.2, 1.0, 0.05, 0.5, 0.3, 0.9])
    drawn = FaultNumbers(odds).drawn(k, 1 << 17, np.random.default_rng(3))
    sets = list(itertools.combinations(range(9), k))
    weights = np.array([odds[list(members)].prod() for members in sets])
    place = {members: number for number, members in enumerate(sets)}
    seen = np.bincount([place[tuple(members)] for members in drawn.tolist()], minlength=len(sets))
    assert_counts(seen, weights)


def assert_counts(seen: np.ndarray, weights: np.ndarray) -> None:
    """A chi-squared test of independent draws, with rare values put together."""
    expected = seen.sum() * weights / weights.sum()
    assert not seen[weights == 0].any()
    rare = expected < 10
    seen, expected = (np.append(each[~rare], each[rare].sum()) for each in (seen, expected))
    seen, expected = seen[expected > 0], expected[expected > 0]
    assert chi2.sf(float(((seen - expected) ** 2 / expected).sum()), len(seen) - 1) > 1e-7


def test_faults_outside_a_set_are_drawn_by_their_odds() -> None:
    numbers = of_flips(UNEQUAL, two_weak_ones).stratum.numbers
    sets = np.tile(np.array([0, 6, 9], dtype=np.intp), (100_000, 1))  # 9: the most probable one
    odds = np.where(np.isin(np.arange(10), [0, 6, 9]), 0.0, numbers.odds)
    assert numbers.odds_outside(sets[:1])[0] == pytest.approx(odds.sum())
    assert_counts(np.bincount(numbers.outside(sets, np.random.default_rng(2)), minlength=10), odds)


def test_plain_shots_have_the_probabilities_of_fault_sets() -> None:
    case = with_pymatching(repetition_code(0.15, distance=3))
    states = case.stratum.drawn(0, case.stratum.numbers.most, 4096, np.random.default_rng(5))
    members = case.stratum.members(states)
    q = 1 / (1 + np.exp(-case.model.log_odds))
    sets = np.arange(1 << len(q))[:, np.newaxis] >> np.arange(len(q)) & 1
    found = np.where(members >= 0, 1 << np.maximum(members, 0), 0).sum(axis=1)
    assert_counts(np.bincount(found, minlength=len(sets)), np.where(sets, q, 1 - q).prod(axis=1))


def test_many_mechanisms_neither_overflow_nor_underflow() -> None:
    numbers = FaultNumbers(np.full(4000, 0.05))
    assert numbers.probabilities.sum() == pytest.approx(1, abs=1e-10)
    binomial = math.lgamma(4001) - math.lgamma(201) - math.lgamma(3801)
    assert math.log(numbers.probabilities[200]) == pytest.approx(
        binomial + 200 * math.log(0.05 / 1.05) - 3800 * math.log(1.05), abs=1e-8
    )
    drawn = numbers.drawn(200, 64, np.random.default_rng(1))
    assert (np.diff(drawn, axis=1) > 0).all()
    assert abs(drawn.mean() - 1999.5) < 6 * 4000 / math.sqrt(12 * drawn.size)


def test_mechanisms_of_a_half_are_coins() -> None:
    model = stim.DetectorErrorModel("error(0.5) D0\nerror(0.1) D1 L0\nerror(0.2) D0 D1")
    stratum = Stratum(fault_model(symptoms_of(model)))
    assert (len(stratum.coins), len(stratum.faults)) == (1, 2)
    states = stratum.drawn(0, 0, 4000, np.random.default_rng(1))
    share = stratum.coin_bits(states.numbers).mean()
    assert abs(share - 0.5) < SIGNIFICANT * 0.5 / math.sqrt(4000)
    members = stratum.members(states)
    assert ((members[:, 0] >= 0) == (states.rows[:, 0] & np.uint64(1) == 1)).all()


def test_a_sample_of_weighted_sets() -> None:
    """The sum of weights stays as it is, and the part with a member 0 within 5.5 standard deviations."""
    rng = np.random.default_rng(4)
    kept = FailingSets()
    members, weights = rng.integers(2, size=(40_000, 1)), rng.random(40_000)
    numbers, owners = np.arange(40_000, dtype=np.uint64), np.arange(40_000)
    for part in np.split(owners, 4):
        kept.add(members[part], numbers[part], weights[part], part, rng)
    assert len(kept) < 20_000
    assert kept.weights.sum() == pytest.approx(weights.sum(), rel=1e-9)
    assert (members[kept.owners] == kept.members).all()
    assert (kept.numbers == kept.owners).all()
    share = float(kept.weights[kept.members[:, 0] == 0].sum() / weights.sum())
    expected = float(weights[members[:, 0] == 0].sum() / weights.sum())
    assert abs(share - expected) < 5.5 / math.sqrt(8192)


def test_counts_of_none_and_of_all_have_errors() -> None:
    none, every = Tally(1, 1.0), Tally(1, 1.0)
    none.add(1000, np.zeros((0, 3)))
    every.add(1000, np.ones((1000, 3)))
    assert (mean_of(none), mean_of(every)) == (0, 1)
    for tally in (none, every):
        assert math.sqrt(variance_of(tally)) == pytest.approx(1e-3)
    assert ratio_of(0.0, 1.0, 0.0, none.bound).interval == pytest.approx((0, math.log(40) / 1000))
    assert ratio_of(1.0, 1.0, 0.0, every.bound).interval == pytest.approx((1 - math.log(40) / 1000, 1))


@pytest.mark.parametrize(("wrong", "accepted"), [(0.0, 0.1), (0.1, 0.1), (0.05, 0.1)])
def test_rates_are_between_0_and_1(wrong: float, accepted: float) -> None:
    found = ratio_of(wrong, accepted, 1e-4, 1e-2)
    assert 0 <= found.interval[0] <= found.rate <= found.interval[1] <= 1


def test_intervals_of_tallies_cover() -> None:
    """Of 2000 intervals of 95% for a mean of 3 events, fewer than 1850 cover with a chance of 1e-6 at most."""
    rng = np.random.default_rng(5)
    covered = 0
    for events in rng.binomial(1000, 3e-3, size=2000).tolist():
        tally = Tally(0, 0.5)
        tally.add(1000, np.full((events, 2), 0.5))
        spread = float(tally.variances()[0][WRONG, 0])
        low, high = ratio_of(0.25 + mean_of(tally), 1.0, spread, tally.bound, exact=0.25).interval
        covered += low <= 0.25 + 0.5 * 3e-3 <= high
    assert covered >= 1850


def test_runs_are_samples_whose_largest_one_may_have_been_missed() -> None:
    """Two runs with states of the gaps 3 and 8, by hand."""
    tally = RunTally(0)
    for weights in ((0.5, 0.25), (0.5, 0.0)):
        values = np.repeat(np.array(weights)[:, np.newaxis], 2, axis=1)
        tally.add_run(10, values, np.array([3, 8]), np.array([0, 5]), np.array([1e-3, 1e-4]))
    gaps = np.array([0, 4, 9])
    assert tally.samples == 20
    assert tally.means(gaps)[WRONG] == pytest.approx([0.625, 0.125, 0.0])
    assert tally.variances(gaps)[0][WRONG] == pytest.approx([0.125**2, 0.125**2, 0.0])
    assert tally.bounds(gaps) == pytest.approx([0.75 / 2, 0.25 / 2, 1e-4 / 2])
    assert tally.bound == pytest.approx(1e-3 / 2)


def test_what_takes_too_long_is_not_counted() -> None:
    """A lineage that time ends leaves all tallies as they were."""

    class Ending(Deadline):
        looks = 4

        def check(self) -> None:
            self.looks -= 1
            if not self.looks:
                raise TimeIsOver

    case = of_flips(UNEQUAL, two_weak_ones)
    classifier = case.classifier
    found = BackwardDeletion(case.stratum, classifier, 0, 6)
    found.take(1000, np.random.default_rng(1))
    before = found.tally.samples, mean_of(found.tally), found.by_number.tolist(), len(found.found)
    classifier.deadline = Ending(None)
    with pytest.raises(TimeIsOver):
        found.take(1000, np.random.default_rng(2))
    assert (found.tally.samples, mean_of(found.tally), found.by_number.tolist(), len(found.found)) == before
