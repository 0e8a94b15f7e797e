"""Heralds tell a decoder that decides which errors may have happened."""

import numpy as np
import pytest

import stim_nonclifford as snc

FLIPS = (0.05, 0.08, 0.03)
ERASED = (0.3, 0.2, 0.25)
CODE = """
R 0 1 2
HERALDED_ERASE(0.3) 0
HERALDED_ERASE(0.2) 1
HERALDED_PAULI_CHANNEL_1(0.01, 0.14, 0.06, 0.04) 2
DETECTOR rec[-3]
DETECTOR rec[-2]
DETECTOR rec[-1]
X_ERROR(0.05) 0
X_ERROR(0.08) 1
X_ERROR(0.03) 2
MPP Z0*Z1 Z1*Z2
DETECTOR rec[-2]
DETECTOR rec[-1]
{question}
HERALDED_ERASE(0.5) 0
DETECTOR rec[-1]
"""
"""A repetition code with heralded errors. The last herald comes after the decision."""


def likelier_parity(heralds: np.ndarray, checks: np.ndarray) -> np.ndarray:
    """Whether an odd number of qubits is likelier to be flipped; -1 where that is no question of likelihood."""
    given = np.array([0.5, 0.5, 0.2 / 0.25])  # X or Y, if the herald fires
    flips = np.where(heralds, given + np.array(FLIPS) - 2 * given * FLIPS, FLIPS)
    likelihoods = []
    for first in (0, 1):
        second = first ^ checks[:, 0]
        pattern = np.stack([np.full(len(checks), first), second, second ^ checks[:, 1]], axis=1)
        likelihoods.append((np.where(pattern, flips, 1 - flips).prod(axis=1), pattern.sum(axis=1) % 2))
    (p, parity), (q, other) = likelihoods
    # Probabilities above 1/2 count as 1/2.
    is_equal = (np.abs(p - q) < 1e-9 * p) | heralds[:, 2]
    return np.asarray(np.where(is_equal, -1, np.where(p > q, parity, other)))


@pytest.mark.parametrize("question", ["MPP[DECODE] Z0*Z1*Z2", "FRAME Z0*Z1*Z2"])
def test_decisions_know_heralds(question: str) -> None:
    circuit = snc.Circuit(CODE.format(question=question))
    assert circuit.decision_points()[0].num_detectors == 5
    sampler = snc.Circuit(CODE.format(question="MPP Z0*Z1*Z2\n" + question)).compile_sampler(
        seed=4, decoder="pymatching"
    )
    records = sampler.sample(50_000)
    predicted = records[:, 6] ^ (records[:, 5] if question.startswith("MPP") else False)
    expected = likelier_parity(records[:, :3], records[:, 3:5].astype(np.int64))
    is_known = expected >= 0
    assert is_known.mean() > 0.6
    assert np.array_equal(predicted[is_known], expected[is_known] == 1)
    # Without heralds the answer would be another one in many shots.
    unheralded = likelier_parity(np.zeros_like(records[:, :3]), records[:, 3:5].astype(np.int64))
    assert (unheralded != expected)[is_known].mean() > 0.02


def test_gaps_know_heralds() -> None:
    circuit = snc.Circuit(CODE.format(question="SURE(7) Z0*Z1*Z2"))
    records = circuit.compile_sampler(seed=3, decoder="pymatching").sample(20_000)
    quiet = ~records[:, 3:5].any(axis=1)
    # Heralds leave the decoder unsure, though no check fires.
    assert records[quiet & ~records[:, :3].any(axis=1), 5].all()
    assert not records[quiet & records[:, 0] & records[:, 1] & records[:, 2], 5].any()
