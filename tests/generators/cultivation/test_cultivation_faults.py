"""Distance 7 tolerates faults of any kind; and the circuits are those of a list, so that they do not change unnoticed."""

import hashlib
from pathlib import Path

import pytest
import sinter

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_distance_7_tolerates_two_faults_of_any_kind() -> None:
    assert (
        snc.Circuit(cultivation_circuit(7)).fault_distance(max_weight=2, postselection_mask="all").at_least
        == 3
    )
    assert (
        snc.Circuit(cultivation_circuit(7, gate="S"))
        .fault_distance(max_weight=3, postselection_mask="all")
        .at_least
        == 4
    )


# The circuits do not change unnoticed. `sha256sum -c` compares files of `stim-nonclifford generate` with the list.
LIST = Path(__file__).with_name("cultivation_circuits.sha256").read_text(encoding="utf-8")
HASHES = {name: digest for digest, name in map(str.split, LIST.splitlines())}


def test_files_are_those_of_the_list() -> None:
    files = sorted((ROOT / "circuits" / "cultivation").glob("*.stim"))
    assert len(files) == 4
    for file in files:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == HASHES[file.name], (
            f"{file.name} is out of date"
        )


@pytest.mark.parametrize(
    "name",
    [
        name if "d=3" in name else pytest.param(name, marks=() if "p=0.001" in name else pytest.mark.slow)
        for name in HASHES
    ],
)
def test_generated_circuits_are_those_of_the_list(name: str) -> None:
    values = sinter.comma_separated_key_values(name)
    circuit = cultivation_circuit(
        distance=values["d"],
        p=values["p"],
        gate=values["g"],
        noise=values["noise"],
        variant=values.get("variant", "published"),
    )
    assert hashlib.sha256(f"{circuit}\n".encode()).hexdigest() == HASHES[name]
