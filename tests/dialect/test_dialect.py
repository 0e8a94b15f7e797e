"""Circuit text: bare gates, tags, errors, and the way from one form to the other and back."""

import io
import math
import pathlib
import pickle

import numpy as np
import pytest
import stim
from hypothesis import given, settings
from hypothesis import strategies as st

import stim_nonclifford
from stim_nonclifford import Circuit
from stim_nonclifford.dialect import NonCliffordGate, extended_text, gate_from_tag, parse
from stim_nonclifford.simulation.compiler.program.flattening import program_of

from ..support.laws.exact import exact_outputs
from ..support.laws.records import assert_records_agree
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

# Tagged forms that are not written by the parser, but read: files of tsim and bloq have them.
OTHER_TAGGED = [
    "S[HONEST_T] 0 2",
    "S_DAG[HONEST_T] 1",
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


@pytest.mark.parametrize(("bare", "tagged"), BARE_AND_TAGGED)
def test_bare_and_tagged_forms(bare: str, tagged: str) -> None:
    assert str(parse(bare)) == tagged
    assert parse(bare) == parse(tagged) == stim.Circuit(tagged)
    assert extended_text(stim.Circuit(tagged)) == bare
    assert Circuit(bare) == Circuit(tagged) == Circuit(stim.Circuit(tagged))
    assert str(Circuit(tagged)) == bare
    assert_records_agree(Circuit(around(bare)))


@pytest.mark.parametrize("tagged", OTHER_TAGGED)
def test_other_tagged_forms(tagged: str) -> None:
    """They print as bare gates that mean the same."""
    circuit = Circuit(around(tagged))
    assert_records_agree(circuit)
    printed = Circuit(str(circuit))
    assert str(printed) == str(circuit)
    assert list(program_of(printed.to_stim()).steps) == list(program_of(circuit.to_stim()).steps)


@pytest.mark.parametrize(
    "text",
    [
        "", "T 0", "REPEAT 3 {\n    T 0\n    REPEAT[outer T 0] 2 {\n        R_X(0.1) 1\n    }\n}\nM 0",
        "T[don't] 0", "T[quote\"s '''] 0", "T[back\\Bslash and bracket\\C] 0\nM 0",
        "TICK[ T ]\nX_ERROR[T 1](0.5) 0",
    ],
)  # fmt: skip
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


# Hypothesis

_ANGLES = st.floats(allow_nan=False, allow_infinity=False)
_QUBITS = st.integers(0, 30)
_TAGS = st.text(
    st.sampled_from("abT 0[]\\{}#()=*\"'\n\r:,é") | st.characters(codec="ascii", min_codepoint=32), max_size=8
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


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t 0\nt_dag 1\nh 0", "S[T] 0\nS_DAG[T] 1\nH 0"),
        ("r_z(0.25) 0\nu3(0, 1, 2) 0", "I[R_Z(theta=0.25*pi)] 0\nI[U3(theta=0.0*pi, phi=1.0*pi, lambda=2.0*pi)] 0"),
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
)  # fmt: skip
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
        "M(0.1) !0", "CX rec[-1] 1 sweep[3] 2", "MPP(0.1) !X0*Y1 Z2", "E(0.1) X0 Y1", "SHIFT_COORDS(1, 2.5)",
        "OBSERVABLE_INCLUDE(2) rec[-1] X3", "MPAD 0 1",
    ]  # fmt: skip
    text = "\n".join(lines)
    assert Circuit(text).to_stim() == stim.Circuit(text)


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


@pytest.mark.parametrize("half_turns", [0.0, 0.5, -0.5, 1.0, 1.5, 2.0, 2.5, -7.0, 2.0**52 + 0.5, 1e300])
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
            assert_records_agree(small)


@pytest.mark.parametrize("half_turns", [0.25, 1e-9, 0.5 + 1e-15, 0.499999, -1e-300])
def test_other_angles(half_turns: float) -> None:
    circuit = Circuit(f"H 0\nR_Z({half_turns!r}) 0\nH 0\nM 0")
    plan = circuit.compile().record_plan()
    assert (len(plan.rotation_terms), plan.num_outcomes) == (1, 1)
    assert_records_agree(circuit)


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


def test_reference_sample_takes_ties_as_0() -> None:
    """Where the likely outcome of one measurement is 1, equally likely later ones are still 0."""
    for text in ("R_XX(0.75) 0 1\nM 0\nMY 1", "R_X(0.75) 0\nCX 0 1\nM 0\nMX 1 2"):
        sample = Circuit(text).reference_sample()
        np.testing.assert_array_equal(sample, [True] + [False] * (len(sample) - 1))
