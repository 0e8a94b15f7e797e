"""Outcomes that rounding makes certain in one simulation and uncertain in another: stored ones are not taken for others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stim_nonclifford import Circuit, _native
from stim_nonclifford.simulation.engines import CpuEngine


def circuit_with_close_decisions(num_qubits: int) -> Circuit:
    """The second measurement differs from the first one with about the probability that counts as 0.

    Of each signature, rounding decides on which side of it. The measurements after them are random.
    """
    tiny = 2 * math.asin(math.sqrt(_native.CERTAIN)) / math.pi
    qubits = range(num_qubits)
    every = " ".join(map(str, qubits))
    parity = "*".join(f"X{q}" for q in qubits)
    lines = [f"RX {every}", f"T {every}"]
    lines += [f"R_ZZ({0.13 + 0.02 * q}) {q} {(q + 1) % num_qubits}" for q in qubits]
    lines += [
        f"Z_ERROR(0.2) {every}",
        *(f"R_X({0.21 + 0.03 * q}) {q}" for q in qubits),
        f"X_ERROR(0.2) {every}",
    ]
    lines += [f"R_ZZ({0.23 + 0.02 * q}) {q} {(q + 1) % num_qubits}" for q in qubits]
    lines += [f"MPP {parity}", f"R_Z({tiny!r}) 0", f"MPP {parity}"]
    lines += [f"R_Z(0.2) {q}\nMX {q}" for q in range(3)]
    return Circuit("\n".join(lines))


@pytest.mark.parametrize("num_qubits", [4, 5])
def test_shots_do_not_depend_on_what_is_stored(num_qubits: int) -> None:
    """Seed 3. Simulations of single shots and of batches round differently, and both store what they find."""
    plan = circuit_with_close_decisions(num_qubits).compile().record_plan()
    stored, alone = CpuEngine(plan), CpuEngine(plan, cache_bytes=0)
    shots = 400_000
    rows = stored.sample(3, 0, shots)
    assert stored.statistics()["simulations"] < shots / 10
    np.testing.assert_array_equal(rows, alone.sample(3, 0, shots))
