"""Only sets that can be kept are stored: the same sums as with all of them, from the same draws.

So it is where laws are long. Here it is asked of d=5 cultivation, for two strengths of noise at once.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.fault_sets.interface import search_of
from stim_nonclifford.rates.fault_sets.search.limits import Limits
from stim_nonclifford.rates.fault_sets.search.search import Search
from stim_nonclifford.rates.fault_sets.search.strata import Stratum, Tally


@lru_cache
def searched(kept_only: bool) -> Search:
    """Weights 0 to 3 enumerated, 4 to 6 joined, with unions."""
    plans = [planned(snc.Circuit(cultivation_circuit(5, p=p)), "all", None).plan() for p in (1e-3, 2e-3)]
    known = search_of(plans, Limits(), 3, 1, progress=False)
    known.kept_only = kept_only
    for weight in range(4):
        assert known.enumerate(weight, 1e12)
    for weight in (4, 5, 6):
        sample = known.begin_sample(range(weight, weight + 1))
        for halves in (30_000, 60_000):
            known.join(sample, halves)
        known.unite(sample, 5_000)
        known.strata.append(sample)
    return known


def of_each(stratum: Stratum, known: Search) -> list[Tally]:
    return [known.tally(stratum, circuit) for circuit in range(2)]


@pytest.mark.parametrize("weight", range(7))
def test_same_sums(weight: int) -> None:
    stored, kept_only = searched(False), searched(True)
    a, b = stored.strata[weight], kept_only.strata[weight]
    assert (a.sets, a.draws, a.rounds) == (b.sets, b.draws, b.rounds)
    malignant = [
        np.count_nonzero(known.outcomes.probabilities[np.unique(each.classes), 1])
        for each, known in ((a, stored), (b, kept_only))
    ]
    assert malignant[0] == malignant[1]
    assert (malignant[0] > 0) == (weight >= 3)
    for x, y in zip(of_each(a, stored), of_each(b, kept_only), strict=True):
        for name in ("passing", "kept", "wrong", "missed"):
            assert getattr(y, name) == pytest.approx(getattr(x, name), rel=1e-9), name
        assert y.covariance == pytest.approx(x.covariance, rel=1e-9)


def test_most_sets_are_not_stored() -> None:
    stored, kept_only = searched(False), searched(True)
    assert 5 * kept_only.study.num_keys < stored.study.num_keys
    assert len(stored.outcomes.probabilities) == stored.study.num_keys
    assert len(kept_only.outcomes.probabilities) == kept_only.study.num_keys
    assert (kept_only.outcomes.probabilities[:, 0] > 0).all()
    assert not (stored.outcomes.probabilities[:, 0] > 0).all()
    exact, other = kept_only.enumerated[3], stored.enumerated[3]
    assert np.count_nonzero(stored.outcomes.probabilities[other.classes, 0]) == len(exact.classes)
    # Spans reject most of the others before their outcome distributions are needed.
    assert 10 * exact.candidates < 3 * exact.sets == 3 * other.sets == 3 * other.candidates
    assert len(exact.classes) <= exact.num_classes < other.num_classes / 5


def test_plans_that_store_only_what_can_be_kept() -> None:
    """Those whose sets are told by spans, and wide ones."""
    circuits = {
        "T": (snc.Circuit(cultivation_circuit(5, p=1e-3)), True),
        "wide T": (snc.Circuit(cultivation_circuit(7, p=1e-3)), True),
        "no rotations": (snc.Circuit(cultivation_circuit(5, p=1e-3, gate="S")), False),
    }
    for name, (circuit, is_told) in circuits.items():
        known = search_of([planned(circuit, "all", None).plan()], Limits(), 0, 1, progress=False)
        assert known.study.tells_kept == known.kept_only == is_told, name
