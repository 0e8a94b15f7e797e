"""Kraus operators, relaxation and readout noise that depends on the outcome, compared with density matrices."""

import math
from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford import Circuit
from stim_nonclifford.dialect import relaxation_of

from ..support.laws.exact import exact_outputs, largest_difference
from ..support.laws.records import assert_records_agree
from ..support.oracle.density_matrix import record_distribution
from ..support.oracle.leakage import leaked_record_distribution
from ..support.oracle.operators import PAULIS, Matrix
from ..support.oracle.relaxation import kraus_operators
from ..support.seeds import seeds
from ..support.texts.round_trips import read_again


def random_operators(rng: np.random.Generator, count: int, strength: float = 1.0) -> Matrix:
    """Kraus operators of a random channel, near to the identity if the strength is small."""
    parts = rng.normal(size=(2, count, 2, 2))
    operators = strength * (parts[0] + 1j * parts[1])
    operators[0] += (1 - strength) * np.eye(2)
    left, _, right = np.linalg.svd(operators.reshape(-1, 2), full_matrices=False)
    return (left @ right).reshape(-1, 2, 2)


DAMPING = np.array([[[1, 0], [0, math.sqrt(0.7)]], [[0, math.sqrt(0.3)], [0, 0]]], dtype=np.complex128)
RESET = np.array([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], dtype=np.complex128)
HEATING = np.concatenate([math.sqrt(0.8) * DAMPING, math.sqrt(0.2) * DAMPING[:, ::-1, ::-1]])
CHANNELS = {
    "damping": DAMPING,
    "reset": RESET,
    "damping and heating": HEATING,
    "unitary": random_operators(np.random.default_rng(1), 1),
    "dephasing in a tilted basis": np.array(
        [math.sqrt(0.8) * np.eye(2), math.sqrt(0.2) * (0.6 * PAULIS["X"] + 0.8 * PAULIS["Z"])]
    ),
    **{f"{n} operators": random_operators(np.random.default_rng(n), n) for n in (2, 3, 4, 6)},
    "weak": random_operators(np.random.default_rng(7), 4, 0.05),
}


def appended(before: str, operators: Matrix, targets: list[int], after: str) -> Circuit:
    circuit = Circuit(before)
    circuit.append("KRAUS", targets, operators)
    return circuit + Circuit(after)


def twirl_of(operators: Matrix, qubits: int) -> list[float]:
    """The probabilities of the Pauli products but the identity: the diagonal of the channel."""
    products = [np.eye(1)]
    for _ in range(qubits):
        products = [np.kron(PAULIS[letter], product) for product in products for letter in "IXYZ"]
    return [sum(abs(np.trace(product @ k) / 2**qubits) ** 2 for k in operators) for product in products[1:]]


@pytest.mark.parametrize("name", CHANNELS)
def test_channels(name: str) -> None:
    before = "R_X(0.3) 0\nT 0\nR_Y(0.4) 1\nCX 0 1\nR_X(0.7) 1"
    for bases in (("MX", "MY"), ("MY", "M"), ("M", "MX")):
        circuit = appended(before, CHANNELS[name], [0, 1], f"T 0\nCX 1 0\n{bases[0]} 0\n{bases[1]} 1")
        assert_records_agree(circuit)


def random_pair_operators(rng: np.random.Generator, count: int) -> Matrix:
    parts = rng.normal(size=(2, 4 * count, 4))
    left, _, right = np.linalg.svd(parts[0] + 1j * parts[1], full_matrices=False)
    return (left @ right).reshape(-1, 4, 4)


CX = stim.gate_data("CX").unitary_matrix.astype(np.complex128)
SWAPPED = np.array([np.diag([1, 0, 0, 1]), [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]])
PAIR_CHANNELS = {
    "gate": CX[np.newaxis],
    "damping of both": np.array([np.kron(b, a) for a in DAMPING for b in DAMPING]),
    "damping and CX": np.array(
        [math.sqrt(0.5) * CX, *math.sqrt(0.5) * np.array([np.kron(k, np.eye(2)) for k in DAMPING])]
    ),
    "parity": SWAPPED.astype(np.complex128),
    "collective decay": np.array(
        [
            np.diag([1, math.sqrt(0.8), math.sqrt(0.8), 1]),
            math.sqrt(0.2)
            * np.eye(4)[[1, 0, 0, 0]]
            * [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
            math.sqrt(0.2)
            * np.eye(4)[[2, 0, 0, 0]]
            * [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        ],
        dtype=np.complex128,
    ),
    **{f"{n} operators": random_pair_operators(np.random.default_rng(n), n) for n in (1, 2, 3, 5, 16)},
}


@pytest.mark.parametrize("name", PAIR_CHANNELS)
def test_channels_on_pairs(name: str) -> None:
    operators = PAIR_CHANNELS[name]
    circuit = Circuit("R_X(0.3) 0\nT 0\nR_Y(0.4) 1\nCX 0 1\nR_X(0.7) 1")
    circuit.append("KRAUS2", [1, 0], operators)
    circuit += Circuit("T 0\nCX 1 0\nMY 0\nMX 1")
    assert_records_agree(circuit)
    (twirled,) = (part for part in circuit.pauli_twirl().to_stim() if part.name == "PAULI_CHANNEL_2")
    np.testing.assert_allclose(twirled.gate_args_copy(), twirl_of(operators, 2), atol=1e-14)


def test_a_leaked_qubit_stays_as_it_is() -> None:
    circuit = appended("X 0\nLEAKAGE(0.3) 0", DAMPING, [0], "M 0")
    assert_records_agree(circuit, leaked_record_distribution)
    for model in ("", "LEAKAGE_PARTNER(0.1, 0, 0.2) 0\n"):
        pair = Circuit(f"{model}X 0\nH 1\nT 1\nLEAKAGE(0.3) 0")
        pair.append("KRAUS2", [0, 1], PAIR_CHANNELS["damping and CX"])
        assert_records_agree(pair + Circuit("M 0\nMX 1"), leaked_record_distribution)


@pytest.mark.parametrize("damping", [0.0, 1e-9, 0.4])
def test_a_channel_acts_on_the_partner_of_a_leaked_qubit(damping: float) -> None:
    # It is no gate, so that it disturbs nobody else: a weak one is near to none.
    decay = [np.diag([1, math.sqrt(1 - damping)]), np.array([[0, math.sqrt(damping)], [0, 0]])]
    for model in ("", "LEAKAGE_PARTNER(0.1, 0.3, 0.2) 0\n"):
        circuit = Circuit(f"{model}X 1\nLEAKAGE(1) 0")
        circuit.append("KRAUS2", [0, 1], [np.kron(operator, np.eye(2)) for operator in decay])
        ones = exact_outputs((circuit + Circuit("M 1")).compile().record_plan()).kept.get(1, 0.0)
        assert ones == pytest.approx(1 - damping, abs=1e-12)


def test_width_is_that_of_relaxation() -> None:
    """No more for Kraus operators of damping than for AMPLITUDE_DAMPING itself."""
    before, after = "R_X(0.3) 0 1\nT 0\nCX 0 1", "H 0 1\nM 0 1"
    as_kraus = appended(before, DAMPING, [0, 1], after).plan()
    as_damping = Circuit(f"{before}\nAMPLITUDE_DAMPING(0.3) 0 1\n{after}").plan()
    assert as_kraus.peak_width == as_damping.peak_width


def test_a_mixture_of_paulis_is_noise() -> None:
    operators = [
        math.sqrt(p) * PAULIS[letter] for letter, p in zip("IXYZ", (0.7, 0.1, 0.05, 0.15), strict=True)
    ]
    mixed = np.einsum("ij,jab->iab", np.linalg.qr(np.arange(16).reshape(4, 4) ** 2 % 7 + 1j)[0], operators)
    for given in (np.array(operators), mixed):
        circuit = appended("R 0", given, [0], "M 0\nDETECTOR rec[-1]")
        assert {fault.pauli for fault in circuit.faults()} == {"X0", "Y0", "Z0"}
        assert (
            str(circuit.pauli_twirl()).splitlines()[1] == "PAULI_CHANNEL_1[twirl of KRAUS](0.1, 0.05, 0.15) 0"
        )


def test_arrays_of_another_shape_are_refused() -> None:
    for operators in (np.eye(4)[np.newaxis], np.eye(2), [["a"]], [[1, 2], [3]]):
        with pytest.raises(ValueError, match="operators on one qubit, an array of shape"):
            Circuit().append("KRAUS", [0], operators)
    with pytest.raises(ValueError, match=r"on two qubits.* For operators on one qubit, write KRAUS\."):
        Circuit().append("KRAUS2", [0, 1], DAMPING)


DAMPINGS = (
    "AMPLITUDE_DAMPING(0.3)",
    "AMPLITUDE_DAMPING(0.04)",
    "PHASE_DAMPING(0.2)",
    "THERMAL_RELAXATION(0.2, 0.3)",
)


def damped_text(seed: int) -> str:
    """Gates, noise, measurements and feedback on three qubits, with relaxation between them."""
    rng = np.random.default_rng(seed)
    lines = ["H 0 1 2"]
    records = 0
    for _ in range(8):
        a, b = rng.choice(3, size=2, replace=False)
        lines.append(f"{rng.choice(['T', 'R_X(0.3)', 'H', 'SQRT_Y'])} {a}")
        lines.append(f"{rng.choice(['CX', 'CZ', 'ISWAP'])} {a} {b}")
        lines.append(f"{rng.choice(DAMPINGS)} {b}")
        kind = rng.integers(5)
        if kind == 0:
            lines.append(f"{rng.choice(['M', 'MR', 'MX'])}(0.1) {a}")
            records += 1
        elif kind == 1:
            lines.append(f"DEPOLARIZE1(0.1) {a}")
        elif kind == 2 and records:
            lines.append(f"CX rec[-1] {a}")
    lines.append("MY 0\nMX 1\nM 2")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", seeds(12, quick=5))
def test_damping_has_the_distribution_of_the_density_matrix(seed: int) -> None:
    assert_records_agree(Circuit(damped_text(seed)))


@pytest.mark.parametrize("line", [*DAMPINGS, "AMPLITUDE_DAMPING(1)", "THERMAL_RELAXATION(3, 1.5)", *CHANNELS])
def test_the_twirl_is_the_diagonal_of_the_channel(line: str) -> None:
    circuit = appended("", CHANNELS[line], [0], "") if line in CHANNELS else Circuit(f"{line} 0")
    (instruction,) = circuit.to_stim()
    weights = twirl_of(CHANNELS[line] if line in CHANNELS else kraus_operators(instruction.tag), 1)
    (twirled,) = circuit.pauli_twirl().to_stim()
    arguments = twirled.gate_args_copy()
    np.testing.assert_allclose([0] * (3 - len(arguments)) + arguments, weights, atol=1e-14)
    if line not in CHANNELS:
        channel = relaxation_of(instruction)
        assert channel is not None
        np.testing.assert_allclose(channel.twirl, weights, atol=1e-14)


def test_the_reference_sample_is_noiseless() -> None:
    """Although the decay is the likelier outcome."""
    circuit = Circuit("X 0\nT 0\nAMPLITUDE_DAMPING(0.9) 0\nM 0\nDETECTOR rec[-1]")
    assert circuit.reference_sample().tolist() == [True]
    assert (
        abs(circuit.compile_detector_sampler(seed=1).sample(10_000).mean() - 0.9) < 0.02
    )  # 6 standard errors


def test_phase_damping_is_a_pauli_error() -> None:
    circuit = Circuit("RX 0\nPHASE_DAMPING(0.19) 0\nMX 0\nDETECTOR rec[-1]")
    assert [fault.pauli for fault in circuit.faults()] == ["Z0"]
    expected = stim.DetectorErrorModel("error(0.05) D0")
    assert circuit.detector_error_model().approx_equals(expected, atol=1e-12)


def test_a_decay_has_no_inverse() -> None:
    with pytest.raises(ValueError, match="noise"):
        Circuit("AMPLITUDE_DAMPING(0.1) 0").inverse()


TOLERANCE = 1e-10
READINGS = (
    "M(0.1, 0.3) {a} !{b}", "MX(0.2, 0.05) !{a}", "MY(0, 1) {a}", "MR(0.3, 0) !{a} {b}", "MRX(0.05, 0.4) {a}",
    "MRY(1, 0) {a}", "MXX(0.1, 0.2) {a} !{b}", "MYY(0.3, 0.2) {a} {b}", "MZZ(0, 0.2) {a} {b}",
    "MPP(0.2, 0.9) !X{a}*Y{b} Z{a}*Z{b}", "M(1, 1) {a}", "M(0.2, 0.2) {b}", "MPP(0.1, 0.2) Y{a}",
)  # fmt: skip


def misread_text(seed: int, *, leaks: bool = False) -> str:
    """Gates, misread measurements and feedback on three qubits."""
    rng = np.random.default_rng(seed)
    lines = ["H 0 1 2"]
    for k in range(2):
        a, b = rng.choice(3, size=2, replace=False)
        lines.append(f"{rng.choice(['T', 'R_X(0.3)', 'R_Y(0.6)', 'SQRT_Y'])} {a}")
        lines.append(f"{rng.choice(['CX', 'CZ', 'ISWAP'])} {a} {b}")
        if leaks and k == 0:
            lines.append(f"{rng.choice(['LEAKAGE', 'LOSS'])}(0.3) {a}")
        lines.append(READINGS[(2 * seed + k) % len(READINGS)].format(a=a, b=b))
        lines.append(f"{rng.choice(['CX rec[-1]', 'C_R_Y(0.3) rec[-1]', 'X_ERROR(0.1)'])} {b}")
    return "\n".join([*lines, "M(0.1, 0.2) 0", "MX 1"])


@pytest.mark.parametrize("leaks", [False, True])
@pytest.mark.parametrize("seed", range(7))
def test_readings_have_the_distribution_of_the_density_matrix(seed: int, leaks: bool) -> None:
    oracle = leaked_record_distribution if leaks else record_distribution
    assert_records_agree(Circuit(misread_text(seed, leaks=leaks)), oracle)


@pytest.mark.parametrize("seed", range(14))
def test_readings_of_leaked_qubits_are_misread_only_once(seed: int) -> None:
    models = "LEAKAGE_READOUT(0.8) 0 2\n" + "LEAKAGE_PARTNER(0.1, 0.3, 0.2) 1\n" * (seed % 2)
    circuit = Circuit(models + misread_text(seed, leaks=True))
    assert_records_agree(circuit, leaked_record_distribution)


def test_engines_agree_and_nothing_is_wider() -> None:
    body = "CX 0 1\nT 1\nH 1\nM(0.05, 0.2) 0 1\nCX rec[-1] 0"
    text = f"RX 0\nT 0\nH 0\nREPEAT 3 {{\n{body}\n}}\nMY(0.1, 0) 0 1"
    circuit = Circuit(text)
    kraus = appended("H 0\nT 0", CHANNELS["4 operators"], [0, 1], "CX 0 1\nT 1\nMX 0 1\nDETECTOR rec[-1]")
    for each in (circuit, kraus):
        cpu, plain = (each.compile_sampler(seed=3, engine=name).sample(200) for name in ("cpu", "reference"))
        np.testing.assert_array_equal(cpu, plain)
    assert circuit.plan().peak_width == circuit.without_noise().plan().peak_width
    read = Circuit("X 1\nM(0.01, 0.2) 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]").plan()
    assert read.peak_width == 0


def test_digits_aliases_and_no_targets(tmp_path: Path) -> None:
    read_again("M(0.0012345678901, 0.05) 0 !2\nAMPLITUDE_DAMPING(0.0012345678901) 0", tmp_path)
    assert str(Circuit("MR(0.2, 0) 0").to_stim()) == "MR[READOUT_NOISE(p01=0.2, p10=0.0)](0.1) 0"
    assert str(Circuit("MZ(0.1, 0.2) 1")) == "M(0.1, 0.2) 1"
    assert str(Circuit("M(0.1, 0.2)\nM 0\nAMPLITUDE_DAMPING(0.1)").plan())


def test_what_stands_for_readout_noise() -> None:
    circuit = Circuit("X 0\nMX(0.1, 0.3) 0\nMR(0.2, 0) 0\nDETECTOR rec[-1]\nTICK[a]")
    assert str(circuit.pauli_twirl()) == "X 0\nMX(0.2) 0\nMR(0.1) 0\nDETECTOR rec[-1]\nTICK[a]"
    assert str(circuit.without_noise()) == "X 0\nMX 0\nMR 0\nDETECTOR rec[-1]\nTICK[a]"
    assert str(circuit.without_tags()) == str(circuit).replace("[a]", "")
    assert "AMPLITUDE" in str(Circuit("AMPLITUDE_DAMPING(0.1) 0").without_tags())
    assert str(circuit[1:2].decomposed()) == "H 0\nM(0.1, 0.3) 0\nH 0"
    assert "M" in str(circuit.diagram())
    assert Circuit("M(0.1, 0.3) 0").reference_sample().tolist() == [False]


@pytest.mark.parametrize(
    ("text", "p"),
    [
        ("X 0\nAMPLITUDE_DAMPING(0.2) 0\nM 0", 0.2),
        ("M(0.1, 0.3) 0", 0.1),
    ],
)
def test_error_models_have_the_twirl(text: str, p: float) -> None:
    circuit = Circuit(f"{text}\nDETECTOR rec[-1]")
    for kind, end in (("s_proxy", ""), ("noise_only", "\ndetector D0")):
        with pytest.warns(snc.InexactErrorModelWarning):
            model = circuit.detector_error_model(kind=kind)
        assert model.approx_equals(stim.DetectorErrorModel(f"error({p}) D0{end}"), atol=1e-9)


def test_a_product_without_factors_is_0() -> None:
    found = exact_outputs(Circuit("MPP(0.125, 0.2) X0*X0 !Y1*Y1").compile().record_plan()).kept
    assert largest_difference(found, {0: 0.109375, 1: 0.015625, 2: 0.765625, 3: 0.109375}) < TOLERANCE


def test_equal_probabilities_are_a_flip() -> None:
    circuit = Circuit("M(0.1, 0.1) 0\nDETECTOR rec[-1]")
    assert len(circuit.faults()) == 1
    assert circuit.compile().record_plan().operations.size == 0
