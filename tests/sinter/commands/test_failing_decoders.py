"""Decoders that fail in `collect` and `predict`: one line says which one, and how it failed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ...support.processes.sinter_runs import OURS, Folder

MODULE = """
import os, sys
import sinter

class Failing(sinter.Decoder):
    def __init__(self, how):
        self.how = how

    def compile_decoder_for_dem(self, *, dem):
        if self.how == "compiling":
            return dem.nothing
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data):
        if self.how == "abort":
            os.abort()
        if self.how == "leaving":
            os._exit(5)
        if self.how == "ending":
            sys.exit(3)
        if self.how == "raising":
            raise KeyError("lost")
        return bit_packed_detection_event_data[:, :1] * 0

def decoders():
    return {how: Failing(how) for how in ("compiling", "abort", "leaving", "ending", "raising", "fine")}
"""
OWN = " --custom_decoders_module_function failing:decoders"


@pytest.mark.parametrize(
    ("how", "processes", "code", "message"),
    [
        ("compiling", 1, 2, "The sampler soft_compiling failed with AttributeError: "),
        ("ending", 1, 2, "Failing failed on the detection events "),
        ("raising", 2, 2, "with KeyError: 'lost'. Shot "),
        ("abort", 2, 1, "ended with SIGABRT: a library in it, for example a decoder, called abort."),
        ("leaving", 2, 1, "ended itself with exit code 5"),
    ],
)
def test_collect(folder: Folder, how: str, processes: int, code: int, message: str) -> None:
    (folder.path / "failing.py").write_text(MODULE)
    folder.environment["PYTHONPATH"] += f":{folder.path}"
    arguments = f"--circuits d=3,p=0.1.stim --max_shots 2000 --quiet --processes {processes} --decoders {how}"
    error = folder.run(OURS, arguments + OWN, code=code).stderr
    assert message in error
    assert "lack of memory" not in error
    assert "Traceback" not in error


def test_predict(folder: Folder) -> None:
    (folder.path / "failing.py").write_text(MODULE)
    folder.environment["PYTHONPATH"] += f":{folder.path}"
    (folder.path / "model.dem").write_text("error(0.1) D0 L0\n")
    (folder.path / "dets.01").write_text("0\n1\n")
    files = "--dem model.dem --dets dets.01 --dets_format 01 --obs_out obs.01 --obs_out_format 01"
    for name, code, found in (
        ("soft_pymatching", 0, "0\n1\n"),
        ("fine", 0, "0\n0\n"),
        ("raising", 2, "The decoder raising failed with KeyError: 'lost'."),
        ("nothing", 2, "There is no decoder 'nothing'."),
        ("soft_postselect", 2, "soft_postselect does not decode."),
    ):
        done = folder.run([*OURS[:-1], "predict"], f"{files} --decoder {name}" + OWN, code=code)
        assert "Traceback" not in done.stderr
        assert found in (done.stderr if code else (folder.path / "obs.01").read_text())


def test_a_program_from_standard_input(folder: Folder) -> None:
    program = (
        "import sinter_plugin\n"
        "task = sinter_plugin.task('d=3,p=0.1.stim', decoder='soft_postselect')\n"
        "sinter_plugin.collect([task], num_workers=2, max_shots=10)\n"
    )
    done = subprocess.run(
        [sys.executable],
        input=program,
        cwd=folder.path,
        env=folder.environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "use one worker, which is a thread: num_workers=1." in done.stderr.splitlines()[-1]
