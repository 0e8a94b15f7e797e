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
from ..decoded_rates.faults.mechanisms import FaultModel, Floats, Symptom, Words
from .undetected_sets import Part, UndetectedSets

__all__ = ["AcceptedSetSearch", "AcceptedSets", "distinct_rows"]

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class AcceptedSets:
    """Accepted sets of some size; sets that flip the same are merged.

    Attributes:
        rows: bool, shape (choices, outputs): what each flips, detectors, then observables, with the outcomes.
        masses: float64, shape (choices,): the sums of the odds of the sets, times the probabilities of the
            outcomes.
        variances: Shape (choices,): of the sums, where sets were drawn.
    """

    rows: Bools
    masses: Floats
    variances: Floats

    def times(self, factor: float) -> AcceptedSets:
        """These sets with masses that are larger by a factor."""
        return AcceptedSets(self.rows, factor * self.masses, factor**2 * self.variances)


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
        # Linear hash values of all that a mechanism flips.
        of_bit = rng.integers(1 << 64, size=64 * model.flips.shape[1], dtype=np.uint64)
        self._names: Words = np.array(
            [np.bitwise_xor.reduce(of_bit[_bits_of(model, name)]) for name in model.symptoms],
            dtype=np.uint64,
        )
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
        found, masses, drawn = [np.zeros((0, -(-self._num_outputs // 8)), dtype=np.uint8)], [], []
        for part in self._parts(size):
            examples, weights = _merged_sets(part, self._names)
            for rows, some in self._laws.accepted(examples, weights, self._check):
                found.append(np.packbits(rows, axis=1))
                masses.append(some)
                drawn.append(np.full(len(some), part.is_drawn))
        packed = np.concatenate(found)
        first, group = distinct_rows(packed)
        bits = np.unpackbits(packed[first], axis=1)[:, : self._num_outputs].astype(np.bool_)
        mass, is_drawn = (np.concatenate([np.zeros(0), *each]) for each in (masses, drawn))
        return AcceptedSets(
            bits,
            *(np.bincount(group, some, len(first)).astype(np.float64) for some in (mass, mass**2 * is_drawn)),
        )

    def _parts(self, size: int) -> Iterator[Part]:
        for part in self._kept.of_size(size):
            if part.is_drawn:
                yield from self._silent.of_size(size)
                is_detected = ~self._silent.are_silent(part.members)
                yield Part(part.members[is_detected], part.weights[is_detected], True)
            else:
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

    Examples:
        >>> first, group = distinct_rows(np.array([[1, 2], [0, 3], [1, 2]], dtype=np.uint8))
        >>> first.tolist(), group.tolist()
        ([1, 0], [1, 0, 1])
    """
    whole = np.ascontiguousarray(packed).view(np.dtype((np.void, max(1, packed.shape[1]))))
    if not packed.size:
        return np.arange(min(1, len(packed))), np.zeros(len(packed), dtype=np.intp)
    _, first, group = np.unique(whole.ravel(), return_index=True, return_inverse=True)
    return first, group.ravel()


def _merged_sets(part: Part, names: Words) -> tuple[Indices, Floats]:
    """Examples of sets that flip the same, and the sums of their weights; drawn ones are left as they are."""
    if part.is_drawn or not len(part.members):
        return part.members, part.weights
    name = np.bitwise_xor.reduce(names[part.members], axis=1)
    _, first, group = np.unique(name, return_index=True, return_inverse=True)
    sums: Floats = np.bincount(group.ravel(), weights=part.weights, minlength=len(first)).astype(np.float64)
    return part.members[first], sums


def _bits_of(model: FaultModel, name: Symptom) -> list[int]:
    """The places of the bits of a symptom in a row."""
    detectors, observables, *signature = name
    first = 64 * model.detector_words
    last = first + 64 * model.observable_words
    bits = [*detectors, *(first + k for k in observables)]
    return bits + [last + k for k in (signature[0] if signature else ())]


class _Laws:
    """Outcome distributions of sets: which outcomes are accepted, and with which outputs."""

    def __init__(self, model: FaultModel, certain: Bools, weight: float | None) -> None:
        self._model, self._weight = model, weight
        self._num_outputs = model.num_detectors + model.num_observables
        mask = np.unpackbits(model.postselected.view(np.uint8), bitorder="little")[: model.num_detectors]
        self._uncertain = np.flatnonzero(mask.astype(np.bool_) & ~certain)
        self._known: dict[bytes, dict[bytes, tuple[Bools, Floats]]] = {}

    def accepted(
        self, examples: Indices, weights: Floats, check: Callable[[], None]
    ) -> Iterator[tuple[Bools, Floats]]:
        """The outputs of accepted sets, and their masses; equal ones may occur again."""
        model = self._model
        for start in range(0, len(examples), (1 << 14)):
            check()
            rows = np.repeat(model.base[np.newaxis], len(examples[start : start + (1 << 14)]), axis=0)
            for column in examples[start : start + (1 << 14)].T:
                rows ^= model.flips[column]
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
            if len(self._known) >= 1 << 17:
                raise ResourceLimitError(f"Accepted sets have more than {1 << 17:,} outcome laws.")
            shares, flipped = np.ones(1), np.zeros((1, self._num_outputs), dtype=np.bool_)
            if self._model.outcomes is not None:
                shares, flipped = self._model.outcomes.law(signature)
                shares, flipped = shares[shares > 0], flipped[shares > 0]
            patterns = np.packbits(flipped[:, self._uncertain], axis=1)
            found = self._known[name] = {}
            first, group = distinct_rows(patterns)
            for k, kind in enumerate(patterns[first]):
                which = group == k
                found[kind.tobytes()] = self._read_out(*_merged(flipped[which], shares[which]))
        return found

    def _read_out(self, rows: Bools, shares: Floats) -> tuple[Bools, Floats]:
        """With a state: from how often its Pauli is -1 to how often the state is the wrong one."""
        if self._weight is None:
            return rows, shares
        first, group = distinct_rows(np.packbits(rows[:, :-1], axis=1))
        others = rows[first, :-1]
        total = np.bincount(group, weights=shares)
        signed = np.where(rows[:, -1], -shares, shares)
        values = self._weight * np.bincount(group, weights=signed) / total
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


def _merged(rows: Bools, shares: Floats) -> tuple[Bools, Floats]:
    """Distinct rows, with the sums of what equal ones have."""
    first, group = distinct_rows(np.packbits(rows, axis=1))
    return rows[first], np.bincount(group, weights=shares).astype(np.float64)
