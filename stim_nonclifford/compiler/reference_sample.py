"""The noiseless reference sample: the most likely outcome at every measurement.

Detectors and observables are reported as flips against the noiseless circuit, as Stim reports them. Stim
fixes the random measurements of its reference to 0; ours take the more likely value given the ones
before. Where both values are equally likely it is one of them, always the same one: 0 in a Clifford circuit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from ..plan import Plan
from .effects import EffectTable
from .forward_sweep import QuantumProgram
from .gf2 import mask_of, ones
from .needed_operations import needed_operations
from .operations import Operation
from .plan_construction import construct_plan
from .requested_outputs import RequestedOutputs
from .scheduling import schedule

__all__ = ["LikelyOutputs", "reference_records"]

LikelyOutputs = Callable[[Plan], npt.NDArray[np.bool_]]
"""Runs a plan on the path of the likely outcomes: bool, shape (num_outputs,), the outputs that they flip."""


def reference_records(
    quantum: QuantumProgram,
    table: EffectTable,
    likely_outputs: LikelyOutputs,
    num_operations: int | None = None,
) -> int:
    r"""The measurement records of the reference sample.

    Args:
        quantum: What the forward sweep found.
        table: What the backward sweep found, with records as outputs.
        likely_outputs: An engine's function that follows the likely outcomes of a plan.
        num_operations: How many operations to follow; the outcomes of the others are 0, likely or not.

    Returns:
        A mask over records.

    Examples:
        >>> import stim_nonclifford as snc
        >>> from stim_nonclifford.engines import likely_outputs
        >>> compiled = snc.Circuit("RX 0\nT 0\nS 0\nMX 0").compile()
        >>> table = compiled.effects("records")
        >>> reference_records(compiled.quantum, table, likely_outputs)  # 1 with probability 0.85
        1
    """
    base = mask_of([record for record, bit in enumerate(quantum.base_records) if bit])
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
) -> list[int]:
    """The effects of the outcomes when coins are tossed so that their records are 0.

    An outcome of 1 that flips the record of a later coin also turns that coin.
    """
    places = [k for k, operation in enumerate(operations) if operation.measures]
    coins_from = [bisect_right(quantum.coins, k, key=lambda coin: coin[0]) for k in places]
    coin_of = {record: coin for coin, (_, record, _) in enumerate(quantum.coins)}
    coin_records = mask_of(coin_of)
    effects = []
    for effect, first in zip(table.outcomes, coins_from, strict=False):
        # The coins that an effect flips, in their order: turning one may flip later ones.
        flipped = [coin for record in ones(effect & coin_records) if (coin := coin_of[record]) >= first]
        heapify(flipped)
        while flipped:
            coin = heappop(flipped)
            _, record, _ = quantum.coins[coin]
            if effect >> record & 1:
                toss = table.tosses[coin]
                effect ^= toss
                for other in ones(toss & coin_records):
                    if coin_of[other] > coin:
                        heappush(flipped, coin_of[other])
        effects.append(effect)
    return effects
