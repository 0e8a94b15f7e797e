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
ROW, OTHER = (
    sinter.TaskStats(strong_id=name, decoder="b", json_metadata=None, shots=1).to_csv_line() for name in "ae"
)


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


def test_another_program_changes_the_file(folder: Folder) -> None:
    """As `sinter collect`, which does not ask for the lock: the run ends, and its rows are saved beside it."""
    run = folder.start(OURS, ENDLESS)
    wait_until(lambda: folder.shots() > 0)
    with (folder.path / "stats.csv").open("a") as file:
        print(ROW, file=file)
    stderr = run.communicate(timeout=60)[1]
    assert run.returncode == 1, stderr
    assert "Traceback" not in stderr
    assert not (folder.path / "stats.csv.lock").exists()
    assert "stats.csv was changed by another program during the run, which was stopped" in stderr
    assert "b" in {stat.decoder for stat in folder.stats()}
    [rescued] = folder.stats("stats.csv.rescued-1")
    assert rescued.shots > 0


@pytest.mark.parametrize("change", ["deleted", "changed", "changed while rows are written"])
def test_rows_are_rescued_and_replace_no_older_ones(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stats.csv"
    new = sinter.TaskStats(strong_id="c", decoder="d", json_metadata=None, shots=1)
    fsync = os.fsync

    def changed(descriptor: int | None = None) -> None:
        path.unlink() if change == "deleted" else path.write_text(f"{sinter.CSV_HEADER}\n{ROW}\n")

    for number in (1, 2):
        path.write_text(f"{sinter.CSV_HEADER}\n{ROW}\n{OTHER}\n")
        with opened(path) as file, monkeypatch.context() as patched:
            if "while" in change:
                patched.setattr(os, "fsync", lambda descriptor: (fsync(descriptor), changed()))
            else:
                changed()
            for _ in range(2):  # as at the end of a run, which tries again
                with pytest.raises(StatisticsFileError, match=rf"{change[:7]}.*\.rescued-{number}\."):
                    file.save([new])
        lost = [OTHER, new.to_csv_line()]
        expected = [sinter.CSV_HEADER, *([ROW] if change == "deleted" else []), *lost]
        assert Path(f"{path}.rescued-{number}").read_text().splitlines() == expected
        assert path.exists() == (change != "deleted")
    assert len(list(tmp_path.iterdir())) == 2 + (change != "deleted")
