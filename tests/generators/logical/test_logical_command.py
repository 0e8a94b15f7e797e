"""Logical circuits on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stim

from stim_nonclifford.commands import main
from stim_nonclifford.generators.logical import logical_circuit


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "bell.json"
    program.write_text(json.dumps({"rotations": [[0.125, "XX"]], "measurements": ["ZI", "IZ"]}))
    assert main(["generate", "logical", "--program", str(program), "--p", "0.001"]) == 0
    written = stim.Circuit(capsys.readouterr().out)
    assert written == logical_circuit([(1 / 8, "XX")], ["ZI", "IZ"], p=1e-3)
    gates = tmp_path / "hth.stim"
    gates.write_text("H 0\nT 0\nH 0\nM 0")
    out = tmp_path / "out"
    arguments = f"generate logical --program {gates} --d 3 5 --p 0.001 --gate T S --out_dir {out}"
    assert main(arguments.split()) == 0
    names = sorted(path.name for path in out.iterdir())
    assert names[0] == "c=hth,d=3,g=S,noise=uniform,p=0.001.stim"
    assert len(names) == 4
    found = stim.Circuit.from_file(out / "c=hth,d=3,g=T,noise=uniform,p=0.001.stim")
    assert found == logical_circuit([(1 / 8, "X")], ["Z"], p=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is no JSON"), ('{"rotation": []}', "rotations and measurements"), ("[[0.125]]", "rotations and")],
)
def test_programs_in_files_that_are_wrong(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.json"
    program.write_text(text)
    assert main(["generate", "logical", "--program", str(program), "--p", "0.001"]) != 0
    assert message in capsys.readouterr().err
