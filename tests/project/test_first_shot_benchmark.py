"""``benchmarks.first_shot``: its circuits are what they say, and a small run prints, saves and draws its results."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import stim
from PIL import Image

import stim_nonclifford as snc
from benchmarks import first_shot
from benchmarks.first_shot_plots import draw
from benchmarks.synthetic import memory_circuit

DOCS = Path(__file__).parents[2] / "docs"


def first_shot_of(simulator: str, text: str) -> dict[str, float]:
    """What the process that measures one simulator prints."""
    command = [sys.executable, "-m", "benchmarks.first_shot", "--one", simulator]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=True, cwd=DOCS.parent, timeout=120
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def test_surface_codes_are_those_of_stim() -> None:
    circuit = memory_circuit(3, 1e-3)
    assert circuit == memory_circuit(3, 1e-3, rounds=3) != memory_circuit(3, 1e-3, rounds=4)
    assert circuit.num_detectors == 24
    assert len(circuit.shortest_graphlike_error()) == 3
    assert stim.Circuit(first_shot.surface_code(3)) == circuit


@pytest.mark.parametrize("rounds", [3, 4, 7])
def test_repetition_codes_with_t_states(rounds: int) -> None:
    """A fresh T state adds a random record per round but the first, and changes no detector."""
    plain = snc.Circuit(first_shot.repetition_code(rounds))
    with_gates = snc.Circuit(first_shot.repetition_code(rounds, "T 0"))
    fresh = snc.Circuit(first_shot.with_fresh_t_states(rounds))
    assert len(re.findall("T 0", first_shot.repetition_code(rounds, "T 0"))) == 1  # in the loop
    assert fresh.num_measurements == plain.num_measurements + rounds - 1
    for circuit in (with_gates, fresh):
        assert circuit.num_detectors == plain.num_detectors
        silent = circuit.without_noise().compile_detector_sampler(seed=1)
        assert not silent.sample(20, append_observables=True).any()
    assert len(fresh.compile().quantum.operations) == 2 * (rounds - 1)


@pytest.mark.parametrize("count", [0, 5, 12, 30, 100])
def test_number_of_t_gates(count: int) -> None:
    text = first_shot.layers_of_t_gates(count)
    gates = [line.split()[1:] for line in text.splitlines() if line.startswith("T ")]
    assert sum(map(len, gates)) == count
    assert snc.Circuit(text).num_measurements == 12


@pytest.mark.parametrize("simulator", ["ours", "stim"])
def test_one_circuit_is_measured(simulator: str) -> None:
    """Detectors are sampled, or records if there are none."""
    for text in (first_shot.surface_code(3), "H 0\nM 0"):
        found = first_shot_of(simulator, text)
        assert 0 < found["seconds"] < 60
        assert found["mebibytes"] > 1


def test_failures_and_long_runs_have_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_shot, "MAX_SECONDS", 0.001)
    late = first_shot.measured("ours", "M 0", 1, sys.executable)
    assert late is not None
    assert math.isinf(late["seconds"])
    monkeypatch.undo()
    assert first_shot.measured("ours", "no circuit", 1, sys.executable) is None
    row = {"circuit": "c", "ours": {"seconds": 0.1234, "mebibytes": 50.4}, "stim": late, "clifft": None}
    assert first_shot.table([row]).splitlines() == [
        "| circuit | stim-nonclifford | Stim, S-proxy |",
        "|---|---|---|",
        "| c | 0.12 s, 50 MiB | > 20 s |",
    ]


def test_a_run_prints_saves_and_fills_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One small circuit, one repeat; then the saved results again, with plots."""
    circuit = tmp_path / "small.stim"
    circuit.write_text("H 0\nT 0\nH 0\nM 0\n")
    page = tmp_path / "page.md"
    page.write_text((DOCS / "performance.md").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(first_shot, "CASES", {"surface code d=3": lambda: first_shot.surface_code(3)})
    growth = {("rounds", "no T gates"): ((2, 3), first_shot.repetition_code)}
    monkeypatch.setattr(first_shot, "GROWTH", growth)
    monkeypatch.setattr(first_shot, "SIMULATORS", {"ours": "stim-nonclifford", "stim": "Stim, S-proxy"})
    options = ["--files", str(circuit), "--repeats", "1", "--growth", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["first_shot", *options])
    first_shot.main()
    results = json.loads((tmp_path / "first_shot.json").read_text())
    assert [row["circuit"] for row in results["rows"]] == ["surface code d=3", "`small.stim`"]
    assert [(p["simulator"], p["x"]) for p in results["points"]] == [
        ("ours", 2), ("ours", 3), ("stim", 2), ("stim", 3),
    ]  # fmt: skip
    printed = capsys.readouterr().out
    options = ["--from", str(tmp_path / "first_shot.json"), "--page", str(page), "--plots", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["first_shot", *options])
    first_shot.main()
    for row in first_shot.table(results["rows"]).splitlines():
        assert row in page.read_text(encoding="utf-8")
        assert row in printed
    with Image.open(tmp_path / "growth_first_shot.png") as image:
        assert image.format == "PNG"


def test_plots_have_a_panel_for_each_thing_that_grows(tmp_path: Path) -> None:
    points = [
        {"plot": plot, "series": "s", "simulator": "ours", "x": x, "seconds": 0.1 * x, "mebibytes": 1.0}
        for plot in ("rounds", "distance")
        for x in (1, 100)
    ]
    widths = []
    for count in (2, 4):
        with Image.open(draw(points[:count], tmp_path / f"{count}.png")) as image:
            widths.append(image.width)
    assert widths[1] > 1.5 * widths[0]
