"""Sums over fault sets in which each set counts for its members.

A budget asks for sums over the sets X of P(X) f(X) (b + Σ v_i over the members i of X), with f the
probability of being kept, or kept and wrong. For enumerated weights they follow from the sums over the sets
that have a member; for sampled ones, from the sets that were found, which also give the errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..search.exploration import Exploration
from ..search.laws import Floats
from ..search.sampling.joins import JoinedSets
from ..search.strata import ExactWeight
from ..search.two_searches import TwoSearches

__all__ = ["MemberSums", "SampledSets", "member_sums"]

KEPT, WRONG = 0, 1


@dataclass(frozen=True)
class SampledSets:
    """Sets that were joined and can be kept; shapes are those of ``count`` sets.

    Attributes:
        members: uint32, shape (count, largest size); mechanisms first.
        sizes: How many mechanisms each set has, int64, shape (count,).
        probabilities: float64, shape (count, 2): what each set adds to P(kept), and to P(kept and wrong).
        sides: Halves that sets have in common, int64, shape (count,) each; none if all are independent.
    """

    members: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.int64]
    probabilities: Floats
    sides: tuple[npt.NDArray[np.int64], ...]

    def incidence(self, num_mechanisms: int) -> sparse.csr_array:
        """1 where a set has a mechanism; shape (count, num_mechanisms)."""
        count, most = self.members.shape
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        members = self.members[np.arange(most) < self.sizes[:, None]]
        return sparse.csr_array((np.ones(len(members)), members, starts), shape=(count, num_mechanisms))

    def of_size(self, size: int) -> SampledSets:
        """Those with so many members."""
        chosen = self.sizes == size
        sides = tuple(side[chosen] for side in self.sides)
        return SampledSets(self.members[chosen], self.sizes[chosen], self.probabilities[chosen], sides)

    def variance(self, spread: sparse.csr_array, factors: Floats, constants: Floats) -> Floats:
        """The estimated variance of sums over the sets.

        Args:
            spread: What each set adds to each sum, shape (count, num_sums), but for ``factors @ constants``.
            factors: float64, shape (count, n).
            constants: float64, shape (n, num_sums).

        Returns:
            float64, shape (num_sums,).
        """
        own = _sum_of_squares(spread, factors, constants)
        if not self.sides:
            return own
        # Sets with a half in common are not independent: the halves are.
        total = -own
        for side in self.sides:
            draws, draw = np.unique(side, return_inverse=True)
            count = len(draw)
            gather = sparse.csr_array((np.ones(count), (draw, np.arange(count))), shape=(len(draws), count))
            total += _sum_of_squares(sparse.csr_array(gather @ spread), gather @ factors, constants)
        return np.maximum(total, 0.0)


def _sum_of_squares(spread: sparse.csr_array, factors: Floats, constants: Floats) -> Floats:
    """The sum over rows of (spread + factors @ constants)^2."""
    squares = np.asarray(spread.multiply(spread).sum(axis=0)).ravel()
    mixed = np.einsum("jg,jg->g", np.asarray((spread.T @ factors).T), constants)
    return np.asarray(
        squares + 2 * mixed + np.einsum("ig,ij,jg->g", constants, factors.T @ factors, constants)
    )


@dataclass(frozen=True)
class MemberSums:
    """What the fault sets of a circuit say of its mechanisms.

    Attributes:
        by_weight: float64, shape (weights, num_mechanisms, 2): probability of the sets of a weight that have
            a mechanism and are kept, and kept and wrong; sampled weights are estimates.
        without_faults: P(no mechanism acts, and kept), and the same and wrong.
        samples: The sets of the sampled weights.
    """

    by_weight: Floats
    without_faults: tuple[float, float]
    samples: tuple[SampledSets, ...]


def member_sums(known: Exploration | TwoSearches, circuit: int) -> MemberSums:
    """The sums for a circuit, from all that was looked at.

    Args:
        known: What is known; enumerated weights are enumerated again.
        circuit: Which of its circuits.
    """
    if isinstance(known, TwoSearches):
        return _of_two(member_sums(known.kept, circuit), member_sums(known.wrong, circuit))
    factor, odds = known.factor(circuit), np.ascontiguousarray(known.odds[circuit])
    values = np.stack([known.values.kept, known.values.wrong], axis=1)
    by_weight = np.zeros((known.next_weight, len(odds), 2))
    samples = []
    for stratum in known.strata:
        if isinstance(stratum, ExactWeight):
            members = known.study.member_sums(stratum.weight, odds, values.ravel(), 2)
            by_weight[stratum.weight] += factor * members.reshape(-1, 2)
        elif isinstance(stratum, JoinedSets):
            found = _sets_of(stratum, circuit, factor, values)
            samples += found
            for weight, sets in product(stratum.weights, found):
                each = sets.of_size(weight)
                by_weight[weight] += each.incidence(len(odds)).T @ each.probabilities
    known.study.release()
    nothing = known.strata[0].sums(circuit, known.values, 0.0)
    return MemberSums(by_weight, (factor * nothing.kept, factor * nothing.wrong), tuple(samples))


def _of_two(kept: MemberSums, wrong: MemberSums) -> MemberSums:
    """The sums of two searches: each has those that it is for, twice."""
    by_weight = np.zeros((max(len(kept.by_weight), len(wrong.by_weight)), *kept.by_weight.shape[1:]))
    by_weight[: len(kept.by_weight), :, KEPT] = kept.by_weight[..., KEPT]
    by_weight[: len(wrong.by_weight), :, WRONG] = wrong.by_weight[..., WRONG]
    samples = [
        replace(sample, probabilities=sample.probabilities * own)
        for own, sums in (([1, 0], kept), ([0, 1], wrong))
        for sample in sums.samples
    ]
    return MemberSums(by_weight, (kept.without_faults[KEPT], wrong.without_faults[WRONG]), tuple(samples))


def _sets_of(stratum: JoinedSets, circuit: int, factor: float, values: Floats) -> list[SampledSets]:
    """The sets that joins found and that can be kept, and the unions, if any.

    The errors of these are those of as many independent draws: more than they have where all combinations of
    two keys were looked at.
    """
    probabilities = factor * stratum.set_weights(circuit)[:, None] * values[stratum.keys]
    kept = probabilities[:, KEPT] > 0
    sides = tuple(side[kept] for side in stratum.sides)
    found = [SampledSets(stratum.members[kept], stratum.sizes[kept], probabilities[kept], sides)]
    if (composed := stratum.composed) is not None:
        probabilities = factor * composed.set_weights(circuit)[:, None] * values[composed.keys]
        sizes = np.full(len(composed.members), stratum.weight)
        found.append(SampledSets(composed.members, sizes, probabilities, ()))
    return found
