"""The interface of all samplers: a part of all fault sets, weighted samples of it, and a tally."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..decoding.classifying import Classes, Classifier
from ..estimation.deadline import Deadline, TimeIsOver
from ..estimation.failing_sets import FailingSets
from ..estimation.tally import Tally
from .strata import FaultStates, Stratum

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass
class Batch:
    """Independent samples: fault sets with importance weights.

    Attributes:
        samples: How many there are.
        states: Fault sets; a sample may have several, or none that matters.
        weights: float64, shape (states,): their importance weights.
        owners: intp, shape (states,): the sample that each belongs to.
        classes: What the decoder makes of them; None: it was not asked yet.
    """

    samples: int
    states: FaultStates
    weights: Floats
    owners: Indices
    classes: Classes | None = None


class Sampler(ABC):
    """An estimator of P(part, accepted, wrong) for a part of all fault sets.

    The mean over samples of the sum of the weights of those of its fault sets that are accepted and wrong is
    without a bias.

    Args:
        stratum: The fault sets.
        classifier: The decoder.
        stores_failures: Whether failing sets are stored, for error budgets.

    Attributes:
        method: The name of the method, for tables.
        least: The least number of free faults.
        most: The largest one.
        tally: The sums of the weights.
        found: The failing sets.
        cost: About what was spent, in flips of detection events: each fault set costs one more than it has
            faults.
    """

    method: ClassVar[str]
    least: int
    most: int

    def __init__(self, stratum: Stratum, classifier: Classifier, stores_failures: bool = False) -> None:
        self._stratum, self._classifier = stratum, classifier
        self._stores_failures = stores_failures
        self.tally = Tally(classifier.num_observables, self.probability)
        self.found = FailingSets()
        self.cost = 0

    @property
    @abstractmethod
    def probability(self) -> float:
        """The probability of the part; the largest weight that a sample may have, if not known better."""

    @property
    def counts(self) -> bool:
        """Whether its sum is part of the rate, with a zero-count bound in the standard error."""
        return True

    @abstractmethod
    def sample(self, count: int, rng: np.random.Generator, deadline: Deadline) -> Iterator[Batch]:
        """Independent samples, in batches."""

    def take(self, count: int, rng: np.random.Generator, deadline: Deadline) -> None:
        """Draws samples, classifies them, and adds them to the tally.

        What was classified when TimeIsOver is raised is counted.
        """
        for batch in self.sample(count, rng, deadline):
            deadline.check()
            self._count(batch, rng)
        deadline.check()

    def _count(self, batch: Batch, rng: np.random.Generator) -> None:
        states = batch.states
        classes = batch.classes
        if classes is None:
            rows = self._stratum.model.with_outcomes(states.rows, states.numbers)
            classes = self._classifier.classify(rows)
            self.cost += classes.shots * (1 + states.size)
            batch.samples = classes.shots  # one fault set each: fewer if time is over
        values, gaps = self._values(batch, classes), classes.gaps
        if self._stores_failures:
            is_failing = classes.wrong.any(axis=1)
            failing = states.taken(classes.accepted[is_failing])
            weights = batch.weights[classes.accepted[is_failing]]
            owners = self.tally.samples + batch.owners[classes.accepted[is_failing]]
            members = self._stratum.members(failing)
            self.found.add(members, failing.numbers, weights, owners, rng)
        self.tally.add(batch.samples, values, gaps)

    def failing_sets(self) -> FailingSets:
        """The failing sets, with their weights."""
        return self.found

    @staticmethod
    def _values(batch: Batch, classes: Classes) -> Floats:
        """The weights of samples for the quantities of a tally."""
        weights = batch.weights[classes.accepted, np.newaxis]
        any_wrong = classes.wrong.any(axis=1, keepdims=True)
        return np.hstack([weights, weights * any_wrong, weights * classes.wrong])


def classified(classifier: Classifier, rows: npt.NDArray[np.uint64]) -> Classes:
    """What the decoder makes of all of some rows.

    Raises:
        TimeIsOver: Time was over before.
    """
    found = classifier.classify(rows)
    if found.shots < len(rows):
        raise TimeIsOver
    return found
