"""What `stim-nonclifford` does at the ends of pipes, at a full disk, and at Ctrl-C: as other commands."""

import fcntl
import io
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sinter

from stim_nonclifford.commands import main
from stim_nonclifford.generators.cultivation import cultivation_circuit

from ..support.processes.sinter_runs import wait_until
from ..support.seeds import slow

COMMAND = [sys.executable, "-m", "stim_nonclifford"]
CIRCUIT = "RX 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\nMX 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]\n"
WRONG = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
FOREVER = str(10**17)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.stim").write_text(CIRCUIT)
    (tmp_path / "d3.stim").write_text(str(cultivation_circuit(3, p=1e-3)))
    (tmp_path / "rates.csv").write_text(f"{sinter.CSV_HEADER}\n")
    return tmp_path


@pytest.fixture(params=["buffered", slow("unbuffered")])
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    names = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return names | ({"PYTHONUNBUFFERED": "1"} if request.param == "unbuffered" else {})


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    # Jobs in the background of a shell script ignore Ctrl-C, and so would what they start.
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


@pytest.mark.parametrize("command", ["sample", slow("diagram")])
def test_circuits_come_from_standard_input(command: str, here: Path) -> None:
    flags = ("--shots", "3", "--seed", "5") if command == "sample" else ()
    piped = subprocess.run(
        [*COMMAND, command, *flags], input=CIRCUIT.encode(), capture_output=True, check=True
    )
    assert main([command, *flags, "--in", "c.stim", "--out", "read"]) == 0
    assert piped.stdout == Path("read").read_bytes() != b""
    assert piped.stderr == b""


@pytest.mark.parametrize(
    ("text", "message"), [(b"H 0\nFOO 1", "standard input, line 2: `FOO 1`"), (b"\xff", "is not in UTF-8")]
)
def test_what_is_wrong_with_standard_input(
    text: bytes, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["sample"]) == WRONG
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("sample", "--in", "c.stim", "--shots", FOREVER),
        slow(("sample", "--in", "c.stim", "--shots", FOREVER, "--out_format", "b8")),
        slow(("detect", "--in", "c.stim", "--shots", FOREVER, "--out_format", "dets")),
        slow(("detect", "--in", "d3.stim", "--shots", FOREVER, "--postselect", "all")),
        ("faults", "--in", "d3.stim", "--postselect", "all", "--max_weight", "3"),
    ],
    ids=" ".join,
)
def test_nobody_reads_on(arguments: tuple[str, ...], here: Path, environment: dict[str, str]) -> None:
    """The first lines come at once, and the command ends quietly when the pipe is closed."""
    with start(*arguments, env=environment) as process:
        assert process.stdout
        assert process.stderr
        assert len(process.stdout.read(10)) == 10
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == BROKEN_PIPE


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize(
    "command",
    [
        slow("stim_nonclifford --help"),
        "stim_nonclifford sample --help",
        "stim_nonclifford plan --in d3.stim",
        slow("stim_nonclifford generate cultivation --p 0.001"),
        "sinter_plugin collect --circuits c.stim --max_shots 9 --decoders soft_postselect --quiet --processes 1",
        slow("stim_nonclifford combine rates.csv"),
    ],
)
def test_nobody_reads_at_all(command: str, here: Path, unread: int, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], stdout=unread, stderr=subprocess.PIPE, env=environment
    )
    # For argparse itself, before it returns, it is no error that nobody reads its help.
    assert done.returncode == BROKEN_PIPE or (done.returncode == 0 and "sample --help" in command)
    assert done.stderr == b""


def test_all_circuits_are_written_though_nobody_reads_their_names(here: Path, unread: int) -> None:
    flags = ["--p", "0.001", "0.002", "--gate", "T", "S", "--out_dir", "circuits"]
    done = subprocess.run(
        [*COMMAND, "generate", "cultivation", *flags], stdout=unread, stderr=subprocess.PIPE
    )
    assert (done.returncode, done.stderr) == (BROKEN_PIPE, b"")
    assert len(list((here / "circuits").iterdir())) == 4


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("stim_nonclifford detect --shots 3 --out result --in", "0\n" * 3),
        (
            "sinter_plugin collect --max_shots 9 --decoders soft_postselect --processes 1"
            " --save_resume_filepath result --circuits",
            "         9,",
        ),
    ],
)
def test_closed_streams(command: str, result: str, here: Path) -> None:
    """As some services start programs: there is no standard input, output or error, and the work is done."""
    (here / "c.stim").write_text(CIRCUIT.replace("0.1", "0"))
    arguments = [sys.executable, "-X", "dev", "-m", *command.split(), "c.stim"]
    assert subprocess.run(arguments, preexec_fn=lambda: os.closerange(0, 3)).returncode == 0
    assert result in (here / "result").read_text()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk here")
def test_messages_that_nobody_can_read_do_not_change_the_exit_code(environment: dict[str, str]) -> None:
    """As when a terminal is closed: Python would try to write them again at its end, and end with 120."""
    program = f"""if True:
        import contextlib, sys
        from stim_nonclifford.commands.streams import exit_code

        def work():
            with contextlib.suppress(OSError):
                print("Interrupted.", file=sys.stderr, flush=True)
            return {INTERRUPTED}

        sys.exit(exit_code(work))
    """
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-c", program], stderr=full, env=environment)
    assert done.returncode == INTERRUPTED


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk here")
@pytest.mark.parametrize("command", ["sample", slow("plan")])
def test_full_disk(command: str, here: Path, environment: dict[str, str]) -> None:
    with open("/dev/full", "wb") as full:
        arguments = [*COMMAND, command, "--in", "c.stim"]
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, env=environment)
    assert done.returncode == WRONG
    assert b"[Errno 28] No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def unread_bytes(pipe: int) -> int:
    """How many bytes are in a pipe that nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize(
    "arguments",
    [
        ("sample", "--in", "c.stim", "--shots", FOREVER),
        ("sample",),  # waits for the rest of a circuit
    ],
    ids=" ".join,
)
def test_ctrl_c(arguments: tuple[str, ...], here: Path) -> None:
    read, written = os.pipe()
    process = start(*arguments, stdin=read)
    assert process.stdout
    if len(arguments) > 1:
        process.stdout.read(10)
    else:
        os.write(written, b"H 0\n")
        wait_until(lambda: unread_bytes(read) == 0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    for end in (read, written):
        os.close(end)
    assert (process.returncode, errors) == (INTERRUPTED, b"")
