"""`python -m sinter_plugin estimate`, run as a user runs it: without a decoder, with one, and of a state; and what it writes."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sinter

import stim_nonclifford as snc
from sinter_plugin import error_rate
from sinter_plugin.commands.collect import collect
from sinter_plugin.commands.estimate import estimate
from sinter_plugin.statistics.shot_ranges import seed_of
from stim_nonclifford.circuit.logical_states import parsed_state
from stim_nonclifford.generators.cultivation import cultivation_circuit, end_to_end_circuit

from ...support.processes.sinter_runs import (
    BARE_ERROR_IF_KEPT,
    ERROR_IF_KEPT,
    KEPT_BY_ALL,
    OURS,
    Folder,
    is_alive,
    wait_until,
    workers_of,
)
from ...support.rates.decoded_rate_cases import exact_rate, repetition_code, surface_code
from ..samplers.test_state_check import CIRCUIT, FALSE_ALARM, FLAGGED, READOUT, UNSEEN

ESTIMATE = [*OURS[:-1], "estimate", "--decoders", "soft_postselect"]
SAVED = "--threads 2 --seed 1 --metadata_func auto --save_resume_filepath stats.csv"


def estimated(rate: float, interval: tuple[float, float]) -> sinter.TaskStats:
    facts = {"logical_error_rate": rate, "interval": list(interval)}
    return sinter.TaskStats("id", "soft_fault_sets", {"estimate": facts})


class TestErrorRate:
    """What figures show of counted and of computed rows."""

    @pytest.mark.parametrize(
        ("errors", "kept"), [(1, 10), (500, 1000), (999, 1000), (3, 10**9), (1000, 324548838), (7, 10**12)]
    )
    def test_counts_have_the_interval_of_clopper_and_pearson(self, errors: int, kept: int) -> None:
        fit = error_rate(sinter.AnonTaskStats(shots=3 * kept, discards=2 * kept, errors=errors))
        assert fit.best == errors / kept
        # The definition: each end would give so many errors, or more extreme numbers, in 2.5% of all runs.
        assert fit.low < fit.best < fit.high
        assert scipy.stats.binom.sf(errors - 1, kept, fit.low) == pytest.approx(0.025)
        assert scipy.stats.binom.cdf(errors, kept, fit.high) == pytest.approx(0.025)

    def test_counts_at_the_ends(self) -> None:
        none = error_rate(sinter.AnonTaskStats(shots=1000))
        assert (none.low, none.best) == (0, None)
        assert none.high == pytest.approx(1 - 0.025 ** (1 / 1000))
        assert error_rate(sinter.AnonTaskStats(shots=10, errors=10)).high == 1
        assert error_rate(sinter.AnonTaskStats(shots=10, discards=10)) == sinter.Fit(0, None, 1)

    def test_estimates_have_their_own(self) -> None:
        assert error_rate(estimated(1e-20, (0.9e-20, 4e-20))) == sinter.Fit(0.9e-20, 1e-20, 4e-20)
        assert error_rate(estimated(0.0, (0.0, 1e-9))) == sinter.Fit(0, None, 1e-9)
        assert error_rate(estimated(0.0, (0.0, 0.0))) == sinter.Fit(0, 0, 0)


def test_exact_values_with_and_without_mask(folder: Folder) -> None:
    arguments = "--circuits d=3,p=0.1.stim --metadata_func auto --quiet --seed 7 --save_resume_filepath "
    folder.call(ESTIMATE, arguments + "all.csv")
    folder.call(ESTIMATE, arguments + "mask.csv --postselected_detectors_predicate 'index < 3'")
    folder.call(ESTIMATE, arguments + "zero.csv --postselected_observables_predicate 'index == 0'")
    ids = set()
    for name, kept, rate in (
        ("all.csv", KEPT_BY_ALL, ERROR_IF_KEPT),
        ("mask.csv", KEPT_BY_ALL, ERROR_IF_KEPT),
        ("zero.csv", KEPT_BY_ALL * (1 - ERROR_IF_KEPT), 0.0),
    ):
        (stats,) = folder.stats(name)
        estimate = stats.json_metadata.pop("estimate")
        assert stats.json_metadata == {"d": 3, "p": 0.1}
        assert stats.decoder == "soft_fault_sets"
        assert estimate["kept"] == pytest.approx(kept, abs=1e-12)
        assert estimate["logical_error_rate"] == pytest.approx(rate, abs=1e-12)
        assert estimate["kept_and_wrong"] == pytest.approx(rate * kept, abs=1e-12)
        assert estimate["standard_error"] == 0
        assert estimate["interval"] == pytest.approx([rate, rate], abs=1e-9)
        assert estimate["seed"] == seed_of(stats.strong_id, 7) >> 11
        assert estimate["seconds"] >= 0
        assert (stats.shots, stats.errors, stats.discards) == (0, 0, 0)
        assert stats.custom_counts == {"estimates": 1}
        ids.add(stats.strong_id)
    assert len(ids) == 3


def test_bare_gates_and_standard_output(folder: Folder) -> None:
    done = folder.call(ESTIMATE, "--circuits bare.stim --seed 1")
    (row,) = csv.DictReader(done.stdout.splitlines(), skipinitialspace=True)
    rate = json.loads(row["json_metadata"])["estimate"]["logical_error_rate"]
    assert rate == pytest.approx(BARE_ERROR_IF_KEPT, abs=1e-9)
    assert "bare.stim: logical error rate per kept shot 0.15 (exact)" in done.stderr


def write_curve(folder: Folder) -> None:
    for p in (0.001, 0.002, 0.005):
        for gate in ("T", "S"):
            circuit = cultivation_circuit(distance=3, p=p, gate=gate)  # type: ignore[arg-type]
            circuit.to_file(folder.path / f"d=3,g={gate},p={p}.stim")


def test_curves_are_resumed_and_improved(folder: Folder) -> None:
    """Nothing is computed twice; better rows replace worse ones."""
    write_curve(folder)
    t_files = "d=3,g=T,p=0.002.stim d=3,g=T,p=0.005.stim"
    folder.call(ESTIMATE, f"--circuits {t_files} {SAVED} --relative_error 0.3 --quiet")
    all_files = f"d=3,g=T,p=0.001.stim {t_files} d=3,g=S,p=0.002.stim d=3,g=S,p=0.005.stim"
    done = folder.call(ESTIMATE, f"--circuits {all_files} {SAVED} --relative_error 0.3")
    assert "[1/3] d=3,g=T,p=0.001.stim\n" in done.stderr  # the only one that is left of the curve
    assert "[3/3] d=3,g=S,p=0.005.stim\n" in done.stderr
    assert done.stderr.count("in the file already") == 2
    before = (folder.path / "stats.csv").read_bytes()
    folder.call(ESTIMATE, f"--circuits {all_files} {SAVED} --relative_error 0.3")
    assert (folder.path / "stats.csv").read_bytes() == before

    worse = {row.strong_id: row.json_metadata["estimate"] for row in folder.stats()}
    folder.call(ESTIMATE, f"--circuits {all_files} {SAVED} --relative_error 0.004")
    stats = folder.stats()
    assert len(folder.rows()) == len(stats) == len(worse) == 5
    improved = 0
    for row in stats:
        better, known = row.json_metadata["estimate"], worse[row.strong_id]
        assert better["standard_error"] <= 0.004 * better["logical_error_rate"]
        # 6 sigma is a false alarm in 10^9 runs; the seed is fixed besides.
        difference = better["logical_error_rate"] - known["logical_error_rate"]
        assert abs(difference) <= 6 * known["standard_error"] + 1e-9 * known["logical_error_rate"]
        improved += better != known
    assert improved >= 1
    assert not list(folder.path.glob("*.new")) + list(folder.path.glob("*.lock"))


def test_row_with_a_narrower_interval_stays(folder: Folder) -> None:
    folder.call(ESTIMATE, f"--circuits d=3,p=0.1.stim {SAVED}")
    (stats,) = folder.stats()
    facts = stats.json_metadata["estimate"]
    facts |= {"asked_relative_error": 1e9, "standard_error": 1e9, "interval": [ERROR_IF_KEPT, ERROR_IF_KEPT]}
    (folder.path / "stats.csv").write_text(f"{sinter.CSV_HEADER}\n{stats.to_csv_line()}\n")
    done = folder.call(ESTIMATE, f"--circuits d=3,p=0.1.stim {SAVED}")
    assert "The row in the file stays" in done.stderr
    assert folder.stats() == [stats]


def test_estimates_do_not_depend_on_what_else_is_computed(folder: Folder) -> None:
    """Of circuits that share no work: in one go, after others, alone, and in another order."""
    write_curve(folder)
    names = ["d=3,g=T,p=0.002.stim", "d=3,g=S,p=0.002.stim", "d=3,p=0.1.stim"]
    arguments = (
        "--relative_error 0.3 --quiet --threads 1 --seed 5 --metadata_func auto --save_resume_filepath"
    )

    def found(name: str, *runs: list[str]) -> dict[str, tuple[int, float]]:
        for files in runs:
            folder.call(ESTIMATE, f"--circuits {' '.join(files)} {arguments} {name}")
        facts = {row.strong_id: row.json_metadata["estimate"] for row in folder.stats(name)}
        return {key: (each["seed"], each["logical_error_rate"]) for key, each in facts.items()}

    in_one_go = found("one.csv", names)
    assert len({seed for seed, _ in in_one_go.values()}) == 3
    assert found("resumed.csv", names[:1], names[:2], names) == in_one_go
    assert found("reversed.csv", names[::-1]) == in_one_go
    [alone] = found("alone.csv", names[1:2]).items()
    assert alone in in_one_go.items()
    # Weaker noise that shares the work may ask for more draws, but has the seed of the stronger.
    weaker = found("weaker.csv", ["d=3,g=T,p=0.001.stim", *names])
    assert len(weaker) == 4
    assert {key: weaker[key][0] for key in in_one_go} == {key: seed for key, (seed, _) in in_one_go.items()}


def test_estimates_of_two_files_are_not_added(folder: Folder) -> None:
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        folder.call(
            ESTIMATE, f"--circuits d=3,p=0.1.stim --seed {seed} --quiet --save_resume_filepath {name}"
        )
    for files, place in (("a.csv b.csv", "b.csv, line 2"), ("a.csv a.csv", "a.csv, line 2")):
        done = folder.call(OURS[:-1], f"combine {files}", code=2)
        assert f"{place}: there is an estimate of the same circuit in a.csv, line 2" in done.stderr
        assert "estimates are not added up" in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
    # One is passed on as it is, by Sinter, too; and what Sinter adds to itself gives itself away.
    sinters = [str(Path(sys.executable).with_name("sinter")), "combine"]
    assert folder.call([*OURS[:-1], "combine"], "a.csv").stdout == (folder.path / "a.csv").read_text()
    assert folder.run(sinters, "a.csv").stdout == (folder.path / "a.csv").read_text()
    (folder.path / "twice.csv").write_text(folder.run(sinters, "a.csv a.csv").stdout)
    done = folder.call(OURS[:-1], "combine twice.csv", code=2)
    assert "twice.csv, line 2: an estimate that was added to itself" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_interrupts(folder: Folder, number: signal.Signals) -> None:
    write_curve(folder)
    cultivation_circuit(distance=5, p=2e-3).to_file(folder.path / "d=5,g=T,p=0.002.stim")
    arguments = f"--circuits d=3,g=T,p=0.001.stim d=5,g=T,p=0.002.stim {SAVED} --relative_error 2e-4"
    process = folder.start(ESTIMATE, arguments)
    assert process.stderr is not None
    while "] d=5,g=T" not in process.stderr.readline():  # which is being computed then
        assert process.poll() is None
    assert (folder.path / "stats.csv.lock").exists()
    os.kill(process.pid, number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert "Interrupted. Run the same command again" in stderr
    assert "Traceback" not in stderr
    assert len(folder.rows()) == 1
    assert not (folder.path / "stats.csv.lock").exists()


def test_wrong_tool_is_said_and_the_others_are_computed(folder: Folder) -> None:
    for p in (1e-4, 2e-2):
        cultivation_circuit(distance=5, p=p).to_file(folder.path / f"d=5,p={p}.stim")
    done = folder.run(
        ESTIMATE, f"--circuits d=5,p=0.0001.stim d=5,p=0.02.stim {SAVED} --relative_error 0.3", code=1
    )
    assert "d=5,p=0.02.stim: Fault sets are the wrong tool for this circuit" in done.stderr
    (stats,) = folder.stats()
    assert stats.json_metadata["p"] == 1e-4
    # 1.657e-12 exactly (arXiv 2609.18922); the seed is fixed.
    assert error_rate(stats).best == pytest.approx(1.657e-12, rel=0.3)


def test_combinations_of_observables(folder: Folder) -> None:
    (folder.path / "d=2.stim").write_text(
        "X_ERROR(0.25) 0\nX_ERROR(0.5) 1\nM 0 1 2\nDETECTOR rec[-1]\n"
        "OBSERVABLE_INCLUDE(0) rec[-3]\nOBSERVABLE_INCLUDE(1) rec[-2]"
    )
    folder.call(ESTIMATE, f"--circuits d=2.stim {SAVED}")
    (stats,) = folder.stats()
    assert stats.json_metadata["estimate"]["error_patterns"] == pytest.approx(
        {"E_": 0.125, "_E": 0.375, "EE": 0.125}
    )


def test_circuit_that_keeps_no_shot(folder: Folder) -> None:
    (folder.path / "d=0.stim").write_text(
        "X 0\nM 0\nDETECTOR rec[-1]\nX_ERROR(0.1) 1\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    done = folder.call(ESTIMATE, f"--circuits d=0.stim d=3,p=0.1.stim {SAVED}")
    assert len(folder.stats()) == 2, done.stderr


DECODED = [*OURS[:-1], "estimate"]
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
    folder.call(DECODED, arguments)
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
    again = folder.call(DECODED, arguments)
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
    folder.call(DECODED, f"--decoders mine {custom} --circuits {' '.join(names)} {ARGUMENTS}")
    # One circuit is printed, by the same name; PyMatching itself has the same rate.
    alike = "--relative_error 0.2 --seed 1 --in"
    printed = folder.call(DECODED, f"--decoder mine {custom} {alike} {names[0]}").stdout
    known = folder.call(DECODED, f"--decoder pymatching {alike} {names[0]}").stdout
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
    folder.call(DECODED, f"--decoders pymatching --circuits {names[0]} {ARGUMENTS}")
    saved = (folder.path / "rates.csv").read_text()
    (folder.path / "d=3,p=0.008.stim").write_text(str(surface_code(0.008)))
    endless = f"--circuits d=3,p=0.008.stim {ARGUMENTS.replace('0.2', '1e-4')}"
    command = folder.start(DECODED, f"--decoders pymatching-correlated --threads 2 {endless}")
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
    folder.call(DECODED, f'{arguments} --postselected_detectors_predicate "index==0"')
    [row] = rows_of(folder).values()
    circuit, facts = repetition_code(NOISE[0]), row.json_metadata["estimate"]
    mask = np.arange(circuit.num_detectors) == 0
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask=mask, relative_error=0.2, seed=facts["seed"]
    )
    assert (facts["kept"], facts["kept_and_wrong"]) == (rate.kept, rate.kept_and_wrong)
    folder.call(DECODED, arguments)
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
    folder.call(DECODED, arguments)
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
    assert "in the file already" in folder.call(DECODED, arguments).stderr


EXPECTED = UNSEEN * (1 - READOUT) + 0.5 * READOUT
NUMBERS = "LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))"


@pytest.fixture
def circuit(tmp_path: Path) -> str:
    path = tmp_path / "d=1.stim"
    snc.Circuit(CIRCUIT).to_file(path)
    return str(path)


@pytest.mark.parametrize("state", ["T", NUMBERS])
def test_estimate_of_a_state(circuit: str, state: str, tmp_path: Path) -> None:
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
