"""Which shots a sampler has taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..engines.turns import Turns

__all__ = ["ShotNumbers"]

_END = 1 << 63
"""Engines count shots in 64 bits, and look a block or two ahead."""


class ShotNumbers:
    """The numbers of a sampler's shots: each goes to one call, and to none that fails.

    Args:
        first: The number that comes first.

    Examples:
        >>> numbers = ShotNumbers()
        >>> with numbers.call():
        ...     numbers.take(100), numbers.take(10)
        (0, 100)
        >>> with numbers.call():
        ...     numbers.take(10)
        ...     raise OSError("No space left on device")
        Traceback (most recent call last):
        ...
        OSError: No space left on device
        >>> numbers.next
        110
    """

    def __init__(self, first: int = 0) -> None:
        self._turns = Turns("sampler")
        self._next = first

    @property
    def next(self) -> int:
        """The number that comes next."""
        return self._next

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call of the sampler, which waits for those of other threads.

        If it ends with an exception, the numbers that it has taken are given back.

        Raises:
            RuntimeError: See ``Turns.turn``.
        """
        with self._turns.turn():
            first = self._next
            try:
                yield
            except BaseException:
                self._next = first
                raise

    def take(self, shots: int) -> int:
        """Takes numbers, in a call.

        Args:
            shots: How many.

        Returns:
            The first one.

        Raises:
            ValueError: There are not so many left.
        """
        first = self._next
        if first + shots > _END:
            raise ValueError(
                f"This sampler has {_END - first} shots left, not {shots}."
                " Compile another one, with another seed."
            )
        self._next = first + shots
        return first

    def give_back(self, shots: int) -> None:
        """Gives back the last ones that ``take`` gave, in the same call."""
        self._next -= shots
