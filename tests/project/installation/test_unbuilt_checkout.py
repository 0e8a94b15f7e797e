"""Python started in a checkout that is not built says what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import stim

from ...support.processes.installed_wheel import run

PACKAGE = Path(__file__).parents[3] / "stim_nonclifford"
IMPORTS = """
import sys
sys.path[:0] = sys.argv[1:]
import numpy, stim, sinter
import stim_nonclifford
"""


def import_in(folder: Path) -> str:
    """What an interpreter that sees no installation of the package writes when it imports the one in a folder."""
    borrowed = dict.fromkeys(str(Path(module.__file__).parents[1]) for module in (numpy, stim))
    # With -S, Python reads no .pth files, and so finds no editable installation.
    command = [sys.executable, "-I", "-S", "-c", IMPORTS, str(folder), *borrowed]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    return result.stderr


def test_import_says_what_to_do(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "stim_nonclifford", ignore=ignored)
    message = import_in(tmp_path).splitlines()[-1]
    assert message.startswith(
        f"ImportError: stim_nonclifford in {tmp_path / 'stim_nonclifford'} is not built"
    )
    assert "'pip install .'" in message
    assert "'make install'" in message


@pytest.mark.slow
def test_a_clone_hides_the_installed_package_and_the_command_works_there(
    wheel_python: Path, tmp_path: Path
) -> None:
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    for name in ("stim_nonclifford", "sinter_plugin"):
        shutil.copytree(PACKAGE.parent / name, tmp_path / name, ignore=ignored)
    names = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for code in ("import stim_nonclifford", "import sinter_plugin"):
        command = [wheel_python, "-c", code]
        result = subprocess.run(command, cwd=tmp_path, env=names, capture_output=True, text=True, check=False)
        message = result.stderr.splitlines()[-1]
        assert f"{tmp_path / 'stim_nonclifford'} is not built" in message
        assert f"It hides the installed one in {wheel_python.parents[1]}" in message
        assert "The command 'stim-nonclifford' works here." in message
    if sys.version_info >= (3, 11):
        assert "'python -P'" in message
        run(wheel_python, "-P", "-c", "import sinter_plugin", folder=tmp_path)
    own = wheel_python.parent / "stim-nonclifford"
    run(own, "generate", "cultivation", "--p", "0.001", "--out", "a.stim", folder=tmp_path)
    assert run(own, "detect", "--in", "a.stim", "--shots", "7", folder=tmp_path).count("\n") == 7
    rows = run(
        *(own, "collect", "--circuits", "a.stim", "--decoders", "soft_postselect", "--max_shots", "1000"),
        *("--processes", "2", "--quiet"),
        folder=tmp_path,
    )
    assert "soft_postselect" in rows


def test_other_failures_keep_their_message(tmp_path: Path) -> None:
    (tmp_path / "stim_nonclifford").mkdir()
    shutil.copy(PACKAGE / "__init__.py", tmp_path / "stim_nonclifford")
    (tmp_path / "stim_nonclifford" / "_native.py").write_text("import a_library_that_is_missing")
    assert "No module named 'a_library_that_is_missing'" in import_in(tmp_path).splitlines()[-1]
