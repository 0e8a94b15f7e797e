"""Logical error rates as users get them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...base.notebook import html_table
from .budget.table import ErrorBudget, Grouping
from .uncertainty import rate_text, uncertainty_of

__all__ = ["LogicalErrorRate", "WeightShare"]


@dataclass(frozen=True)
class WeightShare:
    """The fault sets of one weight, or of several that matter little.

    Of circuits without quantum outcomes and with one observable, wrong sets are searched for on their own.
    Then ``method``, ``draws``, ``sets``, ``signatures`` and ``malignant`` are those of this search, and so
    are ``passing`` and ``kept`` of weights that matter for it alone.

    Attributes:
        weight: Number of mechanisms that act; of several weights the smallest.
        last_weight: The largest of them.
        method: ``"exact"`` (all sets) or ``"joined"`` (those that a join of random halves finds).
        mass: Probability that so many mechanisms act.
        draws: Halves of sets that were drawn; 0 if exact.
        sets: Sets found that pass the noise-only checks.
        signatures: Distinct signatures, with the outputs that noise flips, with which a shot can be kept.
        malignant: How many of them can make a kept shot wrong.
        passing: Probability that so many mechanisms act and the noise-only checks pass.
        kept: The same, and the shot is kept.
        kept_and_wrong: The same, and an observable is flipped.
        standard_error: Of ``kept_and_wrong``, with what the largest event that may have been missed would
            add; 0 if exact.
    """

    weight: int
    last_weight: int
    method: str
    mass: float
    draws: int
    sets: int
    signatures: int
    malignant: int
    passing: float
    kept: float
    kept_and_wrong: float
    standard_error: float

    @property
    def weights_text(self) -> str:
        """The weight, or the first and the last one."""
        is_one = self.weight == self.last_weight
        return f"{self.weight}" if is_one else f"{self.weight}-{self.last_weight}"


@dataclass(frozen=True)
class LogicalErrorRate:
    """A logical error rate from malignant fault sets. Printed, it shows a table of the weights.

    The printed uncertainty is the standard error if the interval reaches at most three of them on either
    side, and the interval otherwise.

    Attributes:
        kept: P(kept): that no postselected detector (or observable) fires.
        kept_and_wrong: P(kept and any observable flipped).
        standard_error: Of ``logical_error_rate``: of what was sampled, plus the most that sets that were not
            looked at may add; 0 if all were enumerated.
        interval: (low, high): holds the logical error rate with probability ``coverage``. Weights in which
            nothing was found, and those that were not looked at, are part of its upper end.
        coverage: Of the interval.
        weights: What is known of each weight.
        unexplored: Probability of all sets that were not looked at.
        unexplored_passing: A proven upper bound on the probability that these pass the noise-only checks;
            part of the upper end.
        observable_flips: float64, shape (num_observables,): P(kept and observable k flipped).
        error_patterns: For each combination of flipped observables, as an int with bit k for observable k,
            P(kept and this combination); without the combination of none.
        seconds: What it took.
        asked_relative_error: The ``relative_error`` at which the search was to stop; None: not known.
    """

    kept: float
    kept_and_wrong: float
    standard_error: float
    interval: tuple[float, float]
    coverage: float
    weights: tuple[WeightShare, ...]
    unexplored: float
    unexplored_passing: float
    observable_flips: npt.NDArray[np.float64] = field(compare=False)
    error_patterns: Mapping[int, float]
    seconds: float = field(compare=False)
    asked_relative_error: float | None = None
    # Computes error budgets from the fault sets that were found; None in a copy that was pickled.
    _budget: Callable[[Grouping], ErrorBudget] | None = field(default=None, compare=False, repr=False)

    @property
    def without_faults(self) -> float:
        """The part of ``logical_error_rate`` that is there without any fault.

        It comes from rotations, as coherent noise, or from noise that is certain. If it is nearly everything,
        the observable or the checked state may not be what was meant.
        """
        if not self.kept or not self.weights or self.weights[0].weight:
            return 0.0
        return self.weights[0].kept_and_wrong / self.kept

    @property
    def logical_error_rate(self) -> float:
        """P(any observable flipped | kept)."""
        return self.kept_and_wrong / self.kept if self.kept else 0.0

    @property
    def relative_error(self) -> float:
        """Uncertainty over logical error rate; infinite if no malignant set was found.

        The uncertainty is the larger of the standard error and a third of the distance to the farther end of
        the interval.
        """
        rate = self.logical_error_rate
        return uncertainty_of(rate, self.standard_error, self.interval) / rate if rate else float("inf")

    def error_budget(self, by: Grouping) -> ErrorBudget:
        r"""What part of the logical error rate comes from which noise, and what less noise would bring.

        A set of k faults that makes a kept shot wrong counts 1/k for each of its faults. What each number
        means is said at ``BudgetShare``, where it comes from in ``stim_nonclifford.rates.fault_sets.budget``.

        Args:
            by: What to divide by: ``"instruction"`` (line of the printed circuit), ``"place"`` (a gate on its
                qubits in its tick: ``CX 3-7, tick 41``), ``"qubit"``, ``"tick"``
                (number of TICKs before the noise) or ``"noise"`` (name of the instruction). By qubit, each
                qubit has **half of its two-qubit gates**, so that shares add up to 1: what a better qubit 7
                would bring is said by ``by=lambda place: 7 in place.targets``. Noise that acts on no qubit,
                as that of MPAD, is a group of its own. Or such a function, which gives the group of a place
                of noise (``NoisePlace``: line, tick, instruction, arguments, targets, gate), for example the
                stage of a protocol.

        Returns:
            The budget; printed, a table.

        Raises:
            ValueError: No malignant set was found, or this copy of the estimate has no fault sets.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit(
            ...     '''
            ...     X_ERROR(0.01) 0 1
            ...     M(0.02) 0
            ...     M 1
            ...     DETECTOR rec[-1] rec[-2]
            ...     OBSERVABLE_INCLUDE(0) rec[-1]
            ...     '''
            ... )
            >>> estimate = circuit.logical_error_rate(postselection_mask="all")
            >>> print(estimate.error_budget("noise"))
            P(kept and wrong) = 0.000296 (exact); P(discarded) = 0.039008
            <BLANKLINE>
            noise    kept and wrong  sensitivity  discarded
            M                33.45%       0.6821     50.25%
            X_ERROR          66.55%       1.3439     49.75%
        """
        if self._budget is None:
            raise ValueError("This estimate has no fault sets any more, as it was pickled: estimate it anew.")
        return self._budget(by)

    def __getstate__(self) -> dict[str, object]:
        # The native study cannot be pickled, and would be large.
        return {**self.__dict__, "_budget": None}

    @property
    def _rate_text(self) -> str:
        return rate_text(self.logical_error_rate, self.standard_error, self.interval, self.coverage)

    def _remarks(self) -> list[str]:
        """What a reader of the number should know, one line each."""
        lines = []
        if self.asked_relative_error is not None and self.kept_and_wrong:
            asked, reached = self.asked_relative_error, self.relative_error
            if reached > asked:
                shots = 1 / (self.kept_and_wrong * asked**2)
                lines.append(
                    f"relative error {reached:.2g}, not {asked:g} as asked for: time or memory ended the"
                    f" search, or larger sets are out of its reach (counts: about {shots:.1g} shots)"
                )
        if self.without_faults:
            share = f"{self.without_faults:.6g} of it"
            lines.append(f"{share} without any fault: by rotations, or by noise that is certain")
        return lines

    def _repr_html_(self) -> str:
        low, high = self.interval
        headline = [
            ("logical error rate per kept shot", self._rate_text),
            (f"{self.coverage:.0%} interval", f"{low:.4g} to {high:.4g}"),
            ("kept", f"{self.kept:.6g}"),
        ]
        rows = [
            (
                share.weights_text,
                share.method,
                f"{share.mass:.3g}",
                f"{share.sets:,}",
                f"{share.malignant:,}",
                f"{share.kept_and_wrong:.3g}",
                f"{share.kept_and_wrong / self.kept_and_wrong:.1%}" if self.kept_and_wrong else "",
            )
            for share in self.weights
        ]
        headline += [("note", line) for line in self._remarks()]
        header = ("faults", "looked at", "probability", "sets", "malignant", "kept and wrong", "share")
        return html_table([name for name, _ in headline], [[value for _, value in headline]]) + html_table(
            header, rows
        )

    def __str__(self) -> str:
        low, high = self.interval
        text = self._rate_text
        lines = [
            f"logical error rate (any observable, per kept shot): {text}",
            *([] if "interval:" in text else [f"{self.coverage:.0%} interval: {low:.6g} to {high:.6g}"]),
            f"P(kept) = {self.kept:.10g}; P(kept and wrong) = {self.kept_and_wrong:.6g};"
            f" {self.seconds:.1f} s",
            *self._remarks(),
            "",
            f"{'weight':>6}  {'looked at':9} {'mass':>9} {'draws':>9} {'sets':>10} {'signatures':>10}"
            f" {'malignant':>9} {'P(pass)':>9} {'P(kept)':>9} {'P(kept and wrong)':>22}",
        ]
        for share in self.weights:
            wrong = f"{share.kept_and_wrong:.5g}"
            if share.method != "exact":
                wrong += f" ± {share.standard_error:.2g}"
            lines.append(
                f"{share.weights_text:>6}  {share.method:9} {share.mass:9.3g} {share.draws or '':>9}"
                f" {share.sets:10} {share.signatures:10} {share.malignant:9} {share.passing:9.3g}"
                f" {share.kept:9.3g} {wrong:>22}"
            )
        if self.unexplored:
            lines.append(
                f"  more  not at all {self.unexplored:9.3g} {'':41} <{self.unexplored_passing:8.2g}"
                "  (proven bound)"
            )
        return "\n".join(lines)
