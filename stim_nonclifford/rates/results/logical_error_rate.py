"""The logical error rate of a circuit, as users get it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...base.arguments import integer
from ...base.notebook import axes_of, html_table, text_table
from ..estimation.interval import rate_text, uncertainty_of
from .error_budget import ErrorBudget, Grouping
from .strata import DecodedFailure, GapPoint, RateStratum, Table, table_of_strata
from .sums import sum_of


@dataclass(frozen=True)
class FaultSets:
    """What follows from the fault sets behind a rate."""

    budget: Callable[[Grouping], ErrorBudget]
    # the minimal fault sets on which the decoder fails, the most typical first, at most so many; None: there
    # is no decoder
    failures: Callable[[int], list[DecodedFailure]] | None = None


@dataclass(frozen=True)
class LogicalErrorRate:
    """The logical error rate of a circuit, with or without a decoder. Printed, it shows its strata.

    Rates of the same call with different seeds add up: ``rate + other``, or ``sum(rates)``.

    Attributes:
        decoder: The name of the decoder; None: all detectors are postselected, and there is none.
        logical_error_rate: P(any observable wrong | accepted): flipped, or predicted wrongly by the decoder.
        standard_error: The standard error of ``logical_error_rate``, with an allowance for the largest event
            that may have been missed and the most that sets which were not evaluated may add; 0: it is exact.
        interval: (low, high): holds the logical error rate with probability ``coverage``.
        coverage: The coverage of the interval.
        observable_rates: For each observable, P(it is wrong | accepted).
        observable_errors: The standard errors of ``observable_rates``. Without a decoder there are none.
        kept: P(accepted): that no postselected detector (or observable) fires; 1 if none is postselected.
        kept_error: The standard error of ``kept``, with the most that sets which were not evaluated may add;
            0: it is exact.
        kept_and_wrong: P(accepted and any observable wrong).
        strata: The strata that the rate is a sum over.
        gap_curve: With ``confidence=True``, rates over the decoder's gap; otherwise empty.
        error_patterns: Without a decoder, P(accepted and this combination) for each combination of flipped
            observables, as an int with bit k for observable k, without the combination of none.
        decodes: Number of calls of the decoder for single shots.
        seconds: The wall time of the estimate.
        asked_relative_error: The ``relative_error`` at which it was to stop.
        seeds: The seed of the estimate, or of each part of a sum.
        notes: Remarks, for example where the curve ends.
        question: A fingerprint of the circuit, the decoder (of a decoder object, its class) and the masks:
            only rates with the same one add up.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit.generated(
        ...     "surface_code:rotated_memory_z",
        ...     distance=3,
        ...     rounds=3,
        ...     after_clifford_depolarization=1e-3,
        ... )
        >>> rates = [circuit.logical_error_rate(decoder="pymatching", seed=seed) for seed in (1, 2)]
        >>> together = rates[0] + rates[1]
        >>> together.standard_error < rates[0].standard_error
        True
    """

    decoder: str | None
    logical_error_rate: float
    standard_error: float
    interval: tuple[float, float]
    coverage: float
    observable_rates: tuple[float, ...]
    observable_errors: tuple[float, ...]
    kept: float
    kept_error: float
    kept_and_wrong: float
    strata: tuple[RateStratum, ...]
    asked_relative_error: float
    seconds: float = field(compare=False)
    gap_curve: tuple[GapPoint, ...] = ()
    error_patterns: Mapping[int, float] = field(default_factory=dict)
    decodes: int = 0
    seeds: tuple[int, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = ()
    question: str = field(default="", compare=False, repr=False)

    # Decoders and native tables cannot be pickled, and dataclasses.asdict is to give plain numbers: the fault
    # sets are no field.
    _fault_sets = None

    def _with(self, **facts: object) -> LogicalErrorRate:
        """This result, completed once: the fault sets behind it, and the seed and the call that it is of."""
        for name, value in facts.items():
            object.__setattr__(self, name, value)
        return self

    @property
    def relative_error(self) -> float:
        """Standard error over logical error rate: 0: the rate is exact; infinite: no wrong shot was found.

        Without a decoder, it is at least a third of the distance to the farther end of the interval, over the
        rate. With a decoder, the room that the interval has for failing sets which samples cannot reach is
        said in ``notes``.
        """
        rate = self.logical_error_rate
        if not rate:
            return math.inf if self.interval[1] else 0.0
        if self.decoder is not None:
            return self.standard_error / rate
        return uncertainty_of(rate, self.standard_error, self.interval) / rate

    @property
    def without_faults(self) -> float:
        """The part of ``logical_error_rate`` that is there without any fault.

        It comes from rotations, as coherent noise, or from noise that is certain. If it is nearly everything,
        the observable or the checked state may not be what was meant.
        """
        if self.decoder is not None or not self.kept:
            return 0.0
        return sum(each.kept_and_wrong for each in self.strata if each.most_faults == 0) / self.kept

    @property
    def samples(self) -> int:
        """Number of random draws: of fault sets, shots, or halves of sets; 0 if all were enumerated."""
        return sum(each.draws for each in self.strata)

    @property
    def unsampled_bound(self) -> float:
        """A proven upper bound on what fault sets that were not evaluated add to ``logical_error_rate``."""
        bounds = sum(each.standard_error for each in self.strata if each.method == "bound")
        return bounds / self.kept if self.kept else 0.0

    def __add__(self, other: LogicalErrorRate) -> LogicalErrorRate:
        """The rate from two independent estimates of it.

        Args:
            other: A result of the same call with another seed.

        Returns:
            The mean, weighted by the numbers of samples, with the error of both together. It has no fault
            sets: ``error_budget`` is one of its parts.

        Raises:
            ValueError: The results are of different circuits or calls, or have a seed in common.
        """
        if not isinstance(other, LogicalErrorRate):
            return NotImplemented
        together: LogicalErrorRate = sum_of([self, other])
        return together

    def __radd__(self, other: object) -> LogicalErrorRate:
        """This result, where ``sum`` begins with 0."""
        return self if other == 0 else NotImplemented

    def error_budget(self, by: Grouping) -> ErrorBudget:
        r"""What part of the logical error rate comes from which noise, and what less noise would bring.

        Without a decoder, a set of k faults that makes an accepted shot wrong counts 1/k for each of its
        faults. With one, failing shots have more faults than others, and ``share`` is a group's part of these
        additional faults. ``sensitivity`` is the slope d ln(rate) / d ln(strength): by how many percent the
        rate falls if the group's noise is one percent weaker, and the decoder stays as it is. For weak noise,
        that of all noise together is the number of faults that make a shot wrong.

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
            ValueError: No fault set makes a shot wrong; this is a sum or a copy that was pickled, which have
                no fault sets; or errors exclude each other.

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
        return self._known_fault_sets().budget(by)

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
            ValueError: As in ``error_budget``; or there is no decoder (``circuit.malignant_sets`` lists the
                sets then).

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
        count = integer(count, "count", 1)
        failures = None if self.decoder is None else self._known_fault_sets().failures
        if failures is None:
            raise ValueError(
                "This estimate has no decoder that could fail. circuit.malignant_sets() lists the fault sets"
                " that make an accepted shot wrong."
            )
        return failures(count)

    def _known_fault_sets(self) -> FaultSets:
        fault_sets: FaultSets | None = self._fault_sets
        if fault_sets is None:
            raise ValueError(
                "This estimate has no failing fault sets: the rate is 0, or is one of kept shots with a"
                " decoder, or has a gap curve, or is a sum of several seeds, or was pickled: estimate it anew"
                " then, with one seed and, if there is a decoder, without postselection_mask and confidence."
            )
        return fault_sets

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_fault_sets"}

    def plot(self, ax: Any | None = None, **style: Any) -> Any:
        """A drawing of the curve over the gap, or of what each number of faults has in the rate.

        Args:
            ax: Matplotlib axes; None: new ones.
            **style: Arguments of Matplotlib's ``errorbar``.

        Returns:
            The axes. Bars are three standard errors.
        """
        ax = axes_of(ax)
        if self.gap_curve:
            axis, value = "attempts per kept shot", "logical error rate per kept shot"
            points = [
                (each.attempts_per_kept_shot, each.logical_error_rate, each.standard_error)
                for each in self.gap_curve
            ]
        else:
            axis, value = "faults", "P(kept and wrong)"
            points = [
                (float(each.least_faults), each.kept_and_wrong, each.standard_error) for each in self.strata
            ]
        shown = [point for point in points if point[1] > 0]
        places, rates, errors = zip(*shown, strict=True) if shown else ((), (), ())
        label = self.decoder or "postselected"
        options: dict[str, Any] = {"marker": "o", "markersize": 4, "capsize": 2, "label": label} | style
        ax.errorbar(places, rates, yerr=[3 * error for error in errors], **options)
        ax.set(xscale="log" if self.gap_curve else "linear", yscale="log", xlabel=axis, ylabel=value)
        ax.grid(which="both", alpha=0.3)
        ax.legend()
        return ax

    def _remarks(self) -> list[str]:
        """What a reader of the number should know, one line each."""
        lines = list(self.notes)
        asked, reached = self.asked_relative_error, self.relative_error
        if self.kept_and_wrong and reached > asked and len(self.seeds) < 2:
            shots = 1 / (self.kept_and_wrong * asked**2)
            lines.append(
                f"relative error {reached:.2g}, not {asked:g} as asked for: time, memory or the number of"
                f" shots ended the search, or larger sets are out of its reach (counts: about {shots:.1g}"
                " shots)"
            )
        short = [point for point in self.gap_curve if point.relative_error > asked]
        if short and len(self.seeds) < 2:
            worst = max(short, key=lambda point: point.relative_error)
            lines.append(
                f"at {len(short)} of {len(self.gap_curve)} gaps the relative error is more than"
                f" {asked:g} as asked for, {worst.relative_error:.2g} at gap {worst.gap}:"
                " time or the number of shots ended the search, or accepted fault sets were drawn"
            )
        if self.without_faults:
            share = f"{self.without_faults:.6g} of it"
            lines.append(f"{share} without any fault: by rotations, or by noise that is certain")
        return lines

    def _headline(self) -> list[tuple[str, str]]:
        low, high = self.interval
        accepted = f"{self.kept:.10g}"
        if self.kept_error > 1e-10 * self.kept:  # it has an effect on the digits that are shown
            accepted += f" ± {self.kept_error:.1g}"
        cost = f"{self.seconds:.1f} s"
        if self.decoder is not None:
            cost = f"{self.decodes:,} decodes, {cost}"
        by = f", {self.decoder}" if self.decoder is not None else ""
        per_kept, kept = "", []
        if self.kept < 1 or self.decoder is None:
            per_kept = ", per kept shot"
            kept = [("P(kept)", accepted), ("P(kept and wrong)", f"{self.kept_and_wrong:.6g}")]
        rate = rate_text(self.logical_error_rate, self.standard_error, self.interval, self.coverage)
        return [
            (f"logical error rate (any observable{by}{per_kept})", rate),
            (f"{self.coverage:.0%} interval", f"{low:.6g} to {high:.6g}"),
            *kept,
            ("cost", cost),
        ]

    def _tables(self) -> list[Table]:
        # A sum of several seeds has no shares at its largest gap.
        has_shares = any(each.share_at_largest_gap is not None for each in self.strata)
        largest = self.gap_curve[-1].gap if self.gap_curve and has_shares else None
        strata = table_of_strata(self.strata, self.kept_and_wrong, largest)
        curve: list[tuple[str, ...]] = [
            (
                f"{point.gap}",
                f"{point.attempts_per_kept_shot:.4g}",
                f"{point.logical_error_rate:.4g} ± {point.relative_error:.1%}",
            )
            for point in self.gap_curve
        ]
        header = ("gap", "attempts per kept shot", "logical error rate per kept shot")
        return [strata, (header, curve)] if curve else [strata]

    def __str__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self._headline()]
        if len(self.observable_rates) > 1:
            errors = self.observable_errors or (0.0,) * len(self.observable_rates)
            shown = ", ".join(
                f"L{k} {rate:.3g}" + (f" ± {error:.1g}" if error else "")
                for k, (rate, error) in enumerate(zip(self.observable_rates, errors, strict=True))
            )
            lines.append(f"each observable: {shown}")
        lines += self._remarks()
        for header, rows in self._tables():
            lines += ["", *text_table(header, rows, left=("stratum", "method"))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [*self._headline(), *(("note", line) for line in self._remarks())]
        shown = html_table([name for name, _ in rows], [[value for _, value in rows]])
        return shown + "".join(html_table(*table) for table in self._tables())
