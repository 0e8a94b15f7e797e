"""What samplers and counts say of themselves: seeds, texts, rates, rows for Sinter, unpacked bits."""

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sinter

import stim_nonclifford as snc
from stim_nonclifford import Circuit
from stim_nonclifford.simulation.engines import EngineOptions
from stim_nonclifford.simulation.sampling import CompiledMeasurementSampler, SampleCounts

CIRCUIT = Circuit("""
    RX 0
    T 0
    X_ERROR(0.2) 1 2 3 4 5 6 7 8 9
    EXP_VAL X0
    M 1 2 3 4 5 6 7 8 9
    DETECTOR rec[-9]
    DETECTOR rec[-8] rec[-7]
    DETECTOR rec[-6]
    DETECTOR rec[-5]
    DETECTOR rec[-4]
    DETECTOR rec[-3]
    DETECTOR rec[-2]
    DETECTOR rec[-1]
    DETECTOR rec[-1] rec[-2]
    OBSERVABLE_INCLUDE(0) rec[-7]
    OBSERVABLE_INCLUDE(1) rec[-3]
""")
MASK = np.arange(9) < 2


@pytest.mark.parametrize("compile_sampler", [CIRCUIT.compile_sampler, CIRCUIT.compile_detector_sampler])
def test_samplers_say_their_seed(compile_sampler) -> None:  # type: ignore[no-untyped-def]
    """A drawn seed gives the same shots again. Two drawn ones are equal with a chance of 2^-64."""
    assert compile_sampler(seed=17).seed == 17
    drawn = compile_sampler()
    assert drawn.seed != compile_sampler().seed
    np.testing.assert_array_equal(drawn.sample(500), compile_sampler(seed=drawn.seed).sample(500))


def test_samplers_show_their_circuit() -> None:
    """As expressions of the class and of a circuit, as in Stim."""
    for name in ("compile_sampler", "compile_detector_sampler"):
        sampler = getattr(CIRCUIT, name)()
        start, _, rest = repr(sampler).partition("(")
        assert start == f"stim_nonclifford.simulation.sampling.{type(sampler).__name__}"
        assert eval(rest.removesuffix(")"), {"stim_nonclifford": snc}) == CIRCUIT
        assert "    T 0\n" in rest
        clifford = Circuit("H 0\nM 0")
        stims = repr(getattr(clifford.to_stim(), name)())
        ours = repr(getattr(clifford, name)()).replace("stim_nonclifford.simulation.sampling.", "stim.")
        assert ours.replace("stim_nonclifford.", "stim.") == stims


@pytest.mark.parametrize("expectation_values", [False, True])
def test_kept_shots_without_packing(expectation_values: bool) -> None:
    """Seed 3: the bits of the packed arrays, with nine detectors in two bytes."""
    arguments = {"seed": 3, "postselection_mask": MASK}
    packed = CIRCUIT.compile_detector_sampler(**arguments).sample_kept(
        400, expectation_values=expectation_values
    )
    plain = CIRCUIT.compile_detector_sampler(**arguments).sample_kept(
        400, expectation_values=expectation_values, bit_packed=False
    )
    assert 0 < packed.discards == plain.discards < 400
    assert plain.dets.shape == (400 - plain.discards, 9)
    assert plain.obs.shape == (400 - plain.discards, 2)
    assert plain.dets.dtype == plain.obs.dtype == np.bool_
    assert plain.dets[:, 2:].any(axis=0).all()
    assert not plain.dets[:, :2].any()
    np.testing.assert_array_equal(np.packbits(plain.dets, axis=1, bitorder="little"), packed.dets)
    np.testing.assert_array_equal(np.packbits(plain.obs, axis=1, bitorder="little"), packed.obs)
    if expectation_values:
        assert plain.expectation_values is not None
        np.testing.assert_array_equal(plain.expectation_values, packed.expectation_values)


def test_rates_and_intervals() -> None:
    """Those of SciPy's test of a binomial, where that is right."""
    for errors, kept in ((0, 7), (7, 7), (3, 1000), (50, 120)):
        counts = SampleCounts(kept + 11, 11, errors, np.array([errors]))
        assert counts.rate == errors / kept
        for coverage in (0.5, 0.95, 0.999):
            expected = scipy.stats.binomtest(errors, kept).proportion_ci(coverage, "exact")
            np.testing.assert_allclose(counts.interval(coverage), expected, rtol=1e-9, atol=1e-300)
        assert counts.interval() == counts.interval(0.95)
    nothing = SampleCounts(5, 5, 0, np.array([0]))
    assert math.isnan(nothing.rate)
    assert nothing.interval() == (0, 1)


def test_rows_for_sinter(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Seed 4. The row has the counts, is read back from a file, and is added to rows of its circuit only."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler = CIRCUIT.compile_detector_sampler(seed=4, postselection_mask=MASK)
        counts = sampler.sample_counts(2000)
    row = counts.to_sinter({"p": 0.2}, seconds=1.5)
    assert isinstance(row, sinter.TaskStats)
    assert (row.shots, row.errors, row.discards) == (counts.shots, counts.errors, counts.discards)
    assert (row.seconds, row.decoder, row.json_metadata) == (1.5, "soft_postselect", {"p": 0.2})
    assert sum(row.custom_counts.values()) == counts.errors > 0
    assert row.custom_counts["obs_mistake_mask=_E"] == counts.error_patterns[2] > 0
    path = tmp_path / "stats.csv"
    other = counts.to_sinter({"p": 0.3})
    rows = [row, counts.to_sinter({"p": 0.2}), other, counts.to_sinter({"p": 0.2}, decoder="mine")]
    path.write_text("\n".join([sinter.CSV_HEADER, *(each.to_csv_line() for each in rows)]) + "\n")
    read = sinter.read_stats_from_csv_files(path)
    assert sorted(each.shots for each in read) == [2000, 2000, 4000]


def copy_of(sampler: Any) -> Any:
    return pickle.loads(pickle.dumps(sampler))


@pytest.mark.parametrize("seed", [None, 5])
def test_measurement_sampler(seed: int | None) -> None:
    circuit = snc.Circuit("H 0 1\nT 0\nH 0\nX_ERROR(0.1) 0\nM 0 1")
    for arguments in ({}, {"skip_reference_sample": True}, {"reference_sample": np.array([True, False])}):
        sampler = circuit.compile_sampler(seed=seed, threads=2, **arguments)
        sampler.sample(100)
        copy = copy_of(sampler)
        assert (copy.sample(1000) == sampler.sample(1000)).all()
        assert (copy_of(copy).sample(10) == sampler.sample(10)).all()


def test_samplers_without_a_circuit() -> None:
    compiled = snc.Circuit("M 0").compile()
    with pytest.raises(TypeError, match="CompiledMeasurementSampler cannot be pickled"):
        pickle.dumps(CompiledMeasurementSampler(compiled, EngineOptions()))
