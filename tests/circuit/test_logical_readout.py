"""The noiseless readout of a logical state, in the place of its expectation values."""

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.stats
import stim

import stim_nonclifford as snc
from stim_nonclifford import LogicalStateCheck
from stim_nonclifford.circuit.logical_states import read_out
from stim_nonclifford.generators.cultivation import end_to_end_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs

from ..support.laws.exact import exact_outputs

FALSE_ALARM = 1e-7
ROOT = 0.5**0.5
NAMES = ["T", "T_DAG", "X", "-X", "Y", "-Y", "Z", "-Z"]
VECTORS = dict(
    zip(
        NAMES,
        [
            (ROOT, ROOT, 0),
            (ROOT, -ROOT, 0),
            *(tuple(s * (k == n) for n in range(3)) for k in range(3) for s in (1, -1)),
        ],
        strict=True,
    )
)


def wrong(circuit: snc.Circuit) -> float:
    """The exact probability that the observable is 1, without noise."""
    return circuit.outcome_probabilities([]).kept_and_wrong


def encoded(random: np.random.Generator) -> tuple[str, list[stim.PauliString]]:
    """A random state of one qubit in a random code of three, and its logical X, Y and Z."""
    tableau = stim.Tableau.random(3)
    angles = random.uniform(-1, 1, 3)
    gates = "".join(f"R_{axis}({angle}) 0\n" for axis, angle in zip("ZYX", angles, strict=True))
    paulis = [tableau(stim.PauliString(f"{letter}__")) for letter in "XYZ"]
    signs = random.choice([1, -1], 3)
    paulis = [pauli * int(sign) for pauli, sign in zip(paulis, signs, strict=True)]
    return f"{gates}{tableau.to_circuit()}\n", paulis


def targets(pauli: stim.PauliString) -> str:
    text = "*".join(f"{'_XYZ'[pauli[k]]}{k}" for k in pauli.pauli_indices())
    return f"{'!' if pauli.sign == -1 else ''}{text}"


@pytest.mark.parametrize("seed", range(8))
def test_the_readout_is_wrong_with_one_minus_the_fidelity(seed: int) -> None:
    """Exactly, for random states of random codes and random Bloch vectors of one, two and three parts."""
    random = np.random.default_rng(seed)
    text, paulis = encoded(random)
    circuit = snc.Circuit(f"{text}EXP_VAL {' '.join(map(targets, paulis))}")
    _, values = circuit.compile_sampler().sample_expectation_values(1)
    for count in (1, 2, 3):
        for chosen in itertools.permutations(range(3), count):
            vector = random.normal(size=count)
            vector /= np.linalg.norm(vector)
            check = LogicalStateCheck(chosen, (), tuple(vector.tolist()))
            fidelity = (1 + vector @ values[0, list(chosen)]) / 2
            readout = snc.Circuit(read_out(circuit.to_stim(), check, 0)[0])
            # Flips are against the likelier outcome, raw parities are not.
            assert wrong(readout) == pytest.approx(min(fidelity, 1 - fidelity), abs=1e-9)
            observable = RequestedOutputs.of([readout.num_detectors])
            plan = readout.compile().detector_plan(observable, skip_reference_sample=True)
            assert exact_outputs(plan).kept.get(1, 0.0) == pytest.approx(1 - fidelity, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    rotations = {"T": "T 0", "T_DAG": "T_DAG 0", "-X": "Z 0", "Y": "S 0", "-Y": "S_DAG 0"}
    preparation = {"Z": "R 0", "-Z": "R 0\nX 0"}.get(name, f"RX 0\n{rotations.get(name, '')}")
    circuit = snc.Circuit(f"{preparation}\nEXP_VAL Z0 X0 Y0")  # in another order
    assert wrong(circuit.with_logical_readout(name)) == pytest.approx(0, abs=1e-12)  # type: ignore[arg-type]
    for other in NAMES:
        fidelity = (1 + np.dot(VECTORS[name], VECTORS[other])) / 2
        if fidelity == 0.5:
            continue
        if fidelity > 0.5:
            found = wrong(circuit.with_logical_readout(other))  # type: ignore[arg-type]
            assert found == pytest.approx(1 - fidelity, abs=1e-12)
        else:
            with pytest.raises(ValueError, match=f"Without noise the state is no nearer to {other} than"):
                circuit.with_logical_readout(other)  # type: ignore[arg-type]


def test_y_of_a_surface_code_is_the_product_of_x_and_z() -> None:
    circuit = snc.Circuit("RX 0\nT 0\nEXP_VAL X0*X1*X2 X0*X1*Y2*Z3*Z4 Z2*Z3*Z4")
    text = str(circuit.with_logical_readout("T"))
    assert "TPP_DAG !X0*X1*X2" not in text
    assert "MPP X0*X1*X2" in text
    assert "TPP_DAG Z2*Z3*Z4" in text or "TPP !Z2*Z3*Z4" in text


@pytest.mark.parametrize("turned", ["", "X 3"])
@pytest.mark.parametrize("moved", ["", "M 4"])
def test_records_that_say_in_which_frame_the_state_is(turned: str, moved: str) -> None:
    """Exact rates: an unseen Z is wrong, a wrong record half wrong. `X 3` gives the record the value 1."""
    unseen, readout = 0.05, 0.1
    circuit = snc.Circuit(f"""
        RX 1
        T 1
        R 2 3
        H 3
        CX 3 1
        {turned}
        M({readout}) 3
        {moved}
        OBSERVABLE_INCLUDE(1) rec[-{2 if moved else 1}]
        E(0.2) Z1 X2
        Z_ERROR({unseen}) 1
        M 2
        EXP_VAL X1 Y1
        OBSERVABLE_INCLUDE(0) X1
        OBSERVABLE_INCLUDE(1) Y1
        DETECTOR rec[-1]
    """)
    expected = unseen * (1 - readout) + 0.5 * readout
    # With `X 3`, the reference sample has the coin at 0 and an X on the qubit: Y is turned around in it.
    state: Any = "T_DAG" if turned else "T"
    assert circuit.with_logical_readout(state).num_observables == 1
    rate = circuit.logical_error_rate(postselection_mask="all", state_check=state)
    assert rate.logical_error_rate == pytest.approx(expected, abs=1e-12)
    assert rate.kept == pytest.approx(0.8)
    counts = circuit.compile_detector_sampler(
        seed=1, state_check=state, postselection_mask="all"
    ).sample_counts(100_000)
    assert scipy.stats.binomtest(counts.errors, counts.kept, expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize("frames", list(itertools.product([0, 1], repeat=2)))
def test_frames_of_three_paulis(frames: tuple[int, int]) -> None:
    vector = (0.48, 0.6, 0.64)
    x, y = frames
    circuit = snc.Circuit(f"""
        RX 0 1 2
        M 1 2
        R_Y({-math.asin(0.64) / math.pi}) 0
        R_Z({math.atan2(0.6, 0.48) / math.pi}) 0
        {"CZ rec[-2] 0" if x else ""}
        {"CX rec[-1] 0" if y else ""}
        EXP_VAL X0 Y0 Z0
        OBSERVABLE_INCLUDE(0) X0 {"rec[-2]" if x else ""}
        OBSERVABLE_INCLUDE(1) Y0 {"rec[-2]" if x else ""} {"rec[-1]" if y else ""}
        OBSERVABLE_INCLUDE(2) Z0 {"rec[-1]" if y else ""}
    """)
    check = LogicalStateCheck((0, 1, 2), (0, 1, 2), vector)
    readout = circuit.with_logical_readout(check)
    assert readout.num_observables == 1
    assert readout.compile_detector_sampler(seed=1).sample_counts(1000).errors == 0
    wrong_records = snc.Circuit(
        str(circuit).replace("OBSERVABLE_INCLUDE(2) Z0", "OBSERVABLE_INCLUDE(2) rec[-1] Z0")
    )
    with pytest.raises(ValueError, match="contradict each other"):
        wrong_records.with_logical_readout(check)


def test_what_follows_sees_the_same_records() -> None:
    text = """
        R 0 1 2
        X_ERROR(0.25) 1
        M 1
        EXP_VAL Z0
        OBSERVABLE_INCLUDE(3) Z0
        M 2
        REPEAT 2 {
            MZZ 0 1
        }
        DETECTOR(5) rec[-1] rec[-2]
        DETECTOR rec[-2] rec[-4]
        CX rec[-3] 2 rec[-4] 2
        M 2
        DETECTOR rec[-1] rec[-5]
        OBSERVABLE_INCLUDE(0) rec[-5]
    """
    circuit = snc.Circuit(text)
    readout = circuit.with_logical_readout("Z")
    assert (readout.num_detectors, readout.num_observables) == (3, 4)
    assert readout.to_stim().get_detector_coordinates()[0] == [5.0]
    both = [
        each.compile_detector_sampler(seed=1).sample(5000, append_observables=True)
        for each in (circuit, readout)
    ]
    assert (
        both[0].any(axis=0).tolist()
        == both[1].any(axis=0).tolist()
        == [False, False, False, True, False, False, False]
    )
    assert both[0].mean(axis=0) == pytest.approx(both[1].mean(axis=0), abs=0.05)


@pytest.mark.parametrize(
    ("text", "state", "message"),
    [
        ("RX 0", "T", "needs the expectation value of the logical X, but the circuit asks for none"),
        ("RX 0\nEXP_VAL X0 Z0", "T", "logical Y. The circuit has EXP_VAL of X0, Z0: none of them is recognized"),
        ("RX 0 1\nEXP_VAL X0 X1 Y0", "T", "2 products of X alone"),
        ("EXP_VAL X0*Z1 Z0*X1 Y0*Y1", "X", "Say which ones are meant"),
        ("RX 0\nT 0\nEXP_VAL X0 Y0", "H", "state_check must be 'T', 'T_DAG', .* or '-Z', or a LogicalStateCheck, but is 'H'"),
        ("RX 0\nT 0\nEXP_VAL X0 Y1", "T", "are not those of two logical Paulis of one qubit"),
        ("RX 0\nT 0\nEXP_VAL X0 Y0\nOBSERVABLE_INCLUDE(0) X0", "T", "No observable has the Pauli targets Y0"),
        (
            "RX 0\nT 0\nEXP_VAL X0 Y0\nOBSERVABLE_INCLUDE(0) Y0\nOBSERVABLE_INCLUDE(1) X0",
            LogicalStateCheck((0, 1), (0, 1), (ROOT, ROOT)),
            "Observable 0 has the Pauli targets Y0, which do not belong to the expectation value of X0",
        ),
        ("RX 0\nT 0\nEXP_VAL X0 Y0", LogicalStateCheck((1,), (), (2**0.5,)), "no measurement answers it"),
        ("RX 0\nT 0\nEXP_VAL X0\nT 0\nEXP_VAL Y0", "T", "`S.T. 0` stands among the expectation values"),
        ("RX 0\nT 0\nEXP_VAL X0\nZ_ERROR(0.1) 0\nEXP_VAL Y0", "T", "stands among the expectation values"),
        ("RX 0\nT 0\nEXP_VAL X0 Y0\nMX 0", "T", "`MX 0` follows the expectation values"),
        ("RX 0\nT 0\nEXP_VAL X0 Y0\nR 0", "T", "`R 0` follows the expectation values"),
        ("RX 0\nT 0\nEXP_VAL X0 Y0\nH 0", "T", "`H 0` follows the expectation values"),
        ("RX 0\nT 0\nEXP_VAL X0 Y0\nREPEAT 2 {\nMPP Z0*Z1\n}", "T", "`MPP Z0.Z1 Z0.Z1` follows"),
        (
            "RX 0\nT 0\nEXP_VAL X0 Y0\nOBSERVABLE_INCLUDE(0) X0\nOBSERVABLE_INCLUDE(1) Y0\nM 1\n"
            "OBSERVABLE_INCLUDE(0) rec[-1]",
            "T",
            "depends on records that come after its expectation values",
        ),
        ("RX 0\nT_DAG 0\nEXP_VAL X0 Y0\nM 1", "-X", r"than to the orthogonal one: X0 = 0.7071. Ask for the"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_out(text: str, state: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        snc.Circuit(text).with_logical_readout(state)


def test_noise_and_checks_may_follow() -> None:
    circuit = snc.Circuit(
        "RX 0 1\nT 0\nEXP_VAL X0*X1 Y0*X1\nDEPOLARIZE1(0.3) 0 1\nMX(0.1) 1\nH 2\nCX rec[-1] 0\nR 2"
    )
    assert wrong(circuit.with_logical_readout("T")) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_end_to_end_by_one_argument() -> None:
    """The flips of the frame, 9.35e-5, are no logical errors. An error of 1e-5, seed 3: 5.14339(4)e-6."""
    arguments: dict[str, Any] = {"postselected_rounds": 1, "rounds": 1}
    read = snc.Circuit(end_to_end_circuit(3, 7, 1e-3, **arguments))
    asked = snc.Circuit(end_to_end_circuit(3, 7, 1e-3, **arguments, readout="expectation_values"))
    by_readout = read.logical_error_rate(postselection_mask="all", relative_error=1e-3, seed=1)
    by_check = asked.logical_error_rate(
        postselection_mask="all", state_check="T", relative_error=1e-3, seed=1
    )
    assert abs(by_readout.logical_error_rate - 5.14339e-6) < 5 * by_readout.standard_error
    assert by_readout.standard_error < 2e-4 * by_readout.logical_error_rate
    assert by_readout.relative_error <= 1e-3
    assert by_readout.interval[0] < 5.14339e-6 < by_readout.interval[1]
    assert by_check == by_readout
    assert [coordinates[-1] for coordinates in read.to_stim().get_detector_coordinates().values()] == (
        [1.0] * read.num_detectors
    )
    every: Any = {"postselection_mask": "all"}
    [by_family] = snc.logical_error_rates(
        [asked], postselection_mask="all", state_check="T", relative_error=1e-3, seed=1
    )
    assert by_family == by_check
    assert asked.fault_distance(**every, state_check="T") == read.fault_distance(**every)
    malignant = asked.malignant_sets(**every, state_check="T")
    assert [each.kept_and_wrong for each in malignant] == [
        each.kept_and_wrong for each in read.malignant_sets(**every)
    ]
    wrong_probability = sum(each.probability * each.kept_and_wrong for each in malignant)
    assert wrong_probability == pytest.approx(by_check.strata[2].kept_and_wrong, rel=1e-6)
    shares = by_check.error_budget("noise").groups
    assert sum(group.share for group in shares) == pytest.approx(1)


@pytest.mark.parametrize("sizes", [(3, 5), (3, 9), (5, 7)])
@pytest.mark.parametrize("injection", ["unitary", "bell", "degenerate"])
def test_the_readout_of_the_generator_is_that_of_its_expectation_values(
    sizes: tuple[int, int], injection: Any
) -> None:
    read, asked = (
        snc.Circuit(end_to_end_circuit(*sizes, rounds=1, injection=injection, readout=readout))
        for readout in ("T", "expectation_values")
    )
    checked = asked.with_logical_readout("T").to_stim()
    assert [_without_coordinates(each) for each in checked] == [
        _without_coordinates(each) for each in read.to_stim()
    ]


def _without_coordinates(instruction: Any) -> Any:
    if instruction.name != "DETECTOR":
        return instruction
    return stim.CircuitInstruction("DETECTOR", instruction.targets_copy(), instruction.gate_args_copy()[:-1])


def test_counts_are_those_of_the_rate() -> None:
    circuit = snc.Circuit(
        end_to_end_circuit(3, 5, 3e-3, postselected_rounds=1, rounds=0, readout="expectation_values")
    )
    rate = circuit.logical_error_rate(postselection_mask="all", state_check="T", seed=1)
    sampler = circuit.compile_detector_sampler(seed=3, postselection_mask="all", state_check="T")
    counts = sampler.sample_counts(4_000_000)
    assert counts.errors > 20
    assert scipy.stats.binomtest(counts.errors, counts.kept, rate.logical_error_rate).pvalue > FALSE_ALARM
    copy = pickle.loads(pickle.dumps(sampler))
    assert copy.sample_counts(10_000) == sampler.sample_counts(10_000)


def test_a_state_check_takes_the_place_of_observables() -> None:
    circuit = snc.Circuit("RX 0\nT 0\nM 1\nDETECTOR rec[-1]\nEXP_VAL X0 Y0")
    for call in (circuit.logical_error_rate, circuit.compile_detector_sampler, circuit.malignant_sets):
        with pytest.raises(ValueError, match="A state check takes the place of the observables"):
            call(state_check="T", postselected_observables_mask=[True])
    assert circuit.logical_error_rate(postselection_mask="all", state_check="T").logical_error_rate == 0
