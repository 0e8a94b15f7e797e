"""Only sets that can be kept are stored: the same sums as with all of them, from the same draws.

So it is where laws are long. Here it is asked of d=5 cultivation.
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


@lru_cache
def searched(kept_only: bool) -> Search:
    """Weights 0 to 3 enumerated, 4 to 6 joined, with unions."""
    plan = planned(snc.Circuit(cultivation_circuit(5, p=1e-3)), "all", None).plan()
    known = search_of(plan, Limits(), 3, 1, progress=False)
    known.kept_only = kept_only
    for weight in range(4):
        assert known.enumerate(weight, 1e12)
    for weight in (4, 5, 6):
        joins, unions = known.samplers(range(weight, weight + 1))
        for halves in (30_000, 60_000):
            known.sample(joins, halves)
        known.sample(unions, 5_000)
        known.strata += [joins, unions]
    return known


@pytest.mark.parametrize("number", range(10))
def test_same_sums(number: int) -> None:
    stored, kept_only = searched(False), searched(True)
    a, b = stored.strata[number], kept_only.strata[number]
    assert (a.sets, a.draws) == (b.sets, b.draws)
    malignant = []
    for each, known in ((a, stored), (b, kept_only)):
        wrong = known.outcomes.probabilities[:, 1]
        malignant.append(np.count_nonzero(each.coefficients(len(wrong)) * wrong))
    assert malignant[0] == malignant[1]
    # No malignant set of four is a union.
    assert (malignant[0] > 0) == (number not in (0, 1, 2, 5))
    x, y = stored.sums(a), kept_only.sums(b)
    for name in ("passing", "kept", "wrong", "missed"):
        assert getattr(y, name) == pytest.approx(getattr(x, name), rel=1e-9), name
    assert y.covariance == pytest.approx(x.covariance, rel=1e-9)


def test_most_sets_are_not_stored() -> None:
    stored, kept_only = searched(False), searched(True)
    assert 5 * kept_only.native.num_keys < stored.native.num_keys
    assert len(stored.outcomes.probabilities) == stored.native.num_keys
    assert len(kept_only.outcomes.probabilities) == kept_only.native.num_keys
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
        known = search_of(planned(circuit, "all", None).plan(), Limits(), 0, 1, progress=False)
        assert known.native.tells_kept == known.kept_only == is_told, name
