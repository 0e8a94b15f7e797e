"""Weak measurements: coordinates that are activated and measured at once need no larger vector."""

from __future__ import annotations

import pytest

from stim_nonclifford.simulation.compiler.plans.rotation_merging import merge_rotations
from stim_nonclifford.simulation.compiler.sweeps.operations import Operation, peak_width

from ....support.laws.random_operations import activate, measure, rotate


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
