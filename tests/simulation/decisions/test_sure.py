"""SURE: the complementary gap of a record's correction, against gaps that are calculated separately."""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pymatching
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.simulation.decisions import DecisionsFailedError

from .decoders import Bits, unpacked

THREE_QUBITS = """
R 0 1 2
X_ERROR(0.02) 0 1
X_ERROR(0.1) 2
MPP(0.03) Z0*Z1 Z1*Z2
DETECTOR rec[-2]
DETECTOR rec[-1]
X_ERROR(0.01) 0 1 2
MPP(0.03) Z0*Z1 Z1*Z2
DETECTOR rec[-2] rec[-4]
DETECTOR rec[-1] rec[-3]
"""


def repetition_code(distance: int, p: float, question: str) -> snc.Circuit:
    """A repetition code with readout noise, and a question before its data qubits are measured."""
    generated = stim.Circuit.generated(
        "repetition_code:memory",
        distance=distance,
        rounds=distance,
        before_round_data_depolarization=p,
        before_measure_flip_probability=p,
    )
    text = str(generated)
    place = text.rindex("\nX_ERROR")  # before the last measurement
    return snc.Circuit(f"{text[:place]}\n{question}")


def asked_records(circuit: snc.Circuit, shots: int, decoder: Any = "pymatching") -> tuple[Bits, Bits]:
    """Detectors and the records of the last instruction."""
    observed = str(circuit)
    count = circuit[-1].num_measurements if not isinstance(circuit[-1], stim.CircuitRepeatBlock) else 0
    for k in range(count):
        observed += f"\nOBSERVABLE_INCLUDE({k}) rec[{k - count}]"
    sampler = snc.Circuit(observed).compile_detector_sampler(
        seed=5, decoder=decoder, skip_reference_sample=True
    )
    detectors, records = sampler.sample(shots, separate_observables=True)
    return detectors.astype(np.uint8), records.astype(np.uint8)


def constrained_gaps(model: stim.DetectorErrorModel, detectors: Bits) -> npt.NDArray[np.float64]:
    """Two decodings, in which the observable is a detector that must be silent or fire.

    This needs that only errors at one boundary flip the observable.
    """
    end = model.num_detectors
    text = str(model.flattened()).replace("L0", f"D{end}").replace(f"logical_observable D{end}", "")
    matching = pymatching.Matching(stim.DetectorErrorModel(text))
    weights = []
    for value in (0, 1):
        column = np.full((len(detectors), 1), value, dtype=np.uint8)
        weights.append(matching.decode_batch(np.hstack([detectors, column]), return_weights=True)[1])
    return np.abs(weights[1] - weights[0]) * 10 / math.log(10)


def enumerated_gaps(model: stim.DetectorErrorModel) -> dict[tuple[int, ...], float]:
    """Gaps by detection events, as every set of errors is tried."""
    errors = [part for part in model.flattened() if part.type == "error"]
    best: dict[tuple[int, ...], list[float]] = {}
    for chosen in itertools.product((0, 1), repeat=len(errors)):
        events, flipped, likelihood = np.zeros(model.num_detectors, dtype=int), 0, 0.0
        for happens, error in zip(chosen, errors, strict=True):
            if not happens:
                continue
            p = error.args_copy()[0]
            likelihood += 10 * math.log10(p / (1 - p))
            for target in error.targets_copy():
                if target.is_relative_detector_id():
                    events[target.val] ^= 1
                elif target.is_logical_observable_id():
                    flipped ^= 1
        values = best.setdefault(tuple(events.tolist()), [-math.inf, -math.inf])
        values[flipped] = max(values[flipped], likelihood)
    return {events: abs(a - b) for events, (a, b) in best.items()}


@pytest.mark.parametrize("threshold", [5.0, 20.0, 30.0])
def test_gaps_of_two_constrained_decodings(threshold: float) -> None:
    circuit = repetition_code(5, 0.02, f"SURE({threshold}) 0")
    detectors, records = asked_records(circuit, 3000)
    gaps = constrained_gaps(circuit.decision_model(0, decompose_errors=True), detectors)
    assert abs(gaps - threshold).min() > 1e-3
    assert np.array_equal(records[:, 0], gaps >= threshold)
    assert 30 < records.sum() < 2970


@pytest.mark.parametrize("threshold", [7.0, 12.0, 20.0])
def test_gaps_of_all_sets_of_errors(threshold: float) -> None:
    circuit = snc.Circuit(f"{THREE_QUBITS}SURE({threshold}) Z0*Z1*Z2")
    gaps = enumerated_gaps(circuit.decision_model(0))
    assert len(gaps) == 16
    assert min(abs(gap - threshold) for gap in gaps.values()) > 1e-6
    detectors, records = asked_records(circuit, 4000)
    expected = [gaps[tuple(row)] >= threshold for row in detectors.tolist()]
    assert records[:, 0].tolist() == expected
    assert 0 < sum(expected) < 4000


def test_each_record_has_a_gap_of_its_own() -> None:
    circuit = snc.Circuit(f"{THREE_QUBITS}SURE(12) Z0*Z1*Z2 0 Z2")
    _, records = asked_records(circuit, 2000)
    for k, product in enumerate(("Z0*Z1*Z2", "Z0", "Z2")):
        _, alone = asked_records(snc.Circuit(f"{THREE_QUBITS}SURE(12) {product}"), 2000)
        assert np.array_equal(records[:, k], alone[:, 0])
    assert (records[:, 0] != records[:, 2]).any()


def test_errors_that_no_detector_sees_limit_the_gap() -> None:
    for threshold, sure in ((9.5, True), (9.6, False)):  # 10 log10(0.9 / 0.1) = 9.54
        for text in ("X_ERROR(0.1) 0", "X_ERROR(0.1) 0\nX_ERROR(0.001) 1\nM 1\nDETECTOR rec[-1]"):
            circuit = snc.Circuit(f"R 0 1\n{text}\nSURE({threshold}) 0")
            assert asked_records(circuit, 100)[1].all() == sure
    assert str(snc.Circuit("X_ERROR(0.125) 0\nSURE(3) 0").decision_model(0)) == "error(0.125) L0"


def test_without_noise_the_decoder_is_sure_as_raw_records_are() -> None:
    text = f"{THREE_QUBITS}T 0\nMX 0\nSURE(20) Z1*Z2 2\nM 2\nMX 1"
    circuit = snc.Circuit(snc.Circuit(text).without_noise())
    found = [
        circuit.compile_sampler(seed=1, decoder=decoder).sample(200) for decoder in ("pymatching", "raw")
    ]
    assert found[0][:, -4:-2].all()
    assert found[1][:, -4:-2].all()
    assert not found[0][:, -2].any()


def test_shots_of_which_the_decoder_is_not_sure_can_be_discarded() -> None:
    circuit = snc.Circuit(
        f"{THREE_QUBITS}SURE(12) Z0*Z1*Z2\nDETECTOR(0, 0, 0, 1) rec[-1]\nM 0 1 2\n"
        "OBSERVABLE_INCLUDE(0) rec[-1] rec[-2] rec[-3]"
    )
    mask = sinter.post_selection_mask_from_4th_coord(circuit.to_stim())
    sampler = circuit.compile_detector_sampler(seed=5, decoder="pymatching", postselection_mask=mask)
    counts = sampler.sample_counts(4000)
    detectors = circuit.compile_detector_sampler(seed=5, decoder="pymatching").sample(4000)
    assert counts.discards == detectors[:, -1].sum() > 0


def test_gates_follow_the_record() -> None:
    circuit = snc.Circuit(f"{THREE_QUBITS}SURE(12) Z0*Z1*Z2\nR 3\nCX rec[-1] 3\nM 3")
    records = circuit.compile_sampler(seed=5, decoder="pymatching").sample(4000)
    assert np.array_equal(records[:, -1], records[:, -2])
    assert 0 < records[:, -1].sum() < 4000


def test_text() -> None:
    text = "SURE(20) 41\nSURE(3.5, latency=2, decoder=fast) Z1*X2 4"
    circuit = snc.Circuit(text)
    assert str(circuit) == text
    tagged = "MPAD[SURE(20, Z41)] 1\nMPAD[SURE(3.5, Z1*X2, Z4, latency=2, decoder=fast)] 1 1"
    assert str(circuit.to_stim()) == tagged
    assert snc.Circuit(stim.Circuit(tagged)) == circuit
    assert circuit.to_stim().compile_sampler().sample(1).all()
    assert [point.gap for point in circuit.decision_points()] == [20.0, 3.5]
    appended = snc.Circuit()
    appended.append("SURE", [41], 20)
    assert str(appended) == "SURE(20) 41"
    assert snc.Circuit("MPAD[SURE] 0").decision_points() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SURE 3", r"Line 1: `SURE 3`: SURE: its first number is a gap in decibels.*SURE\(20\) Z0\*Z1"),
        ("SURE(-1) 3", "its first number is a gap in decibels, at least 0"),
        ("SURE(inf) 3", "its first number is a gap in decibels, at least 0"),
        ("SURE(20) X", "must name products of Paulis on different qubits"),
        ("SURE(20)", "must name products of Paulis on different qubits"),
        ("SURE(20, late=2) 3", "its options are latency=n"),
        ("MPAD[SURE(20, Z3)] 0", "there must be one 1 for each product"),
        ("M[SURE(20, Z3)] 3", r"makes no sense on M. Write MPAD\[SURE\(20, Z0\*Z1\)\] 1"),
        ("SURE[note](20) 3", "SURE cannot have a tag"),
    ],
)
def test_malformed_text(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        snc.Circuit(text)


class WithoutGaps(sinter.Decoder):  # type: ignore[misc]
    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return sinter.BUILT_IN_DECODERS["pymatching"].compile_decoder_for_dem(dem=dem)


class Numbers:
    """A decoder whose gaps are a function of detectors."""

    def __init__(self, gaps: Any) -> None:
        self.function = gaps

    def begin(self, models: Any) -> None:
        self.models = models

    def decide(self, number: int, detectors: Bits) -> Bits:
        return np.zeros((len(detectors), 1), dtype=np.uint8)

    def gaps(self, number: int, detectors: Bits) -> Any:
        return self.function(unpacked(detectors, self.models[number].num_detectors))


def test_decoders_without_gaps_are_refused() -> None:
    circuit = snc.Circuit(f"{THREE_QUBITS}SURE(12) Z0*Z1*Z2")
    for decoder in (WithoutGaps(), "vacuous"):
        with pytest.raises(ValueError, match=r"Line 11: SURE asks for complementary gaps.*pymatching"):
            circuit.compile_sampler(decoder=decoder)
    methods = type("Deciding", (), {"begin": Numbers.begin, "decide": Numbers.decide})()
    with pytest.raises(ValueError, match=r"Line 11: SURE asks for.*Deciding has no method gaps"):
        circuit.compile_sampler(decoder=methods)
    with pytest.raises(ValueError, match=r"Line 11: `MPAD.*asks a decoder"):
        circuit.compile_sampler()


def test_decoders_of_ones_own_have_gaps() -> None:
    circuit = snc.Circuit(f"{THREE_QUBITS}SURE(12) Z0*Z1*Z2")
    detectors, records = asked_records(circuit, 500, Numbers(lambda bits: 12 - bits[:, :1].astype(float)))
    assert np.array_equal(records[:, 0], detectors[:, 0] == 0)
    for gaps in (lambda bits: bits[:, 0], lambda bits: bits[:, :1] * math.nan):
        with pytest.raises(DecisionsFailedError, match=r"Line 11: decision 0: gaps\(\) of the decoder must"):
            asked_records(circuit, 50, Numbers(gaps))


def test_a_gap_behind_a_conditional_gate_is_refused_where_it_matters() -> None:
    text = "RX 0\nM 1\nC_S rec[-1] 0\nSURE(20) {}0"
    asked_records(snc.Circuit(text.format("Z")), 10)
    with pytest.raises(
        NotImplementedError, match=r"Line 4: what SURE asks for depends on the gate `CS` of line 3"
    ):
        asked_records(snc.Circuit(text.format("X")), 10)


ATTEMPT = """
R 0 1 2
X_ERROR(0.08) 0 1 2
MPP(0.03) Z0*Z1 Z1*Z2
DETECTOR rec[-2]
DETECTOR rec[-1]
SURE(8) Z0*Z1*Z2
OBSERVABLE_INCLUDE({attempt}) rec[-1]
X_ERROR(0.02) 3
"""


def test_attempts_until_the_decoder_is_sure_are_a_sum_over_circuits() -> None:
    """Each circuit has some attempts, of which the last of three is taken as it is."""
    likelihoods: dict[tuple[int, int], list[float]] = {}  # of an even and an odd number of flips, by checks
    for x0, x1, x2, m0, m1 in itertools.product((0, 1), repeat=5):
        p = math.prod(0.08 if x else 0.92 for x in (x0, x1, x2)) * math.prod(
            0.03 if m else 0.97 for m in (m0, m1)
        )
        checks, odd = (x0 ^ x1 ^ m0, x1 ^ x2 ^ m1), (x0 + x1 + x2) % 2
        likelihoods.setdefault(checks, [0.0, 0.0])[odd] += p
    gaps = enumerated_gaps(snc.Circuit(ATTEMPT.format(attempt=0)).decision_model(0))
    frame = snc.Circuit(ATTEMPT.format(attempt=0) + "FRAME Z0*Z1*Z2").decision_model(1)
    matching = pymatching.Matching.from_detector_error_model(frame)  # of parallel edges, it takes the first
    wrong_by_checks = {
        checks: pair[1 - int(matching.decode(np.array(checks))[0])] for checks, pair in likelihoods.items()
    }
    sure = sum(sum(likelihoods[checks]) for checks, gap in gaps.items() if gap >= 8)
    sure_and_wrong = sum(wrong_by_checks[checks] for checks, gap in gaps.items() if gap >= 8)
    wrong = sum(wrong_by_checks.values())
    shots = 60_000
    for attempts in 1, 2, 3:
        text = "R 3" + "".join(ATTEMPT.format(attempt=k) for k in range(attempts))
        text += "FRAME Z0*Z1*Z2\nCX rec[-1] 0\nMPP Z0*Z1*Z2*Z3\nOBSERVABLE_INCLUDE(9) rec[-1]"
        sampler = snc.Circuit(text).compile_detector_sampler(
            seed=attempts, decoder="pymatching", skip_reference_sample=True
        )
        _, observables = sampler.sample(shots, separate_observables=True)
        chosen = ~observables[:, : attempts - 1].any(axis=1)
        right_end = (1.0, wrong) if attempts == 3 else (sure, sure_and_wrong)
        if attempts < 3:
            chosen &= observables[:, attempts - 1]
        waited = (1 - 0.96**attempts) / 2
        before = (1 - sure) ** (attempts - 1)
        expected = before * right_end[0]
        expected_wrong = before * (right_end[1] * (1 - waited) + (right_end[0] - right_end[1]) * waited)
        assert abs(chosen.mean() - expected) < 6 * (expected / shots) ** 0.5
        found = (chosen & observables[:, 9]).mean()
        assert abs(found - expected_wrong) < 6 * (expected_wrong / shots) ** 0.5
    assert 0.1 < 1 - sure < 0.6
