"""The noiseless reference sample: the most likely outcome at every measurement.

Detectors and observables are reported as flips against the noiseless circuit, as Stim reports them. Stim
fixes the random measurements of its reference to 0; ours take the more likely value given the ones
before, and 0 when both are equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .. import coefficients
from ..plan import ACTIVATE, ROTATE
from .coordinates import QuantumProgram
from .gf2 import ones
from .mechanisms import EffectTable
from .reduction import operation_array, places_of_signs, signs_and_outcomes
from .scheduling import in_line, narrow_order, outcomes_in, reordered

__all__ = ["reference_offset"]

_TIE = 1e-9


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
    outputs = (1 << table.num_outputs) - 1
    signs = {table.num_outputs + k: k for k in range(table.num_signs)}
    operations = operation_array(quantum.operations[:num_operations], table, signs)
    places = [place for place, _, _ in quantum.coins]
    order = narrow_order(operations, _edges(quantum, table, operations), places)
    if order is None:
        order = in_line(len(operations), places)
        in_order = operations
    else:
        table = replace(table, outcomes=[table.outcomes[k] for k in outcomes_in(operations, order)])
        in_order = reordered(operations, order)
    following = iter(in_order)
    path = 0
    vector = coefficients.initial_vector()
    for item in order:
        if item >= len(operations):
            # A coin is tossed so that its outcome is 0.
            _, record, _ = quantum.coins[item - len(operations)]
            if path >> record & 1:
                path ^= table.tosses[item - len(operations)]
            continue
        operation = next(following)
        if operation["kind"] == ROTATE:
            sign = path >> (table.num_outputs + int(operation["sign"])) & 1
            vector = coefficients.rotate(vector, operation, bool(sign))
        elif operation["kind"] == ACTIVATE:
            vector = coefficients.activate(vector, operation)
        else:
            zero, one = coefficients.outcome_weights(vector, operation)
            outcome = int(one > zero + _TIE)
            vector = coefficients.measure(vector, operation, outcome)
            if outcome:
                path ^= table.outcomes[operation["outcome"]]
    return path & outputs


def _edges(
    quantum: QuantumProgram, table: EffectTable, operations: npt.NDArray[np.void]
) -> Iterator[tuple[int, int]]:
    """What stays before what: outcomes and coins, and the signs and coins that they decide."""
    yield from signs_and_outcomes(operations, table)
    place_of_sign = places_of_signs(table, len(operations))
    place_of_outcome = np.flatnonzero(operations["outcome"] >= 0).tolist()
    size = len(operations)
    for coin, ((place, record, _), effect) in enumerate(zip(quantum.coins, table.tosses, strict=True)):
        decided = [place_of_sign[bit] for bit in ones(effect >> table.num_outputs) if bit in place_of_sign]
        deciding = [
            k for k, other in zip(place_of_outcome, table.outcomes, strict=False) if other >> record & 1
        ]
        for k in (*decided, *deciding):
            yield (k, size + coin) if k < place else (size + coin, k)
        for earlier in range(coin):
            if table.tosses[earlier] >> record & 1 or effect >> quantum.coins[earlier][1] & 1:
                yield size + earlier, size + coin
