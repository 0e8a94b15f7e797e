"""The mechanisms of a circuit as packed tables, for estimates that draw fault sets in NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler import RequestedOutputs

from .closed_law import ClosedLaw, ones, packed, xor_at

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

CELLS = 1 << 20
"""Pairs of a draw and a candidate that are looked at together."""


class Noise:
    """The mechanisms of a circuit, all of whose detectors postselect.

    Attributes:
        odds: float64, shape (n,).
        nothing: The probability of no event.
        checks: uint64, shape (n, words): the checks that each flips, in a basis with few mechanisms for each.
        reversed_gates: uint64, shape (n, words): the T gates that it reverses.
        flipped: uint64, shape (n, 1): the outcome checks and the output that it flips.
        law: Gives the probability to be kept and wrong.
        flipping: For each check, the mechanisms that flip it, ascending.
        hashes: uint64, shape (n,): a linear hash of the checks. ``sorted`` are those of ``order``.
        pairs: int64, shape (m, 2): all pairs that pass the checks; ``pair_odds`` are products of their odds.
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
        # Equal checks have equal hashes, and others do not, but for one in about 10^12 comparisons.
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


def select(states: States, at: Indices) -> States:
    """Some of the states."""
    return States(states.checks[at], states.hashes[at], states.reversed_gates[at], states.flipped[at])
