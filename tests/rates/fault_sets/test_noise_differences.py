"""What budgets say of noise that is no Pauli error: where twirled errors came from, and finite differences."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pymatching
import pytest
import stim

import stim_nonclifford as snc

from ...support.oracle.leakage import leaked_record_distribution

CHECKED_TWICE = """
    R 0 1 2
    H 0
    T 0
    LEAKAGE(0.03) 0
    CX 0 1
    TICK
    THERMAL_RELAXATION(0.06, 0.05) 0 1
    CX 0 2 1 2
    MR(0.02, 0.05) 2
    DETECTOR rec[-1]
    TICK
    LOSS(0.02) 1
    AMPLITUDE_DAMPING(0.04) 0 1
    DEPOLARIZE2(0.05) 0 1
    CX 0 2 1 2
    M(0.03) 2
    DETECTOR rec[-1]
    E(0.02) X0 X1
    CX 0 1
    T_DAG 0
    H 0
    M 0
    OBSERVABLE_INCLUDE(0) rec[-1]
"""
LEAVES_FROM_ONE = """
    RX 0
    R 1 2
    T 0
    CX 0 1
    LEAKAGE_FROM_ONE(0.06) 0
    X_ERROR(0.05) 1
    TICK
    LEAKAGE_FROM_11(0.1) 0 1
    CX 0 2 1 2
    AMPLITUDE_DAMPING(0.05) 1
    M(0.02) 2
    DETECTOR rec[-1]
    DEPOLARIZE2(0.05) 0 1
    E(0.02) X0 X1
    CX 0 1
    T_DAG 0
    H 0
    M(0.01, 0.04) 0
    OBSERVABLE_INCLUDE(0) rec[-1]
"""
DECODED = """
    X 0 1 2
    R 3 4
    THERMAL_RELAXATION(0.08, 0.1) 0 1
    LEAKAGE(0.04) 0 1 2
    CX 0 3 1 3 1 4 2 4
    MR(0.03, 0.01) 3
    DETECTOR rec[-1]
    M(0.02) 4
    DETECTOR rec[-1]
    PAULI_CHANNEL_1(0.02, 0.01, 0.03) 0
    KRAUS(0.96, 0, 0.28, 0, -0.28, 0, 0.96, 0) 1
    MX(0.02, 0.06) 3
    M(0.02, 0.06) 0
    OBSERVABLE_INCLUDE(0) rec[-1]
    X_ERROR(0.02) 0
    M 0
    DETECTOR rec[-1] rec[-2]
"""


def exact_rate(
    text: str, predictions: dict[int, bool] | None, *, is_postselected: bool
) -> tuple[float, float]:
    """P(kept) and P(wrong | kept), from density matrices with leaked and lost levels."""
    circuit = snc.Circuit(text).to_stim()
    parities = circuit.without_tags().compile_m2d_converter(skip_reference_sample=True)
    kept = wrong = 0.0
    noiseless = snc.Circuit(text).without_noise().compile_sampler(seed=1).sample(1)
    usual = np.concatenate(parities.convert(measurements=noiseless, separate_observables=True), axis=1)[0]
    for records, p in leaked_record_distribution(circuit).items():
        row = np.array([records], dtype=np.bool_)
        found = (
            np.concatenate(parities.convert(measurements=row, separate_observables=True), axis=1)[0] ^ usual
        )
        fired, flipped = found[:-1], bool(found[-1])
        if not (is_postselected and fired.any()):
            number = sum(1 << k for k in np.flatnonzero(fired).tolist())
            kept += p
            wrong += p * (flipped != (predictions or {}).get(number, False))
    return kept, wrong / kept


def without(text: str, name: str) -> str:
    """The circuit without one kind of noise."""
    lines = []
    for line in text.splitlines():
        word = line.split("(")[0].strip()
        if word != name:
            lines.append(line)
        elif name.startswith("M"):
            lines.append(f"{name} {line.split(')')[1]}" if ")" in line else line)
    return "\n".join(lines)


def predictions_of(circuit: snc.Circuit) -> dict[int, bool]:
    """What PyMatching predicts for each pattern of detectors."""
    count = circuit.num_detectors
    model = circuit.detector_error_model(decompose_errors=True, approximate_disjoint_errors=True)
    patterns = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    found = pymatching.Matching(model).decode_batch(patterns.astype(np.uint8))
    return {number: bool(row[0]) for number, row in enumerate(found)}


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
@pytest.mark.parametrize(
    ("text", "decoder", "is_postselected"),
    [
        (CHECKED_TWICE, None, True),
        (LEAVES_FROM_ONE, None, True),
        (DECODED, "pymatching", False),
    ],
)
def test_differences_are_those_of_density_matrices(
    text: str, decoder: str | None, is_postselected: bool
) -> None:
    """Six standard errors, three for each of some 8 groups, seed 1: significance 1e-7."""
    mask = "all" if is_postselected else None
    circuit = snc.Circuit(text)
    budget = circuit.error_budget("noise", decoder=decoder, postselection_mask=mask, shots=200_000, seed=1)
    predictions = None if decoder is None else predictions_of(circuit)
    kept, rate = exact_rate(text, predictions, is_postselected=is_postselected)
    assert abs(budget.logical_error_rate - rate) < 6 * budget.standard_error
    assert budget.kept == pytest.approx(kept, abs=6 * 0.5 / 200_000**0.5)
    seen = 0
    for each in budget.groups:
        other = without(text, str(each.group))
        assert other != text
        kept_without, rate_without = exact_rate(other, predictions, is_postselected=is_postselected)
        assert abs(each.rate_without - rate_without) < 6 * (budget.standard_error + each.difference_error)
        assert abs(each.difference - (rate - rate_without)) < 6 * each.difference_error
        assert abs(each.share - (1 - rate_without / rate)) < 6 * each.share_error
        assert abs(each.kept_difference - (kept_without - kept)) < 6 * each.kept_difference_error + 1e-12
        seen += abs(rate - rate_without) > 20 * each.difference_error  # a third of it would be found
    assert len(budget.groups) >= 7
    assert seen >= 4


def test_differences_are_those_of_fault_sets() -> None:
    """Rates without a group are exact there; so are the slopes, where no set has two faults of a group."""
    text = str(
        stim.Circuit.generated(
            "repetition_code:memory", distance=3, rounds=1, before_round_data_depolarization=0.1,
            before_measure_flip_probability=0.05, after_clifford_depolarization=0.03,
        ).flattened()
    )  # fmt: skip
    circuit = snc.Circuit(text)
    budget = circuit.error_budget("noise", postselection_mask="all", shots=400_000, seed=2)
    exact = circuit.logical_error_rate(postselection_mask="all", seed=1)
    assert abs(budget.logical_error_rate - exact.logical_error_rate) < 6 * budget.standard_error
    for each in budget.groups:
        other = snc.Circuit(without(text, str(each.group)))
        rate = other.logical_error_rate(postselection_mask="all", seed=1)
        expected = exact.logical_error_rate - rate.logical_error_rate
        assert abs(each.difference - expected) < 6 * each.difference_error
        assert abs(expected) > 6 * each.difference_error or abs(expected) < 0.1 * exact.logical_error_rate
    weak = snc.Circuit(
        "X_ERROR(0.02) 0\nZ_ERROR(0.1) 0\nX_ERROR(0.03) 1\nM(0.01) 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    slopes = {
        g.group: g.sensitivity
        for g in weak.logical_error_rate(postselection_mask="all").error_budget("noise").groups
    }
    found = {g.group: g.share for g in weak.error_budget("noise", shots=400_000, seed=3).groups}
    for group, slope in slopes.items():
        assert found[group] == pytest.approx(slope, abs=0.03)  # errors of 0.004, and of second order
    assert found["M"] < 0.4 < 0.6 < found["X_ERROR"]


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
def test_pairs_of_shots_have_common_random_numbers() -> None:
    """Errors are those of pairs which differ by one noise: independent shots would have several times as large ones."""
    ideal = stim.Circuit.generated("surface_code:rotated_memory_z", distance=3, rounds=3)
    qubits = " ".join(map(str, sorted(ideal.get_final_qubit_coordinates())))
    noise = (
        f"TICK\nTHERMAL_RELAXATION(0.004, 0.004) {qubits}\nDEPOLARIZE1(3e-4) {qubits}\nLEAKAGE(1e-4) {qubits}"
    )
    text = str(ideal.flattened()).replace("TICK", noise).replace("MR ", "MR(0.002, 0.004) ")
    circuit = snc.Circuit(text.replace("M ", "M(0.003) "))
    shots = 20_000
    budget = circuit.error_budget("noise", decoder="pymatching", shots=shots, seed=4)
    for each in budget.groups:
        if each.group == "MR":  # whether a record is misread depends on it: these pairs are independent
            continue
        of_pairs = (max(abs(each.difference), 20 / shots) / shots) ** 0.5  # if all pairs differ to one side
        assert each.difference_error < 1.6 * of_pairs
    independent = 2**0.5 * budget.standard_error
    assert sum(each.difference_error < 0.6 * independent for each in budget.groups) >= 3


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
def test_differences_do_not_depend_on_threads() -> None:
    budgets = [
        snc.Circuit(DECODED).error_budget(
            "noise", decoder="pymatching", shots=50_000, seed=4, threads=threads
        )
        for threads in (1, 2)
    ]
    assert budgets[0] == budgets[1]


def test_groups_of_differences() -> None:
    text = "X_ERROR(0.1) 0\nTICK\nDEPOLARIZE2(0.05) 0 1\nHERALDED_ERASE(0.1) 0\nMPAD(0.02) 1\nREPEAT 2 {\n    E(0.03) X0 X1\n    ELSE_CORRELATED_ERROR(0.1) X0\n    TICK\n}\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    circuit = snc.Circuit(text)
    by_qubit = circuit.error_budget("qubit", shots=2000, seed=1)
    assert [(each.group, each.places) for each in by_qubit.groups] == [(0, 7), (1, 3), ("no qubit", 1)]
    # The noise on qubit 0 is all that matters.
    assert by_qubit.groups[0].rate_without == 0
    lines = circuit.error_budget("instruction", shots=2000, seed=1).groups
    assert [str(each.group).split(":")[0] for each in lines] == [f"line {k}" for k in (1, 3, 4, 5, 7, 8)]
    assert [each.group for each in circuit.error_budget("tick", shots=100, seed=1).groups] == [0, 1, 2]
    chosen = circuit.error_budget(lambda place: 1 in place.targets, shots=100, seed=1)
    assert {each.group for each in chosen.groups} == {False, True}
    assert circuit.error_budget("place", shots=100, seed=1).groups[1].group == "DEPOLARIZE2 0-1, tick 1"
    assert len(by_qubit.largest(1).groups) == 1
    assert "no qubit" in str(by_qubit)
    with pytest.raises(ValueError, match="no observables"):
        snc.Circuit("M(0.1) 0").error_budget("noise")
    with pytest.raises(ValueError, match="None of 10 shots was kept"):
        snc.Circuit("X_ERROR(1) 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]").error_budget(
            "noise", postselection_mask="all", shots=10, seed=1
        )
    with pytest.raises(ValueError, match="decodes kept shots only"):
        circuit.error_budget("noise", decoder="desaturated")
    with pytest.raises(NotImplementedError, match="depends on records"):
        snc.Circuit("M 0\nC_R rec[-1] 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]").error_budget("noise")


def test_twirled_errors_say_where_they_came_from() -> None:
    """Rows of sources add up to those of instructions, and their slopes are those of the rate of the twirl."""
    text = """
        H 0
        CX 0 1
        LEAKAGE({leakage}) 0
        TICK
        CX 0 1
        AMPLITUDE_DAMPING(0.02) 0 1
        R_X(0.05) 1
        DEPOLARIZE1(0.01) 1
        TICK
        CX 0 1
        CX 0 1
        H 0
        M(0.01, 0.03) 0 1
        DETECTOR rec[-1]
        OBSERVABLE_INCLUDE(0) rec[-2]
    """

    def rate(leakage: float) -> snc.Circuit:
        return snc.Circuit(text.format(leakage=leakage)).pauli_twirl()

    twirled = rate(0.01)
    estimate = twirled.logical_error_rate(postselection_mask="all")
    rows = {each.group: each for each in estimate.error_budget("noise").groups}
    assert set(rows) == {"LEAKAGE", "AMPLITUDE_DAMPING", "R_X", "DEPOLARIZE1", "M"}
    plain = snc.Circuit(twirled.to_stim().without_tags())
    assert (
        plain.logical_error_rate(postselection_mask="all").logical_error_rate == estimate.logical_error_rate
    )
    names = defaultdict(float)
    for each in plain.logical_error_rate(postselection_mask="all").error_budget("noise").groups:
        names[each.group] += each.share
    assert names["PAULI_CHANNEL_1"] == pytest.approx(rows["AMPLITUDE_DAMPING"].share)
    assert names["DEPOLARIZE1"] == pytest.approx(rows["LEAKAGE"].share + rows["DEPOLARIZE1"].share)
    step = 1e-3
    ends = [
        rate(0.01 * (1 + s)).logical_error_rate(postselection_mask="all").logical_error_rate
        for s in (-step, step)
    ]
    slope = np.log(ends[1] / ends[0]) / (2 * step)
    assert rows["LEAKAGE"].sensitivity == pytest.approx(slope, rel=1e-4)
    places = [str(each.group) for each in estimate.error_budget("place").groups]
    assert len(places) == len(set(places))
    assert "CX at 1, tick 1, LEAKAGE of 0" in places
    assert "CX at 1, tick 1, AMPLITUDE_DAMPING" in places
    # Leakage of qubit 0 that acts on qubit 1 is noise of qubit 0.
    shares = {each.group: each.share for each in estimate.error_budget("qubit").groups}
    by_source = estimate.error_budget(lambda place: place.qubits).groups
    assert shares[0] == pytest.approx(sum(each.share for each in by_source if each.group == (0,)))
    assert twirled.detector_error_model() == plain.detector_error_model()


FLIPS = (0.3, 0.1, 0.11)
LOOP = "\n".join(
    [
        *(f"X_ERROR({p}) {qubit}" for qubit, p in enumerate(FLIPS)),
        "MPP(0.05) Z1*Z2",
        "MPP Z0*Z1\nDETECTOR rec[-2]\nDETECTOR rec[-1]",
        "M[DECODE] 0",
        "OBSERVABLE_INCLUDE(0) rec[-1]",
    ]
)


def loop_rate(flips: tuple[float, ...], misread: float) -> float:
    """The probability that what the decoder says of the first qubit is wrong, if it knows of all noise."""

    def laws(of: tuple[float, ...]) -> Iterator[tuple[tuple[int, int], int, float]]:
        for events in itertools.product((0, 1), repeat=4):
            p = math.prod(q if event else 1 - q for event, q in zip(events, of, strict=True))
            a, b, c, m = events
            yield (a ^ b, b ^ c ^ m), a, p

    likeliest: dict[tuple[int, int], tuple[float, int]] = {}
    for syndrome, flipped, p in laws((*FLIPS, 0.05)):
        likeliest[syndrome] = max(likeliest.get(syndrome, (0.0, 0)), (p, flipped))
    return sum(p for syndrome, flip, p in laws((*flips, misread)) if likeliest[syndrome][1] != flip)


def test_differences_with_a_decoder_in_the_loop() -> None:
    """Six standard errors of 5 rates, seed 1: significance 1e-8. The decoder always knows of all noise.

    Told that the first qubit has no noise, it would never be wrong.
    """
    circuit = snc.Circuit(LOOP)
    budget = circuit.error_budget("instruction", loop_decoder="pymatching", shots=100_000, seed=1)
    assert abs(budget.logical_error_rate - loop_rate(FLIPS, 0.05)) < 6 * budget.standard_error
    assert [str(each.group).split(":")[0] for each in budget.groups] == [f"line {k}" for k in range(1, 5)]
    for k, each in enumerate(budget.groups):
        flips, misread = tuple(0.0 if j == k else p for j, p in enumerate(FLIPS)), 0.05 * (k != 3)
        expected = loop_rate(flips, misread)
        assert abs(each.rate_without - expected) < 6 * (expected / 100_000) ** 0.5
        assert abs(each.difference - (loop_rate(FLIPS, 0.05) - expected)) < 6 * each.difference_error
    assert budget.groups[0].rate_without > 0.01
    raw = circuit.error_budget(lambda place: 0 in place.targets, loop_decoder="raw", shots=100_000, seed=1)
    assert abs(raw.logical_error_rate - 0.3) < 6 * raw.standard_error
    assert {each.group: each.rate_without for each in raw.groups}[True] == 0


def test_refusals_with_a_decoder_in_the_loop() -> None:
    circuit = snc.Circuit(LOOP)
    with pytest.raises(ValueError, match=r"the circuit asks a decoder, and .*loop_decoder="):
        circuit.error_budget("noise", decoder="pymatching")
    with pytest.raises(ValueError, match=r"the circuit asks a decoder\. Give it one"):
        circuit.error_budget("noise")
    with pytest.raises(ValueError, match="no DECODE"):
        snc.Circuit(DECODED).error_budget("noise", loop_decoder="pymatching")
    blocks = "M 0\nREPEAT[IF rec[-1]] 1 {\n    X 1\n}\nDECODE 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    with pytest.raises(NotImplementedError, match="Line 2: `REPEAT"):
        snc.Circuit(blocks).error_budget("noise", loop_decoder="pymatching")
    # A Bell pair, in which S and S_DAG make an X before them a Y, by a record.
    switched = "R 0 1\nH 0\nCX 0 1\nRX 2\nDECODE 2\nX_ERROR(0.1) 0\nC_S rec[-1] 0\nC_S_DAG rec[-1] 1\nMPP X0*X1\nDETECTOR rec[-1]\nFRAME Z0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    with pytest.raises(NotImplementedError, match="Line 11: the error model depends on records"):
        snc.Circuit(switched).error_budget("noise", loop_decoder="pymatching")
