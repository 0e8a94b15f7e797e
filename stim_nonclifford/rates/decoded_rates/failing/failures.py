"""What a decoder gets wrong: failing fault sets without the faults that do not matter."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from ....simulation.faults import CircuitFault
from ..mechanisms import Words, log_probability_of_none
from .sets import Indices
from .study import FailureStudy

__all__ = ["DecodedFailure", "decoded_failures"]

_MOST_SETS = 2048


@dataclass(frozen=True)
class DecodedFailure:
    """A fault set on which the decoder fails, and on none of those with one mechanism less.

    Attributes:
        share: Part of the failing fault sets that were looked at and come down to this one if mechanisms are
            left out one after the other, as long as the decoder fails.
        probability: That these mechanisms act, and no others.
        detectors: The detectors that fire.
        observables: The observables that are flipped.
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


def decoded_failures(study: FailureStudy, count: int) -> list[DecodedFailure]:
    """The failing fault sets that most of those that were looked at come down to.

    Args:
        study: The failing fault sets.
        count: How many to return at most.

    Returns:
        They with the largest shares; of equal ones, the most probable first.
    """
    sets = study.sets
    chosen = np.unique(np.linspace(0, len(sets) - 1, min(len(sets), _MOST_SETS)).astype(np.intp))
    cores = Counter(_cores(study, sets.members[chosen]))
    none = log_probability_of_none(study.log_odds)

    def log_probability(core: tuple[int, ...]) -> float:
        return none + float(study.log_odds[list(core)].sum())

    ranked = sorted(cores, key=lambda core: (-cores[core], -log_probability(core), core))[:count]
    named = study.table.by_mechanism(study.plan)
    plan_mechanism = np.full(study.model.num_mechanisms, -1, dtype=np.intp)
    is_output = study.mechanism_of >= 0
    first, where = np.unique(study.mechanism_of[is_output], return_index=True)
    plan_mechanism[first] = np.flatnonzero(is_output)[where]
    found = []
    for core in ranked:
        row = _rows_of(study, np.array([core], dtype=np.intp).reshape(1, len(core)))
        flipped = study.model.observables(row)
        members = [int(plan_mechanism[k]) for k in core]
        found.append(
            DecodedFailure(
                share=cores[core] / len(chosen),
                probability=math.exp(log_probability(core)),
                detectors=_ones(row[0, : study.model.detector_words]),
                observables=_ones(flipped[0]),
                predicted=_ones(study.test.wrong(row)[0] ^ flipped[0]),
                causes=tuple(
                    tuple(
                        cause
                        for mechanism in np.flatnonzero(study.mechanism_of == k)
                        for cause in named.causes(int(mechanism))
                    )
                    for k in core
                ),
                faults=named.faults(members),
            )
        )
    return found


def _cores(study: FailureStudy, members: Indices) -> list[tuple[int, ...]]:
    """The sets without the members that can be left out, the least probable first.

    A member that could not be left out is tried again after others are gone.
    """
    odds = np.append(study.log_odds, np.inf)
    order = np.argsort(odds[members], axis=1, kind="stable")
    members = np.take_along_axis(members, order, axis=1)
    changed = np.ones(len(members), dtype=np.bool_)
    while changed.any():
        active = np.flatnonzero(changed)
        changed[:] = False
        for place in range(members.shape[1]):
            there = active[members[active, place] >= 0]
            if not len(there):
                continue
            without = members[there].copy()
            without[:, place] = -1
            fails = study.test(_rows_of(study, without))
            members[there[fails], place] = -1
            changed[there[fails]] = True
    return [tuple(sorted(int(k) for k in row if k >= 0)) for row in members]


def _rows_of(study: FailureStudy, members: Indices) -> Words:
    """The rows of sets; -1 is no member."""
    nothing = np.zeros((1, study.model.flips.shape[1]), dtype=np.uint64)
    flips = np.concatenate([study.model.flips, nothing])
    return np.asarray(np.bitwise_xor.reduce(flips[members], axis=1) ^ study.model.base)


def _ones(words: Words) -> tuple[int, ...]:
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    return tuple(np.flatnonzero(bits).tolist())
