"""Logical error rates of families of circuits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import stim

from ..base.arguments import check_types, iterable, refuse_argument, seed_of
from ..base.masks import Mask
from ..rates.estimation.limits import DEFAULT_MAX_BYTES, Settings
from ..rates.results import LogicalErrorRate
from .circuit import Circuit
from .logical_states import LogicalState, LogicalStateCheck
from .rates import rates_of


def logical_error_rates(
    circuits: Iterable[Circuit],
    *,
    decoder: Any = None,
    postselection_mask: Mask | None = None,
    postselected_observables_mask: Mask | None = None,
    state_check: LogicalStateCheck | LogicalState | None = None,
    skip_reference_sample: bool = False,
    relative_error: float = 0.01,
    max_seconds: float | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
    seed: int | None = None,
    threads: int = 1,
    confidence: bool = False,
    loop_decoder: Any = None,
    progress: bool = False,
) -> list[LogicalErrorRate]:
    """Logical error rates of several circuits.

    Each circuit has the rate that it has by itself with the seed, whatever the other circuits are.

    Args:
        circuits: The circuits.
        decoder: As in ``Circuit.logical_error_rate``. Each circuit has the decoder of its own error model.
        postselection_mask: As in ``Circuit.logical_error_rate``, for each circuit.
        postselected_observables_mask: As in ``Circuit.logical_error_rate``, for each circuit.
        state_check: As in ``Circuit.logical_error_rate``.
        skip_reference_sample: As in ``Circuit.logical_error_rate``.
        relative_error: The ``relative_error`` of each result at which the search stops.
        max_seconds: No new round of sampling begins after that, and no weight is enumerated for longer; for
            all circuits together, each of which has an equal part of the time that is left.
        max_bytes: Memory to use, about.
        seed: None for fresh entropy, or an integer in range(2**64).
        threads: As in ``Circuit.logical_error_rate``.
        confidence: As in ``Circuit.logical_error_rate``.
        loop_decoder: As in ``Circuit.logical_error_rate``.
        progress: Whether to print what is under way to stderr.

    Returns:
        One estimate for each circuit, in their order. Without a decoder, circuits that differ in the strength
        of the noise only draw similar fault sets, so that their errors are correlated.

    Raises:
        ResourceLimitError: There are too many sets for this method; the message says why.
        ValueError: As in ``Circuit.logical_error_rate``.
    """
    if isinstance(circuits, Circuit | stim.Circuit):
        refuse_argument("circuits", "a list of circuits, such as [circuit]", circuits)
    given = list(iterable(circuits, "circuits", "an iterable of circuits"))
    for circuit in given:
        check_types(circuit, "Each of circuits", "a Circuit, such as stim_nonclifford.Circuit(c)", Circuit)
    return rates_of(
        given,
        decoder,
        postselection_mask,
        postselected_observables_mask,
        state_check,
        skip_reference_sample,
        Settings(relative_error, max_seconds, max_bytes, seed_of(seed), threads, progress),
        confidence,
        loop_decoder,
    )
