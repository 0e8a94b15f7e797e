"""The benchmarks' circuits are what they say, and their reports show what was measured. No speed is tested."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import stim

import stim_nonclifford as snc
from benchmarks import compare, results, workloads
from benchmarks.measuring import description, machine
from benchmarks.rates.error_models import erased, leaking
from benchmarks.report import table
from benchmarks.simulators import SIMULATORS
from benchmarks.tricycles import tricycle_factory
from benchmarks.workloads import Workload, many_mechanisms, memory_circuit, mirrored, scrambled
from sinter_plugin import herald_detectors
from stim_nonclifford.simulation.reduction import Obstacle, reduction_of

DOCS = Path(__file__).parents[2] / "docs"
MAX_PLOT_BYTES = 60_000
LIMIT = 4 << 30


@pytest.mark.parametrize("width", [4, 7, 12, 18])
def test_widths_of_synthetic_circuits(width: int) -> None:
    assert scrambled(width).plan().peak_width == width
    assert mirrored(width, 1e-3).plan(postselection_mask="all").peak_width == width


def test_circuits_that_need_few_coefficients() -> None:
    """Factories make what their ideal ends undo, and do not need the coefficients of their plans."""
    for text, t_gates, width, narrow in (
        (tricycle_factory(27, 0.0), 420, 26, 0),
        (workloads.factory(8, 0.0), 40, 10, 0),
        (workloads.factory(8, 0.0, undone=False), 32, 10, 4),
    ):
        circuit = snc.Circuit(text)
        plan = circuit.plan("sample_measurements").sampling_plan
        found = reduction_of(plan)
        assert plan.peak_width == width
        assert found.t_rotations == t_gates
        assert found.is_possible
        assert found.dense_width <= narrow
        detectors, observables = circuit.compile_detector_sampler(seed=1).sample(
            50, separate_observables=True
        )
        assert not detectors.any()
        assert observables.any() == (found.obstacle is not Obstacle.NONE)


def test_heralds_are_further_records_and_detectors() -> None:
    """Detectors of the memory have the records that they had: without noise, none of them fires."""
    for circuit, heralds in (
        (erased(3), 3 * 9),
        (leaking(3, 0.1, is_heralded=True), 3 * 17),
        (leaking(3, 0.1, is_heralded=False), 0),
    ):
        assert len(herald_detectors(circuit)) == heralds
        assert circuit.num_detectors == 24 + heralds
        sampler = circuit.without_noise().compile_detector_sampler(skip_reference_sample=True)
        detectors, observables = sampler.sample(100, separate_observables=True)
        assert not detectors.any()
        assert not observables.any()


@pytest.mark.parametrize("count", [10, 1000])
def test_number_of_mechanisms(count: int) -> None:
    """Some of the random effects are equal: of 635376, about count^2 / 1270752 pairs."""
    report = many_mechanisms(count, 0.5 / count).plan("sample_kept")
    assert count - 5 <= report.num_mechanisms <= count
    assert report.mean_events == pytest.approx(0.5, rel=0.06)  # -0.5 ln(1 - 2p) each
    assert report.peak_width == 0


def test_suites_are_listed_and_build_their_circuits(tmp_path: Path) -> None:
    for name in (*workloads.FILES.values(), "e2e_t_d3_p1e-3", "e2e_t_d5_p1e-3", "quantum_volume_q20_seed42"):
        (tmp_path / f"{name}.stim").write_text("M 0\nEXP_VAL Z0\n")
    for suite, make in workloads.SUITES.items():
        assert re.search(rf"\b{suite}\b", compare.__doc__ or "")
        found = list(make(tmp_path))
        assert {name for workload in found for name in workload.simulators} <= SIMULATORS.keys()
        text = found[0].build()
        assert snc.Circuit(text).num_measurements
        assert "EXP_VAL" not in text


def measured(workload: Workload, **options: Any) -> dict[str, Any]:
    return compare.measure(
        workload,
        workload.build(),
        **{"seconds": 0.01, "repeats": 2, "limit": LIMIT, "pythons": {}, **options},
    )


def test_simulators_take_turns_in_processes_of_their_own() -> None:
    text = str(memory_circuit(3, 1e-3))
    row = measured(Workload("code", partial(str, text), "postselected", ("stim_nonclifford", "stim")))
    for found in row["results"].values():
        assert len(found["rates"]) == 2
        assert found["rate"] > 0
        assert found["peak_bytes"] > 1 << 20
    assert row["results"]["stim_nonclifford"]["work"]["lookups"] >= 0
    assert row["facts"]["mean_events"] > 0.1


def result(rate: float, problem: str = "") -> dict[str, Any]:
    if problem:
        return {"problem": problem}
    first = {"first_seconds": 0.1234, "first_cpu_seconds": 0.2, "first_bytes": 50 << 20}
    return {"rate": rate, **first, "more_bytes": 1}


COMPARISON: dict[str, Any] = {
    "suite": "peers",
    "machine": {**machine(), "load": 0.5},
    "versions": {"stim_nonclifford": "0.1", "clifft": "1.0", "symft": "2.0", "ticit": "3.0", "stim": "1.16"},
    "seconds": 5.0,
    "repeats": 3,
    "rows": [
        {
            "name": "d3",
            "mode": "postselected",
            "x": None,
            "plot": "",
            "results": {
                "stim_nonclifford": result(1.5e8),
                "clifft": result(3e6),
                "symft": result(0.0, "> 60 s"),
                "ticit": result(0.0, "ended with exit code -6"),
                "stim": result(4e8),
            },
        }
    ],
}


def test_table_of_a_comparison() -> None:
    lines = table(COMPARISON).splitlines()
    assert "| d3, postselected | 1.5·10⁸ | 3.0·10⁶ | > 60 s | (1) | 4.0·10⁸ | 50 |" in lines
    assert lines[-1] == "(1) d3: ticit: ended with exit code -6"
    assert description(COMPARISON["machine"]) in lines[0]


def test_a_run_prints_saves_and_fills_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One small circuit, one repeat; then the saved results again, for the documentation."""
    text = str(stim.Circuit.generated("repetition_code:memory", distance=3, rounds=3))
    suite = [Workload("small", lambda: text, "bits", ("stim_nonclifford", "stim"))]
    monkeypatch.setitem(workloads.SUITES, "surface", lambda folder: iter(suite))
    assert compare.main(["surface", "--seconds", "0.01", "--repeats", "1", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    results = json.loads((tmp_path / "surface.json").read_text())
    assert [row["name"] for row in results["rows"]] == ["small"]
    page = tmp_path / "results" / "performance.md"
    page.parent.mkdir()
    (tmp_path / "plots").mkdir()
    page.write_text((DOCS / "results" / "performance.md").read_text(encoding="utf-8"))
    saved = ["--from", str(tmp_path / "surface.json"), "--docs", str(tmp_path), "--out", str(tmp_path)]
    assert compare.main(["surface", *saved]) == 0
    for row in table(results).splitlines():
        assert row in page.read_text(encoding="utf-8")
        assert row in printed
    assert compare.main(["surface", "--only", "other", "--out", str(tmp_path)]) == 1


def test_results_run_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command whose table is there is not run; a command without a table or with an error is named."""
    monkeypatch.setattr(results, "LOGS", tmp_path / "logs")
    table = "-c \"print('two\\n| a | b |\\n|---|---|\\n| 1 | x, y |\\n\\n| 2 | |')\""
    cases = {"good": table, "silent": "-c pass", "broken": "-c 1/0"}
    found = tuple(results.Result(name, 1.0, (command,)) for name, command in cases.items())
    monkeypatch.setattr(results, "RESULTS", found)
    out = ["--out", str(tmp_path)]
    assert results.main([*out, "--only", "good"]) == 0
    assert (tmp_path / "good.csv").read_text() == 'a,b\n1,"x, y"\n2,\n'
    assert (tmp_path / "logs" / "good.txt").read_text().startswith("two")
    (tmp_path / "good.csv").write_text("mine")
    assert results.main([*out, "--only", "good"]) == 0
    assert (tmp_path / "good.csv").read_text() == "mine"
    for name, message in (("silent", "no table"), ("broken", "has failed")):
        with pytest.raises(SystemExit, match=message):
            results.main([*out, "--only", name])
        assert not (tmp_path / f"{name}.csv").exists()
    capsys.readouterr()
    assert results.main([*out, "--list"]) == 0
    assert re.findall(r"(\w+) +1.0 h  (\w+)", capsys.readouterr().out) == [
        ("good", "there"), ("silent", "missing"), ("broken", "missing"),
    ]  # fmt: skip


def test_decoders_in_the_loop_are_measured() -> None:
    workload = next(workloads.decisions(DOCS))
    text = workload.build()
    assert compare.facts_of(text, workload)["mean_events"] > 0
    [(_, run)] = SIMULATORS[workload.simulators[0]](text, workload.mode)
    assert 0 < run(20_000) < 1_000  # 6.87e-3 of the shots
