"""The examples, in a reduced size, as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sinter

ROOT = Path(__file__).parents[1]


def test_demo_collects_and_plots(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.demo", "--max-shots", "20000", "--out", str(tmp_path)]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    assert "logical error per kept shot" in first.stdout
    assert (tmp_path / "error_rate.png").read_bytes().startswith(b"\x89PNG")
    rows = sinter.read_stats_from_csv_files(tmp_path / "stats.csv")
    assert sorted((row.json_metadata["p"], row.json_metadata["g"]) for row in rows) == sorted(
        (p, gate) for p in (0.0005, 0.001, 0.002, 0.003, 0.005) for gate in "ST"
    )
    assert all(row.shots == 20000 for row in rows)
    # The exact acceptance at p = 5e-3 is 0.1547982082; 6 sigma is a false alarm in 10^9 runs.
    [row] = [r for r in rows if (r.json_metadata["p"], r.json_metadata["g"]) == (0.005, "T")]
    assert abs((row.shots - row.discards) / row.shots - 0.1547982082) < 6 * (0.155 * 0.845 / 20000) ** 0.5
