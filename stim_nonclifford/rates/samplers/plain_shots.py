"""Plain shots: direct Monte Carlo of all faults, where the decoder fails often enough to be counted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..decoding.classifying import Classifier
from ..estimation.deadline import Deadline
from .sampler import Batch, Sampler
from .strata import Stratum

__all__ = ["PlainShots"]


class PlainShots(Sampler):
    """P(accepted and wrong) as the part of all shots that are, each with the weight 1.

    Args:
        stratum: The fault sets, with the probability 1.
        classifier: The decoder.
        stores_failures: Whether failing sets are stored, for error budgets.
    """

    def __init__(self, stratum: Stratum, classifier: Classifier, stores_failures: bool = False) -> None:
        super().__init__(stratum, classifier, stores_failures)
        self._rows = int(np.clip((1 << 16) / max(stratum.numbers.mean, 1e-300), 256, 1 << 12))

    @property
    def probability(self) -> float:
        """That of all shots."""
        return 1.0

    def sample(self, count: int, rng: np.random.Generator, deadline: Deadline) -> Iterator[Batch]:
        """Independent shots."""
        for begin in range(0, count, self._rows):
            some = min(self._rows, count - begin)
            states = self._stratum.states(self._stratum.plain(some, rng), rng)
            yield Batch(some, states, np.ones(some), np.arange(some))
