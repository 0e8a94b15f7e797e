"""Clifford+T circuits as programs of Pauli-product rotations, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import stim

from ...circuit import Circuit
from ...dialect import PRODUCT, CliffordPart, gate_from_tag
from .program import checked_program

Program = tuple[list[tuple[float, str]], list[str]]
"""Rotations and measured products, as ``logical_circuit`` takes them."""

_IGNORED = ("TICK", "QUBIT_COORDS", "SHIFT_COORDS", "I")


def program_of(circuit: Circuit | stim.Circuit | str) -> Program:
    r"""The Pauli-product rotations and the measurements of a Clifford+T circuit.

    Clifford gates are commuted to the end by Stim's tableaus, and there into the measured products: no
    rotation of the result is a Clifford gate. Qubits start in |0>.

    Args:
        circuit: A circuit without noise that begins with resets to |0>, if it has any, and ends with
            measurements. Its other gates are Clifford gates and gates that are products of them and of
            rotations by multiples of 1/8 half-turn, such as T, CCZ and CS.

    Returns:
        (rotations, measurements), the arguments of ``logical_circuit``. Products have a letter for each qubit
        of the circuit.

    Raises:
        ValueError: An instruction has none of these forms, or acts after a measurement.

    Examples:
        >>> program_of("H 0\nT 0\nCX 0 1\nT 1\nM 0 1")
        ([(0.125, 'XI'), (0.125, 'XZ')], ['XI', 'XZ'])
    """
    circuit = Circuit(circuit).to_stim()
    num_qubits = circuit.num_qubits
    gates = stim.TableauSimulator()
    gates.set_num_qubits(num_qubits)
    rotations: list[tuple[float, str]] = []
    measurements: list[str] = []
    touched: set[int] = set()
    for instruction in circuit.flattened():
        if instruction.name in _IGNORED and not instruction.tag:
            continue
        qubits = {target.value for target in instruction.targets_copy() if not target.is_combiner}
        data = stim.gate_data(instruction.name)
        if instruction.name == "R" and not touched & qubits:
            continue
        if data.produces_measurements and not instruction.gate_args_copy() and not instruction.tag:
            measurements += (_before(gates, product) for product in _measured(instruction, num_qubits))
            touched |= qubits
            continue
        if not data.is_unitary or any(not _is_gate_target(t) for t in instruction.targets_copy()):
            raise ValueError(
                f"A program has resets to |0>, gates and measurements in this order, and no noise:"
                f" '{instruction}' is none of them, or comes too late."
            )
        if measurements:
            raise ValueError(
                f"'{instruction}' acts after a measurement. Measure at the end: outcomes that decide about"
                " gates are no part of a program."
            )
        touched |= qubits
        gate = gate_from_tag(instruction)
        if gate is None:
            gates.do(stim.CircuitInstruction(instruction.name, instruction.targets_copy()))
            continue
        for group in _groups_of(instruction, gate.definition.num_targets):
            for part in gate.definition.decomposition(*gate.half_turns):
                if isinstance(part, CliffordPart):
                    gates.do(stim.CircuitInstruction(part.name, [group[k] for k in part.targets]))
                    continue
                product = _product_of(group, part.pauli, num_qubits)
                if part.half_turns:
                    before = _before(gates, product)
                    sign = -1 if before.startswith("-") else 1
                    rotations.append((sign * part.half_turns / 2, before.lstrip("-")))
    return rotations, measurements


def circuit_of_program(
    rotations: Iterable[tuple[float, str]], measurements: Iterable[str] = ()
) -> stim.Circuit:
    """A program on bare qubits without noise: the circuit that a logical circuit does.

    Args:
        rotations: As in ``logical_circuit``.
        measurements: As in ``logical_circuit``; record k is the outcome of product k.

    Raises:
        ValueError: As in ``logical_circuit``, but angles may have any size.

    Examples:
        >>> print(circuit_of_program([(1/8, "ZX")], ["-XI"]))
        R 0 1
        SPP[R_PAULI(theta=0.25*pi)] Z0*X1
        MPP !X0
    """
    turns, measured = checked_program(rotations, measurements)
    circuit = stim.Circuit()
    circuit.append("R", range(len([*(product for _, product in turns), *measured][0])))
    for theta, product in turns:
        angle = 2 * theta * product.sign.real
        circuit.append("SPP", _targets(product / product.sign), tag=f"R_PAULI(theta={angle!r}*pi)")
    for product in measured:
        circuit.append("MPP", _targets(product))
    return circuit


def _targets(product: stim.PauliString) -> list[stim.GateTarget]:
    factors = [stim.target_pauli(k, product[k]) for k in product.pauli_indices()]
    if product.sign == -1:
        factors[0] = stim.target_inv(factors[0])
    return stim.target_combined_paulis(factors)


def _before(gates: stim.TableauSimulator, product: stim.PauliString) -> str:
    """A product after some Clifford gates as one before them."""
    found = gates.current_inverse_tableau()(product)
    return str(found).replace("_", "I").lstrip("+")


def _measured(instruction: stim.CircuitInstruction, num_qubits: int) -> Iterator[stim.PauliString]:
    """The products that an instruction measures, with their signs."""
    letters = instruction.name[1:] or "Z"
    if instruction.name in ("MPAD", "MR", "MRX", "MRY", "MRZ"):
        raise ValueError(
            f"'{instruction}' resets or records no qubit. A program ends with measurements such as M."
        )
    for group in instruction.target_groups():
        product = stim.PauliString(num_qubits)
        for k, target in enumerate(group):
            letter = target.pauli_type if instruction.name == "MPP" else letters[k]
            product *= stim.PauliString({target.value: letter}) * (-1) ** target.is_inverted_result_target
        yield product


def _groups_of(instruction: stim.CircuitInstruction, size: int | None) -> list[list[stim.GateTarget]]:
    """The targets in groups of a size, or those of each Pauli product."""
    if size is None:
        return instruction.target_groups()
    targets = instruction.targets_copy()
    return [targets[k : k + size] for k in range(0, len(targets), size)]


def _product_of(group: list[stim.GateTarget], pauli: str, num_qubits: int) -> stim.PauliString:
    """The product of a rotation about some of its targets, or about the target, which is itself a product."""
    product = stim.PauliString(num_qubits)
    letters = [target.pauli_type for target in group] if pauli == PRODUCT else pauli
    for target, letter in zip(group, letters, strict=True):
        if letter != "_":
            product *= stim.PauliString({target.value: letter}) * (-1) ** target.is_inverted_result_target
    return product


def _is_gate_target(target: stim.GateTarget) -> bool:
    return bool(
        target.is_qubit_target
        or target.is_x_target
        or target.is_y_target
        or target.is_z_target
        or target.is_combiner
    )
