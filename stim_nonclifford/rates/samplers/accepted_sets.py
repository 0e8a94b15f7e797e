"""Accepted sets: small sets of mechanisms that flip no postselected detector together.

The mechanisms of a circuit are those of A, which flip a postselected detector or a bit of the signature, and
the others. A shot is accepted if the members that it has in A leave all postselected detectors silent, with
the quantum outcomes that there are. For each set of few mechanisms of A, that has a probability: the odds of
its members, times the probability of such outcomes. ``undetected_sets`` finds those that flip none of the
detectors that depend on no outcome. Sets that flip no detector at all decide about the largest gaps, and are
few among the others: where sets are drawn, they are drawn, or listed, by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from ..decoded_rates.faults.mechanisms import FaultModel, Floats, Words
from .strata import mixed
from .undetected_sets import REPLICAS, Part, UndetectedSets

__all__ = ["AcceptedSetSearch", "AcceptedSets", "merged"]

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

_MOST_LAWS = 1 << 17
"""Outcome distributions of accepted sets. Doubled, the list takes twice the memory."""


@dataclass(frozen=True)
class AcceptedSets:
    """Accepted sets of some size; sets that flip the same are merged.

    Attributes:
        rows: bool, shape (choices, outputs): what each flips, detectors, then observables, with the outcomes.
        replicas: float64, shape (choices, REPLICAS): independent estimates of the sums of the odds of the
            sets, times the probabilities of the outcomes; equal ones where sets were listed.
    """

    rows: Bools
    replicas: Floats

    @property
    def masses(self) -> Floats:
        """The means of the replicas: float64, shape (choices,)."""
        return np.asarray(self.replicas.mean(axis=1))


class AcceptedSetSearch:
    """Lists the accepted sets of the mechanisms of a model.

    Args:
        model: The mechanisms of A, with the detectors that discard a shot.
        certain: bool, shape (num_detectors,): the postselected detectors that no outcome flips.
        weight: If the observable is a logical Pauli of a state, the number by which its expectation value is
            multiplied, so that it is 1 without errors; None: it is an observable as others.
        rng: What sets are drawn with where they are too many, and hash values.
        check: Is called now and then; may raise to end the work.
    """

    def __init__(
        self,
        model: FaultModel,
        certain: Bools,
        weight: float | None,
        rng: np.random.Generator,
        check: Callable[[], None],
    ) -> None:
        self._check = check
        self._num_outputs = model.num_detectors + model.num_observables
        self._model = model
        self._flips, (self._without,) = (
            np.unpackbits(model.detectors(rows), axis=1, bitorder="little", count=model.num_detectors) != 0
            for rows in (model.flips, model.base[np.newaxis])
        )
        dependent = np.zeros(self._num_outputs, dtype=np.bool_)
        if model.outcomes is not None:
            dependent |= model.outcomes.dependent
        self._steady = np.flatnonzero(~dependent[: model.num_detectors])
        self._rng, self._odds = rng, np.exp(model.log_odds)
        self._kept = self._undetected_by(np.flatnonzero(certain))
        self._laws = _Laws(model, certain, weight)

    def of_size(self, size: int) -> AcceptedSets:
        """The accepted sets with so many members, at most ``MOST_MEMBERS``.

        Raises:
            ResourceLimitError: There are too many sets, or outcome laws.
        """
        found = [np.zeros((0, -(-self._num_outputs // 8)), dtype=np.uint8)]
        masses = [np.zeros((0, REPLICAS))]
        for part in self._parts(size):
            sets = np.repeat(self._model.base[np.newaxis], len(part.members), axis=0)
            for column in part.members.T:
                sets ^= self._model.flips[column]
            # Hash values of the detectors, observables and the signature say what a set flips.
            first, sums = _merged_part(part, np.ascontiguousarray(sets[:, self._model.detector_words :]))
            for rows, some in self._laws.accepted(sets[first], sums, self._check):
                found.append(np.packbits(rows, axis=1))
                masses.append(some)
        packed = np.concatenate(found)
        first, sums = merged(packed, np.concatenate(masses))
        bits = np.unpackbits(packed[first], axis=1)[:, : self._num_outputs].astype(np.bool_)
        return AcceptedSets(bits, sums)

    def _parts(self, size: int) -> Iterator[Part]:
        part = self._kept.of_size(size)
        if part.replicas is not None:
            yield self._silent.of_size(size)
            rest = ~self._silent.are_undetected(part.members)
            part = Part(part.members[rest], part.weights[rest], part.replicas[rest])
        yield part

    @cached_property
    def _silent(self) -> UndetectedSets:
        """The sets that flip no detector, as far as that does not depend on outcomes."""
        return self._undetected_by(self._steady)

    def _undetected_by(self, detectors: Indices) -> UndetectedSets:
        return UndetectedSets(
            self._flips[:, detectors], self._without[detectors], self._odds, self._rng, self._check
        )


def distinct_rows(packed: npt.NDArray[np.uint8]) -> tuple[Indices, Indices]:
    """The first of equal rows for each distinct one, and for each row which of these it is.

    Rows with equal hash values are taken for equal: of 10^7 rows, two that are not, with 3e-6.

    Examples:
        >>> first, group = distinct_rows(np.array([[1, 2], [0, 3], [1, 2]], dtype=np.uint8))
        >>> bool(group[0] == group[2] != group[1]), sorted(first.tolist())
        (True, [0, 1])
    """
    _, first, group = np.unique(_names(packed), return_index=True, return_inverse=True)
    return first, group.ravel()


def merged(packed: npt.NDArray[np.uint8], values: Floats) -> tuple[Indices, Floats]:
    """The first of equal rows for each distinct one, and the sums of the values of equal ones.

    Examples:
        >>> first, sums = merged(np.array([[1], [0], [1]], dtype=np.uint8), np.array([0.5, 1.0, 0.25]))
        >>> dict(zip(first.tolist(), sums.tolist()))
        {1: 1.0, 0: 0.75}
    """
    names = _names(packed)
    order = np.argsort(names, kind="stable")
    names = names[order]
    starts = np.flatnonzero(np.append(True, names[1:] != names[:-1])[: len(names)])
    return order[starts], np.add.reduceat(values[order], starts, axis=0) if len(names) else values


def _names(packed: npt.NDArray[np.uint8]) -> Words:
    """Hash values of rows: uint64, shape (rows,)."""
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    names = np.zeros(len(packed), dtype=np.uint64)
    for column in padded.view(np.uint64).T:
        names = mixed(names ^ column)
    return names


def _merged_part(part: Part, rows: Words) -> tuple[Indices, Floats]:
    """The first of the sets that flip the same, and the sums of their weights in each replica."""
    packed = rows.view(np.uint8)
    if part.replicas is None:
        first, sums = merged(packed, part.weights)
        return first, np.repeat(sums[:, np.newaxis], REPLICAS, axis=1)
    weights = np.zeros((len(rows), REPLICAS))
    weights[np.arange(len(rows)), part.replicas] = part.weights
    return merged(packed, weights)


class _Laws:
    """Outcome distributions of sets: which outcomes are accepted, and with which outputs."""

    def __init__(self, model: FaultModel, certain: Bools, weight: float | None) -> None:
        self._model, self._weight = model, weight
        self._num_outputs = model.num_detectors + model.num_observables
        mask = np.unpackbits(model.postselected.view(np.uint8), bitorder="little")[: model.num_detectors]
        self._uncertain = np.flatnonzero(mask.astype(np.bool_) & ~certain)
        self._known: dict[bytes, dict[bytes, tuple[Bools, Floats]]] = {}

    def accepted(
        self, sets: Words, weights: Floats, check: Callable[[], None]
    ) -> Iterator[tuple[Bools, Floats]]:
        """The outputs of accepted sets, and their weights in each replica; equal ones may occur again."""
        model = self._model
        for start in range(0, len(sets), 1 << 14):
            check()
            rows = sets[start : start + (1 << 14)]
            bits = self._bits(rows)
            # What fires of the detectors that outcomes flip, and the signature: sets alike in both.
            fired = np.packbits(bits[:, self._uncertain], axis=1)
            alike = np.hstack([fired, np.ascontiguousarray(model.signatures(rows)).view(np.uint8)])
            first, group = distinct_rows(alike)
            order = np.argsort(group, kind="stable")
            ends = np.cumsum(np.bincount(group, minlength=len(first)))
            for kind, which in zip(alike[first], np.split(order, ends[:-1]), strict=True):
                pattern, signature = kind[: fired.shape[1]], kind[fired.shape[1] :]
                law = self._law(signature.view(np.uint64)).get(pattern.tobytes())
                if law is not None:
                    for each, share in zip(law[0], law[1].tolist(), strict=True):
                        yield bits[which] ^ each, weights[start + which] * share

    def _bits(self, rows: Words) -> Bools:
        detectors = np.unpackbits(self._model.detectors(rows), axis=1, bitorder="little")
        observables = np.ascontiguousarray(self._model.observables(rows)).view(np.uint8)
        return np.hstack(
            [
                detectors[:, : self._model.num_detectors],
                np.unpackbits(observables, axis=1, bitorder="little")[:, : self._model.num_observables],
            ]
        ).astype(np.bool_)

    def _law(self, signature: Words) -> dict[bytes, tuple[Bools, Floats]]:
        """The outcomes of a signature, by the uncertain postselected detectors that they flip."""
        name = signature.tobytes()
        found = self._known.get(name)
        if found is None:
            if len(self._known) >= _MOST_LAWS:
                raise ResourceLimitError(f"Accepted sets have more than {_MOST_LAWS:,} outcome laws.")
            shares, flipped = np.ones(1), np.zeros((1, self._num_outputs), dtype=np.bool_)
            if self._model.outcomes is not None:
                shares, flipped = self._model.outcomes.law(signature)
                shares, flipped = shares[shares > 0], flipped[shares > 0]
            patterns = np.packbits(flipped[:, self._uncertain], axis=1)
            found = self._known[name] = {}
            first, group = distinct_rows(patterns)
            for k, kind in enumerate(patterns[first]):
                some, of_pattern = flipped[group == k], shares[group == k]
                alike, sums = merged(np.packbits(some, axis=1), of_pattern)
                found[kind.tobytes()] = self._read_out(some[alike], sums)
        return found

    def _read_out(self, rows: Bools, shares: Floats) -> tuple[Bools, Floats]:
        """With a state: from how often its Pauli is -1 to how often the state is the wrong one."""
        if self._weight is None:
            return rows, shares
        signed = np.where(rows[:, -1], -shares, shares)
        first, sums = merged(np.packbits(rows[:, :-1], axis=1), np.stack([shares, signed], axis=1))
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
