"""Outcomes that decide the signs of all later rotations: shots against states that follow their records."""

import numpy as np
import numpy.typing as npt
import stim

from stim_nonclifford import Circuit

ROUNDS = 80
SHOTS = 60
TURN = 0.3
ROUND = f"H_NYZ 0 1\nR_X({TURN}) 0\nM 0 1"
"""Each outcome flips the signs of about half of the later rotations, each of which activates a coordinate."""

_GATE = stim.Tableau.from_named_gate("H_NYZ").to_unitary_matrix(endian="little")


def test_conditional_probabilities() -> None:
    """Seed 1. Of each record, given the earlier ones; a rotation in the wrong direction is seen."""
    circuit = Circuit(f"R 0 1\nREPEAT {ROUNDS} {{\n{ROUND}\n}}")
    compiled = circuit.compile()
    signs = compiled.quantum.num_signs
    assert signs > 2 * 32  # many in a row
    records = circuit.compile_sampler(seed=1).sample(SHOTS)
    assert abs(deviation(records, TURN)) < 5
    assert abs(deviation(records, -TURN)) > 20


def deviation(records: npt.NDArray[np.bool_], turn: float) -> float:
    """How far the records are from their probabilities, in standard deviations."""
    total = variance = 0.0
    for shot in records:
        for record, p in zip(shot.tolist(), probabilities(shot.tolist(), turn), strict=True):
            total += (record - p) * (p - 0.5)
            variance += p * (1 - p) * (p - 0.5) ** 2
    return float(total / variance**0.5)


def probabilities(shot: list[bool], turn: float) -> list[float]:
    """The probability that each record is 1, given the earlier ones, of the state [qubit 1, qubit 0]."""
    cos, sin = np.cos(turn * np.pi / 2), np.sin(turn * np.pi / 2)
    rotation = np.array([[cos, -1j * sin], [-1j * sin, cos]])
    state = np.zeros((2, 2), dtype=complex)
    state[0, 0] = 1
    found = []
    for k in range(0, len(shot), 2):
        state = _GATE @ state @ (rotation @ _GATE).T
        for axis, record in ((1, shot[k]), (0, shot[k + 1])):
            ones = np.linalg.norm(np.take(state, 1, axis)) ** 2
            found.append(float(ones))
            kept = np.zeros((2, 2), dtype=complex)
            place = (slice(None), int(record)) if axis else (int(record), slice(None))
            kept[place] = state[place]
            norm = np.linalg.norm(kept)
            assert norm > 1e-6
            state = kept / norm
    return found
