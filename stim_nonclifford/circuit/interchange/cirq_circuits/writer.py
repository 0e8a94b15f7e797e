"""Writes circuits for Cirq, with gates, measurements and channels that its simulators know."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import stim

from ....base.written_circuits import instructions_in, without_tag
from ....dialect import (
    CONDITIONAL_CARRIER,
    GATES,
    NonCliffordGate,
    RotationPart,
    channel_of,
    gate_from_tag,
    groups_of_pairs,
    is_expectation,
    readout_noise_of,
)
from ....simulation.compiler.program.loops import unrolled
from ...logical_states.operators import pauli_product
from .channels import channel_operations, confusion_of
from .gates import cirq, cirq_gate, stimcirq

_INTO_Z = {"X": cirq.H, "Y": cirq.X**0.5}
_OUT_OF_Z = {"X": cirq.H, "Y": cirq.X**-0.5}
_RESETS = {"R": "Z", "RX": "X", "RY": "Y"}
_MEASUREMENTS = {"M": "Z", "MX": "X", "MY": "Y"}
_MEASURED_RESETS = {"MR": "Z", "MRX": "X", "MRY": "Y"}
_PAIRS = {"MXX": "XX", "MYY": "YY", "MZZ": "ZZ"}
_PAULIS = {"X": cirq.X, "Y": cirq.Y, "Z": cirq.Z}
_FEEDBACK = {"CX": "X", "CY": "Y", "CZ": "Z", "XCZ": "X", "YCZ": "Y"}
_CHAIN = ("E", "ELSE_CORRELATED_ERROR")
_HERALDED = ("HERALDED_ERASE", "HERALDED_PAULI_CHANNEL_1")


def cirq_of(circuit: stim.Circuit) -> Any:
    """The ``cirq.Circuit`` of a circuit with tagged gates; see ``Circuit.to_cirq``."""
    if any(
        part.name in (*_FEEDBACK, CONDITIONAL_CARRIER)
        and any(target.is_measurement_record_target for target in part.targets_copy())
        for part in instructions_in(circuit)
    ):
        # A key of a loop stands for the last iteration, so that no record of another one can be named.
        flat = stim.Circuit()
        for instruction in unrolled(circuit):
            flat.append(instruction)
        circuit = flat
    writer = _Writer(_qubits_of(circuit), 0, has_loops=False)
    writer.write(circuit)
    return writer.result()


def _qubits_of(circuit: stim.Circuit) -> list[Any]:
    """The qubits, by their numbers, and one more for constant records."""
    coordinates = circuit.get_final_qubit_coordinates()
    kinds = {1: cirq.LineQubit, 2: cirq.GridQubit}
    qubits = [cirq.LineQubit(k) for k in range(circuit.num_qubits)]
    placed = list(qubits)
    for number, values in coordinates.items():
        if len(values) in kinds and number < len(placed):
            placed[number] = kinds[len(values)](*(int(x) if x == int(x) else x for x in values))
    if len(set(placed)) == len(placed) and placed != qubits:
        return [*placed, cirq.NamedQubit("pad")]
    return [*qubits, cirq.LineQubit(len(qubits))]


class _Writer:
    """Writes a circuit or the body of a loop; the last of the qubits stays in |0>.

    After a loop, keys do not name records.
    """

    def __init__(self, qubits: Sequence[Any], first_record: int, *, has_loops: bool) -> None:
        self._qubits = qubits
        self._moments: list[Any] = []
        self._current: list[Any] = []
        self._chain: list[tuple[float, stim.PauliString]] = []
        self._chain_tag = ""
        self._has_loops = has_loops
        self.num_records = first_record

    def result(self) -> Any:
        """The circuit."""
        self._close_chain()
        self._close_moment()
        return cirq.Circuit(self._moments)

    def write(self, circuit: stim.Circuit) -> None:
        """Writes all instructions."""
        for part in circuit:
            if isinstance(part, stim.CircuitRepeatBlock):
                self._close_chain()
                self._loop(part)
            else:
                if part.name != "ELSE_CORRELATED_ERROR":
                    self._close_chain()
                self._instruction(part)

    def _loop(self, block: stim.CircuitRepeatBlock) -> None:
        self._close_moment()
        body = _Writer(self._qubits, self.num_records, has_loops=True)
        body.write(block.body_copy())
        operation = cirq.CircuitOperation(
            body.result().freeze(), repetitions=block.repeat_count, use_repetition_ids=False
        )
        self._put(operation, block.tag)
        self._close_moment()
        self._has_loops = True
        self.num_records += (body.num_records - self.num_records) * block.repeat_count

    def _close_moment(self) -> None:
        if self._current:
            self._moments.append(cirq.Moment(self._current))
            self._current = []

    def _put(self, operation: Any, tag: str = "") -> None:
        """Puts an operation into the current moment, or into a new one if it has to come later."""
        taken = {qubit for each in self._current for qubit in each.qubits}
        keys = {key for each in self._current for key in cirq.measurement_key_objs(each)}
        if taken & set(operation.qubits) or keys & set(cirq.control_keys(operation)):
            self._close_moment()
        self._current.append(operation.with_tags(tag) if tag else operation)

    def _product(self, targets: Sequence[stim.GateTarget]) -> stim.PauliString:
        return pauli_product(targets, len(self._qubits))

    def _new_key(self) -> str:
        self.num_records += 1
        return str(self.num_records - 1)

    def _instruction(self, part: stim.CircuitInstruction) -> None:
        name, tag = part.name, part.tag
        if is_expectation(part):
            return
        if name == "TICK":
            self._moments.append(cirq.Moment(self._current, tags=(tag,) if tag else ()))
            self._current = []
            return
        channel, gate = channel_of(part), gate_from_tag(part)
        if channel is not None:
            for operation in channel_operations(part, channel):
                self._put(operation.with_qubits(*(self._qubits[each.x] for each in operation.qubits)))
        elif gate is not None:
            self._non_clifford(part, gate)
        elif name in _CHAIN:
            self._chain.append((part.gate_args_copy()[0], self._product(part.targets_copy())))
            self._chain_tag = tag
        elif name in ("DETECTOR", "OBSERVABLE_INCLUDE", "SHIFT_COORDS"):
            self._annotation(part)
        elif stim.gate_data(name).produces_measurements and name not in _HERALDED:
            self._measurement(part)
        elif name in _RESETS:
            for target in part.targets_copy():
                self._reset(target.value, _RESETS[name], tag)
        elif name in ("SPP", "SPP_DAG"):
            for group in part.target_groups():
                self._phasor(self._product(group), 0.5 if name == "SPP" else -0.5, tag)
        elif stim.gate_data(name).is_unitary:
            self._unitary(part)
        elif name in _HERALDED:
            raise ValueError(
                f"`{part}`: Cirq has no channel with a herald. Write circuit.without_noise(), or the channel"
                " without its herald, such as DEPOLARIZE1."
            )
        elif name != "QUBIT_COORDS":
            self._noise(part)

    def _annotation(self, part: stim.CircuitInstruction) -> None:
        arguments, targets = part.gate_args_copy(), part.targets_copy()
        if part.name == "SHIFT_COORDS":
            self._put(stimcirq.ShiftCoordsAnnotation(arguments), part.tag)
            return
        values = [target.value for target in targets if target.is_measurement_record_target]
        # A record that is there twice is not there at all.
        values = [value for value in dict.fromkeys(values) if values.count(value) % 2]
        records: dict[str, Any] = {"relative_keys": values}
        if not self._has_loops:
            records = {"parity_keys": [str(self.num_records + value) for value in values]}
        if part.name == "DETECTOR":
            coordinates = [int(x) if x == int(x) else x for x in arguments]
            self._put(stimcirq.DetAnnotation(**records, coordinate_metadata=coordinates), part.tag)
            return
        paulis = [f"{each.pauli_type}{each.value}" for each in targets if each.pauli_type != "I"]
        self._put(
            stimcirq.CumulativeObservableAnnotation(
                **records, pauli_keys=paulis, observable_index=int(arguments[0])
            ),
            part.tag,
        )

    def _measurement(self, part: stim.CircuitInstruction) -> None:
        name, arguments, noise = part.name, part.gate_args_copy(), readout_noise_of(part)
        flips = (noise.p01, noise.p10) if noise else (arguments[0],) * 2 if arguments else (0.0, 0.0)
        tag = "" if noise else part.tag
        for group in part.target_groups():
            inverted = sum(target.is_inverted_result_target for target in group) % 2 == 1
            if name == "MPAD":
                self._measure(len(self._qubits) - 1, inverted ^ bool(group[0].value), flips, tag)
            elif name in _MEASURED_RESETS:
                [target], basis = group, _MEASURED_RESETS[name]
                if basis in _INTO_Z:
                    self._put(_INTO_Z[basis].on(self._qubits[target.value]))
                self._measure(target.value, inverted, flips, tag)
                self._reset(target.value, basis, "")
            elif name == "M":
                self._measure(group[0].value, inverted, flips, tag)
            else:
                letters = _MEASUREMENTS.get(name) or _PAIRS.get(name)
                if letters is not None:
                    group = [
                        stim.target_pauli(target.value, letter, target.is_inverted_result_target)
                        for target, letter in zip(group, letters, strict=True)
                    ]
                self._measure_product(self._product(group), flips, tag)

    def _measure(self, qubit: int, inverted: bool, flips: tuple[float, ...], tag: str) -> None:
        p01, p10 = flips
        gate = cirq.MeasurementGate(
            1,
            key=self._new_key(),
            invert_mask=(True,) if inverted else (),
            confusion_map=confusion_of(p01, p10),
        )
        self._put(gate.on(self._qubits[qubit]), tag)

    def _measure_product(self, product: stim.PauliString, flips: tuple[float, ...], tag: str) -> None:
        places, inverted = product.pauli_indices(), product.sign == -1
        letters = ["IXYZ"[product[k]] for k in places]
        if not places:
            self._measure(len(self._qubits) - 1, inverted, flips, tag)
            return
        qubits = [self._qubits[k] for k in places]
        if not any(flips):
            observable = cirq.DensePauliString("".join(letters), coefficient=-1 if inverted else 1)
            self._put(cirq.PauliMeasurementGate(observable, key=self._new_key()).on(*qubits), tag)
            return
        # Cirq's measurements of products have no confusion map: the parity is moved to the last qubit.
        pairs = list(itertools.pairwise(qubits))
        basis = [(letter, qubit) for letter, qubit in zip(letters, qubits, strict=True) if letter in _INTO_Z]
        for letter, qubit in basis:
            self._put(_INTO_Z[letter].on(qubit))
        for first, second in pairs:
            self._put(cirq.CNOT(first, second))
        self._measure(places[-1], inverted, flips, tag)
        for first, second in reversed(pairs):
            self._put(cirq.CNOT(first, second))
        for letter, qubit in basis:
            self._put(_OUT_OF_Z[letter].on(qubit))

    def _reset(self, number: int, basis: str, tag: str) -> None:
        qubit = self._qubits[number]
        self._put(cirq.ResetChannel().on(qubit), tag)
        if basis in _OUT_OF_Z:
            self._put(_OUT_OF_Z[basis].on(qubit))

    def _unitary(self, part: stim.CircuitInstruction) -> None:
        name, tag = part.name, part.tag
        for group in part.target_groups():
            bits = [target for target in group if not target.is_qubit_target]
            qubits = [self._qubits[target.value] for target in group if target.is_qubit_target]
            if not bits:
                self._put(cirq_gate(name).on(*qubits), tag)
                continue
            if not qubits:
                continue  # a bit that controls a bit does nothing
            pauli = _PAULIS[_FEEDBACK[name]]
            [bit] = bits
            if bit.is_sweep_bit_target:
                gate = stimcirq.SweepPauli(stim_sweep_bit_index=bit.value, pauli=pauli)
                self._put(gate.on(*qubits), tag)
            else:
                self._put(pauli.on(*qubits).with_classical_controls(str(self.num_records + bit.value)), tag)

    def _non_clifford(self, part: stim.CircuitInstruction, gate: NonCliffordGate) -> None:
        targets, tag = part.targets_copy(), gate.user_tag
        if part.name == CONDITIONAL_CARRIER:
            for group in groups_of_pairs(gate.definition, targets):
                self._conditional(part, gate, group)
        elif gate.definition.num_targets is None:
            [piece] = gate.definition.decomposition(*gate.half_turns)
            assert isinstance(piece, RotationPart)
            for product in part.target_groups():
                self._phasor(self._product(product), piece.half_turns, tag)
        else:
            size = gate.definition.num_targets
            for k in range(0, len(targets), size):
                qubits = [self._qubits[target.value] for target in targets[k : k + size]]
                self._put(cirq_gate(gate.name, gate.half_turns).on(*qubits), tag)

    def _phasor(self, product: stim.PauliString, half_turns: float, tag: str) -> None:
        places = product.pauli_indices()
        if not places:
            return  # a global phase
        gate = _rotation("".join("IXYZ"[product[k]] for k in places), half_turns * product.sign.real)
        self._put(gate.on(*(self._qubits[k] for k in places)), tag)

    def _conditional(
        self, part: stim.CircuitInstruction, gate: NonCliffordGate, group: Sequence[stim.GateTarget]
    ) -> None:
        bits = [target for target in group if not target.is_qubit_target]
        qubits = [self._qubits[target.value] for target in group if target.is_qubit_target]
        if any(bit.is_sweep_bit_target for bit in bits):
            raise ValueError(
                f"`{part}`: of the gates that a sweep bit controls, stimcirq has the Paulis only. Write its"
                " values into the circuit: X or I in the place of each bit."
            )
        name = gate.name.removeprefix("C_") if gate.name.startswith("C_") else gate.name[len(bits) :]
        letters = name.removeprefix("R_")
        is_own = letters != name and name not in GATES
        inner = _rotation(letters, *gate.half_turns) if is_own else cirq_gate(name, gate.half_turns)
        keys = [str(self.num_records + bit.value) for bit in bits]
        self._put(inner.on(*qubits).with_classical_controls(*keys), gate.user_tag)

    def _noise(self, part: stim.CircuitInstruction) -> None:
        arguments = part.gate_args_copy()
        if part.name in ("I_ERROR", "II_ERROR") and len(arguments) == 1:  # stimcirq's have no matrix
            for group in part.target_groups():
                identity = cirq.IdentityGate(len(group))
                gate = cirq.RandomGateChannel(sub_gate=identity, probability=arguments[0])
                self._put(gate.on(*(self._qubits[target.value] for target in group)), part.tag)
            return
        plain = without_tag(part)
        written = stimcirq.stim_circuit_to_cirq_circuit(stim.Circuit(str(plain)))
        for operation in written.all_operations():
            self._put(operation.with_qubits(*(self._qubits[each.x] for each in operation.qubits)), part.tag)

    def _close_chain(self) -> None:
        """Writes correlated errors that exclude each other as one channel."""
        if not self._chain:
            return
        chain, self._chain = self._chain, []
        places = sorted({k for _, product in chain for k in product.pauli_indices()})
        qubits = [self._qubits[k] for k in places]
        probabilities: dict[str, float] = {}
        left = 1.0
        for probability, product in chain:
            word = "".join("IXYZ"[product[k]] for k in places)
            probabilities[word] = probabilities.get(word, 0.0) + left * probability
            left *= 1 - probability
        if not places:
            return
        if len(chain) == 1:
            [(word, probability)] = probabilities.items()
            self._put(cirq.DensePauliString(word).on(*qubits).with_probability(probability), self._chain_tag)
            return
        identity = "I" * len(places)
        probabilities[identity] = probabilities.get(identity, 0.0) + left
        gate = cirq.asymmetric_depolarize(error_probabilities=probabilities)
        self._put(gate.on(*qubits), self._chain_tag)


def _rotation(letters: str, half_turns: float) -> Any:
    """The gate that rotates about a product of Paulis."""
    string = cirq.DensePauliString(letters)
    return cirq.PauliStringPhasorGate(string, exponent_neg=half_turns / 2, exponent_pos=-half_turns / 2)
