"""The wheel of this checkout, built, and installed where the checkout is out of sight."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*command: str | Path, folder: Path = ROOT, variables: Mapping[str, str] | None = None) -> str:
    """The output of a command, without the variables that lead Python to other modules."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= variables or {}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}:\n{result.stdout}\n{result.stderr}"
    return result.stdout


def build_tools_are_here() -> bool:
    modules = ("scikit_build_core", "nanobind")
    cmake = shutil.which("cmake") or importlib.util.find_spec("cmake")
    return all(importlib.util.find_spec(name) for name in modules) and bool(cmake)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout. With the tools that ``make test`` installs, nothing is compiled again."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # the same for all processes: the first one builds, the others wait
    folder = shared / "wheel"
    with open(shared / "wheel.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*.whl")):
            tools = ["--no-build-isolation"] if build_tools_are_here() else []
            run(sys.executable, "-m", "pip", "wheel", "-q", *tools, "--no-deps", "--wheel-dir", folder, ROOT)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def wheel_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
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
