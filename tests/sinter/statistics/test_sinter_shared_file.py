"""A file of statistics that two runs save to, or that is replaced or changed while a run saves to it."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sinter

from sinter_plugin.statistics import file_lock
from sinter_plugin.statistics.statistics_file import StatisticsFile, StatisticsFileError

from ...support.processes.sinter_runs import OURS, SINTER, Folder, wait_until

COLLECT = (
    "--circuits d=3,p=0.1.stim --decoders soft_postselect --processes 1 --quiet --max_batch_seconds 1"
    " --save_resume_filepath stats.csv --max_shots "
)
ENDLESS = COLLECT + "1_000_000_000_000_000"
ROW = sinter.TaskStats(strong_id="a", decoder="b", json_metadata=None, shots=1).to_csv_line()


def opened(path: Path, said: list[str] | None = None) -> StatisticsFile:
    return StatisticsFile(path, say=[].append if said is None else said.append)


class TestTwoRuns:
    def test_second_run_is_refused(self, folder: Folder) -> None:
        first = folder.start(OURS, ENDLESS)
        wait_until(lambda: folder.shots() > 0)
        second = folder.run(OURS, ENDLESS, code=2)
        assert "error: stats.csv is in use: another process has locked it" in second.stderr
        assert "Or save to another file with another seed, and add both up with" in second.stderr
        before = folder.shots()
        wait_until(lambda: folder.shots() > before)  # The first one goes on.

        # However it ends, its lock ends with it.
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=60)
        assert (folder.path / "stats.csv.lock").exists()
        saved = folder.shots()
        folder.run(OURS, f"{COLLECT} {saved + 1000}")
        assert folder.shots() == saved + 1000
        assert not (folder.path / "stats.csv.lock").exists()

    def test_many_take_the_lock_in_turn(self, tmp_path: Path) -> None:
        """Of eight threads that take it again and again, no two have it at once: each deletes the file of the lock."""
        path, holders, taken = tmp_path / "stats.csv", [], []

        def take() -> None:
            deadline = time.monotonic() + 1
            while time.monotonic() < deadline:
                try:
                    lock = file_lock.FileLock(path)
                except file_lock.FileInUseError:
                    continue
                holders.append(lock)
                assert holders == [lock]
                taken.append(lock)
                holders.remove(lock)
                lock.release()

        with ThreadPoolExecutor(8) as threads:
            for call in [threads.submit(take) for _ in range(8)]:
                call.result()
        assert len(taken) > 8

    @pytest.mark.skipif(shutil.which("flock") is None, reason="needs the command flock")
    def test_command_flock_takes_the_same_lock(self, folder: Folder) -> None:
        plain = folder.start([shutil.which("flock") or "", "--nonblock", "stats.csv.lock", *SINTER], ENDLESS)
        wait_until(lambda: folder.shots() > 0)
        refused = folder.run(OURS, ENDLESS, code=2)
        assert "stats.csv is in use: another process has locked it" in refused.stderr
        assert plain.poll() is None

    def test_another_name_of_the_file_does_not_help(self, tmp_path: Path) -> None:
        path = tmp_path / "stats.csv"
        with opened(path):
            (tmp_path / "symbolic.csv").symlink_to("stats.csv")
            with pytest.raises(file_lock.FileInUseError, match=r"symbolic\.csv is in use: another"):
                opened(tmp_path / "symbolic.csv")
        with opened(tmp_path / "symbolic.csv"):
            pass

    def test_goes_on_where_files_cannot_be_locked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def no_locks(file: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(file_lock, "_lock", no_locks)
        said: list[str] = []
        with opened(tmp_path / "stats.csv", said):
            pass
        (message,) = said
        assert "stats.csv cannot be locked on its file system (No locks available)" in message

    def test_rows_must_not_be_counted_twice(self, folder: Folder) -> None:
        (folder.path / "stats.csv").write_text(f"{sinter.CSV_HEADER}\n")
        done = folder.run(OURS, f"{COLLECT} 2000 --existing_data_filepaths ./stats.csv", code=2)
        assert "its rows would be counted twice" in done.stderr


class TestChangedDuringTheRun:
    """No row that was saved is lost, and none is counted twice."""

    def ended(self, folder: Folder, run: object) -> str:
        stderr: str = run.communicate(timeout=60)[1]  # type: ignore[attr-defined]
        assert run.returncode == 1, stderr  # type: ignore[attr-defined]
        assert "Traceback" not in stderr
        assert not (folder.path / "stats.csv.lock").exists()
        return stderr

    def test_other_program_appends(self, folder: Folder) -> None:
        """As `sinter collect`, which does not ask for the lock."""
        run = folder.start(OURS, ENDLESS)
        wait_until(lambda: folder.shots() > 0)
        with (folder.path / "stats.csv").open("a") as file:
            print(ROW, file=file)
        stderr = self.ended(folder, run)
        assert "stats.csv was changed by another program during the run, which was stopped" in stderr
        assert "b" in {stat.decoder for stat in folder.stats()}

    def test_other_program_appends_while_rows_are_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On a busy disk, that takes long."""
        path = tmp_path / "stats.csv"
        with opened(path):
            pass
        before = path.read_text()
        fsync = os.fsync

        def slow(descriptor: int) -> None:
            fsync(descriptor)
            path.write_text(f"{before}{ROW}\n")

        new = sinter.TaskStats(strong_id="c", decoder="d", json_metadata=None, shots=1)
        with opened(path) as file, monkeypatch.context() as patched:
            patched.setattr(os, "fsync", slow)
            with pytest.raises(StatisticsFileError, match="was changed by another program"):
                file.save([new])
        assert path.read_text() == f"{before}{ROW}\n"
        assert [each.name for each in tmp_path.iterdir()] == ["stats.csv"]

    @pytest.mark.parametrize("change", ["deleted", "replaced", "nothing missing", "nothing"])
    def test_at_the_end_of_the_run(self, change: str, tmp_path: Path) -> None:
        path = tmp_path / "stats.csv"
        path.write_text(f"{sinter.CSV_HEADER}\n{ROW}\n{ROW}\n")
        new = {"replaced": f"{sinter.CSV_HEADER}\n{ROW}\n", "nothing missing": f"{path.read_text()}{ROW}\n"}

        def run() -> None:
            with opened(path):
                if change != "nothing":
                    path.unlink()
                if change in new:
                    path.write_text(new[change])

        if change.startswith("nothing"):
            run()
            return
        with pytest.raises(StatisticsFileError, match=change.replace("replaced", "changed")):
            run()
        num_missing = {"deleted": 2, "replaced": 1}[change]
        rescued = (tmp_path / "stats.csv.rescued-1").read_text()
        assert rescued == "\n".join([sinter.CSV_HEADER, *[ROW] * num_missing, ""])

    def test_rescued_rows_never_replace_older_ones(self, tmp_path: Path) -> None:
        path = tmp_path / "stats.csv"
        for number in (1, 2):
            path.write_text(f"{sinter.CSV_HEADER}\n" + f"{ROW}\n" * number)
            with pytest.raises(StatisticsFileError, match=f"rescued-{number}"), opened(path):
                path.unlink()
        assert (tmp_path / "stats.csv.rescued-1").read_text().count("\n") == 2
