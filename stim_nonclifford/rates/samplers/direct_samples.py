"""Direct samples: fault sets with a number of faults from a range, as they are drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..decoding.classifying import Classifier
from ..estimation.deadline import Deadline
from .sampler import Batch, Sampler
from .strata import Stratum


class DirectSamples(Sampler):
    """P(stratum, least <= number of faults <= most, accepted and wrong), by direct Monte Carlo.

    The number k is drawn by pi_k, and the set by conditional Poisson sampling (``fault_numbers``); or, of all
    numbers, each fault by itself: these are plain shots. With P the probability of the stratum with these
    numbers, and n samples,

        estimate = P · (number of samples that are accepted and wrong) / n.

    This is stratified sampling with proportional weights: each sample has the weight P.
    """

    method = "direct samples"

    def __init__(
        self, stratum: Stratum, classifier: Classifier, least: int, most: int, stores_failures: bool = False
    ) -> None:
        self.least, self.most = least, most
        super().__init__(stratum, classifier, stores_failures)

    @property
    def probability(self) -> float:
        """The probability of the stratum with these numbers of faults."""
        law = self._stratum.numbers.probabilities
        is_all = self.least == 0 and self.most == len(law) - 1
        return self._stratum.probability * (1.0 if is_all else float(law[self.least : self.most + 1].sum()))

    @property
    def size(self) -> float:
        """About how many shots enumerate the same; infinite if that is impossible."""
        return self._stratum.size(self.least) if self.least == self.most else float("inf")

    def sample(self, count: int, rng: np.random.Generator, deadline: Deadline) -> Iterator[Batch]:
        """Independent samples of one fault set each."""
        # What is drawn beyond the limit on the time is lost.
        at_once = int(np.clip((1 << 16) / max(self._stratum.numbers.mean, 1.0), 256, 1 << 12))
        for begin in range(0, count, at_once):
            some = min(at_once, count - begin)
            states = self._stratum.drawn(self.least, self.most, some, rng)
            yield Batch(some, states, np.full(some, self.probability), np.arange(some))
