"""The small sets of mechanisms that flip postselected detectors, but leave them silent together.

The mechanisms of a circuit are those of A, which flip a postselected detector or a bit of the signature, and
the others. A shot is kept if the members that it has in A leave all postselected detectors silent, with the
quantum outcomes that there are. For each set of up to four mechanisms of A, that has a probability: the odds
of its members, times the probability of such outcomes. ``listed_sets`` finds those that leave the detectors
silent that no outcome flips.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....base.errors import ResourceLimitError
from ..mechanisms import FaultModel, Floats, Symptom, Words
from .listed_sets import MOST_MEMBERS, Part, SilentSets

__all__ = ["KeptSets", "kept_sets"]

Indices = npt.NDArray[np.intp]

_HASH_SEED = 0x51A7
_MOST_LAWS = 1 << 17
_BATCH = 1 << 14
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class KeptSets:
    """Kept sets, those put together that flip the same.

    Attributes:
        rows: bool, shape (choices, outputs): what each flips, detectors, then observables, with the outcomes.
        by_size: float64, shape (choices, members): for each number of members from 0, the sum of the odds
            of the sets, times the probabilities of the outcomes.
        variances: Shape (choices,): of the sums, where sets were drawn.
    """

    rows: npt.NDArray[np.bool_]
    by_size: Floats
    variances: Floats


def kept_sets(
    model: FaultModel,
    certain: npt.NDArray[np.bool_],
    weight: float | None,
    check: Callable[[], None],
) -> KeptSets:
    """Lists the kept sets of the mechanisms of a model.

    Args:
        model: The mechanisms of A, with the detectors that discard a shot.
        certain: bool, shape (num_detectors,): the postselected detectors that no outcome flips.
        weight: If the observable is a logical Pauli of a state, the number by which its expectation value is
            multiplied, so that it is 1 without errors; None: it is an observable as others.
        check: Is called now and then; may raise to end the work.

    Raises:
        ResourceLimitError: There are too many sets, or outcome laws.
    """
    rng = np.random.default_rng(_HASH_SEED)
    # Linear hash values: of the certain detectors, and of all that is flipped.
    of_detector = rng.integers(1, 1 << 64, size=model.num_detectors, dtype=np.uint64)
    of_detector[~certain] = 0
    of_bit = rng.integers(1 << 64, size=64 * model.flips.shape[1], dtype=np.uint64)
    keys = np.array([_xor(of_detector[list(name[0])]) for name in model.symptoms], dtype=np.uint64)
    names = np.array([_xor(of_bit[_bits_of(model, name)]) for name in model.symptoms], dtype=np.uint64)
    without = np.unpackbits(model.detectors(model.base[np.newaxis])[0], bitorder="little")
    target = _xor(of_detector[np.flatnonzero(without[: model.num_detectors])])
    silent = SilentSets(keys, target, np.exp(model.log_odds[0]), rng, check)
    laws = _Laws(model, certain, weight)
    found: dict[bytes, npt.NDArray[np.float64]] = {}
    for size in range(MOST_MEMBERS + 1):
        for part in silent.of_size(size):
            examples, weights = _merged_sets(part, names)
            for rows, masses in laws.kept(examples, weights, check):
                for row, mass in zip(np.packbits(rows, axis=1), masses.tolist(), strict=True):
                    known = found.setdefault(row.tobytes(), np.zeros(MOST_MEMBERS + 2))
                    known[size] += mass
                    known[-1] += mass**2 if part.is_drawn else 0.0
    num_outputs = model.num_detectors + model.num_observables
    packed = np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), -1)
    masses = np.array([*found.values()]).reshape(-1, MOST_MEMBERS + 2)
    order = np.argsort(-masses[:, :-1].sum(axis=1), kind="stable")
    bits = np.unpackbits(packed, axis=1)[order, :num_outputs].astype(np.bool_)
    return KeptSets(bits, masses[order, :-1], masses[order, -1])


def _merged_sets(part: Part, names: Words) -> tuple[Indices, Floats]:
    """Examples of sets that flip the same, and the sums of their weights; drawn ones are left as they are."""
    if part.is_drawn or not len(part.members):
        return part.members, part.weights
    name = np.bitwise_xor.reduce(names[part.members], axis=1)
    _, first, group = np.unique(name, return_index=True, return_inverse=True)
    sums: Floats = np.bincount(group.ravel(), weights=part.weights, minlength=len(first)).astype(np.float64)
    return part.members[first], sums


def _xor(values: Words) -> np.uint64:
    return np.uint64(np.bitwise_xor.reduce(values, initial=np.uint64(0)))


def _bits_of(model: FaultModel, name: Symptom) -> list[int]:
    """The places of the bits of a symptom in a row."""
    detectors, observables, *signature = name
    first = 64 * model.detector_words
    last = first + 64 * model.observable_words
    bits = [*detectors, *(first + k for k in observables)]
    return bits + [last + k for k in (signature[0] if signature else ())]


class _Laws:
    """What outcomes make of sets: which of them are kept, and with which outputs."""

    def __init__(self, model: FaultModel, certain: npt.NDArray[np.bool_], weight: float | None) -> None:
        self._model, self._weight = model, weight
        self._num_outputs = model.num_detectors + model.num_observables
        mask = np.unpackbits(model.postselected.view(np.uint8), bitorder="little")[: model.num_detectors]
        self._uncertain = np.flatnonzero(mask.astype(np.bool_) & ~certain)
        self._known: dict[bytes, dict[bytes, tuple[npt.NDArray[np.bool_], Floats]]] = {}

    def kept(
        self, examples: Indices, weights: Floats, check: Callable[[], None]
    ) -> Iterator[tuple[npt.NDArray[np.bool_], Floats]]:
        """The outputs of kept sets, and their masses; equal ones may occur again."""
        model = self._model
        for start in range(0, len(examples), _BATCH):
            check()
            rows = np.repeat(model.base[np.newaxis], len(examples[start : start + _BATCH]), axis=0)
            for column in examples[start : start + _BATCH].T:
                rows ^= model.flips[column]
            bits = self._bits(rows)
            # What fires of the detectors that outcomes flip, and the signature: sets alike in both.
            fired = np.packbits(bits[:, self._uncertain], axis=1)
            alike = np.hstack([fired, np.ascontiguousarray(model.signatures(rows)).view(np.uint8)])
            kinds, group = np.unique(alike, axis=0, return_inverse=True)
            order = np.argsort(group.ravel(), kind="stable")
            ends = np.cumsum(np.bincount(group.ravel(), minlength=len(kinds)))
            for kind, which in zip(kinds, np.split(order, ends[:-1]), strict=True):
                pattern, signature = kind[: fired.shape[1]], kind[fired.shape[1] :]
                law = self._law(signature.view(np.uint64)).get(pattern.tobytes())
                if law is not None:
                    for each, share in zip(law[0], law[1].tolist(), strict=True):
                        yield bits[which] ^ each, weights[start + which] * share

    def _bits(self, rows: Words) -> npt.NDArray[np.bool_]:
        detectors = np.unpackbits(self._model.detectors(rows), axis=1, bitorder="little")
        observables = np.ascontiguousarray(self._model.observables(rows)).view(np.uint8)
        return np.hstack(
            [
                detectors[:, : self._model.num_detectors],
                np.unpackbits(observables, axis=1, bitorder="little")[:, : self._model.num_observables],
            ]
        ).astype(np.bool_)

    def _law(self, signature: Words) -> dict[bytes, tuple[npt.NDArray[np.bool_], Floats]]:
        """The outcomes of a signature, by the uncertain postselected detectors that they flip."""
        name = signature.tobytes()
        found = self._known.get(name)
        if found is None:
            if len(self._known) >= _MOST_LAWS:
                raise ResourceLimitError(f"Kept sets have more than {_MOST_LAWS:,} outcome laws.")
            shares, flipped = np.ones(1), np.zeros((1, self._num_outputs), dtype=np.bool_)
            if self._model.outcomes is not None:
                shares, flipped = self._model.outcomes.law(signature)
                shares, flipped = shares[shares > 0], flipped[shares > 0]
            patterns = np.packbits(flipped[:, self._uncertain], axis=1)
            found = self._known[name] = {}
            kinds, group = np.unique(patterns, axis=0, return_inverse=True)
            for k, kind in enumerate(kinds):
                which = group.ravel() == k
                found[kind.tobytes()] = self._read_out(*_merged(flipped[which], shares[which]))
        return found

    def _read_out(self, rows: npt.NDArray[np.bool_], shares: Floats) -> tuple[npt.NDArray[np.bool_], Floats]:
        """With a state: from how often its Pauli is -1 to how often the state is the wrong one."""
        if self._weight is None:
            return rows, shares
        kinds, group = np.unique(np.packbits(rows[:, :-1], axis=1), axis=0, return_inverse=True)
        others = np.unpackbits(kinds, axis=1)[:, : rows.shape[1] - 1].astype(np.bool_)
        total = np.bincount(group.ravel(), weights=shares, minlength=len(kinds))
        signed = np.where(rows[:, -1], -shares, shares)
        values = self._weight * np.bincount(group.ravel(), weights=signed, minlength=len(kinds)) / total
        if (np.abs(values) > 1 + _TOLERANCE).any():
            raise ValueError(
                f"The check by one Pauli takes for granted that its expectation value is at most"
                f" {1 / self._weight:.6g}, but with some faults it is"
                f" {np.abs(values).max() / self._weight:.6g}. Check a state with a noiseless readout."
            )
        parts = []
        for bit, shown in ((False, (1 + values) / 2), (True, (1 - values) / 2)):
            some = shown > _TOLERANCE
            flags = np.full((int(some.sum()), 1), bit)
            parts.append((np.hstack([others[some], flags]), total[some] * np.minimum(shown[some], 1.0)))
        return np.concatenate([row for row, _ in parts]), np.concatenate([share for _, share in parts])


def _merged(rows: npt.NDArray[np.bool_], shares: Floats) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Distinct rows, with the sums of what equal ones have."""
    kinds, group = np.unique(np.packbits(rows, axis=1), axis=0, return_inverse=True)
    bits = np.unpackbits(kinds, axis=1)[:, : rows.shape[1]].astype(np.bool_)
    sums: Floats = np.bincount(group.ravel(), weights=shares, minlength=len(kinds)).astype(np.float64)
    return bits, sums
