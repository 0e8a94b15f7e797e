"""A noiseless measurement of a logical state, in the place of its expectation values.

For a state with the Bloch vector w, the operator W = Σ_j w_j P_j of the logical Paulis P_j is measured. Its
outcome is 0 with probability (1 + Σ_j w_j <P_j>) / 2, the fidelity: the measurement asks in each shot whether
the state is the wanted one or the orthogonal one. W is P_1 between rotations: with C = -i P_1 P_2,

    cos φ P_1 + sin φ P_2 = exp(-i φ/2 C) P_1 exp(i φ/2 C)

so that the rotation by -φ about C and a measurement of P_1 measure it. For T|+>, this is TPP_DAG of the
logical Z, then MPP of the logical X.

Records that say in which frame the Paulis are become feedback: where P_1 is flipped P_2 is applied, which
flips P_1 and leaves P_2, and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import stim

from ...base.written_circuits import circuit_of, instructions_in
from ...dialect import expectation_products, gate_from_tag, is_expectation, parse
from .operators import has_pauli_targets, observable_paulis, pauli_product, shown_product
from .state_check import TOLERANCE, LogicalStateCheck, StateTerm, terms_of

Instruction: TypeAlias = stim.CircuitInstruction | stim.CircuitRepeatBlock

_EIGHTH_TURN = 0.25
"""The angle of T, in half-turns."""

_PAULI_OF_MEASUREMENT = {"M": "Z", "MX": "X", "MY": "Y", "MZZ": "Z", "MXX": "X", "MYY": "Y"}
_PAULI_GATES = ("I", "II", "X", "Y", "Z")
_NO_ACTION = ("DETECTOR", "OBSERVABLE_INCLUDE", "TICK", "QUBIT_COORDS", "SHIFT_COORDS", "MPAD")


def read_out(circuit: stim.Circuit, check: LogicalStateCheck, reference: int) -> tuple[stim.Circuit, int]:
    """The circuit with a noiseless measurement of a state in the place of its expectation values.

    Signs of the check are relative to the reference: a mask of the observables whose records sum up to 1 in
    the noiseless reference sample. The result has no EXP_VAL, and no observables with Pauli targets of this
    logical qubit. The number of the new observable is the first of theirs, or else the next free one. Loops
    are unrolled if expectation values or observables stand in them, or after these.
    """
    terms = terms_of(check, circuit)
    if abs(math.hypot(*check.weights) - 1) > TOLERANCE:
        raise ValueError(
            f"The check by {shown_product(terms[0].product)} alone with the weight {terms[0].weight:.6g} is"
            " not that of a state, and no measurement answers it. Check all components of the state (a T"
            " state: X and Y with the weights 0.5**0.5), or decode, for example with soft_pymatching."
        )
    instructions = list(circuit.flattened() if any(map(_unrolls, circuit)) else circuit)
    begin, end = _place(instructions, check, terms)
    _check_undisturbed(instructions, begin, end, [term.product for term in terms])
    paulis = observable_paulis(circuit)
    replaced = {
        observable
        for observable, pauli in paulis.items()
        if any(term.observable == observable or not pauli.commutes(term.product) for term in terms)
    }
    frames = [_records_of(instructions, term.observable) for term in terms]
    first = sum(each.num_measurements for each in instructions[:end])
    if any(record >= first for frame in frames for record in frame):
        raise ValueError(
            "The frame of the logical qubit depends on records that come after its expectation values. Move"
            " EXP_VAL and OBSERVABLE_INCLUDE behind these measurements."
        )
    result = circuit_of(*(each for each in instructions[:end] if not _is_replaced(each, replaced)))
    signs = [
        -1.0 if term.observable is not None and reference >> term.observable & 1 else 1.0 for term in terms
    ]
    products = [term.product for term in terms]
    weights = [sign * term.weight for sign, term in zip(signs, terms, strict=True)]
    number = min(replaced, default=circuit.num_observables)
    result += _measurement(products, weights, frames, first, number)
    tail = _with_one_record_more(circuit_of(*instructions[end:]).flattened())
    return result + circuit_of(*(each for each in tail if not _is_replaced(each, replaced))), number


def _unrolls(instruction: Instruction) -> bool:
    """Whether a loop has expectation values or parts of observables."""
    return isinstance(instruction, stim.CircuitRepeatBlock) and any(
        is_expectation(each) or each.name == "OBSERVABLE_INCLUDE"
        for each in instructions_in(instruction.body_copy())
    )


def _place(
    instructions: Sequence[Instruction], check: LogicalStateCheck, terms: Sequence[StateTerm]
) -> tuple[int, int]:
    """From where to where the expectation values of the check and the Paulis of its observables stand."""
    values = {value for value, weight in zip(check.expectation_values, check.weights, strict=True) if weight}
    observables = {term.observable for term in terms}
    marks = []
    count = 0
    for k, instruction in enumerate(instructions):
        if isinstance(instruction, stim.CircuitRepeatBlock):
            continue
        if is_expectation(instruction):
            asked = len(expectation_products(instruction))
            if values.intersection(range(count, count + asked)):
                marks.append(k)
            count += asked
        elif has_pauli_targets(instruction) and int(instruction.gate_args_copy()[0]) in observables:
            marks.append(k)
    return min(marks), max(marks) + 1


def _check_undisturbed(
    instructions: Sequence[Instruction], begin: int, end: int, products: Sequence[stim.PauliString]
) -> None:
    """Checks that the state is the same at all of its places, and that nobody looks at it afterwards."""
    for k, instruction in enumerate(circuit_of(*instructions[begin:]).flattened()):
        is_between = k < end - begin
        if _disturbs(instruction, products, noise_too=is_between):
            shown = str(instruction)
            shown = shown if len(shown) < 60 else f"{shown[:56]} ..."
            raise ValueError(
                f"The instruction `{shown}` {'stands among' if is_between else 'follows'} the expectation"
                " values of the logical qubit and acts on it. A noiseless readout takes their place, so"
                f" {'they must stand side by side' if is_between else 'they must come last'}: after them"
                " there may be noise, and measurements that commute with the logical Paulis, such as those"
                " of checks."
            )


def _disturbs(
    instruction: stim.CircuitInstruction, products: Sequence[stim.PauliString], *, noise_too: bool
) -> bool:
    """Whether an instruction changes logical Paulis, or its records tell of them."""
    name = instruction.name
    if name in _NO_ACTION or is_expectation(instruction):
        return False
    support = {qubit for product in products for qubit in product.pauli_indices()}
    targets = instruction.targets_copy()
    if support.isdisjoint(target.qubit_value for target in targets):
        return False
    if gate_from_tag(instruction) is not None:
        return True
    data = stim.gate_data(name)
    if data.is_reset:
        return True
    if data.produces_measurements and not name.startswith("HERALDED_"):
        return any(
            not measured.commutes(product)
            for measured in _measured(instruction, len(products[0]))
            for product in products
        )
    is_feedback = data.is_two_qubit_gate and all(
        any(target.is_measurement_record_target for target in group) for group in instruction.target_groups()
    )
    return noise_too if data.is_noisy_gate or is_feedback or name in _PAULI_GATES else True


def _measured(instruction: stim.CircuitInstruction, num_qubits: int) -> Iterator[stim.PauliString]:
    """The Pauli products that a measurement measures."""
    letter = _PAULI_OF_MEASUREMENT.get(instruction.name)
    for group in instruction.target_groups():
        if letter is not None:
            group = [stim.target_pauli(target.value, letter) for target in group]
        yield pauli_product(group, num_qubits)


def _records_of(instructions: Sequence[Instruction], observable: int | None) -> set[int]:
    """The records of an observable, counted from the first of the circuit."""
    found: set[int] = set()
    count = 0
    for instruction in instructions:
        if (
            isinstance(instruction, stim.CircuitInstruction)
            and instruction.name == "OBSERVABLE_INCLUDE"
            and int(instruction.gate_args_copy()[0]) == observable
        ):
            for target in instruction.targets_copy():
                if target.is_measurement_record_target:
                    found ^= {count + target.value}
        count += instruction.num_measurements
    return found


def _is_replaced(instruction: Instruction, observables: set[int]) -> bool:
    if isinstance(instruction, stim.CircuitRepeatBlock):
        return False
    if instruction.name == "OBSERVABLE_INCLUDE":
        return int(instruction.gate_args_copy()[0]) in observables
    return is_expectation(instruction)


def _measurement(
    products: Sequence[stim.PauliString],
    weights: Sequence[float],
    frames: Sequence[set[int]],
    num_records: int,
    observable: int,
) -> stim.Circuit:
    """Measures a weighted sum of one to three anticommuting products; the squares of the weights add up to 1.

    The records of ``frames`` tell whether a product is flipped.
    """
    axis, radius = products[0], weights[0]
    result = stim.Circuit()
    if len(products) == 1:
        records = [stim.target_rec(record - num_records - 1) for record in sorted(frames[0])]
    else:
        if len(products) == 3 and frames[0] ^ frames[1] != frames[2]:
            raise ValueError(
                "The records of the three observables contradict each other: a Pauli frame flips none or two"
                " of X, Y and Z. Check the state by two of them."
            )
        for product, frame in zip(products[1::-1], frames[:2], strict=True):
            for record in sorted(frame):
                result += _feedback(stim.target_rec(record - num_records), product)
        records = []
    for product, weight in zip(products[1:], weights[1:], strict=True):
        result += _rotation(-1j * axis * product, -math.atan2(weight, radius) / math.pi)
        radius = math.hypot(radius, weight)
    result += parse(f"MPP {shown_product(axis if radius > 0 else -axis)}")
    result.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1), *records], observable)
    return result


def _rotation(product: stim.PauliString, half_turns: float) -> stim.Circuit:
    if product.sign == -1:
        product, half_turns = -product, -half_turns
    if math.isclose(abs(half_turns), _EIGHTH_TURN, rel_tol=1e-12):
        return parse(f"{'TPP' if half_turns > 0 else 'TPP_DAG'} {shown_product(product)}")
    return parse(f"R_PAULI({half_turns!r}) {shown_product(product)}")


def _feedback(record: stim.GateTarget, product: stim.PauliString) -> stim.Circuit:
    """Applies a product if a record is 1."""
    result = stim.Circuit()
    for letter, code in (("X", 1), ("Y", 2), ("Z", 3)):
        qubits = [qubit for qubit in product.pauli_indices() if product[qubit] == code]
        if qubits:
            result.append(f"C{letter}", [target for qubit in qubits for target in (record, qubit)])
    return result


def _with_one_record_more(circuit: stim.Circuit) -> stim.Circuit:
    """A flattened circuit for use after a further measurement: records before it are one farther away."""
    result = stim.Circuit()
    count = 0
    for instruction in circuit:
        targets = instruction.targets_copy()
        if any(target.is_measurement_record_target for target in targets):
            targets = [
                stim.target_rec(target.value - 1)
                if target.is_measurement_record_target and -target.value > count
                else target
                for target in targets
            ]
            arguments = instruction.gate_args_copy()
            instruction = stim.CircuitInstruction(instruction.name, targets, arguments, tag=instruction.tag)
        result.append(instruction)
        count += instruction.num_measurements
    return result
