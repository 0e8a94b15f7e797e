"""Arguments that are numbers of NumPy are taken for what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .test_arguments import CALLS

NUMPY_ARGUMENTS: dict[str, dict[str, Any]] = {
    "Circuit.compile_sampler": {
        "threads": np.uint8(1),
        "seed": np.uint64(1 << 63),
        "cache_bytes": np.int32(0),
    },
    "Circuit.logical_error_rate": {"relative_error": np.float32(0.1), "max_seconds": np.int8(9)},
    "Circuit.pauli_twirl": {"below": np.float64(0.25)},
    "CompiledDetectorSampler.sample": {"shots": np.int16(3), "bit_packed": np.True_},
    "CompiledDetectorSampler.iter_kept": {"max_shots": np.int8(9), "batch_shots": np.int8(3)},
    "SoftPostselectSampler": {"max_active_coordinates": np.uint8(3)},
    "cultivation_circuit": {"distance": np.int8(3), "p": np.float32(0.001)},
    "cultivation.circuit_file_name": {"distance": np.int8(3), "p": np.float64(0.001)},
    "distillation_circuit": {"t_error": np.float16(0.01), "p": 0},
    "teleportation_circuit": {"rounds": np.uint8(1), "p": 1},
}


@pytest.mark.parametrize("name", NUMPY_ARGUMENTS)
def test_numbers_of_numpy_are_numbers(name: str) -> None:
    call = CALLS[name]
    given = {**call.valid, **NUMPY_ARGUMENTS[name]}
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()}
    found, expected = call.function(**given), call.function(**plain)
    if name.split(".")[-1].endswith(("circuit", "name", "twirl")) or name[0] == "S":
        assert found == expected
