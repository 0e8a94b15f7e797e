"""The wheel has all that users need: built, installed where this checkout is out of sight, and run."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
import sinter

ROOT = Path(__file__).parents[1]
DISTILLATION = ROOT / "circuits" / "distillation"
CULTIVATION = ROOT / "circuits" / "cultivation"
TELEPORTATION = ROOT / "circuits" / "teleportation"


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """The output of a command, without the variables that lead Python to other modules."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}:\n{result.stdout}\n{result.stderr}"
    return result.stdout


def build_tools_are_here() -> bool:
    modules = ("scikit_build_core", "nanobind")
    cmake = shutil.which("cmake") or importlib.util.find_spec("cmake")
    return all(importlib.util.find_spec(name) for name in modules) and bool(cmake)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout. With the tools that ``make test`` installs, nothing is compiled again."""
    folder = tmp_path_factory.mktemp("wheel")
    tools = ["--no-build-isolation"] if build_tools_are_here() else []
    run(sys.executable, "-m", "pip", "wheel", "-q", *tools, "--no-deps", "--wheel-dir", folder, ROOT)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel, which borrows NumPy, Stim and Sinter from here."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel)
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # Python reads no .pth files in folders that are added like this, so an editable installation stays unseen.
    borrowed = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (packages / "borrowed.pth").write_text("".join(f"{path}\n" for path in borrowed))
    return python


def test_wheel_has_the_circuits_and_no_generic_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "stim_nonclifford",
        "sinter_plugin",
    }
    packed = {Path(name).name for name in names if name.startswith("stim_nonclifford/cultivation/")}
    here = {path.name for path in CULTIVATION.iterdir() if path.suffix in (".py", ".stim")}
    assert packed == here  # neither the README nor its pictures
    assert sum(name.endswith(".stim") for name in packed) == 24
    packed = {Path(name).name for name in names if name.startswith("stim_nonclifford/distillation/")}
    assert packed == {path.name for path in DISTILLATION.iterdir() if path.suffix == ".py"}
    packed = {Path(name).name for name in names if name.startswith("stim_nonclifford/teleportation/")}
    assert packed == {path.name for path in TELEPORTATION.glob("*.py")}
    assert not [name for name in names if name.startswith("stim_nonclifford/native/")]


def test_code_of_the_readme_runs_from_the_wheel_alone(python: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    assert len(blocks) == readme.count("```python") >= 4
    code = "\n".join([*blocks, "print(snc.__file__, snc.cultivation.__file__)"])
    printed = run(python, "-I", "-c", code, folder=tmp_path)
    assert "SampleCounts(shots=100000000, " in printed
    assert "Plan: 394 mechanisms" in printed
    assert "OutcomeProbabilities(" in printed
    for path in printed.splitlines()[-1].split():
        assert Path(path).is_relative_to(python.parents[1])
    assert not list(tmp_path.iterdir())


def test_commands_run_from_the_wheel_alone(python: Path, tmp_path: Path) -> None:
    written = run(
        *(python, "-I", "-m", "stim_nonclifford.cultivation", "--d", "3", "--p", "0.001"),
        *("--gate", "T", "S", "--out", "circuits"),
        folder=tmp_path,
    ).splitlines()
    assert len(written) == 2
    for name in written:
        assert (tmp_path / name).read_bytes() == (CULTIVATION / Path(name).name).read_bytes()
    run(
        *(python, "-I", "-m", "sinter_plugin", "collect", "--circuits", *written),
        *("--decoders", "soft_postselect", "--postselect_detectors_with_non_zero_4th_coord"),
        *("--max_shots", "1000", "--processes", "1", "--quiet", "--save_resume_filepath", "stats.csv"),
        folder=tmp_path,
    )
    found = sinter.read_stats_from_csv_files(tmp_path / "stats.csv")
    assert [statistics.shots for statistics in found] == [1000, 1000]
