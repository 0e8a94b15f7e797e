"""Chains beside shots with paths: from which columns they descend, and what follows for errors."""

from __future__ import annotations

import numpy as np
import pytest

from stim_nonclifford.rates.decoded_rates.answers.decoding import FailureTest
from stim_nonclifford.rates.decoded_rates.chains import descent
from stim_nonclifford.rates.decoded_rates.chains.chains import ChainStates, Level, signed_gaps
from stim_nonclifford.rates.decoded_rates.chains.descent import allowed_in_both
from stim_nonclifford.rates.decoded_rates.chains.renewal import RENEWED
from stim_nonclifford.rates.decoded_rates.failing.plain_shots import PlainShots, members_of_events
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import FaultModel
from stim_nonclifford.rates.decoded_rates.postselection.levels import ladder_of_gaps
from stim_nonclifford.rates.decoded_rates.postselection.paths.coverage import (
    NUM_BINS,
    ChainRatios,
    Coverage,
    ratio_bins,
)
from stim_nonclifford.rates.decoded_rates.postselection.paths.wrong_shots import WrongShots, weighted_curve
from stim_nonclifford.rates.decoded_rates.postselection.survival import Counts, Curve
from tests.support.rates.decoded_rate_cases import model_of, surface_code

COLUMNS = 64


def nothing() -> None:
    pass


def events_as_gap(dets: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    """Predicts no flip, as surely as there are detection events."""
    gaps = np.unpackbits(dets, axis=1).sum(axis=1)
    return np.zeros((len(dets), 1), dtype=np.uint8), gaps.astype(np.int64)


def starts_of(model: FaultModel, test: FailureTest, rng: np.random.Generator) -> ChainStates:
    """Plain shots, one for each column."""
    plain = PlainShots(model, model.log_odds[0], test)
    _, events, numbers, outcomes = plain.drawn(rng, COLUMNS)
    ends = np.cumsum(numbers)
    sets = [members_of_events(events[end - size : end]) for end, size in zip(ends, numbers, strict=True)]
    return ChainStates.of(model, sets, outcomes)


def test_copies_say_where_they_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "_STEPS_BEFORE_COPIES", 0)
    model, rng = model_of(surface_code(0.03)), np.random.default_rng(4)
    test = FailureTest(model, events_as_gap)
    starts = starts_of(model, test, rng)
    rows, all_columns = starts.rows.copy(), np.arange(COLUMNS)
    here, following = (Level(model.log_odds[0], 0, 0.5, least_gap=least, signed=True) for least in (None, 1))
    allowed = signed_gaps(*test.answers(rows)) >= 1
    assert 0 < allowed.sum() < COLUMNS
    found, taken = allowed_in_both(model, [test], here, following, starts, rng, nothing, copies=0.99)
    assert (taken[allowed] == all_columns[allowed]).all()
    assert allowed[taken].all()
    assert (found.rows == rows[taken]).all()
    found, taken = allowed_in_both(model, [test], here, following, starts, rng, nothing)
    assert (taken == all_columns).all()
    assert (signed_gaps(*test.answers(found.rows)) >= 1).all()


def test_chains_are_renewed_from_the_first_level() -> None:
    """They descend from few columns at first, and in a thousand sweeps of seed 5, from their own ones."""
    model, rng = model_of(surface_code(0.03)), np.random.default_rng(5)
    test = FailureTest(model, events_as_gap)
    ladder = ladder_of_gaps(model, test, starts_of(model, test, rng), model.log_odds[0], rng, nothing)
    assert ladder is not None
    renewed = np.full(COLUMNS, -1)
    first, *_, last = ladder.founders(renewed)
    assert (first == np.arange(COLUMNS)).all()
    assert len(np.unique(last)) < COLUMNS // 2
    assert ((last >= 0) & (last < COLUMNS)).all()
    ladder.run(1000, rng, nothing)
    first, *_, last = ladder.founders(renewed)
    assert (first == -1).all()
    assert (last == -1).mean() > 0.5
    assert (ladder.founders(np.arange(COLUMNS))[-1][last == -1] == np.flatnonzero(last == -1)).all()


def test_few_founders_know_nothing() -> None:
    """The same records of 64 columns, by founders of one, four and sixteen columns each, and renewed ones."""
    rng = np.random.default_rng(6)
    gaps, ratios = np.full((1, COLUMNS), 2), rng.choice([0.5, 8.0], size=(1, 4)).repeat(16, axis=1)
    ratios[0, ::3] = 0.5
    columns, known, variances = np.arange(COLUMNS).reshape(1, -1), [], []
    for founders in (np.full_like(columns, RENEWED), columns, columns // 4 * 4, columns // 16 * 16):
        records = ChainRatios([], COLUMNS, 4)
        for _ in range(40):
            records.add(gaps, ratios, founders)
        found = records.coverage(0, 40)
        known.append(found.is_known.tolist())
        part, variance = (each[2, ratio_bins(np.array(1.0))] for each in (found.below, found.variance))
        variances.append(variance)
    assert known == 3 * [[True, True, True, False]] + [4 * [False]]
    assert 0.1 < part < 0.9
    assert variances[1] == pytest.approx(variances[0] + (part / 2) ** 2)
    assert variances[2] > variances[1] + variances[0]


def test_levels_bound_what_shots_may_have_missed() -> None:
    """None of 1000 plain shots was wrong, and 40 of 1000 with paths, which are likelier there by a factor of 99."""
    four = np.ones((4, 1))
    counts = Counts(250 * four[:, 0], 250 * four, *np.zeros((3, 4, 2)))
    above = np.arange(NUM_BINS)[np.newaxis] > ratio_bins(np.array(99.0))
    wrong = WrongShots(np.full(40, 99.0), np.zeros(40, dtype=np.intp), np.arange(40) % 4, False)

    def found(known: bool, by_levels: float, its_error: float) -> Curve:
        chains = Coverage(np.array([known]), above.astype(np.float64), np.full((1, NUM_BINS), 1e-4))
        levels = Curve(*(np.full(1, x) for x in (1, 0, by_levels, its_error**2, 0, 0, 0)))
        return weighted_curve(counts, [wrong], 1000, chains, levels, can_explore=True)

    seen, most = 40 / 100_000, 1.5 / 1000
    for curve in (found(False, 2e-4, 1e-4), found(False, 2e-4, 2e-4), found(False, 2e-3, 1e-4)):
        assert curve.wrong == pytest.approx(seen)
    assert found(False, 2e-4, 1e-4).by_chains == 0 == found(False, 2e-4, 1e-4).unseen
    lacks = found(False, 2e-4, 2e-4)
    assert (float(lacks.by_chains[0]) ** 0.5, float(lacks.unseen[0])) == pytest.approx((2e-4, 0))
    too_many = found(False, 2e-3, 1e-4)
    assert (float(too_many.by_chains[0]), float(too_many.unseen[0])) == pytest.approx((0, most))
    agree, differ = found(True, 3e-4, 1e-4), found(True, 1e-4, 1e-5)
    assert agree.by_chains == pytest.approx(1e-4 * seen**2)
    assert differ.by_chains - agree.by_chains == pytest.approx(3e-4**2 / 4)
