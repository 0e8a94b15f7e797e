"""Diagrams show every non-Clifford gate as what it is, and everything else as Stim draws it."""

import itertools
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.circuit import Diagram
from stim_nonclifford.circuit.diagrams.drawn_gates import with_errors_for_gates

from ...support.texts.instruction_lines import CONDITIONAL, NON_CLIFFORD

SVG = "{http://www.w3.org/2000/svg}"
FONT_WIDTH = 0.6
"""Of a character of a monospaced font, over its size."""


@dataclass
class Box:
    """A box of a picture, with what is written in it."""

    x: float
    y: float
    fill: str
    label: str
    width: float


def boxes_of(svg: str) -> list[Box]:
    """The boxes of 32 by 32, each followed by its label."""
    elements = list(ElementTree.fromstring(svg))
    found = []
    for rect, text in itertools.pairwise(elements):
        if rect.tag == f"{SVG}rect" and rect.get("width") == "32" and text.tag == f"{SVG}text":
            parts = [(text.text or "", float(text.get("font-size", 0)))]
            parts += [(span.text or "", float(span.get("font-size", 0))) for span in text]
            found.append(
                Box(
                    float(rect.get("x", 0)) + 16,
                    float(rect.get("y", 0)) + 16,
                    rect.get("fill", ""),
                    "".join(part for part, _ in parts),
                    sum(FONT_WIDTH * size * len(part) for part, size in parts),
                )
            )
    return found


def texts_of(svg: str) -> list[str]:
    """What is written in a picture."""
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def timeline(text: str) -> str:
    return str(Circuit(text).diagram("timeline-svg"))


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        ("T 0", ["T"]),
        ("T_DAG 0", ["T_DAG"]),
        ("R_X(-0.123456789) 0", ["R_X(-0.123457)"]),
        ("U3(0.5, 0, -0.333333) 0", ["U3(0.5,0,-0.333333)"]),
        ("S 0", ["S"]),
        ("TPP X0*Y1", ["TPP[X]", "TPP[Y]"]),
        ("TPP !X0*Y1", ["TPP_DAG[X]", "TPP_DAG[Y]"]),
        ("R_PAULI(0.25) Z1*X0", ["R_PAULI[X](0.25)", "R_PAULI[Z](0.25)"]),
        ("R_PAULI(0.25) X0*!Y1", ["R_PAULI[X](-0.25)", "R_PAULI[Y](-0.25)"]),
        ("SPP_DAG[R_PAULI(theta=0.25*pi)] X0*Y1", ["R_PAULI[X](-0.25)", "R_PAULI[Y](-0.25)"]),
        ("R_XX(0.1) 0 1", ["R_XX(0.1)", "R_XX(0.1)"]),
        ("II[R_ZZ(theta=0.1*pi)] 0 1", ["R_ZZ(0.1)", "R_ZZ(0.1)"]),
        ("CS 0 1", ["@", "S"]),
        ("CT_DAG 1 0", ["T_DAG", "@"]),
        ("CH 0 1", ["@", "H"]),
        ("CCZ 0 1 2", ["@", "@", "@"]),
        ("CCX 2 0 1", ["@", "X", "@"]),
        ("M 3\nCS rec[-1] 0", ["S^rec[0]"]),
        ("M 3 3\nCCZ rec[-1] rec[-2] 0", ["Z^rec[1]^rec[0]"]),
        ("M 3\nCCZ rec[-1] 0 1", ["@^rec[0]", "@^rec[0]"]),
        ("M 3\nCCX rec[-1] 0 1", ["@^rec[0]", "X^rec[0]"]),
        ("C_SWAP sweep[5] 0 1", ["SWAP^sweep[5]", "SWAP^sweep[5]"]),
        ("M 3\nC_TPP rec[-1] X0*Y1", ["R_PAULI[X](0.25)^rec[0]", "R_PAULI[Y](0.25)^rec[0]"]),
        ("M 3\nC_U3(0.1, 0.2, 0.3) rec[-1] 0", ["U3(0.1,0.2,0.3)^rec[0]"]),
        ("EXP_VAL X0*Y1", ["EXP_VAL[X]", "EXP_VAL[Y]"]),
        ("EXP_VAL !X0", ["EXP_VAL[-X]"]),
    ],
)
def test_text(line: str, labels: list[str]) -> None:
    drawn = str(Circuit(f"H 0 1 2\n{line}\nX 0 1 2").diagram()).splitlines()
    for k, label in enumerate(labels):
        [row] = [row for row in drawn if row.startswith(f"q{k}:")]
        assert re.fullmatch(rf"q{k}: -H-+{re.escape(label)}-+X-", row), row


def test_a_timeline_as_text() -> None:
    """Everything in its place: long labels make room, short ones leave none, and lines stay connected."""
    text = (
        "H 0\nU3(0.111111, 0.222222, -0.333333) 0\nT 1\nTICK\nCCX 0 2 1\nREPEAT 3 {\n    R_Z(0.125) 1\n    M 2\n"
        "    CS rec[-1] 0\n    TICK\n}\nM 0"
    )
    assert str(Circuit(text).diagram()).splitlines() == [
        "     /-------------------------------\\   /REP 3               \\",
        r"q0: -H-U3(0.111111,0.222222,-0.333333)-@-|------S^rec[-1]-----|-M:rec[3]-",
        r"                                       | |                    |",
        r"q1: ---T-------------------------------X-|------R_Z(0.125)----|----------",
        r"                                       | |                    |",
        r"q2: -----------------------------------@-|------M:rec[0+iter]-|----------",
        r"     \-------------------------------/   \                    /",
    ]


@pytest.mark.parametrize(
    ("line", "labels", "around"),
    [
        ("T_DAG 0", ["T†"], []),
        ("R_Z(0.1) 0", ["RZ"], ["0.1π"]),
        ("R_X(-0.123456789) 0", ["RX"], ["-0.123457π"]),
        ("U3(0.5, 0, -0.25) 0", ["U3"], ["θ=0.5π", "φ=0π", "λ=-0.25π"]),
        ("TPP X0*Y1*Z2", ["TPPX", "TPPY", "TPPZ"], []),
        ("TPP_DAG X0*!Y1", ["TPPX", "TPPY"], []),
        ("R_PAULI(0.3) X0*Z2", ["RX", "RZ"], ["0.3π"]),
        ("R_XX(0.1) 0 1", ["RXX", "RXX"], ["0.1π"]),
        ("CS 0 1", ["S"], []),
        ("CT_DAG 1 0", ["T†"], []),
        ("CH 0 1", ["H"], []),
        ("CCZ 0 1 2", [], []),
        ("CCX 0 1 2", [], []),
        ("M 3\nCS rec[-1] 0", ["S"], ["if rec[0]"]),
        ("M 3 3\nCCZ rec[-1] rec[-2] 0", ["Z"], ["if rec[1]", "and rec[0]"]),
        ("M 3\nC_SQRT_XX_DAG rec[-1] 0 1", ["√XX†", "√XX†"], ["if rec[0]"]),
        ("M 3\nC_R_PAULI(0.1) rec[-1] X0*Y1", ["RX", "RY"], ["if rec[0]", "0.1π"]),
        ("EXP_VAL X0*!Y1", ["⟨-X⟩", "⟨Y⟩"], []),
    ],
)
def test_pictures_of_gates(line: str, labels: list[str], around: list[str]) -> None:
    svg = timeline(line)
    boxes = [box for box in boxes_of(svg) if box.label != "M"]
    assert [box.label for box in boxes] == labels
    written = texts_of(svg)
    for text in around:
        assert text in written
    others = {*labels, *around, "M", "rec[0]", "rec[1]"}
    assert {text for text in written if not text.startswith("q")} <= others


@pytest.mark.parametrize(
    ("line", "dots", "crossed"),
    [
        ("CCZ 0 1 2", 3, 0),
        ("CCX 0 1 2", 2, 1),
        ("CS 0 1", 1, 0),
        ("CH 1 2", 1, 0),
        ("CZ 0 1", 2, 0),  # Stim's own drawing
        ("M 3\nCCZ rec[-1] 0 1", 2, 0),
        ("M 3\nCCX rec[-1] 0 1", 1, 1),
        ("M 3\nC_CCX rec[-1] 0 1 2", 2, 1),
    ],
)
def test_controls_are_dots_that_are_connected(line: str, dots: int, crossed: int) -> None:
    """Like Stim's CX and CZ: a line from the first qubit to the last."""
    root = ElementTree.fromstring(timeline(line))
    circles = root.findall(f"{SVG}circle")
    assert [circle.get("fill") for circle in circles].count("black") == dots
    assert [circle.get("fill") for circle in circles].count("white") == crossed
    places = [(circle.get("cx"), circle.get("cy")) for circle in circles]
    places += [(f"{box.x:g}", f"{box.y:g}") for box in boxes_of(timeline(line)) if box.label != "M"]
    assert len({x for x, _ in places}) == 1
    rows = sorted(float(y or 0) for _, y in places)
    x = places[0][0]
    connection = f"M{x},{rows[0]:g} L{x},{rows[-1]:g} "
    assert connection in [path.get("d") for path in root.findall(f"{SVG}path")]


@pytest.mark.parametrize("name", [*NON_CLIFFORD, *CONDITIONAL])
@pytest.mark.parametrize("type", ["timeline-svg", "timeslice-svg", "detslice-with-ops-svg"])
def test_labels_of_all_gates_fit_into_their_boxes(name: str, type: str) -> None:
    lines = {**NON_CLIFFORD, **CONDITIONAL}[name]
    circuit = Circuit("\n".join(["M 0 1 2", "TICK", *lines]))
    svg = str(circuit.diagram(type, **({} if type == "timeline-svg" else {"tick": 1})))
    assert "e-09" not in svg
    assert "pink" not in svg  # Stim's color of errors
    for box in boxes_of(svg):
        assert box.width <= 32, box
    assert "e-09" not in str(circuit.diagram())


def test_slices_have_the_regions_of_the_s_proxy() -> None:
    circuit = Circuit(
        "QUBIT_COORDS(0, 0) 0\nQUBIT_COORDS(1, 0) 1\nRX 0 1\nTICK\nT 0\nTPP Z0*Z1\nTICK\nMX 0 1\nDETECTOR rec[-1] rec[-2]"
    )
    arguments = {"type": "detslice-with-ops-svg", "tick": range(3)}
    found, proxy = str(circuit.diagram(**arguments)), str(circuit.s_proxy().diagram(**arguments))
    regions = re.compile(r'<g id="slice:.*?</g>', re.DOTALL)
    assert len(regions.findall(found)) >= 1
    assert regions.findall(found) == regions.findall(proxy)
    assert {box.label for box in boxes_of(found)} == {"RX", "T", "TPPZ", "MX"}


def test_errors_of_the_circuit_stay() -> None:
    """Also those that have the probability of an error that stands for a gate."""
    _, [number] = with_errors_for_gates(Circuit("T 0").to_stim())
    circuit = Circuit(f"E({number}) X0 Z1\nT 0\nE(0.125) Y0")
    labels = [box.label for box in boxes_of(str(circuit.diagram("timeline-svg")))]
    assert labels == ["EX", "EZ", "T", "EY"]
    assert f"E[X]({number})" in str(circuit.diagram())


def test_many_gates_are_all_drawn() -> None:
    angles = [k / 1000 for k in range(1, 400)]
    svg = timeline("\n".join(f"R_X({angle}) 0" for angle in angles))
    assert [text for text in texts_of(svg) if text.endswith("π")] == [f"{angle:g}π" for angle in angles]


def test_conditional_gates_without_a_proxy_can_be_drawn() -> None:
    circuit = Circuit("M 0\nTICK\nC_H rec[-1] 1\nTICK\nM 1\nDETECTOR rec[-1]")
    with pytest.raises(ValueError, match="no stand-in"):
        circuit.s_proxy()
    for type in ("timeline-svg", "timeslice-svg", "detslice-with-ops-svg", "detslice-svg"):
        assert str(circuit.diagram(type)).startswith("<svg")


def test_notebooks_show_pictures() -> None:
    circuit = Circuit("T 0")
    picture = circuit.diagram("timeline-svg")
    assert isinstance(picture, Diagram)
    assert picture._repr_svg_() == str(picture)
    assert picture._repr_html_() is None
    text = circuit.diagram("timeline-text")
    assert text._repr_svg_() is None
    assert text._repr_html_() is None
    assert repr(text) == str(text)
    page = circuit.diagram("timeline-svg-html")
    assert page._repr_svg_() is None
    assert page._repr_html_() == str(page)
    assert page.startswith("<div")


def test_circuits_plans_and_estimates_show_themselves() -> None:
    circuit = Circuit("RX 0\nT 0\nZ_ERROR(0.1) 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert str(circuit.diagram("timeline-svg"))[4:] in circuit._repr_html_()
    large = Circuit("# &lt;\n" + "T 0\nH 0\n" * 1000)
    assert "<svg" not in large._repr_html_()
    assert "1940 more lines" in large._repr_html_()
    plan = circuit.plan()
    assert plan._repr_html_().count("<svg") == 1
    assert "peak width" in plan._repr_html_()
    estimate = circuit.logical_error_rate(postselection_mask="all")
    assert f"{estimate.logical_error_rate:.4g}" in estimate._repr_html_()
    for page in (circuit, large, plan, estimate):
        ElementTree.fromstring(f"<body>{page._repr_html_()}</body>")


class TestPictureOfAPlan:
    """The width over the operations."""

    def test_the_line_has_the_widths(self) -> None:
        circuit = Circuit("RX 0 1 2\nT 0 1 2\nMPP X0*X1*X2\nTICK\nCX 0 1\nT 0\nMX 0 1 2")
        report = circuit.plan()
        svg = report.diagram()
        root = ElementTree.fromstring(svg)
        [line] = [path for path in root.findall(f"{SVG}path") if path.get("stroke-width") == "1.5"]
        points = np.array(
            [pair.split(",") for pair in re.findall(r"[\d.]+,[\d.]+", line.get("d", ""))], float
        )
        heights = (points[0, 1] - points[:, 1]) / (points[0, 1] - points[:, 1].min()) * report.peak_width
        assert heights[1:-1:2].round(2).tolist() == [0, 1, 2, 2, 2, 1, 0, 0]  # before each operation
        assert heights[2:-1:2].round(2).tolist() == [1, 2, 2, 2, 1, 0, 0, 0]
        dots = [circle for circle in root.findall(f"{SVG}circle") if len(circle)]
        assert len(dots) == len(report.operations)
        assert dots[0][0].text == "T 0, line 2: activation, tick 0"

    def test_gates_that_activate_are_named(self) -> None:
        svg = Circuit("RX 0 1 2\nT 0 1 2\nMPP X0*X1*X2\nCX 0 1\nT 0\nMX 0 1 2").plan().diagram()
        written = texts_of(svg)
        assert "T 0 1, line 2" in written
        assert not [
            text for text in written if text.startswith(("T 2", "T 0, line 5"))
        ]  # weak: measured at once

    def test_labels_do_not_leave_the_picture(self) -> None:
        qubits = range(20)
        layers = [f"R_X(0.{k + 1:02d}) {k}\nR_Z(0.1) {k}" for k in qubits]
        text = "\n".join([*layers, "MPP " + "*".join(f"Y{k}" for k in qubits)] * 4)
        report = Circuit(text).plan()
        root = ElementTree.fromstring(report.diagram())
        labels = [label for label in root.findall(f"{SVG}text") if "rotate(-60" in label.get("transform", "")]
        assert labels
        width = float(root.get("viewBox", "").split()[2])
        assert all(float(label.get("x", 0)) < width for label in labels)
        places = [float(label.get("x", 0)) for label in labels]
        assert min(np.diff(places), default=99) >= 15.9
        assert all(len(label.text or "") <= 40 for label in labels)

    def test_nothing_to_draw(self) -> None:
        root = ElementTree.fromstring(Circuit("M 0\nDETECTOR rec[-1]").plan().diagram())
        assert not [circle for circle in root.findall(f"{SVG}circle") if len(circle)]


@pytest.mark.parametrize(
    "tick", [range(-3, 2), range(1, 1), range(2, 0, -1), range(0, 3, 2), range(1 << 64), -1, 1 << 64]
)
@pytest.mark.parametrize("type", ["timeslice-svg", "detslice-text", "detslice-with-ops-svg"])
def test_ticks_that_are_no_numbers_of_ticks(type: str, tick: Any) -> None:
    circuit = Circuit("H 0\nTICK\nT 0\nTICK\nM 0")
    with pytest.raises(ValueError, match="tick must be "):
        circuit.diagram(type, tick=tick)
    assert str(circuit.diagram(type, tick=range(2)))
