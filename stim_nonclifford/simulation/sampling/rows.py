"""Rows of bits: packed and unpacked, in arrays of NumPy, and of CuPy in the memory of a GPU."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ...base.arrays import Bools, bits_of_words
from ..engines import DeviceSamplingEngine, PackedBits, SamplingEngine


def namespace_of(array: Any) -> ModuleType:
    """The module whose functions work on an array: ``numpy`` or ``cupy``."""
    return sys.modules[type(array).__module__.partition(".")[0]]


def unpack(rows: Any, num_bits: int) -> Bools:
    """Unpacks rows in a NumPy or CuPy array to bool, shape (num_rows, num_bits)."""
    if isinstance(rows, np.ndarray):
        return bits_of_words(rows, num_bits)
    xp = namespace_of(rows)
    bits = rows[:, :, None] >> xp.arange(8, dtype=np.uint8) & np.uint8(1)
    return bits.reshape(len(rows), 8 * rows.shape[1])[:, :num_bits].astype(np.bool_)


def pack(bits: Any) -> PackedBits:
    """Packs rows of bools in a NumPy or CuPy array, eight bits per byte."""
    if isinstance(bits, np.ndarray):
        return np.packbits(bits, axis=1, bitorder="little")
    xp = namespace_of(bits)
    num_bytes = -(-bits.shape[1] // 8)
    padded = xp.zeros((len(bits), 8 * num_bytes), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    values = padded.reshape(len(bits), num_bytes, 8) << xp.arange(8, dtype=np.uint8)
    return values.sum(axis=2, dtype=np.uint8)


def arranged(rows: PackedBits, num_bits: int, bit_packed: bool, transposed: bool) -> npt.NDArray[Any]:
    """Packed rows of shots as the array that is asked for, in C order."""
    if bit_packed and not transposed:
        return rows
    bits = unpack(rows, num_bits)
    if transposed:
        bits = namespace_of(bits).ascontiguousarray(bits.T)
    return pack(bits) if bit_packed else bits


def columns(rows: PackedBits, start: int, stop: int) -> PackedBits:
    """The bits start, ..., stop - 1 of packed rows, as packed rows."""
    first, shift = divmod(start, 8)
    num_bits = stop - start
    num_bytes = -(-num_bits // 8)
    part = rows[:, first : first + num_bytes] >> np.uint8(shift)
    if shift:
        rest = rows[:, first + 1 : first + 1 + num_bytes]
        part[:, : rest.shape[1]] |= rest << np.uint8(8 - shift)
    if num_bits % 8:
        part[:, -1] &= np.uint8((1 << num_bits % 8) - 1)
    return part


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
