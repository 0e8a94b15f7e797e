"""Noise channels, rebuilt from their mechanisms, have the probabilities that they were made from."""

import itertools
import math

import numpy as np
import pytest

from stim_nonclifford.simulation.compiler.program.channels import (
    Channel,
    channel_of_patterns,
    independent_errors,
)

Patterns = dict[int, float]

X, Z, Y = 1, 2, 3
PAULIS = {"I": 0, "X": X, "Y": Y, "Z": Z}
PAIRS = [PAULIS[a] | PAULIS[b] << 2 for a, b in itertools.product("IXYZ", repeat=2)][1:]
HERALD = 4

PROBABILITIES = [
    0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.25, 0.49999, 0.5, 0.50001, 0.7, 0.75, 0.9, 0.9375, 1 - 1e-9, 1.0,
]  # fmt: skip


def rebuilt(channel: Channel) -> Patterns:
    """The distribution of the patterns, from the description of ``Channel``."""
    size = 1 << max(
        channel.constant.bit_length(), *(p.bit_length() for p, _ in (*channel.rates, *channel.site)), 0
    )
    # Differences from "nothing happens" are kept apart, so that small probabilities stay precise.
    distribution = [0.0] * size
    rest = 1.0
    for pattern, rate in channel.rates:
        flip = -math.expm1(-2 * rate) / 2
        mixed = [p - flip * p + flip * distribution[k ^ pattern] for k, p in enumerate(distribution)]
        mixed[pattern] += flip * rest
        rest -= flip * rest
        rest += mixed[0]
        mixed[0] = 0.0
        distribution = mixed
    for pattern, probability in channel.site:
        distribution[pattern] += probability
        rest -= probability
    distribution[0] = rest
    return {k ^ channel.constant: p for k, p in enumerate(distribution) if p}


def assert_same_patterns(expected: Patterns) -> None:
    channel = channel_of_patterns(tuple(expected.items()))
    assert not (channel.rates and channel.site)
    assert all(rate > 0 for _, rate in channel.rates)
    assert all(probability > 0 for _, probability in channel.site)
    assert math.fsum(probability for _, probability in channel.site) < 1
    found = rebuilt(channel)
    complete = {0: 1 - math.fsum(p for pattern, p in expected.items() if pattern)}
    complete |= {pattern: p for pattern, p in expected.items() if pattern}
    for pattern in {*found, *complete}:
        value = complete.get(pattern, 0.0)
        # What is missing to 1 is known to 2^-53 only, and may become the smallest of the probabilities.
        allowed = 1e-14 * value + (1e-15 if math.fsum(expected.values()) > 0.5 else 1e-16)
        assert abs(found.get(pattern, 0.0) - value) <= allowed, (pattern, channel)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_flips_depolarizing_and_heralded_noise(p: float) -> None:
    assert_same_patterns({1: p})
    assert_same_patterns({0b1010: p})
    assert_same_patterns(dict.fromkeys((X, Y, Z), p / 3))
    assert_same_patterns(dict.fromkeys(PAIRS, p / 15))
    assert_same_patterns({HERALD | pauli: p / 4 for pauli in (0, X, Y, Z)})


@pytest.mark.parametrize(
    "probabilities",
    [
        (0.1, 0.2, 0.3),
        (0.1, 0.2, 0.0),
        (0.01, 0.01, 0.01),
        (0.05, 0.0006, 0.01),
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.25, 0.25, 0.25),
        (0.25, 0.25, 0.5),
        (0.5, 0.5, 0.0),
        (1e-12, 1e-9, 1e-15),
        (0.7, 0.1, 0.1),
        (0.09, 0.01, 0.09),  # independent X and Z errors of probability 0.1
    ],
)
def test_pauli_channel_1(probabilities: tuple[float, float, float]) -> None:
    assert_same_patterns(dict(zip((X, Y, Z), probabilities, strict=True)))


def test_pauli_channel_2() -> None:
    """Seed 5: probabilities of 15 Paulis, many zero, with sums up to 1."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        probabilities = rng.exponential(size=15) * (rng.random(15) < rng.choice([0.15, 0.5, 1.0]))
        total = rng.choice([1e-9, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9])
        if probabilities.any():
            probabilities *= total / probabilities.sum()
        assert_same_patterns(dict(zip(PAIRS, probabilities.tolist(), strict=True)))


def test_any_patterns() -> None:
    """Seed 6: up to seven bits, where channels with more than six are sites."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        bits = int(rng.integers(1, 8))
        probabilities = rng.dirichlet(np.full(1 << bits, rng.choice([0.02, 0.3, 5.0])))
        assert_same_patterns(dict(enumerate(probabilities.tolist())))


def test_small_probabilities_keep_their_precision() -> None:
    for p in (1e-12, 1e-17, 1e-30, 1e-300):
        found = rebuilt(channel_of_patterns(tuple((pattern, p) for pattern in (X, Y, Z))))
        for pattern in (X, Y, Z):
            assert found[pattern] == pytest.approx(p, rel=1e-14, abs=0)


def test_independent_channels_become_rates() -> None:
    """Depolarizing noise and independent X and Z flips are products; exclusive X and Z flips are not."""
    for p in (1e-6, 0.1, 0.7):
        channel = channel_of_patterns(tuple((pattern, p / 3) for pattern in (X, Y, Z)))
        assert len(channel.rates) == 3
        rate = -math.log1p(-4 * p / 3) / 4
        assert [r for _, r in channel.rates] == pytest.approx([rate] * 3, rel=1e-12)
        pairs = channel_of_patterns(tuple((pattern, p / 15) for pattern in PAIRS))
        rate = -math.log1p(-16 * p / 15) / 16
        assert [r for _, r in pairs.rates] == pytest.approx([rate] * 15, rel=1e-12)
    channel = channel_of_patterns(((X, 0.18), (Y, 0.02), (Z, 0.08)))  # X: 0.2, Z: 0.1
    assert [pattern for pattern, _ in channel.rates] == [X, Z]
    assert len(channel_of_patterns(((X, 0.1), (Z, 0.1))).site) == 2


def test_repeated_patterns_add_up() -> None:
    assert channel_of_patterns(((1, 0.1), (1, 0.2))) == channel_of_patterns(((1, 0.1 + 0.2),))


@pytest.mark.parametrize("seed", range(30))
def test_independent_errors_are_found_again(seed: int) -> None:
    """Up to five independent errors on five outputs, some coins, some more likely than not."""
    rng = np.random.default_rng(seed)
    errors = [
        (int(rng.integers(32)), float(rng.choice([0.5, 1.0, *rng.random(3)])))
        for _ in range(rng.integers(1, 6))
    ]
    channel = distribution_of_independent(errors)
    found = independent_errors((pattern << 40, p) for pattern, p in channel.items())
    assert found is not None
    assert all(0 < p <= 1 for p in found.values())
    again = distribution_of_independent([(pattern >> 40, p) for pattern, p in found.items()])
    assert max(abs(again.get(k, 0.0) - channel.get(k, 0.0)) for k in range(32)) < 1e-9


@pytest.mark.parametrize("patterns", [((1, 0.1), (2, 0.2)), ((1, 0.5), (2, 0.25)), ((1, 0.5), (2, 0.5))])
def test_mutually_exclusive_errors_are_not_independent(patterns: Patterns) -> None:
    found = independent_errors(patterns)
    if found is not None:
        again = distribution_of_independent(list(found.items()))
        assert all(abs(again.get(pattern, 0.0) - p) < 1e-12 for pattern, p in patterns)
    assert (found is None) == (patterns != ((1, 0.5), (2, 0.5)))


def distribution_of_independent(errors: list[tuple[int, float]]) -> dict[int, float]:
    """The probability of every sum of errors."""
    total = {0: 1.0}
    for pattern, p in errors:
        keys = {*total, *(key ^ pattern for key in total)}
        total = {
            key: (1 - p) * total.get(key, 0.0) + p * total.get(key ^ pattern, 0.0) for key in sorted(keys)
        }
    return total
