"""The command ``generate``: a file for each combination, of a name that tells which one, and nothing where something is wrong."""

from pathlib import Path

import pytest
import stim

from stim_nonclifford.commands import main
from stim_nonclifford.generators.cultivation import cultivation_circuit, end_to_end_circuit
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.generators.teleportation import injection_circuit, teleportation_circuit


@pytest.mark.parametrize(
    ("arguments", "number", "name", "circuit"),
    [
        ("cultivation --d 3 --p 0.0005 0.001 --gate T S", 4, "c=inject+cultivate,d=3,g=T,noise=uniform,p=0.0005",
         lambda: cultivation_circuit(3, p=0.0005)),
        ("cultivation --d 5 --p 0.001 --variant flagged", 1, "c=inject+cultivate,d=5,g=T,noise=uniform,p=0.001,variant=flagged",
         lambda: cultivation_circuit(5, p=1e-3, variant="flagged")),
        ("cultivation --d 3 --d2 5 --p 0.001 --rounds 2", 1,
         "c=inject+cultivate+escape,d=3,d2=5,g=T,noise=uniform,p=0.001,post=3,r=2,readout=T",
         lambda: end_to_end_circuit(3, 5, 1e-3, rounds=2)),
        ("cultivation --d2 5 --p 0.001 --rounds 1 --escape matchable", 1,
         "c=inject+cultivate+escape,d=3,d2=5,g=T,noise=uniform,p=0.001,post=0,r=1,readout=T,escape=matchable",
         lambda: end_to_end_circuit(3, 5, 1e-3, rounds=1, escape="matchable")),
        ("distillation --t_error 0.01 0.1", 2, "c=15-to-1,g=T,e=0.01,p=0", lambda: distillation_circuit(t_error=0.01)),
        ("distillation --t_error 0.01 --protocol 49-to-1 3k+8-to-k --k 2 4", 3, "c=3k+8-to-k,k=4,g=T,e=0.01,p=0",
         lambda: distillation_circuit("3k+8-to-k", k=4, t_error=0.01)),
        ("teleportation --d 3 5 --p 0.001 --gate T S --correction software", 4,
         "c=teleportation,correction=software,d=5,g=T,noise=uniform,p=0.001",
         lambda: teleportation_circuit(5, 1e-3, "T", correction="software")),
        ("teleportation --protocol injection --noise none", 1, "c=injection,d=3,g=T,noise=none,p=0.0",
         lambda: injection_circuit(3, noise="none")),
    ],
)  # fmt: skip
def test_every_combination_is_written(
    arguments: str,
    number: int,
    name: str,
    circuit: object,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "new"
    assert main(["generate", *arguments.split(), "--out_dir", str(folder)]) == 0
    printed = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert len(printed) == number
    assert sorted(printed) == sorted(folder.iterdir())
    assert callable(circuit)
    assert stim.Circuit.from_file(folder / f"{name}.stim") == circuit()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("cultivation --distance 11 --p 0.001", "distance must be 3, 5, 7 or 9, but is 11"),
        ("cultivation --d 3 4 --p 0.001", "distance must be 3, 5, 7 or 9, but is 4"),
        ("cultivation --d three --p 0.001", "argument --distance/--d: 'three' is not a whole number"),
        ("cultivation --p 1.5", "p must be a probability from 0 to 1, but is 1.5"),
        ("cultivation --p small", "argument --p: invalid float value: 'small'"),
        ("cultivation --p nan", "p must be a probability from 0 to 1, but is nan"),
        ("cultivation --p 0.001 --gate U", "argument --gate: invalid choice: 'U'"),
        ("cultivation --p 0.001 --noise pink", "argument --noise: invalid choice: 'pink'"),
        ("cultivation --p 0.001 --injection shot", "argument --injection: invalid choice: 'shot'"),
        (
            "cultivation --p 0.001 0.3 --noise si1000",
            "p must be at most 0.2 for si1000, where measurements flip with probability 5p, but is 0.3",
        ),
        ("cultivation --d 5 --d2 5 --p 0.001", "must be odd and larger than distance=5, but is 5"),
        ("cultivation --p 0.001 --variant flagged", "variant 'flagged' is not available at distance 3"),
        ("cultivation --p 0.001 --escape matchable", "--escape is for circuits with an escape"),
        ("cultivation", "--noise uniform needs a strength; add for example --p 0.001"),
        ("cultivation --p 0.001 --noise none", "--noise none takes no strength; leave out --p"),
        ("cultivation --p 0.001 --out_dir a_file", "a_file"),
        ("distillation --t_error 2", "t_error must be a probability"),
        ("distillation --t_error 0.01 --protocol 3k+8-to-k", "write --protocol 3k+8-to-k --k 2"),
        ("distillation --t_error 0.01 --protocol 49-to-1 --k 2", "write --protocol 3k+8-to-k --k 2"),
        ("teleportation --d 4 --p 0.001", "argument --distance/--d: invalid choice: 4"),
        ("teleportation --p 1.5", "p must be a probability from 0 to 1, but is 1.5"),
        ("teleportation --p 0.001 --correction later", "argument --correction: invalid choice: 'later'"),
        ("teleportation --p 0.3 --noise si1000", "p must be at most 0.2 for si1000"),
        ("teleportation", "--noise uniform needs a strength; add for example --p 0.001"),
        ("teleportation --p 0.001 --noise none", "--noise none takes no strength; leave out --p"),
    ],
)  # fmt: skip
def test_wrong_arguments(
    arguments: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a_file").write_text("not a folder")
    folder = [] if "--out_dir" in arguments else ["--out_dir", "."]
    assert main(["generate", *arguments.split(), *folder]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a_file"]
