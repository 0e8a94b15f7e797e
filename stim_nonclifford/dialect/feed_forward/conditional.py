"""Gates that are applied if a measurement record is 1.

``C_SQRT_X rec[-1] 3`` applies SQRT_X if the record is 1. Such a gate is a product of rotations whose signs
depend on the record b:

    R_P(a)^b = R_P(a/2) R_P(-(-1)^b a/2)

This is the decomposition of the gate controlled by a qubit, in which the qubit's Z is replaced by (-1)^b. The
gates of ``gates.GATES`` that have controls (``CS``, ``CCZ``, ...) take records as they are. All others are
defined here, by their name after ``C_``.

In Stim's text, a conditional gate is a tagged CZ. Its targets are all pairs of a control and a qubit:
``C_SWAP rec[-1] 4 5`` is written ``CZ[C_SWAP] rec[-1] 4 rec[-1] 5``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import stim

from ..gates import (
    CONDITIONAL_CARRIER,
    GATES,
    Angles,
    CliffordPart,
    GateDefinition,
    Part,
    RotationPart,
    TaggedForm,
    negated,
)
from .clifford_rotations import rotations_of_clifford

PREFIX = "C_"

PRODUCT_GATES = {
    "C_R_PAULI": None,
    "C_SPP": 0.5,
    "C_SPP_DAG": -0.5,
    "C_TPP": 0.25,
    "C_TPP_DAG": -0.25,
}
"""Bare names of conditional rotations about a product such as X0*Y1, with their angle if it is fixed.

They are read as gates with the letters of the product in their names: ``C_R_PAULI(0.1) rec[-1] X0*Y1`` is
``C_R_XY(0.1) rec[-1] 0 1``.
"""

_ROTATION = re.compile(r"C_R_([XYZ]+)")

_OWN_NAMES = {
    f"{PREFIX}{name}": own
    for name, own in {
        "S": "CS",
        "S_DAG": "CS_DAG",
        "T": "CT",
        "T_DAG": "CT_DAG",
        "H": "CH",
        "CX": "CCX",
        "CZ": "CCZ",
    }.items()
}


def rotation_gate_name(paulis: str) -> str:
    """The name of the conditional rotation about a product of Paulis with these letters."""
    return f"{PREFIX}R_{paulis}"


@cache
def conditional_gate(name: str) -> GateDefinition | None:
    """The definition of a gate that only a record or a sweep bit can control, by its name in upper case.

    Where a record can control a gate of ``GATES``, it is that gate: ``C_S`` is ``CS``.

    Examples:
        >>> conditional_gate("C_SWAP").num_targets, conditional_gate("C_S").name, conditional_gate("C_M")
        (3, 'CS', None)
        >>> for part in conditional_gate("C_SQRT_X").decomposition():
        ...     print(part)
        RotationPart(pauli='_X', half_turns=0.25)
        RotationPart(pauli='ZX', half_turns=-0.25)
    """
    if name in _OWN_NAMES:
        return GATES[_OWN_NAMES[name]]
    if not name.startswith(PREFIX):
        return None
    rotation = _ROTATION.fullmatch(name)
    if rotation:
        return _conditional_rotation(rotation[1])
    inner = name[len(PREFIX) :]
    if inner in GATES:
        return _conditional_non_clifford(GATES[inner])
    gates = stim.gate_data()
    gate = next((gate for gate in gates.values() if inner in gate.aliases), None)
    if gate is None or gate.unitary_matrix is None or gate.name in ("I", "II", "X", "Y", "Z"):
        return None
    canonical = PREFIX + gate.name
    if canonical != name:
        return conditional_gate(canonical)
    size = 2 if gate.is_two_qubit_gate else 1
    return _definition(
        gate.name,
        f"{gate.name} if the record is 1",
        size,
        lambda: _controlled(rotations_of_clifford(gate.name), size),
        inverse=gate.inverse.name,
    )


def _conditional_rotation(paulis: str) -> GateDefinition:
    product = "⊗".join(paulis)
    return _definition(
        f"R_{paulis}",
        f"exp(-i θ/2 {product}) if the record is 1",
        len(paulis),
        lambda theta: _controlled((RotationPart(paulis, theta),), len(paulis)),
        inverse=f"R_{paulis}",
        parameters=("theta",),
    )


def _conditional_non_clifford(gate: GateDefinition) -> GateDefinition | None:
    size = gate.num_targets
    if size is None:
        return None
    return _definition(
        gate.name,
        f"{gate.name} if the record is 1",
        size,
        lambda *angles: _controlled(gate.decomposition(*angles), size),
        inverse=gate.inverse,
        parameters=gate.parameters,
        inverse_angles=gate.inverse_angles,
    )


def _definition(
    name: str,
    description: str,
    size: int,
    decomposition: Callable[..., tuple[Part, ...]],
    *,
    inverse: str,
    parameters: tuple[str, ...] = (),
    inverse_angles: Callable[[Angles], Angles] = negated,
) -> GateDefinition:
    inverted = PREFIX + inverse
    return GateDefinition(
        PREFIX + name,
        description=description,
        forms=(TaggedForm(CONDITIONAL_CARRIER, PREFIX + name),),
        num_targets=size + 1,
        decomposition=decomposition,
        inverse=_OWN_NAMES.get(inverted, inverted),
        inverse_angles=inverse_angles,
        parameters=parameters,
        num_controls=1,
    )


def _controlled(parts: Sequence[Part], size: int) -> tuple[Part, ...]:
    """The decomposition of a gate on ``size`` targets, with a control in front of them."""
    result: list[Part] = []
    for part in parts:
        match part:
            case RotationPart(pauli, half_turns):
                result.append(RotationPart(f"_{pauli}", half_turns / 2))
                result.append(RotationPart(f"Z{pauli}", -half_turns / 2))
            case CliffordPart("X" | "Y" | "Z" as pauli, (target,)):
                result.append(CliffordPart(f"C{pauli}", (0, target + 1)))
            case CliffordPart(name, targets):
                result += _controlled(_placed(rotations_of_clifford(name), targets, size), size)
    return tuple(result)


def _placed(parts: Sequence[Part], targets: Sequence[int], size: int) -> tuple[Part, ...]:
    """Parts on some of the ``size`` targets of a gate."""
    placed: list[Part] = []
    for part in parts:
        if isinstance(part, CliffordPart):
            placed.append(CliffordPart(part.name, tuple(targets[k] for k in part.targets)))
        else:
            letters = ["_"] * size
            for target, letter in zip(targets, part.pauli, strict=True):
                letters[target] = letter
            placed.append(RotationPart("".join(letters), part.half_turns))
    return tuple(placed)


def refusal(name: str) -> str | None:
    """Why there is no conditional gate of this name, and what to write; None if the name is of another kind.

    Examples:
        >>> print(refusal("C_X"))
        a Pauli that a record controls is Stim's own: write CX rec[-1] 0.
    """
    inner = name.removeprefix(PREFIX)
    if inner == name:
        return None
    if inner in ("X", "Y", "Z"):
        return f"a Pauli that a record controls is Stim's own: write C{inner} rec[-1] 0."
    gate = next((gate for gate in stim.gate_data().values() if inner in gate.aliases), None)
    if gate is not None and (gate.is_noisy_gate or gate.produces_measurements):
        return (
            f"a record switches {gate.name} in a block, of a line each: REPEAT[IF rec[-1]] 1 {{, {gate.name}"
            " and its targets, and }."
        )
    return None
