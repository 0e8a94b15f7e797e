"""Erasure checks that miss, and that report qubits which are there: what heralds mean, and what decoders gain."""

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.device_noise import DeviceNoise, PairCalibration, QubitCalibration
from stim_nonclifford.rates.decoding.matching.heralded_matching import HeraldedMatchingDecoder

from ..support.oracle.leakage import leaked_record_distribution

HERALDS = [9 * k + j for k in range(4) for j in range(5)]


def checked_memory(leakage: float, miss: float, wrong: float) -> snc.Circuit:
    """A repetition code of distance 5 whose data qubits are checked and replaced in each round."""
    data, ancillas = range(0, 9, 2), range(1, 9, 2)
    lines = ["R " + " ".join(map(str, range(9))), "TICK"]
    for turn in range(4):
        lines += [f"CX {' '.join(f'{a - 1} {a}' for a in ancillas)}", "TICK"]
        lines += [f"CX {' '.join(f'{a + 1} {a}' for a in ancillas)}", "TICK"]
        lines.append(f"HERALD_LEAKAGE_EVENT(0) {' '.join(map(str, data))}")
        lines += [f"DETECTOR rec[-{k}]" for k in range(1, 6)]
        lines += [f"RL {' '.join(map(str, data))}", "TICK", f"MR {' '.join(map(str, ancillas))}"]
        for k in range(1, 5):
            lines.append(f"DETECTOR rec[-{k}]" + (f" rec[-{k + 9}]" if turn else ""))
        lines.append("TICK")
    lines.append(f"M {' '.join(map(str, data))}")
    lines += [f"DETECTOR rec[-{k}] rec[-{k + 1}] rec[-{k + 5}]" for k in range(1, 5)]
    lines.append("OBSERVABLE_INCLUDE(0) rec[-1]")
    qubit = QubitCalibration(p01=0.005, p10=0.005, check_miss=miss, check_false_positive=wrong)
    pair = PairCalibration(gate_leakage=leakage)
    noise = DeviceNoise(dict.fromkeys(range(9), qubit), {(k, k + 1): pair for k in range(8)})
    return noise.apply("\n".join(lines))


def test_a_herald_means_what_the_table_says() -> None:
    """1 with 1 - miss for a leaked qubit, and with the rate of false positives for one that is there, exactly."""
    qubit = QubitCalibration(check_miss=0.1, check_false_positive=0.05)
    noise = DeviceNoise({0: qubit, 1: qubit}, {})
    circuit = noise.apply(
        "X 1\nLEAKAGE(0.3) 0\nHERALD_LEAKAGE_EVENT(0.2) 0 1\nTICK\nHERALD_LEAKAGE_EVENT(0) 0\nM 1"
    )
    assert circuit.num_measurements == 4
    found = leaked_record_distribution(circuit.to_stim())
    missed = 0.28
    for (first, other, again, outcome), p in found.items():
        assert outcome
        leaked = (1 - missed if first else missed) * (0.9 if again else 0.1)
        there = (0.05 if first else 0.95) * (0.05 if again else 0.95)
        expected = (0.3 * leaked + 0.7 * there) * (0.05 if other else 0.95)
        assert p == pytest.approx(expected, abs=1e-9)
    # The state of the qubit that is checked is kept.
    bell = noise.apply("H 0\nTICK\nT 0\nHERALD_LEAKAGE_EVENT(0) 0\nTICK\nT_DAG 0\nTICK\nH 0\nTICK\nM 0")
    shots = bell.compile_sampler(seed=1).sample(20_000)
    assert not shots[:, 1].any()
    assert shots[:, 0].mean() == pytest.approx(0.05, abs=6 * (0.05 / 20_000) ** 0.5)


def test_what_a_check_cannot_be() -> None:
    with pytest.raises(ValueError, match="only heralds of leakage"):
        DeviceNoise({0: QubitCalibration(check_false_positive=0.1)}, {}).apply("HERALD_LOSS_EVENT(0) 0")
    with pytest.raises(ValueError, match="more often if it is there"):
        DeviceNoise({0: QubitCalibration(check_miss=0.8, check_false_positive=0.3)}, {}).apply(
            "HERALD_LEAKAGE_EVENT(0) 0"
        )
    with pytest.raises(ValueError, match="check_false_positive"):
        QubitCalibration(check_false_positive=1.5)


@pytest.mark.parametrize(("miss", "wrong"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.03), (0.2, 0.05)])
def test_models_know_false_positives(miss: float, wrong: float) -> None:
    """Each detector fires as often as the model says, and a herald is flipped with the qubit that it is about.

    Of second order; 200,000 shots, seed 3; six standard errors.
    """
    circuit = checked_memory(0.004, miss, wrong)
    model = circuit.detector_error_model(decompose_errors=False, approximate_disjoint_errors=True)
    shots = 200_000
    detectors = circuit.compile_detector_sampler(seed=3).sample(shots)
    told, _, _ = model.compile_sampler(seed=4).sample(shots)
    rates, expected = detectors.mean(axis=0), told.mean(axis=0)
    error = 6 * np.sqrt(2 * rates / shots)
    assert np.all(np.abs(rates - expected) < error + 0.06 * rates)
    assert rates[HERALDS].mean() > wrong
    # How often a herald fires together with the check beside its qubit: detectors 1 and 6.
    both, said = (detectors[:, 1] & detectors[:, 6]).mean(), (told[:, 1] & told[:, 6]).mean()
    assert abs(both - said) < 6 * np.sqrt(2 * both / shots) + 0.1 * both
    assert both > 3 * rates[1] * rates[6]


def test_decoding_with_checks_that_report_qubits_which_are_there() -> None:
    """Heralds help as long as most of them are right; models without false positives would be worse.

    40,000 shots, seed 7: the differences are more than five standard errors.
    """
    shots = 40_000
    errors = {}
    for wrong in (0.0, 0.02):
        circuit = checked_memory(0.02, 0.05, wrong)
        sampler = circuit.compile_detector_sampler(seed=7)
        detectors, observables = sampler.sample(shots, separate_observables=True, bit_packed=True)
        for told in (0.0, 0.02):
            model = checked_memory(0.02, 0.05, told).detector_error_model(
                decompose_errors=True, approximate_disjoint_errors=True
            )
            for heralds in (range(0), HERALDS):
                decoder = HeraldedMatchingDecoder(heralds=heralds).compile_decoder_for_dem(dem=model)
                predicted = decoder.decode_shots_bit_packed(bit_packed_detection_event_data=detectors)
                errors[bool(heralds), wrong, told] = int((predicted != observables).sum())
    right, false, blind = errors[True, 0.0, 0.0], errors[True, 0.02, 0.02], errors[False, 0.02, 0.02]
    margin = 5 * (2 * blind) ** 0.5
    assert right + margin < false + margin < blind
    assert false < errors[True, 0.02, 0.0]
