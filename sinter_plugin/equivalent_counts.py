"""Turns an estimated logical error rate into the counts of a sampler that would know as much."""

from __future__ import annotations

import math

import sinter

import stim_nonclifford as snc

__all__ = ["equivalent_counts"]

_MOST_ERRORS = 10**12
"""Counts never claim less than a millionth of the rate as its standard error, even if it is exact."""

_SHOTS_WITHOUT_ERROR = 10**30
"""Kept shots of an exact zero. Sinter computes likelihoods as float32, which overflow from some 1e37 on."""

_REACH = 1.5
"""Error bars of `sinter plot` (likelihood factor 1000) reach 1.87 times as far as 95% intervals, or more."""


def equivalent_counts(estimate: snc.LogicalErrorRate) -> sinter.AnonTaskStats:
    r"""The counts that have the estimate's value and standard error.

    * ``errors / (shots - discards)`` is the logical error rate, and its binomial standard error is that of
      the estimate.
    * There are fewer errors if the estimate's interval reaches much farther up than that of these counts,
      because large sets of faults were not looked at.
    * There are no errors if no malignant set was found, or if the interval reaches so far that one error
      would claim too much. Then the counts have the upper end of the interval as their upper limit (Clopper
      and Pearson).

    Args:
        estimate: The estimate.

    Returns:
        Shots, discards and errors, as exact integers of any size.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("X_ERROR(0.25) 0 1\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]")
        >>> equivalent_counts(circuit.logical_error_rate(postselection_mask="all"))
        sinter.AnonTaskStats(shots=5333333333333, errors=1000000000000, discards=1333333333333)
    """
    if not estimate.kept:
        return sinter.AnonTaskStats(shots=1, discards=1)
    errors = _num_errors(estimate)
    if errors:
        kept = max(errors, round(errors / estimate.logical_error_rate))
    else:
        kept = _shots_without_error(estimate.interval[1], estimate.coverage)
    shots = max(kept, round(kept / estimate.kept))
    return sinter.AnonTaskStats(shots=shots, discards=shots - kept, errors=errors)


def _num_errors(estimate: snc.LogicalErrorRate) -> int:
    rate = estimate.logical_error_rate
    if not rate:
        return 0
    errors = float(_MOST_ERRORS)
    if estimate.standard_error:
        errors = min(errors, (rate / estimate.standard_error) ** 2 * max(0.0, 1 - rate))
    needed_limit = rate + (estimate.interval[1] - rate) / _REACH
    if errors < 1 or _upper_limit(1, rate, estimate.coverage) < needed_limit:
        return round(errors) if errors < 1 else 0
    if _upper_limit(errors, rate, estimate.coverage) < needed_limit:
        low, high = 1.0, errors
        while high - low > 0.1 and high / low > 1.0001:
            middle = math.sqrt(low * high)
            if _upper_limit(middle, rate, estimate.coverage) < needed_limit:
                high = middle
            else:
                low = middle
        errors = low
    return round(errors)


def _upper_limit(errors: float, rate: float, coverage: float) -> float:
    """Upper end of the interval of Clopper and Pearson for so many errors at a rate."""
    from scipy.special import betaincinv  # takes as long to import as Sinter and this package

    right = errors / rate - errors
    return float(betaincinv(errors + 1, right, (1 + coverage) / 2)) if right > 0 else 1.0


def _shots_without_error(limit: float, coverage: float) -> int:
    """Kept shots without an error that have a given upper limit."""
    if limit >= 1:
        return 1
    shots = math.log((1 - coverage) / 2) / math.log1p(-limit) if limit > 0 else math.inf
    return max(1, int(min(shots, _SHOTS_WITHOUT_ERROR)))
