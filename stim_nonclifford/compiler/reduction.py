"""From effects to a plan: only what a caller reads, in as few bits as possible.

* *Noise-only checks* are the sums of postselected outputs in which no quantum outcome occurs (a sum of two
  outcome-dependent detectors may be one). A shot that fails one is discarded before any quantum work.
* The *signature* is a basis of the sign and outcome-check bits modulo the checks: all that the outcome
  law of a shot that passes the checks depends on.
* Mechanisms with equal effects on checks, signature and reported outputs are one mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..plan import MAX_INDEX_BITS, OPERATION_DTYPE, Plan, SparseRows
from .coordinates import Operation, OperationKind, QuantumProgram
from .gathering import gathered, peak_width_of
from .gf2 import columns_of, independent, ones, parities, relations
from .mechanisms import EffectTable
from .sampling_tables import alias_table, poisson_thresholds
from .scheduling import narrow_order, outcomes_in, reordered

__all__ = ["needed_operations", "needed_width", "operation_array", "reduce_to_plan"]

# Above this many different bits a basis is not worth its elimination: rows are long anyway.
_MAX_BASIS_BITS = 1024

# In the order of the circuit there may be more active coordinates than an index has bits.
_WIDE_OPERATION_DTYPE = np.dtype(
    [
        (name, np.dtype(object) if name in ("x", "z") else OPERATION_DTYPE[name])
        for name in OPERATION_DTYPE.names or ()
    ]
)


def reduce_to_plan(
    quantum: QuantumProgram,
    table: EffectTable,
    *,
    reported: Sequence[int],
    postselected: Sequence[int],
    output_constant: int,
) -> Plan:
    """Builds the plan for one way of sampling a circuit.

    Args:
        quantum: What the forward sweep found.
        table: What the backward sweep found.
        reported: The outputs that the caller reads, in the order in which the plan shall number them.
        postselected: The outputs that must be 0 in a kept shot.
        output_constant: The outputs, as a mask, on the base path without noise.

    Returns:
        The plan.
    """
    num_operations, num_outcomes = needed_operations(quantum, table, reported, postselected)
    outcomes = table.outcomes[:num_outcomes]
    checks = _split_checks(outcomes, postselected)
    signs = [table.num_outputs + sign for sign in table.sign_of_operation[:num_operations] if sign >= 0]

    constant = table.constant ^ output_constant
    layout = _Layout(table, constant, signs, checks, reported)
    rates, sites, site_numbers = layout.mechanisms()
    mechanism_rows = [*rates, *(row for row, _ in sites)]
    mechanism_rates = np.array([*rates.values(), *(rate for _, rate in sites)], dtype=np.float64)
    alias_thresholds, alias_indices = alias_table(mechanism_rates)

    branch_bits = {bit: k for k, bit in enumerate(signs)}
    num_signs, num_outcome_checks = len(signs), len(checks.outcome_dependent)

    def branch_row(effect: int) -> list[int]:
        flipped = sorted(branch_bits[bit] for bit in ones(effect) if bit in branch_bits)
        flipped += [
            num_signs + k
            for k, mask in enumerate(checks.outcome_dependent)
            if (effect & mask).bit_count() & 1
        ]
        first_output = num_signs + num_outcome_checks
        return flipped + [first_output + k for k, bit in enumerate(reported) if effect >> bit & 1]

    outcome_rows = [branch_row(effect) for effect in outcomes]
    traced = _with_steps(quantum.operations[:num_operations], table, branch_bits)
    order = narrow_order(traced, signs_and_outcomes(traced, table))
    if order is not None:
        outcome_rows = [outcome_rows[k] for k in outcomes_in(traced, order)]
        traced = reordered(traced, order)
    traced = gathered(traced)
    deadlines = [
        max((j for j, row in enumerate(outcome_rows) if num_signs + k in row), default=-1)
        for k in range(num_outcome_checks)
    ]
    first_output = num_signs + num_outcome_checks
    branch_constant = {k for k in branch_row(constant) if k < first_output}
    branch_constant ^= set(layout.implied_branch_bits)
    operations = traced[list(OPERATION_DTYPE.names or ())].astype(OPERATION_DTYPE)
    return Plan(
        num_checks=layout.num_checks,
        num_signature_bits=layout.num_signature_bits,
        num_outputs=len(reported),
        never_kept=layout.never_kept,
        row_sources=_sparse(ones(mask) for mask in layout.row_masks),
        constant=_int32(layout.constant_row()),
        effects=_sparse(ones(row) for row in mechanism_rows),
        rates=mechanism_rates,
        sites=_int32([-1] * len(rates) + site_numbers),
        count_thresholds=poisson_thresholds(float(mechanism_rates.sum())),
        alias_thresholds=alias_thresholds,
        alias_indices=alias_indices,
        coins=_sparse(ones(row) for row in layout.coins()),
        operations=operations,
        operation_steps=traced["step"].copy(),
        num_signs=num_signs,
        num_outcome_checks=num_outcome_checks,
        branch_constant=_int32(sorted(branch_constant)),
        signature_images=_sparse(layout.signature_images),
        outcome_effects=_sparse(outcome_rows),
        outcome_check_deadlines=_int32(deadlines),
        peak_width=peak_width_of(operations),
    )


def needed_operations(
    quantum: QuantumProgram,
    table: EffectTable,
    reported: Sequence[int],
    postselected: Sequence[int],
) -> tuple[int, int]:
    """What is left of a program when nobody reads what its last operations do.

    Args:
        quantum: What the forward sweep found.
        table: What the backward sweep found.
        reported: The outputs that the caller reads.
        postselected: The outputs that must be 0 in a kept shot.

    Returns:
        The number of operations, and the number of MEASUREs among them.
    """
    read = sum({1 << bit for bit in (*reported, *postselected)})
    kinds = [operation.kind for operation in quantum.operations]
    num_operations, num_outcomes = len(kinds), len(table.outcomes)
    while num_operations:
        if kinds[num_operations - 1] == OperationKind.MEASURE:
            if table.outcomes[num_outcomes - 1] & read:
                break
            num_outcomes -= 1
        num_operations -= 1
    return num_operations, num_outcomes


@dataclass(frozen=True)
class _Checks:
    """Sums of postselected outputs, as masks over outputs."""

    noise_only: list[int]
    outcome_dependent: list[int]


def _split_checks(outcomes: Sequence[int], postselected: Sequence[int]) -> _Checks:
    dependence = [
        sum((effect >> output & 1) << j for j, effect in enumerate(outcomes)) for output in postselected
    ]
    kept, dependent = relations(dependence)
    noise_only = []
    for k, sources in sorted(dependent.items()):
        mask = 1 << postselected[k]
        for source in ones(sources):
            mask ^= 1 << postselected[source]
        noise_only.append(mask)
    return _Checks(noise_only, [1 << postselected[k] for k in kept])


class _Layout:
    """The row of a shot: which sums of effect bits it holds, and the rows of all causes."""

    def __init__(
        self,
        table: EffectTable,
        constant: int,
        signs: Sequence[int],
        checks: _Checks,
        reported: Sequence[int],
    ) -> None:
        self.table = table
        self.constant = constant
        causes = [*table.rates, *(effect for site in table.sites for effect in site), *table.coins]
        self.num_causes = len(causes)
        kept, dependent = _basis(checks.noise_only, causes)
        self.check_masks = [checks.noise_only[k] for k in kept]
        targets = [(constant & mask).bit_count() & 1 for mask in checks.noise_only]
        self.never_kept = any(
            targets[k] != sum(targets[source] for source in ones(sources)) % 2
            for k, sources in dependent.items()
        )
        # Where all checks pass, their sums are known: the signature is a basis modulo the checks.
        branch_masks = [*(1 << bit for bit in signs), *checks.outcome_dependent]
        num_checks = len(self.check_masks)
        kept, dependent = _basis([*self.check_masks, *branch_masks], causes)
        kept = [k - num_checks for k in kept if k >= num_checks]
        dependent = {k - num_checks: sources for k, sources in dependent.items()}
        signature_masks = [branch_masks[k] for k in kept]
        self.signature_images = [
            [k, *(other for other, sources in dependent.items() if sources >> num_checks + k & 1)]
            for k in kept
        ]
        # A bit that is the sum of checks and signature bits follows the checks' required values.
        self.implied_branch_bits = [
            k
            for k, sources in dependent.items()
            if sum(
                (constant & self.check_masks[check]).bit_count()
                for check in ones(sources & (1 << num_checks) - 1)
            )
            % 2
        ]
        self.reported = reported
        self.num_checks, self.num_signature_bits = len(self.check_masks), len(signature_masks)
        self.row_masks = [*self.check_masks, *signature_masks, *(1 << bit for bit in reported)]
        self.rows = parities(causes, self.row_masks)

    def mechanisms(self) -> tuple[dict[int, float], list[tuple[int, float]], list[int]]:
        """Independent row -> rate; (row, rate) of the choices at sites; and the number of their site."""
        rates: dict[int, float] = {}
        rows = iter(self.rows)
        for rate in self.table.rates.values():
            _accumulate(rates, next(rows), rate)
        exclusive: list[dict[int, float]] = []
        for site in self.table.sites:
            choices: dict[int, float] = {}
            for probability in site.values():
                _accumulate(choices, next(rows), probability)
            if len(choices) == 1 and next(iter(choices.values())) < 0.5:
                ((row, probability),) = choices.items()
                _accumulate(rates, row, -0.5 * math.log1p(-2 * probability))
            elif choices:
                exclusive.append(choices)
        events, numbers = [], []
        for number, choices in enumerate(exclusive):
            total = math.fsum(choices.values())
            rate = -math.log1p(-total)
            for row, probability in choices.items():
                events.append((row, rate * probability / total))
                numbers.append(number)
        return rates, events, numbers

    def coins(self) -> list[int]:
        """Independent rows of the coins."""
        return independent(self.rows[self.num_causes - len(self.table.coins) :])

    def constant_row(self) -> list[int]:
        """The bits of the row that are set before noise; signature bits are left to the branch row."""
        first_output = self.num_checks + self.num_signature_bits
        checks = [k for k, mask in enumerate(self.check_masks) if (self.constant & mask).bit_count() & 1]
        outputs = [first_output + k for k, bit in enumerate(self.reported) if self.constant >> bit & 1]
        return checks + outputs


def _basis(masks: Sequence[int], causes: Sequence[int]) -> tuple[list[int], dict[int, int]]:
    """Which parities of the causes' effects are independent, and how the others depend on them."""
    columns = columns_of(parities(causes, masks), len(masks))
    # What no cause flips is an empty sum; of those that the same causes flip, the first one stands for all.
    first_with: dict[int, int] = {}
    for k, column in enumerate(columns):
        if column:
            first_with.setdefault(column, k)
    different = list(first_with.values())
    sums: dict[int, int] = {}
    if len(different) <= _MAX_BASIS_BITS:
        _, found = relations([columns[k] for k in different])
        sums = {different[j]: sum(1 << different[i] for i in ones(sources)) for j, sources in found.items()}
    kept = [k for k in different if k not in sums]
    sources_of = {0: 0} | {columns[k]: sums.get(k, 1 << k) for k in different}
    is_kept = set(kept)
    return kept, {k: sources_of[column] for k, column in enumerate(columns) if k not in is_kept}


def _accumulate(into: dict[int, float], row: int, amount: float) -> None:
    if row:
        into[row] = into.get(row, 0.0) + amount


def needed_width(operations: Sequence[Operation], table: EffectTable) -> int:
    """The width of the vector that engines need for operations, ordered as they are in a plan.

    Args:
        operations: The operations.
        table: What the backward sweep found.
    """
    signs = {table.num_outputs + sign: sign for sign in table.sign_of_operation if sign >= 0}
    array = operation_array(operations, table, signs)
    order = narrow_order(array, signs_and_outcomes(array, table))
    return peak_width_of(gathered(array if order is None else reordered(array, order)))


def signs_and_outcomes(operations: npt.NDArray[np.void], table: EffectTable) -> Iterator[tuple[int, int]]:
    """The numbers of operations of which one is a MEASURE whose outcome flips the other one's sign.

    Args:
        operations: The operations.
        table: What the backward sweep found.

    Yields:
        Pairs in the order of the operations.
    """
    place_of_sign = places_of_signs(table, len(operations))
    measurements = np.flatnonzero(operations["kind"] == OperationKind.MEASURE).tolist()
    for k, effect in zip(measurements, table.outcomes, strict=False):
        for sign in ones(effect >> table.num_outputs):
            if sign in place_of_sign:
                yield min(k, place_of_sign[sign]), max(k, place_of_sign[sign])


def places_of_signs(table: EffectTable, num_operations: int) -> dict[int, int]:
    """Which of the first operations has a sign, by the number of the sign."""
    return {sign: k for k, sign in enumerate(table.sign_of_operation[:num_operations]) if sign >= 0}


def operation_array(
    operations: Sequence[Operation], table: EffectTable, branch_bits: dict[int, int]
) -> npt.NDArray[np.void]:
    """The operations as the array of a plan.

    Args:
        operations: The operations.
        table: Gives each operation its sign.
        branch_bits: Effect bit of a sign -> bit of the branch row.

    Returns:
        Array of dtype ``OPERATION_DTYPE``, or with Python's integers in its place where 64 bits are too few.
    """
    wide = any(max(operation.x, operation.z) >> MAX_INDEX_BITS for operation in operations)
    array = np.zeros(len(operations), dtype=_WIDE_OPERATION_DTYPE if wide else OPERATION_DTYPE)
    outcome = 0
    for k, operation in enumerate(operations):
        half_angle = operation.half_turns * math.pi / 2
        measures = operation.kind == OperationKind.MEASURE
        sign = table.sign_of_operation[k]
        array[k] = (
            operation.x,
            operation.z,
            math.cos(half_angle),
            math.sin(half_angle),
            operation.kind,
            operation.width,
            operation.i_power,
            operation.pivot,
            branch_bits[table.num_outputs + sign] if sign >= 0 else -1,
            outcome if measures else -1,
        )
        outcome += measures
    return array


def _with_steps(
    operations: Sequence[Operation], table: EffectTable, branch_bits: dict[int, int]
) -> npt.NDArray[np.void]:
    """The same with the program's step of each operation, which stays with it when they are reordered."""
    plain = operation_array(operations, table, branch_bits)
    names = plain.dtype.names or ()
    traced = np.zeros(len(plain), dtype=[*((name, plain.dtype[name]) for name in names), ("step", np.int32)])
    for name in names:
        traced[name] = plain[name]
    traced["step"] = [operation.step for operation in operations]
    return traced


def _int32(values: Iterable[int]) -> npt.NDArray[np.int32]:
    return np.fromiter(values, dtype=np.int32)


def _sparse(rows: Iterable[Sequence[int]]) -> SparseRows:
    rows = list(rows)
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    return SparseRows(starts, _int32(bit for row in rows for bit in row))
