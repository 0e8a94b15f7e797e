"""``plot-gap``: curves by gap, counted points and computed points, in one picture."""

from __future__ import annotations

import collections

import pytest
import sinter
from matplotlib.figure import Figure

from sinter_plugin.commands.plot_gap import curves_of
from sinter_plugin.statistics.csv_rows import ESTIMATE, FAULT_SETS
from sinter_plugin.statistics.estimates import error_rate

from ...support.processes.sinter_runs import OURS, Folder


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


def test_picture(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_errors(folder: Folder) -> None:
    for arguments, message in (
        ("stats.csv --filter_func 'm.d == 9'", "No row has a kept shot"),
        ("stats.csv --group_func \"m.d + 'x'\"", "--group_func"),
        ("none.csv", "none.csv"),
    ):
        assert message in plotted(folder, arguments, code=2)
