"""Checks that faults alone decide, though they are sums of quantum outcomes: against laws with all coefficients, and by hand."""

import itertools
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from stim_nonclifford import Circuit, _native
from stim_nonclifford.base.arrays import words_of_bits
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.rates.fault_sets.search.mechanisms import mechanisms_of
from stim_nonclifford.simulation.plan import SamplingPlan, plain_attributes

from ....support.seeds import seeds

Bits = npt.NDArray[np.bool_]


def plan_of(text: str) -> SamplingPlan:
    return planned(Circuit(text), "all", None).plan()


def certain(plan: SamplingPlan, of: Literal["checks", "outputs"]) -> tuple[Bits, Bits]:
    """The parities of signature bits of sums of checks and those of kept shots; or the outputs, and those at signature 0."""
    found = _native.certain_checks(plain_attributes(plan))
    parities, values = ("parities", "targets") if of == "checks" else ("output_parities", "output_values")
    words = found[parities].reshape(len(found[values]), -(-plan.num_signature_bits // 64))
    bits = [[int(row[s // 64]) >> s % 64 & 1 for s in range(plan.num_signature_bits)] for row in words]
    found_bits = np.array(bits, dtype=np.bool_).reshape(len(words), plan.num_signature_bits)
    return found_bits, found[values].astype(np.bool_)


def certain_checks(plan: SamplingPlan) -> tuple[Bits, Bits]:
    """The parities of signature bits, and those of kept shots."""
    return certain(plan, "checks")


def overlaps(signatures: Bits, parities: Bits) -> Bits:
    odd: Bits = (signatures.astype(int) @ parities.T.astype(int)) % 2 == 1
    return odd


def kept_by_coefficients(
    plan: SamplingPlan, signatures: Bits
) -> tuple[npt.NDArray[np.float64], list[set[int]]]:
    """The probabilities that shots with some signatures are kept, and the outputs that these may have."""
    laws = _native.kept_branches(
        plain_attributes(plan), words_of_bits(signatures).ravel(), len(signatures), "vector"
    )
    ranges = list(itertools.pairwise(laws["starts"].astype(int)))
    probabilities, outputs = laws["probabilities"], laws["outputs"]
    kept = np.array([probabilities[a:b].sum() for a, b in ranges])
    return kept, [{int(outputs[k]) for k in range(a, b) if probabilities[k] > 1e-12} for a, b in ranges]


def conditional_circuit(rng: np.random.Generator) -> str:
    """Random diagonal gates, some teleported or conditional, that are undone before Xs are checked."""
    n = int(rng.integers(2, 5))
    lines = ["RX " + " ".join(map(str, range(n)))]
    gates: list[tuple[str, list[int]]] = []
    for _ in range(int(rng.integers(3, 9))):
        qubits = [int(q) for q in np.flatnonzero(rng.random(n) < 0.5)] or [0]
        gates.append((str(rng.choice(["T", "S"], p=[0.7, 0.3])), qubits))

    def apply(gate: str, qubits: list[int], is_undone: bool) -> None:
        name = gate + ("PP_DAG" if is_undone else "PP")
        product = "*".join(f"Z{q}" for q in qubits)
        if gate == "T" and rng.random() < 0.4:
            lines.extend([f"RX {n}", f"T{'_DAG' * is_undone} {n}"])
            lines.extend(f"CX {q} {n}" for q in qubits)
            flip = rng.choice(["", "(0.05)"], p=[0.7, 0.3])
            angle = -0.5 if is_undone else 0.5
            lines.extend([f"M{flip} {n}", f"C_R_PAULI({angle}) rec[-1] {product}"])
        else:
            lines.append(f"{name} {product}")
        noise = rng.choice(["Z_ERROR(0.05)", "X_ERROR(0.05)", ""], p=[0.5, 0.2, 0.3])
        lines.append(f"{noise} {qubits[0]}" if noise else "")

    for gate, qubits in gates:
        apply(gate, qubits, False)
    for gate, qubits in [gates[k] for k in rng.permutation(len(gates))]:
        apply(gate, qubits, True)
    checked = [f"X{a}*X{b}" for a, b in itertools.pairwise(range(n))]
    lines.append("MPP " + " ".join(checked))
    lines += [f"DETECTOR rec[-{k + 1}]" for k in range(len(checked))]
    lines += ["MX 0", "OBSERVABLE_INCLUDE(0) rec[-1]"]
    return "\n".join(filter(None, lines))


@pytest.mark.parametrize("seed", seeds(60, quick=8))
def test_shots_that_fail_a_certain_check_are_never_kept(seed: int) -> None:
    """Whatever the noise: all signatures of up to ten bits, or 600 random ones."""
    rng = np.random.default_rng(seed)
    plan = plan_of(conditional_circuit(rng))
    parities, targets = certain_checks(plan)
    count = plan.num_signature_bits
    if count <= 10:
        signatures = np.array(list(itertools.product([False, True], repeat=count)), dtype=np.bool_)
    else:
        signatures = rng.random((600, count)) < 0.5
    passes = (overlaps(signatures, parities) == targets).all(axis=1)
    kept, outputs = kept_by_coefficients(plan, signatures)
    assert (kept[~passes] < 1e-12).all()
    output_parities, output_values = certain(plan, "outputs")
    if len(output_values):
        expected = overlaps(signatures, output_parities)[:, 0] ^ output_values[0]
        assert all(found <= {int(value)} for found, value in zip(outputs, expected, strict=True))
    # Where each sum of checks is certain, faults decide on all of it.
    if len(targets) == plan.num_outcome_checks:
        np.testing.assert_allclose(kept[passes], 1, rtol=0, atol=1e-12)


def test_random_circuits_have_certain_checks() -> None:
    """The test above sees checks of conditional gates that are certain, and some that are not. Seeds 0 to 19."""
    found = [plan_of(conditional_circuit(np.random.default_rng(seed))) for seed in range(20)]
    checks = [len(certain_checks(plan)[1]) for plan in found]
    assert sum(k > 0 for k in checks) >= 4
    assert sum(k < plan.num_outcome_checks for k, plan in zip(checks, found, strict=True)) >= 4
    assert any(k and plan.num_signs for k, plan in zip(checks, found, strict=True))
    outputs = [len(certain(plan, "outputs")[1]) for plan in found]
    assert 2 <= sum(outputs) <= 18


@pytest.mark.parametrize("teleported", [False, True])
@pytest.mark.parametrize(("protocol", "k"), [("15-to-1", None), ("3k+8-to-k", 4), ("8T-to-CCZ", None)])
def test_all_checks_of_a_factory_are_certain(protocol: str, k: int | None, teleported: bool) -> None:
    """Errors of T states are Zs, which move through all T gates; other noise turns them into S gates."""
    circuit = distillation_circuit(protocol, k=k, t_error=0.01, teleported=teleported)  # type: ignore[arg-type]
    plan = plan_of(str(circuit))
    assert len(certain_checks(plan)[1]) == plan.num_outcome_checks == circuit.num_detectors
    assert mechanisms_of(plan).checks.shape[1] >= circuit.num_detectors
    assert not mechanisms_of(plan).effects[:, :-1].any(), "outputs are what faults flip, with one law for all"
    noisy = distillation_circuit(protocol, k=k, t_error=0.01, p=1e-3, teleported=teleported)  # type: ignore[arg-type]
    assert not len(certain_checks(plan_of(str(noisy)))[1])


def test_a_check_that_is_certain_and_wrong() -> None:
    """Without noise the detector fires always: a kept shot needs an odd number of errors."""
    text = "RX 0\nS 0\nT 0\nT 0\nZ_ERROR(0.125) 0\nMX 0\nDETECTOR rec[-1]"
    text += "\nR 1\nX_ERROR(0.25) 1\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    rate = Circuit(text).logical_error_rate(postselection_mask="all", skip_reference_sample=True)
    assert rate.kept == pytest.approx(0.125)
    assert rate.logical_error_rate == pytest.approx(0.25)


def test_the_rate_of_49_to_1() -> None:
    """At a state error of 1%: 1411 p^5 and more, by the weight enumerators of its code."""
    circuit = Circuit(distillation_circuit("49-to-1", t_error=0.01, teleported=False))
    rate = circuit.logical_error_rate(postselection_mask="all", seed=1)
    assert rate.logical_error_rate == pytest.approx(1.4856e-7, rel=1e-3)
    assert rate.relative_error < 1e-3


def fifteen_to_one(p: Fraction) -> tuple[Fraction, Fraction]:
    """P(kept) and the error of a kept output of 15-to-1 (Bravyi, Kitaev, quant-ph/0403025)."""
    x = 1 - 2 * p
    kept = (1 + 15 * x**8) / 16
    return kept, (1 - 15 * x**7 + 15 * x**8 - x**15) / (32 * kept)


def test_all_of_15_to_1_twice_is_certain() -> None:
    """Modulo the parities that its teleportations measure, a T state is about the sum of qubits that it rotates."""
    plan = plan_of(str(distillation_circuit("225-to-1", t_error=0.001, teleported=False)))
    assert len(certain_checks(plan)[1]) == plan.num_outcome_checks == 64
    mechanisms = mechanisms_of(plan)
    assert not mechanisms.effects[:, :-1].any()
    assert not len(mechanisms.coins)


def test_the_rate_of_15_to_1_twice() -> None:
    """A sum over 35^4 sets of nine among 225 errors, and some larger ones. Seed 2; within 5.5 standard errors."""
    circuit = Circuit(distillation_circuit("225-to-1", t_error=0.01, teleported=False))
    first, error = fifteen_to_one(Fraction(1, 100))
    kept, expected = fifteen_to_one(error)
    rate = circuit.logical_error_rate(postselection_mask="all", relative_error=0.05, seed=2)
    assert rate.kept == pytest.approx(float(first**15 * kept), rel=1e-3)
    assert rate.relative_error < 0.05
    assert abs(rate.logical_error_rate / float(expected) - 1) < 5.5 * rate.relative_error
