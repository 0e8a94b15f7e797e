"""Logical error rates from malignant fault sets, without waiting for errors.

* ``search`` enumerates and samples fault sets, and sums their probabilities.
* ``malignant`` lists the sets.
* ``wrong_tool`` refuses circuits with too many fault sets, and counts some shots of them.
* ``interface`` makes the results that users get.
"""

from .malignant import FaultDistance, MalignantSet

__all__ = [
    "FaultDistance",
    "MalignantSet",
]
