"""The CUDA source of each kernel, in one piece, for NVRTC."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

__all__ = [
    "COMPILE_OPTIONS",
    "NARROW_WORDS",
    "NOISE_TEAM",
    "SIMULATION_TEAMS",
    "Kernel",
    "cuda_source",
    "noise_threads",
]

COMPILE_OPTIONS = ("--std=c++17", "--fmad=false", "--diag-suppress=177")
"""Products and sums are fused only where the source asks for it: the host rounds as the device does.

Not every kernel uses every constant of the headers: 177 would be a warning about that.
"""

NOISE_TEAM = 128
"""Threads that take a block of shots together."""

SIMULATION_TEAMS = (32, 128, 256, 512)
"""Threads that simulate a shot together."""

NARROW_WORDS = 8
"""Rows of at most this many words are kept in registers."""


def noise_threads(row_words: int) -> int:
    """Threads of a block of the noise kernel: as many as find registers.

    Args:
        row_words: Words of a row, 0 for any number.
    """
    return 5 * NOISE_TEAM if 0 < row_words <= 4 else 4 * NOISE_TEAM


@dataclass(frozen=True)
class Kernel:
    """A kernel, made for sizes of a plan, and the size of its launches.

    Attributes:
        name: Of the function.
        block_threads: Threads of a block.
        num_blocks: Blocks of a launch, at most: each takes work until there is none.
        shared_bytes: Shared memory of a block.
        min_blocks: Blocks that a multiprocessor is to have registers for.
        team_size: Threads that work together.
        row_words: ``noise``: words of a row, 0 for any number of them.
        in_shared: ``noise``: whether tables are in shared memory; ``simulate``: whether the vector is.
    """

    name: Literal["noise", "walk", "simulate"]
    block_threads: int
    num_blocks: int
    shared_bytes: int = 0
    min_blocks: int = 1
    team_size: int = 32
    row_words: int = 0
    in_shared: bool = False

    @property
    def num_teams(self) -> int:
        """Teams of a launch."""
        return self.num_blocks * (self.block_threads // self.team_size)


def cuda_source(kernel: Kernel) -> str:
    """The source of a kernel, without includes.

    Examples:
        >>> source = cuda_source(Kernel("walk", block_threads=256, num_blocks=1))
        >>> source.splitlines()[0]
        '#define SNC_BLOCK_THREADS 256'
        >>> "#include" in source
        False
    """
    definitions = {
        "BLOCK_THREADS": kernel.block_threads,
        "MIN_BLOCKS": kernel.min_blocks,
        "TEAM_SIZE": kernel.team_size,
        "ROW_WORDS": kernel.row_words,
        "IN_SHARED": str(kernel.in_shared).lower(),
    }
    lines = [f"#define SNC_{name} {value}" for name, value in definitions.items()]
    return "\n".join([*lines, _with_includes(f"{kernel.name}.cu", set())])


@cache
def _text(name: str) -> str:
    import importlib.resources  # slow to import, and seldom needed

    return (importlib.resources.files("stim_nonclifford") / "kernels" / name).read_text(encoding="utf-8")


def _with_includes(name: str, included: set[str]) -> str:
    """The text of a file, after those that it includes, each once."""
    headers: list[str] = []
    text = _text(name)
    for header in re.findall(r'^#include "(.*)"$', text, flags=re.MULTILINE):
        if header not in included:
            included.add(header)
            headers.append(_with_includes(header, included))
    body = re.sub(r'^(#include ".*"|#pragma once)$\n?', "", text, flags=re.MULTILINE)
    body = re.sub(r"^#include <cstdint>$\n?", "", body, flags=re.MULTILINE)
    return "\n".join([*headers, body])
