"""What the pages of the cultivation circuits show is what the generator makes."""

import re
from dataclasses import astuple
from pathlib import Path

import pytest
import sinter

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import (
    AVAILABLE_DISTANCES,
    INJECTION_CHOICES,
    circuit_statistics,
    cultivation_circuit,
)
from stim_nonclifford.generators.cultivation.color_code import ColorCode
from stim_nonclifford.generators.cultivation.protocol import build_noiseless
from stim_nonclifford.simulation.compiler import RequestedOutputs

FOLDER = Path(__file__).parents[3] / "circuits" / "cultivation"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def rows_after(heading: str) -> list[list[str]]:
    """The first table under a heading of the README, without its head."""
    section = re.split(r"^##+ ", README.split(f"# {heading}\n", 1)[1], flags=re.MULTILINE)[0]
    lines = re.findall(r"^\|(.*)\|$", section, re.MULTILINE)
    return [[cell.strip() for cell in line.split(" |")] for line in lines[2:]]


@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_size_table(distance: int) -> None:
    rows = rows_after("Size")
    column = {3: 1, 5: 3, 7: 5, 9: 6}[distance]
    counted = astuple(circuit_statistics(cultivation_circuit(distance)))
    assert [int(row[column]) for row in rows] == list(counted)
    if distance in (3, 5):
        assert [row[column] for row in rows] == [row[column + 1] for row in rows]


def dependent_detectors(circuit: snc.Circuit) -> set[int]:
    """Outputs (detectors, then observables) that a quantum outcome can flip."""
    flips = set(circuit.compile().effects("detectors").outcomes.bits.tolist())
    return flips & set(range(circuit.num_detectors + circuit.num_observables))


@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_detector_table(distance: int) -> None:
    circuit = snc.Circuit(cultivation_circuit(distance))
    dependent = dependent_detectors(circuit)
    stages = build_noiseless(distance).stages
    numbers = [[0, 0] for _ in stages]
    for k, (_, _, moment, _) in circuit.get_detector_coordinates().items():
        [*_, stage] = [j for j, stage in enumerate(stages) if stage.first_moment <= moment]
        numbers[stage][0] += 1
        numbers[stage][1] += k in dependent
    table = rows_after("What the detectors check")
    table = [*table[: len(stages) - 1], table[-1]]
    assert [row[0] for row in table] == [stage.name for stage in stages]
    for row, expected in zip(table, numbers, strict=True):
        # "6, 18, 36 or 60" in the last row: one number for each distance.
        found = [re.findall(r"\d+", cell.split(":")[0]) for cell in row[2:]]
        index = AVAILABLE_DISTANCES.index(distance)
        assert [int(numbers[index % len(numbers)]) for numbers in found] == expected
    # The sentences below the table.
    total = (circuit.num_detectors, len(dependent - {circuit.num_detectors}))
    assert total == {3: (20, 5), 5: (107, 22), 7: (272, 60), 9: (539, 128)}[distance]
    plan = circuit.compile().detector_plan(RequestedOutputs.of([], range(circuit.num_detectors)))
    assert plan.num_checks == {3: 16, 5: 93, 7: 239, 9: 475}[distance]
    assert circuit.num_detectors in dependent


def test_only_x_checks_and_logical_checks_depend_on_quantum_outcomes() -> None:
    circuit = snc.Circuit(cultivation_circuit(5))
    coordinates = circuit.get_detector_coordinates()
    x_ancillas = ColorCode.triangular(5).x_ancillas
    exceptions = set()
    for k in dependent_detectors(circuit) - {circuit.num_detectors}:
        x, y, moment, _ = (int(value) for value in coordinates[k])
        if moment not in (53, 63, 73, 94) or (x, y) not in x_ancillas:
            exceptions.add((x, y))
    assert exceptions == {(2, 1), (2, 0), (5, 1), (5, 0)}


@pytest.mark.parametrize("injection", INJECTION_CHOICES)
def test_injection_table(injection: str) -> None:
    table = {row[0]: row[1 + INJECTION_CHOICES.index(injection)] for row in rows_after("Other injections")}
    assert int(table["moments"]) == build_noiseless(3, injection=injection).stages[1].first_moment
    small, large = (cultivation_circuit(distance, injection=injection).num_qubits for distance in (3, 5))
    assert table["qubits, d = 3 (d = 5)"] == f"{small} ({large})"
    for noise in ("uniform", "si1000"):
        found = table[f"kept at p = 10⁻³, {noise}, d = 3 (d = 5)"]
        for distance, percent in zip((3, 5), re.findall(r"([\d.]+)%", found), strict=True):
            circuit = cultivation_circuit(distance, 1e-3, noise=noise, injection=injection)
            sampler = snc.Circuit(circuit).compile_detector_sampler(
                seed=distance, postselection_mask=sinter.post_selection_mask_from_4th_coord(circuit)
            )
            counts = sampler.sample_counts(1_000_000)
            # 6 sigma and the rounding of the page.
            assert abs((counts.shots - counts.discards) / counts.shots - float(percent) / 100) < 0.0035
