"""Programs in OpenQASM become circuits with the same states and the same distribution of bits as in Qiskit."""

import numpy as np
import pytest

from stim_nonclifford import Circuit

from ...support.oracle.density_matrix import record_distribution
from ...support.seeds import seeds
from .qiskit_branches import circuit_with_feedback, compare_bits, distribution_of

pytest.importorskip("openqasm3.parser")

HEAD = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
HEAD_2 = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'


def overlap(first: np.ndarray, second: np.ndarray) -> float:
    return float(abs(np.vdot(first, second)))


def state_of(program: str) -> np.ndarray:
    return Circuit.from_qasm(program).state_vector()


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_random_circuits_have_the_states_of_qiskit(seed: int) -> None:
    qiskit = pytest.importorskip("qiskit")
    random = pytest.importorskip("qiskit.circuit.random")
    size = 2 + seed % 4
    circuit = random.random_circuit(size, 6, max_operands=min(size, 4), seed=seed)
    expected = qiskit.quantum_info.Statevector(circuit).data
    for program in (qiskit.qasm2.dumps(circuit), qiskit.qasm3.dumps(circuit)):
        assert overlap(state_of(program), expected) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_random_circuits_with_feedback_have_the_distributions_of_qiskit(seed: int) -> None:
    qiskit = pytest.importorskip("qiskit")
    circuit = circuit_with_feedback(qiskit, seed)
    expected = distribution_of(circuit)
    found = record_distribution(Circuit.from_qasm(qiskit.qasm3.dumps(circuit)).to_stim(), cutoff=1e-14)
    compare_bits(expected, found)


def test_registers_and_broadcasts() -> None:
    circuit = Circuit.from_qasm(f"{HEAD_2}qreg a[2]; qreg b[2]; creg c[2]; h a; cx a, b; measure b -> c;")
    assert circuit == Circuit("H 0 1\nCX 0 2 1 3\nM 2 3")


def test_definitions_take_the_place_of_gates_that_are_not_in_every_library() -> None:
    text = f"{HEAD_2}gate sx a {{ z a; }}\nqreg q[1];\nsx q[0];"
    assert Circuit.from_qasm(text) == Circuit("Z 0")
    assert Circuit.from_qasm("gate x a { z a; } gate z a { h a; } qubit q; x q;") == Circuit("Z 0")


def test_unused_qubits_are_kept() -> None:
    assert Circuit.from_qasm(f"{HEAD}qubit[5] q; h q[0];").num_qubits == 5


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (f"{HEAD}qubit q;\nrx({'(' * 1000}1{')' * 1000}) q;", r"Line 4: `rx\(\(.*\.\.\.`: .* nested too deeply"),
        (f"{HEAD}qubit q;\nx q; rx({'1+' * 3000}1) q;", r"Line 4: `x q; rx\(1\+.*nested too deeply"),
        (f"{HEAD}qubit q;\n\n{'if (true) {' * 500}x q;{'}' * 500}", r"Line 5: .*nested too deeply"),
        (f"{HEAD}x $0;\nx $100000000;\nx $1;", r"Line 4: the program has more than 10,000,000"),
    ],
)  # fmt: skip
def test_limits_name_the_line(program: str, message: str) -> None:
    from stim_nonclifford import ResourceLimitError

    with pytest.raises(ResourceLimitError, match=message):
        Circuit.from_qasm(program)
