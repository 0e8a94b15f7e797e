"""The noiseless reference sample: the more likely outcome of every measurement.

Detectors and observables are reported as flips against a noiseless sample, as in Stim. In Stim's reference
sample, random outcomes are 0. Here, each outcome has its more likely value, given the earlier ones. If both
values are equally likely, the choice is fixed; in a Clifford circuit it is 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from ...base.memory import collector_paused, memory_is_a_limit
from ..plan import SamplingPlan, SparseRows
from .algebra.gf2 import mask_of, ones
from .algebra.sparse_rows import numbers_of_rows, taken
from .plans.plan_construction import construct_plan, schedule
from .plans.requested_outputs import RequestedOutputs, needed_operations
from .program.program import Program
from .sweeps.backward_sweep import outcome_effects
from .sweeps.effects import EffectTable
from .sweeps.forward_sweep import QuantumProgram, forward_sweep
from .sweeps.operations import Operation

DEFAULT_MAX_ACTIVE_COORDINATES = 24

LikelyOutputs = Callable[[SamplingPlan], npt.NDArray[np.bool_]]
"""Returns the outputs of a plan that its likely outcomes flip: bool, shape (num_outputs,)."""


class ReferenceSample:
    """The noiseless reference sample of a circuit; what it is computed from is computed once, when needed."""

    def __init__(
        self, program: Program, quantum: Callable[[], QuantumProgram], likely_outputs: LikelyOutputs
    ) -> None:
        self._program = program
        self._quantum = quantum
        self._likely_outputs = likely_outputs
        self._detectors_after: dict[int, int] = {}

    @cached_property
    def order(self) -> QuantumProgram:
        """The operations in the order in which the outcomes are chosen."""
        if self._quantum().reordered:
            with memory_is_a_limit(), collector_paused():
                in_order = forward_sweep(self._program, keep_order=True)
            if in_order.peak_width <= DEFAULT_MAX_ACTIVE_COORDINATES:
                return in_order
        return self._quantum()

    @cached_property
    def records(self) -> int:
        """The records, as a mask."""
        with memory_is_a_limit(), collector_paused():
            return self._records_after(self.order, len(self.order.operations))

    @cached_property
    def detectors(self) -> int:
        """The detectors and observables, as a mask."""
        return self._outputs_of(self.records)

    def detectors_after(self, num_operations: int) -> int:
        """The detectors and observables, where those depend on the outcomes of the first operations alone."""
        if num_operations not in self._detectors_after:
            with memory_is_a_limit(), collector_paused():
                records = self._records_after(self._quantum(), num_operations)
                self._detectors_after[num_operations] = self._outputs_of(records)
        return self._detectors_after[num_operations]

    def _records_after(self, quantum: QuantumProgram, num_operations: int) -> int:
        """The records if the outcomes of the first operations have their likely values."""
        if not quantum.operations:
            return mask_of(np.flatnonzero(quantum.base_records))
        table = outcome_effects(self._program, quantum)
        return reference_records(quantum, table, self._likely_outputs, num_operations)

    def _outputs_of(self, records: int) -> int:
        """The detectors and observables of given records, as a mask."""
        values = np.zeros(self._program.num_records, dtype=np.uint8)
        values[ones(records)] = 1
        return mask_of(self._program.native.odd_outputs(values).tolist())


def reference_records(
    quantum: QuantumProgram,
    table: EffectTable,
    likely_outputs: LikelyOutputs,
    num_operations: int | None = None,
) -> int:
    """The records of the reference sample, as a mask; ``likely_outputs`` is that of an engine.

    Outcomes after the first ``num_operations`` operations are 0, whether that is likely or not.
    """
    base = mask_of(np.flatnonzero(quantum.base_records))
    followed = quantum.operations[:num_operations]
    outcomes = _outcomes_with_coins(quantum, followed, table)
    alone = EffectTable(table.num_outputs, table.num_signs, outcomes=outcomes)
    requested = RequestedOutputs.of(range(table.num_outputs))
    operations = needed_operations(followed, outcomes, requested)
    plan = construct_plan(alone, operations, schedule(operations, alone), requested, output_constant=0)
    flipped = np.packbits(likely_outputs(plan), bitorder="little")
    return base ^ int.from_bytes(flipped.tobytes(), "little")


def _outcomes_with_coins(
    quantum: QuantumProgram, operations: Sequence[Operation], table: EffectTable
) -> SparseRows:
    """The effects of the outcomes if every coin is chosen such that its record is 0.

    If an outcome flips the record of a later coin, then that coin is flipped too.
    """
    places = [k for k, operation in enumerate(operations) if operation.measures]
    coins_from = [bisect_right(quantum.coins, k, key=lambda coin: coin[0]) for k in places]
    coin_of = {record: coin for coin, (_, record) in enumerate(quantum.coins)}
    outcomes = taken(table.outcomes, range(len(places)))
    flips_coin = np.isin(outcomes.bits, np.array(list(coin_of), dtype=np.int64))
    if not flips_coin.any():
        return outcomes
    effects = [outcomes.row(k) for k in range(len(outcomes))]
    for k in np.unique(numbers_of_rows(outcomes)[flips_coin]).tolist():
        bits = set(effects[k].tolist())
        # The coins that an effect flips, in their order: turning one may flip later ones.
        flipped = [coin for record in bits if (coin := coin_of.get(record, -1)) >= coins_from[k]]
        heapify(flipped)
        while flipped:
            coin = heappop(flipped)
            _, record = quantum.coins[coin]
            if record in bits:
                toss = table.tosses.row(coin).tolist()
                bits.symmetric_difference_update(toss)
                for other in toss:
                    if coin_of.get(other, -1) > coin:
                        heappush(flipped, coin_of[other])
        effects[k] = np.array(sorted(bits), dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum([len(effect) for effect in effects])])
    return SparseRows(starts, np.concatenate(effects))
