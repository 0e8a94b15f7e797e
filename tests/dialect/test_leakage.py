"""Leakage and loss, compared with density matrices that have leaked and lost levels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.circuit.rewriting.leakage import with_averaged_leakage
from stim_nonclifford.simulation.compiler import RequestedOutputs

from ..support.laws.exact import exact_outputs, largest_difference, mask_of, num_rows
from ..support.laws.records import assert_records_agree
from ..support.oracle.leakage import leaked_record_distribution
from ..support.rates.error_models import flip_rates
from ..support.seeds import slow
from ..support.texts.leaking_circuits import random_leaking_text
from ..support.texts.round_trips import read_again

TOLERANCE = 1e-12


CASES = [
    *((seed, {}) for seed in range(24) if seed not in (2, 14, 15)),  # which have many rows
    *((seed, {"length": 3, "spreads": True}) for seed in range(300, 312)),
    *((seed, {"length": 3, "spreads": seed % 2 == 1, "models": True}) for seed in (*range(400, 406), 407)),
    *map(slow, range(100, 160), [{"length": 5}] * 60),
    *(
        slow(seed, {"length": 4, "spreads": seed % 4 > 1, "models": seed % 2 == 1, "num_qubits": num_qubits})
        for seed in range(604, 616)
        for num_qubits in (4, 5)
    ),
]
"""Seeds and arguments of random circuits."""


@pytest.mark.parametrize(("seed", "arguments"), CASES)
def test_records_have_the_distribution_of_the_density_matrix(seed: int, arguments: dict[str, Any]) -> None:
    circuit = snc.Circuit(random_leaking_text(seed, **arguments))
    if seed not in range(100, 160) or num_rows(circuit.compile().record_plan()) <= 1 << 12:
        check_records(circuit)


def check_records(circuit: snc.Circuit) -> None:
    assert_records_agree(circuit, leaked_record_distribution, TOLERANCE)


@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        # A leaked qubit is measured as a random bit, each time anew.
        ("LEAKAGE(1) 0\nM 0 0", {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}),
        ("LOSS(1) 0\nMX 0 0", {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}),
        # Resets return it, MR with a random record.
        ("LEAKAGE(1) 0\nR 0\nM 0", {0: 1.0}),
        ("LOSS(1) 0\nMR 0\nM 0", {0: 0.5, 1: 0.5}),
        # RL and RELAX return a leaked qubit completely mixed, and no lost one.
        ("LEAKAGE(1) 0\nRL 0\nM 0 0", {0: 0.5, 3: 0.5}),
        ("LEAKAGE(1) 0\nRELAX(0.5) 0\nM 0 0", {0: 0.375, 3: 0.375, 1: 0.125, 2: 0.125}),
        ("LOSS(1) 0\nRL 0\nM 0 0", {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}),
        # A gate with it depolarizes its partner, and leaves it leaked.
        ("X 1\nLEAKAGE(1) 0\nCX 0 1\nM 1\nRL 1\nM 1", {0: 0.5, 3: 0.5}),
        ("X 1\nLEAKAGE(1) 0\nSWAP 0 1\nM 1 1\nM 0 0", dict.fromkeys((0, 3, 4, 7, 8, 11, 12, 15), 0.125)),
        ("X 1\nLEAKAGE(1) 0\nCX 0 2\nM 1", {1: 1.0}),
        ("LEAKAGE(1) 0\nMZZ 0 1\nM 1", {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}),
        # Other noise on it does nothing to it, and acts on the others.
        ("LEAKAGE(1) 0\nAMPLITUDE_DAMPING(1) 0\nM 0", {0: 0.5, 1: 0.5}),
        ("LEAKAGE(1) 0\nE(1) X0 X1\nM 1", {1: 1.0}),
        # Leakage spreads, or else it moves, which returns the qubit; then the same the other way round.
        ("LEAKAGE(1) 0\nLEAKAGE_SPREAD(0.5, 0, 0, 0) 0 1\nHERALD_LEAKAGE_EVENT(0) 0 1", {1: 0.5, 3: 0.5}),
        ("LEAKAGE(1) 0\nLEAKAGE_SPREAD(0, 1, 0.5, 0) 0 1\nHERALD_LEAKAGE_EVENT(0) 0 1", {1: 0.5, 3: 0.5}),
        ("LEAKAGE(1) 0\nLEAKAGE_SPREAD(0.25, 0, 0.5, 0) 0 1\nHERALD_LEAKAGE_EVENT(0) 0 1", {1: 0.375, 2: 0.375, 3: 0.25}),
        ("LEAKAGE(1) 0\nLEAKAGE_SPREAD(0, 0, 1, 1) 0 1\nHERALD_LEAKAGE_EVENT(0) 0 1", {1: 1.0}),
        ("LOSS(1) 0\nLEAKAGE_SPREAD(1, 1, 1, 1) 0 1\nHERALD_LOSS_EVENT(0) 0 1", {1: 1.0}),
        ("LEAKAGE(1) 1\nLEAKAGE_SPREAD(0, 0, 0, 1) 0 1\nM 1 1", {0: 0.5, 3: 0.5}),
        # Heralds tell which of the two it is.
        ("LEAKAGE(1) 0\nHERALD_LEAKAGE_EVENT(0) 0 1\nHERALD_LOSS_EVENT(0) 0", {1: 1.0}),
        ("LEAKAGE(1) 0\nLOSS(1) 0\nHERALD_LEAKAGE_EVENT(0) 0 1\nHERALD_LOSS_EVENT(0) 0", {4: 1.0}),
        ("LEAKAGE(0.5) 0\nHERALD_LEAKAGE_EVENT(0.25) 0", {0: 0.625, 1: 0.375}),
        # Feedback by a herald.
        ("LEAKAGE(0.5) 0\nHERALD_LEAKAGE_EVENT(0) 0\nCX rec[-1] 1\nM 1", {0: 0.5, 3: 0.5}),
        # Models: gates act as with a mixed qubit, and partners have Pauli errors after that; biased readout;
        # resets that replace no lost qubit.
        ("LEAKAGE_PARTNER(0, 0, 0) 0\nX 1\nLEAKAGE(1) 0\nCZ 0 1\nM 1", {1: 1.0}),
        ("LEAKAGE_PARTNER(0, 0, 0) 0\nX 1\nLEAKAGE(1) 0\nCX 0 1\nM 1", {0: 0.5, 1: 0.5}),
        ("LEAKAGE_PARTNER(0.25, 0.5, 0.25) 0\nLEAKAGE(1) 0\nCZ 0 1\nM 1", {0: 0.25, 1: 0.75}),
        ("LEAKAGE_READOUT(0.75) 0\nLEAKAGE(1) 0\nM 0 !0", {0: 3 / 16, 1: 9 / 16, 2: 1 / 16, 3: 3 / 16}),
        # A reading of a leaked qubit is not misread once more.
        ("LEAKAGE_READOUT(0.75) 0\nLEAKAGE(1) 0\nM(0, 0.5) 0", {0: 0.25, 1: 0.75}),
        ("LEAKAGE_READOUT(0.75) 0\nLOSS(1) 0\nM(0.25) !0", {0: 0.75, 1: 0.25}),
        ("LEAKAGE_READOUT(0.75) 0\nLEAKAGE(0.5) 0\nMX(0.5, 1) 0", {0: 0.5, 1: 0.5}),
        ("LEAKAGE_READOUT(1) 0\nLEAKAGE(1) 0\nMR(0.25, 0.5) 0\nM(0.25, 0.5) 0", {1: 0.75, 3: 0.25}),
        ("LEAKAGE_READOUT(1) 0\nLEAKAGE(1) 0\nMPP(0.5, 1) Z0 !Z0", {1: 1.0}),
        ("LEAKAGE_READOUT(0.5) 0\nLEAKAGE(1) 0\nM(0, 0.5) 0", {0: 0.5, 1: 0.5}),
        ("LEAKAGE(1) 0\nM(0, 0.5) 0", {0: 0.75, 1: 0.25}),  # a random outcome is misread like any other
        ("LEAKAGE_READOUT(1) 0\nH 0\nM 0 0\nLOSS(1) 0\nMR 0\nM 0", {4: 0.5, 7: 0.5}),
        ("LOSS(1) 0\nLOSS_REPLACEMENT(0.5) 0\nLEAKAGE_READOUT(1) 0\nR 0\nM 0 0", {0: 0.5, 3: 0.5}),
        ("LOSS_REPLACEMENT(0) 0\nLEAKAGE(1) 0\nR 0\nM 0", {0: 1.0}),
        # A second leakage does nothing.
        ("LEAKAGE(0.5) 0\nLEAKAGE(0.5) 0\nHERALD_LEAKAGE_EVENT(0) 0", {0: 0.25, 1: 0.75}),
    ],
)  # fmt: skip
def test_what_leaked_qubits_do(text: str, distribution: dict[int, float]) -> None:
    circuit = snc.Circuit(text)
    found = exact_outputs(circuit.compile().record_plan()).kept
    assert largest_difference(found, distribution) < TOLERANCE
    expected = {mask_of(record): p for record, p in leaked_record_distribution(circuit.to_stim()).items()}
    assert largest_difference(expected, distribution) < TOLERANCE


@pytest.mark.parametrize("seed", range(6))
def test_kept_shots_have_the_distribution_of_the_density_matrix(seed: int) -> None:
    """Detectors of random sums of records; two of them discard shots."""
    rng = np.random.default_rng([7, seed])
    text = random_leaking_text(200 + seed)
    num_records = snc.Circuit(text).num_measurements
    sums = [rng.choice(num_records, size=rng.integers(1, 3), replace=False) for _ in range(4)]
    lines = [" ".join(["DETECTOR", *(f"rec[{k - num_records}]" for k in each)]) for each in sums]
    circuit = snc.Circuit("\n".join([text, *lines]))
    compiled = circuit.compile()
    expected = dict.fromkeys(range(4), 0.0)
    for records, p in leaked_record_distribution(snc.Circuit(text).to_stim()).items():
        parities = [sum(records[k] for k in each) % 2 for each in sums]
        if not parities[0] and not parities[1]:
            expected[parities[2] + 2 * parities[3]] += p
    plan = compiled.detector_plan(RequestedOutputs.of([2, 3], [0, 1]), skip_reference_sample=True)
    found = exact_outputs(plan)
    assert largest_difference(found.kept, expected) < TOLERANCE
    assert found.discarded == pytest.approx(1 - sum(expected.values()), abs=1e-9)


def test_long_loops_of_gates_alone() -> None:
    circuit = snc.Circuit("LEAKAGE(1) 0\nREPEAT 2000 {\n    CX 0 1\n}\nM 1 2")  # no power of a gate
    assert exact_outputs(circuit.compile().record_plan()).kept == pytest.approx({0: 0.5, 1: 0.5})


def test_text_files_and_what_stim_does(tmp_path: Path) -> None:
    text = (
        "LEAKAGE(0.0012345678901) 0 2\nLOSS(0.1) 1\nRELAX(0.5) 0\nRL 2\n"
        "HERALD_LEAKAGE_EVENT(0.01) 0 2\nHERALD_LOSS_EVENT(0.0) 1\nM 0"
    )
    circuit = read_again(text, tmp_path)
    assert circuit.num_measurements == 4
    assert not circuit.to_stim().compile_sampler().sample(10).any()
    noiseless = circuit.without_noise()
    assert "MPAD[HERALD_LEAKAGE_EVENT(p=0.01)] 0 0" in str(noiseless)
    assert not noiseless.compile_sampler(seed=1).sample(10).any()
    assert snc.Circuit(str(noiseless)) == noiseless


def test_gates_in_which_leakage_spreads_are_two_instructions(tmp_path: Path) -> None:
    """Deltakit's form, and the tag on a gate, in text, in a ``stim.Circuit`` and in ``append``."""
    circuit = snc.Circuit(
        "LEAKAGE(1) 0\nREPEAT 2 {\n    CX(0.3, 0.2, 0.5, 0) 0 1 2 3 1 2\n}\nHERALD_LEAKAGE_EVENT(0) 0 1 2 3"
    )
    read_again(str(circuit), tmp_path)
    spread = "LEAKAGE_SPREAD(0.3, 0.2, 0.5, 0.0)"
    body = f"CX 0 1 2 3\n    {spread} 0 1 2 3\n    CX 1 2\n    {spread} 1 2\n"
    assert str(circuit).split("{")[1].split("}")[0].strip() == body.strip()
    check_records(circuit)
    tagged = stim.CircuitInstruction(
        "CX", [0, 1, 2, 3, 1, 2], tag="LEAKAGE_SPREAD(s01=0.3,s10=0.2,m01=0.5,m10=0)"
    )
    appended = snc.Circuit()
    appended.append(tagged)
    appended.append("zcx", [1, 2], [0.3, 0.2, 0.5, 0])
    appended.insert(
        0, stim.CircuitInstruction("SQRT_XX", [0, 1], tag="LEAKAGE_SPREAD(s01=1,s10=0,m01=0,m10=0)")
    )
    assert [part.name for part in appended] == ["SQRT_XX", "II_ERROR", *["CX", "II_ERROR"] * 3]
    from_stim = stim.Circuit()
    from_stim.append(tagged)
    assert snc.Circuit(from_stim) == appended[2:6]
    assert str(appended.without_noise()) == "SQRT_XX 0 1\nCX 0 1 2 3 1 2 1 2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LEAKAGE(0.1) 0\nM 0\nC_CS rec[-1] 0 1", "Line 3: .*a gate on several qubits that a record controls"),
        ("LEAKAGE(0.1) 0\nCX(0.1) 0 1", r"Line 2: .* With four probabilities, CX\(s01, s10, m01, m10\)"),
        ("M 0\nCX(0.1, 0, 0, 0) rec[-1] 1", "Line 2: .*Leakage spreads between qubits"),
        ("CX(0.1, 0, 0, 2) 0 1", "Line 1: .*the probability must be from 0 to 1, but is 2.0"),
        ("CZ[LEAKAGE_SPREAD(p=0.1)] 0 1", "Line 1: .*Malformed tag .* it is written II_ERROR"),
        ("HERALD_LOSS_EVENT(0.1) 1 !0", "Line 1: .*HERALD_LOSS_EVENT cannot be inverted"),
        ("CX[a](0.1, 0, 0, 0) 0 1", "CX with four probabilities cannot have a tag"),
        ("LOSS(0.1) 1\nLEAKAGE_READOUT(0) 0\nLEAKAGE_READOUT(0.5) 1 0", "LEAKAGE_READOUT of qubit 0 is given twice"),
        ("LEAKAGE_PARTNER(0.5, 0.5, 0.1) 0", "Line 1: .* add up to 1.1, which is more than 1"),
        ("LEAKAGE_SPREAD(0.1, 0, 0, 2) 0 1", "the probability must be from 0 to 1, but is 2.0"),
        ("LEAKAGE_SPREAD(0.1) 0 1", r"takes 4 arguments \(s01, s10, m01, m10\)"),
        ("LEAKAGE_SPREAD(0.1, 0, 0, 0) 0", "Line 1: .*targets"),
        ("LOSS(0.1) 0\nOBSERVABLE_INCLUDE(0) X0", "Line 2: .*a qubit that decays or leaks is none"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        snc.Circuit(text).compile_sampler(seed=1)


def test_the_twirl_of_leakage_has_faults() -> None:
    text = "R 0\nX_ERROR(0.01) 0\nLEAKAGE(0.01) 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    assert len(snc.Circuit(text).pauli_twirl().faults()) == 4


def test_error_models_have_the_marginals() -> None:
    """Each error of a leaked qubit has the probability that it is leaked there."""
    text = """
        LEAKAGE(0.5) 0
        CX 0 1
        HERALD_LEAKAGE_EVENT(0.2) 0
        LEAKAGE(0.5) 0
        CX 0 2
        T 2
        M 0
        RELAX(0.25) 0
        MR 1 2 0
        DETECTOR rec[-5]
        DETECTOR rec[-3]
        DETECTOR rec[-2]
        DETECTOR rec[-1] rec[-4]
    """
    circuit = snc.Circuit(text)
    twirled = circuit.pauli_twirl()
    expected = """
        CX 0 1
        DEPOLARIZE1(0.375) 1
        MPAD(0.4) 0
        CX 0 2
        DEPOLARIZE1(0.5625) 2
        T 2
        DEPOLARIZE1(0.5625) 0
        M 0
        DEPOLARIZE1(0.140625) 0
        MR 1
        MR 2
        DEPOLARIZE1(0.421875) 0
        MR 0
    """
    assert twirled.without_tags().approx_equals(
        snc.Circuit(expected + "\n".join(text.split("\n")[-5:])), atol=1e-12
    )
    rare = snc.Circuit(text.replace("0.5", "0.005"))
    detectors = ((0,), (2,), (3,), (4, 1))  # their records
    expected_rates = [0.0] * 4
    for records, p in leaked_record_distribution(rare.to_stim()).items():
        for k, each in enumerate(detectors):
            expected_rates[k] += p * (sum(records[r] for r in each) % 2)
    assert expected_rates == pytest.approx([0.004, 0.0025, 0.005, 0.005], rel=0.2)
    for kind in ("s_proxy", "noise_only"):
        model = rare.detector_error_model(kind=kind, approximate_disjoint_errors=True)
        assert flip_rates(model) == pytest.approx(expected_rates, abs=3e-5)  # of second order
        # The herald announces the error of qubit 1 before it, and that of qubit 2 behind it.
        together = {tuple(sorted(t.val for t in e.targets_copy())) for e in model if e.type == "error"}
        assert (0, 1) in together
        assert (0, 2) in together
    rates = [(0.4, 0), (0.25, 1), (0.375, 2), (0.375, 3)]
    exact = circuit.compile_detector_sampler(seed=5).sample(200_000).mean(axis=0)
    # Six standard errors: significance 1e-8.
    np.testing.assert_allclose(exact, [rate for rate, _ in rates], atol=6 * 0.5 / 200_000**0.5)
    sampled = twirled.compile_detector_sampler(seed=5).sample(200_000).mean(axis=0)
    np.testing.assert_allclose(sampled[:3], exact[:3], atol=12 * 0.5 / 200_000**0.5)


def test_error_models_have_the_marginals_of_models() -> None:
    """Clifford gates: the Paulis of a partner are those that the gate makes of a random one, and the model's."""
    circuit = snc.Circuit(
        "LEAKAGE_PARTNER(0.125, 0, 0.25) 0\nLOSS_REPLACEMENT(0.25) 0\nLOSS(0.5) 0\nCX 0 1\nCX 1 0\nR 0\nM 0"
    )
    expected = """
        CX 0 1
        PAULI_CHANNEL_1(0.1875, 0.0625, 0.0625) 1
        CX 1 0
        PAULI_CHANNEL_1(0.03125, 0.03125, 0.21875) 1
        R 0
        DEPOLARIZE1(0.28125) 0
        M 0
    """
    assert circuit.pauli_twirl().without_tags().approx_equals(snc.Circuit(expected), atol=1e-12)


def test_heralds_announce_the_errors_of_partners_in_models() -> None:
    """Each error has the rate that it has without heralds, and most of them flip the herald, whose rate is its own."""
    text = "RX 2\nLEAKAGE_PARTNER(0.1, 0.3, 0.2) 0\nLEAKAGE(0.02) 0\nCX 0 1\nCZ 0 2\nHERALD_LEAKAGE_EVENT(0.05) 0\nR 0"
    circuit = snc.Circuit(f"{text}\nM 1\nMX 2\nDETECTOR rec[-3]\nDETECTOR rec[-2]\nDETECTOR rec[-1]")
    rates: dict[str, float] = {}
    chains: list[float] = []  # the rate of the flag in each chain
    nothing = 1.0
    for part in with_averaged_leakage(circuit.to_stim(), flags=True):
        if part.name == "E":
            nothing = 1.0
            chains.append(0.0)
        if part.name in ("E", "ELSE_CORRELATED_ERROR"):
            error, *flag = part.targets_copy()
            p = nothing * part.gate_args_copy()[0]
            nothing -= p
            rates[f"{error.pauli_type}{error.value}"] = rates.get(f"{error.pauli_type}{error.value}", 0.0) + p
            chains[-1] += p * len(flag)
    paulis = {"X1": 0.25, "Y1": 0.25, "Z1": 0.25, "X2": 0.2, "Y2": 0.2, "Z2": 0.3}
    assert rates == pytest.approx({error: 0.02 * p for error, p in paulis.items()}, abs=1e-12)
    assert pytest.approx((1 - 2 * chains[0]) * (1 - 2 * chains[1]), abs=1e-12) == 1 - 2 * 0.019
    for kind in ("s_proxy", "noise_only"):
        model = circuit.detector_error_model(kind=kind, approximate_disjoint_errors=True)
        # The model takes errors that exclude each other for independent ones: a difference of second order.
        assert flip_rates(model) == pytest.approx([0.019, 0.01, 0.01], abs=2e-4)
        errors = {
            tuple(sorted(t.val for t in e.targets_copy())): e.args_copy()[0]
            for e in model
            if e.type == "error"
        }
        assert errors[0, 1] > errors[1,]
        assert errors[0, 2] > errors[2,]
    # A correlated error would end a chain of others: between them no error is announced.
    chain = snc.Circuit(f"E(0.5) X3\n{text}\nELSE_CORRELATED_ERROR(0.5) X4").to_stim()
    names = [part.name for part in with_averaged_leakage(chain, flags=True)]
    assert (names.count("E"), names.count("PAULI_CHANNEL_1")) == (1, 2)


def test_other_seeds_and_circuits_are_not_concerned() -> None:
    """RL, RELAX and heralds change no shot of a circuit in which no qubit leaks."""
    plain = snc.Circuit("H 0\nT 0\nDEPOLARIZE1(0.1) 0\nMX(0.1) 0 0\nX_ERROR(0.3) 1\nM 1")
    other = snc.Circuit("RL 0\nH 0\nT 0\nRELAX(0.5) 0\nDEPOLARIZE1(0.1) 0\nMX(0.1) 0 0\nX_ERROR(0.3) 1\nM 1")
    shots = [circuit.compile_sampler(seed=3).sample(1000) for circuit in (plain, other)]
    np.testing.assert_array_equal(*shots)
