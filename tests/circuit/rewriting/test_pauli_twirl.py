"""The Pauli twirl of coherent noise, against the average over all Paulis, and what a decoder gains by it."""

import itertools
import math

import numpy as np
import pytest
import stim

import stim_nonclifford as snc

from ...support.oracle.density_matrix import final_density_matrix
from ...support.seeds import slow

ANYTHING = "U3(0.3, 0.7, -0.2) 0 2\nU3(0.9, 0.1, 0.4) 1\nCX 0 1 1 2\nU3(0.4, 0.2, 0.6) 0 1 2\n"


def average_over_paulis(gate: str, clifford: stim.Circuit, num_qubits: int) -> np.ndarray:
    """The state after the gate, if what it does beyond the Clifford gate is twirled."""
    states = []
    for word in itertools.product("IXYZ", repeat=num_qubits):
        paulis = stim.Circuit("\n".join(f"{pauli} {qubit}" for qubit, pauli in enumerate(word)))
        circuit = snc.Circuit(ANYTHING)
        for part in (clifford, paulis, clifford.inverse(), snc.Circuit(gate), paulis):
            circuit += part
        states.append(final_density_matrix(circuit.to_stim()))
    return np.mean(states, axis=0)


@pytest.mark.parametrize(
    "gate",
    [
        "R_X(0.01) 0", slow("R_Y(-0.03) 1"), "R_Z(0.52) 2", slow("R_Z(-0.55) 0"), slow("R_X(0.97) 1"),
        slow("R_Y(1.6) 0"), "R_Z(3.55) 0", "R_XX(0.04) 0 1", slow("R_ZZ(0.46) 2 1"), "R_YY(1.04) 0 2",
        "II[R_XX(theta=0.54*pi)] 0 2", "R_PAULI(0.03) X0*Y1*Z2", "R_PAULI(0.53) !X0*Y1",
        slow("R_PAULI(1.53) !Z1"), "SPP_DAG[R_PAULI(theta=0.47*pi)] Z0*Z2", slow("U3(0.02, 0.01, -0.015) 0"),
        "U3(0.5, 0.02, 1.01) 1", "U3(0.98, 0.3, -0.21) 1",
    ],
)  # fmt: skip
def test_it_is_the_average_over_all_paulis(gate: str) -> None:
    twirled = snc.Circuit(gate).pauli_twirl()
    clifford = twirled.without_noise().to_stim()
    assert all(not part.tag or part.tag.startswith("twirl of ") for part in twirled.to_stim())
    found = final_density_matrix((snc.Circuit(ANYTHING) + twirled).to_stim())
    np.testing.assert_allclose(found, average_over_paulis(gate, clifford, 3), atol=1e-9)


def test_gates_stay() -> None:
    text = (
        "M 4\nT 0\nT_DAG 1\nR_Z(0.25) 0\nR_X(-0.75) 0\nTPP X0*X1\nCCZ 0 1 2\nCS rec[-1] 0\nC_R_Z(0.01) rec[-1] 0"
        "\nU3(0.25, 0, 0) 0\nU3(0.3, 0.1, 0.8) 1\nEXP_VAL X0\nH[note] 1"
    )
    assert snc.Circuit(text).pauli_twirl() == snc.Circuit(text)
    larger = "R_X(0.1) 0\nR_X(0.05) 0"
    assert str(snc.Circuit(larger).pauli_twirl(below=0.1)).startswith("R_X(0.1) 0\nX_ERROR[twirl of R_X](")
    assert snc.Circuit(larger).pauli_twirl(below=0) == snc.Circuit(larger)


def test_blocks_keep_their_tags_and_counts() -> None:
    twirled = snc.Circuit(
        "REPEAT[a] 3 {\n    R_X(0.02) 0\n    REPEAT 2 {\n        R_X(0.02) 1\n    }\n}"
    ).pauli_twirl()
    assert str(twirled).count("REPEAT") == 2
    assert str(twirled).startswith("REPEAT[a] 3 {\n    X_ERROR[twirl of R_X](0.000986636) 0\n")


def test_what_cannot_be_twirled() -> None:
    for below in (-0.1, 0.26, math.nan):
        with pytest.raises(ValueError, match="below must be"):
            snc.Circuit("R_X(0.1) 0").pauli_twirl(below=below)
    chain = "E(0.1) X0\nREPEAT 2 {\n    R_XX(0.1) 0 1\n}\nELSE_CORRELATED_ERROR(0.1) X1"
    with pytest.raises(ValueError, match="could end the chain"):
        snc.Circuit(chain).pauli_twirl()
    alone = snc.Circuit(chain.replace("R_XX(0.1) 0 1", "R_X(0.1) 0")).pauli_twirl()
    assert "X_ERROR" in str(alone)
