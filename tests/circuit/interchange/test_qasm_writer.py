"""Circuits become programs in OpenQASM with the same states and records."""

import re

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit

from ...support.laws.exact import largest_difference, marginal
from ...support.oracle.density_matrix import record_distribution
from ...support.seeds import seeds, slow
from ...support.texts.instruction_lines import CONDITIONAL, FEEDBACK, LINES, NON_CLIFFORD
from .qiskit_branches import distribution_of

pytest.importorskip("openqasm3.parser")

FRAME = "H 0\nT 0\nCX 0 1\nR_Y(0.3) 1 2\nM 1 2\n"
END = "\nH 0\nR_X(0.3) 1 2\nM 0 1 2"


def unitary_lines() -> list[str]:
    cliffords = [
        f"{name} {'0 2' if gate.is_two_qubit_gate else '1'}"
        for name, gate in stim.gate_data().items()
        if gate.is_unitary and name not in ("SPP", "SPP_DAG")
    ]
    plain = (
        "M", "MX", "MY", "MR", "MRX", "MRY", "MXX", "MYY", "MZZ", "R", "RX", "RY", "MPP", "SPP", "SPP_DAG",
    )  # fmt: skip
    others = [line for name in plain for line in LINES[name] if "(" not in line and "Y0*Z0*X0" not in line]
    gates = [
        line
        for lines in [*FEEDBACK.values(), *NON_CLIFFORD.values(), *CONDITIONAL.values()]
        for line in lines
    ]
    return [line for line in [*cliffords, *others, *gates] if "sweep" not in line]


QUICK = list({re.split(r"[ (\[]", line)[0]: line for line in unitary_lines()}.values())[::2]
"""A line of every second instruction, which `make test` takes."""


@pytest.mark.parametrize("line", [line if line in QUICK else slow(line) for line in unitary_lines()])
def test_every_instruction_comes_back(line: str) -> None:
    circuit = Circuit(FRAME + line + END)
    back = Circuit.from_qasm(circuit.to_qasm())
    expected = record_distribution(circuit.to_stim(), cutoff=1e-14)
    found = record_distribution(back.to_stim(), cutoff=1e-14)
    # A condition on two records is computed as one more, after FRAME's.
    more = back.num_measurements - circuit.num_measurements
    assert largest_difference(marginal(found, lambda bits: bits[:2] + bits[2 + more :]), expected) < 1e-9


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_qiskit_reads_the_same_state(version: int, seed: int) -> None:
    qiskit = pytest.importorskip("qiskit")
    if version == 3:
        pytest.importorskip("qiskit_qasm3_import")
    random = pytest.importorskip("qiskit.circuit.random")
    size = 2 + seed % 4
    made = random.random_circuit(size, 6, max_operands=min(size, 4), seed=1000 + seed)
    circuit = Circuit.from_qiskit(made)
    program = circuit.to_qasm(open_qasm_version=version)  # type: ignore[arg-type]
    read = (qiskit.qasm2 if version == 2 else qiskit.qasm3).loads(program)
    found = qiskit.quantum_info.Statevector(read).data
    assert abs(np.vdot(found, circuit.state_vector())) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("seed", seeds(40, quick=4))
def test_qiskit_measures_the_same(seed: int) -> None:
    qiskit = pytest.importorskip("qiskit")
    rng = np.random.default_rng(seed)
    lines = [line for line in unitary_lines() if line.count("rec") < 2]  # no condition on two records
    middle = "\n".join(str(rng.choice(lines)) for _ in range(6))
    circuit = Circuit(FRAME + middle + END)
    program = circuit.to_qasm(open_qasm_version=2)
    expected = record_distribution(circuit.to_stim(), cutoff=1e-14)
    found = distribution_of(qiskit.qasm2.loads(program))
    assert largest_difference(found, expected) < 1e-9


def test_detectors_and_observables_are_flips() -> None:
    text = Circuit(
        "X 0\nM 0\nDETECTOR rec[-1]\nM 0\nDETECTOR rec[-1] rec[-2]\nOBSERVABLE_INCLUDE(1) rec[-1]"
    ).to_qasm()
    assert "bit[2] dets;\nbit[2] obs;" in text
    assert text.splitlines()[-3:] == [
        "dets[0] = rec[0] ^ 1;",
        "dets[1] = rec[1] ^ rec[0];",
        "obs[1] = rec[1] ^ 1;",
    ]


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        ("X_ERROR(0.1) 0", 3, "`X_ERROR.0.1. 0`: OpenQASM has no noise"),
        ("M(0.1) 0", 2, "OpenQASM has no noise"),
        ("CX sweep[0] 1", 3, "no sweep bits"),
        ("M 0\nDETECTOR rec[-1]", 2, "skip_dets_and_obs=True"),
        ("M 0 1\nCCZ rec[-1] rec[-2] 2", 2, "open_qasm_version=3"),
        ("MPAD 1", 2, "no bits that are 1"),
        ("OBSERVABLE_INCLUDE(0) X0", 3, "no observables of Paulis"),
        ("H 0\nEXP_VAL Z0", 3, "no expectation values. Write skip_dets_and_obs=True"),
        ("I[delay:3ns] 0", 2, "OpenQASM 2 has no delays. Write open_qasm_version=3"),
        ("I[delay:soon] 0", 3, "no duration. Write one as in"),
        ("H 0", 4, "open_qasm_version must be 2 or 3"),
    ],
)
def test_what_has_no_counterpart_is_named(text: str, version: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Circuit(text).to_qasm(open_qasm_version=version)  # type: ignore[arg-type]


def test_identities_and_delays_are_kept() -> None:
    circuit = Circuit("I 0\nII 0 1\nI[delay:1e-07s] 1\nI[delay:2500ps] 0\nI[delay:3dt] 0 1\nX 1")
    program = circuit.to_qasm()
    assert "delay[1e-07s] q[1];\ndelay[2.5ns] q[0];\ndelay[3dt] q[0];\ndelay[3dt] q[1];" in program
    again = Circuit("I 0 0 1\nI[delay:1e-07s] 1\nI[delay:2.5ns] 0\nI[delay:3.0dt] 0 1\nX 1")
    assert Circuit.from_qasm(program) == again


def test_expectation_values_are_left_out_with_the_detectors() -> None:
    program = Circuit("H 0\nEXP_VAL X0\nM 0\nDETECTOR rec[-1]").to_qasm(skip_dets_and_obs=True)
    assert Circuit.from_qasm(program) == Circuit("H 0\nM 0")
