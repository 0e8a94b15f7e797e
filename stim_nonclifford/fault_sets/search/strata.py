"""What is known of the fault sets of one weight: all of them, or a sample.

A stratum gives sums over fault sets X of its weight, for several circuits that differ in the odds of their
mechanisms: of odds(X) f(X), where f is the probability that a shot is kept, or kept and wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .laws import Floats, KeyValues

__all__ = ["DrawnWeight", "ExactWeight", "JoinRound", "JoinedWeight", "Stratum", "Sums"]

Keys = npt.NDArray[np.uint32]

_NOT_STORED = 2**32 - 1
"""The number of a key with which no shot is kept, where only the others are stored."""


@dataclass(frozen=True)
class Sums:
    """Sums over the fault sets of a weight, in units of the probability that no mechanism acts.

    Attributes:
        passing: Of all sets that pass the noise-only checks.
        kept: Of the sets times the probability of being kept.
        wrong: The same for kept and wrong.
        variance: Estimated variance of ``wrong`` - rate x ``kept``.
        largest: The largest amount by which one more event would have changed ``wrong``.
    """

    passing: float
    kept: float
    wrong: float
    variance: float
    largest: float


class Stratum(Protocol):
    """The fault sets of one weight."""

    weight: int
    method: str

    @property
    def draws(self) -> int:
        """Sets, or parts of sets, that were drawn; 0 if all sets were looked at."""

    @property
    def rounds(self) -> int:
        """How often draws were added; 0 if all sets were looked at."""

    @property
    def sets(self) -> int:
        """Sets that pass the checks, found one by one."""

    @property
    def signatures(self) -> int:
        """Distinct keys: signature and outputs. Of draws with long laws only those that can be kept."""

    def malignant(self, values: KeyValues) -> int:
        """Those of them with which a kept shot can be wrong."""

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """The sums for a circuit; ``rate`` is about its logical error rate."""

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """For each key its part in the sums: float64, shape (num_keys,)."""


class ExactWeight:
    """All sets of a weight.

    Args:
        weight: The weight.
        found: What ``FaultSetStudy.enumerate`` found.
        num_circuits: Number of circuits.
    """

    method = "exact"
    draws = 0
    rounds = 0

    def __init__(self, weight: int, found: dict[str, object], num_circuits: int) -> None:
        self.weight = weight
        self.sets = int(found["sets"])  # type: ignore[call-overload]
        self.steps = int(found["steps"])  # type: ignore[call-overload]
        self.signatures = int(found["num_keys"])  # type: ignore[call-overload]
        self.keys = np.asarray(found["keys"])
        self._masses = np.asarray(found["masses"]).reshape(len(self.keys), num_circuits)
        self._left_out = np.asarray(found["left_out"])

    def malignant(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        return int(np.count_nonzero(values.wrong[self.keys]))

    def passing(self, circuit: int) -> float:
        """The sum of all sets that pass the checks."""
        return float(self._masses[:, circuit].sum() + self._left_out[circuit])

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """See ``Stratum``."""
        masses = self._masses[:, circuit]
        wrong = values.wrong[self.keys]
        return Sums(
            passing=self.passing(circuit),
            kept=_dot(masses, values.kept[self.keys]),
            wrong=_dot(masses, wrong),
            variance=0.0,
            largest=0.0,
        )

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """See ``Stratum``."""
        sums = np.zeros(num_keys)
        sums[self.keys] = self._masses[:, circuit]
        return sums


class DrawnWeight:
    """A Poisson process of sets that pass the checks, as many as there is mass of them.

    Most of them are never kept: these are counted, and not stored.

    Args:
        weight: The weight.
        odds: Odds of the mechanisms in each circuit, float64, shape (num_circuits, num_mechanisms); draws
            are those of the first one.

    Attributes:
        draws: Sets drawn.
        keys: The keys of those that can be kept.
        members: Their members, shape (len(keys), weight).
    """

    method = "drawn"

    def __init__(self, weight: int, odds: Floats) -> None:
        self.weight = weight
        self._odds = odds
        self.draws = 0
        self.keys: Keys = np.zeros(0, dtype=np.uint32)
        self.members = np.zeros((0, weight), dtype=np.uint32)
        self._ratios = np.zeros((0, len(odds)))
        self._passing = np.zeros(len(odds))
        self._largest = np.zeros(len(odds))
        self._largest[0] = 1.0
        self._seen = np.zeros(0, dtype=np.bool_)
        self._density = 0.0
        self.rounds = 0

    def add(
        self, members: npt.NDArray[np.uint32], keys: Keys, spacing: float, can_be_kept: npt.NDArray[np.bool_]
    ) -> None:
        """Adds a process with on average one draw for each ``spacing`` of mass.

        Args:
            members: uint32, shape (draws * weight,).
            keys: Keys of the sets, shape (draws,); 2^32 - 1 for those that are not stored.
            spacing: See above.
            can_be_kept: For each key of the study.
        """
        members = members.reshape(-1, self.weight)
        self.draws += len(keys)
        seen = np.zeros(len(can_be_kept), dtype=np.bool_)
        seen[: len(self._seen)] = self._seen
        stored = keys != _NOT_STORED
        seen[keys[stored]] = True
        self._seen = seen
        for begin in range(0, len(keys), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            ratios = _ratios(self._odds, members[part])
            self._passing += ratios.sum(axis=0)
            self._largest = np.maximum(self._largest, ratios.max(axis=0))
            kept = stored[part].copy()
            kept[kept] = can_be_kept[keys[part][kept]]
            self.keys = np.concatenate([self.keys, keys[part][kept]])
            self.members = np.concatenate([self.members, members[part][kept]])
            self._ratios = np.concatenate([self._ratios, ratios[kept]])
        self._density += 1 / spacing
        self.rounds += 1

    @property
    def sets(self) -> int:
        """Sets drawn."""
        return self.draws

    @property
    def signatures(self) -> int:
        """Distinct keys."""
        return int(np.count_nonzero(self._seen))

    def malignant(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        return len(np.unique(self.keys[values.wrong[self.keys] > 0]))

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """See ``Stratum``."""
        spacing, ratios = 1 / self._density, self._ratios[:, circuit]
        kept, wrong = values.kept[self.keys], values.wrong[self.keys]
        residuals = ratios * (wrong - rate * kept)
        return Sums(
            passing=spacing * float(self._passing[circuit]),
            kept=spacing * _dot(ratios, kept),
            wrong=spacing * _dot(ratios, wrong),
            variance=spacing**2 * _dot(residuals, residuals),
            largest=spacing * float(self._largest[circuit]),
        )

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """See ``Stratum``."""
        return np.bincount(self.keys, self._ratios[:, circuit], minlength=num_keys) / self._density

    def set_weights(self, circuit: int) -> Floats:
        """What each drawn set that can be kept counts: float64, shape (len(keys),)."""
        return self._ratios[:, circuit] / self._density


@dataclass(frozen=True)
class JoinRound:
    """Sets that were found among all combinations of so many left and right parts.

    Attributes:
        draws: Number of left parts, and of right parts.
        most_of_draw: The largest number of sets that a part is in, stored or not.
        is_complete: Whether all sets are stored.
        left: For each stored set the number of its left part.
        right: The same for the right part.
    """

    draws: int
    most_of_draw: int
    is_complete: bool
    left: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint32]


class JoinedWeight:
    """Sets found by joining random parts of them.

    n parts of a mechanisms and n parts of b mechanisms, drawn with probability proportional to their odds,
    have n^2 combinations; each set is found in C(a + b, a) ways.

    Args:
        weight: a + b.
        odds: As in ``DrawnWeight``.
        totals: For each circuit the sum of the odds of all sets of the weight.
        scale: e_a e_b / C(a + b, a), with e_k the sum of the odds of all sets of k mechanisms.
    """

    method = "joined"

    def __init__(self, weight: int, odds: Floats, totals: Floats, scale: float) -> None:
        self.weight = weight
        self._odds = odds
        self._totals = totals
        self.scale = scale
        self.keys: Keys = np.zeros(0, dtype=np.uint32)
        self.members = np.zeros((0, weight), dtype=np.uint32)
        self._ratios = np.zeros((0, len(odds)))
        self._left_out = np.zeros(len(odds))
        self._rounds: list[JoinRound] = []
        self.sets = 0
        """Sets found, each as often as it was found."""

    def add(self, draws: int, found: dict[str, npt.NDArray[np.uint32]]) -> None:
        """Adds what ``FaultSetStudy.join`` found with so many parts of each kind."""
        members = found["members"].reshape(-1, self.weight)
        self.sets += int(found["sets"])
        self._left_out += found["left_out"]
        self.members = np.concatenate([self.members, members])
        self.keys = np.concatenate([self.keys, found["keys"]])
        self._ratios = np.concatenate([self._ratios, _ratios(self._odds, members)])
        is_complete = int(found["sets"]) == len(members)
        self._rounds.append(
            JoinRound(draws, int(found["most_of_draw"]), is_complete, found["left"], found["right"])
        )

    @property
    def rounds(self) -> int:
        """Number of joins."""
        return len(self._rounds)

    @property
    def draws(self) -> int:
        """Parts of sets drawn, left and right."""
        return 2 * sum(each.draws for each in self._rounds)

    @property
    def is_unknown(self) -> bool:
        """Whether not even the probability to pass the checks is known."""
        return self.sets < _FEW_SETS

    @property
    def signatures(self) -> int:
        """Distinct keys."""
        return len(np.unique(self.keys))

    def malignant(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        return len(np.unique(self.keys[values.wrong[self.keys] > 0]))

    @property
    def sides(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The number of the left and of the right draw that each set has."""
        firsts = np.cumsum([0, *(each.draws for each in self._rounds)])
        rounds = list(zip(firsts[:-1], self._rounds, strict=True))
        left = [first + each.left.astype(np.int64) for first, each in rounds]
        right = [first + each.right.astype(np.int64) for first, each in rounds]
        return np.concatenate(left), np.concatenate(right)

    @property
    def _unit(self) -> float:
        """What a found set counts."""
        return self.scale / sum(each.draws**2 for each in self._rounds)

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """See ``Stratum``."""
        unit, ratios = self._unit, self._ratios[:, circuit]
        kept, wrong = values.kept[self.keys], values.wrong[self.keys]
        residuals = ratios * (wrong - rate * kept)
        variance, most, most_wrong, begin = -_dot(residuals, residuals), 0.0, 0.0, 0
        for each in self._rounds:
            # Sets with a draw in common are not independent: the draws are.
            part = slice(begin, begin + len(each.left))
            begin = part.stop
            if not each.is_complete:
                most = max(most, each.most_of_draw * self._largest_ratio(circuit))
            for side in (each.left, each.right):
                if len(side):
                    variance += float((np.bincount(side, residuals[part]) ** 2).sum())
                    most = max(most, float(np.bincount(side, ratios[part]).max()))
                    most_wrong = max(most_wrong, float(np.bincount(side, (ratios * wrong)[part]).max()))
        largest = unit * (most if np.count_nonzero(wrong) < _FEW_SETS else most_wrong)
        if self.is_unknown:
            # All there may be is behind one more draw.
            largest = max(largest, float(self._totals[circuit]) / sum(each.draws for each in self._rounds))
        return Sums(
            passing=unit * float(ratios.sum() + self._left_out[circuit]),
            kept=unit * _dot(ratios, kept),
            wrong=unit * _dot(ratios, wrong),
            variance=unit**2 * max(0.0, variance),
            largest=largest,
        )

    def _largest_ratio(self, circuit: int) -> float:
        """An upper bound on the ratio of a set."""
        return float((self._odds[circuit] / self._odds[0]).max()) ** self.weight

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """See ``Stratum``."""
        sums = np.bincount(self.keys, self._ratios[:, circuit], minlength=num_keys)
        return sums.astype(np.float64) * self._unit

    def set_weights(self, circuit: int) -> Floats:
        """What each found set counts: float64, shape (sets,)."""
        return self._ratios[:, circuit] * self._unit


_FEW_SETS = 10
_CHUNK = 1 << 18


def _ratios(odds: Floats, members: npt.NDArray[np.uint32]) -> Floats:
    """Odds of sets in each circuit over those in the first one; shape (sets, circuits)."""
    relative = odds / odds[0]
    ratios = np.ones((len(members), len(odds)))
    for circuit in range(1, len(odds)):
        ratios[:, circuit] = np.prod(relative[circuit][members], axis=1)
    return ratios


def _dot(a: Floats, b: Floats) -> float:
    """A sum of products. Those of BLAS depend, in the last digit, on the number of its threads."""
    return float((a * b).sum())
