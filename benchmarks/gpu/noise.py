"""A model of what the noise kernel of the GPU engine does for each attempted shot, from the plan alone.

The kernel is a sequence of sections, each of which warps execute a number of times that follows from the
distribution of the number of events. What one execution costs was counted for circuits of postselected
cultivation at four error rates, in machine code that ptxas 13.5 makes for sm_90; at other error rates, the
model was within 5% of such counts.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from stim_nonclifford.simulation.plan import BLOCK_SHOTS, SamplingPlan

WARP = 32
QUAD = 4


@dataclass(frozen=True)
class NoiseSections:
    """How often warps execute the sections of the noise kernel, per block of 1024 shots."""

    # 1: the draws of numbers of events, the sums of them and of classes, and the order of shots
    blocks: float
    events: float  # draws of the mechanisms of four events by each thread
    rows: float  # rows of listed shots that are begun and finished
    applied: float  # iterations of the loop over the events of a shot; in each the effect of an event is read
    queueing: float  # warps that queue some of their shots for the other kernels

    def cost(self, each: NoiseSections) -> float:
        """The cost of an attempted shot, if one execution of each section costs so much."""
        return sum(a * b for a, b in zip(astuple(self), astuple(each), strict=True)) / BLOCK_SHOTS


ISSUE_SLOTS = NoiseSections(blocks=3995, events=250, rows=86, applied=18.3, queueing=32.3)
"""Machine instructions that warps issue."""
SHARED_PASSES = NoiseSections(blocks=341, events=12.5, rows=30.4, applied=24.7, queueing=4)
"""Passes of shared memory: accesses of warps, with those that bank conflicts add."""
GLOBAL_BYTES = NoiseSections(blocks=1318, events=0, rows=37.5, applied=0, queueing=230)
"""Bytes of sectors of global memory, without the tables that each launch reads once for each thread block."""


def noise_sections(plan: SamplingPlan) -> NoiseSections:
    """The executions of sections for a plan that postselects, and keeps rows of shots in registers."""
    at_most = plan.count_thresholds.astype(np.float64) / 2.0**64
    shares = np.diff(at_most, prepend=0.0, append=1.0)  # of shots with 0, 1, ... events
    listed = 1.0 if len(plan.coins) or not plan.num_checks else 1.0 - float(shares[0])
    events = plan.mean_events * BLOCK_SHOTS
    return NoiseSections(
        blocks=1.0,
        events=_mean_ceiling(events, events, WARP * QUAD),
        rows=_mean_ceiling(listed * BLOCK_SHOTS, listed * (1 - listed) * BLOCK_SHOTS, WARP),
        applied=_iterations(at_most),
        queueing=_queueing_warps(plan, shares),
    )


def _mean_ceiling(mean: float, variance: float, step: float) -> float:
    """The mean of x / step, rounded up, for a number x that is about normal.

    Examples:
        >>> _mean_ceiling(65, 0, 32), round(_mean_ceiling(3200, 1000, 32), 2)
        (3.0, 100.48)
    """
    deviation = math.sqrt(2 * variance) if variance else 1e-9
    largest = math.ceil((mean + 8 * deviation) / step) + 1
    # A whole number x is above k * step if it is above k * step + 1/2.
    return sum(0.5 * math.erfc((k * step + 0.5 - mean) / deviation) for k in range(largest))


def _iterations(at_most: npt.NDArray[np.float64]) -> float:
    """Iterations of the loop over events in all warps of a block: as many as the lane with most events has.

    Args:
        at_most: The probabilities of at most 0, 1, ... events.

    Returns:
        The number, for shots in the order of their numbers of events.

    Examples:
        >>> round(_iterations(np.array([0.5])), 2)
        16.48
    """
    # For each k the shots of a block with more than k events, and the warps that have some of them.
    shots = BLOCK_SHOTS * (1 - at_most)
    warps = (1 - np.exp(-shots)) * np.maximum(1, shots / WARP + 0.5 - 0.5 / WARP)
    return float(warps.sum())


def _queueing_warps(plan: SamplingPlan, shares: npt.NDArray[np.float64]) -> float:
    """Warps of a block in which some shot has events and passes all checks."""
    passing, total = _passing(plan, len(shares)), 0.0
    for share, probability in zip(shares[1:].tolist(), passing[1:], strict=True):
        # Warps that are full of shots with so many events, and one that has the rest.
        full, rest = divmod(BLOCK_SHOTS * share, WARP)
        total += full * (1 - (1 - probability) ** WARP) + 1 - (1 - probability) ** rest
    return total


def _passing(plan: SamplingPlan, most: int) -> list[float]:
    """The probabilities that shots with 0, 1, ... events pass all checks; approximate above 2 events.

    An event flips no check, or two flip the same checks.
    """
    flipped = plan.effects.dense(plan.num_row_bits)[:, : plan.num_checks]
    _, pattern = np.unique(np.packbits(flipped, axis=1), axis=0, return_inverse=True)
    weights = np.bincount(pattern.ravel(), plan.rates / plan.rates.sum())
    none = float(plan.rates[~flipped.any(axis=1)].sum() / plan.rates.sum())
    same = float((weights**2).sum()) - none**2
    found = [1.0, none]
    for count in range(2, most):
        found.append(min(1.0, none * found[-1] + (count - 1) * same * found[-2]))
    return found
