"""What samples leave: sums of importance weights, with means, variances and bounds, and failing fault sets.

Of n independent samples, sample i adds the weight v_i to a quantity, often 0. Then

    mean = Σ v_i / n,      variance of the mean = (Σ v_i² / n - mean²) / n,

and the covariance with the mean of a_i is (Σ a_i v_i / n - mean of a · mean of v) / n. A sample that was not
drawn by chance could have had the largest weight w: the zero-count bound w / n (M. P. Fay, E. J. Feuer,
Statistics in Medicine 16, 791, 1997; ``interval`` makes intervals of it). Enumerated fault sets have their
probabilities as weights, n = 1, and neither a variance nor a bound.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from ...base.arrays import Floats, Indices, Integers, Words

ACCEPTED, WRONG = 0, 1
"""The first two quantities: a shot is accepted; and any observable of it is predicted wrongly, too."""

EXACT = -1
"""The owner of sets that were enumerated."""

_MOST_SETS = 1 << 13
"""Twice as many sets are stored at most. Doubled, error budgets have errors smaller by up to 1.4, and results
take twice the memory."""

_ALL_GAPS = np.array([np.iinfo(np.int64).min])


class Tally:
    """Sums of the weights of independent samples, for several quantities and by the decoder's gap."""

    def __init__(self, num_observables: int, largest: float, wrong_below: int | None = None) -> None:
        self.samples = 0  # n, that were drawn, or fault sets that were enumerated
        self.failures = 0  # fault sets that were accepted and wrong
        self.largest = largest  # the largest weight that a sample can have, as far as is known
        self.is_exact = False  # these are all fault sets, each with its probability
        self._wrong_below = wrong_below  # from this gap on, another tally has what is wrong
        self._gaps: Integers = np.zeros(0, dtype=np.int64)
        self._sums: Floats = np.zeros((3, 0, 2 + num_observables))  # of v, v² and a v by gap
        self._cached: Floats | None = None

    def add(self, samples: int, values: Floats, gaps: Integers | None = None) -> None:
        """Takes more samples, some of which have weights.

        These are ``values``, of shape (some, 2 + observables): the weight if the sample is accepted, if it is
        also wrong, and if it is wrong about each observable. Without gaps, all are 0.
        """
        if gaps is None:
            gaps = np.zeros(len(values), dtype=np.int64)
        if self._wrong_below is not None:
            values = values.copy()
            values[gaps >= self._wrong_below, WRONG:] = 0.0
        self.samples += samples
        self.failures += int(np.count_nonzero(values[:, WRONG]))
        self.largest = max(self.largest, float(values[:, WRONG].max(initial=0.0)))
        self._cached = None
        every = np.concatenate([self._gaps, gaps])
        moments = np.stack([values, values**2, values * values[:, :1]])
        sums = np.concatenate([self._sums, moments], axis=1)
        self._gaps, place = np.unique(every, return_inverse=True)
        order = np.argsort(place, kind="stable")
        if len(order):
            starts = np.searchsorted(place[order], np.arange(len(self._gaps)))
            self._sums = np.add.reduceat(sums[:, order], starts, axis=1)

    @property
    def gaps(self) -> Integers:
        """The distinct gaps of accepted samples, ascending: shape (gaps,)."""
        return self._gaps

    @property
    def bound(self) -> float:
        """W / n, the mean's largest unobserved contribution by one sample; 0 if all sets were enumerated."""
        return 0.0 if self.is_exact else self.largest / max(self.samples, 1)

    def bounds(self, least_gaps: Integers = _ALL_GAPS) -> Floats:
        """``bound`` at some least gaps: shape (gaps,)."""
        if self._wrong_below is None:
            return np.full(len(least_gaps), self.bound)
        return np.where(least_gaps < self._wrong_below, self.bound, 0.0)

    def means(self, least_gaps: Integers = _ALL_GAPS) -> Floats:
        """The means of all quantities at some least gaps: shape (2 + observables, gaps)."""
        return self._moments(least_gaps)[0]

    def variances(self, least_gaps: Integers = _ALL_GAPS) -> tuple[Floats, Floats]:
        """The variances of ``means``, and their covariances with the mean of ``ACCEPTED``; same shapes."""
        mean, square, product = self._moments(least_gaps)
        if self.is_exact:
            return np.zeros_like(mean), np.zeros_like(mean)
        count = self._count()
        return np.maximum(square - mean**2, 0.0) / count, (product - mean[ACCEPTED] * mean) / count

    @property
    def effective_failures(self) -> float:
        """Kish's effective number of failing samples, (Σw)² / Σw²."""
        first, second = self._sums[:2, :, WRONG].sum(axis=1).tolist()
        return float(first**2 / second) if second else 0.0

    def _moments(self, least_gaps: Integers) -> Floats:
        """The sums over n of v, v² and a v: shape (3, quantities, gaps)."""
        found = self._tails()[:, np.searchsorted(self._gaps, least_gaps)].transpose(0, 2, 1)
        return np.asarray(found / (1 if self.is_exact else max(self.samples, 1)))

    def _tails(self) -> Floats:
        """The sums at each of the gaps and above, and 0 beyond: shape (3, gaps + 1, quantities)."""
        if self._cached is None:
            tails = self._sums[:, ::-1].cumsum(axis=1)[:, ::-1]
            self._cached = np.concatenate([tails, np.zeros((3, 1, tails.shape[2]))], axis=1)
        return self._cached

    def _count(self) -> int:
        """How many independent samples there are, for variances."""
        return max(self.samples, 1)


class RunTally(Tally):
    """Sums over independent runs: v is the sum of the weights of the states of a run at a gap and above."""

    def __init__(self, num_observables: int) -> None:
        super().__init__(num_observables, 0.0)
        self._runs: list[tuple[Integers, Floats]] = []
        self._levels: Integers = np.zeros(0, dtype=np.int64)
        self._unseen: Floats = np.zeros(0)

    def add_run(self, shots: int, values: Floats, gaps: Integers, levels: Integers, unseen: Floats) -> None:
        """Takes a run, in which so many states were classified, with values as in ``Tally.add``.

        From the gaps ``levels`` on, ascending and the same for all runs, one more state would have the weight
        ``unseen``.
        """
        one = Tally(values.shape[1] - 2, 0.0)
        one.add(1, values, gaps)
        self._runs.append((one.gaps, one._tails()[0]))
        self.samples += shots
        self.failures += one.failures
        self._levels, self._unseen = levels, unseen + (self._unseen if len(self._unseen) else 0.0)

    @property
    def num_runs(self) -> int:
        """How many runs there are."""
        return len(self._runs)

    @property
    def gaps(self) -> Integers:
        """The distinct gaps of accepted states, ascending: shape (gaps,)."""
        return np.unique(np.concatenate([gaps for gaps, _ in self._runs])) if self._runs else self._gaps

    def bounds(self, least_gaps: Integers = _ALL_GAPS) -> Floats:
        """What one more run like the largest one, or one more state, would add to the mean at least gaps."""
        place = np.searchsorted(self._levels, least_gaps, side="right") - 1
        one_state = self._unseen[np.maximum(place, 0)] / self.num_runs
        return np.maximum(self._values(least_gaps)[:, :, WRONG].max(axis=0), one_state) / self.num_runs

    @property
    def bound(self) -> float:
        """What one more of the first states of a run would add to a mean."""
        return float(self._unseen[0]) / self.num_runs**2

    def _moments(self, least_gaps: Integers) -> Floats:
        values = self._values(least_gaps)
        products = np.stack([values, values**2, values * values[:, :, :1]])
        return np.asarray(products.mean(axis=1).transpose(0, 2, 1))

    def _values(self, least_gaps: Integers) -> Floats:
        """The sums of runs at some least gaps: shape (runs, gaps, quantities)."""
        return np.array([tails[np.searchsorted(gaps, least_gaps)] for gaps, tails in self._runs])

    def _count(self) -> int:
        return max(self.num_runs - 1, 1)


class FailingSets:
    """Failing fault sets with weights; if their number is limited and they get too many, a sample of them."""

    def __init__(self, limited: bool = True) -> None:
        self._limited = limited
        self.members: Indices = np.zeros((0, 1), dtype=np.intp)  # shape (sets, room): -1 for none
        self.numbers: Words = np.zeros(0, dtype=np.uint64)  # what fixes their quantum outcomes
        self.weights: Floats = np.zeros(0)  # how likely each is among failing sets, up to a factor
        self.owners: Indices = np.zeros(0, dtype=np.intp)  # the independent sample of each, or ``EXACT``

    def __len__(self) -> int:
        return len(self.weights)

    def add(
        self, members: Indices, numbers: Words, weights: Floats, owners: Indices, rng: np.random.Generator
    ) -> None:
        """Takes more sets; ``rng`` chooses among them if they get too many."""
        room = max(members.shape[1], self.members.shape[1])
        self.members = np.vstack([padded(self.members, room), padded(members, room)])
        self.numbers = np.concatenate([self.numbers, numbers])
        self.weights = np.concatenate([self.weights, weights])
        self.owners = np.concatenate([self.owners, owners])
        if self._limited and len(self) > 2 * _MOST_SETS:
            # A sample of enumerated sets has a statistical error as any other.
            is_exact = self.owners == EXACT
            self.owners[is_exact] = self.owners.max(initial=0) + 1 + np.arange(np.count_nonzero(is_exact))
            self._resample(_MOST_SETS, float(self.weights.sum()), rng)

    @classmethod
    def joined(cls, parts: Sequence[tuple[FailingSets, int]]) -> FailingSets:
        """The sets of several samplers, each with its number of samples: members first, then -1."""
        rng = np.random.default_rng(0)
        found = cls(limited=False)
        for part, samples in parts:
            beyond = int(found.owners.max(initial=0)) + 1
            owners = np.where(part.owners == EXACT, EXACT, part.owners + beyond)
            found.add(part.members, part.numbers, part.weights / max(samples, 1), owners, rng)
        found.members = -np.sort(-found.members, axis=1)
        most = int((found.members >= 0).sum(axis=1).max(initial=0))
        found.members = found.members[:, : max(1, most)]
        return found

    def means(self, values: Floats) -> tuple[Floats, Floats]:
        """The weighted means of quantities of the sets, shape (sets, quantities), and their standard errors.

        The errors are those of independent replicas: the sets of each 64th sample.
        """
        total = self.weights.sum()
        mean = self.weights @ values / total
        is_sampled = self.owners != EXACT
        if not is_sampled.any():
            return mean, np.zeros(mean.shape)
        labels, replica = np.unique(self.owners[is_sampled] % 64, return_inverse=True)
        count = len(labels)
        if count == 1:
            return mean, np.full(mean.shape, np.inf)
        sums = np.zeros((count, values.shape[1]))
        np.add.at(sums, replica.ravel(), (self.weights[:, np.newaxis] * (values - mean))[is_sampled])
        spread = (sums**2).sum(axis=0) * (count / (count - 1))
        return mean, np.sqrt(spread) / total

    def equally_likely(self, count: int) -> FailingSets:
        """At most so many sets, each about as often as it is likely."""
        found = copy.copy(self)  # its arrays are replaced
        # The members of a set are known by now: the choice need not depend on a seed.
        found._resample(count, float(count), np.random.default_rng(0))
        return found

    def _resample(self, count: int, total: float, rng: np.random.Generator) -> None:
        """Systematic resampling: so many sets with equal weights, each as often as its weight on average."""
        ends = np.cumsum(self.weights)
        points = (rng.random() + np.arange(count)) * (ends[-1] / count)
        places = np.minimum(np.searchsorted(ends, points, side="right"), len(self) - 1)
        self.members, self.numbers = self.members[places], self.numbers[places]
        self.owners, self.weights = self.owners[places], np.full(count, total / count)


def padded(members: Indices, room: int) -> Indices:
    """Sets with -1 for none, in an array with more room."""
    return np.pad(members, ((0, 0), (0, room - members.shape[1])), constant_values=-1)
