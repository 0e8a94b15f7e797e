"""Relaxation as Kraus operators."""

import math
import re

import numpy as np

from .operators import Matrix

_TAG = re.compile(r"(AMPLITUDE_DAMPING|PHASE_DAMPING|THERMAL_RELAXATION|KRAUS2?)\((.*)\)")


def is_relaxation(tag: str) -> bool:
    return _TAG.fullmatch(tag) is not None


def kraus_operators(tag: str) -> list[Matrix]:
    """The Kraus operators of the channel for which a tag of I_ERROR or II_ERROR stands."""
    found = _TAG.fullmatch(tag)
    assert found is not None
    if found[1].startswith("KRAUS"):
        size = 4 if found[1] == "KRAUS2" else 2
        parts = np.array([float(part) for part in found[2].split(",")]).reshape(-1, size, size, 2)
        return list(parts[..., 0] + 1j * parts[..., 1])
    values = [float(part.partition("=")[2]) for part in found[2].split(",")]
    if found[1] == "AMPLITUDE_DAMPING":
        return _damping(values[0])
    if found[1] == "PHASE_DAMPING":
        return _dephasing(values[0])
    over_t1, over_t2 = values
    # Coherences decay by sqrt(1 - γ) = exp(-t / 2 T1), and dephasing by sqrt(1 - λ) does the rest.
    rest = math.exp(-2 * (over_t2 - over_t1 / 2))
    decays = _damping(1 - math.exp(-over_t1))
    return [dephased @ decayed for decayed in decays for dephased in _dephasing(1 - rest)]


def _damping(gamma: float) -> list[Matrix]:
    jump = np.zeros((2, 2), dtype=np.complex128)
    jump[0, 1] = math.sqrt(gamma)
    return [np.diag([1, math.sqrt(1 - gamma)]).astype(np.complex128), jump]


def _dephasing(damping: float) -> list[Matrix]:
    kept, seen = [1, math.sqrt(max(0.0, 1 - damping))], [0, math.sqrt(damping)]
    return [np.diag(kept).astype(np.complex128), np.diag(seen).astype(np.complex128)]
