"""Files and pickles keep a circuit as it is, with all digits of its numbers."""

from __future__ import annotations

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
