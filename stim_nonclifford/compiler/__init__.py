"""From a circuit to a plan.

The stages, in order, each a module with one entry point:

1. ``steps``: the circuit as a flat list of simple steps;
2. ``coordinates``: a forward sweep finds the quantum operations on the coefficient vector;
3. ``mechanisms``: a backward sweep finds what noise, outcomes and coins change;
4. ``reference_path``: the noiseless reference sample;
5. ``reduction``: everything in as few bits as a caller's question needs: the plan.

``paulis``, ``clifford_gates``, ``channels``, ``gf2`` and ``sampling_tables`` serve them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import stim

from ..errors import ResourceLimitError
from ..plan import MAX_INDEX_BITS, Plan
from .coordinates import OperationKind, QuantumProgram, forward_sweep
from .mechanisms import EffectTable, Fault, Outputs, backward_sweep, list_faults
from .reduction import needed_operations, needed_width, reduce_to_plan
from .reference_path import reference_offset
from .steps import DetectorStep, ObservableStep, Program, program_of

__all__ = ["DEFAULT_MAX_ACTIVE_COORDINATES", "CompiledCircuit", "compile_circuit"]

DEFAULT_MAX_ACTIVE_COORDINATES = 24


class CompiledCircuit:
    """A circuit after both sweeps, from which plans for different questions are made.

    Args:
        program: The circuit's steps.
        quantum: The quantum operations.
        max_active_coordinates: Limit for the width of the coefficient vector of the plans.
    """

    def __init__(self, program: Program, quantum: QuantumProgram, max_active_coordinates: int) -> None:
        self.program = program
        self.quantum = quantum
        self.max_active_coordinates = max_active_coordinates
        self._effects: dict[Outputs, EffectTable] = {}

    def effects(self, outputs: Outputs) -> EffectTable:
        """The effects on detectors and observables, or on measurement records."""
        if outputs not in self._effects:
            self._effects[outputs] = backward_sweep(self.program, self.quantum, outputs)
        return self._effects[outputs]

    def faults(self, outputs: Outputs = "detectors") -> list[Fault]:
        """Every fault that the circuit's noise can cause, with its effect."""
        return list_faults(self.program, self.quantum, outputs)

    @cached_property
    def reference_records(self) -> int:
        """Measurement records of the noiseless reference sample, as a mask.

        Values are chosen in the order of the circuit; only where that would take more than 2^24
        coefficients, in the order of ``quantum``.
        """
        if self._reference_order is self.quantum:
            self._check_width(len(self.quantum.operations), "records")
        return self._likely_records(self._reference_order, len(self._reference_order.operations))

    @cached_property
    def _reference_order(self) -> QuantumProgram:
        """The operations in the order in which the outcomes of the reference sample are chosen."""
        if self.quantum.reordered:
            in_order = forward_sweep(self.program, keep_order=True)
            if in_order.peak_width <= DEFAULT_MAX_ACTIVE_COORDINATES:
                return in_order
        return self.quantum

    def _likely_records(self, quantum: QuantumProgram, num_operations: int) -> int:
        """The records of the path on which the outcomes of the first operations are the likely ones."""
        base = sum(bit << record for record, bit in enumerate(quantum.base_records))
        if not quantum.operations:
            return base
        effects = backward_sweep(self.program, quantum, "records")
        return base ^ reference_offset(quantum, effects, num_operations)

    @cached_property
    def reference_detectors(self) -> int:
        """Detectors and observables of the noiseless reference sample, as a mask."""
        wide = self.quantum.peak_width > self.max_active_coordinates
        if wide and self._reference_order is self.quantum:
            num_outputs = self.program.num_detectors + self.program.num_observables
            needed = self._num_needed(range(num_outputs), ())
            # Outcomes that no detector depends on may be any: they need not be simulated.
            self._check_width(needed, "detectors")
            records = self._likely_records(self.quantum, needed)
        else:
            records = self.reference_records
        outputs = 0
        for step in self.program.steps:
            if isinstance(step, DetectorStep):
                output = step.index
            elif isinstance(step, ObservableStep):
                output = self.program.num_detectors + step.index
            else:
                continue
            outputs ^= (sum(records >> record & 1 for record in step.records) & 1) << output
        return outputs

    def check_width(self, *, reported: Sequence[int], postselected: Sequence[int] = ()) -> None:
        """Checks that a plan for detectors and observables would not be too wide.

        Args:
            reported: Indices of the outputs to report: detectors, then observables.
            postselected: Indices of the outputs that must be 0 in a kept shot.

        Raises:
            ResourceLimitError: It would be.
        """
        if self.quantum.peak_width > self.max_active_coordinates:
            self._check_width(self._num_needed(reported, postselected), "detectors")

    def _num_needed(self, reported: Sequence[int], postselected: Sequence[int]) -> int:
        num_operations, _ = needed_operations(self.quantum, self.effects("detectors"), reported, postselected)
        return num_operations

    def _check_width(self, num_operations: int, outputs: Outputs) -> None:
        """Checks the width that the first operations need; any outputs will do."""
        operations = self.quantum.operations[:num_operations]
        # What the sweep counts is an upper bound: engines need no room for weak measurements.
        width = max((op.width + (op.kind == OperationKind.ACTIVATE) for op in operations), default=0)
        limit = min(self.max_active_coordinates, MAX_INDEX_BITS)
        if width > limit:
            width = needed_width(operations, self.effects(outputs))
        if width > limit:
            advice = f" Raise it with max_active_coordinates={width}." if width <= MAX_INDEX_BITS else ""
            raise ResourceLimitError(
                f"The circuit needs {width} active coordinates:"
                f" 2^{width} coefficients ({16 << width:,} bytes);"
                f" the limit is 2^{limit}.{advice}"
            )

    def detector_plan(
        self,
        *,
        reported: Sequence[int],
        postselected: Sequence[int] = (),
        skip_reference_sample: bool = False,
    ) -> Plan:
        """The plan for detectors and observables.

        Args:
            reported: Indices of the outputs to report: detectors, then observables.
            postselected: Indices of the outputs that must be 0 in a kept shot.
            skip_reference_sample: Whether outputs are raw parities instead of flips against the reference.

        Raises:
            ResourceLimitError: The plan would need more active coordinates than the limit allows.
        """
        self.check_width(reported=reported, postselected=postselected)
        effects = self.effects("detectors")
        constant = effects.base_outputs
        if not skip_reference_sample:
            constant ^= self.reference_detectors
        return reduce_to_plan(
            self.quantum,
            effects,
            reported=reported,
            postselected=postselected,
            output_constant=constant,
        )

    def fault_plan(self, *, reported: Sequence[int], postselected: Sequence[int]) -> Plan:
        """A plan for shots whose faults are given, not drawn: rows can be made of the effects of any faults.

        Args:
            reported: Indices of the outputs to report: detectors, then observables.
            postselected: Indices of the outputs that must be 0 in a kept shot.

        Raises:
            ResourceLimitError: The plan would need more active coordinates than the limit allows.
        """
        self.check_width(reported=reported, postselected=postselected)
        # What every fault does counts as a cause; what noise does in every shot does not.
        effects = {fault.effect: 1.0 for fault in self.faults() if fault.effect}
        table = replace(self.effects("detectors"), constant=0, rates=effects, sites=[])
        return reduce_to_plan(
            self.quantum,
            table,
            reported=reported,
            postselected=postselected,
            output_constant=table.base_outputs ^ self.reference_detectors,
        )

    def record_plan(self, *, reference: int = 0) -> Plan:
        """The plan for measurement records.

        Args:
            reference: Mask of records that are flipped in the report.

        Raises:
            ResourceLimitError: The plan would need more active coordinates than the limit allows.
        """
        self._check_width(len(self.quantum.operations), "records")
        effects = self.effects("records")
        return reduce_to_plan(
            self.quantum,
            effects,
            reported=range(effects.num_outputs),
            postselected=(),
            output_constant=effects.base_outputs ^ reference,
        )


def compile_circuit(
    circuit: stim.Circuit, *, max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES
) -> CompiledCircuit:
    r"""Compiles a tagged circuit.

    Args:
        circuit: A ``stim.Circuit`` in the dialect of ``stim_nonclifford.dialect``.
        max_active_coordinates: Limit for the width of the coefficient vector, 2^width complex numbers, of the
            plans that are made from the result.

    Returns:
        The compiled circuit.

    Raises:
        NotImplementedError: An instruction is not supported.
        ResourceLimitError: The circuit is too large to be unrolled.

    Examples:
        >>> compiled = compile_circuit(stim.Circuit("H 0\nS[T] 0\nH 0\nX_ERROR(0.1) 0\nM 0"))
        >>> print(compiled.record_plan())
        Plan: 1 mechanisms (0.1116 events per shot), 0 coins; 0 noise-only checks, 0 signature bits,
        1 outputs; 0 rotations, 1 activations, 1 measurements, 0 outcome checks; peak width 0 (2^0
        coefficients)
    """
    program = program_of(circuit)
    quantum = forward_sweep(program) if program.has_non_clifford_gates else _clifford_path(circuit)
    return CompiledCircuit(program, quantum, max_active_coordinates)


def _clifford_path(circuit: stim.Circuit) -> QuantumProgram:
    """A Clifford circuit has no operations, and Stim knows its noiseless sample."""
    return QuantumProgram(base_records=[int(bit) for bit in circuit.reference_sample()])
