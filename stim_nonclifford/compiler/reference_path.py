"""The noiseless reference sample: the most likely outcome at every measurement.

Detectors and observables are reported as flips against the noiseless circuit, as Stim reports them. Stim
fixes the random measurements of its reference to 0; ours take the more likely value given the ones
before, and 0 when both are equally likely.
"""

from __future__ import annotations

from .. import coefficients
from ..plan import ACTIVATE, ROTATE
from .coordinates import QuantumProgram
from .mechanisms import EffectTable
from .reduction import operation_array

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
    tosses = [
        (position, record, effect)
        for (position, record, _), effect in zip(quantum.coins, table.tosses, strict=True)
    ]
    path = 0
    vector = coefficients.initial_vector()
    for k, operation in enumerate(operations):
        path = _tossed_to_zero(path, tosses, k)
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
    return _tossed_to_zero(path, tosses, len(operations)) & outputs


def _tossed_to_zero(path: int, tosses: list[tuple[int, int, int]], position: int) -> int:
    """Chooses the outcomes of the coins at a place among the operations so that they are 0."""
    while tosses and tosses[0][0] <= position:
        _, record, effect = tosses.pop(0)
        if path >> record & 1:
            path ^= effect
    return path
