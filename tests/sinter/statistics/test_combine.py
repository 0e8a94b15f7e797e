"""`python -m sinter_plugin combine` counts nothing twice, and adds up what Sinter's workers write."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import sinter

from sinter_plugin.__main__ import main

ROW = sinter.TaskStats(
    "id", "soft_postselect", {"p": 0.1}, 1000, 27, 405, 0.5, custom_counts=Counter(survivors=595)
)


def row(**changes: object) -> sinter.TaskStats:
    stats = ROW.with_edits(**changes)  # type: ignore[arg-type]
    return stats.with_edits(custom_counts=Counter(survivors=stats.shots - stats.discards))


SHORT = row(shots=16, errors=0, discards=0, seconds=0.0)
OTHERS = [
    row(shots=20_000 + k, errors=500 + 7 * k, discards=8000 + k, seconds=1.0 + 0.01 * k) for k in range(9)
]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: list[sinter.TaskStats]) -> list[str]:
    for name, rows in files.items():
        lines = [sinter.CSV_HEADER, *(each.to_csv_line() for each in rows), ""]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    return [f"{name}.csv" for name in files]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of a refusal, which is one line; nothing is printed."""
    assert main(["combine", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def added(arguments: list[str], capsys: pytest.CaptureFixture[str], folder: Path) -> sinter.TaskStats:
    assert main(["combine", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    (folder / "sum.csv").write_text(out)
    [stats] = sinter.read_stats_from_csv_files(folder / "sum.csv")
    return stats


def test_copies_of_numbered_shots_are_refused(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where a copy was continued, and its rows differ."""
    ranges = [
        {"survivors": 595, "seed=7 shots=0:1000": 1000},
        {"seed=7 shots=500:1500": 1000, "survivors": 595},
    ]
    rows = [ROW.with_edits(custom_counts=Counter(counts)) for counts in ranges]
    files = write(written, a=rows[:1], b=rows[1:])
    assert "line 2: the shots 500 to 999 of seed 7 are counted 2 times" in refused(files, capsys)


def test_a_file_that_is_named_twice(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [path] = write(written, a=[ROW, *OTHERS])
    (written / "link.csv").symlink_to(path)
    for again in (path, "./a.csv", "link.csv"):
        assert f"{again} has the rows of a.csv" in refused([path, again], capsys)


def test_short_rows_that_are_equal_by_chance(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sinter's workers write such rows, in one file and in several."""
    files = write(written, a=[OTHERS[0], SHORT, SHORT, OTHERS[1]], b=[OTHERS[2], SHORT, OTHERS[3]])
    rows = [*OTHERS[:4], *[SHORT] * 3]
    stats = added(files, capsys, written)
    assert stats.shots == sum(each.shots for each in rows)
    assert stats.errors == sum(each.errors for each in rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "is empty"), (f"{sinter.CSV_HEADER}\n{ROW.to_csv_line()}"[:-3], "line 2: the line does not end")],
)
def test_files_that_are_cut(
    content: str,
    message: str,
    written: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if they come from standard input."""
    (written / "a.csv").write_text(content)
    assert message in refused(["a.csv"], capsys)
    with (written / "a.csv").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert message in refused([], capsys)


def test_options_are_those_of_sinter(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worse = row(errors=300).with_edits(strong_id="worse", json_metadata={"p": 0.01})
    files = write(written, a=[worse], b=[ROW])
    for arguments, first in (([], 0.01), (["--order", "error"], 0.1), (["--order=preserve"], 0.01)):
        assert main(["combine", *arguments, *files]) == 0
        assert f'""p"":{first}}}' in capsys.readouterr().out.splitlines()[1]
    assert main(["combine", *files, "--strip_custom_counts"]) == 0
    assert "survivors" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["combine", "--help"])
    assert "refuses shots that are counted twice" in " ".join(capsys.readouterr().out.split())
