"""What Stim says about a circuit whose detectors or observables are random, in one line."""

from __future__ import annotations

import re

_LISTED = re.compile(r"anti-commuted with these detectors/observables:\n((?: +[DL]\d+[^\n]*\n?)+)")


def is_of_random_outputs(error: ValueError) -> bool:
    """Whether Stim refused a circuit because detectors or observables of it are random without noise."""
    return "non-deterministic" in str(error)


def random_outputs(error: ValueError) -> str:
    r"""The detectors and observables that are random, as far as Stim names them.

    Examples:
        >>> import stim
        >>> try:
        ...     stim.Circuit("H 0\nM 0\nDETECTOR rec[-1]").detector_error_model()
        ... except ValueError as error:
        ...     print(random_outputs(error))
        D0 is random there
    """
    listed = _LISTED.search(str(error))
    if listed is None:
        return "detectors or observables are random there"
    names = [name.split()[0] for name in listed[1].splitlines()]
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'} random there"
