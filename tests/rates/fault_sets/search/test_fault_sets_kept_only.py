"""Only sets that can be kept are stored: the same sums as with all of them, from the same draws.

So it is where laws are long. Here it is asked of d=5 cultivation, for two strengths of noise at once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.fault_sets.interface import exploration_of
from stim_nonclifford.rates.fault_sets.search.exploration import Exploration
from stim_nonclifford.rates.fault_sets.search.limits import Limits
from stim_nonclifford.rates.fault_sets.search.strata import Stratum, Sums


@lru_cache
def looked_at(kept_only: bool) -> Exploration:
    """Weights 0 to 3 enumerated, 4 to 6 joined, with unions."""
    plans = [planned(snc.Circuit(cultivation_circuit(5, p=p)), "all", None).plan() for p in (1e-3, 2e-3)]
    known = exploration_of(plans, Limits(), 3, 1, progress=False)
    known.limits = replace(known.limits, kept_only=kept_only)
    for weight in range(4):
        assert known.enumerate(weight, 1e12)
    for weight in (4, 5, 6):
        sample = known.sample_of(range(weight, weight + 1))
        for halves in (30_000, 60_000):
            known.join(sample, halves)
        known.compose(sample, 5_000)
        known.strata.append(sample)
    return known


def of_each(stratum: Stratum, known: Exploration) -> list[Sums]:
    return [stratum.sums(circuit, known.values, 1e-4) for circuit in range(2)]


@pytest.mark.parametrize("weight", range(7))
def test_same_sums(weight: int) -> None:
    stored, kept_only = looked_at(False), looked_at(True)
    a, b = stored.strata[weight], kept_only.strata[weight]
    assert (a.sets, a.draws, a.rounds) == (b.sets, b.draws, b.rounds)
    assert a.malignant(stored.values) == b.malignant(kept_only.values)
    assert (a.malignant(stored.values) > 0) == (weight >= 3)
    for x, y in zip(of_each(a, stored), of_each(b, kept_only), strict=True):
        for name in ("passing", "kept", "wrong", "variance"):
            assert getattr(y, name) == pytest.approx(getattr(x, name), rel=1e-12), name
        # What one more event could add may only be estimated generously.
        assert y.largest >= 0.999 * x.largest
    assert of_each(b, kept_only)[0].largest == pytest.approx(of_each(a, stored)[0].largest)


def test_most_sets_are_not_stored() -> None:
    stored, kept_only = looked_at(False), looked_at(True)
    assert 5 * kept_only.study.num_keys < stored.study.num_keys
    assert len(stored.values.kept) == stored.study.num_keys
    assert len(kept_only.values.kept) == kept_only.study.num_keys
    assert (kept_only.values.kept > 0).all()
    assert not (stored.values.kept > 0).all()
    exact = kept_only.exact(3)
    assert exact.signatures(kept_only.values) == stored.exact(3).signatures(stored.values) == len(exact.keys)
    # Spans tell most of them without their laws.
    assert (
        10 * exact.candidates < 3 * exact.sets == 3 * stored.exact(3).sets == 3 * stored.exact(3).candidates
    )
    assert len(exact.keys) <= exact.num_keys < stored.exact(3).num_keys / 5


def test_plans_that_store_only_what_can_be_kept() -> None:
    """Those whose sets are told by spans, and wide ones."""
    circuits = {
        "T": (snc.Circuit(cultivation_circuit(5, p=1e-3)), True),
        "wide T": (snc.Circuit(cultivation_circuit(7, p=1e-3)), True),
        "no rotations": (snc.Circuit(cultivation_circuit(5, p=1e-3, gate="S")), False),
    }
    for name, (circuit, is_told) in circuits.items():
        known = exploration_of([planned(circuit, "all", None).plan()], Limits(), 0, 1, progress=False)
        assert known.study.tells_kept == known.limits.kept_only == is_told, name
