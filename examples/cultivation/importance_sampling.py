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

    @staticmethod
    def of(noise: Noise, members: Indices) -> States:
        """Of sets of mechanisms, int64, shape (n, size)."""
        return States(
            xor_at(noise.checks, members), xor_at(noise.hashes, members), xor_at(noise.reversed_gates, members)
        )

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
            size = max(1, CELLS // len(noise.flipping[check])) if check >= 0 else len(at)
            blocks += [(check, at[k : k + size]) for k in range(0, len(at), max(size, 1))]
        return blocks


class Proposal:
    """The probabilities of steps; see the description of the module."""

    def __init__(self, noise: Noise, alpha: float, gamma: float) -> None:
        self.noise = noise
        self.fewer = np.exp(-alpha * np.arange(64 * noise.checks.shape[1] + 1))
        self.more = np.exp(gamma * np.arange(64 * noise.reversed_gates.shape[1] + 1))
        wide = self._scores(np.zeros_like(noise.checks[:1]), np.zeros_like(noise.reversed_gates[:1]), slice(None))[0]
        plain = noise.odds * np.exp(-1.5 * ones(noise.checks).sum(axis=1))
        self.begin = wide / wide.sum() / 2 + plain / plain.sum() / 2
        pair_odds = noise.odds[noise.pairs].prod(axis=1)
        self.pair_chances = pair_odds / pair_odds.sum()
        self.pair_total = pair_odds.sum()

    def _scores(self, checks: Words, reversed_gates: Words, candidates: Indices | slice) -> Floats:
        noise = self.noise
        violated = ones(checks[:, np.newaxis] ^ noise.checks[candidates]).sum(axis=2)
        gates = ones(reversed_gates[:, np.newaxis] ^ noise.reversed_gates[candidates]).sum(axis=2)
        result: Floats = noise.odds[candidates] * self.fewer[violated] * self.more[gates]
        return result

    def step(self, states: States, random: np.random.Generator) -> Indices:
        """The next mechanism of each."""
        chosen = np.zeros(len(states.checks), dtype=np.int64)
        for check, at in states.groups(self.noise):
            if check < 0:
                chosen[at] = random.choice(len(self.begin), len(at), p=self.begin)
                continue
            candidates = self.noise.flipping[check]
            sums = np.cumsum(self._scores(states.checks[at], states.reversed_gates[at], candidates), axis=1)
            point = random.random(len(at)) * sums[:, -1]
            chosen[at] = candidates[(sums < point[:, np.newaxis]).sum(axis=1)]
        return chosen

    def step_chances(self, states: States, nexts: Indices) -> Floats:
        """The probability that the next mechanism is this one; ``nexts`` has several for each, shape (n, m)."""
        noise, found = self.noise, np.zeros(nexts.shape)
        for check, at in states.groups(noise):
            if check < 0:
                found[at] = self.begin[nexts[at]]
                continue
            candidates = noise.flipping[check]
            scores = self._scores(states.checks[at], states.reversed_gates[at], candidates)
            place = np.minimum(np.searchsorted(candidates, nexts[at]), len(candidates) - 1)
            own = np.take_along_axis(scores, place, axis=1) * (candidates[place] == nexts[at])
            found[at] = own / scores.sum(axis=1, keepdims=True)
        return found

    def completions(self, states: States) -> tuple[Indices, Indices, Floats]:
        """All pairs that restore the checks, of states that violate one: the state, the pair, its score."""
        noise = self.noise
        owners, firsts, seconds = [], [], []
        for check, at in states.groups(noise):
            candidates = noise.flipping[check] if check >= 0 else np.zeros(0, dtype=np.int64)
            wanted = states.hashes[at][:, np.newaxis] ^ noise.hashes[candidates]
            begin = np.searchsorted(noise.sorted, wanted)
            found = noise.sorted[np.minimum(begin, len(noise.sorted) - 1)] == wanted
            rows, columns = np.nonzero(found)
            counts = np.searchsorted(noise.sorted, wanted[found], "right") - begin[found]
            owners.append(np.repeat(at[rows], counts))
            firsts.append(np.repeat(candidates[columns], counts))
            seconds.append(noise.order[np.repeat(begin[found], counts) + within(counts)])
        owner = np.concatenate([*owners, np.zeros(0, dtype=np.int64)])
        pairs = np.stack([np.concatenate([*k, np.zeros(0, dtype=np.int64)]) for k in (firsts, seconds)], axis=1)
        order = np.argsort(owner, kind="stable")
        owner, pairs = owner[order], pairs[order]
        gates = ones(states.reversed_gates[owner] ^ xor_at(noise.reversed_gates, pairs)).sum(axis=1)
        return owner, pairs, noise.odds[pairs].prod(axis=1) * self.more[gates]

    def draw(self, weight: int, draws: int, random: np.random.Generator) -> Indices:
        """Sets that pass the checks, int64, shape (n, weight): those draws that could be completed."""
        members = np.zeros((draws, 0), dtype=np.int64)
        for _ in range(weight - 2):
            members = np.hstack([members, self.step(States.of(self.noise, members), random)[:, np.newaxis]])
        states = States.of(self.noise, members)
        passed = np.flatnonzero(~states.checks.any(axis=1))
        pairs = self.noise.pairs[random.choice(len(self.pair_chances), len(passed), p=self.pair_chances)]
        owner, found, scores = self.completions(states)
        sums = np.cumsum(scores)
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        before = np.concatenate([[0.0], sums])[begins]
        after = sums[np.concatenate([begins[1:] - 1, [len(sums) - 1]]).astype(np.int64)] if len(sums) else before
        at = np.searchsorted(sums, before + random.random(len(begins)) * (after - before), "right")
        at = np.clip(at, begins, np.concatenate([begins[1:], [len(sums)]])[: len(begins)] - 1)
        sets = np.vstack(
            [np.hstack([members[passed], pairs]), np.hstack([members[owner[begins]], found[at]])]
        )
        sets = np.sort(sets, axis=1)
        return sets[(np.diff(sets, axis=1) > 0).all(axis=1)]

    def chances(self, sets: Indices) -> Floats:
        """The probability that a draw gives this set, by any path."""
        noise, weight = self.noise, sets.shape[1]
        reached = np.zeros((1 << weight, len(sets)))
        reached[0] = 1
        total = np.zeros(len(sets))
        for part in sorted(range(1 << weight), key=int.bit_count):
            inside = [k for k in range(weight) if part >> k & 1]
            outside = [k for k in range(weight) if not part >> k & 1]
            at = np.flatnonzero(reached[part])
            if len(outside) < 2 or not len(at):
                continue
            states, rest = States.of(noise, sets[at][:, inside]), sets[at][:, outside]
            if len(outside) > 2:
                steps = self.step_chances(states, rest)
                for place, k in enumerate(outside):
                    reached[part | 1 << k, at] += reached[part, at] * steps[:, place]
                continue
            gates = ones(xor_at(noise.reversed_gates, sets[at])).sum(axis=1)
            own = noise.odds[rest].prod(axis=1)
            owner, _, scores = self.completions(states)
            sums = np.bincount(owner, scores, minlength=len(at))
            is_passed = ~states.checks.any(axis=1)
            total[at] += reached[part, at] * np.where(
                is_passed, own / self.pair_total, own * self.more[gates] / np.where(is_passed, 1.0, sums)
            )
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
    def __init__(self, circuit: snc.Circuit, seed: int, alpha: float = 0.7, gamma: float = 0.05) -> None:
        self.noise = Noise(circuit)
        self.proposal = Proposal(self.noise, alpha, gamma)
        self.random = np.random.default_rng(seed)

    def failure(self, sets: Indices) -> Floats:
        noise = self.noise
        return noise.law.kept_and_wrong(xor_at(noise.reversed_gates, sets), xor_at(noise.flipped, sets)[:, 0])

    def sample(self, weight: int, draws: int, to: Estimate) -> None:
        begin = time.process_time()
        sets = self.proposal.draw(weight, draws, self.random)
        self.t1 = time.process_time() - begin
        fails = self.failure(sets)
        self.t2 = time.process_time() - begin
        sets, fails = sets[fails > 0], fails[fails > 0]
        distinct, which = np.unique(sets, axis=0, return_inverse=True)
        values = self.noise.nothing * self.noise.odds[sets].prod(axis=1) * fails
        values /= self.proposal.chances(distinct)[which.ravel()]
        to.draws += draws
        to.total += float(values.sum())
        to.squares += float((values**2).sum())
        to.seconds += time.process_time() - begin
        self.t3 = time.process_time() - begin
        self.counts = len(sets), len(distinct)
