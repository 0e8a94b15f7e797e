"""Gates of an OpenQASM program: definitions, modifiers, and the qubits that they are applied to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import openqasm3.ast as ast

from ....base.arguments import did_you_mean
from ....base.errors import ResourceLimitError
from ..angles import half_turns_of
from ..standard_gates import BUILT_IN, OPENQASM_3, STANDARD_GATES, StandardGate
from ..steps import Phase
from .controls import Controlled, Term, inverse_of, size_of
from .expressions import Evaluator
from .scopes import Variable
from .values import Refusal

_DEEPEST = 200
_MOST = 1_000_000


@dataclass(frozen=True)
class Definition:
    """A gate that the program defines."""

    name: str
    angles: list[str]
    qubits: list[str]
    # Each gate in it, and what its name stands for; None is ``gphase``.
    body: list[tuple[Any, Definition | StandardGate | None]]
    constants: dict[str, Variable]  # the names that it knows
    size: int  # number of its gates, or less
    depth: int  # number of definitions inside one another

    @property
    def num_angles(self) -> int:
        """Number of its parameters."""
        return len(self.angles)

    @property
    def num_qubits(self) -> int:
        """Number of its qubits."""
        return len(self.qubits)


class Gates:
    """Applies gates."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def define(self, node: ast.QuantumGateDefinition) -> None:
        """Declares a gate."""
        scopes, name = self._evaluator.scopes, node.name.name
        if not scopes.is_global:
            raise Refusal(node, "gates are defined outside of all blocks.")
        if name in BUILT_IN and name != "CX":
            raise Refusal(node, f"{name} is a gate of the language. Choose another name.")
        qubits = [each.name for each in node.qubits]
        angles = [each.name for each in node.arguments]
        names = [*angles, *qubits]
        twice = next((each for each in names if names.count(each) > 1), None)
        if twice is not None:
            raise Refusal(node, f"{twice} is given twice. Choose another name.")
        constants = scopes.constants()
        body, size, depth = [], 0, 1
        for inner in node.body:
            if isinstance(inner, ast.QuantumBarrier):
                continue
            if not isinstance(inner, ast.QuantumGate | ast.QuantumPhase):
                raise Refusal(inner, "the definition of a gate has gates alone here. Write it out in gates.")
            self._check_names(inner, {*constants, *angles}, qubits)
            if isinstance(inner, ast.QuantumGate) and inner.name.name in names:
                raise Refusal(inner, f"{inner.name.name} is a parameter here, and no gate.")
            target = None if isinstance(inner, ast.QuantumPhase) else self._target(inner, name)
            body.append((inner, target))
            size += (target.size if isinstance(target, Definition) else 1) * self._least_power(inner)
            depth = max(depth, target.depth + 1 if isinstance(target, Definition) else 1)
        if depth > _DEEPEST:
            raise Refusal(
                node, f"more than {_DEEPEST} definitions are inside one another. Write some of them out."
            )
        definition = Definition(name, angles, qubits, body, constants, size, depth)
        scopes.declare(node, name, Variable(definition))

    def _check_names(self, inner: Any, known: set[str], qubits: Sequence[str]) -> None:
        for operand in inner.qubits:
            if not isinstance(operand, ast.Identifier):
                raise Refusal(operand, "the qubits of a gate have no index.")
            if operand.name not in qubits:
                raise Refusal(operand, f"the definition has no qubit {operand.name}.")
        arguments = [inner.argument] if isinstance(inner, ast.QuantumPhase) else inner.arguments
        for used in identifiers([*arguments, *(each.argument for each in inner.modifiers)]):
            if used.name not in known:
                raise Refusal(used, f"{used.name} is no parameter, and no constant that is declared before.")

    def _least_power(self, node: Any) -> int:
        power = 1
        for modifier in node.modifiers:
            if modifier.modifier.name == "pow" and not list(identifiers([modifier.argument])):
                power *= abs(self._whole_power(modifier.argument))
        return power

    def _target(self, node: ast.QuantumGate, defined: str = "") -> Definition | StandardGate:
        """What the name of a gate stands for."""
        name, evaluator = node.name.name, self._evaluator
        if name == defined:
            raise Refusal(node, f"the gate {name} calls itself.")
        variable = evaluator.scopes.find(name)
        if variable is not None:
            if variable.value is None:
                raise Refusal(
                    node, f"{name} is opaque: it has no definition. Define it with gate in its place."
                )
            if not isinstance(variable.value, Definition | StandardGate):
                raise Refusal(node, f"{name} is no gate.")
            return variable.value
        if evaluator.is_version_2:
            standard = STANDARD_GATES.get("u" if name == "U" else name)
        else:
            standard = BUILT_IN.get(name) or OPENQASM_3.get(name) or STANDARD_GATES.get(name)
        if standard is None:
            raise Refusal(node, f"there is no gate {name}.{did_you_mean(name, [*BUILT_IN, *STANDARD_GATES])}")
        return standard

    def applied(self, node: Any, qubits: Sequence[int]) -> list[Term]:
        """The gate of a statement on qubits."""
        return self._applied(node, self._target(node) if isinstance(node, ast.QuantumGate) else None, qubits)

    def _applied(
        self, node: Any, target: Definition | StandardGate | None, qubits: Sequence[int]
    ) -> list[Term]:
        if len(set(qubits)) < len(qubits):
            raise Refusal(node, "a gate acts on different qubits, and one is given twice.")
        controls: list[tuple[int, bool]] = []
        power = 1
        for modifier in node.modifiers:
            kind, argument = modifier.modifier.name, modifier.argument
            if kind in ("ctrl", "negctrl"):
                count = 1 if argument is None else self._evaluator.whole(argument)
                taken = len(controls)
                if count < 1:
                    raise Refusal(node, f"the number of controls is at least 1, and not {count}.")
                if taken + count > len(qubits):
                    raise Refusal(node, "there are fewer qubits than controls.")
                controls += [(qubit, kind == "ctrl") for qubit in qubits[taken : taken + count]]
            elif kind == "pow":
                power *= self._whole_power(argument)
            else:
                power = -power
        terms = self._without_modifiers(node, target, qubits[len(controls) :])
        _check_size(node, size_of(terms) * abs(power))
        terms = (inverse_of(terms) if power < 0 else terms) * abs(power)
        return [Controlled.of(controls, terms)] if controls else terms

    def _whole_power(self, node: Any) -> int:
        value = self._evaluator.number(node)
        if not value.is_integer():
            raise Refusal(
                node,
                f"a whole number is needed here, and this is {value}. Write the root itself, such as sx.",
            )
        return int(value)

    def _without_modifiers(
        self, node: Any, target: Definition | StandardGate | None, qubits: Sequence[int]
    ) -> list[Term]:
        number = self._evaluator.number
        if target is None:
            if qubits:
                raise Refusal(node, "gphase acts on no qubits but its controls.")
            return [Phase(half_turns_of(number(node.argument)))]
        name, angles = node.name.name, [number(each) for each in node.arguments]
        if (len(angles), len(qubits)) != (target.num_angles, target.num_qubits):
            raise Refusal(
                node,
                f"{name} has {target.num_angles} parameters and {target.num_qubits} qubits, and not"
                f" {len(angles)} and {len(qubits)}.",
            )
        if isinstance(target, StandardGate):
            return list(target.steps(*map(half_turns_of, angles), *qubits))
        _check_size(node, target.size)
        where = dict(zip(target.qubits, qubits, strict=True))
        local = {each: Variable(angle) for each, angle in zip(target.angles, angles, strict=True)}
        terms: list[Term] = []
        with self._evaluator.scopes.only({**target.constants, **local}):
            for inner, inner_target in target.body:
                terms += self._applied(inner, inner_target, [where[each.name] for each in inner.qubits])
        return terms


def _check_size(node: Any, count: int) -> None:
    if count > _MOST:
        raise ResourceLimitError(
            f"Line {node.span.start_line}: one gate consists of more than {_MOST:,} gates."
        )


def identifiers(nodes: Sequence[Any]) -> Iterator[ast.Identifier]:
    """The names in expressions, without those of functions."""
    for node in nodes:
        if isinstance(node, ast.Identifier):
            yield node
        elif isinstance(node, ast.FunctionCall):
            yield from identifiers(node.arguments)
        elif isinstance(node, list):
            yield from identifiers(node)
        elif is_dataclass(node):
            yield from identifiers([getattr(node, each.name) for each in fields(node)])
