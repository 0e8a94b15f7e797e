"""Logical circuits by lattice surgery: programs, merged codes, exact distributions, distances, the command."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pymatching
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.logical import circuit_of_program, logical_circuit, program_of
from stim_nonclifford.generators.logical.layout import Layout, MergedCode
from stim_nonclifford.generators.logical.program import SurgeryStep, surgery_steps

PAULIS = {
    "I": np.eye(2),
    "X": np.array([[0, 1], [1, 0]]),
    "Y": np.array([[0, -1j], [1j, 0]]),
    "Z": np.diag([1, -1]),
}
Complex = npt.NDArray[np.complex128]
Operation = tuple[float | None, str]
"""A rotation by an angle in half-turns about a product, or (None) the measurement of the product."""


def matrix_of(product: str) -> Complex:
    result = np.ones((1, 1), dtype=np.complex128)
    for letter in product.lstrip("+-"):
        result = np.kron(result, PAULIS[letter])
    return -result if product.startswith("-") else result


def distribution(operations: Iterable[Operation], num_qubits: int) -> dict[tuple[int, ...], float]:
    """The probabilities of all outcomes, by state vectors."""
    state = np.zeros(2**num_qubits, dtype=np.complex128)
    state[0] = 1
    states: list[tuple[tuple[int, ...], Complex]] = [((), state)]
    for theta, product in operations:
        pauli = matrix_of(product)
        if theta is None:
            states = [((*bits, b), (s + (-1) ** b * (pauli @ s)) / 2) for bits, s in states for b in (0, 1)]
        else:
            cosine, sine = np.cos(np.pi * theta), np.sin(np.pi * theta)
            states = [(bits, cosine * s - 1j * sine * (pauli @ s)) for bits, s in states]
    return {bits: float(np.vdot(s, s).real) for bits, s in states}


def operations_of(rotations: Sequence[tuple[float, str]], measurements: Sequence[str]) -> list[Operation]:
    return [*rotations, *((None, product) for product in measurements)]


def random_product(rng: random.Random, num_qubits: int) -> str:
    while True:
        letters = "".join(rng.choice("IXYZ") for _ in range(num_qubits))
        if set(letters) != {"I"}:
            return rng.choice(["", "-"]) + letters


def random_program(
    rng: random.Random, num_qubits: int, most: int
) -> tuple[list[tuple[float, str]], list[str]]:
    rotations = [
        (rng.randint(-8, 8) / 8, random_product(rng, num_qubits)) for _ in range(rng.randint(1, most))
    ]
    return rotations, [random_product(rng, num_qubits) for _ in range(min(num_qubits, 2))]


def test_steps_do_what_the_program_says() -> None:
    """200 programs (seed 1): all outcomes of the steps have the probabilities of the program, to 1e-12."""
    rng = random.Random(1)
    num_turned = 0
    for _ in range(200):
        rotations, measurements = random_program(rng, rng.randint(1, 4), 6)
        num_qubits, steps = surgery_steps(rotations, measurements)
        written = [(_angle_of(step), _text_of(step, num_qubits)) for step in steps]
        found = distribution(written, num_qubits)
        expected = distribution(operations_of(rotations, measurements), num_qubits)
        assert found.keys() == expected.keys()
        assert max(abs(found[bits] - expected[bits]) for bits in expected) < 1e-12
        num_turned += sum(not step.is_of_program for step in steps)
        of_program = [step for step in steps if step.gate == "T"]
        assert len(of_program) == sum(round(8 * theta) % 2 for theta, _ in rotations)
    assert num_turned > 200


def _angle_of(step: SurgeryStep) -> float | None:
    return {"T": 1 / 8, "S": 1 / 4, "M": None}[step.gate]


def _text_of(step: SurgeryStep, num_qubits: int) -> str:
    letters = "".join(step.basis if k in step.qubits else "I" for k in range(num_qubits))
    return f"-{letters}" if step.inverted else letters


def test_programs_of_circuits() -> None:
    """100 Clifford+T circuits (seed 3): the program has the distribution of the circuit, to 1e-12."""
    rng = random.Random(3)
    gates = {
        "H": 1,
        "S": 1,
        "T": 1,
        "T_DAG": 1,
        "C_XYZ": 1,
        "SQRT_Y": 1,
        "CX": 2,
        "CZ": 2,
        "ISWAP": 2,
        "CS": 2,
    }
    gates |= {"CCZ": 3, "R_ZZ(0.25)": 2, "TPP": 0}
    for _ in range(100):
        num_qubits = rng.randint(1, 3)
        lines = ["R " + " ".join(map(str, range(num_qubits)))]
        while len(lines) < 9:
            name = rng.choice([*gates])
            order = rng.sample(range(num_qubits), num_qubits)
            if name == "TPP":
                lines.append("TPP " + "*".join(f"{rng.choice('XYZ')}{k}" for k in order))
            elif gates[name] <= num_qubits:
                lines.append(f"{name} " + " ".join(map(str, order[: gates[name]])))
        measured = [random_product(rng, num_qubits) for _ in range(2)]
        state = snc.Circuit("\n".join(lines)).state_vector(endian="big")
        for text in measured:
            factors = [f"{letter}{k}" for k, letter in enumerate(text.lstrip("-")) if letter != "I"]
            lines.append("MPP " + "!" * text.startswith("-") + "*".join(factors))
        rotations, measurements = program_of("\n".join(lines))
        found = distribution(operations_of(rotations, measurements), num_qubits)
        for bits, probability in found.items():
            expected = np.asarray(state, dtype=np.complex128)
            for b, text in zip(bits, measured, strict=True):
                expected = (expected + (-1) ** b * (matrix_of(text) @ expected)) / 2
            assert abs(probability - np.vdot(expected, expected).real) < 1e-6  # Stim's vectors are complex64
        assert program_of(circuit_of_program(rotations, measurements)) == (rotations, measurements)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("H 0\nX_ERROR(0.1) 0\nM 0", "no noise: 'X_ERROR"),
        ("M 0\nH 0", "'H 0' acts after a measurement"),
        ("H 0\nR 0\nM 0", "'R 0' is none of them, or comes too late"),
        ("M 0\nCX rec[-1] 1", "'CX rec"),
        ("MPAD 0", "'MPAD 0' resets or records no qubit"),
    ],
)
def test_circuits_that_are_no_programs(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        program_of(text)


@pytest.mark.parametrize(
    ("rotations", "measurements", "message"),
    [
        ([], [], "neither rotations nor measurements"),
        ([(0.1, "Z")], [], "rotation 0 must be a multiple of 1/8"),
        ([(1 / 8, "Z"), (1 / 8, "ZZ")], [], "some have 1 letters and some 2"),
        ([(1 / 8, "II")], [], r"rotations\[0\] is the identity"),
        ([], ["A"], r"measurements\[0\] must be letters of I, X, Y and Z"),
        ([], [""], r"measurements\[0\] must be letters"),
    ],
)
def test_programs_that_are_refused(
    rotations: list[tuple[float, str]], measurements: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        logical_circuit(rotations, measurements)


def rank(rows: Iterable[int]) -> int:
    pivots: dict[int, int] = {}
    for row in rows:
        while row and (place := row.bit_length()) in pivots:
            row ^= pivots[place]
        if row:
            pivots[row.bit_length()] = row
    return len(pivots)


@pytest.mark.parametrize(
    ("distance", "basis", "patches"),
    [
        (distance, basis, patches)
        for distance in (3, 5)
        for basis in ("X", "Z")
        for size in (1, 2, 3)
        for patches in itertools.combinations(range(3), size)
    ],
)
def test_merged_codes(distance: int, basis: str, patches: tuple[int, ...]) -> None:
    """Checks commute, the new ones make the product, and it is all that is measured."""
    layout = Layout(distance, 3)
    assert basis in ("X", "Z")
    merged: MergedCode = layout.merged("X" if basis == "X" else "Z", patches)
    data = sorted({*merged.region, *(site for k in patches for site in layout.patches[k].data)})
    bit_of = {site: 1 << k for k, site in enumerate(data)}
    rows = {check.ancilla: (check.pauli, sum(bit_of[site] for site in check.data)) for check in merged.checks}
    xs, zs = ([row for pauli, row in rows.values() if pauli == which] for which in "XZ")
    assert all((x & z).bit_count() % 2 == 0 for x in xs for z in zs)
    assert len(data) - rank(xs) - rank(zs) == len(patches) - 1
    product = 0
    for ancilla in merged.new:
        assert rows[ancilla][0] == basis
        product ^= rows[ancilla][1]
    assert product == sum(bit_of[site] for k in patches for site in layout.logical(k, merged.basis))
    other = "X" if basis == "Z" else "Z"
    for k in patches:
        for check in layout.patches[k].checks:
            assert rows[check.ancilla][0] == check.pauli
            assert not sum(bit_of[site] for site in check.data) & ~rows[check.ancilla][1]
    for k, path in zip(patches, merged.paths, strict=False):
        ends = [*layout.logical(k, other), *layout.logical(patches[-1], other)]
        string = sum(bit_of[site] for site in [*path, *ends])
        assert all((string & row).bit_count() % 2 == 0 for row in (xs if basis == "X" else zs))


def check_distribution(
    rotations: list[tuple[float, str]], measurements: list[str], parities: Iterable[int]
) -> None:
    """Parities of the outcomes of a circuit without noise have the probabilities of the program, to 1e-12."""
    width = len(measurements[0].lstrip("-"))
    expected = distribution(operations_of(rotations, measurements), width)
    written = (
        snc.Circuit(logical_circuit(rotations, measurements, noise="none")).without_decisions().to_stim()
    )
    bare, records = stim.Circuit(), []
    for instruction in written.flattened():
        if instruction.name == "OBSERVABLE_INCLUDE":
            records.append(bare.num_measurements + instruction.targets_copy()[0].value)
        elif instruction.name != "DETECTOR":
            bare.append(instruction)
    for parity in parities:
        chosen = [k for k in range(len(measurements)) if parity >> k & 1]
        circuit = bare.copy()
        lookbacks = [stim.target_rec(records[k] - bare.num_measurements) for k in chosen]
        circuit.append("OBSERVABLE_INCLUDE", lookbacks, 0)
        found = snc.Circuit(circuit)
        fate = found.outcome_probabilities([])
        sign = found.reference_detector_and_observable_signs()[1][0]
        odd = sum(p for bits, p in expected.items() if sum(bits[k] for k in chosen) % 2)
        assert abs((fate.kept_and_right if sign else fate.kept_and_wrong) - odd) < 1e-12


def test_outcomes_without_noise() -> None:
    rng = random.Random(5)
    for num_qubits in (1, 1, 2, 3):
        rotations, measurements = random_program(rng, num_qubits, 3)
        check_distribution(rotations, measurements, range(1, 2 ** len(measurements)))


@pytest.mark.slow
def test_outcomes_of_larger_programs_without_noise() -> None:
    """100 programs on up to five qubits (seed 7), for each a parity of outcomes that T gates decide."""
    rng = random.Random(7)
    done = 0
    while done < 100:
        num_qubits = 1 + done % 5
        rotations, measurements = random_program(rng, num_qubits, 4)
        expected = distribution(operations_of(rotations, measurements), num_qubits)
        chosen = [mask for mask in range(1, 2 ** len(measurements)) if is_decided_by_t(expected, mask)]
        if chosen:
            check_distribution(rotations, measurements, chosen[:1])
            done += 1


def is_decided_by_t(expected: dict[tuple[int, ...], float], mask: int) -> bool:
    """Whether the probability of a parity is none that Clifford gates can have."""
    odd = sum(p for bits, p in expected.items() if sum(b for k, b in enumerate(bits) if mask >> k & 1) % 2)
    return abs(4 * odd - round(4 * odd)) > 1e-3


PROGRAMS = [
    ([(1 / 8, "X"), (1 / 8, "Z")], ["X"]),
    ([(1 / 8, "ZZ"), (1 / 8, "XX")], ["XI"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("rotations", "measurements"), PROGRAMS)
def test_faults_that_decisions_survive(rotations: list[tuple[float, str]], measurements: list[str]) -> None:
    """At d=3, each decision takes three faults to go wrong, and PyMatching corrects each single one."""
    circuit = snc.Circuit(logical_circuit(rotations, measurements, distance=3, p=1e-3))
    for point in range(len(circuit.decision_points())):
        model = circuit.decision_model(point)
        assert len(model.shortest_graphlike_error(ignore_ungraphlike_errors=True)) == 3
        decoder = pymatching.Matching.from_detector_error_model(
            circuit.decision_model(point, decompose_errors=True)
        )
        events, flips = [], []
        for error in model.flattened():
            if error.type == "error":
                events.append(
                    [target.val for target in error.targets_copy() if target.is_relative_detector_id()]
                )
                flips.append(any(t.is_logical_observable_id() and t.val == 0 for t in error.targets_copy()))
        syndromes = np.zeros((len(events), model.num_detectors), dtype=np.uint8)
        for row, mine in zip(syndromes, events, strict=True):
            row[mine] = 1
        assert len(events) > 1000
        assert any(flips)
        assert (decoder.decode_batch(syndromes)[:, 0] == np.array(flips)).all()


@pytest.mark.slow
def test_narrow_lanes_would_lose_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Layout, "_width", property(lambda layout: layout.distance))
    circuit = snc.Circuit(logical_circuit(*PROGRAMS[1], distance=3, p=1e-3))
    assert len(circuit.decision_model(1).shortest_graphlike_error(ignore_ungraphlike_errors=True)) == 2


def test_decisions_make_the_rate_small() -> None:
    """T twice and S about X are X: with a decoder the outcome is 1 in nearly all shots, raw it is not."""
    circuit = snc.Circuit(logical_circuit([(1 / 8, "X"), (1 / 8, "X"), (1 / 4, "X")], ["Z"], p=1e-3))
    wrong = {}
    for decoder in ("raw", "pymatching"):
        sampler = circuit.compile_detector_sampler(seed=3, decoder=decoder, skip_reference_sample=True)
        wrong[decoder] = float((~sampler.sample(2000, separate_observables=True)[1]).mean())
    assert wrong["pymatching"] < 0.08 < 0.2 < wrong["raw"]
