r"""A logical error rate by importance sampling, to check ``logical_error_rate`` by other means.

    python -m examples.cultivation.importance_sampling [--distance 7] [--p 0.001] [--seconds 120] [--seed 1]

All sets of k mechanisms together fail with the probability Z times the sum of w(S) f(S): Z is the probability of no
event, w(S) the product of the odds of the mechanisms, and f(S) the probability that a shot with them is kept and
wrong, which is 0 unless the noise-only checks pass. The sum is estimated for each k apart.

**Sequential draws.** A set is drawn one mechanism after the other. The next one flips the first check that the
others violate, and is the likelier, the larger its odds, the fewer checks stay violated (a factor e^-alpha for each)
and the more T gates are reversed (e^gamma). If no check is violated, the next one begins another cluster. The last
two are drawn among all pairs that pass all checks, so that no draw is in vain that could be completed.

**Weights.** The probability of a path is known, and several paths lead to the same set. With Q(S) the sum over all
of them, the mean of w(S) f(S) / Q(S) is the sum, whatever alpha and gamma are.

Nothing here is from the search of ``logical_error_rate``. Both read the plan of the circuit.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs

from .closed_law import ClosedLaw, ones, packed, xor_at

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BATCH = 20_000
CELLS = 1 << 20
"""Pairs of a draw and a candidate that are looked at together."""


class Noise:
    """The mechanisms of a circuit, all of whose detectors postselect.

    Attributes:
        odds: float64, shape (n,), descending.
        nothing: The probability of no event.
        checks: uint64, shape (n, words): the checks that each flips, in a basis of few mechanisms for each check.
        reversed_gates: uint64, shape (n, words): the T gates that it reverses.
        flipped: uint64, shape (n, 1): the outcome checks and the output that it flips.
        law: Gives the probability to be kept and wrong.
    """

    def __init__(self, circuit: snc.Circuit) -> None:
        detectors = circuit.num_detectors
        observables = range(detectors, detectors + circuit.num_observables)
        plan = circuit.compile().detector_plan(RequestedOutputs.of(observables, range(detectors)))
        if (plan.sites >= 0).any() or len(plan.constant):
            raise ValueError("This example has no channels with exclusive errors, and no certain ones.")
        self.law = ClosedLaw(plan)
        self.odds = np.tanh(plan.rates)
        self.nothing = math.exp(-float(np.log1p(self.odds).sum()))
        rows = plan.effects.dense(plan.num_row_bits)
        dense = sparse_basis(rows[:, : plan.num_checks].T, self.odds).T
        self.checks = packed(dense)
        reversed_gates, flipped = self.law.branch_rows(rows)
        self.reversed_gates, self.flipped = packed(reversed_gates), flipped[:, np.newaxis]
        self.flipping = [np.flatnonzero(column) for column in dense.T]
        # Equal checks have equal hashes; a mechanism of each hash, sorted, finds the last member of a set.
        codes = np.random.default_rng(0).integers(1, 2**64, dense.shape[1], dtype=np.uint64)
        self.hashes = np.bitwise_xor.reduce(np.where(dense, codes, np.uint64(0)), axis=1)
        self.order = np.argsort(self.hashes, kind="stable")
        self.sorted = self.hashes[self.order]
        self.pairs = self._passing_pairs()
        self.pair_odds = self.odds[self.pairs].prod(axis=1)

    def _passing_pairs(self) -> Indices:
        ends = np.searchsorted(self.sorted, self.hashes, "right")
        place = np.argsort(self.order)
        counts = ends - place - 1
        first = np.repeat(np.arange(len(counts)), counts)
        return np.stack([first, self.order[place[first] + 1 + within(counts)]], axis=1)


def within(counts: Indices) -> Indices:
    """0, 1, ..., count - 1 for each count."""
    result: Indices = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return result


def sparse_basis(checks: Bits, odds: Floats) -> Bits:
    """Sums of checks that span the same space, and that are flipped by little noise; the sparsest first."""
    checks = checks.copy()
    common = (checks * odds) @ checks.T.astype(np.float64)
    while True:
        own = common.diagonal()
        gains = 2 * common - own[np.newaxis, :]
        np.fill_diagonal(gains, 0.0)
        changed, added = np.unravel_index(gains.argmax(), gains.shape)
        if gains[changed, added] <= 1e-9 * odds.sum():
            return checks[np.argsort(checks.sum(axis=1), kind="stable")]
        checks[changed] ^= checks[added]
        common[changed] = common[:, changed] = checks.astype(np.float64) @ (checks[changed] * odds)


@dataclass(frozen=True)
class States:
    """What some mechanisms flip together: of each draw, all that the next step depends on."""

    checks: Words
    hashes: Words
    reversed_gates: Words
    flipped: Words

    @staticmethod
    def of(noise: Noise, members: Indices) -> States:
        """Of sets of mechanisms, int64, shape (n, size)."""
        tables = (noise.checks, noise.hashes, noise.reversed_gates, noise.flipped)
        return States(*(xor_at(table, members) for table in tables))

    def first_check(self) -> Indices:
        """The first violated check of each; -1 if there is none."""
        found = np.full(len(self.checks), -1)
        for word in reversed(range(self.checks.shape[1])):
            bits = self.checks[:, word]
            lowest = bits & (~bits + np.uint64(1))
            found = np.where(bits != 0, 64 * word + ones(lowest - np.uint64(1)), found)
        return found

    def groups(self, noise: Noise) -> list[tuple[int, Indices]]:
        """The draws with each first violated check, in blocks."""
        first = self.first_check()
        order = np.argsort(first, kind="stable")
        blocks = []
        for at in np.split(order, np.flatnonzero(np.diff(first[order])) + 1):
            check = int(first[at[0]]) if len(at) else -1
            size = max(1, CELLS // len(noise.flipping[check])) if check >= 0 else max(1, len(at))
            blocks += [(check, at[k : k + size]) for k in range(0, len(at), size)]
        return blocks


@dataclass(frozen=True)
class Completions:
    """All pairs that complete sets to malignant ones, where some check is violated.

    Attributes:
        owners: int64, shape (n,), ascending: the number of the set.
        pairs: int64, shape (n, 2): two mechanisms that restore all checks.
        scores: float64, shape (n,): the product of their odds, times the probability to be kept and wrong.
    """

    owners: Indices
    pairs: Indices
    scores: Floats

    @staticmethod
    def of(noise: Noise, states: States) -> Completions:
        """Of the sets with these states."""
        owners, pairs = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 2), dtype=np.int64)]
        for check, at in states.groups(noise):
            if check < 0:
                continue
            candidates = noise.flipping[check]
            wanted = states.hashes[at][:, np.newaxis] ^ noise.hashes[candidates]
            begin = np.searchsorted(noise.sorted, wanted)
            found = noise.sorted[np.minimum(begin, len(noise.sorted) - 1)] == wanted
            rows, columns = np.nonzero(found)
            counts = np.searchsorted(noise.sorted, wanted[found], "right") - begin[found]
            owners.append(np.repeat(at[rows], counts))
            last = noise.order[np.repeat(begin[found], counts) + within(counts)]
            pairs.append(np.stack([np.repeat(candidates[columns], counts), last], axis=1))
        owner, pair = np.concatenate(owners), np.vstack(pairs)
        fails = noise.law.kept_and_wrong(
            states.reversed_gates[owner] ^ xor_at(noise.reversed_gates, pair),
            (states.flipped[owner] ^ xor_at(noise.flipped, pair))[:, 0],
        )
        order = np.flatnonzero(fails)
        order = order[np.argsort(owner[order], kind="stable")]
        owner, pair = owner[order], pair[order]
        return Completions(owner, pair, noise.odds[pair].prod(axis=1) * fails[order])


class Proposal:
    """The probabilities of steps; see the description of the module.

    Args:
        noise: The mechanisms.
        aim: float64, shape (n,): what takes the place of their odds in all steps but the last.
        alpha: What a violated check costs.
        gamma: What a reversed T gate gains.
    """

    def __init__(self, noise: Noise, aim: Floats, alpha: float = 0.7, gamma: float = 1.5, start: float = 0.35) -> None:
        self.noise, self.aim = noise, aim
        self.fewer = np.exp(-alpha * np.arange(64 * noise.checks.shape[1] + 1))
        self.more = (1.0 + np.arange(64 * noise.reversed_gates.shape[1] + 1)) ** gamma
        size = ones(noise.checks).sum(axis=1)
        wide = aim * np.exp(-start * size) * self.more[ones(noise.reversed_gates).sum(axis=1)]
        plain = noise.odds * np.exp(-1.5 * size)
        self.begin = wide / wide.sum() / 2 + plain / plain.sum() / 2

    def _scores(self, states: States, candidates: Indices) -> Floats:
        noise = self.noise
        violated = distances(states.checks, noise.checks[candidates])
        gates = distances(states.reversed_gates, noise.reversed_gates[candidates])
        result: Floats = self.aim[candidates] * self.fewer[violated] * self.more[gates]
        return result

    def step(self, states: States, random: np.random.Generator) -> Indices:
        """The next mechanism of each."""
        chosen = np.zeros(len(states.checks), dtype=np.int64)
        for check, at in states.groups(self.noise):
            if check < 0:
                chosen[at] = random.choice(len(self.begin), len(at), p=self.begin)
                continue
            candidates = self.noise.flipping[check]
            sums = np.cumsum(self._scores(select(states, at), candidates), axis=1)
            point = random.random(len(at)) * sums[:, -1]
            chosen[at] = candidates[(sums < point[:, np.newaxis]).sum(axis=1)]
        return chosen

    def step_chances(self, states: States, nexts: Indices) -> Floats:
        """The probabilities of next mechanisms, of which ``nexts`` has several for each: shape (n, m)."""
        found = np.zeros(nexts.shape)
        for check, at in states.groups(self.noise):
            if check < 0:
                found[at] = self.begin[nexts[at]]
                continue
            candidates = self.noise.flipping[check]
            scores = self._scores(select(states, at), candidates)
            place = np.minimum(np.searchsorted(candidates, nexts[at]), len(candidates) - 1)
            own = np.take_along_axis(scores, place, axis=1) * (candidates[place] == nexts[at])
            found[at] = own / scores.sum(axis=1, keepdims=True)
        return found

    def draw(self, weight: int, draws: int, random: np.random.Generator) -> Indices:
        """Sets that pass the checks, int64, shape (n, weight): those draws that could be completed."""
        noise, members = self.noise, np.zeros((draws, 0), dtype=np.int64)
        for _ in range(weight - 2):
            members = np.hstack([members, self.step(States.of(noise, members), random)[:, np.newaxis]])
        states = States.of(noise, members)
        passed = np.flatnonzero(~states.checks.any(axis=1))
        pairs = noise.pairs[random.choice(len(noise.pairs), len(passed), p=noise.pair_odds / noise.pair_odds.sum())]
        found = Completions.of(noise, states)
        # One of those of each owner: the largest of independent exponential numbers, divided by the scores.
        late = random.exponential(size=len(found.owners)) / found.scores
        first = np.lexsort([late, found.owners])
        first = first[np.diff(found.owners[first], prepend=-1) != 0]
        completed = np.hstack([members[found.owners[first]], found.pairs[first]])
        sets = np.sort(np.vstack([np.hstack([members[passed], pairs]), completed]), axis=1)
        return sets[(np.diff(sets, axis=1) > 0).all(axis=1)]


def distances(left: Words, right: Words) -> Indices:
    """The number of bits that differ, for all pairs: shape (number of the left, number of the right)."""
    result = np.zeros((len(left), len(right)), dtype=np.int64)
    for a, b in zip(left.T, right.T, strict=True):
        result += ones(a[:, np.newaxis] ^ b)
    return result


def select(states: States, at: Indices) -> States:
    """Some of the states."""
    return States(states.checks[at], states.hashes[at], states.reversed_gates[at], states.flipped[at])


def chances(proposals: Sequence[Proposal], sets: Indices, fails: Floats) -> Floats:
    """The probability that a draw gives this set, by any path: its mean over the proposals.

    Args:
        proposals: At least one, all of the same noise.
        sets: int64, shape (n, weight): sets that pass the checks.
        fails: float64, shape (n,): the probabilities to be kept and wrong, not 0.
    """
    noise, weight = proposals[0].noise, sets.shape[1]
    reached = np.zeros((len(proposals), 1 << weight, len(sets)))
    reached[:, 0] = 1 / len(proposals)
    total = np.zeros(len(sets))
    for part in sorted(range(1 << weight), key=int.bit_count):
        inside = [k for k in range(weight) if part >> k & 1]
        outside = [k for k in range(weight) if not part >> k & 1]
        at = np.flatnonzero(reached[:, part].any(axis=0))
        if len(outside) < 2 or not len(at):
            continue
        states, rest = States.of(noise, sets[at][:, inside]), sets[at][:, outside]
        if len(outside) > 2:
            for proposal, table in zip(proposals, reached, strict=True):
                steps = table[part, at, np.newaxis] * proposal.step_chances(states, rest)
                for place, k in enumerate(outside):
                    table[part | 1 << k, at] += steps[:, place]
            continue
        own, found = noise.odds[rest].prod(axis=1), Completions.of(noise, states)
        sums = np.bincount(found.owners, found.scores, minlength=len(at))
        is_passed = ~states.checks.any(axis=1)
        last = np.where(is_passed, own / noise.pair_odds.sum(), own * fails[at] / np.where(is_passed, 1.0, sums))
        total[at] += reached[:, part, at].sum(axis=0) * last
    return total


@dataclass
class Estimate:
    """What draws of sets of one weight gave.

    Attributes:
        draws: Their number.
        total: The sum of their values.
        squares: The sum of the squares of their values.
        seconds: Processor time.
    """

    draws: int = 0
    total: float = 0.0
    squares: float = 0.0
    seconds: float = 0.0

    @property
    def value(self) -> float:
        """P(kept and wrong) of the weight."""
        return self.total / max(self.draws, 1)

    @property
    def variance(self) -> float:
        """Of the value."""
        return max(self.squares / max(self.draws, 1) - self.value**2, 0.0) / max(self.draws, 1)

    @property
    def hits(self) -> float:
        """Effective hits."""
        return self.total**2 / self.squares if self.squares else 0.0


class ImportanceSampler:
    def __init__(self, circuit: snc.Circuit, seed: int) -> None:
        self.noise = Noise(circuit)
        self.proposals = [Proposal(self.noise, self.noise.odds)]
        self.found = np.zeros(len(self.noise.odds))
        self.random = np.random.default_rng(seed)

    def sample(self, weight: int, draws: int, to: Estimate) -> None:
        begin, noise = time.process_time(), self.noise
        sets = np.vstack([k.draw(weight, draws // len(self.proposals), self.random) for k in self.proposals])
        self.t1 = time.process_time() - begin
        fails = noise.law.kept_and_wrong(
            xor_at(noise.reversed_gates, sets), xor_at(noise.flipped, sets)[:, 0]
        )
        sets, fails = sets[fails > 0], fails[fails > 0]
        distinct, first, which = np.unique(sets, axis=0, return_index=True, return_inverse=True)
        values = noise.nothing * noise.odds[distinct].prod(axis=1) * fails[first]
        values /= chances(self.proposals, distinct, fails[first])
        counts = np.bincount(which.ravel(), minlength=len(distinct))
        to.draws += draws
        to.total += float((counts * values).sum())
        to.squares += float((counts * values**2).sum())
        for member in distinct.T:
            self.found += np.bincount(member, np.sqrt(values / max(values.max(initial=0), 1e-300)), minlength=len(self.found))
        to.seconds += time.process_time() - begin
        self.t3 = time.process_time() - begin
        self.counts = len(sets), len(distinct)

    def aim(self, share=0.1):
        noise = self.noise
        aim = share * noise.odds / noise.odds.sum() + (1 - share) * self.found / self.found.sum()
        self.proposals = [Proposal(noise, noise.odds), Proposal(noise, aim)]
