"""DECODE, bare and as a tag."""

import pytest
import stim

import stim_nonclifford as snc

WRITTEN = {
    "DECODE 3": "M[DECODE] 3",
    "DECODE 3 !4": "M[DECODE] 3 !4",
    "DECODE(latency=2) 3": "M[DECODE(latency=2)] 3",
    "DECODE(decoder=fast) 3": "M[DECODE(decoder=fast)] 3",
    "DECODE(latency=2, decoder=fast-1.2) 3": "M[DECODE(latency=2, decoder=fast-1.2)] 3",
    "MX[DECODE] 3": "MX[DECODE] 3",
    "M[DECODE](0.01) 3": "M[DECODE](0.01) 3",
    "MPP[DECODE] X1*Z2": "MPP[DECODE] X1*Z2",
    "MR[DECODE] 3": "MR[DECODE] 3",
    "FRAME Z0*X1": "MPAD[FRAME(Z0*X1)] 0",
    "FRAME Z0*X1 Y2": "MPAD[FRAME(Z0*X1, Y2)] 0 0",
    "FRAME(latency=1, decoder=a) Z0": "MPAD[FRAME(Z0, latency=1, decoder=a)] 0",
    "SURE(20) 41 Z0*X1": "MPAD[SURE(20, Z41, Z0*X1)] 1 1",
}


@pytest.mark.parametrize("bare", WRITTEN)
def test_both_forms_are_the_same_circuit(bare: str) -> None:
    circuit = snc.Circuit(bare)
    assert str(circuit.to_stim()) == WRITTEN[bare]
    assert str(circuit) == bare
    assert snc.Circuit(WRITTEN[bare]) == snc.Circuit(str(circuit)) == circuit
    assert circuit.num_measurements == len(circuit.without_decisions().compile_sampler().sample(1)[0])


def test_other_spellings() -> None:
    assert snc.Circuit("decode 3") == snc.Circuit("DECODE 3")
    assert snc.Circuit("M[DECODE( decoder=a,latency=1 )] 3").decision_points()[0].latency == 1
    circuit = snc.Circuit()
    circuit.append("DECODE", [3, 4])
    circuit.append("MX", [5], tag="DECODE(latency=1)")
    assert str(circuit) == "DECODE 3 4\nMX[DECODE(latency=1)] 5"
    assert eval(repr(circuit), {"stim_nonclifford": snc}) == circuit


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("M[decode] 0", "write DECODE in upper case"),
        ("M[DECODE now] 0", "its options are latency=n"),
        ("M[DECODE()] 0", "its options are"),
        ("M[DECODE(latency=-1)] 0", "its options are"),
        ("M[DECODE(latency=1, latency=2)] 0", "its options are"),
        ("M[DECODE(rounds=2)] 0", "its options are"),
        ("DECODE(2) 0", "its options are"),
        ("DECODE[note] 0", "cannot have a tag"),
        ("H[DECODE] 0", "makes no sense on H"),
        ("R[DECODE] 0", "makes no sense on R"),
        ("MPAD[DECODE] 0", "makes no sense on MPAD"),
        ("M[FRAME(Z0)] 0", "makes no sense on M"),
        ("MPAD[FRAME(Z0)] 1", "one 0 for each product"),
        ("MPAD[FRAME(Z0, X1)] 0", "one 0 for each product"),
        ("MPAD[FRAME(Z0*X0)] 0", "different qubits"),
        ("MPAD[FRAME(latency=1)] 0", "it must name products"),
        ("MPAD[frame(Z0)] 0", "write FRAME in upper case"),
        ("FRAME 0", "it must name products"),
        ("FRAME !Z0", "it must name products"),
        ("FRAME(2) Z0", "its options are"),
        ("DECODED 0", "Did you mean DECODE"),
        ("DECODE X0", "gate type 'DECODE'"),
    ],
)
def test_misspelled_decisions(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^Line 2: .*{message}"):
        snc.Circuit(f"H 0\n{line}")


def test_equal_neighbours_are_joined() -> None:
    circuit = snc.Circuit("FRAME Z0\nFRAME Z0\nM[FRAME] 0")
    assert str(circuit) == "FRAME Z0 Z0\nM[FRAME] 0"
    assert [point.records for point in circuit.decision_points()] == [(0, 1)]
    circuit.append("FRAME", ["X1*Z2"])
    assert str(circuit[-1]) == "FRAME X1*Z2"


def test_append_takes_no_numbers() -> None:
    with pytest.raises(ValueError, match="takes no numbers"):
        snc.Circuit().append("DECODE", [0], 0.1)


def test_stim_reads_raw_records() -> None:
    circuit = snc.Circuit("X_ERROR(0.4) 0\nM 0\nDETECTOR rec[-1]\nDECODE 0")
    raw = stim.Circuit(str(circuit.to_stim())).compile_sampler(seed=1).sample(100)
    assert raw[:, 0].any()
    assert (raw[:, 0] == raw[:, 1]).all()
    decided = circuit.compile_sampler(seed=1, decoder="pymatching").sample(100)
    assert decided[:, 0].any()
    assert not decided[:, 1].any()


def test_rewritten_circuits_keep_decisions() -> None:
    text = "R 0 1 2\nX_ERROR(0.1) 0\nDECODE(latency=1) 0\nCCX 0 1 2\nREPEAT 2 {\n    DECODE 1\n}"
    circuit = snc.Circuit(text)
    for rewritten in (
        circuit.without_noise(),
        circuit.decomposed(),
        circuit.pauli_twirl(),
        circuit.without_tags(),
    ):
        assert [point.latency for point in rewritten.decision_points()] == [1, 0, 0]
    assert "DECODE" not in str(circuit.without_decisions())
    assert circuit.without_decisions().num_measurements == circuit.num_measurements
