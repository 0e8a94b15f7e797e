"""Shots are drawn in passes: no pass changes the past, and nothing but the seed decides."""

import functools
import pickle
from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from examples.lattice_surgery.decoder_in_the_loop import teleported_t_gate
from stim_nonclifford.simulation.compiler.plans import plan_construction
from stim_nonclifford.simulation.decisions import DecidedCircuit, engine, points
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.plan import SamplingPlan

from .decoders import Bits, FunctionDecoder

SHOTS = 300

WIDE = [((5, 12, 3, 5), 3), ((5, 12, 2, 7), 4), ((6, 14, 2, 8), 5)]
"""Arguments of ``wide_circuit``, and the widths of the plans."""


def wide_circuit(qubits: int, rounds: int, blocks: int, seed: int) -> snc.Circuit:
    """Blocks of qubits side by side, with rotations by teleported T states in random directions.

    Each record is a detector. Whether a rotation is corrected depends on a decision.
    """
    rng = np.random.default_rng(seed)
    data = qubits * blocks
    lines = ["RX " + " ".join(map(str, range(data)))]
    for k in range(rounds):
        for block in range(blocks):
            some = rng.choice(qubits, rng.integers(1, min(qubits, 3) + 1), replace=False)
            pauli = "*".join(f"{rng.choice(list('XYZ'))}{q}" for q in sorted(block * qubits + some))
            state, bit = data + block, data + blocks + block
            lines += [f"RX {state}", f"T {state}", f"MPP {pauli}*Z{state}", "DETECTOR rec[-1]"]
            lines += [f"R {bit}", f"X_ERROR(0.3) {bit}", f"DECODE {bit}", "DETECTOR rec[-1]"]
            lines += [f"C_SPP rec[-1] {pauli}", f"MX {state}", "DETECTOR rec[-1]"]
            if k % 2:
                lines += [f"MX {block * qubits + rng.integers(qubits)}", "DETECTOR rec[-1]"]
    for qubit in range(data):
        lines += [f"M {qubit}", "DETECTOR rec[-1]"]
    return snc.Circuit("\n".join(lines))


CORRELATED = [(5, 13, 2, 34), (6, 14, 2, 80)]
"""Arguments of ``correlated_circuit``."""


def correlated_circuit(qubits: int, rounds: int, blocks: int, seed: int) -> snc.Circuit:
    """Blocks of qubits side by side, in which an outcome may depend on others from before a decision.

    In each round, each block has a rotation, a measurement with an ancilla whose outcome is no fair coin, a
    decision and a rotation that it controls, or a measurement. Each record is a detector.
    """
    rng = np.random.default_rng(seed)
    data = qubits * blocks
    lines = ["RX " + " ".join(map(str, range(data)))]

    def pauli(block: int, weight: int) -> str:
        some = sorted(block * qubits + rng.choice(qubits, weight, replace=False))
        return "*".join(f"{rng.choice(list('XYZ'))}{qubit}" for qubit in some)

    for _ in range(rounds):
        for block in range(blocks):
            ancilla, bit = data + block, data + blocks + block
            kind = rng.integers(4)
            if kind == 0:
                lines += [f"R_PAULI(0.25) {pauli(block, 2)}"]
            elif kind == 1:
                measured = f"{pauli(block, rng.integers(1, 3))}*Z{ancilla}"
                lines += [f"R {ancilla}", f"R_X(0.3) {ancilla}", f"MPP {measured}", "DETECTOR rec[-1]"]
                lines += [f"MX {ancilla}", "DETECTOR rec[-1]"]
            elif kind == 2:
                lines += [f"R {bit}", f"DECODE {bit}", "DETECTOR rec[-1]"]
                lines += [f"C_SPP rec[-1] {pauli(block, rng.integers(1, 3))}"]
                lines += [f"R_PAULI(0.25) {pauli(block, rng.integers(1, 3))}"]
            else:
                basis = rng.choice(["X", "", "Y"])
                lines += [f"M{basis} {block * qubits + rng.integers(qubits)}", "DETECTOR rec[-1]"]
    for qubit in range(data):
        lines += [f"M{rng.choice(['X', '', 'Y'])} {qubit}", "DETECTOR rec[-1]"]
    return snc.Circuit("\n".join(lines))


def hashed(number: int, detectors: Bits, count: int) -> Bits:
    chosen = np.random.default_rng(number).integers(0, 2, (detectors.shape[1], count))
    return ((detectors.astype(np.int64) @ chosen + number % 2) % 2).astype(np.uint8)


def changed_pasts(circuit: snc.Circuit) -> tuple[int, int]:
    """How many passes showed a decoder other detectors of the past, and the width of the plan."""
    decoder = FunctionDecoder(hashed)
    sampler = circuit.compile_detector_sampler(seed=1, decoder=decoder)
    sampler.sample(SHOTS)
    changed = 0
    for (first, before), (second, after) in zip(decoder.seen, decoder.seen[1:], strict=False):
        assert second == first + 1
        changed += int((after[:, : before.shape[1]] != before).any(axis=1).sum())
    return changed, sampler._sampling_engine._passes.plan.peak_width  # type: ignore[attr-defined]


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets decoders see detectors that conditional gates flip: what they answer does not matter here."""
    monkeypatch.setattr(points.DecidedCircuit, "_check_axes", lambda *_: None)
    monkeypatch.setattr(points.DecidedCircuit, "switching", lambda *_: [])


@pytest.fixture
def redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has all outcomes drawn anew after each decision."""
    monkeypatch.setattr(engine, "_MANY_WITH_NOISE", 1.0)


@pytest.mark.usefixtures("unchecked", "redrawn")
@pytest.mark.parametrize(("arguments", "width"), WIDE)
def test_no_pass_changes_the_past(arguments: tuple[int, int, int, int], width: int) -> None:
    assert changed_pasts(wide_circuit(*arguments)) == (0, width)


@pytest.mark.usefixtures("unchecked", "redrawn")
def test_one_number_for_all_outcomes_would_change_the_past(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SamplingPlan, "separate_draws", False)
    assert changed_pasts(wide_circuit(*WIDE[0][0]))[0] > 100


@pytest.mark.parametrize(("p", "gates", "threads"), [(1e-3, 8, 1), (8e-3, 3, 2), (0.03, 1, 2)])
def test_simulations_that_go_on_have_the_same_shots(
    p: float, gates: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those that begin anew after each decision, bit by bit."""
    circuit = teleported_t_gate(3, p, gates)
    begun, begin = [], CpuEngine.passes
    monkeypatch.setattr(CpuEngine, "passes", lambda *given: begun.append(given) or begin(*given))
    decoders = dict.fromkeys(("outcome", "frame"), "pymatching")
    shots = []
    for part in (-1.0, 1.0):
        monkeypatch.setattr(engine, "_MANY_WITH_NOISE", part)
        sampler = circuit.compile_detector_sampler(seed=2, decoder=decoders, threads=threads, cache_bytes=0)
        shots.append(sampler.sample(2049))
        assert len(begun) == 1
        assert part > 0 or sampler.statistics()["simulations"] == 2049
    assert np.array_equal(*shots)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("arguments", [each for each, _ in WIDE] + CORRELATED)
def test_simulations_do_not_go_on_if_a_decision_may_have_changed_them(
    arguments: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the wide circuits, gates that follow a decision are simulated before it: without the check, shots differ."""
    is_wide = arguments not in CORRELATED
    circuit = (wide_circuit if is_wide else correlated_circuit)(*arguments)

    def shots(part: float) -> Any:
        monkeypatch.setattr(engine, "_MANY_WITH_NOISE", part)
        return circuit.compile_detector_sampler(seed=2, decoder=FunctionDecoder(hashed)).sample(SHOTS)

    expected = shots(1.0)
    assert np.array_equal(shots(-1.0), expected)
    monkeypatch.setattr(CpuEngine, "can_go_on", lambda *_: True)
    assert not (is_wide and np.array_equal(shots(-1.0), expected))


@pytest.mark.usefixtures("unchecked", "redrawn")
@pytest.mark.parametrize("arguments", CORRELATED)
def test_connected_measurements_keep_their_order(
    arguments: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    circuit = correlated_circuit(*arguments)
    changed, width = changed_pasts(circuit)
    assert changed == 0
    in_any_order = functools.partial(plan_construction.reorder_for_width, keep_measurements_in_order=False)

    def without_edges(*given: Any, keep_measurements_in_order: bool) -> Any:
        return in_any_order(*given)

    monkeypatch.setattr(plan_construction, "reorder_for_width", without_edges)
    changed, narrower = changed_pasts(circuit)
    assert changed >= 5
    assert narrower <= width


def test_plans_without_decisions_have_one_number_for_all_outcomes() -> None:
    plan = wide_circuit(3, 2, 1, 0).without_decisions().compile().record_plan()
    assert not plan.separate_draws
    assert len(plan.decisions) == 0


def test_shots_depend_on_the_seed_alone() -> None:
    circuit = wide_circuit(3, 3, 2, 4)
    decoder = {"decoder": FunctionDecoder(hashed)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points.DecidedCircuit, "_check_axes", lambda *_: None)
        patch.setattr(points.DecidedCircuit, "switching", lambda *_: [])
        one = circuit.compile_sampler(seed=3, **decoder)
        expected = one.sample(2500)
        assert not (circuit.compile_sampler(seed=4, **decoder).sample(2500) == expected).all()
        threads = circuit.compile_sampler(seed=3, threads=3, cache_bytes=0, **decoder)
        assert np.array_equal(np.concatenate([threads.sample(k) for k in (1, 1023, 1476)]), expected)
        threads.seek(700)
        assert np.array_equal(threads.sample(10), expected[700:710])
        reference = circuit.compile_sampler(seed=3, engine="reference", **decoder)
        assert np.array_equal(reference.sample(100), expected[:100])


def test_samplers_of_one_circuit_agree() -> None:
    circuit = teleported_t_gate(3, 5e-3)
    decoder = {"outcome": "pymatching", "frame": "pymatching"}
    sampler = circuit.compile_detector_sampler(seed=2, decoder=decoder)
    dets, obs = sampler.sample(3000, separate_observables=True)
    packed = np.packbits(dets, axis=1, bitorder="little")
    sampler.seek(0)
    counts = sampler.sample_counts(3000)
    assert counts.errors == obs.any(axis=1).sum() > 0
    assert counts.observable_flips.tolist() == obs.sum(axis=0).tolist()
    sampler.seek(0)
    some = sampler.sample_counts(10**6, max_errors=5)
    assert some.shots % 1024 == 0
    assert some.errors == obs[: some.shots].any(axis=1).sum() >= 5
    assert obs[: some.shots - 1024].any(axis=1).sum() < 5
    mask = np.zeros(circuit.num_detectors, dtype=np.bool_)
    mask[40:70] = True
    keeping = circuit.compile_detector_sampler(seed=2, decoder=decoder, postselection_mask=mask)
    kept = keeping.sample_kept(3000)
    expected = ~dets[:, mask].any(axis=1)
    assert np.array_equal(kept.dets, packed[expected])
    assert np.array_equal(kept.obs[:, 0], obs[expected] @ [1, 2])
    copy = pickle.loads(pickle.dumps(keeping))
    assert np.array_equal(copy.sample_kept(500).dets, keeping.sample_kept(500).dets)


def test_shots_that_a_check_has_discarded_are_not_decoded() -> None:
    circuit = snc.Circuit(
        "X_ERROR(0.5) 0 1\nM 0\nDETECTOR rec[-1]\nDECODE 1\nX_ERROR(0.5) 2\nM 2\nDETECTOR rec[-1]\nDECODE 1"
    )
    decoder = FunctionDecoder(lambda _, bits, count: np.zeros((len(bits), count), dtype=np.uint8))
    sampler = circuit.compile_detector_sampler(seed=1, decoder=decoder, postselection_mask="all")
    kept = sampler.sample_kept(1000)
    (_, first), (_, second) = decoder.seen
    assert 400 < len(first) < 600
    assert 180 < len(second) < 320
    assert not first.any()
    assert not second.any()
    assert len(kept.dets) == len(second)


def test_decisions_in_loops_are_numbered_one_by_one() -> None:
    text = "REPEAT 5 {\n    R 0\n    X_ERROR(0.1) 0\n    M 0\n    DETECTOR rec[-1]\n    TICK\n    DECODE 0\n}"
    circuit = snc.Circuit(text)
    unrolled = circuit.flattened()
    assert [(point.line, point.tick) for point in circuit.decision_points()] == [(7, k + 1) for k in range(5)]
    assert [point.num_detectors for point in circuit.decision_points()] == [1, 2, 3, 4, 5]
    assert [point.records for point in circuit.decision_points()] == [(2 * k + 1,) for k in range(5)]
    assert [point.num_detectors for point in unrolled.decision_points()] == [1, 2, 3, 4, 5]
    samples = [c.compile_sampler(seed=1, decoder="pymatching").sample(500) for c in (circuit, unrolled)]
    assert np.array_equal(*samples)
    # Detectors see the errors, so the decoded value is that without them.
    assert samples[0][:, ::2].any()
    assert not samples[0][:, 1::2].any()


def test_latency_hides_detectors() -> None:
    text = "R 0\nX_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nTICK\nM 0\nDETECTOR rec[-1]\nTICK\nTICK\nDECODE{} 0"
    known = {
        latency: DecidedCircuit(snc.Circuit(text.format(option)).to_stim()).points[0].num_detectors
        for latency, option in enumerate(["", "(latency=1)", "(latency=2)", "(latency=3)", "(latency=9)"])
    }
    assert known == {0: 2, 1: 2, 2: 2, 3: 1, 4: 0}
    late = snc.Circuit(text.format("(latency=9)"))
    records = late.compile_sampler(seed=1, decoder="pymatching").sample(1000)
    assert np.array_equal(records[:, -1], records[:, 0])
