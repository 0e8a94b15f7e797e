"""Runs on a Dask cluster of two worker processes, of which some do not live long."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sinter

import sinter_plugin
from sinter_plugin.__main__ import main
from sinter_plugin.runs.executors import WorkersLostError
from stim_nonclifford.generators.cultivation import cultivation_circuit

from ...support.processes.range_cases import CIRCUIT, circuit_file, counts, task_of, whole_run, with_range
from ...support.processes.sinter_runs import OURS, Folder, is_alive, wait_until, workers_of

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

POSTSELECT = sinter_plugin.SoftPostselectSampler()

CLUSTER = """
import sys, time, distributed
if __name__ == "__main__":
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def started_cluster(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A scheduler with two workers, each a process; the scheduler's process, and its address."""
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with started_cluster(tmp_path_factory.mktemp("cluster")) as (_, address):
        yield address


PATIENCE = "300s"
"""For a scheduler that runs, on a machine that is busy with more than these tests; Dask's default is 30 seconds."""


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    with distributed.Client(address, timeout=PATIENCE) as client:
        client.wait_for_workers(2, timeout=300)
        yield client


@pytest.fixture
def patient_command() -> Iterator[None]:
    """Commands in this process wait as long for the scheduler as the clients of these tests."""
    with dask.config.set({"distributed.comm.timeouts.connect": PATIENCE}):
        yield


class After:
    """Calls a function once, when a run has new rows with shots."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.called = False

    def __call__(self, progress: sinter.Progress) -> None:
        if not self.called:
            self.called = True
            self._function()


def test_worker_that_is_killed_loses_and_doubles_nothing(client: Any, tmp_path: Path) -> None:
    task = task_of(circuit_file(tmp_path), "soft_postselect")
    workers = client.run(os.getpid)
    assert len(workers) == 2
    killed = min(workers.values())
    kill = After(lambda: os.kill(killed, signal.SIGKILL))
    [stats] = sinter_plugin.collect(
        [task],
        executor=client.get_executor(),
        seed=5,
        max_shots=100_000_000,
        max_batch_seconds=0.1,
        save_resume_filepath=tmp_path / "stats.csv",
        progress_callback=kill,
    )
    assert kill.called
    expected = with_range(whole_run(task, POSTSELECT, 5, 100_000_000), 5)
    assert counts(stats) == expected
    [saved] = sinter.read_stats_from_csv_files(tmp_path / "stats.csv")
    assert (saved.shots, saved.errors, saved.discards) == expected[:3]
    client.wait_for_workers(2, timeout=300)
    assert killed not in client.run(os.getpid).values()


@pytest.mark.slow
def test_run_is_resumed_after_the_scheduler_is_killed(client: Any, tmp_path: Path) -> None:
    task = task_of(circuit_file(tmp_path), "soft_postselect")
    save = tmp_path / "stats.csv"
    arguments: dict[str, Any] = {"max_errors": 300_000, "save_resume_filepath": save}
    with started_cluster(tmp_path) as (process, address), distributed.Client(address) as other:
        kill = After(process.kill)
        with pytest.raises(WorkersLostError, match="Dask's scheduler, was lost"):
            sinter_plugin.collect(
                [task],
                executor=other.get_executor(),
                seed=5,
                max_batch_seconds=0.1,
                progress_callback=kill,
                **arguments,
            )
        assert kill.called
    [before] = sinter.read_stats_from_csv_files(save)
    assert 0 < before.errors < 300_000
    [stats] = sinter_plugin.collect(
        [task], executor=client.get_executor(), **arguments
    )  # the seed is that of the file
    [saved] = sinter.read_stats_from_csv_files(save)
    assert (saved.shots, saved.errors) == (stats.shots, stats.errors)
    assert 300_000 <= stats.errors < 300_000 + 1024
    assert counts(stats) == with_range(whole_run(task, POSTSELECT, 5, stats.shots), 5)


def test_two_runs_at_once_do_not_mix(address: str, tmp_path: Path) -> None:
    """The same task and the same seed in one, another seed in the other."""
    task = task_of(circuit_file(tmp_path), "soft_postselect")
    found: dict[int, sinter.TaskStats] = {}

    def collect(number: int, seed: int) -> None:
        with distributed.Client(address, set_as_default=False, timeout=PATIENCE) as client:
            [found[number]] = sinter_plugin.collect(
                [task], executor=client.get_executor(), seed=seed, max_shots=20_000_000, max_batch_seconds=0.1
            )

    seeds = {0: 5, 1: 5, 2: 6}
    threads = [threading.Thread(target=collect, args=pair) for pair in seeds.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    for number, seed in seeds.items():
        assert counts(found[number]) == with_range(whole_run(task, POSTSELECT, seed, 20_000_000), seed)


class Faulty(sinter.Decoder):  # type: ignore[misc]
    """Fails in the worker only."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def compile_decoder_for_dem(self, *, dem: Any) -> Any:
        if os.getpid() != self._pid:
            raise ValueError("this decoder does not work here")
        raise AssertionError


def test_errors_of_workers_reach_the_user(client: Any, tmp_path: Path) -> None:
    task = task_of(circuit_file(tmp_path), "mine")
    sampler = sinter_plugin.SoftDecodingSampler(decoder=Faulty(os.getpid()), warn=False)
    with pytest.raises(ValueError, match="this decoder does not work here"):
        sinter_plugin.collect(
            [task], executor=client.get_executor(), custom_decoders={"mine": sampler}, max_shots=1000
        )


@pytest.mark.usefixtures("patient_command")
def test_estimates_are_those_of_one_process(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["d=3,p=0.001.stim", "d=3,p=0.002.stim", "other.stim"]
    for name, p in zip(names[:2], (0.001, 0.002), strict=True):
        (tmp_path / name).write_text(str(cultivation_circuit(distance=3, p=p, gate="T")))
    (tmp_path / names[2]).write_text(CIRCUIT)
    files = [str(tmp_path / name) for name in names]
    options = "--decoders soft_postselect --seed 5 --relative_error 0.05 --threads 1 --quiet --circuits"
    arguments = ["estimate", *options.split(), *files]
    rows = []
    for where in ([], ["--dask", address]):
        save = tmp_path / f"rates{len(where)}.csv"
        assert main([*arguments, *where, "--save_resume_filepath", str(save)]) == 0
        rows.append({row.strong_id: row for row in sinter.read_stats_from_csv_files(save)})
    here, on_dask = rows
    assert len(here) == 3
    assert here.keys() == on_dask.keys()
    for strong_id, row in here.items():
        other = on_dask[strong_id]
        estimates = [{**each.json_metadata["estimate"], "seconds": 0} for each in (row, other)]
        assert estimates[0] == estimates[1]
    assert main([*arguments, "--circuits", str(tmp_path / names[2]), "--dask", "nowhere:x"]) == 2
    assert "there is no scheduler" in capsys.readouterr().err


@pytest.mark.usefixtures("patient_command")
def test_command(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = circuit_file(tmp_path)
    arguments = ["collect", "--circuits", str(path), "--decoders", "soft_postselect"]
    arguments += ["--metadata_func", "{'path': 'a.stim'}", "--max_shots", "200_000"]
    assert main([*arguments, "--dask", address, "--seed", "5"]) == 0
    on_dask = capsys.readouterr()
    assert "1 of 1 tasks done" in on_dask.err
    (tmp_path / "dask.csv").write_text(on_dask.out)
    [stats] = sinter.read_stats_from_csv_files(tmp_path / "dask.csv")
    expected = whole_run(task_of(path, "soft_postselect"), POSTSELECT, 5, 200_000)
    assert (stats.shots, stats.errors, stats.discards) == counts(expected)[:3]
    assert main([*arguments, "--dask", address]) == 0
    assert "The seed of the shots is " in capsys.readouterr().err
    assert main([*arguments, "--dask", "nowhere:1x"]) == 2
    assert "there is no scheduler" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
@pytest.mark.slow
def test_interrupt_ends_a_local_cluster_without_a_traceback(folder: Folder) -> None:
    circuit_file(folder.path)
    # On a busy machine it takes a second, and Dask says so.
    folder.environment["PYTHONWARNINGS"] = "ignore:Creating scratch directories"
    arguments = "--circuits a.stim --decoders soft_postselect --max_shots 1_000_000_000_000_000 --quiet"
    process = folder.start(OURS, f"{arguments} --dask local --processes 2 --save_resume_filepath stats.csv")
    wait_until(lambda: folder.shots() > 0)
    workers = workers_of(process.pid)
    assert len(workers) == 2
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr == "\nInterrupted. Run the same command again to continue from the saved statistics.\n"
    wait_until(lambda: not any(map(is_alive, workers)))
