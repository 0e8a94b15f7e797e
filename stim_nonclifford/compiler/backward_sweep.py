"""The backward sweep: what every fault, random outcome and free sign changes.

Walking backwards, the sweep keeps the effect (``effects``) of an X and of a Z on every qubit at the current
place, as lists of bits in native code (``native/effect_sweep.h``). Gates mix them by their tableau,
measurements add what depends on their record, resets clear them, and reading them at a noise instruction
gives the effects of its Paulis.

A measurement has an *outcome*, which the state follows, and a *record* (outcome ⊕ readout flip), which
detectors, observables and feedback use: readout noise flips the record only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .. import _native
from ..errors import ResourceLimitError, assert_never
from ..plan import SparseRows
from .channels import Channel, channel_of_patterns
from .clifford_gates import CliffordGate
from .effects import EffectTable, Fault, NoiseEffects, Outputs
from .forward_sweep import Insertion, QuantumProgram
from .gf2 import independent, mask_of, masks_of
from .operations import OperationKind
from .steps import (
    Clifford,
    CorrelatedError,
    DetectorStep,
    Feedback,
    Measure,
    Noise,
    ObservableStep,
    Program,
    Reset,
    Rotate,
    Step,
)

__all__ = ["backward_sweep", "list_faults", "outcome_effects"]

MAX_EFFECT_BYTES = 2 << 30
"""Limit for the memory of the effects of noise and records."""


def list_faults(program: Program, quantum: QuantumProgram, outputs: Outputs = "detectors") -> list[Fault]:
    r"""Every fault that the circuit's noise can cause, in the order of the circuit.

    Args:
        program: The circuit's steps.
        quantum: What the forward sweep found.
        outputs: Which outputs the effects are about, as in ``backward_sweep``.

    Returns:
        The faults: each pattern of each channel at each place that has a non-zero probability.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.compiler.flattening import program_of
        >>> from stim_nonclifford.compiler.forward_sweep import QuantumProgram
        >>> program = program_of(stim.Circuit("DEPOLARIZE1(0.1) 3\nM(0.1) 3\nDETECTOR rec[-1]"))
        >>> faults = list_faults(program, QuantumProgram(base_records=[0]))
        >>> [(fault.factors, fault.records, fault.effect) for fault in faults]
        [(((0, 1),), (), 1), (((0, 2),), (), 0), (((0, 3),), (), 1), ((), (0,), 1)]
    """
    sweep = _BackwardSweep(program, quantum, outputs)
    sweep.faults = []
    sweep.run()
    return sweep.found_faults()


def backward_sweep(program: Program, quantum: QuantumProgram, outputs: Outputs = "detectors") -> EffectTable:
    r"""Finds the effects of noise, outcomes and coins.

    Args:
        program: The circuit's steps.
        quantum: What the forward sweep found.
        outputs: ``"detectors"``: outputs are detectors, then observables; ``"records"``: the records.

    Returns:
        The effects, in which signs of ACTIVATE operations do not occur any more.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.compiler.flattening import program_of
        >>> from stim_nonclifford.compiler.forward_sweep import QuantumProgram
        >>> program = program_of(stim.Circuit("X_ERROR(0.125) 0\nM 0\nDETECTOR rec[-1]"))
        >>> backward_sweep(program, QuantumProgram(base_records=[0])).noise.independent()
        {1: 0.143841036225890...}
    """
    sweep = _BackwardSweep(program, quantum, outputs)
    sweep.run()
    return sweep.table()


def outcome_effects(program: Program, quantum: QuantumProgram) -> EffectTable:
    r"""Finds the effects of outcomes and coins of the forward sweep on the records, without those of noise.

    Args:
        program: The circuit's steps.
        quantum: What the forward sweep found.

    Returns:
        The effects; ``noise``, ``constant`` and ``coins`` are empty.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.compiler.flattening import program_of
        >>> from stim_nonclifford.compiler.forward_sweep import forward_sweep
        >>> program = program_of(stim.Circuit("RX 0\nS[T] 0\nZ_ERROR(0.1) 0\nMX 0 0"))
        >>> outcome_effects(program, forward_sweep(program)).outcomes  # one outcome, two records
        [3]
    """
    sweep = _BackwardSweep(program, quantum, "records", with_noise=False)
    sweep.run()
    return sweep.table()


class _BackwardSweep:
    def __init__(
        self, program: Program, quantum: QuantumProgram, outputs: Outputs, with_noise: bool = True
    ) -> None:
        self.program = program
        self.quantum = quantum
        self.with_noise = with_noise
        self.by_records = outputs == "records"
        self.num_outputs = (
            program.num_records if self.by_records else program.num_detectors + program.num_observables
        )
        self.sign_of_step = {
            term.step: self.num_outputs + term.sign
            for operation in quantum.operations
            for term in operation.terms
        }
        self.effects = _native.EffectSweep(
            program.num_qubits, program.num_records, MAX_EFFECT_BYTES, with_noise
        )
        if self.by_records:
            self.effects.report_records()
        self.gates: dict[int, int] = {}  # by the identity of a gate, its number in `effects`
        self.channels: dict[Channel, int] = {}
        self.base_outputs: Counter[int] = Counter()  # how many records of the base path are 1
        self.faults: list[tuple[Fault, int]] | None = (
            None  # with the numbers of their effects, if it is a list
        )
        self.chains: dict[int, list[tuple[int, float]]] = {}
        self.insertions: dict[int, list[tuple[list[int], int, Insertion]]] = {}
        # Numbers of kept effects.
        self.activations = [0] * len(quantum.activations)
        self.outcomes = [0] * len(quantum.outcomes)
        self.tosses = [0] * len(quantum.coins)
        for found, into in (
            (quantum.activations, self.activations),
            (quantum.outcomes, self.outcomes),
            ([insertion for _, _, insertion in quantum.coins], self.tosses),
        ):
            for k, insertion in enumerate(found):
                self.insertions.setdefault(insertion.step, []).append((into, k, insertion))

    def run(self) -> None:
        try:
            for index in range(len(self.program.steps) - 1, -1, -1):
                self.pull_back_through_step(index, self.program.steps[index])
                for into, k, insertion in self.insertions.get(index, ()):
                    signs = [
                        self.sign_of_step[step] for step in insertion.deferred if step in self.sign_of_step
                    ]
                    into[k] = self.effects.keep(insertion.factors, signs, list(insertion.reordered))
            self.effects.end()
            for links in self.chains.values():
                self.add_chain(links)
            self.fix_signs()
        except MemoryError:
            what = "measurement records" if self.by_records else "detectors and observables"
            raise ResourceLimitError(
                f"The effects of the circuit's noise on {self.num_outputs:,} {what} need more than"
                f" {MAX_EFFECT_BYTES:,} bytes, the limit, or more memory than there is. Lower the repeat"
                " counts, or sample the circuit in parts."
            ) from None

    def pull_back_through_step(self, index: int, step: Step) -> None:
        """Takes the effects from behind a step of the program to before it."""
        effects = self.effects
        match step:
            case Clifford(gate, groups):
                if gate.pullback is not None:
                    effects.pull_back_through(self.number_of_gate(gate), groups)
            case Noise() | CorrelatedError() if not self.with_noise:
                pass
            case Noise(channel, groups, herald):
                effects.add_noise(self.number_of_channel(channel), groups, -1 if herald is None else herald)
                if self.faults is not None:
                    self.add_faults_of_noise(index, channel, groups, herald)
            case CorrelatedError(chain, probability, factors):
                number = effects.keep(factors, [], [])
                self.chains.setdefault(chain, []).append((number, probability))
                if self.faults is not None and probability > 0:
                    self.faults.append((Fault(index, 0, factors, (), 0), number))
            case Measure(factors, record, _, flip_probability, resets):
                if flip_probability > 0 and self.with_noise:
                    readout = channel_of_patterns(((1, flip_probability),))
                    effects.add_readout_noise(self.number_of_channel(readout), record)
                    if self.faults is not None:
                        self.add_fault(Fault(index, 0, (), (record,), 0))
                effects.measure(factors, record, resets)
            case Reset(qubit, pauli):
                effects.reset(qubit, pauli)
            case Rotate(factors):
                if index in self.sign_of_step:
                    effects.flip_by_anticommuting(factors, self.sign_of_step[index])
            case Feedback(record, qubit, pauli):
                effects.add_feedback(record, qubit, pauli)
            case DetectorStep(detector, records):
                if not self.by_records:
                    self.add_records(records, detector)
            case ObservableStep(observable, records, factors):
                if not self.by_records:
                    output = self.program.num_detectors + observable
                    effects.flip_by_anticommuting(factors, output)
                    self.add_records(records, output)
            case _:
                assert_never(step)

    def number_of_gate(self, gate: CliffordGate) -> int:
        if id(gate) not in self.gates:  # gates outlive the sweep, as the program has them
            assert gate.pullback is not None
            self.gates[id(gate)] = self.effects.add_gate(gate.pullback)
        return self.gates[id(gate)]

    def number_of_channel(self, channel: Channel) -> int:
        if channel not in self.channels:
            self.channels[channel] = self.effects.add_channel(channel.constant, channel.rates, channel.site)
        return self.channels[channel]

    def add_records(self, records: Sequence[int], output: int) -> None:
        """Lets records flip an output."""
        self.effects.flip_by_records(records, output)
        for record in records:
            self.base_outputs[output] += self.quantum.base_records[record]

    def add_faults_of_noise(
        self,
        step: int,
        channel: Channel,
        groups: tuple[tuple[int, ...], ...],
        first_herald: int | None,
    ) -> None:
        constant = channel.constant
        patterns = {constant, *(constant ^ p for p, _ in (*channel.rates, *channel.site))} - {0}
        for k, targets in enumerate(groups):
            for pattern in sorted(patterns):
                factors = tuple(
                    (q, pattern >> 2 * j & 3) for j, q in enumerate(targets) if pattern >> 2 * j & 3
                )
                is_heralded = first_herald is not None and pattern >> 2 * len(targets) & 1
                records = (first_herald + k,) if first_herald is not None and is_heralded else ()
                self.add_fault(Fault(step, k, factors, records, 0))

    def add_fault(self, fault: Fault) -> None:
        """Adds a fault, whose effect is not known yet, at the current place."""
        assert self.faults is not None
        self.faults.append((fault, self.effects.keep(fault.factors, [], fault.records)))

    def add_chain(self, links: list[tuple[int, float]]) -> None:
        """Adds mutually exclusive errors; the most likely choice becomes a constant."""
        nothing = 1 - math.fsum(probability for _, probability in links)
        choices = [(-1, nothing), *links]
        constant, _ = max(choices, key=lambda choice: choice[1])
        self.effects.add_choices(constant, [choice for choice in choices if choice[1] > 0])

    def fix_signs(self) -> None:
        """Removes the signs of ACTIVATE operations from all effects.

        The coordinate that a rotation activates is |0> before, so Z on it does nothing: adding the effect of
        that Z to any effect is free, and we do so whenever it makes the rotation's sign +.
        """
        activations = [op for op in self.quantum.operations if op.kind == OperationKind.ACTIVATE]
        signs = [self.num_outputs + activation.terms[0].sign for activation in activations]
        wrong = self.effects.fix_signs(list(zip(signs, self.activations, strict=True)))
        if wrong >= 0:
            raise AssertionError(f"{activations[wrong]}: its stabilizer does not flip its sign first")

    def table(self) -> EffectTable:
        """The effects that the sweep has found."""
        kept = masks_of(SparseRows(*self.effects.kept()))
        base = dict(enumerate(self.quantum.base_records)) if self.by_records else self.base_outputs
        starts, bits, rates, sites = self.effects.noise()
        return EffectTable(
            self.num_outputs,
            self.quantum.num_signs,
            constant=mask_of(self.effects.constant().tolist()),
            noise=NoiseEffects(SparseRows(starts, bits), rates, sites),
            coins=independent(masks_of(SparseRows(*self.effects.stabilizers()))),
            outcomes=[kept[number] for number in self.outcomes],
            tosses=[kept[number] for number in self.tosses],
            base_outputs=mask_of([output for output, count in base.items() if count % 2]),
        )

    def found_faults(self) -> list[Fault]:
        """The faults with their effects, in the order of the circuit."""
        assert self.faults is not None
        kept = masks_of(SparseRows(*self.effects.kept()))
        faults = [replace(fault, effect=kept[number]) for fault, number in self.faults]
        return sorted(faults, key=lambda fault: (fault.step, fault.group))
