"""The leading term of P(kept and wrong), exactly, from all pairs and triples of error mechanisms.

For d=3 it is (32/75) x^2 and for d=5 (574/375) x^3 with x = p / (1 - p) (arXiv 2609.18922), so the true fault
distances are 2 and 3. Nothing is sampled here: the rates per p, at p -> 0, are summed over all sets
of mechanisms that pass the noise-only checks, weighted with the exact law of their signature.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import stim_nonclifford as snc
from circuits.cultivation import cultivation_circuit
from stim_nonclifford.engines import CpuEngine
from stim_nonclifford.plan import Plan

REFERENCE = Path(__file__).parents[2] / "shared" / "reference_circuits"
P = 1e-7  # small enough for the next order, some 10^2 times P, to be below the tolerance


def plan_of(circuit: snc.Circuit) -> Plan:
    detectors = circuit.num_detectors
    return circuit.compile().detector_plan(
        reported=range(detectors, detectors + circuit.num_observables), postselected=range(detectors)
    )


class Wrongness:
    """The probability that a shot with given signature and outputs is kept and has an observable flipped."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.engine = CpuEngine(plan)
        self.known: dict[bytes, float] = {}

    def __call__(self, row: npt.NDArray[np.bool_]) -> float:
        key = row.tobytes()
        if key not in self.known:
            signature, outputs = np.split(row, [self.plan.num_signature_bits])
            self.known[key] = sum(
                probability
                for probability, discarded, flipped in self.engine.outcome_law(signature)
                if not discarded and (outputs ^ flipped).any()
            )
        return self.known[key]


def packed(bits: npt.NDArray[np.bool_]) -> npt.NDArray[np.void]:
    """Rows of bits as single values that can be sorted."""
    rows = np.ascontiguousarray(np.packbits(bits, axis=1))
    return rows.view([("row", np.void, rows.shape[1])]).ravel()["row"]


def test_d3_pairs() -> None:
    plan = plan_of(snc.Circuit(cultivation_circuit(distance=3, p=P)))
    effects = plan.effects.dense(plan.num_row_bits)
    checks, rest = np.split(effects, [plan.num_checks], axis=1)
    rates = plan.rates / P
    wrong = Wrongness(plan)
    groups = defaultdict(list)
    for k, key in enumerate(packed(checks)):
        groups[key.tobytes()].append(k)
    singles = [k for k in range(len(rates)) if not checks[k].any()]
    assert all(wrong(rest[k]) < 1e-12 for k in singles)
    total = sum(
        rates[a] * rates[b] * wrong(rest[a] ^ rest[b])
        for group in groups.values()
        for i, a in enumerate(group)
        for b in group[:i]
    )
    assert total == pytest.approx(32 / 75, rel=1e-4)


@pytest.mark.skipif(not REFERENCE.exists(), reason="needs ../shared/reference_circuits")
def test_d5_triples() -> None:
    text = (REFERENCE / "msc_d5_inject_cultivate_p1e-3.stim").read_text().replace("(0.001)", f"({P})")
    plan = plan_of(snc.Circuit(text))
    effects = plan.effects.dense(plan.num_row_bits)
    checks, rest = np.split(effects, [plan.num_checks], axis=1)
    rates = plan.rates / P
    wrong = Wrongness(plan)

    # A check pattern as one 64-bit number: a random linear map, so that XOR goes through it. Collisions are
    # weeded out below.
    rng = np.random.default_rng(5)
    columns = rng.integers(0, 1 << 63, size=plan.num_checks, dtype=np.uint64)
    keys = np.bitwise_xor.reduce(np.where(checks, columns, np.uint64(0)), axis=1)
    order = np.argsort(keys)
    total, triples = 0.0, 0
    for a in range(len(keys)):
        pair_keys = keys[a] ^ keys[:a]
        first = np.searchsorted(keys[order], pair_keys, side="left")
        last = np.searchsorted(keys[order], pair_keys, side="right")
        for b in np.flatnonzero(last > first):
            for c in order[first[b] : last[b]]:
                # Each triple once, largest index first.
                if c >= b or (checks[a] ^ checks[b] ^ checks[c]).any():
                    continue
                triples += 1
                total += rates[a] * rates[b] * rates[c] * wrong(rest[a] ^ rest[b] ^ rest[c])
    assert triples > 10_000
    assert total == pytest.approx(574 / 375, rel=1e-4)
