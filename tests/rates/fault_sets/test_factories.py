"""Rates of factories: wide vectors, states that only kept shots have, random checks."""

import warnings

import pytest
import stim

import stim_nonclifford as snc
from benchmarks.workloads import mirrored
from stim_nonclifford.base.errors import RandomObservableWarning, ResourceLimitError
from stim_nonclifford.circuit.logical_states import LogicalStateCheck
from stim_nonclifford.generators.distillation import distillation_circuit

from ...support.rates.factories import bravyi_haah, five_to_one

ROOT = 3**-0.5


def test_rounding_makes_no_fault_malignant() -> None:
    """At width 24, sums of 2^24 numbers are off by 2e-13. A code of distance 2 has no malignant fault."""
    circuit = bravyi_haah(22, 1e-3)
    assert circuit.plan().peak_width == 24
    assert circuit.malignant_sets(postselection_mask="all", max_weight=1) == []


def test_bravyi_haah() -> None:
    """(3k + 1) p^2 undetected pairs (Bravyi, Haah): the leading term of P(kept and any output wrong)."""
    p, k = 1e-5, 4
    found = bravyi_haah(k, p).logical_error_rate(postselection_mask="all")
    assert bravyi_haah(k, p).fault_distance(postselection_mask="all").value == 2
    pairs = bravyi_haah(k, p).malignant_sets(postselection_mask="all", max_weight=2)
    assert found.kept_and_wrong == pytest.approx(len(pairs) * p**2, rel=1e-3)


def test_an_error_that_is_small_enough_ends_the_search() -> None:
    """The sets of twenty mechanisms are 2^20; few of them are looked at, and the rest is bounded."""
    found = bravyi_haah(4, 1e-3).logical_error_rate(postselection_mask="all", relative_error=1e-4)
    assert found.relative_error < 1e-4
    assert len(found.strata) < 12
    assert found.interval[0] <= 2.2204566937130863e-05 <= found.interval[1]  # all 2^20 sets


def test_the_state_of_kept_shots_is_checked() -> None:
    """The likeliest shot has another one: of five-to-one, postselection keeps one in six."""
    circuit = five_to_one(1e-3)
    right = LogicalStateCheck((0, 1, 2), (), (-ROOT, -ROOT, -ROOT))
    rate = circuit.logical_error_rate(postselection_mask="all", state_check=right)
    assert rate.kept == pytest.approx(1 / 6, rel=0.01)
    assert rate.logical_error_rate < 1e-5
    for signs in ((1, 1, 1), (-1, 1, 1)):
        wrong = LogicalStateCheck((0, 1, 2), (), tuple(sign * ROOT for sign in signs))
        with pytest.raises(ValueError, match=r"X4 = -0\.5774, Y0\S+ = -0\.5774, Z0\S+ = -0\.5774"):
            circuit.logical_error_rate(postselection_mask="all", state_check=wrong)


@pytest.mark.parametrize("state", ["X", "Y", "Z", "T_DAG"])
def test_a_state_that_is_not_prepared_is_named_as_the_user_does(state: str) -> None:
    circuit = snc.Circuit("RX 0\nT 0\nX_ERROR(0.001) 0\nEXP_VAL X0 Y0 Z0")
    for ask in (circuit.logical_error_rate, circuit.fault_distance, circuit.malignant_sets):
        with pytest.raises(
            ValueError, match=rf"kept shots are in the state {state}: .*[XYZ]0 = 0\."
        ) as refusal:
            ask(state_check=state)
        assert "bservable" not in str(refusal.value)
        assert "line" not in str(refusal.value)
    assert circuit.logical_error_rate(state_check="T").logical_error_rate == pytest.approx(5e-4)


def test_what_is_wrong_without_faults() -> None:
    """A state that is off by 0.02 half-turns is wrong with probability sin(0.01 pi)^2, whatever faults do."""
    circuit = snc.Circuit("RX 0\nR_Z(0.02) 0\nZ_ERROR(1e-5) 0\nEXP_VAL X0 Y0")
    with pytest.warns(RandomObservableWarning, match=r"0\.000986\d+ of the logical error rate .*state_check"):
        rate = circuit.logical_error_rate(state_check="X")
    assert rate.without_faults == pytest.approx(9.8663e-4, rel=1e-4)
    assert "without any fault" in str(rate)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noisy = snc.Circuit("RX 0\nR_Z(0.02) 0\nZ_ERROR(0.01) 0\nEXP_VAL X0 Y0").logical_error_rate(
            state_check="X"
        )
    assert 0 < noisy.without_faults < 0.1 * noisy.logical_error_rate


@pytest.mark.parametrize(("target", "raw"), [("0", 0.654508), ("!0", 0.345492)])
def test_a_random_check_keeps_its_likelier_outcome_or_0(target: str, raw: float) -> None:
    """cos(0.2 pi)^2 is the probability of +; samplers take the same argument."""
    circuit = snc.Circuit(
        f"RX 0\nR_Z(0.4) 0\nMX {target}\nDETECTOR rec[-1]\nR 1\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    for skip, kept in ((False, 0.654508), (True, raw)):
        rate = circuit.logical_error_rate(postselection_mask="all", skip_reference_sample=skip)
        assert rate.kept == pytest.approx(kept, abs=1e-6)
        sampler = circuit.compile_detector_sampler(
            seed=5, postselection_mask="all", skip_reference_sample=skip
        )
        counts = sampler.sample_counts(10**5)
        assert 1 - counts.discards / counts.shots == pytest.approx(kept, abs=0.01)
    [pair] = snc.logical_error_rates([circuit], postselection_mask="all", skip_reference_sample=True)
    assert pair.kept == pytest.approx(raw, abs=1e-6)


def test_raw_parities_may_be_1_without_noise() -> None:
    """As for samplers, an observable of 1 is then a flip, and a detector of 1 discards every shot."""
    one = snc.Circuit("R 0\nX 0\nX_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert one.logical_error_rate().logical_error_rate == pytest.approx(0.1)
    assert one.logical_error_rate(skip_reference_sample=True).logical_error_rate == pytest.approx(0.9)
    assert one.fault_distance(skip_reference_sample=True).value == 0
    assert one.malignant_sets(skip_reference_sample=True)[0].faults == ()
    never = one + stim.Circuit("R 0\nX 0\nM 0\nDETECTOR rec[-1]")
    with pytest.raises(ValueError, match="No shot is ever kept"):
        never.logical_error_rate(postselection_mask="all", skip_reference_sample=True)
    with pytest.raises(ValueError, match="skip_reference_sample or decoder"):
        one.logical_error_rate(decoder="pymatching", skip_reference_sample=True)


@pytest.mark.parametrize("teleported", [False, True])
@pytest.mark.parametrize("k", [8, 70])
def test_pairs_of_a_factory_of_any_width(k: int, teleported: bool) -> None:
    """3k(k - 1)/2 + 4 pairs make some output wrong (Bravyi, Haah). With k = 70, more coordinates are active than a word has bits.

    Gates that are teleported have random records, on which nothing depends.
    """
    p = 1e-6
    circuit = snc.Circuit(distillation_circuit("3k+8-to-k", k=k, t_error=p, teleported=teleported))
    assert circuit.plan().peak_width in (k + 2, k + 3)
    pairs = circuit.malignant_sets(postselection_mask="all", max_weight=2)
    assert len(pairs) == 3 * k * (k - 1) // 2 + 4
    found = circuit.logical_error_rate(postselection_mask="all")
    assert found.kept_and_wrong == pytest.approx(len(pairs) * p**2, rel=1e-3)


def test_wide_circuits_are_told_what_exists_here() -> None:
    """Rotations that no elimination replaces; no call has an argument that raises the limit, and no plan exists."""
    circuit = mirrored(66, 1e-3)
    for ask in (circuit.logical_error_rate, circuit.fault_distance, circuit.malignant_sets):
        with pytest.raises(ResourceLimitError, match=r"needs 66 active .* A circuit is narrower") as error:
            ask(postselection_mask="all")
        assert "Raise it" not in str(error.value)
        assert "circuit.plan()" not in str(error.value)


def test_wide_cores_are_told_what_exists_here() -> None:
    """The product of 26 T states has no form without a vector: 25 coordinates, one more than the limit."""
    qubits, product = " ".join(map(str, range(26))), "*".join(f"X{k}" for k in range(26))
    circuit = snc.Circuit(
        f"RX {qubits}\nT {qubits}\nX_ERROR(0.01) 26\nMPP {product}\nDETECTOR rec[-1]\nM 26\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    for ask in (circuit.logical_error_rate, circuit.fault_distance, circuit.malignant_sets):
        with pytest.raises(
            ResourceLimitError,
            match=r"needs 25 active .* compile_detector_sampler\(max_active_coordinates=25",
        ) as error:
            ask(postselection_mask="all")
        assert "Raise it" not in str(error.value)
    circuit.compile_detector_sampler(max_active_coordinates=25)


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("R 0\nTICK\nM(0.1, 0.2) 0", "Line 3: `M`", "misread .* the mean probability"),
        ("RX 0\nREPEAT 2 {\nAMPLITUDE_DAMPING(0.1) 0\n}\nMX 0", "Line 3: `AMPLITUDE_DAMPING`", "decays"),
        ("R 0\nLOSS(0.1) 0\nM 0", "Line 2: `LOSS`", "leaks or is lost"),
        ("R 0\nM(0.1, 0.2) 0\nRX 0\nAMPLITUDE_DAMPING(0.1) 0\nMX 0", "Line 2: `M`", "misread"),
    ],
)
def test_noise_that_is_no_pauli_error_is_named(text: str, place: str, what: str) -> None:
    """What helps does: the twirl has a rate, and the sampler counts."""
    circuit = snc.Circuit(f"{text}\nOBSERVABLE_INCLUDE(0) rec[-1]")
    with pytest.raises(ValueError, match=f"{place}: .*{what}"):
        circuit.logical_error_rate()
    assert 0 < circuit.pauli_twirl().logical_error_rate().logical_error_rate < 0.5
    assert circuit.compile_detector_sampler(seed=1).sample_counts(1000).errors > 0
