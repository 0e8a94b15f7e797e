"""Faults that can happen together."""

from collections.abc import Iterable

from stim_nonclifford.simulation.faults import CircuitFault


def that_can_happen(faults: Iterable[CircuitFault]) -> list[CircuitFault]:
    """The first fault of each place. If there are chains of correlated errors, the first link of them all."""
    faults = list(faults)
    chained = {"E", "ELSE_CORRELATED_ERROR"}
    if all(fault.instruction != "ELSE_CORRELATED_ERROR" for fault in faults):
        chained = set()
    first: dict[tuple[int, int], CircuitFault] = {}
    for fault in faults:
        draw = (-1, -1) if fault.instruction in chained else (fault.step, fault.group)
        first.setdefault(draw, fault)
    return list(first.values())
