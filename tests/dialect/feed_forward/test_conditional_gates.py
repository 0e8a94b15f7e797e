"""Gates controlled by measurement records: identities, truth tables, teleportation, cost, and bad input.

``test_every_instruction`` compares each of them with the density-matrix simulation, and
``test_exact_distribution`` mixes them with all other instructions.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.dialect import gate_named
from stim_nonclifford.dialect.feed_forward.clifford_rotations import rotations_of_clifford
from stim_nonclifford.dialect.gates import CliffordPart

from ...support.laws.exact import exact_outputs, largest_difference
from ...support.oracle.density_matrix import record_distribution
from ...support.texts.instruction_lines import CONDITIONAL

TOLERANCE = 1e-10
UNITARY = [
    name
    for name, gate in stim.gate_data().items()
    if gate.unitary_matrix is not None and name not in ("I", "II")
]


def law(text: str) -> dict[int, float]:
    """The exact distribution of the records."""
    return exact_outputs(snc.Circuit(text).compile().record_plan()).kept


@pytest.mark.parametrize("name", UNITARY)
def test_rotations_and_paulis_are_the_gate(name: str) -> None:
    lines = [f"I {' '.join(map(str, range(2 if stim.gate_data(name).is_two_qubit_gate else 1)))}"]
    for part in rotations_of_clifford(name):
        if isinstance(part, CliffordPart):
            lines.append(f"{part.name} {part.targets[0]}")
        else:
            factors = [f"{letter}{k}" for k, letter in enumerate(part.pauli) if letter != "_"]
            assert part.half_turns == 0.5
            lines.append(f"SPP {'*'.join(factors)}")
    assert stim.Circuit("\n".join(lines)).to_tableau() == stim.Tableau.from_named_gate(name)


BEFORE = "R_Y(0.3) 1\nR_X(0.4) 0\nCX 0 1\nM 1\n"
AFTER = "\nR_X(0.3) 0\nM 0"


def test_sweep_bits_are_zero() -> None:
    with_gate = law(BEFORE + "C_SQRT_X sweep[0] 0\nCCZ rec[-1] sweep[1] 0\nCCX sweep[2] 0 1" + AFTER)
    assert largest_difference(with_gate, law(BEFORE + AFTER)) < TOLERANCE


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("X_ERROR(0.1) 1\nM 1\nH 0\nCS rec[-1] 0\nH 0\nM 0", 0),
        ("H 1\nM 1\nH 0\nCS rec[-1] 0\nMY 0", 0),
        ("RX 0 1\nT 1\nCX 0 1\nM 1\nCS rec[-1] 0\nT_DAG 0\nMX 0", 0),
        ("H 1\nM 1\nCS rec[-1] 0\nM 0", 0),
        # The axis acts on an active coordinate.
        ("H 1\nM 1\nH 0\nT 0\nCX 0 2\nH 0\nT 0\nMZZ 0 2\nCS rec[-2] 0\nH 0\nM 0 2", 1),
        ("H 1\nM 1\nH 0\nT 0\nCX 0 2\nH 0\nT 0\nMZZ 0 2\nH 0\nM 0 2", 1),
    ],
)
def test_width(text: str, width: int) -> None:
    assert snc.Circuit(text).plan().peak_width == width


@pytest.mark.parametrize(
    ("bare", "tagged"),
    [
        ("CS rec[-1] 3", "CZ[CS] rec[-1] 3"),
        ("C_S rec[-1] 3", "CZ[CS] rec[-1] 3"),
        ("c_s_dag rec[-1] 3", "CZ[CS_DAG] rec[-1] 3"),
        ("CS 3 rec[-1]", "CZ[CS] rec[-1] 3"),
        ("CT sweep[4] 3 rec[-2] 1", "CZ[CT] sweep[4] 3 rec[-2] 1"),
        ("C_H rec[-1] 3", "CZ[CH] rec[-1] 3"),
        ("CCZ rec[-1] 0 1", "CZ[CCZ] rec[-1] 0 rec[-1] 1"),
        ("CCZ rec[-2] rec[-1] 4", "CZ[CCZ] rec[-2] 4 rec[-1] 4"),
        ("C_CX rec[-1] 0 1", "CZ[CCX] rec[-1] 0 rec[-1] 1"),
        ("CCX 0 rec[-1] 1", "CZ[CCX] rec[-1] 0 rec[-1] 1"),
        ("C_SWAP rec[-1] 4 5 rec[-2] 6 7", "CZ[C_SWAP] rec[-1] 4 rec[-1] 5 rec[-2] 6 rec[-2] 7"),
        ("C_C_XYZ rec[-1] 4", "CZ[C_C_XYZ] rec[-1] 4"),
        ("C_R_PAULI(0.5) rec[-1] X0*Y1", "CZ[C_R_XY(theta=0.5*pi)] rec[-1] 0 rec[-1] 1"),
        ("C_SPP rec[-1] !X0*Y1", "CZ[C_R_XY(theta=-0.5*pi)] rec[-1] 0 rec[-1] 1"),
        ("C_U3(0.5, 0, 1) rec[-1] 2", "CZ[C_U3(theta=0.5*pi, phi=0.0*pi, lambda=1.0*pi)] rec[-1] 2"),
    ],
)
def test_two_texts(bare: str, tagged: str) -> None:
    circuit = snc.Circuit(bare)
    assert str(circuit.to_stim()) == tagged
    assert snc.Circuit(str(circuit)) == circuit == snc.Circuit(tagged)
    name, *_ = re.split(r"[ (]", str(circuit))
    assert gate_named(name) is not None


@pytest.mark.parametrize("line", [line for lines in CONDITIONAL.values() for line in lines])
def test_round_trip(line: str) -> None:
    circuit = snc.Circuit(f"M 0 1\n{line}")
    assert snc.Circuit(str(circuit)) == circuit
    assert snc.Circuit(str(circuit.to_stim())) == circuit


def test_a_record_of_no_measurement_is_written_as_stim_writes_it() -> None:
    circuit = snc.Circuit("M 0\nCT_DAG rec[-0] 1")
    assert str(circuit) == "M 0\nCT_DAG rec[-0] 1"
    assert snc.Circuit(str(circuit)) == circuit


def test_append_takes_targets_as_stim_does() -> None:
    circuit = snc.Circuit("M 0 1")
    circuit.append("CS", [stim.target_rec(-1), 0])
    circuit.append("CCZ", [stim.target_rec(-1), stim.target_rec(-2), 3])
    circuit.append(
        "C_R_PAULI", [stim.target_rec(-1), *stim.target_combined_paulis(stim.PauliString("XY"))], 0.25
    )
    assert circuit == snc.Circuit("M 0 1\nCS rec[-1] 0\nCCZ rec[-1] rec[-2] 3\nC_R_XY(0.25) rec[-1] 0 1")
    with pytest.raises(
        ValueError, match=r"C_SWAP needs a record or sweep bit and then 2 qubits; got 1 2 3\."
    ):
        circuit.append("C_SWAP", [1, 2, 3])
    with pytest.raises(ValueError, match=r"T has no control.*write CT rec\[-1\] 0"):
        circuit.append("T", [stim.target_rec(-1)])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("S rec[-1] 0", r"To apply S if a record is 1, write CS rec\[-1\] 0\."),
        ("SWAP rec[-1] 0", r"To apply SWAP if a record is 1, write C_SWAP rec\[-1\] 0 1\."),
        ("T rec[-1] 0", r"T has no control\. To apply it if a record is 1, write CT rec\[-1\] 0\."),
        ("R_Z(0.1) rec[-1]", r"R_Z has no control\. .*write C_R_Z\(0\.25\) rec\[-1\] 0\."),
        ("TPP rec[-1] X0", r"write C_R_PAULI\(0\.25\) rec\[-1\] X0\*Y1\."),
        ("CH 3 rec[-1]", r"CH has a record or sweep bit in the place of a qubit.* such as rec\[-1\] 0; got 3 rec"),
        ("CCX 0 1 rec[-1]", r"in the place of a qubit.* such as rec\[-2\] rec\[-1\] 0; got 0 1 rec\[-1\]\."),
        ("CCZ rec[-1] rec[-1] rec[-1]", "CCZ needs at least one qubit in each group"),
        ("CS 0 1 rec[-1] 2", "Put groups of qubits alone into another instruction"),
        ("CS rec[-1]", r"CS needs targets such as rec\[-1\] 0; got rec\[-1\]\."),
        ("C_SQRT_X 0 1", "C_SQRT_X needs a record or sweep bit and then 1 qubit; got 0 1"),
        ("C_SWAP rec[-1] 0 0", "C_SWAP needs different qubits in a group; got 0 0"),
        ("C_H rec[-1] X0", "takes records, sweep bits and qubits as targets; got X0"),
        ("C_X rec[-1] 0", r"A Pauli that a record controls is Stim's own: write CX rec\[-1\] 0\."),
        ("C_TPP rec[-1] X0 rec[-2] Y1", "products with equal letters and signs"),
        ("C_SPP X0*Y1", "C_SPP needs a record or sweep bit and then a product of Paulis"),
        ("C_SPP(0.5) rec[-1] X0", "C_SPP takes no arguments"),
        ("CS(0.1) rec[-1] 0", "CS takes no arguments"),
        ("CS[note] rec[-1] 0", "CS cannot have a tag"),
        ("CZ[CS] 0 1", r"CZ\[CS\] needs all pairs of a control and a qubit of a CS.* got 0 1\."),
        ("CZ[CCX] rec[-1] 0 rec[-2] 1", "needs all pairs of a control and a qubit"),
        ("CZ[C_SWAP] rec[-1] 0", "needs all pairs of a control and a qubit"),
        ("CZ[cs] rec[-1] 0", "write gates in tags in upper case"),
    ],
)  # fmt: skip
def test_bad_input(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        snc.Circuit(f"M 0 1\n{line}")
    assert str(caught.value).startswith(f"Line 2: `{line}`: ")
    assert "\n" not in str(caught.value)


def test_a_record_that_is_not_there_yet() -> None:
    with pytest.raises(
        ValueError, match=r"Line 2: .*no measurement record rec\[-2\] here; there have been 1"
    ):
        snc.Circuit("M 0\nCS rec[-2] 0").compile_sampler()


def test_a_note_on_a_cz_stays_a_note() -> None:
    circuit = snc.Circuit("M 0\nCZ[frame] rec[-1] 1\nCZ[layer 3] 0 1")
    assert [instruction.tag for instruction in circuit] == ["", "frame", "layer 3"]


def test_inverse_with_sweep_bits() -> None:
    text = "C_SWAP sweep[0] 0 1 sweep[1] 2 3\nCS sweep[0] 4\nCCX sweep[0] 1 2\nC_U3(0.1, 0.2, 0.3) sweep[0] 0"
    inverse = snc.Circuit(text).inverse()
    assert str(inverse).split("\n") == [
        "C_U3(-0.1, -0.3, -0.2) sweep[0] 0",
        "CCX sweep[0] 1 2",
        "CS_DAG sweep[0] 4",
        "C_SWAP sweep[1] 2 3 sweep[0] 0 1",
    ]
    assert inverse.inverse() == snc.Circuit(text)


def test_code_of_the_page() -> None:
    """Prints what the comments behind ``print`` say."""
    page = (Path(__file__).parents[3] / "docs" / "guides" / "feed_forward.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block, {})
        code = "\n".join(line for line in block.split("\n") if "print(" in line or line.startswith("# "))
        expected = [text for text in re.findall(r"# ([^\n:]*)", code)]
        found = printed.getvalue().strip().split("\n")
        assert len(found) == len(expected)
        for text, wanted in zip(found, expected, strict=True):
            same = text == wanted or float(text) == pytest.approx(float(wanted), rel=1e-4)
            assert same, block


@pytest.mark.parametrize(
    ("gates", "conditional"),
    [
        ("CS 0 1", "CS rec[-1] 1"),
        ("CS 0 1\nCH 0 2\nCCZ 0 1 2", "CS rec[-1] 1\nCH rec[-1] 2\nCCZ rec[-1] 1 2"),
    ],
)
def test_a_qubit_that_has_been_measured_is_a_classical_control(gates: str, conditional: str) -> None:
    """The gates cost what those cost that the record controls, and have the same distribution."""
    text = "RX 0 1 2\nCX 1 0\nM 0\n{}\nMX 1\nMY 2"
    quantum, classical = (snc.Circuit(text.format(lines)) for lines in (gates, conditional))
    plans = [circuit.plan("sample_measurements") for circuit in (quantum, classical)]
    assert plans[0].widths.tolist() == plans[1].widths.tolist()
    assert plans[0].total_coefficients == plans[1].total_coefficients
    laws = [record_distribution(circuit.to_stim(), cutoff=1e-14) for circuit in (quantum, classical)]
    assert laws[0].keys() == laws[1].keys()
    for records, probability in laws[0].items():
        assert laws[1][records] == pytest.approx(probability, abs=1e-12)
    unmeasured = snc.Circuit(text.replace("M 0\n", "").format(gates)).plan("sample_measurements")
    assert unmeasured.total_coefficients > plans[0].total_coefficients
