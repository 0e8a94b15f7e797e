"""The noiseless reference sample: the most likely outcome at every measurement.

Detectors and observables are reported as flips against the noiseless circuit, as Stim reports them. Stim
fixes the random measurements of its reference to 0; ours take the more likely value given the ones
before. Where both are equally likely it is one of them, always the same one: 0 in a Clifford circuit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engines.cpu import CpuEngine
from .coordinates import OperationKind, QuantumProgram
from .mechanisms import EffectTable
from .reduction import reduce_to_plan

__all__ = ["reference_offset"]


def reference_offset(quantum: QuantumProgram, table: EffectTable, num_operations: int | None = None) -> int:
    r"""By which records the reference sample differs from the base path.

    Args:
        quantum: What the forward sweep found.
        table: What the backward sweep found, with records as outputs.
        num_operations: How many operations to follow; the outcomes of the others are 0, likely or not.

    Returns:
        A mask over records.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.compiler import compile_circuit
        >>> compiled = compile_circuit(stim.Circuit("RX 0\nS[T] 0\nS 0\nMX 0"))
        >>> reference_offset(compiled.quantum, compiled.effects("records"))  # 1 with probability 0.85
        1
    """
    followed = replace(quantum, operations=quantum.operations[:num_operations])
    alone = EffectTable(
        table.num_outputs,
        table.num_signs,
        table.sign_of_operation,
        outcomes=_outcomes_with_coins(followed, table),
    )
    plan = reduce_to_plan(
        followed, alone, reported=range(table.num_outputs), postselected=(), output_constant=0
    )
    likely = np.packbits(CpuEngine(plan, cache_bytes=0).likely_outputs(), bitorder="little")
    return int.from_bytes(likely.tobytes(), "little")


def _outcomes_with_coins(quantum: QuantumProgram, table: EffectTable) -> list[int]:
    """What outcomes do when coins are tossed so that their records are 0.

    An outcome of 1 that flips the record of a later coin also turns that coin.
    """
    places = [k for k, operation in enumerate(quantum.operations) if operation.kind == OperationKind.MEASURE]
    effects = table.outcomes[: len(places)]
    for (place, record, _), toss in zip(quantum.coins, table.tosses, strict=True):
        for j, k in enumerate(places):
            if k >= place:
                break
            if effects[j] >> record & 1:
                effects[j] ^= toss
    return effects
