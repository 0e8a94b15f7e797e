"""Every type of diagram of every circuit that the package generates, and of random circuits."""

import functools
import itertools
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.circuit import Diagram
from stim_nonclifford.circuit.diagrams.drawn_gates import with_errors_for_gates
from stim_nonclifford.circuit.diagrams.types import DIAGRAM_TYPES
from stim_nonclifford.generators.cultivation import cultivation_circuit, end_to_end_circuit
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.generators.teleportation import injection_circuit, teleportation_circuit

from ...support.oracle.random_circuits import CLIFFORD_FAMILIES, random_circuit
from ...support.seeds import seeds, slow

BACKGROUND = '<rect width="100%" height="100%" fill="white"/>\n'
GENERATED: dict[str, Callable[[], stim.Circuit]] = {
    **{
        f"cultivation d={distance} {injection}": functools.partial(
            cultivation_circuit, distance=distance, p=1e-3, injection=injection
        )
        for distance in (3, 5, 7)
        for injection in ("unitary", "bell", "degenerate")
    },
    "cultivation d=5 flagged": lambda: cultivation_circuit(distance=5, p=1e-3, variant="flagged"),
    "cultivation d=3 si1000": lambda: cultivation_circuit(distance=3, p=1e-3, noise="si1000"),
    "end to end d=3": lambda: end_to_end_circuit(distance=3, p=1e-3),
    "end to end d=5": lambda: end_to_end_circuit(distance=5, p=1e-3),
    "15-to-1": lambda: distillation_circuit("15-to-1", t_error=0.01),
    "8T-to-CCZ": lambda: distillation_circuit("8T-to-CCZ", t_error=0.01),
    "injection d=3": lambda: injection_circuit(distance=3, p=1e-3),
    "teleportation d=3": lambda: teleportation_circuit(distance=3, p=1e-3),
    "teleportation d=5": lambda: teleportation_circuit(distance=5, p=1e-3),
}
LARGE = ("d=7", "cultivation d=5", "end to end", "teleportation d=5", "degenerate", "si1000")
NAMES = [slow(name) if any(part in name for part in LARGE) else name for name in GENERATED]
ONLY_T = [name for name in NAMES if "cultivation" in str(name)]
ERROR = re.compile(r"(?:E\[X\]|X_ERROR)\((\d\.\d+e-09)\)")
QUBIT = re.compile(r" *q(\d+): ")


@functools.cache
def generated(name: str) -> stim.Circuit:
    return GENERATED[name]()


def arguments_of(type: str, circuit: stim.Circuit) -> Iterator[dict[str, Any]]:
    """The arguments that a type of diagram takes."""
    yield {}
    if "slice" in type:
        last = circuit.num_ticks - 1
        yield {"tick": last // 2, "filter_coords": ["D0", stim.target_logical_observable_id(0)]}
        yield {"tick": range(last // 2, last + 1), "rows": 2, "filter_coords": iter([(0.0,), (1.0, 2.0)])}


def labels_of(text: str) -> dict[int, list[tuple[int, str]]]:
    """Of each qubit, the labels on its wire, with their columns; a minus in brackets is no wire."""
    label = re.compile(r"(?:[^-|\[(]|\[[^\]]*\]|\([^)]*\))+")
    found = {}
    for line in text.split("\n"):
        qubit = QUBIT.match(line)
        if qubit:
            matches = label.finditer(line, qubit.end())
            found[int(qubit[1])] = [(each.start(), each[0]) for each in matches]
    return found


def check_timeline(circuit: stim.Circuit) -> None:
    """The text has the labels of gates for those of errors, in the same columns, which are as wide as these."""
    drawn, gates = with_errors_for_gates(circuit)
    theirs = labels_of(str(drawn.diagram()))
    text = str(Circuit(circuit).diagram())
    ours = labels_of(text)
    assert theirs.keys() == ours.keys()
    columns: dict[int, int] = {}  # where Stim's column starts -> where ours does
    widths: dict[int, int] = {}
    for qubit, labels in theirs.items():
        assert len(labels) == len(ours[qubit])
        for (column, label), (our_column, our_label) in zip(labels, ours[qubit], strict=True):
            assert columns.setdefault(column, our_column) == our_column
            widths[our_column] = max(widths.get(our_column, 1), len(our_label))
            error = ERROR.fullmatch(label)
            if error and error[1] in gates:
                gate = gates[error[1]]
                symbol = gate.symbols[gate.qubits.index(qubit)]
                assert our_label.startswith({"box": symbol.name, "control": "@", "not": "X"}[symbol.kind])
            else:
                assert our_label == label
    starts = [columns[column] for column in sorted(columns)]
    assert starts == sorted(set(starts))
    for start, following in itertools.pairwise(starts):
        end = start + widths[start]
        between = {line[end:following] for line in text.split("\n") if QUBIT.match(line)}
        # One character of wire, unless the edge of a block stands between the columns.
        assert between == {"-"} or all("|" in part for part in between), (start, following, between)


def stim_draws_its_proxy(circuit: stim.Circuit, type: str) -> bool:
    try:
        Circuit(circuit).s_proxy().diagram(type)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("type", DIAGRAM_TYPES)
def test_every_type_draws_every_generated_circuit(name: str, type: str) -> None:
    circuit = generated(name)
    for arguments in arguments_of(type, circuit):
        if type.startswith("matchgraph") and not stim_draws_its_proxy(circuit, type):
            with pytest.raises(ValueError, match=r"from the error model of the S-proxy"):
                Circuit(circuit).diagram(type, **arguments)
            continue
        drawn = str(Circuit(circuit).diagram(type, **arguments))
        assert drawn
        if type.endswith("-svg"):
            ElementTree.fromstring(drawn)
        if not type.startswith(("interactive", "timeline-3d", "matchgraph-3d")):
            assert "e-09" not in drawn


@pytest.mark.parametrize("name", NAMES)
def test_timelines_of_generated_circuits(name: str) -> None:
    circuit = generated(name)
    check_timeline(circuit)
    check_timeline(circuit.without_noise())


@pytest.mark.parametrize("name", ONLY_T)
@pytest.mark.parametrize("noise", [True, False])
def test_t_gates_stand_where_stim_draws_s(name: str, noise: bool) -> None:
    circuit = generated(name)
    theirs = circuit if noise else circuit.without_noise()
    found = str(Circuit(circuit).diagram(noise=noise))
    assert re.search(r"-T(_DAG)?-", found)
    assert re.sub(r"-T(?=_DAG-|-)", "-S", found) == str(theirs.diagram())


@pytest.mark.parametrize("seed", seeds(3, quick=1))
@pytest.mark.parametrize("type", DIAGRAM_TYPES)
def test_clifford_circuits_are_drawn_as_by_stim(type: str, seed: int) -> None:
    """A random circuit with up to 120 qubits; only the background differs."""
    circuit = random_clifford_circuit(seed)
    for arguments in arguments_of(type, circuit):
        if "filter_coords" in arguments:
            arguments["filter_coords"] = list(arguments["filter_coords"])
        try:
            theirs = str(circuit.diagram(type, **arguments))
        except ValueError:
            with pytest.raises(ValueError, match=r"."):
                Circuit(circuit).diagram(type, **arguments)
            continue
        found = Circuit(circuit).diagram(type, **arguments)
        if type.endswith("-svg-html"):
            assert isinstance(found, Diagram)
        else:
            assert str(found).count(BACKGROUND) == (type.endswith("-svg") and "match" not in type)
            assert str(found).replace(BACKGROUND, "") == theirs


def random_clifford_circuit(k: int) -> stim.Circuit:
    rng = np.random.default_rng([8, k])
    num_qubits = int(rng.integers(1, 121))
    first, second = (
        random_circuit(
            rng, num_qubits=num_qubits, num_operations=25, max_records=60, instructions=CLIFFORD_FAMILIES
        )
        for _ in range(2)
    )
    return first + stim.Circuit("TICK") + second + stim.Circuit("TICK\nMR 0")


def test_every_instruction_is_drawn_in_its_place() -> None:
    """Six random circuits with up to 120 qubits and every instruction, of seed 10."""
    for k in range(6):
        rng = np.random.default_rng([10, k])
        num_qubits = int(rng.integers(1, 121))
        circuit = random_circuit(rng, num_qubits=num_qubits, num_operations=40, max_records=100)
        check_timeline(circuit)
        for type in ("timeline-svg", "timeslice-svg", "detslice-with-ops-svg"):
            drawn = str(Circuit(circuit).diagram(type))
            assert "e-09" not in drawn
            ElementTree.fromstring(drawn)


def test_a_minus_in_a_label_is_no_wire() -> None:
    """Coordinates may be negative, and labels that are longer than those of gates decide about a column."""
    text = "M 1\nTICK\n{gate}\nDETECTOR(-1,-2.5,-3) rec[-1]\nTICK\nM 0"
    found = str(Circuit(text.format(gate="R_X(-0.125) 0")).diagram())
    twin = str(stim.Circuit(text.format(gate="Z_ERROR(1) 0")).diagram())
    assert found.replace("R_X(-0.125)", "Z_ERROR(1)-") == twin


@pytest.mark.parametrize(
    ("other", "usual"),
    [
        ("timeline", "timeline-svg"),
        ("timeline-html", "timeline-svg-html"),
        ("time-slice", "timeslice-svg"),
        ("time-slice-svg", "timeslice-svg"),
        ("time-slice-html", "timeslice-svg-html"),
        ("time-slice-svg-html", "timeslice-svg-html"),
        ("timeslice", "timeslice-svg"),
        ("timeslice-html", "timeslice-svg-html"),
        ("detslice", "detslice-svg"),
        ("detslice-html", "detslice-svg-html"),
        ("detslice-with-ops", "detslice-with-ops-svg"),
        ("detslice-with-ops-html", "detslice-with-ops-svg-html"),
        ("detector-slice", "detslice-svg"),
        ("detector-slice-text", "detslice-text"),
        ("match-graph-svg", "matchgraph-svg"),
        ("match-graph-3d", "matchgraph-3d"),
        ("match-graph-svg-html", "matchgraph-svg-html"),
    ],
)
def test_stims_other_names_of_types_show_the_same(other: str, usual: str) -> None:
    clifford = stim.Circuit("R 0\nX_ERROR(0.1) 0\nTICK\nM 0\nDETECTOR rec[-1]")
    assert str(clifford.diagram(other)) == str(clifford.diagram(usual))  # Stim reads it in this way
    circuit = Circuit("R 0\nT 0\nX_ERROR(0.1) 0\nTICK\nM 0\nDETECTOR rec[-1]")
    assert str(circuit.diagram(other)) == str(circuit.diagram(usual))
    if "line" in usual or "ops" in usual:
        assert ">T</text>" in str(circuit.diagram(other))


def test_noise_can_be_left_out() -> None:
    circuit = Circuit("R 0\nX_ERROR(0.1) 0\nT 0\nTICK\nDEPOLARIZE1(0.1) 0\nM(0.1) 0\nDETECTOR rec[-1]")
    for type in DIAGRAM_TYPES:
        if type.startswith("matchgraph"):
            with pytest.raises(ValueError, match=r"drawn from noise\. Leave out noise=False"):
                circuit.diagram(type, noise=False)
        else:
            found = str(circuit.diagram(type, noise=False))
            assert found == str(circuit.without_noise().diagram(type))
    assert "ERROR" not in str(circuit.diagram(noise=False))
    noisy, quiet = (
        Circuit(cultivation_circuit(distance=3, p=1e-3)).diagram("timeline-svg", noise=noise, fold=False)
        for noise in (True, False)
    )
    widths = [float(re.findall(r'viewBox="0 0 ([\d.]+)', str(svg))[0]) for svg in (noisy, quiet)]
    assert widths[1] < 0.7 * widths[0]


@pytest.mark.parametrize("text", ["DETECTOR", "OBSERVABLE_INCLUDE(0)", "TICK\nDETECTOR(1, 2)"])
@pytest.mark.parametrize("type", ["timeline-text", "timeline-svg", "timeline-svg-html"])
def test_detectors_without_qubits(text: str, type: str) -> None:
    """Stim would end Python."""
    with pytest.raises(
        ValueError, match="shows detectors and observables on qubits, and the circuit has none"
    ):
        Circuit(text).diagram(type)
    assert text.split("\n")[0] in Circuit(text)._repr_html_()


@pytest.mark.parametrize("type", ["timeslice-svg", "detslice-with-ops-svg", "timeslice-svg-html"])
@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("", 0), ("T 0", 0), ("TICK", 0), ("T 0\nTICK", 0), ("T 0\nTICK\nSHIFT_COORDS(1)", 1),
        ("REPEAT 3 {\n    T 0\n    TICK\n}", 2), ("REPEAT 3 {\n    T 0\n    TICK\n    H 0\n}", 3),
    ],
)  # fmt: skip
def test_slices_after_the_end(text: str, last: int, type: str) -> None:
    """Stim would end Python, or draw pictures of nothing."""
    circuit = Circuit(text)
    assert str(circuit.diagram(type, tick=last))
    assert str(circuit.diagram(type, tick=range(last, last + 5)))
    for tick in (last + 1, last + 2, 10**6):
        with pytest.raises(ValueError, match=rf"^tick must be from 0 to {last}, .* but is {tick}\.$"):
            circuit.diagram(type, tick=tick)
    with pytest.raises(ValueError, match=rf"^tick\.start must be from 0 to {last}, .* but is {last + 1}\.$"):
        circuit.diagram(type, tick=range(last + 1, last + 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"type": "timeline-text", "tick": 1}, "`tick` isn't used with type='timeline-text'"),
        ({"type": "detslice-svg", "filter_coords": 3}, "filter_coords wasn't an Iterable"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Circuit("T 0\nTICK\nM 0\nTICK\nM 0").diagram(**arguments)
