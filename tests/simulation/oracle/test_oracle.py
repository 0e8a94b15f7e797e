"""The density-matrix simulator against Stim, on Clifford circuits.

Statistical comparisons reject a correct simulator with a probability below ``ALPHA`` each. There
are fewer than 5000 of them, so that a whole run raises a false alarm with a probability below 1e-6.
"""

import numpy as np
import numpy.typing as npt
import pytest
import stim

from ...support.laws.exact import convolve, mask_of
from ...support.oracle.agreement import p_value
from ...support.oracle.density_matrix import (
    detector_distribution,
    final_density_matrix,
    record_distribution,
    reference_sample,
)
from ...support.oracle.random_circuits import (
    CLIFFORD_FAMILIES,
    Family,
    mirrored_circuit,
    one_group_per_instruction,
    random_circuit,
)
from ...support.rates.error_models import symptoms
from ...support.seeds import seeds

ALPHA = 1e-10
SHOTS = 50_000
CIRCUITS_PER_SEED = 10

UNITARY_GATES = [name for name, gate in stim.gate_data().items() if gate.is_unitary]

# Lines that use each of the other instructions, acting on qubits 0, 1 and 2.
OTHER_INSTRUCTIONS = {
    "DEPOLARIZE1": ["DEPOLARIZE1(0.3) 0 2", "DEPOLARIZE1(1) 1"],
    "DEPOLARIZE2": ["DEPOLARIZE2(0.4) 0 1", "DEPOLARIZE2(1) 1 2 2 0"],
    "DETECTOR": ["M 0\nDETECTOR(1, 2) rec[-1]"],
    "E": ["E(0.3) X0 Z1 Y2", "E(0.7) X0 Z0 Z1", "E(0.3) !X0", "E(1) X0*Y2", "E(0.5)"],
    "ELSE_CORRELATED_ERROR": [
        "ELSE_CORRELATED_ERROR(0.3) X0 Z1",
        "E(0.3) X0\nELSE_CORRELATED_ERROR(0.4) Y1\nELSE_CORRELATED_ERROR(1) Z0 X2",
        "REPEAT 2 {\n  MX 1\n  ELSE_CORRELATED_ERROR(0.5) Z1 X2\n}",
        "E(0.5) X0\nM 0\nE(0.2) X1\nTICK\nELSE_CORRELATED_ERROR(0.4) Z2",
    ],
    "HERALDED_ERASE": ["HERALDED_ERASE(0.4) 0 1", "HERALDED_ERASE(1) 2"],
    "HERALDED_PAULI_CHANNEL_1": ["HERALDED_PAULI_CHANNEL_1(0.1, 0.2, 0.05, 0.3) 0 2"],
    "II_ERROR": ["II_ERROR(0.3) 0 1", "II_ERROR(0.3, 0.2) 0 2", "II_ERROR 1 2"],
    "I_ERROR": ["I_ERROR(0.3) 0 1", "I_ERROR 2"],
    "MPAD": ["MPAD 0 1", "MPAD(0.3) 1 0"],
    "MPP": ["MPP X0*Z1 !Y0*Z2", "MPP(0.2) !X0*!Y1*!Z2", "MPP X0*Y0*Y1*X1 X0*Z0*X2*Z2 !X1*X1"],
    "OBSERVABLE_INCLUDE": ["M 0\nOBSERVABLE_INCLUDE(1) X0 rec[-1]"],
    "PAULI_CHANNEL_1": ["PAULI_CHANNEL_1(0.1, 0.3, 0.05) 0 1", "PAULI_CHANNEL_1(0.3, 0.3, 0.4) 2"],
    "PAULI_CHANNEL_2": [
        f"PAULI_CHANNEL_2({', '.join('0.7' if k == hit else '0.01' for k in range(15))}) 0 2"
        for hit in range(15)
    ],
    "QUBIT_COORDS": ["QUBIT_COORDS(1, 2) 0 7"],
    "REPEAT": ["REPEAT 2 {\n  REPEAT 2 {\n    MR 0\n    CX 1 0\n    H 1\n  }\n}"],
    "SHIFT_COORDS": ["SHIFT_COORDS(1, 2)"],
    "TICK": ["TICK"],
    **{name: [f"{name} 0 !1", f"{name}(0.2) !0 2"] for name in ("M", "MX", "MY")},
    **{name: [f"{name} 0 !0 1", f"{name}(0.2) !0 2"] for name in ("MR", "MRX", "MRY")},
    **{name: [f"{name} 0 !1 !1 !2", f"{name}(0.2) 0 2"] for name in ("MXX", "MYY", "MZZ")},
    **{name: [f"{name} 0", f"{name} 1 1 2"] for name in ("R", "RX", "RY")},
    **{f"{axis}_ERROR": [f"{axis}_ERROR({p}) 0 1 0"] for axis, p in (("X", 0.3), ("Y", 0.3), ("Z", 0.7))},
}
FEEDBACK = [
    f"{measurement}\n{gate}"
    for measurement in ("M(0.2) 0 !1", "MX !1 0")
    for gate in (
        "CX rec[-1] 0 rec[-2] 2", "CY rec[-1] 0 rec[-2] 2", "CZ rec[-1] 0 2 rec[-2]",
        "CZ rec[-1] rec[-2] rec[-1] sweep[0]", "XCZ 0 rec[-1] 2 rec[-2]", "YCZ 0 rec[-1] 2 rec[-2]",
        "CX sweep[0] 0 rec[-1] 1 1 2", "CZ 0 sweep[1] sweep[2] 1\nYCZ 2 sweep[5]",
    )
]  # fmt: skip


def assert_agrees_with_stim(circuit: stim.Circuit, seed: int) -> None:
    """Compares the distributions of records and of detectors with Stim's samplers."""
    distribution = record_distribution(circuit)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-12)
    samples = circuit.compile_sampler(seed=seed).sample(SHOTS)
    assert p_value(samples, distribution) > ALPHA, f"seed {seed}, records of\n{circuit}"
    is_without = not circuit.num_detectors + circuit.num_observables
    if is_without or any(t.pauli_type != "I" for t in observable_targets(circuit)):
        return
    flips = circuit.compile_detector_sampler(seed=seed).sample(SHOTS, append_observables=True)
    parities = flips ^ reference_parities(circuit)
    p = p_value(parities, detector_distribution(circuit))
    assert p > ALPHA, f"seed {seed}, detectors of\n{circuit}"


def observable_targets(circuit: stim.Circuit) -> list[stim.GateTarget]:
    return [
        target
        for instruction in circuit.flattened()
        if instruction.name == "OBSERVABLE_INCLUDE"
        for target in instruction.targets_copy()
    ]


def reference_parities(circuit: stim.Circuit) -> npt.NDArray[np.bool_]:
    """The parities of the detectors and observables in Stim's reference sample."""
    converter = circuit.compile_m2d_converter(skip_reference_sample=True)
    reference = circuit.reference_sample()[np.newaxis]
    result: npt.NDArray[np.bool_] = converter.convert(measurements=reference, append_observables=True)[0]
    return result


def test_every_instruction_of_stim_is_covered() -> None:
    assert {*UNITARY_GATES, *OTHER_INSTRUCTIONS} == set(stim.gate_data())


@pytest.mark.parametrize("gate", UNITARY_GATES)
def test_unitary_gates_match_their_stabilizers(gate: str) -> None:
    """The state after a gate acts on halves of Bell pairs determines the gate."""
    if gate in {"SPP", "SPP_DAG"}:
        uses = ["X0", "!Z1", "X0*Y1", "!X0*Z1 Y0*!Y1", "X0*Y0*Z1*X1", "Y0*Y0 !X1*X1"]
    else:
        uses = ["0 1", "1 0", "0 1 1 0"]
    for use in uses:
        circuit = stim.Circuit(f"H 0 1\nCX 0 2 1 3\n{gate} {use}")
        simulator = stim.TableauSimulator()
        simulator.do(circuit)
        expected = np.eye(16)
        for stabilizer in simulator.canonical_stabilizers():
            expected = expected @ (np.eye(16) + stabilizer.to_unitary_matrix(endian="little")) / 2
        np.testing.assert_allclose(final_density_matrix(circuit), expected, atol=1e-14)


@pytest.mark.parametrize("name", OTHER_INSTRUCTIONS)
def test_other_instructions(name: str) -> None:
    """Seeds 0, 1, ... for the lines of each instruction; significance ``ALPHA`` each."""
    for seed, lines in enumerate(OTHER_INSTRUCTIONS[name]):
        assert_lines_agree_with_stim(lines, seed)


@pytest.mark.parametrize("lines", FEEDBACK)
def test_feedback(lines: str) -> None:
    """Seed 0; significance ``ALPHA`` each."""
    assert_lines_agree_with_stim(lines, 0)


def assert_lines_agree_with_stim(lines: str, seed: int) -> None:
    """Runs the lines on several stabilizer states of three qubits, with measurements after them."""
    for preparation in ("", "H 0 1 2\nS 1 2\nX 2\nCZ 0 1\nCX 1 2", "H_YZ 0\nCY 0 1\nSQRT_X 2"):
        for basis in "XYZ":
            circuit = stim.Circuit(f"{preparation}\n{lines}\nM{basis} 0 1 2")
            assert_agrees_with_stim(circuit, seed)


@pytest.mark.parametrize("seed", seeds(20, quick=3))
def test_random_circuits(seed: int) -> None:
    """Circuits of the seeds [seed, 0], [seed, 1], ...; significance ``ALPHA`` each."""
    for k in range(CIRCUITS_PER_SEED):
        circuit = random_clifford_circuit(seed, k, CLIFFORD_FAMILIES)
        assert_agrees_with_stim(circuit, seed)


@pytest.mark.parametrize("seed", seeds(10, quick=3, first=100))
def test_detectors_match_the_detector_error_model(seed: int) -> None:
    """The exact distribution of the flips, for noise that consists of independent Pauli errors.

    Circuits of the seeds [seed, 0], [seed, 1], ...
    """
    for k in range(CIRCUITS_PER_SEED):
        families = CLIFFORD_FAMILIES - {Family.EXOTIC_NOISE}
        if k % 2 == 0:
            # In circuits that are not mirrored, observables may be random, which Stim rejects.
            families -= {Family.OBSERVABLES}
        circuit = random_clifford_circuit(seed, k, families)
        num_bits = circuit.num_detectors + circuit.num_observables
        if num_bits > 16:
            continue
        model = circuit.detector_error_model(allow_gauge_detectors=True)
        flips = convolve({flipped: p} for flipped, p in symptoms(model).items())
        reference = reference_parities(circuit)
        for parities, p in detector_distribution(circuit).items():
            found = flips.pop(mask_of(parities ^ reference), 0.0)
            assert p == pytest.approx(found, abs=1e-12), f"seed {seed}, {k}\n{circuit}"
        assert max(flips.values(), default=0.0) < 1e-12


def random_clifford_circuit(seed: int, k: int, families: frozenset[Family]) -> stim.Circuit:
    """Every other circuit is mirrored."""
    rng = np.random.default_rng([seed, k])
    if k % 2:
        return mirrored_circuit(rng, num_qubits=1 + k % 5, instructions=families)
    return random_circuit(rng, num_qubits=1 + k % 5, num_operations=25, instructions=families)


@pytest.mark.parametrize("seed", seeds(10, quick=3, first=200))
def test_reference_samples_match_stim(seed: int) -> None:
    """Exact equality, with one group of targets per instruction.

    Within one instruction, Stim breaks ties in an order that differs from that of the targets.
    """
    for k in range(CIRCUITS_PER_SEED):
        circuit = random_clifford_circuit(seed, 2 * k, CLIFFORD_FAMILIES)
        split = one_group_per_instruction(circuit)
        expected = tuple(int(bit) for bit in split.reference_sample())
        assert reference_sample(split, collapse_resets=True) == expected, f"{seed}, {k}\n{split}"


def test_p_value_accepts_and_rejects() -> None:
    """Seed 5; the rejections have a false-alarm probability below ``ALPHA``."""
    rng = np.random.default_rng(5)
    samples = rng.random((SHOTS, 3)) < [0.5, 0.3, 0.0]
    outcomes: list[tuple[int, ...]] = [(a, b, 0) for a in (0, 1) for b in (0, 1)]
    right = {bits: 0.5 * (0.3 if bits[1] else 0.7) for bits in outcomes}
    assert p_value(samples, right) > ALPHA
    shifted = {bits: 0.5 * (0.32 if bits[1] else 0.68) for bits in outcomes}
    assert p_value(samples, shifted) < ALPHA
    samples[0, 2] = True
    assert p_value(samples, right) == 0


def instructions_of(circuit: stim.Circuit) -> list[stim.CircuitInstruction]:
    return list(circuit.flattened())


def test_all_instructions_occur() -> None:
    """Seed 1; the circuits of a fixed seed do not vary."""
    rng = np.random.default_rng(1)
    names: set[str] = set()
    tags: set[str] = set()
    for _ in range(500):
        circuit = random_circuit(rng, num_qubits=3)
        names.update(instruction.name for instruction in circuit)
        for instruction in instructions_of(circuit):
            names.add(instruction.name)
            tags.add(f"{instruction.name}[{instruction.tag.partition('(')[0]}]")
    assert names == set(stim.gate_data())
    non_clifford = {f"{gate}[T]" for gate in ("S", "S_DAG", "SPP", "SPP_DAG")}
    non_clifford |= {f"I[{call}]" for call in ("R_X", "R_Y", "R_Z", "U3")}
    non_clifford |= {f"II[R_{axis * 2}]" for axis in "XYZ"}
    non_clifford |= {"SPP[R_PAULI]", "SPP_DAG[R_PAULI]"}
    assert tags >= non_clifford
