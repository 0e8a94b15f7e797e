"""A second opinion on leakage and loss, by deltakit-stim (Clifford circuits) and by clifft.noncomp (T gates).

Both follow the levels of qubits shot by shot. deltakit-stim has the same default model, but repeats the bit of
a leaked qubit that is measured twice, and gives swaps no partner; clifft gets the model in its own words, and
knows neither RELAX nor measurements of products in it. So the circuits here do without these.
Seeds are fixed. With other seeds, a right implementation would fail each test with probability below 1e-7.
"""

import re

import numpy as np
import numpy.typing as npt
import pytest
import stim
from scipy.stats import chisquare

import stim_nonclifford as snc

from ....support.laws.exact import exact_outputs
from ....support.texts.memory_circuits import memory
from .test_peers import peer, smallest_p_value

FALSE_ALARM = 1e-7


def leaking_surface_code(distance: int, rounds: int, *, spreads: bool) -> snc.Circuit:
    """A memory whose qubits leak after each CX; heralds of all data qubits at the end are detectors.

    Where leakage spreads, it does not move: then shots of deltakit-stim 0.2.7 would depend on others.
    """
    code = memory("surface_code:rotated_memory_z", distance, rounds, gates=0.001, reads=0.002).flattened()
    result = stim.Circuit()
    for part in code:
        if part.name == "M":
            data = part.targets_copy()
            result.append("HERALDED_ERASE", data, 0, tag="HERALD_LEAKAGE_EVENT(p=0.1)")
            for k in range(len(data)):
                result.append("DETECTOR", [stim.target_rec(-1 - k)])
        result.append(part)
        if part.name == "CX":
            if spreads:
                tag = "LEAKAGE_SPREAD(s01=0.1, s10=0.2, m01=0, m10=0)"
                result.append("II_ERROR", part.targets_copy(), tag=tag)
            result.append("I_ERROR", part.targets_copy(), tag="LEAKAGE(p=0.002)")
    return snc.Circuit(result)


@pytest.mark.slow
@pytest.mark.parametrize("spreads", [False, True])
@pytest.mark.parametrize(("distance", "shots"), [(3, 500_000)])
def test_deltakit_stim(distance: int, shots: int, *, spreads: bool) -> None:
    """Rates of all detectors and heralds, and of all pairs of them."""
    deltakit_stim = peer("deltakit_stim")
    circuit = leaking_surface_code(distance, distance, spreads=spreads)
    text = re.sub(r"CX (.*)\n *LEAKAGE_SPREAD\((.*)\) \1\n", r"CX(\2) \1\n", str(circuit))
    assert ("CX(0.1" in text) == spreads
    assert str(snc.Circuit(text)) == str(circuit)
    sampler = deltakit_stim.Circuit(text).compile_detector_sampler(seed=2)
    theirs = sampler.sample(shots, append_observables=True)
    own = circuit.compile_detector_sampler(seed=1).sample(shots, append_observables=True)
    assert isinstance(own, np.ndarray)
    assert smallest_p_value(own, theirs, circuit.num_detectors) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_clifft(seed: int) -> None:
    """The joint distribution of all records of a random circuit: chi-squared against the exact one."""
    peer("clifft")
    noncomp = peer("clifft.noncomp")
    text = random_text(seed)
    mixing = noncomp.PartnerEffect(pauli=(0.25, 0.25, 0.25))
    model = noncomp.Model(
        classifier=noncomp.Classifier([[1, 0, 0.5, 0.5, 0.5], [0, 1, 0.5, 0.5, 0.5]]),
        reset_restores_lost=True,
        gate_partner_effects={"leaked": mixing, "lost": mixing},
    )
    records = noncomp.sample(text.replace("EVENT(0)", "EVENT"), model, shots=200_000, seed=3).measurements
    exact = exact_outputs(snc.Circuit(text).compile().record_plan()).kept
    assert p_value(records, exact) > FALSE_ALARM
    moved = {key ^ 1: p for key, p in exact.items()}  # the test sees what is wrong
    assert p_value(records, moved) < FALSE_ALARM


MODELS = "LEAKAGE_PARTNER(0.1, 0.2, 0.3) 0 1 2 3\nLEAKAGE_READOUT(0.8) 0 1 2 3\nLOSS_REPLACEMENT(0) 0 1 2 3\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20, 22, 23, 24])
def test_clifft_with_other_models(seed: int) -> None:
    """Its partners have Paulis in place of the gate: a CZ with a mixed qubit, a Z with 1/2, and ours behind it."""
    peer("clifft")
    noncomp = peer("clifft.noncomp")
    text = random_text(seed, gates=("CZ",))
    effect = noncomp.PartnerEffect(pauli=(0.15, 0.15, 0.35))
    model = noncomp.Model(
        classifier=noncomp.Classifier([[1, 0, 0.2, 0.2, 0.2], [0, 1, 0.8, 0.8, 0.8]]),
        reset_restores_lost=False,
        gate_partner_effects={"leaked": effect, "lost": effect},
    )
    records = noncomp.sample(text.replace("EVENT(0)", "EVENT"), model, shots=200_000, seed=3).measurements
    assert (
        p_value(records, exact_outputs(snc.Circuit(MODELS + text).compile().record_plan()).kept) > FALSE_ALARM
    )
    usual = exact_outputs(snc.Circuit(text).compile().record_plan()).kept
    assert p_value(records, usual) < FALSE_ALARM  # the test sees the models


def random_text(seed: int, gates: tuple[str, ...] = ("CX", "CZ", "CY", "R_ZZ(0.2)")) -> str:
    """Gates, leakage, loss and resets on four qubits, heralds, and measurements in the end."""
    rng = np.random.default_rng([41, seed])
    lines = ["H 0 1 2 3"]
    for _ in range(8):
        a, b = rng.choice(4, size=2, replace=False)
        gate = rng.choice(["T", "T_DAG", "H", "S", "R_X(0.3)"])
        lines += [f"{gate} {a}", f"{rng.choice(gates)} {a} {b}"]
        lines.append(f"{rng.choice(['LEAKAGE(0.2)', 'LOSS(0.2)', 'DEPOLARIZE1(0.1)', 'R'])} {b}")
    lines.append("HERALD_LEAKAGE_EVENT(0) 0 1\nHERALD_LOSS_EVENT(0) 2\nH 0\nT 0\nH 0\nM 0 1 2\nMX 3")
    return "\n".join(lines)


def p_value(records: npt.NDArray[np.uint8], exact: dict[int, float]) -> float:
    """Of a chi-squared test; combinations that are expected less than ten times are one."""
    num_records = records.shape[1]
    counts = np.bincount(records @ (1 << np.arange(num_records)), minlength=1 << num_records)
    expected = len(records) * np.array([exact.get(key, 0.0) for key in range(1 << num_records)])
    rare = expected < 10
    observed = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    present = expected > 0
    if observed[~present].any():
        return 0.0
    return float(chisquare(observed[present], expected[present] * observed.sum() / expected.sum()).pvalue)
