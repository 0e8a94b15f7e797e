"""The strata that a logical error rate is a sum over, and their table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["RateStratum", "table_of_strata"]

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


@dataclass(frozen=True)
class RateStratum:
    """Shots that are alike: with so many faults, or with some accepted set of faults.

    Attributes:
        name: What they have in common: ``"3 faults"``, ``"5 or more faults"``, ``"all shots"``, or a kind of
            accepted fault set.
        method: How the stratum is known: ``"enumerated"`` (all its fault sets), ``"join"`` (sets that a join
            of random halves finds), ``"backward deletion"``, ``"direct samples"``, ``"enumerated, direct"``
            (small fault sets are enumerated, larger ones are drawn), or ``"bound"`` (no set was evaluated;
            ``standard_error`` is a proven upper bound).
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
    header: tuple[str, ...] = (
        "stratum",
        "method",
        "probability",
        "sets",
        "wrong",
        "P(kept and wrong)",
        "share",
    )
    if largest_gap is not None:
        header += (f"gap >= {largest_gap}",)
    rows: list[tuple[str, ...]] = []
    for each in strata:
        value = f"{each.kept_and_wrong:.4g}"
        if each.method == "bound":
            value = f"< {each.standard_error:.2g}"
        elif each.standard_error:
            value += f" ± {each.standard_error:.2g}"
        row: tuple[str, ...] = (
            each.name,
            each.method,
            f"{each.probability:.3g}",
            f"{each.sets:,}" if each.sets else "",
            f"{each.wrong:,}" if each.sets and each.wrong is not None else "",
            value,
            f"{each.kept_and_wrong / kept_and_wrong:.1%}" if kept_and_wrong else "",
        )
        if largest_gap is not None:
            row += (f"{each.share_at_largest_gap or 0.0:.1%}",)
        rows.append(row)
    return header, rows
