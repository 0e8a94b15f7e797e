"""How often the gap is at least g, from plain shots and from chains that are confined to large gaps.

The signed gap is that of a wrong prediction, and negative for a right one (``chains.signed_gaps``). Records
of a chain at a level with the least signed gap a are draws from its law given that it is at least a. Such
records are left-truncated at a, and the product-limit estimate puts them together (Kaplan and Meier, J. Am.
Stat. Assoc. 53, 457, 1958): of all records that are at least h and could have been, the part that is h is the
hazard of h. The columns of chains share nothing, so that leaving out one after the other (the jackknife)
gives the standard error of whatever follows from their counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import Floats

__all__ = ["Counts", "Curve", "curve_of", "difference_of", "jackknife_variance"]

_DEPENDENT = 10
"""So many records of chains, one after the other, count as one of what has not been seen."""


@dataclass
class Counts:
    """What columns saw.

    Attributes:
        shots: float64, shape (columns,): plain shots.
        kept: float64, shape (columns, gaps): plain shots by their gap.
        signed: float64, shape (columns, 2 gaps): plain shots by their signed gap, from -gaps on.
        seen: float64, shape (columns, 2 gaps): records of chains by their signed gap.
        could_be: float64, shape (columns, 2 gaps): records of chains whose least signed gap is at most g,
            and whose signed gap is at least g.
    """

    shots: Floats
    kept: Floats
    signed: Floats
    seen: Floats
    could_be: Floats


@dataclass(frozen=True)
class Curve:
    """Probabilities over the least gap, with variances.

    Attributes:
        kept: float64, shape (gaps,): P(gap >= g).
        kept_variance: Of ``kept``.
        wrong: float64, shape (gaps,): P(gap >= g and wrong).
        wrong_variance: Of ``wrong``, from what was seen.
        unseen: By how much ``wrong`` may be too small because of what was not seen.
        one_more: The heaviest shot that may have been missed by chance.
        by_chains: What part of ``wrong_variance`` comes from chains beside shots with paths.
    """

    kept: Floats
    kept_variance: Floats
    wrong: Floats
    wrong_variance: Floats
    unseen: Floats
    one_more: Floats
    by_chains: Floats


def curve_of(counts: Counts) -> Curve:
    """The curves that counts give.

    Examples:
        Of 4 shots of each column, 2 are right and 2 wrong, with the gaps 0 and 1 each. Chains with wrong
        predictions and a gap of 1 at least see the gaps 1 and 2 equally often.

        >>> one = np.ones((2, 1))
        >>> found = curve_of(
        ...     Counts(
        ...         shots=np.array([4.0, 4.0]),
        ...         kept=one * [2, 2, 0],
        ...         signed=one * [0, 1, 1, 1, 1, 0],
        ...         seen=one * [0, 0, 0, 0, 99, 100],
        ...         could_be=one * [0, 0, 0, 0, 199, 100],
        ...     )
        ... )
        >>> found.kept.tolist(), found.wrong.tolist()
        ([1.0, 0.5, 0.0], [0.5, 0.25, 0.125])
    """
    kept, wrong, seen = _estimates(counts, np.zeros(1, dtype=np.intp))
    some_kept, some_wrong, _ = _estimates(counts, np.arange(len(counts.shots)), leave_out=True)
    # Of what nobody saw, there might have been one: after the last gap that was seen, and before.
    last = np.maximum.accumulate(np.where(wrong[0] > 0, np.arange(wrong.shape[1]), 0))
    shots = counts.shots.sum()
    unseen = np.where(seen[0, last] > 0, wrong[0, last] / np.maximum(seen[0, last], 1), 1 / shots)
    unseen = np.minimum(unseen * np.where(counts.seen.any(), _DEPENDENT, 1), 1.0)
    variance = jackknife_variance(some_wrong)
    more = np.sqrt(np.maximum(unseen**2 - variance, 0))
    none = np.zeros_like(more)
    return Curve(kept[0], jackknife_variance(some_kept), wrong[0], variance, more, none, none)


def difference_of(one: Counts, other: Counts) -> tuple[Floats, Floats]:
    """The difference of ``wrong`` of two counts of the same columns, and its variance."""
    none, columns = np.zeros(1, dtype=np.intp), np.arange(len(one.shots))
    found = _estimates(one, none)[1] - _estimates(other, none)[1]
    some = _estimates(one, columns, leave_out=True)[1] - _estimates(other, columns, leave_out=True)[1]
    return found[0], jackknife_variance(some)


def jackknife_variance(values: Floats) -> Floats:
    """The jackknife's variance, of values without one of the columns each."""
    return np.asarray((len(values) - 1) / len(values) * ((values - values.mean(axis=0)) ** 2).sum(axis=0))


def _estimates(
    counts: Counts, columns: npt.NDArray[np.intp], leave_out: bool = False
) -> tuple[Floats, Floats, Floats]:
    """P(gap at least g); the same and wrong; and the records that the latter comes from."""

    def total(values: Floats) -> Floats:
        whole = values.sum(axis=0, keepdims=True)
        return whole - values[columns] if leave_out else whole

    def tail(values: Floats) -> Floats:
        return np.asarray(values[:, ::-1].cumsum(axis=1)[:, ::-1])

    shots, kept, signed = total(counts.shots)[:, None], total(counts.kept), total(counts.signed)
    at_risk = tail(signed) + total(counts.could_be)
    hazard: Floats = (signed + total(counts.seen)) / np.where(at_risk > 0, at_risk, 1)
    survival: Floats = np.cumprod(1 - hazard, axis=1).astype(np.float64)
    survival = np.hstack([np.ones((len(survival), 1)), survival[:, :-1]])
    survival[at_risk <= 0] = 0
    first = kept.shape[1]
    return np.asarray(tail(kept) / shots), survival[:, first:], np.asarray(at_risk[:, first:])
