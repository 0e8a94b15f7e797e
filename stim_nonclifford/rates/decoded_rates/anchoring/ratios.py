"""Free energies from what chains recorded: Bennett's acceptance ratio, and what each column says of it.

C. H. Bennett, Journal of Computational Physics 22, 245 (1976). With f(x) = 1/(1 + e^-x), u the logarithm of
the factor by which a fault set's weight changes to the next level, and as many records of both levels,
ln(Z' / Z) is the x at which the sum of f(u - x) over fault sets of this level is that of f(x - u) over fault
sets of the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..faults.mechanisms import Floats

__all__ = ["PARTS", "Ratio", "bennett_ratio", "means_of_parts"]

_MOST_STEPS = 100
_TOLERANCE = 1e-10
PARTS = 4
"""Into so many parts of equal length the records are divided, to see whether they agree."""


@dataclass(frozen=True)
class Ratio:
    """The ratio of the weights of all failing fault sets in two levels.

    Attributes:
        log_ratio: Its logarithm.
        influences: Shape (PARTS, columns): to first order, by how much the logarithm would differ if a
            column had had what this part of it says. Their mean is 0. The standard error is the standard
            deviation of the columns' means over the root of their number.
        scale: By how much the logarithm would differ if each fault set of this level said 1 more.
        mean: Of what each fault set says.
    """

    log_ratio: float
    influences: Floats
    scale: float
    mean: float

    def says(self, up: Floats, down: Floats) -> Floats:
        """To first order, by how much the logarithm would differ if a column had only had one record.

        Args:
            up: As for ``bennett_ratio``.
            down: The same.

        Returns:
            Shape (records, 2, columns): what the fault sets of this level say of that, and those of the next.
        """
        both = np.stack([_expit(up - self.log_ratio), _expit(self.log_ratio - down)], axis=1)
        return np.asarray((both - self.mean) * self.scale * np.array([[1.0], [-1.0]]))


def means_of_parts(values: Floats) -> Floats:
    """The means of the parts of records.

    Args:
        values: Shape (records, columns), at least ``PARTS`` records.

    Returns:
        Shape (PARTS, columns).
    """
    return np.array([part.mean(axis=0) for part in np.array_split(values, PARTS)])


def bennett_ratio(up: Floats, down: Floats) -> Ratio:
    """Bennett's estimate.

    Args:
        up: Shape (records, columns): the logarithm of the factor, of fault sets of this level; -inf where the
            fault set does not fail in the next.
        down: The same of the next level; inf where it does not fail in this one.

    Returns:
        The ratio.

    Raises:
        ZeroDivisionError: No fault set of one of the levels fails in the other.

    Examples:
        >>> values = np.full((4, 2), 0.5)
        >>> round(float(bennett_ratio(values, values).log_ratio), 9)
        0.5
    """
    if not np.isfinite(up).any() or not np.isfinite(down).any():
        raise ZeroDivisionError("No fault set of one level fails in the other.")
    finite = np.concatenate([up[np.isfinite(up)], down[np.isfinite(down)]])
    margin = 5 + np.log(up.size)
    low, high = float(finite.min()) - margin, float(finite.max()) + margin
    x = 0.5 * (low + high)
    for _ in range(_MOST_STEPS):
        one, other = _expit(up - x), _expit(x - down)
        excess = float(one.sum() - other.sum())
        low, high = (x, high) if excess > 0 else (low, x)
        slope = float((one * (1 - one)).sum() + (other * (1 - other)).sum())
        following = x + excess / slope if slope else math.inf
        if not low < following < high:  # Newton's step leaves the bracket: halve it
            following = 0.5 * (low + high)
        if abs(following - x) <= _TOLERANCE:
            break
        x = following
    scale = up.size / slope
    return Ratio(x, means_of_parts(one - other) * scale, scale, float(one.mean()))


def _expit(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))
