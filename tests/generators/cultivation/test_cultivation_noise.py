"""The noise of the cultivation circuits, and the command that writes files of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sinter
import stim

from stim_nonclifford.commands import main
from stim_nonclifford.generators.cultivation import (
    circuit_file_name,
    cultivation_circuit,
)
from stim_nonclifford.generators.cultivation.noise import NoiseModel, add_noise

CHANNELS = ("X_ERROR", "Z_ERROR", "DEPOLARIZE1", "DEPOLARIZE2")


def test_noise_follows_the_kind_of_operation() -> None:
    model = NoiseModel(
        one_qubit_gate=0.01,
        two_qubit_gate=0.02,
        idle=0.03,
        reset=0.04,
        measurement=0.05,
        after_measurement=0.06,
        waiting=0.07,
    )
    circuit = stim.Circuit(
        """
        R 0
        RX 1
        H 2
        TICK
        CX 0 1
        M 2
        DETECTOR rec[-1]
        TICK
        CX rec[-1] 0
        TICK
        CZ rec[-1] 1
        R 0 1
        TICK
        R 0 1 2
        TICK
        M 0
        """
    )
    assert add_noise(circuit, model) == stim.Circuit(
        """
        R 0
        RX 1
        H 2
        X_ERROR(0.04) 0
        Z_ERROR(0.04) 1
        DEPOLARIZE1(0.01) 2
        DEPOLARIZE1(0.07) 2
        TICK
        CX 0 1
        M(0.05) 2
        DETECTOR rec[-1]
        DEPOLARIZE2(0.02) 0 1
        DEPOLARIZE1(0.06) 2
        DEPOLARIZE1(0.07) 0 1
        TICK
        CX rec[-1] 0
        DEPOLARIZE1(0.03) 0 1 2
        TICK
        CZ rec[-1] 1
        R 0 1
        X_ERROR(0.04) 0 1
        DEPOLARIZE1(0.03) 2
        DEPOLARIZE1(0.07) 2
        TICK
        R 0 1 2
        X_ERROR(0.04) 0 1 2
        TICK
        M 0
        """
    )


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("H 0\nM 0", "'M 0' touches a qubit for the second time"),
        ("CX 0 1 1 2", "touches a qubit for the second time"),
        ("M 0\nTICK\nCX rec[-1] 0 1 2", "no noise is defined for 'CX rec"),
        ("M(0.1) 0", "no noise is defined"),
        ("X_ERROR(0.1) 0", "no noise is defined"),
        ("MPP X0*X1", "no noise is defined"),
    ],
)
def test_moments_without_defined_noise_are_refused(moment: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        add_noise(stim.Circuit(moment + "\nTICK"), NoiseModel.uniform(0.01))


@pytest.mark.parametrize("p", [0.0, 1e-3, 5e-4, 1e-7, 1.0])
def test_sinter_reads_metadata_from_the_file_name(p: float) -> None:
    name = circuit_file_name(distance=3, p=p, gate="T", noise="uniform")
    assert re.fullmatch(r"[\w.,=+-]+", name)
    metadata = sinter.comma_separated_key_values(f"some/folder/{name}")
    assert metadata == {"c": "inject+cultivate", "d": 3, "g": "T", "noise": "uniform", "p": p}
    assert isinstance(metadata["p"], float)
    name = circuit_file_name(distance=5, p=p, gate="S", noise="si1000", injection="bell")
    assert sinter.comma_separated_key_values(name)["injection"] == "bell"


def test_command_line_writes_every_combination(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--d", "3", "--p", "0.0005", "0.001", "--gate", "T", "S", "--out_dir", str(tmp_path)]
    assert main(["generate", "cultivation", *arguments]) == 0
    printed = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert len(printed) == 4
    assert sorted(printed) == sorted(tmp_path.iterdir())
    path = tmp_path / "c=inject+cultivate,d=3,g=T,noise=uniform,p=0.0005.stim"
    assert stim.Circuit.from_file(path) == cultivation_circuit(3, p=0.0005)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--distance", "9", "--p", "0.001"], "distance must be 3, 5 or 7, but is 9"),
        (["--d", "3", "4", "--p", "0.001"], "distance must be 3, 5 or 7, but is 4"),
        (["--d", "three", "--p", "0.001"], "argument --distance/--d: 'three' is not a whole number"),
        (["--p", "1.5"], "p must be a probability from 0 to 1, but is 1.5"),
        (["--p", "small"], "argument --p: invalid float value: 'small'"),
        (["--p", "nan"], "p must be a probability from 0 to 1, but is nan"),
        (["--p", "0.001", "--gate", "U"], "argument --gate: invalid choice: 'U'"),
        (["--p", "0.001", "--noise", "pink"], "argument --noise: invalid choice: 'pink'"),
        (["--p", "0.001", "--injection", "shot"], "argument --injection: invalid choice: 'shot'"),
        (
            ["--p", "0.001", "0.3", "--noise", "si1000"],
            "p must be at most 0.2 for si1000, where measurements flip with probability 5p, but is 0.3",
        ),
        (["--d", "5", "--d2", "5", "--p", "0.001"], "must be odd and larger than distance=5, but is 5"),
        (["--p", "0.001", "--variant", "flagged"], "variant 'flagged' is not available at distance 3"),
        ([], "--noise uniform needs a strength; add for example --p 0.001"),
        (["--p", "0.001", "--noise", "none"], "--noise none takes no strength; leave out --p"),
    ],
)  # fmt: skip
def test_command_line_errors(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "cultivation", *arguments, "--out_dir", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_reports_a_folder_that_it_cannot_make(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert main(["generate", "cultivation", "--p", "0.001", "--out_dir", str(blocked)]) == 2
    assert str(blocked) in capsys.readouterr().err
