"""Pages of circuits: their data, without a browser."""

import io
import json
import re
from typing import Any

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.circuit.pictures.frames import frame_of
from stim_nonclifford.commands import main
from stim_nonclifford.generators.cultivation import cultivation_circuit

from ...support.seeds import slow
from ...support.texts.memory_circuits import memory

SMALL = """
    QUBIT_COORDS(0, 0) 0
    QUBIT_COORDS(2, 1) 1
    RX 0
    R 1
    TICK
    T 0
    Z_ERROR(0.01) 0
    TICK
    CX 0 1
    DEPOLARIZE2(0.02) 0 1
    TICK
    CX 0 1
    T_DAG 0
    TICK
    M(0.001) 1
    DETECTOR rec[-1]
    MX 0
    OBSERVABLE_INCLUDE(0) rec[-1]
"""


def page_of(circuit: Circuit, **arguments: Any) -> str:
    file = io.StringIO()
    circuit.page(file, seed=1, **arguments)
    return file.getvalue()


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_shares_are_those_of_the_budget() -> None:
    circuit = Circuit(SMALL)
    data = data_of(page_of(circuit, postselection_mask="all"))
    rate = circuit.logical_error_rate(postselection_mask="all", seed=1)
    for group in rate.error_budget("tick").groups:
        of_tick = [place for place in data["places"] if place[0] == group.group]
        assert sum(place[2] for place in of_tick) == pytest.approx(group.share, rel=1e-3)
        assert sum(place[3] for place in of_tick) == pytest.approx(group.discarded, rel=1e-3)
    assert sum(place[2] for place in data["places"]) == pytest.approx(1, rel=1e-3)
    low, high = rate.interval
    assert data["rates"][:2] == [
        ["logical error rate per kept shot", f"{rate.logical_error_rate:.4g}"],
        ["95% interval", f"{low:.4g} to {high:.4g}"],
    ]
    assert [place[4] for place in data["places"][:2]] == [
        "T 0, Z_ERROR in line 7",
        "CX 0-1, DEPOLARIZE2 in line 10",
    ]


def test_ticks_have_gates_and_widths() -> None:
    circuit = Circuit(SMALL)
    data = data_of(page_of(circuit, postselection_mask="all"))
    assert data["qubits"] == [[0, 0.0, 0.0], [1, 2.0, 1.0]]
    assert data["ticks"][:3] == [
        [["RX", [0], ["RX"], ""], ["R", [1], ["R"], ""]],
        [["T", [0], ["T"], ""]],
        [["CX", [0, 1], [".", "+"], ""]],
    ]
    plan = circuit.plan(postselection_mask="all")
    assert max(data["widths"]) == plan.peak_width
    assert sum(data["costs"]) == plan.total_coefficients


def test_malignant_sets_are_listed_with_their_faults() -> None:
    circuit = Circuit(SMALL)
    data = data_of(page_of(circuit, postselection_mask="all"))
    expected = circuit.malignant_sets(postselection_mask="all")
    assert len(data["sets"]) == len(expected)
    for found, each in zip(data["sets"], expected, strict=True):
        assert [fault["tick"] for fault in found["faults"]] == [fault.tick for fault in each.faults]
    assert len(data_of(page_of(circuit, postselection_mask="all", most_sets=1))["sets"]) == 1


@pytest.mark.parametrize("task", [slow("surface_code:rotated_memory_x"), "repetition_code:memory"])
def test_frames_flip_what_the_compiler_says(task: str) -> None:
    circuit = Circuit(memory(task, 3, 3, gates=0.01, reads=0.01, resets=0.01))
    circuit.append("MPP", [stim.target_x(0), stim.target_combiner(), stim.target_z(1)], 0.1)
    table = circuit._fault_table()
    for fault in circuit.faults()[::7]:
        frame = frame_of(table, [fault])
        effect = table._effect_of(fault)
        assert frame.detectors == tuple(k for k in range(circuit.num_detectors) if effect >> k & 1)
        assert frame.observables == tuple(
            k for k in range(circuit.num_observables) if effect >> (circuit.num_detectors + k) & 1
        )


def test_frames_follow_feedback_and_readout_errors() -> None:
    circuit = Circuit("R 0 1\nM(0.1) 0 1\nTICK\nCX rec[-2] 1\nTICK\nT 1\nTICK\nM 1\nDETECTOR rec[-1]")
    frame = frame_of(circuit._fault_table(), circuit.faults()[:1])
    assert frame.paulis == {1: [("X", 1)], 2: [("X", 1)], 3: [("X", 1)]}
    assert frame.detectors == (0,)


@pytest.mark.parametrize(
    ("text", "arguments", "remark"),
    [
        ("H 0\nT 0\nM 0", {}, "The circuit has no observables"),
        (
            "X_ERROR(0.1) 0\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]",
            {},
            "No logical error rate: .*postselect",
        ),
        ("H 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]", {}, "No logical error rate: .*random"),
        ("R 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]", {}, "No fault set was found"),
    ],
)
def test_pages_without_a_rate_say_why(text: str, arguments: dict[str, Any], remark: str) -> None:
    data = data_of(page_of(Circuit(text), **arguments))
    assert re.match(remark, data["remark"], re.DOTALL)
    assert data["places"] == data["sets"] == []
    assert any(data["ticks"])


def test_wrong_arguments_are_errors_and_not_remarks() -> None:
    wrong = {"postselection_mask": np.zeros(5, bool), "relative_error": -1.0, "max_seconds": 0, "threads": 0}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=name):
            page_of(Circuit(SMALL), **{name: value})


def test_text_cannot_end_the_script_or_the_title() -> None:
    page = page_of(Circuit("S[T:</script><b>] 0"), title="</title><script>alert(1)</script>")
    assert page.count("</script>") == 2
    assert "<script>alert" not in page


def test_pages_need_no_network() -> None:
    page = page_of(Circuit(SMALL), postselection_mask="all")
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "default-src 'none'" in page


def test_command(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "small.stim"
    Circuit(SMALL).to_file(source)
    assert main(["page", str(source), "--seed", "1"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "small.html")
    page = (tmp_path / "small.html").read_text(encoding="utf-8")
    assert "<title>small.stim</title>" in page
    assert data_of(page)["sets"]
    assert (
        main(["page", "--in", str(source), "--postselect", "all", "--seed", "1", "--title", "small.stim"])
        == 0
    )
    assert capsys.readouterr().out.strip() == page.strip()
    assert main(["page", str(source), "--in", str(source)]) == 2


def test_the_page_of_cultivation_is_small() -> None:
    page = page_of(
        Circuit(cultivation_circuit(distance=3, p=1e-3)), postselection_mask="all", relative_error=0.3
    )
    assert len(page.encode()) < 200_000
    assert len(data_of(page)["sets"]) == 9
