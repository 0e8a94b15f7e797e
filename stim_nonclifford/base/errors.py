"""The exceptions of this package.

Wrong input raises ``ValueError``, as in Stim. An instruction that is not supported raises
``NotImplementedError``. If a circuit needs more than a limit allows, :class:`ResourceLimitError` is raised
before memory is allocated; and if memory runs out while a circuit is compiled.
"""

from __future__ import annotations

from typing import NoReturn

WHAT_NARROWS = (
    "A circuit is narrower with fewer non-Clifford gates between measurements, with earlier measurements, or"
    " with circuit.pauli_twirl() in place of coherent noise"
)
"""What to do about a circuit that is too wide even for ``Circuit.plan``."""

HOW_TO_NARROW = f"{WHAT_NARROWS}; print(circuit.plan()) names the gates that widen the vector."
"""What to do about a circuit whose coefficient vector no memory can hold."""


class ResourceLimitError(RuntimeError):
    r"""A circuit needs more than a limit allows. The message has both numbers and the keyword of the limit.

    Attributes:
        need: Where a coefficient vector is too long, the part of the message without advice; otherwise empty.
        limit_that_would_do: The ``max_active_coordinates`` that would do then, if there is one.
        remedy: What makes such a circuit narrower.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("H 0 1 2\nT 0 1 2\nMPP X0*X1*X2")
        >>> circuit.compile_sampler(max_active_coordinates=1)
        Traceback (most recent call last):
        ...
        stim_nonclifford.base.errors.ResourceLimitError: The circuit needs 2 active coordinates, that is...
    """

    need: str = ""
    limit_that_would_do: int | None = None
    remedy: str = ""


class EngineUnavailableError(RuntimeError):
    """An engine cannot run on this machine. The message says what is missing and how to install it."""


class InexactErrorModelWarning(UserWarning):
    """What no detector error model describes exactly: chance.

    Detectors depend on quantum outcomes; or a single error flips an observable with a probability that is
    neither 0 nor 1, as an X before the T gate of a logical readout does.

    ``warnings.simplefilter("ignore", stim_nonclifford.InexactErrorModelWarning)`` silences it.
    """


class RandomObservableWarning(UserWarning):
    r"""Errors are counted of an observable, or decoded with a detector, that is random without noise.

    A sampler may be used so on purpose, for example for the flips of a Pauli frame. So it warns, once, where
    ``Circuit.logical_error_rate`` refuses.

    Examples:
        >>> import warnings
        >>> import stim_nonclifford as snc
        >>> sampler = snc.Circuit("RX 0\nT 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]").compile_detector_sampler()
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     _ = sampler.sample_counts(1000)
        >>> [each.category.__name__ for each in caught]
        ['RandomObservableWarning']
    """


class UnusedDetectorsWarning(UserWarning):
    """Shots are counted although some detectors neither discard them nor are decoded.

    ``warnings.simplefilter("ignore", stim_nonclifford.UnusedDetectorsWarning)`` silences it.
    """


class SlowShotsWarning(UserWarning):
    """A shot takes long to simulate, as the coefficient vector is long. The message says about how long.

    ``warnings.simplefilter("ignore", stim_nonclifford.SlowShotsWarning)`` silences it.
    """


def assert_never(value: NoReturn) -> NoReturn:
    """Ends a ``match``; mypy checks that its cases are complete. (``typing`` has it from Python 3.11.)"""
    raise AssertionError(f"{type(value).__name__} is not handled")
