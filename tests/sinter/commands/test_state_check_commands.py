"""`--state_check` of `python -m sinter_plugin collect` and `estimate`, and raw parities in the latter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import scipy.stats
import sinter

import stim_nonclifford as snc
from sinter_plugin.commands.collect import collect
from sinter_plugin.commands.estimate import estimate

from ..samplers.test_state_check import CIRCUIT, FALSE_ALARM, FLAGGED, READOUT, UNSEEN

EXPECTED = UNSEEN * (1 - READOUT) + 0.5 * READOUT
NUMBERS = "LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))"


@pytest.fixture
def circuit(tmp_path: Path) -> str:
    path = tmp_path / "d=1.stim"
    snc.Circuit(CIRCUIT).to_file(path)
    return str(path)


@pytest.mark.parametrize("state", ["T", NUMBERS])
def test_estimate(circuit: str, state: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    arguments = ["--circuits", circuit, "--metadata_func", "auto", "--save_resume_filepath", str(rows)]
    arguments += ["--decoders", "soft_postselect"]
    assert estimate([*arguments, "--state_check", state, "--quiet"]) == 0
    [row] = sinter.read_stats_from_csv_files(rows)
    found = row.json_metadata["estimate"]
    assert found["logical_error_rate"] == pytest.approx(EXPECTED, abs=1e-12)
    assert found["kept"] == pytest.approx(1 - FLAGGED)
    assert (row.json_metadata["state_check"], row.json_metadata["d"]) == (state, 1)


def test_collect_with_and_without_a_decoder(circuit: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    arguments = ["--circuits", circuit, "--save_resume_filepath", str(rows), "--processes", "1", "--quiet"]
    arguments += ["--decoders", "soft_postselect", "soft_pymatching", "--max_shots", "40000"]
    assert collect([*arguments, "--state_check", "T"]) == 0
    assert collect([*arguments, "--state_check", NUMBERS, "--seed", "5"]) == 0
    found = sinter.read_stats_from_csv_files(rows)
    # Other states are other tasks, and are not added to each other.
    assert len({row.strong_id for row in found}) == 4
    for row in found:
        kept = row.shots - row.discards
        assert scipy.stats.binomtest(row.errors, kept, EXPECTED).pvalue > FALSE_ALARM
        assert (row.discards > 0) == (row.decoder == "soft_postselect")
    assert {json.dumps(row.json_metadata["state_check"]) for row in found} == {'"T"', json.dumps(NUMBERS)}


@pytest.mark.parametrize(("flags", "kept"), [((), 0.6545085), (("--skip_reference_sample",), 0.3454915)])
def test_estimates_keep_flips_or_raw_parities(
    flags: tuple[str, ...], kept: float, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.stim"
    file.write_text(
        "RX 0\nR_Z(0.4) 0\nMX !0\nDETECTOR rec[-1]\nX_ERROR(0.1) 1\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    assert estimate(["--in", str(file), "--postselect", "all", *flags]) == 0
    assert float(re.findall(r"P\(kept\): ([\d.]+)", capfd.readouterr().out)[0]) == pytest.approx(kept)
