"""NVRTC, the compiler for GPUs, from the package nvidia-cuda-nvrtc: it needs no GPU."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from stim_nonclifford.engines.gpu.cuda_source import COMPILE_OPTIONS

__all__ = ["Usage", "compile_for", "find_nvrtc"]


@dataclass(frozen=True)
class Usage:
    """What a kernel needs of a multiprocessor, as ptxas reports it."""

    registers: int
    spilled_bytes: int
    static_shared_bytes: int
    log: str


def find_nvrtc() -> ctypes.CDLL | None:
    """The library, if its package is installed."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    return None


def compile_for(nvrtc: ctypes.CDLL, source: str, architecture: str) -> Usage:
    """Compiles to machine code, e.g. for ``"sm_90"``.

    Raises:
        AssertionError: The compiler has errors or warnings.
    """
    program = ctypes.c_void_p()
    code = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    assert code == 0
    try:
        options = [*COMPILE_OPTIONS, f"--gpu-architecture={architecture}", "--ptxas-options=-v"]
        arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        code = nvrtc.nvrtcCompileProgram(program, len(options), arguments)
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, buffer)
        log = buffer.value.decode()
        assert code == 0, log
        assert "warning" not in log, log
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        assert size.value > 0
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return Usage(
        registers=_number(r"Used (\d+) registers", log),
        spilled_bytes=_number(r"(\d+) bytes spill stores", log),
        static_shared_bytes=_number(r"(\d+) bytes smem", log),
        log=log,
    )


def _number(pattern: str, log: str) -> int:
    found = re.search(pattern, log)
    return int(found.group(1)) if found else 0
