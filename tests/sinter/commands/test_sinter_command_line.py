"""The Sinter plugin on the command line, run as a user runs it: what it collects, and decoders that fail."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest
import sinter

from ...support.processes.sinter_runs import (
    BARE_ERROR_IF_KEPT,
    ERROR_IF_KEPT,
    KEPT_BY_ALL,
    KEPT_BY_MASK,
    OURS,
    SINTER,
    T_CIRCUIT,
    Folder,
    assert_rate,
    ours_first,
    wait_until,
)


@ours_first
def test_collects_what_is_true_of_the_t_circuit(folder: Folder, command: list[str]) -> None:
    arguments = (
        "--circuits d=3,p=0.1.stim --decoders soft_postselect --metadata_func auto --processes 2"
        " --max_shots 100_000 --quiet --save_resume_filepath "
    )
    folder.run(command, arguments + "all.csv")
    folder.run(command, arguments + "mask.csv --postselect_detectors_with_non_zero_4th_coord")
    for name, kept in (("all.csv", KEPT_BY_ALL), ("mask.csv", KEPT_BY_MASK)):
        (stats,) = folder.stats(name)
        assert stats.json_metadata == {"d": 3, "p": 0.1}
        assert stats.decoder == "soft_postselect"
        assert stats.shots == 100_000  # never more than asked for
        survivors = stats.shots - stats.discards
        assert stats.custom_counts["survivors"] == survivors
        assert_rate(survivors, stats.shots, kept)
        assert_rate(stats.errors, survivors, ERROR_IF_KEPT)


both_samplers = pytest.mark.parametrize(
    "sampler", ["soft_postselect", pytest.param("soft_pymatching", marks=pytest.mark.slow)]
)


@both_samplers
@ours_first
def test_resumes_after_an_interrupt(folder: Folder, command: list[str], sampler: str) -> None:
    arguments = (
        f"--circuits d=3,p=0.1.stim --decoders {sampler} --processes 2 --save_resume_filepath stats.csv"
    )
    process = folder.start(command, arguments + " --max_shots 1_000_000_000_000")
    wait_until(lambda: folder.shots() > 10_000)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal
    _, stderr = process.communicate(timeout=30)
    if command is OURS:
        # Sinter itself says so only if the interrupt comes while it waits, and not while it writes a row.
        assert "Interrupted" in stderr
    assert process.returncode == (130 if command is OURS else 0)

    saved = folder.shots()
    assert saved > 0
    folder.run(command, arguments + f" --max_shots {saved + 1000}")
    assert folder.shots() == saved + 1000
    (stats,) = folder.stats()
    assert_rate(stats.errors, stats.shots - stats.discards, ERROR_IF_KEPT)

    # Enough is there: nothing is added.
    before = (folder.path / "stats.csv").read_text()
    folder.run(command, arguments + " --max_shots 1000")
    assert (folder.path / "stats.csv").read_text() == before


@pytest.mark.slow
@pytest.mark.parametrize("command", [[SINTER[0]], OURS[:-1]], ids=["sinter", "sinter_plugin"])
def test_plots(folder: Folder, command: list[str]) -> None:
    stats = sinter.TaskStats("id", "soft_postselect", {"d": 3, "p": 0.001}, 10_000, 100, 2000)
    (folder.path / "stats.csv").write_text(f"{sinter.CSV_HEADER}\n{stats.to_csv_line()}\n")
    arguments = "plot --in stats.csv --group_func \"f'd={m.d}'\" --fig_size 400 300"
    folder.run(command, arguments + " --x_func m.p --xaxis '[log]p' --out over_p.png")
    assert (folder.path / "over_p.png").read_bytes().startswith(b"\x89PNG")


def row_of(folder: Folder, arguments: str) -> sinter.TaskStats:
    """The row of 20,000 shots of `python -m sinter_plugin collect`."""
    common = "--decoders soft_postselect --max_shots 20_000 --processes 1 --quiet"
    folder.run(OURS, f"{arguments} {common} --save_resume_filepath stats.csv")
    [row] = folder.stats()
    return row


class TestCollectOfThePlugin:
    """What `python -m sinter_plugin collect` does beyond `sinter collect`."""

    def test_collects_circuits_that_sinter_refuses(self, folder: Folder) -> None:
        row = row_of(folder, "--circuits bare.stim")
        assert row.shots == 20_000
        assert_rate(row.discards, row.shots, 0.25)
        assert_rate(row.errors, row.shots - row.discards, BARE_ERROR_IF_KEPT)

    def test_sampler_for_gpus_says_what_it_needs(self, folder: Folder) -> None:
        folder.hide_gpus()
        arguments = "--circuits d=3,p=0.1.stim --decoders soft_postselect_gpu --max_shots 10 --processes 1"
        done = folder.run(OURS, arguments, code=2)
        assert "A worker could not sample a circuit: engine='gpu' needs" in done.stderr

    def test_keeps_the_users_own_decoders(self, folder: Folder) -> None:
        (folder.path / "mine.py").write_text(
            "import sinter_plugin\n"
            "def samplers():\n"
            "    return {'mine': sinter_plugin.SoftPostselectSampler()}\n"
        )
        # The folder is on the path of `python -m`. The argument may be shortened.
        folder.run(
            OURS,
            "--circuits d=3,p=0.1.stim --decoders mine soft_postselect --custom_decoders mine:samplers"
            " --max_shots 1000 --processes 1 --quiet --save_resume_filepath stats.csv",
        )
        assert {row.decoder for row in folder.stats()} == {"mine", "soft_postselect"}

    def test_detectors_without_a_fourth_coordinate_are_not_postselected(self, folder: Folder) -> None:
        (folder.path / "short.stim").write_text(T_CIRCUIT.replace("(1, 0, 0, 0)", "(1, 0)"))
        row = row_of(folder, "--circuits short.stim --postselect_detectors_with_non_zero_4th_coord")
        assert_rate(row.shots - row.discards, row.shots, KEPT_BY_MASK)

    def test_observable_zero_can_be_postselected(self, folder: Folder) -> None:
        row = row_of(folder, "--circuits d=3,p=0.1.stim --postselected_observables_predicate 'index == 0'")
        assert row.errors == 0
        assert_rate(row.shots - row.discards, row.shots, KEPT_BY_ALL * (1 - ERROR_IF_KEPT))

    def test_counts_combinations_of_flips(self, folder: Folder) -> None:
        row = row_of(folder, "--circuits d=3,p=0.1.stim --count_observable_error_combos")
        assert 0 < row.errors == row.custom_counts["obs_mistake_mask=E"]

    def test_counts_detection_events(self, folder: Folder) -> None:
        row = row_of(folder, "--circuits d=3,p=0.1.stim --count_detection_events")
        assert row.custom_counts["detectors_checked"] == 3 * row.shots
        assert_rate(row.discards, row.shots, 1 - KEPT_BY_ALL)
        assert row.custom_counts["detection_events"] >= row.discards


def test_without_arguments_prints_help(folder: Folder) -> None:
    done = folder.run(OURS[:-1], "")
    assert "python -m sinter_plugin collect --circuits" in done.stdout
    assert "strong_id" not in done.stdout
    done = folder.call(OURS[:-1], "colect", code=2)
    assert "Not a command: colect" in done.stderr


def test_time_limit_of_a_run(folder: Folder) -> None:
    arguments = "--circuits d=3,p=0.1.stim --decoders soft_postselect --processes 1 --quiet"
    arguments += " --max_shots 1_000_000_000_000 --max_seconds 1.5 --save_resume_filepath stats.csv"
    done = folder.run(OURS, arguments)
    assert (
        done.stderr == "The time is up. Run the same command again to continue from the saved statistics.\n"
    )
    before = folder.shots()
    assert 0 < before < 1_000_000_000_000
    folder.run(OURS, arguments)
    assert folder.shots() > before


def test_log_of_a_run_without_a_terminal(folder: Folder) -> None:
    """One line for the first hour, and one at the end."""
    arguments = "--circuits d=3,p=0.1.stim bare.stim --decoders soft_postselect --processes 1"
    done = folder.run(OURS, f"{arguments} --max_shots 2_000_000 --save_resume_filepath stats.csv")
    assert [row.shots for row in folder.stats()] == [2_000_000] * 2
    assert len(re.findall(r"^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d  ", done.stderr, re.MULTILINE)) == 2
    assert "\x1b" not in done.stderr


MODULE = """
import os, sys
import sinter

class Failing(sinter.Decoder):
    def __init__(self, how):
        self.how = how

    def compile_decoder_for_dem(self, *, dem):
        if self.how == "compiling":
            return dem.nothing
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data):
        if self.how == "abort":
            os.abort()
        if self.how == "leaving":
            os._exit(5)
        if self.how == "ending":
            sys.exit(3)
        if self.how == "raising":
            raise KeyError("lost")
        return bit_packed_detection_event_data[:, :1] * 0

def decoders():
    return {how: Failing(how) for how in ("compiling", "abort", "leaving", "ending", "raising", "fine")}
"""
OWN = " --custom_decoders_module_function failing:decoders"


@pytest.mark.parametrize(
    ("how", "processes", "code", "message"),
    [
        ("compiling", 1, 2, "The sampler soft_compiling failed with AttributeError: "),
        ("ending", 1, 2, "Failing failed on the detection events "),
        ("raising", 2, 2, "with KeyError: 'lost'. Shot "),
        ("abort", 2, 1, "ended with SIGABRT: a library in it, for example a decoder, called abort."),
        ("leaving", 2, 1, "ended itself with exit code 5"),
    ],
)
def test_collect_with_a_decoder_that_fails(
    folder: Folder, how: str, processes: int, code: int, message: str
) -> None:
    (folder.path / "failing.py").write_text(MODULE)
    folder.environment["PYTHONPATH"] += f":{folder.path}"
    arguments = f"--circuits d=3,p=0.1.stim --max_shots 2000 --quiet --processes {processes} --decoders {how}"
    error = folder.run(OURS, arguments + OWN, code=code).stderr
    assert message in error
    assert "lack of memory" not in error
    assert "Traceback" not in error


def test_predict_with_decoders_of_ones_own(folder: Folder) -> None:
    (folder.path / "failing.py").write_text(MODULE)
    folder.environment["PYTHONPATH"] += f":{folder.path}"
    (folder.path / "model.dem").write_text("error(0.1) D0 L0\n")
    (folder.path / "dets.01").write_text("0\n1\n")
    files = "--dem model.dem --dets dets.01 --dets_format 01 --obs_out obs.01 --obs_out_format 01"
    for name, code, found in (
        ("soft_pymatching", 0, "0\n1\n"),
        ("fine", 0, "0\n0\n"),
        ("raising", 2, "The decoder raising failed with KeyError: 'lost'."),
        ("nothing", 2, "There is no decoder 'nothing'."),
        ("soft_postselect", 2, "soft_postselect does not decode."),
    ):
        done = folder.run([*OURS[:-1], "predict"], f"{files} --decoder {name}" + OWN, code=code)
        assert "Traceback" not in done.stderr
        assert found in (done.stderr if code else (folder.path / "obs.01").read_text())


def test_a_program_from_standard_input(folder: Folder) -> None:
    program = (
        "import sinter_plugin\n"
        "task = sinter_plugin.task('d=3,p=0.1.stim', decoder='soft_postselect')\n"
        "sinter_plugin.collect([task], num_workers=2, max_shots=10)\n"
    )
    done = subprocess.run(
        [sys.executable],
        input=program,
        cwd=folder.path,
        env=folder.environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "use one worker, which is a thread: num_workers=1." in done.stderr.splitlines()[-1]
