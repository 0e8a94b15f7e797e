"""Which fault sets can be kept, and their laws, without coefficients: against simulations of the coefficient vector."""

import itertools
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

import stim_nonclifford as snc
from stim_nonclifford import _native
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import INJECTION_CHOICES, cultivation_circuit
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.search.mechanisms import mechanisms_of, native_search
from stim_nonclifford.simulation.plan import SamplingPlan, plain_attributes

from ....support.rates.fault_set_cases import search_of
from ....support.seeds import slow

Words = npt.NDArray[np.uint64]
Law = dict[int, float]


def plan_of(circuit: snc.Circuit) -> SamplingPlan:
    return planned(circuit, "all", None).plan()


def laws(plan: SamplingPlan, signatures: Words, path_method: str) -> list[Law]:
    """For each signature the probability of each word of outputs with which shots are kept."""
    found = _native.kept_branches(plain_attributes(plan), signatures.ravel(), len(signatures), path_method)
    starts = found["starts"].astype(int)
    entries = list(zip(found["outputs"].tolist(), found["probabilities"].tolist(), strict=True))
    return [dict(entries[a:b]) for a, b in itertools.pairwise(starts)]


def pairs(draws: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]:
    """Halves of two mechanisms each, and that sets of four are looked for."""
    return (
        np.array([0, 0, draws], dtype=np.uint32),
        np.array([0, 0, draws], dtype=np.uint32),
        np.array([0.0, 0.0, 0.0, 0.0, 1.0]),
    )


def joined(plan: SamplingPlan, draws: int) -> tuple[npt.NDArray[np.uint32], Words]:
    """All sets of four mechanisms that so many random pairs and as many others make, and their signatures."""
    mechanisms = mechanisms_of(plan)
    # Of mechanisms that flip no outcome, all sets can be kept.
    study = native_search(plan, replace(mechanisms, effects=np.zeros_like(mechanisms.effects)), 1, 1 << 28)
    members = study.join(*pairs(draws), 3, 1, 10**7)["members"].reshape(-1, 4)
    keys = np.bitwise_xor.reduce(mechanisms.effects[members], axis=1) ^ mechanisms.base
    return members, np.ascontiguousarray(keys[:, : -(-plan.num_signature_bits // 64)])


def signatures_of_sets(plan: SamplingPlan, draws: int) -> Words:
    """The signatures of the sets of four mechanisms that so many random pairs and as many others make."""
    return np.unique(joined(plan, draws)[1], axis=0)


def assert_equal(found: list[Law], expected: list[Law]) -> None:
    assert len(found) == len(expected)
    for each, other in zip(found, expected, strict=True):
        assert each.keys() == other.keys()
        assert list(each.values()) == pytest.approx([other[key] for key in each], rel=1e-9)


@pytest.mark.parametrize(
    ("distance", "injection", "draws"),
    [
        *((3, injection, 3000) for injection in INJECTION_CHOICES),
        (5, "unitary", 20_000),
        *(slow(5, injection, 20_000) for injection in ("bell", "degenerate")),
        (7, "unitary", 6_000),
    ],
)
def test_cultivation(distance: int, injection: str, draws: int) -> None:
    circuit = cultivation_circuit(distance, p=1e-3, injection=injection)  # type: ignore[arg-type]
    plan = plan_of(snc.Circuit(circuit))
    signatures = signatures_of_sets(plan, draws)
    expected = laws(plan, signatures, "vector")
    assert_equal(laws(plan, signatures, "elimination"), expected)
    # The comparison has seen laws of all kinds.
    assert sum(len(law) > 0 for law in expected) > len(signatures) / 1000
    assert sum(not law for law in expected) > len(signatures) / 1000
    if distance < 7:
        assert any(len(law) == 2 for law in expected)
        assert len({round(p, 9) for law in expected for p in law.values()}) > 4


@pytest.mark.parametrize(
    ("distance", "injection", "draws"),
    [
        *((3, injection, 3000) for injection in INJECTION_CHOICES),
        *((5, injection, 30_000) for injection in INJECTION_CHOICES),
    ],
)
def test_spans_tell_which_sets_can_be_kept(distance: int, injection: str, draws: int) -> None:
    plan = plan_of(snc.Circuit(cultivation_circuit(distance, p=1e-3, injection=injection)))  # type: ignore[arg-type]
    members, signatures = joined(plan, draws)
    study = native_search(plan, mechanisms_of(plan), 1, 1 << 28)
    assert study.tells_kept
    stored = study.join(*pairs(draws), 3, 1, 10**7)
    is_kept = np.array([len(law) > 0 for law in laws(plan, signatures, "vector")])
    assert (stored["members"].reshape(-1, 4) == members[is_kept]).all()
    # All others are told without their laws.
    assert stored["sets"] == len(members) > 1.5 * stored["candidates"] > 100
    assert stored["candidates"] == is_kept.sum()
    assert stored["left_out"] == pytest.approx(len(members) - is_kept.sum())


@pytest.mark.parametrize("distance", [3, 5])
def test_arbitrary_signatures(distance: int) -> None:
    """Signatures with many random bits reverse many angles, so that many sets of Paulis are summed over."""
    plan = plan_of(snc.Circuit(cultivation_circuit(distance, p=1e-3)))
    bits = np.random.default_rng(5).random((4000, plan.num_signature_bits)) < 0.5
    words = -(-plan.num_signature_bits // 64)
    padded = np.zeros((len(bits), 64 * words), dtype=np.bool_)
    padded[:, : plan.num_signature_bits] = bits
    signatures = np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    expected = laws(plan, signatures, "vector")
    assert_equal(laws(plan, signatures, "elimination"), expected)
    assert sum(len(law) > 0 for law in expected) > 20


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RX 0\nR_Z(0.3) 0\nX_ERROR(0.1) 0\nR_Z(-0.3) 0", "angles"),
        ("RX 0\nT 0\nX_ERROR(0.1) 0\nT 0 0", "not Clifford"),
        ("RX 0\nT 0\nSQRT_X 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\nSQRT_X_DAG 0\nT_DAG 0", "axes"),
    ],
)
def test_where_coefficients_are_needed(text: str, reason: str) -> None:
    """Sets are not told then, and all laws are evaluated."""
    measured = "\nMX 0\nDETECTOR rec[-1]\nRX 1\nX_ERROR(0.1) 1\nMX 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    plan = plan_of(snc.Circuit(text + measured))
    assert plan.num_signature_bits > 0, reason
    assert not native_search(plan, mechanisms_of(plan), 1, 1 << 28).tells_kept, reason


def test_most_sets_are_not_stored() -> None:
    plan = planned(snc.Circuit(cultivation_circuit(5, p=1e-3)), "all", None).plan()
    search = search_of(plan, Settings(seed=3))
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
    search = search_of(planned(circuit, "all", None).plan(), Settings())
    assert search.native.tells_kept == is_told
