"""Runs of `sinter collect` and `python -m sinter_plugin collect` as a user starts them, for tests."""

import contextlib
import csv
import io
import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
import sinter

from sinter_plugin.__main__ import main

FALSE_ALARM = 1e-7  # of one comparison; samplers here have no seed
REPOSITORY = Path(__file__).parents[3]

# Every X between T and T_DAG turns into a flip of the outcome with probability 1/2; on the S-proxy always.
# The proxy is deterministic: Sinter accepts the circuit.
T_CIRCUIT = """
R 0 1 2 3
H 0 3
S[T] 0 3
X_ERROR(0.1) 0 3
S_DAG[T] 0 3
H 0 3
X_ERROR(0.2) 1
X_ERROR(0.25) 2
M 1 2 3
DETECTOR(0, 0, 0, 1) rec[-3]
DETECTOR(1, 0, 0, 0) rec[-2]
DETECTOR(2, 0, 0, 1) rec[-1]
M 0
OBSERVABLE_INCLUDE(0) rec[-1]
"""
KEPT_BY_MASK = 0.8 * 0.95
KEPT_BY_ALL = 0.8 * 0.95 * 0.75
ERROR_IF_KEPT = 0.05

# T T S_DAG does nothing, but S S S_DAG does: the observable of the proxy is random, and Sinter refuses the circuit.
BARE_CIRCUIT = """
RX 0
T 0
Z_ERROR(0.15) 0
T 0
S_DAG 0
X_ERROR(0.25) 1
M 1
DETECTOR(0, 0) rec[-1]
MX 0
OBSERVABLE_INCLUDE(0) rec[-1]
"""
BARE_ERROR_IF_KEPT = 0.15

SINTER = [
    str(Path(sysconfig.get_path("scripts")) / "sinter"),
    "collect",
    "--custom_decoders_module_function",
    "sinter_plugin:sinter_samplers",
]
OURS = [sys.executable, "-m", "sinter_plugin", "collect"]
ours_first = pytest.mark.parametrize(
    "command", [pytest.param(SINTER, marks=pytest.mark.slow), OURS], ids=["sinter", "sinter_plugin"]
)
"""Sinter's own command in `make test-all` only."""


class Folder:
    """A user's folder with circuit files, in which commands are run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        self.started: list[subprocess.Popen[Any]] = []
        (path / "d=3,p=0.1.stim").write_text(T_CIRCUIT)
        (path / "bare.stim").write_text(BARE_CIRCUIT)

    def run(self, command: list[str], arguments: str, *, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*command, *shlex.split(arguments)],
            cwd=self.path,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stderr
        return done

    def call(self, command: list[str], arguments: str, *, code: int = 0) -> subprocess.CompletedProcess[str]:
        """The same in this process, for our own commands: it spares a second for Python and the imports."""
        assert command[:3] == OURS[:3]
        given = [*command[3:], *shlex.split(arguments)]
        out, err = io.StringIO(), io.StringIO()
        before = Path.cwd()
        os.chdir(self.path)
        try:
            with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
                warnings.simplefilter("default")
                try:
                    found = main(given)
                except SystemExit as end:
                    found = int(end.code or 0)
        finally:
            os.chdir(before)
        assert found == code, err.getvalue()
        return subprocess.CompletedProcess(given, found, out.getvalue(), err.getvalue())

    def hide_gpus(self) -> None:
        self.environment["CUDA_VISIBLE_DEVICES"] = ""

    def start(self, command: list[str], arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*command, *shlex.split(arguments)],
            cwd=self.path,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that the workers can be signalled too
            # Tests that run in the background of a shell are started with Ctrl-C ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.started.append(process)
        return process

    def end_all(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def rows(self, name: str = "stats.csv") -> list[dict[str, str]]:
        """The rows of a CSV file, every one of them complete."""
        path = self.path / name
        # A row that is just being written may be seen in part.
        wait_until(lambda: path.read_bytes().endswith(b"\n"), seconds=5)
        text = path.read_text()
        assert text.endswith("\n")
        rows = list(csv.DictReader(text.splitlines(), skipinitialspace=True))
        for row in rows:
            assert None not in row
            assert None not in row.values()
            assert int(row["shots"]) >= int(row["errors"]) + int(row["discards"])
        return rows

    def shots(self, name: str = "stats.csv") -> int:
        path = self.path / name
        return sum(int(row["shots"]) for row in self.rows(name)) if path.exists() else 0

    def stats(self, name: str = "stats.csv") -> list[sinter.TaskStats]:
        return sinter.read_stats_from_csv_files(str(self.path / name))


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def workers_of(pid: int, program: bytes = b"spawn_main") -> list[int]:
    """The process ids of a run's workers, Sinter's or those whose command line has other words, on Linux."""
    workers = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # of a process that has ended meanwhile
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and program in (path / "cmdline").read_bytes():
                workers.append(int(path.name))
    return workers


def is_alive(pid: int) -> bool:
    """Whether a process is there, on Linux, and is more than an entry that nobody has collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def assert_rate(count: int, total: int, probability: float) -> None:
    """Asserts that a count fits a probability; a right count fails with probability FALSE_ALARM."""
    low, high = scipy.stats.binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], total, probability)
    assert low <= count <= high, f"{count} of {total} is not {probability}: expected {low} to {high}"
