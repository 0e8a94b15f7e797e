"""Flattening: from a circuit to its steps.

The body of a REPEAT block is flattened once, and its iterations are a loop (``loops``). A block that has
Clifford gates alone becomes one gate, the power of its body.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence

import stim

from ....base.errors import ResourceLimitError, assert_never
from ....dialect import (
    CONDITIONAL_CARRIER,
    NO_DECODER,
    PRODUCT,
    CliffordPart,
    Condition,
    NonCliffordGate,
    Part,
    Quasistatic,
    ReadoutNoise,
    Relaxation,
    RotationPart,
    bare_name,
    decision_of,
    expectation_products,
    gate_from_tag,
    groups_of_pairs,
    is_expectation,
    leakage_of,
    num_expectations,
    num_qubits_of_channel,
    quasistatic_of,
    readout_noise_of,
)
from ..algebra.clifford_gates import named_gate, pauli_product_gate, tableau_gate
from ..algebra.paulis import Factors, X, Y, Z, codes_of, factors_of, product_of
from .channels import PAULI_CHANNELS, channel_of_patterns, patterns_of
from .expansion import (
    Gates,
    PlainRotation,
    SampledChannel,
    channel_steps,
    conditional_steps,
    misread_steps,
    needs_ancillas,
    paulis_of,
    sampled_channel_of,
)
from .extent import (
    CONTROLLED_PAULIS,
    MAX_OBSERVABLES,
    MAX_OUTPUTS,
    WITHOUT_EFFECT,
    Extent,
    check_extent,
    check_number_of_qubits,
    extent_of,
)
from .leakage_steps import LeakageModels, leakage_steps, leaked_readout_steps, why_no_plan
from .loops import Loop, Shift, shifted
from .program import Place, Program
from .relabelling import power_of_block
from .steps import (
    Absence,
    Accept,
    BeginAttempts,
    Clifford,
    CorrelatedError,
    Decide,
    DetectorStep,
    EndBlock,
    ExpectationStep,
    Feedback,
    Measure,
    Meeting,
    Misreading,
    Noise,
    ObservableStep,
    Relaxing,
    Reset,
    Rotate,
    Skip,
    Step,
    Turning,
    with_meetings,
)


def program_of(
    circuit: stim.Circuit,
    *,
    with_expectations: bool = False,
    with_decisions: bool = False,
    for_trajectories: bool = False,
    copied_readouts: Container[int] | None = None,
) -> Program:
    """Flattens a tagged circuit. EXP_VAL becomes steps, or does nothing; DECODE does, or is refused.

    Readout noise that depends on the outcome acts on a quantum copy of it for the records in
    ``copied_readouts``, those of the first iteration of each loop; None: for all. Otherwise it is a step
    ``Misreading``.

    Raises:
        ValueError: A tag is unknown or malformed.
        NotImplementedError: An instruction that this version does not know; names it and its line.
        ResourceLimitError: It would take more than 10 s to follow the unrolled circuit, or there are more
            than 2^24 measurements or detectors, or more than 2^21 observables or expectation values.
    """
    extent = extent_of(circuit)
    check_extent(extent)
    if not for_trajectories:
        check_number_of_qubits(extent)
    for count, limit, what in (
        (circuit.num_detectors, MAX_OUTPUTS, "detectors"),
        (circuit.num_observables, MAX_OBSERVABLES, "observables"),
        (circuit.num_measurements, MAX_OUTPUTS, "measurements"),
        (num_expectations(circuit) if with_expectations else 0, MAX_OBSERVABLES, "expectation values"),
    ):
        if count > limit:
            raise ResourceLimitError(f"The circuit has {count:,} {what}; the limit is {limit:,}.")
    labels = sorted(extent.qubits)
    first_ancilla = len(labels)
    more = extent.ancillas + (0 if for_trajectories else extent.turns.num_ancillas)
    labels += [labels[-1] + k + 1 for k in range(more)]
    numbers = {label: k for k, label in enumerate(labels)}
    turns = extent.turns.steps(None if for_trajectories else first_ancilla, numbers)
    models = extent.leakage_models.numbered(numbers)
    flattener = _Flattener(
        numbers, with_expectations, models, has_leakage=extent.leaks, for_trajectories=for_trajectories
    )
    flattener.with_decisions = with_decisions
    flattener.copied_readouts = copied_readouts
    flattener.turns = turns
    for channel, ancillas in turns.draws():
        flattener.emit(Noise(channel, (ancillas,), None))
    flattener.add_parts(extent, first_line=1)
    return Program(
        flattener.steps,
        flattener.places,
        flattener.loops,
        labels,
        flattener.num_records,
        circuit.num_detectors,
        circuit.num_observables,
        flattener.has_non_clifford_gates,
        flattener.has_non_pauli_channels,
        flattener.has_leakage,
        models,
        extent,
        turns,
        for_trajectories,
        flattener.no_plan,
    )


MAX_READOUT_DECAY = 0.5
"""A record that decays with a larger probability has no ``Misreading``: it would happen in most shots."""

_MEASURED = {"M": Z, "MX": X, "MY": Y, "MR": Z, "MRX": X, "MRY": Y, "MXX": X, "MYY": Y, "MZZ": Z}
_ON_ONE = {name for name in _MEASURED if not stim.gate_data(name).is_two_qubit_gate}
_RESET = {"R": Z, "RX": X, "RY": Y}
_FEEDBACK = {"CX": X, "CY": Y, "CZ": Z, "XCZ": X, "YCZ": Y}
assert set(_FEEDBACK) == CONTROLLED_PAULIS


class _Flattener:
    def __init__(
        self,
        numbers: dict[int, int],
        with_expectations: bool,
        models: LeakageModels,
        *,
        has_leakage: bool,
        for_trajectories: bool,
    ) -> None:
        self.qubits = numbers
        self.for_trajectories = for_trajectories
        self.with_expectations = with_expectations
        self.with_decisions = False
        self.copied_readouts: Container[int] | None = None
        self.readout_chains: dict[Factors, int] = {}  # by what is measured
        self.has_leakage = has_leakage
        self.models = models
        self.meets = has_leakage  # whether qubits meet in each step of several ones
        self.steps: list[Step] = []
        self.places: list[Place] = []
        self.loops: list[Loop] = []
        self.num_instructions = 0
        self.num_ticks = 0
        self.num_records = 0
        self.num_detectors = 0
        self.place = Place(0, 0, 0, stim.CircuitInstruction("TICK", []))
        self.has_non_clifford_gates = False
        self.has_non_pauli_channels = False
        self.chain = -1
        self.chain_reaches = 1.0  # probability that no error of the chain has happened so far
        self.turns = Extent().turns.steps(None, numbers)
        self.no_plan = ""
        self.num_blocks = 0  # that records switch
        self.block = self.block_of_chain = 0  # the number of the innermost one, or 0

    def add_parts(self, extent: Extent, first_line: int) -> None:
        """Adds the instructions and blocks of a circuit, or of one iteration of a block."""
        line = first_line
        for part in extent.parts:
            source = self.place.source if isinstance(part, Extent) else part
            self.place = Place(line, self.num_instructions, self.num_ticks, source)
            if isinstance(part, Extent):
                if part.condition is not None:
                    self.add_switched_block(part, part.condition)
                else:
                    (self.add_power if part.becomes_power else self.add_repetitions)(part)
                line += 2 + part.lines
                continue
            self.add_instruction(part)
            self.num_instructions += 1
            self.num_ticks += part.name == "TICK"
            line += 1

    def add_power(self, block: Extent) -> None:
        """Adds a block of Clifford gates as one gate."""
        tableau, labels = power_of_block(block)
        gate = tableau_gate(f"REPEAT {block.repetitions}", tableau)
        self.emit(Clifford(gate, (tuple(self.qubits[label] for label in labels),)))
        self.num_instructions += block.repetitions * block.instructions
        self.num_ticks += block.repetitions * block.ticks

    def add_switched_block(self, block: Extent, condition: Condition) -> None:
        """Adds a block that is executed if records say so, or attempts that are repeated until they do."""
        outer, place = self.block, self.place
        self.num_blocks += 1
        self.block = self.num_blocks
        if condition.word == "UNTIL":
            self.emit(BeginAttempts(self.num_records, self.num_detectors))
            self.add_repetitions(block, condition)
            self.emit(EndBlock())
        else:
            self.add_skips(condition)
            self.add_parts(block, place.line + 1)
            for _ in condition.terms:
                self.emit(EndBlock())
        self.block = outer

    def add_skips(self, condition: Condition) -> None:
        for term in condition.terms:
            records = tuple(self.num_records + record for record in term.records)
            if min(records) < 0:
                raise ValueError(
                    f"Line {self.place.line}: `REPEAT[{condition}]`: there is no measurement record"
                    f" rec[{min(term.records)}] here; there have been {self.num_records} measurements."
                )
            self.emit(Skip(records, term.inverted))

    def add_repetitions(self, block: Extent, until: Condition | None = None) -> None:
        """Adds a block as a loop. ``until``: the condition that ends it, which is looked at behind it."""
        before, first, first_loop, place = self.counts(), len(self.steps), len(self.loops), self.place
        self.add_iteration(block, until, place)
        times = block.repetitions - 1
        if not times:
            return
        iteration = Shift(*(now - then for now, then in zip(self.counts(), before, strict=True)))
        links = (k for k in range(first, len(self.steps)) if isinstance(self.steps[k], CorrelatedError))
        first_link = next(links, None)
        if first_link is not None and self.places[first_link].source.name != "E":
            for _ in range(times):  # a chain reaches from each iteration into the next one
                self.add_iteration(block, until, place)
            return
        if first_link is not None:
            self.repeat_chains(first, first_loop, iteration, times)
        elif len(self.steps) > first:
            self.loops.append(Loop(first, len(self.steps), block.repetitions, iteration))
        further = iteration.times(times)
        self.num_records += further.records
        self.num_detectors += further.detectors
        self.num_instructions += further.instructions
        self.num_ticks += further.ticks
        self.chain += further.chains

    def add_iteration(self, block: Extent, until: Condition | None, place: Place) -> None:
        """Adds the steps of one iteration of the block at a place."""
        self.place = place
        self.add_parts(block, place.line + 1)
        if until is not None:
            self.place = place
            self.add_skips(until)
            self.emit(Accept(self.num_records, self.num_detectors))
            for _ in until.terms:
                self.emit(EndBlock())

    def repeat_chains(self, first: int, first_loop: int, iteration: Shift, times: int) -> None:
        """Adds further iterations of steps with correlated errors, which begin a chain of their own.

        The last iteration is stored apart, as the last of its chains may go on after the loop.
        """
        end, inner = len(self.steps), self.loops[first_loop:]
        if times > 1:
            self.loops.append(Loop(first, end, times, iteration))
        self.loops += [loop.moved(end - first) for loop in inner]
        last = iteration.times(times)
        self.steps += [shifted(step, last) for step in self.steps[first:end]]
        self.places += [place.shifted(last) for place in self.places[first:end]]

    def counts(self) -> Shift:
        """How many records, detectors, instructions, TICKs and chains of errors there are."""
        return Shift(
            self.num_records, self.num_detectors, self.num_instructions, self.num_ticks, self.chain + 1
        )

    def place_of(self, instruction: stim.CircuitInstruction) -> str:
        """How messages name an instruction. It takes time where there are many targets."""
        return f"Line {self.place.line}: `{instruction}`"

    def emit(self, step: Step) -> None:
        if isinstance(step, (Clifford, Noise)) and not step.groups:
            return  # Stim accepts instructions without targets
        if self.skips and isinstance(step, (Clifford, Rotate)):
            if isinstance(step, Rotate):
                self.store_unless_absent([qubit for qubit, _ in step.factors], step)
                return
            for group in step.groups:
                self.store_unless_absent(group, Clifford(step.gate, (group,)))
            return
        self.store(step)

    def store(self, step: Step) -> None:
        for each in with_meetings(step, self.models.replacements) if self.meets else (step,):
            self.steps.append(each)
            self.places.append(self.place)

    @property
    def skips(self) -> bool:
        """Whether gates vanish for leaked qubits, and are no part of one that does so as a whole."""
        return self.for_trajectories and self.meets and bool(self.models.skipping)

    def store_unless_absent(self, qubits: Sequence[int], step: Step) -> None:
        """Stores a gate on qubits, which may do nothing if one of them is leaked or lost."""
        absent = tuple(q for q in qubits if q in self.models.skipping) if len(qubits) > 1 else ()
        if absent:
            self.store(Absence(absent))
        self.store(step)
        if absent:
            self.store(EndBlock())

    def emit_all(self, steps: Iterator[Step | Gates | PlainRotation]) -> None:
        for step in steps:
            if isinstance(step, Gates):
                self.add_gates(step.parts, step.qubits)
            elif isinstance(step, PlainRotation):
                self.add_rotation(step.factors, step.half_turns)
            elif self.has_leakage or not isinstance(step, Meeting):
                self.emit(step)

    def groups(self, instruction: stim.CircuitInstruction, width: int) -> tuple[tuple[int, ...], ...]:
        """The targets of an instruction in groups."""
        qubits = [self.qubits[target.value] for target in instruction.targets_copy()]
        return tuple(zip(*[iter(qubits)] * width, strict=True))

    def numbered(self, factors: Factors) -> Factors:
        """A Pauli with the numbers of its qubits in place of their labels."""
        return tuple((self.qubits[label], code) for label, code in factors)

    def add_instruction(self, instruction: stim.CircuitInstruction) -> None:
        if instruction.tag and self.add_tagged(instruction):
            return
        name = instruction.name
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(self, instruction)
        elif name in _FEEDBACK:
            self.add_controlled_pauli(instruction)
        elif stim.gate_data(name).is_unitary:
            width = 2 if stim.gate_data(name).is_two_qubit_gate else 1
            self.emit(Clifford(named_gate(name), self.groups(instruction, width)))
        elif name not in WITHOUT_EFFECT:
            raise NotImplementedError(
                f"{self.place_of(instruction)}: {name} is not supported by stim_nonclifford."
            )

    def add_tagged(self, instruction: stim.CircuitInstruction) -> bool:
        """Adds what the tag of an instruction stands for; whether it stands for anything."""
        if (gate := gate_from_tag(instruction)) is not None:
            self.has_non_clifford_gates = True
            self.add_non_clifford(instruction, gate)
        elif is_expectation(instruction):
            self.add_expectations(instruction)
        elif (channel := sampled_channel_of(instruction)) is not None:
            self.add_channel(instruction, channel)
        elif (turn := quasistatic_of(instruction)) is not None:
            self.add_turns(instruction, turn)
        elif (leakage := leakage_of(instruction)) is not None:
            groups = self.groups(instruction, 2 if instruction.name == "II_ERROR" else 1)
            if self.has_leakage:
                self.emit_all(leakage_steps(leakage, groups, self.num_records))
                if reason := why_no_plan(leakage):
                    self.has_non_pauli_channels = True
                    self.refuse_plans(instruction, reason)
            self.num_records += instruction.num_measurements  # of heralds
        else:
            return False
        return True

    # Gates

    def add_non_clifford(self, instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> None:
        if instruction.name == CONDITIONAL_CARRIER:
            self.add_conditional(instruction, gate)
            return
        parts = gate.definition.decomposition(*gate.half_turns)
        for qubits, product, negative in self.groups_of(instruction, gate.definition.num_targets):
            if len(qubits) < 2 or not self.has_leakage:
                self.add_gates(parts, qubits, product, negative)
                continue
            vanishes = self.skips and not self.models.skipping.isdisjoint(qubits)
            if vanishes:
                self.store(Absence(tuple(q for q in qubits if q in self.models.skipping)))
            self.meets = not (self.models.partners or vanishes)
            self.add_gates(parts, qubits, product, negative)
            self.meets = True
            self.store(Meeting(qubits))  # not only those of a part of the gate meet
            if vanishes:
                self.store(EndBlock())

    def add_gates(
        self, parts: tuple[Part, ...], qubits: tuple[int, ...], product: Factors = (), negative: bool = False
    ) -> None:
        for part in parts:
            match part:
                case CliffordPart(name, positions):
                    self.emit(Clifford(named_gate(name), (tuple(qubits[k] for k in positions),)))
                case RotationPart(pauli, half_turns) if pauli == PRODUCT:
                    self.add_rotation(product, -half_turns if negative else half_turns)
                case RotationPart(pauli, half_turns):
                    self.add_rotation(tuple((qubits[k], code) for k, code in codes_of(pauli)), half_turns)
                case _:
                    assert_never(part)

    def add_conditional(self, instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> None:
        parts = gate.definition.decomposition(*gate.half_turns)
        for group in groups_of_pairs(gate.definition, instruction.targets_copy()):
            records = {
                k: self.record_of(target, instruction)
                for k, target in enumerate(group)
                if target.is_measurement_record_target
            }
            if any(target.is_sweep_bit_target for target in group):
                continue  # which is 0
            qubits = {k: self.qubits[target.value] for k, target in enumerate(group) if k not in records}
            if self.has_leakage and len(qubits) > 1:
                raise ValueError(
                    f"{self.place_of(instruction)}: a gate on several qubits that a record controls is not"
                    " supported in a circuit with LEAKAGE or LOSS: whether a leaked qubit disturbs the others"
                    " would depend on the record. Write gates on single qubits, or remove LEAKAGE and LOSS."
                )
            for part in parts:
                self.emit_all(conditional_steps(part, records, qubits))

    def groups_of(
        self, instruction: stim.CircuitInstruction, size: int | None
    ) -> Iterator[tuple[tuple[int, ...], Factors, bool]]:
        """The groups of targets: ``size`` qubits each, or a Pauli product and whether it is negative."""
        if size is not None:
            for qubits in self.groups(instruction, size):
                yield qubits, (), False
            return
        for group in instruction.target_groups():
            factors, negative = product_of(group, lambda: self.place_of(instruction))
            yield (), self.numbered(factors), negative

    def add_rotation(self, factors: Factors, half_turns: float) -> None:
        """A rotation, or the Clifford gate that it is when the angle is a multiple of a quarter turn."""
        if not factors:
            return
        half_turns = math.fmod(half_turns, 4)
        quarter_turns = 2 * half_turns
        if quarter_turns != round(quarter_turns):
            self.emit(Rotate(factors, half_turns))
        elif round(quarter_turns) % 4:
            gate = pauli_product_gate(tuple(c for _, c in factors), round(quarter_turns) % 4)
            self.emit(Clifford(gate, (tuple(q for q, _ in factors),)))

    def add_spp(self, instruction: stim.CircuitInstruction) -> None:
        turn = 0.5 if instruction.name == "SPP" else -0.5
        for _, product, negative in self.groups_of(instruction, None):
            self.add_rotation(product, -turn if negative else turn)

    def add_controlled_pauli(self, instruction: stim.CircuitInstruction) -> None:
        if all(target.is_qubit_target for target in instruction.targets_copy()):
            self.emit(Clifford(named_gate(instruction.name), self.groups(instruction, 2)))
            return
        pairs: list[tuple[int, int]] = []

        def flush() -> None:
            if pairs:
                self.emit(Clifford(named_gate(instruction.name), tuple(pairs)))
                pairs.clear()

        for a, b in instruction.target_groups():
            if a.is_qubit_target and b.is_qubit_target:
                pairs.append((self.qubits[a.value], self.qubits[b.value]))
                continue
            flush()
            classical, qubit = (b, a) if a.is_qubit_target else (a, b)
            target = {"CX": b, "CY": b, "XCZ": a, "YCZ": a}.get(instruction.name)
            if target is not None and not target.is_qubit_target:
                raise ValueError(
                    f"{self.place_of(instruction)}: measurement record editing is not supported: a"
                    " record or sweep bit can control a Pauli gate, but not be its target."
                )
            if classical.is_measurement_record_target and qubit.is_qubit_target:
                record = self.record_of(classical, instruction)
                self.emit(Feedback(record, self.qubits[qubit.value], _FEEDBACK[instruction.name]))
        flush()

    # Measurements

    def add_measurement(self, instruction: stim.CircuitInstruction) -> None:
        name = instruction.name
        arguments = instruction.gate_args_copy()
        flip = arguments[0] if arguments else 0.0
        noise = readout_noise_of(instruction)
        if noise is None or not noise.decay:
            noise = ReadoutNoise(flip, flip)
        resets, is_plain = name.startswith("MR"), not (noise.decay or self.models.readouts)
        # There may be millions of targets: equal factors are one object, and no lists of one target are made.
        known: dict[int, Factors] = {}
        on_one = name in _ON_ONE
        for group in zip(instruction.targets_copy()) if on_one else instruction.target_groups():
            if on_one:
                label, inverted = group[0].value, group[0].is_inverted_result_target
                factors = known.get(label) or known.setdefault(
                    label, ((self.qubits[label], _MEASURED[name]),)
                )
            elif name == "MPP":
                labelled, inverted = product_of(group, lambda: self.place_of(instruction))
                factors = self.numbered(labelled)
            elif name == "MPAD":
                factors, inverted = (), bool(group[0].value)
            else:
                factors = tuple([(self.qubits[target.value], _MEASURED[name]) for target in group])
                inverted = sum([target.is_inverted_result_target for target in group]) % 2 == 1
            if is_plain:
                self.store(Measure(factors, self.num_records, inverted, flip, resets))
                self.num_records += 1
                continue
            read_out = (factors, noise, self.num_records, inverted, len(self.qubits))
            self.num_records += 1
            if len(factors) == 1 and (qubit := factors[0][0]) in self.models.readouts:
                steps = leaked_readout_steps(*read_out, self.models.readouts[qubit])
            elif noise.decay and self.copies(noise, self.num_records - 1):
                steps = misread_steps(*read_out)
            elif noise.decay:
                self.has_non_pauli_channels = True
                flip, misread = (
                    (0.0, (noise.p01, noise.p10)) if self.for_trajectories else (noise.flip, noise.decays)
                )
                self.emit(Measure(factors, self.num_records - 1, inverted, flip, resets))
                chain = self.readout_chains.setdefault(factors, len(self.readout_chains))
                self.emit(Misreading(self.num_records - 1, inverted, *misread, chain))
                continue
            else:
                self.emit(Measure(factors, self.num_records - 1, inverted, flip, resets))
                continue
            self.has_non_clifford_gates = True
            self.has_non_pauli_channels |= noise.decay > 0
            self.emit_all(steps)
            if resets:
                self.emit(Reset(*factors[0]))
        if decision_of(instruction) is not None:
            self.add_decisions(instruction)

    def copies(self, noise: ReadoutNoise, record: int) -> bool:
        """Whether readout noise acts on a quantum copy of the outcome."""
        if self.for_trajectories:
            return False
        return (
            self.copied_readouts is None or record in self.copied_readouts or noise.decay > MAX_READOUT_DECAY
        )

    def add_decisions(self, instruction: stim.CircuitInstruction) -> None:
        if not self.with_decisions:
            raise NotImplementedError(f"{self.place_of(instruction)}: {NO_DECODER}")
        for record in range(self.num_records - instruction.num_measurements, self.num_records):
            self.emit(Decide(record))

    def add_reset(self, instruction: stim.CircuitInstruction) -> None:
        for target in instruction.targets_copy():
            self.emit(Reset(self.qubits[target.value], _RESET[instruction.name]))

    # Noise

    def add_turns(self, instruction: stim.CircuitInstruction, turn: Quasistatic) -> None:
        self.has_non_clifford_gates = self.has_non_pauli_channels = True
        for target in instruction.targets_copy():
            label = target.value
            if self.for_trajectories:
                self.store(Turning(self.qubits[label], self.turns.table_of(turn, label)))
                continue
            for factors, half_turns in self.turns.rotations(turn, label):
                self.meets = False  # ancillas never leak, and a turn of a leaked qubit does nothing
                self.add_rotation(factors, half_turns)
                self.meets = self.has_leakage
            if label == self.turns.too_far:
                self.refuse_plans(instruction, self.turns.reason)

    def refuse_plans(self, instruction: stim.CircuitInstruction, reason: str) -> None:
        if not self.no_plan:
            self.no_plan = (
                f"Line {self.place.line}: `{bare_name(instruction)}`: {reason}, so that there is no"
                " plan. Sample with engine='trajectory', which follows each shot, or with engine='auto'; for"
                " what needs a plan, ask circuit.pauli_twirl()."
            )

    def add_noise(self, instruction: stim.CircuitInstruction) -> None:
        width, patterns = patterns_of(instruction.name, instruction.gate_args_copy())
        herald = self.num_records if instruction.num_measurements else None
        self.emit(Noise(channel_of_patterns(patterns), self.groups(instruction, width), herald))
        self.num_records += instruction.num_measurements

    def add_correlated_error(self, instruction: stim.CircuitInstruction) -> None:
        factors = self.numbered(factors_of(instruction.targets_copy()))
        if instruction.name == "E" or self.chain < 0:
            self.block_of_chain = self.block
        if self.block_of_chain != self.block:
            raise ValueError(
                f"{self.place_of(instruction)}: the E of this chain and the instruction itself are in"
                " different blocks that records switch, so that one of them may be executed alone. Put the"
                " whole chain into one block, beginning with E."
            )
        self.emit(self.correlated_error(instruction.name, instruction.gate_args_copy()[0], factors))

    def correlated_error(self, name: str, probability: float, factors: Factors) -> CorrelatedError:
        # As in Stim's samplers, a chain lasts until the next E, whatever stands in between.
        if name == "E" or self.chain < 0:
            self.chain += 1
            self.chain_reaches = 1.0
        error = CorrelatedError(self.chain, self.chain_reaches * probability, factors)
        self.chain_reaches *= 1 - probability
        return error

    def add_channel(self, instruction: stim.CircuitInstruction, channel: SampledChannel) -> None:
        groups = self.groups(instruction, num_qubits_of_channel(channel))
        if needs_ancillas(channel):
            self.has_non_clifford_gates = self.has_non_pauli_channels = True
            for qubits in groups:
                if self.for_trajectories and isinstance(channel, Relaxation):
                    self.emit(Relaxing(qubits[0], channel.decay, channel.dephasing))
                    self.emit_all(iter((Meeting(qubits),)))
                    continue
                self.meets = self.has_leakage and not self.models.partners and len(qubits) == 1
                self.emit_all(channel_steps(channel, qubits, len(self.qubits)))
            self.meets = self.has_leakage
            if self.for_trajectories and isinstance(channel, Relaxation):
                return
        if paulis := paulis_of(channel):
            self.emit(Noise(channel_of_patterns(paulis), groups, None))

    def record_of(self, target: stim.GateTarget, instruction: stim.CircuitInstruction) -> int:
        """The absolute index of the record that rec[-k] means here."""
        index = self.num_records + target.value
        if not 0 <= index < self.num_records:
            raise ValueError(
                f"{self.place_of(instruction)}: there is no measurement record rec[{target.value}] here;"
                f" there have been {self.num_records} measurements."
            )
        return index

    # Annotations

    def add_expectations(self, instruction: stim.CircuitInstruction) -> None:
        if not self.with_expectations:
            return
        for product in expectation_products(instruction):
            factors, is_negative = product_of(product, lambda: self.place_of(instruction))
            self.emit(ExpectationStep(self.numbered(factors), is_negative))

    def add_detector(self, instruction: stim.CircuitInstruction) -> None:
        records = tuple(self.record_of(target, instruction) for target in instruction.targets_copy())
        self.emit(DetectorStep(self.num_detectors, records))
        self.num_detectors += 1

    def add_observable(self, instruction: stim.CircuitInstruction) -> None:
        targets = instruction.targets_copy()
        records = tuple(self.record_of(t, instruction) for t in targets if t.is_measurement_record_target)
        factors = self.numbered(factors_of(t for t in targets if not t.is_measurement_record_target))
        if factors and (self.has_non_pauli_channels or self.has_leakage):
            raise ValueError(
                f"{self.place_of(instruction)}: an observable with Pauli targets counts the flips by Pauli"
                " errors, and a qubit that decays or leaks is none, nor is a misread outcome. Measure the"
                " Paulis (MPP) and make the record the observable; or leave the Pauli targets out of it, and"
                " ask for EXP_VAL of them alone."
            )
        index = int(instruction.gate_args_copy()[0])
        if index >= MAX_OBSERVABLES:
            raise ValueError(
                f"{self.place_of(instruction)}: the index of an observable must be below {MAX_OBSERVABLES:,}."
            )
        self.emit(ObservableStep(index, records, factors))


_HANDLERS: dict[str, Callable[[_Flattener, stim.CircuitInstruction], None]] = {
    **dict.fromkeys(("SPP", "SPP_DAG"), _Flattener.add_spp),
    **dict.fromkeys((*_MEASURED, "MPP", "MPAD"), _Flattener.add_measurement),
    **dict.fromkeys(_RESET, _Flattener.add_reset),
    **dict.fromkeys(PAULI_CHANNELS, _Flattener.add_noise),
    **dict.fromkeys(("E", "ELSE_CORRELATED_ERROR"), _Flattener.add_correlated_error),
    "DETECTOR": _Flattener.add_detector,
    "OBSERVABLE_INCLUDE": _Flattener.add_observable,
}
