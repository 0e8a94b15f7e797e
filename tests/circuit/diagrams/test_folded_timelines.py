"""Folded timelines: nothing of the circuit is lost, nothing overlaps, and rows are as wide as a screen."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import pairwise

import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.circuit.diagrams.moments import gates_by_tick
from stim_nonclifford.generators.cultivation import cultivation_circuit

SVG = "{http://www.w3.org/2000/svg}"


def picture(circuit: Circuit, **arguments: bool) -> ET.Element:
    return ET.fromstring(str(circuit.diagram("timeline-svg", **arguments)))


def titles(tree: ET.Element) -> Counter[str]:
    return Counter(str(title.text) for title in tree.iter(f"{SVG}title"))


@pytest.mark.parametrize("distance", [3, 5])
def test_cultivation_is_folded_and_complete(distance: int) -> None:
    circuit = Circuit(cultivation_circuit(distance=distance, p=1e-3))
    tree = picture(circuit)
    width, height = map(float, tree.attrib["viewBox"].split()[2:])
    assert width <= 1510
    assert height < (900 if distance == 3 else 5500)
    found = titles(tree)
    for tick in gates_by_tick(circuit.to_stim()):
        for gate in tick:
            condition = f" if {gate.condition}" if gate.condition else ""
            found[f"{gate.name} {' '.join(map(str, gate.qubits))}{condition}"] -= 1
    assert all(count >= 0 for count in found.values())
    marks = Counter({title: count for title, count in found.items() if count})
    assert marks
    assert all(re.match(r"(DEPOLARIZE|X_ERROR|Z_ERROR|M[XPZ]?P?\()", title) for title in marks)
    texts = {text.text for text in tree.iter(f"{SVG}text")}
    assert {str(k) for k in range(circuit.num_ticks + 1)} <= texts
    assert "L0" in texts


def test_gates_of_a_tick_do_not_overlap() -> None:
    circuit = Circuit("CX 0 2\nCX 1 3\nCX 4 5\nH 1\nT 0\nTICK\nM 0 1")
    tree = picture(circuit, fold=True)
    spans: dict[float, list[tuple[float, float]]] = {}
    for group in tree.iter(f"{SVG}g"):
        xs, ys = set(), []
        for shape in group:
            if shape.tag == f"{SVG}circle":
                xs.add(float(shape.attrib["cx"]))
                ys.append(float(shape.attrib["cy"]))
            if shape.tag == f"{SVG}rect":
                xs.add(float(shape.attrib["x"]) + 13)
                ys.append(float(shape.attrib["y"]) + 10)
        [x] = xs
        spans.setdefault(x, []).append((min(ys), max(ys)))
    assert len(spans) == 4  # three columns of the first tick, and one
    for own in spans.values():
        own.sort()
        assert all(first[1] < second[0] for first, second in pairwise(own))


def test_the_ribbon_is_an_option_and_short_circuits_are_ribbons() -> None:
    long = Circuit("H 0\nTICK\n" * 100 + "M 0")
    short = Circuit("H 0\nX_ERROR(0.1) 0\nM 0")
    assert str(long.diagram("timeline-svg", fold=False)).count("<g id=") > 0  # as Stim draws it
    assert "<g id=" not in str(long.diagram("timeline-svg"))
    assert str(short.diagram("timeline-svg")) == str(short.diagram("timeline-svg", fold=False))
    assert "X_ERROR(0.1) 0" in titles(picture(short, fold=True))
    looped = Circuit("REPEAT 1000 {\nH 0\nTICK\n}")
    assert "<g id=" in str(looped.diagram("timeline-svg"))
    assert str(looped.diagram("timeline-svg", fold=True)).count("<title>H 0</title>") == 1000


def test_gates_are_drawn_as_what_they_are() -> None:
    text = "T 0\nR_XX(0.3) 0 1\nCCZ 0 1 2\nTPP X0*!Y1\nM 0\nC_SWAP rec[-1] 1 2\nCX rec[-1] 1\nMPP !Z0*X1\nSWAP 0 1"
    found = titles(picture(Circuit(text), fold=True))
    assert set(found) >= {"T 0", "R_XX(0.3) 0 1", "M 0", "SWAP 0 1", "CX 1 if rec[0]", "SWAP 1 2 if rec[0]"}


def test_noise_comes_behind_the_gate_that_it_follows() -> None:
    tree = picture(Circuit("X_ERROR(0.1) 0\nH 0\nY_ERROR(0.2) 0\nT 0\nZ_ERROR(0.3) 0"), fold=True)
    places = {}
    for path in tree.iter(f"{SVG}path"):
        for title in path.iter(f"{SVG}title"):
            places[str(title.text)] = float(path.attrib["d"][1:].split(",")[0])
    x, y, z = (places[name] for name in ("X_ERROR(0.1) 0", "Y_ERROR(0.2) 0", "Z_ERROR(0.3) 0"))
    boxes = sorted(float(rect.attrib["x"]) for rect in tree.iter(f"{SVG}rect") if "x" in rect.attrib)
    assert x < boxes[0] < y < boxes[1] < z


def test_only_timelines_fold() -> None:
    with pytest.raises(ValueError, match="A timeslice-svg cannot be folded"):
        Circuit("H 0").diagram("timeslice-svg", fold=True)


def test_interactive_diagrams_have_tagged_t_gates() -> None:
    page = str(Circuit("H 0\nT 0\nR_Z(0.5) 0\nM 0").diagram("interactive"))
    [text] = re.findall(r'<textarea id="txtDefaultCircuit"[^>]*>([^<]*)</textarea>', page)
    assert text.split("\n") == ["H 0", "S[T] 0", "S 0", "M 0"]
