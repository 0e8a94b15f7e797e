"""The kinds of injection: ways to prepare a logical T state in the distance-3 code, before any check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..builder import CircuitBuilder
from ..color_code import Coord
from . import degenerate_injection, unitary_injection
from .bell_injection import append_bell_injection

InjectionChoice = Literal["unitary", "bell", "degenerate"]


@dataclass(frozen=True)
class Injection:
    """A kind of injection."""

    # function that appends the injection to a circuit that has no operations yet
    append: Callable[[CircuitBuilder], None]
    # sites that the injection needs and the distance-3 code does not have
    extra_sites: tuple[Coord, ...] = ()
    # (from, to) pairs of sites: the injection leaves the state of data qubit `to` at `from`
    arriving: tuple[tuple[Coord, Coord], ...] = ()


INJECTIONS: Mapping[InjectionChoice, Injection] = {
    "unitary": Injection(
        unitary_injection.append_unitary_injection,
        extra_sites=(unitary_injection.CORNER_PARKING,),
        arriving=((unitary_injection.CORNER_PARKING, unitary_injection.CORNER),),
    ),
    "bell": Injection(append_bell_injection),
    "degenerate": Injection(
        degenerate_injection.append_degenerate_injection, extra_sites=degenerate_injection.EXTRA_SITES
    ),
}
"""The injections by name. After each, all checks are +1 once the arriving qubits are at their sites."""
