"""Samplers that can be pickled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .shot_numbers import ShotNumbers

__all__ = ["PickledByRecipe"]


class PickledByRecipe:
    r"""A sampler that is pickled as its circuit, its arguments, its seed and the number of its next shot.

    The copy compiles the circuit anew, which is faster than to send all tables, and goes on with the shots
    that the sampler would have returned. Two copies return the same shots: give each worker its own seed
    instead, where shots must be independent.

    Examples:
        >>> import pickle
        >>> import stim_nonclifford as snc
        >>> sampler = snc.Circuit("H 0\nT 0\nH 0\nM 0").compile_sampler(seed=5)
        >>> _ = sampler.sample(1000)
        >>> copy = pickle.loads(pickle.dumps(sampler))
        >>> bool((copy.sample(1000) == sampler.sample(1000)).all())
        True
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
