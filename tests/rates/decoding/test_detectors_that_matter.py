"""What rates know of matching: detectors that cannot change a prediction, and failing sets that stay so."""

import numpy as np
import pymatching
import pytest
import sinter
import stim

import stim_nonclifford as snc
from benchmarks.rates.decoded_codes import toric_memory
from stim_nonclifford.generators.teleportation import injection_circuit
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.decoding.matching.matching_graph import detectors_that_matter
from stim_nonclifford.rates.decoding_problems import decoded_problem
from tests.support.rates.decoded_rate_cases import repetition_code, surface_code


@pytest.mark.parametrize(
    ("circuit", "kept"),
    [
        (surface_code(2e-2), 16 / 24),
        (surface_code(8e-3, distance=5), 72 / 120),
        (snc.Circuit(toric_memory(3, 1e-2)), 2 / 3),
        (repetition_code(0.02, rounds=4), 1),
    ],
    ids=["d=3", "d=5", "toric", "repetition"],
)
def test_predictions_without_detectors_that_do_not_matter(circuit: snc.Circuit, kept: float) -> None:
    """Ties are broken in the same way, too."""
    errors = circuit.detector_error_model(decompose_errors=True)
    matters = detectors_that_matter(errors)
    assert matters.mean() == pytest.approx(kept)
    matching = pymatching.Matching.from_detector_error_model(errors)
    events = circuit.to_stim().compile_detector_sampler(seed=3).sample(20_000)
    assert (events & ~matters).any(axis=1).mean() > 0.5 or kept == 1
    np.testing.assert_array_equal(matching.decode_batch(events & matters), matching.decode_batch(events))


def test_detectors_matter_where_a_matching_may_be_missing() -> None:
    """Then PyMatching raises an error, and the user must see it."""
    text = "error(0.1) D0 L0\nerror(0.1) D0 D1\nerror(0.1) D2 D3"
    for more, expected in (
        ("", 2),
        ("error(0.1) D3 D2 D0", 2),
        ("error(0.1) D3 D4 D5", 6),
        ("error(0.1) D3", 2),
    ):
        model = stim.DetectorErrorModel(f"{text}\n{more}")
        assert detectors_that_matter(model).tolist() == [k < expected for k in range(model.num_detectors)], (
            more
        )


def test_other_decoders_may_use_all_detectors() -> None:
    assert rate_decoder("pymatching").is_pymatching
    for other in (
        rate_decoder("pymatching", confidence=True),
        rate_decoder("pymatching-correlated"),
        rate_decoder(sinter.BUILT_IN_DECODERS["pymatching"]),
    ):
        assert not other.is_pymatching


def test_only_some_decoders_fail_with_one_fault_more() -> None:
    """An edge that no fault has alone, and an outcome that is random, may take a failing set's supersets away."""

    def has_no_orphans(circuit: snc.Circuit, decoder: str = "pymatching") -> bool:
        none = np.zeros(circuit.num_detectors, dtype=np.bool_)
        return decoded_problem(circuit, rate_decoder(decoder), none, False).finds_least_weight

    color = stim.Circuit.generated(
        "color_code:memory_xyz", distance=5, rounds=5, after_clifford_depolarization=1e-3
    )
    assert has_no_orphans(surface_code(2e-2))
    assert has_no_orphans(repetition_code(0.02, rounds=4))
    assert not has_no_orphans(surface_code(2e-2), "pymatching-correlated")
    assert not has_no_orphans(snc.Circuit(str(color)))
    assert not has_no_orphans(snc.Circuit(injection_circuit(3, 1e-3, "T")))
