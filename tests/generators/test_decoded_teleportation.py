"""The teleported T gate with a decoder in the loop: circuits, single faults, distances and rates."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.commands import main
from stim_nonclifford.generators.teleportation import (
    CORRECTION_CHOICES,
    INPUT_CHOICES,
    MAGIC_CHOICES,
    S_GATE_CHOICES,
    teleportation_circuit,
)

from ..support.seeds import slow

CASES = list(itertools.product(INPUT_CHOICES, S_GATE_CHOICES, MAGIC_CHOICES))


def decoded(distance: int = 3, p: float = 1e-3, **arguments: Any) -> snc.Circuit:
    arguments = {"input": "bell", "magic": "perfect", **arguments}
    if arguments["magic"] == "cultivated":
        arguments.setdefault("magic_error", 0.0)
    return snc.Circuit(teleportation_circuit(distance, p, correction="decoded", **arguments))


def with_raw_outcome(circuit: snc.Circuit) -> snc.Circuit:
    """The S follows the raw outcome of the merge, and the frame is decoded."""
    result = snc.Circuit(str(circuit).replace("DECODE 41", "M 41"))
    assert len(result.decision_points()) == len(circuit.decision_points()) - 1
    return result


@pytest.mark.parametrize(
    ("given", "s_gate", "magic", "gate"),
    [(*case, "T") for case in CASES]
    + [((*case, "S") if case[2] == "perfect" else slow(*case, "S")) for case in CASES],
)
def test_nothing_happens_without_noise(given: str, s_gate: str, magic: str, gate: str) -> None:
    circuit = decoded(noise="none", gate=gate, input=given, s_gate=s_gate, magic=magic)
    sampler = circuit.compile_detector_sampler(seed=1, decoder="pymatching", skip_reference_sample=True)
    detectors, observables = sampler.sample(1000, separate_observables=True)
    assert observables.shape == (1000, 2 if given == "bell" else 1)
    assert not detectors.any()
    assert not observables.any()


def test_distance_seven_is_better_than_five() -> None:
    """Seed 2. At d=5 some 1.1e-3 of the shots fail, at d=7 some 2e-4: each bound is six standard errors away."""
    failures = {}
    for distance in (5, 7):
        sampler = decoded(distance).compile_detector_sampler(seed=2, decoder="pymatching")
        failures[distance] = sampler.sample_counts(100_000).errors
    assert failures[7] < 60 < failures[5]


@pytest.mark.parametrize("s_gate", S_GATE_CHOICES)
def test_a_missing_s_is_seen(s_gate: str) -> None:
    wrong = {}
    for given in INPUT_CHOICES:
        circuit = decoded(noise="none", input=given, s_gate=s_gate).to_stim()
        without = stim.Circuit()
        for instruction in circuit:
            if not instruction.tag.startswith(("C_R_Z", "CCX")):
                without.append(instruction)
        assert len(without) == len(circuit) - (1 if s_gate == "ideal" else 2)
        sampler = snc.Circuit(without).compile_detector_sampler(
            seed=2, decoder="pymatching", skip_reference_sample=True
        )
        wrong[given] = sampler.sample_counts(10_000).errors / 10_000
    # S is wanted in half of the shots. Without it S_DAG is left of the identity.
    for rate in wrong.values():
        assert abs(rate - 0.25) < 6 * (0.25 * 0.75 / 10_000) ** 0.5


@pytest.mark.parametrize("given", INPUT_CHOICES)
def test_undecided_corrections_take_these_inputs_and_states(given: str) -> None:
    for correction, magic in itertools.product(("gate", "software"), ("injected", "perfect")):
        text = teleportation_circuit(3, 0, correction=correction, input=given, magic=magic)  # type: ignore[arg-type]
        sampler = snc.Circuit(text).compile_detector_sampler(seed=1, skip_reference_sample=True)
        assert not sampler.sample(500, append_observables=True).any()
        noisy = snc.Circuit(
            teleportation_circuit(3, 1e-3, correction=correction, input=given, magic=magic)  # type: ignore[arg-type]
        )
        assert noisy.num_observables == (2 if given == "bell" else 1)
        found = noisy.fault_distance(max_weight=2, threads=1, postselection_mask="all")
        assert found.value == (1 if magic == "injected" else 2 if correction == "gate" else None)


def test_only_the_injection_postselects() -> None:
    for magic, count in (("perfect", 0), ("injected", 11)):
        circuit = decoded(magic=magic)
        coordinates = circuit.get_detector_coordinates().values()
        flags = [each[3] for each in coordinates]
        assert set(flags) <= {0, 1}
        assert sum(flags) == count
        assert [x < 7 and t <= 13 for x, _, t, flag in coordinates if flag] == [True] * count
        mask = sinter.post_selection_mask_from_4th_coord(circuit.to_stim())
        assert np.unpackbits(mask).sum() == count
        qubits = circuit.get_final_qubit_coordinates().values()
        assert all([x, y] in qubits for x, y, *_ in coordinates)


def test_arguments() -> None:
    with pytest.raises(
        ValueError, match=r"s_gate='patch' needs correction='decoded', but correction is 'gate'"
    ):
        teleportation_circuit(3, s_gate="patch")
    for name, choices in (("input", "'plus' or 'bell'"), ("magic", "'injected', 'cultivated' or 'perfect'")):
        with pytest.raises(ValueError, match=f"{name} must be {choices}, but is 'x'"):
            teleportation_circuit(3, **{name: "x"})  # type: ignore[arg-type]


@pytest.mark.parametrize("correction", CORRECTION_CHOICES)
def test_error_of_a_cultivated_state(correction: Any) -> None:
    # Z on the T state is Z on the target, which |+> and a Bell pair both show.
    for given, gate in itertools.product(INPUT_CHOICES, ("T", "S")):
        arguments: dict[str, Any] = {"gate": gate, "noise": "none", "correction": correction, "input": given}
        circuit = snc.Circuit(teleportation_circuit(3, magic="cultivated", magic_error=0.1, **arguments))
        decoder = "pymatching" if correction == "decoded" else None
        counts = circuit.compile_detector_sampler(seed=1, decoder=decoder).sample_counts(20_000)
        assert abs(counts.errors / 20_000 - 0.1) < 6 * (0.09 / 20_000) ** 0.5
        assert counts.observable_flips[-1] == counts.errors
        perfect = teleportation_circuit(3, magic="perfect", **arguments)
        assert teleportation_circuit(3, magic="cultivated", magic_error=0, **arguments) == perfect


def test_arguments_of_a_cultivated_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"magic='cultivated' needs magic_error, .*such as magic_error=1e-6"):
        teleportation_circuit(3, magic="cultivated")
    with pytest.raises(ValueError, match="magic_error must be a probability from 0 to 1, but is 2"):
        teleportation_circuit(3, magic="cultivated", magic_error=2)
    with pytest.raises(ValueError, match="magic_error is that of magic='cultivated', but magic is 'perfect'"):
        teleportation_circuit(3, magic="perfect", magic_error=0.1)
    chosen = ["--magic", "cultivated", "--magic_error", "1e-6", "--out_dir", str(tmp_path)]
    assert main(["generate", "teleportation", "--p", "0.001", *chosen]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.name.endswith(",noise=uniform,p=0.001,magic=cultivated,magic_error=1e-06.stim")
    assert "Z_ERROR(1e-06) " in path.read_text()


@pytest.mark.parametrize("s_gate", S_GATE_CHOICES)
@pytest.mark.parametrize("distance", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_fewest_errors_that_mislead_a_decision(distance: int, s_gate: str) -> None:
    circuit = decoded(distance, s_gate=s_gate)
    for number, point in enumerate(circuit.decision_points()):
        model = circuit.decision_model(number)
        assert len(model.shortest_graphlike_error()) == distance
        assert model.num_detectors == point.num_detectors


def test_rates_of_one_gate() -> None:
    # The numbers are of the prototype: decoded by coins, and decoded afterwards with expectation values.
    for circuit, expected, error in (
        (decoded(), 6.87e-3, 5e-5),
        (with_raw_outcome(decoded()), 1.97e-2, 4e-5),
        (decoded(p=2e-3, magic="injected"), 4.300e-2, 1.7e-4),
    ):
        mask = sinter.post_selection_mask_from_4th_coord(circuit.to_stim())
        sampler = circuit.compile_detector_sampler(seed=4, decoder="pymatching", postselection_mask=mask)
        counts = sampler.sample_counts(100_000)
        kept = counts.shots - counts.discards
        sigma = (expected / kept + error**2) ** 0.5
        assert abs(counts.errors / kept - expected) < 6 * sigma


def test_rate_of_an_s_by_a_patch() -> None:
    """A machine that skips the second patch where no S is wanted: a sum over both decisions."""
    failures = 0.0
    shots = 100_000
    for branch, s_gate in enumerate(S_GATE_CHOICES):
        circuit = decoded(s_gate=s_gate)
        bit = circuit.num_observables
        lines = str(circuit).splitlines()
        [first] = [k for k, line in enumerate(lines) if line == "DECODE 41"][:1]
        lines.insert(first + 1, f"OBSERVABLE_INCLUDE({bit}) rec[-1]")
        sampler = snc.Circuit("\n".join(lines)).compile_detector_sampler(
            seed=6, decoder="pymatching", skip_reference_sample=True
        )
        _, observables = sampler.sample(shots, separate_observables=True)
        chosen = observables[:, bit] == branch
        assert abs(chosen.mean() - 0.5) < 6 * 0.5 / shots**0.5
        failures += (observables[:, :bit].any(axis=1) & chosen).sum()
    assert abs(failures / shots - 1.136e-2) < 6 * ((1.136e-2 / shots) + 3e-5**2) ** 0.5


def test_command_line_writes_decoded_gates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--correction", "decoded", "--input", "bell", "--s_gate", "patch", "--magic", "perfect"]
    assert main(["generate", "teleportation", "--p", "0.001", *chosen, "--out_dir", str(tmp_path)]) == 0
    path = Path(capsys.readouterr().out.strip())
    name = "c=teleportation,correction=decoded,d=3,g=T,noise=uniform,p=0.001,input=bell,magic=perfect,s=patch"
    assert path.name == f"{name}.stim"
    assert stim.Circuit.from_file(path) == decoded(s_gate="patch").to_stim()


@pytest.mark.parametrize("given", INPUT_CHOICES)
def test_attempts_do_nothing_without_noise_and_are_compared_with_those_before(given: str) -> None:
    """The first outcome of a check of the magic patch is flipped by a coin: 1 - (1/2)^3 of the shots are kept.

    Attempts fail, and nothing else happens; seed 3.
    """
    circuit = decoded(noise="none", input=given, magic="injected", attempts=3)
    begin = str(circuit).index("REPEAT[UNTIL")
    noisy = str(circuit)[:begin] + str(circuit)[begin:].replace(
        "    M 4 6", "    X_ERROR(0.5) 4\n    M 4 6", 1
    )
    for text, kept in ((str(circuit), 1.0), (noisy, 1 - 0.5**3)):
        sampler = snc.Circuit(text).compile_detector_sampler(
            seed=3, decoder="pymatching", skip_reference_sample=True
        )
        detectors, observables = sampler.sample(3000, separate_observables=True)
        mask = sinter.post_selection_mask_from_4th_coord(snc.Circuit(text).to_stim())
        postselects = np.unpackbits(mask, bitorder="little", count=detectors.shape[1]).astype(bool)
        assert not detectors[:, ~postselects].any()
        is_kept = ~detectors.any(axis=1)
        assert abs(is_kept.mean() - kept) <= 6 * (kept * (1 - kept) / 3000) ** 0.5
        assert not observables[is_kept].any()


@pytest.mark.parametrize(
    ("distance", "attempts", "gap", "kept", "expected", "error"),
    [
        (3, 3, None, 0.999, 1.363e-2, 6e-5),
        (3, 1, 20, 0.910, 1.35e-2, 6e-5),
        (3, 3, 10, 1.000, 1.434e-2, 6e-5),
        pytest.param(5, 3, None, 0.971, 5.05e-3, 3e-5, marks=pytest.mark.slow),
        pytest.param(5, 3, 15, 0.998, 5.51e-3, 3e-5, marks=pytest.mark.slow),
        pytest.param(5, 3, 10, 0.999, 5.87e-3, 4e-5, marks=pytest.mark.slow),
    ],
)
def test_rates_with_retries(
    distance: int, attempts: int, gap: float | None, kept: float, expected: float, error: float
) -> None:
    """The numbers are of the prototype, a sum over static circuits for one, two and three attempts; seed 4."""
    circuit = decoded(distance, magic="injected", attempts=attempts, gap=gap)
    mask = sinter.post_selection_mask_from_4th_coord(circuit.to_stim())
    sampler = circuit.compile_detector_sampler(seed=4, decoder="pymatching", postselection_mask=mask)
    shots = 100_000
    counts = sampler.sample_counts(shots)
    accepted = counts.shots - counts.discards
    assert abs(accepted / shots - kept) < 6 * (kept * (1 - kept) / shots) ** 0.5 + 5e-4
    assert abs(counts.errors / accepted - expected) < 6 * (expected / accepted + error**2) ** 0.5
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask=mask, relative_error=0.05, seed=4
    )
    assert abs(rate.kept - kept) < 6 * rate.kept_error + 5e-4
    assert abs(rate.logical_error_rate - expected) < 6 * (rate.standard_error**2 + error**2) ** 0.5


def test_arguments_of_attempts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"need correction='decoded' and magic='injected', but .* 'gate'"):
        teleportation_circuit(3, attempts=2)
    with pytest.raises(ValueError, match="'decoded' and 'perfect'"):
        decoded(attempts=2)
    assert decoded(magic="injected", attempts=1) == decoded(magic="injected")
    chosen = ["--correction", "decoded", "--attempts", "3", "--out_dir", str(tmp_path)]
    assert main(["generate", "teleportation", "--p", "0.001", *chosen]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.name.endswith(",p=0.001,attempts=3.stim")
    with pytest.raises(ValueError, match=r"gap is that of .* 'decoded' and 'perfect'"):
        decoded(gap=10)
    with pytest.raises(ValueError, match="gap must be a number >= 0"):
        decoded(magic="injected", gap=-1)
    assert stim.Circuit.from_file(path) == decoded(input="plus", magic="injected", attempts=3).to_stim()
