r"""A logical error rate by importance sampling, to check ``logical_error_rate`` by other means.

    python -m examples.cultivation.importance_sampling [--distance 5] [--p 0.001] [--seconds 60] [--seed 1]

All sets of k mechanisms together fail with the probability Z times the sum of w(S) f(S): Z is the probability
of no event, w(S) the product of the odds of the mechanisms, and f(S) the probability that a shot with them is
kept and wrong, which is 0 unless the noise-only checks pass. The sum is estimated for each k apart.

**Sequential draws.** A set is drawn one mechanism after the other. The next one flips the first check that
the others violate, and is the likelier, the larger its odds, the fewer checks stay violated and the more
T gates are reversed. If no check is violated, the next one begins another cluster. The last two are drawn
among all pairs that restore the checks, in proportion to w f.

**Weights.** The probability of a path is known, and several paths lead to the same set. With Q(S) their sum,
the mean of Z w(S) f(S) / Q(S) is what is asked for, whatever the scores are. So draws may be aimed: a third
of them take, in place of odds, the shares of mechanisms in the failures of earlier draws.

Nothing here is from the search of ``logical_error_rate``, nor from the simulations. It reads the plan of the
circuit; f is ``ClosedLaw``.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit

from .closed_law import ones, xor_at
from .mechanism_tables import Completions, Noise, States, select

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BATCH = 5_000

ENOUGH = 100
"""Fewer effective hits come out low more often than high, and give too small an error."""


class Proposal:
    """The probabilities of steps; see the description of the module.

    Args:
        noise: The mechanisms.
        aim: float64, shape (n,): what takes the place of their odds in all steps but the last, if given.
        alpha: Each violated check divides the score of a step by e^alpha.
        gamma: The score grows with this power of one more than the number of reversed T gates.
    """

    def __init__(
        self, noise: Noise, aim: Floats | None = None, alpha: float = 0.7, gamma: float = 1.5
    ) -> None:
        self.noise, self.aim = noise, noise.odds if aim is None else aim
        self.fewer = np.exp(-alpha * np.arange(64 * noise.checks.shape[1] + 1))
        self.more = (1.0 + np.arange(64 * noise.reversed_gates.shape[1] + 1)) ** gamma
        size, gates = (ones(words).sum(axis=1) for words in (noise.checks, noise.reversed_gates))
        first = self.aim if aim is not None else noise.odds * np.exp(-0.35 * size) * self.more[gates]
        harmless = noise.odds * np.exp(-1.5 * size)
        self.begin = first / first.sum() / 2 + harmless / harmless.sum() / 2

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
        pairs = noise.pairs[
            random.choice(len(noise.pairs), len(passed), p=noise.pair_odds / noise.pair_odds.sum())
        ]
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
        last = np.where(
            is_passed, own / noise.pair_odds.sum(), own * fails[at] / np.where(is_passed, 1.0, sums)
        )
        total[at] += reached[:, part, at].sum(axis=0) * last
    return total


@dataclass
class Estimate:
    """What draws of sets of one weight gave.

    Attributes:
        draws: Their number.
        total: The sum of their values.
        squares: The sum of the squares of their values.
    """

    draws: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def value(self) -> float:
        """P(kept and wrong) of the weight."""
        return self.total / max(self.draws, 1)

    @property
    def variance(self) -> float:
        """The square of its standard error."""
        return max(self.squares / max(self.draws, 1) - self.value**2, 0.0) / max(self.draws, 1)

    @property
    def hits(self) -> float:
        """Effective hits."""
        return self.total**2 / self.squares if self.squares else 0.0


class ImportanceSampler:
    """Estimates of P(kept and wrong) for sets of so many mechanisms.

    Args:
        circuit: The circuit: T gates, and noise of independent events. All its detectors postselect.
        weights: The numbers of mechanisms, at least 2 each.
        seed: Of the draws.
    """

    def __init__(self, circuit: snc.Circuit, weights: Sequence[int], seed: int) -> None:
        self.noise, self.weights = Noise(circuit), tuple(weights)
        self.random = np.random.default_rng(seed)
        self.proposals = self.natural = [Proposal(self.noise, gamma=gamma) for gamma in (0.0, 1.5)]
        self.shares = {weight: np.zeros(len(self.noise.odds)) for weight in self.weights}
        self.estimates = {weight: Estimate() for weight in self.weights}

    def sample(self, weight: int, draws: int = BATCH) -> None:
        """Draws sets of one weight: about so many, the same number from each proposal. Pairs are listed."""
        if weight == 2:
            self.estimates[weight] = self._of_pairs()
            return
        noise, each = self.noise, -(-draws // len(self.proposals))
        sets = np.vstack([proposal.draw(weight, each, self.random) for proposal in self.proposals])
        fails = noise.law.kept_and_wrong(
            xor_at(noise.reversed_gates, sets), xor_at(noise.flipped, sets)[:, 0]
        )
        distinct, first, counts = np.unique(sets[fails > 0], axis=0, return_index=True, return_counts=True)
        fails = fails[fails > 0][first]
        values = noise.nothing * noise.odds[distinct].prod(axis=1) * fails
        values /= chances(self.proposals, distinct, fails)
        estimate = self.estimates[weight]
        estimate.draws += each * len(self.proposals)
        estimate.total += float((counts * values).sum())
        estimate.squares += float((counts * values**2).sum())
        for member in distinct.T:
            self.shares[weight] += np.bincount(member, counts * values, minlength=len(noise.odds))

    def _of_pairs(self) -> Estimate:
        noise = self.noise
        gates, flipped = xor_at(noise.reversed_gates, noise.pairs), xor_at(noise.flipped, noise.pairs)[:, 0]
        value = noise.nothing * float(noise.pair_odds @ noise.law.kept_and_wrong(gates, flipped))
        return Estimate(1, value, value**2)

    def aim(self) -> None:
        """Aims a third of all draws at what earlier ones have found, and drops their estimates."""
        found = [share / share.sum() for share in self.shares.values() if share.any()]
        if found:
            natural = self.noise.odds / self.noise.odds.sum()
            aim = 0.1 * natural + 0.9 * np.mean(found, axis=0)
            self.proposals = [*self.natural, Proposal(self.noise, aim, gamma=0.5)]
        self.estimates = {weight: Estimate() for weight in self.weights}

    def run(self, seconds: float, report: Callable[[float], None]) -> None:
        """Draws sets of all weights for so much processor time; the first third learns where to aim.

        ``report`` is called after each round of those that count, with the processor time so far.
        """
        begin = time.process_time()
        while True:
            for weight in self.weights:
                self.sample(weight)
            used = time.process_time() - begin
            if used < seconds / 3 or (used < seconds and self.proposals is self.natural):
                self.aim()
                continue
            report(used)
            if used > seconds:
                return

    def table(self) -> str:
        """The estimates of all weights, and their sum."""
        lines = [
            f"weight {weight}: {found.value:.4g} ± {math.sqrt(found.variance):.1g}"
            f" ({found.draws} draws, {found.hits:.1f} effective hits"
            f"{', too few for the error to be right' if weight > 2 and found.hits < ENOUGH else ''})"
            for weight, found in self.estimates.items()
        ]
        total = sum(found.value for found in self.estimates.values())
        error = math.sqrt(sum(found.variance for found in self.estimates.values()))
        return "\n".join([*lines, f"P(kept and wrong) = {total:.5g} ± {error:.1g} of these weights"])


class Report:
    """Prints the estimates of a sampler now and then, so that a run that is interrupted leaves figures.

    Args:
        sampler: The sampler.
        seconds: Processor time between two tables.
        last: Processor time after which a table is the last one.
    """

    def __init__(self, sampler: ImportanceSampler, seconds: float, last: float) -> None:
        self.sampler, self.seconds, self.last = sampler, seconds, last
        self._next = 0.0

    def __call__(self, used: float) -> None:
        """Prints a table if it is time for one."""
        if used >= self._next or used > self.last:
            self._next = used + self.seconds
            print(f"after {used:.0f} s of processor time:\n{self.sampler.table()}", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--distance", type=int, default=5, choices=(3, 5, 7), help="of the circuit")
    parser.add_argument("--p", type=float, default=1e-3, help="strength of the noise")
    parser.add_argument(
        "--weights", type=int, nargs="+", default=[3, 4, 5, 6, 7], help="numbers of mechanisms"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time of the draws")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draws")
    arguments = parser.parse_args(argv)
    circuit = snc.Circuit(cultivation_circuit(distance=arguments.distance, p=arguments.p))
    sampler = ImportanceSampler(circuit, arguments.weights, arguments.seed)
    sampler.run(arguments.seconds, Report(sampler, max(60.0, arguments.seconds / 10), arguments.seconds))


if __name__ == "__main__":
    main()
