"""What is decoded, and how often, follows from the shots alone, and not from the speed of the decoder."""

from __future__ import annotations

import numpy as np
import pytest

from stim_nonclifford.rates.decoding import classifying, failure_test
from stim_nonclifford.rates.decoding.classifying import Classifier
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.estimation.deadline import Deadline
from tests.support.rates.decoded_rate_cases import model_of, surface_code


def test_decodes_do_not_depend_on_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a table that forgets most of its rows: one row at a time, and thousands of rows at once."""
    monkeypatch.setattr(failure_test, "_CACHE_BITS", 6)
    circuit = surface_code(1e-2)
    predict = rate_decoder("pymatching", confidence=True).predictor(
        circuit.detector_error_model(decompose_errors=True)
    )
    model = model_of(circuit)
    chosen = np.random.default_rng(1).integers(model.num_mechanisms, size=(4, 500, 1))
    decodes, gaps = [], []
    for rows, seconds in ((1, 1e-12), (1 << 14, 1e3)):
        monkeypatch.setattr(classifying, "_FIRST_ROWS", rows)
        monkeypatch.setattr(classifying, "_SECONDS", seconds)
        classifier = Classifier(model, predict, Deadline(None))
        found = [classifier.classify(np.bitwise_xor.reduce(model.flips[part], axis=1)) for part in chosen]
        decodes.append(classifier.test.decoded)
        gaps.append(np.concatenate([each.gaps for each in found]).tolist())
    assert decodes[0] == decodes[1] > 500
    assert gaps[0] == gaps[1]
    assert len(set(gaps[0])) > 10
