"""The distribution of outputs that effects and operations give, without a plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stim_nonclifford.simulation.compiler.algebra.gf2 import masks_of
from stim_nonclifford.simulation.compiler.sweeps.effects import EffectTable
from stim_nonclifford.simulation.compiler.sweeps.operations import Operation, RotationTerm

from .exact import Distribution, convolve
from .operation_vectors import Outcomes, paths


def effect_distribution(table: EffectTable, constant: int) -> Distribution:
    """The distribution of the sum of the effects of all that is random, but for quantum outcomes."""
    causes: list[dict[int, float]] = [
        *({effect: float(-np.expm1(-2 * rate) / 2)} for effect, rate in table.noise.independent().items()),
        *table.noise.exclusive(),
        *({effect: 0.5} for effect in masks_of(table.coins)),
    ]
    return convolve(causes, table.constant ^ constant)


def outcome_law(operations: Sequence[Operation], table: EffectTable, effect: int) -> Distribution:
    """The distribution of the sum of an effect and those of the outcomes that follow from it."""

    def total(outcomes: Outcomes) -> int:
        result = effect
        for number, outcome in outcomes.items():
            result ^= outcome * table.outcomes[number]
        return result

    def is_reversed(term: RotationTerm, outcomes: Outcomes) -> bool:
        return bool(total(outcomes) >> table.num_outputs + term.sign & 1)

    law: Distribution = {}
    for outcomes, vector in paths(operations, is_reversed):
        result = total(outcomes)
        law[result] = law.get(result, 0.0) + float(np.vdot(vector, vector).real)
    return law


def output_distribution(operations: Sequence[Operation], table: EffectTable, constant: int) -> Distribution:
    """The distribution of all outputs, as bits of an int.

    Args:
        operations: The operations of the forward sweep, or what later passes make of them.
        table: What the backward sweep found.
        constant: The outputs on the base path without noise.
    """
    signs = (1 << table.num_signs) - 1 << table.num_outputs
    laws: dict[int, Distribution] = {}  # by the signs: the outputs of an effect are added to those of its law
    found: Distribution = {}
    for effect, probability in effect_distribution(table, constant).items():
        if effect & signs not in laws:
            laws[effect & signs] = outcome_law(operations, table, effect & signs)
        for result, conditional in laws[effect & signs].items():
            outputs = (effect ^ result) & (1 << table.num_outputs) - 1
            found[outputs] = found.get(outputs, 0.0) + probability * conditional
    return found
