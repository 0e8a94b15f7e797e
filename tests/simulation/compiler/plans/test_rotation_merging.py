"""Merging of rotations: those about equal Paulis become one operation, where nothing stands between them."""

import random
from dataclasses import replace
from typing import Any

import pytest

from stim_nonclifford.simulation.compiler.plans import rotation_merging
from stim_nonclifford.simulation.compiler.plans.rotation_merging import merge_rotations
from stim_nonclifford.simulation.compiler.sweeps.operations import Operation, OperationKind, peak_width

from ....support.laws.random_operations import activate, measure, negative, random_operations, rotate


def steps_of(operation: Operation) -> list[int]:
    return [operation.step] if operation.measures else [term.step for term in operation.terms]


def commute(a: Operation, b: Operation) -> bool:
    return ((a.x & b.z).bit_count() + (a.z & b.x).bit_count()) % 2 == 0


def test_equal_paulis_are_merged_unless_something_stands_between_them() -> None:
    """Seed 8."""
    rng = random.Random(8)
    stopped = 0
    for _ in range(300):
        operations = merge_rotations(random_operations(rng, 30))
        for j, later in enumerate(operations):
            if later.kind != OperationKind.ROTATE:
                continue
            between: list[Operation] = []
            for earlier in reversed(operations[:j]):
                if earlier.measures:
                    break
                if (earlier.x, earlier.z) == (later.x, later.z):
                    # A rotation cannot pass one with which it does not commute, nor an activation of a
                    # coordinate on which it acts.
                    assert any(
                        not commute(other, later)
                        or (
                            other.kind == OperationKind.ACTIVATE and (other.x | other.z) & (later.x | later.z)
                        )
                        for other in between
                    )
                    stopped += 1
                    break
                between.append(earlier)
    assert stopped > 100


def merged_steps(*operations: Operation) -> list[list[int]]:
    """The steps of the merged operations; in the list, steps are given anew, from 0."""
    numbered = []
    for k, operation in enumerate(operations):
        if operation.measures:
            operation = measure(operation.width, operation.x, operation.z, number=k)
        elif operation.kind == OperationKind.ACTIVATE:
            operation = activate(operation.width, diagonal=not operation.x, number=k)
        else:
            operation = rotate(operation.width, operation.x, operation.z, number=k)
        numbered.append(operation)
    return [steps_of(operation) for operation in merge_rotations(numbered)]


def test_a_rotation_passes_what_commutes_with_it() -> None:
    two = activate(0), activate(1)
    assert merged_steps(*two, rotate(2, 1, 2), rotate(2, 2, 1), rotate(2, 1, 2)) == [[0], [1], [2, 4], [3]]
    assert merged_steps(*two, rotate(2, 1, 2), rotate(2, 2, 0), rotate(2, 1, 2)) == [[0], [1], [2], [3], [4]]
    assert merged_steps(*two, rotate(2, 1, 0), rotate(2, 2, 0), rotate(2, 1, 0)) == [[0], [2, 4], [1], [3]]
    assert merged_steps(*two, rotate(2, 1, 0), rotate(2, 3, 1), rotate(2, 1, 0)) == [[0], [2], [1], [3], [4]]


def test_a_rotation_joins_the_one_that_wakes_its_coordinate() -> None:
    end = measure(2, 1, 0)
    assert merged_steps(activate(0), activate(1), rotate(2, 0, 1), end) == [[0, 2], [1], [3]]
    assert merged_steps(activate(0, diagonal=False), activate(1), rotate(2, 1, 0)) == [[0, 2], [1]]


def test_a_rotation_goes_to_where_the_vector_is_smaller() -> None:
    result = merge_rotations([activate(0), activate(1, number=1), rotate(2, 1, 0, number=2)])
    assert [(steps_of(operation), operation.width) for operation in result] == [([0], 0), ([2], 1), ([1], 1)]


def test_a_diagonal_rotation_that_commutes_with_a_measurement_comes_after_it() -> None:
    two = activate(0), activate(1, number=1)
    first, second = measure(2, 3, 0, number=4), measure(1, 1, 0, number=5, outcome=1)
    between = rotate(2, 1, 0, number=2), rotate(2, 0, 3, number=3)
    result = merge_rotations([*two, *between, first, second])
    assert [(steps_of(operation), operation.width, operation.z) for operation in result[-3:]] == [
        ([4], 2, 0),
        ([3], 1, 1),  # without the pivot's bit
        ([5], 1, 0),
    ]


def test_postponed_rotations_are_rewritten_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each measurement that they pass, which would take the square of the number of rounds."""
    rounds, rewritten = 100, 0

    def counted(*arguments: Any, **changes: Any) -> Any:
        nonlocal rewritten
        rewritten += 1
        return replace(*arguments, **changes)

    monkeypatch.setattr(rotation_merging, "replace", counted)
    operations = [activate(0), activate(1, number=1)]
    for k in range(rounds):
        number = 2 + 3 * k
        operations += [activate(2, number=number), rotate(3, 0, 3, number=number + 1)]
        operations.append(measure(3, 4, 0, number=number + 2, outcome=k))
    result = merge_rotations([*operations, measure(2, 1, 0, number=2 + 3 * rounds, outcome=rounds)])
    assert steps_of(result[-2]) == [3 + 3 * k for k in range(rounds)]
    assert (result[-2].z, result[-2].width) == (3, 2)
    assert rewritten <= 3 * rounds


def test_a_diagonal_rotation_that_no_measurement_needs_is_left_out() -> None:
    two = activate(0), activate(1)
    assert merged_steps(*two, rotate(2, 1, 0), rotate(2, 0, 3), measure(2, 3, 0)) == [[0], [2], [1], [4]]


def test_opposite_paulis_are_one_operation_with_a_reversed_term() -> None:
    operations = [
        activate(0),
        rotate(1, 1, 0, number=1),
        negative(rotate(1, 1, 0, number=2)),
        measure(1, 0, 1),
    ]
    [_, merged, _] = merge_rotations(operations)
    assert [(term.step, term.is_reversed) for term in merged.terms] == [(1, False), (2, True)]


@pytest.mark.parametrize(
    ("operations", "peak"),
    [
        ([], 0),
        ([activate(0), measure(1, 1, 0)], 0),
        ([activate(0), measure(1, 0, 1)], 1),
        ([activate(0), activate(1), measure(2, 2, 0)], 1),  # a coin of its own
        ([activate(0), activate(1), measure(2, 2, 1)], 1),
        ([activate(0), activate(1), rotate(2, 0, 2), measure(2, 2, 1)], 1),  # by the sum of two angles
        ([activate(0), activate(1), measure(2, 0, 3)], 2),  # in the basis in which it was activated
        ([activate(0), activate(1, diagonal=False), measure(2, 2, 1)], 2),
        ([activate(0), activate(1), rotate(2, 0, 3), measure(2, 2, 1)], 2),  # something is between
        ([activate(0), activate(1), measure(2, 1, 2)], 2),  # another coordinate leaves
        ([activate(0), activate(1), activate(2), measure(3, 4, 3)], 2),
    ],
)
def test_peak_width(operations: list[Operation], peak: int) -> None:
    assert peak_width(merge_rotations(operations)) == peak
