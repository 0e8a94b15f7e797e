"""`python -m sinter_plugin estimate`, run as a user runs it, and the counts that it writes."""

from __future__ import annotations

import csv
import math
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin.equivalent_counts import equivalent_counts
from sinter_plugin.save_file import SaveFile
from stim_nonclifford.cultivation import cultivation_circuit

from .sinter_runs import (
    BARE_ERROR_IF_KEPT,
    ERROR_IF_KEPT,
    KEPT_BY_ALL,
    OURS,
    T_CIRCUIT,
    Folder,
)

ESTIMATE = [*OURS[:-1], "estimate"]
SAVED = "--threads 2 --seed 1 --metadata_func auto --save_resume_filepath stats.csv"


def result(
    rate: float, error: float, interval: tuple[float, float], kept: float = 0.25
) -> snc.LogicalErrorRate:
    return snc.LogicalErrorRate(
        kept=kept,
        kept_and_wrong=rate * kept,
        standard_error=error,
        interval=interval,
        coverage=0.95,
        weights=(),
        unexplored=0.0,
        observable_flips=np.array([rate * kept]),
        error_patterns={1: rate * kept},
        seconds=1.0,
    )


class TestEquivalentCounts:
    @pytest.mark.parametrize("rate", [0.3, 1e-3, 3.3e-9, 1e-15, 1e-30])
    @pytest.mark.parametrize("relative_error", [0.3, 0.01, 1e-4])
    def test_estimate_and_standard_error(self, rate: float, relative_error: float) -> None:
        error = rate * relative_error
        counts = equivalent_counts(result(rate, error, (rate - 2 * error, rate + 2.1 * error)))
        kept = counts.shots - counts.discards
        # Counts are whole numbers.
        assert counts.errors / kept == pytest.approx(rate, rel=0.51 / kept)
        binomial_error = math.sqrt(rate * (1 - rate) / kept)
        assert binomial_error == pytest.approx(error, rel=0.51 / counts.errors + 1e-6)
        assert kept / counts.shots == pytest.approx(0.25, rel=1e-2 if kept < 1000 else 1e-6)

    def test_counts_beyond_64_bits_are_read_back(self, tmp_path: Path) -> None:
        counts = equivalent_counts(result(1e-20, 1e-22, (0.98e-20, 1.02e-20)))
        assert counts.shots > 2**64
        stats = sinter.TaskStats("id", "soft_fault_sets", {}, counts.shots, counts.errors, counts.discards)
        path = tmp_path / "stats.csv"
        path.write_text(f"{sinter.CSV_HEADER}\n{stats.to_csv_line()}\n")
        assert sinter.read_stats_from_csv_files(path) == [stats]

    def test_exact_rate(self) -> None:
        counts = equivalent_counts(result(1e-9, 0.0, (1e-9 * (1 - 1e-9), 1e-9 * (1 + 1e-9))))
        assert counts.errors == 10**12
        assert counts.errors / (counts.shots - counts.discards) == pytest.approx(1e-9, rel=1e-12)

    def test_exact_zero(self) -> None:
        counts = equivalent_counts(result(0.0, 0.0, (0.0, 0.0)))
        assert counts.errors == 0
        assert counts.shots - counts.discards == 10**30

    @pytest.mark.parametrize("limit", [0.5, 1e-3, 1e-12, 1e-25])
    def test_upper_limit_is_that_of_clopper_and_pearson(self, limit: float) -> None:
        counts = equivalent_counts(result(0.0, 0.0, (0.0, limit)))
        kept = counts.shots - counts.discards
        assert counts.errors == 0
        assert scipy.stats.beta.ppf(0.975, 1, float(kept)) == pytest.approx(
            limit, rel=1.1 / kept + 1e-9, abs=0
        )

    def test_what_was_not_looked_at_takes_errors_away(self) -> None:
        """The interval of the counts reaches two thirds as far, and Sinter's error bars farther than both."""
        for high in (1.2e-9, 2e-9, 5e-9):
            counts = equivalent_counts(result(1e-9, 0.0, (1e-9, high)))
            kept = counts.shots - counts.discards
            limit = scipy.stats.beta.ppf(0.975, counts.errors + 1, kept - counts.errors)
            assert limit - 1e-9 >= (high - 1e-9) / 1.5 * (1 - 0.5 / counts.errors)
            assert counts.errors / kept == pytest.approx(1e-9, rel=1e-6)
            bar = sinter.fit_binomial(num_shots=kept, num_hits=counts.errors, max_likelihood_factor=1000)
            assert bar.high > high
        # So much is not known that one error would be too many.
        counts = equivalent_counts(result(1e-14, 0.0, (1e-14, 1e-6)))
        assert counts.errors == 0
        assert scipy.stats.beta.ppf(0.975, 1, counts.shots - counts.discards) == pytest.approx(1e-6, rel=1e-5)

    def test_extremes(self) -> None:
        counts = equivalent_counts(result(1.0, 0.0, (1.0, 1.0)))
        assert counts.errors == counts.shots - counts.discards
        assert equivalent_counts(result(0.0, 0.0, (0.0, 1.0), kept=0.0)).discards == 1
        assert equivalent_counts(result(0.0, 0.0, (0.0, 1.0))).errors == 0
        large = equivalent_counts(result(1e-9, 3e-9, (1e-10, 6e-9)))
        assert large.errors == 0


def test_exact_values_with_and_without_mask(folder: Folder) -> None:
    arguments = "--circuits d=3,p=0.1.stim --metadata_func auto --quiet --seed 7 --save_resume_filepath "
    folder.run(ESTIMATE, arguments + "all.csv")
    partial = arguments + "mask.csv --postselect_detectors_with_non_zero_4th_coord"
    refused = folder.run(ESTIMATE, partial, code=2)
    assert "1 of 3 detectors is neither postselected nor decoded (the first is D1)" in refused.stderr
    folder.run(ESTIMATE, arguments + "mask.csv --postselected_detectors_predicate 'index < 3'")
    folder.run(ESTIMATE, arguments + "zero.csv --postselected_observables_predicate 'index == 0'")
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
        assert estimate["seed"] == 7
        assert estimate["seconds"] >= 0
        survivors = stats.shots - stats.discards
        assert stats.custom_counts == {"survivors": survivors}
        assert survivors / stats.shots == pytest.approx(kept, abs=1e-9)
        assert stats.errors / survivors == pytest.approx(rate, abs=1e-9)
        ids.add(stats.strong_id)
    assert len(ids) == 3
    # The same circuit without noise in the observable: an exact zero.
    assert folder.stats("zero.csv")[0].errors == 0


def test_bare_gates_and_standard_output(folder: Folder) -> None:
    done = folder.run(ESTIMATE, "--circuits bare.stim --seed 1")
    (row,) = csv.DictReader(done.stdout.splitlines(), skipinitialspace=True)
    rate = int(row["errors"]) / (int(row["shots"]) - int(row["discards"]))
    assert rate == pytest.approx(BARE_ERROR_IF_KEPT, abs=1e-9)
    assert "bare.stim: logical error rate per kept shot 0.15 (exact)" in done.stderr


def write_curve(folder: Folder) -> None:
    for p in (0.001, 0.002, 0.005):
        for gate in ("T", "S"):
            circuit = cultivation_circuit(distance=3, p=p, gate=gate)  # type: ignore[arg-type]
            circuit.to_file(folder.path / f"d=3,g={gate},p={p}.stim")


def test_curves_are_resumed_and_improved(folder: Folder) -> None:
    """One enumeration for T gates, one for the S-proxy; nothing twice; better rows replace worse ones."""
    write_curve(folder)
    t_files = "d=3,g=T,p=0.002.stim d=3,g=T,p=0.005.stim"
    folder.run(ESTIMATE, f"--circuits {t_files} {SAVED} --relative_error 0.3 --quiet")
    all_files = f"d=3,g=T,p=0.001.stim {t_files} d=3,g=S,p=0.002.stim d=3,g=S,p=0.005.stim"
    done = folder.run(ESTIMATE, f"--circuits {all_files} {SAVED} --relative_error 0.3")
    assert "[1/2] d=3,g=T,p=0.001.stim\n" in done.stderr  # the only one that is left of the curve
    assert "[2/2] d=3,g=S,p=0.002.stim and 1 that differ in noise strength only" in done.stderr
    assert done.stderr.count("in the file already") == 2
    before = (folder.path / "stats.csv").read_bytes()
    folder.run(ESTIMATE, f"--circuits {all_files} {SAVED} --relative_error 0.3")
    assert (folder.path / "stats.csv").read_bytes() == before

    worse = {row.strong_id: row.json_metadata["estimate"] for row in folder.stats()}
    folder.run(ESTIMATE, f"--circuits {all_files} {SAVED} --relative_error 0.004")
    stats = folder.stats()
    assert len(folder.rows()) == len(stats) == len(worse) == 5
    improved = 0
    for row in stats:
        better, known = row.json_metadata["estimate"], worse[row.strong_id]
        assert better["standard_error"] <= 0.004 * better["logical_error_rate"]
        # 6 sigma is a false alarm in 10^9 runs; the seed is fixed besides.
        difference = better["logical_error_rate"] - known["logical_error_rate"]
        assert abs(difference) <= 6 * known["standard_error"] + 1e-9 * known["logical_error_rate"]
        # Somewhat more where the interval reaches far up.
        relative_error = max(1e-6, better["standard_error"] / better["logical_error_rate"])
        reach = better["interval"][1] / better["logical_error_rate"] - 1
        assert 0.999 * relative_error <= row.errors**-0.5 <= 1.01 * max(relative_error, reach / 1.96)
        improved += better != known
    assert improved >= 1
    assert not list(folder.path.glob("*.new")) + list(folder.path.glob("*.lock"))


def test_row_with_a_narrower_interval_stays(folder: Folder) -> None:
    folder.run(ESTIMATE, f"--circuits d=3,p=0.1.stim {SAVED}")
    (stats,) = folder.stats()
    facts = stats.json_metadata["estimate"]
    facts |= {"asked_relative_error": 1e9, "standard_error": 1e9, "interval": [ERROR_IF_KEPT, ERROR_IF_KEPT]}
    (folder.path / "stats.csv").write_text(f"{sinter.CSV_HEADER}\n{stats.to_csv_line()}\n")
    done = folder.run(ESTIMATE, f"--circuits d=3,p=0.1.stim {SAVED}")
    assert "The row in the file stays" in done.stderr
    assert folder.stats() == [stats]


def test_rows_of_counts_and_estimates_share_a_file_and_a_plot(folder: Folder) -> None:
    """Exact values, exact zeros, upper limits and numbers beyond 64 bits are plotted without a warning."""
    generated = "surface_code:rotated_memory_z"
    stim.Circuit.generated(generated, distance=7, rounds=3, after_clifford_depolarization=1e-3).to_file(
        folder.path / "d=7,p=0.001.stim"
    )
    stim.Circuit.generated(generated, distance=3, rounds=2, before_round_data_depolarization=1e-9).to_file(
        folder.path / "d=3,p=1e-9.stim"
    )
    (folder.path / "d=3,p=0.2.stim").write_text(T_CIRCUIT.replace("X_ERROR(0.1) 0 3", "X_ERROR(0.1) 3"))
    files = "d=3,p=0.1.stim d=3,p=0.2.stim d=3,p=1e-9.stim d=7,p=0.001.stim"
    folder.run(ESTIMATE, f"--circuits {files} {SAVED} --max_seconds 1e-6")
    folder.run(
        OURS,
        "--circuits d=3,p=0.1.stim --decoders soft_postselect --processes 1 --quiet --max_shots 1000"
        " --metadata_func auto --save_resume_filepath stats.csv",
    )
    stats = {(row.decoder, row.json_metadata["d"], row.json_metadata["p"]): row for row in folder.stats()}
    assert len(stats) == 5
    counted = stats["soft_postselect", 3, 0.1]
    assert counted.shots == 1000
    assert counted.strong_id != stats["soft_fault_sets", 3, 0.1].strong_id
    assert stats["soft_fault_sets", 3, 0.2].shots >= 10**30  # an exact zero
    assert stats["soft_fault_sets", 3, 1e-9].shots > 2**64
    limit = stats["soft_fault_sets", 7, 0.001]
    assert limit.errors == 0
    assert limit.shots < 10**12
    arguments = (
        "plot --in stats.csv --x_func m.p --xaxis '[log]p' --group_func \"f'{decoder} d={m.d}'\""
        " --fig_size 800 400 --out "
    )
    for command in ([str(Path(sys.executable).with_name("sinter"))], OURS[:-1]):
        done = folder.run(command, arguments + "plot.png")
        assert done.stderr == ""
        assert (folder.path / "plot.png").read_bytes().startswith(b"\x89PNG")
        (folder.path / "plot.png").unlink()


def test_estimates_of_two_files_are_not_added(folder: Folder) -> None:
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        folder.run(ESTIMATE, f"--circuits d=3,p=0.1.stim --seed {seed} --quiet --save_resume_filepath {name}")
    done = folder.run(OURS[:-1], "combine a.csv b.csv", code=2)
    assert "b.csv: a row has the strong_id of another one, but other metadata" in done.stderr
    assert "estimates are not added up" in done.stderr
    assert done.stderr.count("\n") == 1


def test_interrupts(folder: Folder) -> None:
    write_curve(folder)
    cultivation_circuit(distance=5, p=2e-3).to_file(folder.path / "d=5,g=T,p=0.002.stim")
    arguments = f"--circuits d=3,g=T,p=0.001.stim d=5,g=T,p=0.002.stim {SAVED} --relative_error 2e-4"
    for number in (signal.SIGINT, signal.SIGTERM):
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


def test_locked_file(folder: Folder) -> None:
    with SaveFile(folder.path / "stats.csv", survivor_counters=(), say=print):
        done = folder.run(ESTIMATE, f"--circuits d=3,p=0.1.stim {SAVED}", code=2)
        assert f"stats.csv is in use: another run saves to it (process {os.getpid()}" in done.stderr
    folder.run(ESTIMATE, f"--circuits d=3,p=0.1.stim {SAVED}")


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_last_row_that_was_cut_off_is_computed_again(folder: Folder, cut: int) -> None:
    (folder.path / "d=3,p=0.3.stim").write_text(T_CIRCUIT.replace("0.25", "0.3"))
    folder.run(ESTIMATE, f"--circuits d=3,p=0.1.stim d=3,p=0.3.stim {SAVED}")
    path = folder.path / "stats.csv"
    (first, second) = folder.stats()
    path.write_bytes(path.read_bytes()[:-cut])
    done = folder.run(ESTIMATE, f"--circuits d=3,p=0.1.stim d=3,p=0.3.stim {SAVED}")
    assert (
        "newline at the end was missing" in done.stderr or "was cut off and has been dropped" in done.stderr
    )
    assert [row.strong_id for row in folder.stats()] == [first.strong_id, second.strong_id]
    assert [row.shots for row in folder.stats()] == [first.shots, second.shots]


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
    assert stats.errors / (stats.shots - stats.discards) == pytest.approx(1.657e-12, rel=0.3)


def test_combinations_of_observables(folder: Folder) -> None:
    (folder.path / "d=2.stim").write_text(
        "X_ERROR(0.25) 0\nX_ERROR(0.5) 1\nM 0 1 2\nDETECTOR rec[-1]\n"
        "OBSERVABLE_INCLUDE(0) rec[-3]\nOBSERVABLE_INCLUDE(1) rec[-2]"
    )
    folder.run(ESTIMATE, f"--circuits d=2.stim {SAVED}")
    (stats,) = folder.stats()
    assert stats.json_metadata["estimate"]["error_patterns"] == pytest.approx(
        {"E_": 0.125, "_E": 0.375, "EE": 0.125}
    )


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("H 0\nTT 0", "", "wrong.stim: Line 2"),
        ("M 0\nDETECTOR rec[-1]", "", "wrong.stim: The circuit has no observables"),
        (T_CIRCUIT, "--metadata_func '3'", "must yield a dictionary"),
        (T_CIRCUIT, "--metadata_func \"{'estimate': 1}\"", "must yield a dictionary"),
        (T_CIRCUIT, "--postselected_detectors_predicate 'index > 9'", "none of the circuit's detectors"),
        (T_CIRCUIT, "--postselected_detectors_predicate 'coords[4]'", "on detector 0"),
        (T_CIRCUIT, "--relative_error 0", "argument --relative_error: 0 is not positive"),
        (T_CIRCUIT, "--relative_error x", "'x' is not a number"),
        (T_CIRCUIT, "--threads 0", 'neither a positive integer nor "auto"'),
        (T_CIRCUIT, "--seed -1", "-1 is not in range(2**64)"),
        (T_CIRCUIT, "--max_shots 10", "unrecognized arguments: --max_shots"),
        (None, "", "No such file"),
    ],
)
def test_wrong_input_is_reported(folder: Folder, text: str | None, arguments: str, message: str) -> None:
    if text is not None:
        (folder.path / "wrong.stim").write_text(text)
    done = folder.run(ESTIMATE, f"--circuits wrong.stim {arguments}", code=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_circuit_that_keeps_no_shot(folder: Folder) -> None:
    (folder.path / "d=0.stim").write_text(
        "X 0\nM 0\nDETECTOR rec[-1]\nX_ERROR(0.1) 1\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    done = folder.run(ESTIMATE, f"--circuits d=0.stim d=3,p=0.1.stim {SAVED}")
    assert len(folder.stats()) == 2, done.stderr


class TestPut:
    def row(self, strong_id: str, shots: int) -> str:
        return sinter.TaskStats(strong_id, "soft_fault_sets", {"p": shots}, shots).to_csv_line()

    def test_rows_are_replaced_and_the_file_stays_locked(self, tmp_path: Path) -> None:
        path = tmp_path / "stats.csv"
        path.touch(mode=0o640)
        link = tmp_path / "link.csv"
        link.symlink_to("stats.csv")
        with SaveFile(link, survivor_counters=(), say=print) as save_file:
            save_file.put(self.row("a", 1), "a")
            save_file.put(self.row("b", 2), "b")
            save_file.put(self.row("a", 3), "a")
            with pytest.raises(OSError, match="is in use"):
                SaveFile(path, survivor_counters=(), say=print)
            save_file.put(self.row("c", 4), "c")
        stats = sinter.read_stats_from_csv_files(path)
        assert {row.strong_id: row.shots for row in stats} == {"a": 3, "b": 2, "c": 4}
        assert link.is_symlink()
        assert path.stat().st_mode & 0o777 == 0o640
        assert sorted(each.name for each in tmp_path.iterdir()) == ["link.csv", "stats.csv"]

    def test_full_disk_while_a_row_is_replaced(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "stats.csv"

        def no_space(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        with SaveFile(path, survivor_counters=(), say=print) as save_file:
            save_file.put(self.row("a", 1), "a")
        monkeypatch.setattr(os, "fsync", no_space)

        def replace() -> None:
            with SaveFile(path, survivor_counters=(), say=print) as save_file:
                save_file.put(self.row("a", 2), "a")

        with pytest.raises(RuntimeError, match="The rows saved before are complete"):
            replace()
        assert [row.shots for row in sinter.read_stats_from_csv_files(path)] == [1]
        assert [each.name for each in tmp_path.iterdir()] == ["stats.csv"]
