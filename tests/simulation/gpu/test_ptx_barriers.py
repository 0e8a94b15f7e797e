"""Each synchronization of the noise kernel is needed: the emulator notices if it is taken out.

Those of simulations are taken out by ``make gpu-check``: their kernel takes g++ long to compile.
"""

from __future__ import annotations

import pytest

from .ptx.barriers import Removal, removals
from .ptx.machine.kernels import missing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]


def name_of(removal: Removal) -> str:
    return removal.function


@pytest.mark.parametrize("removal", list(removals("noise")), ids=name_of)
def test_barrier_is_needed(removal: Removal) -> None:
    assert removal.noticed()
