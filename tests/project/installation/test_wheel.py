"""The wheel has all that users need: built, installed where this checkout is out of sight, and run."""

import re
import textwrap
import zipfile
from pathlib import Path

import sinter

from ...support.processes.installed_wheel import ROOT, run

CULTIVATION = ROOT / "circuits" / "cultivation"


def test_wheel_has_all_modules_and_no_generic_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "stim_nonclifford",
        "sinter_plugin",
    }
    packed = {name for name in names if name.endswith(".py")}
    packages = [ROOT / "stim_nonclifford", ROOT / "sinter_plugin"]
    assert packed == {str(path.relative_to(ROOT)) for folder in packages for path in folder.rglob("*.py")}
    # Of the native sources, those that NVRTC compiles for a GPU are packed.
    native = ROOT / "stim_nonclifford" / "native"
    kernels = {str(path.relative_to(ROOT)) for path in (native / "kernels").rglob("*.*")}
    assert {name for name in names if name.startswith("stim_nonclifford/native/")} == kernels


def test_code_of_the_readme_runs_from_the_wheel_alone(wheel_python: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    assert len(blocks) == readme.count("```python") >= 4
    kernels = """
        from stim_nonclifford.simulation.engines.gpu.cuda_source import KernelLaunch, cuda_source
        sources = [cuda_source(KernelLaunch(name, 256, 1)) for name in ("noise", "walk", "simulate")]
        assert min(map(len, sources)) > 40_000
    """
    places = "print(snc.__file__, snc.generators.cultivation.__file__)"
    code = "\n".join([*blocks, textwrap.dedent(kernels), places])
    printed = run(wheel_python, "-I", "-c", code, folder=tmp_path)
    assert "SampleCounts(shots=100000000, " in printed
    assert "Plan: 394 mechanisms" in printed
    assert "logical error rate (any observable, per kept shot): 8.98" in printed
    for path in printed.splitlines()[-1].split():
        assert Path(path).is_relative_to(wheel_python.parents[1])
    assert not list(tmp_path.iterdir())


def test_commands_run_from_the_wheel_alone(wheel_python: Path, tmp_path: Path) -> None:
    written = run(
        *(wheel_python, "-I", "-m", "stim_nonclifford", "generate", "cultivation", "--d", "3"),
        *("--p", "0.001", "--gate", "T", "S", "--out_dir", "circuits"),
        folder=tmp_path,
    ).splitlines()
    assert len(written) == 2
    for name in written:
        assert (tmp_path / name).read_bytes() == (CULTIVATION / Path(name).name).read_bytes()
    run(
        *(wheel_python, "-I", "-m", "sinter_plugin", "collect", "--circuits", *written),
        *("--decoders", "soft_postselect", "--postselect_detectors_with_non_zero_4th_coord"),
        *("--max_shots", "1000", "--processes", "1", "--quiet", "--save_resume_filepath", "stats.csv"),
        folder=tmp_path,
    )
    found = sinter.read_stats_from_csv_files(tmp_path / "stats.csv")
    assert [statistics.shots for statistics in found] == [1000, 1000]
