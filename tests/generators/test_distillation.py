"""The distillation circuits: without noise nothing happens, and the undetected errors are those of theory."""

import itertools
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.distillation import PROTOCOL_CHOICES, distillation_circuit
from stim_nonclifford.generators.distillation.parities import Parities, fifteen_to_one, parities_of

ONE_LEVEL = [("15-to-1", None), ("8T-to-CCZ", None), ("49-to-1", None), ("3k+8-to-k", 2), ("3k+8-to-k", 4)]
"""Protocols whose T gates consume T states that are not distilled before."""

every_protocol = pytest.mark.parametrize(("protocol", "k"), ONE_LEVEL)
README = (Path(__file__).parents[2] / "circuits" / "distillation" / "README.md").read_text(encoding="utf-8")


def circuit_of(protocol: str, k: int | None = None, **noise: float) -> snc.Circuit:
    return snc.Circuit(distillation_circuit(protocol, k=k, **noise))


def direct(protocol: str, k: int | None, t_error: float) -> snc.Circuit:
    """A circuit whose T gates are not teleported."""
    return snc.Circuit(distillation_circuit(protocol, k=k, t_error=t_error, teleported=False))


def columns_of(parities: Parities) -> npt.NDArray[np.int64]:
    """Of each sum, its qubits as a number; outputs are the lowest bits."""
    return np.array([sum(1 << qubit for qubit in qubits) for qubits in parities.sums])


@cache
def weights(parities: Parities, num_bits: int) -> list[int]:
    """By weight, the number of words that parities of the highest bits give, from all sums of these bits.

    By MacWilliams' identity, the probability that errors add up to 0 on these bits is the mean of (1 - 2p)^w.
    """
    lowest = parities.num_outputs + parities.num_checks - num_bits
    columns = columns_of(parities) >> lowest
    masks = np.arange(1 << num_bits)
    found = np.zeros(len(masks), dtype=np.int64)
    for column in columns:
        seen, both = masks & column, np.zeros_like(masks)
        for k in range(num_bits):
            both ^= seen >> k & 1
        found += both
    return np.bincount(found, minlength=len(columns) + 1).tolist()


def undetected_by_theory(parities: Parities, p: float) -> tuple[float, float]:
    """P(kept) and P(kept and wrong) with Z errors of T states: a set of them is the sum of their sums.

    The difference of the two means is taken term by term in Krawtchouk polynomials, without cancellation.
    """
    num_t = len(parities.sums)
    num_bits = parities.num_outputs + parities.num_checks
    kept = wrong = 0.0
    checked, right = weights(parities, parities.num_checks), weights(parities, num_bits)
    for weight in range(num_t + 1):
        undetected = sets_of_weight(checked, num_t, weight)
        probability = p**weight * (1 - p) ** (num_t - weight)
        kept += undetected * probability
        wrong += (undetected - sets_of_weight(right, num_t, weight)) * probability
    return kept, wrong


def sets_of_weight(words: list[int], num_t: int, weight: int) -> int:
    """The number of sets of so many errors that no parity of the words sees."""
    total = 0
    for length, count in enumerate(words):
        seen = sum((-1) ** j * comb(length, j) * comb(num_t - length, weight - j) for j in range(weight + 1))
        total += count * seen
    quotient, rest = divmod(total, sum(words))
    assert rest == 0
    return quotient


@pytest.mark.parametrize(("protocol", "k"), [*ONE_LEVEL, *(("3k+8-to-k", k) for k in (6, 8, 10))])
def test_sums_apply_the_gate(protocol: str, k: int | None) -> None:
    """The phases of all T gates, modulo 8, depend on the outputs alone, as the docstrings say."""
    parities = parities_of(protocol, k)
    num_outputs = parities.num_outputs
    words = np.arange(1 << (num_outputs + parities.num_checks))
    bits = words[:, np.newaxis] >> np.arange(num_outputs + parities.num_checks) & 1
    phases = np.zeros(len(words), dtype=np.int64)
    for qubits, sign in zip(parities.sums, parities.signs, strict=True):
        phases += sign * (bits[:, list(qubits)].sum(axis=1) % 2)
    outputs = bits[:, :num_outputs]
    wanted = outputs @ np.array(parities.states) if parities.states else 4 * outputs.min(axis=1)
    assert np.array_equal(phases % 8, wanted % 8)


@every_protocol
def test_without_noise_nothing_fires(protocol: str, k: int | None) -> None:
    circuit = circuit_of(protocol, k, t_error=0)
    assert not circuit.compile_detector_sampler(seed=3).sample(500).any()
    assert not circuit.compile_detector_sampler(seed=3).sample(500, append_observables=True).any()
    records = circuit.compile_sampler(seed=3).sample(500)
    teleportations = len(parities_of(protocol, k).sums)
    assert 0.4 < records[:, :teleportations].mean() < 0.6  # which are random


def test_sets_of_49_to_1() -> None:
    """1411 p^5 is published (Bravyi, Haah); fewer errors are detected, or cancel."""
    parities = parities_of("49-to-1")
    checked, right = weights(parities, 13), weights(parities, 14)
    wrong = [sets_of_weight(checked, 49, k) - sets_of_weight(right, 49, k) for k in range(6)]
    assert wrong == [0, 0, 0, 0, 0, 1411]
    kept, failed = undetected_by_theory(parities, 0.01)
    assert failed / kept == pytest.approx(1.4856e-7, rel=1e-4)


@pytest.mark.parametrize("t_error", [0.001, 0.01, 0.2])
@pytest.mark.parametrize(("protocol", "k"), [("15-to-1", None), ("8T-to-CCZ", None), ("3k+8-to-k", 2)])
def test_rates_are_exact(protocol: str, k: int | None, t_error: float) -> None:
    """``logical_error_rate`` gives the sum over all 2^15 (2^8, 2^14) sets."""
    kept, wrong = undetected_by_theory(parities_of(protocol, k), t_error)
    rates = circuit_of(protocol, k, t_error=t_error).logical_error_rate(
        postselection_mask="all", relative_error=1e-12
    )
    assert rates.kept == pytest.approx(kept, rel=1e-9)
    assert rates.kept_and_wrong == pytest.approx(wrong, rel=1e-9)


@pytest.mark.parametrize(("protocol", "k"), [("15-to-1", None), ("8T-to-CCZ", None), ("3k+8-to-k", 4)])
def test_rates_without_teleportation_are_exact(protocol: str, k: int | None) -> None:
    circuit = direct(protocol, k, 0.01)
    assert circuit.num_qubits == circuit.num_observables + circuit.num_detectors == circuit.num_measurements
    kept, wrong = undetected_by_theory(parities_of(protocol, k), 0.01)
    rates = circuit.logical_error_rate(postselection_mask="all", relative_error=1e-9)
    assert rates.kept == pytest.approx(kept, rel=1e-9)
    assert rates.kept_and_wrong == pytest.approx(wrong, rel=1e-8)


def test_the_sum_over_sets_of_49_to_1() -> None:
    """All sets of up to five errors: 1411 of them, all of five, are malignant."""
    sets = direct("49-to-1", None, 0.01).malignant_sets(postselection_mask="all", max_weight=5)
    assert len(sets) == 1411
    assert {found.weight for found in sets} == {5}


@pytest.mark.parametrize(
    ("k", "pairs"), [(2, 7), (4, 22), (8, 88), (16, 364), pytest.param(20, 574, marks=pytest.mark.slow)]
)
def test_malignant_pairs_of_bravyi_haah(k: int, pairs: int) -> None:
    circuit = direct("3k+8-to-k", k, 0.01)
    assert circuit.fault_distance(postselection_mask="all").value == 2
    sets = circuit.malignant_sets(postselection_mask="all", max_weight=2)
    assert len(sets) == pairs
    assert all(found.kept == found.kept_and_wrong == 1 for found in sets)


def by_theory(protocol: str, k: int | None, p: float) -> tuple[float, float]:
    """P(kept) and P(kept and wrong) of a protocol."""
    if protocol == "5-to-1":  # Bravyi, Kitaev, quant-ph/0403025
        kept = (p**5 + 5 * p**2 * (1 - p) ** 3 + 5 * p**3 * (1 - p) ** 2 + (1 - p) ** 5) / 6
        return kept, (p**5 + 5 * p**2 * (1 - p) ** 3) / 6
    if protocol != "225-to-1":
        return undetected_by_theory(parities_of(protocol, k), p)
    first = undetected_by_theory(fifteen_to_one(), p)
    kept, wrong = undetected_by_theory(fifteen_to_one(), first[1] / first[0])
    return kept * first[0] ** 15, wrong * first[0] ** 15


@pytest.mark.parametrize(
    ("protocol", "k", "t_error", "shots"),
    [
        ("3k+8-to-k", 4, 0.1, 100_000),
        ("49-to-1", None, 0.08, 40_000),
        ("225-to-1", None, 0.03, 20_000),
    ],
)
def test_samples_agree(protocol: str, k: int | None, t_error: float, shots: int) -> None:
    """Seed 5; six standard deviations, which right circuits exceed once in 10^8 seeds."""
    circuit = circuit_of(protocol, k, t_error=t_error)
    counts = circuit.compile_detector_sampler(seed=5, postselection_mask="all").sample_counts(shots)
    found = counts.shots - counts.discards, counts.errors
    for each, p in zip(found, by_theory(protocol, k, t_error), strict=True):
        assert abs(each - counts.shots * p) < 6 * (counts.shots * p * (1 - p)) ** 0.5 + 1


@pytest.mark.parametrize("t_error", [0.001, 0.05, 0.2])
def test_five_to_one_is_exact(t_error: float) -> None:
    kept, wrong = by_theory("5-to-1", None, t_error)
    rates = circuit_of("5-to-1", t_error=t_error).logical_error_rate(
        postselection_mask="all", relative_error=1e-12
    )
    assert rates.kept == pytest.approx(kept, rel=1e-9)
    assert rates.kept_and_wrong == pytest.approx(wrong, rel=1e-9)
    assert wrong / kept == pytest.approx(5 * t_error**2, rel=20 * t_error)


def test_two_levels_of_15_to_1() -> None:
    """35 (35 p^3)^3 for small p; and each first level discards what it would on its own."""
    p = 1e-4
    kept, wrong = by_theory("225-to-1", None, p)
    assert wrong / kept == pytest.approx(35**4 * p**9, rel=1e-2)
    circuit = circuit_of("225-to-1", t_error=p)
    assert circuit.num_detectors == 16 * 4
    assert sum(part.name == "Z_ERROR" for part in circuit) == 225
    # Three faults of one first level that it does not detect, and the second level does.
    sums = columns_of(fifteen_to_one()).tolist()
    triple = next(
        t for t in itertools.combinations(range(15), 3) if sums[t[0]] ^ sums[t[1]] ^ sums[t[2]] == 1
    )
    lines = [k for k, part in enumerate(circuit.to_stim()) if part.name == "Z_ERROR"]
    faulty = stim.Circuit()
    for k, part in enumerate(circuit.to_stim()):
        if part.name != "Z_ERROR":
            faulty.append(part)
        elif lines.index(k) in triple:
            faulty.append("Z_ERROR", part.targets_copy(), 1)
    fired = snc.Circuit(faulty).compile_detector_sampler(seed=2).sample(20, append_observables=True)
    assert not fired[:, :60].any()
    assert np.array_equal(fired[:, 60:], [[1, 0, 0, 0, 1]] * 20)  # the first sum has the first check


@pytest.mark.parametrize(("protocol", "k"), ONE_LEVEL[:2])
def test_a_wrong_readout_leads_to_a_wrong_correction(protocol: str, k: int | None) -> None:
    """S in the wrong place is not a T error: half of the single readout errors are detected or seen."""
    text = str(distillation_circuit(protocol, t_error=0, k=k))
    position = text.index("\nM ") + 1
    faulty = snc.Circuit(text[:position] + "M(1)" + text[position + 1 :])
    events = faulty.compile_detector_sampler(seed=3).sample(4000, append_observables=True).any(axis=1)
    assert 0.3 < events.mean() < 0.9


def test_the_proxy_is_what_stim_reads() -> None:
    proxy = distillation_circuit("15-to-1", t_error=0.01, p=0.001, gate="S")
    assert proxy == snc.Circuit(distillation_circuit("15-to-1", t_error=0.01, p=0.001)).s_proxy()
    for protocol, k in [("15-to-1", None), ("49-to-1", None), ("225-to-1", None), ("3k+8-to-k", 4)]:
        quiet = distillation_circuit(protocol, t_error=0, gate="S", k=k)
        assert not quiet.compile_detector_sampler(seed=1).sample(500, append_observables=True).any()
    for protocol in ("8T-to-CCZ", "5-to-1"):
        with pytest.raises(ValueError, match=f"{protocol} has no S-proxy"):
            distillation_circuit(protocol, t_error=0.01, gate="S")


@every_protocol
def test_width(protocol: str, k: int | None) -> None:
    parities = parities_of(protocol, k)
    circuit = circuit_of(protocol, k, t_error=0.01, p=0.001)
    assert circuit.plan(postselection_mask="all").peak_width == parities.num_outputs + parities.num_checks


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"protocol": "3k+8-to-k"}, "Write it, for example k=2"),
        ({"protocol": "3k+8-to-k", "k": 3}, "k must be an even number, but is 3. Write k=2"),
        ({"protocol": "3k+8-to-k", "k": 0}, "k must be an integer"),
        ({"protocol": "5-to-1", "teleported": False}, "Leave out teleported=False"),
        ({"k": 2}, "Leave it out for 15-to-1"),
        ({"protocol": "5-to-1", "t_error": 0.7}, "t_error of 5-to-1 must be a probability"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        distillation_circuit(**{"t_error": 0.01, **arguments})


def test_table_of_numbers() -> None:
    """The rows with p = 0 of the page on the circuits."""
    rows = [line.split("|")[1:-1] for line in README.split("\n") if line.startswith(("| 15-to-1", "| 8T"))]
    rows = [row for row in rows if len(row) == 7]
    assert len(rows) == 8
    for row in rows:
        protocol, qubits, width, t_error, p, kept, error = (cell.strip() for cell in row)
        circuit = circuit_of(protocol, t_error=float(t_error), p=float(p))
        assert circuit.num_qubits == int(qubits)
        assert circuit.plan(postselection_mask="all").peak_width == int(width)
        if float(p) == 0:
            expected_kept, wrong = by_theory(protocol, None, float(t_error))
            assert float(kept) == pytest.approx(expected_kept, abs=1e-6)
            assert float(error) == pytest.approx(wrong / expected_kept, rel=1e-5)


def test_every_protocol_is_in_the_table_of_the_page() -> None:
    """Its numbers of qubits and of T gates, at k = 4 for any k."""
    table = README.split("## The protocols")[1].split("\n\n")[1].split("\n")
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table[2:]]
    assert [row[0] for row in cells] == list(PROTOCOL_CHOICES)
    for protocol, qubits, t_gates, *_ in cells:
        k = 4 if protocol == "3k+8-to-k" else None
        circuit = circuit_of(protocol, k, t_error=0.01)
        errors = sum(len(part.targets_copy()) for part in circuit if part.name in ("Z_ERROR", "DEPOLARIZE1"))
        assert circuit.num_qubits == (k + 4 if k else int(qubits))
        assert errors == (3 * k + 8 if k else int(t_gates.split()[0]))
