"""Checkpoints of the trajectory engine: they change no shot, and go on behind coins."""

import re

import numpy as np
import pytest
import stim

import stim_nonclifford as snc

from ....support.oracle.random_circuits import random_circuit
from ....support.seeds import seeds

SHOTS = 3000


def without_checkpoints(circuit: snc.Circuit) -> snc.Circuit:
    """The circuit in which something always happens at the beginning, to a qubit of its own that matters."""
    qubit = circuit.num_qubits
    return snc.Circuit(f"X {qubit}\nAMPLITUDE_DAMPING(1) {qubit}\nX {qubit}\n{circuit}")


def assert_same_shots(circuit: snc.Circuit, seed: int) -> None:
    found = [
        each.compile_sampler(seed=seed, engine="trajectory").sample(SHOTS)
        for each in (circuit, without_checkpoints(circuit))
    ]
    np.testing.assert_array_equal(*found, err_msg=str(circuit))


@pytest.mark.parametrize("seed", seeds(60, quick=8))
def test_random_circuits_have_the_same_shots(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert_same_shots(snc.Circuit(random_circuit(rng, num_operations=40, max_records=12)), seed)


def memory(distance: int, noise: float = 0.0) -> snc.Circuit:
    return snc.Circuit.generated(
        "surface_code:rotated_memory_x",
        distance=distance,
        rounds=3,
        before_round_data_depolarization=noise,
        before_measure_flip_probability=noise,
    )


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_surface_codes_have_the_same_shots(noise: float) -> None:
    for distance in (3, 5):
        assert_same_shots(memory(distance, noise), distance)


def test_coins_that_gates_and_blocks_depend_on() -> None:
    """Signs of rotations, feedback, conditional blocks and values depend on earlier coins."""
    for text in (
        "H 0\nM 0\nCX rec[-1] 1\nH 1\nT 1\nH 1\nM 1\nMX 0 1",
        "H 0 1\nT 1\nCX 0 1\nM 0\nH 1\nM 1 0",
        "H 0\nM 0\nREPEAT[IF rec[-1]] 1 {\nH 1\nM 1\n}\nM 0 1",
        "H 0\nM 0\nREPEAT[UNTIL rec[-1]] 3 {\nH 1\nM 1\n}\nM 0 1",
        "MXX 0 1\nMZZ 0 1\nMX 0\nM 1\nR 0 1\nH 0\nMR 0\nM 0",
        "H 0\nCX 0 1\nR 0\nH 1\nT 1\nM 1\nM 0",
        "H 0\nM 0\nM(0.1, 0.3) 0\nMX 0",
    ):
        assert_same_shots(snc.Circuit(text), 5)


def test_values_of_shots_do_not_depend_on_checkpoints() -> None:
    text = "H 0\nCX 0 1\nEXP_VAL Z0 Z0*Z1\nM 0\nEXP_VAL Z1\nH 1\nT 1\nEXP_VAL X1 Y1\nMX 1"
    values = [
        each.compile_sampler(seed=3, engine="trajectory").sample_expectation_values(200)[1]
        for each in (snc.Circuit(text), without_checkpoints(snc.Circuit(text)))
    ]
    np.testing.assert_array_equal(*values)


def test_a_shot_without_an_event_is_not_followed() -> None:
    sampler = memory(5).compile_sampler(seed=1, engine="trajectory")
    sampler.sample(1000)
    found = sampler.statistics()
    assert found["engine"] == "trajectory"
    assert found["skipped_steps"] > 100 * found["steps"]


IDLE = (
    "MX 0\nAMPLITUDE_DAMPING(0.4) 0 1\nRX 0\nCX 0 1\nT 1\nM 1 0\nAMPLITUDE_DAMPING(0.3) 0 1\nAMPLITUDE_DAMPING(0.3) 0",
    "H 0\nCX 0 1\nAMPLITUDE_DAMPING(0.5) 0\nR 0\nM 0 1",  # entangled
    "H 0 1\nT 0\nCX 0 1\nTHERMAL_RELAXATION(0.4, 0.25) 0 1\nR 0\nMX 1\nTHERMAL_RELAXATION(0.4, 0.25) 1\nRX 1\nMX 0 1",
    "X 0 1\nAMPLITUDE_DAMPING(0.5) 1\nLEAKAGE_FROM_11(0.5) 0 1\nR 1\nM 0 1",
    "X 0\nLEAKAGE(0.3) 0 1\nAMPLITUDE_DAMPING(0.5) 0 1\nDEPOLARIZE2(0.3) 0 1\nR 0\nCX 0 1\nM 0 1",
    "H 0\nM 0\nX 1\nAMPLITUDE_DAMPING(0.5) 1\nREPEAT[IF rec[-1]] 1 {\nR 1\nAMPLITUDE_DAMPING(0.5) 0\nR 0\n}\nM 0 1",
)


@pytest.mark.parametrize("text", IDLE)
def test_events_before_resets_have_no_effect(text: str) -> None:
    """A Z before each reset, and at the end, takes no random number; with it, all events are followed."""
    followed = re.sub(r"(?m)^RX? (\d)$", r"Z \1\n\g<0>", text) + "\nZ 0 1"
    circuits = [snc.Circuit(text), snc.Circuit(followed)]
    samplers = [each.compile_sampler(seed=2, engine="trajectory") for each in circuits]
    np.testing.assert_array_equal(*(each.sample(SHOTS) for each in samplers))


def test_events_before_resets_are_not_followed() -> None:
    text = "\n".join(["MX 0", "AMPLITUDE_DAMPING(0.4) 0", "RX 0", "H 1", *["S 0 1"] * 50, "M 1"])
    sampler = snc.Circuit(text).compile_sampler(seed=1, engine="trajectory")
    sampler.sample(1000)
    found = sampler.statistics()
    assert found["structural_events"] > 300
    assert found["skipped_steps"] > 100 * found["steps"]


def test_relaxation_has_the_rates_of_stim_behind_coins() -> None:
    """A reset in the second round; 25 rates are off by 6 standard errors once in 10^7 runs."""
    ideal, shots = memory(3).to_stim().flattened(), 100_000
    lines = str(ideal).splitlines()
    place = [k for k, line in enumerate(lines) if line.startswith("TICK")][10]
    followed = snc.Circuit("\n".join([*lines[:place], "AMPLITUDE_DAMPING(1) 3 8", *lines[place:]]))
    in_stim = stim.Circuit("\n".join([*lines[:place], "R 3 8", *lines[place:]]))
    found = followed.compile_sampler(seed=1, engine="trajectory").sample(shots)
    expected = in_stim.compile_sampler(seed=2).sample(shots)
    pairs = [(x[:, :12].astype(float).T @ x[:, 12:24] / shots, x.mean(axis=0)) for x in (found, expected)]
    for one, other in zip(*pairs, strict=True):
        errors = np.sqrt((one * (1 - one) + other * (1 - other)) / shots)
        assert np.all(np.abs(one - other) <= 6 * errors)
