"""Accepted sets: small sets of mechanisms that flip no postselected detector together.

The mechanisms of a circuit are those of A, which flip a postselected detector or a bit of the signature, and
the others. A shot is accepted if the members that it has in A leave all postselected detectors silent, with
the quantum outcomes that there are. That has a probability: the odds of the members, times the probability of
such outcomes. ``undetected_sets`` finds sets that flip none of the detectors that depend on no outcome. Those
that flip no detector at all decide about the largest gaps, and are few: they are drawn or listed apart.

Most sets are discarded, and most others flip what another one flips. What is discarded follows from few bits,
and what is flipped from a hash value. Rows are made for those alone that are accepted and differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...base.arrays import Bools, Floats, Indices, Words, bits_of_words, words_of_bits
from ...base.errors import ResourceLimitError
from ...base.random_bits import mixed
from ..decoded_rates.faults.mechanisms import MOST_ROWS, FaultModel, flipped_together
from .strata import flips_of_sets
from .undetected_sets import REPLICAS, Part, UndetectedSets

_MOST_LAWS = 1 << 17
"""Outcome distributions of accepted sets. Doubled, the list takes twice the memory."""


@dataclass(frozen=True)
class AcceptedSets:
    """Accepted sets of some size; sets that flip the same are merged."""

    # uint64, shape (choices, words): what each flips, with the outcomes, as a row of a ``FaultModel`` without
    # signatures
    rows: Words
    # float64, shape (choices, REPLICAS): independent estimates of the sums of the odds of the sets, times the
    # probabilities of the outcomes; equal ones where sets were listed
    replicas: Floats
    unseen: float  # what one more find would add to the mass of a choice at most; 0: these are all sets

    @property
    def masses(self) -> Floats:
        """The means of the replicas: float64, shape (choices,)."""
        return np.asarray(self.replicas.mean(axis=1))


class AcceptedSetSearch:
    """Lists the accepted sets of the mechanisms of A, those of a model that has the detectors to postselect.

    If the observable is a logical Pauli of a state, ``weight`` is the number by which its expectation value
    is multiplied, so that it is 1 without errors. Where they are too many, sets are drawn with ``rng``.
    ``check`` is called now and then, and may raise to end the work.
    """

    def __init__(
        self, model: FaultModel, weight: float | None, rng: np.random.Generator, check: Callable[[], None]
    ) -> None:
        self._check = check
        self._model = model
        dependent = np.zeros(model.num_detectors, dtype=np.bool_)
        if model.outcomes is not None:
            dependent = model.outcomes.dependent[: model.num_detectors]
        all_flips = np.vstack([model.flips, model.base])
        flips = model.outputs(all_flips)[:, : model.num_detectors]
        self._flips, self._without = flips[:-1], flips[-1]
        self._steady, self._steady_words = np.flatnonzero(~dependent), words_of_bits(~dependent)
        # A set is accepted or not because of its signature and of the detectors that outcomes may flip.
        postselected = bits_of_words(model.postselected, model.num_detectors)
        uncertain = np.flatnonzero(postselected & dependent)
        signatures = model.signatures(all_flips)
        self._deciding = np.hstack([signatures, words_of_bits(flips[:, uncertain])])
        self._outputs = all_flips[:, : all_flips.shape[1] - signatures.shape[1]]
        self._rng, self._odds = rng, np.exp(model.log_odds)
        self._kept = self._undetected_by(np.flatnonzero(postselected & ~dependent))
        self._laws = _Laws(model, uncertain, weight)

    def of_size(self, size: int) -> AcceptedSets:
        """The accepted sets with so many members, at most ``MOST_MEMBERS``; too many are refused."""
        part = self._kept.of_size(size)
        if part.replicas is None:
            return self._accepted(part)
        silent = self._accepted(self._silent.of_size(size))
        others = self._accepted(part)
        flips = (others.rows[:, : self._model.detector_words] & self._steady_words).any(axis=1)
        return AcceptedSets(
            np.concatenate([silent.rows, others.rows[flips]]),
            np.concatenate([silent.replicas, others.replicas[flips]]),
            max(silent.unseen, others.unseen),
        )

    def _accepted(self, part: Part) -> AcceptedSets:
        """The accepted ones of some sets, once with each of their accepted outcomes."""
        kinds = flips_of_sets(self._deciding, part.members)
        _, first, kind = np.unique(_names(kinds), return_index=True, return_inverse=True)
        flips, shares, numbers = self._laws.accepted(kinds[first], self._check)
        # Set k has the outcomes from ends[kind[k]] - numbers[kind[k]] on.
        ends, number = numbers.cumsum(), numbers[kind]
        sets = np.repeat(np.arange(len(kind)), number)
        outcomes = np.arange(len(sets)) + np.repeat(ends[kind] - number.cumsum(), number)
        weights = part.weights[sets] * shares[outcomes]
        # What is flipped is known by the observables and the hash value of the detectors.
        names = slice(self._model.detector_words, None)
        self._check()
        flipped = flips_of_sets(self._outputs[:, names], part.members[sets]) ^ flips[outcomes, names]
        _, first, choice = np.unique(_names(flipped), return_index=True, return_inverse=True)
        self._check()
        rows = flips_of_sets(self._outputs, part.members[sets[first]]) ^ flips[outcomes[first]]
        if part.replicas is None:
            sums: Floats = np.bincount(choice, weights, len(first)).astype(np.float64)
            return AcceptedSets(rows, np.repeat(sums[:, np.newaxis], REPLICAS, axis=1), part.unseen)
        places = choice * REPLICAS + part.replicas[sets]
        replicas: Floats = np.bincount(places, weights, len(first) * REPLICAS).astype(np.float64)
        return AcceptedSets(rows, replicas.reshape(-1, REPLICAS), part.unseen)

    @cached_property
    def _silent(self) -> UndetectedSets:
        """The sets that flip no detector, as far as that does not depend on outcomes."""
        return self._undetected_by(self._steady)

    def _undetected_by(self, detectors: Indices) -> UndetectedSets:
        return UndetectedSets(
            self._flips[:, detectors], self._without[detectors], self._odds, self._rng, self._check
        )


def merged(rows: Words, values: Floats) -> tuple[Indices, Floats]:
    """The first of equal rows for each distinct one, and the sums of the values of equal ones."""
    names = _names(rows)
    order = np.argsort(names, kind="stable")
    names = names[order]
    starts = np.flatnonzero(np.append(True, names[1:] != names[:-1])[: len(names)])
    return order[starts], np.add.reduceat(values[order], starts, axis=0) if len(names) else values


def _names(rows: Words) -> Words:
    """Hash values of rows, by which they are taken for equal: of 10^7 rows, two that are not, with 3e-6."""
    names = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        names = mixed(names ^ column)
    return names


_Outcomes = dict[bytes, tuple[Bools, Floats]]
"""What outcomes flip, and their probabilities, by the uncertain detectors that they flip."""


class _Laws:
    """Outcome distributions of sets: which outcomes are accepted, and with which outputs."""

    def __init__(self, model: FaultModel, uncertain: Indices, weight: float | None) -> None:
        self._model, self._uncertain, self._weight = model, uncertain, weight
        self._num_outputs = model.num_detectors + model.num_observables
        self._signature_words = model.signatures(model.flips).shape[1]
        changes = np.zeros(self._num_outputs, dtype=np.bool_)
        if model.outcomes is not None:
            changes |= model.outcomes.dependent
        if weight is not None:
            changes[-1] = True
        self._changing = np.flatnonzero(changes)
        # What these outputs flip.
        self._flips = model.output_rows[self._changing, : model.flips.shape[1] - self._signature_words]
        # Of each signature, all outcomes; and those of accepted sets, as far as they were asked for.
        self._known: dict[bytes, tuple[_Outcomes, _Outcomes]] = {}

    def accepted(self, kinds: Words, check: Callable[[], None]) -> tuple[Words, Floats, Indices]:
        """The accepted outcomes of sets of several kinds, by signature and the uncertain detectors that fire.

        They are what outcomes flip, shape (outcomes, words), and their probabilities: those of the first
        kind, of the second, and so on; and how many each kind has.
        """
        flipped = [np.zeros((0, len(self._changing)), dtype=np.bool_)]
        shares, numbers = [np.zeros(0)], np.zeros(len(kinds), dtype=np.intp)
        for k, kind in enumerate(kinds):
            if not k & 0xFFF:
                check()
            signature, pattern = kind[: self._signature_words], kind[self._signature_words :].tobytes()
            every, accepted = self._law(signature)
            if pattern in every:
                if pattern not in accepted:
                    accepted[pattern] = self._read_out(*every[pattern])
                flipped.append(accepted[pattern][0])
                shares.append(accepted[pattern][1])
                numbers[k] = len(shares[-1])
        bits = np.concatenate(flipped)
        flips = np.zeros((len(bits), self._flips.shape[1]), dtype=np.uint64)
        for start in range(0, len(bits), MOST_ROWS):
            some = bits[start : start + MOST_ROWS]
            row, place = np.nonzero(some)
            flips[start : start + MOST_ROWS] = flipped_together(self._flips[place], row, len(some))
        return flips, np.concatenate(shares), numbers

    def _law(self, signature: Words) -> tuple[_Outcomes, _Outcomes]:
        """The outcomes of a signature; see ``_known``."""
        name = signature.tobytes()
        if name not in self._known:
            if len(self._known) >= _MOST_LAWS:
                raise ResourceLimitError(f"Accepted sets have more than {_MOST_LAWS:,} outcome laws.")
            shares, flipped = np.ones(1), np.zeros((1, self._num_outputs), dtype=np.bool_)
            if self._model.outcomes is not None:
                shares, flipped = self._model.outcomes.law(signature)
                shares, flipped = shares[shares > 0], flipped[shares > 0]
            places: dict[bytes, list[int]] = {}
            for k, row in enumerate(words_of_bits(flipped[:, self._uncertain])):
                places.setdefault(row.tobytes(), []).append(k)
            flipped = flipped[:, self._changing]
            self._known[name] = {key: (flipped[some], shares[some]) for key, some in places.items()}, {}
        return self._known[name]

    def _read_out(self, rows: Bools, shares: Floats) -> tuple[Bools, Floats]:
        """Outcomes, merged. With a state, its Pauli is read out: how often the state is the wrong one."""
        if self._weight is None:
            first, sums = merged(words_of_bits(rows), shares)
            return rows[first], sums
        signed = np.where(rows[:, -1], -shares, shares)
        first, sums = merged(words_of_bits(rows[:, :-1]), np.stack([shares, signed], axis=1))
        others, total = rows[first, :-1], sums[:, 0]
        values = self._weight * sums[:, 1] / total
        if (np.abs(values) > 1 + 1e-6).any():
            raise ValueError(
                f"The check by one Pauli takes for granted that its expectation value is at most"
                f" {1 / self._weight:.6g}, but with some faults it is"
                f" {np.abs(values).max() / self._weight:.6g}. Check a state with a noiseless readout."
            )
        parts = []
        for bit, shown in ((False, (1 + values) / 2), (True, (1 - values) / 2)):
            some = shown > 1e-6
            flags = np.full((int(some.sum()), 1), bit)
            parts.append((np.hstack([others[some], flags]), total[some] * np.minimum(shown[some], 1.0)))
        return np.concatenate([row for row, _ in parts]), np.concatenate([share for _, share in parts])
