"""Numbers are those that Stim reads; files and pickles keep them, with all digits."""

import copy
import io
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit

from ..support.oracle.random_circuits import random_circuit

MANY_DIGITS = [
    "X_ERROR(0.0012345678901) 0",
    "M(0.10000000000000002) 0",
    "PAULI_CHANNEL_1(0.4501715, 0.5498285, 0) 0",  # in six digits, the sum is 1.000001
    "PAULI_CHANNEL_1(0.001, 0.0012345678901, 0) 0",
    "HERALDED_PAULI_CHANNEL_1(0.3333333333333333, 0, 1e-300, 0.6666666666666666) 3",
    "E[a (tag)](0.12345678) X0*Y1",
    "REPEAT[b] 2 {\n    REPEAT 3 {\n        DEPOLARIZE2(0.0012345678901) 0 1\n    }\n}",
    "QUBIT_COORDS(1.23456789, 12345678) 0",
    "SHIFT_COORDS(0, 1234567.5)",
    "R_Z(0.12345678901234567) 0",
    "U3(0.12345678901234567, 1e-09, -0.3333333333333333) 0",
]


def through_a_file(circuit: Circuit) -> Circuit:
    file = io.StringIO()
    circuit.to_file(file)
    return Circuit.from_file(io.StringIO(file.getvalue()))


@pytest.mark.parametrize("text", MANY_DIGITS)
def test_all_digits_are_kept(text: str, tmp_path: Path) -> None:
    circuit = Circuit(f"{text}\nT 0\nM 0\nDETECTOR(0.123456789) rec[-1]")
    circuit.to_file(tmp_path / "circuit.stim")
    assert Circuit.from_file(tmp_path / "circuit.stim") == circuit
    assert stim.Circuit.from_file(tmp_path / "circuit.stim") == circuit.to_stim()
    for found in (pickle.loads(pickle.dumps(circuit)), copy.deepcopy(circuit), circuit.copy()):
        assert found == circuit


@pytest.mark.parametrize("seed", range(10))
def test_any_probability(seed: int) -> None:
    """Of any size, in random circuits of the seeds [39, seed]."""
    rng = np.random.default_rng([39, seed])
    circuit = Circuit(random_circuit(rng, num_qubits=3, num_operations=20))
    for probability in 10 ** rng.uniform(-20, 0, 20):
        circuit.append("Y_ERROR", [0], probability)
        circuit.append("R_X", [1], probability)
    assert through_a_file(circuit) == circuit
    assert pickle.loads(pickle.dumps(circuit)) == circuit
    assert Circuit(str(circuit)) != circuit


def test_files_have_no_more_digits_than_needed() -> None:
    text = "X_ERROR(0.1) 0\nDETECTOR(1, 2.5, 12345678, 1e-07)\nREPEAT 2 {\n    M(0.001) 0 !1\n}\nMPP(0.25) !X0*Z1"
    file = io.StringIO()
    Circuit(text).to_file(file)
    assert file.getvalue() == f"{stim.Circuit(text)}\n"
    file = io.StringIO()
    Circuit("PAULI_CHANNEL_1(0.001, 0.0012345678901, 0.5) 0").to_file(file)
    assert file.getvalue() == "PAULI_CHANNEL_1(0.001, 0.0012345678901, 0.5) 0\n"


def test_blocks_without_instructions() -> None:
    circuit = Circuit("REPEAT 2 {\n    REPEAT 3 {\n        X_ERROR(0.1) 0\n    }\n}\nM 0").without_noise()
    assert through_a_file(circuit) == pickle.loads(pickle.dumps(circuit)) == circuit
    file = io.StringIO()
    circuit.to_file(file)
    assert file.getvalue() == f"{circuit.to_stim()}\n"


def test_pickles_do_not_fuse_neighbours() -> None:
    """Stim fuses them where it reads or appends them; edits may leave them apart."""
    body = stim.Circuit("H 0\nTICK\nH 1\nTICK\nX_ERROR(0.123456789) 0\nTICK\nX_ERROR(0.123456789) 1")
    for place in (5, 1):
        body.pop(place)
    circuit = Circuit(body)
    circuit.append(stim.CircuitRepeatBlock(2, body, tag="a ]"))
    circuit.append(stim.CircuitRepeatBlock(3, stim.Circuit("M 0")))
    circuit.insert(0, stim.CircuitRepeatBlock(2, body))
    circuit += Circuit(body)
    found = pickle.loads(pickle.dumps(circuit))
    assert found == circuit
    assert len(found) == len(circuit) == 13
    assert Circuit(str(circuit)) != circuit


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_numbers_that_text_cannot_express(number: float) -> None:
    circuit = Circuit("M 0")
    circuit.append("DETECTOR", [stim.target_rec(-1)], [1, number])
    with pytest.raises(
        ValueError, match=r"`DETECTOR\(1, (inf|nan)\) rec\[-1\]` has an infinite number or NaN"
    ):
        circuit.to_file(io.StringIO())
    with pytest.raises(ValueError, match="infinite number or NaN"):
        pickle.dumps(circuit)


def test_pickled_samplers() -> None:
    """Their circuit cannot be read from text with six digits. Seed 1."""
    circuit = Circuit("PAULI_CHANNEL_1(0.4501715, 0.5498285, 0) 0\nMX 0 1\nM 0 1\nDETECTOR rec[-2]")
    sampler = circuit.compile_detector_sampler(seed=1)
    found = pickle.loads(pickle.dumps(sampler))
    assert np.array_equal(found.sample(1000), sampler.sample(1000))


NUMBERS = ["0.25", "+.25", "00.25", "2.5e-1", "25.E-2", " 0.25\t"]
NO_NUMBERS = [
    *("0.2_5", "2_5e-2", "2.5e-0_1", "\u0660.\u0662\u0665", "\uff10.25", "0.25\u00a0", "\u20030.25"),
    *("nan", "inf", "0x1p-2", "--0.25", "0.25f", "1 0", "0.25e"),
]
REST = math.sqrt(1 - 0.25**2)
KRAUS = f"KRAUS({{0}}, 0, 0, 0, 0, 0, {{0}}, 0, {REST!r}, 0, 0, 0, 0, 0, {REST!r}, 0) 0"
READERS = [
    *(
        "X_ERROR({}) 0", "R_Z({}) 0", "U3(0.25, {}, 0.25) 0", "R_PAULI({}) X0", "LEAKAGE({}) 0",
        "M({}, 0.25) 0",
    ),
    *("CX({}, 0, 0, 0) 0 1", "AMPLITUDE_DAMPING({}) 0", KRAUS),
    *("C_R_PAULI({}) sweep[0] X0", "I[R_Z(theta={}*pi)] 0", "I_ERROR[LEAKAGE(p={})] 0"),
    "M[READOUT_NOISE(p01={}, p10=0.25)](0.25) 0",
]  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_numbers_are_those_that_stim_reads(reader: str) -> None:
    for number in NUMBERS:
        assert stim.Circuit(f"X_ERROR({number}) 0") == stim.Circuit("X_ERROR(0.25) 0")
        assert str(Circuit(reader.format(number))) == str(Circuit(reader.format("0.25")))
    for number in NO_NUMBERS:
        with pytest.raises(ValueError, match=r"."):
            stim.Circuit(f"X_ERROR({number}) 0")
        with pytest.raises(ValueError, match=r"^Line 1: "):
            Circuit(reader.format(number))


@pytest.mark.parametrize("qubit", ["\u0663", "\uff13", "\u00b2", "3_0", "+3"])
def test_qubits_are_those_that_stim_reads(qubit: str) -> None:
    readers = ["H {}", "T {}", "R_XX(0.1) {} 9", "TPP X{}", "EXP_VAL X{}", "CCZ {} 8 9", "LEAKAGE(0.1) {}"]
    for reader in [*readers, "C_R_PAULI(0.1) sweep[0] X{}", "C_SWAP sweep[0] {} 9", "CS sweep[{}] 9"]:
        assert Circuit(reader.format("03"))
        with pytest.raises(ValueError, match=r"^Line 1: "):
            Circuit(reader.format(qubit))
