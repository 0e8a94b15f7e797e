"""Logical error rates from malignant fault sets, without waiting for errors.

* ``interval`` and ``uncertainty`` turn sums into intervals, and these into printed digits.
* ``search`` enumerates and draws fault sets, and sums their probabilities.
* ``malignant`` lists the sets. ``budget`` divides a rate among the noise that causes it.
* ``wrong_tool`` says where fault sets are too many, and ``short_count`` what a short count says instead.
* ``interface`` makes the results that users get.
"""

from .malignant import FaultDistance, MalignantSet

__all__ = [
    "FaultDistance",
    "MalignantSet",
]
