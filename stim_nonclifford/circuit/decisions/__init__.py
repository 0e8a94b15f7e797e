"""Circuits with decisions: the error models of their questions, and samplers with a decoder in the loop.

``models`` has the error models, ``deciding_decoders`` the decoders that decide by them, and ``components``
decodes by the parts of a matching graph. ``sampling`` makes engines for samplers, and ``switched`` where
records switch blocks. ``end`` decodes the observables at the end of a circuit, and ``rates`` asks for their
rates.
"""

from .deciding_decoders import FixedDecisions
from .end import DecodedEnd, EndSampler
from .models import check_raw, decision_model
from .rates import decided_question
from .sampling import DecisionSampling
from .switched import SwitchedSampling

__all__ = [
    "DecisionSampling",
    "DecodedEnd",
    "EndSampler",
    "FixedDecisions",
    "SwitchedSampling",
    "check_raw",
    "decided_question",
    "decision_model",
]
