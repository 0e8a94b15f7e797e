"""Reads a logical qubit out without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import stim

from ...base.errors import ResourceLimitError
from ...dialect import without_noise
from ...simulation.compiler import CompiledCircuit
from ...simulation.sampling import CompiledDetectorSampler
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


class CircuitLogicalReadout:
    """The method that measures a logical state in the place of its expectation values."""

    _stim: stim.Circuit

    if TYPE_CHECKING:

        @classmethod
        def _wrap(cls: type[Self], circuit: stim.Circuit) -> Self: ...

        def compile(self) -> CompiledCircuit: ...  # noqa: D102
        def compile_detector_sampler(self, *, seed: int) -> CompiledDetectorSampler: ...  # noqa: D102

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
                qubit, or not at one place; a later instruction would see the measurement; or without noise
                the state is nearer to the orthogonal one.

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
        check = state_check_of(self._stim, state)
        circuit, observable = read_out(self._stim, check, self._reference_frames(check))
        result = self._wrap(circuit)
        try:
            reference = result.compile().reference_detectors()
        except ResourceLimitError:  # nobody can sample it
            return result
        if reference >> circuit.num_detectors + observable & 1:
            raise ValueError(self._wrong_state(state, check))
        return result

    def _reference_frames(self, check: LogicalStateCheck) -> int:
        """The observables of a check whose records sum up to 1 without noise, as a mask."""
        if observables_with_records(self._stim).isdisjoint(check.observables):
            return 0
        frame = self._wrap(without_pauli_targets(self._stim))
        return frame.compile().reference_detectors() >> self._stim.num_detectors

    def _wrong_state(self, state: LogicalStateCheck | LogicalState, check: LogicalStateCheck) -> str:
        noiseless = self._wrap(without_pauli_targets(without_noise(self._stim)))
        _, frames, values = noiseless.compile_detector_sampler(seed=0).sample_expectation_values(1)
        found = []
        for term in terms_of(check, self._stim):
            is_flipped = term.observable is not None and frames[0, term.observable]
            found.append(f"{shown_product(term.product)} = {(-1) ** is_flipped * values[0, term.number]:.4f}")
        return (
            f"Without noise the state is no nearer to {state} than to the orthogonal one: {', '.join(found)}."
            " Ask for the state that the circuit prepares, or turn the sign of an EXP_VAL around"
            " (EXP_VAL !Y0*Y1)."
        )
