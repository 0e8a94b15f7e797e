"""The exceptions that this package adds to Python's and Stim's own.

Bad input raises ``ValueError``, an instruction without an implementation raises
``NotImplementedError`` (both as Stim does), and work that is too large for the limits in force raises
:class:`ResourceLimitError` before anything is allocated.
"""

from __future__ import annotations

from typing import NoReturn

__all__ = ["EngineUnavailableError", "ResourceLimitError", "assert_never"]


class ResourceLimitError(RuntimeError):
    r"""A circuit needs more than a limit allows; the message names the need, the limit and the keyword.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("H 0 1 2\nT 0 1 2\nMPP X0*X1*X2")
        >>> circuit.compile_sampler(max_active_coordinates=1)
        Traceback (most recent call last):
        ...
        stim_nonclifford.errors.ResourceLimitError: The circuit needs 2 active coordinates: 2^2...
    """


class EngineUnavailableError(RuntimeError):
    """An engine cannot run on this machine; the message says what is missing and how to get it."""


def assert_never(value: NoReturn) -> NoReturn:
    """Ends a ``match`` whose cases are complete, as mypy checks; ``typing`` has it from Python 3.11 only."""
    raise AssertionError(f"{type(value).__name__} is not handled")
