"""NVRTC, the compiler for GPUs, from the package nvidia-cuda-nvrtc: it needs no GPU.

python -m benchmarks.gpu.nvrtc    # the machine code of each kernel, as a table: counts, not measurements
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stim_nonclifford.simulation.engines.gpu.cuda_source import (
    COMPILE_OPTIONS,
    NOISE_TEAM,
    KernelLaunch,
    cuda_source,
    noise_threads,
)

_INSTRUCTION_BYTES = 16  # since Volta
_REGISTERS = 1 << 16
_MOST_WARPS = 64

# Numbers of check, signature and output words. Postselected cultivation has (1, 1, 1) for d=3, (2, 1, 1)
# for d=5.
LAYOUTS = [(0, 0, 1), (0, 1, 1), (1, 1, 1), (2, 1, 1), (0, 2, 4), (2, 3, 2), (6, 1, 1), (1, 6, 1), (0, 1, 7)]

KERNELS = {
    **{
        f"noise {layout} {in_shared}{', followed' * follows}": KernelLaunch(
            "noise",
            noise_threads(sum(layout or ()), follows),
            1,
            team_size=NOISE_TEAM,
            layout=layout,
            in_shared=in_shared,
            follows=follows,
        )
        for layout in (None, *LAYOUTS)
        for in_shared in (True, False)
        for follows in (False, True)
    },
    "walk": KernelLaunch("walk", 256, 1, min_blocks=2),
    "walk, separate": KernelLaunch("walk", 256, 1, min_blocks=2, separate=True),
    **{
        f"simulate {team_size} {in_shared}{', separate' * separate}": KernelLaunch(
            "simulate",
            threads,
            1,
            min_blocks=512 // threads,
            team_size=team_size,
            in_shared=in_shared,
            separate=separate,
        )
        for team_size, threads, in_shared, separate in (
            (32, 128, True, False),
            (128, 128, True, False),
            (256, 256, True, False),
            (512, 512, False, False),
            (512, 512, False, True),
        )
    },
}
"""All kinds of kernels, by name, team size or layout, where tables or vectors are, and leakage."""


@dataclass(frozen=True)
class Usage:
    """What a kernel needs of a multiprocessor, as ptxas reports it."""

    instructions: int  # number of instructions in the machine code, including those that fill up its end
    registers: int  # number of registers per thread
    spilled_bytes: int  # bytes per thread that do not fit into registers
    static_shared_bytes: int  # bytes of shared memory whose number is known when the kernel is compiled
    log: str  # what the compiler says


def find_nvrtc() -> ctypes.CDLL | None:
    """The library, if its package is installed."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    return None


def compile_for(nvrtc: ctypes.CDLL, source: str, architecture: str) -> Usage:
    """Compiles to machine code, e.g. for ``"sm_90"``."""
    options = (*COMPILE_OPTIONS, f"--gpu-architecture={architecture}", "--ptxas-options=-v")
    cubin, log = _compiled(nvrtc, source, options, "CUBIN")
    return Usage(
        instructions=_code_bytes(cubin) // _INSTRUCTION_BYTES,
        registers=_number(r"Used (\d+) registers", log),
        spilled_bytes=_number(r"(\d+) bytes spill stores", log),
        static_shared_bytes=_number(r"(\d+) bytes smem", log),
        log=log,
    )


def ptx_of(
    nvrtc: ctypes.CDLL, source: str, architecture: str, options: tuple[str, ...] = COMPILE_OPTIONS
) -> str:
    """Compiles to PTX, e.g. for ``"compute_75"``."""
    ptx, _ = _compiled(nvrtc, source, (*options, f"--gpu-architecture={architecture}"), "PTX")
    return ptx.rstrip(b"\0").decode()


def _compiled(
    nvrtc: ctypes.CDLL, source: str, options: tuple[str, ...], kind: Literal["CUBIN", "PTX"]
) -> tuple[bytes, str]:
    """What NVRTC makes of a source, and what it says."""
    program = ctypes.c_void_p()
    code = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    assert code == 0
    try:
        arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        code = nvrtc.nvrtcCompileProgram(program, len(options), arguments)
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, buffer)
        log = buffer.value.decode()
        assert code == 0, log
        assert "warning" not in log, log
        getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
        made = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{kind}")(program, made)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return made.raw, log


def version_of(nvrtc: ctypes.CDLL) -> str:
    """The version of the library, e.g. ``"13.5"``."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def _code_bytes(cubin: bytes) -> int:
    """The size of the sections of machine code in an ELF file of 64 bits."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3C)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * k) for k in range(count)]
    starts = [sections[names][4] + section[0] for section in sections]
    return sum(
        section[5]
        for section, start in zip(sections, starts, strict=True)
        if cubin[start:].startswith(b".text.")
    )


def _number(pattern: str, log: str) -> int:
    found = re.search(pattern, log)
    return int(found.group(1)) if found else 0


def warps(kernel: KernelLaunch, usage: Usage) -> int:
    """The number of warps of a multiprocessor of sm_90 that have registers, which are allotted by eight."""
    per_thread = -(-usage.registers // 8) * 8
    blocks = min(_REGISTERS // (per_thread * kernel.block_threads), 32 * _MOST_WARPS // kernel.block_threads)
    # A block of the noise kernel fills a multiprocessor with its tables.
    return (1 if kernel.name == "noise" else blocks) * kernel.block_threads // 32


def main() -> int:
    """Prints the table for sm_90; returns 2 if there is no NVRTC."""
    nvrtc = find_nvrtc()
    if nvrtc is None:
        print("This needs NVRTC: pip install nvidia-cuda-nvrtc (Linux and Windows only)", file=sys.stderr)
        return 2
    print(f"NVRTC {version_of(nvrtc)}, sm_90\n")
    print("| kernel | instructions | registers | spilled bytes | warps per multiprocessor |")
    print("|---|---|---|---|---|")
    for name, kernel in KERNELS.items():
        usage = compile_for(nvrtc, cuda_source(kernel), "sm_90")
        numbers = (usage.instructions, usage.registers, usage.spilled_bytes, warps(kernel, usage))
        print(f"| {name} | " + " | ".join(map(str, numbers)) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
