"""Tables that turn uniform 64-bit words into numbers of events and into mechanisms."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...._native import alias_table as native_alias_table

_TWO_64 = 1 << 64
_TINY = 2.0**-1000


def poisson_thresholds(mean: float) -> npt.NDArray[np.uint64]:
    """Thresholds T_0 <= T_1 <= ... such that #{k : T_k <= word} is Poisson distributed.

    T_k = 2^64 P(n <= k), rounded. The table ends where P(n > k) < 2^-65.
    """
    if mean <= 0:
        return np.zeros(0, dtype=np.uint64)
    last = int(mean + 12 * math.sqrt(mean) + 40)
    k = range(last + 2)
    probabilities = [math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in k]
    # Summing from the far end keeps the small probabilities of the tail accurate.
    above = 0.0
    thresholds = []
    for n in reversed(range(last + 1)):
        above += probabilities[n + 1]
        remaining = round(above * _TWO_64)
        if remaining:
            thresholds.append(_TWO_64 - min(remaining, _TWO_64))
    return np.array(thresholds[::-1], dtype=np.uint64)


def alias_table(
    rates: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
    """Constructs Walker's alias table of M positive rates by the method of M. D. Vose (1991).

    A uniform 64-bit word w selects cell i = w M >> 64 of M cells. The rest f = w M mod 2^64 is then uniform.
    The result is i if f < thresholds[i], and indices[i] otherwise.
    """
    if len(rates) and rates.sum() < _TINY:
        rates = rates / _TINY  # exact, and the quotient below is finite
    thresholds, indices = native_alias_table(rates * (len(rates) / rates.sum()) if len(rates) else rates)
    return thresholds, indices
