"""Counts of a seed are the same however its shots are split into ranges, and in whatever order they come."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sinter

import sinter_plugin
from sinter_plugin import range_collection
from sinter_plugin.__main__ import main
from sinter_plugin.local_workers import local_workers
from sinter_plugin.range_jobs import BLOCK_SHOTS, RangeCounts, RangeJob, TaskPackage, run_job
from sinter_plugin.range_run import RangeRun
from sinter_plugin.statistics.shot_ranges import ranges_in

from ..support.range_cases import circuit_file, counts, task_of, whole_run, with_range
from ..support.sinter_runs import OURS, Folder, is_alive, wait_until, workers_of

POSTSELECT = sinter_plugin.sinter_samplers()["soft_postselect"]
SAMPLERS = {
    "soft_postselect": POSTSELECT,
    "combinations": sinter_plugin.SoftPostselectSampler(count_observable_error_combos=True),
    "soft_pymatching": sinter_plugin.SoftDecodingSampler(warn=False),
    "without_store": sinter_plugin.SoftDecodingSampler(
        warn=False, store_bytes=0, count_observable_error_combos=True
    ),
}


class DisorderlyWorkers:
    """Workers who return what they have in random order, and redo some of it."""

    def __init__(self, slots: int, seed: int) -> None:
        self._slots = slots
        self._random = random.Random(seed)
        self._results: dict[int, RangeCounts] = {}
        self._waiting: list[tuple[int, Callable[[int], None]]] = []
        self.jobs: list[RangeJob] = []

    def num_slots(self) -> int:
        # Looking at the workers is what the loop does first: time passes.
        self._random.shuffle(self._waiting)
        keep = self._random.randrange(len(self._waiting)) if self._waiting else 0
        while len(self._waiting) > keep:
            number, done = self._waiting.pop()
            done(number)
        return self._slots

    def start(self, package: TaskPackage, job: RangeJob, done: Callable[[int], None]) -> int:
        number = len(self.jobs)
        self.jobs.append(job)
        for _ in range(self._random.randrange(1, 3)):  # the first worker may have died over it
            self._results[number] = run_job(package, job)
        self._waiting.append((number, done))
        return number

    def result(self, number: int) -> RangeCounts:
        return self._results.pop(number)

    def cancel(self, numbers: Sequence[int]) -> None:
        pass


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers whose time passes only when somebody looks are looked at often."""
    monkeypatch.setattr(range_collection, "_TICK_SECONDS", 1e-3)


def run(task: sinter.Task, sampler: object, workers: object, **arguments: object) -> sinter.TaskStats:
    limits = {"max_shots": None, "max_errors": None, **arguments}
    [stats] = RangeRun(workers, [(task, sampler)], **limits).run()  # type: ignore[arg-type, list-item]
    return stats


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", SAMPLERS)
def test_any_order_gives_the_shots_of_one_call(name: str, tmp_path: Path) -> None:
    task = task_of(circuit_file(tmp_path), name)
    expected = with_range(whole_run(task, SAMPLERS[name], 5, 200_500), 5)
    assert expected[1] > 100
    for slots in (1, 3, 7):
        workers = DisorderlyWorkers(slots, seed=slots)
        found = run(task, SAMPLERS[name], workers, seed=5, max_shots=200_500)
        assert counts(found) == expected
        assert len(workers.jobs) > 3
    other = run(task, SAMPLERS[name], DisorderlyWorkers(2, 0), seed=6, max_shots=200_500)
    assert counts(other)[:3] != expected[:3]


def first_blocks(task: sinter.Task, name: str, reached: Callable[[sinter.AnonTaskStats], bool]) -> int:
    """How many blocks a run takes that looks at its counts after every block."""
    sampler = TaskPackage.of(SAMPLERS[name], task, 5).compiled()
    total = sinter.AnonTaskStats()
    while not reached(total):
        total += sampler.sample_range(total.shots, BLOCK_SHOTS)
    return total.shots // BLOCK_SHOTS


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["soft_postselect", "soft_pymatching"])
@pytest.mark.parametrize("key", [None, "survivors"])
def test_limit_for_errors_ends_with_the_block_of_the_last_one(
    name: str, key: str | None, tmp_path: Path
) -> None:
    task = task_of(circuit_file(tmp_path), name)
    wanted = 400 if key is None else 70_000
    blocks = first_blocks(task, name, lambda s: (s.errors if key is None else s.custom_counts[key]) >= wanted)
    assert blocks > 15
    expected = with_range(whole_run(task, SAMPLERS[name], 5, blocks * BLOCK_SHOTS), 5)
    for slots in (1, 2, 5):
        workers = DisorderlyWorkers(slots, seed=slots)
        found = run(task, SAMPLERS[name], workers, seed=5, max_errors=wanted, error_key=key)
        assert counts(found) == expected
        taken = sum(job.shots for job in workers.jobs)
        assert taken < 4 * found.shots  # what is dropped and done twice is no multiple


def test_run_is_resumed_where_it_ended(tmp_path: Path) -> None:
    """With other limits each time, also inside a block; the last one is that of errors."""
    path = circuit_file(tmp_path)
    task = task_of(path, "soft_postselect")
    save = tmp_path / "stats.csv"
    common = ["collect", "--circuits", str(path), "--decoders", "soft_postselect", "--quiet"]
    common += ["--processes", "1", "--save_resume_filepath", str(save), "--metadata_func"]
    common += ["{'path': 'a.stim'}", "--seed", "5"]
    blocks = first_blocks(task, "soft_postselect", lambda s: s.errors >= 700)
    for shots in ("5000", "7001", "7001"):
        assert main([*common, "--max_shots", shots]) == 0
    for _ in range(2):
        assert main([*common, "--max_shots", "1_000_000_000", "--max_errors", "700"]) == 0
    [stats] = sinter.read_stats_from_csv_files(save)
    assert stats.shots == blocks * BLOCK_SHOTS
    ends = {one.end for one in ranges_in(stats.custom_counts)}
    assert ends == {stats.shots}
    expected = whole_run(task, POSTSELECT, 5, stats.shots)
    assert (stats.errors, stats.discards) == (expected.errors, expected.discards)


def test_tasks_of_a_seed_have_different_shots(tmp_path: Path) -> None:
    a, b = (task_of(circuit_file(tmp_path, name), "soft_postselect") for name in ("a.stim", "b.stim"))
    one, other = (whole_run(task, POSTSELECT, 5, 100_000) for task in (a, b))
    assert counts(one)[:3] != counts(other)[:3]


def test_200_shards_add_up_to_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = circuit_file(tmp_path)
    common = ["collect", "--circuits", str(path), "--decoders", "soft_postselect", "soft_pymatching"]
    common += ["--seed", "9", "--max_shots", "300_123", "--processes", "1", "--quiet"]
    files = []
    for part in range(1, 201):
        files.append(str(tmp_path / f"part{part}.csv"))
        assert main([*common, "--shard", f"{part}/200", "--save_resume_filepath", files[-1]]) == 0
    one = str(tmp_path / "one.csv")
    assert main([*common, "--save_resume_filepath", one]) == 0
    random.Random(1).shuffle(files)
    assert main(["combine", one]) == 0
    expected = capsys.readouterr().out.splitlines()
    assert main(["combine", *files]) == 0
    found = capsys.readouterr().out.splitlines()
    assert len(found) == 3
    assert "seed=9 shots=0:300123" in found[1]

    def without_seconds(row: str) -> list[str]:
        values = row.split(",")
        return values[:3] + values[4:]

    assert list(map(without_seconds, found)) == list(map(without_seconds, expected))
    # A part that is counted twice, as a file or inside the sum of others.
    (tmp_path / "sum.csv").write_text("\n".join([*found, ""]))
    for doubled in ([files[0], files[1], files[0]], [files[7], str(tmp_path / "sum.csv")]):
        assert main(["combine", *doubled]) == 2
        output = capsys.readouterr()
        assert not output.out
        assert "of seed 9 are counted 2 times" in output.err
        assert doubled[0] in output.err
    # Sinter adds up what it should not; that is found later.
    twice = tmp_path / "twice.csv"
    twice.write_text((tmp_path / "sum.csv").read_text() + found[1] + "\n")
    assert main(["combine", str(twice)]) == 2
    assert "are counted 2 times" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--shard 1/2 --max_shots 10", "--shard needs --seed"),
        ("--shard 1/2 --seed 1", "--shard needs --max_shots"),
        ("--shard 1/2 --seed 1 --max_shots 9 --max_errors 3", "--shard and --max_errors do not go together"),
        ("--shard 1/2 --seed 1 --dask local", "Leave out --shard or --dask"),
        ("--seed 1", "The run would never end"),
        ("--seed 1 --max_shots 9 --max_batch_size 5", "--max_batch_size has no meaning"),
        ("--seed 1 --max_shots 9 --decoders pymatching", "pymatching cannot take ranges"),
    ],
)
def test_arguments_that_contradict_each_other(
    arguments: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments.split()
    if "--decoders" not in given:
        given += ["--decoders", "soft_postselect"]
    assert main(["collect", "--circuits", str(circuit_file(tmp_path)), "--processes", "1", *given]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", ["--shard 0/5", "--shard 6/5", "--shard 3", "--seed -1", "--seed 1e3", "--max_seconds 0"]
)
def test_arguments_that_are_no_numbers(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["collect", *arguments.split()])
    assert "is not" in capsys.readouterr().err


def test_shots_of_another_part_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["collect", "--circuits", str(circuit_file(tmp_path)), "--decoders", "soft_postselect"]
    common += ["--seed", "1", "--max_shots", "20_000", "--processes", "1", "--quiet"]
    common += ["--save_resume_filepath", str(tmp_path / "stats.csv")]
    assert main([*common, "--shard", "2/2"]) == 0
    before = (tmp_path / "stats.csv").read_bytes()
    for other in (["--shard", "1/2"], []):
        assert main([*common, *other]) == 2
        assert "of seed 1, the shots 9216 to 19999 are counted already" in capsys.readouterr().err
    assert (tmp_path / "stats.csv").read_bytes() == before
    assert main([*common, "--seed", "2"]) == 0  # the last seed counts, and there are enough shots
    assert (tmp_path / "stats.csv").read_bytes() != before


def test_time_is_a_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = task_of(circuit_file(tmp_path), "soft_postselect")
    with local_workers(1) as workers:
        found = run(task, POSTSELECT, workers, seed=5, max_shots=10**15, max_seconds=1.0)
    assert 0 < found.shots < 10**12
    assert counts(found) == with_range(whole_run(task, POSTSELECT, 5, found.shots), 5)


ENDLESS = (
    "--circuits a.stim --decoders soft_postselect --processes 2 --max_shots 1_000_000_000_000_000"
    " --save_resume_filepath stats.csv --quiet --seed 5"
)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
@pytest.mark.parametrize("killed", ["worker", "parent"])
def test_nothing_is_lost_or_doubled_if_a_process_is_killed(folder: Folder, killed: str) -> None:
    path = circuit_file(folder.path)
    process = folder.start(OURS, ENDLESS)
    wait_until(lambda: folder.shots() > 10_000)
    workers = workers_of(process.pid)
    assert len(workers) == 2
    if killed == "parent":
        process.kill()
        process.communicate()
    else:
        os.kill(workers[0], signal.SIGKILL)
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "A worker process died" in stderr
        assert "Traceback" not in stderr
    wait_until(lambda: not any(map(is_alive, workers)))
    more = folder.shots() + 500_000
    folder.run(OURS, ENDLESS.replace("1_000_000_000_000_000", str(more)))
    [stats] = folder.stats()
    expected = whole_run(
        sinter_plugin.task(path, decoder="soft_postselect", json_metadata={"path": "a.stim"}),
        POSTSELECT,
        5,
        more,
    )
    assert counts(stats)[:3] == counts(expected)[:3]
