"""Row layout: reduces the bits of a shot to noise-only checks, signature and outputs.

* *Noise-only checks* are the sums of postselected outputs on which no quantum outcome depends. (A sum of two
  outcome-dependent detectors may be such a check.) A shot that fails one is discarded before any quantum
  work.
* The *signature* is a basis of the signs and outcome checks modulo the noise-only checks. If a shot passes
  the checks, its outcome law depends on the signature alone.
* Mechanisms with equal effects on checks, signature and reported outputs are one mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .effects import EffectTable
from .gf2 import columns_of, independent, ones, parities, relations

__all__ = ["Checks", "RowLayout", "split_checks"]

_MAX_BASIS_BITS = 1024
"""With more distinct bits than this, the elimination costs more time than the smaller basis saves."""


@dataclass(frozen=True)
class Checks:
    """Sums of postselected outputs, as masks over outputs. All of them are 0 in a kept shot.

    Attributes:
        noise_only: Sums that no quantum outcome flips.
        outcome_dependent: Sums that quantum outcomes flip.
    """

    noise_only: list[int]
    outcome_dependent: list[int]


def split_checks(outcomes: Sequence[int], postselected: Sequence[int]) -> Checks:
    """Splits postselection into noise-only checks and outcome checks.

    Args:
        outcomes: The effects of the outcomes.
        postselected: The outputs that must be 0 in a kept shot.

    Returns:
        The checks.

    Examples:
        >>> split_checks([0b011], [0, 1, 2])  # an outcome flips outputs 0 and 1
        Checks(noise_only=[3, 4], outcome_dependent=[1])
    """
    dependence = [
        sum((effect >> output & 1) << j for j, effect in enumerate(outcomes)) for output in postselected
    ]
    kept, dependent = relations(dependence)
    noise_only = []
    for k, sources in sorted(dependent.items()):
        mask = 1 << postselected[k]
        for source in ones(sources):
            mask ^= 1 << postselected[source]
        noise_only.append(mask)
    return Checks(noise_only, [1 << postselected[k] for k in kept])


class RowLayout:
    """The layout of a row: the sums of effect bits that it contains, and the rows of all causes.

    Args:
        table: The effects.
        constant: The effect that is present in every shot.
        signs: The bits of an effect that are signs of the plan's rotations, in their order.
        checks: The checks.
        reported: The outputs that the plan reports.

    Attributes:
        num_checks: Number of independent noise-only checks.
        num_signature_bits: Number of signature bits.
        never_kept: Whether the checks contradict each other, so that no shot is kept.
        row_masks: For each bit of a row, the bits of an effect whose parity it is.
        signature_images: For each signature bit, the bits of the branch row that it flips.
        implied_branch_bits: The bits of the branch row that are 1 if all checks pass and the signature is 0.
    """

    def __init__(
        self,
        table: EffectTable,
        constant: int,
        signs: Sequence[int],
        checks: Checks,
        reported: Sequence[int],
    ) -> None:
        self.table = table
        self.constant = constant
        causes = [*table.rates, *(effect for site in table.sites for effect in site), *table.coins]
        self.num_causes = len(causes)
        kept, dependent = _basis(checks.noise_only, causes)
        self.check_masks = [checks.noise_only[k] for k in kept]
        targets = [(constant & mask).bit_count() & 1 for mask in checks.noise_only]
        self.never_kept = any(
            targets[k] != sum(targets[source] for source in ones(sources)) % 2
            for k, sources in dependent.items()
        )
        # If all checks pass, their values are known, so the signature is a basis modulo the checks.
        branch_masks = [*(1 << bit for bit in signs), *checks.outcome_dependent]
        num_checks = len(self.check_masks)
        kept, dependent = _basis([*self.check_masks, *branch_masks], causes)
        kept = [k - num_checks for k in kept if k >= num_checks]
        dependent = {k - num_checks: sources for k, sources in dependent.items()}
        signature_masks = [branch_masks[k] for k in kept]
        self.signature_images = [
            [k, *(other for other, sources in dependent.items() if sources >> num_checks + k & 1)]
            for k in kept
        ]
        # A bit that is a sum of checks and signature bits also depends on the values that the checks must have.
        self.implied_branch_bits = [
            k
            for k, sources in dependent.items()
            if sum(
                (constant & self.check_masks[check]).bit_count()
                for check in ones(sources & (1 << num_checks) - 1)
            )
            % 2
        ]
        self.reported = reported
        self.num_checks, self.num_signature_bits = len(self.check_masks), len(signature_masks)
        self.row_masks = [*self.check_masks, *signature_masks, *(1 << bit for bit in reported)]
        self.rows = parities(causes, self.row_masks)

    def mechanisms(self) -> tuple[dict[int, float], list[tuple[int, float]], list[int]]:
        """The error mechanisms.

        Returns:
            Row -> rate of the independent mechanisms; (row, rate) of the mechanisms at sites; and for each of
            the latter the number of its site.
        """
        rates: dict[int, float] = {}
        rows = iter(self.rows)
        for rate in self.table.rates.values():
            _accumulate(rates, next(rows), rate)
        exclusive: list[dict[int, float]] = []
        for site in self.table.sites:
            choices: dict[int, float] = {}
            for probability in site.values():
                _accumulate(choices, next(rows), probability)
            if len(choices) == 1 and next(iter(choices.values())) < 0.5:
                ((row, probability),) = choices.items()
                _accumulate(rates, row, -0.5 * math.log1p(-2 * probability))
            elif choices:
                exclusive.append(choices)
        events, numbers = [], []
        for number, choices in enumerate(exclusive):
            total = math.fsum(choices.values())
            rate = -math.log1p(-total)
            for row, probability in choices.items():
                events.append((row, rate * probability / total))
                numbers.append(number)
        return rates, events, numbers

    def coins(self) -> list[int]:
        """A basis of the rows of the coins."""
        return independent(self.rows[self.num_causes - len(self.table.coins) :])

    def constant_row(self) -> list[int]:
        """The checks and outputs that are 1 without noise; the branch row accounts for signature bits."""
        first_output = self.num_checks + self.num_signature_bits
        checks = [k for k, mask in enumerate(self.check_masks) if (self.constant & mask).bit_count() & 1]
        outputs = [first_output + k for k, bit in enumerate(self.reported) if self.constant >> bit & 1]
        return checks + outputs


def _basis(masks: Sequence[int], causes: Sequence[int]) -> tuple[list[int], dict[int, int]]:
    """Finds independent masks, as in ``relations``: dependent masks have dependent parities for all causes."""
    columns = columns_of(parities(causes, masks), len(masks))
    # A mask that no cause flips is the empty sum. Masks that the same causes flip equal the first of them.
    first_with: dict[int, int] = {}
    for k, column in enumerate(columns):
        if column:
            first_with.setdefault(column, k)
    different = list(first_with.values())
    sums: dict[int, int] = {}
    if len(different) <= _MAX_BASIS_BITS:
        _, found = relations([columns[k] for k in different])
        sums = {different[j]: sum(1 << different[i] for i in ones(sources)) for j, sources in found.items()}
    kept = [k for k in different if k not in sums]
    sources_of = {0: 0} | {columns[k]: sums.get(k, 1 << k) for k in different}
    is_kept = set(kept)
    return kept, {k: sources_of[column] for k, column in enumerate(columns) if k not in is_kept}


def _accumulate(into: dict[int, float], row: int, amount: float) -> None:
    if row:
        into[row] = into.get(row, 0.0) + amount
