"""Compiles kernels: CUDA to PTX by NVRTC, PTX to C++ by ``language``, and C++ by g++."""

import ctypes
import hashlib
import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Literal

from benchmarks.gpu.nvrtc import find_nvrtc, ptx_of

from ..language.translation import Kernel, translate

Mode = Literal["plain", "races"]
"""Plain: a random order of threads. Races: conflicting accesses are reported too."""

_RUNTIME = Path(__file__).parent / "runtime"
_CACHE = Path(__file__).parents[5] / "build" / "ptx_kernels"
_FLAGS = ("-std=c++17", "-O1", "-march=x86-64-v3", "-ffp-contract=off", "-w", "-fPIC", "-shared")
_DEFINITIONS: dict[Mode, tuple[str, ...]] = {"plain": (), "races": ("-DPTX_RACES",)}


class Allocation(ctypes.Structure):
    """As in ``runtime/launch.h``."""

    _fields_ = (("begin", ctypes.c_uint64), ("size", ctypes.c_uint64), ("shadow", ctypes.c_void_p))


class Request(ctypes.Structure):
    """As in ``runtime/launch.h``."""

    _fields_ = (
        ("allocations", ctypes.c_void_p),
        ("num_allocations", ctypes.c_uint64),
        ("params", ctypes.c_void_p),
        ("num_blocks", ctypes.c_uint32),
        ("block_threads", ctypes.c_uint32),
        ("dynamic_shared", ctypes.c_uint32),
        ("preempt", ctypes.c_uint32),
        ("random", ctypes.c_uint64),
        ("message", ctypes.c_void_p),
        ("tick", ctypes.c_void_p),
        ("touched", ctypes.c_void_p),
    )


def missing() -> str | None:
    """What this machine lacks to run kernels, or None."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return "needs Linux on x86-64, for which the switch between fibres is written"
    if "avx2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        return "needs a processor with AVX2"
    if shutil.which("g++") is None:
        return "needs g++"
    if find_nvrtc() is None:
        return "needs NVRTC: pip install nvidia-cuda-nvrtc"
    return None


@cache
def _translated(source: str, options: tuple[str, ...], architecture: str) -> Kernel:
    nvrtc = find_nvrtc()
    assert nvrtc is not None, missing()
    return translate(ptx_of(nvrtc, source, architecture, options))


class CompiledKernel:
    """A kernel as a shared library, which is kept by its content."""

    def __init__(self, source: str, options: tuple[str, ...], architecture: str, mode: Mode) -> None:
        self.kernel = _translated(source, options, architecture)
        library = ctypes.CDLL(str(_library(self.kernel.cpp, (*_FLAGS, *_DEFINITIONS[mode]))))
        self._begin, self._run, self._end = library.ptx_begin, library.ptx_run, library.ptx_end
        self._begin.restype = ctypes.c_void_p
        self._run.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        self._end.argtypes = [ctypes.c_void_p]

    def begin(self, request: Request) -> int:
        """Begins a launch; returns a handle. What the request points to must stay until the launch has ended."""
        launch = self._begin(ctypes.byref(request))
        if not launch:
            raise MemoryError("no memory for the stacks of the threads")
        return int(launch)

    def run(self, launch: int, turns: int) -> int:
        """Lets threads run so many times. Returns 0 if some are left, 1 if all have ended, 2 if one has failed."""
        return int(self._run(launch, turns))

    def end(self, launch: int) -> None:
        """Frees the memory of a launch."""
        self._end(launch)

    def explained(self, line: str) -> str:
        """A message, with the instructions that it numbers."""
        for found in dict.fromkeys(re.findall(r"sites? (\d+)|and (?:then )?(\d+)", line)):
            number = int(found[0] or found[1])
            if number < len(self.kernel.sites):
                site = self.kernel.sites[number]
                line += f"\n    {self.kernel.name}: {number} is line {site.line}: {site.text}"
        return line


def _library(cpp: str, flags: tuple[str, ...]) -> Path:
    headers = "".join(path.read_text(encoding="utf-8") for path in sorted(_RUNTIME.glob("*.h")))
    name = hashlib.sha256("\0".join((cpp, headers, *flags)).encode()).hexdigest()[:24]
    library = _CACHE / f"{name}.so"
    if not library.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        # Other processes may make the same one.
        code, made = (library.with_suffix(f".{os.getpid()}{end}") for end in (".cc", ".so"))
        code.write_text(cpp, encoding="utf-8")
        subprocess.run(["g++", *flags, f"-I{_RUNTIME}", str(code), "-o", str(made)], check=True)
        code.unlink()
        made.rename(library)
    return library
