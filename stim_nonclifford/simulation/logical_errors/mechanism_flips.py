"""Observables whose flip by a single error mechanism is a matter of chance, which no error model can say.

A decoder is told of each mechanism which detectors and which observables it flips. T gates can make this
wrong: an X before the T gate of a logical readout turns the sign of the gate around, and then the outcome is
flipped in half of the shots. No decoder can correct that, however early it knows of the X.

To find such observables, paths of outcomes are followed, as in ``noiseless_outputs``, with one mechanism at a
time. An outcome that is not certain is 0 or 1 with equal chances. If both values of an observable are among
the kept paths of a mechanism, but not among those without any, the mechanism flips it by chance. 16 paths
miss that with probability 2^-15. Of very many different mechanisms, some hundreds are looked at.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from weakref import WeakKeyDictionary

import numpy as np

from ..compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, RequestedOutputs
from ..compiler.algebra.gf2 import mask_of, ones
from .noiseless_outputs import outcome_dependent_observables
from .paths_of_rows import PathsOfRows

_PATHS = 16
_ATTEMPTS = 2 * _PATHS
_MOST_SIGNATURES = 512
_PATH_WORK = 4e9
"""Coefficients that all paths together may go through: some seconds."""

_answers: WeakKeyDictionary[CompiledCircuit, dict[tuple[int, ...], list[int]]] = WeakKeyDictionary()


def observables_flipped_by_chance(
    compiled: CompiledCircuit,
    postselected: Collection[int] = (),
    *,
    max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
) -> list[int]:
    """The observables that some mechanism flips with a probability other than 0 and 1 in kept shots.

    Observables that are random without noise are not among them, nor those with Pauli targets, of which the
    flips of the frame are counted.
    """
    question = tuple(sorted(postselected))
    known = _answers.setdefault(compiled, {})
    if question not in known:
        known[question] = _by_chance(compiled, question, max_active_coordinates)
    return known[question]


def _by_chance(compiled: CompiledCircuit, postselected: Iterable[int], max_active: int) -> list[int]:
    candidates = np.flatnonzero(outcome_dependent_observables(compiled)).tolist()
    if not candidates:
        return []
    first = compiled.program.num_detectors
    requested = RequestedOutputs.of([first + k for k in candidates], postselected)
    plan = compiled.detector_plan(requested, max_active_coordinates=max_active)
    if plan.never_kept or not len(plan.operations):
        return []
    paths = PathsOfRows(plan)
    signatures = paths.signatures_of_mechanisms()
    work = float(np.exp2(plan.operations["width"]).sum()) * _PATHS
    most = max(1, min(_MOST_SIGNATURES, int(_PATH_WORK / work)))
    if len(signatures) > most:
        signatures = random.Random(0).sample(signatures, most)
    undecided = mask_of(range(len(candidates))) & ~paths.both_values(paths.start, _PATHS, _ATTEMPTS)
    found = 0
    for row in signatures:
        found |= paths.both_values(row, _PATHS, _ATTEMPTS) & undecided
        if found == undecided:
            break
    return [candidates[k] for k in ones(found)]
