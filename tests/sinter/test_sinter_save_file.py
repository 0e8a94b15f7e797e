"""Files of statistics that are broken, cut off or full."""

from __future__ import annotations

import collections
import io
import sys
from pathlib import Path

import pytest
import sinter

from sinter_plugin.rows import check_rows
from sinter_plugin.save_file import SaveFile

from ..support.sinter_runs import OURS, SINTER, Folder, both_commands

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
    with SaveFile(path, survivor_counters=["soft_postselect", "mine"], say=said.append):
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
        ([MORE_POSTSELECTED, POSTSELECTED, POSTSELECTED], "\n"),
        ([POSTSELECTED, NONE_KEPT, NONE_KEPT], "\n"),
        ([COMBINATIONS, POSTSELECTED, COMBINATIONS], "\n"),
        ([DECODED, MORE_DECODED, DECODED, MORE_DECODED], "\n"),
        ([COUNTED, COUNTED, COUNTED], "\n"),
        ([DECODED, POSTSELECTED, DECODED], "\r\n"),
        ([POSTSELECTED], "\n"),
    ],
)
def test_cut_after_every_byte_of_the_last_two_lines(rows: list[str], newline: str, tmp_path: Path) -> None:
    """What is whole is counted, once; the rest is not, not in part either; and the next row can be added."""
    path = tmp_path / "stats.csv"
    data = text_of(*rows, newline=newline)
    # Where the header, the first row, the second row ... end, without the newline.
    ends = [
        len(text_of(*rows[:num_rows], newline=newline)) - len(newline) for num_rows in range(len(rows) + 1)
    ]
    expected = [statistics_in(text_of(*rows[:num_rows], POSTSELECTED)) for num_rows in range(len(rows) + 1)]
    for cut in range(ends[-3] + len(newline) if len(rows) > 1 else 0, len(data) + 1):
        path.write_bytes(data[:cut])
        said = open_save_file(path)
        with path.open("a") as file:
            print(POSTSELECTED, file=file)

        num_whole = max(sum(end <= cut for end in ends) - 1, 0)
        assert statistics_in(path.read_bytes()) == expected[num_whole], cut
        # Who reads the messages knows what was done.
        is_untouched = data[:cut].endswith(b"\n") or cut == 0
        assert len(said) == (not is_untouched)
        if said:
            number = data[:cut].count(b"\n") + 1
            assert said[0].startswith(f"{path}, line {number}: ")


def test_intact_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    for data in (
        text_of(),
        text_of(POSTSELECTED, "", DECODED, COUNTED, ""),
        text_of(DECODED, newline="\r\n"),
    ):
        path.write_bytes(data)
        assert open_save_file(path) == []
        assert path.read_bytes() == data


@pytest.mark.parametrize(
    "tail", [b"\0" * 4096, b"   1000,\0\0\0\0", POSTSELECTED.encode()[:99] + b"\xff\xc3"]
)
def test_what_a_crash_of_the_system_leaves_behind_is_dropped(tail: bytes, tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    path.write_bytes(text_of(POSTSELECTED) + tail)
    (message,) = open_save_file(path)
    assert message.startswith(f"{path}, line 3: the line was cut off and has been dropped")
    assert path.read_bytes() == text_of(POSTSELECTED)


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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"not,statistics\n1,2\n", "line 1: the first line names the columns"),
        (b"\n", "line 1: the first line names the columns"),
        (text_of().replace(b",custom_counts", b"") + b"1,0,0,1,a,b,3\n", "add it"),
        (text_of().replace(b"shots", b"SHOTS"), "line 1: the first line names the columns"),
        # It may be whole, or its custom_counts may be missing: no other row says.
        (
            text_of(POSTSELECTED, DECODED)[:-1],
            "line 3: the line does not end with a newline, and custom_counts may have been cut off",
        ),
    ],
)
def test_other_files_are_refused_and_not_changed(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"line \d") as raised:
        open_save_file(path)
    assert message in str(raised.value)
    assert path.read_bytes() == data


def test_places_where_nothing_can_be_saved_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        open_save_file(tmp_path)
    with pytest.raises(ValueError, match="/dev/null is not a regular file"):
        open_save_file(Path("/dev/null"))
    with pytest.raises(FileNotFoundError):
        open_save_file(tmp_path / "no" / "folder" / "stats.csv")


def test_long_lines_are_shortened_in_messages(tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    path.write_bytes(text_of("1," * 100_000, DECODED))
    with pytest.raises(ValueError, match="100001 values") as raised:
        open_save_file(path)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("tail", [row("x", 1, 0, 35)[:-1], row("x", 1, 0, 35)[:-1] + "\n"])
def test_files_of_other_columns_can_be_read(tail: str) -> None:
    """Sinter did not always write custom_counts; and a number without an end may be the half of one."""
    lines = [line.encode() for line in (sinter.CSV_HEADER.replace(",custom_counts", "\n"), tail)]
    if tail.endswith("\n"):
        assert check_rows(lines, "old.csv") is None
    else:
        with pytest.raises(ValueError, match="json_metadata may have been cut off"):
            check_rows(lines, "old.csv")


def with_largest_file(size: int, command: list[str]) -> list[str]:
    """A command whose files cannot get larger, as on a disk that is full: in the midst of a write."""
    limit = f"""
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
os.execv(sys.argv[1], sys.argv[1:])
"""
    return [sys.executable, "-c", limit, *command]


@both_commands
def test_goes_on_after_a_full_disk(folder: Folder, command: list[str]) -> None:
    endless = COLLECT + SAVE + " --max_shots 1_000_000_000_000"
    done = folder.run(with_largest_file(400, command), endless, code=1)
    path = folder.path / "stats.csv"
    if command is OURS:
        assert "stats.csv: File too large. The rows saved before are complete. Free some space" in done.stderr
        assert "Traceback" not in done.stderr
        assert "stats.csv, line 3: the line was cut off and has been dropped" in done.stderr
        assert path.read_text().endswith("\n")  # so that Sinter alone can go on, too
    else:
        assert path.stat().st_size == 400
        assert not path.read_text().endswith("\n")
    whole = statistics_in(path.read_bytes()[: path.read_bytes().rindex(b"\n") + 1])[0].shots
    assert whole > 0

    if command is OURS:  # As long as there is no room, nothing more is lost.
        folder.run(with_largest_file(400, command), endless, code=1)
        assert folder.shots() == whole
    folder.run(SINTER if command is OURS else OURS, f"{COLLECT}{SAVE} --max_shots {whole + 1000}")
    assert folder.shots() == whole + 1000


def test_goes_on_after_a_cut(folder: Folder) -> None:
    path = folder.path / "stats.csv"
    path.write_bytes(text_of(POSTSELECTED, MORE_POSTSELECTED)[:-20])
    done = folder.run(OURS, f"{COLLECT}{SAVE} --max_shots 5000")
    assert "stats.csv, line 3: the line was cut off and has been dropped" in done.stderr
    assert folder.shots() == 123456 + 5000


@pytest.mark.parametrize("argument", ["--save_resume_filepath", "--existing_data_filepaths"])
def test_broken_file_is_reported_before_anything_is_sampled(folder: Folder, argument: str) -> None:
    path = folder.path / "stats.csv"
    data = text_of(POSTSELECTED[:70] + POSTSELECTED, POSTSELECTED)
    path.write_bytes(data)
    done = folder.run(OURS, f"{COLLECT} --max_shots 5000 {argument} stats.csv", code=2)
    assert "error: stats.csv, line 2: not a row of statistics" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_bytes() == data


def test_cut_file_of_existing_data_is_reported_and_not_changed(folder: Folder) -> None:
    data = text_of(POSTSELECTED, POSTSELECTED)[:-9]
    (folder.path / "old.csv").write_bytes(data)
    done = folder.run(OURS, f"{COLLECT} --max_shots 5000 --existing_data_filepaths old.csv", code=2)
    assert "error: old.csv, line 3: the line was cut off" in done.stderr
    assert (folder.path / "old.csv").read_bytes() == data
