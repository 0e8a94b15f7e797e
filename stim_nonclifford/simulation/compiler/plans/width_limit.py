"""The limit of the width of the coefficient vector, and what to do about a circuit that is wider."""

from __future__ import annotations

from ....base.errors import HOW_TO_NARROW, WHAT_NARROWS, ResourceLimitError
from ....base.memory import bytes_text, machine_bytes
from ...plan import MAX_INDEX_BITS

_BYTES_OF_COEFFICIENT = 16


def within_memory(max_active_coordinates: int) -> int:
    """A limit for the width of the coefficient vector, lowered to what the memory of the machine can hold.

    Examples:
        >>> within_memory(10), within_memory(10**6) < 60
        (10, True)
    """
    return min(max_active_coordinates, (machine_bytes() // _BYTES_OF_COEFFICIENT).bit_length() - 1)


def check_width(
    width: int, max_active_coordinates: int, *, what: str = "The circuit", narrower: str = ""
) -> None:
    """Checks that a plan is not wider than the limit.

    A higher limit is advised only if the vector then fits into the machine's memory. Otherwise the message
    says what makes a circuit narrower.

    Examples:
        >>> check_width(24, 24)
        >>> check_width(50, 24)
        Traceback (most recent call last):
        ...
        stim_nonclifford.base.errors.ResourceLimitError: The circuit needs 50 active coordinates, that is...
    """
    limit = min(max_active_coordinates, MAX_INDEX_BITS)
    if width <= limit:
        return
    num_bytes, memory = _BYTES_OF_COEFFICIENT << width, machine_bytes()
    has_plan = width <= MAX_INDEX_BITS
    may_be_raised = has_plan and num_bytes < memory
    remedy = HOW_TO_NARROW if has_plan else f"{WHAT_NARROWS}."
    if may_be_raised:
        advice = f"Raise it with max_active_coordinates={width}."
    else:
        advice = f"A higher limit does not help, as this machine has {memory:,} bytes of memory. {remedy}"
    need = (
        f"{what} needs {width} active coordinates, that is 2^{width} coefficients ({bytes_text(num_bytes)}"
        f" bytes); the limit is 2^{limit}."
    )
    error = ResourceLimitError(f"{need} {advice}{narrower and ' '}{narrower}")
    error.need, error.limit_that_would_do, error.remedy = need, width if may_be_raised else None, remedy
    raise error
