"""The error mechanisms of a detector error model, each symptom once, and families that share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import stim

__all__ = ["FaultModel", "Symptoms", "families_of", "fault_model", "log_probability_of_none", "symptoms_of"]

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Symptom = tuple[tuple[int, ...], tuple[int, ...]]

_KEY_SEED = 0x5EED
_KEY_WORDS = 2


@dataclass(frozen=True)
class Symptoms:
    """What a detector error model says of one circuit.

    A mechanism that is likelier than 1/2 is expected to act: its absence is the error.

    Attributes:
        num_detectors: Number of detectors.
        num_observables: Number of observables.
        expected: The detectors and observables that are flipped if no error happens.
        probabilities: The probability of each error, by the detectors and the observables that it flips;
            above 0, at most 1/2.
    """

    num_detectors: int
    num_observables: int
    expected: Symptom
    probabilities: Mapping[Symptom, float]


def symptoms_of(model: stim.DetectorErrorModel) -> Symptoms:
    r"""The errors of a model. Those with the same symptom are one: an odd number of them has to act.

    Args:
        model: The model. Loops are unrolled; decompositions do not matter.

    Returns:
        The errors.

    Examples:
        >>> symptoms = symptoms_of(stim.DetectorErrorModel("error(0.1) D0 L0\nerror(0.2) D0 L0"))
        >>> {symptom: round(p, 6) for symptom, p in symptoms.probabilities.items()}
        {((0,), (0,)): 0.26}
    """
    found: dict[Symptom, float] = {}
    for instruction in model.flattened():
        if instruction.type != "error":
            continue
        detectors: set[int] = set()
        observables: set[int] = set()
        for target in instruction.targets_copy():
            if target.is_relative_detector_id():
                detectors ^= {target.val}
            elif target.is_logical_observable_id():
                observables ^= {target.val}
        symptom = tuple(sorted(detectors)), tuple(sorted(observables))
        one, other = found.get(symptom, 0.0), instruction.args_copy()[0]
        found[symptom] = one * (1 - other) + other * (1 - one)
    expected: tuple[set[int], set[int]] = (set(), set())
    probabilities = {}
    for symptom, probability in found.items():
        if probability > 0.5:
            for flipped, targets in zip(expected, symptom, strict=True):
                flipped ^= set(targets)
        rare = min(probability, 1 - probability)
        if rare > 0 and symptom != ((), ()):
            probabilities[symptom] = rare
    return Symptoms(
        num_detectors=model.num_detectors,
        num_observables=model.num_observables,
        expected=(tuple(sorted(expected[0])), tuple(sorted(expected[1]))),
        probabilities=probabilities,
    )


def families_of(symptoms: Sequence[Symptoms]) -> list[list[int]]:
    """Circuits whose errors differ in their probabilities only, by their positions.

    Args:
        symptoms: The errors of each circuit.

    Returns:
        The families, each with its positions ascending.
    """
    families: dict[object, list[int]] = {}
    for k, each in enumerate(symptoms):
        key = each.num_detectors, each.num_observables, each.expected, frozenset(each.probabilities)
        families.setdefault(key, []).append(k)
    return list(families.values())


@dataclass(frozen=True)
class FaultModel:
    """The mechanisms of a family of circuits.

    A row has words for the detectors, for the observables, and two for a hash value of the detectors: all
    three of a fault set are the exclusive or of those of its members.

    Attributes:
        num_detectors: Number of detectors.
        num_observables: Number of observables.
        flips: uint64, shape (mechanisms, words): the row of each mechanism.
        base: uint64, shape (words,): the row of the empty fault set.
        log_odds: float64, shape (circuits, mechanisms): ln(q / (1 - q)).
        detector_words: The number of words for detectors.
        observable_words: The number of words for observables.
        symptoms: The symptom of each mechanism.
        postselected: uint64, shape (detector_words,): the detectors that discard a shot.
    """

    num_detectors: int
    num_observables: int
    flips: Words
    base: Words
    log_odds: Floats
    detector_words: int
    observable_words: int
    symptoms: tuple[Symptom, ...]
    postselected: Words

    @property
    def num_mechanisms(self) -> int:
        """Number of mechanisms."""
        return len(self.flips)

    def detectors(self, rows: Words) -> npt.NDArray[np.uint8]:
        """The detection events of rows, bit-packed as decoders get them."""
        packed = np.ascontiguousarray(rows[:, : self.detector_words]).view(np.uint8)
        return np.ascontiguousarray(packed[:, : -(-self.num_detectors // 8)])

    def observables(self, rows: Words) -> Words:
        """The words of the observables of rows."""
        return rows[:, self.detector_words : self.detector_words + self.observable_words]

    @property
    def postselects(self) -> bool:
        """Whether there are detectors that discard a shot."""
        return bool(self.postselected.any())

    def fired(self, rows: Words) -> npt.NDArray[np.int64]:
        """How many of the detectors that discard a shot fire in rows."""
        if not self.postselects:
            return np.zeros(len(rows), dtype=np.int64)
        events = np.ascontiguousarray(rows[:, : self.detector_words] & self.postselected)
        return np.unpackbits(events.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)

    def hashes(self, rows: Words) -> Words:
        """The hash values of the detection events of rows."""
        return rows[:, -_KEY_WORDS:]


def fault_model(family: Sequence[Symptoms], postselected: Sequence[int] = ()) -> FaultModel:
    """The mechanisms of circuits whose errors differ in their probabilities only.

    Args:
        family: The errors of each circuit.
        postselected: The detectors that discard a shot.

    Returns:
        Their mechanisms, in the order of the first circuit.
    """
    first = family[0]
    symptoms = tuple(first.probabilities)
    detector_words, observable_words = (
        max(1, -(-number // 64)) for number in (first.num_detectors, first.num_observables)
    )
    keys = np.random.default_rng(_KEY_SEED).integers(
        1 << 64, size=(first.num_detectors, _KEY_WORDS), dtype=np.uint64
    )
    flips = np.zeros((len(symptoms) + 1, detector_words + observable_words + _KEY_WORDS), dtype=np.uint64)
    for row, (detectors, observables) in zip(flips, [*symptoms, first.expected], strict=True):
        for detector in detectors:
            row[detector >> 6] ^= np.uint64(1 << (detector & 63))
            row[-_KEY_WORDS:] ^= keys[detector]
        for observable in observables:
            row[detector_words + (observable >> 6)] ^= np.uint64(1 << (observable & 63))
    mask = np.zeros(detector_words, dtype=np.uint64)
    for detector in postselected:
        mask[detector >> 6] |= np.uint64(1 << (detector & 63))
    probabilities = np.array([[each.probabilities[symptom] for symptom in symptoms] for each in family])
    return FaultModel(
        num_detectors=first.num_detectors,
        num_observables=first.num_observables,
        flips=flips[:-1],
        base=flips[-1],
        log_odds=np.log(probabilities) - np.log1p(-probabilities),
        detector_words=detector_words,
        observable_words=observable_words,
        symptoms=symptoms,
        postselected=mask,
    )


def log_probability_of_none(log_odds: Floats) -> float:
    """The logarithm of the probability that no mechanism acts."""
    return -float(np.logaddexp(0, log_odds).sum())
