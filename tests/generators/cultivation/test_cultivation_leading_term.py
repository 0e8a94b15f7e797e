"""The leading term of P(kept and wrong) of the generated circuits, exactly, and with it their fault distance.

With uniform noise it is (32/75) p^2 for d=3 and (574/375) p^3 for d=5 (arXiv 2609.18922): the fault
distances are 2 and 3. Nothing is sampled: the rates per p, at p -> 0, are summed over all sets of
mechanisms that pass the noise-only checks, weighted with the exact law of their signature.
"""

from collections import defaultdict

import numpy as np
import numpy.typing as npt
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import INJECTION_CHOICES, NoiseChoice, cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine

P = 1e-7  # small enough for the next order, some 10^2 times P, to be below the tolerance


class Mechanisms:
    """All error mechanisms of a circuit, their rates per P, and how wrong shots with some of them are."""

    def __init__(self, circuit: snc.Circuit) -> None:
        detectors = circuit.num_detectors
        plan = circuit.compile().detector_plan(RequestedOutputs.of([detectors], range(detectors)))
        self.rates = plan.rates / P
        self.checks, self.rest = np.split(plan.effects.dense(plan.num_row_bits), [plan.num_checks], axis=1)
        self.engine = CpuEngine(plan)

    def leading_term(self, size: int) -> float:
        """The sum over all sets of this many mechanisms of rates times P(kept and wrong)."""
        sets = self.passing(size)
        rests = np.bitwise_xor.reduce(self.rest[sets], axis=1)
        weights: dict[bytes, float] = defaultdict(float)
        for rest, weight in zip(rests, self.rates[sets].prod(axis=1).tolist(), strict=True):
            weights[rest.tobytes()] += weight
        return sum(
            weight * self.wrong(np.frombuffer(rest, dtype=np.bool_)) for rest, weight in weights.items()
        )

    def wrong(self, rest: npt.NDArray[np.bool_]) -> float:
        """Probability that a shot with this signature and output is kept and wrong."""
        return sum(
            probability
            for probability, discarded, flipped in self.engine.outcome_law(rest[:-1])
            if not discarded and rest[-1] ^ flipped[0]
        )

    def passing(self, size: int) -> npt.NDArray[np.int64]:
        """All sets of one, two or three mechanisms that pass the noise-only checks together, as rows."""
        # A check pattern as one 64-bit number: a random linear map, so that XOR goes through it.
        rng = np.random.default_rng(5)
        columns = rng.integers(0, 1 << 63, size=self.checks.shape[1], dtype=np.uint64)
        keys = np.bitwise_xor.reduce(np.where(self.checks, columns, np.uint64(0)), axis=1)
        order = np.argsort(keys)
        in_order = keys[order]

        found = []
        for a in range(len(keys)) if size > 1 else [0]:
            # All that precedes the last mechanism of a set, and the key that the last one must have.
            if size == 1:
                first, wanted = np.empty((1, 0), dtype=np.int64), np.zeros(1, dtype=np.uint64)
            elif size == 2:
                first, wanted = np.array([[a]]), keys[a : a + 1]
            else:
                first = np.stack([np.full(a, a), np.arange(a)], axis=1)
                wanted = keys[a] ^ keys[:a]
            start = np.searchsorted(in_order, wanted, side="left")
            count = np.searchsorted(in_order, wanted, side="right") - start
            ranges = [order[start[k] : start[k] + count[k]] for k in np.flatnonzero(count)]
            if ranges:
                sets = np.column_stack([np.repeat(first, count, axis=0), np.concatenate(ranges)])
                # Each set once, largest index first.
                found.append(sets if size == 1 else sets[sets[:, -1] < sets[:, -2]])
        sets = np.concatenate(found)
        # Weeds out collisions of keys.
        return sets[~np.bitwise_xor.reduce(self.checks[sets], axis=1).any(axis=1)]


LEADING_TERMS = {
    (3, "uniform"): 32 / 75,
    (3, "si1000"): 221 / 450,
    (5, "uniform"): 574 / 375,
    (5, "si1000"): 3133 / 5400,
}


@pytest.mark.parametrize(
    ("distance", "noise", "injection", "expected"),
    [
        pytest.param(
            *key,
            injection,
            expected,
            marks=pytest.mark.slow if key[0] == 5 else (),  # or see test_fault_sets_malignant
        )
        for key, expected in LEADING_TERMS.items()
        for injection in INJECTION_CHOICES
    ],
)
def test_leading_term(distance: int, noise: str, injection: str, expected: float) -> None:
    circuit = snc.Circuit(cultivation_circuit(distance, p=P, noise=noise, injection=injection))
    mechanisms = Mechanisms(circuit)
    fault_distance = {3: 2, 5: 3}[distance]
    for fewer in range(1, fault_distance):
        assert mechanisms.leading_term(fewer) < 1e-12
    assert mechanisms.leading_term(fault_distance) == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow  # test_cultivation_flagged finds the same distance in another way
@pytest.mark.parametrize("noise", ["uniform", "si1000"])
def test_three_faults_are_harmless_in_the_flagged_circuit(noise: NoiseChoice) -> None:
    circuit = snc.Circuit(cultivation_circuit(5, p=P, noise=noise, variant="flagged"))
    mechanisms = Mechanisms(circuit)
    assert max(mechanisms.leading_term(size) for size in (1, 2, 3)) < 1e-12


@pytest.mark.parametrize(
    ("distance", "fault_distance", "expected"), [(3, 3, 119609 / 375), (5, 4, 88928 / 16875)]
)
def test_leading_term_of_the_proxy(distance: int, fault_distance: int, expected: float) -> None:
    p = 1e-12
    circuit = snc.Circuit(cultivation_circuit(distance, p=p, gate="S"))
    sets = circuit.malignant_sets(max_weight=fault_distance, threads=2, postselection_mask="all")
    assert {len(each.causes) for each in sets} == {fault_distance}
    leading = sum(each.probability * each.kept_and_wrong for each in sets)
    assert leading / (p / (1 - p)) ** fault_distance == pytest.approx(expected, rel=1e-7)
