"""Bad input is refused, with a message that says what came, what was expected, and what to do."""

import pathlib
import re
import resource
import time
from typing import Any

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit, ResourceLimitError
from stim_nonclifford.simulation.compiler import RequestedOutputs

DETECTORS = "X_ERROR(0.1) 0\nM 0 0\n" + "DETECTOR rec[-1]\n" * 11 + "OBSERVABLE_INCLUDE(2) rec[-1]"


def wide(width: int) -> str:
    """All qubits in magic states, then one measurement that needs all of them."""
    qubits = " ".join(map(str, range(width)))
    return f"RX {qubits}\nT {qubits}\nMPP {'*'.join(f'X{q}' for q in range(width))}"


@pytest.mark.parametrize(
    "path", ["x.stim", "circuits/d=3,p=0.001.stim", "/home/me/my circuit.STIM", "T.stim", "R_X/a.stim\n"]
)
def test_paths_are_not_circuit_text(path: str) -> None:
    expected = (
        rf"^`{re.escape(path.strip())}` .* a path, .* Circuit\.from_file\({re.escape(repr(path.strip()))}\)"
    )
    with pytest.raises(ValueError, match=expected):
        Circuit(path)
    with pytest.raises(TypeError, match=r"has type \w*Path\. Read a file with Circuit\.from_file\(path\)"):
        Circuit(pathlib.Path(path))  # type: ignore[arg-type, unused-ignore]


def test_text_that_ends_like_a_path() -> None:
    assert Circuit("H 0 # was x.stim") == Circuit("# x.stim\nH 0") == Circuit("H 0")
    with pytest.raises(ValueError, match=r"Line 1: `HH 0 # x\.stim`: Gate not found"):
        Circuit("HH 0 # x.stim")
    with pytest.raises(ValueError, match=r"Line 2: `x\.stim`: Targets must be separated"):
        Circuit("H 0\nx.stim")


def test_byte_order_marks(tmp_path: pathlib.Path) -> None:
    """Ignored in front of text; an error that names the line anywhere else."""
    circuit = Circuit("H 0\nT 0\nM 0")
    assert Circuit(f"\ufeff{circuit}\n") == circuit
    path = tmp_path / "with_mark.stim"
    path.write_text(f"{circuit}\n", encoding="utf-8-sig")
    assert Circuit.from_file(path) == Circuit.from_file(str(path)) == circuit
    with path.open(encoding="utf-8") as file:
        assert Circuit.from_file(file) == circuit
    appended = Circuit("H 0")
    appended.append_from_stim_program_text("\ufeffT 0\nM 0")
    assert appended == circuit
    with pytest.raises(ValueError, match=r"^Line 2: "):
        Circuit("H 0\n\ufeffT 0")
    path.write_text(f"{circuit}\n", encoding="utf-16")
    with pytest.raises(ValueError, match=r"with_mark\.stim is not in UTF-8: .* Save it as UTF-8"):
        Circuit.from_file(path)


@pytest.mark.parametrize(
    "angle", [np.float64(0.125), np.float32(0.125), [np.float64(0.125)], np.array([0.125])]
)
def test_numpy_angles(angle: Any) -> None:
    circuit = Circuit()
    circuit.append("R_Z", [0], angle)
    circuit.append("R_XX", [stim.GateTarget(0), 1], angle)
    assert circuit == Circuit("R_Z(0.125) 0\nR_XX(0.125) 0 1")


REFUSALS = {
    'Circuit().append("R_XX", 0, 0.1)': "R_XX needs an even number of qubit targets",
    'Circuit().append("R_XX", [0, 1, 2], 0.1)': "R_XX needs an even number of qubit targets",
    **{
        f'Circuit("T 1; {line}".replace(";", "\\n")).compile_sampler()': "(?i)hermitian"
        for line in ("MPP X0*Z0", "SPP X0*Z0", "SPP[T] X0*Z0", "R_PAULI(0.1) X0*Y0")
    },
    "detectors(postselected_observables_mask=np.zeros(4, bool))": r"postselected_observables_mask .* for 3 observables; got .*\(4,\)",
    "detectors(postselected_observables_mask=np.array([8], np.uint8))": "postselected_observables_mask selects bit 3",
    "detectors(postselection=1)": "postselection",
    'Circuit("M 0").compile_sampler(postselection=1)': "postselection",
    'Circuit("M 0\\nDETECTOR rec[-1]").compile_detector_sampler().sample_counts(10)': "no observables.*OBSERVABLE_INCLUDE.*sample_kept",
    **{
        f'{kind}("M 0").compile_sampler(skip_reference_sample=True, reference_sample=np.zeros(1, bool))': "skip_reference_sample"
        for kind in ("stim.Circuit", "Circuit")
    },
    **{
        f'Circuit("M 0 1 2").compile_sampler(reference_sample=np.zeros({shape}))': r"reference_sample must be bool of shape \(3,\) or"
        for shape in ("2, bool", "(3, 1), bool", "3", "2, np.uint8")
    },
}


@pytest.mark.parametrize("call", REFUSALS)
def test_refusals(call: str) -> None:
    with pytest.raises((TypeError, ValueError), match=REFUSALS[call]):
        eval(call, {**globals(), "detectors": Circuit(DETECTORS).compile_detector_sampler})


@pytest.mark.parametrize("line", ["DETECTOR rec[-3]", "OBSERVABLE_INCLUDE(0) rec[-3]", "CX rec[-3] 0"])
@pytest.mark.parametrize("gates", ["", "H 0\nT 0"])
def test_records_before_the_first(line: str, gates: str) -> None:
    """Stim's parser lets them pass, but not its samplers."""
    text = f"M 0 1\n{line}\nX 0\nM 0"
    with pytest.raises(IndexError, match="before the beginning of time"):
        stim.Circuit(text).compile_detector_sampler().sample(1)
    with pytest.raises((ValueError, IndexError), match=r"(?i)record|rec\[-3\]"):
        Circuit(f"{gates}\n{text}").compile_detector_sampler().sample(5)


def test_repetitions_without_end() -> None:
    """Refused at once: a circuit of 10^15 gates is not unrolled."""
    circuit = Circuit("REPEAT 1000000000 {\n    REPEAT 1000000 {\n        T 0\n    }\n}\nH 0\nM 0")
    start = time.process_time()
    with pytest.raises(ResourceLimitError, match=r"1,000,000,000,000,002 instruction targets.*limit is 10 s"):
        circuit.compile_sampler()
    assert time.process_time() - start < 1


def test_too_many_active_coordinates() -> None:
    """The message has the need, the limit and the keyword; nothing is allocated."""
    circuit = Circuit(f"{wide(60)}\nOBSERVABLE_INCLUDE(0) rec[-1]")
    compiled = circuit.compile()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    for ask in (
        circuit.compile_sampler,
        circuit.compile_detector_sampler,
        circuit.reference_sample,
        compiled.record_plan,
        lambda: compiled.detector_plan(RequestedOutputs.of([0])),
        lambda: compiled.fault_plan(RequestedOutputs.of([0])),
        lambda: compiled.reference_detectors(),
    ):
        with pytest.raises(ResourceLimitError) as error:
            ask()
        message = str(error.value)
        assert "needs 59 active coordinates" in message  # the last one is measured as it is activated
        assert "2^59 coefficients" in message
        assert "limit is 2^24" in message
        # No machine has so much memory: the message says what makes a circuit narrower instead.
        assert "max_active_coordinates=" not in message
        assert "earlier measurements" in message
        assert "print(circuit.plan())" in message
    assert time.process_time() - start < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


def test_limit_of_active_coordinates() -> None:
    """Not one coordinate less than the vector of an engine has."""
    circuit = Circuit(wide(6))
    with pytest.raises(ResourceLimitError, match=r"needs 5 .* 2\^4\..*max_active_coordinates=5"):
        circuit.compile_sampler(max_active_coordinates=4)
    assert circuit.compile_sampler(max_active_coordinates=5).sample(3).shape == (3, 1)
    assert circuit.plan().peak_width == 5
    compiled = circuit.compile()
    with pytest.raises(ResourceLimitError, match="needs 5"):
        compiled.record_plan(max_active_coordinates=4)


def with_a_wide_end(width: int) -> Circuit:
    """A detector and an observable, and then a wide measurement that neither depends on."""
    return Circuit(
        "RX 0\nT 0\nS 0\nMX 0\nDETECTOR rec[-1]\nTICK\nRX 0 1\nT 0 1\nCX 0 1\nSQRT_X 0 1\nT 0 1\nM 0 1\n"
        f"OBSERVABLE_INCLUDE(0) rec[-1]\n{wide(width)}"
    )


def test_limit_is_for_what_is_asked() -> None:
    circuit = with_a_wide_end(40)
    with pytest.raises(ResourceLimitError, match="needs 39 "):
        circuit.compile_sampler()
    shots, seed = 10_000, 1
    found = circuit.compile_detector_sampler(seed=seed).sample(shots, append_observables=True)
    expected = with_a_wide_end(2).compile_detector_sampler(seed=seed).sample(shots, append_observables=True)
    np.testing.assert_array_equal(found, expected)
    assert 0.1 < found[:, 0].mean() < 0.2  # the likely outcome is no event; it has probability 0.854


def test_limit_of_a_method() -> None:
    """Counting reads the observable alone, and may do so where sampling all detectors is too wide."""
    circuit = Circuit(f"X_ERROR(0.5) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]\n{wide(40)}\nDETECTOR rec[-1]")
    sampler = circuit.compile_detector_sampler(seed=1, skip_reference_sample=True)
    assert 0 < sampler.sample_counts(100).errors < 100
    with pytest.raises(ResourceLimitError, match="needs 39 "):
        sampler.sample(1)


@pytest.mark.parametrize("width", [1, 3, 5])
def test_reference_of_detectors_without_a_wide_end(width: int) -> None:
    """The same detectors whether the outcomes that they do not depend on are simulated or not."""
    circuit = with_a_wide_end(width).to_stim()
    whole = Circuit(circuit).compile()
    needed = whole.detector_plan(RequestedOutputs.of([0, 1])).peak_width
    assert whole.reference_detectors() & 1  # likely outcome 1
    assert Circuit(circuit).compile().reference_detectors(needed) == whole.reference_detectors()


@pytest.mark.parametrize("seed", range(10))
def test_reference_of_measurements_in_another_order(seed: int) -> None:
    """Where the compiler measures in another order than the circuit, the limit makes no difference either."""
    rng = np.random.default_rng(seed)
    lines = ["RX 0 1 2 3 4 5"]
    for _ in range(2):
        lines += [f"R_{'XYZ'[rng.integers(3)]}({rng.uniform(0.01, 0.99):.3f}) {q}" for q in range(6)]
        a, b, c, d, e, f = rng.permutation(6)
        lines += [f"CX {a} {b} {c} {d} {e} {f}", f"M {a} {c} {e} {b}"]
        lines += [f"DETECTOR rec[-{k}]" for k in range(1, 5)]
    end = [6, 7, 8, 9, 10, 11, 12, 13]
    qubits = " ".join(map(str, end))
    lines += [f"RX {qubits}", f"T {qubits}", f"SQRT_X {qubits}"]
    lines += [f"R_ZZ(0.3) {q} {q + 1}" for q in end[:-1]]
    lines += [f"MPP {'*'.join(f'X{q}' for q in end)}", f"MX {qubits}"]
    circuit = Circuit("\n".join(lines)).to_stim()
    whole = Circuit(circuit).compile()
    assert whole.quantum.reordered
    needed = whole.detector_plan(RequestedOutputs.of(range(8))).peak_width
    narrow = Circuit(circuit).compile()
    assert narrow.quantum.peak_width > needed
    assert narrow.reference_detectors(needed) == whole.reference_detectors()


def test_max_errors_above_all_shots() -> None:
    """Seed 1."""
    samplers = [Circuit(DETECTORS).compile_detector_sampler(seed=1) for _ in range(2)]
    assert samplers[0].sample_counts(5000, max_errors=2**70) == samplers[1].sample_counts(5000)


@pytest.mark.parametrize("shots", [10**13, 2**61, 2**62 - 1])
def test_results_larger_than_the_memory(shots: int) -> None:
    """Refused before anything is sampled or allocated: the product of shots and bytes must not wrap around."""
    sampler = Circuit(DETECTORS).compile_detector_sampler(seed=1)
    records = Circuit(DETECTORS).compile_sampler(seed=1)
    start = time.process_time()
    for method, arguments in (
        (sampler.sample, {}),
        (sampler.sample, {"bit_packed": True}),
        (sampler.sample_bit_packed, {}),
        (sampler.sample_kept, {}),
        (records.sample, {}),
        (records.sample, {"bit_packed": True}),
    ):
        with pytest.raises(ResourceLimitError, match=rf"{shots:,} shots .* need [\d,]+ bytes.*sample_counts"):
            method(shots, **arguments)
    assert time.process_time() - start < 1
    np.testing.assert_array_equal(
        sampler.sample(10), Circuit(DETECTORS).compile_detector_sampler(seed=1).sample(10)
    )


def test_bad_arguments_leave_the_sampler_as_it_was() -> None:
    """Seed 1: a refused call uses up no shots."""
    expected = Circuit(DETECTORS).compile_detector_sampler(seed=1).sample(200)
    sampler = Circuit(DETECTORS).compile_detector_sampler(seed=1)
    with pytest.raises(ValueError, match="separate_observables"):
        sampler.sample(10, separate_observables=True, append_observables=True)
    with pytest.raises(ValueError, match="shots"):
        sampler.sample(-1)
    np.testing.assert_array_equal(sampler.sample(200), expected)
