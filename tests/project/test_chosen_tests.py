"""Which tests run when: the slow ones by the date, and those of a room."""

import importlib.machinery
import importlib.util
from datetime import date, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from ..support.seeds import DAYS, runs_on

ROOT = Path(__file__).parents[2]
FILE = "tests/simulation/oracle/test_oracle.py"
"""Its test of random circuits has the seeds 0 to 19, of which the first three are quick."""


def collected(request: pytest.FixtureRequest) -> list[str]:
    """The names of the tests of the file that pytest would run, by the hook that it has found in tests/."""
    file = str(ROOT / "tests" / "conftest.py")
    plugins = request.config.pluginmanager.get_plugins()
    [hooks] = [plugin for plugin in plugins if getattr(plugin, "__file__", None) == file]
    items = list(pytest.Module.from_parent(request.session, path=ROOT / FILE).collect())
    left_out: list[pytest.Item] = []
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)))
    everything = set(items)
    hooks.pytest_collection_modifyitems(config, items)
    assert {*items, *left_out} == everything
    return [item.nodeid for item in items]


@pytest.mark.parametrize("first", [date(2026, 11, 29), date(2028, 2, 25)])
def test_each_slow_test_runs_once_in_ten_days(first: date) -> None:
    names = [f"tests/a/test_b.py::test_c[{number}]" for number in range(1000)]
    days = [first + timedelta(days=number) for number in range(DAYS)]
    shares = [[name for name in names if runs_on(day, name)] for day in days]
    assert sorted(name for share in shares for name in share) == sorted(names)
    # Of a binomial distribution with mean 100 and standard deviation 9.5; the names are always the same.
    assert 70 < min(map(len, shares)) <= max(map(len, shares)) < 130
    assert shares[0] == [name for name in names if runs_on(first + timedelta(days=DAYS), name)]


def test_pytest_runs_the_share_of_the_day(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick, *slow = [f"{FILE}::test_random_circuits[{seed}]" for seed in (0, *range(3, 20))]
    days = [date(2026, 11, 29) + timedelta(days=number) for number in range(DAYS)]
    [day] = [each for each in days if runs_on(each, slow[0])]
    share = [name for name in slow if runs_on(day, name)]
    monkeypatch.setenv("STIM_NONCLIFFORD_SLOW_DAY", day.isoformat())
    found = collected(request)
    assert [name for name in found if name in slow] == share != slow
    assert quick in found


def module() -> ModuleType:
    """The script .ci/rooms."""
    path = str(ROOT / ".ci" / "rooms")
    loader = importlib.machinery.SourceFileLoader("ci_rooms", path)
    spec = importlib.util.spec_from_loader("ci_rooms", loader)
    assert spec
    found = importlib.util.module_from_spec(spec)
    loader.exec_module(found)
    return found


def test_every_folder_of_code_has_a_room() -> None:
    """Or is among the parts that all rooms use, or is run by the tests of commands and pages."""
    rooms = module()
    folders = {
        path.parent.relative_to(ROOT).as_posix()
        for package in rooms.PACKAGES
        for path in (ROOT / package).rglob("*.*")
        if path.suffix in (".py", ".cc", ".h", ".cu") and "__pycache__" not in path.parts
    }
    assert len(folders) > 60
    without = {folder for folder in folders if rooms.room_of(f"{folder}/any.py") is None}
    assert without == {"stim_nonclifford", "stim_nonclifford/base"}
    assert {rooms.room_of(f"{folder}/any.py") for folder in folders - without} <= set(rooms.rooms())
    assert set(rooms.NATIVE.values()) <= set(rooms.rooms())


def test_paths_of_rooms() -> None:
    rooms = module()
    assert rooms.paths_of(["dialect"], []) == ["tests/dialect", "stim_nonclifford/dialect", *rooms.ALWAYS]
    assert rooms.paths_of(["sinter/runs"], [])[:2] == ["tests/sinter/runs", "sinter_plugin/runs"]
    changed = [
        "docs/index.md",
        "stim_nonclifford/native/rates/matching/graph.cc",
        "tests/dialect/test_gates.py",
    ]
    assert rooms.paths_of([], changed) == [
        "tests/dialect/test_gates.py", "tests/rates", "stim_nonclifford/rates", *rooms.ALWAYS
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="no room dialekt in tests/"):
        rooms.paths_of(["dialekt"], [])
