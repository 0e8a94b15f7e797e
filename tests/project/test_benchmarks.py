"""The benchmarks' circuits are what they say, and their reports show what was measured. No speed is tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmarks.compare_report import draw, table
from benchmarks.growth_plots import draw_all
from benchmarks.growth_report import summary
from benchmarks.machine import description, machine
from benchmarks.pages import filled
from benchmarks.synthetic import many_mechanisms, mirrored, scrambled
from benchmarks.timing import in_turns, rate_of

DOCS = Path(__file__).parents[2] / "docs"
MAX_PLOT_BYTES = 60_000


@pytest.mark.parametrize("width", [4, 7, 12, 18])
def test_widths_of_synthetic_circuits(width: int) -> None:
    assert scrambled(width).plan().peak_width == width
    circuit = mirrored(width, 1e-3)
    mask = np.ones(circuit.num_detectors, dtype=np.bool_)
    assert circuit.plan(postselection_mask=mask).peak_width == width


def test_mirrored_circuits_keep_shots_without_noise() -> None:
    circuit = mirrored(6, 1e-3).without_noise()
    mask = np.ones(circuit.num_detectors, dtype=np.bool_)
    counts = circuit.compile_detector_sampler(seed=1, postselection_mask=mask).sample_counts(1000)
    assert (counts.kept, counts.errors) == (1000, 0)


@pytest.mark.parametrize("count", [10, 1000])
def test_number_of_mechanisms(count: int) -> None:
    """Some of the random effects are equal: of 635376, about count^2 / 1270752 pairs."""
    report = many_mechanisms(count, 0.5 / count).plan("sample_kept")
    assert count - 5 <= report.num_mechanisms <= count
    assert report.mean_events == pytest.approx(0.5, rel=0.06)  # -0.5 ln(1 - 2p) each
    assert report.peak_width == 0


def test_rates_are_of_the_shots_that_ran() -> None:
    """A clock that goes a second per 100 shots."""
    ran: list[int] = []
    rate = rate_of(ran.append, 5.0, most=64, clock=lambda: sum(ran) / 100)
    assert rate == pytest.approx(100)
    assert sum(ran) >= 500
    assert max(ran) <= 64


def test_turns_alternate_after_a_warm_up() -> None:
    calls: list[str] = []

    def measuring(name: str) -> Any:
        return lambda seconds: calls.append(name) or float(len(calls))

    rates = in_turns({"a": measuring("a"), "b": measuring("b")}, 0.0, 2)
    assert calls == ["a", "b"] * 3
    assert rates == {"a": [3.0, 5.0], "b": [4.0, 6.0]}


def result(rate: float, problem: str = "") -> dict[str, Any]:
    return {"rate": rate, "problem": problem}


COMPARISON: dict[str, Any] = {
    "machine": {**machine(), "load": 0.5},
    "versions": {"stim_nonclifford": "0.1", "other": "1.0", "slow": "2.0", "stim": "1.16"},
    "seconds": 5.0,
    "repeats": 3,
    "rows": [
        {
            "workload": "d3",
            "mode": "counts",
            "width": 4,
            "results": {
                "stim_nonclifford": result(1.5e8),
                "other": result(3e6),
                "slow": result(0.0, "no shot within 60 s"),
                "stim": result(4e8),
            },
        }
    ],
}


def test_table_of_a_comparison() -> None:
    lines = table(COMPARISON).splitlines()
    assert "| d3, counts | 4 | 1.5×10⁸ | 3.0×10⁶ | (1) | 4.0×10⁸ | 50 |" in lines
    assert lines[-1] == "(1) d3, counts: slow: no shot within 60 s"
    assert description(COMPARISON["machine"]) + "." in lines


def test_sections_of_pages() -> None:
    page = "above\n<!-- begin a -->\n\nold\n\n<!-- end a -->\nbelow\n"
    new = filled(page, "a", "new")
    assert new == "above\n<!-- begin a -->\n\nnew\n\n<!-- end a -->\nbelow\n"
    assert filled(new, "a", "new") == new
    with pytest.raises(ValueError, match="must contain"):
        filled(page, "b", "new")


@pytest.mark.parametrize("section", ["growth", "comparison", "surface codes", "words against lists"])
def test_the_page_of_figures_can_be_filled(section: str) -> None:
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert "\n\nnew figures\n\n" in filled(page, section, "new figures")


def point(part: str, series: str, x: float, rate: float) -> dict[str, Any]:
    facts = {
        "coefficients": 100.0,
        "mechanisms": x,
        "mean_events": 0.5 * x,
        "kept": 0.25,
        "signature_bits": 9,
    }
    return {"part": part, "series": series, "x": x, "rate": rate, "facts": facts}


def test_plots_are_small_pictures(tmp_path: Path) -> None:
    series = {"width": "every shot simulated", "mechanisms": "half an event", "noise": "d=3"}
    results = {
        "machine": machine(),
        "points": [point(part, name, x, 1e6 / x) for part, name in series.items() for x in (1, 10, 20)],
    }
    paths = draw_all(results, tmp_path)
    assert [path.name for path in paths] == ["growth_width.png", "growth_mechanisms.png", "growth_noise.png"]
    for path in [*paths, draw(COMPARISON, tmp_path / "compare.png")]:
        assert path.stat().st_size < MAX_PLOT_BYTES
        assert len(np.unique(np.asarray(Image.open(path)))) > 4  # not blank


def test_plots_of_the_page_are_small() -> None:
    for name in ("growth_width", "growth_mechanisms", "growth_noise"):
        assert (DOCS / f"{name}.png").stat().st_size < MAX_PLOT_BYTES


def test_summary_of_growth() -> None:
    """Times that are 2 ns and 3 ns for each event; 10 ns for 100 coefficients, in L1, and 400 ns, in L2."""
    points = [point("mechanisms", "probability 0.001 each", x, 1e9 / (2 + 1.5 * x)) for x in (10, 1000)]
    points += [point("width", "every shot simulated", x, 1e9 / time) for x, time in ((10, 10), (16, 400))]
    points += [point("noise", "d=5, postselected", 1e-3, 5e7), point("noise", "d=5, all bits", 1e-3, 1e6)]
    points += [point("threads", "d=5", threads, 1e6 * (0.9 * threads + 0.1)) for threads in (1, 2)]
    points[-1]["facts"]["apart"] = 1.95e6
    facts = {**machine(), "cache_bytes": {"L1": 48 << 10, "L2": 1 << 20}}
    lines = summary({"machine": facts, "seconds": 2, "repeats": 3, "points": points}).splitlines()
    assert lines[-7:] == [
        "| a shot with a mean of 5 noise events | 17.0 ns |",
        "| each further event, with 1,000 mechanisms | 3.0 ns |",
        "| a coefficient operation, vector in L1 (width 10) | 0.10 ns |",
        "| a coefficient operation, vector in L2 (width 16) | 4.00 ns |",
        "| cultivation d=5, p=0.001, postselected: 0.0005 events per shot"
        " | 50 million shots/s, 20 ns per shot |",
        "| the same, all bits of all shots: 9 signature bits | 1 million shots/s, 1,000 ns per shot |",
        "| two threads: d=5 | 1.90 times the speed of one thread;"
        " two samplers that share nothing: 1.95 times |",
    ]
