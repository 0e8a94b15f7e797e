"""The machine code that ptxas makes of a kernel's PTX, by line of the PTX and by function of the source.

Needs the packages nvidia-cuda-nvcc (for ptxas) and nvidia-cuda-nvdisasm; ``pip install '.[kernels]'`` gives both.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path

from stim_nonclifford.simulation.engines.gpu.cuda_source import COMPILE_OPTIONS

from .machine.kernels import ptx_for

__all__ = ["function_at", "machine_code", "pipe_of", "source_lines", "tools_missing"]

_PIPES = {
    "fp64": ("DFMA", "DMUL", "DADD", "DSETP"),
    "multiply": ("IMAD",),
    "slow": ("POPC", "FLO", "BREV", "MUFU", "I2F", "F2I"),
    "memory": ("LD", "ST", "ATOM", "RED", "SHFL", "BAR", "VOTE"),
    "control": ("BRA", "BSSY", "BSYNC", "EXIT", "WARPSYNC", "CALL", "RET", "BREAK", "YIELD", "BMOV"),
    "uniform": ("U", "R2U", "S2UR"),
}


def _tool(name: str) -> str | None:
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob(f"*/bin/{name}")):
            return str(path)
    return None


def tools_missing() -> str | None:
    """What is missing to count machine code, or None."""
    lacking = [name for name in ("ptxas", "nvdisasm") if _tool(name) is None]
    return f"needs {' and '.join(lacking)}: pip install '.[kernels]'" if lacking else None


@cache
def machine_code(ptx: str, architecture: str) -> dict[int, list[str]]:
    """The opcodes of the machine code by line of the PTX.

    Code that only warps run that have diverged at a shuffle or a vote is left out.

    Args:
        ptx: The PTX.
        architecture: The architecture, e.g. ``"sm_90"``.
    """
    ptxas, nvdisasm = _tool("ptxas"), _tool("nvdisasm")
    assert ptxas is not None, tools_missing()
    assert nvdisasm is not None, tools_missing()
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        command = [ptxas, f"-arch={architecture}", "-lineinfo", str(source), "-o", str(cubin)]
        subprocess.run(command, check=True)
        command = [nvdisasm, "-gp", "-c", str(cubin)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: defaultdict[int, list[str]] = defaultdict(list)
    apart = set(re.findall(r"BRA\.DIV.*`\((\.L_\w+)\)", text))
    line, is_apart = 0, False
    for row in text.splitlines():
        if row.rstrip(":") in apart:
            is_apart = True
        elif is_apart:
            is_apart = not re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+BRA `", row)
        elif found := re.search(r"//## File .*, line (\d+)", row):
            line = int(found[1])
        elif found := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?\s*(?!NOP)([A-Z][\w.]*)", row):
            result[line].append(found[1])
    return dict(result)


def pipe_of(opcode: str) -> str:
    """The kind of unit that executes an instruction."""
    return next((pipe for pipe, heads in _PIPES.items() if opcode.startswith(heads)), "int")


@cache
def source_lines(source: str, architecture: str) -> dict[int, int]:
    """The line of the CUDA source for each line of the PTX; empty if line numbers change the code.

    Args:
        source: The CUDA source.
        architecture: The virtual architecture, e.g. ``"compute_90"``.
    """
    plain = ptx_for(source, COMPILE_OPTIONS, architecture).splitlines()
    numbered = ptx_for(source, (*COMPILE_OPTIONS, "--generate-line-info"), architecture).splitlines()
    is_instruction = re.compile(r"\s+(@!?%p\d+\s+)?[a-z][\w.:]*.*;").match
    found, last = [], 0
    for row in numbered:
        if at := re.match(r"\s*\.loc\s+\d+ (\d+)", row):
            last = int(at[1])
        elif is_instruction(row):
            found.append((row, last))
    wanted = [(k, row) for k, row in enumerate(plain, 1) if is_instruction(row)]
    if [row for _, row in wanted] != [row for row, _ in found]:
        return {}
    return {k: line for (k, _), (_, line) in zip(wanted, found, strict=True)}


def function_at(source: list[str], line: int) -> str:
    """The function of the source in which a line is."""
    for text in reversed(source[:line]):
        if found := re.match(r"(?:    )?(?:template.*>\s*)?(?:SNC_\w+|__device__).*?(\w+)\(", text):
            return found[1]
    return "?"
