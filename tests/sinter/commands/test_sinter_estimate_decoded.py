"""`python -m sinter_plugin estimate --decoders`, run as a user runs it."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pymatching
import pytest
import sinter

from sinter_plugin import error_rate
from sinter_plugin.__main__ import main
from stim_nonclifford.generators.cultivation import end_to_end_circuit

from ...support.processes.sinter_runs import OURS, Folder, is_alive, wait_until, workers_of
from ...support.rates.decoded_rate_cases import exact_rate, repetition_code, surface_code

ESTIMATE = [*OURS[:-1], "estimate"]
NOISE = (0.12, 0.01, 1e-3)
DECODES = b"decoding_processes"
ARGUMENTS = "--relative_error 0.2 --seed 1 --metadata_func auto --save_resume_filepath rates.csv"


def with_circuits(folder: Folder) -> list[str]:
    names = [f"p={p}.stim" for p in NOISE]
    for name, p in zip(names, NOISE, strict=True):
        (folder.path / name).write_text(str(repetition_code(p)))
    return names


def rows_of(folder: Folder) -> dict[float, sinter.TaskStats]:
    stats = sinter.read_stats_from_csv_files(folder.path / "rates.csv")
    return {row.json_metadata["p"]: row for row in stats}


def test_rates_are_saved_and_not_computed_again(folder: Folder) -> None:
    names = with_circuits(folder)
    arguments = f"--decoders pymatching --circuits {' '.join(names)} {ARGUMENTS}"
    folder.call(ESTIMATE, arguments)
    found = rows_of(folder)
    assert set(found) == set(NOISE)
    for p, row in found.items():
        estimate: dict[str, Any] = row.json_metadata["estimate"]
        assert row.json_metadata["decoder"] == "pymatching"
        assert (row.shots, row.decoder) == (0, "soft_fault_sets")
        fit = error_rate(row)
        assert fit.best is not None
        exact = exact_rate("repetition", p)
        assert abs(fit.best - exact) <= 6.5 * estimate["standard_error"] + 1e-9 * exact
        assert json.loads(json.dumps(estimate))["kept"] == 1
    again = folder.call(ESTIMATE, arguments)
    assert again.stderr.count("in the file already") == len(NOISE)


def test_a_decoder_of_ones_own(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named as for `sinter collect`, and answers as PyMatching, which it asks, does."""
    names = with_circuits(folder)
    (folder.path / "decoder_of_mine.py").write_text(
        "import sinter\n\n"
        "class Mine(sinter.Decoder):\n"
        "    def compile_decoder_for_dem(self, *, dem):\n"
        "        return sinter.BUILT_IN_DECODERS['pymatching'].compile_decoder_for_dem(dem=dem)\n\n"
        "def decoders():\n"
        "    return {'mine': Mine()}\n"
    )
    monkeypatch.syspath_prepend(folder.path)
    custom = "--custom_decoders_module_function decoder_of_mine:decoders"
    folder.call(ESTIMATE, f"--decoders mine {custom} --circuits {' '.join(names)} {ARGUMENTS}")
    # One circuit is printed, by the same name; PyMatching itself has the same rate.
    alike = "--relative_error 0.2 --seed 1 --in"
    printed = folder.call(ESTIMATE, f"--decoder mine {custom} {alike} {names[0]}").stdout
    known = folder.call(ESTIMATE, f"--decoder pymatching {alike} {names[0]}").stdout
    assert re.findall(r"interval: (\S+) to (\S+)", printed) == re.findall(r"interval: (\S+) to (\S+)", known)
    assert "interval: " in printed
    for p, row in rows_of(folder).items():
        assert row.json_metadata["decoder"] == "mine"
        facts, exact = row.json_metadata["estimate"], exact_rate("repetition", p)
        assert abs(facts["logical_error_rate"] - exact) <= 6.5 * facts["standard_error"] + 1e-9 * exact


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")
def test_interrupt_while_processes_decode(folder: Folder) -> None:
    """What is known stays, and what is decoding ends: whether Ctrl-C reaches one process or all of them."""
    names = with_circuits(folder)[:1]
    folder.call(ESTIMATE, f"--decoders pymatching --circuits {names[0]} {ARGUMENTS}")
    saved = (folder.path / "rates.csv").read_text()
    (folder.path / "d=3,p=0.008.stim").write_text(str(surface_code(0.008)))
    endless = f"--circuits d=3,p=0.008.stim {ARGUMENTS.replace('0.2', '1e-4')}"
    command = folder.start(ESTIMATE, f"--decoders pymatching-correlated --threads 2 {endless}")
    wait_until(lambda: command.poll() is not None or workers_of(command.pid, DECODES) != [])
    (helper,) = workers_of(command.pid, DECODES)
    assert os.getpgid(helper) != os.getpgid(command.pid)  # so that Ctrl-C in a terminal does not reach it
    os.killpg(command.pid, signal.SIGINT)
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == 130, stderr
    assert "Interrupted. Run the same command again" in stderr
    assert "Traceback" not in stderr
    wait_until(lambda: not is_alive(helper))
    assert (folder.path / "rates.csv").read_text() == saved
    assert set(rows_of(folder)) == {NOISE[0]}
    assert not (folder.path / "rates.csv.lock").exists()


def test_kept_shots_are_decoded(folder: Folder) -> None:
    names = with_circuits(folder)[:2]
    arguments = f"--decoders pymatching --circuits {' '.join(names)} {ARGUMENTS}"
    folder.call(ESTIMATE, f'{arguments} --postselected_detectors_predicate "index==0"')
    kept_rows = rows_of(folder)
    for p, row in kept_rows.items():
        estimate: dict[str, Any] = row.json_metadata["estimate"]
        circuit = repetition_code(p)
        mask = np.arange(circuit.num_detectors) == 0
        dets, obs = circuit.compile_detector_sampler(seed=5).sample(200_000, separate_observables=True)
        kept = ~dets[:, mask].any(axis=1)
        matching = pymatching.Matching.from_detector_error_model(
            circuit.detector_error_model(decompose_errors=True)
        )
        wrong = int((matching.decode_batch(dets[kept]) != obs[kept]).sum())
        error = math.hypot(estimate["standard_error"], math.sqrt(max(wrong, 1)) / kept.sum())
        assert abs(estimate["logical_error_rate"] - wrong / kept.sum()) < 5.4 * error
        assert abs(estimate["kept"] - kept.mean()) < 0.01
    # The rates of all shots are other rows.
    folder.call(ESTIMATE, arguments)
    rows = sinter.read_stats_from_csv_files(folder.path / "rates.csv")
    assert len({row.strong_id for row in rows}) == 2 * len(names)


@pytest.mark.slow
def test_a_row_for_each_least_gap(folder: Folder) -> None:
    p = 0.1
    (folder.path / "p=0.1.stim").write_text(str(repetition_code(p, distance=3)))
    coarse = ARGUMENTS.replace("0.2", "0.5")
    arguments = f"--decoders pymatching --confidence --circuits p=0.1.stim {coarse}"
    folder.call(ESTIMATE, arguments)
    rows = sinter.read_stats_from_csv_files(folder.path / "rates.csv")
    found = {row.json_metadata["gap"]: row.json_metadata["estimate"] for row in rows}
    rate = repetition_code(p, distance=3).logical_error_rate(
        decoder="pymatching", confidence=True, relative_error=0.5, seed=found[0]["seed"]
    )
    assert len(rate.gap_curve) >= 2
    assert set(found) == {point.gap for point in rate.gap_curve}
    for point in rate.gap_curve:
        facts = found[point.gap]
        assert (facts["kept"], facts["kept_and_wrong"]) == (point.kept, point.kept_and_wrong)
        assert facts["interval"] == list(point.interval)
        assert facts["interval"][0] <= facts["logical_error_rate"] <= facts["interval"][1]
    again = folder.call(ESTIMATE, arguments)
    assert "in the file already" in again.stderr


@pytest.mark.slow
def test_cultivation_end_to_end_has_a_row_for_each_gap(tmp_path: Path) -> None:
    circuit = end_to_end_circuit(
        3, 5, 2e-3, "T", postselected_rounds=1, rounds=1, readout="expectation_values"
    )
    (tmp_path / "d=3.stim").write_text(str(circuit))
    arguments = f"estimate --circuits {tmp_path}/d=3.stim --decoders desaturated --confidence --seed 1"
    arguments += f" --relative_error 0.3 --save_resume_filepath {tmp_path}/rates.csv --quiet"
    state = "LogicalStateCheck((0, 1), (0, 1), (0.0, 2**0.5))"
    assert main([*arguments.split(), "--state_check", state]) == 0
    rows = sinter.read_stats_from_csv_files(tmp_path / "rates.csv")
    rates = {row.json_metadata["gap"]: row.json_metadata["estimate"] for row in rows}
    assert sorted(rates)[:3] == [0, 5, 10]
    # 2e7 plain shots: 0.16590(9) kept, 4.73(5)e-4 kept and wrong; 3.2(4)e-5 per kept shot at the largest gap.
    assert rates[0]["kept"] == pytest.approx(0.1659, rel=0.005)
    assert 3e-4 < rates[0]["kept_and_wrong"] < 7e-4
    assert rates[max(rates)]["logical_error_rate"] < 1e-4
