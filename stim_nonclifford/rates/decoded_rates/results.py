"""Logical error rates of decoded circuits, as users get them."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field
from typing import Any

from ...base.arguments import integer
from ...base.notebook import html_table
from ..fault_sets.budget.table import ErrorBudget, Grouping
from ..fault_sets.interval import COVERAGE
from .failing.failures import DecodedFailure
from .failing.study import FailureStudy
from .gap_curve import DecodedGapPoint, DecodedSize, DecodedStratum, table_of_sizes

__all__ = [
    "COVERAGE",
    "DecodedErrorRate",
    "DecodedGapPoint",
    "DecodedStratum",
]

_ROUNDING = 5e-7
"""Errors below this part of a rate are below the six digits of an exact one: failing sets were summed."""


@dataclass(frozen=True)
class DecodedErrorRate:
    """The logical error rate of a circuit with a decoder. Printed, it shows what it is a sum of.

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
        decodes: Number of calls of the decoder for single shots.
        seconds: What it took.
        asked_relative_error: The ``relative_error`` at which it was to stop.
        strata: The kinds of accepted shots, with a mask or a curve; otherwise empty.
        sizes: The numbers of faults that were looked at, if it was a sum over these; otherwise empty.
        orphans_left: The number of direct samples among which there was no orphan, a failing fault set
            without a failing superset of one fault more, and their least and largest number of faults. The
            interval has room for one. None: all were looked at, or the decoder has none.
        notes: What else there is to say, for example where the curve ends.
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
    notes: tuple[str, ...] = ()
    # The failing fault sets; None in a copy that was pickled. No field, so that all fields are plain numbers,
    # which dataclasses.asdict and json can write.
    _study: InitVar[FailureStudy | None] = None

    def __post_init__(self, _study: FailureStudy | None) -> None:
        object.__setattr__(self, "_study", _study)

    @property
    def relative_error(self) -> float:
        """Standard error over logical error rate; 0 if the rate is exact, infinite if none was wrong."""
        if not self.logical_error_rate:
            return math.inf if self.standard_error else 0.0
        return self.standard_error / self.logical_error_rate

    def error_budget(self, by: Grouping) -> ErrorBudget:
        r"""What part of the logical error rate comes from which noise, and what less noise would bring.

        Failing shots have more faults than others. Of these additional faults, ``share`` is the part that
        comes from a group of noise. ``sensitivity`` is the slope d ln(rate) / d ln(strength): by how many
        percent the rate falls if the group's noise is one percent weaker, and the decoder stays as it is. The
        sensitivity of all noise together is the number of additional faults, nearly; for weak noise, that is
        the number of faults that make the decoder fail.

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
        """A drawing of the curve over the gap, or of what each number of faults has in the rate.

        Args:
            ax: Matplotlib axes; None: new ones.
            **style: Arguments of Matplotlib's ``errorbar``.

        Returns:
            The axes. Bars are three standard errors.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        if self.gap_curve:
            axis, value = "attempts per kept shot", "logical error rate per kept shot"
            points = [
                (each.attempts_per_kept_shot, each.logical_error_rate, each.standard_error)
                for each in self.gap_curve
            ]
        else:
            axis, value = "number of faults", "logical error rate"
            points = [(each.least, each.rate, each.standard_error) for each in self.sizes]
        shown = [point for point in points if point[1] > 0]
        options: dict[str, Any] = {
            "marker": "o",
            "markersize": 4,
            "capsize": 2,
            "label": self.decoder,
        } | style
        ax.errorbar(
            [place for place, *_ in shown],
            [rate for _, rate, _ in shown],
            yerr=[3 * error for *_, error in shown],
            **options,
        )
        ax.set(xscale="log" if self.gap_curve else "linear", yscale="log", xlabel=axis, ylabel=value)
        ax.grid(which="both", alpha=0.3)
        ax.legend()
        return ax

    def _rate_text(self) -> str:
        rate, (low, high) = self.logical_error_rate, self.interval
        if not rate and self.standard_error:
            return f"0 (no kept shot was wrong), at most {high:.2g}"
        if max(self.standard_error, high - rate, rate - low) <= _ROUNDING * rate:
            return f"{rate:.6g} (exact)"
        return f"{self.logical_error_rate:.4g} ± {self.standard_error:.2g} ({self.relative_error:.1%})"

    def _remarks(self) -> list[str]:
        lines = list(self.notes)
        if self.relative_error > self.asked_relative_error:
            lines.append(
                f"relative error {self.relative_error:.2g}, not {self.asked_relative_error:g} as asked for:"
                " time ended the search, or the largest number of shots was reached"
            )
        short = [point for point in self.gap_curve if point.relative_error > self.asked_relative_error]
        if short:
            worst = max(short, key=lambda point: point.relative_error)
            lines.append(
                f"at {len(short)} of {len(self.gap_curve)} gaps the relative error is more than"
                f" {self.asked_relative_error:g} as asked for, {worst.relative_error:.2g} at gap {worst.gap}:"
                " time or the number of shots ended the search, or accepted fault sets were drawn"
            )
        if self.orphans_left is not None:
            samples, least, most = self.orphans_left
            lines.append(
                f"among {samples:,} random sets of {f'{least} to {most}' if least < most else least} faults,"
                " none failed without a failing set of one fault more, which backward deletion cannot see:"
                " the interval has room for one"
            )
        return lines

    def _observable_lines(self) -> list[str]:
        if len(self.observable_rates) == 1:
            return []
        rates = zip(self.observable_rates, self.observable_errors, strict=True)
        shown = ", ".join(f"L{k} {rate:.3g} ± {error:.1g}" for k, (rate, error) in enumerate(rates))
        return [f"each observable: {shown}"]

    def _tables(self) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
        """The table of the numbers of faults, if there is one."""
        return [table_of_sizes(self.sizes, self.logical_error_rate)] if self.sizes else []

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
        counted = f"{'shots':>10} {'wrong':>8} {'listed':>6}"
        lines = ["", f"{'P':>9} {counted} {'of errors':>9} {largest:>9}"]
        for each in self.strata:
            shares = f"{each.shares[0]:9.1%} {each.shares[1]:9.1%}"
            listed = f"<= {each.numbers}" if each.numbers >= 0 else ""
            lines.append(
                f"{each.probability:9.3g} {each.shots:10,} {each.wrong:8,} {listed:>6} {shares}  {each.name}"
            )
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
