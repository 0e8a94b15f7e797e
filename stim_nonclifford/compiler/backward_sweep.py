"""The backward sweep: what every fault, random outcome and free sign changes.

Walking backwards, the sweep keeps the effect (``effects``) of an X and of a Z on every qubit at the current
place. Gates mix them by their tableau, measurements add what depends on their record, resets clear them,
and reading them at a noise instruction gives the effects of its Paulis.

A measurement has an *outcome*, which the state follows, and a *record* (outcome ⊕ readout flip), which
detectors, observables and feedback use: readout noise flips the record only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ..errors import ResourceLimitError, assert_never
from .channels import Channel, channel_of_patterns
from .clifford_gates import CliffordGate
from .effects import EffectTable, Fault, Outputs
from .forward_sweep import Insertion, QuantumProgram
from .gf2 import independent, mask_of
from .operations import OperationKind
from .paulis import X, Z, effect_of
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

__all__ = ["backward_sweep", "list_faults"]

MAX_EFFECT_BYTES = 2 << 30
"""An effect takes as many bits as its last output's number: many effects on many outputs fill the memory."""


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
    fix = sweep.choose_signs()
    faults = [replace(fault, effect=fix(fault.effect)) for fault in sweep.faults]
    return sorted(faults, key=lambda fault: (fault.step, fault.group))


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
        >>> backward_sweep(program, QuantumProgram(base_records=[0])).rates
        {1: 0.143841036225890...}
    """
    sweep = _BackwardSweep(program, quantum, outputs)
    sweep.run()
    return sweep.finish()


class _BackwardSweep:
    def __init__(self, program: Program, quantum: QuantumProgram, outputs: Outputs) -> None:
        self.program = program
        self.quantum = quantum
        self.by_records = outputs == "records"
        num_outputs = (
            program.num_records if self.by_records else program.num_detectors + program.num_observables
        )
        self.sign_of_step = {
            term.step: num_outputs + term.sign for operation in quantum.operations for term in operation.terms
        }
        self.table = EffectTable(num_outputs, quantum.num_signs)
        self.x_effects = [0] * program.num_qubits
        self.z_effects = [0] * program.num_qubits
        self.effect_bytes = 0
        if self.by_records:
            self.spend(num_outputs * num_outputs // 2)
        self.record_effects = (
            [1 << m for m in range(program.num_records)] if self.by_records else [0] * program.num_records
        )
        self.base_outputs: Counter[int] = Counter()  # how many records of the base path are 1
        self.rates: _Rates = {}
        # Effects of inserting stabilizers: they change nothing that can be seen.
        self.stabilizer_effects: set[int] = set()
        self.faults: list[Fault] | None = None  # collected if it is a list
        self.chains: dict[int, list[tuple[int, float]]] = {}
        self.insertions: dict[int, list[tuple[list[int], int, Insertion]]] = {}
        self.activation_effects = [0] * len(quantum.activations)
        self.outcome_effects = [0] * len(quantum.outcomes)
        self.toss_effects = [0] * len(quantum.coins)
        for found, into in (
            (quantum.activations, self.activation_effects),
            (quantum.outcomes, self.outcome_effects),
            ([insertion for _, _, insertion in quantum.coins], self.toss_effects),
        ):
            for k, insertion in enumerate(found):
                self.insertions.setdefault(insertion.step, []).append((into, k, insertion))

    def run(self) -> None:
        for index in range(len(self.program.steps) - 1, -1, -1):
            self.pull_back_through_step(index, self.program.steps[index])
            for into, k, insertion in self.insertions.get(index, ()):
                into[k] = effect_of(insertion.factors, self.x_effects, self.z_effects)
                for step in insertion.deferred:
                    into[k] ^= self.sign_bit(step)
                for record in insertion.reordered:
                    into[k] ^= self.record_effects[record]
        for qubit in range(self.program.num_qubits):
            self.note_stabilizer(self.z_effects[qubit])
        base = dict(enumerate(self.quantum.base_records)) if self.by_records else self.base_outputs
        self.table.base_outputs = mask_of([output for output, count in base.items() if count % 2])

    def pull_back_through_step(self, index: int, step: Step) -> None:
        """Takes the effects from behind a step of the program to before it."""
        x_effects, z_effects = self.x_effects, self.z_effects
        match step:
            case Clifford(gate, groups):
                self.pull_back_through(gate, groups)
            case Noise(channel, groups, herald):
                self.add_noise(channel, groups, herald)
                if self.faults is not None:
                    self.faults += self.faults_of_noise(index, channel, groups, herald)
            case CorrelatedError(chain, probability, factors):
                effect = effect_of(factors, x_effects, z_effects)
                self.chains.setdefault(chain, []).append((effect, probability))
                if self.faults is not None and probability > 0:
                    self.faults.append(Fault(index, 0, factors, (), effect))
            case Measure(record=record, flip_probability=flip_probability):
                if self.faults is not None and flip_probability > 0:
                    self.faults.append(Fault(index, 0, (), (record,), self.record_effects[record]))
                self.pull_back_through_measurement(step)
            case Reset(qubit, pauli):
                self.note_stabilizer(effect_of(((qubit, pauli),), x_effects, z_effects))
                x_effects[qubit] = z_effects[qubit] = 0
            case Rotate(factors):
                bit = self.sign_bit(index)
                if bit:
                    self.flip_by_anticommuting(factors, bit)
            case Feedback(record, qubit, pauli):
                self.record_effects[record] ^= effect_of(((qubit, pauli),), x_effects, z_effects)
            case DetectorStep(detector, records):
                if not self.by_records:
                    self.add_records(records, detector)
            case ObservableStep(observable, records, factors):
                if not self.by_records:
                    output = self.program.num_detectors + observable
                    self.spend(len(factors) * output)
                    self.flip_by_anticommuting(factors, 1 << output)
                    self.add_records(records, output)
            case _:
                assert_never(step)

    def sign_bit(self, step: int) -> int:
        """The bit of an effect that is the sign of a step's rotation; 0 if it is never applied."""
        sign = self.sign_of_step.get(step, -1)
        return 1 << sign if sign >= 0 else 0

    def add_records(self, records: Sequence[int], output: int) -> None:
        """Lets records flip an output."""
        self.spend(len(records) * output)
        for record in records:
            self.record_effects[record] ^= 1 << output
            self.base_outputs[output] += self.quantum.base_records[record]

    def finish(self) -> EffectTable:
        """Chooses the free signs, and turns the stabilizers into coins."""
        table = self.table
        for links in self.chains.values():
            self.add_chain(links)
        fix = self.choose_signs()
        table.constant = fix(table.constant)
        rates: _Rates = {}
        for (mask, low), rate in self.rates.items():
            _add_rate(rates, fix(mask << low), rate)
        table.rates = {mask << low: rate for (mask, low), rate in rates.items()}
        sites = []
        for site in table.sites:
            fixed: dict[int, float] = {}
            for effect, probability in site.items():
                _accumulate(fixed, fix(effect), probability)
            if fixed:
                sites.append(fixed)
        table.sites = sites
        table.outcomes = [fix(effect) for effect in self.outcome_effects]
        table.tosses = [fix(effect) for effect in self.toss_effects]
        table.coins = independent(fix(effect) for effect in sorted(self.stabilizer_effects))
        return table

    def spend(self, bits: int) -> None:
        """Counts the memory that effects take.

        Raises:
            ResourceLimitError: It is too much.
        """
        self.effect_bytes += bits // 8
        if self.effect_bytes > MAX_EFFECT_BYTES:
            what = "measurement records" if self.by_records else "detectors and observables"
            raise ResourceLimitError(
                f"The effects of the circuit's noise on {self.table.num_outputs:,} {what} need more than"
                f" {MAX_EFFECT_BYTES:,} bytes, the limit. It grows with the number of noise events times the"
                f" number of {what}: lower the repeat counts, or sample the circuit in parts."
            )

    def note_stabilizer(self, effect: int) -> None:
        if effect:
            self.stabilizer_effects.add(effect)

    def flip_by_anticommuting(self, factors: Iterable[tuple[int, int]], bits: int) -> None:
        """Lets faults that anticommute with a Pauli flip ``bits``."""
        for qubit, pauli in factors:
            if pauli & Z:
                self.x_effects[qubit] ^= bits
            if pauli & X:
                self.z_effects[qubit] ^= bits

    def pull_back_through(self, gate: CliffordGate, groups: tuple[tuple[int, ...], ...]) -> None:
        if gate.pullback is not None:
            for targets in reversed(groups):
                gate.pull_back(self.x_effects, self.z_effects, targets)

    def pull_back_through_measurement(self, step: Measure) -> None:
        record_effect = self.record_effects[step.record]
        if step.flip_probability and record_effect:
            readout = channel_of_patterns(((1, step.flip_probability),))
            self.add_patterns(readout, (0, record_effect))
        self.note_stabilizer(effect_of(step.factors, self.x_effects, self.z_effects))
        if step.resets:
            ((qubit, _),) = step.factors
            self.x_effects[qubit] = self.z_effects[qubit] = 0
        self.flip_by_anticommuting(step.factors, record_effect)

    def add_noise(
        self, channel: Channel, groups: tuple[tuple[int, ...], ...], first_herald: int | None
    ) -> None:
        x_effects, z_effects = self.x_effects, self.z_effects
        for k, targets in enumerate(groups):
            if first_herald is None and len(targets) == 1:  # most noise; the general way takes twice as long
                x, z = x_effects[targets[0]], z_effects[targets[0]]
                if x or z:
                    self.add_patterns(channel, (0, x, z, x ^ z))
                continue
            generators = [effects[qubit] for qubit in targets for effects in (x_effects, z_effects)]
            if first_herald is not None:
                generators.append(self.record_effects[first_herald + k])
            if any(generators):
                self.add_patterns(channel, _effects_of_patterns(generators, channel))

    def faults_of_noise(
        self,
        step: int,
        channel: Channel,
        groups: tuple[tuple[int, ...], ...],
        first_herald: int | None,
    ) -> list[Fault]:
        found = []
        constant = channel.constant
        patterns = {constant, *(constant ^ p for p, _ in (*channel.rates, *channel.site))} - {0}
        for k, targets in enumerate(groups):
            for pattern in sorted(patterns):
                factors = tuple(
                    (q, pattern >> 2 * j & 3) for j, q in enumerate(targets) if pattern >> 2 * j & 3
                )
                effect = effect_of(factors, self.x_effects, self.z_effects)
                records: tuple[int, ...] = ()
                if first_herald is not None and pattern >> 2 * len(targets) & 1:
                    records = (first_herald + k,)
                    effect ^= self.record_effects[first_herald + k]
                found.append(Fault(step, k, factors, records, effect))
        return found

    def add_patterns(self, channel: Channel, effects: Sequence[int] | Mapping[int, int]) -> None:
        table = self.table
        if channel.constant:
            table.constant ^= effects[channel.constant]
        known = len(self.rates)
        for pattern, rate in channel.rates:
            _add_rate(self.rates, effects[pattern], rate)
        new = len(self.rates) - known + len(channel.site)
        if new:
            self.spend(new * max(effects[p].bit_length() for p, _ in (*channel.rates, *channel.site)))
        if channel.site:
            choices: dict[int, float] = {}
            for pattern, probability in channel.site:
                _accumulate(choices, effects[pattern], probability)
            if choices:
                table.sites.append(choices)

    def add_chain(self, links: list[tuple[int, float]]) -> None:
        """Adds mutually exclusive errors; the most likely choice becomes a constant."""
        nothing = 1 - math.fsum(probability for _, probability in links)
        constant, _ = max([(0, nothing), *links], key=lambda choice: choice[1])
        self.table.constant ^= constant
        choices: dict[int, float] = {}
        for effect, probability in [(0, nothing), *links]:
            if probability > 0:
                _accumulate(choices, effect ^ constant, probability)
        if choices:
            self.table.sites.append(choices)

    def choose_signs(self) -> Callable[[int], int]:
        """The function that removes the signs of ACTIVATE operations from an effect.

        The coordinate that a rotation activates is |0> before, so Z on it does nothing: adding the effect of
        that Z to any effect is free, and we do so whenever it makes the rotation's sign +.
        """
        choices: dict[int, int] = {}
        operations = self.quantum.operations
        activations = [op for op in operations if op.kind == OperationKind.ACTIVATE]
        for activation, effect in zip(activations, self.activation_effects, strict=True):
            bit = 1 << (self.table.num_outputs + activation.terms[0].sign)
            if not effect & bit:
                raise AssertionError(f"{activation}: its stabilizer does not flip its sign")
            choices[bit] = effect
        bits = sum(choices)

        def fix(effect: int) -> int:
            # In the order of the operations, which is that of the bits.
            left = effect & bits
            while left:
                bit = left & -left
                effect ^= choices[bit]
                left = effect & bits & -(bit << 1)
            return effect

        return fix


def _effects_of_patterns(generators: list[int], channel: Channel) -> Sequence[int] | Mapping[int, int]:
    """The effect of each pattern of a channel: the sum of the effects of its bits."""
    if len(generators) <= 5:
        effects = [0]
        for generator in generators:
            effects += [effect ^ generator for effect in effects]
        return effects
    patterns = {channel.constant, *(pattern for pattern, _ in (*channel.rates, *channel.site))}
    found = {}
    for pattern in patterns:
        found[pattern] = 0
        for k, generator in enumerate(generators):
            if pattern >> k & 1:
                found[pattern] ^= generator
    return found


# Rates by (effect without its trailing zeros, number of these): effects are local, and hashes of short
# integers are much faster.
_Rates = dict[tuple[int, int], float]


def _add_rate(into: _Rates, effect: int, rate: float) -> None:
    if effect:
        low = (effect & -effect).bit_length() - 1
        key = (effect >> low, low)
        into[key] = into.get(key, 0.0) + rate


def _accumulate(into: dict[int, float], effect: int, amount: float) -> None:
    if effect:
        into[effect] = into.get(effect, 0.0) + amount
