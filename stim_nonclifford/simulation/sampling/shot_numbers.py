"""Which shots a sampler has taken, and samplers that are pickled with the number of their next one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...base.arguments import integer
from ..engines.turns import Turns

_END = 1 << 63
"""Engines count shots in 64 bits, and look a block or two ahead."""


class ShotNumbers:
    """The numbers of a sampler's shots: each goes to one call, and to none that fails."""

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
        """
        with self._turns.turn():
            first = self._next
            try:
                yield
            except BaseException:
                self._next = first
                raise

    def take(self, shots: int) -> int:
        """Takes numbers, in a call; returns the first one."""
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

    def seek(self, number: int) -> None:
        """Lets a number come next, in a call."""
        self._next = number


class NumberedShots:
    """A sampler whose shots are numbered."""

    _numbers: ShotNumbers
    _seed: int

    @property
    def seed(self) -> int:
        r"""The seed, which determines all shots; if none was given, the one that was drawn.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H 0\nT 0\nH 0\nM 0")
            >>> drawn = circuit.compile_sampler()
            >>> again = circuit.compile_sampler(seed=drawn.seed)
            >>> bool((drawn.sample(1000) == again.sample(1000)).all())
            True
        """
        return self._seed

    @property
    def next_shot(self) -> int:
        """The number of the shot that the next call begins with."""
        return self._numbers.next

    def seek(self, shot: int) -> None:
        r"""Lets the next call begin with a shot of a given number.

        What a shot is depends on its number and the seed alone. So any machine can take any range of the
        shots of a seed, and take it again.

        Raises:
            ValueError: The number is negative or not below 2^63.

        Examples:
            >>> import stim_nonclifford as snc
            >>> sampler = snc.Circuit("H 0\nT 0\nH 0\nM 0").compile_sampler(seed=5)
            >>> first = sampler.sample(3000)
            >>> sampler.seek(1000)
            >>> bool((sampler.sample(2000) == first[1000:]).all()), sampler.next_shot
            (True, 3000)
        """
        number = integer(shot, "shot", 0, _END - 1)
        with self._numbers.call():
            self._numbers.seek(number)


class PickledByRecipe:
    """A sampler that is pickled as its circuit, its arguments, its seed and the number of its next shot.

    The copy compiles the circuit anew, which is faster than to send all tables, and goes on with the shots
    that the sampler would have returned. Two copies return the same shots: give each worker its own seed
    instead, where shots must be independent.
    """

    _recipe: Callable[..., Any] | None
    """Compiles the sampler again, for a seed."""
    _seed: int
    _numbers: ShotNumbers

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if self._recipe is None:
            raise TypeError(
                f"This {type(self).__name__} cannot be pickled, as its circuit is not known. Compile it"
                " with Circuit.compile_sampler or Circuit.compile_detector_sampler."
            )
        return _resumed, (self._recipe, self._seed, self._numbers.next)


def _resumed(recipe: Callable[..., Any], seed: int, next_shot: int) -> Any:
    sampler = recipe(seed=seed)
    sampler._numbers = ShotNumbers(next_shot)
    return sampler
