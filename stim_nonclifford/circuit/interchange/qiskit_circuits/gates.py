"""Gates of Qiskit as steps with exact phases, by their types: names are free there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..angles import half_turns_of
from ..packages import needed
from ..standard_gates import STANDARD_GATES
from ..steps import Gate, Phase, Step, controlled, inverse

__all__ = ["ADVICE", "qiskit", "steps_of"]

qiskit: Any = needed("qiskit", "from_qiskit", "qiskit>=1.3", "qiskit")
library: Any = needed("qiskit.circuit.library", "from_qiskit", "qiskit>=1.3", "qiskit")

ADVICE = "Replace it, for example by qiskit.transpile, or write the part of the circuit before it."
_MOST_GATES = 1_000_000


@cache
def _names() -> dict[Any, str]:
    """The names that Qiskit's own gates have in ``STANDARD_GATES``, by their classes."""
    own = {gate.base_class: name for name, gate in library.get_standard_gate_name_mapping().items()}
    more = {"C3XGate": "c3x", "C4XGate": "c4x", "C3SXGate": "c3sx", "RCCXGate": "rccx", "RC3XGate": "rcccx"}
    own |= {getattr(library, kind): name for kind, name in more.items()}
    return {kind: name for kind, name in own.items() if name in STANDARD_GATES}


def steps_of(gate: Any, qubits: Sequence[int]) -> list[Step]:
    """The steps of a gate or of an annotated operation.

    Raises:
        ValueError: It has no counterpart.
    """
    if isinstance(gate, qiskit.circuit.AnnotatedOperation):
        return _annotated(gate, qubits)
    if isinstance(gate, qiskit.circuit.Barrier):
        return []
    if not isinstance(gate, qiskit.circuit.Gate):
        raise ValueError(f"{gate.name} in it is no gate. {ADVICE}")
    if gate.base_class is library.GlobalPhaseGate:
        return [Phase(half_turns_of(float(gate.params[0])))]
    standard = STANDARD_GATES.get(_names().get(gate.base_class, ""))
    is_plain = getattr(gate, "ctrl_state", None) in (None, 2 ** getattr(gate, "num_ctrl_qubits", 0) - 1)
    if standard is not None and is_plain and len(gate.params) == standard.num_angles:
        angles = [half_turns_of(float(each)) for each in gate.params]
        return standard.steps(*angles, *qubits)
    if isinstance(gate, library.PauliEvolutionGate):
        _check_commuting(gate)
    definition = gate.definition
    if definition is None:
        definition = _definition_by_matrix(gate)
    where = dict(zip(definition.qubits, qubits, strict=True))
    steps: list[Step] = [Phase(half_turns_of(float(definition.global_phase)))]
    for instruction in definition.data:
        steps += steps_of(instruction.operation, [where[each] for each in instruction.qubits])
    return steps


def _check_commuting(gate: Any) -> None:
    """Refuses sums whose definition is another unitary than their exponential."""
    sums = gate.operator if isinstance(gate.operator, list) else [gate.operator]
    pauli_op = qiskit.quantum_info.SparsePauliOp
    terms = [each if isinstance(each, pauli_op) else pauli_op.from_sparse_observable(each) for each in sums]
    if len(pauli_op.sum(terms).group_commuting()) > 1:
        raise ValueError(
            "its terms do not commute, and its definition is not its exponential. To mean the definition,"
            " write circuit.decompose() first."
        )


def _definition_by_matrix(gate: Any) -> Any:
    try:
        matrix = qiskit.quantum_info.Operator(gate)
    except qiskit.exceptions.QiskitError:
        raise ValueError(f"it has no definition in other gates, and no matrix. {ADVICE}") from None
    return library.UnitaryGate(matrix).definition


def _annotated(gate: Any, qubits: Sequence[int]) -> list[Step]:
    """The steps of a gate with modifiers, of which the first one is applied first."""
    circuit = qiskit.circuit
    num_controls = sum(
        each.num_ctrl_qubits for each in gate.modifiers if isinstance(each, circuit.ControlModifier)
    )
    steps = steps_of(gate.base_op, qubits[num_controls:])
    for modifier in gate.modifiers:
        if isinstance(modifier, circuit.InverseModifier):
            steps = inverse(steps)
        elif isinstance(modifier, circuit.ControlModifier):
            first = num_controls - modifier.num_ctrl_qubits
            controls = qubits[first:num_controls]
            num_controls = first
            zeros = [q for k, q in enumerate(controls) if not modifier.ctrl_state >> k & 1]
            flips: list[Step] = [Gate("X", (qubit,)) for qubit in zeros]
            for control in controls:
                steps = controlled(steps, control)
            steps = [*flips, *steps, *flips]
        elif isinstance(modifier, circuit.PowerModifier) and float(modifier.power).is_integer():
            power = int(modifier.power)
            if abs(power) * len(steps) > _MOST_GATES:
                raise ValueError(f"its power is more than {_MOST_GATES:,} gates. {ADVICE}")
            steps = (inverse(steps) if power < 0 else steps) * abs(power)
        else:
            raise ValueError(f"the modifier {modifier} has no counterpart here. {ADVICE}")
    return steps
