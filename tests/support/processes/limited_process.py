"""Scripts in a process of their own, with limits of memory and time: what crashes or hangs ends the process."""

import os
import subprocess
import sys
import textwrap

_PRELUDE = """
import resource
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds} + 1))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import numpy as np
import stim
import stim_nonclifford as snc
def refusal(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (ValueError, NotImplementedError, snc.ResourceLimitError) as error:
        return type(error).__name__ + ": " + str(error)
    return None
"""


def run_limited(script: str, *, seconds: int = 10, memory: int = 1 << 30) -> str:
    """Runs a script of Python, and returns what it prints.

    It may use ``np``, ``stim``, ``snc``, and ``refusal``, which returns the documented exception of a call as text, or None. Time is time of the processor, so that a busy machine makes no difference.
    """
    done = subprocess.run(
        [sys.executable, "-c", _PRELUDE.format(memory=memory, seconds=seconds) + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60 + 20 * seconds,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout
