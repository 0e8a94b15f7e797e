"""Runs an installed wheel: README's code, the commands, and a decoder.

    python -I .ci/smoke.py README.md [--no_compiler]

To be run in an empty folder. With ``--no_compiler``, it fails if a compiler is on the path.
"""

from __future__ import annotations

import pathlib
import platform
import re
import shutil
import subprocess
import sys

import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc

COMMAND = shutil.which("stim-nonclifford", path=str(pathlib.Path(sys.executable).parent)) or ""


def main(readme: str) -> None:
    """Runs everything; fails with an exception."""
    for module in (snc, sinter_plugin):
        assert pathlib.Path(module.__file__ or "").is_relative_to(sys.prefix), module.__file__
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    exec(compile("\n".join(blocks), "README.md", "exec"), {"__name__": "__main__"})
    cultivation = pathlib.Path("cultivation.stim")
    run(COMMAND, "generate", "cultivation", "--distance", "3", "--p", "0.001", "--out", str(cultivation))
    run(COMMAND, "detect", "--in", str(cultivation), "--shots", "5", "--postselect", "all")
    surface_code = pathlib.Path("surface_code.stim")
    stim.Circuit.generated(
        "surface_code:rotated_memory_x", distance=3, rounds=3, after_clifford_depolarization=0.01
    ).to_file(surface_code)
    for circuit, decoder in ((cultivation, "soft_postselect"), (surface_code, "soft_pymatching")):
        run(
            *(COMMAND, "collect", "--circuits", str(circuit), "--decoders", decoder, "--quiet"),
            *("--max_shots", "100000", "--processes", "1", "--save_resume_filepath", "stats.csv"),
        )
    found = {row.decoder: row for row in sinter.read_stats_from_csv_files("stats.csv")}
    assert {row.shots for row in found.values()} == {100_000}, found
    assert 0 < found["soft_postselect"].discards < 100_000
    assert 0 < found["soft_pymatching"].errors < 100_000
    print(f"Python {platform.python_version()}: {snc.__file__} works")


def run(*arguments: str) -> None:
    """Runs a command."""
    subprocess.run(arguments, check=True)


if __name__ == "__main__":
    if "--no_compiler" in sys.argv:
        for compiler in ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake"):
            assert shutil.which(compiler) is None, f"there is a compiler on the path: {compiler}"
    main(sys.argv[1])
