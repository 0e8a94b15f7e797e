"""Coherent noise: which rotations are noise, and whether their Pauli twirl tells a decoder anything.

The twirl takes each rotation by itself, as an error with probability sin(πa/2)². Rotations about the same
Pauli add up before anything measures them. As long as they add up to little, a decoder that knows of the
errors is right more often. Beyond a quarter of a half-turn, the rotation is nearer to S than to nothing, and
the errors of its parts say little about it. ``docs/results/decoders.md`` has what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from ..compiler import CompiledCircuit, RequestedOutputs
from ..plan import SamplingPlan

MAX_NOISE_ANGLE = 0.1
"""In half-turns, from the next multiple of 1/4: rotations by larger angles are gates, and not noise."""

MAX_TWIRLED = 0.25
"""In half-turns: what rotations may add up to for the model of their twirl to be worth while."""

_ROUNDING = 1e-12


def is_noise_angle(half_turns: float) -> bool:
    """Whether a rotation by an angle counts as coherent noise."""
    return _ROUNDING < abs(half_turns - round(4 * half_turns) / 4) <= MAX_NOISE_ANGLE + _ROUNDING


def half_turns_of(plan: SamplingPlan) -> npt.NDArray[np.float64]:
    """The angles of a plan's rotation terms, in half-turns; float64, shape (num_terms,)."""
    angles: npt.NDArray[np.float64] = np.arctan2(plan.rotation_terms["sine"], plan.rotation_terms["cosine"])
    return angles / (math.pi / 2)


def noise_that_adds_up(plan: SamplingPlan) -> float:
    """The largest sum of absolute angles, in half-turns, of coherent noise in one rotation of a plan."""
    half_turns = half_turns_of(plan)
    off = np.abs(half_turns - np.round(4 * half_turns) / 4)
    off[[not is_noise_angle(angle) for angle in half_turns.tolist()]] = 0
    sums = np.concatenate(([0.0], np.cumsum(off)))
    of_operations = sums[plan.operations["end_term"]] - sums[plan.operations["first_term"]]
    return float(of_operations.max(initial=0.0))


def twirl_advice(compiled: CompiledCircuit, detectors: Collection[int]) -> str:
    """What to say of the error model of the Pauli twirl, where detectors depend on quantum outcomes.

    The text is empty if the circuit has no leakage, relaxation or readout noise, and no coherent noise that
    these detectors see.
    """
    if compiled.program.has_leakage:
        return "Of leakage, the model has independent events (docs/methods/noise.md)."
    if compiled.program.has_non_pauli_channels:
        return (
            "Of relaxation and readout noise, the model has the state-aware twirl"
            " (docs/guides/relaxation.md)."
        )
    try:
        plan = compiled.noiseless_plan(RequestedOutputs.of(detectors))
    except ResourceLimitError:
        return ""
    angle = noise_that_adds_up(plan)
    if not angle:
        return ""
    if angle <= MAX_TWIRLED + _ROUNDING:
        return "As for coherent noise, use the model of circuit.pauli_twirl() (docs/guides/decoding.md)."
    return (
        f"The coherent noise adds up to {angle:.2g} half-turns about one Pauli; that is too much for the"
        " model of circuit.pauli_twirl(), which may be worse than this one (docs/guides/decoding.md)."
    )
