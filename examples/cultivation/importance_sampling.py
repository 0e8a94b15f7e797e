r"""A logical error rate by importance sampling, to check ``logical_error_rate`` by other means.

    python -m examples.cultivation.importance_sampling [--d 5] [--p 0.001] [--batches 8] [--matches 1000000]

All sets of k mechanisms together fail with the probability Z W^k / k! times the mean of f over k draws of a
mechanism, each with a probability proportional to its odds (W: sum of the odds; Z: probability of no event;
f = 0 if a mechanism was drawn twice, otherwise the probability that a shot with them is kept and wrong). The
mean is taken over two halves that are drawn independently and combined wherever their checks cancel.

Few mechanisms belong to sets that matter. So half of all draws come from another distribution: the shares of
the mechanisms in the failures that earlier rounds have found. A weight for each draw corrects for that, so
that the mean stays right whatever the distribution is. It depends on earlier batches only, so that all have
the same mean and are uncorrelated: the standard error is that of the mean of the batches. What no batch has
found is neither in the mean nor in the error. Of d=7 that matters: see ``docs/guides/fault_sets.md``.

Nothing here is from the search of ``logical_error_rate``. Both use the plan of the circuit, and f.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines.row_fates import fates_of_rows

PILOT_DRAWS = 1 << 14
MOST_DRAWS = 1 << 21
ROUNDS = 3
BLOCK = 1 << 19

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Halves:
    """Distinct sets that were drawn.

    Attributes:
        members: int64, shape (n, size): their mechanisms.
        weights: float64, shape (n,): how often each was drawn, corrected, divided by the number of draws.
        checks: uint64, shape (n,): a linear hash of the checks that they flip.
        keys: uint64, shape (n,): a linear hash of all bits that they flip.
    """

    members: npt.NDArray[np.int64]
    weights: Floats
    checks: Words
    keys: Words


class ImportanceSampler:
    """Sums over fault sets of a circuit, all of whose detectors postselect.

    Args:
        circuit: The circuit. Its noise must be independent events, and no outcome may be a fair coin.
        seed: Of the draws.
    """

    def __init__(self, circuit: snc.Circuit, seed: int) -> None:
        detectors = circuit.num_detectors
        observables = range(detectors, detectors + circuit.num_observables)
        self.plan = circuit.compile().detector_plan(RequestedOutputs.of(observables, range(detectors)))
        if len(self.plan.coins) or (self.plan.sites >= 0).any():
            raise ValueError("This example has no coins and no channels with exclusive errors.")
        self.random = np.random.default_rng(seed)
        odds = np.tanh(self.plan.rates)
        self.total, self.nothing = float(odds.sum()), math.exp(-float(np.log1p(odds).sum()))
        self.natural = odds / self.total
        self.aimed = self.natural
        self.found = np.zeros(len(odds))
        self.rows = self.plan.effects.dense(self.plan.num_row_bits)
        constant = np.zeros((1, self.plan.num_row_bits), dtype=np.bool_)
        constant[0, self.plan.constant] = True
        codes = self.random.integers(0, 2**64, self.plan.num_row_bits, dtype=np.uint64)
        checks = slice(self.plan.num_checks)
        self.check_hashes = xor_of(self.rows[:, checks], codes[checks])
        self.key_hashes = xor_of(self.rows, codes)
        self.target = xor_of(constant[:, checks], codes[checks])[0]
        self.names = self.random.integers(0, 2**64, len(odds), dtype=np.uint64)
        self.known, self.fates = np.zeros(0, dtype=np.uint64), np.zeros(0)

    def drawn(self, size: int, draws: int) -> Halves:
        """Draws sets, and keeps those whose mechanisms differ."""
        chances = (self.natural + self.aimed) / 2
        members = np.searchsorted(np.cumsum(chances), self.random.random((draws, size)) * chances.sum())
        members = np.sort(members, axis=1)
        members = members[(np.diff(members, axis=1) != 0).all(axis=1)]
        names = self.names[members].sum(axis=1, dtype=np.uint64)
        _, first, counts = np.unique(names, return_index=True, return_counts=True)
        members = members[first]
        weights = counts * (self.natural / chances)[members].prod(axis=1) / draws
        return Halves(members, weights, xor_at(self.check_hashes, members), xor_at(self.key_hashes, members))

    def batch(self, weight: int, draws: int) -> tuple[float, int]:
        """One estimate of P(kept and wrong, ``weight`` mechanisms), and the pairs of halves that matched."""
        left, right = self.drawn(weight // 2, draws), self.drawn(weight - weight // 2, draws)
        scale = self.nothing * self.total**weight / math.factorial(weight)
        wrong, matches = 0.0, 0
        for a, b in matching(left.checks ^ self.target, right.checks):
            matches += len(a)
            differ = np.ones(len(a), dtype=np.bool_)
            for member in left.members.T:
                differ &= (right.members[b] != member[a][:, np.newaxis]).all(axis=1)
            a, b = a[differ], b[differ]
            members = np.hstack([left.members[a], right.members[b]])
            fates = self.fate(left.keys[a] ^ right.keys[b], members)
            parts = scale * left.weights[a] * right.weights[b] * fates
            wrong += float(parts.sum())
            for member in members.T:
                self.found += np.bincount(member, parts / weight, minlength=len(self.found))
        if self.found.any():
            self.aimed = self.found / self.found.sum()
        return wrong, matches

    def fate(self, keys: Words, members: npt.NDArray[np.int64]) -> Floats:
        """The probability that a shot is kept and wrong, for sets that pass the checks."""
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        place = np.searchsorted(self.known, distinct)
        is_new = ~np.isin(distinct, self.known)
        fresh = members[first[is_new]]
        found = np.zeros(len(fresh))
        for begin in range(0, len(fresh), 1 << 16):
            chosen = fresh[begin : begin + (1 << 16)]
            rows = np.zeros((len(chosen), self.plan.num_row_bits), dtype=np.bool_)
            for member in chosen.T:
                rows ^= self.rows[member]
            found[begin : begin + len(rows)] = fates_of_rows(self.plan, rows)[1]
        self.known = np.insert(self.known, place[is_new], distinct[is_new])
        self.fates = np.insert(self.fates, place[is_new], found)
        values: Floats = self.fates[np.searchsorted(self.known, distinct)][which.ravel()]
        return values

    def estimate(self, weight: int, batches: int, matches: int) -> tuple[float, float]:
        """P(kept and wrong, ``weight`` mechanisms), with its standard error.

        Args:
            weight: The number of mechanisms.
            batches: Independent estimates, at least 2.
            matches: About how many pairs of halves are looked at in each.
        """
        draws = PILOT_DRAWS
        for _ in range(ROUNDS):
            _, seen = self.batch(weight, draws)
            draws = int(min(max(draws * math.sqrt(matches / max(seen, 1)), PILOT_DRAWS), MOST_DRAWS))
        values = np.array([self.batch(weight, draws)[0] for _ in range(batches)])
        return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(batches)


def xor_of(rows: npt.NDArray[np.bool_], codes: Words) -> Words:
    """The XOR of the codes of the bits that are 1, for each row."""
    result: Words = np.bitwise_xor.reduce(np.where(rows, codes, np.uint64(0)), axis=1, initial=np.uint64(0))
    return result


def xor_at(codes: Words, members: npt.NDArray[np.int64]) -> Words:
    """The XOR of the codes of the members of each set."""
    result: Words = np.bitwise_xor.reduce(codes[members], axis=1)
    return result


def matching(left: Words, right: Words) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """The positions of equal words, in blocks."""
    order = np.argsort(right)
    begins, ends = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    hits = np.flatnonzero(ends > begins)
    ends_of_hits = np.cumsum((ends - begins)[hits])
    total = int(ends_of_hits[-1]) if len(hits) else 0
    for begin in range(0, total, BLOCK):
        numbers = np.arange(begin, min(begin + BLOCK, total))
        at = np.searchsorted(ends_of_hits, numbers, "right")
        yield hits[at], order[ends[hits[at]] - ends_of_hits[at] + numbers]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, default=5, choices=(3, 5, 7), help="distance")
    parser.add_argument("--p", type=float, default=1e-3, help="strength of the noise")
    parser.add_argument("--min_weight", type=int, default=1, help="the fewest, if smaller sets are harmless")
    parser.add_argument("--max_weight", type=int, default=8, help="the most mechanisms of a set")
    parser.add_argument("--batches", type=int, default=8, help="independent estimates of each weight")
    parser.add_argument("--matches", type=int, default=1_000_000, help="sets looked at in a batch, about")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draws")
    arguments = parser.parse_args(argv)
    circuit = snc.Circuit(cultivation_circuit(distance=arguments.d, p=arguments.p))
    sampler = ImportanceSampler(circuit, arguments.seed)
    total = variance = 0.0
    for weight in range(arguments.min_weight, arguments.max_weight + 1):
        value, error = sampler.estimate(weight, arguments.batches, arguments.matches)
        total, variance = total + value, variance + error**2
        print(f"weight {weight}: {value:.4g} ± {error:.1g}", flush=True)
    print(f"P(kept and wrong) = {total:.5g} ± {math.sqrt(variance):.1g}, from up to {weight} mechanisms")


if __name__ == "__main__":
    main()
