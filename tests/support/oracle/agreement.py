"""A test of whether samples come from a given distribution, with a rigorous error probability."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import scipy.stats

PIECE = 10


def p_value(samples: npt.NDArray[np.bool_], distribution: Mapping[tuple[int, ...], float]) -> float:
    """A p-value for the hypothesis that the rows of ``samples`` follow the distribution.

    If they do, the result is below any alpha with a probability of at most alpha: it is the
    smallest of the exact binomial p-values of every bit string and of every parity of some bits,
    times their number (Bonferroni). The bit strings reveal impossible or missing outcomes, and
    the parities reveal small correlations. Probabilities below 1e-12 are taken as zero. Rows of
    more than ten bits are examined in pieces of ten.
    """
    starts = range(0, max(samples.shape[1], 1), PIECE)
    values = []
    for start in starts:
        piece = slice(start, start + PIECE)
        marginal: dict[tuple[int, ...], float] = {}
        for bits, probability in distribution.items():
            marginal[bits[piece]] = marginal.get(bits[piece], 0.0) + probability
        values.append(_p_value_of_piece(samples[:, piece], marginal))
    return min(1.0, len(starts) * min(values))


def _p_value_of_piece(samples: npt.NDArray[np.bool_], distribution: Mapping[tuple[int, ...], float]) -> float:
    shots, num_bits = samples.shape
    weights = 1 << np.arange(num_bits)
    counts = np.bincount(samples @ weights, minlength=2**num_bits)
    probabilities = np.zeros(2**num_bits)
    for bits, probability in distribution.items():
        probabilities[int(np.dot(bits, weights))] += probability
    all_counts = np.concatenate([counts, (shots - _transformed(counts))[1:] // 2])
    expected = np.concatenate([probabilities, (1 - _transformed(probabilities))[1:] / 2])
    expected = np.where(expected < 1e-12, 0, np.where(expected > 1 - 1e-12, 1, expected))
    lower = scipy.stats.binom.cdf(all_counts, shots, expected)
    upper = scipy.stats.binom.sf(all_counts - 1, shots, expected)
    return float(2 * np.minimum(lower, upper).min() * len(expected))


def _transformed(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """The Walsh-Hadamard transform, whose entry m is the sum over x of (-1)^(parity of x & m) times entry x."""
    for _ in range(len(values).bit_length() - 1):
        values = np.concatenate([values[::2] + values[1::2], values[::2] - values[1::2]])
    return values
