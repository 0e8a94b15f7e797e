"""The CUDA source of each kernel as one text, for NVRTC."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

COMPILE_OPTIONS = (
    "--std=c++17",
    "--fmad=false",
    "--device-as-default-execution-space",
    "--diag-suppress=177,186",
)
"""Options of NVRTC.

With ``--fmad=false``, products and sums are fused only where the source says so. The host then rounds exactly
as the device does. Functions without a mark are those of the device, as NVRTC otherwise takes generic lambdas
for functions of the host. Warning 177 is about constants of the headers that a kernel does not use, 186 about
comparisons of unsigned constants with 0.
"""

NOISE_TEAM = 128
"""Number of threads in a team that draws the noise of one block of shots."""

SIMULATION_TEAMS = (32, 128, 256, 512)
"""Possible numbers of threads in a team that simulates one shot."""


def noise_threads(row_words: int, follows: bool = False) -> int:
    """Number of threads per thread block of the noise kernel, as limited by the number of registers."""
    if follows:
        return 3 * NOISE_TEAM
    return (8 if 0 < row_words <= 4 else 4) * NOISE_TEAM


@dataclass(frozen=True)
class KernelLaunch:
    """The compile-time constants of a kernel for one plan, and the size of its launches."""

    name: Literal["noise", "walk", "simulate"]  # the name of the kernel
    block_threads: int  # number of threads per thread block
    num_blocks: int  # number of thread blocks per launch. Each of them works until no work is left
    shared_bytes: int = 0  # shared memory per thread block
    min_blocks: int = 1  # number of thread blocks for which a multiprocessor must have enough registers
    team_size: int = 32  # number of threads in a team
    # for ``noise``, the numbers of check words, signature words and output words in a row that is kept
    # in registers; None if rows are kept in memory
    layout: tuple[int, int, int] | None = None
    # for ``noise``, whether the tables are in shared memory. For ``simulate``, whether the coefficient
    # vector is
    in_shared: bool = False
    follows: bool = False  # for ``noise``, whether qubits leak or records decay
    # for ``walk`` and ``simulate``, whether each outcome has a random number of its own
    separate: bool = False

    @property
    def num_teams(self) -> int:
        """Number of teams per launch."""
        return self.num_blocks * (self.block_threads // self.team_size)

    @property
    def row_words(self) -> int:
        """For ``noise``, the number of words in a row; 0 if rows are kept in memory."""
        return sum(self.layout) if self.layout else 0


def cuda_source(kernel: KernelLaunch) -> str:
    """The source of a kernel, with all included files in place."""
    definitions = {
        "BLOCK_THREADS": kernel.block_threads,
        "MIN_BLOCKS": kernel.min_blocks,
        "TEAM_SIZE": kernel.team_size,
        "LAYOUT": "FixedLayout<{}, {}, {}>".format(*kernel.layout) if kernel.layout else "PlanLayout<0>",
        "IN_SHARED": str(kernel.in_shared).lower(),
        "FOLLOWS": str(kernel.follows).lower(),
        "SEPARATE": str(kernel.separate).lower(),
    }
    lines = [f"#define SNC_{name} {value}" for name, value in definitions.items()]
    return "\n".join([*lines, _with_includes(f"kernels/{kernel.name}.cu", set())])


@cache
def _text(name: str) -> str:
    import importlib.resources  # slow to import, and only needed here

    return (importlib.resources.files("stim_nonclifford") / "native" / name).read_text(encoding="utf-8")


def _with_includes(name: str, included: set[str]) -> str:
    """The text of a file, preceded by the texts of the files that it includes, each of them once."""
    headers: list[str] = []
    text = _text(name)
    for header in re.findall(r'^#include "(.*)"$', text, flags=re.MULTILINE):
        if header not in included:
            included.add(header)
            headers.append(_with_includes(header, included))
    body = re.sub(r'^(#include ".*"|#pragma once)$\n?', "", text, flags=re.MULTILINE)
    body = re.sub(r"^#include <cstdint>$\n?", "", body, flags=re.MULTILINE)
    return "\n".join([*headers, body])
