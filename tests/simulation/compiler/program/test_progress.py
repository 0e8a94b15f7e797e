"""Long passes of the compiler say how far they are, on terminals only, and can be interrupted."""

import io
import re
import sys

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford import _native
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.sweeps import progress as progress_module
from stim_nonclifford.simulation.compiler.sweeps.progress import progress_of

MANY_ROUNDS = "RX 1\nT 1\nMX 1\nR 0\nREPEAT 400000 {\nX_ERROR(0.001) 0\nMR 0\nDETECTOR rec[-1]\n}\nOBSERVABLE_INCLUDE(0) rec[-1]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(progress_module, "_PERIOD_SECONDS", 0.0)
    for backward, percent in ((False, 25), (True, 75)):
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        with progress_of("a sweep", 4000, backward=backward) as progress:
            progress(1000)
        line = f"compiling: a sweep, {percent}% of 4,000 steps"
        assert terminal.getvalue() == f"\r{line}\r{' ' * len(line)}\r"


def test_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first seconds, and where there is no terminal."""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    snc.Circuit("RX 0\nT 0\nMX 0\nDETECTOR rec[-1]").compile_detector_sampler().sample(1)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(progress_module, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    snc.Circuit(MANY_ROUNDS.replace("400000", "4000")).compile_detector_sampler()
    assert stream.getvalue() == ""


def test_both_sweeps_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(progress_module, "_PERIOD_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    snc.Circuit(MANY_ROUNDS.replace("400000", "4000")).compile_detector_sampler()
    shown = terminal.getvalue()
    for sweep in ("forward", "backward"):
        percents = [int(found) for found in re.findall(rf"{sweep} sweep, (\d+)% of 12,005 steps", shown)]
        assert len(percents) > 40
        assert min(percents) < 5
        assert max(percents) > 95


def test_sweeps_stop_at_an_exception() -> None:
    """As Ctrl-C raises it from the function that a sweep calls all the time."""
    program = program_of(stim.Circuit(MANY_ROUNDS.replace("T 1", "S[T] 1")))
    num_steps = len(program.steps)
    quantum = _native.forward_sweep(program.native, False, lambda step: None)
    seen: list[int] = []

    def stop_after_ten(step: int) -> None:
        seen.append(step)
        if len(seen) == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.forward_sweep(program.native, False, stop_after_ten)
    assert len(seen) == 10
    assert max(seen) < 5000 < num_steps
    seen.clear()
    with pytest.raises(KeyboardInterrupt):
        _native.backward_sweep(
            program.native, quantum, False, True, False, np.zeros(0, np.int64), 1 << 30, stop_after_ten
        )
    assert len(seen) == 10
    assert min(seen) > num_steps - 5000
