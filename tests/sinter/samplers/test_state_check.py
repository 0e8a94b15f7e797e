"""The check of a logical state after decoding, and its counts for Sinter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import LogicalStateCheck, SoftDecodingSampler
from sinter_plugin.samplers.soft_decoding import frame_circuit
from stim_nonclifford.circuit.logical_states import parsed_state

FALSE_ALARM = 1e-7
ROOT = 0.5**0.5
T_STATE = LogicalStateCheck((0, 1), (0, 1), (ROOT, ROOT))

FLAGGED, UNSEEN, READOUT = 0.2, 0.05, 0.1
# A T state with a random X frame, of which a record says whether it is there. A detector flags some Z errors.
CIRCUIT = f"""
    RX 1
    S[T] 1
    R 2 3
    H 3
    CX 3 1
    M({READOUT}) 3
    OBSERVABLE_INCLUDE(1) rec[-1]
    E({FLAGGED}) Z1 X2
    Z_ERROR({UNSEEN}) 1
    M 2
    DETECTOR rec[-1]
    EXP_VAL X1 Y1
    OBSERVABLE_INCLUDE(0) X1
    OBSERVABLE_INCLUDE(1) Y1
"""


def collected(circuit: Any, shots: int, calls: int = 3, **options: Any) -> sinter.AnonTaskStats:
    """Statistics of a number of shots, taken in a number of calls."""
    mask = options.pop("mask", None)
    task = sinter.Task(
        circuit=snc.Circuit(circuit).to_stim(),
        postselection_mask=None if mask is None else np.packbits(mask, bitorder="little"),
        json_metadata={},
    )
    # The S-proxy of a T state has no X.
    seed = options.pop("seed", 5)
    options = {"warn": False, "state_check": T_STATE, "error_model": "noise_only", **options}
    sampler = SoftDecodingSampler(**options).compiled_range_sampler_for_task(task, seed=seed)
    total = sinter.AnonTaskStats()
    while total.shots < shots:
        total += sampler.sample_range(total.shots, min(-(-shots // calls), shots - total.shots))
    return total


def test_the_failures_of_a_known_circuit() -> None:
    # An unseen Z gives the orthogonal state. A readout error turns Y around: fidelity 1/2 with both states.
    expected = UNSEEN * (1 - READOUT) + 0.5 * READOUT
    stats = collected(CIRCUIT, 200_000)
    assert stats.discards == 0
    assert scipy.stats.binomtest(stats.errors, stats.shots, expected).pvalue > FALSE_ALARM
    # If the flagged shots are discarded, nothing is left to correct, and the failures are the same.
    more = CIRCUIT + "X_ERROR(0.1) 5\nM 5\nDETECTOR rec[-1]"
    stats = collected(more, 200_000, mask=np.array([True, False]))
    kept = stats.shots - stats.discards
    assert scipy.stats.binomtest(kept, stats.shots, 1 - FLAGGED).pvalue > FALSE_ALARM
    assert scipy.stats.binomtest(stats.errors, kept, expected).pvalue > FALSE_ALARM


def test_the_check_of_one_pauli() -> None:
    # Y alone cannot tell a wrong frame from a wrong state.
    expected = UNSEEN * (1 - READOUT) + READOUT * (1 - UNSEEN)
    stats = collected(CIRCUIT, 100_000, state_check=LogicalStateCheck((1,), (1,), (2**0.5,)))
    assert scipy.stats.binomtest(stats.errors, stats.shots, expected).pvalue > FALSE_ALARM
    # The opposite state fails where this one passes: F is 0 or 1, so that nothing is drawn.
    opposite = collected(CIRCUIT, 100_000, state_check=LogicalStateCheck((1,), (1,), (-(2**0.5),)))
    assert opposite.errors == stats.shots - stats.errors


def test_equals_a_computation_on_the_same_shots() -> None:
    circuit = snc.Circuit(CIRCUIT)
    sampler = frame_circuit(circuit).compile_detector_sampler(seed=5)
    batch = next(sampler.iter_kept(max_shots=5000, batch_shots=5000, expectation_values=True))
    assert batch.expectation_values is not None
    flips = batch.obs[:, 0] ^ 3 * (batch.dets[:, 0] & 1)  # a flag means a Z
    x, y = ((1 - 2.0 * (flips >> k & 1)) * batch.expectation_values[:, k] for k in (0, 1))
    fidelities = (1 + (x + y) * ROOT) / 2
    assert set(fidelities.round(9)) == {0.0, 0.5, 1.0}
    stats = collected(CIRCUIT, 5000)
    certain = np.count_nonzero(fidelities < 0.25)
    halves = np.count_nonzero(np.abs(fidelities - 0.5) < 0.25)
    assert certain <= stats.errors <= certain + halves
    assert scipy.stats.binomtest(stats.errors - certain, halves, 0.5).pvalue > FALSE_ALARM


def test_nothing_but_the_seed_changes_the_result() -> None:
    results = {
        collected(CIRCUIT, 30_000, calls=calls, engine=engine, store_bytes=store).errors
        for calls, engine, store in ((1, "cpu", 1 << 20), (7, "cpu", 0), (100, "auto", 1 << 20))
    }
    assert len(results) == 1
    assert collected(CIRCUIT, 30_000, seed=6).errors not in results


def surface_code(p: float) -> tuple[stim.Circuit, str]:
    """A memory, and the same with the logical Z asked for instead of measured."""
    circuit = stim.Circuit.generated(
        "surface_code:rotated_memory_z", distance=3, rounds=3, after_clifford_depolarization=p
    )
    text = str(circuit.flattened())
    lines = text.split("\n")
    last = max(k for k, line in enumerate(lines) if line.startswith("M "))
    logical = next(line for line in lines if line.startswith("OBSERVABLE_INCLUDE"))
    qubits = [int(qubit) for qubit in lines[last].split()[1:]]
    chosen = [qubits[int(target[4:-1])] for target in logical.split()[1:]]
    lines[lines.index(logical)] = ""
    lines[last:last] = [
        f"EXP_VAL {'*'.join(f'Z{qubit}' for qubit in chosen)}",
        f"OBSERVABLE_INCLUDE(0) {' '.join(f'Z{qubit}' for qubit in chosen)}",
    ]
    return circuit, "\n".join(lines)


@pytest.mark.parametrize("confidence", [False, True])
def test_counts_by_gap_are_those_of_a_measured_logical_qubit(confidence: bool) -> None:
    circuit, asked = surface_code(0.02)
    options = {"confidence": confidence, "error_model": "s_proxy"}
    measured = collected(circuit, 60_000, state_check=None, **options)
    check = LogicalStateCheck((0,), (0,), (1.0,))
    stats = collected(asked, 60_000, state_check=check, **options)
    table = [[s.errors, s.shots - s.errors] for s in (measured, stats)]
    assert min(table[0]) > 500
    assert scipy.stats.chi2_contingency(table).pvalue > FALSE_ALARM
    gaps = {key: count for key, count in stats.custom_counts.items() if key[0] in "CE"}
    if confidence:
        wrong = sum(count for key, count in gaps.items() if key[0] == "E")
        assert (wrong, sum(gaps.values())) == (stats.errors, stats.shots)
    else:
        assert not gaps


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("M 0\nDETECTOR rec[-1]\nEXP_VAL X0 Y0\nOBSERVABLE_INCLUDE(0) X0\nOBSERVABLE_INCLUDE(1) rec[-1]", {}, "Observable 1 has no Pauli targets"),
        (CIRCUIT, {"state_check": "X", "warn": True}, r"Without noise the fidelity with the checked state is 0.853553 \(expectation value 0 is 0.7071\)"),
        (CIRCUIT, {"state_check": "T_DAG", "warn": True}, r"is 0.5\d* \(expectation value 0 is 0.7071, expectation value 1 is 0.7071\)"),
        (CIRCUIT, {"state_check": "S"}, "state_check must be 'T', .* but is 'S'"),
    ],
)  # fmt: skip
def test_the_checked_state_is_that_of_the_circuit(text: str, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        collected(text, 10, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((0,), (0, 1), (1.0,)), "1 expectation values, 2 observables and 1 weights"),
        (((), (), ()), "0 expectation values"),
        (((0,), (-1,), (1.0,)), "Each of observables must be an integer >= 0, but is -1"),
        (((0,), (0,), (math.nan,)), "Each of weights must be a finite number, but is nan"),
        (((0, 1), (0, 1), (1.0, 1.0)), r"length is 1, but \(1.0, 1.0\) has length 1.41421356. .*the state in this"),
        (((0, 1), (0, 1), (0.7071, 0.7071)), "has length 0.99999041"),
        (((0, 1), (0, 1), (2.0, 1e-3)), "has length 2.0000002"),
        (((0,), (0,), (0.5,)), "has length 0.5"),
        (((0, 1), (0, 1), (0.0, 0.0)), "has length 0"),
    ],
)  # fmt: skip
def test_wrong_checks(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LogicalStateCheck(*arguments)


def test_a_check_by_one_pauli_refuses_states_that_it_cannot_place() -> None:
    """No clipping: of |i>, the weight √2 makes a fidelity of 1.2, and a mean over shots would be too small."""
    y_alone = LogicalStateCheck((1,), (1,), (2**0.5,))
    frames = np.zeros((4, 1), dtype=np.uint8)
    values = np.array([[ROOT, ROOT], [ROOT, -ROOT], [1, 0], [ROOT, ROOT * (1 + 1e-12)]])
    np.testing.assert_allclose(y_alone.fidelities(values, frames), [1, 0, 0.5, 1], atol=1e-9)
    assert y_alone.failures(values, frames, 1, np.arange(4))[[0, 1, 3]].tolist() == [False, True, False]
    for y in (1.0, -1.0, 0.71):
        values[2] = [0, y]
        with pytest.raises(
            ValueError, match=f"its size is 0.707107 or 0 in every shot, but it is {abs(y):.6g}"
        ):
            y_alone.fidelities(values, frames)
    # Mixed by noise: a T state, and |i> if the T gate is preceded by an S.
    mixed = """
        M(0.5) 2
        RX 1
        C_S rec[-1] 1
        C_T_DAG rec[-1] 1
        T 1
        M 3
        DETECTOR rec[-1]
        EXP_VAL X1 Y1
        OBSERVABLE_INCLUDE(0) X1
        OBSERVABLE_INCLUDE(1) Y1
    """
    with pytest.raises(ValueError, match="Check all components of the state"):
        collected(mixed, 1000, state_check=y_alone)
    stats = collected(mixed, 100_000, state_check="T")
    expected = 0.5 * (1 - (1 + ROOT) / 2)
    assert scipy.stats.binomtest(stats.errors, stats.shots, expected).pvalue > FALSE_ALARM


def test_states_by_name_and_by_numbers_are_the_same() -> None:
    by_name = collected(CIRCUIT, 20_000, state_check="T")
    assert by_name.errors == collected(CIRCUIT, 20_000).errors > 0
    assert parsed_state("LogicalStateCheck((0, 1), (0, 1), weights=(0.5**0.5, 1/2**0.5))").observables == (
        0,
        1,
    )
    assert parsed_state("-Y") == "-Y"
    for text in ("t", "LogicalStateCheck(__import__('os'))", "LogicalStateCheck(1)", "Circuit()", "(", "1/0"):
        with pytest.raises(ValueError, match="is neither one of T, T_DAG"):
            parsed_state(text)
    with pytest.raises(ValueError, match="has length 3"):
        parsed_state("LogicalStateCheck((0, 1), (0, 1), (3, 0.1))")


def test_a_model_without_x_is_replaced() -> None:
    """Stim has no model of the X of a T state; the default must not end there."""
    stats = collected(CIRCUIT, 5000, error_model="s_proxy")
    assert stats.errors == collected(CIRCUIT, 5000).errors
