"""Logical error rates of decoded circuits, however small.

* ``questions`` is what is asked. ``faults`` has the errors of a circuit, each symptom once, and what quantum
  outcomes flip beside them. ``answers`` compiles decoders and asks them, for equal detection events once.
* ``samplers`` finds the rate of a circuit of which all shots are kept, as a sum over the number of faults:
  enumeration, direct samples and backward deletion.
* ``failing`` takes plain shots, and has what failing sets say beyond the rate.
* ``postselection`` is for decoders that know kept shots only: sums over kept fault sets. ``chains`` and
  ``anchoring`` are for masks and gaps of other decoders: replica exchange down a ladder of noise.
* ``estimate`` decides what is done, until its ``deadline``, and makes the ``results`` that users get.
"""

from .failing.failures import DecodedFailure
from .results import DecodedErrorRate, DecodedGapPoint, DecodedLevel, DecodedStratum
from .samplers.fault_numbers import DecodedSize

__all__ = [
    "DecodedErrorRate",
    "DecodedFailure",
    "DecodedGapPoint",
    "DecodedLevel",
    "DecodedSize",
    "DecodedStratum",
]
