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
from ..compiler.algebra.gf2 import mask_of, masks_of, ones
from ..engines import CpuEngine
from ..plan import SamplingPlan
from .noiseless_outputs import outcome_dependent_observables

__all__ = ["observables_flipped_by_chance"]

_PATHS = 16
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
    r"""The observables that some mechanism flips with a probability other than 0 and 1 in kept shots.

    Observables that are random without noise are not among them, nor those with Pauli targets, of which the
    flips of the frame are counted.

    Raises:
        ResourceLimitError: The circuit is too wide.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("RX 0\nT 0\nX_ERROR(0.01) 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
        >>> observables_flipped_by_chance(circuit.compile())
        [0]
        >>> circuit = snc.Circuit("RX 0\nT 0\nZ_ERROR(0.01) 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
        >>> observables_flipped_by_chance(circuit.compile())
        []
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
    paths = _Paths(plan)
    signatures = paths.signatures_of_mechanisms()
    work = float(np.exp2(plan.operations["width"]).sum()) * _PATHS
    most = max(1, min(_MOST_SIGNATURES, int(_PATH_WORK / work)))
    if len(signatures) > most:
        signatures = random.Random(0).sample(signatures, most)
    undecided = mask_of(range(len(candidates))) & ~paths.both_values(paths.start)
    found = 0
    for row in signatures:
        found |= paths.both_values(row) & undecided
        if found == undecided:
            break
    return [candidates[k] for k in ones(found)]


class _Paths:
    """Paths of outcomes of the rows of a plan, with coins whose tosses pass the noise-only checks."""

    def __init__(self, plan: SamplingPlan) -> None:
        self._plan = plan
        self._checks = (1 << plan.num_checks) - 1
        self._pivots: list[tuple[int, int]] = []
        self._free: list[int] = []
        for coin in masks_of(plan.coins):
            row = self._reduced(coin)
            if row & self._checks:
                self._pivots.append((row & self._checks & -(row & self._checks), row))
            else:
                self._free.append(row)
        self.start = self._reduced(mask_of(plan.constant.tolist()))
        self._engine = CpuEngine(plan, cache_bytes=0)

    def _reduced(self, row: int) -> int:
        for pivot, other in self._pivots:
            if row & pivot:
                row ^= other
        return row

    def signatures_of_mechanisms(self) -> list[int]:
        """The rows of shots with one event that pass the noise-only checks, of each signature one."""
        bits = ((1 << self._plan.num_signature_bits) - 1) << self._plan.num_checks
        found: dict[int, int] = {}
        for mechanism in masks_of(self._plan.effects):
            row = self._reduced(self.start ^ mechanism)
            if not row & self._checks and (row ^ self.start) & bits:
                found.setdefault(row & bits, row)
        return list(found.values())

    def both_values(self, row: int) -> int:
        """The outputs that have both values on paths of a row that are kept, as a mask."""
        if row & self._checks:
            return 0
        ever, always, kept = 0, -1, 0
        plan = self._plan
        for number in range(2 * _PATHS):
            tosses = random.Random(number).getrandbits(len(self._free) + 1)
            tossed = row
            for k, coin in enumerate(self._free):
                if tosses >> k & 1:
                    tossed ^= coin
            signature = np.zeros(plan.num_signature_bits, dtype=np.bool_)
            signature[ones(tossed >> plan.num_checks & ((1 << plan.num_signature_bits) - 1))] = True
            flipped = self._engine.possible_path(signature, 0, number)
            if flipped is None:
                continue
            outputs = tossed >> plan.num_checks + plan.num_signature_bits
            outputs ^= mask_of(np.flatnonzero(flipped).tolist())
            ever, always, kept = ever | outputs, always & outputs, kept + 1
            if kept == _PATHS:
                break
        return ever & ~always if kept else 0
