"""A limit on the time of a call, the work of native code included."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from ..._native import limit_time


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    r"""Ends native work of this thread when the time is over. A limit around this one holds, too.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("X_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
        >>> sampler = circuit.compile_detector_sampler()
        >>> try:
        ...     with time_limit(0.01):
        ...         print(sampler.sample_counts(10**12))
        ... except TimeoutError as error:
        ...     print(error)
        The time that a call may take is over.
    """
    begin, before = time.monotonic(), limit_time(float("inf"))
    limit_time(min(before, float("inf") if seconds is None else seconds))
    try:
        yield
    finally:
        limit_time(before - (time.monotonic() - begin))
