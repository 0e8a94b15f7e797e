"""The state vector of a small circuit, to look at what a circuit does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt
import stim

from ..base.arguments import choice
from ..base.errors import ResourceLimitError
from ..dialect import (
    CONDITIONAL_CARRIER,
    PRODUCT,
    CliffordPart,
    NonCliffordGate,
    channel_of,
    gate_from_tag,
    groups_of_pairs,
    is_expectation,
)
from .compiler.program.extent import check_targets, extent_of

Vector = npt.NDArray[np.complex128]
Product = Sequence[tuple[int, str]]
"""A product of Paulis: qubits and letters."""

_MOST_QUBITS = 20
_CERTAIN = 1e-9
"""A probability that is nearer to 0 or 1 is that, but for rounding."""

_PAULIS = {
    "X": np.array([[0, 1], [1, 0]], dtype=np.complex128),
    "Y": np.array([[0, -1j], [1j, 0]]),
    "Z": np.array([[1, 0], [0, -1]], dtype=np.complex128),
}
_WITHOUT_EFFECT = frozenset({"DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS", "TICK"})


def state_vector_of(circuit: stim.Circuit, endian: Literal["little", "big"]) -> Vector:
    """The state after a noiseless circuit of at most 20 qubits: complex128, shape (2^num_qubits,).

    Qubit 0 is the least (``"little"``) or the most significant bit of an index.
    """
    endian = choice(endian, "endian", ("little", "big"))
    num_qubits = circuit.num_qubits
    if num_qubits > _MOST_QUBITS:
        raise ResourceLimitError(
            f"The state of {num_qubits} qubits has 2^{num_qubits} amplitudes; the limit is"
            f" 2^{_MOST_QUBITS}. The number of qubits is one more than the largest index: number them"
            " from 0, without gaps, or ask for EXP_VAL of the Paulis that matter."
        )
    check_targets(extent_of(circuit))
    state = _State(num_qubits)
    _run(circuit, state)
    tensor = state.tensor
    if endian == "big":
        tensor = tensor.transpose(range(num_qubits - 1, -1, -1))
    return _with_positive_phase(np.ascontiguousarray(tensor).reshape(-1))


class _State:
    """A state vector and the records. Axis k of the tensor is qubit num_qubits - 1 - k."""

    def __init__(self, num_qubits: int) -> None:
        self.tensor: Vector = np.zeros((2,) * num_qubits, dtype=np.complex128)
        self.tensor[(0,) * num_qubits] = 1
        self.records: list[bool] = []

    def apply(self, matrix: Vector, qubits: Sequence[int]) -> None:
        """Applies a matrix, whose least significant bit is the first qubit."""
        size = len(qubits)
        axes = [self._axis(qubit) for qubit in reversed(qubits)]
        product = np.tensordot(
            matrix.reshape((2,) * (2 * size)), self.tensor, axes=(range(size, 2 * size), axes)
        )
        self.tensor = np.moveaxis(product, range(size), axes)

    def rotate(self, product: Product, half_turns: float) -> None:
        """Applies exp(-i π/2 a P)."""
        angle = np.pi / 2 * half_turns
        self.tensor = np.cos(angle) * self.tensor - 1j * np.sin(angle) * self._times(product)

    def flip(self, product: Product) -> None:
        """Applies a product of Paulis."""
        self.tensor = self._times(product)

    def project(self, product: Product, negative: bool) -> None:
        """Projects on the states with one value of a product of Paulis."""
        projected = self.tensor - self._times(product) if negative else self.tensor + self._times(product)
        self.tensor = projected / np.linalg.norm(projected)

    def expectation(self, product: Product) -> float:
        """The expectation value of a product of Paulis."""
        return float(np.vdot(self.tensor, self._times(product)).real)

    def _times(self, product: Product) -> Vector:
        kept = self.tensor
        for qubit, letter in product:
            self.apply(_PAULIS[letter], [qubit])
        result, self.tensor = self.tensor, kept
        return result

    def _axis(self, qubit: int) -> int:
        return self.tensor.ndim - 1 - qubit


def _run(circuit: stim.Circuit, state: _State) -> None:
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            body = part.body_copy()
            for _ in range(part.repeat_count):
                _run(body, state)
        else:
            _apply(part, state)


def _apply(part: stim.CircuitInstruction, state: _State) -> None:
    gate = gate_from_tag(part)
    data = stim.gate_data(part.name)
    if gate is not None and part.name == CONDITIONAL_CARRIER:
        _apply_conditional(part, gate, state)
    elif gate is not None:
        _apply_non_clifford(part, gate, state)
    elif channel_of(part) is None and (part.name in _WITHOUT_EFFECT or is_expectation(part)):
        return
    elif part.name == "MPAD" and not any(part.gate_args_copy()):
        state.records += [bool(target.value) for target in part.targets_copy()]
    elif part.name.startswith("SPP"):
        for product, negative in _products(part):
            state.rotate(product, -0.5 if negative != part.name.endswith("DAG") else 0.5)
    elif data.is_unitary:
        _apply_clifford(part, state)
    elif _is_noise(part, data):
        raise ValueError(
            f"`{part}` is noise, so that the circuit has no single state. Ask for"
            " circuit.without_noise().state_vector()."
        )
    elif data.is_reset or data.produces_measurements:
        _measure_and_reset(part, state, data)
    else:
        raise NotImplementedError(f"{part.name} is not supported by stim_nonclifford.")


def _is_noise(part: stim.CircuitInstruction, data: stim.GateData) -> bool:
    if data.produces_measurements and not part.name.startswith("HERALDED"):
        return any(part.gate_args_copy())
    return data.is_noisy_gate and not data.is_reset


def _apply_clifford(part: stim.CircuitInstruction, state: _State) -> None:
    matrix = _matrix(part.name)
    for group in part.target_groups():
        classical = [target for target in group if not target.is_qubit_target]
        if classical:
            [qubit] = [target for target in group if target.is_qubit_target] or [None]
            bits = [_bit(target, state) for target in classical]
            if qubit is not None and all(bits):
                state.flip([(qubit.value, _letter_of_control(part.name))])
        else:
            state.apply(matrix, [target.value for target in group])


@cache
def _matrix(name: str) -> Vector:
    """The unitary of a Clifford gate. Stim rounds it; in a column, all entries but 0 are equally large."""
    matrix: Vector = stim.gate_data(name).unitary_matrix.astype(np.complex128)
    return matrix / np.linalg.norm(matrix, axis=0)


def _letter_of_control(name: str) -> str:
    """The Pauli that a record controls: CX, XCZ, CY, YCZ or CZ."""
    return name.replace("C", "").replace("Z", "") or "Z"


def _bit(target: stim.GateTarget, state: _State) -> bool:
    return target.is_measurement_record_target and state.records[target.value]


def _apply_non_clifford(part: stim.CircuitInstruction, gate: NonCliffordGate, state: _State) -> None:
    pieces = gate.definition.decomposition(*gate.half_turns)
    if part.name.startswith("SPP"):
        for product, negative in _products(part):
            for piece in pieces:
                assert not isinstance(piece, CliffordPart)
                assert piece.pauli == PRODUCT
                state.rotate(product, -piece.half_turns if negative else piece.half_turns)
        return
    targets = [target.value for target in part.targets_copy()]
    size = gate.definition.num_targets or 1
    for k in range(0, len(targets), size):
        _apply_pieces(gate, targets[k : k + size], {}, state)


def _apply_conditional(part: stim.CircuitInstruction, gate: NonCliffordGate, state: _State) -> None:
    for group in groups_of_pairs(gate.definition, part.targets_copy()):
        bits = {k: _bit(target, state) for k, target in enumerate(group) if not target.is_qubit_target}
        _apply_pieces(gate, [target.value for target in group], bits, state)


def _apply_pieces(gate: NonCliffordGate, qubits: Sequence[int], bits: dict[int, bool], state: _State) -> None:
    """The decomposition of a gate on a group of targets, some of which may be known bits."""
    for piece in gate.definition.decomposition(*gate.half_turns):
        if isinstance(piece, CliffordPart):
            known = [bits[k] for k in piece.targets if k in bits]
            free = [qubits[k] for k in piece.targets if k not in bits]
            if not known:
                state.apply(_matrix(piece.name), free)
            elif all(known):
                state.flip([(qubit, _letter_of_control(piece.name)) for qubit in free])
            continue
        letters = [(k, letter) for k, letter in enumerate(piece.pauli) if letter != "_"]
        is_negative = sum(bits.get(k, False) for k, _ in letters) % 2 == 1
        product = [(qubits[k], letter) for k, letter in letters if k not in bits]
        state.rotate(product, -piece.half_turns if is_negative else piece.half_turns)


def _products(part: stim.CircuitInstruction) -> list[tuple[Product, bool]]:
    """The Pauli products of an instruction, and whether each is negative."""
    result: list[tuple[Product, bool]] = []
    for group in part.target_groups():
        factors = [target for target in group if not target.is_combiner]
        negative = sum(target.is_inverted_result_target for target in factors) % 2 == 1
        result.append(([(target.value, target.pauli_type) for target in factors], negative))
    return result


def _measure_and_reset(part: stim.CircuitInstruction, state: _State, data: stim.GateData) -> None:
    if part.name == "MPP":
        measured = _products(part)
    else:
        letters = part.name.replace("M", "").replace("R", "") or "Z"
        measured = [
            (
                [(target.value, letter) for target, letter in zip(group, letters, strict=True)],
                sum(target.is_inverted_result_target for target in group) % 2 == 1,
            )
            for group in part.target_groups()
        ]
    for product, negative in measured:
        value = state.expectation(product)
        if not data.produces_measurements:
            _reset(part, state, product, value)
            continue
        if abs(value) < 1 - _CERTAIN:
            shown = "*".join(f"{letter}{qubit}" for qubit, letter in product)
            raise ValueError(
                f"`{part}`: the outcome of {shown} is random (its expectation value is {_shown(value)}), so"
                " that the circuit has no single state. Ask for the state before it, or end with EXP_VAL."
            )
        outcome = value < 0
        state.records.append(outcome != negative)
        if data.is_reset:
            _reset(part, state, product, value)


def _reset(part: stim.CircuitInstruction, state: _State, product: Product, value: float) -> None:
    """Resets a qubit that is not entangled with others, given the expectation value of its Pauli."""
    [(qubit, letter)] = product
    length = sum(state.expectation([(qubit, each)]) ** 2 for each in "XYZ")
    if length < 1 - _CERTAIN:
        raise ValueError(
            f"`{part}`: qubit {qubit} is entangled with others (its Bloch vector has the length"
            f" {_shown(np.sqrt(length))}), so that the circuit has no single state. Ask for the"
            " state before it."
        )
    state.project(product, value < 0)
    if value < 0:
        state.flip([(qubit, "Z" if letter == "X" else "X")])


def _shown(value: float) -> str:
    return f"{round(value, 9) + 0.0:.6g}"  # neither 1e-17 nor -0


def _with_positive_phase(vector: Vector) -> Vector:
    """A vector of norm 1, whose first amplitude that is not 0 but for rounding is positive."""
    place = np.argmax(np.abs(vector) > _CERTAIN)
    first = vector[place]
    result: Vector = vector * (abs(first) / first / np.linalg.norm(vector)) + 0.0  # -0.0 + 0.0 is 0.0
    result[place] = abs(result[place])
    return result
