"""The circuit as a flat list of steps: what the compiler's two sweeps read.

Stim's ninety instructions become nine kinds of step. Measurement records have absolute indices, loops
are unrolled, measurements and rotations stand one by one, and sweep bits are zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import stim

from ..dialect import PRODUCT, CliffordPart, NonCliffordGate, RotationPart, gate_from_tag
from ..errors import ResourceLimitError, assert_never
from .channels import Channel, channel_of_patterns
from .clifford_gates import CliffordGate, named_gate, pauli_product_gate
from .paulis import Factors, X, Y, Z, factors_of, pauli_code, product_of

__all__ = [
    "Clifford",
    "CorrelatedError",
    "DetectorStep",
    "Feedback",
    "Measure",
    "Noise",
    "ObservableStep",
    "Program",
    "Reset",
    "Rotate",
    "Step",
    "program_of",
    "unrolled",
]

MAX_TARGETS = 1 << 28
MAX_OUTPUTS = 1 << 24


@dataclass(frozen=True, slots=True)
class Clifford:
    """A Clifford gate, applied to one group of targets after the other."""

    gate: CliffordGate
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Rotate:
    """exp(-i π/2 a P) with ``half_turns`` a, not a multiple of 1/2."""

    factors: Factors
    half_turns: float


@dataclass(frozen=True, slots=True)
class Measure:
    """A Pauli product measurement.

    ``record`` is outcome ⊕ ``inverted`` ⊕ readout flip (with ``flip_probability``). With ``resets``, the
    (single) qubit is then put into the +1 eigenstate of the measured Pauli.
    """

    factors: Factors
    record: int
    inverted: bool
    flip_probability: float
    resets: bool


@dataclass(frozen=True, slots=True)
class Reset:
    """Puts a qubit into the +1 eigenstate of a Pauli (code)."""

    qubit: int
    pauli: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """Applies a Pauli (code) to a qubit if the record is 1."""

    record: int
    qubit: int
    pauli: int


@dataclass(frozen=True, slots=True)
class Noise:
    """A noise channel on each group of targets.

    Bit 2k (2k+1) of the channel's patterns is an X (Z) on target k of the group; with ``herald`` the
    next bit flips the record ``first_herald + (index of the group)``.
    """

    channel: Channel
    groups: tuple[tuple[int, ...], ...]
    first_herald: int | None


@dataclass(frozen=True, slots=True)
class CorrelatedError:
    """A Pauli product that happens with ``probability``, excluding all others of the same ``chain``."""

    chain: int
    probability: float
    factors: Factors


@dataclass(frozen=True, slots=True)
class DetectorStep:
    """Detector ``index`` is the parity of these records."""

    index: int
    records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ObservableStep:
    """Adds records, and Paulis (whose anticommuting faults flip it), to observable ``index``."""

    index: int
    records: tuple[int, ...]
    factors: Factors


Step = (
    Clifford | Rotate | Measure | Reset | Feedback | Noise | CorrelatedError | DetectorStep | ObservableStep
)


@dataclass(frozen=True)
class Program:
    """A circuit as steps.

    Attributes:
        steps: The steps in circuit order.
        lines: For each step, the line of its instruction in the printed circuit, counted from 1.
        instructions: For each step, the number of its instruction among the unrolled ones.
        num_qubits: Qubits 0 to num_qubits - 1 exist.
        num_records: Length of the measurement record.
        num_detectors: Number of detectors.
        num_observables: Number of observables.
        has_non_clifford_gates: Whether any instruction has a tag that reinterprets it.
    """

    steps: list[Step]
    lines: list[int]
    instructions: list[int]
    num_qubits: int
    num_records: int
    num_detectors: int
    num_observables: int
    has_non_clifford_gates: bool


def program_of(circuit: stim.Circuit) -> Program:
    r"""Flattens a tagged circuit.

    Args:
        circuit: A ``stim.Circuit`` in the dialect of ``stim_nonclifford.dialect``.

    Returns:
        Its steps.

    Raises:
        ValueError: A tag is unknown or malformed.
        NotImplementedError: An instruction that this version does not know; names it and its line.
        ResourceLimitError: Unrolled loops would give more than 2^28 targets, or there are more than 2^24
            qubits, measurements, detectors or observables.

    Examples:
        >>> program = program_of(stim.Circuit("H 0\nS[T] 0\nM !0\nDETECTOR rec[-1]"))
        >>> [type(step).__name__ for step in program.steps], program.lines
        (['Clifford', 'Rotate', 'Measure', 'DetectorStep'], [1, 2, 3, 4])
    """
    targets = _count_targets(circuit)
    if targets > MAX_TARGETS:
        raise ResourceLimitError(
            f"The circuit has {targets} instruction targets once its REPEAT blocks are unrolled;"
            f" the limit is {MAX_TARGETS}. Lower the repeat counts."
        )
    for count, what in (
        (circuit.num_detectors, "detectors"),
        (circuit.num_observables, "observables"),
        (circuit.num_measurements, "measurements"),
        (circuit.num_qubits, "qubits"),
    ):
        if count > MAX_OUTPUTS:
            raise ResourceLimitError(f"The circuit has {count} {what}; the limit is {MAX_OUTPUTS}.")
    flattener = _Flattener()
    flattener.add_block(circuit, first_line=1)
    return Program(
        flattener.steps,
        flattener.lines,
        flattener.instructions,
        circuit.num_qubits,
        flattener.num_records,
        circuit.num_detectors,
        circuit.num_observables,
        flattener.has_non_clifford_gates,
    )


def unrolled(circuit: stim.Circuit) -> Iterator[stim.CircuitInstruction]:
    """The instructions of a circuit with loops unrolled, one by one as ``Program.instructions`` counts them.

    Unlike in ``stim.Circuit.flattened``, neighbours are not fused and coordinates stay as they are.
    """
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            body = instruction.body_copy()
            for _ in range(instruction.repeat_count):
                yield from unrolled(body)
        else:
            yield instruction


def _count_targets(circuit: stim.Circuit) -> int:
    count = 0
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            count += instruction.repeat_count * max(1, _count_targets(instruction.body_copy()))
        else:
            count += max(1, len(instruction.targets_copy()))
    return count


def _num_lines(circuit: stim.Circuit) -> int:
    return sum(
        2 + _num_lines(instruction.body_copy()) if isinstance(instruction, stim.CircuitRepeatBlock) else 1
        for instruction in circuit
    )


_PAULI_NOISE = {"X_ERROR": X, "Y_ERROR": Y, "Z_ERROR": Z}
_ORDER_1 = (X, Y, Z)
# PAULI_CHANNEL_2 counts IX, IY, IZ, XI, ... : the second qubit runs fastest.
_ORDER_2 = tuple(a | b << 2 for a in (0, X, Y, Z) for b in (0, X, Y, Z))[1:]
_MEASURED = {
    "M": Z,
    "MX": X,
    "MY": Y,
    "MR": Z,
    "MRX": X,
    "MRY": Y,
    "MXX": X,
    "MYY": Y,
    "MZZ": Z,
}
_RESET = {"R": Z, "RX": X, "RY": Y}
_IGNORED = {"TICK", "QUBIT_COORDS", "SHIFT_COORDS", "I_ERROR", "II_ERROR"}
_FEEDBACK = {"CX": X, "CY": Y, "CZ": Z, "XCZ": X, "YCZ": Y}


class _Flattener:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.lines: list[int] = []
        self.instructions: list[int] = []
        self.num_instructions = 0
        self.num_records = 0
        self.num_detectors = 0
        self.line = 0
        self.has_non_clifford_gates = False
        self.chain = -1
        self.chain_reaches = 1.0  # probability that no error of the chain has happened so far

    def add_block(self, circuit: stim.Circuit, first_line: int) -> None:
        line = first_line
        for instruction in circuit:
            if isinstance(instruction, stim.CircuitRepeatBlock):
                body = instruction.body_copy()
                for _ in range(instruction.repeat_count):
                    self.add_block(body, line + 1)
                line += 2 + _num_lines(body)
                continue
            self.line = line
            self.add_instruction(instruction)
            self.num_instructions += 1
            line += 1

    def emit(self, step: Step) -> None:
        self.steps.append(step)
        self.lines.append(self.line)
        self.instructions.append(self.num_instructions)

    def add_instruction(self, instruction: stim.CircuitInstruction) -> None:
        gate = gate_from_tag(instruction)
        if gate is not None:
            self.has_non_clifford_gates = True
            self.add_non_clifford(instruction, gate)
            return
        name = instruction.name
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(self, instruction)
        elif name in _FEEDBACK:
            self.add_controlled_pauli(instruction)
        elif stim.gate_data(name).is_unitary:
            width = 2 if stim.gate_data(name).is_two_qubit_gate else 1
            self.emit(Clifford(named_gate(name), _groups(instruction, width)))
        elif name not in _IGNORED:
            raise NotImplementedError(
                f"Line {self.line}: `{instruction}`: {name} is not supported by stim_nonclifford."
            )

    # Gates

    def add_non_clifford(self, instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> None:
        parts = gate.definition.decomposition(*gate.half_turns)
        for qubits, product, negative in self.groups_of(instruction, gate.definition.num_targets):
            for part in parts:
                match part:
                    case CliffordPart(name, positions):
                        self.emit(Clifford(named_gate(name), (tuple(qubits[k] for k in positions),)))
                    case RotationPart(pauli, half_turns) if pauli == PRODUCT:
                        self.add_rotation(product, -half_turns if negative else half_turns)
                    case RotationPart(pauli, half_turns):
                        self.add_rotation(tuple((qubits[k], code) for k, code in _codes(pauli)), half_turns)
                    case _:
                        assert_never(part)

    def groups_of(
        self, instruction: stim.CircuitInstruction, size: int | None
    ) -> Iterator[tuple[tuple[int, ...], Factors, bool]]:
        """The groups of targets: ``size`` qubits each, or a Pauli product and whether it is negative."""
        if size is not None:
            for qubits in _groups(instruction, size):
                yield qubits, (), False
            return
        where = f"Line {self.line}: `{instruction}`"
        for group in instruction.target_groups():
            yield (), *product_of(group, where)

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
        pairs: list[tuple[int, int]] = []

        def flush() -> None:
            if pairs:
                self.emit(Clifford(named_gate(instruction.name), tuple(pairs)))
                pairs.clear()

        for a, b in instruction.target_groups():
            if a.is_qubit_target and b.is_qubit_target:
                pairs.append((a.value, b.value))
                continue
            flush()
            classical, qubit = (b, a) if a.is_qubit_target else (a, b)
            target = {"CX": b, "CY": b, "XCZ": a, "YCZ": a}.get(instruction.name)
            if target is not None and not target.is_qubit_target:
                raise ValueError(
                    f"Line {self.line}: `{instruction}`: measurement record editing is not supported: a"
                    " record or sweep bit can control a Pauli gate, but not be its target."
                )
            if classical.is_measurement_record_target and qubit.is_qubit_target:
                record = self.record_of(classical, instruction)
                self.emit(Feedback(record, qubit.value, _FEEDBACK[instruction.name]))
        flush()

    # Measurements

    def add_measurement(self, instruction: stim.CircuitInstruction) -> None:
        name = instruction.name
        arguments = instruction.gate_args_copy()
        flip = arguments[0] if arguments else 0.0
        for group in instruction.target_groups():
            if name == "MPP":
                factors, inverted = product_of(group, f"Line {self.line}: `{instruction}`")
            elif name == "MPAD":
                factors, inverted = (), bool(group[0].value)
            else:
                factors = tuple((target.value, _MEASURED[name]) for target in group)
                inverted = sum(target.is_inverted_result_target for target in group) % 2 == 1
            self.emit(Measure(factors, self.num_records, inverted, flip, name.startswith("MR")))
            self.num_records += 1

    def add_reset(self, instruction: stim.CircuitInstruction) -> None:
        for target in instruction.targets_copy():
            self.emit(Reset(target.value, _RESET[instruction.name]))

    # Noise

    def add_channel(
        self, instruction: stim.CircuitInstruction, width: int, patterns: list[tuple[int, float]]
    ) -> None:
        channel = channel_of_patterns(tuple(patterns))
        self.emit(Noise(channel, _groups(instruction, width), None))

    def add_pauli_error(self, instruction: stim.CircuitInstruction) -> None:
        probability = instruction.gate_args_copy()[0]
        self.add_channel(instruction, 1, [(_PAULI_NOISE[instruction.name], probability)])

    def add_depolarize(self, instruction: stim.CircuitInstruction) -> None:
        width = int(instruction.name[-1])
        order = _ORDER_1 if width == 1 else _ORDER_2
        probability = instruction.gate_args_copy()[0] / len(order)
        self.add_channel(instruction, width, [(pattern, probability) for pattern in order])

    def add_pauli_channel(self, instruction: stim.CircuitInstruction) -> None:
        width = int(instruction.name[-1])
        order = _ORDER_1 if width == 1 else _ORDER_2
        arguments = instruction.gate_args_copy()
        self.add_channel(instruction, width, list(zip(order, arguments, strict=True)))

    def add_heralded(self, instruction: stim.CircuitInstruction) -> None:
        arguments = instruction.gate_args_copy()
        if instruction.name == "HERALDED_ERASE":
            arguments = [arguments[0] / 4] * 4
        herald = 4  # the bit after the X and Z parts of one qubit
        patterns = tuple((herald | p, q) for p, q in zip((0, *_ORDER_1), arguments, strict=True))
        groups = _groups(instruction, 1)
        self.emit(Noise(channel_of_patterns(patterns), groups, self.num_records))
        self.num_records += len(groups)

    def add_correlated_error(self, instruction: stim.CircuitInstruction) -> None:
        # As in Stim's samplers, a chain lasts until the next E, whatever stands in between.
        if instruction.name == "E" or self.chain < 0:
            self.chain += 1
            self.chain_reaches = 1.0
        probability = instruction.gate_args_copy()[0]
        factors = factors_of(instruction.targets_copy())
        self.emit(CorrelatedError(self.chain, self.chain_reaches * probability, factors))
        self.chain_reaches *= 1 - probability

    def record_of(self, target: stim.GateTarget, instruction: stim.CircuitInstruction) -> int:
        """The absolute index of the record that rec[-k] means here."""
        index = self.num_records + target.value
        if not 0 <= index < self.num_records:
            raise ValueError(
                f"Line {self.line}: `{instruction}`: there is no measurement record rec[{target.value}] here;"
                f" there have been {self.num_records} measurements."
            )
        return index

    # Annotations

    def add_detector(self, instruction: stim.CircuitInstruction) -> None:
        records = tuple(self.record_of(target, instruction) for target in instruction.targets_copy())
        self.emit(DetectorStep(self.num_detectors, records))
        self.num_detectors += 1

    def add_observable(self, instruction: stim.CircuitInstruction) -> None:
        targets = instruction.targets_copy()
        records = tuple(self.record_of(t, instruction) for t in targets if t.is_measurement_record_target)
        factors = factors_of(t for t in targets if not t.is_measurement_record_target)
        index = int(instruction.gate_args_copy()[0])
        if index >= MAX_OUTPUTS:
            raise ValueError(
                f"Line {self.line}: `{instruction}`: the index of an observable must be below {MAX_OUTPUTS}."
            )
        self.emit(ObservableStep(index, records, factors))


_HANDLERS: dict[str, Callable[[_Flattener, stim.CircuitInstruction], None]] = {
    **dict.fromkeys(("SPP", "SPP_DAG"), _Flattener.add_spp),
    **dict.fromkeys((*_MEASURED, "MPP", "MPAD"), _Flattener.add_measurement),
    **dict.fromkeys(_RESET, _Flattener.add_reset),
    **dict.fromkeys(_PAULI_NOISE, _Flattener.add_pauli_error),
    **dict.fromkeys(("DEPOLARIZE1", "DEPOLARIZE2"), _Flattener.add_depolarize),
    **dict.fromkeys(("PAULI_CHANNEL_1", "PAULI_CHANNEL_2"), _Flattener.add_pauli_channel),
    **dict.fromkeys(("HERALDED_ERASE", "HERALDED_PAULI_CHANNEL_1"), _Flattener.add_heralded),
    **dict.fromkeys(("E", "ELSE_CORRELATED_ERROR"), _Flattener.add_correlated_error),
    "DETECTOR": _Flattener.add_detector,
    "OBSERVABLE_INCLUDE": _Flattener.add_observable,
}


@cache
def _codes(pauli: str) -> tuple[tuple[int, int], ...]:
    """Of ``"Z_X"`` and the like, the positions of the letters and their codes."""
    return tuple((k, pauli_code(letter)) for k, letter in enumerate(pauli) if letter != "_")


def _groups(instruction: stim.CircuitInstruction, width: int) -> tuple[tuple[int, ...], ...]:
    values = [target.value for target in instruction.targets_copy()]
    return tuple(_chunks(values, width))


def _chunks(values: list[int], width: int) -> Iterator[tuple[int, ...]]:
    return (tuple(values[k : k + width]) for k in range(0, len(values), width))
