"""What failing fault sets say: error budgets, what decoders get wrong, and each observable's own rate."""

from __future__ import annotations

import math
import pickle
from typing import Any

import matplotlib
import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import symptoms_of
from stim_nonclifford.rates.results import NoisePlace
from stim_nonclifford.rates.samplers.strata import Stratum
from stim_nonclifford.simulation.faults import CircuitFault
from tests.support.rates.decoded_rate_cases import (
    matching_of,
    model_of,
    probabilities_of_sets,
    repetition_code,
    surface_code,
    two_codes,
)

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""

P = {"DEPOLARIZE1": 4e-3, "X_ERROR": 9e-3}


def exact_sensitivity(noise: str, strengths: dict[str, float]) -> float:
    """d ln(rate) / d ln(strength) of a kind of noise, with the decoder as it is."""
    _, fails = probabilities_of_sets(code(strengths))
    step = 1e-4
    logs = []
    for factor in (1 - step, 1 + step):
        changed = strengths | {noise: strengths[noise] * factor}
        logs.append(np.log(probabilities_of_sets(code(changed))[0][fails].sum()))
    return float((logs[1] - logs[0]) / (2 * step))


def code(strengths: dict[str, float]) -> snc.Circuit:
    return repetition_code(strengths["DEPOLARIZE1"], readout=strengths["X_ERROR"])


@pytest.mark.parametrize("factor", [1.0, 25.0])
@pytest.mark.parametrize("is_enumerated", [True, False])
def test_budget_of_a_decoded_circuit(
    factor: float, is_enumerated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enumerated, by deletion, and from plain shots."""
    if not is_enumerated:
        monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
    strengths = {noise: factor * p for noise, p in P.items()}
    rate = code(strengths).logical_error_rate(decoder="pymatching", relative_error=0.04, seed=1)
    budget = rate.error_budget("noise")
    assert [group.group for group in budget.groups] == sorted(P)
    assert (budget.kept, budget.kept_and_wrong) == (1.0, rate.logical_error_rate)
    # The faults that failing sets have more than all sets, by enumeration.
    probabilities, fails = probabilities_of_sets(code(strengths))
    model = model_of(code(strengths))
    acts = np.arange(len(fails))[:, None] >> np.arange(model.num_mechanisms) & 1
    weights = probabilities * fails / probabilities[fails].sum()
    excess = (weights - probabilities) @ acts
    # In this circuit, noise on data flips a final readout or two detectors in the first round.
    for group in budget.groups:
        exact = exact_sensitivity(str(group.group), strengths)
        assert (group.sensitivity_error == 0) == is_enumerated
        assert group.sensitivity_error < 0.1
        assert abs(group.sensitivity - exact) < SIGNIFICANT * group.sensitivity_error + 1e-6, group
        assert group.kept_and_wrong_derivative == pytest.approx(group.sensitivity * rate.logical_error_rate)
    assert sum(group.share for group in budget.groups) == pytest.approx(1)
    # Weak noise: shares are sensitivities over their sum.
    if factor == 1:
        total = sum(group.sensitivity for group in budget.groups)
        assert total == pytest.approx(float(excess.sum()), rel=0.05)
        for group in budget.groups:
            assert group.share == pytest.approx(group.sensitivity / total, abs=0.02)


def test_budgets_by_place_qubit_and_tick_agree() -> None:
    rate = surface_code(1e-3).logical_error_rate(decoder="pymatching", relative_error=0.05, seed=2)

    def place(each: NoisePlace) -> NoisePlace:
        return each

    by_place = rate.error_budget(place)
    for by in ("qubit", "tick", "instruction"):
        budget = rate.error_budget(by)
        assert sum(group.share for group in budget.groups) == pytest.approx(1)
        total = sum(group.sensitivity for group in budget.groups)
        assert total == pytest.approx(sum(group.sensitivity for group in by_place.groups))
        assert 1.8 < total < 2.3  # two faults make this code fail
    ticks = {group.group: group.share for group in rate.error_budget("tick").groups}
    of_places: dict[object, float] = {}
    for group in by_place.groups:
        assert isinstance(group.group, NoisePlace)
        of_places[group.group.tick] = of_places.get(group.group.tick, 0.0) + group.share
    assert of_places == pytest.approx(ticks)


def test_budget_that_is_printed_and_drawn() -> None:
    matplotlib.use("Agg")
    rate = repetition_code(1e-3).logical_error_rate(decoder="pymatching", relative_error=0.1, seed=1)
    budget = rate.error_budget("noise")
    text = str(budget)
    assert text.startswith("logical error rate = ")
    assert "discarded" not in text
    axes = budget.plot()
    assert axes.get_title().startswith("logical error rate")
    matplotlib.pyplot.close(axes.figure)


def test_failures_are_failing_circuits() -> None:
    circuit = surface_code(1e-3)
    failures = circuit.logical_error_rate(decoder="pymatching", relative_error=0.1, seed=1).failures(20)
    assert len(failures) == 20
    matching = matching_of(circuit)
    shares = [failure.share for failure in failures]
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 1
    for failure in failures:
        dets, flips = flips_of(circuit, failure.faults)
        assert np.flatnonzero(dets).tolist() == list(failure.detectors)
        assert np.flatnonzero(flips).tolist() == list(failure.observables)
        predicted = matching.decode(dets)
        assert np.flatnonzero(predicted).tolist() == list(failure.predicted)
        assert failure.predicted != failure.observables
        assert failure.weight == len(failure.causes) == 2
        # With one mechanism less, the decoder is right.
        for causes in failure.causes:
            rest, own = flips_of(circuit, causes[:1])
            without, expected = rest ^ dets, own ^ flips
            assert (matching.decode(without) == expected).all()


def flips_of(circuit: snc.Circuit, faults: tuple[CircuitFault, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The detectors and observables that faults flip."""
    noiseless = circuit.with_faults(()).to_stim()
    records = circuit.with_faults(faults).to_stim().reference_sample() ^ noiseless.reference_sample()
    converter = noiseless.compile_m2d_converter(skip_reference_sample=True)
    dets, flips = converter.convert(measurements=records[np.newaxis], separate_observables=True)
    return dets[0], flips[0]


def test_failures_of_a_code_are_all_of_its_lightest() -> None:
    rate = repetition_code(1e-3, distance=3, readout=0).logical_error_rate(decoder="pymatching", seed=1)
    failures = rate.failures()
    assert len(failures) == 3
    assert sum(failure.share for failure in failures) == 1
    q = 2e-3 / 3
    for failure in failures:
        assert failure.probability == pytest.approx(q**2 * (1 - q))
    assert len(rate.failures(2)) == 2
    with pytest.raises(ValueError, match="count must be"):
        rate.failures(0)


def test_without_fault_sets() -> None:
    rate = repetition_code(1e-3).logical_error_rate(decoder="pymatching", relative_error=0.2, seed=1)
    for ask in (lambda r: r.error_budget("noise"), lambda r: r.failures()):
        with pytest.raises(ValueError, match="pickled"):
            ask(pickle.loads(pickle.dumps(rate)))


@pytest.mark.parametrize(
    "arguments", [{"confidence": True}, {"postselection_mask": [True, False, False, False]}]
)
def test_without_fault_sets_of_accepted_shots(arguments: dict[str, Any]) -> None:
    """The refusal names what the same circuit is to be estimated without."""
    common: dict[str, Any] = {"decoder": "pymatching", "relative_error": 0.2, "seed": 1}
    circuit = repetition_code(1e-2, distance=3)
    rate = circuit.logical_error_rate(**common, **arguments)
    for what in (lambda r: r.error_budget("noise"), lambda r: r.failures()):
        with pytest.raises(ValueError, match=f"estimate it anew .*without .*{next(iter(arguments))}"):
            what(rate)
    assert circuit.logical_error_rate(**common).failures()


@pytest.mark.parametrize("is_enumerated", [True, False])
@pytest.mark.parametrize("p", [0.1, 0.01])
def test_each_observable_has_its_own_rate(
    p: float, is_enumerated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_enumerated:
        monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
    # The second code has half of the noise of the first.
    text = str(two_codes(p).to_stim()).replace(f"X_ERROR({p:g}) 0 1 2 3 4 5", "").replace("R 0 1 2 3 4 5", "")
    circuit = snc.Circuit(f"R 0 1 2 3 4 5\nX_ERROR({p}) 0 1 2\nX_ERROR({p / 2}) 3 4 5\n{text}")
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.05, seed=3)

    def fails(q: float) -> float:
        return 3 * q**2 * (1 - q) + q**3

    expected = (fails(p), fails(p / 2))
    assert len(rate.observable_rates) == len(rate.observable_errors) == 2
    for found, error, exact in zip(rate.observable_rates, rate.observable_errors, expected, strict=True):
        assert (error == 0) == is_enumerated
        assert error < 0.3 * exact
        assert abs(found - exact) < SIGNIFICANT * error + 1e-9 * exact
    assert "each observable: L0" in str(rate)


@pytest.mark.parametrize("name", ["DEPOLARIZE1", "DEPOLARIZE2"])
def test_depolarizing_noise_is_exactly_its_independent_errors(name: str) -> None:
    """The law of outputs under 3 or 15 exclusive errors is that of the mechanisms."""
    p, qubits = 0.3, "0" if name == "DEPOLARIZE1" else "0 1"
    circuit = stim.Circuit(
        f"R 0 1 2 3\nH 0 1\nCX 0 2 1 3\n{name}({p}) {qubits}\nCX 0 2 1 3\nH 0 1\nM 0 1 2 3\n"
        "DETECTOR rec[-1]\nDETECTOR rec[-2]\nDETECTOR rec[-3]\nOBSERVABLE_INCLUDE(0) rec[-4]"
    )
    paulis = [(a, b) for a in "IXYZ" for b in ("IXYZ" if name == "DEPOLARIZE2" else "I")]
    exact = np.zeros(16)
    for pauli in paulis:
        text = "".join(f"{letter} {qubit}\n" for qubit, letter in enumerate(pauli) if letter != "I")
        sampled = stim.Circuit(str(circuit).replace(f"{name}({p}) {qubits}\n", text)).reference_sample()
        outputs = (sampled[3], sampled[2], sampled[1], sampled[0])
        chance = 1 - p if set(pauli) == {"I"} else p / (len(paulis) - 1)
        exact[sum(int(bit) << k for k, bit in enumerate(outputs))] += chance
    found = np.zeros(16)
    found[0] = 1
    for (detectors, observables), q in symptoms_of(circuit.detector_error_model()).probabilities.items():
        flip = sum(1 << k for k in detectors) + sum(8 << k for k in observables)
        found = (1 - q) * found + q * found[np.arange(16) ^ flip]
    assert found == pytest.approx(exact, abs=1e-12)
