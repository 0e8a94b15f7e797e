"""The generated circuits against the published ones, operation by operation."""

import re
from collections import defaultdict
from functools import lru_cache

import pytest
import stim

from stim_nonclifford.generators.cultivation import circuit_statistics, cultivation_circuit
from stim_nonclifford.generators.cultivation.color_code import ColorCode, Coord
from stim_nonclifford.generators.cultivation.noise import is_feedback

from ...support.laws import exact
from ...support.published_circuits import FOLDER, needs_published

CHANNELS = ("X_ERROR", "Z_ERROR", "DEPOLARIZE1", "DEPOLARIZE2")
DISTANCES = (3, 5)

pytestmark = needs_published

Name = tuple[object, ...]
Parity = set[Name]


@lru_cache
def published(distance: int) -> stim.Circuit:
    """The published circuit at p=1e-3, its T gates written as tagged gates."""
    text = (FOLDER / f"msc_d{distance}_inject_cultivate_p1e-3.stim").read_text()
    return stim.Circuit(re.sub(r"^T(_DAG)? ", r"S\1[T] ", text, flags=re.MULTILINE))


def sites_of(circuit: stim.Circuit) -> dict[int, Coord]:
    return {q: (int(x), int(y)) for q, (x, y) in circuit.get_final_qubit_coordinates().items()}


def protocol_moments(circuit: stim.Circuit) -> list[set[Name]]:
    """Operations and noise up to the last TICK, by moment, in an order-free form.

    Operations of one moment act on different qubits, and so do its noise channels, so neither of
    them has an order. Qubits are named by their coordinates. Feedback is left out.
    """
    site = sites_of(circuit)
    moments: list[list[Name]] = [[]]
    for instruction in circuit:
        if instruction.name == "TICK":
            moments.append([])
        elif instruction.name not in ("QUBIT_COORDS", "DETECTOR", "OBSERVABLE_INCLUDE", "MPP"):
            for group in () if is_feedback(instruction) else instruction.target_groups():
                sites = [site[target.value] for target in group]
                if instruction.name == "DEPOLARIZE2":
                    sites.sort()
                arguments = tuple(instruction.gate_args_copy())
                moments[-1].append((instruction.name, instruction.tag, arguments, *sites))
    for moment in moments:
        assert len(set(moment)) == len(moment)
    return [set(moment) for moment in moments[:-1]]


@pytest.mark.parametrize("distance", DISTANCES)
def test_same_operations_and_noise(distance: int) -> None:
    assert protocol_moments(cultivation_circuit(distance, p=1e-3)) == protocol_moments(published(distance))


def measured_parities(circuit: stim.Circuit) -> tuple[list[Parity], Parity]:
    """Detectors and observable 0 as sets of measurements, named by where and when they happen."""
    site = sites_of(circuit)
    names: list[Name] = []
    detectors: list[Parity] = []
    observable: Parity = set()
    t_support = circuit_statistics(circuit).t_support
    moment = 0
    for instruction in circuit:
        if instruction.name == "TICK":
            moment += 1
        elif instruction.name in ("M", "MX"):
            names += [(moment, site[target.value]) for target in instruction.targets_copy()]
        elif instruction.name == "MPP":
            for group in instruction.target_groups():
                factors = [target for target in group if not target.is_combiner]
                if len(factors) == t_support:
                    names.append(("logical",))
                else:
                    sites = sorted(site[target.value] for target in factors)
                    names.append((factors[0].pauli_type, *sites))
        elif instruction.name == "DETECTOR":
            parity: Parity = set()
            for target in instruction.targets_copy():
                parity ^= {names[target.value]}
            detectors.append(parity)
        elif instruction.name == "OBSERVABLE_INCLUDE":
            for target in instruction.targets_copy():
                observable ^= {names[target.value]}
    return detectors, observable


def rank(parities: list[Parity]) -> int:
    """Number of independent parities."""
    number = {name: k for k, name in enumerate(set().union(*parities))}
    return exact.rank(exact.mask(number[name] for name in parity) for parity in parities)


@pytest.mark.parametrize(("distance", "number"), [(3, 20), (5, 107)])
def test_same_shots_are_kept_and_right(distance: int, number: int) -> None:
    """The detectors span the same parities, and in kept shots the observables are the same."""
    ours, our_observable = measured_parities(cultivation_circuit(distance))
    theirs, their_observable = measured_parities(published(distance))
    # Our detectors are single measurements, so a set of measurements is a sum of detectors if it
    # is a subset of them.
    assert all(len(detector) == 1 for detector in ours)
    checked = set().union(*ours)
    assert set().union(*theirs) == checked
    assert rank(theirs) == len(theirs) == len(ours) == number
    assert their_observable ^ our_observable <= checked


def feedback(circuit: stim.Circuit) -> dict[tuple[Name, str], set[Coord]]:
    """Where a Pauli goes if an outcome is 1, by (moment and site of the measurement, Pauli)."""
    site = sites_of(circuit)
    names: list[Name] = []
    found: dict[tuple[Name, str], set[Coord]] = defaultdict(set)
    moment = 0
    for instruction in circuit:
        if instruction.name == "TICK":
            moment += 1
        elif instruction.name in ("M", "MX"):
            names += [(moment, site[target.value]) for target in instruction.targets_copy()]
        elif is_feedback(instruction):
            for control, target in instruction.target_groups():
                found[names[control.value], instruction.name[1]] ^= {site[target.value]}
    return found


def test_same_feedback_up_to_checks_of_the_code() -> None:
    """Paulis that differ by checks do the same, and those that only discarded shots get do nothing."""
    ours, theirs = feedback(cultivation_circuit(5)), feedback(published(5))
    discarding = set().union(*measured_parities(cultivation_circuit(5))[0])
    tiles = [{(site,) for site in tile.data} for tile in ColorCode.triangular(5).tiles]
    assert {source for source, _ in ours}.isdisjoint(discarding)
    assert ours.keys() == {(source, pauli) for source, pauli in theirs if source not in discarding}
    assert len(ours) == 4
    for key in ours:
        difference = {(site,) for site in ours[key] ^ theirs[key]}
        assert rank([*tiles, difference]) == rank(tiles)
