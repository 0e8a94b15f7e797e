"""The extent of a circuit: what unrolling it would give, and which sizes are refused before that."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache

import stim

from ....base.errors import ResourceLimitError
from ....dialect import (
    Condition,
    Relaxation,
    condition_of_block,
    decay_parts,
    gate_from_tag,
    is_expectation,
    kraus_of,
    leakage_of,
    num_qubits_of_channel,
    readout_noise_of,
    relaxation_of,
    three_qubit_errors_of,
)
from .leakage_steps import READOUT_ANCILLAS, LeakageModels, leakage_models, may_leak
from .turns import Turns, add_turns

MAX_SECONDS = 10
"""The least time that is predicted; most circuits take longer, up to a minute."""
MAX_TARGETS = 1 << 26
MAX_INSTRUCTIONS = 1 << 62
MAX_FAULT_BYTES = 1 << 30
FAULT_BYTES = 1 << 10
"""Memory in bytes of a fault with its names, without the outputs that it flips."""
MAX_OUTPUTS = 1 << 24
MAX_COORDINATES = 1 << 23
"""The largest number of coordinates that are returned. As Python numbers, they take some 40 bytes each."""
MAX_OBSERVABLES = 1 << 21
MAX_TABLEAU_BYTES = 1 << 30
TABLES_WITH_ROTATIONS = 3
"""How many tableaus the forward sweep has for a group of connected qubits if there are rotations."""

_ERRORS = {"DEPOLARIZE1": 3, "PAULI_CHANNEL_1": 3, "DEPOLARIZE2": 15, "PAULI_CHANNEL_2": 15} | {
    "HERALDED_ERASE": 4,
    "HERALDED_PAULI_CHANNEL_1": 4,
}
"""Number of errors of one place of noise; 1 if not listed."""

WITHOUT_EFFECT = {"TICK", "QUBIT_COORDS", "SHIFT_COORDS", "I_ERROR", "II_ERROR"}
CONTROLLED_PAULIS = {"CX", "CY", "CZ", "XCZ", "YCZ"}
_WITHOUT_QUBITS = {*WITHOUT_EFFECT, "DETECTOR", "MPAD"}

_HALF_FAULTS = {"DEPOLARIZE1": 6, "PAULI_CHANNEL_1": 6, "DEPOLARIZE2": 15, "PAULI_CHANNEL_2": 15}
"""Twice the number of Paulis for each target of a noise channel, if it is not 1."""

_DECAY_PARTS = len(decay_parts(0.5))
_COPY_PARTS = 7

_POWER_FROM = 1000
"""Number of targets of Clifford gates up to which a block is unrolled rather than multiplied."""

# What compiling takes at least, in units of 10 ns, as measured: for an instruction each time it is followed,
# for each of its targets, and for each target again if there are non-Clifford gates, because they need the
# forward sweep. Each Pauli of a noise channel costs more where measurements are repeated with it, because it
# flips other records each time.
_INSTRUCTION_COST = 1
_TARGET_COST, _MEASUREMENT_COST, _DETECTOR_COST, _FAULT_COST = 2, 8, 20, 20
_SWEPT_GATE_COST, _SWEPT_MEASUREMENT_COST, _ROTATION_COST = 10, 12, 2000
_CORRELATED_ERROR_COST = 400  # each is kept until all of its chain are known
_COSTS_OF_A_SECOND = 100_000_000

_gate_data = cache(stim.gate_data)

_MAX_POWER_QUBITS = 256
"""The power of a block is a dense table over its qubits, which takes up to 120 multiplications."""


@dataclass(eq=False)
class Extent:
    """A circuit, or a REPEAT block, with its extent."""

    # how often the instructions are repeated; the other attributes are about one iteration
    repetitions: int = 1
    # the instructions and the blocks, in order
    parts: list[stim.CircuitInstruction | Extent] = field(default_factory=list)
    targets: int = 0  # number of targets after unrolling, at least one for each instruction
    kept: int = 0  # the same with each block that ``becomes_power`` counted once
    rotations: int = 0  # number of targets of non-Clifford gates after unrolling
    has_gates: bool = False  # whether there are such gates, and not only what is compiled to them
    is_switched: bool = False  # whether records switch any block
    # what it takes to compile the kept ones, without the forward sweep and the effects of noise
    cost: int = 0
    faults: int = 0  # number of Paulis of noise channels that have different effects
    measures: bool = False  # whether there are measurements
    swept_cost: int = 0  # what the forward sweep takes. Circuits without non-Clifford gates do not need it
    instructions: int = 0  # number of instructions after unrolling
    ticks: int = 0  # number of TICKs among them
    coordinates: int = 0  # number of coordinates of their detectors
    lines: int = 0  # lines of the circuit when it is printed
    qubits: set[int] = field(default_factory=set)  # the qubits that instructions act on
    is_clifford: bool = True  # whether there are Clifford gates and nothing else that has an effect
    # how many ancillas the compiler adds, for qubits that decay and records that are misread
    ancillas: int = 0
    turns: Turns = field(default_factory=Turns)  # by quasi-static noise
    leaks: bool = False  # whether a qubit can leak or be lost anywhere in the circuit
    # what is unusual about such qubits, by their labels
    leakage_models: LeakageModels = field(default_factory=LeakageModels)
    condition: Condition | None = None  # the condition of a block that records switch, or None

    @property
    def becomes_power(self) -> bool:
        """Whether the block is compiled to one Clifford gate, the power of its body."""
        return (
            self.is_clifford
            and not self.leaks
            and bool(self.qubits)
            and self.kept * self.repetitions > _POWER_FROM
            and len(self.qubits) <= _MAX_POWER_QUBITS
        )

    @property
    def seconds(self) -> int:
        """About how many seconds it takes at least to compile an iteration."""
        cost = self.cost + self.faults * _FAULT_COST + (self.swept_cost if self.rotations else 0)
        return cost // _COSTS_OF_A_SECOND

    @property
    def has_powers(self) -> bool:
        """Whether any block in it becomes a power."""
        return self.kept < self.targets


def extent_of(circuit: stim.Circuit) -> Extent:
    """The extent of a circuit."""
    root = Extent()
    blocks, tagged = [root], []
    # Not recursive: copies of the bodies of blocks are large, and blocks may be 100 deep.
    todo = [(circuit, root)]
    while todo:
        body, block = todo.pop()
        for instruction in body:
            if isinstance(instruction, stim.CircuitRepeatBlock):
                inner = Extent(instruction.repeat_count)
                inner.condition = condition_of_block(instruction) if instruction.tag else None
                inner.is_clifford = inner.condition is None
                blocks.append(inner)
                block.parts.append(inner)
                todo.append((instruction.body_copy(), inner))
            else:
                block.parts.append(instruction)
                if instruction.tag:
                    tagged.append(instruction)
    if any(map(_leaks, tagged)):
        models = leakage_models(tagged)
        for block in blocks:
            block.leaks, block.leakage_models = True, models
    for block in reversed(blocks):  # inner ones come after outer ones
        for part in block.parts:
            if isinstance(part, Extent):
                _add_block(block, part)
            else:
                _add_instruction(block, part)
    return root


def _leaks(instruction: stim.CircuitInstruction) -> bool:
    channel = leakage_of(instruction)
    return channel is not None and may_leak(channel)


def _add_block(extent: Extent, block: Extent) -> None:
    # An empty block takes the time of a target, too.
    extent.targets += block.repetitions * max(1, block.targets)
    kept = 1 if block.becomes_power else block.repetitions
    extent.kept += max(1, block.kept) * kept
    extent.cost += max(_INSTRUCTION_COST, block.cost) * kept
    extent.swept_cost += block.swept_cost * kept
    # Without measurements, noise has the same effect in all iterations, or mostly so.
    extent.faults += block.faults * (block.repetitions if block.measures else 1)
    extent.measures |= block.measures
    extent.rotations += block.repetitions * block.rotations
    extent.has_gates |= block.has_gates
    extent.is_switched |= block.is_switched or block.condition is not None
    extent.instructions += block.repetitions * block.instructions
    extent.ticks += block.repetitions * block.ticks
    extent.coordinates += block.repetitions * block.coordinates
    extent.lines += 2 + block.lines
    extent.qubits |= block.qubits
    extent.is_clifford &= block.is_clifford
    extent.ancillas = max(extent.ancillas, block.ancillas)
    extent.turns.add_block(block.turns, block.repetitions)


def _add_instruction(extent: Extent, instruction: stim.CircuitInstruction) -> None:
    name = instruction.name
    targets = instruction.targets_copy()
    extent.targets += max(1, len(targets))
    extent.kept += max(1, len(targets))
    extent.instructions += 1
    extent.lines += 1
    extent.cost += _INSTRUCTION_COST + len(targets) * _TARGET_COST
    extent.ticks += name == "TICK"
    if instruction.tag and _add_tagged(extent, instruction, targets):
        pass
    elif name not in WITHOUT_EFFECT:
        extent.is_clifford = extent.is_clifford and _is_clifford(name, targets)
        gate = _gate_data(name)
        if gate.is_unitary:
            extent.swept_cost += len(targets) * _SWEPT_GATE_COST
        elif gate.is_reset or gate.produces_measurements:
            extent.cost += len(targets) * _MEASUREMENT_COST
            extent.swept_cost += len(targets) * _SWEPT_MEASUREMENT_COST
            extent.measures |= gate.produces_measurements
            noise = readout_noise_of(instruction) if instruction.tag else None
            if noise is not None and noise.decay and targets:
                _add_rotations(extent, _DECAY_PARTS * len(targets), ancillas=2)
            misread = extent.leakage_models.readouts
            if misread and not misread.keys().isdisjoint(target.value for target in targets):
                _add_rotations(extent, _COPY_PARTS * len(targets), ancillas=READOUT_ANCILLAS)
        elif name in ("DETECTOR", "OBSERVABLE_INCLUDE"):
            extent.cost += _DETECTOR_COST
            extent.coordinates += len(instruction.gate_args_copy()) if name == "DETECTOR" else 0
        if gate.is_noisy_gate and not gate.produces_measurements:
            extent.faults += len(targets) * _HALF_FAULTS.get(name, 2) // 2
            extent.cost += _CORRELATED_ERROR_COST * name.endswith("CORRELATED_ERROR")
    if name not in _WITHOUT_QUBITS:
        extent.qubits.update(qubit for target in targets if (qubit := target.qubit_value) is not None)


def _add_tagged(
    extent: Extent, instruction: stim.CircuitInstruction, targets: Collection[stim.GateTarget]
) -> bool:
    """Adds what the tag of an instruction stands for; whether it stands for anything."""
    if gate_from_tag(instruction) is not None:
        extent.rotations += len(targets)
        extent.has_gates = True
        extent.swept_cost += len(targets) * _ROTATION_COST
        extent.is_clifford = False
    elif (channel := relaxation_of(instruction)) is not None:
        _add_relaxation(extent, channel, len(targets))
        extent.qubits.update(target.value for target in targets)
    elif add_turns(extent.turns, instruction):
        extent.is_clifford = False
        _add_rotations(extent, len(targets), ancillas=0)
        extent.qubits.update(target.value for target in targets)
    elif (kraus := kraus_of(instruction)) is not None:
        extent.is_clifford = False
        groups = len(targets) // kraus.num_qubits
        if kraus.is_pauli_channel:
            extent.faults += len(kraus.twirl) * groups
        elif targets:
            _add_rotations(extent, sum(map(len, kraus.stages)) * groups, ancillas=kraus.num_ancillas + 1)
        extent.qubits.update(target.value for target in targets)
    elif (errors := three_qubit_errors_of(instruction)) is not None:
        extent.is_clifford = False
        extent.faults += len(errors.probabilities) * len(targets) // num_qubits_of_channel(errors)
        extent.qubits.update(target.value for target in targets)
    elif leakage_of(instruction) is not None:
        extent.is_clifford = False
        extent.measures |= instruction.num_measurements > 0
        extent.faults += 2 * len(targets)
        extent.qubits.update(target.value for target in targets)
    elif is_expectation(instruction):
        # It may need the forward sweep, at the place where it stands.
        extent.swept_cost += len(targets) * _SWEPT_MEASUREMENT_COST
        extent.is_clifford = False
    else:
        return False
    return True


def _add_relaxation(extent: Extent, channel: Relaxation, count: int) -> None:
    extent.is_clifford = False
    if channel.dephasing:
        extent.faults += count
    if channel.decay and count:
        _add_rotations(extent, _DECAY_PARTS * count, ancillas=1)


def _add_rotations(extent: Extent, parts: int, ancillas: int) -> None:
    extent.ancillas = max(extent.ancillas, ancillas)
    extent.rotations += parts
    extent.swept_cost += parts * _ROTATION_COST


def _is_clifford(name: str, targets: Iterable[stim.GateTarget]) -> bool:
    if not _gate_data(name).is_unitary or name in (
        "SPP",
        "SPP_DAG",
    ):  # these may be refused, with the line
        return False
    return name not in CONTROLLED_PAULIS or all(target.is_qubit_target for target in targets)


def check_extent(extent: Extent) -> None:
    """Checks that a circuit can be compiled."""
    if extent.seconds > MAX_SECONDS:
        what = f"{extent.targets:,} instruction targets"
        if extent.rotations:
            what += f", {extent.rotations:,} of them of non-Clifford gates,"
        raise ResourceLimitError(
            f"The circuit has {what} once its REPEAT blocks are unrolled. The compiler would follow them for"
            f" {extent.seconds:,} s or more; the limit is {MAX_SECONDS} s. Lower the repeat counts."
        )
    if extent.instructions > MAX_INSTRUCTIONS:
        raise ResourceLimitError(
            f"The circuit has {extent.instructions:,} instructions once its REPEAT blocks are unrolled;"
            f" the limit is {MAX_INSTRUCTIONS:,}. Lower the repeat counts."
        )


def check_number_of_qubits(extent: Extent) -> None:
    """Checks that the forward sweep has room for the tableaus of the qubits, even if nothing connects them.

    To find what does takes long where there are very many.
    """
    if not extent.has_gates or extent.is_switched or extent.leaks:  # there may be no forward sweep
        return
    num_bytes = TABLES_WITH_ROTATIONS * len(extent.qubits) * tableau_bytes(1)
    if num_bytes > MAX_TABLEAU_BYTES:
        raise ResourceLimitError(
            f"The circuit uses {len(extent.qubits):,} qubits: the tables of the compiler need {num_bytes:,}"
            f" bytes or more. The limit is {MAX_TABLEAU_BYTES:,} bytes. Sample the circuit in parts."
        )


def tableau_bytes(num_qubits: int) -> int:
    """Memory in bytes of a tableau."""
    return (-(-num_qubits // 128) * 128) ** 2 // 2


def check_targets(extent: Extent) -> None:
    """Checks that the unrolled circuit is of a size that can be listed."""
    if extent.targets > MAX_TARGETS:
        raise ResourceLimitError(
            f"The circuit has {extent.targets:,} instruction targets once its REPEAT blocks are unrolled;"
            f" the limit is {MAX_TARGETS:,}. Lower the repeat counts."
        )


def check_coordinates(extent: Extent) -> None:
    """Checks that Stim can list the coordinates of the detectors; it crashes where the memory ends."""
    if extent.coordinates > MAX_COORDINATES:
        raise ResourceLimitError(
            f"The detectors of the unrolled circuit have {extent.coordinates:,} coordinates; the limit is"
            f" {MAX_COORDINATES:,}. Lower the repeat counts, or give detectors fewer coordinates."
        )


def check_flattened(circuit: stim.Circuit) -> None:
    """Checks that a circuit is small enough for Stim to unroll it in memory."""
    extent = extent_of(circuit)
    check_targets(extent)
    check_coordinates(extent)


def check_faults(circuit: stim.Circuit, num_outputs: int) -> None:
    """Checks that all faults of a circuit can be listed, each with the outputs that it flips."""
    count = _num_errors(circuit)
    size = count * (FAULT_BYTES + num_outputs // 8)
    if size > MAX_FAULT_BYTES:
        raise ResourceLimitError(
            f"The noise of the circuit can cause {count:,} faults, and a list of these with the"
            f" {num_outputs:,} outputs that they may flip takes {size / 2**30:,.1f} GiB; the"
            f" limit is {MAX_FAULT_BYTES >> 30} GiB. Lower the repeat counts."
        )


def _num_errors(circuit: stim.Circuit) -> int:
    """Number of errors that the noise of a circuit can cause."""
    count = 0
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            count += part.repeat_count * _num_errors(part.body_copy())
        elif (errors := three_qubit_errors_of(part)) is not None:
            groups = len(part.targets_copy()) // num_qubits_of_channel(errors)
            count += groups * len(errors.probabilities)
        elif stim.gate_data(part.name).is_noisy_gate and any(part.gate_args_copy()):
            count += len(part.target_groups()) * _ERRORS.get(part.name, 1)
    return count
