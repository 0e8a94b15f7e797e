"""Unitary steps between languages: gates with exact phases, their inverses, and what controls make of them.

Circuit languages name many gates, and apply modifiers to them: controls, inverses, powers. Here a unitary is
a list of steps, each a gate of this package's dialect or a global phase. A phase matters as soon as a control
is added, so that steps have the phases that the usual matrices have: S is diag(1, i), R_Z(a) is
exp(-i π/2 a Z).

Any step is a product of rotations about Paulis, up to a phase that is known. That gives its controlled form:

    controlled exp(-i π/2 a P) = exp(-i π/4 a P) exp(+i π/4 a Z⊗P)

Angles are in half-turns: 1 is π radians.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import stim

from ...dialect import gate_named
from .angles import reduced


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate."""

    name: str  # its bare name in the dialect, such as ``CX`` or ``R_PAULI``
    qubits: tuple[int, ...]
    angles: tuple[float, ...] = ()
    paulis: str = ""  # for ``R_PAULI``, the Pauli on each qubit


@dataclass(frozen=True, slots=True)
class Phase:
    """A global phase exp(iπ a)."""

    half_turns: float


Step = Gate | Phase

_OF_PHASE = {1.0: "Z", 0.5: "S", 1.5: "S_DAG", 0.25: "T", 1.75: "T_DAG"}

_WITH_CONTROL = {
    "X": "CX",
    "Y": "CY",
    "Z": "CZ",
    "H": "CH",
    "S": "CS",
    "S_DAG": "CS_DAG",
    "T": "CT",
    "T_DAG": "CT_DAG",
    "CX": "CCX",
    "CZ": "CCZ",
}
"""The gates whose controlled form has a name, in which the control comes first."""

_WITHOUT_CONTROL = {controlled: gate for gate, controlled in _WITH_CONTROL.items()}

_AS_ROTATION = {
    "X": ("X", 1.0),
    "Y": ("Y", 1.0),
    "Z": ("Z", 1.0),
    "S": ("Z", 0.5),
    "S_DAG": ("Z", -0.5),
    "T": ("Z", 0.25),
    "T_DAG": ("Z", -0.25),
    "SQRT_X": ("X", 0.5),
    "SQRT_X_DAG": ("X", -0.5),
}
"""Gates that are exp(iπ/2 a) times the rotation by the angle a about a Pauli, so that one eigenvalue is 1."""


def phase_gate(half_turns: float, qubit: int) -> list[Step]:
    """diag(1, exp(iπ a)), by its name if it has one."""
    name = _OF_PHASE.get(half_turns % 2)
    if name is not None:
        return [Gate(name, (qubit,))]
    return [Gate("R_Z", (qubit,), (half_turns,)), Phase(half_turns / 2)]


def inverse(steps: Sequence[Step]) -> list[Step]:
    """The inverse of a unitary."""
    return [_inverse_of(step) for step in reversed(steps)]


def _inverse_of(step: Step) -> Step:
    if isinstance(step, Phase):
        return Phase(-step.half_turns)
    definition = gate_named(step.name)
    if definition is None:
        return Gate(stim.gate_data(step.name).inverse.name, step.qubits)
    angles = definition.inverse_angles(step.angles) if step.angles else ()
    return Gate(definition.inverse, step.qubits, angles, step.paulis)


def controlled(steps: Iterable[Step], control: int) -> list[Step]:
    """A unitary that is applied if a qubit is 1.

    Examples:
        >>> controlled([Gate("X", (1,)), Phase(0.25)], 0)
        [Gate(name='CX', qubits=(0, 1), ...), Gate(name='T', qubits=(0,), ...)]
    """
    result: list[Step] = []
    for step in steps:
        if isinstance(step, Phase):
            result += phase_gate(step.half_turns, control)
        elif step.name == "I":
            result.append(step)
        elif step.name in _WITH_CONTROL:
            result.append(Gate(_WITH_CONTROL[step.name], (control, *step.qubits)))
        elif step.name == "R_PAULI":
            [angle] = step.angles
            result.append(Gate("R_PAULI", step.qubits, (angle / 2,), step.paulis))
            result.append(Gate("R_PAULI", (control, *step.qubits), (-angle / 2,), f"Z{step.paulis}"))
        else:
            result += controlled(_simpler(step), control)
    return result


def _simpler(gate: Gate) -> list[Step]:
    """A gate's unitary as steps that are nearer to rotations about Paulis."""
    name, qubits, angles = gate.name, gate.qubits, gate.angles
    if name in _AS_ROTATION:
        pauli, angle = _AS_ROTATION[name]
        return [Gate("R_PAULI", qubits, (angle,), pauli), Phase(angle / 2)]
    if name in _WITHOUT_CONTROL:
        # The controlled form of the gate has the name that is to be replaced, that of its rotations has not.
        return controlled(_simpler(Gate(_WITHOUT_CONTROL[name], qubits[1:])), qubits[0])
    if name.startswith("R_"):
        return [Gate("R_PAULI", qubits, angles, name.removeprefix("R_"))]
    if name == "H":
        # H = R_Y(1/4) Z R_Y(-1/4)
        y = (Gate("R_PAULI", qubits, (-0.25,), "Y"), Gate("R_PAULI", qubits, (0.25,), "Y"))
        return [y[0], Gate("Z", qubits), y[1]]
    if name == "U3":
        theta, phi, lambda_ = angles
        turns = (("Z", lambda_), ("Y", theta), ("Z", phi))
        return [Gate("R_PAULI", qubits, (angle,), pauli) for pauli, angle in turns]
    if name == "ISWAP":
        return [Gate("R_PAULI", qubits, (-0.5,), paulis) for paulis in ("XX", "YY")]
    if name == "SWAP":
        first, second = qubits
        return [Gate("CX", (first, second)), Gate("CX", (second, first)), Gate("CX", (first, second))]
    raise ValueError(f"{name} has no form as rotations here.")


def text_of(gate: Gate, condition: str = "") -> str:
    """A line of circuit text, whose angles are at most four half-turns; a condition is a record, as in Stim.

    Examples:
        >>> text_of(Gate("CX", (0, 1))), text_of(Gate("R_PAULI", (3, 4), (0.5,), "XY"))
        ('CX 0 1', 'R_PAULI(0.5) X3*Y4')
        >>> text_of(Gate("X", (0,)), "rec[-1]"), text_of(Gate("H", (0,)), "rec[-1]")
        ('CX rec[-1] 0', 'C_H rec[-1] 0')
    """
    name = gate.name
    if name == "R_PAULI" and len(gate.qubits) == 1:
        name = f"R_{gate.paulis}"
    if name == "R_PAULI":
        factors = zip(gate.paulis, gate.qubits, strict=True)
        targets = "*".join(f"{pauli}{qubit}" for pauli, qubit in factors)
    else:
        targets = " ".join(map(str, gate.qubits))
    values = ", ".join(repr(reduced(angle)) for angle in gate.angles)
    angles = f"({values})" if gate.angles else ""
    if not condition:
        return f"{name}{angles} {targets}"
    prefix = "C" if name in ("X", "Y", "Z") else "C_"
    return f"{prefix}{name}{angles} {condition} {targets}"
