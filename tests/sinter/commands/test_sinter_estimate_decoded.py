"""`python -m sinter_plugin estimate --decoders`, run as a user runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import Any

import numpy as np
import pytest
import sinter

import stim_nonclifford as snc
from sinter_plugin import error_rate
from stim_nonclifford.circuit.logical_states import parsed_state
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
    """The rates are those of Python, and other rows than those of all shots."""
    names = with_circuits(folder)[:1]
    arguments = f"--decoders pymatching --circuits {names[0]} {ARGUMENTS}"
    folder.call(ESTIMATE, f'{arguments} --postselected_detectors_predicate "index==0"')
    [row] = rows_of(folder).values()
    circuit, facts = repetition_code(NOISE[0]), row.json_metadata["estimate"]
    mask = np.arange(circuit.num_detectors) == 0
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask=mask, relative_error=0.2, seed=facts["seed"]
    )
    assert (facts["kept"], facts["kept_and_wrong"]) == (rate.kept, rate.kept_and_wrong)
    folder.call(ESTIMATE, arguments)
    assert len(folder.stats("rates.csv")) == 2


@pytest.mark.slow
def test_a_row_for_each_least_gap(folder: Folder) -> None:
    circuit = snc.Circuit(
        end_to_end_circuit(3, 5, 2e-3, "T", postselected_rounds=1, rounds=1, readout="expectation_values")
    )
    circuit.to_file(folder.path / "p=0.002.stim")
    state = "LogicalStateCheck((0, 1), (0, 1), (0.0, 2**0.5))"
    coarse = ARGUMENTS.replace("0.2", "0.5")
    arguments = (
        f"--decoders desaturated --confidence --circuits p=0.002.stim {coarse} --state_check '{state}'"
    )
    folder.call(ESTIMATE, arguments)
    rows = folder.stats("rates.csv")
    found = {row.json_metadata["gap"]: row.json_metadata["estimate"] for row in rows}
    rate = circuit.logical_error_rate(
        decoder="desaturated",
        confidence=True,
        state_check=parsed_state(state),
        relative_error=0.5,
        seed=found[0]["seed"],
    )
    assert sorted(found) == [point.gap for point in rate.gap_curve]
    assert len(found) > 5
    for point in rate.gap_curve:
        facts = found[point.gap]
        assert (facts["kept"], facts["kept_and_wrong"]) == (point.kept, point.kept_and_wrong)
        assert facts["interval"] == list(point.interval)
    assert "in the file already" in folder.call(ESTIMATE, arguments).stderr
