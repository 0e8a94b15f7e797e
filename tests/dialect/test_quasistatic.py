"""Quasi-static noise against the mixture of circuits with the angles that may be drawn, and against closed forms.

Statistical comparisons reject a correct engine with a probability below 1e-10 each.
"""

import math

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler.program.turns import MOST_TURNED

from ..support.laws.quasistatic import turned_record_distribution
from ..support.laws.records import assert_records_agree
from ..support.oracle.agreement import p_value
from ..support.oracle.density_matrix import record_distribution
from ..support.oracle.leakage import leaked_record_distribution
from ..support.oracle.random_circuits import random_circuit
from ..support.seeds import seeds
from ..support.texts.leaking_circuits import random_leaking_text

ALPHA = 1e-10
SHOTS = 20_000
LISTS = ([(0.4, 0.3), (-0.1, 0.7)], [(0.2, 0.25), (0.0, 0.5), (-0.3, 0.25)], [(0.15, 1.0)])


def with_turns(text: str, rng: np.random.Generator, *, num_qubits: int, gaussian: bool) -> snc.Circuit:
    """The circuit with turns at random places: those of a qubit differ in their angles alone."""
    lines = text.splitlines()
    listed, drawn = rng.permutation(num_qubits)[:2]
    values = LISTS[rng.integers(len(LISTS))]
    for _ in range(int(rng.integers(1, 5))):
        scale = rng.choice([1.0, -0.5, 1.7])
        arguments = ", ".join(f"{scale * angle:.6g}, {p}" for angle, p in values)
        lines.insert(int(rng.integers(len(lines) + 1)), f"QUASISTATIC_VALUES({arguments}) {listed}")
        if gaussian:
            angle = rng.choice([0.05, 0.1, -0.12])
            lines.insert(int(rng.integers(len(lines) + 1)), f"QUASISTATIC({angle}) {drawn}")
    return snc.Circuit("\n".join(lines))


def random_turning_circuit(seed: int) -> snc.Circuit:
    rng = np.random.default_rng(seed)
    plain = random_circuit(rng, num_operations=12, max_records=6, num_qubits=3)
    return with_turns(f"RX 0 1 2\n{plain}\nMX 0 1\nMY 2", rng, num_qubits=3, gaussian=seed % 2 == 0)


@pytest.mark.parametrize("seed", seeds(60, quick=5))
def test_plans_and_followed_shots_have_the_distribution_of_the_mixture(seed: int) -> None:
    circuit = random_turning_circuit(seed)
    expected = turned_record_distribution(circuit.to_stim())
    assert_records_agree(circuit, lambda _: expected, tolerance=3e-9)
    samples = circuit.compile_sampler(seed=seed, engine="trajectory").sample(SHOTS)
    assert p_value(samples, expected) > ALPHA


@pytest.mark.parametrize("seed", seeds(40, quick=4))
@pytest.mark.parametrize("engine", ["cpu", "trajectory"])
def test_leaked_qubits_do_not_turn(seed: int, engine: str) -> None:
    rng = np.random.default_rng(seed)
    circuit = with_turns(random_leaking_text(seed), rng, num_qubits=3, gaussian=False)
    samples = circuit.compile_sampler(seed=seed, engine=engine).sample(SHOTS)
    expected = turned_record_distribution(circuit.to_stim(), leaked_record_distribution)
    assert p_value(samples, expected) > ALPHA


def ramsey(angle: float, middle: str = "") -> snc.Circuit:
    """Four idle places between two pulses, and what is in the middle of them."""
    idle = f"QUASISTATIC({angle}) 0\n"
    return snc.Circuit(f"RX 0\nT 0\n{idle}{idle}{middle}\n{idle}{idle}T_DAG 0\nMX 0")


@pytest.mark.parametrize("engine", ["cpu", "trajectory"])
def test_a_wrong_law_is_noticed(engine: str) -> None:
    """Turns that are 2% longer, turns that are drawn anew at each place, and values in place of a Gaussian."""
    right = ramsey(0.08)
    samples = right.compile_sampler(seed=5, engine=engine).sample(1_000_000)
    longer, anew = ramsey(0.0816), right.pauli_twirl(below=0)
    assert p_value(samples, turned_record_distribution(right.to_stim())) > ALPHA
    assert p_value(samples, turned_record_distribution(longer.to_stim())) < ALPHA
    assert p_value(samples, record_distribution(anew.to_stim())) < ALPHA


@pytest.mark.parametrize("angle", [1e-4, 0.003, 0.02, 0.1, 0.3, 0.6])
def test_coherence_of_a_gaussian(angle: float) -> None:
    """Without an echo exp(-θ²/2), to 1e-9; with one it is whole. More values are drawn for larger angles."""
    line = f"QUASISTATIC({angle}) 0"
    expected = math.exp(-((2 * math.pi * angle) ** 2) / 2)
    free = snc.Circuit(f"RX 0\n{line}\nTICK\n{line}\nMX 0")
    assert_records_agree(free, lambda _: {(0,): (1 + expected) / 2, (1,): (1 - expected) / 2}, 1e-9)
    echo = snc.Circuit(f"RX 0\nREPEAT 2 {{\n    {line}\n}}\nX 0\n{line}\nX 0\nX 0\n{line}\nMX 0")
    assert_records_agree(echo, lambda _: {(0,): 1.0}, 1e-9)


def test_one_value_for_all_places_of_a_qubit_and_others_for_other_qubits() -> None:
    """A list of two angles that turns X to itself or to -X: a qubit is turned twice by the same one."""
    line = "QUASISTATIC_VALUES(0, 0.5, 1, 0.5) 0 1"
    circuit = snc.Circuit(f"RX 0 1\n{line}\nMX 0 1\n{line}\nMX 0 1")
    for engine in ("cpu", "reference", "trajectory"):
        first, other, second, again = circuit.compile_sampler(seed=3, engine=engine).sample(2000).T
        assert not second.any()
        assert not again.any()
        assert 0.4 < first.mean() < 0.6
        assert 0.4 < (first ^ other).mean() < 0.6


def test_detectors_are_flips_against_the_circuit_without_noise() -> None:
    circuit = snc.Circuit("RX 0\nQUASISTATIC_VALUES(0.9, 0.5, 1, 0.5) 0\nMX 0\nDETECTOR rec[-1]")
    for engine in ("cpu", "trajectory"):
        assert circuit.compile_detector_sampler(seed=3, engine=engine).sample(1000).mean() > 0.95


def test_turns_that_are_too_long_for_a_plan() -> None:
    angle = 0.6 * MOST_TURNED
    text = f"RX 0\nQUASISTATIC({angle}) 0\nX 0\nQUASISTATIC({angle}) 0\nMX 0"
    circuit = snc.Circuit(text)
    assert not circuit.compile_sampler(seed=1).sample(1000).any()
    with pytest.raises(
        NotImplementedError, match=r"Line 2: `QUASISTATIC`: .* 64 values .* engine='trajectory'"
    ):
        circuit.compile_sampler(engine="cpu").sample(1)
    with pytest.raises(NotImplementedError, match="engine='trajectory'"):
        circuit.plan()
    shorter = snc.Circuit(text.replace(str(angle), str(0.45 * MOST_TURNED)))
    assert not shorter.compile_sampler(seed=1, engine="cpu").sample(1000).any()


def test_what_counts_pauli_errors_refuses() -> None:
    circuit = snc.Circuit("RX 0\nQUASISTATIC(0.1) 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    with pytest.raises(
        ValueError,
        match=r"Line 2: `QUASISTATIC`: the qubit turns .* 66 ns .* takes 7 s.* circuit.pauli_twirl",
    ):
        circuit.faults()
    assert "Z_ERROR[twirl of QUASISTATIC](0.0240751) 0" in str(circuit.pauli_twirl())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("QUASISTATIC(0.1, 0.2) 0", "takes 1 argument"),
        ("QUASISTATIC_VALUES(0.1, 0.5) 0", "must add up to 1, but their sum is 0.5"),
        ("QUASISTATIC_VALUES(0.1, 0.5, 0.3) 0", "pairs of an angle"),
        ("QUASISTATIC_VALUES(0.1, 1.5, 0.3, -0.5) 0", "from 0 to 1"),
        ("QUASISTATIC_VALUES(0.1, 1) 0\nQUASISTATIC_VALUES(0.1, 0.5, 0, 0.5) 0", "the same probabilities"),
    ],
)
def test_messages(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        snc.Circuit(line).compile_sampler()
