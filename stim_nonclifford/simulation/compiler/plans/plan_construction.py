"""Plan construction: puts operations in order, and writes them, rows and tables to plain arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ...plan import MAX_INDEX_BITS, OPERATION_DTYPE, ROTATION_TERM_DTYPE, SamplingPlan, SparseRows
from ..algebra.gf2 import ones
from ..algebra.sparse_rows import cut, joined, numbers_of_rows, odd_sums, single_bits, taken
from ..sweeps.effects import EffectTable
from ..sweeps.operations import Operation, OperationKind, RotationTerm, peak_width
from .leakage_tables import leakage_tables
from .requested_outputs import RequestedOutputs
from .rotation_merging import merge_rotations
from .row_layout import RowLayout, split_checks
from .sampling_tables import alias_table, poisson_thresholds
from .width_reordering import reorder_for_width


def schedule(operations: Sequence[Operation], table: EffectTable) -> list[Operation]:
    """The operations in the order and form in which an engine applies them."""
    reordered = reorder_for_width(
        operations,
        table.outcomes,
        table.num_outputs,
        keep_measurements_in_order=len(table.decisions) > 0,
    )
    return merge_rotations(reordered)


def construct_plan(
    table: EffectTable,
    needed: Sequence[Operation],
    scheduled: Sequence[Operation],
    requested: RequestedOutputs,
    output_constant: int,
) -> SamplingPlan:
    """Constructs the plan for one question.

    ``needed`` operations are in the order of the forward sweep, in which signs and checks are numbered;
    ``scheduled`` are the same ones after the passes that reorder, merge and join them. ``output_constant``
    has the outputs on the base path.
    """
    signs = [
        table.num_outputs + term.sign
        for operation in needed
        if operation.kind == OperationKind.ROTATE
        for term in operation.terms
    ]
    checks = split_checks(_effects_of_outcomes(needed, table), requested.postselected)
    constant = table.constant ^ output_constant
    layout = RowLayout(table, constant, signs, checks, requested.reported)
    mechanism_rows, mechanism_rates, sites = layout.mechanisms()
    # A record that decays may flip a check after all leakage.
    num_final_checks = 0 if layout.decays else layout.num_checks
    leakage = leakage_tables(
        table.leakage.scripts, layout.leakage_rows(), num_final_checks, int(sites.max(initial=-1)) + 1
    )
    mechanism_rows = joined(mechanism_rows, SparseRows.of([()] * len(leakage.entries)))
    effects, event_readouts = cut(mechanism_rows, layout.num_row_bits)
    coin_rows, hidden_coins = layout.coins()
    coins, coin_readouts = cut(coin_rows, layout.num_row_bits)
    leakage_rows, leakage_readouts = cut(leakage.rows, layout.num_row_bits)
    mechanism_rates = np.concatenate([mechanism_rates, leakage.rates])
    sites = np.concatenate([sites, leakage.sites])
    alias_thresholds, alias_indices = alias_table(mechanism_rates)

    num_signs, num_outcome_checks = len(signs), len(checks.outcome_dependent)
    first_output = num_signs + num_outcome_checks
    branch_bits = single_bits([*signs, *checks.outcome_dependent, *requested.reported])

    outcome_rows = odd_sums(_effects_of_outcomes(scheduled, table), branch_bits, table.num_bits)
    deadlines = np.full(num_outcome_checks, -1, dtype=np.int32)
    is_check = (outcome_rows.bits >= num_signs) & (outcome_rows.bits < first_output)
    outcomes_of_bits = numbers_of_rows(outcome_rows)
    np.maximum.at(deadlines, outcome_rows.bits[is_check] - num_signs, outcomes_of_bits[is_check])
    constant_bits = odd_sums(SparseRows.of([ones(constant)]), branch_bits, table.num_bits).bits
    branch_constant = {k for k in constant_bits.tolist() if k < first_output}
    branch_constant ^= set(layout.implied_branch_bits)
    terms = [term for operation in scheduled for term in operation.terms]
    return SamplingPlan(
        num_checks=layout.num_checks,
        num_signature_bits=layout.num_signature_bits,
        num_outputs=len(requested.reported),
        never_kept=layout.never_kept,
        row_sources=layout.row_sources,
        constant=_int32(layout.constant_row()),
        effects=effects,
        rates=mechanism_rates,
        sites=sites,
        count_thresholds=poisson_thresholds(float(mechanism_rates.sum())),
        alias_thresholds=alias_thresholds,
        alias_indices=alias_indices,
        coins=coins,
        operations=operation_array(scheduled),
        operation_steps=_int32(operation.step for operation in scheduled),
        rotation_terms=term_array(terms, {bit - table.num_outputs: k for k, bit in enumerate(signs)}),
        rotation_term_steps=_int32(term.step for term in terms),
        num_signs=num_signs,
        num_outcome_checks=num_outcome_checks,
        branch_constant=_int32(sorted(branch_constant)),
        signature_images=SparseRows.of(layout.signature_images),
        outcome_effects=outcome_rows,
        outcome_check_deadlines=deadlines,
        peak_width=peak_width(scheduled),
        leakage_items=leakage.items,
        leakage_rows=leakage_rows,
        leakage_final_checks=leakage.final_checks,
        leakage_entries=leakage.entries,
        leakage_always=leakage.always,
        decisions=layout.decision_rows(),
        num_readout_decays=len(layout.decays),
        readout_constant=_int32(layout.readout_constant()),
        readout_predecessors=_int32(layout.readout_predecessors),
        event_readouts=event_readouts,
        coin_readouts=coin_readouts,
        leakage_readouts=leakage_readouts,
        hidden_coins=cut(hidden_coins, layout.num_row_bits)[1],
        high_x=_high_rows([operation.x for operation in scheduled]),
        high_z=_high_rows([operation.z for operation in scheduled]),
    )


def _effects_of_outcomes(operations: Sequence[Operation], table: EffectTable) -> SparseRows:
    """The effects of the outcomes of some operations, in their order."""
    return taken(table.outcomes, [operation.outcome for operation in operations if operation.measures])


def operation_array(operations: Sequence[Operation]) -> npt.NDArray[np.void]:
    """The operations of a plan, of dtype ``OPERATION_DTYPE``."""
    array = np.zeros(len(operations), dtype=OPERATION_DTYPE)
    low = (1 << MAX_INDEX_BITS) - 1
    segment = first_term = 0
    for k, operation in enumerate(operations):
        end_term = first_term + len(operation.terms)
        array[k] = (
            operation.x & low,
            operation.z & low,
            operation.kind,
            operation.width,
            operation.i_power,
            operation.pivot,
            segment if operation.measures else -1,
            segment,
            first_term,
            end_term,
        )
        segment += operation.measures
        first_term = end_term
    return array


def _high_rows(masks: Sequence[int]) -> SparseRows:
    """The bits of masks from ``MAX_INDEX_BITS`` on; no rows if there are no such bits."""
    if not any(mask >> MAX_INDEX_BITS for mask in masks):
        return SparseRows.of([])
    return SparseRows.of([bit for bit in ones(mask) if bit >= MAX_INDEX_BITS] for mask in masks)


def term_array(terms: Sequence[RotationTerm], branch_bits: dict[int, int]) -> npt.NDArray[np.void]:
    """The terms of a plan, of dtype ``ROTATION_TERM_DTYPE``; ``branch_bits`` numbers the signs."""
    array = np.zeros(len(terms), dtype=ROTATION_TERM_DTYPE)
    for k, term in enumerate(terms):
        angle = term.half_turns * math.pi / 2
        bit = branch_bits.get(term.sign, -1)  # the sign of an activation is always +
        array[k] = math.cos(angle), math.sin(angle), bit, term.is_reversed
    return array


def _int32(values: Iterable[int]) -> npt.NDArray[np.int32]:
    return np.fromiter(values, dtype=np.int32)
