"""Rates, families, faults and budgets equal what density matrices say, for random noisy circuits with T gates.

The oracle simulates each circuit as it is, with all its noise, and knows nothing of faults, plans or sums.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.results import LogicalErrorRate, NoisePlace
from stim_nonclifford.simulation.faults import CircuitFault

from ...support.oracle.certain_circuits import certain_circuit
from ...support.oracle.density_matrix import detector_distribution as all_outputs
from ...support.oracle.density_matrix import unique_reference
from ...support.oracle.noise_places import Error, Place, noise_places, with_errors, without_places
from ...support.rates.fault_set_cases import SIGMAS, rate_of_anything
from ...support.seeds import seeds, slow

pytestmark = pytest.mark.filterwarnings("ignore:.* is there without any fault")
"""Random circuits are wrong by their gates, too."""

EXACT = 1e-12
RARE = 1e-9
"""Less probable outputs come from rounding."""

NUM_SEEDS = 5
CIRCUITS_PER_SEED = 30

Bits = tuple[int, ...]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """A circuit and what is asked: its observables, in shots in which the outputs of the masks do not fire."""

    circuit: stim.Circuit
    detectors: Mask
    observables: Mask
    reference: Bits

    def flips(self, circuit: stim.Circuit) -> dict[Bits, float]:
        """The distribution of the observables' flips together with the shot being kept.

        ``circuit`` is this circuit with other noise.
        """
        num_detectors = len(self.detectors)
        found: dict[Bits, float] = defaultdict(float)
        for outputs, p in all_outputs(circuit).items():
            flips = np.array(outputs, dtype=bool) ^ np.array(self.reference, dtype=bool)
            if not (flips[:num_detectors] & self.detectors).any():
                observables = flips[num_detectors:]
                if not (observables & self.observables).any():
                    found[tuple(observables.astype(int).tolist())] += p
        return found

    def kept_and_wrong(self, circuit: stim.Circuit) -> npt.NDArray[np.float64]:
        """P(kept) and P(kept and wrong)."""
        flips = self.flips(circuit)
        kept = sum(flips.values())
        return np.array([kept, sum(p for bits, p in flips.items() if any(bits))])

    def is_certain(self) -> bool:
        """Whether no kept shot is wrong without noise, and at least one is kept."""
        kept, wrong = self.kept_and_wrong(self.circuit.without_noise())
        return bool(kept > RARE and wrong < RARE)

    def arguments(self) -> dict[str, Any]:
        if not self.observables.any():
            return {"postselection_mask": "all"}
        return {"postselection_mask": "all", "postselected_observables_mask": self.observables}


def case_of(rng: np.random.Generator, circuit: stim.Circuit) -> Case | None:
    """A question about a circuit; None if it depends on which of two equally likely samples is the reference."""
    reference = reference_of(circuit)
    if reference is None:
        return None
    observables = rng.random(circuit.num_observables) < 0.15
    return Case(circuit, np.ones(circuit.num_detectors, dtype=np.bool_), observables, reference)


def reference_of(circuit: stim.Circuit) -> Bits | None:
    """The outputs of the likeliest noiseless sample."""
    possible = {bits for bits, p in all_outputs(circuit.without_noise()).items() if p > RARE}
    if len(possible) == 1:
        return possible.pop()
    found = unique_reference(circuit)
    return None if found is None else found[1]


@lru_cache
def cases(seed: int, count: int = CIRCUITS_PER_SEED, **options: Any) -> list[Case]:
    """Circuits of the seeds [seed, 0], [seed, 1], ..., without those whose likeliest sample is not unique."""
    found = []
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        circuit = certain_circuit(rng, num_qubits=1 + k % 4, num_segments=1 + k % 3, **options)
        found.append(case_of(rng, circuit))
    return [case for case in found if case is not None and case.circuit.num_observables > 0]


def assert_exact(found: LogicalErrorRate, case: Case, circuit: stim.Circuit) -> None:
    """Compares all numbers of a rate with the oracle's."""
    flips = case.flips(circuit)
    right = flips.pop((0,) * circuit.num_observables, 0.0)
    wrong = sum(flips.values())
    where = f"{circuit}\n{case.observables}\n{found}"
    assert all(share.method == "enumerated" for share in found.strata), where
    assert found.standard_error == 0
    assert found.kept == pytest.approx(right + wrong, rel=0, abs=EXACT), where
    assert found.kept_and_wrong == pytest.approx(wrong, rel=0, abs=EXACT), where
    assert found.logical_error_rate == pytest.approx(wrong / (right + wrong), rel=0, abs=1e-10), where
    patterns = {sum(bit << k for k, bit in enumerate(bits)): p for bits, p in flips.items() if p > EXACT}
    assert {k: p for k, p in found.error_patterns.items() if p > EXACT} == pytest.approx(
        patterns, rel=0, abs=EXACT
    ), where
    for k in range(circuit.num_observables):
        expected = sum(p for bits, p in flips.items() if bits[k])
        assert found.kept * found.observable_rates[k] == pytest.approx(expected, rel=0, abs=EXACT), where
    low, high = found.interval
    assert low - 1e-10 <= wrong / (right + wrong) <= high + 1e-10, where


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_rates(seed: int) -> None:
    """Of each question that has an answer; the others are refused, and only they."""
    answered = refused = 0
    for case in cases(seed):
        own = snc.Circuit(case.circuit)
        if case.is_certain():
            assert_exact(
                own.logical_error_rate(seed=1, relative_error=1e-100, **case.arguments()), case, case.circuit
            )
            answered += 1
        else:
            with pytest.raises(ValueError, match=r"random without noise|No shot is ever kept"):
                own.logical_error_rate(seed=1, relative_error=1e-100, **case.arguments())
            refused += 1
    assert answered > CIRCUITS_PER_SEED / 3
    assert answered + refused > CIRCUITS_PER_SEED / 2


def with_other_noise(rng: np.random.Generator, circuit: stim.Circuit) -> stim.Circuit:
    """The circuit with other probabilities of the same errors."""
    result = stim.Circuit()
    for instruction in circuit:
        arguments = instruction.gate_args_copy()
        data = stim.gate_data(instruction.name)
        if data.is_noisy_gate and arguments:
            arguments = [float(p * rng.uniform(0.3, 1.0)) if p < 0.5 else p for p in arguments]
        result.append(
            stim.CircuitInstruction(
                instruction.name, instruction.targets_copy(), arguments, tag=instruction.tag
            )
        )
    return result


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_families(seed: int) -> None:
    """Circuits that differ in their probabilities, and others among them, in one call."""
    asked: list[tuple[Case, stim.Circuit]] = []
    for k, case in enumerate(cases(100 + seed)):
        if not case.observables.any() and case.is_certain():
            rng = np.random.default_rng([100 + seed, k, 1])
            asked += [(case, case.circuit), *((case, with_other_noise(rng, case.circuit)) for _ in range(2))]
    order = np.random.default_rng(100 + seed).permutation(len(asked))
    chosen = [asked[k] for k in order]
    rates = snc.logical_error_rates(
        [snc.Circuit(circuit) for _, circuit in chosen],
        postselection_mask="all",
        seed=2,
        relative_error=1e-100,
    )
    assert len(rates) == len(chosen) > 15
    for found, (case, circuit) in zip(rates, chosen, strict=True):
        assert_exact(found, case, circuit)


def described(place: Place, error: Error) -> tuple[Any, ...]:
    """An error in words: its line, its instruction, its Pauli and its record."""
    records = (place.record,) if error.flips else ()
    return place.line, place.name, tuple(f"{letter}{qubit}" for qubit, letter in error.pauli), records


def named(fault: CircuitFault) -> tuple[Any, ...]:
    """The same of a fault, whose Pauli has the order of the circuit."""
    factors = sorted(filter(None, fault.pauli.split("*")), key=lambda factor: int(factor[1:]))
    return fault.line, fault.instruction, tuple(factors), fault.records


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_outcome_probabilities(seed: int) -> None:
    """All faults by their names, and the fate of shots with up to three of them."""
    compared = 0
    for k, case in enumerate(cases(200 + seed)):
        own = snc.Circuit(case.circuit)
        places = noise_places(case.circuit)
        errors = [(place, error) for place in places for error in place.errors if error.pauli or error.flips]
        faults = own.faults()
        assert sorted(map(named, faults)) == sorted(described(*each) for each in errors), str(case.circuit)
        if not faults:
            continue
        groups = groups_of(faults)
        rng = np.random.default_rng([200 + seed, k, 1])
        sets: list[list[CircuitFault]] = []
        expected: list[list[float]] = []
        for size in (0, 1, 1, 2, 3):
            happening: dict[tuple[int, int], Error] = {}
            chosen = []
            chains: set[int] = set()
            for number in rng.permutation(len(errors))[:size]:
                place, error = errors[number]
                key = place.line, place.group
                chain = chain_of(case.circuit, place)
                if key in happening or chain in chains:
                    continue
                chains |= {chain} - {0}
                happening[key] = error
                [fault] = [each for each in groups[key] if named(each) == described(place, error)]
                chosen.append(fault)
            sets.append(chosen)
            kept, wrong = case.kept_and_wrong(with_errors(case.circuit, happening))
            if case.observables.any():
                # There is no mask of observables here: an observable that flips is wrong.
                everything = Case(case.circuit, case.detectors, case.observables & False, case.reference)
                kept, wrong = everything.kept_and_wrong(with_errors(case.circuit, happening))
            expected.append([kept - wrong, wrong, 1 - kept])
        found = own.outcome_probabilities(sets, postselection_mask="all")
        for fate, numbers, chosen in zip(found, expected, sets, strict=True):
            assert [fate.kept_and_right, fate.kept_and_wrong, fate.discarded] == pytest.approx(
                numbers, rel=0, abs=EXACT
            ), f"{case.circuit}\n{[str(fault) for fault in chosen]}"
            compared += 1
    assert compared > 3 * CIRCUITS_PER_SEED


def groups_of(faults: Sequence[CircuitFault]) -> dict[tuple[int, int], list[CircuitFault]]:
    """The faults by line and number of the group, which are counted here by their order."""
    found: dict[tuple[int, int], list[CircuitFault]] = defaultdict(list)
    numbers: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
    for fault in faults:
        groups = numbers[fault.line]
        number = groups.setdefault((fault.step, fault.group), len(groups))
        found[fault.line, number].append(fault)
    return found


def chain_of(circuit: stim.Circuit, place: Place) -> int:
    """The line of the first link of the chain of a correlated error; 0 if it is none."""
    if place.name not in ("E", "ELSE_CORRELATED_ERROR"):
        return 0
    links = [line for line, each in enumerate(circuit[: place.line], start=1) if each.name == "E"]
    return links[-1]


def derivatives(case: Case) -> Iterator[tuple[Place, npt.NDArray[np.float64]]]:
    """Of P(kept) and P(kept and wrong), by the logarithm of the strength of each place.

    They are affine functions of the strength, so that the derivative at 1 is the difference to 0.
    """
    whole = case.kept_and_wrong(case.circuit)
    for place in noise_places(case.circuit):
        silent = without_places(case.circuit, [(place.line, place.group)])
        yield place, whole - case.kept_and_wrong(silent)


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_derivatives(seed: int) -> None:
    """By line, tick, qubit, kind of noise and a function of the place."""
    compared = 0
    for case in cases(300 + seed, 10):
        kept, wrong = case.kept_and_wrong(case.circuit)
        if not case.is_certain() or wrong < 1e-6:
            continue
        rate = snc.Circuit(case.circuit).logical_error_rate(seed=1, relative_error=1e-100, **case.arguments())
        found = list(derivatives(case))

        def first(place: NoisePlace) -> object:
            return place.targets[:1]

        groupings: dict[Any, Any] = {
            "instruction": lambda place: [place.line],
            "noise": lambda place: [place.name],
            "qubit": lambda place: sorted({*place.targets}) or ["no qubit"],
            "tick": lambda place: [0],
            first: lambda place: [place.targets[:1]],
        }
        for by, labels_of in groupings.items():
            expected: dict[object, npt.NDArray[np.float64]] = defaultdict(lambda: np.zeros(2))
            for place, derivative in found:
                labels = labels_of(place)
                for label in labels:
                    expected[label] += derivative / len(labels)
            for group in rate.error_budget(by).groups:
                if group.group == "no fault" or math.isnan(group.sensitivity):
                    continue
                label = int(group.group[5:].split(":")[0]) if by == "instruction" else group.group  # type: ignore[index]
                derivative = expected[label]
                assert [group.kept_derivative, group.kept_and_wrong_derivative] == pytest.approx(
                    derivative, rel=0, abs=EXACT
                ), f"{case.circuit}\n{group}"
                assert group.sensitivity == pytest.approx(
                    derivative[1] / wrong - derivative[0] / kept, abs=1e-6
                )
                compared += 1
    assert compared > 30


@dataclass(frozen=True)
class Brief(Settings):
    """Settings that end a search early."""

    @property
    def work(self) -> float:
        return 1.0


@pytest.mark.parametrize(("seed", "circuits"), [(4, 1), *(slow(seed, 16) for seed in (3, 4, 5))])
def test_weights_that_are_not_enumerated(seed: int, circuits: int) -> None:
    """Errors and intervals of estimates in which some sets are sampled, or bounded alone.

    Seeds are fixed; where the intervals cover in 95% of all cases, they do so here.
    """
    estimates = covered = 0
    for k in range(circuits):
        rng = np.random.default_rng([400 + seed, k, False])
        circuit = certain_circuit(
            rng,
            num_qubits=4,
            num_segments=2,
            gates=9,
            random_outputs=0.2,
            num_observables=2,
            clifford=False,
        )
        case = case_of(rng, circuit)
        if case is None or not case.is_certain():
            continue
        kept, wrong = case.kept_and_wrong(circuit)
        for draw in range(2):
            try:
                found = rate_of_anything(
                    snc.Circuit(circuit), "all", case.observables, settings=Brief(0.05, seed=draw)
                )
            except ResourceLimitError:  # nearly all sets pass
                break
            if all(share.method == "enumerated" for share in found.strata):
                break
            low, high = found.interval
            estimates += 1
            covered += low <= wrong / kept <= high
            # What no search evaluated may be right, wrong or discarded.
            unknown = sum(share.probability for share in found.strata if share.method == "bound")
            allowed = SIGMAS * found.standard_error + 2 * unknown / kept
            assert abs(found.logical_error_rate - wrong / kept) <= allowed, f"{circuit}\n{found}"
    assert estimates > 0
    assert covered >= 0.9 * estimates
