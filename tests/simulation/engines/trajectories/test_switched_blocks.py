"""Blocks that records switch, against density matrices whose branches are summed by hand.

Statistical comparisons reject a correct engine with a probability below ``ALPHA`` each. There are fewer than a
thousand of them, so that a whole run raises a false alarm with a probability below 1e-6.
"""

from collections.abc import Iterator

import numpy as np
import pytest
import stim

import stim_nonclifford as snc

from ....support.oracle.agreement import p_value
from ....support.oracle.density_matrix import record_distribution
from ....support.oracle.random_circuits import random_circuit
from ....support.seeds import seeds

ALPHA = 1e-10
SHOTS = 50_000
MOST_RECORDS = 11
NOISE = (
    "AMPLITUDE_DAMPING(0.3)", "THERMAL_RELAXATION(0.3, 0.25)", "DEPOLARIZE1(0.2)", "X_ERROR(0.3)",
    "R_X(0.3)", "T", "H",
)  # fmt: skip
MEASUREMENTS = ("C_M", "C_MX", "C_MR", "C_MRY", "C_M(0.2)")


def random_switched_text(rng: np.random.Generator) -> str:
    """A circuit on four qubits with blocks of both kinds, some of them nested, and no more than 12 records."""
    lines: list[str] = ["RX 0 1", "T 0", "M 0", "MY 1"]
    while True:
        more = list(random_item(rng, count(lines), depth=0))
        if count([*lines, *more]) > MOST_RECORDS:
            return "\n".join(lines)
        lines += more


def count(lines: list[str]) -> int:
    return snc.Circuit("\n".join(lines)).num_measurements


def random_item(rng: np.random.Generator, num_records: int, depth: int) -> Iterator[str]:
    """Plain instructions, a conditional measurement or reset, or a block."""
    kind = rng.integers(6 if depth < 2 else 4)
    qubit = rng.integers(4)
    if kind == 0:
        yield f"{rng.choice(MEASUREMENTS)} {term(rng, num_records)} {qubit}"
    elif kind == 1:
        yield f"{rng.choice(['C_R', 'C_RX', 'C_RY'])} {term(rng, num_records)} {qubit}"
    elif kind in (2, 3):
        lines = str(random_circuit(rng, num_operations=5, max_records=2)).splitlines()
        lines = [
            line.replace("ELSE_CORRELATED_ERROR", "E") for line in lines
        ]  # chains may not reach into blocks
        yield from (line for line in lines if not line.strip().startswith(("DETECTOR", "OBSERVABLE")))
        yield f"{rng.choice(NOISE)} {qubit}"
    else:
        body: list[str] = [f"{rng.choice(NOISE)} {qubit}"]
        own = 0
        for _ in range(rng.integers(1, 4)):
            item = list(random_item(rng, num_records + own, depth + 1))
            own += count(["M 0"] * num_records + body + item) - num_records - own
            body += item
        if kind == 4:
            terms = " ".join(term(rng, num_records) for _ in range(rng.integers(1, 3)))
            yield f"REPEAT[IF {terms}] 1 {{"
        else:
            body.append(f"MX {qubit}")
            yield f"REPEAT[UNTIL {'!' * int(rng.integers(2))}rec[-1]] {rng.integers(1, 4)} {{"
        yield from body
        yield f"{rng.choice(NOISE)} {qubit}"
        yield "}"


def term(rng: np.random.Generator, num_records: int) -> str:
    places = rng.choice(num_records, size=min(num_records, int(rng.integers(1, 3))), replace=False) + 1
    return "!" * int(rng.integers(2)) + "^".join(f"rec[-{place}]" for place in places)


@pytest.mark.parametrize("seed", seeds(60, quick=8))
def test_records_have_the_distribution_of_the_density_matrix(seed: int) -> None:
    circuit = snc.Circuit(random_switched_text(np.random.default_rng([58, seed])))
    samples = circuit.compile_sampler(seed=seed).sample(SHOTS)
    assert p_value(samples, record_distribution(circuit.to_stim())) > ALPHA


def test_the_comparison_has_power() -> None:
    """Most circuits would be noticed if blocks were executed always, or if their conditions were inverted."""
    noticed = {"always": 0, "inverted": 0}
    for seed in range(6):
        circuit = snc.Circuit(random_switched_text(np.random.default_rng([58, seed])))
        samples = circuit.compile_sampler(seed=seed).sample(SHOTS)
        for name, change in (("always", lambda _: ""), ("inverted", inverted)):
            other = record_distribution(with_tags(circuit.to_stim(), change))
            noticed[name] += p_value(samples, other) < ALPHA
    assert min(noticed.values()) >= 4


def inverted(tag: str) -> str:
    return tag.replace("!", "").replace("rec", "!rec", 1) if "!" not in tag else tag.replace("!", "")


def with_tags(circuit: stim.Circuit, change) -> stim.Circuit:
    result = stim.Circuit()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            body = with_tags(part.body_copy(), change)
            part = stim.CircuitRepeatBlock(part.repeat_count, body, tag=change(part.tag))
        result.append(part)
    return result


@pytest.mark.parametrize("seed", seeds(40, quick=8))
def test_detectors_are_parities_of_the_records_of_the_same_shots(seed: int) -> None:
    rng = np.random.default_rng([59, seed])
    text = random_switched_text(rng)
    circuit = snc.Circuit(text)
    sources = [rng.choice(circuit.num_measurements, size=2, replace=False) + 1 for _ in range(4)]
    lines = [f"DETECTOR {' '.join(f'rec[-{k}]' for k in each)}" for each in sources]
    circuit += snc.Circuit("\n".join([*lines[:-1], f"OBSERVABLE_INCLUDE(0){lines[-1][8:]}"]))
    records = circuit.compile_sampler(seed=seed, engine="trajectory").sample(2000)
    sampler = circuit.compile_detector_sampler(seed=seed, engine="trajectory", skip_reference_sample=True)
    found = sampler.sample(2000, append_observables=True)
    expected = np.stack([np.bitwise_xor.reduce(records[:, -each], axis=1) for each in sources], axis=1)
    assert (found == expected).all()
    flips = circuit.compile_detector_sampler(seed=seed, engine="trajectory").sample(
        2000, append_observables=True
    )
    reference = circuit.reference_sample()
    assert (flips == (expected ^ [np.bitwise_xor.reduce(reference[-each]) for each in sources])).all()


RETRY = """
    REPEAT[UNTIL !rec[-1]] 3 {
        R 0 1
        X_ERROR(0.25) 0
        X 1
        M 1
        DETECTOR rec[-1]
        M 0
        DETECTOR rec[-1]
    }
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-1]"""


def test_the_last_attempt_has_the_last_places() -> None:
    circuit, shots = snc.Circuit(RETRY), 200_000
    records = circuit.compile_sampler(seed=3).sample(shots)
    probabilities = {
        (0, 0, 0, 0, 1, 0): 3 / 4, (0, 0, 1, 1, 1, 0): 3 / 16,
        (1, 1, 1, 1, 1, 0): 3 / 64, (1, 1, 1, 1, 1, 1): 1 / 64,
    }  # fmt: skip
    assert p_value(records, probabilities) > ALPHA
    # The record of qubit 1 is 1 in each attempt that is executed, so that its detector never fires.
    sampler = circuit.compile_detector_sampler(seed=3, postselection_mask=[False] * 6 + [True])
    events = sampler.sample(shots, append_observables=True)
    assert not events[:, [0, 2, 4]].any()
    assert (events[:, [1, 3, 5, 6, 7]] == records[:, [1, 3, 5, 5, 5]]).all()
    kept = sampler.sample_counts(shots)
    assert (kept.discards, kept.errors) == (kept.discards, 0)
    assert abs(kept.discards - shots / 64) < 7 * np.sqrt(shots / 64)


def test_postselection_looks_at_the_places_of_the_last_attempt() -> None:
    """A detector of a failed attempt moves, and discards only if its place is in the mask at the end."""
    circuit = snc.Circuit(RETRY)
    mask = [False, False, False, False, False, True, False]
    sampler = circuit.compile_detector_sampler(seed=3, postselection_mask=mask)
    events = sampler.sample(20_000)
    sampler.seek(0)
    assert sampler.sample_kept(20_000).discards == events[:, 5].sum() > 0
    assert (events[:, 1] | events[:, 3]).sum() > 2 * events[:, 5].sum()


def test_noise_belongs_to_the_block_in_which_it_stands() -> None:
    """Noise at the very beginning and end of a block, and just before and behind it."""
    text = """
        R 0 1 2 3
        {before}
        REPEAT[IF {condition}] 1 {{
            X_ERROR(1) 0
            X 1
            X_ERROR(1) 2
        }}
        X_ERROR(1) 3
        M 0 1 2 3"""
    for before in ("M !0", "MR !0\nX_ERROR(0) 0"):
        for condition, found in (("rec[-1]", [1, 1, 1, 1]), ("!rec[-1]", [0, 0, 0, 1])):
            circuit = snc.Circuit(text.format(before=before, condition=condition))
            assert circuit.compile_sampler(seed=1).sample(3)[:, 1:].tolist() == [found] * 3


def test_leaked_qubits_and_heralds_in_blocks() -> None:
    circuit = snc.Circuit("""
        M !0 1
        REPEAT[IF rec[-1]] 1 {
            LEAKAGE(1) 2
        }
        REPEAT[IF rec[-2]] 1 {
            LEAKAGE(1) 3
            HERALDED_ERASE(1) 1
        }
        HERALD_LEAKAGE_EVENT(0) 2 3""")
    assert circuit.compile_sampler(seed=1).sample(2).astype(int).tolist() == [[1, 0, 1, 0, 1]] * 2


def test_shots_do_not_depend_on_threads_and_batches() -> None:
    circuit = snc.Circuit(random_switched_text(np.random.default_rng(8)))
    whole = circuit.compile_sampler(seed=2).sample(3000)
    parts = circuit.compile_sampler(seed=2, engine="trajectory", threads=3)
    assert (np.concatenate([parts.sample(size) for size in (1, 1999, 1000)]) == whole).all()


def test_attempts_in_loops_and_loops_in_attempts() -> None:
    """A loop of attempts is the same circuit as its unrolled text."""
    body = "REPEAT[UNTIL rec[-1]] 2 {\nREPEAT 2 {\nH 0\nM 0\nDETECTOR rec[-1]\n}\n}\nM 0\nDETECTOR rec[-1] rec[-2]\n"
    loop = snc.Circuit(f"REPEAT 3 {{\n{body}}}")
    unrolled = snc.Circuit(3 * body)
    for method in ("compile_sampler", "compile_detector_sampler"):
        first, second = (getattr(each, method)(seed=5).sample(1000) for each in (loop, unrolled))
        assert (first == second).all()
        assert first.any()


REFUSED = {
    "M 0\nREPEAT[IF rec[-2]] 1 {\nR 0\n}": (ValueError, r"Line 2: `REPEAT\[IF rec\[-2\]\]`.*been 1 meas"),
    "M 0\nE(0.1) X0\nREPEAT[IF rec[-1]] 1 {\nELSE_CORRELATED_ERROR(0.1) X0\n}": (ValueError, "Line 4: .*beginning with E"),
    "M 0\nREPEAT[IF rec[-1]] 1 {\nE(0.1) X0\n}\nELSE_CORRELATED_ERROR(0.1) X0": (ValueError, "Line 5: .*beginning with E"),
    # In the second iteration, the chain goes on from the E of the block.
    "M 0\nE(0.1) X0\nREPEAT 2 {\nELSE_CORRELATED_ERROR(0.1) X0\nREPEAT[IF rec[-1]] 1 {\nE(0.2) Z0\n}\n}": (
        ValueError,
        "Line 4: .*beginning with E",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_meant(text: str) -> None:
    error, message = REFUSED[text]
    with pytest.raises(error, match=message):
        snc.Circuit(text).compile_sampler()


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("method", ["compile_sampler", "compile_detector_sampler"])
def test_other_engines_name_the_engine_that_can(engine: str, method: str) -> None:
    with pytest.raises(NotImplementedError, match=r'Line 2: `REPEAT\[UNTIL rec.*engine="trajectory"'):
        getattr(snc.Circuit("H 0\nREPEAT[UNTIL rec[-1]] 2 {\nM 0\n}"), method)(engine=engine)


SWITCHED = (
    "R 0 1\nX_ERROR(0.1) 0\nM 0\nREPEAT[IF rec[-1]] 1 {\n    X 1\n}\nM 1\n"
    "DETECTOR rec[-1] rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
)
DOORS = {
    "to_qasm": {}, "to_cirq": {}, "to_crumble_url": {}, "flattened": {}, "inverse": {}, "pauli_twirl": {},
    "s_proxy": {}, "i_proxy": {}, "compile_m2d_converter": {}, "state_vector": {}, "faults": {},
    "with_faults": {"faults": []}, "detector_error_model": {}, "quantum_detectors": {},
    "logical_error_rate": {"postselection_mask": "all"}, "fault_distance": {"postselection_mask": "all"},
    "malignant_sets": {"postselection_mask": "all"}, "missing_detectors": {}, "detecting_regions": {},
    "shortest_graphlike_error": {}, "count_determined_measurements": {},
}  # fmt: skip


@pytest.mark.parametrize("method", DOORS)
def test_nothing_drops_the_condition_silently(method: str) -> None:
    with pytest.raises(NotImplementedError, match=r"Line 4: `REPEAT\[IF rec\[-1\]\] 1`.*depends on records"):
        getattr(snc.Circuit(SWITCHED), method)(**DOORS[method])


def test_without_a_decoder_decisions_in_switched_circuits_are_measurements() -> None:
    circuit = snc.Circuit(SWITCHED + "\nDECODE 0")
    raw = circuit.compile_sampler(decoder="raw", seed=1).sample(500)
    assert np.array_equal(raw, circuit.without_decisions().compile_sampler(seed=1).sample(500))
    with pytest.raises(NotImplementedError, match=r"without_decisions\(\)"):
        circuit.decision_points()


def test_rewriting_keeps_conditions() -> None:
    circuit = snc.Circuit(SWITCHED)
    for changed in (circuit.without_tags(), circuit.decomposed(), circuit.without_noise(), 2 * circuit):
        assert "IF rec[-1]" in str(changed)


def test_there_is_no_plan_and_statistics_say_what_shots_take() -> None:
    circuit = snc.Circuit("H 0\nM 0\nREPEAT[IF rec[-1]] 1 {\nX 1\n}\nM 1\nDETECTOR rec[-1]")
    for method in ("sample", "sample_counts", "sample_measurements", None):
        with pytest.raises(NotImplementedError, match=r"Line 3.*no plan.*statistics\(\)"):
            circuit.plan(method)
    sampler = circuit.compile_detector_sampler(seed=1)
    sampler.sample(100)
    assert sampler.statistics()["engine"] == "trajectory"
    assert sampler.statistics()["shots"] == 100
