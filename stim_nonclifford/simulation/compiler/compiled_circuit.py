"""A circuit after both sweeps, from which the plan for any question is constructed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
import stim

from ...base.errors import ResourceLimitError
from ...base.memory import collector_paused, memory_is_a_limit
from ...base.written_circuits import circuit_of, with_replaced
from ...dialect import bare_name, check_unconditional, quasistatic_of, readout_noise_of, without_noise
from ..plan import MAX_INDEX_BITS, SamplingPlan
from ..reduction import MAX_ELIMINATION_QUBITS, simulated_width, simulation_nanoseconds
from .plans.plan_construction import construct_plan, schedule
from .plans.requested_outputs import RequestedOutputs, needed_operations
from .plans.width_limit import check_width
from .program.expansion import needs_ancillas, sampled_channel_of
from .program.extent import check_faults
from .program.flattening import program_of
from .program.program import Program
from .program.steps import Leaking, LeakingFromOnes, Step
from .reference_sample import DEFAULT_MAX_ACTIVE_COORDINATES, LikelyOutputs, ReferenceSample
from .sweeps.backward_sweep import backward_sweep, list_faults, outcome_effects
from .sweeps.clifford_records import clifford_records
from .sweeps.effects import EffectTable, Fault, LeakageEffects, NoiseEffects, Outputs, ReadoutEffects
from .sweeps.forward_sweep import QuantumProgram, forward_sweep
from .sweeps.operations import Operation, peak_width

__all__ = ["DEFAULT_MAX_ACTIVE_COORDINATES", "CompiledCircuit", "compile_circuit"]


def compile_circuit(
    circuit: stim.Circuit, likely_outputs: LikelyOutputs, *, with_decisions: bool = False
) -> CompiledCircuit:
    r"""Compiles a tagged circuit.

    Examples:
        >>> from stim_nonclifford.simulation.engines import likely_outputs
        >>> compiled = compile_circuit(stim.Circuit("H 0\nS[T] 0\nH 0\nX_ERROR(0.1) 0\nM 0"), likely_outputs)
        >>> print(compiled.record_plan())
        Plan: 1 mechanisms (0.1116 events per shot), 0 coins; 0 noise-only checks, 0 signature bits,
        1 outputs; 0 rotations, 1 activations, 1 measurements, 0 outcome checks; peak width 0 (2^0
        coefficients)
    """
    with memory_is_a_limit(), collector_paused():
        program, quantum = swept_forward(circuit, with_decisions=with_decisions)
    return CompiledCircuit(circuit, program, quantum, likely_outputs)


def swept_forward(
    circuit: stim.Circuit, *, with_decisions: bool = False, with_expectations: bool = False
) -> tuple[Program, QuantumProgram | None]:
    """The steps of a circuit, and its quantum operations; None for these if shots have different ones.

    Readout noise that depends on the outcome acts on a copy of it where outcomes of the coefficient vector,
    or decisions, flip the record; elsewhere noise alone decides what it does.
    """
    copied: set[int] | None = set()
    while True:
        program = program_of(
            circuit,
            with_decisions=with_decisions,
            with_expectations=with_expectations,
            copied_readouts=copied,
        )
        quantum = _quantum(circuit, program)
        more = _random_readouts(program, quantum)
        if copied is None or not more:
            return program, quantum
        copied = None if more <= copied else copied | more


def _quantum(circuit: stim.Circuit, program: Program) -> QuantumProgram | None:
    if not program.has_plan:
        return None
    if program.has_non_clifford_gates or program.has_expectations:
        return forward_sweep(program)
    # A Clifford circuit has no operations, and Stim knows its noiseless sample.
    return QuantumProgram.without_operations(clifford_records(circuit, program))


def _random_readouts(program: Program, quantum: QuantumProgram | None) -> set[int]:
    """The records that may decay and that outcomes or decisions flip, in the first iteration of loops."""
    if quantum is None or not program.readout_decays or not (quantum.operations or program.decisions):
        return set()
    table = outcome_effects(program, quantum)
    flipped = set(np.union1d(table.outcomes.bits, table.decisions.bits).tolist())
    return {program.stored_record(d) for d in program.readout_decays if d.record in flipped}


_IF_QUBITS_RELAX = (
    "Or sample with engine='trajectory', which follows each shot: relaxation hardly makes its vectors longer."
)

_STEP_NANOSECONDS = 10.0
"""What it takes to follow a shot, for a target of an instruction; see ``docs/methods/noise.md``."""

_DECAYS = "the qubit decays"
_TURNS = "the qubit turns by an angle that is drawn once for each shot"
_MISREADS = "outcomes 0 and 1 are misread with different probabilities"
_LEAKS = "the qubit leaks or is lost"
_REMEDIES = {
    _DECAYS: "Or ask circuit.pauli_twirl(), which has Pauli errors in place of the decay, and whose rates"
    " approximate those of the circuit.",
    _TURNS: "Or ask circuit.pauli_twirl(), which has an independent Z error in place of each turn; turns of"
    " the same qubit add up, and its rates can be several times too low (docs/guides/relaxation.md).",
    _MISREADS: "Or ask circuit.pauli_twirl(), in which both outcomes are misread with the mean probability.",
    _LEAKS: "Or ask circuit.pauli_twirl(), which has independent Pauli errors in place of leakage, each with"
    " the probability that a qubit is leaked there; its rates can be several times off"
    " (docs/guides/relaxation.md).",
}


def _what_is_no_pauli_error(step: Step, source: stim.CircuitInstruction) -> str:
    """What an instruction does that no Pauli error does; nothing if its noise is Pauli errors."""
    if isinstance(step, (Leaking, LeakingFromOnes)):
        return _LEAKS
    if quasistatic_of(source) is not None:
        return _TURNS
    noise = readout_noise_of(source)
    if noise is not None and noise.decay:
        return _MISREADS
    channel = sampled_channel_of(source)
    return _DECAYS if channel is not None and needs_ancillas(channel) else ""


class CompiledCircuit:
    """A circuit after both sweeps, from which the plan for any question is constructed.

    Intermediate results that several plans share are computed once, when they are first needed.

    Args:
        circuit: The circuit; it must not be changed afterwards.
        program: The circuit's steps.
        quantum: The quantum operations; None if shots have different ones, so that there is no list of them.
        likely_outputs: An engine's function that returns the outputs of a plan on its likely outcomes; the
            reference sample needs it.
    """

    def __init__(
        self,
        circuit: stim.Circuit,
        program: Program,
        quantum: QuantumProgram | None,
        likely_outputs: LikelyOutputs,
    ) -> None:
        self.circuit = circuit
        self.program = program
        self._quantum = quantum
        self._reference = ReferenceSample(program, lambda: self.quantum, likely_outputs)
        self.likely_outputs = likely_outputs
        self._effects: dict[Outputs, EffectTable] = {}
        self._scheduled: dict[int, list[Operation]] = {}  # by the number of operations
        self._simulated_widths: dict[
            tuple[int, Outputs], int
        ] = {}  # the same, and which effects the plan has
        self._last_fault_plan: tuple[RequestedOutputs, SamplingPlan] | None = None

    @property
    def quantum(self) -> QuantumProgram:
        """The quantum operations.

        Raises:
            NotImplementedError: Records switch blocks, or leakage depends on the state, so that shots have
                different operations; or a qubit turns too far by quasi-static noise.
        """
        self.check_plan()
        assert self._quantum is not None
        return self._quantum

    def check_plan(self) -> None:
        """Checks that shots have the same operations; errors are those of ``quantum``."""
        if self._quantum is None:
            check_unconditional(self.circuit)
            raise NotImplementedError(self.program.no_plan)

    def effects(self, outputs: Outputs) -> EffectTable:
        """The effects on detectors and observables, or on records."""
        if outputs not in self._effects:
            with memory_is_a_limit(), collector_paused():
                self._effects[outputs] = backward_sweep(self.program, self.quantum, outputs)
        return self._effects[outputs]

    @cached_property
    def faults(self) -> list[Fault]:
        """Every fault that the circuit's noise can cause, with its effect on detectors and observables.

        Raises:
            NotImplementedError: The circuit has noise that is not a mixture of Paulis.
            ResourceLimitError: The list would take more than 2^30 bytes.
        """
        self.check_pauli_noise()
        check_faults(self.circuit, self.program.num_detectors + self.program.num_observables)
        with memory_is_a_limit(), collector_paused():
            return list_faults(self.program, self.quantum, "detectors")

    def detector_plan(
        self,
        requested: RequestedOutputs,
        *,
        skip_reference_sample: bool = False,
        raw: int = 0,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
    ) -> SamplingPlan:
        """The plan for detectors and observables.

        Args:
            requested: The requested outputs: detectors, then observables.
            skip_reference_sample: Whether outputs are raw parities instead of flips against the reference
                sample.
            raw: A mask of outputs that are raw parities in any case.
            max_active_coordinates: Limit for the width of the coefficient vector: 2^width complex numbers.

        Returns:
            The plan.

        Raises:
            ResourceLimitError: The plan needs more active coordinates than the limit allows.
        """
        self.check_width(requested, max_active_coordinates)
        table = self.effects("detectors")
        constant = table.base_outputs
        if not skip_reference_sample:
            constant ^= self.reference_detectors(max_active_coordinates) & ~raw
        return self._plan(table, requested, constant)

    def prepare_detectors(self, skip_reference_sample: bool, max_active_coordinates: int) -> None:
        """Computes what the plans for all questions about detectors and observables share.

        Args:
            skip_reference_sample: Whether the plans will need no reference sample.
            max_active_coordinates: Limit for the width of the coefficient vector.

        Raises:
            ResourceLimitError: The reference sample needs more active coordinates than the limit allows.
        """
        self.effects("detectors")
        if not skip_reference_sample:
            self.reference_detectors(max_active_coordinates)

    def check_pauli_noise(self) -> None:
        """Checks that all noise is Pauli errors, as lists of faults and computed rates need it.

        Raises:
            ValueError: A qubit can decay, leak or be lost, or readout noise depends on the outcome.
        """
        if not (self.program.has_leakage or self.program.has_non_pauli_channels):
            return
        for step, place in zip(self.program.stored_steps, self.program.stored_places, strict=True):
            what = _what_is_no_pauli_error(step, place.source)
            if what:
                raise ValueError(
                    f"Line {place.line}: `{bare_name(place.source)}`: {what}. That is no Pauli error, so that"
                    " it is in no list of faults, and in no rate that is computed from faults. Count errors"
                    " with a sampler, which is exact: compile_detector_sampler().sample_counts(shots); with a"
                    " decoder, soft_pymatching (docs/guides/decoding.md)."
                    f"{_cost_of_counting(self)} {_REMEDIES[what]}"
                )

    @cached_property
    def without_non_pauli_channels(self) -> CompiledCircuit:
        """The circuit itself if its noise is Pauli errors and leakage; otherwise the one without noise."""
        if not self.program.has_non_pauli_channels:
            return self
        return _compiled_like(self, without_noise(self.circuit))

    def fault_plan(
        self,
        requested: RequestedOutputs,
        *,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
    ) -> SamplingPlan:
        """A plan for shots with given faults: its ``row_of`` accepts the effects of any faults.

        Args:
            requested: The requested outputs: detectors, then observables.
            max_active_coordinates: Limit for the width of the coefficient vector.

        Returns:
            The plan.

        Raises:
            ResourceLimitError: The plan needs more active coordinates than the limit allows.
        """
        self.check_width(requested, max_active_coordinates)
        if self._last_fault_plan is None or self._last_fault_plan[0] != requested:
            # Every fault becomes a mechanism (its rate is not used); constant effects of noise are left out.
            effects = {fault.effect: 1.0 for fault in self.faults if fault.effect}
            self._last_fault_plan = (
                requested,
                self._plan_with(NoiseEffects.of(effects), requested, max_active_coordinates),
            )
        return self._last_fault_plan[1]

    def noiseless_plan(
        self,
        requested: RequestedOutputs,
        *,
        skip_reference_sample: bool = False,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
    ) -> SamplingPlan:
        """The plan of the circuit without its noise; arguments and errors are those of ``detector_plan``."""
        if self.without_non_pauli_channels is not self:
            return self.without_non_pauli_channels.noiseless_plan(
                requested,
                skip_reference_sample=skip_reference_sample,
                max_active_coordinates=max_active_coordinates,
            )
        self.check_width(requested, max_active_coordinates)
        none = NoiseEffects.of({})
        return self._plan_with(
            none, requested, max_active_coordinates, skip_reference_sample=skip_reference_sample
        )

    def _plan_with(
        self,
        noise: NoiseEffects,
        requested: RequestedOutputs,
        max_active_coordinates: int,
        *,
        skip_reference_sample: bool = False,
    ) -> SamplingPlan:
        """The plan for detectors and observables with other noise than that of the circuit."""
        table = replace(
            self.effects("detectors"),
            constant=0,
            noise=noise,
            leakage=LeakageEffects(),
            readouts=ReadoutEffects(),
        )
        constant = table.base_outputs
        if not skip_reference_sample:
            constant ^= self.reference_detectors(max_active_coordinates)
        return self._plan(table, requested, constant)

    def record_plan(
        self,
        *,
        reference: int = 0,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
    ) -> SamplingPlan:
        """The plan for records.

        Args:
            reference: Mask of the records that are inverted when they are reported.
            max_active_coordinates: Limit for the width of the coefficient vector.

        Returns:
            The plan.

        Raises:
            ResourceLimitError: The plan needs more active coordinates than the limit allows.
        """
        self._check_width(self.quantum.operations, "records", max_active_coordinates)
        table = self.effects("records")
        requested = RequestedOutputs.of(range(table.num_outputs))
        return self._plan(table, requested, table.base_outputs ^ reference)

    def reference_records(self, max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES) -> int:
        """The records of the noiseless reference sample, as a mask.

        Likely values are chosen in circuit order. If that needs more than 2^24 coefficients, they are chosen
        in the order of ``quantum`` instead.

        Args:
            max_active_coordinates: Limit for the width of the coefficient vector.

        Returns:
            The mask: bit k is record k.

        Raises:
            ResourceLimitError: The reference sample needs more active coordinates than the limit allows.
        """
        if self.without_non_pauli_channels is not self:
            return self.without_non_pauli_channels.reference_records(max_active_coordinates)
        if self._reference.order is self.quantum:
            self._check_width(self.quantum.operations, "records", max_active_coordinates)
        return self._reference.records

    def reference_detectors(self, max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES) -> int:
        """The detectors and observables of the noiseless reference sample, as a mask.

        Args:
            max_active_coordinates: Limit for the width of the coefficient vector.

        Returns:
            The mask: detectors, then observables.

        Raises:
            ResourceLimitError: The reference sample needs more active coordinates than the limit allows.
        """
        if self.without_non_pauli_channels is not self:
            return self.without_non_pauli_channels.reference_detectors(max_active_coordinates)
        num_outputs = self.program.num_detectors + self.program.num_observables
        if not num_outputs:
            return 0
        if self.quantum.peak_width > max_active_coordinates and self._reference.order is self.quantum:
            # Outcomes on which no detector or observable depends may have any value, and are not simulated.
            requested = RequestedOutputs.of(range(num_outputs))
            self.check_width(requested, max_active_coordinates)
            return self._reference.detectors_after(len(_needed_for(self, requested)))
        if self._reference.order is self.quantum:
            self._check_width(self.quantum.operations, "records", max_active_coordinates)
        return self._reference.detectors

    def check_width(self, requested: RequestedOutputs, max_active_coordinates: int) -> None:
        """Checks that a plan for detectors and observables is not too wide.

        Args:
            requested: The requested outputs: detectors, then observables.
            max_active_coordinates: Limit for the width of the coefficient vector.

        Raises:
            ResourceLimitError: The plan needs more active coordinates than the limit allows.
        """
        if self.quantum.peak_width > min(max_active_coordinates, MAX_INDEX_BITS):
            self._check_width(_needed_for(self, requested), "detectors", max_active_coordinates)

    def _plan(self, table: EffectTable, requested: RequestedOutputs, output_constant: int) -> SamplingPlan:
        with memory_is_a_limit(), collector_paused():
            needed = needed_operations(self.quantum.operations, table.outcomes, requested)
            return construct_plan(table, needed, self._schedule(needed, table), requested, output_constant)

    def _schedule(self, needed: list[Operation], table: EffectTable) -> list[Operation]:
        """The needed operations in the form in which engines apply them.

        The result does not depend on whether ``table`` has the effects on detectors or on records.
        """
        if len(needed) not in self._scheduled:
            self._scheduled[len(needed)] = schedule(needed, table)
        return self._scheduled[len(needed)]

    def _check_width(self, needed: list[Operation], outputs: Outputs, max_active_coordinates: int) -> None:
        limit = min(max_active_coordinates, MAX_INDEX_BITS)
        # The width in the order of the forward sweep is an upper bound.
        if max((operation.largest_width for operation in needed), default=0) <= limit:
            return
        scheduled = self._schedule(needed, self.effects(outputs))
        width = peak_width(scheduled)
        if limit < width <= MAX_ELIMINATION_QUBITS:
            width = self._simulated_width(needed, outputs)
        relaxes = self.program.has_non_pauli_channels
        check_width(width, max_active_coordinates, narrower=_IF_QUBITS_RELAX if relaxes else "")

    def _simulated_width(self, needed: list[Operation], outputs: Outputs) -> int:
        """The number of coordinates of which engines have coefficients."""
        key = len(needed), outputs
        if key not in self._simulated_widths:
            table = self.effects(outputs)
            requested = RequestedOutputs.of(range(table.num_outputs))
            with memory_is_a_limit(), collector_paused():
                plan = construct_plan(table, needed, self._schedule(needed, table), requested, 0)
            self._simulated_widths[key] = simulated_width(plan)
        return self._simulated_widths[key]


def _needed_for(compiled: CompiledCircuit, requested: RequestedOutputs) -> list[Operation]:
    outcomes = compiled.effects("detectors").outcomes
    return needed_operations(compiled.quantum.operations, outcomes, requested)


def followed_nanoseconds(
    compiled: CompiledCircuit, planned: Callable[[CompiledCircuit], SamplingPlan]
) -> float:
    """What it takes to follow a shot by itself, from numbers of operations: the same on every machine.

    Args:
        compiled: The circuit.
        planned: Makes the plan of a circuit.

    Raises:
        ResourceLimitError: There is no plan of the circuit without noise.
    """
    vector = simulation_nanoseconds(planned(_turned_alone(compiled)))
    return _STEP_NANOSECONDS * compiled.program.extent.targets + vector


def _turned_alone(compiled: CompiledCircuit) -> CompiledCircuit:
    """The circuit without noise, but with some rotation at each turn by quasi-static noise."""
    if not compiled.program.extent.turns:
        return compiled.without_non_pauli_channels

    def turned(part: stim.CircuitInstruction) -> stim.Circuit | None:
        turn = quasistatic_of(part) if part.tag else None
        if turn is None:
            return None
        angle = max(turn.angles, key=abs)
        return circuit_of(stim.CircuitInstruction("I", part.targets_copy(), tag=f"R_Z(theta={angle!r}*pi)"))

    return _compiled_like(compiled, without_noise(with_replaced(compiled.circuit, turned)))


def _compiled_like(compiled: CompiledCircuit, circuit: stim.Circuit) -> CompiledCircuit:
    """Another circuit, compiled in the same way."""
    decides = bool(compiled.program.decisions)
    return compile_circuit(circuit, compiled.likely_outputs, with_decisions=decides)


def _cost_of_counting(compiled: CompiledCircuit) -> str:
    """What it costs to count the errors, for messages; counted, and not timed."""
    program, text = compiled.program, " A rate r is known to 10% after 100/r shots"
    if not program.has_non_pauli_channels:
        return f"{text}, and leakage makes shots no wider."
    outputs = RequestedOutputs.of(range(program.num_detectors + program.num_observables))
    try:
        time = followed_nanoseconds(compiled, lambda each: each.detector_plan(outputs))
    except (NotImplementedError, ResourceLimitError):
        return f"{text}."
    return (
        f"{text}; by numbers of operations, a shot that is followed (engine='trajectory') takes"
        f" {time:,.0f} ns of a core, so that a rate of 1e-6 takes {time / 10:,.0f} s."
    )
