"""Mechanisms of a plan by the names of faults: what has happened where they act."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from ..compiler import CompiledCircuit
from ..plan import SamplingPlan
from .noise_events import NoiseEvent, located, noise_events

__all__ = ["NamedMechanisms"]

Name = TypeVar("Name")


class NamedMechanisms(Generic[Name]):
    r"""The faults behind the mechanisms of a plan.

    Examples:
        >>> import stim_nonclifford as snc
        >>> from stim_nonclifford.simulation.compiler import RequestedOutputs
        >>> circuit = snc.Circuit("X_ERROR(0.9) 0\nX_ERROR(0.1) 1\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]")
        >>> compiled = circuit.compile()
        >>> named = NamedMechanisms(compiled, compiled.detector_plan(RequestedOutputs.of([0, 1])), "ab")
        >>> named.causes(0), named.causes(1)  # the first X is usual, and its absence has no name
        (('b',), ())
        >>> named.faults([]), named.faults([0]), named.faults([0, 1])
        (('a',), ('a', 'b'), ('b',))
    """

    def __init__(self, compiled: CompiledCircuit, plan: SamplingPlan, names: Sequence[Name]) -> None:
        events = noise_events(compiled)
        self._names = names
        self._draws = events.draws
        self._usual = {k: 0 for k, draw in enumerate(events.draws) if draw.usual}
        self._events: list[list[NoiseEvent]] = [[] for _ in range(plan.num_mechanisms)]
        for found in located(plan, events):
            if found.mechanism >= 0 and found.amount > 0:
                self._events[found.mechanism].append(found.event)
        for own in self._events:
            own.sort(key=lambda event: (event.place, event.pattern))

    def causes(self, mechanism: int) -> tuple[Name, ...]:
        """The faults any one of which may have happened if a mechanism acts, in the order of the circuit.

        A fault in a draw that usually has another result happens in the place of that one. A result without
        a fault has no name.
        """
        numbers = {self._fault(event.draw, event.pattern) for event in self._events[mechanism]}
        return self._named(numbers)

    def faults(self, mechanisms: Iterable[int]) -> tuple[Name, ...]:
        """The faults of a shot in which these mechanisms act and no others, in the order of the circuit.

        Where a mechanism has several possible causes, one is chosen. Events of the same place are added up
        to one fault: X and Z of a depolarizing channel are Y. The errors that usually happen are among the
        faults.
        """
        results = dict(self._usual)
        for mechanism in mechanisms:
            event = self._chosen(mechanism, results.keys() - self._usual.keys())
            results[event.draw] = results.get(event.draw, 0) ^ event.pattern
        return self._named(self._fault(draw, pattern) for draw, pattern in results.items())

    def _named(self, numbers: Iterable[int | None]) -> tuple[Name, ...]:
        return tuple(self._names[number] for number in sorted(k for k in numbers if k is not None))

    def _chosen(self, mechanism: int, taken: set[int]) -> NoiseEvent:
        """An event of a mechanism: if possible a fault, and of a draw without another event."""
        events = self._events[mechanism]
        return min(
            events,
            key=lambda event: (event.draw in taken, self._fault(event.draw, event.pattern) is None),
        )

    def _fault(self, draw: int, pattern: int) -> int | None:
        """The index of the fault that happens; None if none does."""
        result = self._draws[draw].usual ^ pattern
        return self._draws[draw].faults[result] if result else None
