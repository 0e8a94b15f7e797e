"""What decoders are told: error models of questions, and what known flips do."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import stim

import stim_nonclifford as snc
from examples.lattice_surgery.decoder_in_the_loop import teleported_t_gate
from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.circuit.decisions import sampling as decisions
from stim_nonclifford.generators.teleportation import teleportation_circuit
from stim_nonclifford.simulation.compiler.program import extent
from stim_nonclifford.simulation.decisions import DecidedCircuit, DecisionEngine, frame_circuit
from stim_nonclifford.simulation.engines import RowEngine


def table(model: stim.DetectorErrorModel) -> dict[frozenset[str], float]:
    """The rate of each error, with its parts joined."""
    found: dict[frozenset[str], float] = {}
    for error in model.flattened():
        if error.type == "error":
            flipped = frozenset[str]()
            for part in error.target_groups():
                flipped ^= frozenset(map(str, part))
            p, q = error.args_copy()[0], found.get(flipped, 0.0)
            found[flipped] = p * (1 - q) + q * (1 - p)
    return found


def test_the_model_of_a_measurement_behind_checks() -> None:
    circuit = snc.Circuit(
        """
        X_ERROR(0.1) 0 1 2
        MPP(0.01) Z0*Z1 Z1*Z2
        DETECTOR rec[-2]
        DETECTOR rec[-1]
        MPP[DECODE](0.02) Z0*Z1*Z2
        X_ERROR(0.3) 0
        MPP Z0*Z1
        DETECTOR rec[-1]
        """
    )
    model = circuit.decision_model(0)
    assert table(model) == pytest.approx(
        {
            frozenset({"D0", "L0"}): 0.1,
            frozenset({"D0", "D1", "L0"}): 0.1,
            frozenset({"D1", "L0"}): 0.1,
            frozenset({"D0"}): 0.01,
            frozenset({"D1"}): 0.01,
        }
    )
    assert (model.num_detectors, model.num_observables) == (2, 1)


def test_conditional_rotations_are_asked_for_where_they_matter() -> None:
    text = "RX 0\nM 1\nC_S rec[-1] 0\nC_T rec[-1] 0\nDECODE 1\nTICK\n{}[DECODE] 0"
    asked = [DecidedCircuit(snc.Circuit(text.format(name)).to_stim()) for name in ("M", "MX")]
    assert [[axis.text for axis in decided.all_axes] for decided in asked] == [["Z0"], ["Z0"]]
    assert [[decided.axes_of(k) for k in range(2)] for decided in asked] == [[[], []], [[], [0]]]
    assert asked[1].all_axes[0].turns.tolist() == [False, True]


@pytest.mark.parametrize(
    ("gate", "axes"),
    [
        ("C_S rec[-1] 0", ["Z0"]),
        ("C_S_DAG rec[-1] 0", ["Z0"]),
        ("C_SQRT_Y rec[-1] 0", ["Y0"]),
        ("C_SPP rec[-1] X0*Z1", ["X0*Z1"]),
        ("C_R_PAULI(0.5) rec[-1] X0*Z1", ["X0*Z1"]),
        ("C_R_PAULI(1) rec[-1] X0*Z1", []),
        ("CX rec[-1] 0", []),
        ("CT rec[-1] 0", []),
        ("CCZ rec[-1] 0 1", ["Z0", "Z1", "Z0*Z1"]),
        ("C_SWAP rec[-1] 0 1", ["X0*X1", "Y0*Y1", "Z0*Z1"]),
    ],
)
def test_axes_of_conditional_gates(gate: str, axes: list[str]) -> None:
    decided = DecidedCircuit(snc.Circuit(f"M 2\n{gate}\nM[DECODE] 0").to_stim())
    assert sorted(axis.text for axis in decided.all_axes) == sorted(axes)


def test_known_flips_are_those_of_frames() -> None:
    compared = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 5])
        lines = ["RX 0 1 2 3"]
        for k in range(4):
            a, b = rng.permutation(4)[:2]
            lines += [
                f"CX {a} {b}",
                f"H {a}",
                f"M[DECODE] {a}",
                "TICK",
                f"C_SPP rec[-1] {'XYZ'[seed % 3]}{a}*Z{b}",
            ]
            lines += [f"CX rec[-{k % 2 + 1}] {b}", f"DEPOLARIZE1(0.1) {b}", f"M {b}", "DETECTOR rec[-1]"]
        circuit = snc.Circuit("\n".join(lines)).to_stim()
        decided = DecidedCircuit(circuit)
        known = decided.knowledge
        without = stim.Circuit()
        for part in circuit.without_noise():
            if not part.tag.startswith("C_"):
                without.append(part.name, part.targets_copy())
        for bit, record in enumerate(decided.bits):
            # X before and after the measurement flips its record alone.
            measured, flips = 0, None
            for number, part in enumerate(without):
                if part.num_measurements and measured == record:
                    flips = number
                measured += part.num_measurements
            assert flips is not None
            qubit = without[flips].targets_copy()[0].value
            flip = stim.Circuit(f"X {qubit}")
            wrapped = without[:flips] + flip + without[flips : flips + 1] + flip + without[flips + 1 :]
            assert wrapped.num_measurements == without.num_measurements
            found = by_pauli_gates(wrapped)
            assert np.array_equal(found[: circuit.num_detectors], known.detectors[bit])
            later = found[circuit.num_detectors :][decided.bits]
            later[: bit + 1] = False
            assert np.array_equal(later, known.asked[bit])
            compared += 1
    assert compared == 160


def by_pauli_gates(circuit: stim.Circuit) -> npt.NDArray[np.bool_]:
    """What the gates X of a circuit flip, taken as errors."""
    simulator = stim.FlipSimulator(batch_size=1, disable_stabilizer_randomization=True)
    for part in circuit:
        single = stim.Circuit()
        if part.name == "X":
            single.append("X_ERROR", part.targets_copy(), 1)
        else:
            single.append(part)
        simulator.do(single)
    return np.concatenate([simulator.get_detector_flips()[:, 0], simulator.get_measurement_flips()[:, 0]])


def test_frame_circuits_have_the_model_of_their_circuit() -> None:
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 6])
        lines = ["R 0 1 2 3"]
        for _ in range(6):
            a, b, c = rng.permutation(4)[:3]
            lines += [f"CX {a} {b}", f"DEPOLARIZE2(0.01) {a} {b}", f"PAULI_CHANNEL_1(0.01, 0.02, 0.03) {c}"]
            lines += [
                f"MPP(0.04) Z{a}*Z{b}",
                "DETECTOR rec[-1]",
                f"E(0.05) X{a} Y{b}",
            ]
        lines += ["M(0.01) 0 1 2 3", "DETECTOR(1, 2) rec[-1] rec[-2]", "OBSERVABLE_INCLUDE(0) rec[-1]"]
        circuit = stim.Circuit("\n".join(lines))
        try:
            expected = circuit.detector_error_model(approximate_disjoint_errors=True)
        except ValueError:
            continue
        frames = frame_circuit(circuit)
        assert frames is not None
        found = frames.detector_error_model(approximate_disjoint_errors=True)
        assert table(found) == pytest.approx(table(expected), abs=1e-12)
        assert found.get_detector_coordinates() == expected.get_detector_coordinates()
        compared += 1
    assert compared > 20
    for line in (
        "HERALDED_ERASE(0.1) 0",
        "E(0.1) X0\nELSE_CORRELATED_ERROR(0.1) Z0",
        "I_ERROR[LEAKAGE(p=0.1)] 0",
    ):
        assert frame_circuit(stim.Circuit(line)) is None


@pytest.mark.parametrize("in_hindsight", [False, True])
def test_beginnings_of_one_frame_circuit(in_hindsight: bool) -> None:
    """All points share one sweep; the circuits are those of the prefixes, each swept for itself."""
    text = str(teleported_t_gate(3, 1e-3, 2)).replace("DECODE(decoder", "DECODE(latency=6, decoder", 1)
    late_herald = "X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nDECODE 0\nHERALDED_ERASE(0.1) 0\nDECODE 0"
    for circuit, supported in ((text, 4), (late_herald, 1)):
        decided = DecidedCircuit(snc.Circuit(circuit).to_stim(), asks_at_end=True, in_hindsight=in_hindsight)
        found = [decided.frame_circuit(k) for k in range(len(decided.points))]
        assert found == [frame_circuit(decided.prefix(k)) for k in range(len(decided.points))]
        assert sum(each is not None for each in found) == supported


def test_models_take_no_list_of_all_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = teleportation_circuit(distance=3, p=1e-3, correction="decoded")
    monkeypatch.setattr(extent, "MAX_FAULT_BYTES", 1 << 20)
    with pytest.raises(ResourceLimitError, match="list of these"):
        snc.Circuit(circuit).without_decisions().faults()
    detectors = snc.Circuit(circuit).compile_detector_sampler(seed=1, decoder="pymatching").sample(10)
    assert len(detectors) == 10


class _Faulty:
    """An engine whose shots have given rows."""

    def __init__(self, engine: RowEngine, rows: npt.NDArray[np.uint64]) -> None:
        self.engine, self.given = engine, rows

    def rows(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint64]:
        return self.given[first_shot : first_shot + shots].copy()

    def outcomes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> npt.NDArray[np.uint64]:
        return self.engine.outcomes(signatures, numbers, seed)

    def statistics(self) -> dict[str, int]:
        return {}


def rows_of_mechanisms(engine: DecisionEngine, times: int) -> npt.NDArray[np.uint64]:
    """Rows with one error each, and with random coins."""
    plan = engine._passes.plan
    rows = np.repeat(plan.effects.dense(plan.num_row_bits), times, axis=0)
    rows[:, plan.constant] ^= True
    coins = plan.coins.dense(plan.num_row_bits)
    tossed = np.random.default_rng(8).integers(0, 2, (len(rows), len(coins)))
    rows ^= (tossed @ coins.astype(np.int64) % 2).astype(np.bool_)
    words = -(-plan.num_signature_bits // 64)
    padded = np.zeros((len(rows), 64 * plan.num_row_words), dtype=np.bool_)
    padded[:, : plan.num_signature_bits] = rows[:, : plan.num_signature_bits]
    padded[:, 64 * words : 64 * words + plan.num_outputs] = rows[:, plan.num_signature_bits :]
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def failures_of_single_errors(circuit: snc.Circuit, decoders: str | dict[str, str]) -> tuple[int, int]:
    sampler = circuit.compile_detector_sampler(seed=1, decoder=decoders)
    engine = sampler._counting_engine
    assert isinstance(engine, DecisionEngine)
    rows = rows_of_mechanisms(engine, 8)
    engine._engine = _Faulty(engine._engine, rows)
    return engine.count(1, 0, len(rows)).errors, len(rows)


def test_no_single_error_of_the_surgery_fails() -> None:
    circuit = teleported_t_gate(3, 1e-3)
    failures, rows = failures_of_single_errors(circuit, {"outcome": "pymatching", "frame": "pymatching"})
    assert rows > 8 * 700
    assert failures == 0
    raw, _ = failures_of_single_errors(circuit, {"outcome": "raw", "frame": "pymatching"})
    assert raw > 100


@pytest.mark.parametrize(("s_gate", "least"), [("ideal", 700), ("patch", 1300)])
def test_no_single_error_of_a_generated_gate_fails(s_gate: Any, least: int) -> None:
    for given in ("plus", "bell"):
        text = teleportation_circuit(
            3, 1e-3, correction="decoded", input=given, s_gate=s_gate, magic="perfect"
        )
        failures, rows = failures_of_single_errors(snc.Circuit(text), "pymatching")
        assert rows > 8 * least
        assert failures == 0
        raw, _ = failures_of_single_errors(snc.Circuit(str(text).replace("M[DECODE]", "M")), "pymatching")
        assert raw > 100


SWITCHED = """
R 0 1 3
H 0
CX 0 1
RX 2
DECODE 2
X_ERROR(0.1) 0
E(0.05) Z0 X3
{gates}
MPP X0*X1 Z0*Z1
DETECTOR rec[-2]
DETECTOR rec[-1]
FRAME Z3
CX rec[-1] 3
M 3
"""
"""A Bell pair, which S and S_DAG leave as it is. If they are applied, they make an X before them a Y."""


def test_the_model_of_a_branch_is_that_of_its_circuit() -> None:
    circuit = snc.Circuit(SWITCHED.format(gates="C_S rec[-1] 0\nC_S_DAG rec[-1] 1"))
    for value, gates in ((False, ""), (True, "S 0\nS_DAG 1")):
        plain = SWITCHED.format(gates=gates).split("FRAME")[0].replace("DECODE", "M")
        expected = stim.Circuit(f"{plain}M 3\nOBSERVABLE_INCLUDE(0) rec[-1]").detector_error_model()
        assert table(circuit.decision_model(1, records={0: value})) == pytest.approx(table(expected))
    assert circuit.decision_model(0, records={}) == circuit.decision_model(0)


@pytest.mark.parametrize("own", [False, True])
def test_each_branch_has_its_model(own: bool) -> None:
    circuit = snc.Circuit(SWITCHED.format(gates="C_S rec[-1] 0\nC_S_DAG rec[-1] 1"))
    decoder = Extended() if own else "pymatching"
    records = circuit.compile_sampler(seed=4, decoder=decoder).sample(20_000)
    assert abs(records[:, 0].mean() - 0.5) < 0.02
    # Both checks fire for an X if the gates were applied, and otherwise for both errors: no case is ambiguous.
    assert not records[:, -1].any()
    for value in (False, True):
        branch = records[records[:, 0] == value]
        both = branch[:, 1] & branch[:, 2]
        assert abs(both.mean() - (0.1 * 0.95 if value else 0.1 * 0.05)) < 0.015
        assert (branch[both, 3] == (not value)).all()


class Extended:
    """A decoder that looks errors up, and gets more models while it decides."""

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        self.models = [*models]

    def extend(self, number: int, model: stim.DetectorErrorModel) -> None:
        assert number == 1
        self.models.append(model)

    def decide(self, number: int, detectors: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        model = self.models[number]
        best: dict[int, tuple[float, int]] = {}
        errors = [part for part in model.flattened() if part.type == "error"]
        for chosen in itertools.product((0, 1), repeat=len(errors)):
            events, flips, likelihood = 0, 0, 1.0
            for acts, error in zip(chosen, errors, strict=True):
                p = error.args_copy()[0]
                likelihood *= p if acts else 1 - p
                for target in error.targets_copy() if acts else []:
                    events ^= (1 << target.val) * target.is_relative_detector_id()
                    flips ^= target.is_logical_observable_id()
            best[events] = max(best.get(events, (0.0, 0)), (likelihood, flips))
        answers = [[best[events][1]] for events in detectors[:, 0].tolist()] if detectors.shape[1] else None
        return np.array(answers if answers is not None else [[0]] * len(detectors), dtype=np.uint8)


def test_values_of_records_that_a_model_asks_for() -> None:
    circuit = snc.Circuit(SWITCHED.format(gates="C_S rec[-1] 0\nC_S_DAG rec[-1] 1"))
    with pytest.raises(
        ValueError, match=r"Line 8: `CS`: .* flips D0 depends .*decision of line 13 has .*record 0\."
    ):
        circuit.decision_model(1)
    with pytest.raises(ValueError, match="line 13 depends, those of record 0, but has none"):
        circuit.decision_model(1, records={})
    with pytest.raises(ValueError, match=r"line 5 depends, no records, but has \[0\]"):
        circuit.decision_model(0, records={0: True})
    never = type("Never", (), {"begin": Extended.begin, "decide": Extended.decide})()
    with pytest.raises(ValueError, match=r"Line 13: the error model depends .*Never has no method extend"):
        circuit.compile_sampler(decoder=never)


def test_models_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MOST_MODELS", 2)
    circuit = snc.Circuit(SWITCHED.format(gates="C_S rec[-1] 0\nC_S_DAG rec[-1] 1"))
    sampler = circuit.compile_sampler(seed=4, decoder="pymatching")
    with pytest.raises(ResourceLimitError, match=r"Line 13: .*and 2 models do not suffice"):
        sampler.sample(100)
