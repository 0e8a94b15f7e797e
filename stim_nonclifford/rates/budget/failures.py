"""What a decoder gets wrong: failing fault sets without the faults that do not matter."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from ..decoded_rates.faults.mechanisms import Words, log_probability_of_none
from ..decoded_rates.faults.outcomes import symptom_of_row
from ..results.failures import DecodedFailure
from .cores import cores_of, rows_of
from .study import FailureStudy

__all__ = ["decoded_failures"]


def decoded_failures(study: FailureStudy, count: int) -> list[DecodedFailure]:
    """The minimal failing sets that most of the sampled failing sets come down to.

    Args:
        study: The failing fault sets.
        count: How many to return at most.

    Returns:
        They with the largest shares; of equal ones, the most probable first.
    """
    sets = study.sets.equally_likely(2048)
    found_cores, members = cores_of(
        study.model,
        sets.members,
        sets.numbers,
        study.model.log_odds,
        lambda rows, _: np.asarray(study.classifier.wrong(rows).any(axis=1)),
    )
    cores = Counter(found_cores)
    example = {core: k for k, core in reversed(list(enumerate(found_cores)))}
    none = log_probability_of_none(study.model.log_odds)

    def log_probability(core: tuple[int, ...]) -> float:
        return none + float(study.model.log_odds[list(core)].sum())

    ranked = sorted(cores, key=lambda core: (-cores[core], -log_probability(core), core))[:count]
    named = study.table.by_mechanism(study.plan)
    plan_mechanism = np.full(study.model.num_mechanisms, -1, dtype=np.intp)
    is_output = study.mechanism_of >= 0
    first, where = np.unique(study.mechanism_of[is_output], return_index=True)
    plan_mechanism[first] = np.flatnonzero(is_output)[where]
    found = []
    for core in ranked:
        which = slice(example[core], example[core] + 1)
        row = rows_of(study.model, members[which], sets.numbers[which])
        seen = _ones(row[0, : study.model.detector_words])
        causing = plan_mechanism[list(core)].tolist()
        flipped = _ones(study.model.observables(row)[0])
        wrong = np.flatnonzero(study.classifier.wrong(row)[0]).tolist()
        found.append(
            DecodedFailure(
                share=cores[core] / len(sets),
                probability=math.exp(log_probability(core)),
                detectors=tuple(sorted({*seen, *_ignored_that_fire(study, causing)})),
                observables=flipped,
                predicted=tuple(sorted({*flipped} ^ {*wrong})),
                causes=tuple(
                    tuple(
                        cause
                        for mechanism in np.flatnonzero(study.mechanism_of == k)
                        for cause in named.causes(int(mechanism))
                    )
                    for k in core
                ),
                faults=named.faults(causing),
            )
        )
    return found


def _ignored_that_fire(study: FailureStudy, mechanisms: list[int]) -> list[int]:
    """The detectors that the model ignores, as far as mechanisms of the plan flip them."""
    plan, count = study.plan, study.model.num_detectors
    flipped = [plan.constant, *(plan.effects.row(k) for k in mechanisms)]
    events = Counter(k for bits in flipped for k in symptom_of_row(plan, bits, count)[0])
    return [k for k in study.model.ignored if events[k] % 2]


def _ones(words: Words) -> tuple[int, ...]:
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    return tuple(np.flatnonzero(bits).tolist())
