"""The flagged variant of distance 5: its fault distance, its size and its files."""

import re
from dataclasses import astuple, replace
from pathlib import Path

import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import (
    circuit_statistics,
    cultivation_circuit,
    end_to_end_circuit,
)
from stim_nonclifford.generators.cultivation.builder import GateChoice
from stim_nonclifford.generators.cultivation.protocol import build_noiseless
from stim_nonclifford.generators.cultivation.stages.cat_trees import FLAGGED_CAT_TREES

TREE = FLAGGED_CAT_TREES[5]
README = (Path(__file__).parents[3] / "circuits" / "cultivation" / "README.md").read_text(encoding="utf-8")


def flagged(p: float, gate: GateChoice = "T") -> snc.Circuit:
    return snc.Circuit(cultivation_circuit(5, p=p, gate=gate, variant="flagged"))


def test_moments_are_those_of_the_published_circuit() -> None:
    assert build_noiseless(5, variant="flagged").stages == build_noiseless(5).stages


@pytest.mark.parametrize("gate", ["T", "S"])
def test_fault_distance_is_four(gate: GateChoice) -> None:
    found = flagged(1e-3, gate).fault_distance(threads=2, postselection_mask="all")
    assert (found.at_least, found.value) == (4, 4)


@pytest.mark.parametrize(
    ("gate", "coefficient"), [pytest.param("T", 408.2987141, marks=pytest.mark.slow), ("S", 155624 / 50625)]
)
def test_leading_term(gate: GateChoice, coefficient: float) -> None:
    # Small enough for the next order, some 10^3 times p, to be below the tolerance.
    p = 1e-12
    sets = flagged(p, gate).malignant_sets(max_weight=4, threads=2, postselection_mask="all")
    leading = sum(each.probability * each.kept_and_wrong for each in sets)
    assert leading / (p / (1 - p)) ** 4 == pytest.approx(coefficient, rel=1e-7)


def test_other_distances_have_no_flagged_variant() -> None:
    for distance in (3, 7):
        message = f"variant 'flagged' is not available at distance {distance}; distances available: 5"
        with pytest.raises(ValueError, match=message):
            cultivation_circuit(distance, variant="flagged")


def test_end_to_end() -> None:
    circuit = end_to_end_circuit(5, 9, p=1e-3, variant="flagged")
    published = end_to_end_circuit(5, 9, p=1e-3)
    assert circuit.num_ticks == published.num_ticks
    assert published.num_detectors - circuit.num_detectors == len(published_flags()) - len(
        (*TREE.flags, *TREE.hook_flags)
    )
    assert snc.Circuit(circuit.without_noise()).compile_detector_sampler(seed=1).sample(10).sum() == 0


def published_flags() -> set[tuple[float, ...]]:
    """The sites of the detectors of the last cat check's flags in the published circuit."""
    circuit = cultivation_circuit(5)
    end = build_noiseless(5).stages[-1].first_moment
    return {(x, y) for x, y, t, _ in circuit.get_detector_coordinates().values() if t == end - 1}


# Pages


def test_detector_table() -> None:
    circuit = snc.Circuit(cultivation_circuit(5, variant="flagged"))
    flips = set(circuit.compile().effects("detectors").outcomes.bits.tolist())
    stages = build_noiseless(5, variant="flagged").stages
    first, end = (stage.first_moment for stage in stages[-2:])
    places = circuit.get_detector_coordinates()
    of_check = {k: (x, y) for k, (x, y, t, _) in places.items() if first <= t < end}
    dependent = [site for k, site in of_check.items() if k in flips]
    assert sorted(dependent) == [(5, 0), TREE.root]
    assert len(of_check) == 1 + len(TREE.flags) + len(TREE.hook_flags)
    row = f"the product; {len(TREE.flags)} flags; {len(TREE.hook_flags)} hook flags | {len(of_check)} | 2:"
    assert f"| cat check d=5, flagged | {row}" in README
    total = sum(k in flips for k in places)
    assert f"for the flagged distance 5 {circuit.num_detectors} and {total}." in README


def test_size_table() -> None:
    section = README.split("# Size\n", 1)[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in re.findall(r"^\|.*\|$", section, re.MULTILINE)]
    assert rows[0][-1].strip() == "d = 5, flagged"
    counted = astuple(circuit_statistics(cultivation_circuit(5, variant="flagged")))
    assert [int(row[-1]) for row in rows[2:]] == list(counted)
    # Only what the last cat check is made of differs.
    published = circuit_statistics(cultivation_circuit(5))
    same = circuit_statistics(cultivation_circuit(5, variant="flagged"))
    assert replace(same, qubits=42, gates=741, two_qubit_gates=477, measurements=93) == published
