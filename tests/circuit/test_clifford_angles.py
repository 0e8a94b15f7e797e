"""Rotations by multiples of 0.5 half-turns are Clifford gates, in proxies and in what is computed from them.

And what stands for all other angles.
"""

from collections.abc import Sequence

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.dialect import RotationPart
from stim_nonclifford.dialect.feed_forward.clifford_rotations import rotations_of_clifford
from stim_nonclifford.simulation.compiler import RequestedOutputs

from ..support.laws.exact import convolve, exact_outputs, largest_difference
from ..support.oracle.agreement import p_value
from ..support.oracle.random_circuits import CLIFFORD_FAMILIES, Family, mirrored_circuit, random_circuit
from ..support.rates.error_models import symptoms
from ..support.seeds import seeds

ALPHA = 1e-7
"""Probability of a false alarm in the statistical test, over all of its comparisons."""

NOISE = "Z_ERROR(0.125) 0\nX_ERROR(0.0625) 0\nZ_ERROR(0.0625) 1\n"


def rotation(rng: np.random.Generator, letters: str, qubits: Sequence[int], half_turns: float) -> str:
    """One of the ways to write a rotation by a multiple of 0.5 half-turns."""
    angle = half_turns + 2 * int(rng.integers(-1, 2))
    product = "*".join(f"{letter}{qubit}" for letter, qubit in zip(letters, qubits, strict=True))
    ways = [
        f"R_PAULI({angle}) {product}",
        f"R_PAULI({-angle}) !{product}",
        f"SPP_DAG[R_PAULI(theta={-angle}*pi)] {product}",
    ]
    split = float(rng.choice([0.0, 0.5, 1.0]))
    ways += {
        "X": [f"R_X({angle}) {{0}}", f"U3({angle}, -0.5, 0.5) {{0}}"],
        "Y": [f"R_Y({angle}) {{0}}", f"U3({angle}, 0, 0) {{0}}"],
        "Z": [f"R_Z({angle}) {{0}}", f"U3(0, {split}, {angle - split}) {{0}}"],
        "XX": [f"R_XX({angle}) {{0}} {{1}}", f"II[R_XX(theta={angle}*pi)] {{0}} {{1}}"],
        "YY": [f"R_YY({angle}) {{0}} {{1}}", f"II[R_YY(theta={angle}*pi)] {{0}} {{1}}"],
        "ZZ": [f"R_ZZ({angle}) {{0}} {{1}}", f"II[R_ZZ(theta={angle}*pi)] {{0}} {{1}}"],
    }.get(letters, [])
    return str(rng.choice(ways)).format(*qubits)


def as_rotations(rng: np.random.Generator, circuit: stim.Circuit) -> snc.Circuit:
    """The circuit with each Clifford gate written as rotations, in all of the ways."""
    lines: list[str] = []
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            lines += [f"REPEAT {part.repeat_count} {{", str(as_rotations(rng, part.body_copy())), "}"]
        elif part.name.startswith("SPP"):
            for group in part.target_groups():
                factors = [target for target in group if not target.is_combiner]
                turns = 0.5 if part.name == "SPP" else -0.5
                turns *= (-1) ** sum(target.is_inverted_result_target for target in factors)
                letters = "".join(target.pauli_type for target in factors)
                lines.append(rotation(rng, letters, [target.value for target in factors], turns))
        elif not stim.gate_data(part.name).is_unitary:
            lines.append(str(part))
        else:
            for group in part.target_groups():
                lines += _gate(rng, part.name, group)
    return snc.Circuit("\n".join(lines))


def _gate(rng: np.random.Generator, name: str, group: Sequence[stim.GateTarget]) -> list[str]:
    if not all(target.is_qubit_target for target in group):  # a Pauli that a record controls
        control, qubit = sorted(group, key=lambda target: target.is_qubit_target)
        letter = name.replace("C", "") if name[0] == "C" else name[0]
        bit = f"sweep[{control.value}]" if control.is_sweep_bit_target else f"rec[{control.value}]"
        angle = 1 + 2 * int(rng.integers(-2, 2))
        ways = [f"C_R_{letter}({angle})", f"C_U3({'1, 0, 1' if letter == 'X' else '1, 0, 0'})"]
        return [f"{rng.choice(ways[: 2 if letter in 'XY' else 1])} {bit} {qubit.value}"]
    qubits = [target.value for target in group]
    lines = ["I " + " ".join(map(str, qubits))]  # which keeps the number of qubits
    for part in rotations_of_clifford(name):
        if isinstance(part, RotationPart):
            chosen = [(letter, q) for letter, q in zip(part.pauli, qubits, strict=True) if letter != "_"]
            lines.append(
                rotation(
                    rng, "".join(letter for letter, _ in chosen), [q for _, q in chosen], part.half_turns
                )
            )
        else:
            lines.append(rotation(rng, part.name, [qubits[part.targets[0]]], 1.0))
    return lines


@pytest.mark.parametrize("seed", seeds(4, quick=1))
def test_the_default_model_is_that_of_the_plain_circuit(seed: int) -> None:
    """And both models, where exact, have the distribution that is sampled: circuits of seeds [seed, 0], ..."""
    families = CLIFFORD_FAMILIES - {Family.EXOTIC_NOISE}
    errors = 0
    values = []
    for k in range(60):
        rng = np.random.default_rng([seed, k])
        if k % 2:
            plain = mirrored_circuit(rng, num_qubits=3, instructions=families)
        else:  # with records that control Paulis; observables may be random, which Stim does not accept
            plain = random_circuit(rng, num_qubits=3, instructions=families - {Family.OBSERVABLES})
        circuit = as_rotations(rng, plain)
        np.testing.assert_array_equal(circuit.quantum_detectors(), snc.Circuit(plain).quantum_detectors())
        expected = symptoms(plain.detector_error_model(allow_gauge_detectors=True))
        found = symptoms(circuit.detector_error_model(allow_gauge_detectors=True))
        assert largest_difference(found, expected) < 1e-9, circuit
        proxy = circuit.i_proxy().detector_error_model(allow_gauge_detectors=True)
        assert largest_difference(symptoms(proxy), expected) < 1e-9, circuit
        errors += len(expected)

        law = convolve({flipped: p} for flipped, p in expected.items())
        direct = symptoms(circuit.detector_error_model(kind="noise_only"))
        assert largest_difference(convolve({key: p} for key, p in direct.items()), law) < 1e-9, circuit
        size = circuit.num_detectors + circuit.num_observables
        outputs = exact_outputs(circuit.compile().detector_plan(RequestedOutputs.of(range(size))))
        assert largest_difference(outputs.kept, law) < 1e-9, circuit
        shots = circuit.compile_detector_sampler(seed=k).sample(500, append_observables=True)
        assert isinstance(shots, np.ndarray)
        values.append(p_value(shots, {tuple(key >> b & 1 for b in range(size)): p for key, p in law.items()}))
    assert errors > 60
    assert min(values) > ALPHA / len(values)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("R_X(0.5) 0\nZ_ERROR(0.125) 0\nR_X(-0.5) 0", "error(0.125) D0"),
        ("R_PAULI(1) Y0\nZ_ERROR(0.125) 0\nR_PAULI(1) Y0", ""),
        ("H 0\nR_Z(0.5) 0\nX_ERROR(0.125) 0\nR_Z(-0.5) 0\nH 0", "error(0.125) D0"),
        ("U3(0.5, 0, 1) 0\nX_ERROR(0.125) 0\nU3(0.5, 0, 1) 0", ""),
        ("U3(0.5, 0, 1) 0\nZ_ERROR(0.125) 0\nU3(0.5, 0, 1) 0", "error(0.125) D0"),
        ("R_XX(0.01) 0 1\nZ_ERROR(0.125) 0\nR_XX(-0.01) 0 1", ""),  # noise is not a quarter turn
        ("RX 1\nM 1\nC_R_X(1) rec[-1] 0\nX_ERROR(0.125) 0\nCX rec[-1] 0", "error(0.125) D0"),
        ("RX 1\nM 1\nC_R_XY(-3) rec[-1] 0 2\nCX rec[-1] 0\nX_ERROR(0.125) 2\nCX rec[-1] 2 2 0", "error(0.125) D0"),
        ("R_X(0.5) 0\nEXP_VAL Y0\nZ_ERROR(0.125) 0\nR_X(-0.5) 0", "error(0.125) D0"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
def test_small_circuits(text: str, error: str) -> None:
    circuit = snc.Circuit(text + "\nM 0\nDETECTOR rec[-1]")
    for kind in ("s_proxy", "noise_only"):
        model = circuit.detector_error_model(kind=kind)
        assert [str(part) for part in model if part.type == "error"] == [error][: len(error)]


STAND_INS = {
    "T 0": ("S 0", "I 0"),
    "T_DAG 0": ("S_DAG 0", "I 0"),
    "R_Z(0) 0": ("I 0", "I 0"),
    "R_Z(0.1) 0": ("I 0", "I 0"),
    "R_Z(0.125) 0": ("I 0", "I 0"),
    "R_Z(0.13) 0": ("S 0", "I 0"),
    "R_Z(0.25) 0": ("S 0", "I 0"),
    "R_Z(-0.25) 0": ("S_DAG 0", "I 0"),
    "R_Z(0.75) 0": ("S 0", "I 0"),
    "R_Z(1.25) 0": ("S_DAG 0", "I 0"),
    "R_Z(0.4) 0": ("S 0", "S 0"),
    "R_Z(0.52) 0": ("S 0", "S 0"),
    "R_X(0.5) 0 2": ("SQRT_X 0 2", "SQRT_X 0 2"),
    "R_Y(-0.5) 0": ("SQRT_Y_DAG 0", "SQRT_Y_DAG 0"),
    "R_X(1.02) 0": ("X 0", "X 0"),
    "R_ZZ(0.03) 0 1": ("I 0 1", "I 0 1"),
    "R_ZZ(0.25) 0 1": ("SPP Z0*Z1", "I 0 1"),
    "R_PAULI(-0.25) X0*Y1": ("SPP_DAG X0*Y1", "I 0 1"),
    "R_PAULI(-0.25) !X0*Y1": ("SPP_DAG !X0*Y1", "I 0 1"),
    "R_XX(0.5) 0 1 2 3": ("SPP X0*X1 X2*X3", "SPP X0*X1 X2*X3"),
    "II[R_XX(theta=1.5*pi)] 0 1": ("SPP_DAG X0*X1", "SPP_DAG X0*X1"),
    "R_PAULI(1) X0*Y1": ("X 0\nY 1", "X 0\nY 1"),
    "R_PAULI(0.5) X0 Z0": ("SQRT_X 0\nS 0", "SQRT_X 0\nS 0"),
    "U3(0.5, 0, 1) 0 1": ("H 0 1", "H 0 1"),
    "U3(0.49, 0.02, 0.97) 0": ("H 0", "H 0"),
    "U3(0, 0.25, 0.25) 0": ("S 0", "S 0"),
    "U3(0, 0.125, 0.125) 0": ("S 0", "I 0"),
    "U3(1, 0.3, -0.2) 0": ("H_NXY 0", "H_NXY 0"),  # Y and then S
    "CS 0 1": ("II 0 1", "I 0 1"),
    "CCZ 0 1 2": ("I 0 1 2", "I 0 1 2"),
    "M 0\nC_R_X(1) rec[-1] 0 rec[-1] 1": ("M 0\nCX rec[-1] 0 rec[-1] 1",) * 2,
    "M 0\nC_R_XZ(-1) rec[-1] 0 1": ("M 0\nCX rec[-1] 0\nCZ rec[-1] 1",) * 2,
    "M 0\nC_R_X(0.02) rec[-1] 0": ("M 0\nI 0",) * 2,
    "M 0\nC_R_X(2) rec[-1] 0": ("M 0\nI 0",) * 2,
    "M 0\nC_U3(1, 0.5, 1.5) rec[-1] 0": ("M 0\nCY rec[-1] 0\nCZ rec[-1] 0",) * 2,
    "M 0\nC_R_Z(0.5) rec[-1] 0": ("M 0\nCZ rec[-1] 0", "M 0\nI 0"),
    "M 0\nC_U3(0, 0.25, 0.25) rec[-1] 0": ("M 0\nCZ rec[-1] 0", "M 0\nI 0"),
}
"""Circuits, and their S-proxies and I-proxies."""


@pytest.mark.parametrize("text", STAND_INS)
def test_what_stands_for_an_angle(text: str) -> None:
    circuit = snc.Circuit(text)
    assert (str(circuit.s_proxy()), str(circuit.i_proxy())) == STAND_INS[text]
    assert circuit.i_proxy().num_qubits == circuit.s_proxy().num_qubits == circuit.num_qubits


@pytest.mark.parametrize("name", ["R_X", "R_Y", "R_Z"])
def test_equal_gates_have_equal_stand_ins_and_those_of_inverse_gates_cancel(name: str) -> None:
    """All angles in steps of 1/16 of a half-turn."""
    for k in range(-32, 33):
        angle = k / 16
        proxies = [snc.Circuit(f"{name}({a}) 0").s_proxy() for a in (angle, angle + 2, angle - 2)]
        assert proxies[0] == proxies[1] == proxies[2]
        back = snc.Circuit(f"{name}({-angle}) 0").s_proxy()
        assert (proxies[0] + back).to_tableau() == stim.Tableau(1)
