"""Circuits whose logical state is checked after decoding: their frame, and their state without noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import stim_nonclifford as snc
from stim_nonclifford.circuit.logical_states import LogicalStateCheck, without_pauli_targets

__all__ = ["LogicalStateCheck", "check_state_without_noise", "frame_circuit"]

_SHOTS = 64
_SMALLEST_FIDELITY = 0.9
"""A circuit may prepare a state approximately. Of two states with names, the fidelity is at most 0.854."""


def frame_circuit(circuit: snc.Circuit) -> snc.Circuit:
    r"""The circuit whose observables are sums of records alone."""
    return snc.Circuit(without_pauli_targets(circuit.to_stim()))


def check_state_without_noise(
    circuit: snc.Circuit, check: LogicalStateCheck, detectors: NDArray[np.bool_]
) -> None:
    """Checks by some kept shots without noise that a circuit prepares the state that is checked."""
    sampler = frame_circuit(circuit.without_noise()).compile_detector_sampler(
        seed=0, postselection_mask=detectors
    )
    for batch in sampler.iter_kept(max_shots=_SHOTS, expectation_values=True):
        assert batch.expectation_values is not None
        fidelities = check.fidelities(batch.expectation_values, batch.obs)
        worst = int(fidelities.argmin())
        if fidelities[worst] < _SMALLEST_FIDELITY:
            values = batch.expectation_values[worst]
            shown = ", ".join(f"expectation value {k} is {values[k]:.4f}" for k in check.expectation_values)
            raise ValueError(
                f"Without noise the fidelity with the checked state is {fidelities[worst]:.6f} ({shown})."
                " Check the state that the circuit prepares: another name or other weights, or turn the sign"
                " of an EXP_VAL around (EXP_VAL !Y0*Y1)."
            )
