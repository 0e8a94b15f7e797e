"""What becomes of Sinter's workers when the run that they belong to is killed, or its terminal closed."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from ...support.processes.sinter_runs import OURS, Folder, is_alive, ours_first, wait_until, workers_of

if sys.platform != "linux":
    pytest.skip("finds the workers in /proc", allow_module_level=True)

ENDLESS = (
    "--circuits d=3,p=0.1.stim --decoders soft_postselect --processes 2 --max_shots 1_000_000_000_000"
    " --save_resume_filepath stats.csv --quiet"
)


@pytest.fixture(autouse=True)
def _hangups_are_not_ignored() -> Iterator[None]:
    """Under ``nohup``, runs would inherit that they are, and rightly go on."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def start_endless(folder: Folder, command: list[str]) -> tuple[subprocess.Popen[str], list[int]]:
    """A run that has saved something, and its two workers."""
    process = folder.start(command, ENDLESS)
    wait_until(lambda: folder.shots() > 0)
    workers = workers_of(process.pid)
    assert len(workers) == 2
    return process, workers


def assert_all_end(pids: list[int]) -> None:
    wait_until(lambda: not any(is_alive(pid) for pid in pids))


@ours_first
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_workers_end_with_their_parent(folder: Folder, command: list[str], number: signal.Signals) -> None:
    process, workers = start_endless(folder, command)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)  # which waits until nobody has its pipes
    assert_all_end(workers)
    if number == signal.SIGHUP and command is OURS:
        assert process.returncode == 130
        assert "Interrupted" in stderr
    folder.run(command, ENDLESS.replace("1_000_000_000_000", str(folder.shots() + 1000)))


@pytest.mark.slow
def test_workers_started_from_a_thread_end_with_a_killed_parent(folder: Folder) -> None:
    """There, a signal at the end of the thread would come too early: the workers look by themselves."""
    (folder.path / "in_a_thread.py").write_text("""
import threading, time
import sinter, sinter_plugin

def collect():
    iterator = sinter.iter_collect(
        num_workers=1,
        tasks=[sinter_plugin.task("d=3,p=0.1.stim", decoder="soft_postselect")],
        custom_decoders=sinter_plugin.sinter_samplers(),
        max_shots=10**15,
    )
    first = threading.Thread(target=lambda: [next(iterator) for _ in range(3)])
    first.start()
    first.join()  # This thread started the worker, and has ended now.
    for _, progress in zip(range(3), iterator):
        pass
    print("sampling", flush=True)
    for progress in iterator:
        pass

if __name__ == "__main__":
    threading.Thread(target=collect, daemon=True).start()
    time.sleep(600)
""")
    process = folder.start([sys.executable, "in_a_thread.py"], "")
    assert process.stdout is not None
    assert process.stdout.readline() == "sampling\n"
    (worker,) = workers_of(process.pid)
    process.kill()
    assert_all_end([worker])


@pytest.mark.slow
def test_signals_that_come_in_a_row_do_not_disturb_the_end(folder: Folder) -> None:
    """As at the end of a session, when the terminal, the shell and the system send one each."""
    process, workers = start_endless(folder, OURS)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert_all_end(workers)


def test_interrupt_while_the_workers_start(folder: Folder) -> None:
    """Sinter itself fails there, with workers left over."""
    process = folder.start(OURS, ENDLESS.replace("--processes 2", "--processes 20"))
    wait_until(lambda: len(workers_of(process.pid)) > 0)
    process.terminate()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "commands/collect" not in stderr  # no traceback but that of a worker without its orders
    assert not workers_of(process.pid)


@pytest.mark.slow
def test_nohup_is_respected(folder: Folder) -> None:
    process, workers = start_endless(folder, ["nohup", *OURS])
    process.send_signal(signal.SIGHUP)
    before = folder.shots()
    wait_until(lambda: folder.shots() > before)
    assert all(is_alive(pid) for pid in workers)


WITH_OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_closed_terminal_ends_the_run(folder: Folder) -> None:
    """As when a connection breaks: the other end of the terminal is closed."""
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", WITH_OWN_TERMINAL, *OURS, *ENDLESS.split()],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
        cwd=folder.path,
        env=folder.environment,
    )
    folder.started.append(process)
    os.close(inner)
    try:
        wait_until(lambda: folder.shots() > 0)
        workers = workers_of(process.pid)
        assert len(workers) == 2
    finally:
        os.close(terminal)
    assert process.wait(timeout=60) == 130  # although nobody can read what it says
    assert_all_end(workers)
    folder.rows()
