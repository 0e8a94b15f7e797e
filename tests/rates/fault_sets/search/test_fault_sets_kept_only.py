"""Only outcome classes with which a shot can be kept are stored: most fault sets are never kept."""

from __future__ import annotations

import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.fault_sets.interface import search_of
from stim_nonclifford.rates.fault_sets.search.limits import Limits


def test_most_sets_are_not_stored() -> None:
    plan = planned(snc.Circuit(cultivation_circuit(5, p=1e-3)), "all", None).plan()
    search = search_of(plan, Limits(), 3, 1, progress=False)
    for weight in range(4):
        assert search.enumerate(weight, 1e12)
    joins = search.joined(range(4, 5))
    search.sample(joins, 30_000)
    assert len(search.outcomes.probabilities) == search.native.num_keys
    assert (search.outcomes.probabilities[:, 0] > 0).all()
    last = search.enumerated[3]
    assert len(last.classes) <= last.num_classes < last.candidates
    # Spans reject most of the others before their outcome distributions are needed.
    assert 10 * last.candidates < 3 * last.sets
    assert len(joins.joins[0].classes) < joins.joins[0].sets / 3


@pytest.mark.parametrize(("distance", "gate", "is_told"), [(5, "T", True), (7, "T", True), (5, "S", False)])
def test_plans_whose_sets_are_told_by_spans(distance: int, gate: str, is_told: bool) -> None:
    circuit = snc.Circuit(cultivation_circuit(distance, p=1e-3, gate=gate))  # type: ignore[arg-type]
    search = search_of(planned(circuit, "all", None).plan(), Limits(), 0, 1, progress=False)
    assert search.native.tells_kept == is_told
