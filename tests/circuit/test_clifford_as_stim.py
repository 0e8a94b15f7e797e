"""Where a circuit is Clifford, every answer agrees with Stim's."""

import itertools

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
import stim

from stim_nonclifford import Circuit

from ..support.laws.exact import convolve, largest_difference, mask, mask_of
from ..support.oracle.random_circuits import (
    CLIFFORD_FAMILIES,
    one_group_per_instruction,
    random_circuit,
)
from ..support.rates.error_models import assert_same_model, symptoms
from ..support.texts.memory_circuits import memory

ALPHA = 1e-7
"""Probability of a false alarm in each statistical test, over all of its comparisons."""

CODES = [
    "repetition_code:memory", "surface_code:rotated_memory_x", "surface_code:rotated_memory_z",
    "surface_code:unrotated_memory_x", "surface_code:unrotated_memory_z", "color_code:memory_xyz",
]  # fmt: skip


def generated(code: str, distance: int, rounds: int, p: float = 0.01) -> stim.Circuit:
    """A memory experiment with all four kinds of noise."""
    return memory(code, distance, rounds, gates=p, idle=2 * p, reads=3 * p, resets=p / 2)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(("distance", "rounds"), [(3, 2), (3, 5), (5, 3)])
def test_detector_error_models(code: str, distance: int, rounds: int) -> None:
    assert_same_model(generated(code, distance, rounds))


def test_detector_error_models_of_large_probabilities() -> None:
    """Up to the largest probabilities at which the noise is a product of independent errors."""
    assert_same_model(generated("surface_code:rotated_memory_z", 3, 2, p=0.15))


@pytest.mark.parametrize(
    "text",
    [
        "X_ERROR(0.1) 0\nM 0\nDETECTOR(1, 2) rec[-1]\nSHIFT_COORDS(0, 3)\nDETECTOR(1, 0) rec[-1]",
        "E(0.1) X0 Z1\nCX 0 1\nM(0.2) 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(2) rec[-1]",
        "RX 0\nMPP(0.1) X0*Z1\nCZ rec[-1] 0\nMX 0\nDETECTOR rec[-1]\nDETECTOR rec[-2]",
        "MR(0.1) 0\nX_ERROR(0.25) 0\nCX rec[-1] 1\nM 0 1\nDETECTOR rec[-1] rec[-3]\nDETECTOR rec[-2] rec[-1]",
        "OBSERVABLE_INCLUDE(0) Z0\nDEPOLARIZE1(0.1) 0\nOBSERVABLE_INCLUDE(0) Z0",
        "RY 0 1\nDEPOLARIZE2(0.1) 0 1\nOBSERVABLE_INCLUDE(1) Y0 Y1\nMYY(0.1) 0 1\nDETECTOR rec[-1]",
        "DETECTOR\nDETECTOR(5)\nOBSERVABLE_INCLUDE(3)",
        "",
    ],
)
def test_detector_error_models_of_small_circuits(text: str) -> None:
    assert_same_model(stim.Circuit(text))


@pytest.mark.parametrize(
    "noise",
    [
        "X_ERROR(1) 0", "X_ERROR(0.7) 0", "X_ERROR(0.5) 0", "X_ERROR(1) 0 1", "E(0.9) X0 X1",
        "DEPOLARIZE1(0.75) 0", "DEPOLARIZE2(0.9375) 0 1", "X_ERROR(0.6) 0\nX_ERROR(0.2) 1",
    ],
)  # fmt: skip
def test_detector_error_models_of_likely_errors(noise: str) -> None:
    """Errors that are as likely as not, or more: the models have the same distribution."""
    text = (
        f"{noise}\nM(0.8) 0\nM 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]"
    )
    expected, found = (
        convolve({flipped: p} for flipped, p in symptoms(circuit.detector_error_model()).items())
        for circuit in (stim.Circuit(text), Circuit(text))
    )
    assert largest_difference(found, expected) < 1e-12


def parity_probability(errors: dict[int, float], outputs: int) -> float:
    """The probability that an odd number of these outputs flips."""
    bias = 1.0
    for flipped, p in errors.items():
        if (flipped & outputs).bit_count() & 1:
            bias *= 1 - 2 * p
    return (1 - bias) / 2


def flips(circuit: stim.Circuit, shots: int, seed: int) -> npt.NDArray[np.bool_]:
    """Samples of detectors, then observables."""
    samples = Circuit(circuit).compile_detector_sampler(seed=seed).sample(shots, append_observables=True)
    assert isinstance(samples, np.ndarray)
    return samples


def assert_counts(
    counts: list[int], shots: int, errors: dict[int, float], sets: list[tuple[int, ...]]
) -> None:
    """Exact binomial tests of how often the parities of sets of outputs were odd (Bonferroni's correction)."""
    probabilities = np.array([parity_probability(errors, mask(members)) for members in sets])
    lower = scipy.stats.binom.cdf(counts, shots, probabilities)
    upper = scipy.stats.binom.sf(np.array(counts) - 1, shots, probabilities)
    p_values = 2 * np.minimum(lower, upper) * len(sets)
    worst = int(np.argmin(p_values))
    assert p_values[worst] > ALPHA, (sets[worst], counts[worst], shots * probabilities[worst])


@pytest.mark.parametrize(
    ("code", "distance", "rounds", "p"),
    [
        ("repetition_code:memory", 3, 3, 0.03),
        ("surface_code:rotated_memory_z", 5, 5, 0.001),
        ("color_code:memory_xyz", 3, 3, 0.01),
    ],
)
def test_rates_and_correlations(code: str, distance: int, rounds: int, p: float) -> None:
    """3e6 shots of seed 1, or 10^6 of wide rows: all parities of one or two outputs; false alarms: ``ALPHA`` each."""
    circuit = generated(code, distance, rounds, p)
    sampler = Circuit(circuit).compile_detector_sampler(seed=1)
    size = circuit.num_detectors + circuit.num_observables
    together = np.zeros((size, size), dtype=np.int64)
    shots, block = (3 * 10**6 if size < 60 else 10**6), 10**5
    for _ in range(shots // block):
        samples = sampler.sample(block, append_observables=True)
        assert isinstance(samples, np.ndarray)
        columns = samples.astype(np.float32)  # sums are exact below 2^24
        together += (columns.T @ columns).astype(np.int64)
    sets: list[tuple[int, ...]] = [(k,) for k in range(size)]
    counts = [int(together[k, k]) for k in range(size)]
    for i, j in itertools.combinations(range(size), 2):
        sets.append((i, j))
        counts.append(int(together[i, i] + together[j, j] - 2 * together[i, j]))
    assert_counts(counts, shots, symptoms(circuit.detector_error_model()), sets)


def test_the_tests_of_rates_can_fail() -> None:
    """Seed 4: samples of a slightly different error rate are recognized."""
    circuit = generated("surface_code:rotated_memory_x", 3, 3, p=0.0102)
    samples = flips(circuit, 10**6, seed=4)
    errors = symptoms(generated("surface_code:rotated_memory_x", 3, 3, p=0.01).detector_error_model())
    with pytest.raises(AssertionError):
        assert_counts(
            samples.sum(axis=0).tolist(), len(samples), errors, [(k,) for k in range(samples.shape[1])]
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("H 0\nM 0", [0]),
        ("H 0\nM !0", [1]),
        ("M !0 0", [1, 0]),
        ("MPP !X0*X1 X0*X1", [1, 0]),
        ("H 0\nCX 0 1\nR 0\nM 0 1", [0, 0]),
        ("H 0\nCX 0 1\nX 1\nR 0\nM 0 1", [0, 1]),
        ("H 0\nCX 0 1\nRX 0\nMX 0\nM 1", [0, 0]),
        ("RX 0\nMR !0\nM 0", [1, 0]),
        ("RX 0\nM !0\nCX rec[-1] 1\nM 1", [1, 1]),
        ("X 0\nX_ERROR(1) 0\nM(1) 0\nHERALDED_ERASE(1) 0", [1, 0]),
        ("MPAD 0 1 1", [0, 1, 1]),
        ("CX sweep[0] 0\nM 0", [0]),
    ],
)
def test_reference_samples(text: str, expected: list[int]) -> None:
    """Also next to a non-Clifford gate, which leads to another algorithm."""
    assert stim.Circuit(text).reference_sample().tolist() == expected
    for circuit in (Circuit(text), Circuit(f"{text}\nRX 9\nT 9")):
        assert circuit.reference_sample().tolist() == expected


@pytest.mark.parametrize("seed", range(20, 25))
def test_reference_samples_of_random_circuits(seed: int) -> None:
    """Circuits of the seeds [seed, 0], [seed, 1], ..., with one group of targets per instruction.

    Within one instruction, Stim breaks ties in an order that differs from that of the targets.
    """
    for k in range(20):
        circuit = random_circuit(np.random.default_rng([seed, k]), instructions=CLIFFORD_FAMILIES)
        split = one_group_per_instruction(circuit)
        expected = split.reference_sample()
        np.testing.assert_array_equal(Circuit(split).reference_sample(), expected)
        next_to_t = split + Circuit("RX 9\nT 9").to_stim()
        np.testing.assert_array_equal(Circuit(next_to_t).reference_sample(), expected)
        packed = Circuit(split).reference_sample(bit_packed=True)
        np.testing.assert_array_equal(packed, split.reference_sample(bit_packed=True))
        assert Circuit(next_to_t).compile().reference_records() == mask_of(expected)


@pytest.mark.parametrize("size", [255, 256, 1000])
def test_parities_of_many_records(size: int) -> None:
    """Sums of more than 255 bits, and of more than 64 words."""
    circuit = stim.Circuit(f"""
        X_ERROR(1) 0
        X_ERROR(0.25) 1
        REPEAT {size} {{
            M 0
        }}
        DETECTOR {" ".join(f"rec[-{k + 1}]" for k in range(size))}
        DETECTOR {" ".join(f"rec[-{k + 1}]" for k in range(size - 1))}
        M 1
        OBSERVABLE_INCLUDE(0) rec[-1] {" ".join(f"rec[-{k + 2}]" for k in range(size))}
    """)
    samples = flips(circuit, 2000, seed=6)
    assert (samples[:, 0] == size % 2).all()
    assert (samples[:, 1] == (size - 1) % 2).all()
    # Six standard deviations, 2e-9, around a quarter.
    assert abs((samples[:, 2] ^ (size % 2)).sum() - 500) < 6 * np.sqrt(2000 * 0.25 * 0.75)
