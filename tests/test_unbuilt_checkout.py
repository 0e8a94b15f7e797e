"""Python started in a checkout that is not built says what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import stim

PACKAGE = Path(__file__).parents[1] / "stim_nonclifford"
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
    assert "'pip install -e .'" in message
    assert "'make demo'" in message


def test_other_failures_keep_their_message(tmp_path: Path) -> None:
    (tmp_path / "stim_nonclifford").mkdir()
    shutil.copy(PACKAGE / "__init__.py", tmp_path / "stim_nonclifford")
    (tmp_path / "stim_nonclifford" / "_native.py").write_text("import a_library_that_is_missing")
    assert "No module named 'a_library_that_is_missing'" in import_in(tmp_path).splitlines()[-1]
