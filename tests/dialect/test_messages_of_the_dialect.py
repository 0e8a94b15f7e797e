"""Messages about wrong text, wrong tags and wrong types: they name the line, and the gate that was meant."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import stim

from stim_nonclifford import Circuit, logical_error_rates
from stim_nonclifford.commands import main
from stim_nonclifford.dialect import parse


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("H 0\nTT 0\nX 0", 2, "Gate not found: 'TT'. Did you mean T?"),
        ("T 0\nT_DAGG 0", 2, "Did you mean T_DAG?"),
        ("R_XY(0.5) 0", 1, "Did you mean R_"),
        ("H 0\n\n# comment\nHH 0", 4, "Gate not found: 'HH'"),
        ("QWERTY 0", 1, "Gate not found: 'QWERTY'."),
        ("REPEAT 2 {\n    T 0\n    DEPOLARIZ1(0.1) 1\n}", 3, "Did you mean DEPOLARIZE1?"),
        ("REPEAT 2 { TT 0\n}", 1, "Did you mean T?"),
        ("H 0\nT(0.5) 0", 2, "T takes no arguments"),
        ("R_Z 0", 1, "R_Z takes 1 angle in half-turns, as in R_Z(0.25); got 0"),
        ("R_Z() 0", 1, "got 0"),
        ("M 0\nU3(0.1, 0.2) 0", 2, "U3 takes 3 angles in half-turns, as in U3(0.25, 0.25, 0.25); got 2"),
        ("R_X(pi/4) 0", 1, "'pi/4' of R_X is not a number. Angles are numbers in half-turns"),
        ("R_X(1/4) 0", 1, "'1/4'"),
        ("R_X(nan) 0", 1, "The angle 'nan' of R_X is not a number"),
        ("R_X(-1e999) 0", 1, "must be a finite number"),
        ("R_X(1e999) 0", 1, "must be a finite number"),
        ("R_X[tag](0.5) 0", 1, "R_X cannot have a tag"),
        ("R_XX(0.5) 0 1 2", 1, "R_XX needs an even number of qubit targets"),
        ("R_XX(0.5) X0*X1", 1, "R_XX needs an even number of qubit targets"),
        ("M 0\nT rec[-1]", 2, "T has no control"),
        ("T !0", 1, "invalid modifiers"),
        ("TPP 0", 1, "Gate TPP only takes Pauli targets"),
        ("CX 0", 1, "even number of targets"),
        ("CX 0 0", 1, "can't interact"),
        ("X_ERROR(1.5) 0", 1, "probability"),
        ("H 0\r\nTT 0\r\n", 2, "Did you mean T?"),
        ("S[t] 0", 1, "Unknown tag [t] on S"),
        ("H 0\nS[T;x] 0", 2, "Unknown tag [T;x] on S"),
        ("S[my tag] 0", 1, "known tags are [T]"),
        ("SPP[note] X0", 1, "Unknown tag [note] on SPP"),
        ("I[note] 0", 1, "Unknown tag [note] on I"),
        ("I[T] 0", 1, "The tag [T] makes no sense on I; it belongs on S"),
        ("X 0\n\nH[T] 0", 3, "The tag [T] makes no sense on H"),
        ("REPEAT 2 {\n    M 0\n    CX[T] rec[-1] 0\n}", 3, "The tag [T] makes no sense on CX"),
        ("I[R_Z(theta=0.25)] 0", 1, "must have angles in half-turns with the factor *pi"),
        ("I[R_Z(0.25*pi)] 0", 1, "Malformed tag"),
        ("I[R_Z(theta=0.25*pi, phi=1*pi)] 0", 1, "Malformed tag"),
        ("I[R_Z(phi=0.25*pi)] 0", 1, "Malformed tag"),
        ("I[R_Z(theta=nan*pi)] 0", 1, "Malformed tag"),
        ("I[R_Z(theta=1e999*pi)] 0", 1, "the angle must be a finite number"),
        ("I[U3(theta=1*pi, theta=2*pi, phi=1*pi)] 0", 1, "Malformed tag"),
        ("S[R_Z(theta=0.25*pi)] 0", 1, "makes no sense on S; it belongs on I"),
        ("I[R_XX(theta=0.25*pi)] 0 1", 1, "makes no sense on I; it belongs on II"),
        ("SPP[R_X(theta=0.25*pi)] X0", 1, "makes no sense on SPP"),
        ("II[R_PAULI(theta=0.25*pi)] 0 1", 1, "it belongs on SPP and SPP_DAG"),
        ("I[r_z(theta=0.25*pi)] 0", 1, "makes no sense on I: write gates in tags in upper case"),
        ("S[T_DAG] 0", 1, "Unknown tag [T_DAG] on S. The gate T_DAG is written S_DAG[T] or, without a tag, T_DAG."),
        ("T 0\nS_DAG[t_dag] 0", 2, "The gate T_DAG is written S_DAG[T]"),
        ("SPP[T_DAG] X0", 1, "is written SPP_DAG[T] or"),
        ("SPP[TPP_DAG] X0", 1, "The gate TPP_DAG is written SPP_DAG[T]"),
        ("I[R_X] 0", 1, "The gate R_X is written I[R_X(theta=0.25*pi)]"),
        ("I[R_Z(theta=\v0.25*pi)] 0", 1, "Malformed tag"),
        ("I[R_Z(theta=0.25\f*pi)] 0", 1, "Malformed tag"),
        ("I_ERROR[LEAKAGE(p=\v0.25)] 0", 1, "Malformed tag"),
        ("M[READOUT_NOISE(p01=0.1, p10=0.1\f)](0.1) 0", 1, "Malformed tag"),
        ("R_XX(0.3) 0 0", 1, "R_XX needs different qubits in a group; got 0 0"),
        ("H 0\nr_yy(0.3) 0 1 2 2", 2, "R_YY needs different qubits in a group; got 2 2"),
        ("R_ZZ(0) 1 01", 1, "R_ZZ needs different qubits in a group; got 1 1"),
        ("II[R_ZZ(theta=0.3*pi)] 0 1 2 2", 1, "gate II was applied to a target pair with the same target (2) twice"),
        ("CS 0 0", 1, "gate CS was applied to a target pair with the same target (0) twice"),
        ("I[CCX] 0 1 1", 1, "CCX needs targets in groups of 3 different qubits; got 0 1 1"),
        ("RZ(0.25) 0", 1, "RZ is a reset in Stim. The rotation is R_Z, with its angle in half-turns"),
        ("T 0\nREPEAT 2 {\n    rx(0.1) 0\n}", 3, "The rotation is R_X, with its angle in half-turns: R_X(0.25)"),
        ("RY(0.1, 0.2) 0", 1, "The rotation is R_Y"),
        ("RXX(0.1) 0 1", 1, "Did you mean R_XX?"),
        ("R(0.25) 0", 1, "but takes 0 parens arguments"),
        ("H 0\nR_Z(45) 0", 2, "45 degrees are 0.25 half-turns; 45 half-turns are the same as 1."),
        ("R_X(-90) 0", 1, "-90 degrees are -0.5 half-turns; -90 half-turns are the same as -2."),
        ("U3(0.5, 0, 180) 0", 1, "The angle 180 of U3 is too large"),
        ("R_PAULI(22.5) X0*X1", 1, "22.5 degrees are 0.125 half-turns"),
        ("M 0\nC_R_X(90) rec[-1] 0", 2, "90 degrees are 0.5 half-turns"),
        ("T[R_Z(theta=0.1*pi)] 0", 1, "would be a gate or a channel on another instruction"),
        ("T[CS] 0", 1, "or S[T:CS] if the note is to be just this"),
        ("TPP_DAG[LOSS] X0", 1, "or SPP_DAG[T:LOSS] if"),
        ("I_ERROR[LEAKAGE:0.5](0.5) 0", 1, "Unknown tag [LEAKAGE:0.5] on I_ERROR"),
        ("I_ERROR[LEAKAGE:0.5](0.5) 0", 1, "This kind of leakage is not supported"),
        ("I_ERROR[LEAKAGE](0.5) 0", 1, "takes no probability in parentheses: it is written I_ERROR[LEAKAGE(p=0.01)] 0"),
        ("I_ERROR[RL(p=1)] 0", 1, "Malformed tag [RL(p=1)] on I_ERROR: it is written I_ERROR[RL] 0 or, without"),
        ("HERALDED_ERASE[HERALD_LOSS_EVENT(p=0)](0.1) 0", 1, "takes (0) in parentheses"),
        ("M[HERALD_LOSS_EVENT(p=0)] 0", 1, "makes no sense on M: it is written HERALDED_ERASE[HERALD"),
        ("X 0\nLEAKAGE(1.5) 0", 2, "LEAKAGE: the probability must be from 0 to 1, but is 1.5"),
        ("LOSS 0", 1, "LOSS takes 1 argument (p), as in LOSS(0.01) 0; got 0."),
        ("RL(0.1) 0", 1, "RL takes no arguments, as in RL 0; got 1."),
        ("LEAKAGE(0.1) rec[-1]", 1, "LEAKAGE"),
        ("TICK\nI_ERROR[AMPLITUDE_DAMPING](0.5) 0", 2, "takes no probability in parentheses"),
        ("I_ERROR[AMPLITUDE_DAMPING] 0", 1, "Malformed tag [AMPLITUDE_DAMPING] on I_ERROR: it is written"),
        ("I_ERROR[AMPLITUDE_DAMPING(p=0.1)] 0", 1, "or, without a tag, AMPLITUDE_DAMPING(0.01) 0"),
        ("I[PHASE_DAMPING(lambda=0.1)] 0", 1, "makes no sense on I: it is written I_ERROR"),
        ("AMPLITUDE_DAMPING(1.1) 0", 1, "the probability must be from 0 to 1, but is 1.1"),
        ("AMPLITUDE_DAMPING(-0.1) 0", 1, "the probability must be from 0 to 1, but is -0.1"),
        ("PHASE_DAMPING(nan) 0", 1, "The argument 'nan' of PHASE_DAMPING is not a number"),
        ("AMPLITUDE_DAMPING 0", 1, "takes 1 argument (gamma), as in AMPLITUDE_DAMPING(0.01) 0; got 0"),
        ("AMPLITUDE_DAMPING[a](0.1) 0", 1, "AMPLITUDE_DAMPING cannot have a tag"),
        ("AMPLITUDE_DAMPING(x) 0", 1, "The argument 'x' of AMPLITUDE_DAMPING is not a number"),
        ("THERMAL_RELAXATION(0.1) 0", 1, "takes 2 arguments (t_over_T1, t_over_T2)"),
        ("THERMAL_RELAXATION(0.3, 0.1) 0", 1, "T2 cannot be longer than 2 T1"),
        ("THERMAL_RELAXATION(-1, 0.1) 0", 1, "times must be finite and not negative"),
        ("GENERALIZED_AMPLITUDE_DAMPING(0.1, 0.2) 0", 1, "Relaxation to |0> is AMPLITUDE_DAMPING(gamma)"),
        ("I_ERROR[loss](0.1) 0", 1, "HERALDED_ERASE(p)"),
        ("II_ERROR[a note](0.1) 0 1", 1, "Unknown tag [a note] on II_ERROR"),
        ("II_ERROR[a note](0.1) 0 1", 1, "or remove them with stim.Circuit.without_tags()"),
        ("II[a note] 0 1", 1, "Unknown tag [a note] on II"),
        ("I_ERROR[T](0.1) 0", 1, "The tag [T] makes no sense on I_ERROR"),
        ("M[LEAKAGE_MEASUREMENT: 0](0.1) 0", 1, "looks like a noise channel of another simulator"),
        ("DEPOLARIZE1[LEAKAGE_TRANSITION_1:(0.1, 0, 1)](0.1) 0", 1, "This kind of leakage is not supported"),
        ("LEVEL_TRANSITION[key] 0", 1, "This kind of leakage is not supported"),
        ("RELAXATION(0.1) 0", 1, "THERMAL_RELAXATION(t/T1, t/T2)"),
        ("PHASE_DAMP(0.1) 0", 1, "Write PHASE_DAMPING(lambda)"),
        ("DEPOLARIZE4(0.1) 0 1 2 3", 1, "ELSE_CORRELATED_ERROR(p) for each further one"),
        ("DEPOLARIZE3(0.1) 0 1 2 3", 1, "DEPOLARIZE3 needs targets in groups of 3 different qubits; got 0 1 2 3"),
        ("H 0\nDEPOLARIZE3(0.1) 0 1 2 3 1 1", 2, "DEPOLARIZE3 needs targets in groups of 3 different qubits"),
        ("DEPOLARIZE3 0 1 2", 1, "DEPOLARIZE3 takes 1 argument (p), as in DEPOLARIZE3(0.01) 0 1 2; got 0"),
        ("DEPOLARIZE3(0.1, 0.2) 0 1 2", 1, "DEPOLARIZE3 takes 1 argument (p)"),
        ("DEPOLARIZE3(1.1) 0 1 2", 1, "DEPOLARIZE3: the probability must be from 0 to 1, but is 1.1"),
        ("DEPOLARIZE3(-0.1) 0 1 2", 1, "DEPOLARIZE3: the probability must be from 0 to 1"),
        ("DEPOLARIZE3[note](0.1) 0 1 2", 1, "DEPOLARIZE3 cannot have a tag"),
        ("M 0\nDEPOLARIZE3(0.1) rec[-1] 1 2", 2, "Target rec[-1] has invalid modifiers for gate type 'DEPOLARIZE3'"),
        ("DEPOLARIZE3(0.1) X0 X1 X2", 1, "Target X0 has invalid modifiers for gate type 'DEPOLARIZE3'"),
        ("PAULI_CHANNEL_3(0.1, 0.2) 0 1 2", 1, "it takes 63 arguments, the probabilities of IIX, IIY, IIZ, IXI, IXX, ..., ZZZ"),
        (f"PAULI_CHANNEL_3({', '.join(['0.1'] * 63)}) 0 1 2", 1, "the disjoint probabilities sum to more than 1: 6.3"),
        (f"PAULI_CHANNEL_3(0, -0.1{', 0' * 61}) 0 1 2", 1, "the probability of IIY must be from 0 to 1, but is -0.1"),
        (f"PAULI_CHANNEL_3(0{', 0' * 62}) 0 1 1", 1, "PAULI_CHANNEL_3 needs targets in groups of 3 different qubits"),
        ("I_ERROR[DEPOLARIZE3(p=0.1)] 0 1", 1, "DEPOLARIZE3 needs targets in groups of 3 different qubits; got 0 1"),
        ("I_ERROR[DEPOLARIZE3(0.1)] 0 1 2", 1, "Malformed tag [DEPOLARIZE3(0.1)] on I_ERROR: it is written I_ERROR[DEPOLARIZE3(p="),
        ("II_ERROR[DEPOLARIZE3(p=0.1)] 0 1", 1, "The tag [DEPOLARIZE3(p=0.1)] makes no sense on II_ERROR"),
        ("READOUT_NOISE(0.1, 0.2) 0", 1, "Write it at the measurement"),
        ("KRAUS(1, 0, 0, 0, 0, 0, 1) 0", 1, "each operator has 8 numbers"),
        ("KRAUS 0", 1, "each operator has 8 numbers, the real and the imaginary part of each element"),
        ("KRAUS(1, 0, 0, 0, 0, 0, 0.9, 0) 0", 1, "the sum of K^dagger K over the operators must be the identity"),
        ("KRAUS(1, 0, 0, 0, 0, 0, 1e999, 0) 0", 1, "finite"),
        ("KRAUS(x) 0", 1, "The argument 'x' of KRAUS is not a number"),
        ("I_ERROR[KRAUS(re=1)] 0", 1, "Malformed tag [KRAUS(re=1)] on I_ERROR"),
        ("I[KRAUS(0, 0, 1, 0, 1, 0, 0, 0)] 0", 1, "makes no sense on I"),
        ("KRAUS2(1) 0 1", 1, "each operator has 32 numbers"),
        ("KRAUS3(1) 0 1 2", 1, "gates with an ancilla that is reset"),
        ("M(0.1, 1.2) 0", 1, "READOUT_NOISE: the probability must be from 0 to 1"),
        ("M[note](0.1, 0.2) 0", 1, "with two probabilities cannot have a tag"),
        ("M[READOUT_NOISE(p01=0.1, p10=0.3)] 0", 1, "M[READOUT_NOISE(p01=0.1, p10=0.3)](0.2), whose number is"),
        ("M[READOUT_NOISE(p01=0.1, p10=0.3)](0.1) 0", 1, "must be the mean of p01 and p10, which is 0.2"),
        ("M[READOUT_NOISE(p01=0.1)](0.1) 0", 1, "Malformed tag [READOUT_NOISE(p01=0.1)] on M"),
        ("M[READOUT_NOISE](0.1) 0", 1, "Malformed tag [READOUT_NOISE] on M"),
        ("MPAD[READOUT_NOISE(p01=0.1, p10=0.3)](0.2) 0", 1, "makes no sense on MPAD"),
        ("I_ERROR[READOUT_NOISE(p01=0.1, p10=0.3)] 0", 1, "makes no sense on I_ERROR"),
        ("MPAD(0.1, 0.2) 0", 1, "MPAD"),
        ("M(0.1, 0.2, 0.3) 0", 1, "M"),
        ("READOUT_NOISE(0.1, 0.2) rec[-1]", 1, "M(p01, p10) 0 reads 0 as 1 with probability p01"),
        ("OPENQASM 2.0;\nqreg q[2];\nh q[0];", 1, "this is OpenQASM. Read it with Circuit.from_qasm"),
        ("// from a file\r\n\n  OPENQASM 3;", 3, "this is OpenQASM. Read it with Circuit.from_qasm"),
        ("\ufeffOPENQASM 3.0;", 1, "this is OpenQASM. Read it with Circuit.from_qasm"),
        ("T 0\nX_ERROR(1.01) 0", 2, "only takes probability arguments"),
        ("T 0\nX_ERROR(-0.01) 0", 2, "only takes probability arguments"),
        ("T 0\nDEPOLARIZE1(2) 0", 2, "only takes probability arguments"),
        ("T 0\nM(1.5) 0", 2, "only takes probability arguments"),
        ("T 0\nPAULI_CHANNEL_1(0.5, 0.4, 0.2) 0", 2, "The disjoint probability arguments"),
        ("T 0\nPAULI_CHANNEL_2(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1) 0 1", 2, "The disjoint probability arguments"),
        ("T 0\nHERALDED_PAULI_CHANNEL_1(0.5, 0.4, 0.2, 0) 0", 2, "The disjoint probability arguments"),
        ("T 0\nE(1.5) X0", 2, "only takes probability arguments"),
        ("T 0\nX_ERROR(nan) 0", 2, "Parens arguments for 'X_ERROR'"),
    ],
)  # fmt: skip
def test_errors_name_the_line(text: str, line: int, message: str) -> None:
    written = text.split("\n")[line - 1]
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        Circuit(text)
    assert str(error.value).startswith(f"Line {line}: `")
    instruction = written.replace("REPEAT 2 {", "").strip("\ufeff \r")
    assert instruction in str(error.value).partition("`: ")[0]


@pytest.mark.parametrize(
    "text",
    [
        "T[my note] 0", "S[T:R_Z(theta=0.1*pi)] 0", "SPP_DAG[T:T] X0", "TPP[T:x] X0*!Y1",
        "I[R_Z(theta=45*pi)] 0", "SPP[R_PAULI(theta=-5.25*pi)] X0*X1", "M 0\nCZ[C_R_X(theta=7*pi)] rec[-1] 1",
        "R_X(4) 0\nR_Z(-4) 1", "H[a note] 0\nTICK[LEAKAGE]\nDETECTOR[T gate]\nM[loss is seen here](0.1) 0",
        "I_ERROR(0.1) 0\nII_ERROR 0 1\nDEPOLARIZE1[idle](0.1) 0\nCX[READOUT] 0 1",
    ],
)  # fmt: skip
def test_notes_and_large_angles_in_tags(text: str) -> None:
    """They are read, and read again when they have been printed."""
    circuit = Circuit(text)
    assert Circuit(str(circuit)) == circuit
    assert circuit.to_stim().num_qubits == circuit.num_qubits


def test_appended_instructions_that_do_not_exist() -> None:
    circuit = Circuit()
    with pytest.raises(IndexError, match="This kind of leakage is not supported"):
        circuit.append("LEAK", [0], 0.01)
    with pytest.raises(IndexError, match="Did you mean T_DAG"):
        circuit.append("T_DAGG", [0])
    with pytest.raises(ValueError, match=r"45 degrees are 0\.25 half-turns"):
        circuit.append("R_X", [0], 45)
    with pytest.raises(ValueError, match=r"\[LOSS\] takes no probability in parentheses"):
        circuit.append("I_ERROR", [0], 0.1, tag="LOSS")
    with pytest.raises(ValueError, match="would be a gate or a channel"):
        circuit.append("T", [0], tag="CS")
    assert len(circuit) == 0


def test_tag_without_end() -> None:
    """In a process with little memory: Stim's parser takes all of it where such a text ends."""
    script = """
import resource
import stim_nonclifford
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for text in ("H 0\\nT[x\\nM 0", "TICK[x", "H 0\\nS[T:x 0"):
    try:
        stim_nonclifford.Circuit(text)
    except ValueError as error:
        print(str(error).split("`")[0])
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["Line 2: ", "Line 1: ", "Line 2: "]


@pytest.mark.parametrize("tag", ["t", "T;x", "R_Z(theta=0.25)", "T:x\n", " T"])
def test_wrong_tags_of_stim_circuits(tag: str) -> None:
    """The same checks for circuits that come from Stim, also inside loops."""
    circuit = stim.Circuit()
    circuit.append("S" if tag != "R_Z(theta=0.25)" else "I", [0], tag=tag)
    if tag == "T:x\n":  # a tag may hold anything
        assert Circuit(circuit).to_stim() == circuit
        return
    for wrong in (circuit, circuit * 3):
        with pytest.raises(ValueError, match=r"Unknown tag|Malformed tag"):
            Circuit(wrong)


def test_wrong_type() -> None:
    with pytest.raises(TypeError, match=r"circuit must be circuit text or a stim\.Circuit, but has type int"):
        Circuit(5)  # type: ignore[arg-type, unused-ignore]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("CS 0", "CS"), ("CS 0 0", "CS"), ("CH 0 1 2", "CH"), ("T X0", "T"), ("t !0", "T"),
        ("R_X(0.5) X0", "R_X"), ("U3(0, 0, 1) X0", "U3"), ("TPP 0", "TPP"), ("TPP X0*", "TPP"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("block", ["{}", "REPEAT 2 {{ {}\n}}"])
def test_messages_of_stim_speak_of_the_gate_and_not_of_its_carrier(line: str, name: str, block: str) -> None:
    written = block.format(line)
    with pytest.raises(ValueError, match=r"^Line 2: ") as error:
        parse(f"H 0\n{written}")
    message = str(error.value)
    first_line = written.split("\n")[0]
    assert message.startswith(f"Line 2: `{first_line}`: ")
    assert re.search(rf"[Gg]ate (type )?'?{name}\b", message)
    assert not re.search(r"[Gg]ate (type )?'?(S|I|II|SPP|REPEAT)\b", message)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("AMPLITUDE_DAMPING(0.1) 0\nX_ERROR(0.1) 0\nM 0 1", r"pauli_twirl\(\)"),
        ("X_ERROR(0.1) 0\nM(0.1, 0.2) 0 1", r"ine 3: `M`: outcomes 0 and 1 are misread .*pauli_twirl\(\)"),
        ("KRAUS(1, 0, 0, 0, 0, 0, 0.8, 0, 0, 0, 0.6, 0, 0, 0, 0, 0) 0\nM 0 1", r"pauli_twirl\(\)"),
        ("X_ERROR(0.01) 0\nLEAKAGE(0.01) 0\nM 0 1", r"ine 3: `LEAKAGE`: the qubit leaks .* Count errors with a sampler.* Or ask circuit\.pauli_twirl\(\)"),
    ],
)  # fmt: skip
def test_faults_and_rates_refuse_and_name_the_remedy(
    noise: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    circuit = Circuit(f"R 0 1\n{noise}\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]")
    for ask in (
        circuit.faults,
        circuit.fault_distance,
        partial(circuit.fault_distance, postselection_mask="all"),
        partial(circuit.malignant_sets, postselection_mask="all"),
        partial(circuit.logical_error_rate, postselection_mask="all"),
        partial(circuit.logical_error_rate, decoder="pymatching"),
        partial(logical_error_rates, [circuit], decoder="pymatching"),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    (tmp_path / "noisy.stim").write_text(str(circuit), encoding="utf-8")
    for command in ("faults", "estimate"):
        assert main([command, "--in", str(tmp_path / "noisy.stim"), "--postselect", "all"]) == 2
        assert re.search(message, capsys.readouterr().err)
    assert circuit.pauli_twirl().logical_error_rate(postselection_mask="all").logical_error_rate > 0
    with pytest.raises(ValueError, match="OpenQASM has no noise"):
        circuit.to_qasm()


@pytest.mark.parametrize(
    "noise",
    [
        "AMPLITUDE_DAMPING(0.1) 0",
        "M(0.1, 0.2) 0",
        "KRAUS(1, 0, 0, 0, 0, 0, 0.8, 0, 0, 0, 0.6, 0, 0, 0, 0, 0) 0",
    ],
)
def test_what_needs_pauli_noise_or_none(noise: str) -> None:
    circuit = Circuit(noise)
    with pytest.raises(ValueError, match=r"without_noise\(\)\.state_vector"):
        circuit.state_vector()
    with pytest.raises(ValueError, match=r"Line 2: .* counts the flips by Pauli errors"):
        Circuit(f"{noise}\nOBSERVABLE_INCLUDE(0) Z0").compile_detector_sampler()
    with pytest.raises(ValueError, match="OpenQASM has no noise"):
        circuit.to_qasm()
