"""Circuits with a decoder in the loop against density matrices in which the decoder decides each branch.

Statistical comparisons reject a correct sampler with a probability below ``ALPHA`` each.
"""

import itertools
import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pymatching
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.circuit.decisions import decision_model
from stim_nonclifford.dialect import first_decision, without_decisions
from stim_nonclifford.rates.decoding.decoders import decompositions
from stim_nonclifford.simulation.decisions import DecidedCircuit

from ...support.oracle.agreement import p_value
from ...support.oracle.deciding import decided_distribution
from ...support.oracle.density_matrix import Records, record_distribution
from ...support.oracle.random_circuits import random_circuit
from ...support.seeds import seeds

ALPHA = 1e-9
POWER = 1e-12
DECIDING = {"M", "MX", "MY", "MR", "MRX", "MXX", "MZZ", "MPP"}
SHOTS = 50_000


def answers_of_mock(seed: int, model: stim.DetectorErrorModel, detectors: tuple[int, ...]) -> tuple[int, ...]:
    """The answer of a decoder that is no decoder: a hash of its model and of what it sees."""
    return _hash(seed, zlib.crc32(str(model).encode()), detectors, model.num_observables)


@cache
def _hash(seed: int, name: int, detectors: tuple[int, ...], count: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng([seed, name, *detectors, 7]).integers(0, 2, count).tolist())


def packed_answers(
    seed: int, model: stim.DetectorErrorModel, detectors: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """The answers for rows of packed bits."""
    bits = np.unpackbits(detectors, axis=1, count=model.num_detectors, bitorder="little")
    keys = bits @ (1 << np.arange(model.num_detectors))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    found = [answers_of_mock(seed, model, tuple(row)) for row in bits[first].tolist()]
    answers = np.array(found, dtype=np.uint8).reshape(len(first), model.num_observables)
    return np.packbits(answers[which], axis=1, bitorder="little")


class Mock:
    """A decoder that answers with hashes."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.models: list[stim.DetectorErrorModel] = []

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        self.models = [*models]

    def extend(self, number: int, model: stim.DetectorErrorModel) -> None:
        self.models.append(model)

    def decide(self, number: int, detectors: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        return packed_answers(self.seed, self.models[number], detectors)


class ExactMock:
    """The mock as a function of the detectors and records of a branch.

    What known flips of records do is taken from the package; it has tests of its own.
    """

    def __init__(self, circuit: stim.Circuit, seed: int, *, is_matching: bool = True) -> None:
        self.decided = DecidedCircuit(circuit)
        self.attempts = decompositions(is_matching)
        self.seed = seed
        self.models: dict[tuple[int, tuple[bool, ...]], tuple[DecidedCircuit, stim.DetectorErrorModel]] = {}

    def branch(self, number: int, records: Records) -> tuple[DecidedCircuit, stim.DetectorErrorModel]:
        """The circuit with the gates that records apply, as far as they change the model, and the model."""
        axes = self.decided.switching(number)
        values = {r: bool(records[r]) for k in axes for r in self.decided.all_axes[k].records}
        applied = tuple(self.decided.all_axes[k].is_applied(values) for k in axes)
        if (number, applied) not in self.models:
            branch = self.decided.branch_of_records(number, values)
            model = decision_model(branch, number, self.attempts)
            self.models[number, applied] = branch, model
        return self.models[number, applied]

    def __call__(self, number: int, detectors: tuple[int, ...], records: Records) -> tuple[int, ...]:
        decided, model = self.branch(number, records)
        known = decided.knowledge
        point, first, axes = decided.points[number], decided.first_bits[number], decided.axes_of(number)
        flips = [flip for k in range(number) for flip in self(k, detectors, records)]
        made = [k for k in range(first) if flips[k]]
        seen = [
            detectors[d] ^ sum(int(known.detectors[k, d]) for k in made) % 2
            for d in range(point.num_detectors)
        ]
        bits = list(range(first, first + len(point.records)))
        assert model.num_observables == len(bits) + len(axes)
        found = [bool(b) for b in answers_of_mock(self.seed, model, tuple(seen))]
        for k in made:
            by = [*known.asked[k, bits], *known.axes[k, axes]]
            found = [bit != bool(flip) for bit, flip in zip(found, by, strict=True)]
        for place, axis in enumerate(axes):
            gate = decided.all_axes[axis]
            if (
                found[len(bits) + place]
                and gate.turns[sum(records[r] << j for j, r in enumerate(gate.records))]
            ):
                by = [*known.asked_by_axes[axis, bits], *known.axes_by_axes[axis, axes]]
                found = [bit != bool(flip) for bit, flip in zip(found, by, strict=True)]
        return tuple(int(bit) for bit in found[: len(bits)])


def deciding_circuits(seed: int, count: int) -> list[tuple[int, stim.Circuit]]:
    """Random circuits, some of whose measurements decide, and what the decoders of which is supported."""
    found: list[tuple[int, stim.Circuit]] = []
    k = 0
    while len(found) < count:
        rng = np.random.default_rng([seed, k])
        plain = random_circuit(rng, num_qubits=3, num_operations=25, max_records=8)
        circuit = stim.Circuit()
        for part in plain:
            decides = isinstance(part, stim.CircuitInstruction) and part.name in DECIDING and not part.tag
            if decides and rng.random() < 0.5:
                part = stim.CircuitInstruction(
                    part.name, part.targets_copy(), part.gate_args_copy(), tag="DECODE"
                )
            circuit.append(part)
            if rng.random() < 0.04 and circuit.num_measurements < 9:
                pauli = f"{rng.choice(list('XYZ'))}0*{rng.choice(list('XYZ'))}1"
                circuit.append(stim.CircuitInstruction("MPAD", [0], tag=f"FRAME({pauli})"))
        k += 1
        if first_decision(circuit) is None:
            continue
        try:
            decided = DecidedCircuit(circuit)
            assert decided.all_axes is not None
        except NotImplementedError:
            continue
        found.append((k, circuit))
    return found


CODE = """
R 0 1 2 3
H 0
CX 0 1 0 2
T 0
DEPOLARIZE1(0.1) 0 1 2
MPP(0.05) Z0*Z1 Z1*Z2
DETECTOR rec[-2]
DETECTOR rec[-1]
CX 0 3
M 3
M{decided} 3
CX rec[-1] 0
T 0
CX rec[-1] 0
R_PAULI(0.25) X0*X1*X2
DEPOLARIZE1(0.08) 0 1 2
MPP(0.05) Z0*Z1 Z1*Z2
DETECTOR rec[-2] rec[-6]
DETECTOR rec[-1] rec[-5]
MPP Z0*Z1*Z2
MPP{decided} Z0*Z1*Z2
C_SPP rec[-1] X0*X1*X2
H 0 1 2
M 0 1 2
"""
"""A repetition code with noisy checks. T or T_DAG, and later a rotation, depend on decided records.

Before each decided record stands the raw one.
"""


def code_with_decisions() -> tuple[snc.Circuit, list[pymatching.Matching]]:
    """The code with decisions, and the decoder of each."""
    circuit = snc.Circuit(CODE.format(decided="[DECODE]"))
    models = [circuit.decision_model(k, decompose_errors=True) for k in range(2)]
    return circuit, [pymatching.Matching.from_detector_error_model(model) for model in models]


def exact_code(circuit: snc.Circuit, decoders: list[pymatching.Matching]) -> dict[Records, float]:
    """The exact distribution with PyMatching in the loop."""
    # The flip of the first decided record reverses a rotation, but no check and no later record.
    known = DecidedCircuit(circuit.to_stim()).knowledge
    assert not known.detectors.any()
    assert not known.asked.any()

    def answer(number: int, detectors: tuple[int, ...], _: Records) -> list[int]:
        return [int(decoders[number].decode(np.array(detectors[: 2 + 2 * number]))[0])]

    return decided_distribution(
        circuit.to_stim(), answer, circuit.without_decisions().reference_sample().tolist()
    )


def test_pymatching_in_the_loop_of_a_code() -> None:
    circuit, decoders = code_with_decisions()
    samples = circuit.compile_sampler(seed=11, decoder="pymatching").sample(1_000_000)
    assert p_value(samples, exact_code(circuit, decoders)) > ALPHA
    assert p_value(samples, record_distribution(circuit.without_decisions().to_stim())) < POWER


def test_coins_that_are_what_the_decoder_says() -> None:
    # A readout error of 1/2 guesses whether a record is flipped. Shots in which it guesses right are exact.
    circuit, decoders = code_with_decisions()
    records = snc.Circuit(CODE.format(decided="(0.5)")).compile_sampler(seed=3).sample(1_000_000)
    checks = records[:, [0, 1, 4, 5]]
    detectors = np.concatenate([checks[:, :2], checks[:, 2:] ^ checks[:, :2]], axis=1)
    answers = [decoders[k].decode_batch(detectors[:, : 2 + 2 * k])[:, 0] for k in range(2)]
    kept = (records[:, 2] ^ records[:, 3] == answers[0]) & (records[:, 6] ^ records[:, 7] == answers[1])
    assert abs(kept.mean() - 0.25) < 0.003
    assert p_value(records[kept], exact_code(circuit, decoders)) > ALPHA
    decided = circuit.compile_sampler(seed=12, decoder="pymatching").sample(int(kept.sum()))
    assert two_samples_differ_by(decided, records[kept]) < 6


def two_samples_differ_by(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> float:
    """The difference of two samples of records: chi squared, in standard deviations above its mean."""
    weights = 1 << np.arange(first.shape[1])
    counts = [np.bincount(sample @ weights, minlength=2 ** len(weights)) for sample in (first, second)]
    frequent = counts[0] + counts[1] >= 20
    a, b = (count[frequent] for count in counts)
    chi_squared = float(((a - b) ** 2 / (a + b)).sum())
    return (chi_squared - len(a)) / (2 * len(a)) ** 0.5


@pytest.mark.parametrize("seed", seeds(6, 1))
def test_random_circuits_with_a_mock_decoder(seed: int) -> None:
    different = 0
    for k, circuit in deciding_circuits(seed, 8):
        plain = snc.Circuit(circuit)
        reference = plain.without_decisions().reference_sample().tolist()
        expected = decided_distribution(circuit, ExactMock(circuit, k), reference)
        sampler = plain.compile_sampler(seed=k, decoder=Mock(k))
        samples = sampler.sample(SHOTS)
        assert p_value(samples, expected) > ALPHA, (k, str(circuit))
        raw = record_distribution(without_decisions(circuit))
        different += p_value(samples, raw) < POWER
    assert different >= 2


def switched_circuit(rng: np.random.Generator) -> stim.Circuit:
    """A random circuit in which the gate that a decision controls changes what later detectors see."""

    def product(letters: str = "XYZ") -> str:
        qubits = sorted(rng.permutation(3)[: rng.integers(1, 4)].tolist())
        return "*".join(f"{rng.choice(list(letters))}{q}" for q in qubits)

    def noisy() -> list[str]:
        a, b, c = rng.permutation(3).tolist()
        return [f"H {a}", f"CX {a} {b}", f"T {c}", "DEPOLARIZE1(0.1) 0 1 2"]

    lines = ["R 0 1 2", *noisy(), *noisy(), f"MPP(0.05) {product()}", "DETECTOR rec[-1]"]
    lines += [f"MPP[DECODE] {product()}", *noisy()]
    gates = [
        "C_SPP rec[-1] {}",
        "C_SPP_DAG rec[-1] {}",
        "C_R_PAULI(0.5) rec[-1] {}",
        "C_R_PAULI(1.5) rec[-2] {}",
    ]
    lines += [str(rng.choice(gates)).format(product()), "DEPOLARIZE1(0.1) 0 1 2"]
    if rng.random() < 0.5:
        lines.append(str(rng.choice(gates)).format(product()))
    lines += [f"MPP {product()} {product()}", "DETECTOR rec[-1]", "DETECTOR rec[-2] rec[-4]"]
    lines += [f"MPP[DECODE] {product()}", f"C_SPP rec[-1] {product()}", *noisy()]
    lines += [f"MPP {product()}", "DETECTOR rec[-1]", f"MPP[DECODE] {product()}", "M 0"]
    return snc.Circuit("\n".join(lines)).to_stim()


@pytest.mark.parametrize("seed", seeds(6, 1))
def test_models_that_depend_on_decisions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = models = 0
    different = []
    for k in itertools.count():
        circuit = switched_circuit(np.random.default_rng([seed, k, 4]))
        decided = DecidedCircuit(circuit)
        if not any(decided.switching(j) for j in range(len(decided.points))):
            continue
        plain = snc.Circuit(circuit)
        reference = plain.without_decisions().reference_sample().tolist()
        answer = ExactMock(circuit, k)
        expected = decided_distribution(circuit, answer, reference)
        sampler = plain.compile_sampler(seed=k, decoder=Mock(k))
        samples = sampler.sample(SHOTS)
        assert p_value(samples, expected) > ALPHA, (k, str(circuit))
        models += len(answer.models) - len(decided.points)
        # With the models of the branch in which nothing is applied, answers are others.
        monkeypatch.setattr(answer.decided, "switching", lambda point: [])
        answer.models = {(j, ()): found for (j, applied), found in answer.models.items() if not any(applied)}
        if len(answer.models) == len(decided.points):
            wrong = decided_distribution(circuit, answer, reference)
            different.append(p_value(samples, wrong) < POWER)
        compared += 1
        if compared == 3:
            break
    assert models >= 3
    assert sum(different) >= 1


def test_expectation_values_are_those_of_the_decided_branch() -> None:
    # P(records) <P given records> is the difference of P(records, 0) and P(records, 1) if P is measured then.
    compared, different = 0, 0.0
    for k, circuit in deciding_circuits(3, 4):
        plain = snc.Circuit(circuit)
        reference = plain.without_decisions().reference_sample().tolist()
        answer = ExactMock(circuit, k)
        asked = plain + snc.Circuit("EXP_VAL X0 Y1 Z2 X0*Z1*Y2")
        sampler = asked.compile_sampler(seed=k, decoder=Mock(k))
        records, values = sampler.sample_expectation_values(SHOTS)
        weights = 1 << np.arange(records.shape[1])
        for place, pauli in enumerate(["X0", "Y1", "Z2", "X0*Z1*Y2"]):
            measured = circuit + stim.Circuit(f"MPP {pauli}")
            exact = decided_distribution(measured, answer, [*reference, 0])
            plainly = record_distribution(without_decisions(measured))
            expected, without = np.zeros((2, 1 << records.shape[1]))
            for into, law in ((expected, exact), (without, plainly)):
                for bits, p in law.items():
                    into[np.array(bits[:-1]) @ weights] += (-1) ** bits[-1] * p
            found = np.bincount(records @ weights, values[:, place], len(expected)) / SHOTS
            # Values are at most 1: each mean has an error of sqrt(P / shots) at most.
            law = np.bincount(records @ weights, minlength=len(expected)) / SHOTS
            errors = np.sqrt((law + 20 / SHOTS) / SHOTS)
            assert (np.abs(found - expected) < 6 * errors).all(), (k, pauli, str(circuit))
            different = max(different, float((np.abs(found - without) / errors).max()))
            compared += 1
    assert compared == 16
    assert different > 20


def test_checks_of_states_are_decided() -> None:
    circuit = snc.Circuit(
        """
        RX 0
        T 0
        R 1
        X_ERROR(0.2) 1
        Z_ERROR(0.1) 0
        M 1
        DETECTOR rec[-1]
        DECODE 1
        C_S rec[-1] 0
        EXP_VAL X0 Y0 Z0
        OBSERVABLE_INCLUDE(0) X0
        OBSERVABLE_INCLUDE(1) Y0
        OBSERVABLE_INCLUDE(2) Z0
        """
    )
    found = {}
    for decoder in ("pymatching", "raw"):
        sampler = circuit.compile_detector_sampler(seed=1, decoder=decoder, state_check="T")
        found[decoder] = sampler.sample_counts(100_000).errors / 100_000
    # Z is an error, and a wrong S is one in every second shot.
    assert abs(found["pymatching"] - 0.1) < 0.006
    assert abs(found["raw"] - (0.8 * 0.1 + 0.2 * 0.5)) < 0.008
