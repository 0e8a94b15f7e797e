"""Outcomes drawn on the GPU, for shots whose noise is drawn elsewhere: those in which a decoder decides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..contract import RowEngine
from .engine import GpuEngine


class GpuOutcomes(RowEngine):
    """An engine that draws the outcomes of shots on the GPU, and their noise by another engine.

    Decoders run on the CPU, so that rows are needed there; and outcomes are drawn again after each decision.
    """

    def __init__(self, gpu: GpuEngine, noise: RowEngine) -> None:
        self._gpu, self._noise = gpu, noise

    @property
    def name(self) -> str:
        """See ``RowEngine.name``."""
        return self._gpu.name

    def rows(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint64]:
        """See ``RowEngine.rows``."""
        return self._noise.rows(seed, first_shot, shots)

    def outcomes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> npt.NDArray[np.uint64]:
        """See ``RowEngine.outcomes``."""
        return self._gpu.outcomes(signatures, numbers, seed)

    def statistics(self) -> dict[str, int]:
        """See ``RowEngine.statistics``."""
        return self._gpu.statistics()
