"""The command `stim-nonclifford`: Stim's flags and formats, and the same bytes for Clifford circuits."""

import argparse
import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from sinter_plugin.__main__ import main as sinter_main
from stim_nonclifford.commands import COMMANDS, SINTER_COMMANDS, main
from stim_nonclifford.generators.cultivation import cultivation_circuit, end_to_end_circuit
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.simulation.sampling import ShotFormat

FORMATS = ("01", "b8", "r8", "ptb64", "hits", "dets")
T_CIRCUIT = """
    RX 0 1
    T 0 1
    DEPOLARIZE1(0.1) 0 1
    MX 0 1
    DETECTOR(0, 0, 0, 1) rec[-1]
    DETECTOR(0, 0, 0, 0) rec[-2]
    OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]
"""
CERTAIN = {
    "some of all": """
        X 0
        X_ERROR(1) 3
        M 0 1 2 3
        DETECTOR rec[-1]
        DETECTOR rec[-2]
        DETECTOR rec[-1] rec[-2]
        OBSERVABLE_INCLUDE(2) rec[-1]
    """,
    "many": "X_ERROR(1) 5 300\nM" + "".join(f" {k}" for k in range(400)) + "\nDETECTOR rec[-100]\n" * 77,
    "no detectors": "X 0\nM 0 1\nOBSERVABLE_INCLUDE(1) rec[-2]",
    "no observables": "X_ERROR(1) 0\nM 0 1\nDETECTOR rec[-2]\nDETECTOR rec[-1]",
    "nothing": "H 0",
}
"""Circuits whose shots are all the same."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.stim").write_text(T_CIRCUIT)
    return tmp_path


def run(*arguments: object) -> None:
    assert main([str(argument) for argument in arguments]) == 0


def run_stim(*arguments: object) -> None:
    assert stim.main(command_line_args=[str(argument) for argument in arguments]) == 0


def written(name: str) -> bytes:
    """The bytes of a file. For 0 shots, Stim may write none."""
    return Path(name).read_bytes() if name.startswith("own") or Path(name).exists() else b""


@pytest.mark.parametrize("name", CERTAIN)
@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("shots", [0, 1, 640])
def test_shots_that_are_certain_are_the_same_bytes_as_stims(
    name: str, file_format: ShotFormat, shots: int, here: Path
) -> None:
    if file_format == "ptb64" and shots == 1:
        shots = 64
    (here / "c.stim").write_text(CERTAIN[name])
    common = ("--in", "c.stim", "--shots", shots, "--out_format", file_format)
    for arguments in (
        ("sample", *common),
        ("sample", *common, "--skip_reference_sample", "--skip_loop_folding"),
        ("detect", *common),
        ("detect", *common, "--append_observables"),
    ):
        run(*arguments, "--out", "own")
        run_stim(*arguments, "--out", "stim")
        assert written("own") == written("stim"), arguments
    arguments = ("detect", "--in", "c.stim", "--shots", shots, "--obs_out_format", file_format)
    run(*arguments, "--out", "own", "--obs_out", "own_obs")
    run_stim(*arguments, "--out", "stim", "--obs_out", "stim_obs")
    assert written("own") == written("stim")
    assert written("own_obs") == written("stim_obs")


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--decompose_errors",),
        ("--fold_loops",),
        ("--allow_gauge_detectors",),
        ("--approximate_disjoint_errors",),
        ("--approximate_disjoint_errors", "0.3"),
        ("--decompose_errors", "--ignore_decomposition_failures"),
        ("--decompose_errors", "--block_decompose_from_introducing_remnant_edges", "--fold_loops"),
    ],
    ids=" ".join,
)
def test_error_models_are_the_same_bytes_as_stims(flags: tuple[str, ...], here: Path) -> None:
    stim.Circuit.generated(
        "surface_code:rotated_memory_z", distance=3, rounds=5, after_clifford_depolarization=0.01
    ).to_file("c.stim")
    if flags[:1] == ("--allow_gauge_detectors",):
        Path("c.stim").write_text("R 0\nH 0\nCX 0 1\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]")
    if flags[:1] == ("--approximate_disjoint_errors",):
        Path("c.stim").write_text("PAULI_CHANNEL_1(0.1, 0.2, 0) 0\nM 0\nDETECTOR rec[-1]")
    run("analyze_errors", "--in", "c.stim", *flags, "--out", "own")
    run_stim("analyze_errors", "--in", "c.stim", *flags, "--out", "stim")
    assert Path("own").read_bytes() == Path("stim").read_bytes()
    assert b"error" in Path("own").read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("timeline-text",),
        ("timeline-text", "--remove_noise"),
        ("timeline-svg",),
        ("timeslice-svg", "--tick", "2"),
        ("timeslice-svg", "--tick=2:4"),
        ("detslice-text", "--tick", "2"),
        ("detslice-svg", "--tick", "5", "--filter_coords", "2,2:D3:L0"),
        ("detslice-with-ops-svg", "--tick", "1:5", "--remove_noise"),
        ("timeline-3d",),
        ("timeline-3d-html",),
        ("matchgraph-svg",),
        ("matchgraph-3d",),
        ("interactive",),
    ],
    ids=" ".join,
)
def test_diagrams_are_stims(arguments: tuple[str, ...], here: Path) -> None:
    stim.Circuit.generated(
        "surface_code:rotated_memory_z", distance=3, rounds=2, after_clifford_depolarization=0.01
    ).to_file("c.stim")
    run("diagram", "--in", "c.stim", "--type", *arguments, "--out", "own")
    run_stim("diagram", "--in", "c.stim", "--type", *arguments, "--out", "stim")
    own = re.sub('<rect width="[^"]*" height="[^"]*" fill="white"/>\n?', "", Path("own").read_text(), count=1)
    assert own == Path("stim").read_text()


@pytest.mark.parametrize("command", ["sample", "detect", "analyze_errors", "diagram"])
def test_every_flag_of_stim_exists(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    run_stim("help", command)
    [synopsis] = re.findall(r"SYNOPSIS\n(.*)\nDESCRIPTION", capfd.readouterr().out, re.DOTALL)
    flags = set(re.findall(r"--\w+", synopsis))
    assert len(flags) >= 6
    assert flags <= flags_of(command)


@pytest.mark.parametrize("command", ["sample", "detect"])
def test_a_seed_fixes_the_shots_and_they_are_those_of_python(command: str, here: Path) -> None:
    arguments = (command, "--in", "t.stim", "--shots", 1000, "--out_format", "b8")
    run(*arguments, "--seed", 5, "--out", "first")
    run(*arguments, "--seed", 5, "--out", "again", "--threads", 2)
    run(*arguments, "--seed", 6, "--out", "other")
    assert Path("first").read_bytes() == Path("again").read_bytes() != Path("other").read_bytes()
    circuit = snc.Circuit(T_CIRCUIT)
    sampler = (
        circuit.compile_sampler(seed=5) if command == "sample" else circuit.compile_detector_sampler(seed=5)
    )
    assert Path("first").read_bytes() == sampler.sample(1000, bit_packed=True).tobytes()


@pytest.mark.parametrize(
    ("which", "detectors", "observables"),
    [
        (["all"], [True, True], [False]),
        (["none"], [False, False], [False]),
        (["non_zero_4th_coord"], [True, False], [False]),
        (["D1", "L0"], [False, True], [True]),
    ],
)
def test_postselection_keeps_the_shots_that_python_keeps(
    which: list[str], detectors: list[bool], observables: list[bool], here: Path
) -> None:
    arguments = ("detect", "--in", "t.stim", "--shots", 1000, "--seed", 5, "--postselect", *which)
    run(*arguments, "--out_format", "b8", "--out", "dets", "--obs_out", "obs", "--obs_out_format", "b8")
    run(*arguments, "--out_format", "dets", "--out", "both")
    sampler = snc.Circuit(T_CIRCUIT).compile_detector_sampler(
        seed=5, postselection_mask=np.array(detectors), postselected_observables_mask=np.array(observables)
    )
    kept = sampler.sample_kept(1000)
    assert Path("dets").read_bytes() == kept.dets.tobytes()
    assert Path("obs").read_bytes() == kept.obs.tobytes()
    assert 300 < len(kept.dets) <= 1000
    both = stim.read_shot_data_file(
        path="both", format="dets", num_detectors=2, num_observables=1, bit_packed=True
    )
    np.testing.assert_array_equal(both, kept.dets | kept.obs << 2)


def test_models_plans_and_pictures_are_those_of_python(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    circuit = snc.Circuit(cultivation_circuit(3, p=1e-3))
    circuit.to_file("d3.stim")
    every = np.ones(circuit.num_detectors, dtype=np.bool_)
    run("plan", "--in", "d3.stim")
    assert capfd.readouterr().out == f"{circuit.plan()}\n"
    run("plan", "--in", "d3.stim", "--postselect", "all", "--method", "sample_kept")
    assert capfd.readouterr().out == f"{circuit.plan('sample_kept', postselection_mask=every)}\n"
    run("diagram", "--in", "d3.stim", "--type", "timeslice-svg", "--tick", "10:12", "--remove_noise")
    picture = circuit.without_noise().diagram("timeslice-svg", tick=range(10, 12))
    assert capfd.readouterr().out == f"{picture}\n"
    run("analyze_errors", "--in", "d3.stim", "--kind", "noise_only", "--postselect", "D0", "D1")
    mask = np.arange(circuit.num_detectors) < 2
    with pytest.warns(snc.InexactErrorModelWarning):
        model = circuit.detector_error_model(kind="noise_only", postselection_mask=mask, flatten_loops=True)
    captured = capfd.readouterr()
    assert captured.out == f"{model}\n"
    assert captured.err.startswith("stim-nonclifford analyze_errors: warning: Detectors depend on outcomes")


def test_rates_and_faults_are_those_of_python(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    circuit = snc.Circuit(cultivation_circuit(3, p=1e-3))
    circuit.to_file("d3.stim")
    run(
        *[
            "estimate",
            "--in",
            "d3.stim",
            "--postselect",
            "all",
            "--seed",
            "5",
            "--relative_error",
            "0.1",
            "--error_budget",
            "noise",
        ]
    )
    rate = circuit.logical_error_rate(postselection_mask="all", seed=5, relative_error=0.1)
    printed = capfd.readouterr().out
    seconds = r"cost: [\d.]+ s\n"
    assert re.sub(seconds, "", printed) == re.sub(seconds, "", f"{rate}\n\n{rate.error_budget('noise')}\n")

    run("faults", "--in", "d3.stim", "--postselect", "all")
    first, *blocks = capfd.readouterr().out.split("\n\n")
    sets = circuit.malignant_sets(postselection_mask="all")
    assert first.startswith(f"fault distance: 2\nmalignant sets: {len(sets)}, ")
    assert len(blocks) == len(sets)
    for block, malignant in zip(blocks, sets, strict=True):
        lines = block.splitlines()[1:]
        assert [line.strip().partition("  (")[0] for line in lines] == [str(f) for f in malignant.faults]
        others = [len(next(c for c in malignant.causes if c[0] == f)) - 1 for f in malignant.faults]
        assert [int((re.findall(r"\(or (\d+) other", line) or [0])[0]) for line in lines] == others

    circuit = snc.Circuit("X_ERROR(0.1) 0 1\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    circuit.to_file("c.stim")
    run("faults", "--in", "c.stim", "--postselect", "all")
    assert re.fullmatch(r"fault distance: at least \d\n", capfd.readouterr().out)
    Path("c.stim").write_text("X_ERROR(0.1) 0 1\nM 0 1\nOBSERVABLE_INCLUDE(0) rec[-1]")
    run("faults", "--in", "c.stim")
    assert capfd.readouterr().out.startswith("fault distance: 1\nmalignant sets: 1, ")


def test_a_logical_state_is_checked(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
        RX 1
        T 1
        E(0.2) Z1 X2
        Z_ERROR(0.01) 1
        M 2
        DETECTOR rec[-1]
        EXP_VAL X1 Y1
        OBSERVABLE_INCLUDE(0) X1
        OBSERVABLE_INCLUDE(1) Y1
    """
    Path("c.stim").write_text(text)
    rate = snc.Circuit(text).logical_error_rate(postselection_mask="all", state_check="T", seed=5)
    assert rate.logical_error_rate == pytest.approx(0.01)
    numbers = "LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))"
    for state in ("T", numbers):
        run("faults", "--in", "c.stim", "--postselect", "all", "--state_check", state)
        assert capfd.readouterr().out.startswith("fault distance: 1\n")
    # Both spellings are one command.
    asked = ["estimate", "--in", "c.stim", "--postselect", "all", "--seed", "5", "--state_check"]
    for program in (main, sinter_main):
        assert program([*asked, numbers]) == 0
        assert capfd.readouterr().out.splitlines()[:2] == str(rate).splitlines()[:2]
    assert main([*asked, "t"]) == 2
    assert "'t' is neither one of T" in capfd.readouterr().err


def test_circuits_are_written_with_all_digits(here: Path) -> None:
    p = 0.0012345678901234
    run("generate", "distillation", "--t_error", p, "--out", "a.stim")
    run("generate", "distillation", "--t_error", p, "--out_dir", "circuits")
    [path] = Path("circuits").iterdir()
    assert stim.Circuit.from_file("a.stim") == stim.Circuit.from_file(path) == distillation_circuit(t_error=p)


def test_one_circuit_is_generated_to_standard_output(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run("generate", "cultivation", "--p", 0.001)
    assert capfd.readouterr().out == f"{cultivation_circuit(3, p=0.001)}\n"
    for readout in ("T", "expectation_values"):
        flags = ("--escape_distance", 7, "--rounds", 1, "--readout", readout)
        run("generate", "cultivation", "--p", 0.001, *flags, "--out", "a.stim")
        assert stim.Circuit.from_file("a.stim") == end_to_end_circuit(3, 7, 0.001, rounds=1, readout=readout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "stim-nonclifford: error: which command?"),
        ("frobnicate", "stim-nonclifford: error: there is no command frobnicate"),
        ("--shots 5 sample", "the command comes first, but the first argument is --shots"),
        ("sample --in none.stim", "stim-nonclifford sample: error: [Errno 2] No such file"),
        ("sample --in .", "Is a directory: '.'"),
        ("sample --in wrong.stim", "sample: error: wrong.stim, line 2: `FOO 1`: Gate not found: 'FOO'."),
        ("plan --in open.stim", "plan: error: open.stim: Unterminated block."),
        ("plan --in binary.stim", "plan: error: binary.stim is not in UTF-8"),
        ("sample --in t.stim --shots 3x", "argument --shots: '3x' is not a whole number"),
        ("sample --in t.stim --shots=-3", "argument --shots: -3 is not between 0 and 1000000000000000000"),
        ("sample --in t.stim --seed=-1", "argument --seed: -1 is not between 0 and 18446744073709551615"),
        ("sample --in t.stim --sh 3", "unrecognized arguments: --sh 3"),
        ("sample --in t.stim 5", "unrecognized arguments: 5"),
        ("sample --in t.stim --threads 0", "argument --threads: 0 is not between 1 and 1024"),
        ("sample --in t.stim --out_format b9", "argument --out_format: invalid choice: 'b9'"),
        ("sample --in t.stim --out_format ptb64", "shots must be a multiple of 64"),
        ("sample --in t.stim --out none/out", "No such file or directory: 'none/out'"),
        ("sample --in wide.stim --max_active_coordinates 1", "wide.stim: The circuit needs 2 active"),
        ("detect --in t.stim --out_format dets --obs_out o", "dets, which has the observables and --obs_out"),
        ("detect --in t.stim --postselect D2", "--postselect: there is no D2; the circuit has 2 detectors."),
        ("detect --in t.stim --postselect L1", "there is no L1; the circuit has 1 observables."),
        ("detect --in t.stim --postselect 3", "--postselect: '3' is none of"),
        ("analyze_errors --in t.stim", "--kind noise_only exists for every circuit"),
        ("analyze_errors --in t.stim --postselect L0", "on detectors only, not on observables"),
        ("analyze_errors --in s.stim --approximate_disjoint_errors 2", "must be a probability from 0 to 1"),
        ("diagram --in t.stim --type picture", "diagram: error: t.stim: "),
        ("diagram --in t.stim --tick a", "argument --tick: 'a' is neither a number nor START:END"),
        ("diagram --in t.stim --filter_coords a", "argument --filter_coords: 'a' is neither a list"),
        ("estimate --in wide.stim", "estimate: error: wide.stim: The circuit has no observables"),
        ("faults --in s.stim", "s.stim: 2 of 2 detectors are neither postselected nor"),
        ("estimate --in s.stim", "Either decode: `stim-nonclifford estimate --in FILE --decoder pymatching`"),
        ("estimate --in t.stim --circuits t.stim", "--in is for one circuit, and --circuits for several"),
        ("estimate --in t.stim --postselect all --postselected_detectors_predicate True", "Leave one of them out."),
        ("estimate --in t.stim --decoder pymatching --postselect L0", "Postselect detectors only;"),
        ("faults --in t.stim --postselect none", "t.stim: 2 of 2 detectors are neither postselected nor"),
        ("estimate --in t.stim --relative_error 0", "argument --relative_error: '0' is not a positive number"),
        ("generate", "the following arguments are required: FAMILY"),
        ("generate cultivation --p 0.1 --out a --out_dir b", "--out is for one circuit, and --out_dir"),
        ("collect --circuits wrong.stim", "collect: error: "),
        ("combine none.csv", "stim-nonclifford combine: error: [Errno 2] No such file"),
    ],
)  # fmt: skip
def test_wrong_input(arguments: str, message: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("wrong.stim").write_text("H 0\nFOO 1")
    Path("open.stim").write_text("REPEAT 3 {")
    Path("binary.stim").write_bytes(b"\xff\xfe")
    Path("wide.stim").write_text("H 0 1 2\nT 0 1 2\nMPP X0*X1*X2")
    Path("s.stim").write_text(Path("t.stim").read_text().replace("    T 0 1\n", ""))
    before = set(here.iterdir())
    assert main(arguments.split()) == 2
    captured = capfd.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert set(here.iterdir()) == before


def test_dask_that_is_not_installed(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("dask", "distributed"):  # other tests may have imported it
        monkeypatch.setitem(sys.modules, name, None)
    arguments = ["--circuits", "t.stim", "--decoders", "soft_postselect", "--max_shots", "9"]
    assert main(["collect", *arguments, "--dask", "local"]) == 2
    assert "pip install '.[dask]'" in capfd.readouterr().err


def flags_of(command: str) -> set[str]:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"stim_nonclifford.commands.{command}").add_arguments(parser)
    return set(parser._option_string_actions)


def test_help_names_all_commands_and_imports_little() -> None:
    code = (
        "import sys; from stim_nonclifford.commands import main;"
        " assert main(['--help']) == main(['help', 'sample']) == main(['generate', '--help']) == 0;"
        " print(*sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for name in (*COMMANDS, *SINTER_COMMANDS):
        assert re.search(rf"^  {name} +\w", printed, re.MULTILINE)
    assert "usage: stim-nonclifford sample [-h] [--in FILE]" in printed
    assert {"stim", "numpy"} <= set(printed.split())
    assert {"sinter", "sinter_plugin", "pymatching", "matplotlib", "scipy"}.isdisjoint(printed.split())


@pytest.mark.parametrize("command", [*COMMANDS, *SINTER_COMMANDS])
def test_help_of_a_command(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == main(["help", command]) == 0
    printed = capfd.readouterr().out
    assert printed.count("usage: ") >= 2
    assert not re.findall(r"[ []--\w+-\w+", printed)  # flags have underscores


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    run("--version")
    assert capfd.readouterr().out == f"{snc.__version__}\n"
