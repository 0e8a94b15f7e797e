"""Programs in processes of their own, for tests of what could crash, hang or leave a process in disorder."""

import subprocess
import sys
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def finished_program(source: str, *arguments: object, timeout: float = 300) -> str:
    """What a program prints. It must end in time, with exit status 0 and without a word on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), *map(str, arguments)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
