"""Diagrams show non-Clifford gates under their own names, and everything else as Stim draws it."""

from __future__ import annotations

import re

import pytest
import stim

from stim_nonclifford import Circuit, Diagram
from stim_nonclifford.circuit import diagrams

CLIFFORD = "RX 0 1\nCX 0 1\nC_XYZ 0\nTICK\nX_ERROR(0.1) 1\nM 0 1\nDETECTOR(1, 2) rec[-1]"


def texts_of(svg: str) -> list[str]:
    """What is written in an SVG, without the markup within a label."""
    return [re.sub(r"<.*?>", "", label) for label in re.findall(r"<text.*?>(.*?)</text>", svg)]


@pytest.mark.parametrize(
    "type", ["timeline-text", "timeline-svg", "timeslice-svg", "detslice-text", "timeline-3d"]
)
def test_clifford_circuits_are_drawn_as_by_stim(type: str) -> None:
    assert str(Circuit(CLIFFORD).diagram(type)) == str(stim.Circuit(CLIFFORD).diagram(type))


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("T 0", "T"),
        ("T_DAG 0", "T_DAG"),
        ("R_X(0.25) 0", "R_X(0.25)"),
        ("U3(0.5, 0, 1) 0", "U3"),
        ("S 0", "S"),
    ],
)
def test_text(line: str, label: str) -> None:
    [drawn] = str(Circuit(f"H 0\n{line}\nM 0").diagram()).splitlines()
    shown = re.fullmatch(r"q0: -H-(.*?)-+M:rec\[0\]-", drawn)
    assert shown is not None
    # As many letters as there is room for.
    assert label.startswith(shown.group(1))
    assert len(shown.group(1)) >= min(len(label), 5)


def test_lines_of_a_text_have_equal_lengths() -> None:
    text = "H 0 1\nT 0\nT_DAG 1\nCX 0 1\nREPEAT 3 {\n    R_Z(0.125) 1\n    TICK\n}\nM 0 1"
    lines = str(Circuit(text).diagram()).splitlines()
    qubits = [line for line in lines if line.startswith("q")]
    assert len(qubits) == 2
    assert len({len(line) for line in qubits}) == 1


@pytest.mark.parametrize("type", ["timeline-svg", "timeslice-svg"])
def test_svg(type: str) -> None:
    svg = Circuit("H 0\nTICK\nT 0\nT_DAG 1\nTICK\nS 0\nC_XYZ 1\nTPP X0*X1").diagram(type)
    assert isinstance(svg, Diagram)
    labels = texts_of(svg)
    for label in ("H", "T", "T†", "S"):
        assert label in labels
    assert any("TPP" in label for label in labels)
    assert not any("SPP" in label for label in labels)


def test_placeholders_are_gates_that_the_circuit_does_not_have() -> None:
    used = diagrams._PLACEHOLDERS[:-1]
    circuit = Circuit("\n".join(f"{name} 0" for name in used) + "\nT 0")
    drawn = str(circuit.diagram())
    assert all(name in drawn for name in used)
    assert "-T-" in drawn


def test_more_gates_than_placeholders() -> None:
    """The last ones are drawn as their carriers; no other gate gets a wrong name."""
    angles = [k / 100 for k in range(1, len(diagrams._PLACEHOLDERS) + 3)]
    drawn = str(Circuit("\n".join(f"R_X({angle}) 0" for angle in angles)).diagram())
    assert drawn.count("R_X(") == len(diagrams._PLACEHOLDERS)


def test_notebooks_show_pictures() -> None:
    circuit = Circuit("T 0")
    assert circuit.diagram("timeline-svg")._repr_svg_().lstrip().startswith("<svg")
    text = circuit.diagram("timeline-text")
    assert text._repr_svg_() is None
    assert repr(text) == str(text)


def test_arguments_are_stims() -> None:
    svg = Circuit("T 0\nTICK\nT_DAG 0\nTICK\nH 0").diagram("timeslice-svg", tick=1)
    labels = texts_of(svg)
    assert "T†" in labels
    assert "H" not in labels
    with pytest.raises(ValueError, match="Unrecognized"):
        Circuit("T 0").diagram("no-such-type")
