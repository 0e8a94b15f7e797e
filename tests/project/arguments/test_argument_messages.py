"""Messages about wrong arguments: what they say of the value, that they are short, and that NumPy's numbers are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.base import arguments
from stim_nonclifford.generators import cultivation

from .kinds import ARRAY, NAN
from .test_arguments import CALLS, CIRCUIT, DETECTORS, RECORDS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CIRCUIT.compile_detector_sampler(threads="2"), "threads must be an integer from 1 to 1024, but is '2' (str)."),
        (lambda: cultivation.cultivation_circuit(distance=3, p="1e-3"), "p must be a probability from 0 to 1, but is '1e-3' (str)."),
        (lambda: CIRCUIT.compile_sampler(engine="cuda"), "engine must be 'auto', 'cpu', 'gpu', 'reference' or 'trajectory', but is 'cuda'."),
        (lambda: CIRCUIT.compile_sampler(cache_bytes=2**64), "cache_bytes must be an integer from 0 to 2^63 - 1, but is 18446744073709551616."),
        (lambda: DETECTORS.sample_counts(10, max_errors=1.5), "max_errors must be an integer >= 1 or None, but is 1.5 (float)."),
        (lambda: DETECTORS.seek(2**63), "shot must be an integer from 0 to 2^63 - 1, but is 9223372036854775808."),
        (lambda: RECORDS.sample(1 << 62), "shots must be an integer from 0 to 2^62 - 1, but is 4611686018427387904."),
        (lambda: DETECTORS.sample(None), "shots must be an integer from 0 to 2^62 - 1, but is None."),
        (lambda: DETECTORS.sample(ARRAY), "shots must be an integer from 0 to 2^62 - 1, but is array([1, 2]) (ndarray)."),
        (lambda: DETECTORS.sample(10**5000), "shots must be an integer from 0 to 2^62 - 1, but is an integer of 16610 bits."),
        (lambda: DETECTORS.sample(1, bit_packed=1), "bit_packed must be True or False, but is 1 (int)."),
        (lambda: snc.Circuit("T 0").pauli_twirl(below=NAN), "below must be a number from 0 to 0.25, but is nan."),
        (lambda: RECORDS.sample_write(1, filepath=3), "filepath must be a str, a pathlib.Path or a file opened for writing bytes, but is 3 (int)."),
    ],
)  # fmt: skip
def test_messages(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert str(caught.value) == message


def test_a_shown_argument_is_short() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    for value, shown in (
        ("x" * 1000, "'" + "x" * 56 + "... (str)."),
        (np.zeros((100, 100)), "array([[0., 0., 0., ..., 0., 0., 0.], [0., 0., 0., ..., 0... (ndarray)."),
        (Broken(), "an object that cannot be printed (Broken)."),
    ):
        with pytest.raises(TypeError) as caught:
            arguments.integer(value, "count")
        assert str(caught.value) == f"count must be an integer >= 0, but is {shown}"


# Numbers of NumPy

NUMPY_ARGUMENTS: dict[str, dict[str, Any]] = {
    "Circuit.compile_sampler": {"threads": np.uint8(1), "seed": np.uint64(2**63), "cache_bytes": np.int32(0)},
    "Circuit.logical_error_rate": {"relative_error": np.float32(0.1), "max_seconds": np.int8(9)},
    "Circuit.pauli_twirl": {"below": np.float64(0.25)},
    "Circuit.diagram": {"tick": np.int64(0), "rows": np.uint8(1)},
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
    if name.split(".")[-1].endswith(("circuit", "name", "twirl", "diagram")) or name[0] == "S":
        assert found == expected
