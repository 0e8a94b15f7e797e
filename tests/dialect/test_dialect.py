"""Circuit text: bare gates, tags, errors, and the way from one form to the other and back."""

from __future__ import annotations

import io
import math
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import stim
from hypothesis import given, settings
from hypothesis import strategies as st

import stim_nonclifford
from stim_nonclifford import Circuit
from stim_nonclifford.dialect import NonCliffordGate, extended_text, gate_from_tag, parse
from stim_nonclifford.simulation.compiler.program.flattening import program_of

from ..support.laws.exact import exact_outputs, largest_difference, mask_of
from ..support.oracle.density_matrix import record_distribution
from ..support.oracle.random_circuits import circuits

# Bare form and the tagged form that it is parsed as.
BARE_AND_TAGGED = [
    ("T 0 1", "S[T] 0 1"),
    ("T_DAG 0", "S_DAG[T] 0"),
    ("T[my tag] 0", "S[T:my tag] 0"),
    ("T_DAG[x] 1 2", "S_DAG[T:x] 1 2"),
    ("TPP X0*Y1 !Z2", "SPP[T] X0*Y1 !Z2"),
    ("TPP_DAG !X0*Z2", "SPP_DAG[T] !X0*Z2"),
    ("TPP[a b] X0", "SPP[T:a b] X0"),
    ("R_X(0.25) 0", "I[R_X(theta=0.25*pi)] 0"),
    ("R_Y(-1.5) 0 1", "I[R_Y(theta=-1.5*pi)] 0 1"),
    ("R_Z(0.001) 0", "I[R_Z(theta=0.001*pi)] 0"),
    ("R_Z(1e-05) 0", "I[R_Z(theta=1e-05*pi)] 0"),
    ("R_XX(0.25) 0 1", "SPP[R_PAULI(theta=0.25*pi)] X0*X1"),
    ("R_YY(0.1) 0 1 2 3", "SPP[R_PAULI(theta=0.1*pi)] Y0*Y1 Y2*Y3"),
    ("R_ZZ(3.0) 1 0", "SPP[R_PAULI(theta=3.0*pi)] Z1*Z0"),
    ("R_PAULI(0.3) X0*Y1 Z2", "SPP[R_PAULI(theta=0.3*pi)] X0*Y1 Z2"),
    ("U3(0.1, -0.2, 0.3) 0", "I[U3(theta=0.1*pi, phi=-0.2*pi, lambda=0.3*pi)] 0"),
]

# Tagged forms that are not written by the parser, but read: tsim's files have them.
OTHER_TAGGED = [
    "II[R_XX(theta=0.25*pi)] 0 1",
    "II[R_YY(theta=-0.3*pi)] 0 1 1 2",
    "II[R_ZZ(theta=1.1*pi)] 2 1",
    "SPP_DAG[R_PAULI(theta=0.3*pi)] X0*Y1",
    "SPP_DAG[R_PAULI(theta=0.3*pi)] X0*X1 !Z1*Z2",
    "SPP[R_PAULI(theta=0.3*pi)] !X0*Y1*Z2 X1*Z1*X1*Y2",
    "I[U3(lambda=0.3*pi, theta=0.1*pi, phi=-0.2*pi)] 0",
    "I[R_Z(theta = +.5e-1 * pi)] 0",
    "I[R_Z(theta=1.*pi)] 0",
]


def around(line: str) -> str:
    """A circuit in which a gate on qubits 0 to 2 matters."""
    before = "R_Y(0.3) 0\nR_X(0.4) 1\nR_Y(0.7) 2\nCX 0 1\nCZ 1 2"
    after = "R_X(0.2) 0 1 2\nCX 2 0\nM 0\nMX 1\nMY 2"
    return f"{before}\n{line}\n{after}"


def assert_matches_oracle(circuit: Circuit) -> None:
    expected = {mask_of(bits): p for bits, p in record_distribution(circuit.to_stim()).items()}
    found = exact_outputs(circuit.compile().record_plan()).kept
    assert largest_difference(found, expected) < 1e-10


@pytest.mark.parametrize(("bare", "tagged"), BARE_AND_TAGGED)
def test_bare_and_tagged_forms(bare: str, tagged: str) -> None:
    assert str(parse(bare)) == tagged
    assert parse(bare) == parse(tagged) == stim.Circuit(tagged)
    assert extended_text(stim.Circuit(tagged)) == bare
    assert Circuit(bare) == Circuit(tagged) == Circuit(stim.Circuit(tagged))
    assert str(Circuit(tagged)) == bare
    assert_matches_oracle(Circuit(around(bare)))


@pytest.mark.parametrize("tagged", OTHER_TAGGED)
def test_other_tagged_forms(tagged: str) -> None:
    """They print as bare gates that mean the same."""
    circuit = Circuit(around(tagged))
    assert_matches_oracle(circuit)
    printed = Circuit(str(circuit))
    assert str(printed) == str(circuit)
    assert list(program_of(printed.to_stim()).steps) == list(program_of(circuit.to_stim()).steps)


@pytest.mark.parametrize("tagged", [*OTHER_TAGGED[:6], *(tagged for _, tagged in BARE_AND_TAGGED)])
def test_repr_evaluates_to_an_equal_circuit(tagged: str) -> None:
    circuit = Circuit(f"H 0\n{tagged}\nM 0")
    assert eval(repr(circuit)) == circuit
    assert Circuit(str(circuit)) == circuit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "T 0",
        "REPEAT 3 {\n    T 0\n    REPEAT[outer T 0] 2 {\n        R_X(0.1) 1\n    }\n}\nM 0",
        "T[don't] 0",
        "T[quote\"s '''] 0",
        "T[back\\Bslash and bracket\\C] 0\nM 0",
        "TICK[ T ]\nX_ERROR[T 1](0.5) 0",
    ],
)
def test_repr(text: str) -> None:
    circuit = Circuit(text)
    assert str(circuit) == text
    assert eval(repr(circuit)) == circuit
    assert eval(repr(circuit), {"stim_nonclifford": stim_nonclifford}) == circuit


def test_equality() -> None:
    circuit = Circuit("H 0\nT 0")
    assert circuit == Circuit("H 0\nS[T] 0")
    assert circuit != Circuit("H 0\nT[x] 0")
    assert circuit != Circuit("H 0\nS 0")
    assert circuit != Circuit("H 0\nT_DAG 0")
    assert Circuit("R_Z(0.25) 0") != Circuit("R_Z(0.26) 0")
    assert circuit != "H 0\nT 0"
    assert len(circuit) == 2


def test_pickle() -> None:
    circuit = Circuit("H 0\nT[a b\\C] 0\nREPEAT 2 {\n    R_X(0.125) 0\n}\nM 0")
    assert pickle.loads(pickle.dumps(circuit)) == circuit


# Hypothesis

_ANGLES = st.floats(allow_nan=False, allow_infinity=False)
_QUBITS = st.integers(0, 30)
_TAGS = st.text(
    st.sampled_from("abT 0[]\\{}#()=*\"'\n\r:,é") | st.characters(codec="ascii", min_codepoint=32),
    max_size=8,
)


@st.composite
def _gate(draw: st.DrawFn) -> stim.CircuitInstruction:
    """An instruction with one of the tags that the parser writes."""
    carrier = draw(st.sampled_from(["S", "S_DAG", "SPP", "SPP_DAG", "I", "R_PAULI", "TICK", "H"]))
    qubits = [stim.GateTarget(q) for q in draw(st.lists(_QUBITS, min_size=1, max_size=4))]
    tag = draw(_TAGS)
    if carrier == "TICK":
        return stim.CircuitInstruction("TICK", [], tag=f"x{tag}")
    if carrier == "H":
        return stim.CircuitInstruction("H", qubits, tag=f"x{tag}")
    if carrier == "I":
        name = draw(st.sampled_from(["R_X", "R_Y", "R_Z", "U3"]))
        keys = ["theta", "phi", "lambda"] if name == "U3" else ["theta"]
        angles = ", ".join(f"{key}={draw(_ANGLES)!r}*pi" for key in keys)
        return stim.CircuitInstruction("I", qubits, tag=f"{name}({angles})")
    if carrier in ("S", "S_DAG"):
        return stim.CircuitInstruction(carrier, qubits, tag=f"T:{tag}" if tag else "T")
    product: list[stim.GateTarget] = []
    for qubit in qubits:
        if product and draw(st.booleans()):
            product.append(stim.target_combiner())
        product.append(stim.target_pauli(qubit.value, draw(st.sampled_from("XYZ")), draw(st.booleans())))
    if carrier == "R_PAULI":
        return stim.CircuitInstruction("SPP", product, tag=f"R_PAULI(theta={draw(_ANGLES)!r}*pi)")
    return stim.CircuitInstruction(carrier, product, tag=f"T:{tag}" if tag else "T")


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.lists(_gate(), max_size=6), st.booleans())
def test_round_trips(instructions: list[stim.CircuitInstruction], repeated: bool) -> None:
    tagged = stim.Circuit()
    for instruction in instructions:
        tagged.append(instruction)
    if repeated and len(tagged):
        tagged = tagged * 2
    circuit = Circuit(tagged)
    assert circuit.to_stim() == tagged
    assert Circuit(str(tagged)).to_stim() == tagged
    assert Circuit(str(circuit)).to_stim() == tagged
    assert eval(repr(circuit)).to_stim() == tagged
    assert pickle.loads(pickle.dumps(circuit)) == circuit


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(circuits())
def test_round_trips_of_random_circuits(tagged: stim.Circuit) -> None:
    circuit = Circuit(tagged)
    assert Circuit(str(tagged)) == circuit
    printed = Circuit(str(circuit))
    assert str(printed) == str(circuit)
    assert list(program_of(printed.to_stim()).steps) == list(program_of(tagged).steps)


@pytest.mark.parametrize("character", ["\v", "\f", "\x1c", "\x85", "\u2028"])
def test_characters_that_python_takes_for_line_breaks(character: str) -> None:
    """Stim does not; a tag may hold them."""
    tagged = stim.Circuit()
    tagged.append("TICK", [], tag=f"a{character}b")
    for circuit in (tagged, tagged * 2):
        assert stim.Circuit(str(Circuit(circuit))) == circuit
        shown = repr(Circuit(circuit)).replace("stim_nonclifford.", "stim.")
        assert eval(shown) == circuit


# Spelling


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t 0\nt_dag 1\nh 0", "S[T] 0\nS_DAG[T] 1\nH 0"),
        (
            "r_z(0.25) 0\nu3(0, 1, 2) 0",
            "I[R_Z(theta=0.25*pi)] 0\nI[U3(theta=0.0*pi, phi=1.0*pi, lambda=2.0*pi)] 0",
        ),
        ("U(0, 1, 2) 0", "I[U3(theta=0.0*pi, phi=1.0*pi, lambda=2.0*pi)] 0"),
        ("tpp x0*y1", "SPP[T] X0*Y1"),
        ("T 0 # T 1", "S[T] 0"),
        ("T 0#T 1", "S[T] 0"),
        ("# T 0\n\n   T\t0   1  \n\n", "S[T] 0 1"),
        ("T 0\r\nM 0\r\n", "S[T] 0\nM 0"),
        ("REPEAT 2 { T 0\n}", "REPEAT 2 {\n    S[T] 0\n}"),
        ("REPEAT 2 {T 0\n  r_x(1) 0 # }\n} # {\nT 1", None),
        ("repeat 2 {\n\tT 0\n}T 1", None),
        ("H[my T gate] 0", "H[my T gate] 0"),
        ("TICK[ T 0 ]\nT 0", "TICK[ T 0 ]\nS[T] 0"),
        ("T[ T ] 0", "S[T: T ] 0"),
        ("T[T] 0", "S[T:T] 0"),
        ("M[T 1](0.5) 0", "M[T 1](0.5) 0"),
        ("DETECTOR[S[T\\C 0](1, 2)", "DETECTOR[S[T\\C 0](1, 2)"),
        ("T[a\\Cb\\Bc\\nd] 0", "S[T:a\\Cb\\Bc\\nd] 0"),
        ("T", "S[T]"),
        ("T 0\nT 1\nT[x] 2\nT[x] 3\nS 4", "S[T] 0 1\nS[T:x] 2 3\nS 4"),
        ("R_X( 1e-3 ) 0", "I[R_X(theta=0.001*pi)] 0"),
        ("R_X(-.5) 0", "I[R_X(theta=-0.5*pi)] 0"),
    ],
)
def test_spelling(text: str, expected: str | None) -> None:
    circuit = Circuit(text)
    if expected is None:
        plain = text.replace("r_x(1)", "I[R_X(theta=1.0*pi)]").replace("T", "S[T]")
        plain = plain.replace("REPEAS[T]", "REPEAT")
        assert circuit.to_stim() == stim.Circuit(plain)
    else:
        assert circuit.to_stim() == stim.Circuit(expected)


def test_stim_text_is_left_alone() -> None:
    """Text without bare gates is what Stim reads: all of its gates, in one circuit."""
    lines = []
    for name, gate in stim.gate_data().items():
        if gate.is_unitary and gate.takes_pauli_targets:
            lines.append(f"{name} X0*Y1")
        elif gate.is_unitary:
            lines.append(f"{name.lower()} 0 1")
    lines += [
        "M(0.1) !0",
        "CX rec[-1] 1 sweep[3] 2",
        "MPP(0.1) !X0*Y1 Z2",
        "E(0.1) X0 Y1",
        "SHIFT_COORDS(1, 2.5)",
        "OBSERVABLE_INCLUDE(2) rec[-1] X3",
        "MPAD 0 1",
    ]
    text = "\n".join(lines)
    assert Circuit(text).to_stim() == stim.Circuit(text)


# Errors


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
        ("R_X(nan) 0", 1, "must be a finite number"),
        ("R_X(inf) 0", 1, "must be a finite number"),
        ("R_X(-1e999) 0", 1, "must be a finite number"),
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
        (
            "S[T_DAG] 0",
            1,
            "Unknown tag [T_DAG] on S. The gate T_DAG is written S_DAG[T] or, without a tag, T_DAG.",
        ),
        ("T 0\nS_DAG[t_dag] 0", 2, "The gate T_DAG is written S_DAG[T]"),
        ("SPP[TPP_DAG] X0", 1, "The gate TPP_DAG is written SPP_DAG[T]"),
        ("I[R_X] 0", 1, "The gate R_X is written I[R_X(theta=0.25*pi)]"),
        ("I[CCX] 0 1 1", 1, "CCX needs targets in groups of 3 different qubits; got 0 1 1"),
        ("RZ(0.25) 0", 1, "RZ is a reset in Stim. The rotation is R_Z, with its angle in half-turns"),
        (
            "T 0\nREPEAT 2 {\n    rx(0.1) 0\n}",
            3,
            "The rotation is R_X, with its angle in half-turns: R_X(0.25)",
        ),
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
        ("I_ERROR[LEAKAGE:0.5](0.5) 0", 1, "Leakage is not supported"),
        (
            "TICK\nI_ERROR[AMPLITUDE_DAMPING](0.5) 0",
            2,
            "PAULI_CHANNEL_1(γ/4, γ/4, (1 - sqrt(1 - γ))/2 - γ/4)",
        ),
        ("I_ERROR[loss](0.1) 0", 1, "HERALDED_ERASE(p)"),
        ("II_ERROR[a note](0.1) 0 1", 1, "Unknown tag [a note] on II_ERROR"),
        ("II_ERROR[a note](0.1) 0 1", 1, "or remove them with stim.Circuit.without_tags()"),
        ("II[a note] 0 1", 1, "Unknown tag [a note] on II"),
        ("I_ERROR[T](0.1) 0", 1, "The tag [T] makes no sense on I_ERROR"),
        ("M[LEAKAGE_MEASUREMENT: 0](0.1) 0", 1, "looks like a noise channel of another simulator"),
        ("DEPOLARIZE1[LEAKAGE_TRANSITION_1:(0.1, 0, 1)](0.1) 0", 1, "Leakage is not supported"),
        ("AMPLITUDE_DAMPING(0.01) 0", 1, "Gate not found: 'AMPLITUDE_DAMPING'. Relaxation is not supported"),
        ("X 0\nLEAKAGE(0.01) 0", 2, "Gate not found: 'LEAKAGE'. Leakage is not supported"),
        ("LEVEL_TRANSITION[key] 0", 1, "Leakage is not supported"),
        ("RELAX(0.1) 0", 1, "Relaxation is not supported"),
        ("PHASE_DAMPING(0.1) 0", 1, "Z_ERROR((1 - sqrt(1 - λ))/2)"),
        ("DEPOLARIZE3(0.1) 0 1 2", 1, "ELSE_CORRELATED_ERROR(p) for each further one"),
        ("READOUT_NOISE(0.1, 0.2) 0", 1, "Write it at the measurement"),
    ],
)
def test_errors_name_the_line(text: str, line: int, message: str) -> None:
    written = text.split("\n")[line - 1]
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        Circuit(text)
    assert str(error.value).startswith(f"Line {line}: `")
    instruction = written.replace("REPEAT 2 {", "").strip()
    assert instruction in str(error.value).partition("`: ")[0]


@pytest.mark.parametrize(
    "text",
    [
        "T[my note] 0",
        "S[T:R_Z(theta=0.1*pi)] 0",
        "SPP_DAG[T:T] X0",
        "TPP[T:x] X0*!Y1",
        "I[R_Z(theta=45*pi)] 0",
        "SPP[R_PAULI(theta=-5.25*pi)] X0*X1",
        "M 0\nCZ[C_R_X(theta=7*pi)] rec[-1] 1",
        "R_X(4) 0\nR_Z(-4) 1",
        "H[a note] 0\nTICK[LEAKAGE]\nDETECTOR[T gate]\nM[loss is seen here](0.1) 0",
        "I_ERROR(0.1) 0\nII_ERROR 0 1\nDEPOLARIZE1[idle](0.1) 0\nCX[READOUT] 0 1",
    ],
)
def test_notes_and_large_angles_in_tags(text: str) -> None:
    """They are read, and read again when they have been printed."""
    circuit = Circuit(text)
    assert Circuit(str(circuit)) == circuit
    assert circuit.to_stim().num_qubits == circuit.num_qubits


def test_appended_instructions_that_do_not_exist() -> None:
    circuit = Circuit()
    with pytest.raises(IndexError, match="Relaxation is not supported"):
        circuit.append("AMPLITUDE_DAMPING", [0], 0.01)
    with pytest.raises(IndexError, match="Did you mean T_DAG"):
        circuit.append("T_DAGG", [0])
    with pytest.raises(ValueError, match=r"45 degrees are 0\.25 half-turns"):
        circuit.append("R_X", [0], 45)
    with pytest.raises(ValueError, match=r"Unknown tag \[LOSS\] on I_ERROR"):
        circuit.append("I_ERROR", [0], 0.1, tag="LOSS")
    with pytest.raises(ValueError, match="would be a gate or a channel"):
        circuit.append("T", [0], tag="CS")
    assert len(circuit) == 0


@pytest.mark.parametrize("text", ["H 0\nT[x\nM 0", "TICK[x", "H 0\nS[T:x 0"])
def test_tag_without_end(text: str) -> None:
    """In a process with little memory: Stim's parser takes all of it where such a text ends."""
    script = f"""
import resource
import stim_nonclifford
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    stim_nonclifford.Circuit({text!r})
except ValueError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"Line {1 + text.split('x')[0].count(chr(10))}: `")


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


def test_residue_of_decomposition() -> None:
    """Stim copies the tag of a decomposed instruction to every helper gate."""
    decomposed = stim.Circuit("SPP[T] Y0*X1").decomposed()
    with pytest.raises(ValueError, match=r"decomposed\(\) copies tags to all gates of a decomposition"):
        Circuit(decomposed)


def test_gates_of_tags() -> None:
    instruction = stim.CircuitInstruction
    assert gate_from_tag(instruction("SPP_DAG", [stim.target_x(0)], tag="T")) == NonCliffordGate("TPP_DAG")
    assert gate_from_tag(instruction("S", [0], tag="T:a:b")) == NonCliffordGate("T", (), "a:b")
    u3 = instruction("I", [0], tag="U3(theta=1*pi, phi=2*pi, lambda=-3.5*pi)")
    assert gate_from_tag(u3) == NonCliffordGate("U3", (1.0, 2.0, -3.5))
    for name in ("S", "I", "SPP", "II", "H"):
        assert gate_from_tag(instruction(name, [])) is None
    assert gate_from_tag(instruction("H", [0], tag="anything")) is None


def test_wrong_type() -> None:
    with pytest.raises(TypeError, match=r"circuit must be circuit text or a stim\.Circuit, but has type int"):
        Circuit(5)  # type: ignore[arg-type, unused-ignore]


# Angles


@pytest.mark.parametrize(
    "half_turns", [0.0, 0.5, -0.5, 1.0, 1.5, -1.5, 2.0, 2.5, 100.5, -7.0, 2.0**52 + 0.5, 1e300]
)
def test_clifford_angles(half_turns: float) -> None:
    """Rotations by multiples of a quarter turn are Clifford gates, and need no coefficients.

    They are tagged: bare angles of more than 4 half-turns are refused.
    """
    lines = [f"I[R_{axis}(theta={half_turns!r}*pi)] 0" for axis in "XYZ"]
    lines += [f"II[R_{axis}{axis}(theta={half_turns!r}*pi)] 0 1" for axis in "XYZ"]
    lines += [
        f"SPP[R_PAULI(theta={half_turns!r}*pi)] X0*!Y1*Z2",
        f"I[U3(theta={half_turns!r}*pi, phi=0.5*pi, lambda={-half_turns!r}*pi)] 1",
    ]
    preparation = "H 0\nS 0\nCX 0 1\nC_XYZ 1\nCZ 1 2\nSQRT_Y 2\nCX 2 0"
    # Each gate is followed by measurements in which a wrong one would show.
    for line in lines:
        for final in ("M 0 1 2", "MX 0 1 2", "MY 0 1 2", "MPP X0*Y1 Z1*Z2 Y0*X2"):
            text = f"{preparation}\n{line}\nC_XYZ 0 1\nCX 1 2\n{final}"
            plan = Circuit(text).compile().record_plan()
            assert len(plan.operations) == 0
            assert plan.peak_width == 0
            # Sines of large angles are not precise, remainders are.
            small = Circuit(text.replace(repr(half_turns), repr(math.fmod(half_turns, 4))))
            assert exact_outputs(plan) == exact_outputs(small.compile().record_plan())
            assert_matches_oracle(small)


@pytest.mark.parametrize("half_turns", [0.25, 1e-9, 0.5 + 1e-15, 0.499999, -1e-300])
def test_other_angles(half_turns: float) -> None:
    circuit = Circuit(f"H 0\nR_Z({half_turns!r}) 0\nH 0\nM 0")
    plan = circuit.compile().record_plan()
    assert (len(plan.rotation_terms), plan.num_outcomes) == (1, 1)
    assert_matches_oracle(circuit)


@pytest.mark.parametrize(
    ("gate", "clifford"),
    [
        ("R_Z(0.5)", "S"),
        ("R_Z(-0.5)", "S_DAG"),
        ("R_Z(1)", "Z"),
        ("R_X(0.5)", "SQRT_X"),
        ("R_Y(0.5)", "SQRT_Y"),
        ("R_XX(0.5)", "SQRT_XX"),
        ("R_ZZ(-0.5)", "SQRT_ZZ_DAG"),
        ("U3(0.5, 0, 1)", "H"),
    ],
)
def test_clifford_gates_by_their_angles(gate: str, clifford: str) -> None:
    targets = " 0 1" if clifford.startswith(("SQRT_XX", "SQRT_ZZ")) else " 0"
    for preparation in ("", "H 0", "H_YZ 0", "H 0 1\nS 1", "H 0\nCX 0 1"):
        for final in ("M 0 1", "MX 0 1", "MY 0 1", "MXX 0 1", "MPP X0*Y1 Y0*X1"):
            text = f"{preparation}\n{{}}{targets}\n{final}"
            found = Circuit(text.format(gate)).compile().record_plan()
            expected = Circuit(text.format(clifford)).compile().record_plan()
            assert exact_outputs(found) == exact_outputs(expected)


# Other methods


def test_files(tmp_path: pathlib.Path) -> None:
    circuit = Circuit("H 0\nT[é] 0\nR_X(0.125) 0\nM 0")
    path = tmp_path / "circuit.stim"
    for target in (path, str(path)):
        circuit.to_file(target)
        assert path.read_text(encoding="utf-8") == "H 0\nS[T:é] 0\nI[R_X(theta=0.125*pi)] 0\nM 0\n"
        assert stim.Circuit.from_file(path) == circuit.to_stim()
        assert Circuit.from_file(target) == circuit
    with path.open("w", encoding="utf-8") as file:
        circuit.to_file(file)
    with path.open(encoding="utf-8") as file:
        assert Circuit.from_file(file) == circuit
    assert Circuit.from_file(io.StringIO("T 0\nM 0")) == Circuit("T 0\nM 0")
    path.write_bytes(b"T 0\r\n# comment\r\nM 0\r\n")
    assert Circuit.from_file(path) == Circuit("T 0\nM 0")


def test_to_stim_gives_a_copy() -> None:
    original = stim.Circuit("S[T] 0")
    circuit = Circuit(original)
    original.append("M", [0])
    circuit.to_stim().append("M", [0])
    assert circuit == Circuit("T 0")
    again = Circuit(circuit)
    assert again == circuit


def test_without_noise() -> None:
    text = "T 0\nX_ERROR(0.1) 0\nREPEAT 2 {\n    R_Z(0.1) 0\n    DEPOLARIZE1(0.1) 0\n    M(0.25) 0\n}\nMR(0.1) !0"
    expected = "T 0\nREPEAT 2 {\n    R_Z(0.1) 0\n    M 0\n}\nMR !0"
    assert Circuit(text).without_noise() == Circuit(expected)


def test_numbers() -> None:
    """As of Stim."""
    text = "REPEAT 3 {\n    T 4\n    M 0 1\n    DETECTOR rec[-1]\n}\nOBSERVABLE_INCLUDE(6) rec[-1]"
    circuit = Circuit(text)
    tagged = circuit.to_stim()
    assert circuit.num_qubits == tagged.num_qubits == 5
    assert circuit.num_measurements == tagged.num_measurements == 6
    assert circuit.num_detectors == tagged.num_detectors == 3
    assert circuit.num_observables == tagged.num_observables == 7


@pytest.mark.parametrize(
    "line",
    [
        *(bare for bare, _ in BARE_AND_TAGGED),
        *OTHER_TAGGED,
        "CCX 0 1 2",
        "CCZ 2 0 1",
        "CS 0 1",
        "CS_DAG 1 2",
        "CH 0 2",
        "CH 0 1 1 2",
        "REPEAT 3 {\n    T 0\n    CCX 1 2 0\n    R_Y(0.1) 0\n    CX 0 1\n}",
    ],
)
def test_inverse_undoes(line: str) -> None:
    """A circuit and its inverse, exactly: every measurement is 0."""
    gates = Circuit(f"R_Y(0.3) 0\nR_X(0.4) 1\nR_Y(0.7) 2\nCX 0 1\nCZ 1 2\n{line}\nISWAP 0 1\nR_X(0.2) 0 1 2")
    circuit = Circuit(f"{gates}\n{gates.inverse()}\nM 0 1 2 3")
    outputs = exact_outputs(circuit.compile().record_plan())
    assert outputs.kept[0] == pytest.approx(1, abs=1e-12)


def test_reference_sample_takes_ties_as_0() -> None:
    """Where the likely outcome of one measurement is 1, equally likely later ones are still 0."""
    for text in ("R_XX(0.75) 0 1\nM 0\nMY 1", "R_X(0.75) 0\nCX 0 1\nM 0\nMX 1 2"):
        sample = Circuit(text).reference_sample()
        np.testing.assert_array_equal(sample, [True] + [False] * (len(sample) - 1))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("CS 0", "CS"),
        ("CS 0 0", "CS"),
        ("CH 0 1 2", "CH"),
        ("T X0", "T"),
        ("t !0", "T"),
        ("R_X(0.5) X0", "R_X"),
        ("U3(0, 0, 1) X0", "U3"),
        ("TPP 0", "TPP"),
        ("TPP X0*", "TPP"),
    ],
)
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
    ("line", "remedy"),
    [("S[T_DAG] 0", "S_DAG[T]"), ("S_DAG[T_DAG] 0", "S_DAG[T]"), ("SPP[T_DAG] X0", "SPP_DAG[T]")],
)
def test_a_tag_that_is_the_name_of_a_gate_gets_the_gate_in_the_message(line: str, remedy: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"is written {remedy} or")):
        parse(line)
    assert parse(f"{remedy} {line.split()[1]}")
