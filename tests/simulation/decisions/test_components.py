"""Decisions by the components of a matching graph, against PyMatching on the whole graph."""

import numpy as np
import pymatching
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford._native import MaskedRows
from stim_nonclifford.circuit.decisions.components import ComponentDecoding
from stim_nonclifford.generators.teleportation import teleportation_circuit
from stim_nonclifford.rates.decoding.decoders import rate_decoder


def models_of_gate() -> list[stim.DetectorErrorModel]:
    """The models of the two questions of a teleported T gate."""
    circuit = snc.Circuit(teleportation_circuit(3, 2e-3, correction="decoded", input="bell", magic="perfect"))
    return [circuit.decision_model(k, decompose_errors=True) for k in range(2)]


@pytest.mark.parametrize("max_bytes", [1 << 20, 1 << 12])  # with little memory, answers are forgotten
def test_answers_are_those_of_the_whole_graph(max_bytes: int) -> None:
    models = models_of_gate()
    decoding = ComponentDecoding(rate_decoder("pymatching"), models, max_bytes)
    answers = set()
    for seed in range(3):
        for k, model in enumerate(models):
            events, _, _ = model.compile_sampler(seed=10 * seed + k).sample(4000, bit_packed=True)
            matching = pymatching.Matching.from_detector_error_model(model)
            expected = matching.decode_batch(events, bit_packed_shots=True, bit_packed_predictions=True)
            assert np.array_equal(decoding.decide(k, events), expected)
            answers.update(expected[:, 0].tolist())
    assert len(answers) == 8  # of three observables


def test_parallel_edges_and_parts_of_errors() -> None:
    """Of parallel edges, PyMatching takes the observables of the first."""
    model = stim.DetectorErrorModel("""
        error(0.1) D0 L0
        error(0.02) D0 D1
        error(0.2) D0 D1 L1
        error(0.1) D1 L2
        error(0.03) D2 L1 ^ D4 D3 L0
        error(0.1) D3
        error(0.4) D4 L70
        error(0.1) D5 D6 D7
        error(0.1) L3
    """)
    rows = np.arange(32, dtype=np.uint8)[:, np.newaxis]
    decoding = ComponentDecoding(rate_decoder("pymatching"), [model], 1 << 20)
    matching = pymatching.Matching.from_detector_error_model(model)
    expected = matching.decode_batch(rows, bit_packed_shots=True, bit_packed_predictions=True)
    assert np.array_equal(decoding.decide(0, rows), expected)
    assert len(np.unique(expected, axis=0)) > 8


def random_errors(rng: np.random.Generator, count: int) -> list[str]:
    """Errors of a model of 8 detectors, in lines; parallel ones may flip other observables."""
    lines = []
    for p in rng.uniform(0.001, 0.3, count).tolist():
        detectors = sorted(rng.choice(8, rng.choice([1, 2, 2, 3]), replace=False).tolist())
        observables = [k for k in (0, 1, 70) if rng.random() < 0.2]
        targets = [*(f"D{k}" for k in detectors), *(f"L{k}" for k in observables)]
        lines.append(f"error({p!r}) {' '.join(targets)}")
    return lines


def test_models_that_have_most_lines_in_common() -> None:
    outer = [f"error({0.01 + 0.003 * k!r}) D{k}" for k in range(8)]  # so that all events are explained
    rows = np.arange(256, dtype=np.uint8)[:, np.newaxis]
    answers = set()
    for seed in range(30):
        rng = np.random.default_rng([seed, 9])
        begin, more = random_errors(rng, 20), random_errors(rng, 10)
        texts = [outer + begin, [*begin[3:], *outer, *more, "detector D9"], more + outer, ["detector D7"], []]
        models = [stim.DetectorErrorModel("\n".join(text)) for text in texts]
        decoding = ComponentDecoding(rate_decoder("pymatching"), models, 1 << 20)
        for k, model in enumerate(models[:3]):
            matching = pymatching.Matching.from_detector_error_model(model)
            seen = np.pad(rows, ((0, 0), (0, (model.num_detectors - 1) // 8)))
            expected = matching.decode_batch(seen, bit_packed_shots=True, bit_packed_predictions=True)
            assert np.array_equal(decoding.decide(k, seen), expected)
            answers.update(expected[:, 0].tolist())
        assert decoding.decide(3, rows[:1]).tolist() == [[]]
        assert decoding.decide(4, np.zeros((2, 0), dtype=np.uint8)).tolist() == [[], []]
    assert answers == {0, 1, 2, 3}


def test_events_that_nothing_explains_are_refused() -> None:
    model = stim.DetectorErrorModel("error(0.1) D0 L0\ndetector D1")
    decoding = ComponentDecoding(rate_decoder("pymatching"), [model], 1 << 20)
    for _ in range(2):
        with pytest.raises(ValueError, match="that no errors of the error model explain"):
            decoding.decide(0, np.array([[2]], dtype=np.uint8))
        assert decoding.decide(0, np.array([[1], [0]], dtype=np.uint8)).tolist() == [[1], [0]]


def test_numbers_of_masked_rows() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, (20_000, 9), dtype=np.uint8)
    rows[:, 2:8] = 0
    numbered = MaskedRows(np.array([0, 1], dtype=np.uint32), np.array([2**64 - 1, 1], dtype=np.uint64))
    found: dict[tuple[int, ...], int] = {(0, 0, 0): 0}
    for part in (rows[:7], rows[7:]):
        numbers, fresh = numbered.number(part.reshape(-1), 9)
        news = []
        for k, row in enumerate(part[:, [0, 1, 8]].tolist()):
            key = (row[0], row[1], row[2] & 1)
            if key not in found:
                news.append(k)
            assert found.setdefault(key, len(found)) == numbers[k]
        assert fresh.tolist() == news
    assert len(numbered) == len(found) == 18
    numbered.clear()
    assert len(numbered) == 1
    with pytest.raises(ValueError, match="row_bytes"):
        numbered.number(rows.reshape(-1)[:10], 9)
