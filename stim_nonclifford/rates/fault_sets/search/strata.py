"""What is known of the fault sets of one weight: all of them, or a sample.

A stratum gives sums over fault sets X of its weight, for several circuits that differ in the odds of their
mechanisms: of odds(X) f(X), where f is the probability that a shot is kept, or kept and wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .laws import Floats, KeyValues

__all__ = ["ExactWeight", "Stratum", "Sums", "sum_of_products"]

Keys = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Sums:
    """Sums over the fault sets of a weight, in units of the probability that no mechanism acts.

    Attributes:
        passing: Of all sets that pass the noise-only checks.
        kept: Of the sets times the probability of being kept.
        wrong: The same for kept and wrong.
        listed: The part of ``wrong`` that comes from sets of which none can have been missed.
        variance: Estimated variance of ``wrong`` - rate x ``kept``, from what was found.
        largest: The largest amount by which one more event would have changed ``wrong``.
    """

    passing: float
    kept: float
    wrong: float
    listed: float
    variance: float
    largest: float

    @property
    def standard_error(self) -> float:
        """Of ``wrong``, with what the largest event that may have been missed would add."""
        return math.hypot(math.sqrt(self.variance), self.largest)


class Stratum(Protocol):
    """The fault sets of one weight."""

    weight: int

    @property
    def method(self) -> str:
        """How its sets were found."""

    @property
    def draws(self) -> int:
        """Sets, or parts of sets, that were drawn; 0 if all sets were looked at."""

    @property
    def rounds(self) -> int:
        """How often draws were added; 0 if all sets were looked at."""

    @property
    def sets(self) -> int:
        """Sets that pass the checks, found one by one."""

    def passing(self, circuit: int) -> float:
        """The sum of the odds of all sets that pass the checks."""

    def signatures(self, values: KeyValues) -> int:
        """Distinct keys, signature and outputs, with which a shot can be kept."""

    def malignant(self, values: KeyValues) -> int:
        """Those of them with which a kept shot can be wrong."""

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """The sums for a circuit; ``rate`` is about its logical error rate."""

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """For each key its part in the sums: float64, shape (num_keys,)."""


class ExactWeight:
    """All sets of a weight.

    Args:
        weight: The weight.
        found: What ``FaultSetStudy.enumerate`` found.
        num_circuits: Number of circuits.
    """

    method = "exact"
    draws = 0
    rounds = 0

    def __init__(self, weight: int, found: dict[str, object], num_circuits: int) -> None:
        self.weight = weight
        self.sets = int(found["sets"])  # type: ignore[call-overload]
        self.steps = int(found["steps"])  # type: ignore[call-overload]
        self.candidates = int(found["candidates"])  # type: ignore[call-overload]
        self.num_keys = int(found["num_keys"])  # type: ignore[call-overload]
        self.keys = np.asarray(found["keys"])
        self._masses = np.asarray(found["masses"]).reshape(len(self.keys), num_circuits)
        self._left_out = np.asarray(found["left_out"])

    def signatures(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        return int(np.count_nonzero(values.kept[self.keys]))

    def malignant(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        return int(np.count_nonzero(values.wrong[self.keys]))

    def passing(self, circuit: int) -> float:
        """The sum of all sets that pass the checks."""
        return float(self._masses[:, circuit].sum() + self._left_out[circuit])

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """See ``Stratum``."""
        masses = self._masses[:, circuit]
        wrong = values.wrong[self.keys]
        of_wrong = sum_of_products(masses, wrong)
        return Sums(
            passing=self.passing(circuit),
            kept=sum_of_products(masses, values.kept[self.keys]),
            wrong=of_wrong,
            listed=of_wrong,
            variance=0.0,
            largest=0.0,
        )

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """See ``Stratum``."""
        sums = np.zeros(num_keys)
        sums[self.keys] = self._masses[:, circuit]
        return sums


def sum_of_products(a: Floats, b: Floats) -> float:
    """A sum of products. Those of BLAS depend, in the last digit, on the number of its threads."""
    return float((a * b).sum())
