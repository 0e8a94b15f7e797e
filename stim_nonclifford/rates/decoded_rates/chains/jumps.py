"""Jumps of chains from one kind of failure to another: a core of a fault set is replaced.

A fault set on which the decoder fails has a core, which fails, too, and faults that do not matter
(``failing.cores``). At weak noise, chains that change one mechanism at a time hardly ever get from a core to
one that shares nothing with it: the union of two failing cores is usually decoded rightly. An error that no
detector sees is the extreme case.

``CoreExchange`` takes a core c out of the fault set F, any of the n(F) known ones that are part of it, and
puts in another one, with a probability proportional to its odds. The law of fault sets stays as it is if that
is accepted with probability min(1, n(F) / n(F')).

``CoreGrowth`` puts t mechanisms in the place of a core that has one or two less, each drawn with a
probability proportional to its odds, or does the reverse: t members of F leave, and a known core enters. With
the sum Λ of the odds of all mechanisms and the sum V of the odds of all known cores, growth from F to F' is
accepted with probability min(1, n(F) Λ^t (|F'| - t)! / (V |F'|!)), and the reverse with that of the inverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..failing.cores import Core
from ..faults.mechanisms import Floats

__all__ = ["CoreExchange", "CoreGrowth", "Jump"]

Indices = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]

_NONE = -1
_MOST_CORES = 256
_MOST_MEMBERS = {"exchange": 2, "growth": 1}
"""The largest number of members of a core that is replaced. There are so many larger cores that chains seldom
meet a known one, and more drawn mechanisms hardly ever make the decoder fail."""


@dataclass(frozen=True)
class Jump:
    """Proposals for chains.

    Attributes:
        possible: bool, shape (chains,): for which there is one.
        leaving: bool, shape (chains, room): the members that leave.
        entering: intp, shape (chains, ...): the mechanisms that enter, -1 for none.
    """

    possible: Bools
    leaving: Bools
    entering: Indices

    def after(self, members: Indices) -> Indices:
        """The fault sets with it: intp, shape (chains, ...), -1 in places that are free."""
        return np.hstack([np.where(self.leaving, _NONE, members), self.entering])


class _Choices:
    """Draws numbers, in each level with other weights.

    Args:
        log_weights: Shape (levels, choices).
    """

    def __init__(self, log_weights: Floats) -> None:
        self.log_totals: Floats = np.logaddexp.reduce(log_weights, axis=1)
        sums = np.cumsum(np.exp(log_weights - self.log_totals[:, None]), axis=1)
        self._count = log_weights.shape[1]
        # All levels in one ascending list: level l has the numbers from l to l + 1.
        self._sums = (sums / sums[:, -1:] + np.arange(len(sums))[:, None]).ravel()

    def drawn(self, level_of: Indices, rng: np.random.Generator) -> Indices:
        found = np.searchsorted(self._sums, level_of + rng.random(level_of.shape), side="right")
        return np.clip(found - level_of * self._count, 0, self._count - 1)


class _Cores:
    """Known cores.

    Args:
        cores: Cores of failing fault sets, each as often as it was found. The most frequent ones are taken.
        log_odds: Shape (levels, mechanisms): ln of the odds of the mechanisms in each level.
        most_members: Those with more members are left out.
    """

    def __init__(self, cores: Sequence[Core], log_odds: Floats, most_members: int) -> None:
        light = Counter(core for core in cores if 0 < len(core) <= most_members)
        known = [core for core, _ in light.most_common(_MOST_CORES)]
        self.members: Indices = np.full((len(known), max(map(len, known), default=1)), _NONE, dtype=np.intp)
        for row, core in zip(self.members, known, strict=True):
            row[: len(core)] = core
        self.sizes = (self.members >= 0).sum(axis=1)
        self.choices = None if not known else _Choices(_with_none(log_odds)[:, self.members].sum(axis=2))
        # Mechanisms of cores have places in a short list, after one for all others and one for the empty
        # places of short cores.
        used = np.unique(self.members[self.members >= 0])
        self._place = np.zeros(log_odds.shape[1] + 1, dtype=np.intp)
        self._place[used] = np.arange(2, len(used) + 2)
        self._place[_NONE] = 1
        self._num_places = len(used) + 2

    def contained_in(self, members: Indices) -> Bools:
        """Which cores fault sets have: bool, shape (cores, sets)."""
        present = np.zeros((self._num_places, len(members)), dtype=np.bool_)
        present[self._place[members], np.arange(len(members))[:, None]] = True
        present[1] = True
        found = present[self._place[self.members[:, 0]]]
        for column in self.members.T[1:]:
            found &= present[self._place[column]]
        return np.asarray(found)


class CoreExchange:
    """Jumps to another core; see the module.

    Args:
        cores: Cores of failing fault sets, each as often as it was found. The most frequent ones are taken.
        log_odds: Shape (levels, mechanisms): ln of the odds of the mechanisms in each level.

    Attributes:
        is_possible: Whether there are cores.
    """

    def __init__(self, cores: Sequence[Core], log_odds: Floats) -> None:
        self._cores = _Cores(cores, log_odds, _MOST_MEMBERS["exchange"])
        self.is_possible = len(self._cores.sizes) > 1

    def proposed(self, members: Indices, level_of: Indices, rng: np.random.Generator) -> Jump:
        """One jump of each chain.

        Args:
            members: intp, shape (chains, room): the fault sets, -1 for none.
            level_of: intp, shape (chains,): the level of each chain.
            rng: What jumps are drawn with.
        """
        cores = self._cores
        assert cores.choices is not None
        old, count = _one_of(cores.contained_in(members), rng)
        new = cores.choices.drawn(level_of, rng)
        uniform = rng.random(len(members))
        some = np.flatnonzero((count > 0) & (old != new))  # often few
        leaving, entering = np.zeros(members.shape, dtype=np.bool_), cores.members[new]
        leaving[some] = _places_of(cores.members[old[some]], members[some])
        after = Jump(count[some] > 0, leaving[some], entering[some]).after(members[some])
        number = np.log(count[some]) - np.log(np.maximum(_count_in(cores, after), 1))
        possible = np.zeros(len(members), dtype=np.bool_)
        possible[some] = ~_repeats(after) & (np.log(uniform[some]) < number)
        return Jump(possible, leaving, entering)


class CoreGrowth:
    """Jumps from a core to more mechanisms, or the other way round; see the module.

    Args:
        cores: Cores of failing fault sets, each as often as it was found. The most frequent ones are taken.
        log_odds: Shape (levels, mechanisms): ln of the odds of the mechanisms in each level. Those that are 0
            everywhere are coins, which are let alone.

    Attributes:
        is_possible: Whether there are such cores.
    """

    def __init__(self, cores: Sequence[Core], log_odds: Floats) -> None:
        self._cores = _Cores(cores, log_odds, _MOST_MEMBERS["growth"])
        self._is_coin = np.append((log_odds == 0).all(axis=0), True)
        self.is_possible = len(self._cores.sizes) > 0
        if self.is_possible:
            self._mechanisms = _Choices(np.where(self._is_coin[:_NONE], -np.inf, log_odds))

    def proposed(self, members: Indices, level_of: Indices, rng: np.random.Generator) -> Jump:
        """One jump of each chain; returns as that of ``CoreExchange``."""
        cores = self._cores
        assert cores.choices is not None
        chains = len(members)
        grows = rng.random(chains) < 0.5
        old, count = _one_of(cores.contained_in(members), rng)
        core = np.where(grows, old, cores.choices.drawn(level_of, rng))
        others = cores.sizes[core] + rng.integers(1, 3, size=chains)
        drawn = self._mechanisms.drawn(np.repeat(level_of[:, None], others.max(), axis=1), rng)
        drawn[np.arange(drawn.shape[1]) >= others[:, None]] = _NONE
        can_leave = ~self._is_coin[members]
        sizes = can_leave.sum(axis=1)
        # Of the members, as many leave as shall, those with the lowest random numbers.
        rank = np.where(can_leave, rng.random(members.shape), 2.0).argsort(axis=1).argsort(axis=1)
        chosen = rank < others[:, None]
        leaving = np.where(grows[:, None], _places_of(cores.members[core], members), chosen)
        of_cores = np.full(drawn.shape, _NONE, dtype=np.intp)
        of_cores[:, : cores.members.shape[1]] = cores.members[core][:, : drawn.shape[1]]
        entering = np.where(grows[:, None], drawn, of_cores)
        after = Jump(count > 0, leaving, entering).after(members)
        possible = np.where(grows, count > 0, sizes >= others) & ~_repeats(after)
        larger = np.where(grows, sizes - cores.sizes[core] + others, sizes)
        known = np.maximum(np.where(grows, count, _count_in(cores, after)), 1)
        number = np.log(known) - cores.choices.log_totals[level_of]
        number += others * self._mechanisms.log_totals[level_of]
        for k in range(drawn.shape[1]):
            number -= np.where(k < others, np.log(np.maximum(larger - k, 1)), 0.0)
        possible &= np.log(rng.random(chains)) < np.where(grows, number, -number)
        return Jump(possible, leaving, entering)


def _with_none(log_odds: Floats) -> Floats:
    """A column more, for no mechanism."""
    return np.hstack([log_odds, np.zeros((len(log_odds), 1))])


def _one_of(known: Bools, rng: np.random.Generator) -> tuple[Indices, npt.NDArray[np.int64]]:
    """For each chain, one of the cores that it has, and how many there are."""
    owners, found = np.nonzero(known.T)
    count = np.bincount(owners, minlength=known.shape[1])
    rank = np.minimum((rng.random(len(count)) * count).astype(np.intp), np.maximum(count - 1, 0))
    return np.append(found, 0)[np.minimum(np.cumsum(count) - count + rank, len(found))], count


def _count_in(cores: _Cores, members: Indices) -> npt.NDArray[np.int64]:
    return np.count_nonzero(cores.contained_in(members), axis=0)


def _places_of(some: Indices, members: Indices) -> Bools:
    """Which members are among some mechanisms: bool, shape (chains, room)."""
    return (members[:, :, None] == some[:, None, :]).any(axis=2) & (members >= 0)


def _repeats(members: Indices) -> Bools:
    """Whether a mechanism occurs twice."""
    ordered = np.sort(members, axis=1)
    return np.asarray(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
