"""``figure end_to_end`` and ``plot-gap``: circuits, counts, tables, curves by gap and the pictures."""

from __future__ import annotations

import collections
import csv
import re
import subprocess

import pytest
import sinter
from matplotlib.figure import Figure

import sinter_plugin
from sinter_plugin.commands import figure
from sinter_plugin.commands.end_to_end_circuits import (
    generated_circuit,
    published_points,
    with_observable_of_y,
)
from sinter_plugin.commands.plot_gap import GapCurve, curves_of
from sinter_plugin.statistics.csv_rows import ESTIMATE, FAULT_SETS
from sinter_plugin.statistics.estimates import error_rate

from ...support.processes.sinter_runs import OURS, Folder
from ...support.published_circuits import FOLDER, needs_published

SMALL = "--d2 5 --p 0.002 --seed 3"


def figure_of(folder: Folder, arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    common = "figure end_to_end --processes 1 --quiet --max_seconds 600 --out ."
    return folder.call(OURS[:-1], f"{common} {arguments}", code=code)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[list[GapCurve]]:
    """The curves of each picture."""
    found: list[list[GapCurve]] = []
    monkeypatch.setattr(figure, "draw", lambda curves, *_: found.append(curves))
    return found


def test_rows_points_and_picture(folder: Folder) -> None:
    """10,240 attempts of both gates. The kept fraction of seed 3, which is the same for both, is within 6 sigma."""
    printed = figure_of(folder, f"{SMALL} --max_shots 4096").stdout
    printed += figure_of(folder, f"{SMALL} --max_shots 10240").stdout  # continues
    assert printed.count("d=3 to 5, p=0.002, T gates: 10240 attempts") == 1
    assert printed.count("d=3 to 5, p=0.002, S-proxy: 4096 attempts") == 1
    rows = sinter_plugin.read_gap_stats(folder.path / "end_to_end.csv")
    by_gate = {row.json_metadata["g"]: row for row in rows}
    assert {gate: row.shots for gate, row in by_gate.items()} == {"T": 10_240, "S": 10_240}
    kept = [(row.shots - row.discards) / row.shots for row in by_gate.values()]
    assert abs(kept[0] - kept[1]) < 6 * (2 * 0.17 * 0.83 / 10_240) ** 0.5
    assert 0.1 < kept[0] < 0.25
    assert by_gate["T"].errors > 0
    assert (folder.path / "end_to_end.png").read_bytes().startswith(b"\x89PNG")
    points = csv.DictReader((folder.path / "end_to_end_points.csv").read_text().splitlines())
    first = [sinter_plugin.gap_points(row)[0] for row in rows]
    expected = sum(point.kept for point in first if point.gap == 0)
    assert sum(int(point["kept"]) for point in points if point["gap"] == "0") == expected
    last = re.findall(r"^ +\d+ +([\d.]+) +(\d+)  ", printed, re.MULTILINE)
    attempts = sinter_plugin.gap_points(by_gate["S"])[-1].attempts_per_kept_shot
    assert float(last[-1][0]) == pytest.approx(attempts, rel=1e-3)


def test_chromobius_decodes_the_color_escape(folder: Folder) -> None:
    """The circuit's own mask keeps as many of 2,048 attempts, within 6 sigma."""
    pytest.importorskip("chromobius")
    figure_of(folder, f"{SMALL} --decoder chromobius --gate T --max_shots 2048")
    (row,) = sinter_plugin.read_gap_stats(folder.path / "end_to_end.csv")
    circuit = generated_circuit(3, 5, 0.002, "T", postselected_rounds=1, rounds=1).circuit
    places = circuit.get_detector_coordinates()
    mask = [places[k][4] == 1 for k in range(circuit.num_detectors)]
    sampler = circuit.compile_detector_sampler(seed=4, postselection_mask=mask, state_check="T")
    counts = sampler.sample_counts(10**6)
    kept = 1 - counts.discards / counts.shots
    assert row.shots == 2048
    assert abs(row.shots - row.discards - 2048 * kept) < 6 * (2048 * kept * (1 - kept)) ** 0.5
    assert sinter_plugin.gap_points(row)[-1].gap > 20


@pytest.mark.slow
def test_published_points_at_their_own_noise(folder: Folder, drawn: list[list[GapCurve]]) -> None:
    """Two strengths of the noise and two escapes: published points are drawn at the noise that they are for."""
    kinds = "--p 0.001 0.002 --escape color matchable --variant published flagged"
    few = "--gate T --max_shots 2048"
    assert figure_of(folder, f"{SMALL} {kinds} {few}").stderr.count("Left out: d=3, flagged") == 4
    of_noise = [
        f"d=3 to 5{kind}, p={p}, T gates" for kind in ("", " (matchable)") for p in ("0.001", "0.002")
    ]
    name = "d=3 to a matchable code, p=0.001, T gates (published)"
    assert [curve.label for curve in drawn[0]] == [*of_noise, name]
    assert not drawn[0][-1].is_curve
    figure_of(folder, f"{SMALL} {few}")
    assert not any("published" in curve.label for curve in drawn[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"{SMALL} --circuits bare.stim", "must end in EXP_VAL of the logical X, Y and Z"),
        (f"{SMALL} --max_seconds 0", "argument --max_seconds: '0' is not a positive number"),
        ("--d 3 --d2 3", "escape_distance must be"),
        ("--d 5 --escape matchable --gate T", "at least 9"),
        # Of several combinations, only those that do not exist are left out.
        ("--d 3 --p 0.001 2", "p must be a probability"),
    ],
)
def test_wrong_input(folder: Folder, arguments: str, message: str) -> None:
    done = figure_of(folder, arguments, code=2)
    assert message in done.stderr
    assert "Left out" not in done.stderr


@pytest.mark.slow
def test_a_computed_curve_is_kept(folder: Folder, drawn: list[list[GapCurve]]) -> None:
    """A curve of the file is drawn again, and computed again only if less error is asked for, or another seed."""
    common = f"{SMALL} --gate T --max_shots 1024 --compute_seconds"
    printed = [figure_of(folder, f"{common} 600 --relative_error {error}").stdout for error in (0.5, 0.9)]
    assert "".join(printed).count("T gates, computed:") == 1
    first, second = ([curve for curve in curves if curve.is_computed] for curves in drawn)
    assert first == second
    (curve,) = first
    assert len(curve.rates) == len(curve.attempts) > 5
    assert all(fit.low < fit.best < fit.high for fit in curve.rates)
    file = folder.path / "end_to_end_computed.csv"
    assert len(file.read_text().splitlines()) == 1 + len(curve.rates)
    for other in ("--relative_error 0.001", "--relative_error 0.5 --seed 4"):  # there is no time for these
        done = figure_of(folder, f"{common} 1e-6 {other}")
        assert "Not computed: d=3 to 5, p=0.002, T gates. max_seconds=1e-06 ended the search" in done.stderr
        assert "T gates: 1024 attempts" in done.stdout
    file.write_text("gap\n3\n")
    done = figure_of(folder, f"{common} 600", code=2)
    assert "end_to_end_computed.csv, line 1: the first line must name the columns" in done.stderr


def test_the_check_is_that_of_logical_y() -> None:
    for gate in ("T", "S"):
        checked = generated_circuit(3, 5, 1e-3, gate, postselected_rounds=1, rounds=1)
        noiseless = checked.circuit.without_noise()
        (batch,) = noiseless.compile_detector_sampler(seed=1).iter_kept(max_shots=20, expectation_values=True)
        assert batch.expectation_values is not None
        assert checked.check.weights[0] == 0
        assert checked.check.weights[1] * abs(batch.expectation_values[0, 1]) == pytest.approx(1)


def test_the_observable_includes_y() -> None:
    circuit = with_observable_of_y(
        "R 0 1\nEXP_VAL X0\nEXP_VAL Y0*Z1\nMPP Y0*Z1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    assert "OBSERVABLE_INCLUDE(0) Y0 Z1" in str(circuit)


@pytest.mark.slow
@needs_published
def test_published_circuit_beside_published_results(folder: Folder) -> None:
    """102,400 attempts of seed 3: kept fractions and errors are those published, within 6 sigma."""
    circuit = FOLDER / "e2e_t_d3_p1e-3.stim"
    done = figure_of(folder, f"--circuits {circuit} --gate T --seed 3 --max_shots 102400")
    assert "0.00309 (attempts 1.856)" in done.stdout
    (row,) = sinter_plugin.read_gap_stats(folder.path / "end_to_end.csv")
    points = sinter_plugin.gap_points(row)
    for gap, (kept, error) in published_points({"d": 3, "p": 1e-3}).items():
        if gap > 30:
            continue
        point = next(point for point in points if point.gap >= gap)
        assert abs(point.kept - kept * 102400) < 6 * (kept * (1 - kept) * 102400) ** 0.5
        assert abs(point.errors - error * point.kept) < 6 * (error * point.kept) ** 0.5 + 3


def rows() -> list[sinter.TaskStats]:
    gaps = collections.Counter({"C0": 300, "E0": 100, "C20": 390, "E20": 10})
    estimate = {"logical_error_rate": 1e-6, "interval": [9e-7, 1.2e-6], "kept": 0.4}
    return [
        sinter.TaskStats(
            "a", "soft_pymatching_gap", {"d": 3}, shots=1000, errors=110, discards=200, custom_counts=gaps
        ),
        sinter.TaskStats("b", "soft_postselect", {"d": 3}, shots=1000, errors=5, discards=500),
        sinter.TaskStats("c", FAULT_SETS, {"d": 5, ESTIMATE: estimate}),
        sinter.TaskStats("d", "soft_postselect", {"d": 7}, shots=1000, errors=0, discards=900),
        sinter.TaskStats("e", "soft_postselect", {"d": 9}, shots=10, errors=0, discards=10),
    ]


def test_points_and_intervals() -> None:
    by_gap, counted, computed, none = curves_of(rows(), lambda row: row.strong_id)
    assert by_gap.attempts == [1000 / 800, 1000 / 400]
    assert [fit.best for fit in by_gap.rates] == [110 / 800, 10 / 400]
    expected = error_rate(sinter.AnonTaskStats(shots=1000, errors=10, discards=600))
    assert by_gap.rates[1] == expected
    assert (counted.attempts, counted.rates[0].best) == ([2.0], 0.01)
    assert (computed.attempts, computed.rates) == ([2.5], [sinter.Fit(low=9e-7, best=1e-6, high=1.2e-6)])
    assert none.rates[0].best is None
    assert [curve.label for curve in (by_gap, counted, computed, none)] == [*"abcd"]  # e keeps no shot


def test_computed_rows_of_several_gaps_are_a_curve() -> None:
    estimate = {"logical_error_rate": 1e-6, "interval": [9e-7, 1.2e-6]}
    rows = [
        sinter.TaskStats(str(gap), FAULT_SETS, {"gap": gap, ESTIMATE: {**estimate, "kept": kept}})
        for gap, kept in ((0, 0.5), (10, 0.25))
    ]
    [curve] = curves_of(rows, lambda row: "d=3")
    assert (curve.attempts, curve.is_curve, curve.is_computed) == ([2.0, 4.0], True, True)
    assert [len(each.attempts) for each in curves_of(rows, lambda row: row.strong_id)] == [1, 1]


def plotted(folder: Folder, arguments: str, code: int = 0) -> str:
    """What is said on a picture of the rows."""
    lines = [sinter.CSV_HEADER, *(row.to_csv_line() for row in rows()), ""]
    (folder.path / "stats.csv").write_text("\n".join(lines))
    return folder.call(OURS[:-1], f"plot-gap --out gap.png {arguments}", code=code).stderr


def test_picture_by_gap(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *a, **k: (seen.append(self.axes[0]), save(self, *a, **k))
    )
    plotted(folder, "stats.csv --group_func \"f'{decoder} d={m.d}'\"")
    assert (folder.path / "gap.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(text.get_text() for text in seen[0].get_legend().get_texts()) == [
        f"{FAULT_SETS} d=5 (computed)",
        "soft_postselect d=3",
        "soft_postselect d=7, upper end",
        "soft_pymatching_gap d=3",
    ]
    assert seen[0].get_xlabel() == "attempts per kept shot"
    plotted(folder, "stats.csv --filter_func 'm.d == 3'")
    assert len(seen[1].get_legend().get_texts()) == 2


def test_what_cannot_be_plotted(folder: Folder) -> None:
    for arguments, message in (
        ("stats.csv --filter_func 'm.d == 9'", "No row has a kept shot"),
        ("stats.csv --group_func \"m.d + 'x'\"", "--group_func"),
        ("none.csv", "none.csv"),
    ):
        assert message in plotted(folder, arguments, code=2)
