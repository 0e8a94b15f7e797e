"""Error models have the distribution that density matrices say, for random noisy circuits with T gates.

A model is exact for detectors and observables that depend on noise alone. What it says of the others is not
looked at here.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from sinter_plugin import herald_detectors
from stim_nonclifford.rates.decoding.matching.matching_graph import Edge, edge_probabilities

from ...support.laws.exact import convolve, mask
from ...support.oracle.certain_circuits import certain_circuit
from ...support.oracle.density_matrix import detector_distribution
from ...support.oracle.noise_places import noise_places, with_errors, without_places
from ...support.rates.error_models import symptoms
from ...support.seeds import seeds

EXACT = 1e-12
CERTAIN = 1 - 1e-9
NUM_SEEDS = 5
CIRCUITS_PER_SEED = 20
KINDS = ("s_proxy", "noise_only")

Outputs = tuple[int, ...]


def examples(seed: int, **options: Any) -> Iterator[tuple[str, np.random.Generator, stim.Circuit]]:
    """Circuits of the seeds [seed, 0], [seed, 1], ...; in two of three every other segment has T gates."""
    for k in range(CIRCUITS_PER_SEED):
        rng = np.random.default_rng([seed, k])
        circuit = certain_circuit(
            rng,
            num_qubits=2 + k % 3,
            num_segments=3,
            gates=4,
            max_records=8,
            clifford=k % 3 == 0,
            mixed=True,
            random_outputs=0.15,
            **options,
        )
        if circuit.num_detectors + circuit.num_observables <= 12:
            yield f"seed {seed}, {k}\n{circuit}", rng, circuit


def distribution_of(model: stim.DetectorErrorModel, outputs: list[int]) -> dict[Outputs, float]:
    """The distribution of the flips of some detectors and observables, which are numbered after the detectors."""
    causes = [
        {mask(k for k, output in enumerate(outputs) if flipped >> output & 1): p}
        for flipped, p in symptoms(model).items()
    ]
    return {tuple(row >> k & 1 for k in range(len(outputs))): p for row, p in convolve(causes).items()}


def simulated(circuit: stim.Circuit, outputs: list[int], reference: Outputs) -> dict[Outputs, float]:
    """The same by density matrices."""
    found: dict[Outputs, float] = defaultdict(float)
    for bits, p in detector_distribution(circuit).items():
        found[tuple(bits[k] ^ reference[k] for k in outputs)] += p
    return found


def assert_same(found: dict[Outputs, float], expected: dict[Outputs, float], where: str) -> None:
    for bits in {*found, *expected}:
        assert found.get(bits, 0.0) == pytest.approx(expected.get(bits, 0.0), rel=0, abs=EXACT), (
            f"{bits}, {where}"
        )


def of_noise_alone(circuit: stim.Circuit) -> tuple[list[int], Outputs]:
    """The outputs that depend on noise alone, and the noiseless values of all outputs.

    What the package says of them is checked: without noise, they must be certain.
    """
    own = snc.Circuit(circuit)
    chance = [*own.quantum_detectors(), *own.quantum_observables()]
    outputs = [k for k, by_chance in enumerate(chance) if not by_chance]
    means = np.zeros(len(chance))
    for bits, p in detector_distribution(circuit.without_noise()).items():
        means += p * np.array(bits)
    for k in outputs:
        assert min(means[k], 1 - means[k]) < 1e-9, f"output {k} of\n{circuit}"
    return outputs, tuple(int(mean > 0.5) for mean in means)


REFUSALS = {
    "s_proxy": ("Stim refuses to compute", "non-deterministic", "has no stand-in in the S-proxy"),
    "noise_only": ("mutually exclusive errors that no independent errors can stand for",),
}


def model_of(circuit: stim.Circuit, kind: str, **arguments: Any) -> stim.DetectorErrorModel | None:
    """The model; None if it is refused for one of the reasons above."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
        try:
            return snc.Circuit(circuit).detector_error_model(kind=kind, **arguments)
        except ValueError as error:
            if not any(reason in str(error) for reason in REFUSALS[kind]):
                raise
            return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_distribution(seed: int, kind: str) -> None:
    compared = 0
    for where, _, circuit in examples(500 + seed, exclusive=False):
        outputs, reference = of_noise_alone(circuit)
        model = model_of(circuit, kind=kind)
        if model is None or not outputs:
            continue
        expected = simulated(circuit, outputs, reference)
        assert_same(distribution_of(model, outputs), expected, where)
        compared += len(outputs)
    assert compared > CIRCUITS_PER_SEED


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_one_site(seed: int) -> None:
    """Heralds and other exclusive errors, if independent errors can stand for them; else it is refused."""
    compared = refused = 0
    for where, _, circuit in examples(600 + seed):
        outputs, reference = of_noise_alone(circuit)
        model = model_of(circuit, "noise_only")
        if model is None:
            refused += 1
            continue
        assert_same(distribution_of(model, outputs), simulated(circuit, outputs, reference), where)
        compared += 1
    assert min(compared, refused) > 0


def with_errors_of_three(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit, then errors that flip three or four detectors, of which others flip one or two."""
    num_qubits = circuit.num_qubits
    qubits = " ".join(map(str, range(num_qubits)))
    paulis = " ".join(f"X{q}" for q in range(num_qubits))
    text = f"R {qubits}\nX_ERROR(0.01) {qubits}\nE(0.02) X0 X1\nE(0.03) {paulis}\nM {qubits}"
    detectors = "".join(f"\nDETECTOR rec[-{k + 1}]" for k in range(num_qubits))
    return circuit + stim.Circuit(text + detectors)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_decomposed(seed: int, kind: str) -> None:
    """The parts of each error are those of the undecomposed error; and so is the distribution."""
    decomposed = 0
    for where, rng, example in examples(700 + seed, exclusive=False):
        circuit = with_errors_of_three(example)
        outputs, reference = of_noise_alone(circuit)
        mask = rng.random(circuit.num_detectors) < 0.2 if rng.random() < 0.5 else None
        arguments: dict[str, Any] = {"kind": kind, "postselection_mask": mask}
        raw = model_of(circuit, **arguments)
        if raw is None:
            continue
        found = model_of(circuit, decompose_errors=True, ignore_decomposition_failures=True, **arguments)
        assert found is not None
        assert symptoms(found) == pytest.approx(symptoms(raw), rel=0, abs=EXACT), where
        for error in found.flattened():
            parts = error.target_groups() if error.type == "error" else []
            decomposed += len(parts) > 1
            # What cannot be decomposed stays as it is; what is decomposed is graphlike.
            sizes = [sum(target.is_relative_detector_id() for target in part) for part in parts]
            assert len(parts) <= 1 or mask is not None or max(sizes) <= 2, where
        if mask is None and len(outputs) <= 12:
            assert_same(distribution_of(found, outputs), simulated(circuit, outputs, reference), where)
    assert decomposed > 3


def with_single_errors(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit with one error at each place."""
    return stim.Circuit(str(circuit).replace("DEPOLARIZE1", "Y_ERROR"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_conditioned(seed: int, kind: str) -> None:
    """On detectors that do not fire: the circuit without the errors that would fire one of them alone."""
    compared = left_out = 0
    for where, rng, noisy in examples(800 + seed, exclusive=False):
        circuit = with_single_errors(noisy)
        outputs, reference = of_noise_alone(circuit)
        decided = [k for k in outputs if k < circuit.num_detectors]
        silent = {k for k in decided if rng.random() < 0.4}
        if not silent:
            continue
        mask = np.array([k in silent for k in range(circuit.num_detectors)])
        model = model_of(circuit, kind=kind, postselection_mask=mask)
        if model is None:
            continue
        firing = []
        for place in noise_places(circuit):
            [error] = place.errors
            key = place.line, place.group
            alone = simulated(with_errors(circuit, {key: error}), sorted(silent), reference)
            [flips] = [bits for bits, p in alone.items() if p > CERTAIN]
            if any(flips):
                firing.append(key)
        left_out += len(firing)
        expected = simulated(without_places(circuit, firing), outputs, reference)
        assert_same(distribution_of(model, outputs), expected, f"{sorted(silent)}, {where}")
        compared += 1
    assert compared > CIRCUITS_PER_SEED / 4
    assert left_out > compared


def heralded_chain(rng: np.random.Generator) -> tuple[stim.Circuit, list[int]]:
    """Three qubits and their two parities, measured twice, with some heralded noise; and the detectors that are heralds."""
    lines = ["R 0 1 2"]
    if rng.random() < 0.5:
        lines.append("S[T] 0 1 2")
    heralds: list[int] = []
    records = detectors = 0
    before: list[int] = []
    for _ in range(2):
        for q in range(3):
            lines.append(f"X_ERROR({rng.uniform(0.01, 0.1)}) {q}")
            # As many flips as others: then independent errors can stand for both, as for an erasure.
            p = float(rng.uniform(0.01, 0.2))
            kinds = [
                f"HERALDED_ERASE({p}) {q}",
                f"HERALDED_PAULI_CHANNEL_1({p / 2}, {p / 3}, {2 * p / 3}, {p / 2}) {q}",
                "",
            ]
            kind = kinds[int(rng.integers(3))]
            if kind:
                lines.append(f"{kind}\nDETECTOR rec[-1]")
                heralds.append(detectors)
                detectors += 1
                records += 1
        lines.append(f"MZZ({rng.uniform(0.01, 0.1)}) 0 1 1 2")
        records += 2
        now = [records - 2, records - 1]
        for k in range(2):
            last = f" rec[{before[k] - records}]" if before else ""
            lines.append(f"DETECTOR rec[{now[k] - records}]{last}")
        detectors += 2
        before = now
    lines.append("M 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    return stim.Circuit("\n".join(lines)), heralds


def distribution_of_edges(
    edges: dict[Edge, float], outputs: list[int], observable: int
) -> dict[Outputs, float]:
    """Of independent edges, by the detectors and the observable that are flipped."""
    model = stim.DetectorErrorModel(f"detector D{observable - 1}\nlogical_observable L0")
    for edge, probability in edges.items():
        targets = [stim.target_relative_detector_id(k) for k in edge.detectors]
        model.append(
            "error", probability, targets + [stim.target_logical_observable_id(0)] * edge.observables
        )
    return distribution_of(model, outputs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_conditioned_on_heralds(seed: int, kind: str) -> None:
    """What matching is told in shots with given heralds: the distribution in these shots, exactly."""
    compared = 0
    for k in range(4):
        circuit, heralds = heralded_chain(np.random.default_rng([900 + seed, k]))
        own = snc.Circuit(circuit)
        assert herald_detectors(own) == set(heralds)
        model = model_of(circuit, kind, decompose_errors=True, approximate_disjoint_errors=True)
        assert model is not None
        known = edge_probabilities(model, heralds)
        others = [d for d in range(circuit.num_detectors + 1) if d not in heralds]
        by_heralds: dict[Outputs, dict[Outputs, float]] = defaultdict(lambda: defaultdict(float))
        for bits, p in detector_distribution(circuit).items():
            by_heralds[tuple(bits[h] for h in heralds)][tuple(bits[d] for d in others)] += p
        for fired, joint in by_heralds.items():
            edges = dict(known.edges)
            for herald, fires in zip(heralds, fired, strict=True):
                for edge, p in known.given_herald[herald].items() if fires else ():
                    q = edges.get(edge, 0.0)
                    edges[edge] = p * (1 - q) + q * (1 - p)
            total = sum(joint.values())
            expected = {flips: p / total for flips, p in joint.items()}
            found = distribution_of_edges(edges, others, circuit.num_detectors)
            for flips in {*found, *expected}:
                assert found.get(flips, 0.0) == pytest.approx(expected.get(flips, 0.0), rel=0, abs=1e-10), (
                    circuit
                )
            compared += 1
    assert compared > 10
