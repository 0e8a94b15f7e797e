"""The samplers have Stim's methods, and give Stim's arrays and files where there is only one answer."""

import itertools
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.sampling import (
    SampleCounts,
)

# Deterministic, with random-looking results: 5 measurements, 3 detectors, 11 observables of which few are used.
SMALL = """
    X 0 2
    M 0 1 2
    DETECTOR rec[-1]
    DETECTOR rec[-2]
    X_ERROR(1) 0 1
    M !0 1
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-2]
    OBSERVABLE_INCLUDE(10) rec[-1] rec[-2]
    OBSERVABLE_INCLUDE(1) rec[-2]
"""
# 19 measurements, 70 detectors, 1 observable.
LONG = """
    X_ERROR(1) 1 3 4 8
    M 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
    REPEAT 35 {
        DETECTOR rec[-14] rec[-5]
        DETECTOR rec[-9]
    }
    X 3
    MR 3 3
    OBSERVABLE_INCLUDE(0) rec[-2]
"""
CIRCUITS = {
    "small": SMALL,
    "long": LONG,
    "eight detectors": "X_ERROR(1) 0\nM 0\n"
    + "DETECTOR rec[-1]\nDETECTOR\n" * 4
    + "OBSERVABLE_INCLUDE(7) rec[-1]",
    "no observables": "X_ERROR(1) 0\nM 0 0\nDETECTOR rec[-1]",
    "no detectors": "X_ERROR(1) 0\nM 0 1\nOBSERVABLE_INCLUDE(0) rec[-1]\nOBSERVABLE_INCLUDE(2) rec[-2]",
    "measurements only": "X 0\nM 0 1 0",
    "nothing": "",
    "no measurements": "H 0\nDETECTOR\nOBSERVABLE_INCLUDE(3)",
}
FORMATS = ["01", "b8", "r8", "ptb64", "hits", "dets"]
BOOLS = (False, True)


def assert_same_array(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    assert isinstance(found, np.ndarray)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.flags.c_contiguous
    assert found.flags.writeable
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", CIRCUITS)
@pytest.mark.parametrize("shots", [0, 1, 21])
def test_transposed_detector_samples(name: str, shots: int) -> None:
    """Detectors by shots, which Stim has from version 1.17 on."""
    circuit = Circuit(CIRCUITS[name])

    def sampled(**flags: Any) -> Any:
        return circuit.compile_detector_sampler(seed=5).sample(shots, **flags)

    for dets, transposed in zip(
        sampled(separate_observables=True), sampled(separate_observables=True, transposed=True), strict=True
    ):
        assert_same_array(transposed, np.ascontiguousarray(dets.T))
    expected = np.ascontiguousarray(sampled(append_observables=True).T)
    packed = np.packbits(expected, axis=1, bitorder="little")
    assert_same_array(sampled(append_observables=True, transposed=True, bit_packed=True), packed)
    out = np.zeros((circuit.num_detectors, -(-shots // 8)), np.uint8)
    assert sampled(transposed=True, bit_packed=True, dets_out=out) is out
    np.testing.assert_array_equal(out, packed[: circuit.num_detectors])


@pytest.mark.parametrize("name", CIRCUITS)
@pytest.mark.parametrize("shots", [0, 1, 5])
@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_detector_samples(name: str, shots: int, engine: str) -> None:
    """All combinations of flags that Stim accepts."""
    text = CIRCUITS[name]
    expected = stim.Circuit(text).compile_detector_sampler()
    sampler = Circuit(text).compile_detector_sampler(engine=engine)
    for prepended, appended, separate, packed in itertools.product(BOOLS, repeat=4):
        flags: Any = {
            "prepend_observables": prepended,
            "append_observables": appended,
            "separate_observables": separate,
            "bit_packed": packed,
        }
        if separate and (prepended or appended):
            for tried in (sampler, expected):
                with pytest.raises(ValueError, match="Can't specify separate_observables=True with"):
                    tried.sample(shots, **flags)
            continue
        found, wanted = sampler.sample(shots, **flags), expected.sample(shots, **flags)
        if separate:
            assert isinstance(found, tuple)
            for a, b in zip(found, wanted, strict=True):
                assert_same_array(a, b)
        else:
            assert_same_array(found, wanted)
        if packed and not separate:
            old = {"prepend_observables": prepended, "append_observables": appended}
            assert_same_array(sampler.sample_bit_packed(shots, **old), wanted)


@pytest.mark.parametrize("name", CIRCUITS)
@pytest.mark.parametrize("shots", [0, 1, 5])
def test_measurement_samples(name: str, shots: int) -> None:
    text = CIRCUITS[name]
    if name == "no measurements":
        text = text.replace("H", "X")
    options: Any
    for options in (
        {},
        {"skip_reference_sample": True},
        {"reference_sample": np.ones(stim.Circuit(text).num_measurements, dtype=np.bool_)},
        {"reference_sample": np.zeros(stim.Circuit(text).num_measurements, dtype=np.bool_)},
    ):
        expected = stim.Circuit(text).compile_sampler(**options)
        sampler = Circuit(text).compile_sampler(**options)
        for packed in BOOLS:
            wanted = expected.sample(shots, bit_packed=packed)
            assert_same_array(sampler.sample(shots, bit_packed=packed), wanted)
        assert_same_array(sampler.sample_bit_packed(shots), expected.sample(shots, bit_packed=True))


def test_measurements_relative_to_the_reference() -> None:
    """Seed 1. With noise and a T gate; the reference sample of M 1 is 1."""
    circuit = Circuit("RX 0\nT 0\nX 1\nX_ERROR(0.25) 1\nMX 0\nM 1")
    results = circuit.compile_sampler(seed=1).sample(2000)
    flips = circuit.compile_sampler(seed=1, skip_reference_sample=True).sample(2000)
    reference = circuit.reference_sample()
    assert reference.tolist() == [False, True]
    np.testing.assert_array_equal(flips ^ reference, results)
    for given in ([True, True], [False, False], [True, False]):
        array = np.array(given)
        sampler = circuit.compile_sampler(seed=1, reference_sample=array)
        np.testing.assert_array_equal(sampler.sample(2000), flips ^ array)
        packed = np.packbits(array, bitorder="little")
        sampler = circuit.compile_sampler(seed=1, reference_sample=packed)
        np.testing.assert_array_equal(sampler.sample(2000), flips ^ array)


def test_detectors_without_the_reference() -> None:
    """Seed 2. Raw parities are the flips, changed where the reference's parity is 1."""
    text = "X 0\nRX 1\nT 1\nS 1\nX_ERROR(0.1) 0\nM 0\nMX 1\nDETECTOR rec[-2]\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(1) rec[-1] rec[-2]"
    circuit = Circuit(text)
    flips = circuit.compile_detector_sampler(seed=2).sample(3000, append_observables=True)
    sampler = circuit.compile_detector_sampler(seed=2, skip_reference_sample=True)
    raw = sampler.sample(3000, append_observables=True)
    np.testing.assert_array_equal(flips ^ np.array([1, 1, 0, 0], dtype=np.bool_), raw)


@pytest.mark.parametrize(("packed", "dtype"), [(False, np.bool_), (True, np.uint8)])
def test_output_arrays(packed: bool, dtype: type) -> None:
    """Arrays to write into, for every combination of flags, filled with ones before."""
    for text in (SMALL, LONG):
        expected = stim.Circuit(text).compile_detector_sampler()
        sampler = Circuit(text).compile_detector_sampler()
        for prepended, appended, separate in itertools.product(BOOLS, repeat=3):
            if separate and (prepended or appended):
                continue
            flags: Any = {
                "prepend_observables": prepended,
                "append_observables": appended,
                "separate_observables": separate,
                "bit_packed": packed,
            }
            wanted = expected.sample(6, **flags)
            dets = wanted[0] if separate else wanted
            obs = expected.sample(6, separate_observables=True, bit_packed=packed)[1]
            dets_out, obs_out = np.ones_like(dets), np.ones_like(obs)
            assert dets_out.dtype == dtype
            result = sampler.sample(6, dets_out=dets_out, obs_out=obs_out, **flags)
            if separate:
                assert result[0] is dets_out
                assert result[1] is obs_out
            else:
                assert result is dets_out
            np.testing.assert_array_equal(dets_out, dets)
            np.testing.assert_array_equal(obs_out, obs)
            only_obs = np.ones_like(obs)
            result = sampler.sample(6, obs_out=only_obs, **flags)
            np.testing.assert_array_equal(result[0] if separate else result, dets)
            np.testing.assert_array_equal(only_obs, obs)


def test_output_arrays_with_strides() -> None:
    sampler = Circuit(SMALL).compile_detector_sampler()
    expected = sampler.sample(4)
    for out in (np.ones((3, 4), dtype=np.bool_).T, np.ones((8, 6), dtype=np.bool_)[::2, ::2]):
        assert sampler.sample(4, dets_out=out) is out
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("argument", ["dets_out", "obs_out"])
def test_wrong_output_arrays(argument: str) -> None:
    """As in Stim: the shape, the dtype, and that it is an array."""
    columns = {"dets_out": 3, "obs_out": 11}[argument]
    wrong = [
        np.zeros((5, columns), dtype=np.bool_),
        np.zeros((4, columns + 1), dtype=np.bool_),
        np.zeros(4 * columns, dtype=np.bool_),
        np.zeros((4, columns), dtype=np.uint8),
        np.zeros((4, columns), dtype=np.float64),
        [[False] * columns] * 4,
    ]
    for out in wrong:
        for circuit in (stim.Circuit(SMALL), Circuit(SMALL)):
            sampler = circuit.compile_detector_sampler()
            with pytest.raises(ValueError, match=r"(?i)output buffer"):
                sampler.sample(4, **{argument: out})  # type: ignore[arg-type]
    packed = np.zeros((4, columns), dtype=np.bool_)
    with pytest.raises(ValueError, match="Output buffer"):
        Circuit(SMALL).compile_detector_sampler().sample(4, bit_packed=True, **{argument: packed})  # type: ignore[arg-type]


def written(sampler: Any, path: pathlib.Path, shots: int, **arguments: Any) -> bytes:
    sampler.sample_write(shots, filepath=str(path), **arguments)
    return path.read_bytes()


@pytest.mark.parametrize("name", CIRCUITS)
@pytest.mark.parametrize("file_format", FORMATS)
def test_detector_files(name: str, file_format: str, tmp_path: pathlib.Path) -> None:
    """Byte for byte Stim's, with observables in front, behind, or in a file of their own."""
    text = CIRCUITS[name]
    expected, sampler = (
        stim.Circuit(text).compile_detector_sampler(),
        Circuit(text).compile_detector_sampler(),
    )
    for shots in (0, 64, 128):
        for flags in ({}, {"prepend_observables": True}, {"append_observables": True}):
            arguments: Any = {"format": file_format, **flags}
            wanted = written(expected, tmp_path / "stim", shots, **arguments)
            assert written(sampler, tmp_path / "ours", shots, **arguments) == wanted, (shots, flags)
        for observable_format in FORMATS:
            found = []
            for tried in (expected, sampler):
                files = [
                    written(
                        tried,
                        tmp_path / "dets",
                        shots,
                        format=file_format,
                        obs_out_filepath=str(tmp_path / "obs"),
                        obs_out_format=observable_format,
                    ),
                    (tmp_path / "obs").read_bytes(),
                ]
                found.append(files)
            assert found[0] == found[1], (shots, observable_format)
    if file_format != "ptb64":
        wanted = written(expected, tmp_path / "stim", 7, format=file_format)
        assert written(sampler, tmp_path / "ours", 7, format=file_format) == wanted


@pytest.mark.parametrize("name", CIRCUITS)
@pytest.mark.parametrize("file_format", FORMATS)
def test_measurement_files(name: str, file_format: str, tmp_path: pathlib.Path) -> None:
    text = CIRCUITS[name]
    expected, sampler = stim.Circuit(text).compile_sampler(), Circuit(text).compile_sampler()
    for shots in (0, 64, 128) if file_format == "ptb64" else (0, 1, 100):
        wanted = written(expected, tmp_path / "stim", shots, format=file_format)
        assert written(sampler, tmp_path / "ours", shots, format=file_format) == wanted


def test_default_format(tmp_path: pathlib.Path) -> None:
    sampler = Circuit("X 0\nM 0 1").compile_sampler()
    assert written(sampler, tmp_path / "a", 2) == b"10\n10\n"
    sampler.sample_write(1, filepath=tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"10\n"


def test_files_of_random_shots(tmp_path: pathlib.Path) -> None:
    """Seed 3: files hold the shots that arrays hold, in many chunks or one."""
    circuit = Circuit(
        "REPEAT 3000 {\n    X_ERROR(0.3) 0\n    MR 0\n    DETECTOR rec[-1]\n}\nRX 0\nT 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    shots = 64 * 900  # 21 MB: more than one chunk
    dets, obs = circuit.compile_detector_sampler(seed=3).sample(
        shots, separate_observables=True, bit_packed=True
    )
    sampler = circuit.compile_detector_sampler(seed=3)
    data = written(sampler, tmp_path / "dets", shots, format="b8", obs_out_filepath=tmp_path / "obs")
    np.testing.assert_array_equal(np.frombuffer(data, dtype=np.uint8).reshape(dets.shape), dets)
    lines = (tmp_path / "obs").read_text().split()
    assert lines == [str(bit) for bit in obs[:, 0]]


def test_observables_on_both_sides_in_dets_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="names each observable once"):
        written(
            Circuit(SMALL).compile_detector_sampler(),
            tmp_path / "a",
            1,
            format="dets",
            prepend_observables=True,
            append_observables=True,
        )


def test_wrong_files(tmp_path: pathlib.Path) -> None:
    for sampler in (Circuit(SMALL).compile_detector_sampler(), Circuit(SMALL).compile_sampler()):
        with pytest.raises(ValueError, match="multiple of 64"):
            written(sampler, tmp_path / "a", 65, format="ptb64")
        with pytest.raises(FileNotFoundError):
            written(sampler, tmp_path / "missing" / "a", 1)


@pytest.mark.parametrize("name", CIRCUITS)
def test_zero_shots(name: str) -> None:
    circuit = Circuit(CIRCUITS[name])
    sampler = circuit.compile_detector_sampler()
    kept = sampler.sample_kept(0)
    assert (kept.shots, kept.discards) == (0, 0)
    assert kept.dets.shape == (0, -(-circuit.num_detectors // 8))
    assert kept.obs.shape == (0, -(-circuit.num_observables // 8))
    if circuit.num_observables:
        counts = sampler.sample_counts(0)
        assert counts == SampleCounts(0, 0, 0, np.zeros(circuit.num_observables, dtype=np.int64), {})
        assert sampler.sample_counts(0, max_errors=5) == counts
