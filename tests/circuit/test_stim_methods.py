"""Methods that users of Stim look for: what they return is what Stim returns, or what the circuit defines."""

import re

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit, ResourceLimitError

from ..support.oracle.density_matrix import final_density_matrix
from ..support.oracle.random_circuits import Family, random_circuit

NOISY = """
    R 0 1 2
    X 1
    H 0
    T 0
    CX 0 1
    X_ERROR(0.2) 1
    MR !1
    M 0 1
    DETECTOR rec[-1]
    DETECTOR rec[-2] rec[-3]
    REPEAT 2 {
        T_DAG 0
        DEPOLARIZE1(0.3) 0
        X 2
        CX rec[-1] 0
        M(0.1) 0 2
        DETECTOR rec[-1]
        DETECTOR rec[-1] rec[-3]
    }
    MPAD 1 0
    DETECTOR rec[-2]
    OBSERVABLE_INCLUDE(0) rec[-4]
    OBSERVABLE_INCLUDE(3) rec[-1] rec[-2] rec[-3]
    OBSERVABLE_INCLUDE(0) rec[-2]
"""


def parities(circuit: Circuit, records: np.ndarray) -> np.ndarray:
    """Detectors and observables of records, by a loop over the text of the unrolled circuit."""
    found: dict[int, np.ndarray] = {}
    count = detectors = 0
    for line in str(circuit.flattened()).split("\n"):
        name, _, targets = line.partition(" ")
        recs = [count + int(k) for k in re.findall(r"rec\[(-\d+)\]", targets)]
        if name.startswith("DETECTOR"):
            found[detectors] = records[:, recs].sum(axis=1) % 2
            detectors += 1
        elif name.startswith("OBSERVABLE_INCLUDE"):
            key = circuit.num_detectors + int(name.partition("(")[2].rstrip(")"))
            found[key] = (found.get(key, 0) + records[:, recs].sum(axis=1)) % 2
        else:
            count += Circuit(line).num_measurements if not recs else 0
    zero = np.zeros(len(records), dtype=int)
    size = circuit.num_detectors + circuit.num_observables
    return np.stack([found.get(k, zero) for k in range(size)], axis=1).astype(bool)


@pytest.mark.parametrize("bit_packed", [False, True])
def test_records_are_converted_to_flips(bit_packed: bool) -> None:
    """Seed 1. The parities are those of a loop over the text, with and without the reference."""
    circuit = Circuit(NOISY)
    records = circuit.compile_sampler(seed=1).sample(500)
    raw = parities(circuit, records)
    flips = raw ^ parities(circuit, circuit.reference_sample()[np.newaxis])
    assert flips.any(axis=0).sum() >= 4
    given = np.packbits(records, axis=1, bitorder="little") if bit_packed else records
    for skip, wanted in ((False, flips), (True, raw)):
        converter = circuit.compile_m2d_converter(skip_reference_sample=skip)
        assert isinstance(converter, stim.CompiledMeasurementsToDetectionEventsConverter)
        found = converter.convert(measurements=given, append_observables=True, bit_packed=bit_packed)
        if bit_packed:
            found = np.unpackbits(found, axis=1, count=wanted.shape[1], bitorder="little").astype(bool)
        np.testing.assert_array_equal(found, wanted)


def test_clifford_circuits_get_the_converter_of_stim() -> None:
    """Sweep bits and random detectors included: every record of three bits."""
    text = (
        "X 0\nH 2\nCX sweep[0] 0\nM 0 1 2\nDETECTOR rec[-3]\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(1) rec[-2]"
    )
    ours, stims = Circuit(text).compile_m2d_converter(), stim.Circuit(text).compile_m2d_converter()
    bits = (np.arange(16)[:, np.newaxis] >> np.arange(4) & 1).astype(bool)
    arguments = {"measurements": bits[:, :3], "sweep_bits": bits[:, 3:], "append_observables": True}
    np.testing.assert_array_equal(ours.convert(**arguments), stims.convert(**arguments))
    assert repr(ours) == repr(stims)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T 0\nM 0\nOBSERVABLE_INCLUDE(0) X0", "no record shows"),
        ("M 0\nREPEAT 2 {\nOBSERVABLE_INCLUDE(0) rec[-1] Z0\n}", "no record shows"),
        ("RX 0\nCX sweep[0] 0\nT 0\nM 0\nDETECTOR rec[-1]", "sweep bits and non-Clifford gates"),
    ],
)
def test_what_records_do_not_determine_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Circuit(text).compile_m2d_converter()


def test_without_tags_keeps_what_tags_mean() -> None:
    text = "H[a] 0\nT[b] 0\nREPEAT[c] 2 {\n    TPP_DAG[d] X0*Y1\n    M[e](0.1) 0\n}\nR_Z(0.1) 0\nEXP_VAL X0\nCS 0 1\nCT rec[-1] 0\nCZ[f] 0 1\nU3(0.1, 0.2, 0.3) 0\nDETECTOR[g](1) rec[-1]\nTICK[b]\n"
    bare = re.sub(r"\[[a-g]\]", "", text)
    assert Circuit(text).without_tags() == Circuit(bare)
    assert Circuit(text) != Circuit(bare)


def test_instructions_are_printed_as_the_circuit_prints_them() -> None:
    circuit = Circuit("H[note] 0\nT[first] 0\nR_XX(0.1) 0 1\nM(0.1) 0\nCT rec[-1] 0\nEXP_VAL X0*Z1\nT_DAG 1")
    lines = str(circuit).split("\n")
    assert [str(circuit[k]) for k in range(len(circuit))] == lines
    assert [str(part) for part in circuit] == lines
    assert [circuit[k] for k in range(len(circuit))] == list(circuit.to_stim())
    copy = Circuit()
    for part in circuit:
        copy.append(part)
    assert copy == circuit
    assert str(circuit.pop()) == "T_DAG 1"
    assert repr(circuit[1]) == repr(circuit.to_stim()[1])


def test_crumble_urls_have_tags_on_t_gates_only() -> None:
    text = "QUBIT_COORDS(1, 2) 0\nS 0\nT 0\nS 0 1\nT_DAG 1\nTPP X0*X1\nTPP_DAG X0*!X1\nSPP_DAG X0*X1\nREPEAT 3 {\n    T 1\n    R_Z(0.5) 0\n    R_Z(0.1) 0\n}\nS_DAG 0\nM 0\nCT rec[-1] 1\nDETECTOR rec[-1]"
    url = Circuit(text).to_crumble_url()
    assert url == (
        "https://algassert.com/crumble#circuit=Q(1,2)0;S_0;S[T]_0;S_0_1;S[T_DAG]_1;SPP[T]_X0*X1;"
        "SPP[T_DAG]_X0*!X1;SPP_DAG_X0*X1;REPEAT_3_{;S[T]_1;S_0;I_0;};S_DAG_0;M_0;CZ_rec[-1]_1;DT_rec[-1]_"
    )
    assert "DT" not in Circuit(text).to_crumble_url(skip_detectors=True)
    clifford = Circuit.generated("surface_code:rotated_memory_z", distance=3, rounds=2)
    assert clifford.to_crumble_url() == clifford.to_stim().to_crumble_url()


def test_marks_in_crumble_urls() -> None:
    circuit = Circuit("R 0\nX_ERROR(0.1) 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    mark = {1: circuit.shortest_graphlike_error(canonicalize_circuit_errors=True)}
    url = circuit.to_crumble_url(mark=mark)
    assert url.replace("[T]", "").replace("S[T_DAG]", "S_DAG") == circuit.s_proxy().to_crumble_url(mark=mark)
    assert "MARKX(1)0" in url
    assert url.count("S[T]_0") == url.count("S[T_DAG]_0") == 1
    joined = Circuit("R 0\nS 0\nT 0\nX_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    mark = {1: joined.shortest_graphlike_error(canonicalize_circuit_errors=True)}
    assert joined.to_crumble_url(mark=mark) == joined.s_proxy().to_crumble_url(mark=mark)
    looped = Circuit("REPEAT 2 {\n    T 0\n    X_ERROR(0.1) 0\n    M 0\n}\nOBSERVABLE_INCLUDE(0) rec[-1]")
    mark = {1: looped.shortest_graphlike_error(canonicalize_circuit_errors=True)}
    with pytest.raises(ValueError, match=r"mark has an error in a REPEAT block.*flattened"):
        looped.to_crumble_url(mark=mark)
    assert "S[T]_0" in looped.flattened().to_crumble_url(
        mark={1: looped.flattened().shortest_graphlike_error(canonicalize_circuit_errors=True)}
    )


def test_sat_problems_are_those_of_the_proxy() -> None:
    circuit = Circuit(
        "R 0\nX_ERROR(0.1) 0\nT 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]\nX_ERROR(0.4) 0\nM 0\nDETECTOR rec[-1] rec[-2]"
    )
    assert circuit.shortest_error_sat_problem() == circuit.s_proxy().shortest_error_sat_problem()
    likeliest = circuit.likeliest_error_sat_problem(quantization=7)
    assert likeliest == circuit.s_proxy().likeliest_error_sat_problem(quantization=7)
    assert likeliest != circuit.likeliest_error_sat_problem()
    random = Circuit("RX 0\nT 0\nZ_ERROR(0.1) 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    with pytest.raises(ValueError, match="S in place of T"):
        random.shortest_error_sat_problem()


# State vectors

UNITARY = {
    Family.CLIFFORD, Family.PAULI_PHASE, Family.T, Family.ROTATIONS, Family.CONTROLLED, Family.REPEAT
}  # fmt: skip


def test_state_vectors_of_random_circuits() -> None:
    """60 unitary circuits of seed 3, against the density matrices of the tests' own simulator."""
    generator = np.random.default_rng(3)
    for _ in range(60):
        text = random_circuit(
            generator, num_qubits=3, num_operations=12, instructions=UNITARY, measure_at_end=False
        )
        circuit = Circuit(text)
        vector = circuit.state_vector()
        expected = final_density_matrix(circuit.to_stim())
        np.testing.assert_allclose(np.outer(vector, vector.conj()), expected, atol=1e-9, err_msg=str(text))
        first = vector[np.abs(vector) > 1e-9][0]
        assert first.real > 0
        assert abs(first.imag) < 1e-12


def test_state_vectors_after_certain_outcomes() -> None:
    """Measurements, resets, and gates that their records control."""
    text = """
        X 0
        H 1
        CX 1 2
        MZZ !1 2
        MPP Z0*Z1*Z2 !X1*X2
        MR 0
        CX rec[-1] 3
        CT rec[-1] 1
        C_SQRT_X rec[-1] 4
        C_H rec[-2] 4
        CCX rec[-1] 3 5
        X 6
        R 6
        R_X(0.3) 6
        RY 6
        MY !6
        R_X(0.8) 7
        RX 7
        EXP_VAL X7
        MPAD 1
        CZ rec[-1] 7 sweep[0] 3
        XCZ 3 rec[-1] 4 rec[-2]
        YCZ 4 sweep[0] 1 rec[-1]
        CY rec[-1] 7
        TICK
    """
    circuit = Circuit(text)
    vector = circuit.state_vector()
    expected = final_density_matrix(circuit.to_stim())
    np.testing.assert_allclose(np.outer(vector, vector.conj()), expected, atol=1e-9)


def test_state_vectors_have_the_order_of_stim() -> None:
    text = "X 2\nSQRT_X 1 2\nCX 1 0"
    simulator = stim.TableauSimulator()
    simulator.do(stim.Circuit(text))
    for endian in ("little", "big"):
        expected = simulator.state_vector(endian=endian)
        np.testing.assert_allclose(Circuit(text).state_vector(endian=endian), expected, atol=1e-6)
    np.testing.assert_array_equal(Circuit("").state_vector(), [1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("H 0\nM 0", r"`M 0`: the outcome of Z0 is random \(its expectation value is 0\)"),
        ("H 0\nMR 0", "the outcome of Z0 is random"),
        ("H 0\nT 0\nCX 0 1\nRX 1", r"`RX 1`: qubit 1 is entangled .* length 0\)"),
        ("CH 0 1\nR_X(0.25) 0\nCX 0 1\nR 0", r"qubit 0 is entangled .* length 0.707107\)"),
        ("RX 0\nT 0\nMXX 0 1", r"the outcome of X0\*X1 is random"),
        ("X_ERROR(0.1) 0", r"`X_ERROR\(0.1\) 0` is noise.*without_noise"),
        ("M(0.1) 0", "is noise"),
        ("HERALDED_ERASE(0) 0", "is noise"),
        ("MPAD(0.1) 0", "is noise"),
    ],
)
def test_circuits_without_a_single_state(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Circuit(text).state_vector()


def test_state_vectors_have_a_limit() -> None:
    with pytest.raises(
        ResourceLimitError, match=r"state of 21 qubits has 2\^21 amplitudes; the limit is 2\^20"
    ):
        Circuit("T 20").state_vector()
    assert len(Circuit("RX 19").state_vector()) == 1 << 20
