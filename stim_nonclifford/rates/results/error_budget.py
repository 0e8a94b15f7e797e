"""Error budgets as users get them, tables and plots: shares of noise, and what the rate is without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ...base.arguments import choice, integer
from ...base.notebook import axes_of, text_table
from ..estimation.interval import rate_text


@dataclass(frozen=True)
class NoisePlace:
    """A noise channel on one group of its targets, or the readout error of one measurement.

    Attributes:
        line: Line of the instruction in the printed circuit, counted from 1.
        tick: Number of TICKs before the instruction; every iteration of a REPEAT counts.
        instruction: Name of the instruction.
        arguments: The numbers in its parentheses.
        targets: The qubits of the channel or measurement: one group of its targets.
        gate: The gate of this tick to which the noise belongs, with its qubits: ``CX 3-7``, ``M 5``, or
            ``idle 5`` if none acts there.
        source: Of a Pauli error that ``pauli_twirl`` has put in the place of other noise, the name of that:
            ``THERMAL_RELAXATION``, ``LEAKAGE``, ``R_ZZ``. Otherwise it is empty.
        source_qubits: For leakage and loss, the qubits that are leaked or lost. Their errors act on other
            qubits, too.
    """

    line: int
    tick: int
    instruction: str
    arguments: tuple[float, ...]
    targets: tuple[int, ...]
    gate: str = ""
    source: str = ""
    source_qubits: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        """The name of the noise that is there in truth."""
        return self.source or self.instruction

    @property
    def qubits(self) -> tuple[int, ...]:
        """The qubits whose noise it is: for leakage and loss, those that are leaked or lost."""
        return tuple(dict.fromkeys(self.source_qubits or self.targets))


BudgetKind = Literal["instruction", "place", "qubit", "tick", "noise"]
Grouping = BudgetKind | Callable[[NoisePlace], Hashable]

_MAX_PRINTED = 40
"""Groups in the printed table. Doubled, it is longer than a screen."""


@dataclass(frozen=True)
class BudgetShare:
    """A group of places of noise. Derivatives are by ln of the group's strength: of its probabilities.

    Attributes:
        group: Its label.
        share: Part of P(kept and wrong): a set of k faults that contributes to it counts 1/k for each fault.
            With a decoder: of the faults that shots that fail have more than all shots, the part that is of
            the group.
        share_error: Standard error of ``share``, from sampled weights.
        discarded: The same part of P(discarded).
        kept_derivative: dP(kept) / d ln(strength).
        kept_and_wrong_derivative: dP(kept and wrong) / d ln(strength).
        sensitivity: d ln(logical error rate) / d ln(strength): by how many percent the rate per kept shot
            falls if the group's noise is one percent weaker. It is a slope. With the group's noise x times as
            strong, the rate is 1 + s (x - 1) times as large if a fault set has at most one fault of the
            group, as is nearly so for one qubit, one line or one moment; and x^s times if all its faults are
            of the group, as for all noise together. NaN if the group has noise that is certain.
        sensitivity_error: Standard error of ``sensitivity``, from sampled weights.
    """

    group: Hashable
    share: float
    share_error: float
    discarded: float
    kept_derivative: float
    kept_and_wrong_derivative: float
    sensitivity: float
    sensitivity_error: float


@dataclass(frozen=True)
class ErrorBudget:
    """P(kept and wrong) and P(discarded), divided among groups of places of noise. Printed, a table.

    Where every shot is kept, P(kept and wrong) is the logical error rate, and P(discarded) is left out.

    Attributes:
        by: What makes a group: ``"qubit"`` and so on, or the name of a function (``"group"`` for a lambda).
        kept: P(kept).
        kept_and_wrong: P(kept and wrong).
        groups: The groups, in the order of the circuit or of their labels. Their shares add up to 1.
        standard_error: Of ``kept_and_wrong``.
        interval: (low, high): the 95% interval of ``kept_and_wrong``.
        qubit_shares: Of each group's share, the part that comes from noise on each qubit. Qubits of one place
            have equal parts.
        qubit_places: Qubit -> where it is drawn: at its coordinates, or on a grid.
    """

    by: str
    kept: float
    kept_and_wrong: float
    groups: tuple[BudgetShare, ...]
    standard_error: float
    interval: tuple[float, float]
    qubit_shares: Mapping[Hashable, Mapping[int, float]] = field(
        default_factory=dict, compare=False, repr=False
    )
    qubit_places: Mapping[int, tuple[float, float]] = field(default_factory=dict, compare=False, repr=False)

    def largest(self, count: int) -> ErrorBudget:
        """The groups with the largest shares, in the same order.

        Args:
            count: How many groups.
        """
        count = integer(count, "count")
        ranked = sorted(self.groups, key=lambda group: -group.share)[:count]
        chosen = tuple(group for group in self.groups if group in ranked)
        return replace(self, groups=chosen)

    @property
    def _keeps_all(self) -> bool:
        return self.kept == 1 and not any(group.discarded for group in self.groups)

    @property
    def _title(self) -> str:
        name = "logical error rate" if self._keeps_all else "P(kept and wrong)"
        return f"{name} = {self.kept_and_wrong:.3g}"

    def __str__(self) -> str:
        groups = self.largest(_MAX_PRINTED).groups
        rows = [
            (
                str(group.group),
                _with_error(group.share, group.share_error, "{:.2%}"),
                _with_error(group.sensitivity, group.sensitivity_error, "{:.4f}"),
                f"{group.discarded:.2%}",
            )
            for group in groups
        ]
        wrong = rate_text(self.kept_and_wrong, self.standard_error, self.interval)
        header, shown = (self.by, "kept and wrong", "sensitivity", "discarded"), 4
        headline = f"P(kept and wrong) = {wrong}; P(discarded) = {1 - self.kept:.6g}"
        if self._keeps_all:
            header, shown = (self.by, "share", "sensitivity", ""), 3
            headline = f"logical error rate = {wrong}"
        left = [] if all(type(group.group) is int for group in groups) else [self.by]
        lines = [headline, "", *text_table(header[:shown], [row[:shown] for row in rows], left)]
        others = len(self.groups) - len(groups)
        if others:
            smaller = sum(group.share for group in self.groups) - sum(group.share for group in groups)
            lines.append(f"and {others} with smaller shares, together {smaller:.2%}")
        return "\n".join(lines)

    def plot(
        self, ax: Any | None = None, *, by: Literal["group", "layout"] = "group", panels: int = 8
    ) -> Any:
        """Draws the budget.

        Args:
            ax: Matplotlib axes for ``by="group"``; None: new ones.
            by: ``"group"``: bars of the shares of P(kept and wrong), with their errors, and of P(discarded)
                beside them. ``"layout"``: heat maps over the qubits, at their coordinates, one for each of
                the groups with the largest shares, in the order of the budget: small multiples by tick, or
                by stage. A budget by qubit is one heat map.
            panels: How many heat maps at most.

        Returns:
            The axes, or for ``"layout"`` the figure.

        Raises:
            ValueError: The budget has no qubits.
        """
        if choice(by, "by", ("group", "layout")) == "layout":
            return self._layout(integer(panels, "panels", 1))
        ax = axes_of(ax, figsize=(max(6.0, 1.5 + 0.25 * len(self.groups)), 4.5))
        places = range(len(self.groups))
        shares = [100 * group.share for group in self.groups]
        errors = [100 * group.share_error for group in self.groups]
        if self._keeps_all:
            ax.bar(list(places), shares, 0.8, yerr=errors, capsize=2)
        else:
            ax.bar([k - 0.2 for k in places], shares, 0.4, yerr=errors, capsize=2, label="kept and wrong")
            discarded = [100 * group.discarded for group in self.groups]
            ax.bar([k + 0.2 for k in places], discarded, 0.4, label="discarded", color="lightgray")
            ax.legend()
        labels = [str(group.group) for group in self.groups]
        rotation = 0 if max(map(len, labels), default=0) <= 3 else 90
        ax.set_xticks(list(places), labels, rotation=rotation, fontsize="small")
        ax.set(xlabel=self.by, ylabel="share (%)", title=self._title)
        ax.grid(axis="y", alpha=0.3)
        return ax

    def _layout(self, count: int) -> Any:
        """A figure with heat maps over the qubits: of all noise by qubit, or of the largest groups."""
        import matplotlib.pyplot as plt

        places = self.qubit_places
        if not places or not any(self.qubit_shares.values()):
            raise ValueError("The noise of this budget acts on no qubit: there is no layout to draw it on.")
        panels = [
            (f"{self.by} {group}" if isinstance(group, int) else str(group), self.qubit_shares[group])
            for group in (each.group for each in self.largest(count).groups)
            if self.qubit_shares.get(group)
        ]
        if self.by == "qubit":
            own = self.qubit_shares.values()
            panels = [("all noise", {qubit: share for each in own for qubit, share in each.items()})]
        columns = min(len(panels), 4)
        rows = math.ceil(len(panels) / columns)
        xs, ys = zip(*places.values(), strict=True)
        ratio = (max(ys) - min(ys) + 1) / (max(xs) - min(xs) + 1)
        width = 7.0 if columns == 1 else 2.9 * columns
        height = (width / columns) * min(1.6, max(0.45, ratio)) + 0.35
        figure, axes = plt.subplots(
            rows, columns, figsize=(width + 0.9, rows * height + 0.5), squeeze=False, layout="constrained"
        )
        most = max(share for _, shares in panels for share in shares.values())
        style = {"cmap": "cividis", "edgecolors": "black", "linewidths": 0.4}
        for ax, (label, shares) in zip(axes.flat, panels, strict=False):
            values = np.array([shares.get(qubit, 0.0) for qubit in places])
            # Also a qubit without a share can be seen.
            sizes = (3 if columns == 1 else 1) * (12 + 138 * np.sqrt(np.maximum(values, 0.0) / (most or 1.0)))
            points = ax.scatter(xs, ys, c=100 * values, s=sizes, vmin=0, vmax=100 * most, **style)
            ax.set(title=f"{label}: {sum(shares.values()):.1%}", aspect="equal", xticks=[], yticks=[])
            ax.title.set_fontsize("small")
            ax.margins(0.12)
            ax.invert_yaxis()
            for qubit, place in places.items() if columns == 1 else ():
                ax.annotate(str(qubit), place, xytext=(7, -9), textcoords="offset points", fontsize="x-small")
        for ax in list(axes.flat)[len(panels) :]:
            ax.set_axis_off()
        figure.colorbar(points, ax=axes, label="share of a qubit (%)", shrink=0.8)
        figure.suptitle(self._title, fontsize="medium")
        return figure


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
        ax = axes_of(ax, figsize=(6, 1 + 0.25 * len(self.groups)))
        groups = self.groups[::-1]
        labels = [str(group.group) for group in groups]
        ax.barh(labels, [each.difference for each in groups], xerr=[each.difference_error for each in groups])
        ax.set(xlabel="logical error rate, less without this noise", ylabel=self.by)
        ax.grid(axis="x", alpha=0.3)
        return ax

    def __str__(self) -> str:
        groups = self.groups if len(self.groups) <= _MAX_PRINTED else self.largest(_MAX_PRINTED).groups
        rows = [
            (
                str(each.group),
                f"{each.difference:.3g} ± {each.difference_error:.1g}",
                _with_error(each.share, each.share_error, "{:.1%}"),
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
            f"{self.shots:,} shots with each noise, one seed for all",
            "",
            *text_table(header[:shown], [row[:shown] for row in rows], [self.by]),
        ]
        if len(groups) < len(self.groups):
            lines.append(f"and {len(self.groups) - len(groups)} with smaller differences")
        return "\n".join(lines)


def _with_error(value: float, error: float, style: str) -> str:
    """The text of a value, and its error unless that is below the digits that are shown."""
    shown = style.format(error)
    return style.format(value) + (f" ± {shown}" if error == error and shown != style.format(0.0) else "")
