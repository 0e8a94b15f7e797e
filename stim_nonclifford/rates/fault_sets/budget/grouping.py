"""What divides the places of noise of a circuit into the groups of an error budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy import sparse

from ....base.arguments import refuse_argument
from ...results.error_budget import Grouping, NoisePlace

__all__ = ["NO_QUBIT", "groups_of", "name_of_grouping"]

NO_QUBIT = "no qubit"
"""The group of noise that acts on no qubit, such as the readout error of MPAD, in a budget by qubit."""


def groups_of(places: Sequence[NoisePlace], by: Grouping) -> tuple[list[Hashable], sparse.csr_array]:
    """The labels of the groups in their order, and how much of each place belongs to each group."""
    # Of a channel on two qubits, each has half.
    label_of = None if by == "qubit" else _label_function(by)
    labels_of: list[tuple[Hashable, ...]] = [
        (tuple(dict.fromkeys(place.targets)) or (NO_QUBIT,)) if label_of is None else (label_of(place),)
        for place in places
    ]
    labels = list(dict.fromkeys(label for own in labels_of for label in own))
    if by in ("qubit", "tick", "noise"):
        labels.sort(key=lambda label: (label if isinstance(label, int) else math.inf, str(label)))
    number = {label: k for k, label in enumerate(labels)}
    entries = [(p, number[label], 1 / len(own)) for p, own in enumerate(labels_of) for label in own]
    rows, columns, parts = zip(*entries, strict=True) if entries else ((), (), ())
    shape = (len(places), len(labels))
    return labels, sparse.csr_array((np.array(parts, dtype=float), (rows, columns)), shape=shape)


def _label_function(by: Grouping) -> Callable[[NoisePlace], Hashable]:
    match by:
        case "instruction":
            return lambda place: f"line {place.line}: {_written(place)}"
        case "place":
            return lambda place: f"{place.gate}, tick {place.tick}"
        case "tick":
            return lambda place: place.tick
        case "noise":
            return lambda place: place.instruction
    if not callable(by):
        wanted = "'instruction', 'place', 'qubit', 'tick' or 'noise', or a function of a place"
        refuse_argument("by", wanted, by, kind=ValueError if isinstance(by, str) else TypeError)
    return by


def name_of_grouping(by: Callable[[NoisePlace], Hashable]) -> str:
    """The header of the groups of a function: its name, if it has one."""
    name = getattr(by, "__name__", "group")
    return "group" if name == "<lambda>" else name


def _written(place: NoisePlace) -> str:
    arguments = ", ".join(f"{number:.6g}" for number in place.arguments)
    return f"{place.instruction}({arguments})"
