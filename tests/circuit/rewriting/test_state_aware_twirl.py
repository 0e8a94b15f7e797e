"""What decoders are told of noise that depends on the state, against density matrices and samples."""

import random

import numpy as np
import pytest
import stim

import stim_nonclifford as snc

from ...support.laws.exact import convolve, largest_difference, marginal, mask_of
from ...support.oracle.leakage import leaked_record_distribution
from ...support.rates.error_models import flip_rates, symptoms
from ...support.seeds import seeds, slow

HOT = 0.3
GAMMA = 0.19
DECAY = [[[1, 0], [0, (1 - GAMMA) ** 0.5]], [[0, GAMMA**0.5], [0, 0]]]
WARM = np.concatenate(
    [(1 - HOT) ** 0.5 * np.array(DECAY), HOT**0.5 * np.array(DECAY)[:, ::-1, ::-1]]
)  # damping with a bath that excites the qubit, too
CHANNELS = ("AMPLITUDE_DAMPING(0.19) {0}", "THERMAL_RELAXATION(0.3, 0.4) {0}", "KRAUS", "M(0.1, 0.3) {0}",
            "MR(0.3, 0.02) {0}", "MX(0, 0.2) {0}", "MPP(0.05, 0.15) !Z{0}*X{1} Z{1}", "MZZ(0.2, 0.1) {0} {1}")  # fmt: skip

LEAKAGE = ("LEAKAGE(0.2) {0}\nCX {0} {1}", "LOSS(0.3) {0}\nMXX {0} {1}", "LEAKAGE(0.4) {1}\nCZ {0} {1}\nRL {1}",
           "LOSS(0.1) {1}\nCX {1} {0}", "LEAKAGE(0.3) {0}\nMPP X{0}*X{1}\nR {0}")  # fmt: skip


def random_circuit(seed: int, channel: str) -> snc.Circuit:
    """A Clifford circuit with measurements, feedback, one channel, and all detectors that Stim can find."""
    rng = random.Random(seed)
    circuit = snc.Circuit()

    def append_gates(count: int) -> None:
        for _ in range(count):
            first, second = rng.sample(range(4), 2)
            line = rng.choice(["H {0}", "S {0}", "X {0}", "CX {0} {1}", "CX {0} {1}", "CZ {0} {1}", "M {0}", "R {0}",
                               "M {0}\nCX rec[-1] {1}", "MPP Z{0}*Z{1}"])  # fmt: skip
            circuit.append_from_stim_program_text(line.format(first, second))

    append_gates(rng.randrange(12))
    places = rng.sample(range(4), 2)
    if channel == "KRAUS":
        circuit.append("KRAUS", places[:1], WARM)
    else:
        circuit.append_from_stim_program_text(channel.format(*places))
    append_gates(rng.randrange(5 if channel in LEAKAGE else 12))
    circuit.append_from_stim_program_text("M 0 1 2 3")
    circuit.append_from_stim_program_text(str(circuit.without_noise().missing_detectors()))
    return circuit


def fired_distribution(circuit: snc.Circuit) -> dict[tuple[int, ...], float]:
    """The true probability of each pattern of detectors, from density matrices with leaked levels."""
    convert = circuit.compile_m2d_converter().convert

    def fired(records: tuple[int, ...]) -> tuple[int, ...]:
        bits = convert(measurements=np.array([records], dtype=np.bool_), append_observables=True)
        return tuple(map(int, bits[0]))

    return marginal(leaked_record_distribution(circuit.to_stim()), fired)


def error_of(circuit: snc.Circuit, model: stim.DetectorErrorModel) -> float:
    """The largest difference of the model's probability of a pattern from the true one."""
    found = convolve({flipped: p} for flipped, p in symptoms(model).items())
    return largest_difference(found, marginal(fired_distribution(circuit), mask_of))


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
@pytest.mark.parametrize("kind", ["s_proxy", "noise_only"])
@pytest.mark.parametrize("channel", CHANNELS + LEAKAGE)
@pytest.mark.parametrize("seed", seeds(12, quick=3))
def test_one_channel_has_its_distribution(seed: int, channel: str, kind: str) -> None:
    """With one channel in a circuit nothing is of second order: the model is exact."""
    circuit = random_circuit(seed, channel)
    assert error_of(circuit, circuit.detector_error_model(kind=kind)) < 1e-9


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
def test_the_plain_twirl_fails_that_test() -> None:
    for channel in CHANNELS[:5] + LEAKAGE[:2]:  # outcomes of the others are random in most of these circuits
        circuits = [random_circuit(seed, channel) for seed in range(12)]
        errors = [error_of(each, each.pauli_twirl().detector_error_model()) for each in circuits]
        assert max(errors) > 0.02


def test_values_follow_loops() -> None:
    """X in each iteration makes a loop of period 2; one that repeats itself after six has plain twirls."""
    loop = "REPEAT[a] 1000001 {\n    X 0\n    AMPLITUDE_DAMPING(0.36) 0\n    TICK\n}\n"
    twirled = snc.Circuit(loop + "M(0.1, 0.2) 0").pauli_twirl(state_aware=True)
    assert str(twirled).replace("[twirl of AMPLITUDE_DAMPING]", "") == (
        "REPEAT[a] 500000 {\n    X 0\n    X_ERROR(0.36) 0\n    Z_ERROR(0.01) 0\n    TICK\n    X 0\n"
        "    Z_ERROR(0.01) 0\n    TICK\n}\n"
        "REPEAT[a] 1 {\n    X 0\n    X_ERROR(0.36) 0\n    Z_ERROR(0.01) 0\n    TICK\n}\nM(0.2) 0"
    )
    rare = "X 0\nREPEAT 1000 {\nSWAP 0 1 1 2 2 3 3 4 4 5\nAMPLITUDE_DAMPING(0.36) 0\n}"
    assert "PAULI_CHANNEL_1" in str(snc.Circuit(rare).pauli_twirl(state_aware=True))
    once = snc.Circuit("REPEAT 3 {\n    AMPLITUDE_DAMPING(0.36) 0\n    X 0\n}").pauli_twirl(state_aware=True)
    flat = snc.Circuit("AMPLITUDE_DAMPING(0.36) 0\nX 0\n" * 3).pauli_twirl(state_aware=True)
    assert once.flattened() == flat.flattened()


def test_random_signs_count_as_random() -> None:
    """The second outcome is the first one: it is known in each shot, but not from detectors."""
    circuit = snc.Circuit("H 0\nM 0\nM(0.1, 0.3) 0\nAMPLITUDE_DAMPING(0.36) 0").pauli_twirl(state_aware=True)
    assert str(circuit.without_tags()) == "H 0\nM 0\nM(0.2) 0\nPAULI_CHANNEL_1(0.09, 0.09, 0.01) 0"


def test_t_gates_count_as_s() -> None:
    circuit = snc.Circuit("H 0\nT 0\nT 0\nH 0\nAMPLITUDE_DAMPING(0.36) 0\nCS 0 1\nM(0.1, 0.2) 1")
    assert str(circuit.pauli_twirl(state_aware=True).without_tags()).splitlines()[-4:] == [
        "X_ERROR(0.36) 0", "Z_ERROR(0.01) 0", "CS 0 1", "M(0.1) 1"
    ]  # fmt: skip


def memory(distance: int, noise: str, readout: str = "") -> snc.Circuit:
    """A surface code whose qubits have noise at each TICK, and misread outcomes."""
    circuit = snc.Circuit.generated("surface_code:rotated_memory_z", distance=distance, rounds=distance)
    qubits = " ".join(map(str, sorted(circuit.get_final_qubit_coordinates())))
    text = str(circuit).replace("TICK", f"TICK\n{noise} {qubits}" if noise else "TICK")
    return snc.Circuit(text.replace("MR ", f"MR{readout} ").replace("M ", f"M{readout} "))


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
@pytest.mark.parametrize(
    ("distance", "noise", "readout", "shots"),
    [
        (3, "", "(0.005, 0.015)", 1_000_000),
        slow(3, "THERMAL_RELAXATION(0.001, 0.001)", "", 4_000_000),
        slow(3, "THERMAL_RELAXATION(0.001, 0.0015)", "(0.005, 0.015)", 1_000_000),
        slow(5, "THERMAL_RELAXATION(0.001, 0.001)", "", 500_000),
    ],
)  # fmt: skip
def test_memory_has_the_rates_of_the_model(distance: int, noise: str, readout: str, shots: int) -> None:
    """Seeded. The plain twirl says 1.2 to 1.3 times too much."""
    circuit = memory(distance, noise, readout)
    fired = circuit.compile_detector_sampler(seed=5).sample(shots)
    counts = fired.sum(axis=1)  # detectors of a shot fire together
    error = 5 * counts.std() / counts.mean() / shots**0.5
    assert error < 0.015
    model = circuit.detector_error_model(approximate_disjoint_errors=True)
    assert abs(flip_rates(model).mean() / fired.mean() - 1) < 0.01 + error
    plain = circuit.pauli_twirl().detector_error_model(approximate_disjoint_errors=True)
    assert flip_rates(plain).mean() / fired.mean() > 1.15


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
@pytest.mark.parametrize(("seed", "distance", "shots"), [slow(9, 3, 200_000)])
def test_a_decoder_errs_less_often(seed: int, distance: int, shots: int) -> None:
    """By some 9% at t/T1 = 0.005."""
    pymatching = pytest.importorskip("pymatching")
    circuit = memory(distance, "THERMAL_RELAXATION(0.005, 0.005)")
    sampler = circuit.compile_detector_sampler(seed=seed)
    detectors, observables = sampler.sample(shots, separate_observables=True)
    wrong = [
        (pymatching.Matching(model).decode_batch(detectors) != observables)[:, 0]
        for model in (
            circuit.detector_error_model(decompose_errors=True, approximate_disjoint_errors=True),
            circuit.pauli_twirl().detector_error_model(
                decompose_errors=True, approximate_disjoint_errors=True
            ),
        )
    ]
    better, worse = (np.count_nonzero(a & ~b) for a, b in (wrong[::-1], wrong))
    assert better - worse > 5 * (better + worse) ** 0.5
    assert (better - worse) / np.count_nonzero(wrong[1]) > 0.05


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
@pytest.mark.parametrize("kind", ["s_proxy", "noise_only"])
def test_noise_of_all_kinds_together(kind: str) -> None:
    """Rates of a circuit with relaxation, misread outcomes, leakage, loss and heralds, up to second order."""
    circuit = snc.Circuit(
        "R 0 1\nX 0\nAMPLITUDE_DAMPING(0.004) 0 1\nLEAKAGE(0.003) 0\nCX 0 1\nDEPOLARIZE2(0.002) 0 1\nLOSS(0.002) 1\n"
        "HERALD_LEAKAGE_EVENT(0.1) 0\nHERALD_LOSS_EVENT(0) 1\nMR(0.001, 0.006) 1\nM(0.002, 0.004) 0\nKRAUS(1,0,0,0,0,0,1,0) 0\n"
        "DETECTOR rec[-4]\nDETECTOR rec[-3]\nDETECTOR rec[-2]\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]"
    )
    exact = np.zeros(4)
    for pattern, p in fired_distribution(circuit).items():
        exact += p * np.array(pattern[:4])
    found = flip_rates(circuit.detector_error_model(kind=kind, approximate_disjoint_errors=True))
    np.testing.assert_allclose(found, exact, rtol=0.02)
    decomposed = circuit.detector_error_model(
        kind=kind, approximate_disjoint_errors=True, decompose_errors=True
    )
    np.testing.assert_allclose(flip_rates(decomposed), exact, rtol=0.02)
