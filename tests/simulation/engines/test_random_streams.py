"""The random words of both engines are those of Philox4x64-10, for every 64-bit seed and index."""

import numpy as np
import pytest

from stim_nonclifford import _native
from stim_nonclifford.simulation.engines.random_streams import MIN_MASS, Stream, uniform, words

EXTREMES = [0, 1, 2, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**63 + 12345, 2**64 - 1]


def philox(seed: int, stream: int, index: int, count: int) -> list[int]:
    """NumPy's Philox with key (seed, stream), from counter (1, index, 0, 0) on."""
    key = np.array([seed, stream], dtype=np.uint64)
    counter = np.array([0, index, 0, 0], dtype=np.uint64)
    return [int(word) for word in np.random.Philox(key=key, counter=counter).random_raw(count)]


def plain_philox(counter: list[int], key: list[int]) -> list[int]:
    """One block of Philox4x64-10, as in Salmon et al., SC 2011, section 3."""
    mask = 2**64 - 1
    c, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [right >> 64 ^ c[1] ^ k[0], right & mask, left >> 64 ^ c[3] ^ k[1], left & mask]
        k = [(k[0] + 0x9E3779B97F4A7C15) & mask, (k[1] + 0xBB67AE8584CAA73B) & mask]
    return c


def test_published_values() -> None:
    """Known answers of the generator's authors (Random123, kat_vectors)."""
    assert plain_philox([0] * 4, [0] * 2) == [
        0x16554D9ECA36314C,
        0xDB20FE9D672D0FDC,
        0xD7E772CEE186176B,
        0x7E68B68AEC7BA23B,
    ]
    ones = 2**64 - 1
    assert plain_philox([ones] * 4, [ones] * 2) == [
        0x87B092C3013FE90B,
        0x438C3C67BE8D0224,
        0x9CC7D7C69CD777B6,
        0xA09CAEBF594F0BA0,
    ]


@pytest.mark.parametrize("stream", list(Stream))
def test_extreme_seeds_and_indices(stream: Stream) -> None:
    for seed in EXTREMES:
        for index in EXTREMES:
            expected = philox(seed, stream, index, 9)
            assert expected[4:8] == plain_philox([2, index, 0, 0], [seed, stream])
            assert _native.random_words(seed, stream, index, 9) == expected, (seed, index)
            assert words(seed, stream, index, 9).tolist() == expected, (seed, index)


def test_many_words() -> None:
    expected = philox(7, Stream.EVENTS, 5, 100_003)
    assert _native.random_words(7, Stream.EVENTS, 5, 100_003) == expected
    assert len(set(expected)) == len(expected)


def test_streams_are_numbered_as_in_the_native_code() -> None:
    assert [(stream.name, stream.value) for stream in Stream] == [
        ("COUNTS", 0),
        ("EVENTS", 1),
        ("COINS", 2),
        ("OUTCOMES", 3),
        ("LEAKAGE", 9),
        ("READOUTS", 15),
        ("TRAJECTORY_STRUCTURE", 10),
        ("TRAJECTORY_PAULIS", 11),
        ("TRAJECTORY_COINS", 12),
        ("TRAJECTORY_OUTCOMES", 13),
        ("TRAJECTORY_LEAKAGE", 14),
        ("SET_DRAWS", 4),
        ("LEFT_PARTS", 5),
        ("RIGHT_PARTS", 6),
        ("ROUNDS", 8),
    ]


def test_least_mass_is_no_product_of_likely_probabilities() -> None:
    """Else rounding, which differs between engines, would decide whether a new number is drawn."""
    masses = {1.0}
    for _ in range(12):
        masses |= {
            mass * p for mass in masses for p in (1 / 2, 1 / 4, 3 / 4, (2 + 2**0.5) / 4, (2 - 2**0.5) / 4)
        }
    assert min(abs(mass / MIN_MASS - 1) for mass in masses) > 1e-9


def test_uniform_numbers() -> None:
    assert uniform(0) == 0
    assert uniform(2**63) == 0.5
    assert uniform(2**64 - 1) == 1 - 2**-53
    assert uniform(2**11 - 1) == 0
