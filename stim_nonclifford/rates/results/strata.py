"""What results consist of: strata and their table, points of a curve over the gap, failures of a decoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...simulation.faults import CircuitFault

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


@dataclass(frozen=True)
class RateStratum:
    """Shots that are alike: with so many faults, or with some accepted set of faults.

    Where records switch blocks, a stratum is of the circuit with one choice of them, such as ``"branch 2, 3
    faults"``. Its ``probability`` is that of the faults in this circuit, and so is ``kept`` if no detector is
    postselected: shots that make another choice are among these.

    Attributes:
        name: What they have in common: ``"3 faults"``, ``"5 or more faults"``, ``"all shots"``, or a kind of
            accepted fault set.
        method: How the stratum is known: ``"enumerated"`` (all its fault sets), ``"join"`` (sets that a join
            of random halves finds), ``"backward deletion"``, ``"direct samples"``, ``"splitting"``, several
            of these (``"enumerated, direct samples"``: small fault sets are enumerated, larger ones are
            drawn), or ``"bound"`` (no set was evaluated; ``standard_error`` is a proven upper bound).
        probability: P(a shot belongs to the stratum).
        sets: Number of fault sets, or shots, that were evaluated; without a decoder, only those that no
            noise-only check detects.
        wrong: Number of those that make an accepted shot wrong; None: they were summed without being counted.
        kept: P(a shot belongs to the stratum, and is accepted).
        kept_and_wrong: P(a shot belongs to the stratum, is accepted, and an observable is wrong).
        standard_error: The standard error of ``kept_and_wrong``; 0 if all sets were enumerated.
        least_faults: The least number of faults in the stratum.
        most_faults: The largest one; None: any number.
        draws: Number of random draws behind the stratum: of fault sets, shots, or halves of sets that are
            joined; 0: there was none.
        share_at_largest_gap: The part of the wrong shots with the largest gap of the curve that belongs to
            the stratum; None: there is no curve.
    """

    name: str
    method: str
    probability: float
    sets: int
    wrong: int | None
    kept: float
    kept_and_wrong: float
    standard_error: float
    least_faults: int = 0
    most_faults: int | None = None
    draws: int = 0
    share_at_largest_gap: float | None = None


def name_of_faults(least: int, most: int | None) -> str:
    """The name of a stratum of fault numbers.

    Examples:
        >>> name_of_faults(1, 1), name_of_faults(2, 4), name_of_faults(5, None), name_of_faults(0, None)
        ('1 fault', '2 to 4 faults', '5 or more faults', 'all shots')
    """
    if most is None:
        return f"{least} or more faults" if least else "all shots"
    if least == most:
        return f"{least} fault{'' if least == 1 else 's'}"
    return f"{least} to {most} faults"


def table_of_strata(strata: Sequence[RateStratum], kept_and_wrong: float, largest_gap: int | None) -> Table:
    """The header and the rows of the table of strata; without a curve, there is no largest gap."""
    header = ("stratum", "method", "probability", "sets", "wrong", "P(kept and wrong)", "share")
    rows: list[tuple[str, ...]] = []
    for each in strata:
        value = f"{each.kept_and_wrong:.4g}"
        if each.method == "bound":
            value = f"< {each.standard_error:.2g}"
        elif each.standard_error:
            value += f" ± {each.standard_error:.2g}"
        row = (
            each.name,
            each.method,
            f"{each.probability:.3g}",
            f"{each.sets:,}" if each.sets else "",
            f"{each.wrong:,}" if each.sets and each.wrong is not None else "",
            value,
            f"{each.kept_and_wrong / kept_and_wrong:.1%}" if kept_and_wrong else "",
        )
        rows.append(row if largest_gap is None else (*row, f"{each.share_at_largest_gap or 0.0:.1%}"))
    return (header if largest_gap is None else (*header, f"gap >= {largest_gap}")), rows


@dataclass(frozen=True)
class GapPoint:
    """Accepted shots with at least some gap.

    Attributes:
        gap: The least gap, or confidence of the decoder: of PyMatching and Chromobius, in decibels.
        kept: P(no postselected detector fires, and the gap is at least so large).
        kept_error: The standard error of ``kept``.
        kept_and_wrong: P(no postselected detector fires, the gap is at least so large, and an observable is
            predicted wrongly).
        kept_and_wrong_error: The standard error of ``kept_and_wrong``.
        standard_error: The standard error of ``logical_error_rate``, with an allowance for a wrong shot that
            was not observed (zero-count bound). It includes that of ``kept``: wrong shots are accepted ones,
            so that both fluctuate together.
        interval: (low, high): holds the logical error rate with a probability of 95%.
    """

    gap: int
    kept: float
    kept_error: float
    kept_and_wrong: float
    kept_and_wrong_error: float
    standard_error: float
    interval: tuple[float, float]

    @property
    def logical_error_rate(self) -> float:
        """The logical error rate per accepted shot, at most 1."""
        return self.kept_and_wrong / self.kept if self.kept else 0.0

    @property
    def relative_error(self) -> float:
        """Standard error over logical error rate; infinite if no accepted shot was wrong."""
        rate = self.logical_error_rate
        return self.standard_error / rate if rate else math.inf if self.standard_error else 0.0

    @property
    def attempts_per_kept_shot(self) -> float:
        """1 / ``kept``; infinite if no accepted shot was found."""
        return 1 / self.kept if self.kept else math.inf


@dataclass(frozen=True)
class DecodedFailure:
    """A fault set on which the decoder fails, and on none of those with one mechanism less.

    Attributes:
        share: Part of the failing fault sets that come down to this one if mechanisms are left out one after
            the other, as long as the decoder fails.
        probability: That these mechanisms act, and no others that matter to the decoder, whatever the quantum
            outcomes are.
        detectors: The detectors that fire with ``faults``; with T gates, for an example of the outcomes.
        observables: The observables that are flipped, for the same outcomes.
        predicted: The observables that the decoder says are flipped.
        causes: One entry per mechanism: the faults that have its effect, any one of which may have been the
            cause.
        faults: The faults of a shot in which these mechanisms act, and no others, for
            ``circuit.with_faults``: usually the first cause of each mechanism.
    """

    share: float
    probability: float
    detectors: tuple[int, ...]
    observables: tuple[int, ...]
    predicted: tuple[int, ...]
    causes: tuple[tuple[CircuitFault, ...], ...]
    faults: tuple[CircuitFault, ...]

    @property
    def weight(self) -> int:
        """Number of mechanisms."""
        return len(self.causes)
