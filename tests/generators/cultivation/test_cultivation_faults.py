"""The generated circuits against the published ones, fault by fault and exactly."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import sinter

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.cultivation.protocol import INJECTION_CHOICES
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.compiler.program.steps import Measure, Noise
from stim_nonclifford.simulation.compiler.sweeps.effects import Fault
from stim_nonclifford.simulation.engines import CpuEngine

from ...support.published_circuits import FOLDER, needs_published

ROOT = Path(__file__).parents[3]
NUM_FAULTS = {3: 2444, 5: 15_994}

Fate = tuple[float, float, float]
Place = tuple[int, tuple[int, ...], tuple[int, ...]]


class Faults:
    """The faults of a circuit by place, and the exact fates of shots that have some of them.

    Attributes:
        effects: What each fault flips, in the compiler's terms.
        num_checks: Number of checks that depend on noise alone.
    """

    def __init__(self, circuit: snc.Circuit) -> None:
        compiled = circuit.compile()
        detectors = circuit.num_detectors
        self._program = compiled.program
        self._plan = compiled.detector_plan(RequestedOutputs.of([detectors], range(detectors)))
        self._engine = CpuEngine(self._plan)
        self._rows: dict[int, np.ndarray] = {}
        self._fates: dict[bytes, Fate] = {}
        self._moments = np.cumsum([instruction.name == "TICK" for instruction in circuit])
        self.num_checks = self._plan.num_checks
        self.effects = {self._place_of(fault): fault.effect for fault in compiled.faults}
        assert len(self.effects) == len(compiled.faults)

    def _place_of(self, fault: Fault) -> Place:
        """(moment, qubits of the channel or measurement, Pauli as sorted factors), whatever their order."""
        step = self._program.steps[fault.step]
        moment = int(self._moments[self._program.places[fault.step].line - 1])
        if isinstance(step, Noise):
            qubits = tuple(sorted(step.groups[fault.group]))
            return moment, qubits, tuple(x for factor in sorted(fault.factors) for x in factor)
        assert isinstance(step, Measure)
        return moment, tuple(sorted(qubit for qubit, _ in step.factors)), (-1,)

    def row(self, places: Iterable[Place]) -> np.ndarray:
        """The bits of the plan's row that faults flip together: noise-only checks first."""
        effect = 0
        for place in places:
            effect ^= self.effects[place]
        if effect not in self._rows:
            self._rows[effect] = self._plan.row_of(effect)
        return self._rows[effect]

    def fate(self, *places: Place) -> Fate:
        """Exact probabilities of (discarded, kept and right, kept and wrong) with these faults."""
        row = self.row(places)
        if row[: self.num_checks].any():
            return 1.0, 0.0, 0.0
        key = row.tobytes()
        if key not in self._fates:
            _, signature, [output] = np.split(row, [self.num_checks, len(row) - 1])
            fate = [0.0, 0.0, 0.0]
            for probability, discarded, [flip] in self._engine.outcome_law(signature):
                fate[0 if discarded else 1 + int(output ^ flip)] += probability
            self._fates[key] = (fate[0], fate[1], fate[2])
        return self._fates[key]


@lru_cache
def ours(distance: int, injection: str = "unitary") -> Faults:
    return Faults(snc.Circuit(cultivation_circuit(distance, p=1e-3, injection=injection)))


@lru_cache
def published(distance: int) -> Faults:
    return Faults(snc.Circuit.from_file(FOLDER / f"msc_d{distance}_inject_cultivate_p1e-3.stim"))


@needs_published
@pytest.mark.parametrize("distance", [3, 5])
def test_every_single_fault_has_the_fate_that_it_has_in_the_published_circuit(distance: int) -> None:
    mine, theirs = ours(distance), published(distance)
    assert mine.effects.keys() == theirs.effects.keys()
    assert len(mine.effects) == NUM_FAULTS[distance]
    for place in mine.effects:
        assert mine.fate(place) == pytest.approx(theirs.fate(place), abs=1e-12)


def passing_sets(faults: Faults, size: int, number: int, seed: int) -> list[tuple[Place, ...]]:
    """Random sets of faults that pass all checks that depend on noise alone, but not one by one."""
    rng = np.random.default_rng(seed)
    places = list(faults.effects)
    by_checks = defaultdict(list)
    checks = {}
    for place in places:
        checks[place] = faults.row([place])[: faults.num_checks]
        by_checks[checks[place].tobytes()].append(place)
    silent = bytes(faults.num_checks)
    found: set[tuple[Place, ...]] = set()
    while len(found) < number:
        chosen = [places[k] for k in rng.integers(len(places), size=size - 1)]
        sums = np.bitwise_xor.reduce([checks[place] for place in chosen])
        partners = by_checks.get(sums.tobytes(), [])
        if partners and sums.tobytes() != silent and all(checks[place].any() for place in chosen):
            chosen.append(partners[rng.integers(len(partners))])
            if len({(moment, qubits) for moment, qubits, _ in chosen}) == size:
                found.add(tuple(sorted(chosen)))
    return sorted(found)


@needs_published
@pytest.mark.parametrize("distance", [3, 5])
@pytest.mark.parametrize("size", [2, 3])
def test_sets_of_faults_have_the_fates_that_they_have_in_the_published_circuit(
    distance: int, size: int
) -> None:
    mine, theirs = ours(distance), published(distance)
    fates = []
    for places in passing_sets(mine, size, number=1000, seed=distance + size):
        fates.append(mine.fate(*places))
        assert fates[-1] == pytest.approx(theirs.fate(*places), abs=1e-12)
    # The comparison is no matter of course: many of the sets have a random fate.
    assert sum(0.01 < discarded < 0.99 for discarded, _, _ in fates) > 50


@pytest.mark.parametrize("injection", INJECTION_CHOICES)
@pytest.mark.parametrize("distance", [3, 5])
def test_no_single_fault_is_kept_and_wrong(distance: int, injection: str) -> None:
    faults = ours(distance, injection)
    found = [faults.fate(place) for place in faults.effects]
    assert max(wrong for _, _, wrong in found) < 1e-12
    assert sum(right > 0.999 for _, right, _ in found) > 100


def test_distance_7_tolerates_two_faults_of_any_kind() -> None:
    assert (
        snc.Circuit(cultivation_circuit(7)).fault_distance(max_weight=2, postselection_mask="all").at_least
        == 3
    )
    assert (
        snc.Circuit(cultivation_circuit(7, gate="S"))
        .fault_distance(max_weight=3, postselection_mask="all")
        .at_least
        == 4
    )


# The circuits do not change unnoticed. `sha256sum -c` compares files of `stim-nonclifford generate` with the list.
LIST = Path(__file__).with_name("cultivation_circuits.sha256").read_text(encoding="utf-8")
HASHES = {name: digest for digest, name in map(str.split, LIST.splitlines())}


def test_files_are_those_of_the_list() -> None:
    files = sorted((ROOT / "circuits" / "cultivation").glob("*.stim"))
    assert len(files) == 4
    for file in files:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == HASHES[file.name], (
            f"{file.name} is out of date"
        )


@pytest.mark.parametrize(
    "name",
    [
        name if "d=3" in name else pytest.param(name, marks=() if "p=0.001" in name else pytest.mark.slow)
        for name in HASHES
    ],
)
def test_generated_circuits_are_those_of_the_list(name: str) -> None:
    values = sinter.comma_separated_key_values(name)
    circuit = cultivation_circuit(
        distance=values["d"],
        p=values["p"],
        gate=values["g"],
        noise=values["noise"],
        variant=values.get("variant", "published"),
    )
    assert hashlib.sha256(f"{circuit}\n".encode()).hexdigest() == HASHES[name]
