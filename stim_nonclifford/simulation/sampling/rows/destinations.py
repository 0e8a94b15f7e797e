"""The kind of array that samplers return: NumPy arrays, or CuPy arrays in the memory of the GPU."""

from __future__ import annotations

from typing import Any, Literal, get_args

from ...engines import DeviceSamplingEngine, SamplingEngine
from .bits import columns

__all__ = ["OUTPUT_NAMES", "OutputName", "kept_rows_from", "rows_from"]

OutputName = Literal["numpy", "cupy"]
OUTPUT_NAMES: tuple[OutputName, ...] = get_args(OutputName)


def rows_from(
    engine: SamplingEngine,
    output: OutputName,
    seed: int,
    first_shot: int,
    shots: int,
    num_outputs: int | None = None,
) -> Any:
    """The outputs of all shots as a NumPy or CuPy array; see ``SamplingEngine.sample``."""
    if output == "numpy":
        return engine.sample(seed, first_shot, shots, num_outputs=num_outputs)
    rows = _on_device(engine).sample_on_device(seed, first_shot, shots)
    return rows if num_outputs is None else columns(rows, 0, num_outputs)


def kept_rows_from(engine: SamplingEngine, output: OutputName, seed: int, first_shot: int, shots: int) -> Any:
    """The outputs of the kept shots as a NumPy or CuPy array; see ``SamplingEngine.sample_kept``."""
    if output == "numpy":
        return engine.sample_kept(seed, first_shot, shots)
    return _on_device(engine).sample_kept_on_device(seed, first_shot, shots)


def _on_device(engine: SamplingEngine) -> DeviceSamplingEngine:
    if not isinstance(engine, DeviceSamplingEngine):
        raise ValueError(
            "output='cupy' needs a sampler with engine='gpu' (or with engine='auto', if CuPy is installed)."
        )
    return engine
