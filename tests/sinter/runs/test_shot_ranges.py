"""Counts of a seed are the same however its shots are split into ranges, and in whatever order they come."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin.__main__ import main
from sinter_plugin.runs import jobs
from sinter_plugin.runs.jobs import BLOCK_SHOTS, Job, PackedTask
from sinter_plugin.statistics.shot_ranges import ranges_in

from ...support.processes.range_cases import circuit_file, counts, task_of, whole_run, with_range
from ...support.processes.sinter_runs import OURS, Folder, is_alive, wait_until, workers_of

POSTSELECT = sinter_plugin.sinter_samplers()["soft_postselect"]
SAMPLERS = {
    "soft_postselect": POSTSELECT,
    "combinations": sinter_plugin.SoftPostselectSampler(count_observable_error_combos=True),
    "soft_pymatching": sinter_plugin.SoftDecodingSampler(warn=False),
    "without_store": sinter_plugin.SoftDecodingSampler(
        warn=False, store_bytes=0, count_observable_error_combos=True
    ),
}


class DisorderlyExecutor(ThreadPoolExecutor):
    """Workers who return what they have in random order, and do some of it twice."""

    def __init__(self, slots: int, seed: int) -> None:
        super().__init__(slots)
        self._random = random.Random(seed)
        self.jobs: list[Job] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs.append(args[1])
        delay, times = self._random.random() * 0.02, self._random.randrange(1, 3)

        def call() -> Any:
            for _ in range(times):  # the first worker may have died over it
                found = fn(*args, **kwargs)
            time.sleep(delay)
            return found

        return super().submit(call)


def run(task: sinter.Task, sampler: object, executor: Executor | None, **arguments: Any) -> sinter.TaskStats:
    [stats] = sinter_plugin.collect(
        [task], executor=executor, custom_decoders={task.decoder: sampler}, **arguments
    )
    return stats


# Threads that compile at the same time change the filters of warnings for each other.
@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
@pytest.mark.parametrize("name", SAMPLERS)
def test_any_order_gives_the_shots_of_one_call(name: str, tmp_path: Path) -> None:
    task = task_of(circuit_file(tmp_path), name)
    expected = with_range(whole_run(task, SAMPLERS[name], 5, 200_500), 5)
    assert expected[1] > 100
    for slots in (1, 3, 7):
        with DisorderlyExecutor(slots, seed=slots) as executor:
            found = run(task, SAMPLERS[name], executor, seed=5, max_shots=200_500)
        assert counts(found) == expected
        assert len(executor.jobs) > 3
    other = run(task, SAMPLERS[name], None, num_workers=1, seed=6, max_shots=200_500)
    assert counts(other)[:3] != expected[:3]


def first_blocks(task: sinter.Task, name: str, reached: Callable[[sinter.AnonTaskStats], bool]) -> int:
    """How many blocks a run takes that looks at its counts after every block."""
    sampler = PackedTask.of(SAMPLERS[name], task, 5).compiled()
    total = sinter.AnonTaskStats()
    while not reached(total):
        total += sampler.sample_range(total.shots, BLOCK_SHOTS)
    return total.shots // BLOCK_SHOTS


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
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
        with DisorderlyExecutor(slots, seed=slots) as executor:
            found = run(task, SAMPLERS[name], executor, seed=5, max_errors=wanted, custom_error_count_key=key)
        assert counts(found) == expected
        taken = sum(job.shots for job in executor.jobs)
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


@pytest.mark.slow
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
    # A part that is counted twice, inside the sum of others; and what Sinter adds to itself.
    (tmp_path / "sum.csv").write_text("\n".join([*found, ""]))
    (tmp_path / "twice.csv").write_text("\n".join([*found, found[1], ""]))
    for doubled in ([files[7], str(tmp_path / "sum.csv")], [str(tmp_path / "twice.csv")]):
        assert main(["combine", *doubled]) == 2
        output = capsys.readouterr()
        assert not output.out
        assert "of seed 9 are counted 2 times" in output.err


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
    found = run(task, POSTSELECT, None, num_workers=1, seed=5, max_shots=10**15, max_seconds=1.0)
    assert 0 < found.shots < 10**12
    assert counts(found) == with_range(whole_run(task, POSTSELECT, 5, found.shots), 5)


class _SlowToDecode(sinter.Decoder):
    """A decoder whose preparation takes longer than the run."""

    def compile_decoder_for_dem(self, *, dem: Any) -> Any:
        time.sleep(1.2)
        return sinter.BUILT_IN_DECODERS["vacuous"].compile_decoder_for_dem(dem=dem)


@pytest.mark.parametrize("slow", ["workers", "decoder"])
def test_a_run_that_is_shorter_than_the_start_has_shots(slow: str, tmp_path: Path) -> None:
    circuit = stim.Circuit.generated(
        "repetition_code:memory", distance=3, rounds=2, before_round_data_depolarization=0.1
    )
    saved = tmp_path / "stats.csv"
    with ThreadPoolExecutor(
        2, initializer=time.sleep, initargs=(1.2 if slow == "workers" else 0,)
    ) as workers:
        [found] = sinter_plugin.collect(
            [sinter_plugin.task(circuit, decoder="soft_postselect" if slow == "workers" else "soft_slow")],
            executor=workers,
            num_workers=2,
            custom_decoders={"slow": _SlowToDecode()},
            seed=5,
            max_shots=10**12,
            max_seconds=0.4,
            save_resume_filepath=saved,
        )
    [row] = sinter.read_stats_from_csv_files(saved)
    assert 0 < row.shots == found.shots < 10**12
    if slow == "decoder":  # only the range in work was waited for
        assert row.shots < 2**14


ENDLESS = (
    "--circuits a.stim --decoders soft_postselect --processes 2 --max_shots 1_000_000_000_000_000"
    " --save_resume_filepath stats.csv --quiet --seed 5"
)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_nothing_is_lost_or_doubled_if_processes_are_killed(times: int, folder: Folder) -> None:
    """At random moments, a worker or the parent in turn; the sum is that of one run, and the file is whole."""
    path = circuit_file(folder.path)
    endless = ENDLESS.replace(" --seed 5", "")
    moments = random.Random(times)
    shots = [0]
    for killed in ("worker", "parent") * times:
        process = folder.start(OURS, endless)
        wait_until(lambda: folder.shots() > shots[-1])
        time.sleep(moments.random() * 0.5)
        workers = workers_of(process.pid)
        assert len(workers) == 2
        os.kill(workers[0] if killed == "worker" else process.pid, signal.SIGKILL)
        _, stderr = process.communicate(timeout=60)
        if killed == "worker":
            assert process.returncode == 1
            assert "A worker process died" in stderr
            assert "Traceback" not in stderr
        wait_until(lambda pids=workers: not any(map(is_alive, pids)))  # type: ignore[misc]
        shots.append(folder.shots())
        assert len(folder.stats()) == 1
    assert shots == sorted(shots)
    more = shots[-1] + 500_000
    folder.run(OURS, endless.replace("1_000_000_000_000_000", str(more)))
    [stats] = folder.stats()
    [shot_range] = ranges_in(stats.custom_counts)
    task = sinter_plugin.task(path, decoder="soft_postselect", json_metadata={"path": "a.stim"})
    expected = with_range(whole_run(task, POSTSELECT, shot_range.seed, more), shot_range.seed)
    assert counts(stats) == expected
    assert [each.name for each in folder.path.glob("stats*") if each.suffix != ".lock"] == ["stats.csv"]


class _Clock:
    """A sampler whose shots take a given time, on a clock of its own."""

    def __init__(self, seconds_per_shot: float) -> None:
        self.now = 1000.0
        self._seconds_per_shot = seconds_per_shot
        self.ranges: list[tuple[int, int]] = []

    def time(self) -> float:
        return self.now

    def sample_range(self, first: int, shots: int) -> sinter.AnonTaskStats:
        self.ranges.append((first, shots))
        seconds = shots * self._seconds_per_shot
        self.now += seconds
        return sinter.AnonTaskStats(shots=shots, errors=shots, seconds=seconds)


@pytest.mark.parametrize("missing", [None, 100_000])
@pytest.mark.parametrize(("seconds_per_shot", "least"), [(0.01, 700), (0.3, 16), (1e-4, 80_000)])
def test_a_job_stops_at_its_deadline(
    seconds_per_shot: float, least: int, missing: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten seconds: nearly all of them are used, and they are not exceeded by more than 16 shots."""
    clock = _Clock(seconds_per_shot)
    monkeypatch.setattr(jobs, "time", clock)
    job = jobs.Job(5, 10**7, missing, deadline=1010.0)
    if missing is None:
        found = jobs._counts_of(clock, job, 5, 5 + 10**7)  # type: ignore[arg-type]
        assert found.shots >= least
    else:
        found = jobs._counts_until(clock, job, missing)  # type: ignore[arg-type]
        assert found.shots == 0  # where the error is was not found
    assert clock.now <= 1010.0 + 16 * seconds_per_shot
    assert clock.ranges[0] == (5, 16)
    ends = [first + shots for first, shots in clock.ranges]
    assert [first for first, _ in clock.ranges[1:]] == ends[:-1]


# Ten observables that are flipped independently, each by a coin: 1024 equally likely combinations.
COINS = "\n".join(
    [
        "M 10\nDETECTOR rec[-1]\nM 10\nDETECTOR rec[-1]",
        *(f"X_ERROR(0.5) {k}\nM {k}\nOBSERVABLE_INCLUDE({k}) rec[-1]" for k in range(10)),
    ]
)


@pytest.mark.parametrize("name", ["combinations", "without_store"])
@pytest.mark.slow
def test_without_a_seed_runs_that_are_resumed_and_three_workers_take_new_shots(
    name: str, tmp_path: Path
) -> None:
    """If shots are counted twice, the counts of combinations scatter twice as much as they should."""

    def collected(num_workers: int, max_shots: int, **arguments: object) -> sinter.TaskStats:
        task = sinter_plugin.task(snc.Circuit(COINS), decoder=name)
        [stats] = sinter.collect(
            num_workers=num_workers, tasks=[task], custom_decoders=SAMPLERS, max_shots=max_shots, **arguments
        )
        assert stats.shots == max_shots
        return stats

    for max_shots in (20_000, 40_000, 60_000):
        resumed = collected(1, max_shots, save_resume_filepath=tmp_path / "stats.csv")
    for stats in (resumed, collected(3, 60_000)):
        counts = [count for key, count in stats.custom_counts.items() if key.startswith("obs_mistake_mask=")]
        counts.append(stats.shots - sum(counts))  # no flip
        counts += [0] * (1024 - len(counts))
        assert scipy.stats.chisquare(counts).pvalue > 1e-7
