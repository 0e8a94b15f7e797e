"""The distillation circuits: without noise nothing happens, and the undetected errors are those of theory."""

from __future__ import annotations

import itertools
from math import comb
from pathlib import Path

import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.commands import main
from stim_nonclifford.generators.distillation import PROTOCOL_CHOICES, ProtocolChoice, distillation_circuit
from stim_nonclifford.generators.distillation.parities import parities_of

every_protocol = pytest.mark.parametrize("protocol", PROTOCOL_CHOICES)
README = (Path(__file__).parents[2] / "circuits" / "distillation" / "README.md").read_text(encoding="utf-8")


def circuit_of(protocol: ProtocolChoice, **noise: float) -> snc.Circuit:
    return snc.Circuit(distillation_circuit(protocol, **noise))


def undetected_by_theory(protocol: ProtocolChoice, p: float) -> tuple[float, float]:
    """P(kept) and P(kept and wrong) with Z errors of T states: a set of them is the sum of their sums."""
    parities = parities_of(protocol)
    kept = wrong = 0.0
    num_t = len(parities.sums)
    vectors = [sum(1 << qubit for qubit in qubits) for qubits in parities.sums]
    outputs = (1 << parities.num_outputs) - 1
    for chosen in itertools.product((0, 1), repeat=num_t):
        total = 0
        for vector, is_wrong in zip(vectors, chosen, strict=True):
            total ^= vector * is_wrong
        weight = sum(chosen)
        probability = p**weight * (1 - p) ** (num_t - weight)
        if total & ~outputs == 0:
            kept += probability
            wrong += probability * (total != 0)
    return kept, wrong


@every_protocol
def test_sums_apply_the_gate(protocol: ProtocolChoice) -> None:
    """The phases of all T gates, modulo 8, depend on the outputs alone, as the docstring says."""
    parities = parities_of(protocol)
    num_qubits = parities.num_outputs + parities.num_checks
    for bits in itertools.product((0, 1), repeat=num_qubits):
        pairs = zip(parities.sums, parities.signs, strict=True)
        phase = sum(sign * (sum(bits[q] for q in qubits) % 2) for qubits, sign in pairs) % 8
        outputs = bits[: parities.num_outputs]
        assert phase == (-outputs[0] % 8 if protocol == "15-to-1" else 4 * min(outputs))


@every_protocol
def test_without_noise_nothing_fires(protocol: ProtocolChoice) -> None:
    circuit = circuit_of(protocol, t_error=0)
    assert not circuit.compile_detector_sampler(seed=3).sample(2000).any()
    records = circuit.compile_sampler(seed=3).sample(2000)
    teleportations = len(parities_of(protocol).sums)
    assert 0.4 < records[:, :teleportations].mean() < 0.6  # which are random


@pytest.mark.parametrize(("protocol", "count", "weight"), [("15-to-1", 35, 3), ("8T-to-CCZ", 28, 2)])
def test_leading_coefficient(protocol: ProtocolChoice, count: int, weight: int) -> None:
    circuit = circuit_of(protocol, t_error=0.01)
    sets = circuit.malignant_sets(postselection_mask="all")
    smallest = [found for found in sets if found.weight == weight]
    assert min(found.weight for found in sets) == weight
    assert len(smallest) == count
    assert all(found.kept == found.kept_and_wrong == 1 for found in smallest)


@pytest.mark.parametrize("t_error", [0.001, 0.01, 0.2])
@every_protocol
def test_rates_are_those_of_theory(protocol: ProtocolChoice, t_error: float) -> None:
    circuit = circuit_of(protocol, t_error=t_error)
    found = circuit.logical_error_rate(postselection_mask="all", relative_error=1e-9)
    kept, wrong = undetected_by_theory(protocol, t_error)
    assert found.kept == pytest.approx(kept, rel=1e-9)
    assert found.logical_error_rate == pytest.approx(wrong / kept, rel=1e-6)


@every_protocol
def test_shots_agree_with_theory(protocol: ProtocolChoice) -> None:
    """Seed 7; 6 sigma is a false alarm in 10^9 runs."""
    circuit = circuit_of(protocol, t_error=0.1)
    counts = circuit.compile_detector_sampler(postselection_mask="all", seed=7).sample_counts(300_000)
    for found, p in zip(
        (counts.shots - counts.discards, counts.errors), undetected_by_theory(protocol, 0.1), strict=True
    ):
        assert abs(found - counts.shots * p) < 6 * (counts.shots * p * (1 - p)) ** 0.5


@every_protocol
def test_a_wrong_readout_leads_to_a_wrong_correction(protocol: ProtocolChoice) -> None:
    """S in the wrong place is not a T error: half of the single readout errors are detected or seen."""
    text = str(distillation_circuit(protocol, t_error=0))
    num_t = len(parities_of(protocol).sums)
    position = text.index("\nM ") + 1
    faulty = snc.Circuit(text[:position] + "M(1)" + text[position + 1 :])
    events = faulty.compile_detector_sampler(seed=3).sample(4000, append_observables=True).any(axis=1)
    assert 0.3 < events.mean() < 0.9, num_t


def test_the_proxy_is_what_stim_reads() -> None:
    proxy = distillation_circuit("15-to-1", t_error=0.01, p=0.001, gate="S")
    assert proxy == snc.Circuit(distillation_circuit("15-to-1", t_error=0.01, p=0.001)).s_proxy()
    quiet = distillation_circuit("15-to-1", t_error=0, gate="S")
    assert not quiet.compile_detector_sampler(seed=1).sample(500, append_observables=True).any()
    with pytest.raises(ValueError, match="8T-to-CCZ has no S-proxy"):
        distillation_circuit("8T-to-CCZ", t_error=0.01, gate="S")


@every_protocol
def test_width(protocol: ProtocolChoice) -> None:
    parities = parities_of(protocol)
    circuit = circuit_of(protocol, t_error=0.01, p=0.001)
    assert circuit.plan(postselection_mask="all").peak_width == parities.num_outputs + parities.num_checks


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "distillation", "--t_error", "0.01", "0.1", "--out_dir", str(tmp_path)]) == 0
    written = [Path(line) for line in capsys.readouterr().out.split()]
    assert [path.name for path in written] == [
        "c=15-to-1,g=T,e=0.01,p=0.stim",
        "c=15-to-1,g=T,e=0.1,p=0.stim",
    ]
    assert stim.Circuit.from_file(written[0]) == distillation_circuit(t_error=0.01)
    assert main(["generate", "distillation", "--t_error", "2", "--out_dir", str(tmp_path)]) == 2
    assert "t_error must be a probability" in capsys.readouterr().err


def test_table_of_the_readme() -> None:
    """Its rows with p = 0."""
    rows = [line.split("|")[1:-1] for line in README.split("\n") if line.startswith(("| 15-to-1", "| 8T"))]
    assert len(rows) == 8
    for row in rows:
        protocol, qubits, width, t_error, p, kept, error = (cell.strip() for cell in row)
        circuit = circuit_of(protocol, t_error=float(t_error), p=float(p))
        assert circuit.num_qubits == int(qubits)
        assert circuit.plan(postselection_mask="all").peak_width == int(width)
        if float(p) == 0:
            expected_kept, wrong = undetected_by_theory(protocol, float(t_error))
            assert float(kept) == pytest.approx(expected_kept, abs=1e-6)
            assert float(error) == pytest.approx(wrong / expected_kept, rel=1e-5)


def test_counts_of_sets_of_15_to_1() -> None:
    """Sets of k sums without a detected error, by the weight enumerator of the Hamming code's dual."""
    sums = [sum(1 << qubit - 1 for qubit in qubits if qubit) for qubits in parities_of("15-to-1").sums]
    assert sorted(sums) == list(range(1, 16))
    triples = [t for t in itertools.combinations(sums, 3) if t[0] ^ t[1] ^ t[2] == 0]
    assert len(triples) == 35 == comb(15, 2) // 3
