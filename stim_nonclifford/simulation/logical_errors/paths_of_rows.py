"""Paths of outcomes that shots with given rows of a plan can take."""

from __future__ import annotations

import functools
import operator
import random

import numpy as np

from ..compiler.algebra.gf2 import mask_of, masks_of, ones
from ..engines import CpuEngine
from ..plan import SamplingPlan


class PathsOfRows:
    """Paths of outcomes of the rows of a plan, with coins whose tosses pass the noise-only checks.

    ``start`` is the row without noise, with tosses that give the checks their value, if any do.
    """

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

    def both_values(self, row: int, num_paths: int, num_attempts: int) -> int:
        """The outputs that have both values on paths of a row that are kept, as a mask."""
        plan = self._plan
        if row & self._checks:
            return 0
        first_output = plan.num_checks + plan.num_signature_bits
        if not len(plan.operations):
            return functools.reduce(operator.or_, self._free, 0) >> first_output
        ever, always, kept = 0, -1, 0
        for number in range(num_attempts):
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
            outputs = tossed >> first_output ^ mask_of(np.flatnonzero(flipped).tolist())
            ever, always, kept = ever | outputs, always & outputs, kept + 1
            if kept == num_paths:
                break
        return ever & ~always if kept else 0
