"""Blocks that decisions switch, against density matrices with the decoder inside, branch by branch.

Statistical comparisons reject a correct engine with a probability below ``ALPHA`` each; there are fewer than a
hundred.
"""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.dialect import without_decisions
from stim_nonclifford.simulation.decisions import (
    Branch,
    DecidedCircuit,
    DecisionsFailedError,
    branch_of,
    branches_of,
)

from ...support.oracle.agreement import p_value
from ...support.oracle.deciding import decided_distribution
from ...support.oracle.density_matrix import Distribution, Records, record_distribution
from ...support.seeds import seeds
from ..engines.trajectories.test_switched_blocks import random_switched_text
from .decoders import FunctionDecoder
from .test_decisions_by_oracle import ExactMock, packed_answers

ALPHA = 1e-9
POWER = 1e-12
SHOTS = 40_000


class HashDecoder(sinter.Decoder):  # type: ignore[misc]
    """A decoder that is no decoder: its answers are a hash of its model and of what it sees."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return CompiledHash(self.seed, dem)


class CompiledHash(sinter.CompiledDecoder):  # type: ignore[misc]
    def __init__(self, seed: int, model: stim.DetectorErrorModel) -> None:
        self.seed, self.model = seed, model

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Any) -> Any:
        return packed_answers(self.seed, self.model, bit_packed_detection_event_data)


def chosen(branch: Branch, records: Records) -> tuple[bool, ...]:
    """What the records of a branch choose."""
    return tuple(
        all(sum(records[r] for r in found) % 2 != is_even for found, is_even in choice.terms)
        for choice in branch.choices
    )


def all_branches(circuit: stim.Circuit, most: int = 64) -> list[Branch]:
    """The circuits of all choices, or more than ``most``."""
    return list(itertools.islice(branches_of(circuit), most + 1))


def summed(circuit: stim.Circuit, law_of: Any) -> tuple[Distribution, float]:
    """The sum over all branches of the laws of those of their records that choose them; the sum of its probabilities."""
    result: Distribution = {}
    for branch in all_branches(circuit):
        taken = tuple(choice.taken for choice in branch.choices)
        for records, p in law_of(branch.circuit).items():
            if chosen(branch, records) == taken:
                result[records] = result.get(records, 0.0) + p
    return result, sum(result.values())


def switched_circuit(seed: int) -> stim.Circuit:
    """A random circuit of few branches, without decisions."""
    for k in itertools.count():
        circuit = snc.Circuit(random_switched_text(np.random.default_rng([57, seed, k]))).to_stim()
        if 2 <= len(all_branches(circuit, 12)) <= 12:
            return circuit
    raise AssertionError


@pytest.mark.parametrize("seed", seeds(30, quick=3))
def test_branches_add_up_to_the_circuit(seed: int) -> None:
    """Without decisions, density matrices follow the blocks themselves."""
    circuit = switched_circuit(seed)
    found, total = summed(circuit, record_distribution)
    expected = record_distribution(circuit)
    assert abs(total - 1) < 1e-9
    assert max(abs(found.get(key, 0.0) - expected.get(key, 0.0)) for key in {*found, *expected}) < 1e-9


def test_the_sum_over_branches_has_power() -> None:
    """Most circuits have more than one branch, none of which has the distribution of the circuit."""
    different = 0
    for seed in range(5):
        circuit = switched_circuit(seed)
        expected = record_distribution(circuit)
        alone = [record_distribution(branch.circuit) for branch in all_branches(circuit)]
        distances = [sum(abs(law.get(k, 0.0) - p) for k, p in expected.items()) for law in alone]
        different += min(distances) > 1e-3
    assert different >= 3


def random_deciding_text(rng: np.random.Generator) -> str:
    """A noisy circuit on three qubits with decisions, some of which switch blocks with decisions."""

    def product() -> str:
        qubits = sorted(rng.permutation(3)[: rng.integers(1, 4)].tolist())
        return "*".join(f"{rng.choice(list('XYZ'))}{q}" for q in qubits)

    def noisy() -> list[str]:
        a, b, c = rng.permutation(3).tolist()
        return [f"H {a}", f"CX {a} {b}", f"T {c}", "DEPOLARIZE1(0.1) 0 1 2"]

    def asked() -> list[str]:
        line = f"MPP[DECODE] {product()}" if rng.random() < 0.7 else f"FRAME {product()}"
        return [*noisy(), f"MPP(0.05) {product()}", "DETECTOR rec[-1]", line]

    condition = str(rng.choice(["rec[-1]", "!rec[-1]", "rec[-1]^rec[-2]", "rec[-1] !rec[-2]"]))
    lines = ["R 0 1 2", *noisy(), *asked()]
    lines += [f"REPEAT[IF {condition}] 1 {{", *noisy(), f"MPP {product()}", "DETECTOR rec[-1] rec[-3]"]
    if rng.random() < 0.5:
        lines += [f"MPP[DECODE] {product()}", f"CX rec[-1] {rng.integers(3)}"]
    lines += ["}"]
    if rng.random() < 0.5:
        times = rng.integers(2, 4)
        lines += [f"REPEAT[UNTIL {'!' * int(rng.integers(2))}rec[-1]] {times} {{"]
        lines += [
            f"DEPOLARIZE1(0.2) {rng.integers(3)}",
            f"H {rng.integers(3)}",
            f"MPP[DECODE] {product()}",
            "}",
        ]
    lines += [f"C_S rec[-1] {rng.integers(3)}" if rng.random() < 0.3 else "S 1"]
    lines += [f"MPP[DECODE] {product()}", f"CX rec[-1] {rng.integers(3)}", *noisy(), "M 0"]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", seeds(5, quick=1))
def test_random_circuits_with_a_mock_decoder(seed: int) -> None:
    raw = always = 0
    for k in range(4):
        circuit = snc.Circuit(random_deciding_text(np.random.default_rng([seed, k, 57])))

        def law_of(static: stim.Circuit, k: int = k) -> Distribution:
            reference = snc.Circuit(static).without_decisions().reference_sample().tolist()
            return decided_distribution(static, ExactMock(static, k, is_matching=False), reference)

        expected, total = summed(circuit.to_stim(), law_of)
        assert abs(total - 1) < 1e-9
        samples = circuit.compile_sampler(seed=k, decoder=HashDecoder(k)).sample(SHOTS)
        assert p_value(samples, expected) > ALPHA, str(circuit)
        raw += p_value(samples, record_distribution(without_decisions(circuit.to_stim()))) < POWER
        alone = [law_of(branch.circuit) for branch in all_branches(circuit.to_stim())]
        always += all(p_value(samples, law) < POWER for law in alone)
    assert raw >= 2
    assert always >= 3


BLOCK_AFTER_A_DECISION = """
R 0 1 2 3
X_ERROR(0.1) 0 1 2
MPP(0.05) Z0*Z1 Z1*Z2
DETECTOR rec[-2]
DETECTOR rec[-1]
RX 3
T 3
MPP[DECODE] Z0*Z1*Z2
REPEAT[IF !rec[-1]] 1 {
    R_X(0.3) 3
    Z_ERROR(0.2) 3
    MX 3
    DETECTOR
    MPP(0.1) Z0*Z1 Z1*Z2
    DETECTOR rec[-2] rec[-6]
    DETECTOR rec[-1] rec[-5]
}
MPP[DECODE] Z0*Z1*Z2
M 0 3
"""


def test_density_matrices_follow_blocks_and_ask_the_decoder() -> None:
    """Here nothing is summed: whether the block is executed is seen in the records."""
    circuit = snc.Circuit(BLOCK_AFTER_A_DECISION)
    answering = {
        is_there: ExactMock(branch_of(circuit.to_stim(), [is_there]).circuit, 5, is_matching=False)
        for is_there in (False, True)
    }

    def answer(number: int, detectors: tuple[int, ...], records: Records) -> tuple[int, ...]:
        if number == 0:
            return answering[False](0, detectors, records)
        is_there = not records[2]
        seen = detectors[:2] + (detectors[2:] if is_there else (0, 0, 0))
        return answering[is_there](1, seen, records)

    reference = circuit.without_decisions().reference_sample().tolist()
    expected = decided_distribution(circuit.to_stim(), answer, reference)
    samples = circuit.compile_sampler(seed=3, decoder=HashDecoder(5)).sample(400_000)
    assert p_value(samples, expected) > ALPHA
    assert p_value(samples, record_distribution(without_decisions(circuit.to_stim()))) < POWER
    always = decided_distribution(branch_of(circuit.to_stim(), [True]).circuit, answering[True], reference)
    assert p_value(samples, always) < POWER


ATTEMPTS = """
REPEAT[UNTIL rec[-1]] 3 {
    R 0 1 2
    X_ERROR(0.08) 0 1 2
    MPP(0.03) Z0*Z1 Z1*Z2
    DETECTOR rec[-2]
    DETECTOR rec[-1]
    X_ERROR(0.02) 3
    EXP_VAL Z3
    SURE(8) Z0*Z1*Z2
}
EXP_VAL Z3
"""


def test_attempts_until_the_decoder_is_sure() -> None:
    """The last attempt has the last places; it is sure, but for the third."""
    shots = 50_000
    circuit = snc.Circuit(ATTEMPTS)
    records = circuit.compile_sampler(seed=1, decoder="pymatching").sample(shots).reshape(shots, 3, 3)
    sure = records[:, :, 2]
    assert not sure[:, :2].any()  # whoever is sure moves to the end
    alone = snc.Circuit("\n".join(ATTEMPTS.strip().splitlines()[1:-2]))
    p = alone.compile_sampler(seed=2, decoder="pymatching").sample(shots)[:, 2].mean()
    assert 0.5 < p < 0.95
    assert abs(sure[:, 2].mean() - (1 - (1 - p) ** 3)) < 6 * math.sqrt(0.02 / shots)
    sampler = circuit.compile_detector_sampler(seed=1, decoder="pymatching")
    detectors = sampler.sample(shots)
    assert np.array_equal(detectors, records[:, :, :2].reshape(shots, 6))
    sampler.seek(0)
    assert np.array_equal(np.concatenate([sampler.sample(k) for k in (1, 20_000, 29_999)]), detectors)
    _, _, values = sampler.sample_expectation_values(shots)
    attempts = 3 - np.isnan(values[:, :3]).sum(axis=1)
    assert abs((attempts == 1).mean() - p) < 6 * math.sqrt(2 * p * (1 - p) / shots)
    assert np.array_equal(values[:, 2], values[:, 3])
    for k in (1, 2, 3):  # each attempt flips what waits
        mean, count = values[attempts == k, 3].mean(), (attempts == k).sum()
        assert abs(mean - 0.96**k) < 6 * math.sqrt((1 - 0.96 ** (2 * k)) / count)


def test_discarded_shots_are_those_whose_detectors_fire() -> None:
    """One detector is before the block, and one in it."""
    circuit = snc.Circuit(BLOCK_AFTER_A_DECISION + "OBSERVABLE_INCLUDE(0) rec[-1]")
    kwargs: dict[str, Any] = {"seed": 4, "decoder": "pymatching"}
    everything = circuit.compile_detector_sampler(**kwargs).sample(100_000, append_observables=True)
    mask = [True, False, False, True, False]
    counts = circuit.compile_detector_sampler(**kwargs, postselection_mask=mask).sample_counts(100_000)
    kept = ~everything[:, :5][:, mask].any(axis=1)
    expected = kept.mean(), (kept & everything[:, 5]).mean()
    found = (counts.shots - counts.discards) / counts.shots, counts.errors / counts.shots
    for a, b in zip(found, expected, strict=True):
        assert abs(a - b) < 6 * math.sqrt(2 * b * (1 - b) / 100_000)
    inside = circuit.compile_detector_sampler(**kwargs, postselection_mask=[False] * 3 + [True, False])
    assert inside.sample_counts(100_000).discards == everything[:, 3].sum() > 0


def test_what_is_refused() -> None:
    circuit = snc.Circuit(BLOCK_AFTER_A_DECISION + "OBSERVABLE_INCLUDE(0) rec[-1]")
    own = FunctionDecoder(lambda number, bits, count: np.zeros((len(bits), count), dtype=np.uint8))
    with pytest.raises(ValueError, match=r"Line 9: the decoder FunctionDecoder.*Give the name"):
        circuit.compile_sampler(decoder=own)
    for call in (
        circuit.decision_points,
        lambda: circuit.decision_model(0),
    ):
        with pytest.raises(NotImplementedError, match=r"Line 9: .*compile_detector_sampler\(decoder=...\)"):
            call()
    many = "M 0\n" + "RX 0\nDECODE 0\nREPEAT[IF rec[-1]] 1 {\n    X 1\n}\n" * 7
    with pytest.raises(ResourceLimitError, match=r"Line \d+: shots choose among more than 64 circuits"):
        snc.Circuit(many).compile_sampler(decoder="pymatching", seed=1).sample(10)


def test_messages_name_lines_of_the_circuit() -> None:
    """Its branches have other lines."""

    class Failing(CompiledHash):
        def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Any) -> Any:
            raise RuntimeError("no answer")

    class FailingDecoder(sinter.Decoder):  # type: ignore[misc]
        def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
            return Failing(0, dem)

    text = (
        "M 0\nREPEAT[IF rec[-1]] 1 {\n    M 1\n    MX 2\n}\nX_ERROR(0.1) 3\nM 3\nDETECTOR rec[-1]\nDECODE 3"
    )
    with pytest.raises(DecisionsFailedError, match="Line 9: decision 0"):
        snc.Circuit(text).compile_sampler(decoder=FailingDecoder()).sample(1)


def test_neighbouring_decisions_of_two_blocks_stay_two() -> None:
    circuit = snc.Circuit("X 1\nDECODE 0\nREPEAT[IF !rec[-1]] 1 {\n    DECODE 1\n}").to_stim()
    branch = branch_of(circuit, [True])
    decided = DecidedCircuit(branch.circuit, lines=branch.lines)
    assert [point.records for point in decided.points] == [(0,), (1,)]
    assert [point.line for point in decided.points] == [2, 4]
