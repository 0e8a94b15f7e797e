"""Logical error rates of decoded circuits, however small: replica exchange over failing fault sets.

* ``questions`` is what is asked. ``faults`` has the errors of a circuit, each symptom once, and what quantum
  outcomes flip beside them. ``answers`` compiles decoders and asks them, for equal detection events once.
* ``failing`` takes plain shots, finds the rate of one circuit from sets of which members are taken out, and
  has what failing sets say beyond the rate.
* ``chains`` has the moves of chains over fault sets on which the decoder fails, jumps between kinds of
  failures, and the ladder: how its levels of noise are set up, how they exchange their sets, and what chains
  with a common ancestor do to the errors.
* ``anchoring`` estimates ratios of neighbouring levels, counts plain and kept shots, and makes rates with
  errors of all that.
* ``postselection`` has another way, for decoders that know kept shots only: sums over kept fault sets.
* ``estimate`` decides what is done, until its ``deadline``, and ``findings`` makes of what it found the
  ``results`` that users get.
"""

from .failing.failures import DecodedFailure
from .failing.one_circuit import DecodedSize
from .results import DecodedErrorRate, DecodedGapPoint, DecodedLevel, DecodedStratum

__all__ = [
    "DecodedErrorRate",
    "DecodedFailure",
    "DecodedGapPoint",
    "DecodedLevel",
    "DecodedSize",
    "DecodedStratum",
]
