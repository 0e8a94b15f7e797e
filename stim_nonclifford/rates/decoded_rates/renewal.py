"""What chains that remember the fault sets a ladder was set up with do to the rates, as far as it is seen.

The ladder is set up with fault sets of stronger noise that were taken along: they are too much like those.
Fault sets that come from the first level by exchanges are not, as chains are in equilibrium there. So the
estimate drifts while the part u of the chains that have not been renewed falls. To first order, a ratio of
neighbouring levels is off by b u, and what each record says of it (``Ratio.says``) has the slope b against
the u of its time. All ratios share b: where a level has not seen u fall, the others say what it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .mechanisms import Floats

__all__ = ["RENEWED", "Drift", "first_renewed"]

RENEWED = 0.9
"""Of the chains of each level, so many begin anew before sweeps count."""


def first_renewed(renewed: Sequence[float]) -> int:
    """How many of the first sweeps to leave out, so that chains do not remember how they began.

    Args:
        renewed: After each sweep, the renewed part of the chains of the level in which it is least.

    Returns:
        The number of sweeps after which nine tenths of the chains of each level are renewed; half of all if
        they never are.

    Examples:
        >>> first_renewed([0.1, 0.4, 0.91, 0.93, 0.96, 0.97, 0.97, 0.98])
        2
        >>> first_renewed([0.1, 0.4, 0.5, 0.6])
        2
    """
    return next((k for k, part in enumerate(renewed) if part >= RENEWED), len(renewed) // 2)


class Drift:
    """The drift of the ratios of a ladder with the part of the chains that have not been renewed.

    Args:
        levels: The number of levels.
        columns: The number of columns.
    """

    def __init__(self, levels: int, columns: int) -> None:
        self._parts = np.zeros(levels)  # not renewed, in the records that count
        self._covariances = np.zeros(columns)
        self._spread = 0.0

    def add(self, number: int, old: Floats, says: Floats, counting: int) -> None:
        """Takes the records of a ratio.

        Args:
            number: Of the first of its two levels.
            old: Shape (records,): the part of the chains of both levels that have not been renewed.
            says: Shape (records, columns): by how much the ratio's logarithm would differ if a column had
                only had this record.
            counting: How many records count, the last ones.
        """
        self._parts[number + 1] = old[len(old) - counting :].mean()
        deviations = old - old.mean()
        self._covariances += deviations @ says
        self._spread += float(deviations @ deviations)

    def variances(self) -> Floats:
        """For each level the square of what ln(rate) may be off: the drift, and the error of its slope.

        Infinite if nothing is known of the slope.
        """
        parts = np.cumsum(self._parts)
        if not parts[-1]:
            return parts
        if not self._spread:
            return np.where(parts > 0, math.inf, 0.0)
        slopes = self._covariances / self._spread
        slope, error = float(slopes.mean()), float(slopes.std(ddof=1)) / math.sqrt(len(slopes))
        return (slope**2 + error**2) * parts**2
