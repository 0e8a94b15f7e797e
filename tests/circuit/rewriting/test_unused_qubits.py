"""Instructions without effect on qubits that nothing else uses change no result, and no method fails on them."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit

from ...support.seeds import slow

WITHOUT_EFFECT = (
    "I 7", "II 7 9", "I", "II", "TICK", "TICK[a tag]", "QUBIT_COORDS(1, 2) 7", "QUBIT_COORDS 7 8 9",
    "QUBIT_COORDS(1) 1000000", "SHIFT_COORDS(1, 2)", "SHIFT_COORDS", "MPAD", "I_ERROR 7", "I_ERROR(0.1) 7 0",
    "I_ERROR(0.1, 0.2) 7", "I_ERROR 1000000", "II_ERROR 7 9", "II_ERROR(0.5) 0 7", "II_ERROR(0.5, 0.1) 9 7",
    "II_ERROR(0.5) 1000000 3", "H", "CX", "M", "MPP", "R", "T", "R_Z(0.1)", "CCZ", "TPP", "X_ERROR(0.1)",
    "DEPOLARIZE2(0.1)", "E(0)", "X_ERROR(0) 7", "REPEAT 2 {\n    I_ERROR(0.1) 7\n}",
    "REPEAT 3 {\n    REPEAT 2 {\n        II_ERROR(0.1) 7 8\n    }\n}",
    "REPEAT 5000 {\n    I_ERROR 7\n    TICK\n}", "REPEAT 5000 {\n    QUBIT_COORDS(1) 7\n    I 8\n}",
    "REPEAT 2 {\n    MPAD\n}",
)  # fmt: skip
CLIFFORD = "R 0 1\nX_ERROR(0.25) 0\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"
WITH_T = "RX 0\nT 0\nZ_ERROR(0.25) 0\nT_DAG 0\nM 4\nMX 0\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
ALL: Any = {"postselection_mask": "all"}
RESULTS: dict[str, Callable[[Circuit], Any]] = {
    "records": lambda circuit: circuit.compile_sampler(seed=1).sample(20),
    "records of the reference engine": lambda circuit: circuit.compile_sampler(
        seed=1, engine="reference"
    ).sample(20),
    "flips": lambda circuit: circuit.compile_sampler(seed=1, skip_reference_sample=True).sample(20),
    "reference": Circuit.reference_sample,
    "detectors": lambda circuit: circuit.compile_detector_sampler(seed=1).sample(20, append_observables=True),
    "counts": lambda circuit: str(circuit.compile_detector_sampler(seed=1, **ALL).sample_counts(1000)),
    "kept": lambda circuit: circuit.compile_detector_sampler(seed=1, **ALL).sample_kept(100).obs,
    "failures": lambda circuit: len(
        circuit.compile_detector_sampler(seed=1, **ALL).sample_failures(100).failures
    ),
    "noise-only model": lambda circuit: str(circuit.detector_error_model(kind="noise_only")),
    "faults": lambda circuit: len(circuit.faults()),
    "fates": lambda circuit: [
        fate.kept_and_wrong
        for fate in circuit.outcome_probabilities([[], *([fault] for fault in circuit.faults())], **ALL)
    ],
    "rate": lambda circuit: circuit.logical_error_rate(**ALL).logical_error_rate,
    "distance": lambda circuit: str(circuit.fault_distance(**ALL)),
    "sets": lambda circuit: len(circuit.malignant_sets(**ALL)),
    "width": lambda circuit: circuit.plan().peak_width,
}


@pytest.mark.parametrize(
    "line", [pytest.param("\n".join(WITHOUT_EFFECT), id="all"), *map(slow, WITHOUT_EFFECT)]
)
@pytest.mark.parametrize("circuit", [CLIFFORD, WITH_T], ids=["Clifford", "T"])
def test_results_stay_the_same(line: str, circuit: str) -> None:
    expected = _expected(circuit)
    for text in (f"{line}\n{circuit}", f"{circuit}\n{line}"):
        for name, result in RESULTS.items():
            assert np.array_equal(result(Circuit(text)), expected[name]), (name, text)


@functools.cache
def _expected(circuit: str) -> dict[str, Any]:
    return {name: result(Circuit(circuit)) for name, result in RESULTS.items()}


OTHER_METHODS: dict[str, Callable[[Circuit], Any]] = {
    "model of the S-proxy": lambda circuit: circuit.detector_error_model(),
    "the same without loops": lambda circuit: circuit.detector_error_model(flatten_loops=True),
    "quantum detectors": Circuit.quantum_detectors,
    "circuit with faults": lambda circuit: circuit.with_faults(circuit.faults()[:1]),
    "plan": lambda circuit: str(circuit.plan()) + circuit.plan()._repr_html_(),
    "picture": lambda circuit: circuit._repr_html_(),
    "diagrams": lambda circuit: [
        str(circuit.diagram(type, tick=0 if "slice" in type else None))
        for type in ("timeline-text", "timeline-svg", "timeslice-svg", "detslice-with-ops-svg")
        if circuit.num_qubits < 1000
    ],
    "determined measurements": lambda circuit: (
        "MPAD" in str(circuit) or circuit.count_determined_measurements()  # Stim refuses MPAD there
    ),
    "missing detectors": lambda circuit: circuit.missing_detectors(),
    "regions": lambda circuit: circuit.detecting_regions(),
    "explanations": lambda circuit: circuit.explain_detector_error_model_errors(),
    "coordinates": Circuit.get_final_qubit_coordinates,
    "twirled": Circuit.pauli_twirl,
    "flattened": Circuit.flattened,
    "text": lambda circuit: Circuit(str(circuit)),
}


@pytest.mark.parametrize("name", OTHER_METHODS)
def test_no_method_fails(name: str) -> None:
    for line in WITHOUT_EFFECT:
        for text in (line, f"{CLIFFORD}\n{line}\n{WITH_T}"):
            OTHER_METHODS[name](Circuit(text))


@pytest.mark.parametrize(
    "line", [line for line in WITHOUT_EFFECT if line not in ("T", "R_Z(0.1)", "CCZ", "TPP")]
)
def test_records_are_those_of_stim(line: str) -> None:
    text = f"{line}\nX 5\nM 5 0\nMPAD 1\n{line}"
    small = text.replace("1000000", "100")  # Stim's tableau has room for all smaller qubits, too
    assert Circuit(text).compile_sampler(seed=1).sample(2).tolist() == (
        stim.Circuit(small).compile_sampler().sample(2).tolist()
    )


@pytest.mark.parametrize(
    ("line", "value"), [("EXP_VAL Z7", 1), ("EXP_VAL !Z7*Z9", -1), ("EXP_VAL X7", 0), ("EXP_VAL Z1000000", 1)]
)
@pytest.mark.parametrize("circuit", ["", CLIFFORD, WITH_T, "I_ERROR 7\nM 0"])
def test_expectation_values_of_unused_qubits(line: str, value: float, circuit: str) -> None:
    for text in (f"{line}\n{circuit}", f"{circuit}\n{line}"):
        _, values = Circuit(text).compile_sampler(seed=1).sample_expectation_values(3)
        assert np.allclose(values, value)


@pytest.mark.filterwarnings("ignore:.*has Pauli targets after T gates")
@pytest.mark.parametrize("pauli", ["Z7", "Z7 Z9", "Z1000000"])
def test_observables_of_unused_qubits(pauli: str) -> None:
    """They are 1 in the initial state, so that they change nothing."""
    for circuit, names in (
        (CLIFFORD, ("detectors", "counts", "failures", "fates", "rate")),
        (WITH_T, ("detectors",)),  # where there are T gates, errors of an observable are records alone
    ):
        text = f"{circuit}\nOBSERVABLE_INCLUDE(0) {pauli}"
        for name in names:
            assert np.array_equal(RESULTS[name](Circuit(text)), _expected(circuit)[name]), name
