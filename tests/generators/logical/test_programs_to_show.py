"""The logical programs of the examples: what they do without noise, and what is found with noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

import stim_nonclifford as snc
from examples.lattice_surgery import fifteen_to_one as distillation
from examples.lattice_surgery import logical_budget, logical_programs
from examples.lattice_surgery.csv_rows import append_row, read_rows
from examples.lattice_surgery.programs import (
    FIT,
    PROGRAMS,
    chsh_settings,
    fifteen_to_one,
    joined_rotations,
    num_t_gates,
)
from stim_nonclifford.generators.logical import ideal_distribution, logical_circuit, program_of
from stim_nonclifford.rates.results import NoisePlace

EVERY = {**PROGRAMS, **{f"CHSH {name}": program for name, program in chsh_settings()}}

H = np.array([[1, 1], [1, -1]]) / 2**0.5
GATES = {
    "H": H,
    "X": np.array([[0, 1], [1, 0]]),
    "Z": np.diag([1, -1]),
    "S": np.diag([1, 1j]),
    "S_DAG": np.diag([1, -1j]),
    "T": np.diag([1, np.exp(0.25j * np.pi)]),
    "CX": np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]),  # the control is the lowest bit
    "CS_DAG": np.diag([1, 1, 1, -1j]),
    "CCZ": np.diag([1, 1, 1, 1, 1, 1, 1, -1]),
    "CCX": np.eye(8)[[0, 1, 2, 7, 4, 5, 6, 3]],
}


def distribution_of(text: str, num_qubits: int) -> np.ndarray:
    """The distribution of the outcomes of a circuit by a state vector of its gates as they are written."""
    state = np.zeros(2**num_qubits, dtype=np.complex128)
    state[0] = 1
    index = np.arange(2**num_qubits)
    for line in text.splitlines():
        name, *targets = line.split()
        qubits = [int(target) for target in targets]
        if name in ("M", "MZ", "MX"):
            for qubit in qubits if name == "MX" else ():
                state = applied(H, [qubit], state, index)
            continue
        size = GATES[name].shape[0].bit_length() - 1
        for k in range(0, len(qubits), size):
            state = applied(GATES[name], qubits[k : k + size], state, index)
    return np.abs(state) ** 2


def applied(gate: np.ndarray, qubits: list[int], state: np.ndarray, index: np.ndarray) -> np.ndarray:
    local = sum((index >> qubit & 1) << k for k, qubit in enumerate(qubits))
    rest = index & ~sum(1 << qubit for qubit in qubits)
    result = np.zeros_like(state)
    for column in range(len(gate)):
        places = rest | sum((column >> k & 1) << qubit for k, qubit in enumerate(qubits))
        result += gate[local, column] * state[places]
    return result


@pytest.mark.parametrize("name", EVERY)
def test_programs_have_the_distributions_of_their_circuits(name: str) -> None:
    program = EVERY[name]
    expected = distribution_of(program.circuit, program.num_qubits)
    assert np.allclose(ideal_distribution(program.rotations, program.measurements), expected, atol=1e-12)
    assert program.ideal_success() == pytest.approx(expected[program.answer_indices].sum(), abs=1e-12)


def test_answers_and_numbers_of_t_gates() -> None:
    expected = {
        "H T H": (1, 1, 0.853553),
        "Bell pair and T": (2, 1, 0.853553),
        "phase estimation": (3, 5, 0.853553),
        "square root of T": (1, 7, 0.963388),
        "Toffoli": (3, 7, 1.0),
        "adder": (4, 8, 1.0),
        "Grover": (3, 14, 0.78125),
    }
    for name, program in PROGRAMS.items():
        found = program.num_qubits, num_t_gates(program.rotations), round(program.ideal_success(), 6)
        assert found == expected[name]
    assert [num_t_gates(program.rotations) for program in FIT.values()] == [1, 2, 4, 1, 2, 2, 2, 2, 2]


def test_only_t_gates_exceed_the_bound_of_chsh() -> None:
    for gate, expected in (("T", 8**0.5), ("S", 2)):
        values = (2 * program.ideal_success(gate) - 1 for _, program in chsh_settings())
        assert sum(values) == pytest.approx(expected, abs=1e-12)


def test_the_square_root_of_t_is_one() -> None:
    gates = PROGRAMS["square root of T"].circuit.splitlines()[1:-2]
    matrix = np.eye(2)
    for line in gates:
        matrix = GATES[line.split()[0]] @ matrix
    overlap = abs(np.trace(np.diag([1, np.exp(-0.125j * np.pi)]) @ matrix)) / 2
    assert overlap == pytest.approx(0.9984222, abs=1e-7)


def test_joined_rotations_have_fewer_t_gates() -> None:
    rotations, measurements = program_of(PROGRAMS["adder"].circuit)
    assert num_t_gates(rotations) == 14
    joined = joined_rotations(rotations)
    assert num_t_gates(joined) == 8
    before, after = (ideal_distribution(each, measurements) for each in (rotations, joined))
    assert np.allclose(before, after, atol=1e-12)
    # A rotation that does not commute is in the way.
    kept = [(1 / 8, "Z"), (1 / 8, "X"), (1 / 8, "Z")]
    assert joined_rotations(kept) == kept


def test_distillation_makes_a_t_state() -> None:
    measured = ["ZIIII", "IZIII", "IIZII", "IIIZI", "IIIIZ"]
    found = ideal_distribution([*fifteen_to_one(), (1 / 8, "IIIIX")], measured)
    assert found[0] == pytest.approx(1, abs=1e-12)


def check_shots_without_noise(name: str) -> None:
    """20,000 shots of the patches without noise (seed 3) have the distribution, unless chi squared is one in
    a million."""
    program, shots = EVERY[name], 20_000
    circuit = snc.Circuit(logical_circuit(program.rotations, program.measurements, noise="none"))
    sampler = circuit.compile_detector_sampler(seed=3, decoder="raw", skip_reference_sample=True)
    detectors, outcomes = sampler.sample(shots, separate_observables=True)
    assert not detectors.any()
    found = np.bincount(outcomes @ (1 << np.arange(outcomes.shape[1])), minlength=2 ** outcomes.shape[1])
    expected = shots * ideal_distribution(program.rotations, program.measurements)
    possible = expected > 1e-6
    assert not found[~possible].any()
    deviation = ((found - expected)[possible] ** 2 / expected[possible]).sum()
    assert deviation <= (chi2.isf(1e-6, possible.sum() - 1) if possible.sum() > 1 else 1e-12)


FAST = ("H T H", "Bell pair and T")


@pytest.mark.parametrize("name", FAST)
def test_patches_without_noise_do_the_program(name: str) -> None:
    check_shots_without_noise(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if name not in FAST])
def test_patches_without_noise_do_every_program(name: str) -> None:
    check_shots_without_noise(name)


@pytest.mark.slow
def test_distillation_on_patches_without_noise_is_15_to_1() -> None:
    row = distillation.distilled(3, 0.0, 0.1, "raw", "T", 20_000)
    kept, wrong = distillation.ideal(0.1)
    # 6 sigma is a false alarm in 10^9 runs.
    assert abs(row.kept / row.shots - kept) < 6 * (kept * (1 - kept) / row.shots) ** 0.5
    assert abs(row.wrong / row.kept - wrong) < 6 * (wrong * (1 - wrong) / row.kept) ** 0.5


def test_rows_of_a_file_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.csv"
    empty = logical_programs.Row("", "", 0, 0.0, 0, 0, 0, 0, 0, 0)
    assert read_rows(path, empty) == []
    rows = [
        logical_programs.Row("a, b", "raw", 3, 1e-3, 1, 1, 212, 8, 2, 0, 10, 0.5, 0.25, 1.5, 0.125),
        logical_programs.Row("c", "decoded", 5, 5e-4, 1, 1, 594, 12, 2, 0, 10, 0.75, 0.25, limit="1 GiB"),
    ]
    for row in rows:
        append_row(path, row)
    assert read_rows(path, empty) == rows


@pytest.mark.slow
def test_noise_costs_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Phase estimation at d=3: decoded answers are right more often than raw ones, and less often than ideal
    ones; a second call computes nothing."""
    out = tmp_path / "rows.csv"
    arguments = ["--programs", "phase estimation", "--p", "0.0005", "--shots", "20000", "--out", str(out)]
    arguments += ["--columns", "decoded", "raw", "process", "proxy"]
    logical_programs.main(arguments)
    printed = capsys.readouterr().out
    rows = {row.column: row for row in read_rows(out, logical_programs.Row("", "", 0, 0.0, 0, 0, 0, 0, 0, 0))}
    assert len(rows) == 4
    # The values are of 100,000 shots, whose errors are less than half of these: 7 of them are 6 of both.
    for column, expected in (("decoded", 0.8195), ("process", 0.0654)):
        assert abs(rows[column].value - expected) < 7 * rows[column].error
    assert rows["raw"].value + 6 * rows["raw"].error < rows["decoded"].value
    assert 0 < rows["proxy"].value < 0.2
    logical_programs.main(arguments)
    again = capsys.readouterr().out
    assert again.strip() == printed[printed.index("\n| d |") :].strip()
    assert len(out.read_text().splitlines()) == 5


def test_operations_of_the_budget() -> None:
    """In the Bell pair, S about XX is followed by T about the Z of the second patch: the first one waits."""
    program = PROGRAMS["Bell pair and T"]
    circuit = snc.Circuit(logical_circuit(program.rotations, distance=3, p=1e-3, ending="process"))
    coordinates = circuit.get_final_qubit_coordinates()
    operation_of = logical_budget.operations_of(program, 3, circuit)
    seen: dict[str, set[tuple[float, ...]]] = {}
    ticks: dict[str, set[int]] = {}

    def group_of(place: NoisePlace) -> str:
        group = operation_of(place)
        seen.setdefault(group, set()).update(tuple(coordinates[qubit]) for qubit in place.targets)
        ticks.setdefault(group, set()).add(place.tick)
        return group

    budget = circuit.error_budget(group_of, loop_decoder="raw", shots=1, seed=1)
    assert {group.group for group in budget.groups} == {*logical_budget.OPERATIONS}
    # Patches have 3 columns, and corridors and gaps between them 6: the first one is left of x = 7.
    assert max(x for x, _ in seen["patches that wait"]) < 7
    assert max(x for x, _ in seen["patches in a merge"]) < 7 + 18
    assert min(x for x, _ in seen["magic patch of T"]) > 7 + 18
    assert max(y for _, y in seen["patches in a merge"]) < 7 < max(y for _, y in seen["lane of T"])
    assert ticks["patches that wait"] == {*range(24, 42)}
    assert ticks["patches after a split"] == {*range(18, 24), *range(42, 48)}
    assert max(ticks["lane of S"]) < 24 <= min(ticks["lane of T"])
    kinds = circuit.error_budget(logical_budget.gate_of, loop_decoder="raw", shots=1, seed=1)
    assert sorted(str(group.group) for group in kinds.groups) == [*logical_budget.GATES]


@pytest.mark.slow
def test_shares_of_the_budget_add_up() -> None:
    rows = [*logical_budget.budget("H T H", 3, 3e-4, 200_000, 1)]
    sums = [row for row in rows if row.group == "sum"]
    assert [row.by for row in sums] == ["gate", "operation"]
    assert len({row.places for row in sums}) == 1
    for row in sums:  # 5 sigma: a false alarm in 10^6 runs; and what three groups do together, rare here
        assert abs(row.share - row.infidelity) < 5 * row.share_error
        assert row.share_error < 0.2 * row.infidelity
        assert row.alone < row.infidelity < row.less
