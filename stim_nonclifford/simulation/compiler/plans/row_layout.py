"""Row layout: reduces the bits of a shot to noise-only checks, signature and outputs.

* *Noise-only checks* are the sums of postselected outputs on which no quantum outcome depends. (A sum of two
  outcome-dependent detectors may be such a check.) A shot that fails one is discarded before any quantum
  work.
* The *signature* is a basis of the signs and outcome checks modulo the noise-only checks. If a shot passes
  the checks, its outcome law depends on the signature alone.
* Mechanisms with equal effects on checks, signature and reported outputs are one mechanism.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._native import sums_by_row
from ...plan import SparseRows
from ..algebra.gf2 import mask_of, ones, relations
from ..algebra.sparse_rows import independent_rows, joined, numbers_of_rows, odd_sums, single_bits, transposed
from ..sweeps.effects import EffectTable

_MAX_BASIS_BITS = 1024
"""With more distinct bits than this, the elimination costs more time than the smaller basis saves."""


@dataclass(frozen=True)
class Checks:
    """Sums of postselected outputs that are 0 in a kept shot."""

    noise_only: list[list[int]]  # sums that no quantum outcome flips, as lists of outputs
    outcome_dependent: list[int]  # outputs that quantum outcomes flip; each of them is an outcome check


def split_checks(outcomes: SparseRows, postselected: Sequence[int]) -> Checks:
    """Splits postselection into noise-only checks and outcome checks."""
    of_output: dict[int, list[int]] = {output: [] for output in postselected}
    selected = np.isin(outcomes.bits, np.array(postselected, dtype=np.int64))
    numbers = numbers_of_rows(outcomes)[selected]
    for output, k in zip(outcomes.bits[selected].tolist(), numbers.tolist(), strict=True):
        of_output[output].append(k)
    kept, dependent = relations([mask_of(of_output[output]) for output in postselected])
    noise_only = [
        sorted([postselected[k], *(postselected[source] for source in ones(sources))])
        for k, sources in sorted(dependent.items())
    ]
    return Checks(noise_only, [postselected[k] for k in kept])


class RowLayout:
    """The layout of a row: the sums of effect bits that it contains, and the rows of all causes.

    Attributes:
        num_checks: Number of independent noise-only checks.
        num_signature_bits: Number of signature bits.
        never_kept: Whether the checks contradict each other, so that no shot is kept.
        row_sources: For each bit of a row, the bits of an effect whose parity it is.
        signature_images: For each signature bit, the bits of the branch row that it flips.
        implied_branch_bits: The bits of the branch row that are 1 if all checks pass and the signature is 0.
        num_row_bits: Number of bits of a row. In the rows that methods return, those of readouts come next.
        decays: The decays of records that change a row, or whether a later one of these happens.
        readout_predecessors: For each of these, the previous one of its chain, or -1.
    """

    def __init__(
        self,
        table: EffectTable,
        constant: int,
        signs: Sequence[int],
        checks: Checks,
        reported: Sequence[int],
    ) -> None:
        self.noise = table.noise
        causes = table.causes
        self.first_coin = len(table.noise.rates)
        self.first_leakage = self.first_coin + len(table.coins)
        self.first_decision = self.first_leakage + len(table.leakage.effects)
        self.first_decay = self.first_decision + len(table.decisions)
        self.constant_bits = set(ones(constant))
        kept, dependent = _basis(checks.noise_only, causes, table.num_bits)
        self.check_sources = [checks.noise_only[k] for k in kept]
        targets = [self._is_set(bits) for bits in checks.noise_only]
        self.never_kept = any(
            targets[k] != (sum(targets[source] for source in sources) % 2 == 1)
            for k, sources in dependent.items()
        )
        # If all checks pass, their values are known, so the signature is a basis modulo the checks.
        branch_sources = [[bit] for bit in (*signs, *checks.outcome_dependent)]
        num_checks = len(self.check_sources)
        kept, dependent = _basis([*self.check_sources, *branch_sources], causes, table.num_bits)
        images = {k: [k - num_checks] for k in kept if k >= num_checks}
        self.implied_branch_bits: list[int] = []
        for k, sources in dependent.items():
            for source in sources:
                if source >= num_checks:
                    images[source].append(k - num_checks)
            # A sum of checks and signature bits also depends on the required values of the checks.
            if sum(self._is_set(self.check_sources[c]) for c in sources if c < num_checks) % 2:
                self.implied_branch_bits.append(k - num_checks)
        self.signature_images = list(images.values())
        signature_sources = [branch_sources[k - num_checks] for k in images]
        self.reported = reported
        self.num_checks, self.num_signature_bits = num_checks, len(signature_sources)
        self.row_sources = joined(
            SparseRows.of([*self.check_sources, *signature_sources]), single_bits(reported)
        )
        self.num_row_bits = len(self.row_sources)
        self.decays = _needed_decays(
            table, odd_sums(table.readouts.effects, self.row_sources, table.num_bits)
        )
        self.decay_probabilities = [table.readouts.probabilities[k] for k in self.decays]
        numbers = {k: number for number, k in enumerate(self.decays)}
        self.readout_predecessors: list[int] = []
        self.readout_sources: list[list[int]] = []
        for k in self.decays:
            sources = [k]
            while (j := table.readouts.predecessors[sources[-1]]) >= 0 and j not in numbers:
                sources.append(j)
            self.readout_predecessors.append(numbers.get(j, -1))
            self.readout_sources.append(
                [table.num_outputs + table.num_signs + source for source in sources[::-1]]
            )
        self.rows = odd_sums(
            causes, joined(self.row_sources, SparseRows.of(self.readout_sources)), table.num_bits
        )

    def mechanisms(self) -> tuple[SparseRows, npt.NDArray[np.float64], npt.NDArray[np.int32]]:
        """The error mechanisms: independent ones, then those at sites, the last ones are readout decays."""
        rows, noise = self.rows, self.noise
        count = int(np.count_nonzero(noise.sites < 0))  # of independent causes
        choices: dict[int, dict[tuple[int, ...], float]] = {}  # by site
        for k in range(count, len(noise.rates)):
            row = tuple(rows.row(k).tolist())
            if row:
                at_site = choices.setdefault(int(noise.sites[k]), {})
                at_site[row] = at_site.get(row, 0.0) + float(noise.rates[k])
        exclusive = []
        alone_rows: list[tuple[int, ...]] = []
        alone_rates: list[float] = []
        for at_site in choices.values():
            if len(at_site) == 1 and next(iter(at_site.values())) < 0.5:
                ((row, probability),) = at_site.items()
                alone_rows.append(row)
                alone_rates.append(-0.5 * math.log1p(-2 * probability))
            else:
                exclusive.append(at_site)
        independent = joined(
            SparseRows(rows.starts[: count + 1], rows.bits[: rows.starts[count]]), SparseRows.of(alone_rows)
        )
        starts, bits, sums = sums_by_row(
            independent.starts, independent.bits, np.concatenate([noise.rates[:count], alone_rates])
        )
        site_rows, rates, sites = [], [], []
        for number, at_site in enumerate(exclusive):
            total = math.fsum(at_site.values())
            for row, probability in at_site.items():
                site_rows.append(row)
                rates.append(-math.log1p(-total) * probability / total)
                sites.append(number)
        for number, (k, probability) in enumerate(
            zip(self.decays, self.decay_probabilities, strict=True), start=len(exclusive)
        ):
            site_rows.append(tuple(rows.row(self.first_decay + k).tolist()))
            rates.append(-math.log1p(-probability))
            sites.append(number)
        return (
            joined(SparseRows(starts, bits), SparseRows.of(site_rows)),
            np.concatenate([sums, np.array(rates, dtype=np.float64)]),
            np.array([-1] * len(sums) + sites, dtype=np.int32),
        )

    def coins(self) -> tuple[SparseRows, SparseRows]:
        """A basis of the rows of the coins; and one of the coins that flip no bit but those of readouts."""
        starts = self.rows.starts[self.first_coin : self.first_leakage + 1]
        basis = independent_rows(SparseRows(starts, self.rows.bits[: starts[-1]]))
        if not self.decays:
            return basis, SparseRows.of([])
        masks = [mask_of(basis.row(k).tolist()) for k in range(len(basis))]
        in_row = (1 << self.num_row_bits) - 1
        kept, sums = relations([mask & in_row for mask in masks])
        hidden = (
            functools.reduce(operator.xor, (masks[j] for j in ones(sources)), masks[k])
            for k, sources in sums.items()
        )
        return SparseRows.of(ones(masks[k]) for k in kept), SparseRows.of(map(ones, hidden))

    def leakage_rows(self) -> SparseRows:
        """The rows of the inserted bits of leakage."""
        return self.rows.split(self.first_decision)[0].split(self.first_leakage)[1]

    def decision_rows(self) -> SparseRows:
        """The rows of the bits that a decoder decides."""
        return self.rows.split(self.first_decay)[0].split(self.first_decision)[1]

    def constant_row(self) -> list[int]:
        """The checks and outputs that are 1 without noise; the branch row accounts for signature bits."""
        first_output = self.num_checks + self.num_signature_bits
        checks = [k for k, bits in enumerate(self.check_sources) if self._is_set(bits)]
        outputs = [first_output + k for k, bit in enumerate(self.reported) if bit in self.constant_bits]
        return checks + outputs

    def readout_constant(self) -> list[int]:
        """The bits of readouts that are 1 without noise."""
        return [k for k, bits in enumerate(self.readout_sources) if self._is_set(bits)]

    def _is_set(self, bits: Sequence[int]) -> bool:
        """Whether the sum of some bits of an effect is 1 before noise."""
        return sum(bit in self.constant_bits for bit in bits) % 2 == 1


def _needed_decays(table: EffectTable, flips: SparseRows) -> list[int]:
    """The decays that flip a bit of a row, as ``flips`` says, or what a later one of these depends on."""
    first_readout, predecessors = table.num_outputs + table.num_signs, table.readouts.predecessors
    successors = {j: k for k, j in enumerate(predecessors) if j >= 0}
    looked_at: set[int] = set()  # all that decides whether a needed one differs
    needed = []
    for k in reversed(range(len(flips))):
        flipped = table.readouts.effects.row(k).tolist()
        bits = {bit - first_readout for bit in flipped if bit >= first_readout}
        others = bits ^ {k, successors.get(k, k)}  # without its own record, at which no later decay looks
        if len(flips.row(k)) or not others.isdisjoint(looked_at):
            needed.append(k)
            while k >= 0 and k not in looked_at:
                looked_at.add(k)
                k = predecessors[k]
    return needed[::-1]


def _basis(
    sums: Sequence[Sequence[int]], causes: SparseRows, num_bits: int
) -> tuple[list[int], dict[int, list[int]]]:
    """The indices of independent parities of effects, and for each other index those whose sum it is."""
    columns = transposed(odd_sums(causes, SparseRows.of(sums), num_bits), len(sums))
    # A parity that no cause flips is the empty sum. Parities that the same causes flip equal the first one.
    keys = [columns.row(k).tobytes() for k in range(len(sums))]
    first_with: dict[bytes, int] = {}
    for k, key in enumerate(keys):
        if key:
            first_with.setdefault(key, k)
    different = list(first_with.values())
    sources: dict[int, list[int]] = {}
    if len(different) <= _MAX_BASIS_BITS:
        _, found = relations([mask_of(columns.row(k).tolist()) for k in different])
        sources = {different[j]: [different[i] for i in ones(mask)] for j, mask in found.items()}
    kept = [k for k in different if k not in sources]
    is_kept = set(kept)
    dependent: dict[int, list[int]] = {}
    for k, key in enumerate(keys):
        if k not in is_kept:
            first = first_with.get(key, -1)
            dependent[k] = sources.get(first, [first]) if key else []
    return kept, dependent
