"""Chains that begin with copies of others say from which column they descend."""

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
from stim_nonclifford.rates.decoded_rates.postselection.paths.coverage import ChainRatios, ratio_bins
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
