"""Sums over fault sets in which each set counts for its members.

A budget asks for sums over the sets X of P(X) f(X) (b + Σ v_i over the members i of X), with f the
probability of being kept, or kept and wrong. For enumerated weights they follow from the sums over the sets
that have a member; for sampled ones, from the sets that were found, which also give the errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..fault_sets.search.estimate import Estimate
from ..fault_sets.search.outcomes import KEPT, WRONG, Floats
from ..fault_sets.search.strata import SampledSets

__all__ = ["MemberSums", "WeighedSets", "member_sums"]


@dataclass(frozen=True)
class WeighedSets:
    """Fault sets of a sample that can be kept; shapes are those of ``count`` sets.

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

    def of_size(self, size: int) -> WeighedSets:
        """The sets with ``size`` members."""
        chosen = self.sizes == size
        sides = tuple(side[chosen] for side in self.sides)
        return WeighedSets(self.members[chosen], self.sizes[chosen], self.probabilities[chosen], sides)

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
    """Sums over the fault sets that contain a mechanism, for each mechanism of a circuit.

    Attributes:
        by_weight: float64, shape (weights, num_mechanisms, 2): probability of the sets of a weight that have
            a mechanism and are kept, and kept and wrong; sampled weights are estimates.
        without_faults: P(no mechanism acts, and kept), and the same and wrong.
        samples: The sets of the sampled weights.
    """

    by_weight: Floats
    without_faults: tuple[float, float]
    samples: tuple[WeighedSets, ...]


def member_sums(known: Estimate) -> MemberSums:
    """The sums, from all sets that were enumerated or sampled.

    Args:
        known: The estimate; enumerated weights are enumerated again.
    """
    num_weights = max(search.next_weight for search in known.searches)
    odds = known.mechanisms.odds
    by_weight, nothing = np.zeros((num_weights, len(odds), 2)), np.zeros(2)
    samples: list[WeighedSets] = []
    for search in known.searches:
        values = search.outcomes.probabilities
        for stratum in search.enumerated:
            weight = stratum.weights[0]
            members = search.native.member_sums(weight, odds, values.ravel(), 2)
            by_weight[weight] += search.factor * members.reshape(-1, 2)
        for sampled in search.sampled:
            found = list(_sets_of(sampled, search.factor * values))
            samples += found
            for weight, sets in product(sampled.weights, found):
                each = sets.of_size(weight)
                by_weight[weight] += each.incidence(len(odds)).T @ each.probabilities
        search.native.release()
        first = search.sums(search.strata[0])
        nothing += search.factor * np.array([first.kept, first.wrong])
    return MemberSums(by_weight, (float(nothing[KEPT]), float(nothing[WRONG])), tuple(samples))


def _sets_of(stratum: SampledSets, probabilities: Floats) -> Iterator[WeighedSets]:
    """The sets of each sample that can be kept."""
    for sample in stratum.samples:
        weights = stratum.share(sample) * sample.weights
        values = weights[:, np.newaxis] * probabilities[sample.classes]
        yield WeighedSets(sample.members, sample.sizes, values, sample.sides)
