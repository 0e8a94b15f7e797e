"""How many shots are kept: by postselected detectors, and by the gap that a decoder must have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..answers.decoding import FailureTest
from ..failing.plain_shots import PlainShots
from ..faults.mechanisms import FaultModel, Floats

__all__ = ["KeptShots", "kept_shots"]

_MOST_SHOTS = 1 << 24
_MOST_DECODES = 1 << 17
_PART_OF_ERROR = 0.3
"""Of the error that is asked for, what the kept shots may have."""


@dataclass(frozen=True)
class KeptShots:
    """Plain shots without regard to whether they are right.

    Attributes:
        postselects: Whether there are postselected detectors.
        shots: Shots taken.
        passed: In how many no postselected detector fired.
        looked_at: Of how many of these the gap is known.
        with_gap: Of how many of those it is at least the least gap, for each that was asked about.
    """

    postselects: bool
    shots: int
    passed: int
    looked_at: int
    with_gap: tuple[int, ...]

    def kept(self, gap: int | None = None) -> tuple[float, float]:
        """The part of all shots that is kept, and its standard error.

        Args:
            gap: The number of a least gap; None: it does not matter.
        """
        parts = [(self.passed, self.shots, self.postselects)]
        if gap is not None:
            parts.append((self.with_gap[gap], self.looked_at, True))
        value, variance = 1.0, 0.0
        for count, total, is_limited in parts:
            value *= count / total
            # If none was discarded, one might have been.
            variance += max(total - count, 1) / max(count, 1) / total if is_limited else 0.0
        return value, value * math.sqrt(variance)


def kept_shots(
    model: FaultModel,
    log_odds: Floats,
    test: FailureTest,
    least_gaps: Sequence[int],
    relative_error: float,
    rng: np.random.Generator,
    check: Callable[[], None],
) -> KeptShots:
    """Takes shots until it is known how many are kept.

    Args:
        model: The mechanisms.
        log_odds: ln of their odds.
        test: The decoder, which is asked for its gap if there are least gaps.
        least_gaps: Gaps, ascending.
        relative_error: What the rate may have.
        rng: What shots are drawn with.
        check: Is called now and then; may raise to end the work.
    """
    plain = PlainShots(model, log_odds, test)
    wanted = _PART_OF_ERROR * relative_error
    shots = passed = looked_at = 0
    with_gap = np.zeros(len(least_gaps), dtype=np.int64)
    first = test.decoded

    def is_known(count: int, total: int) -> bool:
        return count > 0 and (total - count) / count / total <= wanted**2

    while True:
        check()
        asks = bool(least_gaps) and not is_known(int(with_gap[-1]), looked_at)
        asks &= test.decoded - first < _MOST_DECODES
        if (is_known(passed, shots) and not asks) or shots >= _MOST_SHOTS:
            return KeptShots(model.postselects, shots, passed, looked_at, tuple(with_gap.tolist()))
        batch = min(plain.batch, 1 << 14)
        rows = plain.rows(rng, batch)
        rows = rows[model.fired(rows) == 0]
        shots += batch
        passed += len(rows)
        if asks and len(rows):
            gaps = test.answers(rows)[1]
            looked_at += len(rows)
            with_gap += (gaps[:, np.newaxis] >= np.array(least_gaps)).sum(axis=0)
