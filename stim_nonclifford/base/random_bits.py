"""Random bits that follow from a number: the mixing function of SplitMix64."""

from __future__ import annotations

import numpy as np

from .arrays import Words

GOLDEN = 0x9E3779B97F4A7C15
"""The odd number next to 2^64 over the golden ratio: multiples of it are far from each other."""

_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def mixed(numbers: Words) -> Words:
    """Hash values: the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), a bijection.

    Examples:
        >>> mixed(np.array([0, GOLDEN], dtype=np.uint64)).tolist()
        [0, 16294208416658607535]
    """
    for shift, factor in _MIX:
        numbers = (numbers ^ numbers >> np.uint64(shift)) * np.uint64(factor)
    return numbers
