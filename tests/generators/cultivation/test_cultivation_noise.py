"""The noise of the cultivation circuits, and the names of their files."""

import re

import pytest
import sinter
import stim

from stim_nonclifford.generators.cultivation import (
    circuit_file_name,
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
