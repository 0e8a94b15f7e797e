"""Reads and writes circuits of Cirq.

``stimcirq``, Stim's own converter, does what is Stim's: Clifford gates, noise, measurements, detectors. It
keeps tags in both directions. Here, Cirq's non-Clifford gates become those of this package, and back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import stim

from ...dialect import (
    CONDITIONAL_CARRIER,
    CliffordPart,
    NonCliffordGate,
    channel_of,
    gate_from_tag,
    is_expectation,
    parse,
    readout_noise_of,
)
from .angles import snapped
from .builder import CircuitBuilder, Literal, not_
from .packages import needed
from .steps import Gate, Phase, Step, controlled, phase_gate, text_of

__all__ = ["cirq_of", "read_cirq"]


def read_cirq(circuit: Any) -> stim.Circuit:
    """The circuit with tagged gates of a ``cirq.Circuit``.

    Args:
        circuit: The circuit, without parameters.

    Raises:
        ImportError: Cirq or stimcirq is not installed.
        TypeError: It is no ``cirq.Circuit``.
        ValueError: Something has no counterpart; the message names the operation.
    """
    cirq, stimcirq = _packages("from_cirq")
    if not isinstance(circuit, cirq.AbstractCircuit):
        raise TypeError(f"circuit must be a cirq.Circuit, but has type {type(circuit).__name__}.")
    return _Reader(cirq, stimcirq, circuit).builder.circuit()


def cirq_of(circuit: stim.Circuit) -> Any:
    """The ``cirq.Circuit`` of a circuit with tagged gates; see ``Circuit.to_cirq``.

    Raises:
        ImportError: Cirq or stimcirq is not installed.
        ResourceLimitError: The loops of the circuit are too long.
        ValueError: A gate has no counterpart.
    """
    cirq, stimcirq = _packages("to_cirq")
    written = stimcirq.stim_circuit_to_cirq_circuit(_writable(circuit))
    return cirq.map_operations(written, functools.partial(_with_gate_of_cirq, cirq), deep=True)


def _packages(what: str) -> tuple[Any, Any]:
    package = "stimcirq>=1.16"
    return needed("cirq", what, package, "cirq"), needed("stimcirq", what, package, "cirq")


class _Reader:
    def __init__(self, cirq: Any, stimcirq: Any, circuit: Any) -> None:
        self.builder = CircuitBuilder()
        self._cirq, self._stimcirq = cirq, stimcirq
        qubits = sorted(circuit.all_qubits())
        if all(isinstance(each, cirq.LineQubit) and each.x >= 0 for each in qubits):
            self._indices = {each: each.x for each in qubits}
        else:
            self._indices = {each: k for k, each in enumerate(qubits)}
        self.builder.new_qubits(max(self._indices.values(), default=-1) + 1)
        self._records: dict[str, list[Literal]] = {}
        self._write_coordinates(qubits)
        for moment in circuit:
            # Detectors act on no qubits, and may stand before the measurements of their moment.
            for operation in sorted(moment, key=lambda each: not each.qubits):
                try:
                    self._execute(operation)
                except (ValueError, TypeError) as error:
                    raise ValueError(f"`{operation}`: {error}") from None
            self.builder.barrier()

    def _write_coordinates(self, qubits: Sequence[Any]) -> None:
        for qubit in qubits:
            if isinstance(qubit, self._cirq.GridQubit):
                self.builder.append(f"QUBIT_COORDS({qubit.row}, {qubit.col}) {self._indices[qubit]}")

    def _execute(self, operation: Any) -> None:
        cirq, builder = self._cirq, self.builder
        controls = operation.classical_controls
        if controls:
            conditions = [self._condition(each) for each in controls]
            with builder.condition(builder.all_of(conditions)):
                self._execute(operation.without_classical_controls())
            return
        qubits = [self._indices[each] for each in operation.qubits]
        if isinstance(operation.untagged, cirq.CircuitOperation):
            for inner in operation.untagged.mapped_circuit(deep=True).all_operations():
                self._execute(inner)
        elif isinstance(operation.gate, cirq.MeasurementGate):
            key, inverted = cirq.measurement_key_name(operation), operation.gate.full_invert_mask()
            measured = zip(qubits, inverted, strict=True)
            self._records[key] = [builder.measure(qubit, inverted=flip) for qubit, flip in measured]
        elif isinstance(operation.gate, cirq.ResetChannel) and operation.gate.dimension == 2:
            builder.reset(qubits)
        else:
            tag = self._as_tagged(operation)
            steps = None if tag else self._steps(operation)
            if steps is not None:
                builder.apply(steps)
            else:
                records = builder.append(tag or self._as_stim(self._with_relative_keys(operation)))
                # stimcirq's own measurements have a key that Cirq does not know.
                key = str(getattr(operation.gate, "key", ""))
                for name in cirq.measurement_key_names(operation) or {key} if records else ():
                    self._records[name] = records

    def _with_relative_keys(self, operation: Any) -> Any:
        """An operation; a detector or an observable with records counted from its place, in place of keys."""
        inner, stimcirq = operation.untagged, self._stimcirq
        if not isinstance(inner, stimcirq.DetAnnotation | stimcirq.CumulativeObservableAnnotation):
            return operation
        records = set(inner.relative_keys)
        for key in inner.parity_keys:
            if key not in self._records:
                raise ValueError(f"nothing before it was measured with the key {key}.")
            records ^= {self.builder.relative(record) for record in self._records[key]}
        if isinstance(inner, stimcirq.DetAnnotation):
            found = stimcirq.DetAnnotation(
                relative_keys=records, coordinate_metadata=inner.coordinate_metadata
            )
        else:
            found = stimcirq.CumulativeObservableAnnotation(
                relative_keys=records, pauli_keys=inner.pauli_keys, observable_index=inner.observable_index
            )
        return found.with_tags(*operation.tags)

    def _as_tagged(self, operation: Any) -> str:
        """The text of an operation whose tag stands for a gate of this package; empty if there is none."""
        if not any(isinstance(tag, str) for tag in operation.tags):
            return ""
        try:
            text = self._as_stim(operation)
            found = [gate_from_tag(part) for part in stim.Circuit(text)]
        except (ValueError, TypeError):
            return ""
        return text if any(found) else ""

    def _as_stim(self, operation: Any) -> str:
        """What stimcirq makes of an operation."""
        written = self._stimcirq.cirq_circuit_to_stim_circuit(
            self._cirq.Circuit(operation), qubit_to_index_dict=self._indices
        )
        skipped = ("TICK", "QUBIT_COORDS")
        return "\n".join(str(part) for part in written if part.name not in skipped)

    def _condition(self, condition: Any) -> Literal:
        if not isinstance(condition, self._cirq.KeyCondition):
            raise ValueError("only conditions on a key have a counterpart here.")
        records = self._records.get(condition.key.name)
        if records is None:
            raise ValueError(f"nothing before it was measured with the key {condition.key.name}.")
        return not_(self.builder.all_of([not_(each) for each in records]))

    def _steps(self, operation: Any) -> list[Step] | None:
        """The steps of a unitary; None if stimcirq has to say what it is."""
        cirq = self._cirq
        qubits = [self._indices[each] for each in operation.qubits]
        gate = operation.gate
        if type(operation.untagged).__module__.startswith("stimcirq"):
            return None
        if isinstance(operation.untagged, cirq.ControlledOperation):
            return self._controlled_steps(operation.untagged)
        if isinstance(operation.untagged, cirq.PauliStringPhasor):
            return self._phasor_steps(operation.untagged)
        if isinstance(gate, cirq.IdentityGate):
            return []
        if isinstance(gate, cirq.GlobalPhaseGate):
            return []
        found = self._steps_of_power(gate, qubits)
        if found is not None:
            return found
        if type(gate).__module__.startswith("stimcirq") or not cirq.has_unitary(operation):
            return None
        parts = cirq.decompose_once(operation, default=None)
        if parts is None:
            return None
        steps: list[Step] = []
        for part in parts:
            inner = self._steps(part)
            if inner is None:
                return None
            steps += inner
        return steps

    def _steps_of_power(self, gate: Any, qubits: Sequence[int]) -> list[Step] | None:
        """The steps of a power of a gate that Cirq has."""
        cirq = self._cirq
        exponent = getattr(gate, "exponent", None)
        if not isinstance(exponent, int | float):
            return None
        turns = snapped(float(exponent))
        phase = Phase(turns * getattr(gate, "global_shift", 0.0))
        rotations: dict[Any, str] = {cirq.XXPowGate: "XX", cirq.YYPowGate: "YY", cirq.ZZPowGate: "ZZ"}
        # Rotations first: rx is a power of X with another phase.
        for kind, paulis in rotations.items():
            if isinstance(gate, kind):
                return [Gate("R_PAULI", tuple(qubits), (turns,), paulis), Phase(turns / 2), phase]
        if isinstance(gate, cirq.ZPowGate):
            return [*phase_gate(turns, qubits[0]), phase]
        if isinstance(gate, cirq.XPowGate | cirq.YPowGate):
            return [
                *_power_of_pauli("X" if isinstance(gate, cirq.XPowGate) else "Y", turns, qubits[0]),
                phase,
            ]
        if isinstance(gate, cirq.HPowGate) and turns % 2 == 1:
            return [Gate("H", tuple(qubits)), phase]
        inner: Callable[[], list[Step]] | None = None
        if isinstance(gate, cirq.CZPowGate | cirq.CCZPowGate):
            inner = functools.partial(phase_gate, turns, qubits[-1])
        elif isinstance(gate, cirq.CXPowGate | cirq.CCXPowGate):
            inner = functools.partial(_power_of_pauli, "X", turns, qubits[-1])
        if inner is None:
            return None
        return [*functools.reduce(controlled, qubits[:-1], inner()), phase]

    def _controlled_steps(self, operation: Any) -> list[Step] | None:
        inner_operation = operation.sub_operation
        values = list(operation.control_values.expand())
        if len(values) == 1:
            qubits = [self._indices[each] for each in inner_operation.qubits]
            inner = self._steps_of_power(inner_operation.gate, qubits)
            if inner is not None:
                controls = [self._indices[each] for each in operation.controls]
                flips: list[Step] = [
                    Gate("X", (control,))
                    for control, value in zip(controls, values[0], strict=True)
                    if not value
                ]
                return [*flips, *functools.reduce(controlled, controls, inner), *flips]
        # Cirq's own decomposition: that of the operation without controls may have lost a phase.
        parts = self._cirq.decompose_once(operation, default=None)
        found = [self._steps(part) for part in parts or []]
        if not found or any(each is None for each in found):
            raise ValueError("Cirq does not decompose it. Write it with gates that Cirq decomposes.")
        return [step for steps in found for step in steps or []]

    def _phasor_steps(self, operation: Any) -> list[Step]:
        string = operation.pauli_string
        turns = snapped(float(operation.exponent_neg - operation.exponent_pos))
        if string.coefficient == -1:
            turns = -turns
        elif string.coefficient != 1:
            raise ValueError("its Pauli string has a coefficient that is not 1 or -1.")
        factors = [(self._indices[qubit], str(pauli)) for qubit, pauli in string.items()]
        if not factors:
            return []
        qubits, letters = zip(*factors, strict=True)
        return [Gate("R_PAULI", qubits, (turns,), "".join(letters))]


def _power_of_pauli(pauli: str, turns: float, qubit: int) -> list[Step]:
    """The power of X or Y whose eigenvalue of |+⟩ is 1."""
    if turns % 2 == 1:
        return [Gate(pauli, (qubit,))]
    return [Gate(f"R_{pauli}", (qubit,), (turns,)), Phase(turns / 2)]


def _writable(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit with all gates on one or two qubits, or about products, without expectation values."""
    result = stim.Circuit()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            result.append(
                stim.CircuitRepeatBlock(part.repeat_count, _writable(part.body_copy()), tag=part.tag)
            )
            continue
        gate = gate_from_tag(part)
        if is_expectation(part):
            continue
        if channel_of(part) is not None or readout_noise_of(part) is not None:
            raise ValueError(
                f"`{part}`: stimcirq has no relaxation and no leakage, and no readout noise that depends on"
                " the outcome. Write the circuit with its Pauli twirl, circuit.pauli_twirl(), or"
                " circuit.without_noise()."
            )
        if gate is None:
            result.append(part)
        elif part.name == CONDITIONAL_CARRIER:
            raise ValueError(f"`{part}`: Cirq has no such gate controlled by a record.")
        elif (gate.definition.num_targets or 1) > 2:
            result += _as_rotations(gate, [target.value for target in part.targets_copy()])
        else:
            result.append(part)
    return result


def _as_rotations(gate: NonCliffordGate, targets: Sequence[int]) -> stim.Circuit:
    """CCX or CCZ as rotations about products."""
    size = gate.definition.num_targets or 1
    lines = []
    for k in range(0, len(targets), size):
        for piece in gate.definition.decomposition(*gate.half_turns):
            assert not isinstance(piece, CliffordPart)
            factors = [(targets[k + j], letter) for j, letter in enumerate(piece.pauli) if letter != "_"]
            qubits, letters = zip(*factors, strict=True)
            lines.append(text_of(Gate("R_PAULI", qubits, (piece.half_turns,), "".join(letters))))
    return parse("\n".join(lines))


def _with_gate_of_cirq(cirq: Any, operation: Any, _moment: int) -> Any:
    """An operation of stimcirq; if its tag stands for a gate, that of Cirq."""
    for tag in operation.tags:
        gate = _gate_of(operation, tag, cirq)
        if gate is None:
            continue
        name, turns = gate.name, gate.half_turns
        if isinstance(operation.untagged, cirq.PauliStringPhasor):
            [piece] = gate.definition.decomposition(*turns)
            assert not isinstance(piece, CliffordPart)
            string = operation.untagged.pauli_string
            angle = piece.half_turns
            return cirq.PauliStringPhasor(string, exponent_neg=angle / 2, exponent_pos=-angle / 2)
        if name == "U3":
            theta, phi, lambda_ = turns
            matrix = functools.reduce(
                lambda found, each: cirq.unitary(each) @ found,
                (_turn(cirq, "Z", lambda_), _turn(cirq, "Y", theta), _turn(cirq, "Z", phi)),
                cirq.unitary(cirq.I),
            )
            return cirq.PhasedXZGate.from_matrix(matrix).on(*operation.qubits)
        return _written_gate(cirq, name, turns).on(*operation.qubits)
    return operation


def _gate_of(operation: Any, tag: Any, cirq: Any) -> NonCliffordGate | None:
    """The gate for which a tag stands."""
    if not isinstance(tag, str):
        return None
    carriers = {1: ("S", "S_DAG", "I"), 2: ("II",)}
    if isinstance(operation.untagged, cirq.PauliStringPhasor):
        negative = operation.untagged.exponent_neg < operation.untagged.exponent_pos
        instruction = stim.CircuitInstruction("SPP_DAG" if negative else "SPP", [stim.target_x(0)], tag=tag)
        return gate_from_tag(instruction)
    number = len(operation.qubits)
    if number == 1 and operation.gate in (cirq.S, cirq.S**-1):
        name = "S" if operation.gate == cirq.S else "S_DAG"
    elif isinstance(operation.gate, cirq.IdentityGate) or number == 2:
        name = carriers.get(number, ("",))[-1]
    else:
        return None
    try:
        return gate_from_tag(stim.CircuitInstruction(name, range(number), tag=tag)) if name else None
    except ValueError:
        return None  # a note on another instruction


def _turn(cirq: Any, pauli: str, half_turns: float) -> Any:
    kind = {"X": cirq.XPowGate, "Y": cirq.YPowGate, "Z": cirq.ZPowGate}[pauli]
    return kind(exponent=half_turns, global_shift=-0.5)


def _written_gate(cirq: Any, name: str, turns: Sequence[float]) -> Any:
    phases = {"CS": 0.5, "CS_DAG": -0.5, "CT": 0.25, "CT_DAG": -0.25}
    pairs = {"R_XX": cirq.XXPowGate, "R_YY": cirq.YYPowGate, "R_ZZ": cirq.ZZPowGate}
    if name in ("T", "T_DAG"):
        return cirq.T if name == "T" else cirq.T**-1
    if name in phases:
        return cirq.CZPowGate(exponent=phases[name])
    if name in pairs:
        return pairs[name](exponent=turns[0], global_shift=-0.5)
    if name == "CH":
        return cirq.ControlledGate(cirq.H)
    return _turn(cirq, name.removeprefix("R_"), turns[0])
