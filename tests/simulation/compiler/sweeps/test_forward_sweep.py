"""The forward sweep against Stim: tables of many qubits, deferred rotations, and the order of measurements."""

import random

import numpy as np
import numpy.typing as npt
import pytest
import stim

from benchmarks.workloads import scrambled
from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.sweeps.forward_sweep import forward_sweep

from ....support.seeds import slow

GATES = [
    name
    for name, data in stim.gate_data().items()
    if data.is_unitary and (data.is_single_qubit_gate or data.is_two_qubit_gate)
]


def random_pauli(rng: random.Random, num_qubits: int) -> str:
    """A product on one to four qubits, or sometimes on all, as targets of MPP."""
    size = num_qubits if rng.random() < 0.2 else rng.randint(1, min(4, num_qubits))
    return "*".join(f"{rng.choice('XYZ')}{qubit}" for qubit in rng.sample(range(num_qubits), size))


def random_gates(rng: random.Random, num_qubits: int, count: int) -> list[str]:
    """Gates of every kind, on few and on many qubits."""
    lines = []
    for name in rng.choices(GATES, k=count):
        size = 2 if stim.gate_data(name).is_two_qubit_gate else 1
        groups = rng.choice([1, num_qubits // size])
        lines.append(" ".join([name, *map(str, rng.sample(range(num_qubits), size * groups))]))
    return lines


def inverse(line: str) -> str:
    if line.startswith("R_PAULI"):
        return line.replace("(", "(-", 1)
    return str(stim.Circuit(line).inverse())


def measurements(rng: random.Random, num_qubits: int) -> list[str]:
    """Measurements, some with a reset, and a Pauli that depends on an outcome."""
    lines = [f"MPP {rng.choice(['', '!'])}{random_pauli(rng, num_qubits)}" for _ in range(3)]
    on = rng.randrange(num_qubits)
    lines.append(f"{rng.choice(['M', 'MX', 'MY', 'MR', 'MRX', 'MRY'])} {on}")
    lines.append(f"{rng.choice(['CX', 'CY', 'CZ'])} rec[-{rng.randint(1, 3)}] {rng.randrange(num_qubits)}")
    return lines


@pytest.mark.parametrize(
    ("num_qubits", "turns", "rotations"),
    [(2, 100, 0), (5, 100, 0), slow(64, 40, 0), (150, 40, 0), (5, 20, 30), (7, 20, 12)],
)
def test_measurements_are_those_of_stim(num_qubits: int, turns: int, rotations: int) -> None:
    """Seed 6. Gates and rotations are undone before what is measured next, and leave a Clifford circuit.

    Where all rotations are needed, thousands of them are numbered anew.
    """
    rng = random.Random(6)
    lines: list[str] = []
    plain: list[str] = []
    for _ in range(turns):
        scramble = random_gates(rng, num_qubits, 3)
        between: list[str] = []
        for _ in range(rotations):
            between.append(f"R_PAULI({rng.uniform(0.05, 0.45):.3f}) {random_pauli(rng, num_qubits)}")
            if rng.random() < 0.3:
                between += random_gates(rng, num_qubits, 1)
        undone = [inverse(line) for line in reversed(between)]
        measured = measurements(rng, num_qubits)
        lines += [*scramble, *between, *undone, *measured]
        plain += [*scramble, *measured]
    shots = Circuit("\n".join(lines)).compile_sampler(seed=6).sample(20)
    chances: list[bool] = []
    for shot in shots:
        simulator = stim.TableauSimulator()
        simulator.set_num_qubits(num_qubits)
        records: list[bool] = []
        for line in plain:
            follow(simulator, line, shot, records, chances)
        assert len(records) == len(shot)
    # Fair coins: a false alarm has probability 2e-9.
    assert len(chances) > 100
    assert abs(2 * sum(chances) - len(chances)) < 6 * len(chances) ** 0.5


def follow(
    simulator: stim.TableauSimulator,
    line: str,
    shot: npt.NDArray[np.bool_],
    records: list[bool],
    chances: list[bool],
) -> None:
    """Takes the outcomes of a shot, and fails at an impossible one. Appends those that are random to ``chances``."""
    name, targets = line.split(" ", 1)
    if "rec" in targets:
        back, qubit = targets.removeprefix("rec[-").split("] ")
        if records[-int(back)]:
            simulator.do(stim.Circuit(f"{name[1]} {qubit}"))
    elif name[0] == "M":
        basis = name[-1] if name[-1] in "XY" else "Z"
        product = targets if name == "MPP" else basis + targets
        observable = stim.PauliString(simulator.num_qubits)
        for factor in product.removeprefix("!").split("*"):
            observable[int(factor[1:])] = factor[0]
        outcome = bool(shot[len(records)])
        if simulator.peek_observable_expectation(observable) == 0:
            chances.append(outcome)
        simulator.postselect_observable(observable, desired_value=outcome ^ product.startswith("!"))
        records.append(outcome)
        if name.startswith("MR"):
            simulator.do(stim.Circuit(f"R{basis} {targets}"))
    else:
        simulator.do(stim.Circuit(line))


@pytest.mark.parametrize("width", [4, 6, 9, 11, 12])
def test_measurements_come_in_an_order_that_takes_less_work(width: int) -> None:
    program = program_of(scrambled(width).to_stim())
    work = [
        sum(2**operation.width for operation in forward_sweep(program, keep_order=keep_order).operations)
        for keep_order in (False, True)
    ]
    assert work[0] < 0.9 * work[1]
