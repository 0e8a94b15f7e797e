"""What a decoder gets wrong, as users get it."""

from __future__ import annotations

from dataclasses import dataclass

from ...simulation.faults import CircuitFault

__all__ = ["DecodedFailure"]


@dataclass(frozen=True)
class DecodedFailure:
    """A fault set on which the decoder fails, and on none of those with one mechanism less.

    Attributes:
        share: Part of the failing fault sets that come down to this one if mechanisms are left out one after
            the other, as long as the decoder fails.
        probability: That these mechanisms act, and no others that matter to the decoder, whatever the quantum
            outcomes are.
        detectors: The detectors that fire with ``faults``; with T gates, for an example of the outcomes.
        observables: The observables that are flipped, for the same outcomes.
        predicted: The observables that the decoder says are flipped.
        causes: One entry per mechanism: the faults that have its effect, any one of which may have been the
            cause.
        faults: The faults of a shot in which these mechanisms act, and no others, for
            ``circuit.with_faults``: usually the first cause of each mechanism.
    """

    share: float
    probability: float
    detectors: tuple[int, ...]
    observables: tuple[int, ...]
    predicted: tuple[int, ...]
    causes: tuple[tuple[CircuitFault, ...], ...]
    faults: tuple[CircuitFault, ...]

    @property
    def weight(self) -> int:
        """Number of mechanisms."""
        return len(self.causes)
