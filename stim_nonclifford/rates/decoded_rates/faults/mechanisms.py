"""The error mechanisms of a detector error model, each symptom once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import stim

from ....base.arrays import Bools, Bytes, Floats, Indices, Integers, Words, bits_of_words, words_of_bits
from ....base.probabilities import exactly_one
from ....simulation.compiler.algebra.gf2 import ones
from ...decoding.matching.matching_graph import model_errors

Symptom = tuple[tuple[int, ...], ...]
"""Detectors, observables and, where outputs depend on quantum outcomes, signature bits that are flipped."""

MOST_ROWS = 1 << 14
"""Fault sets, or shots, that are decoded or decided at once at most. Doubled, they take twice the memory."""

_COST_OF_LAW = 128
"""About how many decodes take as long as the quantum outcomes of one signature. Doubled, circuits with T
gates are enumerated up to smaller numbers of faults."""

_HASH_SEED = 0x5EED
_HASH_WORDS = 2


class Outcomes:
    """What quantum outcomes flip, drawn from their distribution given the signature of a fault set."""

    num_signature_bits: int
    most_choices = 1  # the largest number of errors that exclude each other, of which one is an outcome
    cost_of_law = _COST_OF_LAW
    can_be_summed = False  # whether the outcomes are so few that all of them can be enumerated
    can_be_divided = True  # whether a fault that flips no postselected detector and no signature bit is free
    is_certain_without_faults = False  # whether all shots without faults end in the same way

    @property
    def dependent(self) -> Bools:
        """The outputs that an outcome may flip: shape (outputs,)."""
        raise NotImplementedError

    def flips(self, signatures: Words, numbers: Words) -> Words:
        """The outputs that outcomes flip, of rows with signatures and with the numbers that fix the outcomes.

        Arguments have the shapes (rows, words) and (rows,), the result (rows, words): bit k of a row is
        output k, detectors first.
        """
        raise NotImplementedError

    def law(self, signature: Words) -> tuple[Floats, Bools]:
        """The probabilities of all outcomes of a signature, and the outputs of each: (outcomes, outputs)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Symptoms:
    """The independent errors of one circuit.

    A mechanism that is likelier than 1/2 is expected to act: its absence is the error.
    """

    num_detectors: int
    num_observables: int
    expected: Symptom  # the detectors and observables that are flipped if no error happens
    # the probability of each error, by the detectors and the observables that it flips; above 0, at most 1/2
    probabilities: Mapping[Symptom, float]
    outcomes: Outcomes | None = None  # what quantum outcomes flip; None: outputs follow from the errors alone
    ignored: frozenset[int] = frozenset()  # detectors that are left out: no symptom has them


def symptoms_without(symptoms: Symptoms, detectors: Iterable[int]) -> Symptoms:
    r"""The errors without some detectors: errors that differ in these only are merged.

    Examples:
        >>> model = stim.DetectorErrorModel("error(0.1) D0 L0\nerror(0.2) D0 D1 L0\nerror(0.1) D1")
        >>> found = symptoms_without(symptoms_of(model), [1])
        >>> {symptom: round(p, 6) for symptom, p in found.probabilities.items()}
        {((0,), (0,)): 0.26}
    """
    ignored = symptoms.ignored | frozenset(detectors)
    probabilities: dict[Symptom, float] = {}
    for symptom, probability in symptoms.probabilities.items():
        seen = symptom_without(symptom, ignored)
        if any(seen):
            probabilities[seen] = exactly_one(probabilities.get(seen, 0.0), probability)
    expected = symptom_without(symptoms.expected, ignored)
    return replace(symptoms, expected=expected, probabilities=probabilities, ignored=ignored)


def symptom_without(symptom: Symptom, ignored: Container[int]) -> Symptom:
    """A symptom without some detectors."""
    detectors, *others = symptom
    return (tuple(k for k in detectors if k not in ignored), *others)


def symptoms_of(model: stim.DetectorErrorModel) -> Symptoms:
    """The errors of a model."""
    count = model.num_detectors  # Stim goes through the whole model to find it
    flips = (
        (error.detectors.union(count + k for k in ones(error.observables)), error.probability)
        for error in model_errors(model)
    )

    def symptom(bits: list[int]) -> Symptom:
        return tuple(k for k in bits if k < count), tuple(k - count for k in bits if k >= count)

    return symptoms_of_flips(flips, symptom, num_detectors=count, num_observables=model.num_observables)


def symptoms_of_flips(
    flips: Iterable[tuple[frozenset[int], float]],
    symptom: Callable[[list[int]], Symptom],
    expected: frozenset[int] = frozenset(),
    **facts: Any,
) -> Symptoms:
    """Errors by the bits that they flip. Those that flip the same are one: an odd number has to act."""
    found: dict[frozenset[int], float] = {}
    for bits, probability in flips:
        if probability > 0.5:  # its absence is the error
            expected ^= bits
        found[bits] = exactly_one(found.get(bits, 0.0), min(probability, 1 - probability))
    named = ((symptom(sorted(bits)), q) for bits, q in found.items())
    probabilities = {name: q for name, q in named if q > 0 and any(name)}
    return Symptoms(expected=symptom(sorted(expected)), probabilities=probabilities, **facts)


@dataclass(frozen=True, kw_only=True)
class FaultModel(Symptoms):
    """The errors of a circuit as mechanisms, each with what it flips as a row of words.

    A row has words for the detectors, for the observables, and two for a hash value of the detectors: all
    three of a fault set are the exclusive or of those of its members. Where outputs depend on quantum
    outcomes, words for the signature follow, and ``with_outcomes`` flips what the outcomes flip.
    """

    flips: Words  # shape (mechanisms, words): the row of each mechanism
    base: Words  # shape (words,): the row of the empty fault set
    log_odds: Floats  # shape (mechanisms,): ln(q / (1 - q))
    detector_words: int
    observable_words: int
    postselected: Words  # shape (detector_words,): the detectors that discard a shot
    output_rows: Words  # shape (outputs, words): the row of each detector and each observable

    @property
    def num_mechanisms(self) -> int:
        """Number of mechanisms."""
        return len(self.flips)

    def detectors(self, rows: Words) -> Bytes:
        """The detection events of rows, bit-packed as decoders get them."""
        packed = np.ascontiguousarray(rows[:, : self.detector_words]).view(np.uint8)
        return np.ascontiguousarray(packed[:, : -(-self.num_detectors // 8)])

    def observables(self, rows: Words) -> Words:
        """The words of the observables of rows."""
        return rows[:, self.detector_words : self.detector_words + self.observable_words]

    def outputs(self, rows: Words) -> Bools:
        """The detectors of rows, then the observables: shape (rows, num_detectors + num_observables)."""
        detectors = bits_of_words(rows[:, : self.detector_words], self.num_detectors)
        return np.hstack([detectors, bits_of_words(self.observables(rows), self.num_observables)])

    def fired(self, rows: Words) -> Integers:
        """How many of the detectors that discard a shot fire in rows."""
        if not self.postselected.any():
            return np.zeros(len(rows), dtype=np.int64)
        events = np.ascontiguousarray(rows[:, : self.detector_words] & self.postselected)
        return np.unpackbits(events.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)

    def with_outcomes(self, rows: Words, numbers: Words) -> Words:
        """Rows with what quantum outcomes flip, given the numbers that fix these."""
        if self.outcomes is None or not len(rows):
            return rows
        flipped = self.outcomes.flips(self.signatures(rows), numbers)
        return rows ^ self.rows_of_outputs(np.unpackbits(flipped.view(np.uint8), axis=1, bitorder="little"))

    def with_all_outcomes(self, rows: Words) -> tuple[Indices, Floats, Words]:
        """All rows that outcomes can make of others: for each, of which one, its probability, and the row."""
        if self.outcomes is None:
            return np.arange(len(rows)), np.ones(len(rows)), rows
        signatures, which = np.unique(self.signatures(rows), axis=0, return_inverse=True)
        owners, shares, found = [], [], []
        for k, signature in enumerate(signatures):
            probabilities, flipped = self.outcomes.law(signature)
            flips = self.rows_of_outputs(flipped[probabilities > 0].astype(np.uint8))
            probabilities = probabilities[probabilities > 0]
            mine = np.flatnonzero(which.ravel() == k)
            owners.append(np.repeat(mine, len(flips)))
            shares.append(np.tile(probabilities, len(mine)))
            found.append((rows[mine][:, np.newaxis] ^ flips).reshape(-1, rows.shape[1]))
        return np.concatenate(owners), np.concatenate(shares), np.concatenate(found)

    def signatures(self, rows: Words) -> Words:
        """The words of the signatures of rows."""
        return rows[:, self.detector_words + self.observable_words + _HASH_WORDS :]

    def rows_of_outputs(self, bits: Bytes) -> Words:
        """The rows of flipped outputs: uint8, shape (rows, detectors and observables at least)."""
        row, output = np.nonzero(bits)
        return flipped_together(self.output_rows[output], row, len(bits))


def fault_model(circuit: Symptoms, postselected: Sequence[int] = ()) -> FaultModel:
    """The mechanisms of a circuit."""
    symptoms = tuple(circuit.probabilities)
    detector_words, observable_words = (
        max(1, -(-number // 64)) for number in (circuit.num_detectors, circuit.num_observables)
    )
    hashes = np.random.default_rng(_HASH_SEED).integers(
        1 << 64, size=(circuit.num_detectors, _HASH_WORDS), dtype=np.uint64
    )
    signature_words = 0 if circuit.outcomes is None else -(-circuit.outcomes.num_signature_bits // 64)
    first_signature = detector_words + observable_words + _HASH_WORDS
    outputs: list[Symptom] = [((k,), ()) for k in range(circuit.num_detectors)]
    outputs += [((), (k,)) for k in range(circuit.num_observables)]
    listed = [*symptoms, circuit.expected, *outputs]
    flips = np.zeros((len(listed), first_signature + signature_words), dtype=np.uint64)
    for row, (detectors, observables, *signature) in zip(flips, listed, strict=True):
        for detector in detectors:
            row[detector >> 6] ^= np.uint64(1 << (detector & 63))
            row[first_signature - _HASH_WORDS : first_signature] ^= hashes[detector]
        for observable in observables:
            row[detector_words + (observable >> 6)] ^= np.uint64(1 << (observable & 63))
        for bit in signature[0] if signature else ():
            row[first_signature + (bit >> 6)] ^= np.uint64(1 << (bit & 63))
    probabilities = np.array(list(circuit.probabilities.values()))
    return FaultModel(
        **vars(circuit),
        flips=flips[: len(symptoms)],
        base=flips[len(symptoms)],
        log_odds=np.log(probabilities) - np.log1p(-probabilities),
        detector_words=detector_words,
        observable_words=observable_words,
        postselected=words_of_bits(np.isin(np.arange(64 * detector_words), postselected)),
        output_rows=flips[len(symptoms) + 1 :],
    )


def flipped_together(flips: Words, owners: Indices, count: int) -> Words:
    """What each of so many owners flips: the exclusive or of its rows of flips. Owners ascend."""
    found = np.zeros((count, flips.shape[1]), dtype=np.uint64)
    some, starts = np.unique(owners, return_index=True)
    if len(some):
        found[some] = np.bitwise_xor.reduceat(flips, starts, axis=0)
    return found


def log_probability_of_none(log_odds: Floats) -> float:
    """The logarithm of the probability that no mechanism acts."""
    return -float(np.logaddexp(0, log_odds).sum())


def seed_words(model: FaultModel, seed: int) -> list[int]:
    """Seeds that depend on the seed and on the circuit, so that circuits have independent errors."""
    found = hashlib.sha256(np.ascontiguousarray(model.flips).tobytes())
    found.update(np.rint(1e6 * model.log_odds).astype(np.int64).tobytes())
    return [seed, *np.frombuffer(found.digest(), dtype=np.uint32).tolist()]
