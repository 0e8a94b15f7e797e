"""Targets of conditional gates, as Stim reads them: pairs of a control and a qubit.

The group ``rec[-2] rec[-1] 4`` of a CCZ is written ``rec[-2] 4 rec[-1] 4``: for each control, and for each
qubit, a pair. The pairs of a group are those of one tagged CZ, which may have several groups.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import stim

from ..gates import GateDefinition

_CLASSICAL = re.compile(r"(?:rec|sweep)\[", re.IGNORECASE)
_QUBIT = re.compile(r"[0-9]+")
_PRODUCT = re.compile(r"(!?)([XYZ][0-9]+(?:\*[XYZ][0-9]+)*)", re.IGNORECASE)


def is_classical(target: str) -> bool:
    """Whether the text of a target is that of a record or sweep bit."""
    return _CLASSICAL.match(target) is not None


def pairs_of_groups(definition: GateDefinition, name: str, targets: Sequence[str]) -> list[str]:
    """The targets of the tagged CZ, for targets as the bare gate has them; records come first in a group.

    Examples:
        >>> from stim_nonclifford.dialect import gate_named
        >>> pairs_of_groups(gate_named("CCZ"), "CCZ", ["rec[-2]", "rec[-1]", "4"])
        ['rec[-2]', '4', 'rec[-1]', '4']
    """
    size = definition.num_targets or 1
    if len(targets) % size:
        raise ValueError(f"{name} needs {_shape(definition)}; got {' '.join(targets)}.")
    pairs: list[str] = []
    for k in range(0, len(targets), size):
        group = targets[k : k + size]
        controls = [target for target in group if is_classical(target)]
        qubits = [target for target in group if not is_classical(target)]
        if not controls:
            raise ValueError(
                f"{name} needs {_shape(definition)}; got {' '.join(group)}."
                + ("" if definition.needs_record else " Put groups of qubits alone into another instruction.")
            )
        if any(map(is_classical, group[definition.num_controls :])):
            raise ValueError(
                f"{name} has a record or sweep bit in the place of a qubit: it needs {_shape(definition)};"
                f" got {' '.join(group)}."
            )
        if not qubits:
            raise ValueError(f"{name} needs at least one qubit in each group; got {' '.join(group)}.")
        _check_qubits(name, qubits)
        pairs += [text for control in controls for qubit in qubits for text in (control, qubit)]
    return pairs


def targets_of_products(name: str, targets: Sequence[str]) -> tuple[str, bool, list[str]]:
    """The letters of Pauli products that records control, whether they are negative, and their targets.

    Examples:
        >>> targets_of_products("C_R_PAULI", ["rec[-1]", "X0*Y1", "rec[-2]", "X3*Y2"])
        ('XY', False, ['rec[-1]', '0', '1', 'rec[-2]', '3', '2'])
    """
    shape = f"{name} needs a record or sweep bit and then a product of Paulis, as in rec[-1] X0*Y1"
    plain: list[str] = []
    kinds = set()
    for k in range(0, len(targets), 2):
        control, product = (*targets[k : k + 2], "")[:2]
        found = _PRODUCT.fullmatch(product)
        if not is_classical(control) or found is None:
            raise ValueError(f"{shape}; got {' '.join(targets[k : k + 2])}.")
        factors = found[2].upper().split("*")
        kinds.add(("".join(factor[0] for factor in factors), bool(found[1])))
        plain += [control, *(factor[1:] for factor in factors)]
    if len(kinds) != 1:
        raise ValueError(
            f"{shape}."
            if not kinds
            else f"{name} needs products with equal letters and signs. Put others into another instruction."
        )
    ((letters, negative),) = kinds
    return letters, negative, plain


def _check_qubits(name: str, qubits: Sequence[str]) -> None:
    wrong = next((qubit for qubit in qubits if not _QUBIT.fullmatch(qubit)), None)
    if wrong is not None:
        raise ValueError(f"{name} takes records, sweep bits and qubits as targets; got {wrong}.")
    if len({int(qubit) for qubit in qubits}) < len(qubits):
        raise ValueError(f"{name} needs different qubits in a group; got {' '.join(qubits)}.")


def _shape(definition: GateDefinition) -> str:
    """What a group looks like, in words."""
    if definition.needs_record:
        count = (definition.num_targets or 2) - 1
        return f"a record or sweep bit and then {count} qubit{'s' * (count > 1)}"
    num_targets = definition.num_targets or 2
    count = min(definition.num_controls, num_targets - 1)
    records = [f"rec[{k - count}]" for k in range(count)]
    return f"targets such as {' '.join([*records, *map(str, range(num_targets - count))])}"


def groups_of_pairs(
    definition: GateDefinition, targets: Sequence[stim.GateTarget]
) -> list[tuple[stim.GateTarget, ...]]:
    """The groups of targets of a conditional gate, from the targets of the tagged CZ.

    Examples:
        >>> from stim_nonclifford.dialect import gate_named
        >>> (instruction,) = stim.Circuit("CZ[CCZ] rec[-1] 0 rec[-1] 1")
        >>> (group,) = groups_of_pairs(gate_named("CCZ"), instruction.targets_copy())
        >>> [text_of_target(target) for target in group]
        ['rec[-1]', '0', '1']
    """
    size = definition.num_targets or 1
    per_group = size - 1  # one control and all qubits, or two controls and one qubit of three
    ordered = [
        (b, a) if a.is_qubit_target and not b.is_qubit_target else (a, b)
        for a, b in zip(targets[::2], targets[1::2], strict=True)
    ]
    if len(ordered) % per_group:
        raise ValueError(_not_pairs(definition, targets))
    groups = []
    for k in range(0, len(ordered), per_group):
        pairs = ordered[k : k + per_group]
        controls = list(dict.fromkeys(text_of_target(control) for control, _ in pairs))
        qubits = list(dict.fromkeys(text_of_target(qubit) for _, qubit in pairs))
        if len(qubits) == per_group and len(controls) == 1:
            group = (pairs[0][0], *(qubit for _, qubit in pairs))
        elif len(qubits) == 1 and per_group <= definition.num_controls:
            group = (*(control for control, _ in pairs), pairs[0][1])
        else:
            raise ValueError(_not_pairs(definition, targets))
        num_classical = sum(not target.is_qubit_target for target in group)
        if num_classical != size - len(qubits) or not group[-1].is_qubit_target:
            raise ValueError(_not_pairs(definition, targets))
        groups.append(group)
    return groups


def _not_pairs(definition: GateDefinition, targets: Sequence[stim.GateTarget]) -> str:
    written = " ".join(text_of_target(target) for target in targets)
    name = definition.name
    advice = "" if definition.needs_record else f" Without records it is written {name}, with no tag."
    return (
        f"CZ[{name}] needs all pairs of a control and a qubit of a {name}, and a control is a record or a"
        f" sweep bit; got {written}.{advice}"
    )


def text_of_target(target: stim.GateTarget) -> str:
    """A target as circuit text has it.

    Examples:
        >>> text_of_target(stim.target_rec(-2)), text_of_target(stim.target_inv(stim.target_x(3)))
        ('rec[-2]', '!X3')
    """
    if target.is_measurement_record_target:
        return f"rec[-{-target.value}]"
    if target.is_sweep_bit_target:
        return f"sweep[{target.value}]"
    if target.is_combiner:
        return "*"
    letter = "" if target.pauli_type == "I" else target.pauli_type
    return f"{'!' if target.is_inverted_result_target else ''}{letter}{target.value}"
