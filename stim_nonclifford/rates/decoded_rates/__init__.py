"""Logical error rates of decoded circuits, however small: replica exchange over failing fault sets.

* ``questions`` is what is asked. ``mechanisms`` has the errors of a circuit, each symptom once; ``outcomes``
  has what quantum outcomes flip beside them. ``decoders`` compiles decoders,
  ``decoding`` asks them, for equal detection events once, and ``decoding_processes`` lets others help.
* ``plain_shots`` takes shots, ``plain_counts`` counts them; ``chains`` has the moves of chains over fault
  sets on which the decoder fails, ``jumps`` those between kinds of failures, ``descent`` sets up the levels
  of noise, ``ladder`` exchanges between them.
* ``ratios`` is Bennett's estimate of the ratio of two levels; ``renewal`` what common ancestors of chains do
  to its error; ``anchors`` makes rates with errors of all that. ``failing`` has what failing sets say
  beyond the rate, ``kept`` counts kept shots.
* ``postselection`` has another way, for decoders that know kept shots only: sums over kept fault sets.
* ``estimate`` decides what is done, until its ``deadline``; ``results`` are what users get.
"""

from .failing.failures import DecodedFailure
from .results import DecodedErrorRate, DecodedGapPoint, DecodedLevel, DecodedStratum

__all__ = ["DecodedErrorRate", "DecodedFailure", "DecodedGapPoint", "DecodedLevel", "DecodedStratum"]
