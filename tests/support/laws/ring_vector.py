"""Outcome laws of plans whose rotations are T gates, without rounding: amplitudes are numbers of Z[√2, i].

A rotation by k eighths of π is exp(-iφP) = cos φ - i sin φ P with φ = kπ/8. Up to a positive factor, cos φ + i sin φ is
w^k with w = 1 + i tan(π/8) = 1 + i (√2 - 1). Vectors are not normalized: the factor is the same in the weights of
both outcomes, so that probabilities are quotients of numbers of Z[√2]. Written from the description of
``stim_nonclifford.simulation.plan``.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt

from stim_nonclifford.simulation.plan import ACTIVATE, MEASURE, ROTATE, SamplingPlan

from .exact import Distribution, bools, mask_of

Ring = npt.NDArray[np.int64]
"""Shape (4, ...): the integers a, b, c, d of (a + b √2) + i (c + d √2)."""

_LARGEST = 1 << 57


def _times(u: Ring, v: Ring) -> Ring:
    (a, b, c, d), (e, f, g, h) = u, v
    parts = (
        a * e + 2 * b * f - c * g - 2 * d * h,
        a * f + b * e - c * h - d * g,
        a * g + 2 * b * h + c * e + 2 * d * f,
        a * h + b * g + c * f + d * e,
    )
    return np.array(parts, dtype=np.int64)


def _turned(turns: int) -> tuple[int, int, int, int]:
    """Up to a positive factor, exp(ikπ/8)."""
    found = np.array([1, 0, 0, 0])
    for _ in range(turns % 16 // 2):
        found = _times(np.array([1, 0, 1, 0]), found)
        found //= np.gcd.reduce(found)
    a, b, c, d = (_times(np.array([1, 0, -1, 1]), found) if turns % 2 else found).tolist()
    return a, b, c, d


class RingVector:
    """A coefficient vector, up to a positive factor."""

    def __init__(self, entries: Ring) -> None:
        self.entries = entries // np.gcd.reduce(entries, axis=None)
        assert abs(self.entries).max() < _LARGEST, "There are too many T gates for numbers of 64 bits."

    def with_pauli(self, x: int, z: int, i_power: int) -> Ring:
        """P v, of P = i^i_power (-1)^|index & z| |index ^ x><index|."""
        places = np.arange(self.entries.shape[1]) ^ x
        odd = places & z
        for shift in (8, 4, 2, 1):
            odd ^= odd >> shift
        a, b, c, d = self.entries[:, places] * (1 - 2 * (odd & 1))
        return np.array(((a, b, c, d), (-c, -d, a, b), (-a, -b, -c, -d), (c, d, -a, -b))[i_power % 4])

    def rotated(self, x: int, z: int, i_power: int, turns: int) -> RingVector:
        """cos v - i sin P v."""
        a, b, c, d = _turned(turns)
        rest = _times(np.array([0, 0, -c, -d]), self.with_pauli(x, z, i_power))
        return RingVector(_times(np.array([a, b, 0, 0]), self.entries) + rest)

    def activated(self, about_x: bool, turns: int) -> RingVector:
        """With a new highest coordinate: a rotated |0> (about X) or |+> (about Z)."""
        a, b, c, d = _turned(turns)
        factors = ((a, b, 0, 0), (0, 0, -c, -d)) if about_x else ((a, b, -c, -d), (a, b, c, d))
        return RingVector(np.hstack([_times(np.array(factor), self.entries) for factor in factors]))

    def projected(self, x: int, z: int, i_power: int, pivot: int, outcome: int) -> Ring:
        """On an outcome of P, without the pivot's coordinate; times the same factor for both outcomes."""
        places = np.arange(self.entries.shape[1] // 2)
        low = (places >> pivot << pivot + 1) | (places & (1 << pivot) - 1)
        both = self.entries + (1 - 2 * outcome) * self.with_pauli(x, z, i_power)
        return both[:, low] if x else both[:, low] + both[:, low | 1 << pivot]


def _weight(entries: Ring) -> tuple[int, int]:
    """The integers a, b of the squared norm a + b √2."""
    a, b, c, d = entries.astype(np.object_)
    return int((a * a + 2 * b * b + c * c + 2 * d * d).sum()), int(2 * (a * b + c * d).sum())


def _quotient(part: tuple[int, int], other: tuple[int, int]) -> float:
    """part / (part + other), to the last bit; exactly 0 or 1 where it is."""
    (a, b), (e, f) = part, (part[0] + other[0], part[1] + other[1])
    numerator, denominator = (a * e - 2 * b * f, b * e - a * f), e * e - 2 * f * f
    with localcontext() as context:
        context.prec = 40 + len(str(abs(numerator[0]) + abs(numerator[1])))
        return float((numerator[0] + numerator[1] * Decimal(2).sqrt()) / denominator)


def _turns_of(plan: SamplingPlan, operation: np.void, row: npt.NDArray[np.bool_]) -> int:
    total = 0
    for term in plan.rotation_terms[operation["first_term"] : operation["end_term"]]:
        turns = math.atan2(term["sine"], term["cosine"]) / (math.pi / 8)
        assert abs(turns - round(turns)) < 1e-12, "The rotations must be T gates."
        is_set = term["sign"] >= 0 and bool(row[term["sign"]])
        total += -round(turns) if is_set != bool(term["is_reversed"]) else round(turns)
    return total


def ring_law(plan: SamplingPlan, signature: int) -> tuple[Distribution, float]:
    """The outputs that the outcomes flip, with their probabilities, and the probability of a discard."""
    row = np.zeros(plan.num_branch_bits, dtype=np.bool_)
    row[plan.branch_constant] = True
    for bit in np.flatnonzero(bools(signature, plan.num_signature_bits)):
        row[plan.signature_images.row(int(bit))] ^= True
    kept: Distribution = {}
    discarded = 0.0
    waiting = [(0, RingVector(np.array([[1], [0], [0], [0]])), row, 1.0)]
    while waiting:
        begin, vector, row, probability = waiting.pop()
        for k in range(begin, len(plan.operations)):
            operation = plan.operations[k]
            x, z, i_power, pivot = (int(operation[name]) for name in ("x", "z", "i_power", "pivot"))
            if operation["kind"] == ROTATE:
                vector = vector.rotated(x, z, i_power, _turns_of(plan, operation, row))
            elif operation["kind"] == ACTIVATE:
                vector = vector.activated(x != 0, _turns_of(plan, operation, row))
            if operation["kind"] != MEASURE:
                continue
            parts = [vector.projected(x, z, i_power, pivot, outcome) for outcome in (0, 1)]
            for outcome, part, other in ((0, *parts), (1, *parts[::-1])):
                after = row.copy()
                if outcome:
                    after[plan.outcome_effects.row(int(operation["outcome"]))] ^= True
                reached = probability * _quotient(_weight(part), _weight(other))
                checks = plan.num_signs + np.flatnonzero(plan.outcome_check_deadlines == operation["outcome"])
                if reached and after[checks].any():
                    discarded += reached
                elif reached:
                    waiting.append((k + 1, RingVector(part), after, reached))
            break
        else:
            outputs = mask_of(row[plan.num_signs + plan.num_outcome_checks :])
            kept[outputs] = kept.get(outputs, 0.0) + probability
    return kept, discarded
