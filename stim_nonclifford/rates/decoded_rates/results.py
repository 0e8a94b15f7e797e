"""Logical error rates of decoded circuits, as users get them."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field
from typing import Any

from ...base.arguments import integer
from ...base.notebook import html_table
from ..fault_sets.budget.table import ErrorBudget, Grouping
from .failing.failures import DecodedFailure
from .failing.study import FailureStudy
from .samplers.fault_numbers import DecodedSize, table_of_sizes
from .samplers.tally import COVERAGE, interval_of, per_kept

__all__ = [
    "COVERAGE",
    "DecodedErrorRate",
    "DecodedGapPoint",
    "DecodedLevel",
    "DecodedStratum",
    "interval_of",
    "per_kept",
]

_ROUNDING = 5e-7
"""Errors below this part of a rate are below the six digits of an exact one: failing sets were summed."""


@dataclass(frozen=True)
class DecodedLevel:
    """A strength of the noise at which failing fault sets were looked at.

    Attributes:
        strength: The odds of the mechanisms over those of the circuit that was asked about, on a geometric
            mean.
        faults: The mean number of mechanisms that act in a shot.
        rate: The logical error rate.
        standard_error: Of ``rate``.
        shots: Plain shots taken.
        failures: How many of them failed.
        mean_size: The mean number of members of the failing fault sets of the chains; None without chains.
        accepted: The part of the changes that chains made, of those they had to ask the decoder about.
        exchanged: The part of the attempts that exchanged fault sets with the next weaker level.
        is_given: Whether it is the noise of a circuit; otherwise it was put between two, or above all.
        penalty: Fault sets count exp(-penalty) times as much for each postselected detector that fires, and
            ``rate`` is a mean of that; infinite: only kept shots count.
        least_gap: The decoder is at least so sure; None: that does not matter.
    """

    strength: float
    faults: float
    rate: float
    standard_error: float
    shots: int
    failures: int
    mean_size: float | None
    accepted: float | None
    exchanged: float | None
    is_given: bool
    penalty: float = 0.0
    least_gap: int | None = None


@dataclass(frozen=True)
class DecodedStratum:
    """Kept shots that are alike in what postselected detectors do not see.

    Attributes:
        name: What they have in common.
        probability: P(a shot is kept, and one of them).
        shots: Plain shots taken of them.
        wrong: How many of these were wrong.
        sweeps: Number of sweeps of chains.
        least_gaps: The least gaps of the levels of the chains.
        shares: Their parts of the wrong shots: of all, and of those with the largest gap of the curve.
        path_shots: Number of shots with errors on a path between the boundaries of the decoder's graph.
    """

    name: str
    probability: float
    shots: int
    wrong: int
    sweeps: int
    least_gaps: tuple[int, ...]
    shares: tuple[float, float]
    path_shots: int = 0


@dataclass(frozen=True)
class DecodedGapPoint:
    """Shots with at least some gap.

    Attributes:
        gap: The least gap, or confidence of the decoder: of PyMatching and Chromobius, in decibels.
        kept: P(no postselected detector fires, and the gap is at least so large).
        kept_error: Its standard error.
        kept_and_wrong: P(the same, and an observable is predicted wrongly).
        kept_and_wrong_error: Its standard error.
    """

    gap: int
    kept: float
    kept_error: float
    kept_and_wrong: float
    kept_and_wrong_error: float

    @property
    def logical_error_rate(self) -> float:
        """Per kept shot."""
        return self.kept_and_wrong / self.kept if self.kept else 0.0

    @property
    def relative_error(self) -> float:
        """Of ``logical_error_rate``; infinite if no kept shot, or no failing one, was found."""
        if not self.kept or not self.kept_and_wrong:
            return math.inf
        return math.hypot(self.kept_error / self.kept, self.kept_and_wrong_error / self.kept_and_wrong)

    @property
    def standard_error(self) -> float:
        """Of ``logical_error_rate``; infinite as ``relative_error`` is."""
        return self.logical_error_rate * self.relative_error if self.logical_error_rate else math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high): holds the logical error rate with the ``coverage`` of the estimate."""
        return interval_of(self.logical_error_rate, self.relative_error)

    @property
    def attempts_per_kept_shot(self) -> float:
        """1 / ``kept``; infinite if no kept shot was found."""
        return 1 / self.kept if self.kept else math.inf


@dataclass(frozen=True)
class DecodedErrorRate:
    """The logical error rate of a circuit with a decoder. Printed, it shows a table of the levels.

    Attributes:
        decoder: The name of the decoder.
        logical_error_rate: P(any observable predicted wrongly), per kept shot.
        standard_error: Its standard error.
        interval: (low, high): holds the logical error rate with probability ``coverage``.
        coverage: Of the interval.
        observable_rates: For each observable, P(it is predicted wrongly), per kept shot.
        observable_errors: Their standard errors.
        kept: P(no postselected detector fires); 1 if none is postselected.
        kept_error: Its standard error.
        kept_and_wrong: P(the same, and any observable predicted wrongly).
        gap_curve: With ``confidence=True``, rates over the gap; otherwise empty.
        levels: What was looked at, the strongest noise first. Circuits of a family share the levels.
        decodes: Number of calls of the decoders for single shots, for the whole family.
        seconds: What it took, for the whole family.
        columns: Number of ladders of chains; 0 if plain shots sufficed.
        sweeps: Number of sweeps of each ladder, and how many of them were left out as burn-in.
        column_chi_squared: The spread of the columns over what their own fluctuations explain, and the
            degrees of freedom; None without chains.
        halves: By how many standard errors the first half of the sweeps differs from the second one; None
            without chains. With ``strata``, the largest such difference, also of chains and plain shots.
        lightest: ln of the rate that plain shots anchor over the rate that the exact sum over the lightest
            failing sets anchors, and its standard error; None if these were not enumerated.
        error_factor: By how much the standard error was enlarged because of these comparisons.
        asked_relative_error: The ``relative_error`` at which it was to stop.
        strata: The kinds of kept shots that were looked at, if it was a sum over these; otherwise empty.
        sizes: The numbers of faults that were looked at, if it was a sum over these; otherwise empty.
        orphans_left: The number of direct samples among which there was no orphan, a failing fault set
            without a failing superset of one fault more, and their least and largest number of faults. The
            interval has room for one. None: all were looked at, or the decoder has none.
    """

    decoder: str
    logical_error_rate: float
    standard_error: float
    interval: tuple[float, float]
    coverage: float
    observable_rates: tuple[float, ...]
    observable_errors: tuple[float, ...]
    kept: float
    kept_error: float
    kept_and_wrong: float
    decodes: int
    seconds: float = field(compare=False)
    asked_relative_error: float
    sizes: tuple[DecodedSize, ...] = ()
    orphans_left: tuple[int, int, int] | None = None
    gap_curve: tuple[DecodedGapPoint, ...] = ()
    strata: tuple[DecodedStratum, ...] = ()
    levels: tuple[DecodedLevel, ...] = ()
    columns: int = 0
    sweeps: tuple[int, int] = (0, 0)
    column_chi_squared: tuple[float, int] | None = None
    halves: float | None = None
    lightest: tuple[float, float] | None = None
    error_factor: float = 1.0
    # The failing fault sets; None in a copy that was pickled. No field, so that all fields are plain numbers,
    # which dataclasses.asdict and json can write.
    _study: InitVar[FailureStudy | None] = None

    def __post_init__(self, _study: FailureStudy | None) -> None:
        object.__setattr__(self, "_study", _study)

    @property
    def relative_error(self) -> float:
        """Standard error over logical error rate; 0 if the rate is exact."""
        if not self.logical_error_rate:
            return math.inf if self.standard_error else 0.0
        return self.standard_error / self.logical_error_rate

    def error_budget(self, by: Grouping) -> ErrorBudget:
        r"""What part of the logical error rate comes from which noise, and what less noise would bring.

        Failing shots have more faults than others. Of these additional faults, ``share`` is the part that
        comes from a group of noise. ``sensitivity`` is the slope d ln(rate) / d ln(strength): by how many
        percent the rate falls if the group's noise is one percent weaker, and the decoder stays as it is. The
        sensitivity of all noise together is the number of additional faults, nearly; for weak noise, that is
        the number of faults that make the decoder fail. Errors are those of independent columns of chains.

        Args:
            by: What to divide by: ``"instruction"``, ``"place"``, ``"qubit"``, ``"tick"``, ``"noise"``, or a
                function of a place of noise, as in ``LogicalErrorRate.error_budget``.

        Returns:
            The budget; printed, a table.

        Raises:
            ValueError: No fault set fails; this is a copy that was pickled; or errors exclude each other.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit.generated(
            ...     "repetition_code:memory",
            ...     distance=3,
            ...     rounds=1,
            ...     before_round_data_depolarization=1e-4,
            ...     before_measure_flip_probability=3e-4,
            ... )
            >>> rate = circuit.logical_error_rate(decoder="pymatching", seed=1)
            >>> budget = rate.error_budget("noise")
            >>> for group in budget.groups:
            ...     print(f"{group.group:12} {group.share:.1f}  {group.sensitivity:.1f}")
            DEPOLARIZE1  0.2  0.4
            X_ERROR      0.8  1.6
        """
        from .failing.budget import decoded_budget  # SciPy takes as long to import as this package

        return decoded_budget(
            self._known_sets(), by, self.logical_error_rate, self.standard_error, self.interval
        )

    def failures(self, count: int = 10) -> list[DecodedFailure]:
        r"""What the decoder gets wrong: failing fault sets without the faults that do not matter.

        From fault sets that fail, faults are left out one after the other, the least probable first, as long
        as the decoder still fails. What is left is counted.

        Args:
            count: How many to return at most.

        Returns:
            What most of the failing sets come down to, the most typical first. ``circuit.with_faults`` makes
            a circuit of the ``faults`` of each.

        Raises:
            ValueError: As in ``error_budget``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit.generated(
            ...     "repetition_code:memory", distance=3, rounds=1, before_round_data_depolarization=1e-3
            ... )
            >>> rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.1, seed=1)
            >>> for failure in sorted(rate.failures(), key=lambda failure: failure.detectors):
            ...     print(*(fault.pauli for fault in failure.faults), failure.detectors)
            X2 X4 (0,)
            X0 X4 (0, 1)
            X0 X2 (1,)
        """
        from .failing.failures import decoded_failures

        return decoded_failures(self._known_sets(), integer(count, "count", 1))

    def _known_sets(self) -> FailureStudy:
        study: FailureStudy | None = self.__dict__["_study"]
        if study is None:
            raise ValueError(
                "This estimate has no failing fault sets: the rate is 0, or is one of kept shots; or it was"
                " pickled: estimate it anew then."
            )
        return study

    def __getstate__(self) -> dict[str, object]:
        # Decoders cannot be pickled.
        return {**self.__dict__, "_study": None}

    def plot(self, ax: Any | None = None, **style: Any) -> Any:
        """Draws what each number of faults adds to the rate, with three standard errors.

        With masks or gaps: the rates of all levels against the strength of the noise.

        Args:
            ax: Matplotlib axes; None: new ones.
            **style: Arguments of Matplotlib's ``errorbar``.

        Returns:
            The axes.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        shown = [level for level in self.levels if level.rate > 0 and (level.is_given or self.kept == 1)]
        points = [
            (level.strength, level.rate, level.standard_error) for level in shown if level.least_gap is None
        ] or [(each.least, each.rate, each.standard_error) for each in self.sizes if each.rate > 0]
        options: dict[str, Any] = {
            "marker": "o",
            "markersize": 4,
            "capsize": 2,
            "label": self.decoder,
        } | style
        ax.errorbar(
            [place for place, *_ in points],
            [rate for _, rate, _ in points],
            yerr=[3 * error for *_, error in points],
            **options,
        )
        ax.set(
            xscale="log" if shown else "linear",
            yscale="log",
            xlabel="strength of the noise (1: this circuit)" if shown else "number of faults",
            ylabel="logical error rate",
        )
        ax.grid(which="both", alpha=0.3)
        ax.legend()
        return ax

    def _rate_text(self) -> str:
        rate, (low, high) = self.logical_error_rate, self.interval
        if max(self.standard_error, high - rate, rate - low) <= _ROUNDING * rate:
            return f"{rate:.6g} (exact)"
        return f"{self.logical_error_rate:.4g} ± {self.standard_error:.2g} ({self.relative_error:.1%})"

    def _remarks(self) -> list[str]:
        lines = []
        if self.relative_error > self.asked_relative_error:
            lines.append(
                f"relative error {self.relative_error:.2g}, not {self.asked_relative_error:g} as asked for:"
                " time ended the search, or the error was enlarged"
            )
        short = [point for point in self.gap_curve if point.relative_error > self.asked_relative_error]
        if short:
            worst = max(short, key=lambda point: point.relative_error)
            lines.append(
                f"at {len(short)} of {len(self.gap_curve)} gaps the relative error is more than"
                f" {self.asked_relative_error:g} as asked for, {worst.relative_error:.2g} at gap {worst.gap}:"
                " time or the number of shots ended the search, the error was enlarged, or kept fault sets"
                " were drawn"
            )
        if self.orphans_left is not None:
            samples, least, most = self.orphans_left
            lines.append(
                f"among {samples:,} random sets of {f'{least} to {most}' if least < most else least} faults,"
                " none failed without a failing set of one fault more, which backward deletion cannot see:"
                " the interval has room for one"
            )
        if self.column_chi_squared is not None and self.halves is not None:
            chi_squared, degrees = self.column_chi_squared
            lines.append(
                f"{self.columns} columns of chains, {self.sweeps[0]} sweeps, {self.sweeps[1]} of"
                f" them as burn-in; columns differ by chi-squared {chi_squared:.1f} for {degrees} degrees of"
                f" freedom, first and second half of the sweeps by {abs(self.halves):.1f} standard errors"
            )
        elif self.halves is not None:
            lines.append(
                f"{self.columns} independent columns of chains, {self.sweeps[0]} sweeps at most, half of"
                " them as burn-in; both halves of the others, and chains and plain shots, differ by"
                f" {self.halves:.1f} standard errors at most"
            )
        if self.lightest is not None:
            difference, error = self.lightest
            lines.append(
                "anchored by plain shots over anchored by the exact sum over the lightest failing sets:"
                f" {1 + difference:.3f} ± {error:.3f}"
            )
        if self.error_factor > 1:
            lines.append(
                f"chains or anchors disagree: the standard error was multiplied by {self.error_factor:.2f}"
            )
        return lines

    def _observable_lines(self) -> list[str]:
        if len(self.observable_rates) == 1:
            return []
        rates = zip(self.observable_rates, self.observable_errors, strict=True)
        shown = ", ".join(f"L{k} {rate:.3g} ± {error:.1g}" for k, (rate, error) in enumerate(rates))
        return [f"each observable: {shown}"]

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        is_kept, is_gap = self.kept < 1, any(level.least_gap is not None for level in self.levels)
        header: tuple[str, ...] = (
            *("strength", "faults", *["penalty"] * is_kept, *["gap"] * is_gap, "rate"),
            *("shots", "failures", "size", "accepted", "exchanged"),
        )
        rows: list[tuple[str, ...]] = []
        for level in self.levels:
            is_exact = level.standard_error <= _ROUNDING * level.rate
            rate = f"{level.rate:.4g}" + (" (exact)" if is_exact else f" ± {level.standard_error:.2g}")
            chains = [level.mean_size, level.accepted, level.exchanged]
            rows.append(
                (
                    f"{level.strength:.4g}{'' if level.is_given else '*'}",
                    f"{level.faults:.3g}",
                    *[f"{level.penalty:.3g}"] * is_kept,
                    *["" if level.least_gap is None else f"{level.least_gap}"] * is_gap,
                    rate,
                    f"{level.shots:,}" if level.shots else "",
                    f"{level.failures:,}" if level.shots else "",
                    *("" if value is None else f"{value:.2f}" for value in chains),
                )
            )
        return header, rows

    def _tables(self) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
        """The table of the numbers of faults, or that of levels if it has rows."""
        if self.sizes:
            return [table_of_sizes(self.sizes, self.logical_error_rate)]
        return [table for table in [self._table()] if table[1]]

    def __str__(self) -> str:
        low, high = self.interval
        lines = [
            f"logical error rate (any observable, {self.decoder}{self._per_kept}): {self._rate_text()}",
            f"{self.coverage:.0%} interval: {low:.4g} to {high:.4g}",
            f"{self.decodes:,} decodes, {self.seconds:.1f} s",
            *self._kept_lines(),
            *self._observable_lines(),
            *self._remarks(),
        ]
        for header, rows in self._tables():
            widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
            lines.append("")
            for row in (header, *rows):
                lines.append("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
        lines += self._strata_lines()
        if self.gap_curve:
            lines += ["", f"{'gap':>5}  {'attempts per kept shot':>22}  logical error rate per kept shot"]
            for point in self.gap_curve:
                rate = f"{point.logical_error_rate:.4g} ± {point.relative_error:.1%}"
                lines.append(f"{point.gap:5}  {point.attempts_per_kept_shot:22.4g}  {rate}")
        return "\n".join(lines)

    def _strata_lines(self) -> list[str]:
        if not self.strata:
            return []
        largest = f"gap >= {self.gap_curve[-1].gap}" if self.gap_curve else "all"
        counted = f"{'shots':>10} {'wrong':>8} {'on paths':>10} {'sweeps':>6}"
        lines = ["", f"{'P(kept)':>9} {counted} {'of errors':>9} {largest:>9}"]
        for each in self.strata:
            shares = f"{each.shares[0]:9.1%} {each.shares[1]:9.1%}"
            counts = f"{each.shots:10,} {each.wrong:8,} {each.path_shots:10,} {each.sweeps:6,}"
            lines.append(f"{each.probability:9.3g} {counts} {shares}  {each.name}")
        return lines

    @property
    def _per_kept(self) -> str:
        return "" if self.kept == 1 else ", per kept shot"

    def _kept_lines(self) -> list[str]:
        if self.kept == 1:
            return []
        return [
            f"P(kept) = {self.kept:.6g} ± {self.kept_error:.1g}; P(kept and wrong) ="
            f" {self.kept_and_wrong:.4g}"
        ]

    def _repr_html_(self) -> str:
        low, high = self.interval
        headline = [
            (f"logical error rate ({self.decoder})", self._rate_text()),
            (f"{self.coverage:.0%} interval", f"{low:.4g} to {high:.4g}"),
            ("decodes", f"{self.decodes:,}"),
            *(("note", line) for line in self._remarks()),
        ]
        shown = html_table([name for name, _ in headline], [[value for _, value in headline]])
        return shown + "".join(html_table(*table) for table in self._tables())
