"""Files of statistics that are broken, cut off or full, that two runs save to, or that another program changes."""

from __future__ import annotations

import collections
import errno
import io
import os
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sinter

from sinter_plugin.statistics import statistics_file
from sinter_plugin.statistics.csv_rows import read_rows
from sinter_plugin.statistics.statistics_file import (
    FileInUseError,
    FileLock,
    StatisticsFile,
    StatisticsFileError,
)

from ...support.processes.sinter_runs import OURS, SINTER, Folder, wait_until

COLLECT = "--circuits d=3,p=0.1.stim --decoders soft_postselect --processes 1 --quiet"
SAVE = " --save_resume_filepath stats.csv"


def row(decoder: str, shots: int, discards: int, metadata: object, **counts: int) -> str:
    """A row as Sinter writes it, without its newline."""
    return sinter.TaskStats(
        strong_id=f"{decoder}{metadata!r:.3}",
        decoder=decoder,
        json_metadata=metadata,
        shots=shots,
        discards=discards,
        seconds=0.125,
        custom_counts=collections.Counter(counts),
    ).to_csv_line()


POSTSELECTED = row("soft_postselect", 123456, 100, {"p": 0.5, "d": 3}, survivors=123356)
MORE_POSTSELECTED = row("soft_postselect", 77, 70, [2, 3], survivors=7)
NONE_KEPT = row("soft_postselect", 1600, 1600, {"p": 0.5, "d": 3})
COMBINATIONS = row("mine", 1000, 10, 'a, "quoted" name', **{"obs_mistake_mask=E_": 3, "survivors": 990})
DECODED = row("pymatching", 34567, 0, {"p": 0.5})
MORE_DECODED = row("pymatching", 98765, 0, 357)
COUNTED = row("counting", 555, 0, None, detection_events=40, detectors_checked=555)


def open_save_file(path: Path) -> list[str]:
    """What is said when a run opens a file."""
    said: list[str] = []
    with StatisticsFile(path, say=said.append):
        pass
    return said


def text_of(*rows: str, newline: str = "\n") -> bytes:
    return "".join(line + newline for line in (sinter.CSV_HEADER, *rows)).encode()


def statistics_in(data: bytes) -> list[sinter.TaskStats]:
    stats = sinter.read_stats_from_csv_files(io.StringIO(data.decode()))
    return sorted(stats, key=lambda stat: stat.strong_id)


@pytest.mark.parametrize(
    ("rows", "newline"),
    [
        ([MORE_POSTSELECTED, NONE_KEPT, COMBINATIONS, "", DECODED, MORE_DECODED, COUNTED, COUNTED], "\n"),
        ([DECODED, POSTSELECTED, DECODED], "\r\n"),
    ],
)
def test_cut_after_every_byte_of_the_last_two_lines(rows: list[str], newline: str, tmp_path: Path) -> None:
    """Whole lines are counted; any other file is refused, with the line and the remedy, and not changed."""
    path = tmp_path / "stats.csv"
    data = text_of(*rows, newline=newline)
    num_read = 0
    for cut in range(1, len(data) + 1):
        path.write_bytes(data[:cut])
        if data[:cut].endswith(b"\n"):
            assert open_save_file(path) == []
            assert path.read_bytes() == data[:cut]
            num_read += 1
            continue
        number = data[:cut].count(b"\n") + 1
        message = (
            rf"line {number}: the line does not end with a newline.*Add the newline if the line is complete"
        )
        with pytest.raises(ValueError, match=message):
            open_save_file(path)
        assert path.read_bytes() == data[:cut]
    assert num_read == len(rows) + 1


@pytest.mark.parametrize(
    ("lines", "number", "message"),
    [
        ([POSTSELECTED[:50] + MORE_POSTSELECTED, DECODED], 2, "values instead of 8"),
        ([DECODED, DECODED + MORE_DECODED], 3, "15 values instead of 8"),
        ([DECODED, POSTSELECTED[:-30] + DECODED], 3, "expected after"),
        ([DECODED, POSTSELECTED[:-1]], 3, "unexpected end of data"),
        ([DECODED[:9], DECODED], 2, "1 value instead of 8"),
        # A cut row, and one of so many shots that there is no space before the number.
        ([POSTSELECTED.replace("    123456", "1230000123456")], 2, "survivors are not shots - discards"),
        ([DECODED.replace(" 34567", "-34567")], 2, "shots are"),
        ([DECODED.replace("0.125", "0.1.2")], 2, "seconds are '   0.1.2'"),
        (
            [row("a", 3, 3, None).replace("         0", "         1")],
            2,
            "more errors and discards than shots",
        ),
        ([POSTSELECTED.replace("123356", "123.5")], 2, "custom_counts are not whole numbers"),
        ([DECODED.replace('{""p"":0.5}', '{""p"":0.5')], 2, "json_metadata cannot be read as JSON"),
        ([DECODED, DECODED.replace("0.5", "0.6")], 3, "line 2 has the same strong_id but other metadata"),
        ([DECODED, "\0" * 40], 3, "1 value instead of 8"),
        (["one,two"], 2, "2 values instead of 8"),
    ],
)
def test_broken_line_is_named_and_nothing_is_changed(
    lines: list[str], number: int, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "stats.csv"
    data = text_of(*lines, POSTSELECTED)
    path.write_bytes(data)
    with pytest.raises(ValueError, match="Correct the line, or delete it and lose its shots") as raised:
        open_save_file(path)
    assert str(raised.value).startswith(f"{path}, line {number}: not a row of statistics, ")
    if sys.version_info >= (3, 11) or "\0" not in lines[-1]:  # Before, csv had no use for a NUL.
        assert message in str(raised.value)
    assert path.read_bytes() == data


def test_places_where_nothing_can_be_saved_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{tmp_path} is not a regular file"):
        open_save_file(tmp_path)
    with pytest.raises(ValueError, match="/dev/null is not a regular file"):
        open_save_file(Path("/dev/null"))
    with pytest.raises(FileNotFoundError):
        open_save_file(tmp_path / "no" / "folder" / "stats.csv")


def test_files_of_other_columns_can_be_read() -> None:
    """Sinter did not always write custom_counts."""
    content = sinter.CSV_HEADER.replace(",custom_counts", "\n") + row("x", 1, 0, 35)[:-1] + "\n"
    [read] = read_rows(content.encode(), "old.csv")
    assert read.stats.json_metadata == 35


def test_rows_of_a_task_become_one(tmp_path: Path) -> None:
    """Those of other tasks stay as they are, and what is saved twice, as after an interrupt, counts once."""
    path = tmp_path / "stats.csv"
    path.touch(mode=0o640)
    (tmp_path / "link.csv").symlink_to("stats.csv")
    path.write_bytes(text_of(MORE_POSTSELECTED, DECODED, MORE_POSTSELECTED))
    [old, *_] = statistics_in(text_of(MORE_POSTSELECTED))
    with StatisticsFile(tmp_path / "link.csv", say=print) as file:
        assert [each.shots for each in file.rows] == [77, 34567, 77]
        for shots in (5, 9, 9):
            file.save(
                [sinter.TaskStats(old.strong_id, old.decoder, old.json_metadata, shots=shots, errors=1)]
            )
        file.save([sinter.TaskStats("new", "b", None, shots=2)])
        file.save([sinter.TaskStats("new", "b", None, shots=3)], replacing=["new"])
    lines = path.read_text().splitlines()
    assert lines[2] == DECODED
    found = {each.strong_id: (each.shots, each.errors) for each in statistics_in(path.read_bytes())}
    assert len(lines) == 4
    assert found[old.strong_id] == (2 * 77 + 9, 1)
    assert found["new"] == (3, 0)
    assert (tmp_path / "link.csv").is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.csv", "stats.csv"]


def test_interrupt_at_any_moment_of_a_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has the old row or the new one, and the same save works afterwards."""
    path = tmp_path / "stats.csv"
    new = sinter.TaskStats("new", "b", None, shots=5)

    for name in ("fsync", "replace"):
        original = getattr(os, name)
        for before in (True, False):
            path.write_bytes(text_of(DECODED))
            with StatisticsFile(path, say=print) as file:

                def interrupted(*arguments: object, before: bool = before, original: Any = original) -> None:
                    if not before:
                        original(*arguments)
                    raise KeyboardInterrupt

                with monkeypatch.context() as patched:
                    patched.setattr(os, name, interrupted)
                    with pytest.raises(KeyboardInterrupt):
                        file.save([new])
                has_new = name == "replace" and not before
                assert path.read_text().count("\n") == 2 + has_new
                file.save([new])
            assert [each.shots for each in statistics_in(path.read_bytes())] == [5, 34567]
    assert [each.name for each in tmp_path.iterdir()] == ["stats.csv"]


def with_largest_file(size: int, command: list[str]) -> list[str]:
    """A command whose files cannot get larger, as on a disk that is full: in the midst of a write."""
    limit = f"""
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
os.execv(sys.argv[1], sys.argv[1:])
"""
    return [sys.executable, "-c", limit, *command]


def test_goes_on_after_a_full_disk(folder: Folder) -> None:
    """There is room for the row of one circuit, and not for that of the other: saved in one write or in two."""
    folder.call(OURS, f"{COLLECT}{SAVE} --max_shots 1000")
    (folder.path / "d=3,p=0.2.stim").write_text((folder.path / "d=3,p=0.1.stim").read_text())
    both = f"{COLLECT.replace('0.1.stim', '0.1.stim d=3,p=0.2.stim')}{SAVE} --max_shots "
    for _ in range(2):  # As long as there is no room, nothing is lost.
        done = folder.run(with_largest_file(400, OURS), both + "2000", code=1)
        assert "stats.csv: File too large. The rows saved before are complete. Free some space" in done.stderr
        assert "Traceback" not in done.stderr
        [saved] = folder.stats()
        assert saved.shots >= 1000
        assert [each.name for each in folder.path.glob("stats.csv*")] == ["stats.csv"]
    folder.run(OURS, both + "3000")
    assert [each.shots for each in folder.stats()] == [3000, 3000]


@pytest.mark.parametrize("argument", ["--save_resume_filepath", "--existing_data_filepaths"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (text_of(POSTSELECTED[:70] + POSTSELECTED, POSTSELECTED), "line 2: not a row of statistics"),
        (b"not,statistics\n1,2\n", "line 1: the first line must name the columns"),
        (text_of("1," * 100_000, DECODED), "line 2: not a row of statistics, 100001 values"),
    ],
)
def test_broken_file_is_reported_before_anything_is_sampled(
    folder: Folder, data: bytes, message: str, argument: str
) -> None:
    path = folder.path / "stats.csv"
    path.write_bytes(data)
    done = folder.call(OURS, f"{COLLECT} --max_shots 5000 {argument} stats.csv", code=2)
    assert f"error: stats.csv, {message}" in done.stderr
    assert len(done.stderr) < 3000
    assert path.read_bytes() == data


SHORT_BATCHES = (
    "--circuits d=3,p=0.1.stim --decoders soft_postselect --processes 1 --quiet --max_batch_seconds 1"
    " --save_resume_filepath stats.csv --max_shots "
)
ENDLESS = SHORT_BATCHES + "1_000_000_000_000_000"
LINE, OTHER_LINE = (
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
        folder.run(OURS, f"{SHORT_BATCHES} {saved + 1000}")
        assert folder.shots() == saved + 1000
        assert not (folder.path / "stats.csv.lock").exists()

    def test_many_take_the_lock_in_turn(self, tmp_path: Path) -> None:
        """Of eight threads that take it again and again, no two have it at once: each deletes the file of the lock."""
        path, holders, taken = tmp_path / "stats.csv", [], []

        def take() -> None:
            deadline = time.monotonic() + 1
            while time.monotonic() < deadline:
                try:
                    lock = FileLock(path)
                except FileInUseError:
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
            with pytest.raises(FileInUseError, match=r"symbolic\.csv is in use: another"):
                opened(tmp_path / "symbolic.csv")
        with opened(tmp_path / "symbolic.csv"):
            pass

    def test_goes_on_where_files_cannot_be_locked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def no_locks(file: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(statistics_file, "_lock", no_locks)
        said: list[str] = []
        with opened(tmp_path / "stats.csv", said):
            pass
        (message,) = said
        assert "stats.csv cannot be locked on its file system (No locks available)" in message

    def test_rows_must_not_be_counted_twice(self, folder: Folder) -> None:
        (folder.path / "stats.csv").write_text(f"{sinter.CSV_HEADER}\n")
        done = folder.run(OURS, f"{SHORT_BATCHES} 2000 --existing_data_filepaths ./stats.csv", code=2)
        assert "its rows would be counted twice" in done.stderr


def test_another_program_changes_the_file(folder: Folder) -> None:
    """As `sinter collect`, which does not ask for the lock: the run ends, and its rows are saved beside it."""
    run = folder.start(OURS, ENDLESS)
    wait_until(lambda: folder.shots() > 0)
    with (folder.path / "stats.csv").open("a") as file:
        print(LINE, file=file)
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
        path.unlink() if change == "deleted" else path.write_text(f"{sinter.CSV_HEADER}\n{LINE}\n")

    for number in (1, 2):
        path.write_text(f"{sinter.CSV_HEADER}\n{LINE}\n{OTHER_LINE}\n")
        with opened(path) as file, monkeypatch.context() as patched:
            if "while" in change:
                patched.setattr(os, "fsync", lambda descriptor: (fsync(descriptor), changed()))
            else:
                changed()
            for _ in range(2):  # as at the end of a run, which tries again
                with pytest.raises(StatisticsFileError, match=rf"{change[:7]}.*\.rescued-{number}\."):
                    file.save([new])
        lost = [OTHER_LINE, new.to_csv_line()]
        expected = [sinter.CSV_HEADER, *([LINE] if change == "deleted" else []), *lost]
        assert Path(f"{path}.rescued-{number}").read_text().splitlines() == expected
        assert path.exists() == (change != "deleted")
    assert len(list(tmp_path.iterdir())) == 2 + (change != "deleted")
