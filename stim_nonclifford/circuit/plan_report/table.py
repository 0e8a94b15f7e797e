"""The operations of a plan as text: similar operations in one row, with a bar for the width of the vector."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Hashable, Sequence
from itertools import groupby

import numpy as np

from ...simulation.plan import SamplingPlan
from ...simulation.reduction import Obstacle, Reduction, reduction_of
from .operations import PlannedOperation

_LINE_LENGTH = 100
_BAR_LENGTH = 24
_TARGETS_LENGTH = 32
_HEADER = ("width", "", "coefficients", "operations, angles in half-turns", "line", "tick", "instruction")

# The operations that an engine applies in one pass over the vector: one, and those joined with it.
_Pass = list[PlannedOperation]
_Row = list[_Pass]


def summary(plan: SamplingPlan, operations: Sequence[PlannedOperation]) -> list[str]:
    """The figures of a plan."""
    lines = textwrap.wrap(str(plan), _LINE_LENGTH)
    lines.append(f"{100 * math.exp(-plan.mean_events):.3g}% of the shots have no noise event.")
    if not operations:
        lines.append("No quantum operations: the requested outputs depend on noise and coins alone.")
        return lines
    reduction = reduction_of(plan)
    work = (
        f"a shot takes {total_coefficients(operations):,} coefficient operations; a known outcome law, none."
    )
    if reduction.eliminates:
        width = reduction.dense_width
        found = f"Width {width} instead of {plan.peak_width}. {_with_elimination(reduction)}"
        lines += [*textwrap.wrap(found, _LINE_LENGTH), f"With all coefficients, {work}"]
    else:
        lines.append(f"The vector has {16 << plan.peak_width:,} bytes. Simulating {work}")
    lines += textwrap.wrap(_what_needs_vector(plan, operations, reduction), _LINE_LENGTH)
    if plan.peak_width:
        widest = max(operations, key=lambda operation: operation.width)
        place = f"line {widest.line}, tick {widest.tick}"
        lines.append(f"The peak is first reached by {widest.instruction} in {place}.")
    return lines


def _with_elimination(reduction: Reduction) -> str:
    """What a shot takes with an elimination."""
    if reduction.dense_width == 0:
        needs = "is Clifford, so that each outcome is certain or fair"
    else:
        needs = (
            f"is {reduction.dense_rotations} rotations, on up to {reduction.dense_width} coordinates at a"
            " time; all other outcomes are certain or fair"
        )
    return (
        f"What the {reduction.measurements} measurements need of {reduction.t_rotations} T rotations {needs}."
        " An elimination over GF(2) tells which."
        f" Noise chooses among {reduction.conditional_cliffords} Clifford gates; up to {reduction.coins}"
        " outcomes are fair."
    )


def _what_needs_vector(
    plan: SamplingPlan, operations: Sequence[PlannedOperation], reduction: Reduction
) -> str:
    """What makes a shot need coefficients; nothing if no gate does."""
    if reduction.obstacle is Obstacle.NONE:
        if reduction.eliminates:
            return ""
        return (
            "An elimination over GF(2) could replace the vector, as every outcome is certain or fair"
            f" (up to {reduction.coins} are fair); but at width {plan.peak_width} the vector takes less time."
        )
    sizes = np.maximum(plan.operations["end_term"] - plan.operations["first_term"], 1)
    places = np.concatenate([[0], np.cumsum(sizes)]).tolist()

    def named(number: int) -> str:
        found = operations[places[number]]
        return f"{found.instruction} in line {found.line}, tick {found.tick}"

    if reduction.measurement >= 0:
        needs = (
            f"What stays dense: {named(reduction.measurement)} needs the rotations with which it"
            f" anticommutes, from {named(reduction.rotation)} on"
        )
        if reduction.obstacle is Obstacle.CORE:
            needs += ", and they are not Clifford together"
        else:
            needs += ", whose angle is no multiple of that of T"
        if reduction.eliminates:
            return f"{needs}."
        return (
            f"{needs}. An elimination over GF(2), of width {reduction.dense_width}, takes over half the time."
        )
    reasons = {
        Obstacle.NOT_DIAGONAL: "is about a Pauli that is no product of Zs on the coordinates of the vector",
        Obstacle.LATE_SIGN: "has a sign that a later outcome decides",
    }
    reason = reasons.get(reduction.obstacle)
    return f"What stays dense: {named(reduction.rotation)} {reason}." if reason else ""


def total_coefficients(operations: Sequence[PlannedOperation]) -> int:
    """The coefficients of all operations."""
    return sum(operation.coefficients for operation in operations)


def operation_table(operations: Sequence[PlannedOperation], max_rows: int) -> list[str]:
    """The table of operations, with similar adjacent operations in one row."""
    rows = _grouped(operations, max_rows)
    cells = [_HEADER, *(_cells(row) for row in rows[:max_rows])]
    sizes = [max(len(row[k]) for row in cells) for k in range(len(_HEADER))]
    right = {"coefficients", "line", "tick"}
    lines = [
        "  ".join(
            cell.rjust(size) if name in right else cell.ljust(size)
            for cell, size, name in zip(row, sizes, _HEADER, strict=True)
        ).rstrip()
        for row in cells
    ]
    if len(rows) > max_rows:
        lines.append(f"... {len(rows) - max_rows} more rows; table(max_rows) shows more")
    return lines


def _grouped(operations: Sequence[PlannedOperation], max_rows: int) -> list[_Row]:
    """Combines adjacent operations into rows: no more of them than are needed to have ``max_rows`` rows."""
    passes: list[_Pass] = []
    for operation in operations:
        if operation.joined:
            passes[-1].append(operation)
        else:
            passes.append([operation])
    stages = _stages(passes)
    keys: list[Callable[[int], Hashable]] = [
        lambda k: _origin(passes[k]),
        lambda k: _kind(passes[k]),
        lambda k: stages[k],
    ]
    rows: list[_Row] = []
    for key in keys:
        rows = [[passes[k] for k in group] for _, group in groupby(range(len(passes)), key)]
        if len(rows) <= max_rows:
            break
    return rows


def _origin(work: _Pass) -> Hashable:
    first = work[0]
    return _kind(work), first.sign_controlled, first.half_turns, first.instruction, first.line, first.tick


def _kind(work: _Pass) -> str:
    if work[0].weak:
        return "weak measurement"
    return "diagonal rotation" if work[0].diagonal else work[0].kind


def _stages(passes: Sequence[_Pass]) -> list[int]:
    """For each pass, the number of its stage; activations and measurements are in alternating stages."""
    stages: list[int] = []
    stage, measuring = 0, False
    for work in passes:
        if work[0].kind != "rotation" and measuring != (work[-1].kind == "measurement"):
            measuring = not measuring
            stage += 1
        stages.append(stage)
    return stages


def _cells(row: _Row) -> tuple[str, ...]:
    operations = [operation for work in row for operation in work]
    before = row[0][0].width - (_kind(row[0]) == "activation")
    after = row[-1][0].width - (_kind(row[-1]) == "measurement")
    return (
        f"{before}" if before == after else f"{before} -> {after}",
        "#" * min(max(operation.width for operation in operations), _BAR_LENGTH),
        f"{sum(operation.coefficients for operation in operations):,}",
        _what(row),
        _span([operation.line for operation in operations]),
        _span([operation.tick for operation in operations]),
        _where(operations),
    )


def _what(row: _Row) -> str:
    kinds = [_kind(work) for work in row]
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    text = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items())
    gates = [operation for work in row for operation in work if operation.kind != "measurement"]
    angles = {abs(gate.half_turns) for gate in gates}
    if len(angles) == 1:
        sign = "±" if any(gate.sign_controlled for gate in gates) else ""
        text += f" by {sign}{angles.pop():.4g}"
    if len(gates) > sum(kind != "measurement" for kind in kinds):
        text += f" ({len(gates)} gates)"
    outcomes = [operation.outcome for work in row for operation in work if operation.outcome is not None]
    if outcomes:
        text += f", outcome{'s' * (len(outcomes) > 1)} {_span(outcomes)}"
    return text


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low}-{high}"


def _where(operations: Sequence[PlannedOperation]) -> str:
    """The instructions with their targets, in the order of the operations."""
    targets: dict[str, dict[str, None]] = {}
    for operation in operations:
        targets.setdefault(operation.instruction, {})[operation.target] = None
    text = "; ".join(f"{name} {' '.join(of_name)}" for name, of_name in targets.items())
    return text if len(text) <= _TARGETS_LENGTH else f"{text[: _TARGETS_LENGTH - 4]} ..."
