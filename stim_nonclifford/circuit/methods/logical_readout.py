"""Reads a logical qubit out without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

import stim

from ...base.errors import ResourceLimitError
from ...simulation.compiler import CompiledCircuit
from ...simulation.logical_errors.noiseless_outputs import probability_of_one
from ..logical_states import (
    LogicalState,
    LogicalStateCheck,
    observables_with_records,
    read_out,
    shown_product,
    state_check_of,
    terms_of,
    without_pauli_targets,
)

__all__ = ["CircuitLogicalReadout"]

Self = TypeVar("Self", bound="CircuitLogicalReadout")

_ROUNDING = 1e-9
"""The probability of a state that is as near as the orthogonal one may be so far above 1/2."""


class CircuitLogicalReadout:
    """The method that measures a logical state in the place of its expectation values."""

    _stim: stim.Circuit

    if TYPE_CHECKING:

        @classmethod
        def _wrap(cls: type[Self], circuit: stim.Circuit) -> Self: ...

        def compile(self) -> CompiledCircuit: ...  # noqa: D102

    def with_logical_readout(self: Self, state: LogicalStateCheck | LogicalState = "T") -> Self:
        r"""The circuit with a noiseless measurement of a logical state in the place of expectation values.

        The circuit asks for the expectation values of logical Paulis with ``EXP_VAL``. For them the result
        has one observable: whether the state is the orthogonal one instead of the wanted one. Averaged over
        shots, its flips are 1 - fidelity, exactly. This observable is certain without noise, which those of X
        and Y of a T state are not. So everything that counts flips of observables counts logical errors.

        Records of observables with Pauli targets say in which frame the logical Paulis are, as in a
        ``LogicalStateCheck``. They become feedback.

        This is the right readout where all detectors discard shots. **It is the wrong one for a decoder.**
        The readout of a T state has a T gate. An X that a decoder could correct turns the sign of this gate
        around, and half of these shots are wrong, whatever the decoder says afterwards. To decode, leave
        ``EXP_VAL`` as it is, and check the state in the decoded frame:
        ``sinter_plugin.SoftDecodingSampler(state_check="T")``.

        Args:
            state: ``"T"`` for T|+>, the +1 state of (X + Y)/√2; ``"T_DAG"`` for that of (X - Y)/√2; ``"X"``,
                ``"-X"``, ``"Y"``, ``"-Y"``, ``"Z"`` or ``"-Z"`` for those of a Pauli; or a
                ``LogicalStateCheck``, for any state and any expectation values. By name, X is the product of
                X alone, Z that of Z alone, and Y that of Y alone or of X and Z, with the sign that
                ``EXP_VAL`` gives it.

        Returns:
            The circuit without ``EXP_VAL`` and without the observables with Pauli targets of this logical
            qubit. The first of their numbers, or else the next free one, is that of the new observable.

        Raises:
            ValueError: The circuit does not have the expectation values; they are not those of one logical
                qubit, or not at one place; a later instruction would see the measurement; or in shots without
                noise in which no detector fires, the state is nearer to the orthogonal one.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nDEPOLARIZE1(0.001) 0\nEXP_VAL X0 Y0")
            >>> print(circuit.with_logical_readout("T"))
            RX 0
            T 0
            DEPOLARIZE1(0.001) 0
            TPP_DAG Z0
            MPP X0
            OBSERVABLE_INCLUDE(0) rec[-1]
        """
        return self._read_out(state)[0]

    def _read_out(self: Self, state: LogicalStateCheck | LogicalState) -> tuple[Self, int]:
        """The circuit with the readout of a state, and the observable that is its outcome."""
        check = state_check_of(self._stim, state)
        circuit, observable = read_out(self._stim, check, self._reference_frames(check))
        result = self._wrap(circuit)
        try:
            orthogonal = probability_of_one(result.compile(), observable)
        except ResourceLimitError:  # nobody can sample it
            return result, observable
        if orthogonal > 0.5 + _ROUNDING:
            raise ValueError(
                f"Without noise the state is no nearer to {state} than to the orthogonal one:"
                f" {self._shown_values(state)}. Ask for the state that the circuit prepares, or turn the sign"
                " of an EXP_VAL around (EXP_VAL !Y0*Y1)."
            )
        return result, observable

    def _refuse_random_state(self, state: LogicalStateCheck | LogicalState) -> NoReturn:
        """Refuses a state that only some of the kept shots without noise have."""
        raise ValueError(
            f"Without noise, only some of the kept shots are in the state {state}:"
            f" {self._shown_values(state)}. What is wrong with the others is no error. Check the state that"
            " the circuit prepares, by its name or by a LogicalStateCheck with these values as weights."
        )

    def _reference_frames(self, check: LogicalStateCheck) -> int:
        """The observables of a check whose records sum up to 1 without noise, as a mask."""
        if observables_with_records(self._stim).isdisjoint(check.observables):
            return 0
        frame = self._wrap(without_pauli_targets(self._stim))
        return frame.compile().reference_detectors() >> self._stim.num_detectors

    def _shown_values(self, state: LogicalStateCheck | LogicalState) -> str:
        """The expectation values of the Paulis of a check in kept shots without noise, for a message."""
        check = state_check_of(self._stim, state)
        frames = self._reference_frames(check)
        found = []
        for term in terms_of(check, self._stim):
            observables = () if term.observable is None else (term.observable,)
            alone = LogicalStateCheck((term.number,), observables, (1.0,))
            circuit, observable = read_out(self._stim, alone, frames)
            value = 1 - 2 * probability_of_one(self._wrap(circuit).compile(), observable)
            found.append(f"{shown_product(term.product)} = {value:.4f}")
        return ", ".join(found)
