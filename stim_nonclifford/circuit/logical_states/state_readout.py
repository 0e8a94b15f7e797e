"""The measurement of a state that a circuit prepares: its frame, and whether the state is the right one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import stim

from ...base.errors import ResourceLimitError
from ...simulation.compiler import CompiledCircuit, compile_circuit
from ...simulation.engines import likely_outputs
from ...simulation.logical_errors.noiseless_outputs import probability_of_one
from .named_states import LogicalState, state_check_of
from .operators import observables_with_records, shown_product, without_pauli_targets
from .readout import read_out
from .state_check import LogicalStateCheck, terms_of

_ROUNDING = 1e-9
"""The probability of a state that is as near as the orthogonal one may be so far above 1/2."""


def with_measured_state(
    circuit: stim.Circuit, state: LogicalStateCheck | LogicalState
) -> tuple[stim.Circuit, int]:
    """The circuit with the readout of a state, and the observable that is its outcome."""
    check = state_check_of(circuit, state)
    return read_out(circuit, check, _reference_frames(circuit, check))


def measured_observable(circuit: stim.Circuit, state: LogicalStateCheck | LogicalState) -> int:
    """The observable that is the outcome of the readout of a state."""
    return read_out(circuit, state_check_of(circuit, state), 0)[1]


def check_state(
    circuit: stim.Circuit,
    state: LogicalStateCheck | LogicalState,
    compile: Callable[[], CompiledCircuit],
    observable: int,
) -> None:
    """Checks that a circuit without noise is nearer to a state than to the orthogonal one."""
    try:
        orthogonal = probability_of_one(compile(), observable)
    except ResourceLimitError:  # nobody can sample it
        return
    if orthogonal > 0.5 + _ROUNDING:
        raise ValueError(
            f"Without noise the state is no nearer to {state} than to the orthogonal one:"
            f" {_shown_values(circuit, state)}. Ask for the state that the circuit prepares, or turn the sign"
            " of an EXP_VAL around (EXP_VAL !Y0*Y1)."
        )


def refuse_random_state(circuit: stim.Circuit, state: LogicalStateCheck | LogicalState) -> NoReturn:
    """Refuses a state that only some of the kept shots without noise have."""
    raise ValueError(
        f"Without noise, only some of the kept shots are in the state {state}:"
        f" {_shown_values(circuit, state)}. What is wrong with the others is no error. Check the state that"
        " the circuit prepares, by its name or by a LogicalStateCheck with these values as weights."
    )


def _reference_frames(circuit: stim.Circuit, check: LogicalStateCheck) -> int:
    """The observables of a check whose records sum up to 1 without noise, as a mask."""
    if observables_with_records(circuit).isdisjoint(check.observables):
        return 0
    frame = compile_circuit(without_pauli_targets(circuit), likely_outputs)
    return frame.reference_detectors() >> circuit.num_detectors


def _shown_values(circuit: stim.Circuit, state: LogicalStateCheck | LogicalState) -> str:
    """The expectation values of the Paulis of a check in kept shots without noise, for a message."""
    check = state_check_of(circuit, state)
    frames = _reference_frames(circuit, check)
    found = []
    for term in terms_of(check, circuit):
        observables = () if term.observable is None else (term.observable,)
        alone, observable = read_out(circuit, LogicalStateCheck((term.number,), observables, (1.0,)), frames)
        value = 1 - 2 * probability_of_one(compile_circuit(alone, likely_outputs), observable)
        found.append(f"{shown_product(term.product)} = {value:.4f}")
    return ", ".join(found)
