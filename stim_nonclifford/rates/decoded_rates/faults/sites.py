"""Errors that exclude each other at a site: whether one happens is a mechanism, and which one an outcome.

The errors of HERALDED_ERASE, of E with ELSE_CORRELATED_ERROR and of most PAULI_CHANNEL_2 are no independent
errors. One of the errors c of a site happens with the probability q = sum of q_c, whatever happens elsewhere,
and then it is c with q_c / q. So to samplers a site is one mechanism, which flips a bit of the signature, and
the number ω of a state fixes the error as it fixes quantum outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....base.arrays import Bools, Floats, Words, bits_of_words, words_of_bits
from ....base.errors import ResourceLimitError
from ....base.random_bits import mixed
from .mechanisms import Outcomes, Symptom, Symptoms, flipped_together

_MOST_CHOICES = 1 << 16
"""Choices of errors that one fault set may have, if all are listed. Doubled, that takes twice the memory."""

_SALT = 0xA0761D6478BD642F
"""Numbers of sites begin here, so that what they draw is independent of coins."""


@dataclass(frozen=True)
class Site:
    """The errors of a site: their symptoms, and their probabilities if the site acts, shape (errors,)."""

    symptoms: Sequence[Symptom]
    shares: Floats
    probability: float  # that one of them happens


class SiteOutcomes(Outcomes):
    """What the chosen errors of sites flip, and what quantum outcomes flip given these errors.

    The bits of the sites follow the words of the signature without them.
    """

    def __init__(
        self, sites: Sequence[Site], inner: Outcomes | None, num_detectors: int, num_observables: int
    ) -> None:
        self._inner, self._num_outputs = inner, num_detectors + num_observables
        self._inner_words = 0 if inner is None else -(-inner.num_signature_bits // 64)
        self.first_site = 64 * self._inner_words
        self._num_sites = len(sites)
        self.num_signature_bits = self.first_site + self._num_sites
        self.can_be_summed = inner is None or inner.can_be_summed
        self.can_be_divided = inner is None or inner.can_be_divided
        self.is_certain_without_faults = inner is not None and inner.is_certain_without_faults
        self.most_choices = max(len(site.shares) for site in sites)
        self.cost_of_law = 1 if inner is None else inner.cost_of_law * self.most_choices
        self._output_words = -(-self._num_outputs // 64)
        every = [symptom for site in sites for symptom in site.symptoms]
        # What each error flips: words of the outputs, then of the signature without sites.
        bits = np.zeros((len(every), 64 * (self._output_words + self._inner_words)), dtype=np.bool_)
        for row, (detectors, observables, *signature) in zip(bits, every, strict=True):
            row[list(detectors)] = True
            row[[num_detectors + k for k in observables]] = True
            row[[64 * self._output_words + k for k in (signature[0] if signature else ())]] = True
        self._flips = words_of_bits(bits)
        self._shares = np.concatenate([site.shares for site in sites])
        self._first = np.cumsum([0, *(len(site.shares) for site in sites)])
        self._ends = np.concatenate([k + np.cumsum(site.shares) for k, site in enumerate(sites)])

    @property
    def dependent(self) -> Bools:
        """The outputs that an error of a site, or a quantum outcome, may flip."""
        flipped = np.bitwise_or.reduce(self._flips[:, : self._output_words], axis=0)
        found = bits_of_words(flipped, self._num_outputs)
        return found if self._inner is None else found | self._inner.dependent

    def flips(self, signatures: Words, numbers: Words) -> Words:
        """The outputs that the errors of sites and quantum outcomes flip: detectors, then observables."""
        row, site = np.nonzero(self._acting(signatures))
        points = mixed(numbers[row] ^ mixed(site.astype(np.uint64) + np.uint64(_SALT))) * 2.0**-64
        error = np.searchsorted(self._ends, site + points, side="right")
        error = np.minimum(error, self._first[site + 1] - 1)  # where rounding leads beyond the last one
        found = flipped_together(self._flips[error], row, len(signatures))
        outputs, inner = found[:, : self._output_words], found[:, self._output_words :]
        if self._inner is None:
            return outputs
        return outputs ^ self._inner.flips(signatures[:, : self._inner_words] ^ inner, numbers)

    def law(self, signature: Words) -> tuple[Floats, Bools]:
        """All choices of errors with all quantum outcomes: their probabilities, and the outputs of each."""
        shares, flips = np.ones(1), np.zeros((1, self._flips.shape[1]), dtype=np.uint64)
        flips[:, self._output_words :] = signature[: self._inner_words]
        for site in np.flatnonzero(self._acting(signature[np.newaxis])[0]):
            errors = slice(self._first[site], self._first[site + 1])
            if len(shares) * (errors.stop - errors.start) > _MOST_CHOICES:
                raise ResourceLimitError(
                    f"A fault set has more than {_MOST_CHOICES:,} choices of errors that exclude each other."
                    " Count errors with the sampler soft_desaturated_gap."
                )
            shares = np.outer(shares, self._shares[errors]).ravel()
            flips = (flips[:, np.newaxis] ^ self._flips[errors]).reshape(-1, flips.shape[1])
        outputs = bits_of_words(flips[:, : self._output_words], self._num_outputs)
        if self._inner is None:
            return shares, outputs
        laws = [self._inner.law(each) for each in flips[:, self._output_words :]]
        return (
            np.concatenate([share * law for share, (law, _) in zip(shares, laws, strict=True)]),
            np.concatenate([mine ^ more for mine, (_, more) in zip(outputs, laws, strict=True)]),
        )

    def _acting(self, signatures: Words) -> Bools:
        """The sites of which an error happens: shape (signatures, sites)."""
        return bits_of_words(signatures[:, self._inner_words :], self._num_sites)


def with_sites(symptoms: Symptoms, sites: Sequence[Site]) -> Symptoms:
    """Symptoms with sites, each as one more error; one that is likelier than 1/2 is expected to act."""
    if not sites:
        return symptoms
    outcomes = SiteOutcomes(sites, symptoms.outcomes, symptoms.num_detectors, symptoms.num_observables)
    probabilities, likely = dict(symptoms.probabilities), []
    for bit, site in enumerate(sites, outcomes.first_site):
        if site.probability > 0.5:
            likely.append(bit)
        if rarer := min(site.probability, 1 - site.probability):
            probabilities[(), (), (bit,)] = rarer
    detectors, observables, signature = symptoms.expected
    outcomes.is_certain_without_faults &= not likely
    return replace(
        symptoms,
        expected=(detectors, observables, (*signature, *likely)),
        probabilities=probabilities,
        outcomes=outcomes,
    )
