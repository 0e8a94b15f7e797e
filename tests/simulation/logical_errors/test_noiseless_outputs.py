"""Which outputs are random without noise, against density matrices, and in circuits that can be read."""

from collections.abc import Collection

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.simulation.logical_errors.noiseless_outputs import (
    lines_of_observable,
    outputs_of_chance,
    random_outputs,
)

from ...support.oracle.density_matrix import detector_distribution
from ...support.oracle.random_circuits import ALL_FAMILIES, Family, mirrored_circuit, random_circuit

NEGLIGIBLE = 1e-11
FAMILIES = ALL_FAMILIES - {Family.ROTATIONS, Family.CONDITIONAL}


def exactly_random(
    circuit: stim.Circuit, reference: int, asked: Collection[int], postselected: Collection[int]
) -> list[int]:
    """The outputs that have both values in the distribution of the circuit without noise."""
    seen: dict[int, set[int]] = {k: set() for k in asked}
    for bits, probability in detector_distribution(circuit.without_noise()).items():
        flips = [int(bit) ^ (reference >> k & 1) for k, bit in enumerate(bits)]
        if probability > NEGLIGIBLE and not any(flips[k] for k in postselected):
            for k in asked:
                seen[k].add(flips[k])
    return sorted(k for k in asked if len(seen[k]) == 2)


@pytest.mark.parametrize("seed", range(2))
def test_equals_density_matrices(seed: int) -> None:
    """Random circuits with T gates, feedback and coins, with any detectors postselected."""
    found_random = found_certain = conditional = 0
    for k in range(40):
        rng = np.random.default_rng([8311, seed, k])
        if k % 3:
            size = 1 + int(rng.integers(4))
            circuit = random_circuit(rng, num_qubits=size, num_operations=24, instructions=FAMILIES)
        else:
            circuit = mirrored_circuit(rng, num_qubits=3, instructions=FAMILIES)
        own = snc.Circuit(circuit)
        outputs = range(own.num_detectors + own.num_observables)
        postselected = [d for d in range(own.num_detectors) if rng.random() < 0.5]
        asked = [k for k in outputs if k not in postselected]
        reference = own.compile().reference_detectors()
        expected = exactly_random(circuit, reference, asked, postselected)
        assert random_outputs(own.compile(), asked, postselected) == expected, f"{seed}, {k}\n{own}"
        assert set(expected) <= set(outputs_of_chance(own.compile()))
        found_random += len(expected)
        found_certain += len(asked) - len(expected)
        conditional += len(exactly_random(circuit, reference, asked, [])) > len(expected)
    assert min(found_random, found_certain) > 20
    assert conditional > 0


RANDOM = [
    ("RX 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]", True, True),
    ("RX 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]", False, False),
    ("RX 0\nM 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]", False, False),
    ("RX 0\nT 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]", True, True),
    ("RX 0\nT 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]", False, True),
    # An outcome that is hardly ever 1: two rotations of 1/8 that add up to almost nothing.
    ("RX 0\nR_Z(0.125) 0\nR_Z(-0.1249) 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]", True, True),
    # Random with each other, certain together.
    ("RX 0\nT 0\nCX 0 1\nM 0 1\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]", False, False),
    ("RX 0\nT 0\nH 0\nCX 0 1\nM 0 1\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]", False, None),
    # A teleported T gate with and without its correction.
    ("RX 0 1\nT 1\nCX 0 1\nM 1\nC_S rec[-1] 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]", False, True),
    ("RX 0 1\nT 1\nCX 0 1\nM 1\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]", True, True),
    # Pauli targets.
    ("OBSERVABLE_INCLUDE(0) X0", True, True),
    ("OBSERVABLE_INCLUDE(0) Z0", False, False),
    ("RX 0\nT 0\nOBSERVABLE_INCLUDE(0) X0", True, True),
    ("RX 0\nT 0\nOBSERVABLE_INCLUDE(0) Z0", True, True),
    ("RX 0\nT 0\nT_DAG 0\nOBSERVABLE_INCLUDE(0) X0", False, True),
    ("RX 0\nT 0\nT 0\nOBSERVABLE_INCLUDE(0) Y0", False, None),
    ("RX 0\nT 0\nMX 1\nCX 0 1\nOBSERVABLE_INCLUDE(0) X0 X1 rec[-1]", True, True),
    ("RX 0 1\nT 1\nOBSERVABLE_INCLUDE(0) X1\nT 1\nT_DAG 1\nOBSERVABLE_INCLUDE(0) X1", False, None),
    ("RX 0\nREPEAT 3 {\n T 0\n T_DAG 0\n M 1\n OBSERVABLE_INCLUDE(0) X0\n}", False, None),
    ("RX 0\nREPEAT 3 {\n T 0\n M 1\n OBSERVABLE_INCLUDE(0) X0\n}", True, None),
]


@pytest.mark.parametrize(("text", "is_random", "is_quantum"), RANDOM)
def test_one_observable(text: str, is_random: bool, is_quantum: bool | None) -> None:
    """Random without noise; and dependent on outcomes at all, where it is clear what that means."""
    circuit = snc.Circuit(text)
    assert random_outputs(circuit.compile(), [0]) == [0] * is_random
    if is_quantum is not None:
        assert circuit.quantum_observables().tolist() == [is_quantum]


def test_small_angles_are_noise() -> None:
    """Up to a tenth of a half-turn, from a multiple of a quarter: more is a gate."""
    for gates, is_random in [
        ("R_Z(0.1) 0", False),
        ("R_Z(0.101) 0", True),
        ("R_Z(-0.09) 0", False),
        ("R_Z(0.15) 0\nT_DAG 0", False),
        ("R_Z(0.149) 0\nT_DAG 0", True),
        ("R_Z(0.27) 0", True),
        ("R_Z(0.45) 0\nS_DAG 0", False),
        ("U3(0.02, 0.01, 0) 0", False),
        ("R_XX(0.05) 0 1", False),
        # Each alone would be noise; together they are undone.
        ("R_Z(0.05) 0\n" * 5 + "T_DAG 0", False),
    ]:
        circuit = snc.Circuit(f"RX 0\n{gates}\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
        assert random_outputs(circuit.compile(), [0]) == [0] * is_random, gates


def test_coherent_noise_in_a_code() -> None:
    """Rotations about Z on all data qubits of a surface code flip observables and detectors, as noise does."""
    text = str(stim.Circuit.generated("surface_code:rotated_memory_x", distance=3, rounds=2))
    circuit = snc.Circuit(text.replace("TICK", "R_Z(0.02) 1 3 5 8 10 12 15 17 19", 1))
    compiled = circuit.compile()
    assert circuit.quantum_observables().all()
    assert circuit.quantum_detectors().any()
    outputs = range(circuit.num_detectors + 1)
    assert random_outputs(compiled, outputs) == []
    rotated = snc.Circuit(text.replace("TICK", "T 1 3 5 8 10 12 15 17 19", 1))
    assert circuit.num_detectors in random_outputs(rotated.compile(), outputs)


def test_random_only_where_discarded() -> None:
    """A T state that a check projects: the observable follows the check, and is certain in kept shots."""
    circuit = snc.Circuit("RX 0\nT 0\nMX 0\nDETECTOR rec[-1]\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert random_outputs(circuit.compile(), [1]) == [1]
    assert random_outputs(circuit.compile(), [1], postselected=[0]) == []


def test_coins_on_postselected_detectors() -> None:
    """Coins that flip detectors: only tosses that keep the shot count."""
    circuit = snc.Circuit(
        """
        RX 0 1 2
        M 0 1 2
        DETECTOR rec[-1] rec[-2]
        DETECTOR rec[-2] rec[-3]
        OBSERVABLE_INCLUDE(0) rec[-1] rec[-3]
        OBSERVABLE_INCLUDE(1) rec[-1]
        """
    )
    compiled = circuit.compile()
    assert random_outputs(compiled, range(4)) == [0, 1, 2, 3]
    assert random_outputs(compiled, range(4), postselected=[0]) == [1, 2, 3]
    assert random_outputs(compiled, range(4), postselected=[0, 1]) == [3]
    assert circuit.quantum_detectors().tolist() == [True, True]
    assert circuit.quantum_observables().tolist() == [True, True]


def test_observables_that_do_not_commute() -> None:
    """To measure X of a Y eigenstate makes Y random afterwards; only X is random by itself."""
    circuit = snc.Circuit("RX 0\nT 0\nT 0\nOBSERVABLE_INCLUDE(0) X0\nOBSERVABLE_INCLUDE(1) Y0")
    assert random_outputs(circuit.compile(), [0, 1]) == [0]


def test_many_coins_and_wide_circuits() -> None:
    """Hundreds of coins, and T states of 2^12 coefficients: no path is listed twice, and few are walked."""
    num_qubits = 300
    everywhere = " ".join(map(str, range(num_qubits)))
    text = f"RX {everywhere}\nM {everywhere}\nRX 0\nT 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]\n"
    text += f"OBSERVABLE_INCLUDE(1) rec[-2] rec[-3]\nM {num_qubits}\nOBSERVABLE_INCLUDE(2) rec[-1]"
    assert random_outputs(snc.Circuit(text).compile(), range(3)) == [0, 1]
    wide = "H 0 1 2 3 4 5 6 7 8 9 10 11\nT 0 1 2 3 4 5 6 7 8 9 10 11\n" + "".join(
        f"CX {k} {k + 1}\nH {k}\nT {k}\n" for k in range(11)
    )
    circuit = snc.Circuit(wide + "M 0 1 2 3 4 5 6 7 8 9 10 11\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert random_outputs(circuit.compile(), [0]) == [0]
    mirrored = snc.Circuit(wide)
    mirrored += mirrored.inverse() + snc.Circuit("M 3\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert random_outputs(mirrored.compile(), [0]) == []


def test_paths_do_not_depend_on_the_noise() -> None:
    """Certain noise flips an observable in every shot; that does not make it random."""
    circuit = snc.Circuit("X_ERROR(1) 0\nX_ERROR(0.5) 1\nM 0 1\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]")
    assert random_outputs(circuit.compile(), [0]) == []


def test_lines() -> None:
    text = (
        "M 0\nREPEAT 2 {\n    M 0\n    OBSERVABLE_INCLUDE[tag](1) rec[-1]\n}\nOBSERVABLE_INCLUDE(11) rec[-1]"
    )
    assert lines_of_observable(stim.Circuit(text), 1) == [4]
    assert lines_of_observable(stim.Circuit(text), 11) == [6]
