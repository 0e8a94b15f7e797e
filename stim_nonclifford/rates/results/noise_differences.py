"""What a rate is without some of the noise, as users get it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from ...base.arguments import integer
from ...base.notebook import text_table
from .error_budget import MAX_PRINTED, with_error


@dataclass(frozen=True)
class NoiseDifference:
    """The difference that a group of places of noise makes.

    Attributes:
        group: Its label.
        places: Number of its places.
        rate_without: The logical error rate per kept shot without its noise.
        difference: The logical error rate minus ``rate_without``.
        difference_error: Standard error of ``difference``.
        share: ``difference`` over the logical error rate. Faults of several groups together count for each
            of them, so that shares may add up to more than 1.
        share_error: Standard error of ``share``.
        kept_difference: P(kept) without its noise, minus P(kept).
        kept_difference_error: Standard error of ``kept_difference``.
    """

    group: Hashable
    places: int
    rate_without: float
    difference: float
    difference_error: float
    share: float
    share_error: float
    kept_difference: float
    kept_difference_error: float


@dataclass(frozen=True)
class DifferenceBudget:
    """A logical error rate, and what it is without each group of noise. Printed, a table.

    Attributes:
        by: What makes a group, as in ``ErrorBudget``.
        logical_error_rate: P(any observable wrong | kept), sampled.
        standard_error: Its standard error.
        kept: P(kept).
        groups: The groups, in the order of the circuit or of their labels.
        shots: The number of shots with all noise, and of those without the noise of each group.
        seed: The seed of all of them.
    """

    by: str
    logical_error_rate: float
    standard_error: float
    kept: float
    groups: tuple[NoiseDifference, ...]
    shots: int
    seed: int

    def largest(self, count: int) -> DifferenceBudget:
        """The groups with the largest differences, the largest first.

        Args:
            count: How many groups.
        """
        count = integer(count, "count")
        ranked = sorted(self.groups, key=lambda group: -group.difference)[:count]
        return replace(self, groups=tuple(ranked))

    def plot(self, ax: Any | None = None) -> Any:
        """A drawing of the differences, with their standard errors.

        Args:
            ax: Matplotlib axes; None: new ones.

        Returns:
            The axes.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6, 1 + 0.25 * len(self.groups)), layout="constrained")
        groups = self.groups[::-1]
        labels = [str(group.group) for group in groups]
        ax.barh(labels, [each.difference for each in groups], xerr=[each.difference_error for each in groups])
        ax.set(xlabel="logical error rate, less without this noise", ylabel=self.by)
        ax.grid(axis="x", alpha=0.3)
        return ax

    def __str__(self) -> str:
        groups = self.groups if len(self.groups) <= MAX_PRINTED else self.largest(MAX_PRINTED).groups
        rows = [
            (
                str(each.group),
                f"{each.difference:.3g} ± {each.difference_error:.1g}",
                with_error(each.share, each.share_error, "{:.1%}"),
                f"{each.rate_without:.4g}",
                f"{each.kept_difference:.3g} ± {each.kept_difference_error:.1g}",
            )
            for each in groups
        ]
        keeps_all = self.kept == 1
        header = (self.by, "less without it", "share", "rate without it", "kept more")
        shown = len(header) - keeps_all
        rate = f"{self.logical_error_rate:.4g} ± {self.standard_error:.1g}"
        lines = [
            f"logical error rate = {rate}" + ("" if keeps_all else f"; P(kept) = {self.kept:.6g}"),
            f"{self.shots:,} shots with each noise, the same random numbers for all",
            "",
            *text_table(header[:shown], [row[:shown] for row in rows], [self.by]),
        ]
        if len(groups) < len(self.groups):
            lines.append(f"and {len(self.groups) - len(groups)} with smaller differences")
        return "\n".join(lines)
