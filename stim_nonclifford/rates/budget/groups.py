"""Groups of places of noise, and what they have of sums over mechanisms.

The share of a mechanism is divided among the places of the circuit that cause it in proportion to their
rates, as each of its events comes from a place with that probability.

The strength s of a group multiplies the probabilities of its noise; s is 1. With q_i the probability that
mechanism i acts, P(X) is the product of q_i over the members of a fault set X and of 1 - q_i over the others:

    d ln P(X) / d ln s = sum over i in X of q_i' / q_i - sum over the others of q_i' / (1 - q_i)

with q_i' = dq_i / d ln s = (1 - 2 q_i) dλ_i / d ln s (``noise_sources``). At a site, p_none takes the place
of 1 - q_i.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt
import stim
from scipy import sparse

from ...base.arguments import refuse_argument
from ...base.arrays import Bools, Floats
from ..results.error_budget import BudgetShare, ErrorBudget, Grouping, NoisePlace
from .layout import places_of_qubits
from .noise_sources import NoiseSources

NO_QUBIT = "no qubit"
"""The group of noise that acts on no qubit, such as the readout error of MPAD, in a budget by qubit."""


class NoiseGroups:
    """The groups of a circuit's places of noise; matrices have the shape (mechanisms, groups)."""

    def __init__(self, sources: NoiseSources, by: Grouping) -> None:
        self._places, self._by = sources.places, by
        self.labels, self._membership = groups_of(sources.places, by)
        self._of_places = sources.matrix(sources.fractions)
        # The part of each mechanism's events that each group causes, and derivatives of the mechanisms'
        # rates, at sites of their probabilities, by ln of the strength of each group.
        self.fractions = sparse.csr_array(self._of_places @ self._membership)
        self.changes = sparse.csr_array(sources.matrix(sources.derivatives) @ self._membership)
        # Whether a group has noise that is certain: its derivatives have directions without a mechanism.
        self.is_unknown: Bools = sources.is_unknown.astype(float) @ self._membership > 0

    def budget(
        self,
        circuit: stim.Circuit,
        kept: float,
        kept_and_wrong: float,
        standard_error: float,
        interval: tuple[float, float],
        shares: Floats,
        columns: Sequence[Floats],
        others: Sequence[BudgetShare] = (),
    ) -> ErrorBudget:
        """The budget for these groups, from the shares of mechanisms and the other columns of the table."""
        numbers = np.stack([shares @ self.fractions, *columns]).tolist()
        return ErrorBudget(
            by=name_of_grouping(self._by),
            kept=kept,
            kept_and_wrong=kept_and_wrong,
            groups=(*map(BudgetShare, self.labels, *numbers), *others),
            standard_error=standard_error,
            interval=interval,
            qubit_shares=self._shares_of_qubits(shares @ self._of_places),
            qubit_places=places_of_qubits(circuit),
        )

    def _shares_of_qubits(self, shares: Floats) -> dict[Hashable, dict[int, float]]:
        """For each group, the parts of its share that come from noise on each qubit."""
        found: dict[Hashable, dict[int, float]] = {label: {} for label in self.labels}
        entries = self._membership.tocoo()
        for place, group, part in zip(entries.row, entries.col, entries.data, strict=True):
            label = self.labels[group]
            # By qubit, a group has its own part of a place alone.
            where = [label] if self._by == "qubit" else self._places[place].targets
            for qubit in where:
                if isinstance(qubit, int):
                    share = float(shares[place] * part) / len(where)
                    found[label][qubit] = found[label].get(qubit, 0.0) + share
        return found


def derivative_terms(
    odds: Floats, sites: npt.NDArray[np.integer], changes: sparse.csr_array
) -> tuple[sparse.csr_array, Floats]:
    """Terms of d ln P(X) / d ln s: what each member of X adds, and what there is without any member.

    ``sites`` has the site of each mechanism, -1 if it is free; shapes are (mechanisms, groups) and (groups,).
    """
    members = site_matrix(sites)
    free = sites < 0
    nothing = 1 / (1 + members @ odds)
    p = odds * (members.T @ nothing)
    slopes = sparse.diags_array(np.where(free, 1 - 2 * p, 1.0)) @ changes
    leaving = sparse.diags_array(1 / nothing) @ (members @ slopes)
    scores = sparse.diags_array(1 / p) @ slopes + members.T @ leaving
    return sparse.csr_array(scores), -np.asarray(leaving.sum(axis=0))


def site_matrix(sites: npt.NDArray[np.integer]) -> sparse.csr_array:
    """1 where a mechanism is at a site; free mechanisms are at sites of their own."""
    count = len(sites)
    _, place = np.unique(
        np.where(sites >= 0, sites, sites.max(initial=-1) + 1 + np.arange(count)), return_inverse=True
    )
    shape = (int(place.max(initial=-1)) + 1, count)
    return sparse.csr_array((np.ones(count), (place, np.arange(count))), shape=shape)


def groups_of(places: Sequence[NoisePlace], by: Grouping) -> tuple[list[Hashable], sparse.csr_array]:
    """The labels of the groups in their order, and how much of each place belongs to each group."""
    # Of a channel on two qubits, each has half.
    label_of = None if by == "qubit" else _label_function(by)
    labels_of: list[tuple[Hashable, ...]] = [
        (place.qubits or (NO_QUBIT,)) if label_of is None else (label_of(place),) for place in places
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
            return lambda place: (
                f"line {place.line}: {place.instruction}"
                f"({', '.join(f'{number:.6g}' for number in place.arguments)}){_origin(place)}"
            )
        case "place":
            return lambda place: f"{place.gate}, tick {place.tick}{_origin(place)}"
        case "tick":
            return lambda place: place.tick
        case "noise":
            return lambda place: place.kind
    if not callable(by):
        wanted = "'instruction', 'place', 'qubit', 'tick' or 'noise', or a function of a place"
        refuse_argument("by", wanted, by, kind=ValueError if isinstance(by, str) else TypeError)
    return by


def _origin(place: NoisePlace) -> str:
    """Which other noise an error stands for."""
    qubits = " and ".join(map(str, place.source_qubits))
    return (place.source and f", {place.source}") + (qubits and f" of {qubits}")


def name_of_grouping(by: Grouping) -> str:
    """The header of the groups: their kind, or the name of the function that makes them, if it has one."""
    name = by if isinstance(by, str) else getattr(by, "__name__", "group")
    return "group" if name == "<lambda>" else name
