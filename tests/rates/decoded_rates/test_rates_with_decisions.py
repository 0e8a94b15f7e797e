"""Logical error rates of circuits in which a decoder decides.

Statistical comparisons reject a correct rate with a probability below 1e-6 each.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sinter
import stim

import stim_nonclifford as snc
from examples.lattice_surgery.decoder_in_the_loop import teleported_t_gate
from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.circuit.decisions import decided_question
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import fault_model
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.samplers.strata import FaultStates, Stratum

from ...simulation.decisions.decoders import Bits, FunctionDecoder
from ...simulation.decisions.test_decisions_by_oracle import ExactMock
from ...simulation.decisions.test_switched_by_decisions import HashDecoder, summed
from ...support.oracle.deciding import decided_distribution
from ...support.oracle.density_matrix import Distribution

PYMATCHING = {"outcome": "pymatching", "frame": "pymatching"}

SMALL = """
R 0 1 2 3
H 0
CX 0 1 0 2
X_ERROR({p}) 0 1 2
MPP({p}) Z0*Z1 Z1*Z2
DETECTOR rec[-2]
DETECTOR rec[-1]
TICK
R 3
CX 0 3
M[DECODE] 3
T 0
CX rec[-1] 0 rec[-1] 1 rec[-1] 2
X_ERROR({p}) 0 1 2
MPP Z0*Z1 Z1*Z2
DETECTOR rec[-2] rec[-5]
DETECTOR rec[-1] rec[-4]
MPP Z0*Z1*Z2
OBSERVABLE_INCLUDE(0) rec[-1]
"""
"""A repetition code in |000> + |111>, which its decoded value turns into |000>."""


def exact_rate(circuit: snc.Circuit) -> float:
    """The rate by density matrices with both decoders inside, which match by looking at all errors."""
    tagged = circuit.to_stim()
    early, late = Likeliest(circuit.decision_model(0)), Likeliest(final_model(circuit))

    def answer(_: int, detectors: tuple[int, ...], __: Any) -> Sequence[int]:
        return [early(detectors[:2])]

    reference = circuit.without_decisions().reference_sample().tolist()
    rate = 0.0
    for records, probability in decided_distribution(tagged, answer, reference).items():
        first, second, _, third, fourth, parity = records
        flip = early((first, second))
        # The known flip of the decided record flips the code.
        predicted = late((first, second, first ^ third, second ^ fourth)) ^ flip
        rate += probability * (predicted != parity)
    return rate


def final_model(circuit: snc.Circuit) -> stim.DetectorErrorModel:
    """The error model of the observable, without decisions."""
    return circuit.without_decisions().detector_error_model(
        kind="noise_only", approximate_disjoint_errors=True
    )


class Likeliest:
    """The parity of the likeliest set of errors, by looking at all of them."""

    def __init__(self, model: stim.DetectorErrorModel) -> None:
        errors = [e for e in model.flattened() if e.type == "error"]
        best: dict[tuple[int, ...], tuple[float, int]] = {}
        for chosen in itertools.product((0, 1), repeat=len(errors)):
            likelihood, flips, parity = 1.0, np.zeros(model.num_detectors, dtype=np.int64), 0
            for acts, error in zip(chosen, errors, strict=True):
                p = error.args_copy()[0]
                likelihood *= p if acts else 1 - p
                for target in error.targets_copy() if acts else []:
                    if target.is_relative_detector_id():
                        flips[target.val] ^= 1
                    elif target.is_logical_observable_id():
                        parity ^= 1
            key = tuple(flips.tolist())
            if likelihood > best.get(key, (0.0, 0))[0]:
                best[key] = likelihood, parity
        self.best = {key: parity for key, (_, parity) in best.items()}

    def __call__(self, detectors: Sequence[int]) -> int:
        return self.best[tuple(detectors)]


class LikeliestDecoder(sinter.Decoder):
    """As ``Likeliest``, for Sinter. Its model has one observable."""

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return CompiledLikeliest(dem)


class CompiledLikeliest(sinter.CompiledDecoder):
    def __init__(self, model: stim.DetectorErrorModel) -> None:
        self.likeliest, self.num_detectors = Likeliest(model), model.num_detectors

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bits) -> Bits:
        bits = np.unpackbits(
            bit_packed_detection_event_data, axis=1, count=self.num_detectors, bitorder="little"
        )
        return np.array([[self.likeliest(row)] for row in bits.tolist()], dtype=np.uint8).reshape(-1, 1)


def assert_agrees(found: snc.LogicalErrorRate, expected: float, error: float = 0.0, by: float = 5.0) -> None:
    assert abs(found.logical_error_rate - expected) < by * np.hypot(found.standard_error, error)
    assert found.interval[0] < expected + by * error
    assert found.interval[1] > expected - by * error


EXCLUSIVE = SMALL.replace("X_ERROR({p}) 0 1 2", "E({p}) X0\nELSE_CORRELATED_ERROR({p}) X1 X2\nX_ERROR({p}) 2")
"""The same with errors that exclude each other."""


@pytest.mark.parametrize(("text", "p"), [(SMALL, 0.1), (SMALL, 0.01), (SMALL, 0.001), (EXCLUSIVE, 0.1)])
def test_rate_of_a_small_code_is_exact(text: str, p: float) -> None:
    circuit = snc.Circuit(text.format(p=p))
    found = circuit.logical_error_rate(decoder=LikeliestDecoder(), relative_error=0.03, seed=2)
    assert_agrees(found, exact_rate(circuit))
    assert found.standard_error < 0.04 * found.logical_error_rate
    # Not the one in which nothing is corrected.
    raw = circuit.logical_error_rate(
        decoder=LikeliestDecoder(), loop_decoder={"name": "raw"}, relative_error=0.03, seed=2
    )
    assert_agrees(raw, found.logical_error_rate, found.standard_error)  # the end makes up for it


def test_rate_of_a_t_gate_is_counted() -> None:
    circuit = teleported_t_gate(3, 2e-3)
    arguments: dict[str, Any] = {"decoder": "pymatching", "relative_error": 0.05, "seed": 3}
    shots = 150_000
    for loop in (PYMATCHING, {**PYMATCHING, "outcome": "raw"}):
        found = circuit.logical_error_rate(loop_decoder=loop, **arguments)
        counts = circuit.compile_detector_sampler(seed=4, decoder=loop).sample_counts(shots)
        assert_agrees(found, counts.errors / shots, counts.errors**0.5 / shots)


def test_single_faults_never_fail_and_pairs_do() -> None:
    # An independent program, with coins and PyMatching, found 7178(25) p^2 for small p.
    p = 1e-6
    circuit = teleported_t_gate(3, p)
    none = np.zeros(circuit.num_detectors, dtype=np.bool_)
    asked = decided_question(circuit.to_stim(), rate_decoder("pymatching"), PYMATCHING, none)
    model, rng = fault_model(asked.symptoms), np.random.default_rng(1)
    stratum = Stratum(model)

    def failing(states: FaultStates) -> float:
        rows = model.with_outcomes(states.rows, states.numbers)
        return float(model.observables(rows).any(axis=1).mean())

    each = np.repeat(np.arange(len(stratum.faults)), 8)[:, np.newaxis]
    assert len(each) > 8 * 900
    assert failing(stratum.states(each, rng)) == 0
    shots = 200_000
    share = failing(stratum.drawn(2, 2, shots, rng))
    odds = np.exp(model.log_odds[stratum.faults])
    pairs = (odds.sum() ** 2 - (odds**2).sum()) / 2 / p**2
    error = np.hypot((share / shots) ** 0.5 * pairs, 25)
    assert abs(share * pairs - 7178) < 5 * error
    assert error < 100


def test_rate_that_nobody_can_count() -> None:
    # 7178(25) p^2, and at 1e-4 hardly anything else.
    circuit = teleported_t_gate(3, 1e-4)
    found = circuit.logical_error_rate(
        decoder="pymatching", loop_decoder=PYMATCHING, relative_error=0.05, seed=5
    )
    assert_agrees(found, 7.18e-5, 0.03e-5)
    assert found.standard_error < 4e-6
    assert found.decodes < 100_000
    # Sets that fail while no larger one does are ruled out as far as that matters.
    assert found.interval[1] < 1.2 * found.logical_error_rate


class WrongOnOneSyndrome(sinter.Decoder):
    """PyMatching, but wrong if just one error has happened, one of some probability.

    With a further error it is right, so that no larger set of errors fails.
    """

    def __init__(self, least: float) -> None:
        self.least, self.added = least, 0.0

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        by_events: dict[tuple[int, ...], float] = {}
        none = 1.0
        for error in dem.flattened():
            if error.type == "error":
                events = np.zeros(dem.num_detectors, dtype=np.uint8)
                for target in error.targets_copy():
                    if target.is_relative_detector_id():
                        events[target.val] ^= 1
                q = error.args_copy()[0]
                none *= 1 - q
                by_events[tuple(events.tolist())] = by_events.get(tuple(events.tolist()), 0.0) + q
        q, events = min((q, events) for events, q in by_events.items() if q > self.least)
        self.added = q * none
        compiled = sinter.BUILT_IN_DECODERS["pymatching"].compile_decoder_for_dem(dem=dem)
        return CompiledWrongOnOne(compiled, np.packbits(np.array(events, dtype=np.uint8), bitorder="little"))


class CompiledWrongOnOne(sinter.CompiledDecoder):
    def __init__(self, compiled: sinter.CompiledDecoder, events: Bits) -> None:
        self.compiled, self.events = compiled, events

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bits) -> Bits:
        found = self.compiled.decode_shots_bit_packed(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        )
        found[(bit_packed_detection_event_data == self.events).all(axis=1), 0] ^= 1
        return found


def test_sets_that_fail_while_no_larger_one_does_are_found() -> None:
    circuit = teleported_t_gate(3, 1e-4)
    decoder = WrongOnOneSyndrome(2e-5)
    found = circuit.logical_error_rate(decoder=decoder, loop_decoder=PYMATCHING, relative_error=0.05, seed=6)
    assert 1.5e-5 < decoder.added < 4e-5
    assert_agrees(found, 7.18e-5 + decoder.added, 0.03e-5)
    assert found.strata[1].least_faults == 1


def test_kept_shots_of_a_postselected_gate() -> None:
    circuit = teleported_t_gate(3, 3e-3)
    mask = np.zeros(circuit.num_detectors, dtype=np.bool_)
    mask[20:40] = True
    found = circuit.logical_error_rate(
        decoder="pymatching", loop_decoder=PYMATCHING, postselection_mask=mask, relative_error=0.05, seed=5
    )
    sampler = circuit.compile_detector_sampler(seed=4, decoder=PYMATCHING, postselection_mask=mask)
    counts = sampler.sample_counts(150_000)
    kept = counts.shots - counts.discards
    assert abs(found.kept - kept / counts.shots) < 0.01
    assert_agrees(found, counts.errors / kept, counts.errors**0.5 / kept)
    assert counts.discards > 10_000


def test_results_depend_on_the_seed_alone() -> None:
    circuit = teleported_t_gate(3, 1e-3)
    rates = [
        circuit.logical_error_rate(
            decoder="pymatching", loop_decoder=PYMATCHING, relative_error=0.3, seed=seed, threads=threads
        ).logical_error_rate
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    ]
    assert rates[0] == rates[1] != rates[2]
    both = snc.logical_error_rates(
        [circuit, teleported_t_gate(3, 2e-3)],
        decoder="pymatching",
        loop_decoder=PYMATCHING,
        relative_error=0.3,
        seed=1,
    )
    assert both[0].logical_error_rate == rates[0]


class Random(sinter.Decoder):
    """A decoder that answers by a stream of random numbers."""

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return CompiledRandom(dem.num_observables)


class CompiledRandom(sinter.CompiledDecoder):
    def __init__(self, num_observables: int) -> None:
        self.bytes, self.rng = -(-num_observables // 8), np.random.default_rng(3)
        self.most = 1 << min(8, num_observables)

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bits) -> Bits:
        count = len(bit_packed_detection_event_data)
        answers = self.rng.integers(0, self.most, (count, self.bytes), dtype=np.uint8)
        return answers & np.where(self.rng.random((count, 1)) < 0.05, 255, 0).astype(np.uint8)


def random_answers(number: int, bits: Bits, count: int) -> Bits:
    return (RNG.random((len(bits), count)) < 0.01).astype(np.uint8)


RNG = np.random.default_rng(8)


@pytest.mark.parametrize(
    "arguments",
    [
        {"decoder": Random()},
        {"decoder": "pymatching", "loop_decoder": Random()},
        {"decoder": Random(), "loop_decoder": {"name": "pymatching"}},
        {"decoder": "pymatching", "loop_decoder": FunctionDecoder(random_answers)},
    ],
)
def test_random_decoders_have_no_rate(arguments: dict[str, Any]) -> None:
    # A wrong S makes an observable random.
    text = SMALL.replace("H 0\n", "").replace(
        "MPP Z0*Z1*Z2", "MX 4\nOBSERVABLE_INCLUDE(1) rec[-1]\nMPP Z0*Z1*Z2"
    )
    text = text.replace("M[DECODE] 3\n", "M[DECODE] 3\nRX 4\nC_S rec[-1] 4\n")
    circuit = snc.Circuit(text.format(p=0.02))
    with pytest.raises(ValueError, match=r"not deterministic.*SoftDecodingSampler"):
        circuit.logical_error_rate(relative_error=0.001, max_seconds=30, seed=1, **arguments)


def raising(number: int, bits: Bits, count: int) -> npt.NDArray[Any]:
    raise RuntimeError("no such luck")


@pytest.mark.parametrize(
    ("circuit", "arguments", "error", "message"),
    [
        (SMALL, {}, NotImplementedError, "DECODE asks a decoder"),
        (SMALL, {"loop_decoder": "pymatching"}, ValueError, "no decoder predicts the observables at the end"),
        (SMALL, {"decoder": "pymatching", "confidence": True}, ValueError, r"Line 11: .*SoftDecodingSampler"),
        (
            SMALL,
            {"decoder": "desaturated"},
            ValueError,
            "'desaturated' is not available for circuits with DECODE",
        ),
        (SMALL, {"decoder": "pymatching", "state_check": "T"}, ValueError, "state_check is not available"),
        (
            SMALL,
            {"decoder": "pymatching", "loop_decoder": "pymatchng"},
            ValueError,
            "Did you mean pymatching",
        ),
        (
            SMALL,
            {"decoder": "pymatching", "loop_decoder": FunctionDecoder(raising)},
            ValueError,
            "Line 11: decision 0: the decoder raised RuntimeError: no such luck",
        ),
        (
            SMALL.replace("M[DECODE] 3", "M 3"),
            {"decoder": "pymatching", "loop_decoder": "pymatching"},
            ValueError,
            "Leave loop_decoder out",
        ),
        (SMALL.replace("OBSERVABLE", "#"), {"decoder": "pymatching"}, ValueError, "no observables"),
        (
            SMALL.replace("MPP Z0*Z1*Z2", "MX 0"),
            {"decoder": "pymatching"},
            ValueError,
            "Observable 0 .*random",
        ),
    ],
)
def test_refusals(circuit: str, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        snc.Circuit(circuit.format(p=0.01)).logical_error_rate(seed=1, **arguments)


def test_budgets_are_refused_with_a_remedy() -> None:
    circuit = snc.Circuit(SMALL.format(p=0.05))
    found = circuit.logical_error_rate(decoder=LikeliestDecoder(), relative_error=0.1, seed=1)
    with pytest.raises(NotImplementedError, match=r"Circuit.error_budget\(by, loop_decoder"):
        found.error_budget(by="gate")


TELEPORTED = """
RX 3 4
T 4
DEPOLARIZE1({p}) 3 4
MZZ({p}) 3 4
MZZ[DECODE]({p}) 3 4
DETECTOR rec[-1] rec[-2]
REPEAT[IF rec[-1]] 1 {{
    S 3
    DEPOLARIZE1({p}) 3
}}
MX({p}) 4
T_DAG 3
MX 3
OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]
"""
"""A teleported T gate, whose S is a block with noise: which block follows is a matter of chance."""

RETRIED = """
R 0 1 3
REPEAT[UNTIL !rec[-1]] 3 {{
    RX 2
    T 2
    DEPOLARIZE1({p}) 0 1 2
    MZZ({p}) 0 1
    DETECTOR rec[-1]
    X_ERROR({p}) 3
    T_DAG 2
    MX({p}) 2
}}
DETECTOR rec[-1]
MPP[DECODE] Z0*Z1*Z3
CX rec[-1] 3
M 3 0 1
OBSERVABLE_INCLUDE(0) rec[-1] rec[-2] rec[-3] rec[-4]
"""
"""A T state that is tried again until its measurement is right, while another qubit waits."""


CHOSEN_BY_NOISE = """
R 0 1 2
X_ERROR({p}) 0
M 0
REPEAT[IF rec[-1]] 1 {{
    X 1
    X_ERROR({p}) 1
}}
X_ERROR({p}) 2
M[DECODE] 2
CX rec[-1] 1
M 1
DETECTOR rec[-1] rec[-2] rec[-3]
OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]
"""
"""A block that nothing but noise chooses. It flips the observable, which is wrong then, and no detector."""


class NoFlips(sinter.Decoder):  # type: ignore[misc]
    """A decoder that predicts no flip."""

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return CompiledNoFlips(dem.num_observables)


class CompiledNoFlips(sinter.CompiledDecoder):  # type: ignore[misc]
    def __init__(self, num_observables: int) -> None:
        self.num_bytes = -(-num_observables // 8)

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bits) -> Bits:
        return np.zeros((len(bit_packed_detection_event_data), self.num_bytes), dtype=np.uint8)


def exact_rate_of_blocks(
    circuit: snc.Circuit, observable: Sequence[int], detector: Sequence[int]
) -> tuple[float, float]:
    """The rate and the kept fraction, by density matrices of each choice of blocks with the decoder inside.

    At its end, the circuit is not decoded. The observable and the detector that postselects are given by their
    records, counted from the end; without noise they are 0.
    """

    def law_of(static: stim.Circuit) -> Distribution:
        reference = snc.Circuit(static).without_decisions().reference_sample().tolist()
        return decided_distribution(static, ExactMock(static, 5, is_matching=False), reference)

    records, total = summed(circuit.to_stim(), law_of)
    assert abs(total - 1) < 1e-9
    bits = np.array(list(records), dtype=np.bool_)
    wrong, fires = (np.logical_xor.reduce(bits[:, places], axis=1) for places in (observable, detector))
    kept = np.array(list(records.values())) * ~fires
    return float(kept @ wrong / kept.sum()), float(kept.sum())


@pytest.mark.parametrize("relative_error", [0.01, pytest.param(0.0018, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("text", "observable", "postselected", "detector"),
    [
        (TELEPORTED, [-1, -2], None, []),
        (TELEPORTED, [-1, -2], 0, [0, 1]),
        (TELEPORTED.replace("S 3", "S 3\n    R_Z(0.1) 3"), [-1, -2], None, []),
        (CHOSEN_BY_NOISE, [-1, -2], None, []),
        (CHOSEN_BY_NOISE, [-1, -2], 0, [-1, -2, -3]),
        (RETRIED, [-1, -2, -3, -4], None, []),
        (RETRIED, [-1, -2, -3, -4], 3, [-5]),
    ],
)
def test_rates_with_blocks_are_exact(
    text: str, observable: list[int], postselected: int | None, detector: list[int], relative_error: float
) -> None:
    """The slow ones would see a probability that is wrong by 1%; seed 1."""
    circuit = snc.Circuit(text.format(p=0.1))
    mask = None if postselected is None else [k == postselected for k in range(circuit.num_detectors)]
    found = circuit.logical_error_rate(
        decoder=NoFlips(),
        loop_decoder=HashDecoder(5),
        postselection_mask=mask,
        relative_error=relative_error,
        seed=1,
    )
    expected, kept = exact_rate_of_blocks(circuit, observable, detector)
    assert found.standard_error < 1.01 * relative_error * found.logical_error_rate
    assert_agrees(found, expected)
    assert abs(found.kept - kept) <= 5 * found.kept_error + 1e-12
    assert abs(sum(row.kept_and_wrong for row in found.strata) - found.kept_and_wrong) < 1e-12
    # Each choice of blocks has its strata, none of which is the whole.
    names = {row.name.split(",")[0] for row in found.strata}
    assert names == {f"branch {k + 1}" for k in range(len(names))}
    assert len(names) == (3 if text == RETRIED else 2)
    shares = {name: sum(r.kept_and_wrong for r in found.strata if r.name.startswith(name)) for name in names}
    assert (max(shares.values()) < 0.95 * found.kept_and_wrong) == (text != CHOSEN_BY_NOISE)


@pytest.mark.parametrize("num_more", [0, 55, 57, 58, 59, 60, 61])
def test_exclusive_errors_with_any_number_of_detectors(num_more: int) -> None:
    """Outputs of a state fill words, and records that decide follow them: each number is at another place; seed 3."""
    errors = "E(0.1) X0\n    ELSE_CORRELATED_ERROR(0.1) X1 Z2\n"
    text = RETRIED.format(p=0.1).replace("DEPOLARIZE1(0.1) 0 1 2\n", errors)
    circuit = snc.Circuit("M" + " 9" * max(num_more, 1) + "\nDETECTOR rec[-1]" * num_more + text)
    mask = [k == num_more for k in range(circuit.num_detectors)]
    arguments: dict[str, Any] = {"decoder": "pymatching", "postselection_mask": mask, "seed": 3}
    found = circuit.logical_error_rate(relative_error=0.03, **arguments)
    counts = circuit.compile_detector_sampler(**arguments).sample_counts(100_000)
    kept = counts.shots - counts.discards
    assert_agrees(found, counts.errors / kept, counts.errors**0.5 / kept)
    assert abs(found.kept - kept / counts.shots) < 6 * np.hypot(found.kept_error, 0.5 / counts.shots**0.5)


MEMORY = """
R 0 1 2 3 4 7
RX 5
X_ERROR(0.01) 0 1 2 3 4
MPP(0.01) Z0*Z1 Z1*Z2 Z2*Z3 Z3*Z4
DETECTOR rec[-4]
DETECTOR rec[-3]
DETECTOR rec[-2]
DETECTOR rec[-1]
M 5
{block}
X_ERROR(0.01) 0 1 2 3 4
MPP Z0*Z1 Z1*Z2 Z2*Z3 Z3*Z4
DETECTOR rec[-4] rec[-13]
DETECTOR rec[-3] rec[-12]
DETECTOR rec[-2] rec[-11]
DETECTOR rec[-1] rec[-10]
M[DECODE] 7
M 0
OBSERVABLE_INCLUDE(0) rec[-1]
"""
"""A repetition code with more noise in a block, which a coin switches."""
NOISY = "X_ERROR(0.03) 0 1 2 3 4\nMPP(0.01) Z0*Z1 Z1*Z2 Z2*Z3 Z3*Z4\n"


def test_rare_failures_with_blocks() -> None:
    """The mean of the rates with the block and without it; each choice has backward deletion; seed 3."""
    blocks = (f"REPEAT[IF rec[-1]] 1 {{\n{NOISY}}}", NOISY, "MPAD 0 0 0 0")
    switched, with_block, without = (
        snc.Circuit(MEMORY.format(block=block)).logical_error_rate(
            decoder="pymatching", relative_error=0.01, seed=3
        )
        for block in blocks
    )
    expected = (with_block.logical_error_rate + without.logical_error_rate) / 2
    assert_agrees(switched, expected, np.hypot(with_block.standard_error, without.standard_error) / 2)
    assert without.logical_error_rate < 0.2 * with_block.logical_error_rate
    deleted = {row.name.split(",")[0] for row in switched.strata if "backward deletion" in row.method}
    assert "branch 2" in deleted


def test_what_rates_with_blocks_refuse() -> None:
    def refused(text: str, message: str, kind: type[Exception] = ValueError, **options: Any) -> None:
        with pytest.raises(kind, match=message):
            snc.Circuit(text).logical_error_rate(decoder="pymatching", **options)

    block = (
        "X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nREPEAT[IF rec[-1]] 1 {\n    M 1\n    DETECTOR rec[-1]\n}\n"
    )
    end = "M 2\nOBSERVABLE_INCLUDE(0) rec[-1]"
    refused(block * 7 + end, r"Line 4: .*more than 64 circuits.*compile_detector_sampler", ResourceLimitError)
    refused("RX 0\n" + block + end, r"detector D0 is random without noise.*blocks so: line 5: no")
    refused(block + "RX 2\n" + end, "an observable is random without noise")
    random = "RX 0\nM 0\nREPEAT[IF rec[-1]] 1 {\n    X 2\n}\n"
    refused(random + end, "an observable is random without noise where records choose blocks so: line 3: yes")
    refused(block + end, r"Line 4: .*confidence=True is not available.*switch", confidence=True)
    refused(block + end, "has no DECODE", loop_decoder="pymatching")
    found = snc.Circuit(block + "X_ERROR(0.2) 2\n" + end).logical_error_rate(decoder="pymatching", seed=1)
    with pytest.raises(NotImplementedError, match="blocks that records switch"):
        found.error_budget("noise")
